/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that all ranks make the same plan. */
#ifndef NW_HALO_EXCHANGE_AGREE_H
#define NW_HALO_EXCHANGE_AGREE_H

#include "halo/exchange/exchange.h"

/* Returns NW_EINVAL on every rank if the options differ; the message names the
 * first option that differs. Collective. */
nw_status nw_halo_agree_options(MPI_Comm comm,
                                const struct nw_halo_options *options);

#endif
