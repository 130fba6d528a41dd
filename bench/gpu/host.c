/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the time of MPI calls of a program without a GPU. One rank
 * communicates with itself, which is the shortest path through an MPI library.
 * There is one row for each kind of call: the nanoseconds of the fastest batch
 * and of the median one, for all calls of a turn. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 201, TURNS = 500, TAG = 1 };

static int out[2] = {1, 2}, in[2];
static char packed[64];
static MPI_Request pair[2], none = MPI_REQUEST_NULL;

static void isend(void)
{
    MPI_Request request;

    MPI_Isend(out, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &request);
    MPI_Recv(in, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void irecv(void)
{
    MPI_Request request;

    MPI_Irecv(in, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &request);
    MPI_Send(out, 1, MPI_INT, 0, TAG, MPI_COMM_SELF);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
}

static void persistent(void)
{
    MPI_Startall(2, pair);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
}

static void sendrecv(void)
{
    MPI_Sendrecv(out, 1, MPI_INT, 0, TAG, in, 1, MPI_INT, 0, TAG, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
}

static void iprobe(void)
{
    int flag;

    MPI_Iprobe(0, TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void test(void)
{
    int flag;

    MPI_Test(&none, &flag, MPI_STATUS_IGNORE);
}

static void bcast(void)
{
    MPI_Bcast(out, 1, MPI_INT, 0, MPI_COMM_SELF);
}

static void allreduce(void)
{
    MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static void alltoall(void)
{
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_SELF);
}

static void alltoallv(void)
{
    static const int counts[] = {1}, places[] = {0};

    MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT,
                  MPI_COMM_SELF);
}

static void pack(void)
{
    int at = 0;

    MPI_Pack(out, 1, MPI_INT, packed, sizeof packed, &at, MPI_COMM_SELF);
}

static void reduce_local(void)
{
    MPI_Reduce_local(out, in, 1, MPI_INT, MPI_MAX);
}

static const struct kind {
    const char *name;
    int calls;
    void (*turn)(void);
} kinds[] = {{"Isend,Recv,Wait", 3, isend},
             {"Irecv,Send,Waitall", 3, irecv},
             {"Startall,Waitall", 2, persistent},
             {"Sendrecv", 1, sendrecv},
             {"Iprobe", 1, iprobe},
             {"Test", 1, test},
             {"Bcast", 1, bcast},
             {"Allreduce", 1, allreduce},
             {"Alltoall", 1, alltoall},
             {"Alltoallv", 1, alltoallv},
             {"Pack", 1, pack},
             {"Reduce_local", 1, reduce_local}};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure(const struct kind *kind)
{
    double batch[BATCHES];

    for (int i = 0; i < BATCHES; i++) {
        double start = MPI_Wtime();

        for (int j = 0; j < TURNS; j++)
            kind->turn();
        batch[i] = (MPI_Wtime() - start) / TURNS * 1e9;
    }
    qsort(batch, BATCHES, sizeof *batch, compare);
    printf("%s %d %.1f %.1f\n", kind->name, kind->calls, batch[0],
           batch[BATCHES / 2]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Recv_init(in, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &pair[0]);
    MPI_Send_init(out, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &pair[1]);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        measure(&kinds[i]);
    MPI_Request_free(&pair[0]);
    MPI_Request_free(&pair[1]);
    MPI_Finalize();
    return 0;
}
