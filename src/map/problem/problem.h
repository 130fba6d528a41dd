/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mapping problem with every default replaced: which nodes take part, the
 * units of each (groups of cores, groups of GPUs), how many ranks fit where,
 * which ranks are fixed. Algorithms fill an answer; nw_answer_to_mapping makes
 * a mapping of it.
 */
#ifndef NW_MAP_PROBLEM_PROBLEM_H
#define NW_MAP_PROBLEM_PROBLEM_H

#include <nodewise/map.h>

/* What a call of the library is given; `options` may be NULL. */
struct nw_map_call {
    const nw_topology *topology;
    const nw_pattern *pattern;
    const struct nw_map_options *options;
};

/* Units of host h are first[h] .. first[h + 1] - 1; unit u is the `size`
 * cores or GPUs at member + u x size (per-node indexes, ascending). */
struct nw_units {
    int32_t size;
    int32_t *first; /* [host_count + 1] */
    int32_t *member;
    int32_t *capacity; /* [units] most ranks */
};

struct nw_budget;

struct nw_problem {
    struct nw_budget *budget; /* shared by all searches; NULL: none */
    struct nw_cost
        *standard; /* out: cost of the default mapping; NULL: not wanted */
    const nw_topology *topology;
    const nw_pattern *pattern;
    const struct nw_pattern_phases *phases; /* of the pattern */
    struct nw_map_options options; /* every 0 replaced by its default */
    bool uses_gpus;                /* some rank uses a GPU */
    bool *wants_gpu;               /* [rank_count] */
    int32_t host_count;
    int32_t *host;         /* [host_count] node */
    int32_t *capacity;     /* [host_count] most ranks, fixed ones included */
    int32_t *gpu_capacity; /* most ranks with GPUs, fixed ones included */
    struct nw_units core, gpu;
    bool lean;           /* small problems are not handed to the QAP searches */
    int32_t *fixed_host; /* [rank_count] host or -1; NULL if no rank is fixed */
    /* Borrowed, NULL if not limited: load of a rank, limit of a core unit. Only
     * the searches on slots respect them. */
    const int64_t *load, *limit;
};

static inline bool nw_problem_within_limit(const struct nw_problem *problem,
                                           int32_t core_unit, int32_t rank)
{
    return !problem->limit || core_unit < 0 ||
           problem->load[rank] <= problem->limit[core_unit];
}

/* The caller's options, whose struct may be an older one, over the defaults;
 * `options` may be NULL. */
struct nw_map_options nw_problem_options(const struct nw_map_options *options);
/* NW_EINVAL, with what would fit, if the ranks do not fit. All arguments are
 * borrowed until nw_problem_fini; `options` may be NULL. */
NW_MUST_CHECK nw_status nw_problem_init(struct nw_problem *problem,
                                        const nw_topology *topology,
                                        const nw_pattern *pattern,
                                        const struct nw_map_options *options);
void nw_problem_fini(struct nw_problem *problem);

/* NW_EINVAL where an objective needs links and the machine has none. */
NW_MUST_CHECK nw_status nw_problem_check_links(
    const nw_topology *topology, const struct nw_map_options *options);

/* Steps of nw_problem_init, in select_hosts.c. */
NW_MUST_CHECK nw_status nw_problem_choose_hosts(struct nw_problem *problem);
NW_MUST_CHECK nw_status nw_problem_cut_units(struct nw_problem *problem);

/* The cores and GPUs that a rank is fixed to; empty if open. */
struct nw_ints nw_problem_fixed_cores(const struct nw_problem *problem,
                                      int32_t rank);
struct nw_ints nw_problem_fixed_gpus(const struct nw_problem *problem,
                                     int32_t rank);
struct nw_ints nw_units_members(const struct nw_units *units, int32_t unit);
bool nw_problem_needs_core(const struct nw_problem *problem, int32_t rank);
bool nw_problem_needs_gpu(const struct nw_problem *problem, int32_t rank);

struct nw_end nw_problem_core_end(const struct nw_problem *problem,
                                  int32_t host, int32_t core);
struct nw_end nw_problem_gpu_end(const struct nw_problem *problem, int32_t host,
                                 int32_t gpu);
/* Mean number of links between cores and GPUs of one host. */
double nw_problem_gpu_distance(const struct nw_problem *problem, int32_t host,
                               struct nw_ints cores, struct nw_ints gpus);
/* Package of a unit's first core or GPU in its node, -1 for none. */
int32_t nw_problem_core_package(const struct nw_problem *problem, int32_t host,
                                int32_t unit);

/* A host and units for each rank; -1: none, or fixed. */
struct nw_answer {
    int32_t *host, *core, *gpu; /* [rank_count] */
    int32_t
        *gpu_host; /* host of the GPU if it is another node; otherwise NULL */
    bool approximate; /* found on an approximation of the machine */
    bool grid_found;  /* the search found a grid in the pattern */
};
NW_MUST_CHECK nw_status nw_answer_init(struct nw_answer *answer,
                                       int32_t rank_count);
/* Adds a gpu_host, the rank's own host, if there is none. */
NW_MUST_CHECK nw_status nw_answer_allow_remote(struct nw_answer *answer,
                                               int32_t rank_count);
void nw_answer_fini(struct nw_answer *answer);
NW_MUST_CHECK nw_status nw_answer_to_mapping(const struct nw_answer *answer,
                                             const struct nw_problem *problem,
                                             nw_mapping **out);

/* The options' start as an answer, or an empty answer without one: the units
 * that contain the start's first core and GPU. NW_EINVAL if the start has
 * another number of ranks or does not fit the hosts; from_mapping.c */
NW_MUST_CHECK nw_status nw_answer_from_mapping(const struct nw_problem *problem,
                                               struct nw_answer *answer);
/* NW_EINVAL if a rank is open, is not where it is fixed, or a core, GPU or host
 * has too many. */
NW_MUST_CHECK nw_status nw_answer_check_complete(
    const struct nw_problem *problem, const struct nw_answer *answer);

/* The default mapping as an answer; launcher_default.c. */
NW_MUST_CHECK nw_status nw_answer_default(const struct nw_problem *problem,
                                          struct nw_answer *answer);
/* The same as a mapping. */
NW_MUST_CHECK nw_status nw_problem_default(const struct nw_map_call *call,
                                           nw_mapping **out);
/* The cores of the default, once hosts are known: alternating over packages. */
NW_MUST_CHECK nw_status nw_answer_default_cores(
    const struct nw_problem *problem, struct nw_answer *answer);
/* GPU i for local rank i, once hosts are known. */
NW_MUST_CHECK nw_status nw_answer_gpus_in_order(
    const struct nw_problem *problem, struct nw_answer *answer);

#endif
