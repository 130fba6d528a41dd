/* SPDX-License-Identifier: BSD-3-Clause */
/* The faster forms of collective calls, as an earlier program measured. */
#ifndef NW_MESSAGES_ALGORITHM_CACHE_H
#define NW_MESSAGES_ALGORITHM_CACHE_H

#include "runtime/messages/algorithms.h"

/* Collective. */
void nw_algorithm_cache_open(struct nw_algorithm_cache *known,
                             struct nw_algorithm_comm *record,
                             nw_channel *channel);
/* Merges the results into the file. Only rank 0 writes. */
void nw_algorithm_cache_save(const struct nw_algorithm_cache *known);

#endif
