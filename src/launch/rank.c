/* SPDX-License-Identifier: BSD-3-Clause */
/* Who am I: a launcher tells each process its rank in the environment. */
#include <nodewise/launch.h>

#include "base/status.h"
#include "base/text.h"

#include <stdlib.h>

/* A launcher inside a batch job inherits the job's variables: those of the
 * inner launchers come first. */
static const struct {
    const char *rank, *size;
} variables[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},
    {"PMIX_RANK", NULL},
    {"SLURM_PROCID", "SLURM_NTASKS"},
};

nw_status nw_launch_find_rank(struct nw_launch_rank *out)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i].rank), *size;
        int32_t rank, count = -1;

        if (!value)
            continue;
        if (!nw_parse_i32(value, &rank) || rank < 0)
            return nw_fail(NW_EINVAL, "%s is '%s', which is no rank",
                           variables[i].rank, value);
        size = variables[i].size ? getenv(variables[i].size) : NULL;
        if (size && (!nw_parse_i32(size, &count) || count < 1))
            count = -1;
        *out = (struct nw_launch_rank){rank, count, variables[i].rank};
        return NW_OK;
    }
    return nw_fail(NW_ENODEV, "no launcher has told this process its rank "
                              "(OMPI_COMM_WORLD_RANK, PMI_RANK, PMIX_RANK, "
                              "SLURM_PROCID)");
}

int32_t nw_launch_local_rank(const nw_mapping *mapping, int32_t rank)
{
    int32_t local = 0;

    for (int32_t r = 0; r < rank; r++)
        local += mapping->node[r] == mapping->node[rank];
    return local;
}
