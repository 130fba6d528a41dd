/* SPDX-License-Identifier: BSD-3-Clause */
/* The time that a program spends in the MPI calls of the applications,
 * including those of its libraries: the definitions in this program take
 * precedence. */
#include "nas.h"

static double begun, took;
static int counts;

void messages_begin(void)
{
    took = 0;
    counts = 1;
}

void messages_end(void)
{
    counts = 0;
}

double messages_took(void)
{
    return took;
}

static void enter(void)
{
    begun = PMPI_Wtime();
}

static int leave(int code)
{
    if (counts)
        took += PMPI_Wtime() - begun;
    return code;
}

#define WRAP(name, params, args)                                               \
    int MPI_##name params                                                      \
    {                                                                          \
        enter();                                                               \
        return leave(PMPI_##name args);                                        \
    }

WRAP(Send,
     (const void *data, int n, MPI_Datatype type, int to, int tag,
      MPI_Comm comm),
     (data, n, type, to, tag, comm))
WRAP(Isend,
     (const void *data, int n, MPI_Datatype type, int to, int tag,
      MPI_Comm comm, MPI_Request *request),
     (data, n, type, to, tag, comm, request))
WRAP(Rsend,
     (const void *data, int n, MPI_Datatype type, int to, int tag,
      MPI_Comm comm),
     (data, n, type, to, tag, comm))
WRAP(Recv,
     (void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
      MPI_Status *status),
     (data, n, type, from, tag, comm, status))
WRAP(Irecv,
     (void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
      MPI_Request *request),
     (data, n, type, from, tag, comm, request))
WRAP(Sendrecv,
     (const void *data, int n, MPI_Datatype type, int to, int tag, void *in,
      int m, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
      MPI_Status *status),
     (data, n, type, to, tag, in, m, in_type, from, in_tag, comm, status))
WRAP(Wait, (MPI_Request * request, MPI_Status *status), (request, status))
WRAP(Waitall, (int n, MPI_Request *request, MPI_Status *status),
     (n, request, status))
WRAP(Waitany, (int n, MPI_Request *request, int *which, MPI_Status *status),
     (n, request, which, status))
WRAP(Barrier, (MPI_Comm comm), (comm))
WRAP(Bcast, (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm),
     (data, n, type, root, comm))
WRAP(Reduce,
     (const void *data, void *out, int n, MPI_Datatype type, MPI_Op op,
      int root, MPI_Comm comm),
     (data, out, n, type, op, root, comm))
WRAP(Allreduce,
     (const void *data, void *out, int n, MPI_Datatype type, MPI_Op op,
      MPI_Comm comm),
     (data, out, n, type, op, comm))
WRAP(Scan,
     (const void *data, void *out, int n, MPI_Datatype type, MPI_Op op,
      MPI_Comm comm),
     (data, out, n, type, op, comm))
WRAP(Allgather,
     (const void *data, int n, MPI_Datatype type, void *out, int m,
      MPI_Datatype out_type, MPI_Comm comm),
     (data, n, type, out, m, out_type, comm))
WRAP(Allgatherv,
     (const void *data, int n, MPI_Datatype type, void *out, const int *m,
      const int *place, MPI_Datatype out_type, MPI_Comm comm),
     (data, n, type, out, m, place, out_type, comm))
