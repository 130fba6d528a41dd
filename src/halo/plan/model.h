/* SPDX-License-Identifier: BSD-3-Clause */
/* The model of NW_HALO_CHOOSE_MODEL: the time that each method needs for the
 * traffic between two pieces or ranks, without other traffic. */
#ifndef NW_HALO_PLAN_MODEL_H
#define NW_HALO_PLAN_MODEL_H

#include "halo/plan/layout.h"

/* The path between two pieces: bandwidths in bytes/s, latency in s. */
struct nw_halo_path_parameters {
    double link;    /* GPU to GPU */
    double out, in; /* sender's GPU to host; host to receiver's GPU */
    double wire;    /* between hosts of two nodes */
    double latency; /* of the wire */
};

/* The traffic of one pair in one exchange. */
struct nw_halo_traffic {
    bool gpu; /* GPU memory */
    bool same_rank, same_node, same_gpu;
    bool gaps;     /* 3-D copies cannot copy these cells */
    double bytes;  /* of the cells */
    double sector; /* bytes of the whole sectors that a GPU moves */
    double rows;   /* contiguous runs of bytes */
    double boxes;  /* transfers times arrays */
    struct nw_halo_path_parameters path;
};

/* Adds a transfer of elements of `element` bytes. */
void nw_halo_traffic_add(struct nw_halo_traffic *traffic,
                         const struct nw_halo_transfer *transfer,
                         size_t element);
/* Returns seconds; infinity if the method is for the other kind of memory. */
double nw_halo_model(enum nw_halo_method method,
                     const struct nw_halo_traffic *traffic);
/* Finds the fastest of `methods`; among equals, the first in the fixed order.
 * Ignores NW_HALO_NODES, because its messages join several pairs. Returns false
 * if no method is left. */
bool nw_halo_model_best(uint32_t methods, const struct nw_halo_traffic *traffic,
                        enum nw_halo_method *out);

/* --- path_parameters.c --- */

/* The data for the paths of a layout. */
struct nw_halo_paths {
    const nw_halo_layout *layout;
    nw_topology *topology; /* owned; NULL: defaults for all */
    uint32_t *hops;
};
/* `source` as in nw_halo_options.topology. */
NW_MUST_CHECK nw_status nw_halo_paths_open(const nw_halo_layout *layout,
                                           const char *source,
                                           struct nw_halo_paths *out);
struct nw_halo_path_parameters
nw_halo_path_of(const struct nw_halo_paths *paths, int32_t from, int32_t to);
void nw_halo_paths_close(struct nw_halo_paths *paths);

#endif
