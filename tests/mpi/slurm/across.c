/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges a message with the rank half-way around, which block placement puts
 * on another node, and prints where each rank is. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The node name that Slurm gave to the launcher's daemon above this process,
 * otherwise to this process: in a batch job, Hydra passes the variable of its
 * own node to all ranks. */
static const char *find_node(void)
{
    static const char name[] = "SLURMD_NODENAME=";
    static char *variable;
    size_t room = 0;
    char path[64];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/environ", (long)getppid());
    file = fopen(path, "r");
    while (file && getdelim(&variable, &room, 0, file) > 0)
        if (!strncmp(variable, name, sizeof name - 1))
            return variable + sizeof name - 1;
    return getenv("SLURMD_NODENAME");
}

int main(int argc, char **argv)
{
    static char out[100000], in[100000];
    const char *node = find_node();
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 20; i++) {
        int other = (rank + size / 2) % size;

        MPI_Sendrecv(out, sizeof out, MPI_CHAR, other, 0, in, sizeof in,
                     MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    printf("%d %s\n", rank, node ? node : "none");
    MPI_Finalize();
    return 0;
}
