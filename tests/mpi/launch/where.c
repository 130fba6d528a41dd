/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program that writes where it runs into the file FOLDER/RANK: the host,
 * the CPUs that the kernel allows, the variables of GPUs and OpenMP, and the
 * ranks that share memory. Each two ranks exchange a message, so that a job on
 * hosts that cannot reach each other fails. */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The number of ranks that are on this host according to MPI. */
static int sharing(void)
{
    MPI_Comm host;
    int size;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &host);
    MPI_Comm_size(host, &size);
    MPI_Comm_free(&host);
    return size;
}

static void write_down(const char *folder, int rank, int shared)
{
    const char *gpus = getenv("CUDA_VISIBLE_DEVICES");
    const char *order = getenv("CUDA_DEVICE_ORDER");
    static const char *const threads[] = {"OMP_NUM_THREADS", "OMP_PLACES",
                                          "OMP_PROC_BIND"};
    char path[4096], host[256] = "";
    const char *comma = "";
    cpu_set_t cpus;
    FILE *out;

    snprintf(path, sizeof path, "%s/%d", folder, rank);
    out = fopen(path, "w");
    if (!out || sched_getaffinity(0, sizeof cpus, &cpus))
        MPI_Abort(MPI_COMM_WORLD, 1);
    gethostname(host, sizeof host - 1);
    fprintf(out, "%s ", host);
    for (size_t c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &cpus)) {
            fprintf(out, "%s%zu", comma, c);
            comma = ",";
        }
    fprintf(out, " '%s' %s", gpus ? gpus : "unset", order ? order : "unset");
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        fprintf(out, " %s", getenv(threads[i]) ? getenv(threads[i]) : "unset");
    fprintf(out, " %d\n", shared);
    fclose(out);
}

int main(int argc, char **argv)
{
    int rank, size, sent[64], got[64], bad = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2 || size > 64)
        MPI_Abort(MPI_COMM_WORLD, 2);
    write_down(argv[1], rank, sharing());
    for (int i = 0; i < size; i++)
        sent[i] = 100 * rank + i;
    MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        bad |= got[i] != 100 * i + rank;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return bad;
}
