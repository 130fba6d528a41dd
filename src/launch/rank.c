/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the rank of a process in the environment variables of its launcher:
 * here, and in the scripts of `nodewise launch`. */
#include "launch/job.h"

#include "base/status.h"
#include "base/text.h"

#include <stdlib.h>

/* Variables of the launchers, in the order in which they are tried. A launcher
 * that runs inside a batch job inherits the job's variables, so variables of
 * such launchers come before those of batch systems. An entry with a `mark` is
 * used only if that variable is set, too. An empty variable counts as unset,
 * since scripts often unset variables in this way. Any program may set RANK and
 * WORLD_SIZE, so they come first only with a variable of torchrun as mark, and
 * otherwise last. */
static const struct {
    const char *rank, *size, *mark;
} variables[] = {
    {"RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID"},          /* torchrun */
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL}, /* Open MPI */
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", NULL},   /* MVAPICH */
    {"MPIRUN_RANK", "MPIRUN_NPROCS", NULL}, /* MVAPICH's mpirun_rsh */
    {"PMI_RANK", "PMI_SIZE", NULL}, /* Hydra, Intel MPI, Slurm's PMI 1 and 2 */
    /* Hydra, if it does not set PMI_RANK */
    {"PMI_ID", "PMI_SIZE", NULL},
    {"PMIX_RANK", NULL, NULL}, /* PRRTE, Slurm's PMIx */
    {"PALS_RANKID", "PALS_SIZE", NULL},
    {"ALPS_APP_PE", NULL, NULL}, /* aprun */
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", NULL},
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", NULL}, /* jsrun */
    {"SLURM_PROCID", "SLURM_NTASKS", NULL},
    {"RANK", "WORLD_SIZE", "WORLD_SIZE"},
};

static nw_status rank_read_rank(size_t i, const char *value,
                                struct nw_launch_rank *out)
{
    const char *size = variables[i].size ? getenv(variables[i].size) : NULL;
    int32_t rank, count = -1;

    if (!nw_parse_i32(value, &rank) || rank < 0)
        return nw_fail(NW_EINVAL, "%s is '%s', which is not a rank",
                       variables[i].rank, value);
    if (size && (!nw_parse_i32(size, &count) || count < 1))
        count = -1;
    *out = (struct nw_launch_rank){rank, count, variables[i].rank};
    return NW_OK;
}

static bool rank_is_set(const char *name)
{
    const char *value = getenv(name);

    return value && *value;
}

nw_status nw_launch_find_rank(struct nw_launch_rank *out)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (rank_is_set(variables[i].rank) &&
            (!variables[i].mark || rank_is_set(variables[i].mark)))
            return rank_read_rank(i, getenv(variables[i].rank), out);
    return nw_fail(
        NW_ENODEV,
        "no launcher has set the rank of this process (OMPI_COMM_WORLD_RANK, "
        "PMI_RANK, PMIX_RANK, SLURM_PROCID and others)");
}

void nw_launch_add_rank_search(struct nw_text *text)
{
    nw_text_add(text, "for rank in");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (variables[i].mark)
            nw_text_format(text, " \"${%s:+$%s}\"", variables[i].mark,
                           variables[i].rank);
        else
            nw_text_format(text, " \"$%s\"", variables[i].rank);
        if (i % 3 == 2)
            nw_text_add(text, " \\\n   ");
    }
    nw_text_add(text, "; do\n    [ -z \"$rank\" ] || break\ndone\n");
}

int32_t nw_launch_local_rank(const nw_mapping *mapping, int32_t rank)
{
    int32_t local = 0;

    for (int32_t r = 0; r < rank; r++)
        local += mapping->node[r] == mapping->node[rank];
    return local;
}
