/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the searches of one call may go on: steps counted, a time, Ctrl-C.
 * One budget is shared by all searches of a call, one after the other, so that
 * the whole sequence is the same whatever cuts it: a search decides nothing by
 * what is left, and asks often enough that the cut is soon. Searches by links
 * are the exception: they share --time out.
 */
#ifndef NW_MAP_COMMON_BUDGET_H
#define NW_MAP_COMMON_BUDGET_H

#include <nodewise/map.h>

struct nw_budget {
    enum nw_effort effort;
    uint64_t steps;      /* taken so far by all searches */
    uint64_t steps_most; /* UINT64_MAX where only time cuts */
    uint64_t expected;   /* steps by effort, for people; 0: not known */
    uint64_t begun_ns;
    uint64_t end_ns;       /* to stop at, 0: none */
    uint64_t due_ns;       /* what runs is to end then; 0: none */
    uint64_t seen_ns;      /* the clock when it was last looked at */
    uint64_t grace_ns;     /* after it, for what counts no steps */
    uint64_t (*now)(void); /* nw_clock_ns; another in tests */
    int32_t threads;       /* at least 1 */
    bool anytime;          /* --time or --steps: restart until cut */
    bool stopped;          /* it was cut */
    bool hurried;          /* something that counts no steps was cut, too */
    bool approximate;      /* a search looked at a likeness of the machine */
    bool quiet;            /* progress is told by another one */
    bool grid_found;       /* a search found a grid behind the pattern */
    struct nw_progress *progress; /* or NULL */
    double best;                  /* of the objective; told, for people */
};

/* From the options, every default replaced. */
void nw_budget_init(struct nw_budget *budget,
                    const struct nw_map_options *options);

/* Counts `steps` more and says whether the search goes on; it is `stopped`
 * where no other does, either. Cheap enough for
 * every thousand steps; tells progress of `best`. Not for several threads at
 * once. */
bool nw_budget_spend(struct nw_budget *budget, uint64_t steps, double best);
/* The same of one try among several: what was told before stays where it is
 * less. 0: nothing was. */
bool nw_budget_spend_trial(struct nw_budget *budget, uint64_t steps,
                           double cost);

/* From now on the time is shared out among the searches, which do as much as
 * fits: --steps need not repeat them. Nothing where there is no time. */
void nw_budget_begin_shares(struct nw_budget *budget);
/* That part of what is left of the present share for what comes next;
 * nw_budget_spend says when it is over. Returns what nw_budget_end_share takes
 * afterwards; 0 where time is not shared out. */
uint64_t nw_budget_share(struct nw_budget *budget, double part);
void nw_budget_end_share(struct nw_budget *budget, uint64_t former);
/* How much of what was shared out at `begun` (seen_ns then) is over, 0 to 1; 0
 * where none is. */
double nw_budget_elapsed(const struct nw_budget *budget, uint64_t begun);

/* Ctrl-C, or past the time and its grace: what counts no steps is then left at
 * what it has. NULL: never. For any thread. */
bool nw_budget_is_overdue(struct nw_budget *budget);

/* The same, or past `until` (0: no such time). */
bool nw_budget_is_past(struct nw_budget *budget, uint64_t until);

/* Steps that a search may take before it asks again: at most `want`, and
 * exactly what --steps leaves. At least 1. */
uint64_t nw_budget_slice(const struct nw_budget *budget, uint64_t want);

/* The step count at which a search by effort ends: `per` x items for default, a
 * quarter for fast, eight times as many for strong; without end where time or
 * steps were given. */
uint64_t nw_budget_until(const struct nw_budget *budget, uint64_t items,
                         uint64_t per);

#endif
