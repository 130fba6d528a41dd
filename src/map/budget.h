/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the searches of one call may go on: steps counted, a time, Ctrl-C.
 * One budget is shared by all searches of a call, one after the other, so that
 * the whole sequence is the same whatever cuts it: a search decides nothing by
 * what is left, and asks often enough that the cut is soon.
 */
#ifndef NW_MAP_BUDGET_H
#define NW_MAP_BUDGET_H

#include <nodewise/map.h>

struct nw_budget {
    enum nw_effort effort;
    uint64_t steps;      /* taken so far by all searches */
    uint64_t steps_most; /* UINT64_MAX where only time cuts */
    uint64_t expected;   /* steps by effort, for people; 0: not known */
    uint64_t begun_ns;
    uint64_t end_ns;       /* to stop at, 0: none */
    uint64_t grace_ns;     /* after it, for what counts no steps */
    uint64_t (*now)(void); /* nw_clock_ns; another in tests */
    int32_t threads;       /* at least 1 */
    bool endless;          /* --time or --steps: restart until cut */
    bool stopped;          /* it was cut */
    bool hurried;          /* something that counts no steps was cut, too */
    bool likened;          /* a search looked at a likeness of the machine */
    bool gridded;          /* a search found a grid behind the pattern */
    struct nw_progress *progress; /* or NULL */
    double best;                  /* of the objective; told, for people */
};

/* From the options, every default replaced. */
void nw_budget_init(struct nw_budget *budget,
                    const struct nw_map_options *options);

/* Counts `steps` more and says whether the search goes on. Cheap enough for
 * every thousand steps; tells progress of `best`. Not for several threads at
 * once. */
bool nw_budget_go(struct nw_budget *budget, uint64_t steps, double best);

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
