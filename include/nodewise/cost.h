/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of a mapping: hop-bytes, congestion of each link, latency, and bytes
 * on each level. nodewise-map(1) defines these figures.
 */
#ifndef NODEWISE_COST_H
#define NODEWISE_COST_H

#include <nodewise/mapping.h>
#include <nodewise/pattern.h>
#include <nodewise/status.h>
#include <nodewise/topology.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

__extension__ typedef unsigned __int128 nw_uint128;

/* A sum of bytes x distance. It is exact if every distance is a whole number.
 */
struct nw_sum {
    nw_uint128 exact; /* 0 if not integral */
    double value;     /* the sum, rounded */
    bool integral;
};

/* The result of nw_cost_evaluate. */
struct nw_cost {
    struct nw_sum hop_bytes;      /* objective J of nodewise-map(1), over all
                                     kinds */
    struct nw_sum host_hop_bytes; /* messages of kind hh, between cores */
    struct nw_sum gpu_hop_bytes;  /* messages of kind gg, between GPUs */
    double max_congestion;        /* s, over all links and layers together */
    double max_congestion_host;   /* s, over messages of kind hh only */
    double max_congestion_gpu;    /* s, over messages of kind gg only */
    int32_t max_congestion_link;  /* the link and direction with max_congestion,
                                     as 2 x link + direction; -1: no link
                                     carries bytes */
    double latency;               /* s: sum of messages x route latency; if the
                                     topology gives only distances: sum of
                                     messages x distance */
    double busy;                  /* s: sum of the congestion of all links, that
                                     is, hop-bytes divided by each link's own
                                     bandwidth */
    double time;                  /* s: model of all messages of the pattern:
                                     max_congestion + (busy + latency) / ranks.
                                     Divided by the largest message count of an
                                     edge, it is the time of one exchange. For
                                     a training step: the sum over its phases of
                                     max_congestion + rounds x mean latency of a
                                     message */
    bool has_phases;              /* `time` is the sum over phases of a training
                                     step */
    bool has_congestion;          /* false for matrices */
    int32_t remote_gpus;          /* ranks whose GPU is on another node */
    int32_t level_count;          /* number of levels, see
                                     nw_topology_level_count */
    uint64_t *level_bytes[2];     /* each [level_count]; level_bytes[0]: kind
                                     hh, level_bytes[1]: all other kinds */
    uint64_t *level_messages[2];
    int32_t link_count;
    double *link_congestion; /* [2 x link_count], s, all layers; NULL if
                                has_congestion is false */
    struct nw_cost *phase;   /* for a training step [NW_PHASE_COUNT], the cost
                                of each phase, without link_congestion;
                                level_count is 0 for a phase without traffic.
                                Otherwise NULL */
};

/* Evaluates a mapping in O(edges x depth). A rank that has several cores or
 * GPUs is evaluated at its first core and first GPU. NW_EINVAL: a rank's node
 * or core is open, the mapping does not match the pattern or the topology, or a
 * rank without a GPU has GPU messages. NW_EFORMAT: hop-bytes exceed 128 bits,
 * or the bytes of a level exceed 64 bits. The caller releases *out with
 * nw_cost_fini. Local.
 */
NW_API NW_MUST_CHECK nw_status nw_cost_evaluate(const nw_topology *topology,
                                                const nw_pattern *pattern,
                                                const nw_mapping *mapping,
                                                struct nw_cost *out);
NW_API void nw_cost_fini(struct nw_cost *cost);

/* The figures of a cost that a mapping can minimise. */
#define NW_OBJECTIVE_LIST(X)                                                   \
    X(NW_OBJECTIVE_HOP_BYTES, "hop-bytes")                                     \
    X(NW_OBJECTIVE_CONGESTION, "congestion")                                   \
    X(NW_OBJECTIVE_LATENCY, "latency")                                         \
    X(NW_OBJECTIVE_TIME, "time")
enum nw_objective {
#define NW_OBJECTIVE_ENUM(name, text) name,
    NW_OBJECTIVE_LIST(NW_OBJECTIVE_ENUM)
#undef NW_OBJECTIVE_ENUM
        NW_OBJECTIVE_COUNT
};
NW_API const char *nw_objective_name(enum nw_objective objective);
/* Finds an objective by its name; returns false if the name is unknown. */
NW_API bool nw_objective_find(const char *name, enum nw_objective *out);

/* The figure that an objective compares: J (hop-bytes), maximum congestion,
 * latency or time. */
NW_API double nw_cost_objective(const struct nw_cost *cost,
                                enum nw_objective objective);

#ifdef __cplusplus
}
#endif
#endif
