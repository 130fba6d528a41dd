/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of algorithms: name, summary and functions of each. A new algorithm
 * needs a row in algorithms.c and an entry in the enumeration here. */
#ifndef NW_MAP_PORTFOLIO_ALGORITHM_H
#define NW_MAP_PORTFOLIO_ALGORITHM_H

#include "map/congestion/objectives.h"
#include "map/phases/phases.h"

/* Algorithms in the order in which `nodewise map` lists them. */
enum nw_algorithm_id {
    NW_ALGORITHM_AUTO,
    NW_ALGORITHM_MAGC,
    NW_ALGORITHM_MAGC_SCOTCH,
    NW_ALGORITHM_MAGC_GREEDY,
    NW_ALGORITHM_STRATEGY1,
    NW_ALGORITHM_STRATEGY2,
    NW_ALGORITHM_INDEPENDENT,
    NW_ALGORITHM_INDEPENDENT_REMAP,
    NW_ALGORITHM_SCOTCH,
    NW_ALGORITHM_RASHTI,
    NW_ALGORITHM_TILE,
    NW_ALGORITHM_SECTION,
    NW_ALGORITHM_MULTILEVEL,
    NW_ALGORITHM_FOLD,
    NW_ALGORITHM_ANNEAL,
    NW_ALGORITHM_TABU,
    NW_ALGORITHM_EXACT,
    NW_ALGORITHM_REFINE,
    NW_ALGORITHM_PARTITION,
    NW_ALGORITHM_DEFAULT,
    NW_ALGORITHM_BLOCK,
    NW_ALGORITHM_SORTED,
    NW_ALGORITHM_CYCLIC,
    NW_ALGORITHM_RANDOM,
    NW_ALGORITHM_COUNT
};

/* How an algorithm places several ranks on an element (core unit). NONE: not
 * supported; BY_KWAY: elements are parts of the k-way engine; BY_SLOTS: by
 * moves between slots; BY_PHASES: by the phases of MAGC. With BY_KWAY and
 * BY_SLOTS, the algorithm also keeps limits of load with one rank on each
 * element. */
enum nw_several_method {
    NW_SEVERAL_NONE,
    NW_SEVERAL_BY_KWAY,
    NW_SEVERAL_BY_SLOTS,
    NW_SEVERAL_BY_PHASES
};

/* Type of a search that improves a complete assignment of slots. */
typedef nw_status nw_slots_search(struct nw_slots *slots,
                                  const struct nw_objectives *objectives,
                                  struct nw_map_report *report);

/* Type of a function that runs an algorithm: it fills an empty answer. */
struct nw_algorithm;
typedef nw_status nw_algorithm_run(const struct nw_algorithm *algorithm,
                                   const struct nw_problem *problem,
                                   struct nw_answer *answer,
                                   struct nw_map_report *report);

/* An algorithm: a row of the table. */
struct nw_algorithm {
    const char *name;
    const char *summary;
    /* NULL for `auto`, which takes the best of several algorithms */
    nw_algorithm_run *run;
    /* placer of each MAGC phase (nodes, cores, GPUs), used by nw_run_phases,
     * nw_run_all_units and nw_run_independent; NULL: places as the default
     * mapping does. If phase[1] is NULL, the algorithm has no phases, and the
     * options cannot name other placers. */
    nw_placer *phase[3];
    bool host_only; /* phase 1 counts only the traffic between host memories */
    nw_placer *placer;       /* placer that nw_run_all_units calls */
    nw_slots_search *search; /* search that nw_run_search calls */
    enum nw_several_method several;
    bool baseline;    /* the user gets the result even if it is worse than the
                         default mapping */
    bool by_distance; /* true: nw_place_partition prefers fewer hop-bytes and,
                         if they are equal, less congestion; false: less
                         congestion and, if it is equal, fewer hop-bytes */
    bool remaps;      /* nw_run_independent moves ranks to the nodes of their
                         GPUs afterwards */
    bool takes_start; /* its search starts from the mapping of --from */
    bool cores_stay;  /* nw_cores_near_gpus moves only GPUs afterwards, because
                         the user wants this order of ranks on cores */
};

/* Returns the algorithm of a name; NULL if the name is unknown. */
const struct nw_algorithm *nw_algorithm_find(const char *name);
const struct nw_algorithm *nw_algorithm_get(enum nw_algorithm_id id);
static inline bool nw_algorithm_is(const struct nw_algorithm *algorithm,
                                   enum nw_algorithm_id id)
{
    return algorithm == nw_algorithm_get(id);
}

/* Fills *out with the placers of the phases of an algorithm; placers that the
 * options name for phases replace the algorithm's own. Returns NW_EINVAL if the
 * options name an unknown placer. */
NW_MUST_CHECK nw_status nw_algorithm_phases(
    const struct nw_algorithm *algorithm, const struct nw_map_options *options,
    struct nw_phases *out);

/* Functions for nw_algorithm.run, defined in run_phases.c,
 * baseline_independent.c and named_searches.c. nw_run_search runs the
 * algorithm's `search` from the mapping of --from or the default mapping. */
nw_algorithm_run nw_run_phases, nw_run_all_units, nw_run_default, nw_run_sorted,
    nw_run_independent, nw_run_search, nw_run_refine;

/* Exchanges the ranks of whole nodes of the same kind, in an answer without
 * fixed ranks. The hosts are sorted by switch and NVLink domain, so that near
 * hosts follow each other. Among the hosts of one kind, the i-th host of the
 * problem gives its ranks to the i-th one in this order. Defined in
 * sorted_nodes.c. */
NW_MUST_CHECK nw_status nw_sorted_nodes(const struct nw_problem *problem,
                                        struct nw_answer *answer);

/* --- named_searches.c: searches from a complete answer --- */

/* Searches from a complete assignment. Anneal: simulated annealing. Tabu: tabu
 * search, or annealing unless the problem is a small QAP. Exact: proof of the
 * best assignment. Fold: embedding of a grid by digits. Descend: descent by
 * swaps, or a proof if the problem is a tiny QAP. */
nw_slots_search nw_search_anneal, nw_search_tabu, nw_search_exact,
    nw_search_fold, nw_search_descend;

/* Returns true if the problem is so small that auto proves the best mapping for
 * any objective, unless the effort is "fast". */
bool nw_search_is_tiny(const struct nw_problem *problem);

/* Returns true if there are few enough core units for the QAP searches. */
bool nw_search_is_small(const struct nw_problem *problem);
/* Returns true if a QAP search covers the whole problem, except its second
 * objective. */
bool nw_search_fits_qap_first(const struct nw_slots *slots);

/* Replaces an answer, which may be zeroed, by the mapping of --from, which must
 * be complete, or without it by the default mapping. The answer allows GPUs on
 * other nodes than their ranks if the options do. Returns NW_EINVAL if a
 * rank has no core or GPU that it needs, is not on the host to which it is
 * fixed, or if a core, GPU or host has too many ranks. */
NW_MUST_CHECK nw_status nw_search_initial(const struct nw_problem *problem,
                                          struct nw_answer *answer);

#endif
