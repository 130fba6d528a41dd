/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests random grids and graphs on random communicators: every answer of the
 * new communicator is compared with the vertex of the given graph. Usage:
 * oracle SEED CASES. Prints "cases N moved M failed F big B": in M of the B
 * communicators with at least four processes, ranks were reordered. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64 /* edges of a vertex, by weight */

static unsigned long long state;
static int failed, moved, big;

/* The same on every rank. */
static int draw(int below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % (unsigned)below);
}

static void expect(int good, const char *what, MPI_Comm comm)
{
    int rank;

    if (good)
        return;
    MPI_Comm_rank(comm, &rank);
    fprintf(stderr, "rank %d of the new communicator: %s\n", rank, what);
    failed = 1;
}

/* Notes whether ranks were reordered, by the old rank of each new one. */
static void note_order(MPI_Comm before, MPI_Comm after)
{
    int old, now, size, here = 0, any = 0;

    if (after == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(before, &old);
    MPI_Comm_rank(after, &now);
    MPI_Comm_size(after, &size);
    here = old != now;
    MPI_Allreduce(&here, &any, 1, MPI_INT, MPI_MAX, after);
    if (size >= 4 && now == 0) {
        big++;
        moved += any;
    }
}

/* Neighbours exchange their vertex numbers, which must be those of the
 * graph. */
static void expect_neighbours(MPI_Comm comm, int in, const int *sources,
                              int out, const char *what)
{
    int rank, got[MOST];

    (void)out;
    MPI_Comm_rank(comm, &rank);
    memset(got, -1, sizeof got);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, comm);
    for (int i = 0; i < in; i++)
        expect(sources[i] == MPI_PROC_NULL || got[i] == sources[i], what, comm);
}

/* Checks a random Cartesian grid. */
static void try_cart(MPI_Comm comm)
{
    int size, count = 1 + draw(3), dims[3] = {0}, periods[3], total = 1, kind;
    int got_dims[3], got_periods[3], at[3], rank, back, peers[6], vertices;
    MPI_Comm made;

    MPI_Comm_size(comm, &size);
    vertices = 1 + draw(size);
    MPI_Dims_create(vertices, count, dims);
    for (int d = 0; d < count; d++) {
        periods[d] = draw(2);
        total *= dims[d];
    }
    MPI_Cart_create(comm, count, dims, periods, draw(2), &made);
    note_order(comm, made);
    if (made == MPI_COMM_NULL)
        return;
    MPI_Topo_test(made, &kind);
    expect(kind == MPI_CART, "is no grid", made);
    MPI_Comm_size(made, &size);
    expect(size == total, "has another size", made);
    MPI_Comm_rank(made, &rank);
    MPI_Cart_get(made, count, got_dims, got_periods, at);
    for (int d = 0, stride = total; d < count; d++) {
        stride /= dims[d];
        expect(got_dims[d] == dims[d] && !got_periods[d] == !periods[d] &&
                   at[d] == rank / stride % dims[d],
               "Cart_get", made);
        MPI_Cart_shift(made, d, 1, &peers[2 * d], &peers[2 * d + 1]);
        for (int side = 0; side < 2; side++) {
            int to = at[d] + (side ? 1 : -1);
            int want = (to < 0 || to >= dims[d]) && !periods[d]
                           ? MPI_PROC_NULL
                           : rank + ((to + dims[d]) % dims[d] - at[d]) * stride;

            expect(peers[2 * d + side] == want, "Cart_shift", made);
        }
    }
    MPI_Cart_rank(made, at, &back);
    expect(back == rank, "Cart_rank", made);
    expect_neighbours(made, 2 * count, peers, 2 * count,
                      "neighbours of a grid");
    MPI_Comm_free(&made);
}

/* A random directed graph: how often v sends to w. */
static int edge[32][32];

static int draw_graph(int size, int symmetric)
{
    int total = 0;

    memset(edge, 0, sizeof edge);
    for (int v = 0; v < size; v++)
        for (int w = 0; w < size; w++)
            if (draw(3) == 0 && (!symmetric || v <= w))
                edge[v][w] = 1 + draw(3);
    for (int v = 0; v < size; v++)
        for (int w = 0; w < size; w++) {
            if (symmetric && v > w)
                edge[v][w] = edge[w][v];
            total += edge[v][w];
        }
    return total;
}

/* Checks a random graph of MPI_Graph_create. */
static void try_graph(MPI_Comm comm)
{
    int size, index[32], edges[32 * 32 * 3], vertices, rank, count,
        peers[MOST * 2];
    int kind, total = 0, at = 0;
    MPI_Comm made;

    MPI_Comm_size(comm, &size);
    vertices = 1 + draw(size);
    draw_graph(vertices, 1);
    for (int v = 0; v < vertices; v++) {
        for (int w = 0; w < vertices; w++)
            for (int k = 0; k < edge[v][w]; k++)
                edges[total++] = w;
        index[v] = total;
    }
    MPI_Graph_create(comm, vertices, index, edges, draw(2), &made);
    note_order(comm, made);
    if (made == MPI_COMM_NULL)
        return;
    MPI_Topo_test(made, &kind);
    expect(kind == MPI_GRAPH, "is no graph", made);
    MPI_Comm_rank(made, &rank);
    MPI_Graph_neighbors_count(made, rank, &count);
    expect(count == index[rank] - (rank ? index[rank - 1] : 0),
           "Graph_neighbors_count", made);
    MPI_Graph_neighbors(made, rank, MOST, peers);
    for (int i = 0; i < count; i++)
        expect(peers[i] == edges[(rank ? index[rank - 1] : 0) + i],
               "Graph_neighbors", made);
    (void)at;
    if (count < MOST)
        expect_neighbours(made, count, peers, count, "neighbours of a graph");
    MPI_Comm_free(&made);
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, 2 * sizeof(int));
}

/* Checks both lists of neighbours of the vertex of this process, in any
 * order. */
static void expect_lists(MPI_Comm made, int weighted)
{
    int in, out, has, rank, size, got[4][MOST], want[MOST][2], have[MOST][2];

    MPI_Comm_rank(made, &rank);
    MPI_Comm_size(made, &size);
    MPI_Dist_graph_neighbors_count(made, &in, &out, &has);
    expect(!has == !weighted, "weighted or not", made);
    if (in > MOST || out > MOST)
        return;
    MPI_Dist_graph_neighbors(made, in, got[0], has ? got[1] : MPI_UNWEIGHTED,
                             out, got[2], has ? got[3] : MPI_UNWEIGHTED);
    for (int side = 0; side < 2; side++) {
        int count = 0, given = side ? out : in;

        for (int v = 0; v < size; v++)
            for (int k = 0; k < (side ? edge[rank][v] : edge[v][rank]); k++) {
                want[count][0] = v;
                want[count++][1] =
                    weighted ? (side ? edge[rank][v] : edge[v][rank]) : 0;
            }
        for (int i = 0; i < given; i++) {
            have[i][0] = got[2 * side][i];
            have[i][1] = weighted ? got[2 * side + 1][i] : 0;
        }
        expect(count == given, "degree", made);
        qsort(want, (size_t)count, sizeof *want, compare);
        qsort(have, (size_t)given, sizeof *have, compare);
        expect(count == given &&
                   !memcmp(want, have, (size_t)count * sizeof *want),
               side ? "destinations" : "sources", made);
    }
    expect_neighbours(made, in, got[0], out, "neighbours of a dist graph");
}

static void try_adjacent(MPI_Comm comm)
{
    int size, me, in = 0, out = 0, weighted = draw(2);
    int peers[2][32 * 3], weights[2][32 * 3];
    MPI_Comm made;

    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &me);
    draw_graph(size, draw(2));
    for (int v = 0; v < size; v++) {
        for (int k = 0; k < edge[v][me]; k++) {
            peers[0][in] = v;
            weights[0][in++] = edge[v][me];
        }
        for (int k = 0; k < edge[me][v]; k++) {
            peers[1][out] = v;
            weights[1][out++] = edge[me][v];
        }
    }
    MPI_Dist_graph_create_adjacent(
        comm, in, peers[0], weighted ? weights[0] : MPI_UNWEIGHTED, out,
        peers[1], weighted ? weights[1] : MPI_UNWEIGHTED, MPI_INFO_NULL,
        draw(2), &made);
    note_order(comm, made);
    expect_lists(made, weighted);
    MPI_Comm_free(&made);
}

/* Each edge is given by a random process. */
static void try_dist(MPI_Comm comm)
{
    int size, me, count = 0, weighted = draw(2);
    int from[3072], degree[3072], to[3072], weight[3072];
    MPI_Comm made;

    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &me);
    draw_graph(size, draw(2));
    for (int v = 0; v < size; v++)
        for (int w = 0; w < size; w++)
            for (int k = 0; k < edge[v][w]; k++)
                if (draw(size) == me) {
                    from[count] = v;
                    to[count] = w;
                    degree[count] = 1;
                    weight[count++] = edge[v][w];
                }
    MPI_Dist_graph_create(comm, count, from, degree, to,
                          weighted ? weight : MPI_UNWEIGHTED, MPI_INFO_NULL,
                          draw(2), &made);
    note_order(comm, made);
    expect_lists(made, weighted);
    MPI_Comm_free(&made);
}

/* Cart_map and Graph_map: every vertex once, MPI_UNDEFINED for the rest. */
static void try_maps(MPI_Comm comm)
{
    int size, got, dims[2] = {0}, periods[2] = {1, 0}, seen[64], index[32];
    int edges[1024], total = 0;

    MPI_Comm_size(comm, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_map(comm, 2, dims, periods, &got);
    MPI_Allgather(&got, 1, MPI_INT, seen, 1, MPI_INT, comm);
    for (int v = 0; v < size; v++) {
        int times = 0;

        for (int i = 0; i < size; i++)
            times += seen[i] == v;
        expect(times == 1, "Cart_map gives a vertex not once", comm);
    }
    draw_graph(size, 1);
    for (int v = 0; v < size; v++) {
        for (int w = 0; w < size; w++)
            if (edge[v][w])
                edges[total++] = w;
        index[v] = total;
    }
    MPI_Graph_map(comm, size, index, edges, &got);
    MPI_Allgather(&got, 1, MPI_INT, seen, 1, MPI_INT, comm);
    for (int v = 0; v < size; v++) {
        int times = 0;

        for (int i = 0; i < size; i++)
            times += seen[i] == v;
        expect(times == 1, "Graph_map gives a vertex not once", comm);
    }
}

static void try_one(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return;
    switch (draw(5)) {
    case 0:
        try_cart(comm);
        break;
    case 1:
        try_graph(comm);
        break;
    case 2:
        try_adjacent(comm);
        break;
    case 3:
        try_dist(comm);
        break;
    default:
        try_maps(comm);
        break;
    }
}

/* A communicator of the first `size` ranks of MPI_COMM_WORLD in reverse order;
 * MPI_COMM_NULL on the other ranks. It is a duplicate, which must behave like
 * the original. */
static MPI_Comm lower_part(int size)
{
    MPI_Group world, part;
    MPI_Comm comm, copy = MPI_COMM_NULL;
    int rank, range[1][3] = {{size - 1, 0, -1}};

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &part);
    if (rank < size) {
        MPI_Comm_create_group(MPI_COMM_WORLD, part, 0, &comm);
        MPI_Comm_dup(comm, &copy);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&part);
    MPI_Group_free(&world);
    return copy;
}

/* MPI_COMM_WORLD, its ranks in reverse, half of them, or its first ranks in
 * reverse. */
static MPI_Comm draw_comm(void)
{
    int rank, size, kind = draw(4), half, salt = draw(1000);
    MPI_Comm comm;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    half = (rank * 7 + salt) % 2;
    if (kind == 3)
        return lower_part(1 + salt % size);
    MPI_Comm_split(MPI_COMM_WORLD, kind == 2 ? half : 0,
                   kind == 1 ? -rank : rank, &comm);
    return comm;
}

static void try_on(MPI_Comm comm)
{
    /* both halves draw the same cases; only their sizes may differ */
    unsigned long long before = state;

    try_one(comm);
    state = before;
    draw(7);
}

int main(int argc, char **argv)
{
    int rank, all[3], mine[3], cases;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    cases = argc > 2 ? atoi(argv[2]) : 20;
    /* what is known of the world after this does not hold for its parts */
    try_on(MPI_COMM_WORLD);
    for (int i = 0; i < cases; i++) {
        MPI_Comm comm = draw_comm();

        try_on(comm);
        if (comm != MPI_COMM_NULL)
            MPI_Comm_free(&comm);
    }
    mine[0] = failed;
    mine[1] = moved;
    mine[2] = big;
    MPI_Allreduce(mine, all, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        printf("cases %d moved %d of %d failed %d\n", cases, all[1], all[2],
               all[0]);
    MPI_Finalize();
    return all[0] != 0;
}
