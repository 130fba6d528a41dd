/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes jobs for Cray MPICH and its launchers. The launcher fills the nodes
 * with processes in blocks. Cray MPICH then gives process i the i-th rank of a
 * file (MPICH_RANK_REORDER_METHOD=3, see intro_mpi(3) and grid_order(1)). PALS
 * is the mpiexec of Cray systems under PBS (see its mpiexec(1)). Neither was
 * tested on a real Cray. */
#include "launch/launcher.h"

#include "base/status.h"

/* Returns true if, for every k, the k-th rank of a node in the order of cores
 * has the same, known hardware threads on every node. This is true more often
 * than for the k-th rank in the order of ranks. Returns false if memory is
 * exhausted. */
static bool alike_by_slot(const struct nw_launch_job *job)
{
    struct nw_launch_job mine = *job;
    nw_status status;
    bool alike;

    mine.places = (struct nw_launch_node_ranks){0};
    status = nw_launch_node_ranks_init(&mine.places, job->mapping);
    if (!status)
        nw_launch_node_ranks_sort_by_core(&mine.places, job->mapping);
    alike = !status && nw_launch_alike(&mine);
    nw_launch_node_ranks_fini(&mine.places);
    return alike;
}

const char *nw_launch_cray_lacks(const struct nw_launch_job *job)
{
    return alike_by_slot(job)
               ? NULL
               : "one list of CPUs serves every node, by the operating "
                 "system's numbers, and here they differ or are not known";
}

const char *nw_launch_pals_lacks(const struct nw_launch_job *job)
{
    return nw_launch_cray_lacks(job);
}

/* Appends the ranks in the order of job->places as a list such as "4-7,0,2",
 * with a range for consecutive ranks. */
static void add_order(const struct nw_launch_job *job, struct nw_text *text)
{
    const int32_t *rank = job->places.rank;
    int32_t count = job->mapping->rank_count;

    for (int32_t i = 0, last; i < count; i = last + 1) {
        for (last = i; last + 1 < count && rank[last + 1] == rank[last] + 1;)
            last++;
        nw_text_format(text, "%s%d", i ? "," : "", rank[i]);
        if (last > i)
            nw_text_format(text, "-%d", rank[last]);
    }
    nw_text_add(text, "\n");
}

static nw_status add_reordering(struct nw_launch_job *job)
{
    struct nw_text text = {0};
    const char *path;
    nw_status status;

    if (!nw_launch_node_ranks_even(&job->places))
        return nw_fail(NW_EUNSUPPORTED,
                       "Cray's rank order needs the same number of ranks on "
                       "every node, but this mapping puts %d on %s",
                       nw_launch_node_ranks_count(&job->places, 0),
                       job->mapping->node_name[job->places.node[0]]);
    nw_launch_node_ranks_sort_by_core(&job->places, job->mapping);
    add_order(job, &text);
    status = nw_launch_add_file(job, "rank_order", &text, &path);
    if (!status)
        status = nw_launch_variable(job, "MPICH_RANK_REORDER_METHOD=3");
    if (!status)
        status = nw_launch_variable(job, "MPICH_RANK_REORDER_FILE=%s", path);
    /* before MPI starts, the launcher's process numbers are positions in this
     * file, not ranks */
    return !status && job->exec ? nw_launch_add_slots(job) : status;
}

static nw_status add_list(struct nw_launch_job *job, const char *head,
                          const char *comma)
{
    struct nw_text text = {0};
    nw_status status;

    nw_text_add(&text, head);
    nw_launch_add_cpu_list(job, ",", comma, &text);
    status = nw_launch_word(job, "%s", text.data ? text.data : "");
    nw_text_fini(&text);
    return status;
}

static nw_status add_srun_binding(struct nw_launch_job *job)
{
    struct nw_text text = {0};
    nw_status status;

    if (!job->binds)
        return nw_launch_word(job, "--cpu-bind=none");
    if (nw_launch_single_cpus(job))
        return add_list(job, "--cpu-bind=map_cpu:", ",");
    nw_text_add(&text, "--cpu-bind=mask_cpu:");
    nw_launch_add_mask_list(job, "0x", &text);
    status = nw_launch_word(job, "%s", text.data ? text.data : "");
    nw_text_fini(&text);
    return status;
}

nw_status nw_launch_cray_write(struct nw_launch_job *job)
{
    nw_status status = add_reordering(job);

    if (!status)
        status = nw_launch_words(job, (const char *[]){"srun", "-N", NULL});
    if (!status)
        status = nw_launch_word(job, "%d", job->places.node_count);
    if (!status)
        status = nw_launch_word(job, "-n");
    if (!status)
        status = nw_launch_word(job, "%d", job->mapping->rank_count);
    if (!status)
        status = nw_launch_word(job, "--ntasks-per-node=%d",
                                nw_launch_node_ranks_count(&job->places, 0));
    if (!status)
        status = nw_launch_words(job, (const char *[]){"-m", "block", NULL});
    nw_text_format(&job->note,
                   "nodes are filled in the order of the allocation, which "
                   "must be that of the topology: %s first\n",
                   job->mapping->node_name[job->places.node[0]]);
    return status ? status : add_srun_binding(job);
}

nw_status nw_launch_pals_write(struct nw_launch_job *job)
{
    const char *path = NULL;
    nw_status status = add_reordering(job);

    if (!status)
        status = nw_launch_add_node_hosts(job, "hosts", NULL, &path);
    if (!status)
        status = nw_launch_words(job, (const char *[]){"mpiexec", "-n", NULL});
    if (!status)
        status = nw_launch_word(job, "%d", job->mapping->rank_count);
    if (!status)
        status = nw_launch_word(job, "--ppn");
    if (!status)
        status = nw_launch_word(job, "%d",
                                nw_launch_node_ranks_count(&job->places, 0));
    if (!status)
        status = nw_launch_words(
            job, (const char *[]){"--hostfile", path, "--cpu-bind", NULL});
    if (status)
        return status;
    return job->binds ? add_list(job, "list:", ":")
                      : nw_launch_word(job, "none");
}
