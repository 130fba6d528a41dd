/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes of pairs of ranks. The best method depends on the path and on the
 * bytes of a pair, so a method is measured for each class. */
#ifndef NW_HALO_EXCHANGE_CLASSES_H
#define NW_HALO_EXCHANGE_CLASSES_H

#include "halo/exchange/exchange.h"

/* Returns the package of the cores that this process may run on, or -1 if there
 * are several packages or the package is unknown. */
int nw_halo_own_package(void);
/* Sums the cells that each pair of ranks exchanges in halo->transfers.
 * Collective; allocates nothing. */
nw_status nw_halo_weigh(nw_halo *halo);

struct nw_halo_pair nw_halo_pair_of(const nw_halo *halo,
                                    const struct nw_halo_transfer *transfer);
/* Returns the bits of the methods that are available and fit the pair. */
uint32_t nw_halo_fitting(const nw_halo *halo, const struct nw_halo_pair *pair);
/* Returns the class of a pair; both ends of the pair get the same class. */
enum nw_halo_class nw_halo_class_of(const nw_halo *halo,
                                    const struct nw_halo_pair *pair);

/* The methods and bytes of each class, over all ranks; call nw_halo_weigh
 * before nw_halo_survey. Collective. */
struct nw_halo_survey {
    uint32_t methods[NW_HALO_CLASS_COUNT]; /* bits of the methods that fit */
    double bytes[NW_HALO_CLASS_COUNT];
};
nw_status nw_halo_survey(const nw_halo *halo, struct nw_halo_survey *out);

#endif
