/* SPDX-License-Identifier: BSD-3-Clause */
/* One message for all of them, of one size whatever is set; ahead of it all
 * ranks meet. */
#include "runtime/first.h"

#include "runtime/flavour.h"
#include "runtime/warn.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    "NODEWISE_RECORD",     "NODEWISE_GPU_MESSAGES", "NODEWISE_GPU_COLLECTIVES",
    "NODEWISE_GPU_DIRECT", "NODEWISE_GPU_TUNE",
};
#define COUNT (sizeof names / sizeof *names)
/* Ranks leave the MPI library's MPI_Init nearly together. */
enum { PATIENCE_S = 10 };

/* A length for each, and one value behind the other. */
static struct {
    int length[COUNT]; /* without its NUL */
    char text[2 * PATH_MAX];
} all;

static void collect(void)
{
    char *at = all.text;

    for (size_t i = 0; i < COUNT; i++) {
        const char *value = getenv(names[i]);
        size_t length = value ? strlen(value) : 0;

        if (!length || length >= (size_t)(all.text + sizeof all.text - at))
            continue;
        memcpy(at, value, length);
        all.length[i] = (int)length;
        at += length + 1;
    }
}

/* A rank without this library would take the message for one of the program's
 * (Open MPI 4.1 gave its MPI_Bcast our bytes). So nobody goes on before all are
 * here, and who waits for long says so. */
static void meet(void)
{
    double begun = NW_PMPI(Wtime)();
    MPI_Request request;
    int done = 0;

    if (NW_PMPI(Ibarrier)(MPI_COMM_WORLD, &request))
        return;
    while (!done && NW_PMPI(Wtime)() - begun < PATIENCE_S) {
        if (NW_PMPI(Test)(&request, &done, MPI_STATUS_IGNORE))
            return;
        sched_yield();
    }
    if (done)
        return;
    nw_warn("MPI_Init still waits for other ranks after %d s: all of them must "
            "have this library (LD_PRELOAD), or none",
            PATIENCE_S);
    NW_PMPI(Wait)(&request, MPI_STATUS_IGNORE);
}

void nw_first_read(void)
{
    int rank = 0;

    meet();
    NW_PMPI(Comm_rank)(MPI_COMM_WORLD, &rank);
    if (!rank)
        collect();
    if (NW_PMPI(Bcast)(&all, (int)sizeof all, MPI_BYTE, 0, MPI_COMM_WORLD))
        memset(&all, 0, sizeof all);
}

const char *nw_first_variable(const char *name)
{
    const char *at = all.text;

    for (size_t i = 0; i < COUNT; i++) {
        if (!strcmp(names[i], name))
            return all.length[i] ? at : NULL;
        at += all.length[i] + (all.length[i] > 0);
    }
    return NULL;
}
