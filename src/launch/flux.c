/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes jobs for Flux. A file gives the host of each task. The Flux shell on
 * each node binds its local tasks by a list of CPUs, which is the same on all
 * nodes (see flux-run(1) and flux-shell-options(7); not tested with a real
 * Flux). */
#include "launch/launcher.h"

const char *nw_launch_flux_lacks(const struct nw_launch_job *job)
{
    return nw_launch_alike(job)
               ? NULL
               : "Flux applies one list of CPUs to every node, by the "
                 "operating system's numbers, and these differ or are not "
                 "known";
}

const char *nw_launch_flux_lacks_gpus(const struct nw_launch_job *job)
{
    const nw_mapping *mapping = job->mapping;

    if (job->options->visibility == NW_GPU_PERMUTED)
        return "Flux shows a task its own GPUs only";
    if (!nw_launch_gpus_alike(job))
        return "Flux applies one list of GPUs to every node, and these differ";
    for (int32_t r = 0; r < mapping->rank_count; r++)
        if (!nw_launch_has_gpu(mapping, r) ||
            nw_launch_own_gpus(mapping, r).count > 1)
            return "Flux can express neither a task without GPU nor the order "
                   "of its GPUs";
    return NULL;
}

static nw_status flux_add_map(struct nw_launch_job *job, const char *name,
                              bool gpus)
{
    struct nw_text text = {0};
    nw_status status = nw_launch_word(job, "-o");

    nw_text_format(&text, "%s=map:", name);
    if (gpus)
        nw_launch_add_gpu_list(job, ",", ";", &text);
    else
        nw_launch_add_cpu_list(job, ",", ";", &text);
    if (!status)
        status = nw_launch_word(job, "%s", text.data ? text.data : "");
    nw_text_fini(&text);
    return status;
}

static nw_status flux_add_binding(struct nw_launch_job *job)
{
    nw_status status =
        job->binds ? flux_add_map(job, "cpu-affinity", false)
                   : nw_launch_words(
                         job, (const char *[]){"-o", "cpu-affinity=off", NULL});

    if (status)
        return status;
    if (job->chooses_gpus)
        return flux_add_map(job, "gpu-affinity", true);
    if (job->exec)
        return nw_launch_words(
            job, (const char *[]){"-o", "gpu-affinity=off", NULL});
    return NW_OK;
}

nw_status nw_launch_flux_write(struct nw_launch_job *job)
{
    const char *path;
    nw_status status = nw_launch_add_rank_hosts(job, &path);

    if (!status)
        status = nw_launch_words(
            job, (const char *[]){"flux", "run", "--exclusive", "-N", NULL});
    if (!status)
        status = nw_launch_word(job, "%d", job->places.node_count);
    if (!status)
        status = nw_launch_word(job, "-n");
    if (!status)
        status = nw_launch_word(job, "%d", job->mapping->rank_count);
    if (!status)
        status = nw_launch_word(job, "--taskmap=hostfile:%s", path);
    return status ? status : flux_add_binding(job);
}
