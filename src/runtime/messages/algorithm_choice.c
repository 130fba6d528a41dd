/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a collective call uses MPI or the channel. At calls 1, 2, 4, 8, ...
 * of a size, the ranks agree on whether any rank has GPU memory, so that the
 * cost per call vanishes. At the first call with GPU memory both forms are
 * timed (algorithm_benchmark.c). The decision uses only values that are the
 * same on all ranks. */
#include "runtime/messages/algorithm_cache.h"

#include "base/status.h"
#include "runtime/rank0_environment.h"
#include "runtime/warn.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum nw_algorithm_call nw_algorithm_call;

struct kind {
    uint64_t calls;
    bool device, measured, by_channel;
};

struct nw_algorithm_choice {
    struct nw_algorithm_choice *next;
    MPI_Comm comm;
    int rank, size;
    bool fits, tried;
    nw_channel *channel;
    int tag;
    struct nw_algorithm_cache known;
    struct kind kind[NW_CALLS][NW_CLASSES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;
/* All choices, in the order in which their channels opened. Channels close in
 * this order on all ranks, so that no two ranks wait for each other. */
static struct nw_algorithm_choice *meets;

int nw_algorithm_choice_rank(const struct nw_algorithm_choice *meet)
{
    return meet->rank;
}

MPI_Comm nw_algorithm_choice_comm(const struct nw_algorithm_choice *meet)
{
    return meet->comm;
}

int nw_algorithm_choice_size(const struct nw_algorithm_choice *meet)
{
    return meet->size;
}

void nw_algorithm_choice_next(struct nw_algorithm_choice *meet,
                              struct nw_channel_collective *collect)
{
    collect->channel = meet->channel;
    collect->rank = meet->rank;
    collect->size = meet->size;
    collect->tag = meet->tag;
    meet->tag = (meet->tag + 1) & 0xffffff;
}

/* -- once for each communicator -- */

static void list_remove(struct nw_algorithm_choice *meet)
{
    struct nw_algorithm_choice **at = &meets;

    pthread_mutex_lock(&lock);
    while (*at && *at != meet)
        at = &(*at)->next;
    if (*at)
        *at = meet->next;
    pthread_mutex_unlock(&lock);
}

static void list_append(struct nw_algorithm_choice *meet)
{
    struct nw_algorithm_choice **at = &meets;

    pthread_mutex_lock(&lock);
    while (*at)
        at = &(*at)->next;
    *at = meet;
    meet->next = NULL;
    pthread_mutex_unlock(&lock);
}

static int drop(MPI_Comm comm, int key, void *value, void *extra)
{
    struct nw_algorithm_choice *meet = value;

    (void)comm;
    (void)key;
    (void)extra;
    list_remove(meet);
    nw_channel_close(meet->channel);
    nw_algorithm_cache_close(&meet->known);
    free(meet);
    return MPI_SUCCESS;
}

/* Whether all ranks are in our MPI_COMM_WORLD, whose ranks agreed in MPI_Init.
 */
static bool is_of_our_world(MPI_Comm comm, int size)
{
    int ranks[NW_MOST_RANKS], in_world[NW_MOST_RANKS];
    MPI_Group group, world;
    bool all = true;

    for (int i = 0; i < size; i++)
        ranks[i] = i;
    NW_PMPI(Comm_group)(comm, &group);
    NW_PMPI(Comm_group)(MPI_COMM_WORLD, &world);
    NW_PMPI(Group_translate_ranks)(group, size, ranks, world, in_world);
    for (int i = 0; i < size; i++)
        all &= in_world[i] != MPI_UNDEFINED;
    NW_PMPI(Group_free)(&group);
    NW_PMPI(Group_free)(&world);
    return all;
}

static struct nw_algorithm_choice *meet_new(MPI_Comm comm)
{
    struct nw_algorithm_choice *meet = calloc(1, sizeof *meet);
    int between = 0;

    if (!meet)
        return NULL;
    meet->comm = comm;
    NW_PMPI(Comm_test_inter)(comm, &between);
    NW_PMPI(Comm_size)(comm, &meet->size);
    NW_PMPI(Comm_rank)(comm, &meet->rank);
    meet->fits = !between && meet->size > 1 && meet->size <= NW_MOST_RANKS &&
                 is_of_our_world(comm, meet->size);
    if (NW_PMPI(Comm_set_attr)(comm, keyval, meet)) {
        free(meet);
        return NULL;
    }
    list_append(meet);
    return meet;
}

struct nw_algorithm_choice *nw_algorithm_choice_of(MPI_Comm comm)
{
    struct nw_algorithm_choice *meet = NULL;
    int found = 0;

    if (comm == MPI_COMM_NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    if (keyval == MPI_KEYVAL_INVALID)
        NW_PMPI(Comm_create_keyval)(nw_shape_not_copied, drop, &keyval, NULL);
    pthread_mutex_unlock(&lock);
    if (NW_PMPI(Comm_get_attr)(comm, keyval, &meet, &found))
        return NULL;
    if (!found)
        meet = meet_new(comm);
    return meet && meet->fits ? meet : NULL;
}

/* -- agreeing -- */

bool nw_algorithm_choice_any(struct nw_algorithm_choice *meet, bool mine)
{
    int in = mine, out = 0;

    return !NW_PMPI(Allreduce)(&in, &out, 1, MPI_INT, MPI_MAX, meet->comm) &&
           out;
}

/* Opens the channel once, on all ranks or on none. */
static bool open_channel(struct nw_algorithm_choice *meet)
{
    if (!meet->tried) {
        meet->tried = true;
        if (nw_channel_open_mpi(meet->comm, NULL, &meet->channel) &&
            nw_algorithm_call == NW_FORMING_CHANNEL && !meet->rank)
            nw_warn_once("collective calls go through the host: %s",
                         nw_error_text());
        list_remove(meet);
        list_append(meet);
    }
    return meet->channel != NULL;
}

/* -- choosing -- */

static bool measure(struct nw_algorithm_choice *meet,
                    enum nw_collective_call form, int64_t bytes)
{
    int wins = nw_algorithm_benchmark(meet, form, (size_t)bytes);

    if (wins >= 0)
        meet->known.form[form][nw_selector_class((uint64_t)bytes, NW_CLASSES)] =
            wins ? NW_BY_CHANNEL : NW_BY_HOST;
    return wins == 1;
}

/* Uses the result of an earlier program, or measures now and saves the result.
 */
static bool is_faster(struct nw_algorithm_choice *meet,
                      enum nw_collective_call form, int64_t bytes)
{
    int class = nw_selector_class((uint64_t)bytes, NW_CLASSES);
    bool wins;

    if (!meet->known.open)
        nw_algorithm_cache_open(&meet->known, meet, meet->channel);
    if (meet->known.form[form][class] != NW_BY_NONE)
        return meet->known.form[form][class] == NW_BY_CHANNEL;
    wins = measure(meet, form, bytes);
    if (meet->known.form[form][class] != NW_BY_NONE)
        nw_algorithm_cache_save(&meet->known);
    return wins;
}

enum { TUNED_CLASSES = 21 /* up to 1 MiB */ };

void nw_algorithms_tune(void)
{
    struct nw_algorithm_choice *meet =
        nw_algorithm_call == NW_FORMING_AUTO
            ? nw_algorithm_choice_of(MPI_COMM_WORLD)
            : NULL;

    if (!meet || !open_channel(meet))
        return;
    if (!meet->known.open)
        nw_algorithm_cache_open(&meet->known, meet, meet->channel);
    for (int form = 0; form < NW_CALLS; form++)
        for (int class = 0; class < TUNED_CLASSES; class ++)
            (void)measure(meet, (enum nw_collective_call)form,
                          (int64_t)1 << class);
    nw_algorithm_cache_save(&meet->known);
}

bool nw_algorithm_choice_chooses(struct nw_algorithm_choice *meet,
                                 enum nw_collective_call form, int64_t bytes,
                                 bool device)
{
    struct kind *kind =
        &meet->kind[form][nw_selector_class((uint64_t)bytes, NW_CLASSES)];

    if (nw_algorithm_call == NW_FORMING_CHANNEL)
        return open_channel(meet);
    kind->calls++;
    if (!(kind->calls & (kind->calls - 1)))
        kind->device = nw_algorithm_choice_any(meet, device);
    if (kind->device && !kind->measured) {
        kind->by_channel = open_channel(meet) && is_faster(meet, form, bytes);
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

/* Collective: closes all channels. */
void nw_algorithms_finish(void)
{
    if (keyval == MPI_KEYVAL_INVALID)
        return;
    nw_algorithm_call = NW_FORMING_HOST;
    while (meets)
        NW_PMPI(Comm_delete_attr)(meets->comm, keyval);
    NW_PMPI(Comm_free_keyval)(&keyval);
}
