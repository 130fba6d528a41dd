/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm: an arbitrary distribution takes the host of every task from a file.
 * Its maps of CPUs and GPUs serve every node alike, by local task (tried with
 * 22.05, where a map of GPUs is called map_gpu; from 23.02 it is map). */
#include "launch/launcher.h"

const char *nw_launch_slurm_lacks(const struct nw_launch_job *job)
{
    return nw_launch_alike(job)
               ? NULL
               : "Slurm applies one list of CPUs to every node, by the "
                 "operating system's numbers, and these differ or are not "
                 "known";
}

/* A mask has no order, and a task in it at least one GPU. */
static bool masks_say_all(const nw_mapping *mapping)
{
    for (int32_t r = 0; r < mapping->rank_count; r++) {
        struct nw_ints gpus = nw_launch_own_gpus(mapping, r);

        if (!nw_launch_has_gpu(mapping, r))
            return false;
        for (size_t g = 1; g < gpus.count; g++)
            if (gpus.values[g] < gpus.values[g - 1])
                return false;
        if (gpus.values[gpus.count - 1] > 63)
            return false;
    }
    return true;
}

const char *nw_launch_slurm_lacks_gpus(const struct nw_launch_job *job)
{
    if (job->options->visibility == NW_GPU_PERMUTED)
        return "Slurm shows a task its own GPUs only";
    if (!nw_launch_gpus_alike(job))
        return "Slurm applies one list of GPUs to every node, and these "
               "differ";
    return masks_say_all(job->mapping)
               ? NULL
               : "Slurm can express neither a task without GPU nor the order "
                 "of its GPUs";
}

static bool single_gpus(const nw_mapping *mapping)
{
    for (int32_t r = 0; r < mapping->rank_count; r++)
        if (nw_launch_own_gpus(mapping, r).count != 1)
            return false;
    return true;
}

static void add_gpu_masks(const struct nw_launch_job *job, struct nw_text *text)
{
    const struct nw_launch_node_ranks *places = &job->places;
    int32_t first = places->first[places->fullest];

    for (int32_t l = 0; l < nw_launch_node_ranks_count(places, places->fullest);
         l++) {
        struct nw_ints gpus =
            nw_launch_own_gpus(job->mapping, places->rank[first + l]);
        uint64_t mask = 0;

        for (size_t g = 0; g < gpus.count; g++)
            mask |= UINT64_C(1) << gpus.values[g];
        nw_text_format(text, "%s0x%llx", l ? "," : "",
                       (unsigned long long)mask);
    }
}

static nw_status add_gpus(struct nw_launch_job *job, const char *end)
{
    struct nw_text text = {0};
    nw_status status;

    if (single_gpus(job->mapping)) {
        nw_text_format(&text, "--gpu-bind=map%s:", end);
        nw_launch_add_gpu_list(job, "", ",", &text);
    } else {
        nw_text_format(&text, "--gpu-bind=mask%s:", end);
        add_gpu_masks(job, &text);
    }
    status = nw_launch_word(job, "%s", text.data ? text.data : "");
    nw_text_fini(&text);
    nw_text_add(&job->note, "Slurm chooses the GPUs: the job must hold all "
                            "those of its nodes (--gpus-per-node)\n");
    return status;
}

static nw_status add_cpus(struct nw_launch_job *job)
{
    bool single = nw_launch_single_cpus(job);
    struct nw_text text = {0};
    nw_status status;

    if (job->exec || job->wrapper)
        return nw_launch_word(job, "--cpu-bind=none");
    nw_text_format(&text, "--cpu-bind=%s:", single ? "map_cpu" : "mask_cpu");
    if (single)
        nw_launch_add_cpu_list(job, "", ",", &text);
    else
        nw_launch_add_mask_list(job, "0x", &text);
    status = nw_launch_word(job, "%s", text.data ? text.data : "");
    nw_text_fini(&text);
    return status;
}

static nw_status write_srun(struct nw_launch_job *job, const char *end)
{
    const char *path;
    nw_status status = nw_launch_add_rank_hosts(job, &path);

    if (!status)
        status = nw_launch_variable(job, "SLURM_HOSTFILE=%s", path);
    if (!status)
        status = nw_launch_word(job, "srun");
    if (!status && job->options->srun_mpi)
        status = nw_launch_word(job, "--mpi=%s", job->options->srun_mpi);
    if (!status)
        status = nw_launch_words(
            job, (const char *[]){"-m", "arbitrary", "-n", NULL});
    if (!status)
        status = nw_launch_word(job, "%d", job->mapping->rank_count);
    if (!status)
        status = add_cpus(job);
    if (!status && job->chooses_gpus)
        status = add_gpus(job, end);
    return status;
}

nw_status nw_launch_slurm_write(struct nw_launch_job *job)
{
    return write_srun(job, "");
}

nw_status nw_launch_slurm22_write(struct nw_launch_job *job)
{
    return write_srun(job, "_gpu");
}
