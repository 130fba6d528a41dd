/* SPDX-License-Identifier: BSD-3-Clause */
/* Forms of collective calls that an earlier program has measured. */
#ifndef NW_MESSAGES_ALGORITHM_CACHE_H
#define NW_MESSAGES_ALGORITHM_CACHE_H

#include "runtime/messages/algorithms.h"
#include "base/selector.h"

enum { NW_CLASSES = 32 /* of sizes, by powers of two */ };
enum { NW_BY_HOST, NW_BY_CHANNEL, NW_BY_NONE };

/* The same at all ranks of a communicator, but for the path, which rank 0 has
 * where there is one. */
struct nw_algorithm_cache {
    bool open;
    char *path;
    unsigned char form[NW_CALLS][NW_CLASSES];
};
/* Collective. */
void nw_algorithm_cache_open(struct nw_algorithm_cache *known,
                             struct nw_algorithm_choice *meet,
                             nw_channel *channel);
/* Puts it with what the file has by now; at rank 0, elsewhere without effect.
 */
void nw_algorithm_cache_save(const struct nw_algorithm_cache *known);
void nw_algorithm_cache_close(struct nw_algorithm_cache *known);

#endif
