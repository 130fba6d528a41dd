/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicates by calls other than plain messages: one-sided calls on a window
 * of some ranks, neighbourhood collectives on a grid and on graphs, processes
 * outside MPI_COMM_WORLD, and a communicator that a callback frees. With
 * "across", it makes collective calls between groups instead. Rank 0 prints
 * what a profile must contain. */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static long long *table; /* [src][dst][bytes, messages]; summed at the end */

static void count(int src, int dst, long long bytes)
{
    long long *cell = table + 2 * (src * size + dst);

    cell[0] += bytes;
    cell[1]++;
}

/* Uses a window of every second rank, in reverse order. */
static void windows(MPI_Comm comm)
{
    static double memory[64], out[64], in[64];
    MPI_Win win;
    MPI_Request request[3];
    long long one = 1, old;
    int me, n, peer;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, comm, &win);
    peer = (rank + size - 2) % size;
    MPI_Win_fence(0, win);
    MPI_Put(out, 3, MPI_DOUBLE, (me + 1) % n, 0, 3, MPI_DOUBLE, win);
    count(rank, peer, 24);
    MPI_Get(in, 5, MPI_DOUBLE, (me + 1) % n, 8, 5, MPI_DOUBLE, win);
    count(peer, rank, 40);
    MPI_Accumulate(out, 2, MPI_DOUBLE, (me + 1) % n, 16, 2, MPI_DOUBLE, MPI_SUM,
                   win);
    count(rank, peer, 16);
    MPI_Win_fence(0, win);
    MPI_Win_lock_all(0, win);
    MPI_Get_accumulate(out, 4, MPI_DOUBLE, in, 4, MPI_DOUBLE, (me + 1) % n, 24,
                       4, MPI_DOUBLE, MPI_SUM, win);
    count(rank, peer, 32);
    count(peer, rank, 32);
    MPI_Get_accumulate(out, 4, MPI_DOUBLE, in, 4, MPI_DOUBLE, (me + 1) % n, 24,
                       4, MPI_DOUBLE, MPI_NO_OP, win);
    count(peer, rank, 32);
    MPI_Fetch_and_op(&one, &old, MPI_LONG_LONG, (me + 1) % n, 40, MPI_SUM, win);
    count(rank, peer, 8);
    count(peer, rank, 8);
    MPI_Win_flush((me + 1) % n, win);
    MPI_Compare_and_swap(&one, &one, &old, MPI_LONG_LONG, (me + 1) % n, 41,
                         win);
    count(rank, peer, 8);
    count(peer, rank, 8);
    MPI_Win_flush((me + 1) % n, win);
    MPI_Rput(out, 6, MPI_DOUBLE, (me + 1) % n, 48, 6, MPI_DOUBLE, win,
             &request[0]);
    count(rank, peer, 48);
    MPI_Rget(in, 7, MPI_DOUBLE, (me + 1) % n, 0, 7, MPI_DOUBLE, win,
             &request[1]);
    count(peer, rank, 56);
    MPI_Raccumulate(out, 1, MPI_DOUBLE, (me + 1) % n, 60, 1, MPI_DOUBLE,
                    MPI_SUM, win, &request[2]);
    count(rank, peer, 8);
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* Neighbourhood collectives on a Cartesian grid. */
static void grid(void)
{
    int dims[1] = {size}, periods[1] = {0}, counts[2] = {3, 2};
    int got[2] = {2, 3};
    int low, high;
    MPI_Comm comm;
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};
    MPI_Datatype back[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Aint where[2] = {0, 64};
    double out[64], in[64];
    MPI_Request request;

    memset(out, 0, sizeof out);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
    MPI_Cart_shift(comm, 0, 1, &low, &high);
    MPI_Neighbor_allgather(out, 4, MPI_DOUBLE, in, 4, MPI_DOUBLE, comm);
    MPI_Neighbor_alltoall(out, 5, MPI_INT, in, 5, MPI_INT, comm);
    MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Neighbor_alltoallw(out, counts, where, types, in, got, where, back,
                           comm);
    if (low >= 0) {
        count(rank, low, 32);
        count(rank, low, 20);
        count(rank, low, 4);
        count(rank, low, 24);
    }
    if (high >= 0) {
        count(rank, high, 32);
        count(rank, high, 20);
        count(rank, high, 4);
        count(rank, high, 8);
    }
    MPI_Comm_free(&comm);
}

/* Makes a graph with edges to the right neighbour and the one after it. */
static void graph(void)
{
    int to[2] = {(rank + 1) % size, (rank + 2) % size};
    int from[2] = {(rank + size - 1) % size, (rank + size - 2) % size};
    int counts[2] = {1, 6}, places[2] = {0, 8};
    double out[64], in[64];
    MPI_Comm comm;

    memset(out, 0, sizeof out);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2,
                                   to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    MPI_Neighbor_alltoallv(out, counts, places, MPI_DOUBLE, in, counts, places,
                           MPI_DOUBLE, comm);
    count(rank, to[0], 8);
    count(rank, to[1], 48);
#if MPI_VERSION >= 4
    {
        MPI_Request request;

        MPI_Neighbor_allgather_init(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, comm,
                                    MPI_INFO_NULL, &request);
        for (int i = 0; i < 3; i++) {
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            count(rank, to[0], 16);
            count(rank, to[1], 16);
        }
        MPI_Request_free(&request);
    }
#endif
    MPI_Comm_free(&comm);
}

static int free_inner(MPI_Comm comm, int key, void *inner, void *extra)
{
    (void)comm, (void)key, (void)extra;
    return MPI_Comm_free(inner);
}

/* Attaches another communicator to a communicator, as libraries do: it is freed
 * with it, and the next one, which has another order, may get its handle. */
static void hang_on(void)
{
    int key, number = 0;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_inner, &key, NULL);
    for (int i = 0; i < 6; i++) {
        int turn = i % 2 ? -1 : 1;
        int to = i % 2 ? size - 2 : 1, from = i % 2 ? size - 1 : 0;
        MPI_Comm outer, inner;

        MPI_Comm_split(MPI_COMM_WORLD, 0, turn * rank, &outer);
        MPI_Comm_split(MPI_COMM_WORLD, 0, turn * rank, &inner);
        MPI_Comm_set_attr(outer, key, &inner);
        if (rank == 0) {
            MPI_Send(&number, 1, MPI_INT, to, 0, inner);
            count(0, 1, 4);
        } else if (rank == 1)
            MPI_Recv(&number, 1, MPI_INT, from, 0, inner, MPI_STATUS_IGNORE);
        MPI_Comm_free(&outer);
    }
    MPI_Comm_free_keyval(&key);
}

/* A gather from the upper half to rank 0 of the lower one: the arguments for
 * sent data are not significant in the root's group, not even the type. */
static void across(void)
{
    int low = rank < size / 2, number = rank, all[64], counts[64], places[64];
    int root = !low ? 0 : rank ? MPI_PROC_NULL : MPI_ROOT;
    MPI_Datatype none = (MPI_Datatype)(uintptr_t)0;
    MPI_Comm half, both;

    MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? size / 2 : 0, 5, &both);
    for (int i = 0; i < 64; i++) {
        counts[i] = 1;
        places[i] = i;
    }
    MPI_Gather(&number, 1, low ? none : MPI_INT, all, 1,
               root == MPI_ROOT ? MPI_INT : none, root, both);
    MPI_Gatherv(&number, 1, low ? none : MPI_INT, all, counts, places,
                root == MPI_ROOT ? MPI_INT : none, root, both);
    for (int i = 0; !low && i < 2; i++)
        count(rank, 0, 4);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

/* A reduce-scatter between rank 0 and all other ranks. The standard (MPI 4.0,
 * 6.10.1) gives each rank a vector of as many elements as the receive count
 * times the size of its own group, and both groups the same number: here
 * (size - 1) * 1 = 1 * (size - 1). The profile assumes that each rank sends its
 * vector to rank 0 of the other group. */
static void reduce_across(void)
{
    int sent[64] = {0}, received[64], first = !rank;
    MPI_Comm half, both;

    MPI_Comm_split(MPI_COMM_WORLD, first, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first ? 1 : 0, 5, &both);
    MPI_Reduce_scatter_block(sent, received, first ? size - 1 : 1, MPI_INT,
                             MPI_SUM, both);
    count(rank, first ? 1 : 0, 4 * (size - 1));
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

/* Starts a child that returns messages; it is not a rank of MPI_COMM_WORLD. */
static void spawn(char *program)
{
    MPI_Comm child;
    char *arguments[] = {"child", NULL};
    int number = 7;

    MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                   &child, MPI_ERRCODES_IGNORE);
    if (!rank) {
        MPI_Send(&number, 1, MPI_INT, 0, 0, child);
        MPI_Recv(&number, 1, MPI_INT, 0, 0, child, MPI_STATUS_IGNORE);
    }
    MPI_Comm_disconnect(&child);
}

static void be_child(MPI_Comm parent)
{
    int number;

    MPI_Recv(&number, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
    MPI_Send(&number, 1, MPI_INT, 0, 0, parent);
    MPI_Comm_disconnect(&parent);
}

static void print_table(void)
{
    int n = 2 * size * size;
    long long *all = malloc((size_t)n * sizeof *all);

    MPI_Pcontrol(0);
    MPI_Reduce(table, all, n, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int i = 0; !rank && i < size * size; i++)
        if (all[2 * i + 1])
            printf("%d %d hh %lld %lld\n", i / size, i % size, all[2 * i],
                   all[2 * i + 1]);
    free(all);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, half;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    table = calloc((size_t)(2 * size * size), sizeof *table);
    if (parent != MPI_COMM_NULL)
        be_child(parent);
    else if (argc > 1 && !strcmp(argv[1], "across")) {
        across();
        reduce_across();
        print_table();
    } else {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
        /* one after the other: Open MPI's windows on communicators with the
         * same number disturb each other while they are made */
        if (rank % 2 == 0)
            windows(half);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank % 2)
            windows(half);
        MPI_Comm_free(&half);
        grid();
        graph();
        hang_on();
        if (argc > 1 && !strcmp(argv[1], "spawn"))
            spawn(argv[0]);
        print_table();
    }
    free(table);
    MPI_Finalize();
    return 0;
}
