/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the searches of one call stop: after a number of steps, at a time, or on
 * Ctrl-C. All searches of a call share one budget and run one after the other,
 * so that the sequence of steps is the same wherever the budget cuts it. A
 * search therefore never bases a decision on the steps or the time that are
 * left. It calls nw_budget_spend often enough to stop soon. Only searches over
 * links divide --time among themselves.
 */
#ifndef NW_MAP_COMMON_BUDGET_H
#define NW_MAP_COMMON_BUDGET_H

#include <nodewise/map.h>

/* The limits of one call, and how much of them is used. */
struct nw_budget {
    enum nw_effort effort;
    enum nw_objective objective; /* objective of the call; one search may use
                                    another objective */
    uint64_t steps;              /* steps of all searches so far */
    uint64_t steps_most;         /* limit of `steps`; UINT64_MAX: none */
    /* steps that the effort implies, for the progress report; 0: unknown */
    uint64_t expected;
    uint64_t begun_ns; /* time when the call began */
    uint64_t end_ns;   /* time when all searches stop; 0: none */
    uint64_t due_ns;  /* time when the share of the present search ends; 0: time
                         is not divided */
    uint64_t seen_ns; /* time when the clock was last read */
    uint64_t grace_ns; /* work that counts no steps may last this long beyond
                          end_ns */
    uint64_t (*now)(void); /* nw_clock_ns; tests replace it */
    int32_t threads;       /* at least 1 */
    bool anytime; /* --time or --steps is given: searches restart until the
                     limit is reached */
    bool stopped; /* a limit or Ctrl-C ended the search early */
    bool hurried; /* work that counts no steps was ended early */
    bool quiet;   /* another budget reports the progress */
    struct nw_progress *progress; /* or NULL */
    char best[48]; /* value of the objective for the best mapping so far, as
                      text for the progress report; empty: none yet */
};

/* Sets the limits from the options and starts the clock. */
void nw_budget_init(struct nw_budget *budget,
                    const struct nw_map_options *options);

/* Adds `steps` to the count and reports progress. Returns true if the search
 * goes on; false if its limit or its share of the time is reached, or Ctrl-C
 * came. Sets `stopped` if the whole call must end. Cheap enough for every
 * thousand steps. Only one thread may call it at a time. */
bool nw_budget_spend(struct nw_budget *budget, uint64_t steps);

/* From now on --time is divided among the searches, each of which does as much
 * work as fits into its share. Then --steps no longer repeats their result.
 * Does nothing without --time. */
void nw_budget_begin_shares(struct nw_budget *budget);
/* Gives the next search the fraction `part` of the rest of the present share;
 * nw_budget_spend returns false when that time is over. Returns the end of the
 * former share, for nw_budget_end_share; 0 if time is not divided. */
uint64_t nw_budget_share(struct nw_budget *budget, double part);
void nw_budget_end_share(struct nw_budget *budget, uint64_t former);
/* Returns the elapsed fraction, 0 to 1, of the share that began at time `begun`
 * (a former seen_ns); 0 without a share. */
double nw_budget_elapsed(const struct nw_budget *budget, uint64_t begun);

/* From here to nw_budget_end_starts, searches only produce starts for a later
 * search: each ends by effort and never restarts, even with --time or --steps.
 * Returns the former `anytime`, for nw_budget_end_starts. */
bool nw_budget_begin_starts(struct nw_budget *budget);
void nw_budget_end_starts(struct nw_budget *budget, bool former);

/* One of the two starts of nw_budget_run_starts; the caller keeps the better
 * result. */
struct nw_start {
    nw_status (*run)(void *user, struct nw_budget *budget);
    void *user;
    bool quiet; /* reports no progress */
    bool ran;   /* out: nw_budget_run_starts ran it */
};
/* Runs both starts, each by effort: at the same time if there are two threads;
 * one after the other with --time or --steps. first_suffices(start[0].user)
 * returning true skips the second start or discards its steps. first_suffices
 * may be NULL: then both starts count. */
NW_MUST_CHECK nw_status
nw_budget_run_starts(struct nw_budget *budget, struct nw_start start[2],
                     bool (*first_suffices)(const void *user));

/* Returns true if Ctrl-C came, or if the time and grace_ns are over; work that
 * counts no steps must then end with its present result. Otherwise, and if
 * budget is NULL, returns false. Any thread may call it. */
bool nw_budget_is_overdue(struct nw_budget *budget);

/* Returns true if nw_budget_is_overdue does, or if the time `until` has passed
 * (0: no such time). */
bool nw_budget_is_past(struct nw_budget *budget, uint64_t until);

/* Returns how many steps a search may take before the next nw_budget_spend: at
 * most `want`, within the limit of --steps, at least 1. */
uint64_t nw_budget_slice(const struct nw_budget *budget, uint64_t want);

/* Converts a number of steps for the default effort to the effort given. */
uint64_t nw_budget_scale(enum nw_effort effort, uint64_t steps);
/* Returns the value of budget->steps at which a search ends by effort: `per`
 * more steps for each item by default, a quarter of them for fast, eight times
 * as many for strong. UINT64_MAX if --time or --steps is given. */
uint64_t nw_budget_until(const struct nw_budget *budget, uint64_t items,
                         uint64_t per);

#endif
