/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses between MPI and the channel for a collective call. All ranks must
 * choose the same, so the choice depends only on values that are equal on all
 * ranks. */
#include "runtime/messages/algorithms.h"

#include "base/selector.h"
#include "runtime/messages/passthrough.h"
#include "runtime/rank0_environment.h"
#include "runtime/warn.h"

#include <string.h>

/* From this size in bytes on, messages from GPU to GPU through the channel are
 * faster than through host memory, even if processes share a GPU without MPS.
 * This holds in all rows of bench/results/gpu-messages-2026-11-22.txt and
 * gpu-h100-80gb-2026-11-27.txt. */
enum { LARGE_BYTES = 1 << 20 };

/* Returns true if the channel is faster than MPI on host memory for blocks of
 * this size. It is never faster for reductions, since both implementations
 * reduce in host memory. */
static bool is_large(enum nw_collective_call form, int64_t bytes)
{
    return bytes >= LARGE_BYTES && form != NW_CALL_REDUCE &&
           form != NW_CALL_ALLREDUCE;
}

/* Returns true if any rank passed GPU memory in a call of this kind and size
 * class. The ranks find this out by an all-reduce at calls 1, 2, 4, 8, ... of
 * the class only, so that its mean cost becomes negligible. At other calls, the
 * function returns the last result. */
static bool any_has_device(struct nw_algorithm_comm *record,
                           enum nw_collective_call form, int64_t bytes,
                           bool device)
{
    struct nw_algorithm_kind *kind =
        &record->kind[form][nw_selector_class((uint64_t)bytes, NW_CLASSES)];

    kind->calls++;
    if (!(kind->calls & (kind->calls - 1)))
        kind->device = !nw_all_ranks(record->comm, !device);
    return kind->device;
}

struct nw_algorithm_comm *nw_algorithm_chooses(MPI_Comm comm,
                                               enum nw_collective_call form,
                                               int64_t bytes, bool device)
{
    bool automatic = nw_algorithm_call == NW_FORMING_AUTO;
    struct nw_algorithm_comm *record = NULL;

    if (!automatic || is_large(form, bytes))
        record = nw_algorithm_comm_of(comm);
    if (!record ||
        (automatic && !any_has_device(record, form, bytes, device)) ||
        !nw_algorithm_comm_open(record))
        return NULL;
    return record;
}

/* --- MPI_Init and MPI_Finalize --- */

/* Returns the implementation for the setting `auto`: MPI if the MPI library
 * accepts GPU memory itself, otherwise a choice by size. */
static enum nw_algorithm_call algorithm_choice_automatic(void)
{
    return nw_passthrough ? NW_FORMING_HOST : NW_FORMING_AUTO;
}

/* Returns the implementation that the environment of rank 0 asks for. If
 * NODEWISE_GPU_COLLECTIVES is not set, that is `auto` if NODEWISE_GPU_MESSAGES
 * is set, otherwise MPI on host memory. */
static enum nw_algorithm_call algorithm_choice_wanted(void)
{
    const char *word =
        nw_rank0_environment_variable("NODEWISE_GPU_COLLECTIVES");
    const char *messages =
        nw_rank0_environment_variable("NODEWISE_GPU_MESSAGES");

    if (!word)
        return messages ? algorithm_choice_automatic() : NW_FORMING_HOST;
    if (!strcmp(word, "auto"))
        return algorithm_choice_automatic();
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

/* All ranks agree on one implementation by an all-reduce. If they want
 * different ones, all use MPI on host memory. */
void nw_algorithms_start(bool messaging)
{
    int mine[2], all[2] = {0, 0};

    if (!is_asked_for())
        return;
    mine[0] = messaging ? (int)algorithm_choice_wanted() : NW_FORMING_HOST;
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
