/* SPDX-License-Identifier: BSD-3-Clause */
/* One message for all of them, of one size whatever is set. */
#include "runtime/first.h"

#include "runtime/flavour.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    "NODEWISE_RECORD",     "NODEWISE_GPU_MESSAGES", "NODEWISE_GPU_COLLECTIVES",
    "NODEWISE_GPU_DIRECT", "NODEWISE_GPU_TUNE",
};
#define COUNT (sizeof names / sizeof *names)

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

void nw_first_read(void)
{
    int rank = 0;

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
