/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A double of an MPI whose requests end in errors: preloaded behind the library
 * under test. While faulty_ends is set each request that ends has failed, and
 * is left as this MPI leaves those: Open MPI frees persistent ones, too.
 */
#include <mpi.h>

#include <dlfcn.h>

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

static int wait_for(const char *name, MPI_Request *request, MPI_Status *status)
{
    int (*next)(MPI_Request *, MPI_Status *), rc;

    *(void **)&next = dlsym(RTLD_NEXT, name);
    rc = next(request, status);
    return faulty_ends ? fail(request) : rc;
}

static int test(const char *name, MPI_Request *request, int *flag,
                MPI_Status *status)
{
    int (*next)(MPI_Request *, int *, MPI_Status *), rc;

    *(void **)&next = dlsym(RTLD_NEXT, name);
    rc = next(request, flag, status);
    return faulty_ends && *flag ? fail(request) : rc;
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
