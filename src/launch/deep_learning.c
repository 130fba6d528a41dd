/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes jobs for launchers of training jobs other than torchrun. DeepSpeed
 * starts as many processes on each host as the host has slots in the host file,
 * and numbers them in the order of the file (see its documentation; not tested
 * with a real DeepSpeed). Other launchers that number their processes, such as
 * srun, run a script that sets the variables that torchrun would set.
 */
#include "base/status.h"
#include "launch/launcher.h"

#include <string.h>

/* Writes a job for DeepSpeed. With --no_local_rank, the first argument of the
 * script is the program. */
nw_status nw_launch_deepspeed_write(struct nw_launch_job *job)
{
    struct nw_text text = {0};
    const char *hosts, *script;
    nw_status status = nw_launch_node_ranks_sort_nodes(&job->places);

    nw_text_add(&text, "#!/bin/sh\n# Written by nodewise launch. DeepSpeed "
                       "starts it for each process.\n");
    nw_launch_add_thread_exports(job, &text);
    nw_launch_add_python(&text);
    if (!status)
        status = nw_launch_add_rank_cases(job, &text);
    if (!status)
        status = nw_launch_add_file(job, "sh", &text, &script);
    nw_text_fini(&text);
    if (status)
        return status;
    job->launch->file[job->launch->file_count - 1].is_program = true;
    status = nw_launch_add_node_hosts(job, "hostfile", " slots=", &hosts);
    if (!status)
        status = nw_launch_word(job, "deepspeed");
    if (!status)
        status = nw_launch_word(job, "--hostfile=%s", hosts);
    if (!status)
        status = nw_launch_words(
            job, (const char *[]){"--no_python", "--no_local_rank", NULL});
    return status ? status : nw_launch_run_script(job, script);
}

nw_status nw_launch_environment_write(struct nw_launch_job *job)
{
    const char *hosts, *script;
    nw_status status = nw_launch_add_environment_wrapper(job, &script);

    if (!status)
        status = nw_launch_add_rank_hosts(job, &hosts);
    if (status)
        return status;
    nw_text_format(&job->note,
                   "start rank i on the host of line i of %s by any launcher\n",
                   hosts);
    return nw_launch_run_script(job, script);
}

/* Writes a job for srun with an arbitrary distribution, which takes the host of
 * every task from SLURM_HOSTFILE. */
nw_status nw_launch_slurm_torch_write(struct nw_launch_job *job)
{
    const char *hosts, *script;
    nw_status status = nw_launch_add_environment_wrapper(job, &script);

    if (!status)
        status = nw_launch_add_rank_hosts(job, &hosts);
    if (!status)
        status = nw_launch_variable(job, "SLURM_HOSTFILE=%s", hosts);
    if (!status)
        status = nw_launch_words(
            job, (const char *[]){"srun", "-m", "arbitrary", "-n", NULL});
    if (!status)
        status = nw_launch_word(job, "%d", job->mapping->rank_count);
    if (!status)
        status = nw_launch_word(job, "--cpu-bind=none");
    return status ? status : nw_launch_run_script(job, script);
}
