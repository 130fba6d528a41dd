/* SPDX-License-Identifier: BSD-3-Clause */
/* The clusters that come with the library: data/clusters/NAME.yaml, made into C
 * when it is built. */
#ifndef NW_TOPOLOGY_CLUSTER_BUNDLED_H
#define NW_TOPOLOGY_CLUSTER_BUNDLED_H

#include <stdbool.h>

struct nw_bundled {
    const char *name, *summary;
    bool resizable; /* NAME:N has N nodes */
    const char *text;
};

extern const struct nw_bundled nw_bundled_clusters[]; /* up to a NULL name */

/* True where `source` is NAME or NAME:N of one of them. */
bool nw_bundled_has(const char *source);

#endif
