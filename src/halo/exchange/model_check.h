/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine that the model looks at, for the halo of a job. */
#ifndef NW_HALO_EXCHANGE_MODEL_CHECK_H
#define NW_HALO_EXCHANGE_MODEL_CHECK_H

#include "halo/exchange/exchange.h"
#include "halo/plan/model.h"

/* Looks up the machine; where ranks see different ones none is known. `source`
 * as in nw_halo_options.topology. Collective. */
nw_status nw_halo_model_check_open(nw_halo *halo, const char *source,
                                   struct nw_halo_paths *out);

/* Whether its methods differ from those of the open connections on any rank.
 * Collective. */
nw_status nw_halo_model_check_differs(const nw_halo *halo, bool *out);

#endif
