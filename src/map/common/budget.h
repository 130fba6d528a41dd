/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the searches of one call stop: after a number of steps, at a time, or on
 * Ctrl-C. All searches of a call share one budget and run one after the other,
 * except initial solutions that are computed at the same time. Therefore, the
 * sequence of steps is the same wherever the budget cuts it. For the same
 * reason, a search never bases a decision on the steps or the time that are
 * left. It calls nw_budget_spend often enough to stop soon. Only searches over
 * links divide --time among themselves (nw_budget_begin_shares).
 */
#ifndef NW_MAP_COMMON_BUDGET_H
#define NW_MAP_COMMON_BUDGET_H

#include <nodewise/map.h>

/* The limits of one call, and how much of them is used. Times are in ns. */
struct nw_budget {
    enum nw_effort effort;
    /* objective of the call; a single search may have another one */
    enum nw_objective objective;
    uint64_t steps;      /* steps of all searches so far */
    uint64_t steps_most; /* limit of `steps`; UINT64_MAX: none */
    /* value of `steps` at which the present search will probably end, for the
     * progress report; 0: unknown */
    uint64_t expected;
    uint64_t begun_ns; /* time at which the call began */
    uint64_t end_ns;   /* time at which all searches must stop; 0: no limit */
    uint64_t due_ns;   /* time at which the share of the present search ends; 0:
                          time is not divided into shares */
    uint64_t seen_ns;  /* time at the last nw_budget_spend or nw_budget_share; 0
                          if that call did not need the clock */
    uint64_t grace_ns; /* how long after end_ns work that counts no steps may
                          still last */
    /* reads the clock; nw_clock_ns unless a test replaces it */
    uint64_t (*now)(void);
    int32_t threads; /* number of threads to use, at least 1 */
    bool anytime;    /* --time or --steps is given: searches restart until the
                        limit is reached; false between nw_budget_begin_starts
                        and nw_budget_end_starts */
    bool stopped;    /* all searches must end: a limit is reached, or Ctrl-C was
                        pressed */
    bool hurried; /* work that counts no steps ended early, or time was divided
                     into shares, so that --steps does not repeat the result */
    bool quiet;   /* true: this budget does not report progress, because another
                     one does */
    /* where progress is reported; NULL: nowhere */
    struct nw_progress *progress;
    char best[48]; /* value of the objective for the best mapping so far, as
                      text for the progress report; empty: none yet */
};

/* Sets the limits from the options of the call and reads the time at which the
 * call begins. */
void nw_budget_init(struct nw_budget *budget,
                    const struct nw_map_options *options);

/* Adds `steps` to the steps used so far and reports progress. Returns true if
 * the search may go on; false if a limit or the end of its share of the time is
 * reached, or if Ctrl-C was pressed. Sets `stopped` if the whole call must end.
 * A search may call it every thousand steps, since it is cheap. Only one thread
 * may call it at a time. */
bool nw_budget_spend(struct nw_budget *budget, uint64_t steps);

/* From now on --time is divided into shares for the searches, each of which
 * does as much work as fits into its share. Then --steps no longer repeats the
 * result. Does nothing without --time. */
void nw_budget_begin_shares(struct nw_budget *budget);
/* Gives the next search the fraction `part` of the time that is left of the
 * present share; nw_budget_spend returns false when that time is over. Returns
 * the end of the present share (ns), which the caller later passes to
 * nw_budget_end_share; 0 if time is not divided. */
uint64_t nw_budget_share(struct nw_budget *budget, double part);
void nw_budget_end_share(struct nw_budget *budget, uint64_t former);
/* Returns the fraction (0 to 1) of the present share of the time that had
 * elapsed at the last nw_budget_spend. The share began at time `begun` (ns).
 * Returns 0 if time is not divided into shares. */
double nw_budget_elapsed(const struct nw_budget *budget, uint64_t begun);

/* Until nw_budget_end_starts, searches only find initial solutions for a later
 * search: each makes the number of steps of its effort and does not restart,
 * even with --time or --steps. Returns the present `anytime`, which the caller
 * later passes to nw_budget_end_starts. */
bool nw_budget_begin_starts(struct nw_budget *budget);
void nw_budget_end_starts(struct nw_budget *budget, bool former);

/* One of the two starts (initial solutions) that nw_budget_run_starts computes;
 * the caller keeps the better result. */
struct nw_start {
    nw_status (*run)(void *user, struct nw_budget *budget);
    void *user;
    bool quiet;               /* the start reports no progress */
    bool ran;                 /* out: the start was run */
    struct nw_budget *budget; /* set by nw_budget_run_starts: counts the steps
                                 of this start */
};
/* Runs both starts without restarts (nw_budget_begin_starts): at the same time
 * if there are several threads and `anytime` is false, otherwise one after the
 * other. If `anytime` is true, the second start is not run after a first one
 * that used up the budget. If first_suffices(start[0].user) returns true, the
 * second start is not run, or its steps are not counted; first_suffices may be
 * NULL. Returns the error of a start that fails. */
NW_MUST_CHECK nw_status
nw_budget_run_starts(struct nw_budget *budget, struct nw_start start[2],
                     bool (*first_suffices)(const void *user));

/* Returns true if Ctrl-C was pressed, or if the time of --time ended more than
 * grace_ns ago; then it also sets `hurried`. Work that counts no steps must
 * then end with its present result. Returns false if budget is NULL. Any thread
 * may call it. */
bool nw_budget_is_overdue(struct nw_budget *budget);

/* Returns true if nw_budget_is_overdue does, or if the time `until` (ns; 0:
 * never) has passed; then it also sets `hurried`. Returns false if budget is
 * NULL. */
bool nw_budget_is_past(struct nw_budget *budget, uint64_t until);

/* Returns how many steps a search may take before its next nw_budget_spend: at
 * most `want` and at most as many as --steps still allows, but at least 1. */
uint64_t nw_budget_slice(const struct nw_budget *budget, uint64_t want);

/* Returns how many steps a search makes with `effort` if it makes `steps` with
 * the default effort. */
uint64_t nw_budget_scale(enum nw_effort effort, uint64_t steps);

#endif
