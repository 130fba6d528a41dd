/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns an assignment of ranks into one of nodes, in which each NIC of a node
 * is an endpoint. The endpoint's traffic is what the ranks using this NIC
 * exchange with other nodes. The annealing that otherwise moves ranks then
 * swaps nodes: there are far fewer endpoints, and the ranks of a node stay
 * together.
 */
#include "map/congestion/node_swaps.h"
#include "base/array.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CARDS_MAX (NW_MOVE_MOST / 2)

/* The assignments of ranks and of nodes, and how their endpoints correspond. */
struct node_swaps_work {
    struct nw_slots *slots; /* assignment of ranks */
    struct nw_slots nodes; /* assignment of nodes: endpoint h * width + c is NIC
                              c of host h, and slots are numbered alike */
    /* endpoints of a node: the largest number of NICs of any node */
    int32_t width;
    int32_t *contract; /* [2 x ranks] endpoint in `nodes` that stands for an
                          endpoint in `slots`; -1: not assigned */
};

/* --- which nodes may be exchanged --- */

/* Returns true if hosts a and b have units with the same members and the same
 * capacities. */
static bool node_swaps_is_same_part(const struct nw_units *units, int32_t a,
                                    int32_t b)
{
    int32_t count = units->first[a + 1] - units->first[a];
    size_t size = (size_t)units->size;

    if (units->first[b + 1] - units->first[b] != count)
        return false;
    return !count || (!memcmp(units->capacity + units->first[a],
                              units->capacity + units->first[b],
                              (size_t)count * sizeof *units->capacity) &&
                      !memcmp(units->member + (size_t)units->first[a] * size,
                              units->member + (size_t)units->first[b] * size,
                              (size_t)count * size * sizeof *units->member));
}

bool nw_node_swaps_is_same_kind(const struct nw_problem *problem, int32_t a,
                                int32_t b)
{
    const nw_topology *topology = problem->topology;

    return nw_topology_type_of(topology, problem->host[a]) ==
               nw_topology_type_of(topology, problem->host[b]) &&
           problem->capacity[a] == problem->capacity[b] &&
           problem->gpu_capacity[a] == problem->gpu_capacity[b] &&
           node_swaps_is_same_part(&problem->core, a, b) &&
           (!problem->uses_gpus ||
            node_swaps_is_same_part(&problem->gpu, a, b));
}

/* Sets node_class[h] of each host to the first host of the same kind; -1 if a
 * rank is fixed on host h, which then is not exchanged. */
static void node_swaps_sort_hosts(const struct node_swaps_work *work)
{
    const struct nw_slots *slots = work->slots;
    const struct nw_problem *problem = slots->problem;
    int32_t *node_class = work->nodes.node_class;

    for (int32_t h = 0; h < problem->host_count; h++) {
        node_class[h] = 0;
        while (node_class[h] < h &&
               (node_class[node_class[h]] != node_class[h] ||
                !nw_node_swaps_is_same_kind(problem, node_class[h], h)))
            node_class[h]++;
    }
    for (int32_t r = 0; problem->fixed_host && r < slots->rank_count; r++)
        if (problem->fixed_host[r] >= 0)
            node_class[problem->fixed_host[r]] = -1;
}

/* --- traffic between nodes --- */

/* Fills contract[]: for each endpoint of a rank, the endpoint of its node and
 * of the NIC that its slot uses, NIC 0 if the node has none. */
static void node_swaps_label_nodes(const struct node_swaps_work *work)
{
    const struct nw_slots *slots = work->slots;

    for (int32_t a = 0; a < 2 * slots->rank_count; a++) {
        int32_t slot = slots->slot[a], card;

        work->contract[a] = -1;
        if (slot < 0)
            continue;
        card = nw_end_card(slots->problem->topology, slots->end[slot]);
        work->contract[a] =
            slots->host[slot] * work->width + (card < 0 ? 0 : card);
    }
}

/* Counts the edges to other nodes of each NIC endpoint a in nodes.row[a + 1].
 * If `write` is set, stores these edges instead: nodes.row[a] is the index for
 * the next edge of a, and is increased. */
static void node_swaps_spread_edges(const struct node_swaps_work *work,
                                    bool write)
{
    const struct nw_slots *slots = work->slots, *nodes = &work->nodes;
    const int32_t *contract = work->contract;

    for (int32_t a = 0; a < 2 * slots->rank_count; a++)
        for (size_t t = slots->row[a]; t < slots->row[a + 1]; t++) {
            struct nw_directed_edge edge = slots->edge[t];

            edge.peer = contract[edge.peer];
            if (contract[a] / work->width == edge.peer / work->width)
                continue;
            if (write)
                nodes->edge[nodes->row[contract[a]]++] = edge;
            else
                nodes->row[contract[a] + 1]++;
        }
}

/* --- the assignment of nodes --- */

/* Assigns each NIC endpoint to the slot of its own number. Nodes that may not
 * be exchanged, and NICs without traffic, are locked. */
static void node_swaps_assign_nodes(struct node_swaps_work *work)
{
    struct nw_slots *nodes = &work->nodes;

    for (int32_t b = 0; b < nodes->count; b++) {
        int32_t host = b / work->width;

        nodes->host[b] = host;
        nodes->end[b] =
            nw_problem_nic_end(nodes->problem, host, b % work->width);
        nodes->owner[b] = nodes->slot[b] = b;
        nodes->slot[nodes->count + b] = -1;
        nodes->used[host]++;
        nodes->locked[b] =
            nodes->node_class[host] < 0 || nodes->row[b] == nodes->row[b + 1];
    }
}

/* Makes the assignment of nodes from that of the ranks. */
static nw_status node_swaps_contract(struct node_swaps_work *work)
{
    const struct nw_slots *slots = work->slots;
    int32_t count = slots->problem->host_count * work->width;
    size_t n = (size_t)count, hosts = (size_t)slots->problem->host_count;
    struct nw_slots *nodes = &work->nodes;
    nw_status status;

    work->nodes = (struct nw_slots){.problem = slots->problem,
                                    .group = slots->group,
                                    .count = count,
                                    .core_count = count,
                                    .rank_count = count,
                                    .width = work->width};
    status = NW_ALLOC_ALL(
        NW_ARRAY(2 * (size_t)slots->rank_count, work->contract),
        NW_ARRAY(n, nodes->end), NW_ARRAY(n, nodes->host),
        NW_ARRAY(n, nodes->owner), NW_ARRAY(2 * n, nodes->slot),
        NW_ARRAY(n, nodes->locked), NW_ARRAY(hosts, nodes->used),
        NW_ARRAY(hosts, nodes->gpu_used), NW_ARRAY(hosts, nodes->node_class),
        NW_ARRAY(2 * n + 1, nodes->row));
    if (status)
        return status;
    node_swaps_sort_hosts(work);
    node_swaps_label_nodes(work);
    node_swaps_spread_edges(work, false);
    status = nw_slots_alloc_edges(nodes);
    if (status)
        return status;
    node_swaps_spread_edges(work, true);
    nw_slots_merge_edges(nodes);
    node_swaps_assign_nodes(work);
    return NW_OK;
}

/* --- back to ranks --- */

/* Moves all ranks as their nodes moved in the assignment of nodes: each
 * endpoint gets the slot with the same position within its new host. */
static void node_swaps_expand(struct node_swaps_work *work)
{
    struct nw_slots *slots = work->slots;
    const struct nw_slots *nodes = &work->nodes;
    int32_t hosts = slots->problem->host_count, n = slots->rank_count;

    for (int32_t a = 0; a < 2 * n; a++) {
        const int32_t *first = slots->first + (a < n ? 0 : hosts + 1);
        int32_t from, to;

        if (slots->slot[a] < 0)
            continue;
        from = slots->host[slots->slot[a]];
        to = nodes->host[nodes->slot[from * work->width]];
        slots->slot[a] += first[to] - first[from];
    }
    nw_slots_assign(slots, slots->slot);
}

/* --- the search --- */

/* Computes the hop-bytes of an assignment of ranks or of nodes. */
static nw_status node_swaps_sum_hop_bytes(const struct nw_slots *slots,
                                          double *out)
{
    struct nw_link_loads loads;
    nw_status status = nw_link_loads_init(
        &loads, slots, (struct nw_link_loads_wants){.hop_bytes = true});

    if (!status)
        *out = loads.now.hop_bytes;
    nw_link_loads_fini(&loads);
    return status;
}

/* Lowers the cap on hop-bytes by the hop-bytes that the assignment of nodes
 * does not contain: those inside nodes and between cores and NICs. Swaps of
 * nodes do not change them. */
static nw_status node_swaps_lower_limit(const struct node_swaps_work *work,
                                        struct nw_objectives *objectives)
{
    double all = 0, between = 0;
    nw_status status;

    if (objectives->hop_limit <= 0)
        return NW_OK;
    status = node_swaps_sum_hop_bytes(work->slots, &all);
    if (!status)
        status = node_swaps_sum_hop_bytes(&work->nodes, &between);
    if (!status)
        objectives->hop_limit =
            fmax(objectives->hop_limit - (all - between), 1e-300);
    return status;
}

nw_status nw_node_swaps(struct nw_slots *slots,
                        const struct nw_objectives *objectives,
                        enum nw_search_depth depth)
{
    struct node_swaps_work work = {
        .slots = slots,
        .width = nw_problem_most(slots->problem, nw_topology_node_nic_count)};
    struct nw_objectives mine = *objectives;
    nw_status status;

    if (slots->problem->host_count < NW_NODE_SWAPS_HOSTS_MIN ||
        work.width > CARDS_MAX)
        return NW_OK;
    status = node_swaps_contract(&work);
    if (!status)
        status = node_swaps_lower_limit(&work, &mine);
    if (!status)
        status = nw_slots_anneal(&work.nodes, &mine, depth);
    if (!status)
        node_swaps_expand(&work);
    nw_slots_fini(&work.nodes);
    free(work.contract);
    return status;
}
