/* SPDX-License-Identifier: BSD-3-Clause */
/* The faster forms of collective calls, as an earlier program measured. */
#ifndef NW_MESSAGES_ALGORITHM_CACHE_H
#define NW_MESSAGES_ALGORITHM_CACHE_H

#include "runtime/messages/algorithms.h"
#include "base/selector.h"

enum { NW_CLASSES = 32 /* size classes: powers of two */ };
enum { NW_BY_HOST, NW_BY_CHANNEL, NW_BY_NONE };

/* Equal on all ranks of a communicator, except `path`, which only rank 0 may
 * have. */
struct nw_algorithm_cache {
    bool open;
    char *path;
    unsigned char form[NW_CALLS][NW_CLASSES];
};
/* Collective. */
void nw_algorithm_cache_open(struct nw_algorithm_cache *known,
                             struct nw_algorithm_choice *meet,
                             nw_channel *channel);
/* Merges the results into the file. Only rank 0 writes. */
void nw_algorithm_cache_save(const struct nw_algorithm_cache *known);
void nw_algorithm_cache_close(struct nw_algorithm_cache *known);

#endif
