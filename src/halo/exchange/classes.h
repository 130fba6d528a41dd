/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes of pairs of ranks. The fastest method depends on the path between the
 * ranks and on the bytes that they exchange. So each class has its own measured
 * choice of a method. */
#ifndef NW_HALO_EXCHANGE_CLASSES_H
#define NW_HALO_EXCHANGE_CLASSES_H

#include "halo/exchange/exchange.h"

/* Returns the package (socket) that contains all cores on which this process
 * may run; -1 if they are in several packages, or if it is unknown. */
int nw_halo_own_package(void);
/* Fills halo->weight: the number of cells that this rank exchanges with each
 * other rank. Sets halo->heaviest to the maximum over all ranks. Collective;
 * allocates nothing. */
nw_status nw_halo_weigh(nw_halo *halo);

/* Returns the pair of pieces between which a transfer copies. */
struct nw_halo_pair nw_halo_pair_of(const nw_halo *halo,
                                    const struct nw_halo_transfer *transfer);
/* Returns the methods (bits) that are available on all ranks and can serve the
 * pair. */
uint32_t nw_halo_fitting(const nw_halo *halo, const struct nw_halo_pair *pair);
/* Returns the class of a pair; both ends of the pair get the same class. */
enum nw_halo_class nw_halo_class_of(const nw_halo *halo,
                                    const struct nw_halo_pair *pair);

/* For each class, over all ranks: the methods that fit its pairs, and its
 * bytes. Call nw_halo_weigh before nw_halo_survey. Collective. */
struct nw_halo_survey {
    uint32_t methods[NW_HALO_CLASS_COUNT]; /* bits of the methods that fit */
    double bytes[NW_HALO_CLASS_COUNT];
};
nw_status nw_halo_survey(const nw_halo *halo, struct nw_halo_survey *out);

#endif
