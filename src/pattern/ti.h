/* SPDX-License-Identifier: BSD-3-Clause */
/* One action of a time-independent trace. */
#ifndef NW_PATTERN_TI_H
#define NW_PATTERN_TI_H

#include "pattern/collective.h"
#include "pattern/format.h"

struct nw_ti {
    struct nw_scan scan;
    struct nw_member member; /* `me` is the rank of the current line */
    char *is_double;         /* by rank: counts without a type are of doubles */
    char *seen;              /* by rank: it has an action */
    uint64_t *counts;        /* one number per rank */
    uint64_t collectives, unsized;
};

/* Reads the current line and adds what its rank sends. */
NW_MUST_CHECK nw_status nw_ti_action(struct nw_ti *ti);

#endif
