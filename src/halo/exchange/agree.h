/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans that must be the same on all ranks. */
#ifndef NW_HALO_EXCHANGE_AGREE_H
#define NW_HALO_EXCHANGE_AGREE_H

#include "halo/exchange/exchange.h"

/* NW_EINVAL on every rank, with what differs, where the options do not agree.
 * Collective. */
nw_status nw_halo_agree_options(MPI_Comm comm,
                                const struct nw_halo_options *options);

#endif
