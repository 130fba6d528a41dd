/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads one action of a time-independent trace. */
#ifndef NW_PATTERN_TI_H
#define NW_PATTERN_TI_H

#include "pattern/collective.h"
#include "pattern/format.h"

/* The state while traces are read. */
struct nw_ti {
    struct nw_scan scan;
    /* `me` is the rank whose action is on the current line */
    struct nw_member member;
    char *is_double;  /* [rank] 1: counts without a type are doubles */
    char *seen;       /* [rank] 1: the trace has an action of the rank */
    uint64_t *counts; /* scratch memory, one number per rank */
    /* number of collective actions, one per rank and operation; number of
     * actions whose item type is unknown */
    uint64_t collectives, unsized;
};

/* Reads the action on the current line, and adds to the pattern the messages
 * that the rank of the action sends. Receives add nothing, because the sender's
 * action adds the message. */
NW_MUST_CHECK nw_status nw_ti_action(struct nw_ti *ti);

#endif
