/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds how many blocks the buffers of a collective call have on this rank. */
#include "runtime/messages/messages.h"

static bool is_between(MPI_Comm comm)
{
    int between = 0;

    NW_PMPI(Comm_test_inter)(comm, &between);
    return between;
}

int64_t nw_shape_size(MPI_Comm comm)
{
    int size = 0;

    if (is_between(comm))
        NW_PMPI(Comm_remote_size)(comm, &size);
    else
        NW_PMPI(Comm_size)(comm, &size);
    return size;
}

int64_t nw_shape_group(MPI_Comm comm)
{
    int size = 0;

    NW_PMPI(Comm_size)(comm, &size);
    return size;
}

static int collective_shape_rank_of(MPI_Comm comm)
{
    int rank = -1;

    NW_PMPI(Comm_rank)(comm, &rank);
    return rank;
}

bool nw_shape_is_root(MPI_Comm comm, int root)
{
    return is_between(comm) ? root == MPI_ROOT
                            : root == collective_shape_rank_of(comm);
}

bool nw_shape_is_outside(MPI_Comm comm, int root)
{
    (void)comm;
    return root == MPI_PROC_NULL;
}

static void count_neighbours(MPI_Comm comm, int *in, int *out)
{
    int kind = MPI_UNDEFINED, weighted;

    *in = *out = 0;
    NW_PMPI(Topo_test)(comm, &kind);
    if (kind == MPI_CART) {
        NW_PMPI(Cartdim_get)(comm, in);
        *in *= 2;
        *out = *in;
    } else if (kind == MPI_GRAPH) {
        NW_PMPI(Graph_neighbors_count)
        (comm, collective_shape_rank_of(comm), in);
        *out = *in;
    } else if (kind == MPI_DIST_GRAPH) {
        NW_PMPI(Dist_graph_neighbors_count)(comm, in, out, &weighted);
    }
}

int64_t nw_shape_in(MPI_Comm comm)
{
    int in, out;

    count_neighbours(comm, &in, &out);
    return in;
}

int64_t nw_shape_out(MPI_Comm comm)
{
    int in, out;

    count_neighbours(comm, &in, &out);
    return out;
}

/* Returns the sum of the counts[] of all ranks of the local group, for
 * MPI_Reduce_scatter. Each count has count_size bytes. */
int64_t nw_shape_sum(MPI_Comm comm, const void *counts, size_t count_size)
{
    int64_t size = nw_shape_group(comm), sum = 0;

    for (int64_t i = 0; i < size; i++)
        sum += nw_number_at(counts, count_size, i);
    return sum;
}

int64_t nw_shape_rank_count(MPI_Comm comm, const void *counts, size_t size)
{
    return nw_number_at(counts, size, collective_shape_rank_of(comm));
}

void *nw_shape_place(const void *buffer, const void *places, size_t size,
                     MPI_Datatype type)
{
    MPI_Aint lb, extent = 0;

    if (type != MPI_DATATYPE_NULL)
        NW_PMPI(Type_get_extent)(type, &lb, &extent);
    extent *= (MPI_Aint)nw_number_at(places, size, 0);
    return (void *)((uintptr_t)buffer + (uintptr_t)extent);
}

int nw_shape_not_copied(MPI_Comm comm, int key, void *extra, void *in,
                        void *out, int *flag)
{
    (void)comm;
    (void)key;
    (void)extra;
    (void)in;
    (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}
