/* SPDX-License-Identifier: BSD-3-Clause */
/* The model asked about the halo of a job: a method for each pair of pieces, or
 * in host memory of ranks. */
#ifndef NW_HALO_EXCHANGE_MODELLED_H
#define NW_HALO_EXCHANGE_MODELLED_H

#include "halo/exchange/exchange.h"
#include "halo/plan/model.h"

/* Looks up the machine; where ranks see different ones none is known. `source`
 * as in nw_halo_options.topology. Collective. */
nw_status nw_halo_modelled_open(nw_halo *halo, const char *source,
                                struct nw_halo_roads *out);

/* The method of each of halo->transfers, the same at both ends; NULL where the
 * model knows none that serves. out[halo->transfers.count]. */
nw_status nw_halo_modelled_methods(const nw_halo *halo,
                                   const struct nw_halo_method_ops **out);
/* Whether they differ from those of the open channels on any rank. Collective.
 */
nw_status nw_halo_modelled_differs(const nw_halo *halo, bool *out);

/* Of a channel in one exchange, its two ends together. */
double nw_halo_modelled_seconds(const struct nw_halo_channel *channel);

#endif
