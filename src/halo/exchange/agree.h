/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that all ranks plan the same halo. */
#ifndef NW_HALO_EXCHANGE_AGREE_H
#define NW_HALO_EXCHANGE_AGREE_H

#include "halo/exchange/exchange.h"

/* Returns NW_EINVAL on every rank if the options of two ranks differ. The error
 * text names the first option that differs. Collective. */
nw_status nw_halo_agree_options(MPI_Comm comm,
                                const struct nw_halo_options *options);

#endif
