/* SPDX-License-Identifier: BSD-3-Clause */
/* Which vertex of a graph each member of a communicator takes. */
#ifndef NW_REORDER_DECIDE_H
#define NW_REORDER_DECIDE_H

#include "runtime/reorder/settings.h"
#include "runtime/reorder/site.h"

#include <nodewise/pattern.h>

struct nw_decision {
    int *vertex;          /* [members] -1: takes none. Owned */
    double before, after; /* hop-bytes of vertex i on member i, and of this */
    bool changes;         /* worth doing, by settings->gain */
};

/* The ranks of MPI_COMM_WORLD that are a communicator's members. */
struct nw_members {
    const struct nw_site *site;
    const int *world;
    int count;
};

/* `graph` has at most as many vertices as there are members. Deterministic:
 * every rank that asks the same gets the same. Local. The caller frees
 * out->vertex. */
NW_MUST_CHECK nw_status nw_decide(const struct nw_members *members,
                                  const nw_pattern *graph,
                                  const struct nw_reorder_settings *settings,
                                  struct nw_decision *out);

#endif
