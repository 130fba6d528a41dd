/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the locations of all ranks. The leader (first rank) of each node
 * examines its node, rank 0 reads the network, and all ranks get both. Before a
 * collective step that needs memory, all ranks agree that each has it.
 */
#include "runtime/reorder/discover.h"

#include "base/array.h"
#include "base/cpus.h"
#include "base/host.h"
#include "runtime/reorder/rank_location.h"
#include "runtime/warn.h"

#include <nodewise/status.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gathering {
    /* communicators of all ranks; of the ranks of this node; of the leaders,
     * the first rank of each node (MPI_COMM_NULL on other ranks) */
    MPI_Comm comm, local, leaders;
    int local_rank, local_size;
};

/* Asks MPI which ranks can share memory with this rank. An MPI that never
 * shares memory, such as MPICH with only UCX, reports no other rank. Then ranks
 * are on one node if their hosts have the same numbers (base/host.h). */
int nw_discover_split(MPI_Comm comm, int key, MPI_Comm *local)
{
    int size = 0, most = 0, number[2], code;
    MPI_Comm part;

    code = NW_PMPI(Comm_split_type)(comm, MPI_COMM_TYPE_SHARED, key,
                                    MPI_INFO_NULL, local);
    if (code != MPI_SUCCESS)
        return code;
    NW_PMPI(Comm_size)(*local, &size);
    code = NW_PMPI(Allreduce)(&size, &most, 1, MPI_INT, MPI_MAX, comm);
    if (code != MPI_SUCCESS || most > 1)
        return code;
    NW_PMPI(Comm_free)(local);
    nw_host_numbers(number);
    code = NW_PMPI(Comm_split)(comm, number[0], key, &part);
    if (code != MPI_SUCCESS)
        return code;
    code = NW_PMPI(Comm_split)(part, number[1], key, local);
    NW_PMPI(Comm_free)(&part);
    return code;
}

static bool discover_split(struct gathering *g, int rank)
{
    if (nw_discover_split(g->comm, rank, &g->local))
        return false;
    NW_PMPI(Comm_rank)(g->local, &g->local_rank);
    NW_PMPI(Comm_size)(g->local, &g->local_size);
    return !NW_PMPI(Comm_split)(g->comm, g->local_rank ? MPI_UNDEFINED : 0,
                                rank, &g->leaders);
}

static void discover_unsplit(struct gathering *g)
{
    if (g->leaders != MPI_COMM_NULL)
        NW_PMPI(Comm_free)(&g->leaders);
    if (g->local != MPI_COMM_NULL)
        NW_PMPI(Comm_free)(&g->local);
}

/* The leader of each node finds the locations of the node's ranks from their
 * bindings, and sends each rank its location. Returns false on all ranks of
 * g->comm if memory is exhausted on any of them. */
static bool locate_node_ranks(struct gathering *g,
                              struct nw_rank_location *mine)
{
    struct nw_rank_location *location = NULL;
    /* if the kernel does not report the CPUs, the set is empty, which means
     * that the rank is not bound */
    unsigned long bound[NW_CPU_WORDS], *all = NULL;
    int node = 0, own = nw_cpus_read(0, bound), words = 0;
    bool good = true;

    /* the ranks send only the words up to the last CPU of any rank */
    NW_PMPI(Allreduce)(&own, &words, 1, MPI_INT, MPI_MAX, g->local);
    if (!g->local_rank) {
        all = calloc((size_t)g->local_size, (size_t)words * sizeof *all);
        location = calloc((size_t)g->local_size, sizeof *location);
        NW_PMPI(Comm_rank)(g->leaders, &node);
        good = all && location;
    }
    good = nw_all_ranks(g->comm, good);
    if (!good)
        goto out;
    NW_PMPI(Gather)
    (bound, words, MPI_UNSIGNED_LONG, all, words, MPI_UNSIGNED_LONG, 0,
     g->local);
    if (!g->local_rank &&
        nw_rank_location_local(all, words, g->local_size, location)) {
        nw_warn_once("this node cannot be read, its ranks count as equally "
                     "near: %s",
                     nw_error_text());
        memset(location, 0, (size_t)g->local_size * sizeof *location);
    }
    for (int i = 0; location && i < g->local_size; i++)
        location[i].node = node;
    NW_PMPI(Scatter)
    (location, sizeof *location, MPI_BYTE, mine, sizeof *location, MPI_BYTE, 0,
     g->local);
out:
    free(all);
    free(location);
    return good;
}

static void say_words(struct nw_node_words *words)
{
    const char *slurm = getenv("SLURM_TOPOLOGY_ADDR");

    memset(words, 0, sizeof *words);
    gethostname(words->host, sizeof words->host - 1);
    if (slurm && strlen(slurm) < sizeof words->slurm)
        strcpy(words->slurm, slurm);
}

static void discover_flatten(struct nw_job_location *job)
{
    if (job->above)
        memset(job->above, -1,
               (size_t)job->node_count * NW_SWITCH_DEPTH * sizeof(int32_t));
    free(job->source);
    free(job->number);
    job->source = NULL;
    job->number = NULL;
}

/* Returns false on all ranks if memory is exhausted on rank 0. */
static bool read_network(struct gathering *g, struct nw_job_location *job)
{
    struct nw_node_words mine, *all = NULL;
    bool good = true;

    if (g->leaders != MPI_COMM_NULL)
        NW_PMPI(Comm_size)(g->leaders, &job->node_count);
    NW_PMPI(Bcast)(&job->node_count, 1, MPI_INT, 0, g->comm);
    if (!job->rank)
        good = !NW_ALLOC_ALL(
            NW_ARRAY((size_t)job->node_count, all),
            NW_ARRAY((size_t)job->node_count * NW_SWITCH_DEPTH, job->above));
    good = nw_all_ranks(g->comm, good);
    if (good && g->leaders != MPI_COMM_NULL) {
        say_words(&mine);
        NW_PMPI(Gather)
        (&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0,
         g->leaders);
    }
    if (good && !job->rank) {
        discover_flatten(job);
        if (nw_rank_location_network(getenv("NODEWISE_TOPOLOGY"), all, job)) {
            nw_warn_once("the network counts as flat: %s", nw_error_text());
            discover_flatten(job);
        }
    }
    free(all);
    return good;
}

/* Broadcasts an array from rank 0. `array` is the address of the pointer to the
 * array, which the other ranks allocate here. Returns false on all ranks if
 * memory is exhausted on any rank, or if MPI fails. */
static bool discover_share(MPI_Comm comm, int rank, size_t bytes, void *array)
{
    void **at = array;

    if (rank)
        *at = malloc(bytes + 1);
    return nw_all_ranks(comm, *at) &&
           !NW_PMPI(Bcast)(*at, (int)bytes, MPI_BYTE, 0, comm);
}

static bool share_network(MPI_Comm comm, struct nw_job_location *job)
{
    size_t nodes = (size_t)job->node_count;
    int length = job->source ? (int)strlen(job->source) + 1 : 0;

    if (!discover_share(comm, job->rank, nodes * NW_SWITCH_DEPTH * 4,
                        &job->above))
        return false;
    NW_PMPI(Bcast)(&length, 1, MPI_INT, 0, comm);
    return !length ||
           (discover_share(comm, job->rank, (size_t)length, &job->source) &&
            discover_share(comm, job->rank, nodes * 4, &job->number));
}

static bool gather_live(struct nw_job_location *job, MPI_Comm comm)
{
    struct gathering g = {comm, MPI_COMM_NULL, MPI_COMM_NULL, 0, 0};
    struct nw_rank_location mine = {0};
    bool good = discover_split(&g, job->rank);

    if (good && locate_node_ranks(&g, &mine)) {
        NW_PMPI(Allgather)
        (&mine, sizeof mine, MPI_BYTE, job->location, sizeof mine, MPI_BYTE,
         comm);
        good = read_network(&g, job) && share_network(comm, job);
    } else {
        good = false;
    }
    discover_unsplit(&g);
    return good;
}

/* Reads the location of every rank from the launcher's mapping file, on rank 0,
 * and broadcasts it. Collective. */
static bool read_mapped(struct nw_job_location *job, MPI_Comm comm)
{
    int good = 1;

    if (!job->rank &&
        nw_rank_location_mapped(getenv("NODEWISE_TOPOLOGY"),
                                getenv("NODEWISE_MAPPING"), job)) {
        nw_warn_once("NODEWISE_MAPPING: %s", nw_error_text());
        good = 0;
    }
    NW_PMPI(Bcast)(&good, 1, MPI_INT, 0, comm);
    if (!good)
        return false;
    NW_PMPI(Bcast)(&job->node_count, 1, MPI_INT, 0, comm);
    NW_PMPI(Bcast)
    (job->location, job->rank_count * (int)sizeof *job->location, MPI_BYTE, 0,
     comm);
    return share_network(comm, job);
}

bool nw_discover(struct nw_job_location *job, MPI_Comm comm)
{
    const char *source = getenv("NODEWISE_TOPOLOGY");
    const char *mapping = getenv("NODEWISE_MAPPING");
    int mapped = source && source[0] && mapping && mapping[0];
    bool good;

    memset(job, 0, sizeof *job);
    NW_PMPI(Comm_size)(comm, &job->rank_count);
    NW_PMPI(Comm_rank)(comm, &job->rank);
    NW_PMPI(Bcast)(&mapped, 1, MPI_INT, 0, comm);
    job->location = calloc((size_t)job->rank_count, sizeof *job->location);
    good = nw_all_ranks(comm, job->location) &&
           (mapped ? read_mapped(job, comm) : gather_live(job, comm));
    if (!good)
        nw_discovered_free(job);
    return good;
}

void nw_discovered_free(struct nw_job_location *job)
{
    free(job->location);
    free(job->above);
    free(job->source);
    free(job->number);
    memset(job, 0, sizeof *job);
}
