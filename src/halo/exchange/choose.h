/* SPDX-License-Identifier: BSD-3-Clause */
/* How a method is chosen for each pair of ranks: by the class of the pair, by
 * the model, by measurement, or from the file of earlier choices. */
#ifndef NW_HALO_EXCHANGE_CHOOSE_H
#define NW_HALO_EXCHANGE_CHOOSE_H

#include "halo/exchange/connections.h"
#include "halo/plan/model.h"

/* --- classes.c --- */

/* Returns the package (socket) that contains all cores on which this process
 * may run; -1 if they are in several packages, or if it is unknown. */
int nw_halo_own_package(void);
/* Sets halo->heaviest from the transfers of all ranks. Collective; allocates
 * nothing. */
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

/* --- pair_methods.c --- */

/* Sets out[i], for each transfer i, to its method in halo->scheme, or to NULL
 * if no method fits. Both ends get the same result. Call it after
 * nw_halo_weigh, while halo->paths is set. Local. */
void nw_halo_pair_methods(const nw_halo *halo,
                          const struct nw_halo_method_ops **out);
/* Sets *out to true if all open connections use the methods that the model
 * predicts to be fastest, on all ranks; else to false. Collective. */
NW_MUST_CHECK nw_status nw_halo_is_modelled(const nw_halo *halo, bool *out);
/* Returns the seconds that the model predicts for the work of both ends of a
 * connection in one exchange. */
double nw_halo_connection_seconds(const struct nw_halo_connection *connection);

/* --- compare_schemes.c, choose_by_measurement.c --- */

#define NW_HALO_RIVALS 32
/* The schemes that a measurement compares. */
struct nw_halo_rivals {
    struct nw_halo_scheme scheme[NW_HALO_RIVALS];
    size_t count;
    /* If true, the first scheme is kept unless another is certainly faster. */
    bool holder;
    double seconds; /* time limit, but one round is always run */
};
/* Compares the schemes by measuring exchanges of the current arrays, and leaves
 * the fastest scheme open. Sets *spent to the seconds that this took, equal on
 * all ranks. Collective. */
nw_status nw_halo_tune(nw_halo *halo, const struct nw_halo_rivals *rivals,
                       double *spent);
/* Finds the fastest scheme by measurement and leaves it open. allowed[0]
 * permits schemes that exchange all directions at once; allowed[1] permits
 * schemes that exchange axis by axis in phases. Collective. */
nw_status nw_halo_measure(nw_halo *halo, const bool allowed[2]);

/* --- choice_cache.c --- */

/* Looks up an earlier choice for this machine and domain. Rank 0 reads it from
 * `file`, or from the file in the user's cache if `file` is NULL. Sets *found
 * to true and *out to the scheme if there is one, else *found to false.
 * Collective. */
nw_status nw_halo_cache_read(nw_halo *halo, const char *file,
                             struct nw_halo_scheme *out, bool *found);
/* Writes halo->scheme to the file. An error is ignored, since the choice can be
 * measured again. Local; call it on rank 0 only. */
void nw_halo_cache_write(const nw_halo *halo, const char *file);

/* --- choose_method.c --- */

/* Sets halo->methods to those of the `allowed` methods (bits) that all ranks
 * can use. Collective. */
nw_status nw_halo_methods_find(nw_halo *halo, uint32_t allowed);
/* Chooses a scheme as the options ask, and opens its connections. Collective.
 */
nw_status nw_halo_choose(nw_halo *halo, const struct nw_halo_options *options);

#endif
