/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that all ranks have passed the same options for a halo. */
#ifndef NW_HALO_EXCHANGE_AGREE_H
#define NW_HALO_EXCHANGE_AGREE_H

#include "halo/exchange/exchange.h"

/* Returns NW_EINVAL on every rank if the options that must be equal, the
 * WORD_LIST in agree.c, differ between two ranks. The error text names the
 * first option that differs. Collective. */
nw_status nw_halo_agree_options(MPI_Comm comm,
                                const struct nw_halo_options *options);

#endif
