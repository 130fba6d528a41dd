/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts a topology, a pattern and options to a graph and a machine with
 * limits for the k-way engine, and the engine's parts back to a mapping. Used
 * for mappings that put several ranks on an element (a core or hardware thread)
 * or limit its load (options `capacity` and `imbalance`). Part q is element q
 * of the machine.
 */
#ifndef NW_MAP_CAPACITY_SEVERAL_H
#define NW_MAP_CAPACITY_SEVERAL_H

#include "map/kway/kway.h"
#include "map/problem/problem.h"

struct nw_algorithm;

/* Returns true if the options allow one rank per element only (`capacity` is 1,
 * not 0) and limit the load of elements. */
bool nw_several_is_single(const struct nw_map_options *options);

/* State of one call of nw_several_map. The elements of
 * the machine are numbered from 0 over the nodes that take part, in the order
 * of the topology. */
struct nw_several {
    const nw_topology *topology;
    const nw_pattern *pattern;
    /* options of the call, with defaults for missing fields */
    struct nw_map_options options;
    struct nw_budget budget;
    struct nw_graph graph;
    int64_t heaviest; /* largest load of a rank */
    struct nw_kway_machine machine;
    double *table; /* [elements x elements] distance of each two elements, as
                      the objective weighs it, also in machine.table; NULL: too
                      many elements */
    int32_t host_count;
    int32_t *host; /* [host_count] index in the topology of each host's node,
                      ascending */
    /* [host_count] most ranks of each host; INT32_MAX: no limit */
    int32_t *slots;
    int32_t *order; /* [host_count] indexes in `host`, in the order in which the
                       caller named the hosts */
    int32_t *host_of; /* [nodes of the topology] index in `host` of each node;
                         -1: the node is not used */
    int32_t *first;   /* [host_count + 1] host h has elements first[h] ..
                         first[h + 1] - 1 */
    int32_t *element; /* [elements] number of each element in the topology */
    /* [elements] each element as an end of routes */
    struct nw_end *end;
};

/* Reads the options and makes the budget; the steps below fill the other
 * fields. Returns NW_EINVAL or NW_EUNSUPPORTED if the options are invalid. The
 * caller calls nw_several_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_several_init(struct nw_several *several,
                                        const struct nw_map_call *call);
void nw_several_fini(struct nw_several *several);

/* Returns true if rank v may not go to some elements because it is fixed to an
 * element or to a host. If the machine has only that element or host, the rank
 * may go to all elements, and the function returns false. */
static inline bool nw_several_is_fixed(const struct nw_several *several,
                                       int32_t v)
{
    const struct nw_graph_range *range = several->graph.range;

    return range && range[v].high - range[v].low < several->machine.k;
}

/* Steps of the preparation, to be called in this order: hosts, graph of the
 * ranks, machine. They return NW_EINVAL with a message if the ranks do not fit
 * or an option is invalid. */
NW_MUST_CHECK nw_status nw_several_choose_hosts(struct nw_several *several);
NW_MUST_CHECK nw_status nw_several_to_graph(struct nw_several *several);
NW_MUST_CHECK nw_status nw_several_to_machine(struct nw_several *several);
/* Returns the index in several->host of the node with this name; -1 if the call
 * does not use that node. Defined in target_weights.c. */
int32_t nw_several_host_find(const struct nw_several *several,
                             const char *name);
/* Fills part[ranks], the element of each rank, by bin packing: from the loads
 * alone, ignoring traffic. Sets *fits to true if every limit is kept; otherwise
 * to false, and `part` is not complete. */
NW_MUST_CHECK nw_status nw_several_bin_packing(const struct nw_several *several,
                                               int32_t *part, bool *fits);

/* Converts the mapping of --from to the element of each rank, (*out)[ranks],
 * which the caller frees; *out is not set without --from. Defined in
 * from_mapping.c. */
NW_MUST_CHECK nw_status
nw_several_from_mapping(const struct nw_several *several, int32_t **out);

/* Fills (*out)[ranks], the element of each rank, with the default mapping; the
 * caller frees *out. Returns NW_EINVAL if the fixed ranks leave no element for
 * another rank. Defined in default_parts.c. */
NW_MUST_CHECK nw_status
nw_several_default_parts(const struct nw_several *several, int32_t **out);
NW_MUST_CHECK nw_status nw_several_to_mapping(const struct nw_several *several,
                                              const int32_t *part,
                                              nw_mapping **out);

/* Maps with the k-way engine. The algorithm is auto, multilevel, refine or
 * block. Defined in by_kway.c. */
NW_MUST_CHECK nw_status nw_several_by_kway(struct nw_several *several,
                                           const struct nw_algorithm *algorithm,
                                           nw_mapping **out);
/* Compares the mappings *best and `other` by objective and, if that is equal,
 * by second objective. If `other` is better, replaces *best by it and sets *won
 * to true, otherwise to false. Frees the mapping that is not kept. */
NW_MUST_CHECK nw_status nw_several_match(const struct nw_several *several,
                                         nw_mapping *other, nw_mapping **best,
                                         bool *won);
/* If part[ranks], the element of each rank, keeps all limits, makes a mapping
 * from it and replaces *best by this mapping if it is better. */
NW_MUST_CHECK nw_status nw_several_try_other(const struct nw_several *several,
                                             const int32_t *part,
                                             nw_mapping **best);

/* --- limits of load with at most one rank per element --- */

bool nw_several_uses_gpus(const struct nw_several *several);
/* Returns true if the options allow one rank per element only, and the limits
 * of load exclude no assignment. Then algorithms that know no limits of load
 * can map. */
bool nw_several_is_plain(const struct nw_several *several);
/* Returns the options without capacities, weights, speeds and limits of load.
 */
struct nw_map_options
nw_several_without_limits(const struct nw_several *several);
/* --- several ranks per element, each rank on a slot of its own --- */

/* Returns true if all ranks have the same load: then a limit of load is a limit
 * on the number of ranks. */
bool nw_several_is_even(const struct nw_several *several);
/* Returns true if all ranks have the same load, and there are few enough ranks
 * and slots for searches on slots. */
bool nw_several_has_slots(const struct nw_several *several);
/* Runs the k-way engine, then the search of the algorithm from the engine's
 * result by moves between slots: several ranks per element, or one rank per
 * element within the limits of load. Defined in on_slots.c. */
NW_MUST_CHECK nw_status nw_several_on_slots(
    struct nw_several *several, const struct nw_algorithm *algorithm,
    nw_mapping **out, struct nw_map_report *report);
/* Maps by an algorithm with the method NW_SEVERAL_BY_PHASES, such as magc,
 * however many ranks there are. These algorithms ignore loads, so the function
 * returns NW_EINVAL if the loads of the ranks differ. */
NW_MUST_CHECK nw_status nw_several_by_phases(
    struct nw_several *several, const struct nw_algorithm *algorithm,
    nw_mapping **out, struct nw_map_report *report);

/* Assigns GPUs to a complete answer that has none, and moves ranks between
 * nodes if a node lacks GPUs; returns NW_EINVAL if no such moves are found.
 * Defined in assign_gpus.c. */
NW_MUST_CHECK nw_status nw_several_assign_gpus(const struct nw_several *several,
                                               const struct nw_problem *problem,
                                               struct nw_answer *answer,
                                               struct nw_map_report *report);

#endif
