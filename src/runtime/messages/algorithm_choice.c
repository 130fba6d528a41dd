/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a collective call uses MPI or the channel. The choice uses only
 * values that are the same on all ranks. */
#include "runtime/messages/algorithms.h"

#include "base/selector.h"
#include "runtime/messages/passthrough.h"
#include "runtime/rank0_environment.h"
#include "runtime/warn.h"

#include <string.h>

/* In all rows of bench/results/gpu-messages-2026-11-22.txt and
 * gpu-h100-80gb-2026-11-27.txt a message of this size is faster from GPU to GPU
 * than through the host, also if processes share a GPU without MPS. */
enum { LARGE_BYTES = 1 << 20 };

/* Reductions are computed in host memory in both forms. */
static bool is_large(enum nw_collective_call form, int64_t bytes)
{
    return bytes >= LARGE_BYTES && form != NW_CALL_REDUCE &&
           form != NW_CALL_ALLREDUCE;
}

/* At calls 1, 2, 4, 8, ... of a size, the ranks agree on whether any rank has
 * GPU memory, so that the cost per call vanishes. */
static bool any_has_device(struct nw_algorithm_comm *record,
                           enum nw_collective_call form, int64_t bytes,
                           bool device)
{
    struct nw_algorithm_kind *kind =
        &record->kind[form][nw_selector_class((uint64_t)bytes, NW_CLASSES)];

    kind->calls++;
    if (!(kind->calls & (kind->calls - 1)))
        kind->device = nw_algorithm_comm_any(record, device);
    return kind->device;
}

bool nw_algorithm_chooses(struct nw_algorithm_comm *record,
                          enum nw_collective_call form, int64_t bytes,
                          bool device)
{
    if (nw_algorithm_call == NW_FORMING_AUTO &&
        (!is_large(form, bytes) ||
         !any_has_device(record, form, bytes, device)))
        return false;
    return nw_algorithm_comm_open(record);
}

/* -- MPI_Init and MPI_Finalize -- */

/* An MPI that takes GPU memory itself makes the calls unless the user asks for
 * the channel. */
static enum nw_algorithm_call automatic(void)
{
    return nw_passthrough ? NW_FORMING_HOST : NW_FORMING_AUTO;
}

/* The form that the environment asks for. Default: host. */
static enum nw_algorithm_call wanted(void)
{
    const char *word =
        nw_rank0_environment_variable("NODEWISE_GPU_COLLECTIVES");
    const char *messages =
        nw_rank0_environment_variable("NODEWISE_GPU_MESSAGES");

    if (!word)
        return messages ? automatic() : NW_FORMING_HOST;
    if (!strcmp(word, "auto"))
        return automatic();
    if (!strcmp(word, "channel"))
        return NW_FORMING_CHANNEL;
    if (strcmp(word, "host"))
        nw_warn_once(
            "NODEWISE_GPU_COLLECTIVES=%s is unknown; use auto, host or channel",
            word);
    return NW_FORMING_HOST;
}

static bool is_asked_for(void)
{
    return nw_rank0_environment_variable("NODEWISE_GPU_COLLECTIVES") ||
           nw_rank0_environment_variable("NODEWISE_GPU_MESSAGES");
}

/* If ranks want different forms, all use the host. */
void nw_algorithms_start(bool messaging)
{
    int mine[2], all[2] = {0, 0};

    if (!is_asked_for())
        return;
    mine[0] = messaging ? (int)wanted() : NW_FORMING_HOST;
    mine[1] = -mine[0];
    if (!NW_PMPI(Allreduce)(mine, all, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD) &&
        all[0] == -all[1])
        nw_algorithm_call = (enum nw_algorithm_call)all[0];
}

void nw_algorithms_finish(void)
{
    nw_algorithm_call = NW_FORMING_HOST;
    nw_algorithm_comms_close();
}
