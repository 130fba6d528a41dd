/* SPDX-License-Identifier: BSD-3-Clause */
/* How long each method takes for what goes from one piece, or rank, to another,
 * by itself: the model that NW_HALO_CHOOSE_MODEL chooses with. */
#ifndef NW_HALO_PLAN_MODEL_H
#define NW_HALO_PLAN_MODEL_H

#include "halo/plan/layout.h"

/* What lies between two pieces: bytes/s, s. */
struct nw_halo_path_parameters {
    double link;    /* GPU to GPU */
    double out, in; /* the sender's GPU to host memory, to the receiver's */
    double wire;    /* host to host of two nodes */
    double latency; /* of the wire */
};

/* Of one pair in one exchange. */
struct nw_halo_traffic {
    bool gpu; /* GPU memory */
    bool same_rank, same_node, same_gpu;
    bool gaps;     /* cells that 3-D copies cannot take */
    double bytes;  /* of cells */
    double sector; /* bytes with what a GPU moves beside them: whole sectors */
    double rows;   /* runs of bytes in one piece */
    double boxes;  /* transfers times arrays */
    struct nw_halo_path_parameters path;
};

/* Adds a transfer of elements of so many bytes. */
void nw_halo_traffic_add(struct nw_halo_traffic *traffic,
                         const struct nw_halo_transfer *transfer,
                         size_t element);
/* Seconds; infinite for a method of the other kind of memory. */
double nw_halo_model(enum nw_halo_method method,
                     const struct nw_halo_traffic *traffic);
/* The fastest of `methods`, the first in the fixed order among equals; not
 * `nodes`, whose message is not of one pair. False where none is left. */
bool nw_halo_model_best(uint32_t methods, const struct nw_halo_traffic *traffic,
                        enum nw_halo_method *out);

/* --- path_parameters.c --- */

/* Where a layout's paths are looked up. */
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
