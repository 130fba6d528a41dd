/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a collective call uses MPI or the channel. At calls 1, 2, 4, 8, ...
 * of a size, the ranks agree on whether any rank has GPU memory, so that the
 * cost per call vanishes. At the first call with GPU memory both forms are
 * timed (algorithm_benchmark.c). The decision uses only values that are the
 * same on all ranks. */
#include "runtime/messages/algorithm_cache.h"

#include "base/selector.h"
#include "base/status.h"
#include "runtime/rank0_environment.h"
#include "runtime/warn.h"

#include <string.h>

static bool algorithm_choice_measure(struct nw_algorithm_comm *record,
                                     enum nw_collective_call form,
                                     int64_t bytes)
{
    int wins = nw_algorithm_benchmark(record, form, (size_t)bytes);

    if (wins >= 0)
        record->known
            .form[form][nw_selector_class((uint64_t)bytes, NW_CLASSES)] =
            wins ? NW_BY_CHANNEL : NW_BY_HOST;
    return wins == 1;
}

/* Uses the result of an earlier program, or measures now and saves the result.
 */
static bool is_faster(struct nw_algorithm_comm *record,
                      enum nw_collective_call form, int64_t bytes)
{
    int class = nw_selector_class((uint64_t)bytes, NW_CLASSES);
    bool wins;

    if (!record->known.open)
        nw_algorithm_cache_open(&record->known, record, record->channel);
    if (record->known.form[form][class] != NW_BY_NONE)
        return record->known.form[form][class] == NW_BY_CHANNEL;
    wins = algorithm_choice_measure(record, form, bytes);
    if (record->known.form[form][class] != NW_BY_NONE)
        nw_algorithm_cache_save(&record->known);
    return wins;
}

enum { TUNED_CLASSES = 21 /* up to 1 MiB */ };

void nw_algorithms_tune(void)
{
    struct nw_algorithm_comm *record =
        nw_algorithm_call == NW_FORMING_AUTO
            ? nw_algorithm_comm_of(MPI_COMM_WORLD)
            : NULL;

    if (!record || !nw_algorithm_comm_open(record))
        return;
    if (!record->known.open)
        nw_algorithm_cache_open(&record->known, record, record->channel);
    for (int form = 0; form < NW_CALLS; form++)
        for (int class = 0; class < TUNED_CLASSES; class ++)
            (void)algorithm_choice_measure(
                record, (enum nw_collective_call)form, (int64_t)1 << class);
    nw_algorithm_cache_save(&record->known);
}

bool nw_algorithm_chooses(struct nw_algorithm_comm *record,
                          enum nw_collective_call form, int64_t bytes,
                          bool device)
{
    struct nw_algorithm_kind *kind =
        &record->kind[form][nw_selector_class((uint64_t)bytes, NW_CLASSES)];

    if (nw_algorithm_call == NW_FORMING_CHANNEL)
        return nw_algorithm_comm_open(record);
    kind->calls++;
    if (!(kind->calls & (kind->calls - 1)))
        kind->device = nw_algorithm_comm_any(record, device);
    if (kind->device && !kind->measured) {
        kind->by_channel =
            nw_algorithm_comm_open(record) && is_faster(record, form, bytes);
        kind->measured = true;
    }
    return kind->device && kind->by_channel;
}

/* -- MPI_Init and MPI_Finalize -- */

/* The form that the environment asks for. Default: host. */
static enum nw_algorithm_call wanted(void)
{
    const char *word =
        nw_rank0_environment_variable("NODEWISE_GPU_COLLECTIVES");
    const char *messages =
        nw_rank0_environment_variable("NODEWISE_GPU_MESSAGES");

    if (!word)
        return messages ? NW_FORMING_AUTO : NW_FORMING_HOST;
    if (!strcmp(word, "auto"))
        return NW_FORMING_AUTO;
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
