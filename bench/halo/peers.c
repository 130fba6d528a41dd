/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchanges that a careful programmer writes without a library: by a
 * neighbourhood collective, derived types, packing loops, three phases, and
 * copies through a shared window. */
#include "peers.h"

#include <stdlib.h>
#include <string.h>

#define CENTRE 13
#define DIRECTIONS 27

static int component(int d, int axis)
{
    static const int power[3] = {9, 3, 1};

    return d / power[axis] % 3 - 1;
}

int neighbour(const struct setup *setup, int d)
{
    int at[3], rank;

    for (int axis = 0; axis < 3; axis++)
        at[axis] = setup->place[axis] + component(d, axis);
    MPI_Cart_rank(setup->grid, at, &rank);
    return rank;
}

void ghost_box(const struct setup *setup, int d, int start[3], int count[3])
{
    int r = setup->radius, n = setup->n;

    for (int axis = 0; axis < 3; axis++) {
        int side = component(d, axis);

        start[axis] = side < 0 ? 0 : side > 0 ? n + r : r;
        count[axis] = side ? r : n;
    }
}

void source_box(const struct setup *setup, int d, int start[3], int count[3])
{
    int r = setup->radius, n = setup->n;

    for (int axis = 0; axis < 3; axis++) {
        int side = component(d, axis);

        /* own cells for the opposite ghost box of the neighbour */
        start[axis] = side < 0 ? n : r;
        count[axis] = side ? r : n;
    }
}

/* The arrays, and other state that most peers need. */
struct work {
    struct setup setup;
    float *array[QUANTITIES];
    MPI_Request request[2 * DIRECTIONS];
    MPI_Datatype send_type[DIRECTIONS], receive_type[DIRECTIONS];
    float *send[DIRECTIONS], *receive[DIRECTIONS];
    MPI_Comm graph;
    MPI_Win window;
    float *theirs[DIRECTIONS][QUANTITIES];
    int ones[DIRECTIONS];
    MPI_Aint zeros[DIRECTIONS];
    int count;
};

static size_t cells(const struct setup *setup)
{
    return (size_t)setup->padded * setup->padded * setup->padded;
}

static struct work *open_work(const struct setup *setup, bool arrays)
{
    struct work *work = calloc(1, sizeof *work);

    work->setup = *setup;
    for (int q = 0; arrays && q < QUANTITIES; q++)
        work->array[q] = setup->array[q];
    return work;
}

static float *array_of(void *state, int quantity)
{
    return ((struct work *)state)->array[quantity];
}

static void close_work(void *state)
{
    struct work *work = state;

    for (int d = 0; d < DIRECTIONS; d++) {
        free(work->send[d]);
        free(work->receive[d]);
    }
    free(work);
}

/* --- derived types: one for all quantities of a direction --- */

static MPI_Datatype make_type(struct work *work, const int start[3],
                              const int count[3])
{
    int padded = work->setup.padded, sizes[3] = {padded, padded, padded};
    int ones[QUANTITIES];
    MPI_Aint at[QUANTITIES];
    MPI_Datatype parts[QUANTITIES], box, type;

    MPI_Type_create_subarray(3, sizes, count, start, MPI_ORDER_C, MPI_FLOAT,
                             &box);
    for (int q = 0; q < QUANTITIES; q++) {
        ones[q] = 1;
        parts[q] = box;
        MPI_Get_address(work->array[q], &at[q]);
    }
    MPI_Type_create_struct(QUANTITIES, ones, at, parts, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&box);
    return type;
}

static void make_types(struct work *work)
{
    int start[3], count[3];

    for (int d = 0; d < DIRECTIONS; d++) {
        if (d == CENTRE)
            continue;
        ghost_box(&work->setup, d, start, count);
        work->receive_type[d] = make_type(work, start, count);
        /* the cells that fill the ghost box in direction 26 - d of neighbour
         * d */
        source_box(&work->setup, 26 - d, start, count);
        work->send_type[d] = make_type(work, start, count);
    }
}

static void *open_types(const struct setup *setup)
{
    struct work *work = open_work(setup, true);

    make_types(work);
    return work;
}

static void exchange_types(void *state)
{
    struct work *work = state;
    int n = 0;

    for (int d = 0; d < DIRECTIONS; d++)
        if (d != CENTRE)
            MPI_Irecv(MPI_BOTTOM, 1, work->receive_type[d],
                      neighbour(&work->setup, d), d, work->setup.grid,
                      &work->request[n++]);
    for (int d = 0; d < DIRECTIONS; d++)
        if (d != CENTRE)
            MPI_Isend(MPI_BOTTOM, 1, work->send_type[d],
                      neighbour(&work->setup, d), 26 - d, work->setup.grid,
                      &work->request[n++]);
    MPI_Waitall(n, work->request, MPI_STATUSES_IGNORE);
}

static void close_types(void *state)
{
    struct work *work = state;

    for (int d = 0; d < DIRECTIONS; d++)
        if (d != CENTRE) {
            MPI_Type_free(&work->receive_type[d]);
            MPI_Type_free(&work->send_type[d]);
        }
    close_work(work);
}

const struct peer peer_types = {"types", open_types, array_of, exchange_types,
                                close_types};

/* --- MPI_Neighbor_alltoallw --- */

/* Returns one type for `n` parts with absolute addresses. */
static MPI_Datatype join_types(int n, const MPI_Datatype *part)
{
    int ones[DIRECTIONS];
    MPI_Aint zeros[DIRECTIONS] = {0};
    MPI_Datatype type;

    for (int i = 0; i < n; i++)
        ones[i] = 1;
    MPI_Type_create_struct(n, ones, zeros, part, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Joins the types of all directions that lead to the rank `peer`. The peer's
 * direction 26 - d receives what direction d sends, so the parts of both sides
 * have the same order. */
static void join_directions(struct work *work, int peer, MPI_Datatype *send,
                            MPI_Datatype *receive)
{
    MPI_Datatype sent[DIRECTIONS], received[DIRECTIONS];
    int sends = 0, receives = 0;

    for (int d = 0; d < DIRECTIONS; d++)
        if (d != CENTRE && neighbour(&work->setup, d) == peer)
            sent[sends++] = work->send_type[d];
    for (int d = DIRECTIONS - 1; d >= 0; d--)
        if (d != CENTRE && neighbour(&work->setup, d) == peer)
            received[receives++] = work->receive_type[d];
    *send = join_types(sends, sent);
    *receive = join_types(receives, received);
}

static bool is_new_peer(const int *peer, int count, int rank)
{
    for (int i = 0; i < count; i++)
        if (peer[i] == rank)
            return false;
    return true;
}

/* Each neighbour is named once. MPI does not say which of several edges between
 * two ranks match, and MPICH 4.0 and 4.2 differ. The graph is made from
 * MPI_COMM_WORLD, which has the ranks of the grid: Open MPI 5.0 takes a graph
 * that is made from a grid for a grid. */
static void *open_alltoallw(const struct setup *setup)
{
    struct work *work = open_work(setup, true);
    int peer[DIRECTIONS], n = 0;
    MPI_Datatype send[DIRECTIONS], receive[DIRECTIONS];

    make_types(work);
    for (int d = 0; d < DIRECTIONS; d++) {
        int rank = neighbour(setup, d);

        if (d == CENTRE || !is_new_peer(peer, n, rank))
            continue;
        peer[n] = rank;
        join_directions(work, rank, &send[n], &receive[n]);
        work->ones[n++] = 1;
    }
    for (int d = 0; d < DIRECTIONS; d++)
        if (d != CENTRE) {
            MPI_Type_free(&work->send_type[d]);
            MPI_Type_free(&work->receive_type[d]);
        }
    memcpy(work->send_type, send, sizeof send);
    memcpy(work->receive_type, receive, sizeof receive);
    work->count = n;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, peer, MPI_UNWEIGHTED, n,
                                   peer, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &work->graph);
    return work;
}

static void exchange_alltoallw(void *state)
{
    struct work *work = state;

    MPI_Neighbor_alltoallw(MPI_BOTTOM, work->ones, work->zeros, work->send_type,
                           MPI_BOTTOM, work->ones, work->zeros,
                           work->receive_type, work->graph);
}

static void close_alltoallw(void *state)
{
    struct work *work = state;

    for (int d = 0; d < work->count; d++) {
        MPI_Type_free(&work->receive_type[d]);
        MPI_Type_free(&work->send_type[d]);
    }
    MPI_Comm_free(&work->graph);
    close_work(work);
}

const struct peer peer_alltoallw = {"alltoallw", open_alltoallw, array_of,
                                    exchange_alltoallw, close_alltoallw};

/* --- packing loops, one message per direction --- */

static size_t volume(const int count[3])
{
    return (size_t)count[0] * count[1] * count[2];
}

static void *open_naive(const struct setup *setup)
{
    struct work *work = open_work(setup, true);
    int start[3], count[3];

    for (int d = 0; d < DIRECTIONS; d++) {
        ghost_box(setup, d, start, count);
        work->send[d] = malloc(volume(count) * QUANTITIES * sizeof(float));
        work->receive[d] = malloc(volume(count) * QUANTITIES * sizeof(float));
    }
    return work;
}

static void pack(const struct work *work, const int start[3],
                 const int count[3], float *out)
{
    size_t padded = (size_t)work->setup.padded;

    for (int q = 0; q < QUANTITIES; q++)
        for (int z = start[0]; z < start[0] + count[0]; z++)
            for (int y = start[1]; y < start[1] + count[1]; y++)
                for (int x = start[2]; x < start[2] + count[2]; x++)
                    *out++ =
                        work->array[q][((size_t)z * padded + y) * padded + x];
}

static void unpack(struct work *work, const int start[3], const int count[3],
                   const float *in)
{
    size_t padded = (size_t)work->setup.padded;

    for (int q = 0; q < QUANTITIES; q++)
        for (int z = start[0]; z < start[0] + count[0]; z++)
            for (int y = start[1]; y < start[1] + count[1]; y++)
                for (int x = start[2]; x < start[2] + count[2]; x++)
                    work->array[q][((size_t)z * padded + y) * padded + x] =
                        *in++;
}

static void exchange_naive(void *state)
{
    struct work *work = state;
    const struct setup *setup = &work->setup;
    int start[3], count[3], n = 0;

    for (int d = 0; d < DIRECTIONS; d++) {
        if (d == CENTRE)
            continue;
        ghost_box(setup, d, start, count);
        MPI_Irecv(work->receive[d], (int)(volume(count) * QUANTITIES),
                  MPI_FLOAT, neighbour(setup, d), d, setup->grid,
                  &work->request[n++]);
    }
    for (int d = 0; d < DIRECTIONS; d++) {
        if (d == CENTRE)
            continue;
        source_box(setup, 26 - d, start, count);
        pack(work, start, count, work->send[d]);
        MPI_Isend(work->send[d], (int)(volume(count) * QUANTITIES), MPI_FLOAT,
                  neighbour(setup, d), 26 - d, setup->grid,
                  &work->request[n++]);
    }
    MPI_Waitall(n, work->request, MPI_STATUSES_IGNORE);
    for (int d = 0; d < DIRECTIONS; d++)
        if (d != CENTRE) {
            ghost_box(setup, d, start, count);
            unpack(work, start, count, work->receive[d]);
        }
}

const struct peer peer_naive = {"naive packing", open_naive, array_of,
                                exchange_naive, close_work};

/* --- three phases, six messages --- */

static void *open_phases(const struct setup *setup)
{
    struct work *work = open_work(setup, true);
    size_t most = (size_t)setup->padded * setup->padded * setup->radius *
                  QUANTITIES * sizeof(float);

    for (int d = 0; d < 2; d++) {
        work->send[d] = malloc(most);
        work->receive[d] = malloc(most);
    }
    return work;
}

/* The box of a phase on a side, where side 0 is the lower one. The box includes
 * the ghost cells along the axes after this one. */
static void phase_box(const struct setup *setup, int axis, int first,
                      int start[3], int count[3])
{
    for (int i = 0; i < 3; i++) {
        start[i] = i > axis ? 0 : setup->radius;
        count[i] = i > axis ? setup->padded : setup->n;
    }
    start[axis] = first;
    count[axis] = setup->radius;
}

static void exchange_phase(struct work *work, int axis)
{
    const struct setup *setup = &work->setup;
    static const int power[3] = {9, 3, 1};
    int r = setup->radius, n = setup->n, start[3], count[3];
    int source[2] = {r, n}, ghost[2] = {0, n + r};
    int to[2] = {neighbour(setup, CENTRE - power[axis]),
                 neighbour(setup, CENTRE + power[axis])};

    for (int side = 0; side < 2; side++) {
        phase_box(setup, axis, ghost[side], start, count);
        MPI_Irecv(work->receive[side], (int)(volume(count) * QUANTITIES),
                  MPI_FLOAT, to[side], side, setup->grid, &work->request[side]);
    }
    for (int side = 0; side < 2; side++) {
        phase_box(setup, axis, source[side], start, count);
        pack(work, start, count, work->send[side]);
        MPI_Isend(work->send[side], (int)(volume(count) * QUANTITIES),
                  MPI_FLOAT, to[side], !side, setup->grid,
                  &work->request[2 + side]);
    }
    MPI_Waitall(4, work->request, MPI_STATUSES_IGNORE);
    for (int side = 0; side < 2; side++) {
        phase_box(setup, axis, ghost[side], start, count);
        unpack(work, start, count, work->receive[side]);
    }
}

static void exchange_phases(void *state)
{
    for (int axis = 2; axis >= 0; axis--)
        exchange_phase(state, axis);
}

const struct peer peer_phases = {"three-phase", open_phases, array_of,
                                 exchange_phases, close_work};

/* --- copies from the neighbour's array in a shared window --- */

static void map_neighbour(struct work *work, int d, size_t bytes)
{
    MPI_Aint size;
    int unit;
    char *start;

    MPI_Win_shared_query(work->window, neighbour(&work->setup, d), &size, &unit,
                         &start);
    for (int q = 0; q < QUANTITIES; q++)
        work->theirs[d][q] = (float *)(start + q * bytes);
}

static void *open_direct(const struct setup *setup)
{
    struct work *work;
    size_t bytes = (cells(setup) * sizeof(float) + 63) / 64 * 64;
    MPI_Comm node;
    int together;
    char *start;

    MPI_Comm_split_type(setup->grid, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &node);
    MPI_Comm_size(node, &together);
    MPI_Comm_free(&node);
    if (together != setup->size)
        return NULL;
    work = open_work(setup, false);
    MPI_Win_allocate_shared((MPI_Aint)(QUANTITIES * bytes), 1, MPI_INFO_NULL,
                            setup->grid, &start, &work->window);
    for (int q = 0; q < QUANTITIES; q++)
        work->array[q] = (float *)(start + q * bytes);
    for (int d = 0; d < DIRECTIONS; d++)
        map_neighbour(work, d, bytes);
    return work;
}

static void copy_direction(struct work *work, int d)
{
    size_t padded = (size_t)work->setup.padded;
    int from[3], to[3], count[3];

    ghost_box(&work->setup, d, to, count);
    source_box(&work->setup, d, from, count);
    for (int q = 0; q < QUANTITIES; q++)
        for (int z = 0; z < count[0]; z++)
            for (int y = 0; y < count[1]; y++)
                memcpy(
                    &work->array[q][((size_t)(to[0] + z) * padded + to[1] + y) *
                                        padded +
                                    to[2]],
                    &work->theirs[d][q][((size_t)(from[0] + z) * padded +
                                         from[1] + y) *
                                            padded +
                                        from[2]],
                    (size_t)count[2] * sizeof(float));
}

static void exchange_direct(void *state)
{
    struct work *work = state;

    MPI_Barrier(work->setup.grid);
    for (int d = 0; d < DIRECTIONS; d++)
        if (d != CENTRE)
            copy_direction(work, d);
    MPI_Barrier(work->setup.grid);
}

static void close_direct(void *state)
{
    struct work *work = state;

    MPI_Win_free(&work->window);
    close_work(work);
}

const struct peer peer_direct = {"direct copy", open_direct, array_of,
                                 exchange_direct, close_direct};
