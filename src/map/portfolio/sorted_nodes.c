/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts the nodes so that nodes of one switch follow each other, and assigns
 * the ranks to them in ascending order. For training jobs this is the best
 * order that users write by hand. The caller's list of nodes may be in any
 * order, such as sorted by name. */
#include "map/portfolio/algorithm.h"
#include "base/array.h"
#include "map/congestion/node_swaps.h"
#include "topology/topology.h"

#include <stdlib.h>

/* Returns the point of a host from which its distances to other hosts are
 * measured: its first GPU if ranks use GPUs and the host has one for them,
 * otherwise its first core. */
static struct nw_end sorted_nodes_end(const struct nw_problem *problem,
                                      int32_t host)
{
    return problem->uses_gpus && problem->gpu_capacity[host]
               ? nw_problem_gpu_end(problem, host, 0)
               : nw_problem_core_end(problem, host, 0);
}

/* Returns the index in left[0] .. left[count - 1] of the host nearest to host
 * `from`; of equally near ones, the host with the lowest node number. */
static int32_t sorted_nodes_nearest(const struct nw_problem *problem,
                                    const int32_t *left, int32_t count,
                                    int32_t from)
{
    struct nw_end end = sorted_nodes_end(problem, from);
    double best = 0;
    int32_t found = -1;

    for (int32_t i = 0; i < count; i++) {
        double distance = nw_topology_distance(
            problem->topology, end, sorted_nodes_end(problem, left[i]));

        if (found < 0 || distance < best ||
            (distance == best &&
             problem->host[left[i]] < problem->host[left[found]])) {
            best = distance;
            found = i;
        }
    }
    return found;
}

/* Fills `order` with all hosts, from the lowest node number on, each followed
 * by the nearest of the remaining hosts. The hosts of a switch or an NVLink
 * domain thus follow each other. */
static nw_status sorted_nodes_order(const struct nw_problem *problem,
                                    int32_t *order)
{
    int32_t count = problem->host_count, rest = 0, *left = NULL;
    nw_status status = nw_alloc((size_t)count, sizeof *left, &left);

    if (status)
        return status;
    order[0] = 0;
    for (int32_t h = 1; h < count; h++)
        if (problem->host[h] < problem->host[order[0]])
            order[0] = h;
    for (int32_t h = 0; h < count; h++)
        if (h != order[0])
            left[rest++] = h;
    for (int32_t placed = 1; placed < count; placed++) {
        int32_t at =
            sorted_nodes_nearest(problem, left, rest, order[placed - 1]);

        order[placed] = left[at];
        left[at] = left[--rest];
    }
    free(left);
    return NW_OK;
}

/* Sets to[h] to the host that receives the ranks of host h. Only hosts of the
 * same kind exchange their ranks: the i-th of them gives its ranks to the i-th
 * one in `order`. */
static void sorted_nodes_match(const struct nw_problem *problem,
                               const int32_t *order, int32_t *to)
{
    int32_t count = problem->host_count;

    for (int32_t h = 0; h < count; h++)
        to[h] = -1;
    for (int32_t h = 0; h < count; h++) {
        int32_t at = h;

        if (to[h] >= 0)
            continue;
        for (int32_t i = 0; i < count; i++) {
            if (!nw_node_swaps_is_same_kind(problem, h, order[i]))
                continue;
            while (to[at] >= 0 || !nw_node_swaps_is_same_kind(problem, h, at))
                at++;
            to[at] = order[i];
        }
    }
}

/* Moves the ranks of each host h to host to[h]. */
static void sorted_nodes_move(const struct nw_problem *problem,
                              const int32_t *to, struct nw_answer *answer)
{
    for (int32_t r = 0; r < problem->pattern->rank_count; r++) {
        int32_t from = answer->host[r];

        if (from < 0)
            continue;
        answer->host[r] = to[from];
        if (answer->core[r] >= 0)
            answer->core[r] +=
                problem->core.first[to[from]] - problem->core.first[from];
        if (answer->gpu[r] >= 0)
            answer->gpu[r] +=
                problem->gpu.first[to[from]] - problem->gpu.first[from];
    }
}

nw_status nw_sorted_nodes(const struct nw_problem *problem,
                          struct nw_answer *answer)
{
    size_t count = (size_t)problem->host_count;
    int32_t *order = NULL, *to = NULL;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(count, order), NW_ARRAY(count, to));

    if (!status)
        status = sorted_nodes_order(problem, order);
    if (!status) {
        sorted_nodes_match(problem, order, to);
        sorted_nodes_move(problem, to, answer);
    }
    NW_FREE_ALL(order, to);
    return status;
}
