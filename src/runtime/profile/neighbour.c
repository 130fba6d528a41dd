/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records neighbourhood collectives: a rank sends to its destinations in the
 * communicator's topology. The destinations are looked up once and stored with
 * the communicator.
 */
#include "runtime/profile/collective.h"

#include "runtime/gpu_memory.h"

#include <stdlib.h>

static bool neighbour_make_room(struct nw_comm *comm, int count)
{
    comm->target = malloc((size_t)(count + 1) * sizeof *comm->target);
    comm->target_count = comm->target ? count : 0;
    return comm->target;
}

/* Stores two destinations for each dimension: the neighbour below, then the
 * neighbour above. */
static void find_cart(struct nw_comm *comm, MPI_Comm handle)
{
    int dimensions = 0, below, above;

    if (NW_PMPI(Cartdim_get)(handle, &dimensions) ||
        !neighbour_make_room(comm, 2 * dimensions))
        return;
    for (int d = 0; d < dimensions; d++) {
        NW_PMPI(Cart_shift)(handle, d, 1, &below, &above);
        comm->target[2 * d] = below;
        comm->target[2 * d + 1] = above;
    }
}

static void find_graph(struct nw_comm *comm, MPI_Comm handle)
{
    int count = 0;

    if (!NW_PMPI(Graph_neighbors_count)(handle, comm->rank, &count) &&
        neighbour_make_room(comm, count))
        NW_PMPI(Graph_neighbors)(handle, comm->rank, count, comm->target);
}

static void find_dist_graph(struct nw_comm *comm, MPI_Comm handle)
{
    int in = 0, out = 0, weighted, *source;

    if (NW_PMPI(Dist_graph_neighbors_count)(handle, &in, &out, &weighted) ||
        !neighbour_make_room(comm, out))
        return;
    /* MPI also writes weights if the graph has them */
    source = malloc((size_t)(2 * in + out + 1) * sizeof *source);
    if (source)
        NW_PMPI(Dist_graph_neighbors)
    (handle, in, source, source + in, out, comm->target, source + 2 * in);
    else comm->target_count = 0;
    free(source);
}

/* Looks up the destinations of this rank. Needs no lock, since a program makes
 * only one collective call at a time on a communicator. */
static void find_targets(struct nw_comm *comm, MPI_Comm handle)
{
    int kind = MPI_UNDEFINED;

    NW_PMPI(Topo_test)(handle, &kind);
    if (kind == MPI_CART)
        find_cart(comm, handle);
    else if (kind == MPI_GRAPH)
        find_graph(comm, handle);
    else if (kind == MPI_DIST_GRAPH)
        find_dist_graph(comm, handle);
    comm->has_targets = true;
}

static struct nw_comm *neighbour_begin(MPI_Comm handle)
{
    struct nw_comm *comm = nw_record_wanted() ? nw_comm_find(handle) : NULL;

    if (comm && !comm->has_targets)
        find_targets(comm, handle);
    return comm;
}

static int neighbour_sides(const void *from, const void *to)
{
    return nw_edge_class(nw_gpu_holds(from), nw_gpu_holds(to));
}

void nw_neighbours_gathered(struct nw_data sent, const void *received,
                            MPI_Comm handle)
{
    struct nw_comm *comm = neighbour_begin(handle);

    for (int i = 0; comm && i < comm->target_count; i++)
        nw_record_edge(comm, comm->target[i],
                       neighbour_sides(sent.at, received), nw_data_bytes(sent));
}

void nw_neighbours_exchanged(struct nw_vector sent, const void *received,
                             MPI_Comm handle)
{
    struct nw_comm *comm = neighbour_begin(handle);

    for (int i = 0; comm && i < comm->target_count; i++) {
        struct nw_data block = {sent.at, nw_vector_count(&sent, i),
                                sent.types ? sent.types[i] : sent.type};

        /* MPI_PROC_NULL: the datatype may be invalid */
        if (comm->target[i] < 0)
            continue;
        nw_record_edge(comm, comm->target[i],
                       neighbour_sides(sent.at, received),
                       nw_data_bytes(block));
    }
}
