/* SPDX-License-Identifier: BSD-3-Clause */
/* The default mapping, as a launcher that binds ranks would make it: ranks in
 * ascending order fill node after node; the ranks of a node alternate between
 * its packages. They share its GPUs evenly; each gets the nearest one that is
 * left. */
#include "map/problem/problem.h"
#include "map/problem/free_slots.h"
#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* distances (nw_topology_distance) that differ less count as equal */
#define LAUNCHER_DEFAULT_EQUAL 1e-9

/* Returns the first host with a free slot for a rank, in the order host, host +
 * 1, ..., last host, 0, ..., host - 1. Returns -1 if no host has one. `gpu`:
 * the rank uses a GPU. */
static int32_t
launcher_default_next_host(const struct nw_free_slots *free_slots, int32_t host,
                           bool gpu)
{
    for (int32_t i = 0; i < free_slots->count; i++) {
        int32_t h = (host + i) % free_slots->count;

        if (nw_free_slots_fits(free_slots, h, gpu))
            return h;
    }
    return -1;
}

/* Sets the host of each rank: fixed ranks come first, then the other ranks in
 * ascending order fill host after host. Returns NW_EINVAL if no host has a slot
 * left for a rank. */
static nw_status launcher_default_hosts(const struct nw_problem *problem,
                                        struct nw_answer *answer)
{
    struct nw_free_slots free_slots;
    const int32_t *fixed = problem->fixed_host;
    int32_t n = problem->pattern->rank_count, host = 0;
    int64_t gpu_ranks = 0;
    nw_status status =
        nw_free_slots_init(&free_slots, problem->host_count, problem->capacity,
                           problem->gpu_capacity);

    for (int32_t r = 0; r < n; r++)
        gpu_ranks += problem->wants_gpu[r];
    if (!status)
        nw_free_slots_expect(&free_slots, gpu_ranks);
    for (int32_t r = 0; !status && fixed && r < n; r++)
        if (fixed[r] >= 0) {
            answer->host[r] = fixed[r];
            nw_free_slots_take(&free_slots, fixed[r], problem->wants_gpu[r]);
        }
    for (int32_t r = 0; !status && r < n; r++) {
        if (answer->host[r] >= 0)
            continue;
        host = launcher_default_next_host(&free_slots, host,
                                          problem->wants_gpu[r]);
        if (host < 0) {
            status = nw_fail_about(
                NW_FIXED(-1), NW_EINVAL,
                "the fixed ranks leave no element for rank %d", r);
            break;
        }
        answer->host[r] = host;
        nw_free_slots_take(&free_slots, host, problem->wants_gpu[r]);
    }
    nw_free_slots_fini(&free_slots);
    return status;
}

/* Which core units of one host are next while its ranks alternate between the
 * host's packages. */
struct launcher_default_turns {
    int32_t *next; /* [packages] first core unit of the host that may be free on
                      each package */
    /* number of packages, at least 1; package from which the next rank takes a
     * core unit */
    int32_t packages, turn;
};

/* Takes and returns the lowest free core unit of package turns->turn, or of the
 * next package that has a free one; -1 if the host has none. Each package goes
 * through the host's units in ascending order, so next[package] only grows. */
static int32_t launcher_default_take_turn(const struct nw_problem *problem,
                                          struct launcher_default_turns *turns,
                                          int32_t host)
{
    int32_t end = problem->core.first[host + 1];

    for (int32_t tried = 0; tried < turns->packages; tried++) {
        int32_t package = turns->turn, *u = &turns->next[package];

        turns->turn = (turns->turn + 1) % turns->packages;
        for (; *u < end; ++*u) {
            int32_t at = nw_problem_core_package(problem, host, *u);

            if ((at < 0 ? 0 : at) == package)
                return (*u)++;
        }
    }
    return -1;
}

nw_status nw_answer_default_cores(const struct nw_problem *problem,
                                  struct nw_answer *answer)
{
    int32_t n = problem->pattern->rank_count,
            most = nw_problem_most(problem, nw_topology_node_package_count);
    int32_t hosts = problem->host_count, *next = NULL;
    struct launcher_default_turns *turns = NULL;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY((size_t)hosts, turns),
                     NW_ARRAY((size_t)hosts * (size_t)most, next));

    for (int32_t h = 0; !status && h < hosts; h++) {
        turns[h].next = next + (size_t)h * (size_t)most;
        turns[h].packages =
            nw_topology_node_package_count(problem->topology, problem->host[h]);
        if (turns[h].packages < 1)
            turns[h].packages = 1;
        for (int32_t p = 0; p < turns[h].packages; p++)
            turns[h].next[p] = problem->core.first[h];
    }
    for (int32_t r = 0; !status && r < n; r++)
        if (nw_problem_needs_core(problem, r))
            answer->core[r] = launcher_default_take_turn(
                problem, &turns[answer->host[r]], answer->host[r]);
    free(turns);
    free(next);
    return status;
}

/* Takes and returns the next GPU unit of a host with free capacity; -1 if all
 * GPU units of the host are full. If no unit is full, the i-th rank of the host
 * thus gets its GPU unit i; after the last unit the first one follows again.
 * *turn is the index within the host of the unit to try first. capacity[u] is
 * how many more ranks unit u takes. */
static int32_t launcher_default_next_gpu(const struct nw_problem *problem,
                                         int32_t *capacity, int32_t host,
                                         int32_t *turn)
{
    int32_t first = problem->gpu.first[host];
    int32_t count = problem->gpu.first[host + 1] - first;

    for (int32_t tried = 0; tried < count; tried++) {
        int32_t unit = first + *turn;

        *turn = (*turn + 1) % count;
        if (capacity[unit] > 0) {
            capacity[unit]--;
            return unit;
        }
    }
    return -1;
}

nw_status nw_answer_gpus_in_order(const struct nw_problem *problem,
                                  struct nw_answer *answer)
{
    int32_t n = problem->pattern->rank_count, hosts = problem->host_count;
    int32_t *capacity = NULL, *turn = NULL;
    size_t units = (size_t)problem->gpu.first[hosts];
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(units, capacity), NW_ARRAY((size_t)hosts, turn));

    if (!status)
        memcpy(capacity, problem->gpu.capacity, units * sizeof *capacity);
    for (int32_t r = 0; !status && r < n; r++) {
        int32_t host = answer->host[r];

        if (nw_problem_needs_gpu(problem, r))
            answer->gpu[r] =
                launcher_default_next_gpu(problem, capacity, host, &turn[host]);
    }
    free(capacity);
    free(turn);
    return status;
}

/* Returns the mean distance (nw_topology_distance) between a rank's cores and
 * the GPUs of GPU unit `gpu`. */
static double launcher_default_distance(const struct nw_problem *problem,
                                        const struct nw_answer *answer,
                                        int32_t rank, int32_t gpu)
{
    struct nw_ints fixed = nw_problem_fixed(problem, false, rank);

    return nw_problem_gpu_distance(
        problem, answer->host[rank],
        fixed.count ? fixed
                    : nw_units_members(&problem->core, answer->core[rank]),
        nw_units_members(&problem->gpu, gpu));
}

/* Returns the GPU unit nearest to the rank's cores, among the units of its host
 * with free capacity and fewer than `most` ranks. Returns -1 if the host has no
 * such unit. Of equally near units it returns the one with the fewest ranks,
 * then the lowest number. taken[u] is the number of ranks on unit u. */
static int32_t launcher_default_nearest_gpu(const struct nw_problem *problem,
                                            const struct nw_answer *answer,
                                            int32_t rank, const int32_t *taken,
                                            int32_t most)
{
    const struct nw_units *units = &problem->gpu;
    int32_t host = answer->host[rank], best = -1;
    double least = 0;

    for (int32_t u = units->first[host]; u < units->first[host + 1]; u++) {
        double far;

        if (taken[u] >= units->capacity[u] || taken[u] >= most)
            continue;
        far = launcher_default_distance(problem, answer, rank, u);
        if (best < 0 || far < least ||
            (far <= least && taken[u] < taken[best])) {
            best = u;
            least = far;
        }
    }
    return best;
}

/* Sets (*out)[h] to the number of ranks that share a GPU unit of host h,
 * rounded up, if the ranks of the host that need a GPU unit are divided evenly
 * over its units. The caller frees *out. */
static nw_status
launcher_default_count_sharers(const struct nw_problem *problem,
                               const struct nw_answer *answer, int32_t **out)
{
    int32_t hosts = problem->host_count, *most;
    nw_status status = nw_alloc((size_t)hosts, sizeof *most, &most);

    if (status)
        return status;
    for (int32_t r = 0; r < problem->pattern->rank_count; r++)
        most[answer->host[r]] += nw_problem_needs_gpu(problem, r);
    for (int32_t h = 0; h < hosts; h++) {
        int32_t units = problem->gpu.first[h + 1] - problem->gpu.first[h];

        most[h] = units ? (most[h] + units - 1) / units : 0;
    }
    *out = most;
    return NW_OK;
}

/* Assigns to each rank that needs one, in ascending order, the nearest GPU unit
 * that does not yet have its even share of the host's ranks. */
static nw_status launcher_default_default_gpus(const struct nw_problem *problem,
                                               struct nw_answer *answer)
{
    int32_t n = problem->pattern->rank_count, *taken = NULL, *most = NULL;
    size_t units = (size_t)problem->gpu.first[problem->host_count];
    nw_status status = nw_alloc(units, sizeof *taken, &taken);

    if (!status)
        status = launcher_default_count_sharers(problem, answer, &most);
    for (int32_t r = 0; !status && r < n; r++) {
        int32_t *gpu = &answer->gpu[r];

        if (!nw_problem_needs_gpu(problem, r))
            continue;
        *gpu = launcher_default_nearest_gpu(problem, answer, r, taken,
                                            most[answer->host[r]]);
        /* An even division fails if fixed ranks use some of the GPUs; then the
         * nearest GPU unit with free capacity is taken. */
        if (*gpu < 0)
            *gpu = launcher_default_nearest_gpu(problem, answer, r, taken,
                                                INT32_MAX);
        if (*gpu >= 0)
            taken[*gpu]++;
    }
    free(taken);
    free(most);
    return status;
}

/* Exchanges the GPU units of ranks a and b of one host if that lowers the sum
 * of the distances between ranks and their GPUs. Returns true if it did. */
static bool launcher_default_exchange(const struct nw_problem *problem,
                                      struct nw_answer *answer, int32_t a,
                                      int32_t b)
{
    int32_t of_a = answer->gpu[a], of_b = answer->gpu[b];
    double gain;

    if (of_a == of_b)
        return false;
    gain = launcher_default_distance(problem, answer, a, of_a) +
           launcher_default_distance(problem, answer, b, of_b) -
           launcher_default_distance(problem, answer, a, of_b) -
           launcher_default_distance(problem, answer, b, of_a);
    if (gain <= LAUNCHER_DEFAULT_EQUAL)
        return false;
    answer->gpu[a] = of_b;
    answer->gpu[b] = of_a;
    return true;
}

/* Returns true if no GPU unit of the rank's host is nearer to the rank than its
 * own. */
static bool launcher_default_has_nearest(const struct nw_problem *problem,
                                         const struct nw_answer *answer,
                                         int32_t rank)
{
    const int32_t *units = problem->gpu.first + answer->host[rank];
    double far =
        launcher_default_distance(problem, answer, rank, answer->gpu[rank]);

    for (int32_t u = units[0]; u < units[1]; u++)
        if (launcher_default_distance(problem, answer, rank, u) <
            far - LAUNCHER_DEFAULT_EQUAL)
            return false;
    return true;
}

/* Exchanges GPU units between the ranks of one host until no exchange lowers
 * the distances. Exchanges help because an earlier rank may have taken the GPU
 * nearest to a later rank although another GPU is equally near to the earlier
 * one. `first` is the first rank of the host that has a GPU unit, next[r] the
 * next such rank after rank r; -1: none. */
static void launcher_default_bring_near(const struct nw_problem *problem,
                                        struct nw_answer *answer,
                                        const int32_t *next, int32_t first)
{
    bool moved;

    do {
        moved = false;
        for (int32_t r = first; r >= 0; r = next[r]) {
            if (launcher_default_has_nearest(problem, answer, r))
                continue;
            for (int32_t s = first; s >= 0; s = next[s])
                moved |= launcher_default_exchange(problem, answer, r, s);
        }
    } while (moved);
}

/* Exchanges GPU units between two ranks of a host as long as that lowers the
 * sum of the distances between the ranks' cores and their GPUs. */
static nw_status
launcher_default_exchange_gpus(const struct nw_problem *problem,
                               struct nw_answer *answer)
{
    size_t hosts = (size_t)problem->host_count;
    int32_t n = problem->pattern->rank_count, *first = NULL, *next = NULL;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(hosts, first), NW_ARRAY((size_t)n, next));

    for (size_t h = 0; !status && h < hosts; h++)
        first[h] = -1;
    for (int32_t r = n; !status && r-- > 0;) {
        if (answer->gpu[r] < 0)
            continue;
        next[r] = first[answer->host[r]];
        first[answer->host[r]] = r;
    }
    for (size_t h = 0; !status && h < hosts; h++)
        launcher_default_bring_near(problem, answer, next, first[h]);
    free(first);
    free(next);
    return status;
}

nw_status nw_answer_default(const struct nw_problem *problem,
                            struct nw_answer *answer)
{
    nw_status status = launcher_default_hosts(problem, answer);

    if (!status)
        status = nw_answer_default_cores(problem, answer);
    if (!status)
        status = launcher_default_default_gpus(problem, answer);
    if (!status && problem->uses_gpus)
        status = launcher_default_exchange_gpus(problem, answer);
    return status;
}

nw_status nw_problem_default(const struct nw_map_call *call, nw_mapping **out)
{
    struct nw_problem problem;
    struct nw_answer answer = {0};
    nw_status status =
        nw_problem_init(&problem, call->topology, call->pattern, call->options);

    if (status)
        return status;
    status = nw_answer_init(&answer, call->pattern->rank_count);
    if (!status)
        status = nw_answer_default(&problem, &answer);
    if (!status)
        status = nw_answer_to_mapping(&answer, &problem, out);
    nw_answer_fini(&answer);
    nw_problem_fini(&problem);
    return status;
}
