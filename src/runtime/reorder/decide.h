/* SPDX-License-Identifier: BSD-3-Clause */
/* Which vertex of a graph each member of a communicator takes. */
#ifndef NW_REORDER_DECIDE_H
#define NW_REORDER_DECIDE_H

#include "runtime/reorder/comm_cache.h"
#include "runtime/reorder/settings.h"

#include <nodewise/pattern.h>

struct nw_decision {
    int *vertex;          /* [members] -1: takes none. Owned */
    double before, after; /* hop-bytes of vertex i on member i, and of this */
    bool changes;         /* worth doing, by settings->gain */
};

/* `graph` has at most as many vertices as there are members. Deterministic:
 * every rank that asks the same gets the same. Local. The caller frees
 * out->vertex. */
NW_MUST_CHECK nw_status nw_decide(struct nw_members *members,
                                  const nw_pattern *graph,
                                  const struct nw_reorder_settings *settings,
                                  struct nw_decision *out);

/* Whether a gain passes the threshold. */
bool nw_is_worth(const struct nw_reorder_settings *settings, double before,
                 double after);

#endif
