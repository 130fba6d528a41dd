/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of ranks, sorted by what their way may depend on: a method is measured
 * for each class of them. */
#ifndef NW_HALO_EXCHANGE_CLASSES_H
#define NW_HALO_EXCHANGE_CLASSES_H

#include "halo/exchange/exchange.h"

/* The package of all cores this process may run on; -1 where they are of
 * several, or nobody says. */
int nw_halo_own_package(void);
/* Weighs what each pair of ranks exchanges in halo->transfers. Collective;
 * takes no memory. */
nw_status nw_halo_weigh(nw_halo *halo);

struct nw_halo_pair nw_halo_pair_of(const nw_halo *halo,
                                    const struct nw_halo_transfer *transfer);
/* Methods that are allowed, possible and serve the pair. */
uint32_t nw_halo_fitting(const nw_halo *halo, const struct nw_halo_pair *pair);
/* The same at both ends of the pair. */
enum nw_halo_class nw_halo_class_of(const nw_halo *halo,
                                    const struct nw_halo_pair *pair);

/* What all ranks' connections are of, after nw_halo_weigh. Collective. */
struct nw_halo_survey {
    uint32_t methods[NW_HALO_CLASS_COUNT]; /* that serve pairs of the class */
    double bytes[NW_HALO_CLASS_COUNT];
};
nw_status nw_halo_survey(const nw_halo *halo, struct nw_halo_survey *out);

#endif
