/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes jobs for Slurm. Its arbitrary distribution takes the host of every
 * task from a file. One list of CPUs, with an entry for each local task,
 * applies to all nodes. Tested with 22.05, in which a mask of GPUs is called
 * mask_gpu; from 23.02 on it is called mask. */
#include "launch/launcher.h"

#include <inttypes.h>

const char *nw_launch_slurm_lacks(const struct nw_launch_job *job)
{
    return nw_launch_alike(job)
               ? NULL
               : "Slurm applies one list of CPUs to every node, by the "
                 "operating system's numbers, and these differ or are not "
                 "known";
}

/* Slurm could bind each task to its own GPU, but then no task sees the GPUs of
 * the others, and CUDA cannot open their memory (cudaIpcOpenMemHandle fails).
 * So the tasks see all GPUs (share_gpus), and each selects its own. */
const char *nw_launch_slurm_lacks_gpus(const struct nw_launch_job *job)
{
    (void)job;
    return "Slurm's --gpu-bind would hide the GPU of a rank from the others, "
           "which breaks CUDA IPC";
}

/* Adds an option such as --gpu-bind=mask:0xff, by which every task sees all
 * GPUs of the job on its node, even if --gpus-per-task would bind them. The
 * value "none" is not used, because with it Slurm 22.05 shows no GPUs to a
 * task. */
static nw_status share_gpus(struct nw_launch_job *job, const char *end)
{
    int32_t most = 0;

    for (int32_t i = 0; i < job->places.node_count; i++) {
        int32_t count =
            nw_topology_node_gpus(job->topology, job->places.node[i]).count;

        most = count > most ? count : most;
    }
    nw_text_add(&job->note, "the job must hold all GPUs of its nodes "
                            "(--gpus-per-node)\n");
    return nw_launch_word(job, "--gpu-bind=mask%s:0x%" PRIx64, end,
                          most < 64 ? (UINT64_C(1) << most) - 1 : UINT64_MAX);
}

static nw_status launch_slurm_add_cpus(struct nw_launch_job *job)
{
    bool single = nw_launch_single_cpus(job);
    struct nw_text text = {0};
    nw_status status;

    if (!job->binds)
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
        status = launch_slurm_add_cpus(job);
    if (!status && job->has_gpus && (job->exec || job->wrapper))
        status = share_gpus(job, end);
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
