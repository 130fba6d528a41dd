/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes files that several launchers use: lists of the host of each rank or
 * each node, and the mapping in another order of ranks. */
#include "launch/job.h"

#include "base/status.h"

nw_status nw_launch_add_rank_hosts(struct nw_launch_job *job, const char **path)
{
    struct nw_text text = {0};

    for (int32_t rank = 0; rank < job->mapping->rank_count; rank++)
        nw_text_format(&text, "%s\n", nw_launch_host(job, rank));
    return nw_launch_add_file(job, "hosts", &text, path);
}

nw_status nw_launch_add_node_hosts(struct nw_launch_job *job,
                                   const char *suffix, const char *between,
                                   const char **path)
{
    const struct nw_launch_node_ranks *places = &job->places;
    struct nw_text text = {0};

    for (int32_t i = 0; i < places->node_count; i++) {
        nw_text_add(&text, job->mapping->node_name[places->node[i]]);
        if (between)
            nw_text_format(&text, "%s%d", between,
                           nw_launch_node_ranks_count(places, i));
        nw_text_add(&text, "\n");
    }
    return nw_launch_add_file(job, suffix, &text, path);
}

static void launch_files_add_set(struct nw_text *text, struct nw_ints set)
{
    for (size_t i = 0; i < set.count; i++)
        nw_text_format(text, "%s%d", i ? "," : "", set.values[i]);
}

static void launch_files_add_slot(struct nw_text *text,
                                  const nw_mapping *mapping, int32_t slot,
                                  int32_t rank)
{
    nw_text_format(text, "%d %s ", slot,
                   mapping->node_name[mapping->node[rank]]);
    launch_files_add_set(text, nw_mapping_cores(mapping, rank));
    nw_text_add(text, " ");
    if (!nw_launch_has_gpu(mapping, rank) &&
        !nw_launch_has_far_gpu(mapping, rank))
        nw_text_add(text, "-");
    else {
        if (nw_launch_has_far_gpu(mapping, rank))
            nw_text_format(text,
                           "%s:", mapping->node_name[mapping->gpu_node[rank]]);
        launch_files_add_set(text, nw_mapping_gpus(mapping, rank));
    }
    if (mapping->nic && mapping->nic[rank] >= 0)
        nw_text_format(text, " %d", mapping->nic[rank]);
    nw_text_format(text, " # rank %d\n", rank);
}

void nw_launch_put_slots(const nw_mapping *mapping,
                         const struct nw_launch_node_ranks *places,
                         struct nw_text *text)
{
    nw_text_format(text, "nodewise mapping 1\nranks %d\n", mapping->rank_count);
    for (int32_t slot = 0; slot < mapping->rank_count; slot++)
        launch_files_add_slot(text, mapping, slot, places->rank[slot]);
}

nw_status nw_launch_add_slots(struct nw_launch_job *job)
{
    /* nw_launch_make_consecutive may have added PREFIX.slots */
    bool taken = job->mapping_path != job->options->mapping_path;
    struct nw_text text = {0};

    nw_launch_put_slots(job->mapping, &job->places, &text);
    return nw_launch_add_file(job, taken ? "processes" : "slots", &text,
                              &job->mapping_path);
}
