/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computing a mapping: which node, core and GPU each rank gets.
 */
#ifndef NODEWISE_MAP_H
#define NODEWISE_MAP_H

#include <nodewise/cost.h>
#include <nodewise/mapping.h>
#include <nodewise/pattern.h>
#include <nodewise/progress.h>
#include <nodewise/status.h>
#include <nodewise/topology.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How much work an answer is worth, in counted steps: the same steps and the
 * same seed give the same answer on any machine and any number of threads. */
enum nw_effort { NW_EFFORT_DEFAULT, NW_EFFORT_FAST, NW_EFFORT_STRONG };

struct nw_map_options {
    size_t size;           /* sizeof of this struct */
    const char *algorithm; /* "auto" where NULL */
    const char *phase[3];  /* an algorithm for one of MAGC's phases, or NULL */
    enum nw_objective objective;
    uint64_t seed;
    double affinity; /* weight of core-GPU-card nearness; 0 = the paper */
    int32_t cores_per_rank; /* 1 where 0 */
    int32_t gpus_per_rank;  /* 0: one where the pattern has a GPU layer */
    int32_t ranks_per_gpu;  /* 1 where 0 */
    const int32_t *hosts;   /* nodes that may be used, in order, or NULL */
    size_t host_count;
    const int32_t *slots;    /* [host_count] most ranks on each, or NULL */
    const nw_mapping *fixed; /* ranks fixed in place, or NULL */
    bool remote_gpus;        /* let a rank have a GPU of another node */
    bool careful; /* auto: no worse than the default in hop-bytes nor in
                     congestion, whatever the objective */
    struct nw_progress *progress; /* or NULL */

    /* what decides between answers that are equal in `objective` */
    bool has_second;
    enum nw_objective second;

    enum nw_effort effort;
    uint64_t steps;  /* most steps of the searches; 0: as effort says */
    double seconds;  /* stop the searches then, however few their steps, and
                        go on until then; 0: as effort and steps say */
    int32_t threads; /* 0: the cores available; 1 inside an MPI process */
    const nw_mapping *start; /* a mapping to begin from; `refine` needs it */

    /* many vertices per element: most ranks of one element (1 where 0), and
     * how far the load of one may pass the mean, as a fraction; below 0:
     * not limited so. A rank's load is its weight, the pattern's where
     * `weights` is NULL; an element's mean is in proportion to its speed. */
    int32_t capacity;
    double imbalance;
    const uint64_t *weights; /* [rank_count] or NULL */
    const double *speeds;    /* [elements of the topology], from 0; or NULL */
};
#define NW_MAP_OPTIONS_INIT                                                    \
    {                                                                          \
        .size = sizeof(struct nw_map_options), .seed = 1, .imbalance = -1      \
    }

/* What was done, for people and for repeating it. */
struct nw_map_report {
    const char *algorithm; /* the one whose answer was returned; static */
    uint64_t steps;
    bool proven;  /* it is an optimum of the objective, by branch and bound */
    bool hurried; /* the time or Ctrl-C also cut what counts no steps, or the
                     time was shared out: as many `steps` need not repeat the
                     answer */
    double phase_seconds[3];
};

/* Computes a mapping that is valid and never worse than the default for the
 * objective (relative tolerance 1e-9; the paper's baselines `strategy1`,
 * `strategy2`, `independent`, `random`, `cyclic`, asked for by name, are
 * returned as they are). NW_EINVAL where the machine is too small, with what
 * would fit. `options` and `report` may be NULL. */
NW_API NW_MUST_CHECK nw_status nw_map(const nw_topology *topology,
                                      const nw_pattern *pattern,
                                      const struct nw_map_options *options,
                                      nw_mapping **out,
                                      struct nw_map_report *report);

/* The same, and what it costs beside the default, as nw_cost_evaluate says;
 * each is priced once. */
struct nw_map_answer {
    nw_mapping *mapping;
    struct nw_cost cost, standard; /* the mapping's and the default's */
    struct nw_map_report report;
};
NW_API NW_MUST_CHECK nw_status
nw_map_priced(const nw_topology *topology, const nw_pattern *pattern,
              const struct nw_map_options *options, struct nw_map_answer *out);
NW_API void nw_map_answer_fini(struct nw_map_answer *answer);

/* What the launcher would do (design: "the default mapping"). */
NW_API NW_MUST_CHECK nw_status
nw_map_default(const nw_topology *topology, const nw_pattern *pattern,
               const struct nw_map_options *options, nw_mapping **out);

/* What `auto` lowers where no objective is named, and why, in words. */
struct nw_objective_choice {
    enum nw_objective objective;
    char why[160];
};

/* Hop-bytes on plain hierarchies and matrices, which state distances alone.
 * Elsewhere by the mean bytes of a message between different ranks: latency,
 * congestion or time, as the narrowest link of the way from the first element
 * to the last takes less than a quarter of that way's latency for them, more
 * than four times as long, or neither. Congestion where no messages are
 * counted. */
NW_API NW_MUST_CHECK nw_status
nw_map_choose_objective(const nw_topology *topology, const nw_pattern *pattern,
                        struct nw_objective_choice *out);

/* The algorithms that may stand in a phase, in words, and whether a name is
 * one of them. */
NW_API const char *nw_map_phase_names(void);
NW_API bool nw_map_phase_known(const char *name);

/* Name and one sentence of algorithm 0, 1, ...; false past the last. */
NW_API bool nw_map_algorithm(size_t index, const char **name,
                             const char **summary);

#ifdef __cplusplus
}
#endif
#endif
