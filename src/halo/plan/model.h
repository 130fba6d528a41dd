/* SPDX-License-Identifier: BSD-3-Clause */
/* The model of NW_HALO_CHOOSE_MODEL. For each method, it predicts the time of
 * the traffic between two pieces or ranks. It assumes that this traffic is the
 * only traffic. */
#ifndef NW_HALO_PLAN_MODEL_H
#define NW_HALO_PLAN_MODEL_H

#include "halo/plan/layout.h"

/* The hardware path between two pieces: bandwidths in bytes/s, and the latency.
 */
struct nw_halo_path_parameters {
    double link;    /* from GPU to GPU */
    double out, in; /* from source GPU to host; from host to target GPU */
    double wire;    /* between the host memories of two nodes */
    double latency; /* between the two nodes, in seconds */
};

/* The traffic of one pair in one exchange. */
struct nw_halo_traffic {
    bool gpu; /* the cells are in GPU memory, not in host memory */
    bool same_rank, same_node, same_gpu;
    bool gaps;     /* true: 3-D copies of CUDA cannot copy the cells */
    double bytes;  /* bytes of the cells */
    double sector; /* bytes if each row is rounded up to memory sectors */
    double rows;   /* number of rows of cells along x */
    double boxes;  /* number of calls of nw_halo_traffic_add */
    struct nw_halo_path_parameters path;
};

/* Adds a transfer in one array with cells of `element` bytes to the traffic of
 * a pair. */
void nw_halo_traffic_add(struct nw_halo_traffic *traffic,
                         const struct nw_halo_transfer *transfer,
                         size_t element);
/* Returns the predicted seconds of a method for this traffic; infinity if the
 * method is for the other kind of memory (host or GPU). */
double nw_halo_model(enum nw_halo_method method,
                     const struct nw_halo_traffic *traffic);
/* Sets *out to the fastest of `methods` (bits); among equally fast ones, to the
 * first in enum nw_halo_method. Ignores NW_HALO_NODES, because its messages
 * join the traffic of several pairs. Returns false, with *out unchanged, if no
 * method is left. */
bool nw_halo_model_best(uint32_t methods, const struct nw_halo_traffic *traffic,
                        enum nw_halo_method *out);

/* --- path_parameters.c --- */

/* The data from which nw_halo_path_of derives the parameters of each path. */
struct nw_halo_paths {
    const nw_halo_layout *layout;
    nw_topology *topology; /* owned; NULL: default parameters for all paths */
    uint32_t *hops;        /* owned; space for one route */
};
/* Opens the description of the machine. `source` names it, as
 * nw_halo_options.topology does; NULL: no description. The caller closes *out.
 */
NW_MUST_CHECK nw_status nw_halo_paths_open(const nw_halo_layout *layout,
                                           const char *source,
                                           struct nw_halo_paths *out);
/* Returns the parameters of the path from one piece to another; the default
 * ones if the topology does not give them. */
struct nw_halo_path_parameters
nw_halo_path_of(const struct nw_halo_paths *paths, int32_t from, int32_t to);
void nw_halo_paths_close(struct nw_halo_paths *paths);

#endif
