/* SPDX-License-Identifier: BSD-3-Clause */
/* A row of the table of launchers, and the functions in it. A new launcher
 * needs a writer, which is declared here, and a row in launch.c. */
#ifndef NW_LAUNCH_LAUNCHER_H
#define NW_LAUNCH_LAUNCHER_H

#include "launch/job.h"

struct nw_launcher {
    const char *name, *summary;
    /* Returns the reason why this launcher, with the files of its writer,
     * cannot bind the ranks, as a static string; NULL if it can. */
    const char *(*lacks)(const struct nw_launch_job *job);
    /* Returns the reason why this launcher cannot give each rank its GPUs; NULL
     * if it can. The function pointer is NULL for a launcher that does not
     * support GPUs at all. */
    const char *(*lacks_gpus)(const struct nw_launch_job *job);
    /* Writes the files, and adds the words of the command line before the
     * program. */
    nw_status (*write)(struct nw_launch_job *job);
    /* True if a script in front of the program (nw_launch_add_wrapper) can do
     * what the launcher cannot, if `nodewise exec` is forbidden. */
    bool may_wrap;
};

/* --- the writers; one file for each family of launchers --- */

const char *nw_launch_openmpi_lacks(const struct nw_launch_job *job);
nw_status nw_launch_openmpi4_write(struct nw_launch_job *job);
nw_status nw_launch_openmpi5_write(struct nw_launch_job *job);
const char *nw_launch_mpich_lacks(const struct nw_launch_job *job);
nw_status nw_launch_mpich_write(struct nw_launch_job *job);
const char *nw_launch_rankmap_lacks(const struct nw_launch_job *job);
nw_status nw_launch_rankmap_write(struct nw_launch_job *job);
const char *nw_launch_intel_lacks(const struct nw_launch_job *job);
nw_status nw_launch_intel_write(struct nw_launch_job *job);
const char *nw_launch_mvapich_lacks(const struct nw_launch_job *job);
nw_status nw_launch_mvapich_write(struct nw_launch_job *job);
const char *nw_launch_slurm_lacks(const struct nw_launch_job *job);
const char *nw_launch_slurm_lacks_gpus(const struct nw_launch_job *job);
nw_status nw_launch_slurm_write(struct nw_launch_job *job);
nw_status nw_launch_slurm22_write(struct nw_launch_job *job);
const char *nw_launch_cray_lacks(const struct nw_launch_job *job);
nw_status nw_launch_cray_write(struct nw_launch_job *job);
const char *nw_launch_pals_lacks(const struct nw_launch_job *job);
nw_status nw_launch_pals_write(struct nw_launch_job *job);
const char *nw_launch_flux_lacks(const struct nw_launch_job *job);
const char *nw_launch_flux_lacks_gpus(const struct nw_launch_job *job);
nw_status nw_launch_flux_write(struct nw_launch_job *job);
const char *nw_launch_script_lacks(const struct nw_launch_job *job);
const char *nw_launch_script_lacks_gpus(const struct nw_launch_job *job);
nw_status nw_launch_script_write(struct nw_launch_job *job);
nw_status nw_launch_torchrun_write(struct nw_launch_job *job);
nw_status nw_launch_c10d_write(struct nw_launch_job *job);
nw_status nw_launch_megatron_write(struct nw_launch_job *job);
nw_status nw_launch_deepspeed_write(struct nw_launch_job *job);
nw_status nw_launch_environment_write(struct nw_launch_job *job);
nw_status nw_launch_slurm_torch_write(struct nw_launch_job *job);
nw_status nw_launch_mpi_operator_write(struct nw_launch_job *job);
nw_status nw_launch_jobset_write(struct nw_launch_job *job);

#endif
