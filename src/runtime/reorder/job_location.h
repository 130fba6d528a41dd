/* SPDX-License-Identifier: BSD-3-Clause */
/* The locations of all ranks of a job, without MPI types. */
#ifndef NW_REORDER_JOB_LOCATION_H
#define NW_REORDER_JOB_LOCATION_H

#include <stdint.h>

#define NW_LOCATION_DEPTH 10
#define NW_SWITCH_DEPTH 8

/* A rank's location: the smallest part of the machine that contains all cores
 * to which the rank is bound. `at` is the path to it in the node's tree, as
 * vertex numbers, beginning with a child of the node. `depth` is the path's
 * length; a path longer than NW_LOCATION_DEPTH is cut at its end. */
struct nw_rank_location {
    int32_t node;
    int32_t depth;
    int32_t at[NW_LOCATION_DEPTH];
};

struct nw_job_location {
    int rank_count; /* number of ranks in MPI_COMM_WORLD */
    int rank;
    struct nw_rank_location *location; /* [rank_count] location of each rank */
    int node_count;
    int32_t *above; /* switches of each node from the root down, [node_count x
                       NW_SWITCH_DEPTH]; -1 after the last */
    /* For a network that is not a tree: the topology source, which is loaded
     * when it is needed, and the number of each node in that topology. NULL for
     * a tree. */
    char *source;
    int32_t *number;
};

#endif
