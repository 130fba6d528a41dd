/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the launcher from the batch system's variables, the PATH and the
 * program. */
#include "cli/launch_find.h"

#include "base/array.h"
#include "base/install_path.h"
#include "base/status.h"
#include "cli/run_job.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool nw_launch_is_alias(const char *name)
{
    return !strcmp(name, "auto") || !strcmp(name, "openmpi");
}

/* Returns the launcher of Slurm or Flux if this process belongs to a job of it;
 * NULL outside such a job, or if its launcher is not in PATH. */
static const char *batch_launcher(void)
{
    static const char *const launchers[][2] = {{"SLURM_JOB_ID", "srun"},
                                               {"FLUX_URI", "flux"}};
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (getenv(launchers[i][0]) &&
            nw_install_path_search(launchers[i][1], path))
            return launchers[i][1];
    return NULL;
}

nw_status nw_launch_resolve(struct nw_launch_options *options, char **command)
{
    static char *const no_program[] = {NULL};
    bool openmpi = !strcmp(options->launcher, "openmpi");
    const char *batch = openmpi ? NULL : batch_launcher();
    struct nw_job job = {.flavour = openmpi ? "openmpi" : NULL,
                         .launcher_line = batch,
                         .program = options->program ? (char **)options->program
                                                     : (char **)no_program};
    nw_status status;

    *command = NULL;
    if (!nw_launch_is_alias(options->launcher))
        return NW_OK;
    if (batch && !strcmp(batch, "flux")) {
        options->launcher = batch;
        return nw_strdup(batch, command);
    }
    status = nw_job_find_launcher(&job);
    if (!status)
        status = nw_strdup(job.launcher.word[0], command);
    if (!status)
        options->launcher = job.writer;
    else if (status == NW_ENODEV)
        status = nw_fail(NW_ENODEV,
                         "--for %s: no such launcher answers in the PATH "
                         "(mpirun, mpiexec, srun); name one of --list",
                         options->launcher);
    nw_job_fini(&job);
    return status;
}

const char *nw_launch_srun_mpi(const struct nw_launch_options *options)
{
    const char *flavour =
        options->program
            ? nw_launcher_flavour(NW_LAUNCHER_NONE, (char **)options->program)
            : NULL;

    return !flavour                      ? NULL
           : !strcmp(flavour, "mpich")   ? "pmi2"
           : !strcmp(flavour, "openmpi") ? "pmix"
                                         : NULL;
}
