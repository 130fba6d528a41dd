/* SPDX-License-Identifier: BSD-3-Clause */
/* The clusters that are part of the library. The build converts
 * data/clusters/NAME.yaml to C. */
#ifndef NW_TOPOLOGY_CLUSTER_BUNDLED_H
#define NW_TOPOLOGY_CLUSTER_BUNDLED_H

#include <stdbool.h>

struct nw_bundled {
    const char *name, *summary;
    bool resizable; /* whether NAME:N is allowed, a cluster of N nodes */
    const char *text;
};

extern const struct nw_bundled nw_bundled_clusters[]; /* ends with a NULL
                                                         name */

/* Returns true if `source` is NAME or NAME:N of a bundled cluster. */
bool nw_bundled_has(const char *source);

#endif
