/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes in one line which ranks ran on which host, for the profile of a run
 * on several hosts. */
#include "runtime/profile/hosts.h"

#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME 64

/* Returns a line such as "ranks by host n1 0-1, n2 2-3", which the caller
 * frees. Consecutive ranks of one host are joined. NULL if memory is exhausted.
 */
static char *hosts_describe(const char *names, int count)
{
    struct nw_text text = {0};
    char *out = NULL;

    nw_text_add(&text, "ranks by host");
    for (int first = 0, next; first < count; first = next) {
        const char *name = names + (size_t)first * NAME;

        for (next = first + 1;
             next < count && !strcmp(names + (size_t)next * NAME, name);)
            next++;
        nw_text_format(&text, first ? ", %s %d" : " %s %d", name, first);
        if (next > first + 1)
            nw_text_format(&text, "-%d", next - 1);
    }
    if (nw_text_take(&text, &out))
        return NULL;
    return out;
}

static bool is_one_host(const char *names, int count)
{
    for (int r = 1; r < count; r++)
        if (strcmp(names, names + (size_t)r * NAME))
            return false;
    return true;
}

char *nw_hosts_gather(MPI_Comm comm)
{
    char mine[NAME] = "", *names = NULL, *out = NULL;
    int rank, count, go = 1;

    NW_PMPI(Comm_rank)(comm, &rank);
    NW_PMPI(Comm_size)(comm, &count);
    gethostname(mine, sizeof mine - 1);
    if (!rank) {
        names = calloc((size_t)count, NAME);
        go = names != NULL;
    }
    NW_PMPI(Bcast)(&go, 1, MPI_INT, 0, comm);
    if (go)
        NW_PMPI(Gather)(mine, NAME, MPI_CHAR, names, NAME, MPI_CHAR, 0, comm);
    if (go && !rank && !is_one_host(names, count))
        out = hosts_describe(names, count);
    free(names);
    return out;
}

void nw_hosts_note(const char *hosts, char **note)
{
    struct nw_text text = {0};
    char *out = NULL;

    if (!hosts)
        return;
    if (*note)
        nw_text_format(&text, "%s; ", *note);
    nw_text_add(&text, hosts);
    if (nw_text_take(&text, &out))
        return;
    free(*note);
    *note = out;
}
