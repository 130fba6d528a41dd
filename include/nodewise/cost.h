/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a mapping costs: hop-bytes, congestion per link, latency, bytes per
 * level. The definitions are those of nodewise-map(1).
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

/* A sum of bytes x distance: exact where every distance is a whole number. */
struct nw_sum {
    nw_uint128 exact; /* 0 where not integral */
    double value;     /* the same, rounded */
    bool integral;
};

struct nw_cost {
    struct nw_sum hop_bytes;      /* J over all kinds */
    struct nw_sum host_hop_bytes; /* hh, between cores */
    struct nw_sum gpu_hop_bytes;  /* gg, between GPUs */
    double max_congestion;        /* s, over all links and layers together */
    double max_congestion_host;   /* s, hh alone */
    double max_congestion_gpu;    /* s, gg alone */
    int32_t max_congestion_link;  /* 2 x link + direction, -1 none */
    double latency;               /* s: sum of messages x route latency;
                                     messages x distance where distances
                                     are given */
    double busy;                  /* s: all links' congestion added up, which is
                                     hop-bytes at each link's own bandwidth */
    double time;                  /* s: max_congestion + (busy + latency) /
                                     ranks, a model of one exchange */
    bool has_congestion;          /* false for matrices */
    int32_t remote_gpus;          /* ranks whose GPU is on another node */
    int32_t level_count;          /* as nw_topology_level_count */
    uint64_t *level_bytes[2];     /* [level_count]; host (hh) and the rest */
    uint64_t *level_messages[2];
    int32_t link_count;
    double *link_congestion; /* [2 x link_count], s, all layers; or NULL */
};

/* The caller calls nw_cost_fini. Ranks with several cores or GPUs are priced
 * from their first. NW_EINVAL where mapping and pattern do not fit, NW_EFORMAT
 * where hop-bytes pass 128 bits or what a level carries passes 64. O(edges x
 * depth). */
NW_API NW_MUST_CHECK nw_status nw_cost_evaluate(const nw_topology *topology,
                                                const nw_pattern *pattern,
                                                const nw_mapping *mapping,
                                                struct nw_cost *out);
NW_API void nw_cost_fini(struct nw_cost *cost);

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
/* False where there is none of that name. */
NW_API bool nw_objective_find(const char *name, enum nw_objective *out);

/* The figure an objective compares: J, max congestion, latency or time. */
NW_API double nw_cost_objective(const struct nw_cost *cost,
                                enum nw_objective objective);

#ifdef __cplusplus
}
#endif
#endif
