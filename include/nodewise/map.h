/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes a mapping: which node, core and GPU each rank gets. "The paper" in
 * this header is S. H. Mirsadeghi, I. Faraji and A. Afsahi, "MAGC: A Mapping
 * Approach for GPU Clusters".
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

/* Effort of the search, in counted steps. The same steps and seed give the same
 * mapping on every machine and with any number of threads. */
enum nw_effort { NW_EFFORT_DEFAULT, NW_EFFORT_FAST, NW_EFFORT_STRONG };

/* Options of nw_map. Initialise with NW_MAP_OPTIONS_INIT. */
struct nw_map_options {
    size_t size;           /* sizeof of this struct */
    const char *algorithm; /* NULL: "auto" */
    const char *phase[3];  /* an algorithm for each of the paper's three phases;
                              NULL: that of `algorithm` */
    enum nw_objective objective;
    uint64_t seed;
    double affinity; /* how strongly a rank's core, GPU and NIC are kept close
                        to each other; 0: not at all, as in the paper */
    int32_t cores_per_rank; /* 0 means 1 */
    int32_t gpus_per_rank;  /* 0: one if the pattern has a GPU layer */
    int32_t ranks_per_gpu;  /* 0 means 1 */
    const int32_t *hosts;   /* usable nodes, in order; NULL: all */
    size_t host_count;
    const int32_t *slots;    /* [host_count] maximum number of ranks on each of
                                `hosts`; NULL: no such limit */
    const nw_mapping *fixed; /* mapping in which each node, core and GPU that is
                                not open must be kept; NULL: nothing is fixed */
    bool remote_gpus;        /* a rank may get a GPU of another node */
    bool careful; /* "auto" must not be worse than the default mapping in
                     hop-bytes or congestion, whatever the objective; ignored
                     for a training step */
    struct nw_progress *progress; /* or NULL */

    /* second objective, which chooses between mappings that are equal in
     * `objective` */
    bool has_second;
    enum nw_objective second;

    enum nw_effort effort;
    uint64_t steps;  /* maximum steps of the searches; 0: `effort` decides */
    double seconds;  /* search for this many seconds instead of a fixed number
                        of steps; 0: `effort` and `steps` decide */
    int32_t threads; /* 0: the cores available; 1 inside an MPI process */
    const nw_mapping *start; /* initial mapping; `refine` requires one */

    /* Several ranks on one element: `capacity` is the maximum number of ranks
     * of an element (0 means 1). `imbalance` is the fraction by which an
     * element's load may exceed the mean; a negative value means no limit. The
     * load of a rank is its weight: weights[rank], or the pattern's weight if
     * `weights` is NULL. The mean of an element is proportional to its speed.
     */
    int32_t capacity;
    double imbalance;
    const uint64_t *weights; /* [rank_count] or NULL */
    const double *speeds;    /* [elements of the topology] speed of each, at
                                least 0; NULL: all equal */

    /* Keep the blocks of consecutive ranks that the default mapping or `start`
     * gives the nodes: each node gets one of these blocks as a whole. Launchers
     * such as torchrun need this, because they number ranks node by node. Not
     * with fixed ranks, remote GPUs or several ranks per element. */
    bool whole_nodes;

    /* The last `spare` nodes of `hosts`, or of the machine, get no ranks. */
    int32_t spare;

    /* A restart: `start` is the mapping of the job before these nodes of the
     * topology were lost. Their ranks move to nodes without ranks, or to free
     * cores and GPUs of other nodes. Any other rank moves only if the predicted
     * time of an exchange falls by more than `move_cost` seconds for each rank
     * that moves; a negative value means 1 % of the predicted time. The mapping
     * may be worse than the default. */
    const int32_t *lost;
    size_t lost_count;
    double move_cost;
};
#define NW_MAP_OPTIONS_INIT                                                    \
    {                                                                          \
        .size = sizeof(struct nw_map_options), .seed = 1, .imbalance = -1,     \
        .move_cost = -1                                                        \
    }

/* How the mapping was computed. The same options with this number of steps give
 * the mapping again, unless `hurried` is set. */
struct nw_map_report {
    const char *algorithm; /* the one whose mapping was returned; static */
    uint64_t steps;
    bool proven;  /* branch and bound has proved that the mapping is optimal */
    bool hurried; /* a time limit or Ctrl-C also shortened work that counts no
                     steps, or time was divided between searches: another run
                     with this number of steps may give another mapping */
    double phase_seconds[3];
    int32_t lost_ranks; /* ranks of lost nodes */
    int32_t moved;      /* ranks with another node, core or GPU than before,
                           including lost_ranks */
    double move_cost;   /* s: the move cost that was used */
};

/* Computes a valid mapping that is never worse than the default mapping for the
 * objective (relative tolerance 1e-9). The paper's baselines `strategy1`,
 * `strategy2`, `independent`, `random` and `cyclic` are exceptions: if one is
 * requested by name, its mapping is returned unchanged. A restart (`lost`) may
 * also give a mapping that is worse than the default. `options` and `report`
 * may be NULL. NW_EINVAL: the machine is too small; the sentence says what
 * would fit. The caller frees *out with nw_mapping_free. */
NW_API NW_MUST_CHECK nw_status nw_map(const nw_topology *topology,
                                      const nw_pattern *pattern,
                                      const struct nw_map_options *options,
                                      nw_mapping **out,
                                      struct nw_map_report *report);

/* The result of nw_map_priced. */
struct nw_map_answer {
    nw_mapping *mapping;
    struct nw_cost cost, standard; /* of `mapping` and of nw_map_default */
    struct nw_map_report report;
};
/* Computes a mapping as nw_map does, and the costs of this mapping and of the
 * default mapping as nw_cost_evaluate does. Each cost is computed once. The
 * caller releases *out with nw_map_answer_fini. */
NW_API NW_MUST_CHECK nw_status
nw_map_priced(const nw_topology *topology, const nw_pattern *pattern,
              const struct nw_map_options *options, struct nw_map_answer *out);
NW_API void nw_map_answer_fini(struct nw_map_answer *answer);

/* The default mapping: the placement that the launcher itself would choose. The
 * caller frees *out with nw_mapping_free. */
NW_API NW_MUST_CHECK nw_status
nw_map_default(const nw_topology *topology, const nw_pattern *pattern,
               const struct nw_map_options *options, nw_mapping **out);
/* The default mapping for a comparison with other mappings. If there are more
 * ranks than elements (or GPUs, if the pattern uses GPU memory), ranks share
 * them evenly; otherwise it is that of nw_map_default. The caller frees *out
 * with nw_mapping_free. */
NW_API NW_MUST_CHECK nw_status
nw_map_reference(const nw_topology *topology, const nw_pattern *pattern,
                 const struct nw_map_options *options, nw_mapping **out);

/* The objective that `auto` uses if the user names none, and the reason in
 * words. */
struct nw_objective_choice {
    enum nw_objective objective;
    char why[160];
};

/* Chooses the default objective. Plain hierarchies and matrices give only
 * distances: hop-bytes. Other machines compare two times for a message of mean
 * size on the route from the first element to the last: its transfer time on
 * the narrowest link, and the latency of the route.
 *
 * - transfer time less than a quarter of the latency: latency
 * - transfer time more than four times the latency: congestion
 * - otherwise: time
 *
 * Congestion is also used if the pattern counts no messages between ranks or
 * the machine has one element. A training step always uses time. */
NW_API NW_MUST_CHECK nw_status
nw_map_choose_objective(const nw_topology *topology, const nw_pattern *pattern,
                        struct nw_objective_choice *out);

/* nw_map_phase_names gives the names of the algorithms that a phase of MAGC,
 * the paper's method, can use, in one text. nw_map_phase_known says whether
 * `name` is one of them. */
NW_API const char *nw_map_phase_names(void);
NW_API bool nw_map_phase_known(const char *name);

/* Sets *name and *summary to the name and the one-sentence summary of the
 * algorithm with this index, which starts at 0. Returns false if the index is
 * too large. The strings are static. */
NW_API bool nw_map_algorithm(size_t index, const char **name,
                             const char **summary);

/* A tuned number of the mapping engine. */
struct nw_map_parameter {
    const char *engine; /* the part of the engine that uses the number */
    const char *about;  /* what that part does, and where its source is */
    const char *name;
    double value[3];     /* the value for each enum nw_effort */
    const char *meaning; /* one sentence */
    const char *source;  /* file with measurements of that part */
};

/* Copies the parameter with this index, which starts at 0, to *out. Returns
 * false if the index is too large. The strings are static. Parameters may
 * change in any release. */
NW_API bool nw_map_parameter_get(size_t index, struct nw_map_parameter *out);

#ifdef __cplusplus
}
#endif
#endif
