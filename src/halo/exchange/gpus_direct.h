/* SPDX-License-Identifier: BSD-3-Clause */
/* Common functions of the methods in which the GPU of the source cells writes
 * the ghost cells without a buffer. These methods are the kernel inside a GPU,
 * the kernel that writes into another GPU's memory, and 3-D copies. */
#ifndef NW_HALO_EXCHANGE_GPUS_DIRECT_H
#define NW_HALO_EXCHANGE_GPUS_DIRECT_H

#include "halo/exchange/gpus.h"

nw_status nw_halo_open_direct(struct nw_halo_connection *connection,
                              struct nw_halo_offer *own);
nw_status nw_halo_start_direct(struct nw_halo_connection *connection);
nw_status nw_halo_test_direct(struct nw_halo_connection *connection,
                              bool *done);
void nw_halo_leave_direct(struct nw_halo_connection *connection);
void nw_halo_close_direct(struct nw_halo_connection *connection);

#endif
