/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which vertex of a graph each member of a communicator gets. */
#ifndef NW_REORDER_DECIDE_H
#define NW_REORDER_DECIDE_H

#include "runtime/reorder/comm_cache.h"
#include "runtime/reorder/settings.h"

#include <nodewise/pattern.h>

struct nw_decision {
    int *vertex; /* vertex[i]: vertex of member i, or -1 for none; owned */
    /* Costs, as sums of bytes x distance: `before` with vertex i on member i,
     * `after` with `vertex`. */
    double before, after;
    bool changes; /* the order differs from vertex i on member i, and
                     nw_is_worth returns true */
};

/* Maps the graph to the members' machine. `graph` must not have more vertices
 * than there are members. Ranks with equal arguments get equal results. Local.
 * The caller frees out->vertex. */
NW_MUST_CHECK nw_status nw_decide(struct nw_members *members,
                                  const nw_pattern *graph,
                                  const struct nw_reorder_settings *settings,
                                  struct nw_decision *out);

/* Returns true if the cost decreases from `before` to `after`, and by at least
 * the fraction settings->gain of `before`. Returns true for all costs if
 * settings->gain is negative (NODEWISE_REORDER_GAIN=any). */
bool nw_is_worth(const struct nw_reorder_settings *settings, double before,
                 double after);

#endif
