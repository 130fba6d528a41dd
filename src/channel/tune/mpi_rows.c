/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the size from which GPU messages of an MPI go directly from
 * GPU to GPU. It is measured under the MPI's launcher and kept with the
 * thresholds of channels. */
#include "channel/tune/thresholds.h"

#include "base/file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static void situate(const char *provider, struct nw_situation *out)
{
    *out = (struct nw_situation){.gpu = {true, true},
                                 .locality = NW_LOCAL_SOCKET,
                                 .regime = NW_REGIME_LATENCY};
    snprintf(out->provider, sizeof out->provider, "%s", provider);
}

static struct nw_step step(uint64_t bytes, int protocol)
{
    return (struct nw_step){
        bytes, {(enum nw_channel_protocol)protocol, NW_CHANNEL_COPY_AUTO}};
}

nw_status nw_mpi_rows_write(const char *provider, uint64_t from, char **out)
{
    struct nw_choice choice = {.count = 1, .step = {step(INT_MAX, NW_STAGED)}};
    struct nw_thresholds table = {0};
    struct nw_situation of;
    nw_status status;

    if (from < INT_MAX)
        choice = (struct nw_choice){
            2, {step(from - 1, NW_STAGED), step(INT_MAX, NW_STRAIGHT)}};
    situate(provider, &of);
    status = nw_thresholds_add(&table, &of, &choice);
    if (!status)
        status = nw_thresholds_write(&table, out);
    nw_thresholds_fini(&table);
    return status;
}

/* The first size after the last staged step. */
static uint64_t from_of(const struct nw_choice *choice)
{
    int i = 0;

    while (i < choice->count &&
           (int)choice->step[i].way.protocol != NW_STRAIGHT)
        i++;
    if (i == choice->count)
        return INT_MAX;
    return i ? choice->step[i - 1].bytes + 1 : 1;
}

bool nw_mpi_rows_find(const char *provider, uint64_t *from)
{
    struct nw_thresholds table = {0};
    const struct nw_choice *found = NULL;
    char *path = NULL, *text = NULL;
    struct nw_situation of;
    size_t length;

    situate(provider, &of);
    if (!nw_thresholds_path(&path) &&
        !nw_file_read_text(path, &text, &length) &&
        !nw_thresholds_parse(path, text, &table))
        found = nw_thresholds_find(&table, &of);
    if (found)
        *from = from_of(found);
    nw_thresholds_fini(&table);
    free(text);
    free(path);
    return found != NULL;
}
