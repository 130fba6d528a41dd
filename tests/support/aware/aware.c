/* SPDX-License-Identifier: BSD-3-Clause */
/* A test double of an MPI library that accepts GPU memory. It is preloaded,
 * answers that it supports CUDA, and replaces the address of each buffer in GPU
 * memory by the address where the double of the driver keeps the bytes. It
 * covers blocking and nonblocking messages and the collective calls in their
 * blocking and nonblocking forms, under the names MPI_* and PMPI_*.
 * AWARE_COST_US is the time in microseconds that each buffer in GPU memory
 * costs. */
#include <mpi.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void)
{
    return 1;
}

/* The time of the monotonic clock in microseconds. */
static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/* Returns the address at which the host can access the bytes of the buffer: the
 * buffer itself unless it is in GPU memory. For GPU memory, it also waits until
 * earlier copies are complete and for the time that AWARE_COST_US sets. */
static void *real(const void *buffer)
{
    static void *(*find)(const void *);
    static int (*settle)(void *);
    const char *cost = getenv("AWARE_COST_US");
    void *driver, *memory;
    double start = now_us();

    if (!find) {
        driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        if (driver)
            *(void **)&find = dlsym(driver, "fake_cuda_real");
        if (driver)
            *(void **)&settle = dlsym(driver, "cuStreamSynchronize");
    }
    memory = find ? find(buffer) : (void *)buffer;
    if (memory != buffer && settle) /* copies from pageable memory are
                                       complete only then */
        (void)settle(NULL);
    while (memory != buffer && cost && now_us() - start < atof(cost))
        continue;
    return memory;
}

/* Defines the call under both names; each of the two goes on to the next
 * definition of the same name, the one of the MPI library. */
#define BOTH(name, params, args)                                               \
    int MPI_##name params                                                      \
    {                                                                          \
        int(*next) params;                                                     \
        *(void **)&next = dlsym(RTLD_NEXT, "MPI_" #name);                      \
        return next args;                                                      \
    }                                                                          \
    int PMPI_##name params                                                     \
    {                                                                          \
        int(*next) params;                                                     \
        *(void **)&next = dlsym(RTLD_NEXT, "PMPI_" #name);                     \
        return next args;                                                      \
    }

BOTH(Send,
     (const void *buffer, int count, MPI_Datatype type, int to, int tag,
      MPI_Comm comm),
     (real(buffer), count, type, to, tag, comm))
BOTH(Recv,
     (void *buffer, int count, MPI_Datatype type, int from, int tag,
      MPI_Comm comm, MPI_Status *status),
     (real(buffer), count, type, from, tag, comm, status))
BOTH(Isend,
     (const void *buffer, int count, MPI_Datatype type, int to, int tag,
      MPI_Comm comm, MPI_Request *request),
     (real(buffer), count, type, to, tag, comm, request))
BOTH(Irecv,
     (void *buffer, int count, MPI_Datatype type, int from, int tag,
      MPI_Comm comm, MPI_Request *request),
     (real(buffer), count, type, from, tag, comm, request))

BOTH(Bcast,
     (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
     (real(buffer), count, type, root, comm))
BOTH(Gather,
     (const void *from, int count, MPI_Datatype type, void *into, int counts,
      MPI_Datatype types, int root, MPI_Comm comm),
     (real(from), count, type, real(into), counts, types, root, comm))
BOTH(Allgather,
     (const void *from, int count, MPI_Datatype type, void *into, int counts,
      MPI_Datatype types, MPI_Comm comm),
     (real(from), count, type, real(into), counts, types, comm))
BOTH(Alltoall,
     (const void *from, int count, MPI_Datatype type, void *into, int counts,
      MPI_Datatype types, MPI_Comm comm),
     (real(from), count, type, real(into), counts, types, comm))
BOTH(Reduce,
     (const void *from, void *into, int count, MPI_Datatype type, MPI_Op op,
      int root, MPI_Comm comm),
     (real(from), real(into), count, type, op, root, comm))
BOTH(Allreduce,
     (const void *from, void *into, int count, MPI_Datatype type, MPI_Op op,
      MPI_Comm comm),
     (real(from), real(into), count, type, op, comm))
