/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the library's nouns to a graph, a machine with limits and back, for
 * mappings that put several ranks on an element (`capacity`, `imbalance`).
 */
#ifndef NW_MAP_CAPACITY_SEVERAL_H
#define NW_MAP_CAPACITY_SEVERAL_H

#include "map/kway/memetic.h"
#include "map/problem/problem.h"

struct nw_algorithm;

/* True where each element has one rank at most and load is limited. */
bool nw_several_is_single(const struct nw_map_options *options);

/* Everything of one call. Elements of the machine are numbered from 0 over
 * the nodes that take part, in the topology's order. */
struct nw_several {
    const nw_topology *topology;
    const nw_pattern *pattern;
    struct nw_map_options options; /* every field there */
    struct nw_budget budget;
    struct nw_kway_graph graph;
    int64_t heaviest; /* load of a rank */
    struct nw_kway_machine machine;
    double *table;
    int32_t host_count;
    int32_t *host;      /* [host_count] nodes, ascending */
    int32_t *slots;     /* [host_count] most ranks, INT32_MAX where open */
    int32_t *order;     /* [host_count] hosts as the caller gave them */
    int32_t *first;     /* [host_count + 1] elements of a host */
    int32_t *element;   /* [k] of the topology */
    struct nw_end *end; /* [k] */
};

/* The options and the budget; the rest by the steps below. Fini also after a
 * failure. */
NW_MUST_CHECK nw_status nw_several_init(struct nw_several *several,
                                        const struct nw_map_call *call);
void nw_several_fini(struct nw_several *several);

/* Steps of the preparation, in this order. NW_EINVAL says what does not fit. */
NW_MUST_CHECK nw_status nw_several_choose_hosts(struct nw_several *several);
NW_MUST_CHECK nw_status nw_several_to_graph(struct nw_several *several);
NW_MUST_CHECK nw_status nw_several_to_machine(struct nw_several *several);
/* Fills part[n] by loads alone; whether every limit is kept. */
NW_MUST_CHECK nw_status nw_several_bin_packing(const struct nw_several *several,
                                               int32_t *part, bool *fits);

/* The options' start as parts, which the caller frees; NULL without a start.
 * from_mapping.c */
NW_MUST_CHECK nw_status
nw_several_from_mapping(const struct nw_several *several, int32_t **out);

/* The default mapping as parts, part[n]. NW_EINVAL if fixed ranks leave no
 * room. default_parts.c */
NW_MUST_CHECK nw_status
nw_several_default_parts(const struct nw_several *several, int32_t *part);
NW_MUST_CHECK nw_status nw_several_to_mapping(const struct nw_several *several,
                                              const int32_t *part,
                                              nw_mapping **out);

/* By the k-way engine. The algorithm is auto, multilevel, refine or block.
 * by_parts.c */
NW_MUST_CHECK nw_status
nw_several_by_parts(struct nw_several *several,
                    const struct nw_algorithm *algorithm, nw_mapping **out);
/* Puts `other` in the place of *best if it is better (*won), and frees the one
 * that is not kept. */
NW_MUST_CHECK nw_status nw_several_match(const struct nw_several *several,
                                         nw_mapping *other, nw_mapping **best,
                                         bool *won);
/* Compares other parts with the best mapping, if they are within the limits. */
NW_MUST_CHECK nw_status nw_several_try_other(const struct nw_several *several,
                                             const int32_t *part,
                                             nw_mapping **best);

/* --- one rank on an element --- */

bool nw_several_uses_gpus(const struct nw_several *several);
/* Whether some rank is too much for some element. */
bool nw_several_limits_matter(const struct nw_several *several);
/* Whether one rank per element is asked for, and limits exclude no placement.
 */
bool nw_several_is_plain(const struct nw_several *several);
struct nw_map_options
nw_several_without_limits(const struct nw_several *several);
/* Within the limits, by an algorithm that knows them. */
NW_MUST_CHECK nw_status nw_several_single(struct nw_several *several,
                                          const struct nw_algorithm *algorithm,
                                          nw_mapping **out,
                                          struct nw_map_report *report);

/* --- several, each with a slot of its own --- */

/* Whether all ranks weigh the same: then a limit of load is one of their
 * number. */
bool nw_several_is_even(const struct nw_several *several);
/* The same, and they are few enough. */
bool nw_several_has_slots(const struct nw_several *several);
/* By multilevel, or a search that is named and begins with its answer. */
NW_MUST_CHECK nw_status nw_several_on_slots(
    struct nw_several *several, const struct nw_algorithm *algorithm,
    nw_mapping **out, struct nw_map_report *report);
/* By an algorithm of phases, however many they are; NW_EINVAL where their
 * weights differ, which those do not know. */
NW_MUST_CHECK nw_status nw_several_by_phases(
    struct nw_several *several, const struct nw_algorithm *algorithm,
    nw_mapping **out, struct nw_map_report *report);

/* GPUs for a complete answer without any, ranks moved between nodes where they
 * lack them; NW_EINVAL where that leads nowhere. assign_gpus.c */
NW_MUST_CHECK nw_status nw_several_assign_gpus(const struct nw_several *several,
                                               const struct nw_problem *problem,
                                               struct nw_answer *answer,
                                               struct nw_map_report *report);

#endif
