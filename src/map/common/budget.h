/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the searches of one call stop: after a number of steps, at a time, or on
 * Ctrl-C. All searches of a call share one budget one after the other, so that
 * the sequence of steps is the same wherever it is cut. A search therefore
 * decides nothing by what is left, and asks often enough to be cut soon.
 * Searches over links are the exception: they divide --time among themselves.
 */
#ifndef NW_MAP_COMMON_BUDGET_H
#define NW_MAP_COMMON_BUDGET_H

#include <nodewise/map.h>

struct nw_budget {
    enum nw_effort effort;
    enum nw_objective objective; /* of the call; a search may have another */
    uint64_t steps;              /* steps of all searches so far */
    uint64_t steps_most;         /* UINT64_MAX if only time ends them */
    uint64_t
        expected; /* steps that the effort implies, for progress; 0: unknown */
    uint64_t begun_ns;
    uint64_t end_ns;   /* time to stop at; 0: none */
    uint64_t due_ns;   /* end of the present share; 0: none */
    uint64_t seen_ns;  /* the clock at the last look */
    uint64_t grace_ns; /* time beyond the end for work that counts no steps */
    uint64_t (*now)(void); /* nw_clock_ns; tests replace it */
    int32_t threads;       /* at least 1 */
    bool anytime;          /* --time or --steps is given: restart until cut */
    bool stopped;          /* the search was cut */
    bool hurried;          /* work that counts no steps was cut, too */
    bool quiet;            /* another budget reports the progress */
    struct nw_progress *progress; /* or NULL */
    char best[48]; /* the objective of the best mapping so far, for progress;
                      empty: none is priced yet */
};

/* Reads the options. */
void nw_budget_init(struct nw_budget *budget,
                    const struct nw_map_options *options);

/* Adds `steps` and says whether the search goes on; otherwise sets `stopped`.
 * Cheap enough for every thousand steps; reports progress. One thread at a
 * time. */
bool nw_budget_spend(struct nw_budget *budget, uint64_t steps);

/* From now on --time is divided among the searches, which do as much as fits;
 * --steps need not repeat them. Does nothing without --time. */
void nw_budget_begin_shares(struct nw_budget *budget);
/* Gives the next search a fraction of the rest of the present share;
 * nw_budget_spend says when it is over. Returns the argument of
 * nw_budget_end_share; 0 if time is not divided. */
uint64_t nw_budget_share(struct nw_budget *budget, double part);
void nw_budget_end_share(struct nw_budget *budget, uint64_t former);
/* Fraction of the share that began at `begun` (seen_ns then) that is over; 0
 * without a share. */
double nw_budget_elapsed(const struct nw_budget *budget, uint64_t begun);

/* The searches until the end find starts for a later one: effort ends each of
 * them, and only the last search of a call restarts until it is cut. Returns
 * the argument of nw_budget_end_starts. */
bool nw_budget_begin_starts(struct nw_budget *budget);
void nw_budget_end_starts(struct nw_budget *budget, bool former);

/* One of two starts; the caller takes the better result. */
struct nw_start {
    nw_status (*run)(void *user, struct nw_budget *budget);
    void *user;
    bool quiet; /* reports no progress */
    bool ran;   /* out */
};
/* Runs both starts, each by effort: at once if there are two threads, but one
 * after the other if they would have restarted until a limit. If first_suffices
 * (of the first one's user) says so, the second is left out or its steps are
 * not counted; NULL: never. */
NW_MUST_CHECK nw_status
nw_budget_run_starts(struct nw_budget *budget, struct nw_start start[2],
                     bool (*first_suffices)(const void *user));

/* Whether Ctrl-C came, or the time and its grace are over: work that counts no
 * steps then ends with its present result. budget NULL: never. For any thread.
 */
bool nw_budget_is_overdue(struct nw_budget *budget);

/* Whether it is overdue, or past `until` (0: no such time). */
bool nw_budget_is_past(struct nw_budget *budget, uint64_t until);

/* Steps that a search may take before it asks again: at most `want`, and never
 * beyond --steps. At least 1. */
uint64_t nw_budget_slice(const struct nw_budget *budget, uint64_t want);

/* `steps` of default effort, scaled to another one. */
uint64_t nw_budget_scale(enum nw_effort effort, uint64_t steps);
/* The step count at which a search ends by effort: `per` x items by default, a
 * quarter for fast, eight times as many for strong; no end if time or steps are
 * given. */
uint64_t nw_budget_until(const struct nw_budget *budget, uint64_t items,
                         uint64_t per);

#endif
