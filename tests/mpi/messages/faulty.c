/* SPDX-License-Identifier: BSD-3-Clause */
/* A test double of an MPI library whose requests end in errors; it is preloaded
 * behind the tested library. While faulty_ends is 1, each request that ends has
 * failed, and is left as this MPI library leaves failed requests: Open MPI also
 * frees persistent ones. While it is 2, tests fail at once and their requests
 * stay pending. With FAULTY_LATE_US, blocking receives and probes begin that
 * much later than they are called. With FAULTY_VERSION, the library is of that
 * version of MPI. */
#include <mpi.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

extern int faulty_ends;
int faulty_ends;

static int fail(MPI_Request *request)
{
    int (*next)(MPI_Request *);

    *(void **)&next = dlsym(RTLD_NEXT, "MPI_Request_free");
#ifdef OPEN_MPI
    if (*request != MPI_REQUEST_NULL)
        next(request);
#else
    (void)request;
#endif
    return MPI_ERR_OTHER;
}

/* Calls the next definition of the named wait; fails if faulty_ends is 1. */
static int wait_for(const char *name, MPI_Request *request, MPI_Status *status)
{
    int (*next)(MPI_Request *, MPI_Status *), rc;

    *(void **)&next = dlsym(RTLD_NEXT, name);
    rc = next(request, status);
    return faulty_ends == 1 ? fail(request) : rc;
}

/* Calls the next definition of the named test; fails as faulty_ends says. */
static int test(const char *name, MPI_Request *request, int *flag,
                MPI_Status *status)
{
    int (*next)(MPI_Request *, int *, MPI_Status *), rc;

    if (faulty_ends == 2)
        return MPI_ERR_OTHER;
    *(void **)&next = dlsym(RTLD_NEXT, name);
    rc = next(request, flag, status);
    return faulty_ends && *flag ? fail(request) : rc;
}

static int version_of(const char *name, int *version, int *subversion)
{
    const char *given = getenv("FAULTY_VERSION");
    int (*next)(int *, int *), rc;

    *(void **)&next = dlsym(RTLD_NEXT, name);
    rc = next(version, subversion);
    if (given)
        *version = atoi(given);
    return rc;
}

int MPI_Get_version(int *version, int *subversion)
{
    return version_of("MPI_Get_version", version, subversion);
}

int PMPI_Get_version(int *version, int *subversion)
{
    return version_of("PMPI_Get_version", version, subversion);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return wait_for("MPI_Wait", request, status);
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return wait_for("PMPI_Wait", request, status);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    return test("MPI_Test", request, flag, status);
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    return test("PMPI_Test", request, flag, status);
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int (*next)(int, MPI_Request *, MPI_Status *), rc;

    *(void **)&next = dlsym(RTLD_NEXT, "MPI_Waitall");
    rc = next(count, requests, statuses);
    if (!faulty_ends)
        return rc;
    for (int i = 0; i < count; i++)
        statuses[i].MPI_ERROR = fail(&requests[i]);
    return MPI_ERR_IN_STATUS;
}

int MPI_Waitany(int count, MPI_Request *requests, int *index,
                MPI_Status *status)
{
    int (*next)(int, MPI_Request *, int *, MPI_Status *), rc;

    *(void **)&next = dlsym(RTLD_NEXT, "MPI_Waitany");
    rc = next(count, requests, index, status);
    return faulty_ends && *index >= 0 ? fail(&requests[*index]) : rc;
}

int MPI_Waitsome(int count, MPI_Request *requests, int *done, int *indices,
                 MPI_Status *statuses)
{
    int (*next)(int, MPI_Request *, int *, int *, MPI_Status *), rc;

    *(void **)&next = dlsym(RTLD_NEXT, "MPI_Waitsome");
    rc = next(count, requests, done, indices, statuses);
    if (!faulty_ends || *done == MPI_UNDEFINED)
        return rc;
    for (int i = 0; i < *done; i++)
        statuses[i].MPI_ERROR = fail(&requests[indices[i]]);
    return MPI_ERR_IN_STATUS;
}

/* -- receives and probes that begin late -- */

static void be_late(void)
{
    const char *late = getenv("FAULTY_LATE_US");

    if (late)
        usleep((useconds_t)atoi(late));
}

#define LATE(name, params, args)                                               \
    int name params                                                            \
    {                                                                          \
        int(*next) params;                                                     \
                                                                               \
        *(void **)&next = dlsym(RTLD_NEXT, #name);                             \
        be_late();                                                             \
        return next args;                                                      \
    }

LATE(MPI_Irecv,
     (void *buffer, int count, MPI_Datatype type, int from, int tag,
      MPI_Comm comm, MPI_Request *request),
     (buffer, count, type, from, tag, comm, request))
LATE(MPI_Startall, (int count, MPI_Request *requests), (count, requests))

LATE(PMPI_Probe, (int from, int tag, MPI_Comm comm, MPI_Status *status),
     (from, tag, comm, status))

/* Also for MPI_Recv, which consists of two steps if several threads receive. */
#if MPI_VERSION < 4
LATE(PMPI_Irecv,
     (void *buffer, int count, MPI_Datatype type, int from, int tag,
      MPI_Comm comm, MPI_Request *request),
     (buffer, count, type, from, tag, comm, request))
#else
LATE(PMPI_Irecv_c,
     (void *buffer, MPI_Count count, MPI_Datatype type, int from, int tag,
      MPI_Comm comm, MPI_Request *request),
     (buffer, count, type, from, tag, comm, request))
#endif
