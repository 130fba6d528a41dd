/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine description that the model uses for the halo of a job. */
#ifndef NW_HALO_EXCHANGE_MODEL_CHECK_H
#define NW_HALO_EXCHANGE_MODEL_CHECK_H

#include "halo/exchange/exchange.h"
#include "halo/plan/model.h"

/* Looks up the machine; it stays unknown if ranks see different machines.
 * `source` is as in nw_halo_options.topology. Collective. */
nw_status nw_halo_model_check_open(nw_halo *halo, const char *source,
                                   struct nw_halo_paths *out);

/* Sets *out if, on any rank, the model's methods differ from the methods of the
 * open connections. Collective. */
nw_status nw_halo_model_check_differs(const nw_halo *halo, bool *out);

#endif
