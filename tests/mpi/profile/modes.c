/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends in every mode over several communicators, and counts what it sends:
 * rank 0 prints "src dst messages bytes" for each pair. This count is
 * independent of the profile, which must agree with it. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static int rank, size;
static long long *messages, *bytes; /* by rank of MPI_COMM_WORLD */
static double out[4096], in[4096];

static void count(int world, long long amount)
{
    messages[world]++;
    bytes[world] += amount;
}

/* Sends to the next rank in every mode, blocking and nonblocking. */
static void each_mode(MPI_Comm comm, const int *world)
{
    static char space[1 << 16];
    int me, n, right, left, room = sizeof space;
    MPI_Request request[2];
    void *detached;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    right = (me + 1) % n;
    left = (me + n - 1) % n;
    MPI_Buffer_attach(space, room);
    for (int mode = 0; mode < 8; mode++) {
        int length = 1 + mode + me;

        MPI_Irecv(in, 4096, MPI_DOUBLE, left, mode, comm, &request[0]);
        MPI_Barrier(comm);
        request[1] = MPI_REQUEST_NULL;
        switch (mode) {
        case 0:
            MPI_Send(out, length, MPI_DOUBLE, right, mode, comm);
            break;
        case 1:
            MPI_Bsend(out, length, MPI_DOUBLE, right, mode, comm);
            break;
        case 2:
            MPI_Ssend(out, length, MPI_DOUBLE, right, mode, comm);
            break;
        case 3:
            MPI_Rsend(out, length, MPI_DOUBLE, right, mode, comm);
            break;
        case 4:
            MPI_Isend(out, length, MPI_DOUBLE, right, mode, comm, &request[1]);
            break;
        case 5:
            MPI_Ibsend(out, length, MPI_DOUBLE, right, mode, comm, &request[1]);
            break;
        case 6:
            MPI_Issend(out, length, MPI_DOUBLE, right, mode, comm, &request[1]);
            break;
        case 7:
            MPI_Irsend(out, length, MPI_DOUBLE, right, mode, comm, &request[1]);
            break;
        }
        count(world[right], 8LL * length);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Buffer_detach(&detached, &room);
}

/* Sends and receives by the calls that do both. */
static void both_ways(MPI_Comm comm, const int *world)
{
    int me, n, right, left;
    MPI_Datatype every_other;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    right = (me + 1) % n;
    left = (me + n - 1) % n;
    MPI_Sendrecv(out, 7, MPI_INT, left, 1, in, 7, MPI_INT, right, 1, comm,
                 MPI_STATUS_IGNORE);
    count(world[left], 28);
    MPI_Sendrecv(out, 2, MPI_INT, MPI_PROC_NULL, 1, in, 7, MPI_INT,
                 MPI_PROC_NULL, 1, comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(in, 100, MPI_DOUBLE, right, 2, left, 2, comm,
                         MPI_STATUS_IGNORE);
    count(world[right], 800);
    MPI_Type_vector(10, 1, 2, MPI_DOUBLE, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Sendrecv(out, 3, every_other, right, 3, in, 3, every_other, left, 3,
                 comm, MPI_STATUS_IGNORE);
    count(world[right], 240);
    MPI_Type_free(&every_other);
    MPI_Sendrecv(out, 0, MPI_DOUBLE, right, 4, in, 0, MPI_DOUBLE, left, 4, comm,
                 MPI_STATUS_IGNORE);
    count(world[right], 0);
    MPI_Sendrecv(out, 5, MPI_CHAR, me, 5, in, 5, MPI_CHAR, me, 5, comm,
                 MPI_STATUS_IGNORE);
    count(world[me], 5);
}

static void persistent(MPI_Comm comm, const int *world)
{
    MPI_Request request[5];
    int me, n, right, left;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    right = (me + 1) % n;
    left = (me + n - 1) % n;
    MPI_Recv_init(in, 64, MPI_DOUBLE, left, 1, comm, &request[0]);
    MPI_Recv_init(in + 64, 64, MPI_DOUBLE, left, 2, comm, &request[1]);
    MPI_Send_init(out, 11, MPI_DOUBLE, right, 1, comm, &request[2]);
    MPI_Ssend_init(out, 12, MPI_DOUBLE, right, 2, comm, &request[3]);
    MPI_Send_init(out, 64, MPI_DOUBLE, right, 3, comm,
                  &request[4]); /* never started */
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, request);
        MPI_Start(&request[2]);
        MPI_Start(&request[3]);
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
        count(world[right], 88);
        count(world[right], 96);
    }
    for (int i = 0; i < 5; i++)
        MPI_Request_free(&request[i]);
}

#if MPI_VERSION >= 4
/* Uses the calls that are new in MPI 4. */
static void newer(MPI_Comm comm, const int *world)
{
    MPI_Request request[2];
    int me, n, right, left;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    right = (me + 1) % n;
    left = (me + n - 1) % n;
    MPI_Irecv_c(in, (MPI_Count)64, MPI_DOUBLE, left, 1, comm, &request[0]);
    MPI_Send_c(out, (MPI_Count)9, MPI_DOUBLE, right, 1, comm);
    count(world[right], 72);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Isendrecv(out, 4, MPI_INT, right, 2, in, 4, MPI_INT, left, 2, comm,
                  &request[0]);
    count(world[right], 16);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Isendrecv_replace(in, 6, MPI_INT, left, 2, right, 2, comm, &request[0]);
    count(world[left], 24);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Psend_init(out, 4, 25, MPI_DOUBLE, right, 3, comm, MPI_INFO_NULL,
                   &request[0]);
    MPI_Precv_init(in, 4, 25, MPI_DOUBLE, left, 3, comm, MPI_INFO_NULL,
                   &request[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, request);
        MPI_Pready_range(0, 3, request[0]);
        count(world[right], 800);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}
#endif

/* Uses matched probes, and a region that is not profiled. */
static void others(void)
{
    MPI_Message message;
    MPI_Status status;
    MPI_Request request;
    int right = (rank + 1) % size, got;

    MPI_Isend(out, 17, MPI_CHAR, right, 9, MPI_COMM_WORLD, &request);
    count(right, 17);
    MPI_Mprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &message, &status);
    MPI_Get_count(&status, MPI_CHAR, &got);
    MPI_Mrecv(in, got, MPI_CHAR, &message, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void print_counts(void)
{
    long long *all = malloc(2 * (size_t)(size * size) * sizeof *all);
    long long *mine = malloc(2 * (size_t)size * sizeof *mine);

    for (int r = 0; r < size; r++) {
        mine[2 * r] = messages[r];
        mine[2 * r + 1] = bytes[r];
    }
    MPI_Gather(mine, 2 * size, MPI_LONG_LONG, all, 2 * size, MPI_LONG_LONG, 0,
               MPI_COMM_WORLD);
    for (int s = 0; !rank && s < size; s++)
        for (int d = 0; d < size; d++)
            if (all[2 * (s * size + d)])
                printf("%d %d %lld %lld\n", s, d, all[2 * (s * size + d)],
                       all[2 * (s * size + d) + 1]);
    free(all);
    free(mine);
}

static void run_on(MPI_Comm comm)
{
    MPI_Group all, group;
    int n, *ranks, *world;

    MPI_Comm_size(comm, &n);
    ranks = malloc((size_t)n * sizeof *ranks);
    world = malloc((size_t)n * sizeof *world);
    for (int i = 0; i < n; i++)
        ranks[i] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(comm, &group);
    MPI_Group_translate_ranks(group, n, ranks, all, world);
    MPI_Group_free(&all);
    MPI_Group_free(&group);
    each_mode(comm, world);
    both_ways(comm, world);
    persistent(comm, world);
#if MPI_VERSION >= 4
    newer(comm, world);
#endif
    free(ranks);
    free(world);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    messages = calloc((size_t)size, sizeof *messages);
    bytes = calloc((size_t)size, sizeof *bytes);
    run_on(MPI_COMM_WORLD);
    /* made and freed repeatedly, so that handles are reused for other ranks */
    for (int i = 0; i < 4; i++) {
        MPI_Comm_split(MPI_COMM_WORLD, i % 2 ? rank / 2 : rank % 2,
                       i < 2 ? -rank : rank, &comm);
        run_on(comm);
        MPI_Comm_free(&comm);
    }
    others();
    if (argc == 1) {
        MPI_Pcontrol(0);
        MPI_Sendrecv(out, 9, MPI_INT, (rank + 1) % size, 1, in, 9, MPI_INT,
                     (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Pcontrol(1);
    }
    print_counts();
    free(messages);
    free(bytes);
    MPI_Finalize();
    return 0;
}
