/* SPDX-License-Identifier: BSD-3-Clause */
/* Small messages read out of a GPU by an adapter. Of one thread at a time, but
 * for nw_nic_read_may. */
#ifndef NW_MESSAGES_NIC_READ_H
#define NW_MESSAGES_NIC_READ_H

#include "runtime/messages/copy_path.h"

/* `copy`: the way that is asked for, or NULL. */
void nw_nic_read_start(const char *copy);
/* False: the adapter is certainly not used; do not ask further. */
bool nw_nic_read_may(const struct nw_path_copy *haul);
/* Whether the adapter is to do it, of an allocation that the driver keeps in
 * step; where *timed, the time it took, by whichever way, is to be told. */
bool nw_nic_read_pick(const struct nw_path_copy *haul, bool *timed);
void nw_nic_read_took(const struct nw_path_copy *haul, bool pulled,
                      uint64_t ns);
/* False: it cannot, of this allocation. */
bool nw_nic_read_move(const struct nw_path_copy *haul);
void nw_nic_read_close(void);

#endif
