/* SPDX-License-Identifier: BSD-3-Clause */
/* The two ways of bytes between the host and a GPU: the driver's copy, and the
 * CPU's own loads and stores through a mapping of GPU memory
 * (channel/memory.h), which for small messages take a fraction of it. */
#ifndef NW_MESSAGES_WAYS_H
#define NW_MESSAGES_WAYS_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>

/* One piece, with its GPU current; done on return. */
NW_MUST_CHECK nw_status nw_ways_move(bool out, char *device, char *host,
                                     size_t bytes);
void nw_ways_close(void);

#endif
