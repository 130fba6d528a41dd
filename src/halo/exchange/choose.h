/* SPDX-License-Identifier: BSD-3-Clause */
/* How a method is chosen for each connection: by its class, by the model, by
 * measurement, or from the file of earlier choices. */
#ifndef NW_HALO_EXCHANGE_CHOOSE_H
#define NW_HALO_EXCHANGE_CHOOSE_H

#include "halo/exchange/connections.h"
#include "halo/plan/model.h"

/* --- classes.c --- */

/* Returns the package (socket) that contains all cores on which this process
 * may run; -1 if they are in several packages, or if it is unknown. */
int nw_halo_own_package(void);
/* Gives each connection its class and its method in halo->scheme, and sets
 * halo->predicted. Needs halo->paths. Returns NW_EUNSUPPORTED if no method fits
 * a connection. Collective; an error may be of this rank only, and then no
 * connection is left. */
nw_status nw_halo_give_methods(nw_halo *halo);
/* Sets methods[class] to the methods (bits) that fit any open connection of the
 * class on any rank. It includes NW_HALO_MODELLED if the model chooses several
 * methods for the class. Collective. */
nw_status nw_halo_survey(const nw_halo *halo,
                         uint32_t methods[NW_HALO_CLASS_COUNT]);

/* --- choose_by_measurement.c --- */

/* Measures exchanges of the current arrays with several schemes, and leaves the
 * fastest scheme open. allowed[0] permits schemes that exchange all directions
 * at once; allowed[1] permits schemes that exchange axis by axis in phases.
 * Collective. */
nw_status nw_halo_measure(nw_halo *halo, const bool allowed[2]);

/* --- choice_cache.c --- */

/* Looks up an earlier choice for the same machine and the same halo. Rank 0
 * reads it from `file`, or from the file in the user's cache if `file` is NULL.
 * Sets *found to true and *out to the scheme if there is one, else *found to
 * false. An unreadable file counts as empty. Collective. */
nw_status nw_halo_cache_read(nw_halo *halo, const char *file,
                             struct nw_halo_scheme *out, bool *found);
/* Writes halo->scheme and halo->words to the file. An error is ignored, since
 * the choice can be measured again. Does not overwrite a file of another kind.
 * Local; call it on rank 0 only. */
void nw_halo_cache_write(const nw_halo *halo, const char *file);

/* --- choose_method.c --- */

/* Sets halo->methods to those of the `allowed` methods (bits; 0: all) that all
 * ranks can use in the halo's kind of memory. NW_HALO_SELF is always allowed.
 * Collective. */
nw_status nw_halo_methods_find(nw_halo *halo, uint32_t allowed);
/* Chooses a scheme as the options ask, opens its connections, and describes
 * them in halo->words. Collective. */
nw_status nw_halo_choose(nw_halo *halo, const struct nw_halo_options *options);

#endif
