/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the arguments of a benchmark that is an MPI program. */
#ifndef NW_BENCH_PARSE_H
#define NW_BENCH_PARSE_H

#include <argp.h>
#include <nodewise/launch.h>
#include <stdlib.h>

/* Fills `arguments` in each rank, before MPI_Init. `name` is the name that
 * messages begin with. If an argument is wrong, every rank exits. Rank 0 prints
 * a message and exits with status 2, the others exit with 0: a launcher that
 * sees another rank fail may end rank 0 before it has printed. */
static inline void bench_parse(const struct argp *argp, const char *name,
                               int argc, char **argv, void *arguments)
{
    struct nw_launch_rank me;
    bool speaks = nw_launch_find_rank(&me) || me.rank == 0;

    argp_err_exit_status = 2;
    argv[0] = (char *)name;
    if (argp_parse(argp, argc, argv, speaks ? 0 : ARGP_SILENT, NULL, arguments))
        exit(speaks ? 2 : 0);
}

#endif
