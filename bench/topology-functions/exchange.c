/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the micro-benchmarks of the paper on MPI topology functions. One
 * computes and exchanges with the neighbours in a torus or hypercube; one
 * dimension is ten times as heavy. The other is an all-to-all along the longer
 * dimension of a torus.
 *
 *   exchange graph FILE...
 *       calls MPI_Graph_create for the lines "from to weight" of each file,
 *       with each edge repeated by its weight; prints which rank got which
 *       vertex
 *   exchange play KIND DIMS BYTES TIMES
 *       runs one case, to be profiled
 *   exchange time PLAN ROUNDS
 *       runs the cases of a plan in turns with all its orders; prints a line of
 *       seconds for each
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIMS 8
#define LIGHTER 10
#define ORDERS 8

struct shape {
    char kind[16]; /* torus, cube, alltoall */
    char words[32];
    int count, dim[DIMS];
    int longest;
};

struct place {
    const struct shape *shape;
    MPI_Comm comm, line; /* line: the ranks along the longest dimension */
    int rank, coord[DIMS];
};

static char *sent, *got;
static size_t room;
static volatile double sink;

static void fail(const char *what)
{
    fprintf(stderr, "exchange: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void read_shape(const char *kind, const char *words, struct shape *out)
{
    char copy[32];

    memset(out, 0, sizeof *out);
    snprintf(out->kind, sizeof out->kind, "%s", kind);
    snprintf(out->words, sizeof out->words, "%s", words);
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, "x"); word && out->count < DIMS;
         word = strtok(NULL, "x")) {
        out->dim[out->count] = atoi(word);
        if (out->dim[out->count] > out->dim[out->longest])
            out->longest = out->count;
        out->count++;
    }
}

static int rank_at(const struct shape *shape, const int *coord)
{
    int rank = 0;

    for (int d = 0; d < shape->count; d++)
        rank =
            rank * shape->dim[d] + (coord[d] + shape->dim[d]) % shape->dim[d];
    return rank;
}

static void take_place(const struct shape *shape, MPI_Comm comm,
                       struct place *out)
{
    int rank, first[DIMS];

    out->shape = shape;
    out->comm = comm;
    MPI_Comm_rank(comm, &out->rank);
    rank = out->rank;
    for (int d = shape->count - 1; d >= 0; rank /= shape->dim[d--])
        first[d] = out->coord[d] = rank % shape->dim[d];
    first[shape->longest] = 0;
    MPI_Comm_split(comm, rank_at(shape, first), out->rank, &out->line);
}

static void compute(void)
{
    double sum = 0;

    for (int i = 1; i < 2000; i++)
        sum += 1.0 / i;
    sink = sum;
}

/* Sends one message in each direction of each dimension; in a hypercube, the
 * two directions are the same. */
static void exchange(const struct place *place, int bytes)
{
    const struct shape *shape = place->shape;
    MPI_Request request[4 * DIMS];
    int count = 0, steps = strcmp(shape->kind, "cube") ? 2 : 1;

    for (int d = 0; d < shape->count; d++)
        for (int s = 0; s < steps; s++) {
            int to[DIMS], from[DIMS];
            int size = d == shape->longest ? bytes : bytes / LIGHTER;
            size_t at = (size_t)(2 * d + s) * (size_t)bytes;

            memcpy(to, place->coord, sizeof to);
            memcpy(from, place->coord, sizeof from);
            to[d] += s ? -1 : 1;
            from[d] -= s ? -1 : 1;
            MPI_Irecv(got + at, size, MPI_BYTE, rank_at(shape, from), 2 * d + s,
                      place->comm, &request[count++]);
            MPI_Isend(sent + at, size, MPI_BYTE, rank_at(shape, to), 2 * d + s,
                      place->comm, &request[count++]);
        }
    MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
}

static double play(const struct place *place, int bytes, int times)
{
    double begun, taken, longest;
    int across = !strcmp(place->shape->kind, "alltoall");

    MPI_Barrier(place->comm);
    begun = MPI_Wtime();
    for (int i = 0; i < times; i++) {
        compute();
        if (across)
            MPI_Alltoall(sent, bytes, MPI_BYTE, got, bytes, MPI_BYTE,
                         place->line);
        else
            exchange(place, bytes);
    }
    taken = (MPI_Wtime() - begun) / times;
    MPI_Allreduce(&taken, &longest, 1, MPI_DOUBLE, MPI_MAX, place->comm);
    return longest;
}

static void make_room(const struct shape *shape, int bytes)
{
    size_t across = (size_t)shape->dim[shape->longest];
    size_t parts = across > 2 * DIMS ? across : 2 * DIMS;

    if (parts * (size_t)bytes <= room)
        return;
    room = parts * (size_t)bytes;
    free(sent);
    free(got);
    sent = calloc(1, room);
    got = calloc(1, room);
    if (!sent || !got)
        fail("out of memory");
}

/* --- graphs --- */

static int by_from(const void *a, const void *b)
{
    const int *x = a, *y = b;

    return x[0] != y[0] ? x[0] - y[0] : x[1] - y[1];
}

/* Creates the graph of a file with reordering, and prints which rank got which
 * vertex. */
static void create_graph(const char *path)
{
    int(*edge)[3] = NULL, n = 0, at = 0, total = 0, size, rank, new_rank;
    int *index, *edges, *vertex;
    FILE *file = fopen(path, "r");
    MPI_Comm made;

    if (!file)
        fail(path);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int e[3]; fscanf(file, "%d %d %d", &e[0], &e[1], &e[2]) == 3; n++) {
        edge = realloc(edge, (size_t)(n + 1) * sizeof *edge);
        memcpy(edge[n], e, sizeof e);
        total += e[2];
    }
    fclose(file);
    qsort(edge, (size_t)n, sizeof *edge, by_from);
    index = calloc((size_t)size, sizeof *index);
    edges = calloc((size_t)total + 1, sizeof *edges);
    vertex = calloc((size_t)size, sizeof *vertex);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < edge[i][2]; k++) {
            edges[at++] = edge[i][1];
            index[edge[i][0]]++;
        }
    for (int v = 1; v < size; v++)
        index[v] += index[v - 1];
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 1, &made);
    MPI_Comm_rank(made, &new_rank);
    MPI_Gather(&new_rank, 1, MPI_INT, vertex, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!rank) {
        printf("took %s", path);
        for (int r = 0; r < size; r++)
            printf(" %d", vertex[r]);
        printf("\n");
        fflush(stdout);
    }
    MPI_Comm_free(&made);
    free(edge);
    free(index);
    free(edges);
    free(vertex);
}

/* --- the cases of a plan, in turns --- */

struct order {
    char shape[32], name[24];
    struct place place;
};

/* Reads a line "order KIND DIMS NAME vertex...". */
static void read_order(char *line, const struct shape *shape,
                       struct order *order)
{
    int size, rank, vertex = -1, used, skip = 0;
    MPI_Comm comm;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (sscanf(line, "%23s%n", order->name, &skip) != 1)
        fail("an order without a name");
    for (int r = 0; r <= rank; r++, skip += used)
        if (sscanf(line + skip, "%d%n", &vertex, &used) != 1)
            fail("an order that is too short");
    MPI_Comm_split(MPI_COMM_WORLD, 0, vertex, &comm);
    take_place(shape, comm, &order->place);
}

/* Times a line "case BYTES TIMES" with the orders read so far; each round
 * begins with another order. */
static void time_case(const struct order *order, int orders, const char *words,
                      int rounds)
{
    const struct shape *shape = order[0].place.shape;
    int bytes, times, rank;

    if (sscanf(words, "%d %d", &bytes, &times) != 2)
        fail("a case is bytes and times");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make_room(shape, bytes);
    for (int i = 0; i < orders; i++)
        play(&order[i].place, bytes, 1);
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < orders; i++) {
            const struct order *now = &order[(round + i) % orders];
            double taken = play(&now->place, bytes, times);

            if (!rank)
                printf("time %s %s %d %s %d %.9f\n", shape->kind, shape->words,
                       bytes, now->name, round, taken);
        }
    fflush(stdout);
}

/* Times a plan. Its lines are "shape KIND DIMS", its orders, its cases; then
 * the next shape. */
static void time_plan(const char *path, int rounds)
{
    struct order order[ORDERS];
    struct shape *shape = NULL;
    FILE *file = fopen(path, "r");
    char line[8192], kind[16], words[32];
    int orders = 0;

    if (!file)
        fail(path);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "shape %15s %31s", kind, words) == 2) {
            shape = calloc(1, sizeof *shape);
            read_shape(kind, words, shape);
            orders = 0;
        } else if (shape && !strncmp(line, "order ", 6) && orders < ORDERS) {
            read_order(line + 6, shape, &order[orders++]);
        } else if (orders && !strncmp(line, "case ", 5)) {
            time_case(order, orders, line + 5, rounds);
        } else {
            fail("a line that is none");
        }
    }
    fclose(file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc > 2 && !strcmp(argv[1], "graph")) {
        for (int i = 2; i < argc; i++)
            create_graph(argv[i]);
    } else if (argc == 6 && !strcmp(argv[1], "play")) {
        struct shape shape;
        struct place place;

        read_shape(argv[2], argv[3], &shape);
        take_place(&shape, MPI_COMM_WORLD, &place);
        make_room(&shape, atoi(argv[4]));
        play(&place, atoi(argv[4]), atoi(argv[5]));
    } else if (argc == 4 && !strcmp(argv[1], "time")) {
        time_plan(argv[2], atoi(argv[3]));
    } else {
        fail("graph FILE... | play KIND DIMS BYTES TIMES | time PLAN ROUNDS");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
