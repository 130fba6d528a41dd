/* SPDX-License-Identifier: BSD-3-Clause */
/* Frees the buffers of staged arguments, and makes small buffers for envelopes.
 * The small buffer that was freed last is kept for reuse. */
#include "runtime/messages/staging.h"

#include <stdlib.h>

struct small {
    struct nw_buffer buffer; /* must be the first member */
    struct nw_host host;
    char memory[NW_ENVELOPE];
};
/* The small buffer that was freed last, for reuse; NULL: no buffer is kept. */
static struct small *spare;

struct nw_buffer *nw_buffer_small(void)
{
    struct small *small = __atomic_exchange_n(&spare, NULL, __ATOMIC_ACQ_REL);

    if (!small)
        small = malloc(sizeof *small);
    if (!small)
        return NULL;
    small->host =
        (struct nw_host){.memory = small->memory, .bytes = NW_ENVELOPE};
    small->buffer = (struct nw_buffer){.host = &small->host, .small = true};
    return &small->buffer;
}

static void small_give(struct nw_buffer *buffer)
{
    struct small *small = (struct small *)(void *)buffer;

    free(__atomic_exchange_n(&spare, small, __ATOMIC_ACQ_REL));
}

void nw_buffers_close(void)
{
    free(__atomic_exchange_n(&spare, NULL, __ATOMIC_ACQ_REL));
}

void nw_buffer_free(struct nw_buffer *buffer)
{
    if (buffer && buffer->small) {
        small_give(buffer);
        return;
    }
    if (!buffer)
        return;
    for (size_t i = 0; i < buffer->parts; i++)
        nw_typemap_drop(buffer->part[i].layout);
    nw_pinned_cache_give(buffer->host);
    free(buffer->slot);
    if (buffer->part != &buffer->only)
        free(buffer->part);
    free(buffer);
}
