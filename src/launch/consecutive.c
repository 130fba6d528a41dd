/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes a mapping so that each host has consecutive ranks. If a host occurs
 * again later in the hostfile, Hydra of MPICH before 5.0 treats it as another
 * node, whose ranks do not share memory with the earlier ranks of this host
 * (tested with 4.0.2). */
#include "cost/mapping_file.h"

#include "base/text.h"

#include "launch/job.h"

#include <stdlib.h>

static int32_t consecutive_moved(const struct nw_launch_node_ranks *places,
                                 int32_t ranks)
{
    int32_t moved = 0;

    for (int32_t i = 0; i < ranks; i++)
        moved += places->rank[i] != i;
    return moved;
}

/* Makes a mapping in which rank i has the node, cores, GPUs and NIC of rank
 * places->rank[i]. Adds it to the files of the job and makes it the job's
 * mapping. The caller frees *out, the new mapping, also on failure. */
static nw_status consecutive_use(struct nw_launch_job *job,
                                 const struct nw_launch_node_ranks *places,
                                 nw_mapping **out)
{
    struct nw_text text = {0}, copy = {0};
    nw_status status;

    nw_launch_put_slots(job->mapping, places, &text);
    nw_text_add(&copy, text.data ? text.data : "");
    status = copy.failed ? NW_ENOMEM
                         : nw_mapping_parse("slots", copy.data, copy.length,
                                            job->topology, out);
    nw_text_fini(&copy);
    if (status) {
        nw_text_fini(&text);
        return status;
    }
    job->mapping = *out;
    return nw_launch_add_file(job, "slots", &text, &job->mapping_path);
}

nw_status nw_launch_make_consecutive(struct nw_launch_job *job,
                                     nw_mapping **out)
{
    struct nw_launch_node_ranks places = {0};
    int32_t moved = 0;
    nw_status status = nw_launch_node_ranks_init(&places, job->mapping);

    if (!status)
        status = nw_launch_node_ranks_sort_nodes(&places);
    if (!status)
        moved = consecutive_moved(&places, job->mapping->rank_count);
    if (!status && moved)
        status = consecutive_use(job, &places, out);
    if (!status && moved)
        nw_text_format(
            &job->note,
            "%d of %d rank%s places, so that each host has consecutive ranks; "
            "'nodewise map --whole-nodes' finds the best such mapping\n",
            moved, job->mapping->rank_count,
            nw_by_count((uint64_t)job->mapping->rank_count, " exchanges",
                        "s exchange"));
    nw_launch_node_ranks_fini(&places);
    return status;
}
