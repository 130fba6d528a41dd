/* SPDX-License-Identifier: BSD-3-Clause */
/* Small messages that a NIC reads from a GPU. Only nw_nic_read_may may be
 * called by several threads concurrently. */
#ifndef NW_MESSAGES_NIC_READ_H
#define NW_MESSAGES_NIC_READ_H

#include "runtime/messages/copy_path.h"

/* `copy`: the copy path that the user selected, or NULL. */
void nw_nic_read_start(const char *copy);
/* False if the NIC cannot be used for this copy. */
bool nw_nic_read_may(const struct nw_path_copy *haul);
/* Whether the NIC makes the copy. The driver must keep the allocation in step.
 * If *timed, the caller reports the time of the copy on any path. */
bool nw_nic_read_pick(const struct nw_path_copy *haul, bool *timed);
void nw_nic_read_took(const struct nw_path_copy *haul, bool pulled,
                      uint64_t ns);
/* False if the NIC cannot read this allocation. */
bool nw_nic_read_move(const struct nw_path_copy *haul);
void nw_nic_read_close(void);

#endif
