/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of small messages from a GPU to host memory by the NIC. Several
 * threads may call nw_nic_read_may at once; all other functions may be called
 * by only one thread at a time. */
#ifndef NW_MESSAGES_NIC_READ_H
#define NW_MESSAGES_NIC_READ_H

#include "runtime/messages/copy_path.h"

/* Prepares reads by the NIC. `copy` is the copy path that the user selected, or
 * NULL. */
void nw_nic_read_start(const char *copy);
/* Returns true if the NIC may be considered for this copy: its use is enabled,
 * and the copy is from a GPU and has at most NW_LOOPBACK_BYTES bytes. */
bool nw_nic_read_may(const struct nw_path_copy *descriptor);
/* Returns true if the NIC should make this copy. The caller must have called
 * keep_in_step (gpu.h) for the allocation. If *timed is set to true, the caller
 * must report the time of the copy by nw_nic_read_took, whichever path was
 * used. */
bool nw_nic_read_pick(const struct nw_path_copy *descriptor, bool *timed);
void nw_nic_read_took(const struct nw_path_copy *descriptor, bool pulled,
                      uint64_t ns);
/* Makes the copy by the NIC. Returns false if the NIC cannot read this
 * allocation. */
bool nw_nic_read_move(const struct nw_path_copy *descriptor);
void nw_nic_read_close(void);

#endif
