/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assigns GPUs to ranks in the running program, by the third phase of the MAGC
 * mapping. It sets environment variables, which take effect because CUDA reads
 * them only when it starts in a process. After any failure, the devices stay as
 * they are.
 */
#include "runtime/reorder/gpus.h"

#include "base/array.h"
#include "runtime/reorder/discover.h"
#include "runtime/warn.h"

#include <dlfcn.h>
#include <nodewise/map.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether a rank can get a GPU. FREE: yes. RUNS: no, because CUDA already runs.
 * CHOSEN: no, because the user has chosen devices. WORD is the size of a
 * device's name. */
enum { FREE, RUNS, CHOSEN, WORD = 64 };

static bool assigned; /* true once nw_gpus_assign has run in this process */

struct local {
    MPI_Comm comm;
    int rank, size;
    int *number; /* [size] each rank's number in the communicator of
                    nw_gpus_assign. This array, `count`, `place`, `edge` and
                    `word` are used at the leader only */
    int *count;  /* [size] length of each rank's edges in words; an edge has two
                    words */
    int *place;  /* [size] offset of each rank's first word */
    struct nw_gpu_edge *edge;
    char (*word)[WORD]; /* [size] name of each rank's device; "": none */
};

/* Returns FREE, RUNS or CHOSEN for this process. CUDA runs if cuDeviceGetCount
 * succeeds: before cuInit it returns an error. */
static int reorder_gpus_find_state(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    int (*query)(int *) = NULL, count = 0;
    bool runs = false;

    if (driver)
        *(void **)&query = dlsym(driver, "cuDeviceGetCount");
    runs = query && !query(&count);
    if (driver)
        dlclose(driver);
    return runs ? RUNS
           : getenv("CUDA_VISIBLE_DEVICES") || getenv("ROCR_VISIBLE_DEVICES")
               ? CHOSEN
               : FREE;
}

/* --- the choice at the leader of a node --- */

static nw_status reorder_gpus_add_edges(const struct local *local, int ranks,
                                        nw_pattern_builder *builder, bool *any)
{
    int *index = NULL;
    nw_status status = nw_alloc((size_t)ranks, sizeof *index, &index);

    for (int i = 0; !status && i < local->size; i++)
        index[local->number[i]] = i + 1;
    for (int i = 0; !status && i < local->size; i++)
        for (int k = 0; !status && k < local->count[i] / 2; k++) {
            const struct nw_gpu_edge *edge =
                &local->edge[local->place[i] / 2 + k];
            int to = edge->peer >= 0 && edge->peer < ranks
                         ? index[edge->peer] - 1
                         : -1;

            if (to < 0 || to == i || edge->bytes <= 0)
                continue;
            *any = true;
            status = nw_pattern_builder_add(builder, i, to, NW_KIND_GG,
                                            (uint64_t)edge->bytes, 1);
        }
    free(index);
    return status;
}

static nw_status build_pattern(const struct local *local, int ranks,
                               nw_pattern **out)
{
    nw_pattern_builder *builder;
    bool any = false;
    nw_status status = nw_pattern_builder_new(local->size, &builder);

    if (status)
        return status;
    status = reorder_gpus_add_edges(local, ranks, builder, &any);
    if (!status && any)
        status = nw_pattern_builder_build(builder, out);
    nw_pattern_builder_free(builder);
    return status;
}

static nw_status reorder_gpus_map(const struct local *local, int gpus,
                                  const nw_topology *node,
                                  const nw_pattern *pattern, nw_mapping **out)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;

    options.algorithm = "magc";
    options.threads = 1;
    options.ranks_per_gpu = (local->size + gpus - 1) / gpus;
    return nw_map(node, pattern, &options, out, NULL);
}

/* Returns the GPU of a rank in the mapping. A rank without edges inside the
 * node has no GPU there; it gets the GPU with the fewest ranks. */
static int32_t reorder_gpus_device_of(const nw_mapping *mapping, int rank,
                                      int gpus, int *used)
{
    struct nw_ints given = {0};
    int32_t least = 0;

    if (mapping)
        given = nw_mapping_gpus(mapping, rank);
    if (given.count && given.values[0] >= 0)
        return given.values[0];
    for (int32_t g = 1; g < gpus; g++)
        if (used[g] < used[least])
            least = g;
    return least;
}

static nw_status name_devices(const struct local *local,
                              const nw_topology *node,
                              const nw_mapping *mapping)
{
    int gpus = nw_topology_gpu_count(node), *used = NULL;
    nw_status status = nw_alloc((size_t)gpus, sizeof *used, &used);

    /* in the first pass, the ranks with a GPU in the mapping; in the second,
     * the others */
    for (int pass = 0; !status && pass < 2; pass++)
        for (int i = 0; i < local->size; i++) {
            bool reason = mapping && nw_mapping_gpus(mapping, i).count &&
                          nw_mapping_gpus(mapping, i).values[0] >= 0;
            int32_t gpu;
            const char *uuid;

            if (reason != !pass)
                continue;
            gpu = reorder_gpus_device_of(mapping, i, gpus, used);
            used[gpu]++;
            uuid = nw_topology_gpu_info(node, gpu).uuid;
            if (uuid)
                snprintf(local->word[i], WORD, "%s", uuid);
            else
                snprintf(local->word[i], WORD, "%d", gpu);
        }
    free(used);
    return status;
}

static nw_status reorder_gpus_choose(const struct local *local, int ranks)
{
    nw_topology *node = NULL;
    nw_pattern *pattern = NULL;
    nw_mapping *mapping = NULL;
    nw_status status = nw_topology_load("live", NULL, &node);

    if (!status && nw_topology_gpu_count(node) > 0)
        status = build_pattern(local, ranks, &pattern);
    if (!status && pattern)
        status = reorder_gpus_map(local, nw_topology_gpu_count(node), node,
                                  pattern, &mapping);
    if (!status && nw_topology_gpu_count(node) > 0)
        status = name_devices(local, node, mapping);
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(node);
    return status;
}

/* --- messages inside a node --- */

static bool reorder_gpus_make_room(struct local *local)
{
    size_t size = (size_t)local->size;

    return !nw_alloc(size, sizeof *local->number, &local->number) &&
           !nw_alloc(size, sizeof *local->count, &local->count) &&
           !nw_alloc(size, sizeof *local->place, &local->place) &&
           !nw_alloc(size, sizeof *local->word, &local->word);
}

static bool add_up(struct local *local)
{
    int total = 0;

    for (int i = 0; i < local->size; i++) {
        local->place[i] = total;
        total += local->count[i];
    }
    return !nw_alloc((size_t)total / 2, sizeof *local->edge, &local->edge);
}

static void reorder_gpus_gather(struct local *local, int number,
                                const struct nw_gpu_edge *edge, int count)
{
    int words = 2 * count, good = 1;

    NW_PMPI(Gather)
    (&number, 1, MPI_INT, local->number, 1, MPI_INT, 0, local->comm);
    NW_PMPI(Gather)
    (&words, 1, MPI_INT, local->count, 1, MPI_INT, 0, local->comm);
    if (!local->rank)
        good = add_up(local);
    NW_PMPI(Bcast)(&good, 1, MPI_INT, 0, local->comm);
    if (good)
        NW_PMPI(Gatherv)
    (edge, words, MPI_INT64_T, local->edge, local->count, local->place,
     MPI_INT64_T, 0, local->comm);
    else if (!local->rank)
        memset(local->count, 0, (size_t)local->size * sizeof *local->count);
}

/* Returns true if the environment entry must be replaced or removed.
 * HIP_VISIBLE_DEVICES and GPU_DEVICE_ORDINAL are removed, because they would
 * select again among the devices of ROCR_VISIBLE_DEVICES. */
static bool is_replaced(const char *entry)
{
    static const char *const names[] = {
        "CUDA_DEVICE_ORDER=", "CUDA_VISIBLE_DEVICES=", "ROCR_VISIBLE_DEVICES=",
        "HIP_VISIBLE_DEVICES=", "GPU_DEVICE_ORDINAL="};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(entry, names[i], strlen(names[i])))
            return true;
    return false;
}

/* Sets the device variables to `word` by giving the process a new environment
 * array. The old array stays allocated, because other threads may be reading
 * it; setenv() would free it. setenv() also takes a lock, which a child forked
 * at this moment would inherit as held. */
static void reorder_gpus_take(const char *word)
{
    static char cuda[WORD + 24], rocm[WORD + 24];
    static char order[] = "CUDA_DEVICE_ORDER=PCI_BUS_ID";
    size_t count = 0, kept = 0;
    char **fresh = NULL;

    while (environ && environ[count])
        count++;
    if (nw_alloc(count + 4, sizeof *fresh, &fresh))
        return;
    for (size_t i = 0; i < count; i++)
        if (!is_replaced(environ[i]))
            fresh[kept++] = environ[i];
    snprintf(cuda, sizeof cuda, "CUDA_VISIBLE_DEVICES=%s", word);
    snprintf(rocm, sizeof rocm, "ROCR_VISIBLE_DEVICES=%s", word);
    fresh[kept++] = order;
    fresh[kept++] = cuda;
    fresh[kept] = rocm;
    __atomic_store_n(&environ, fresh, __ATOMIC_RELEASE);
}

/* On the leader of the first node, reports the devices of the node's ranks. */
static void reorder_gpus_say(const struct local *local)
{
    char line[512] = "";
    size_t used = 0;

    for (int i = 0; i < local->size && used + WORD + 8 < sizeof line; i++)
        used += (size_t)snprintf(line + used, sizeof line - used, " %s",
                                 local->word[i]);
    if (local->word[0][0])
        nw_warn("NODEWISE_GPU: devices of this node's ranks:%s", line);
    else
        nw_warn("NODEWISE_GPU: this node has no GPUs");
}

static void assign_here(struct local *local, int number, int ranks,
                        const struct nw_gpu_edge *edge, int count)
{
    char mine[WORD] = "";
    int good = local->rank || reorder_gpus_make_room(local);

    NW_PMPI(Bcast)(&good, 1, MPI_INT, 0, local->comm);
    if (!good)
        return;
    reorder_gpus_gather(local, number, edge, count);
    if (!local->rank && reorder_gpus_choose(local, ranks)) {
        nw_warn("NODEWISE_GPU: devices are left as they are: %s",
                nw_error_text());
        memset(local->word, 0, (size_t)local->size * sizeof *local->word);
    } else if (!number) {
        reorder_gpus_say(local);
    }
    NW_PMPI(Scatter)
    (local->word, WORD, MPI_CHAR, mine, WORD, MPI_CHAR, 0, local->comm);
    if (mine[0])
        reorder_gpus_take(mine);
}

void nw_gpus_assign(MPI_Comm comm, const struct nw_gpu_edge *edge, int count)
{
    int before = assigned, any = 0, number, ranks, worst = FREE;
    int state = reorder_gpus_find_state();
    struct local local = {.comm = MPI_COMM_NULL};

    NW_PMPI(Allreduce)(&before, &any, 1, MPI_INT, MPI_MAX, comm);
    if (any)
        return;
    assigned = true;
    NW_PMPI(Comm_rank)(comm, &number);
    NW_PMPI(Comm_size)(comm, &ranks);
    if (nw_discover_split(comm, number, &local.comm))
        return;
    NW_PMPI(Comm_rank)(local.comm, &local.rank);
    NW_PMPI(Comm_size)(local.comm, &local.size);
    NW_PMPI(Allreduce)(&state, &worst, 1, MPI_INT, MPI_MAX, local.comm);
    if (worst == FREE)
        assign_here(&local, number, ranks, edge, count);
    else if (!local.rank)
        nw_warn("NODEWISE_GPU: devices are left as they are: %s",
                worst == RUNS ? "CUDA runs already"
                              : "CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES "
                                "is set");
    NW_PMPI(Comm_free)(&local.comm);
    free(local.number);
    free(local.count);
    free(local.place);
    free(local.edge);
    free(local.word);
}
