/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a mapping from a stored pattern, the command line that places the ranks
 * by it, and a prediction of the communication time. */
#ifndef NW_CLI_RUN_PLAN_H
#define NW_CLI_RUN_PLAN_H

#include "cli/run_job.h"
#include "cli/run_store.h"

#include <nodewise/mapping.h>
#include <nodewise/report.h>
#include <nodewise/topology.h>

/* Options of `nodewise run` for finding the topology and for mapping. */
struct nw_run_plan_options {
    const char *topology; /* the SOURCE of -t, or NULL */
    double probe_seconds; /* longest time in s for measuring hosts that are
                             not in the store; 0: do not measure */
    bool refresh, store;  /* refresh: ignore the pattern and topology of the
                             store; store: write to the store */
    bool quiet;           /* draw no progress bar */
};

struct nw_run_plan {
    nw_topology *topology;
    nw_topology *given;   /* the part of this machine that an affinity mask
                             allows, if the job runs only here; else NULL */
    const char *known_by; /* the source of the topology for messages, such
                             as "from the store"; a static string */
    bool oversubscribed;  /* ranks share cores, so that the mapping selects
                      only the host of each rank */
    nw_mapping *mapping;
    double before, after; /* predicted communication time of the run in s, with
                             the launcher's default placement and with the
                             mapping; 0: unknown */
    struct nw_headline headline;
    bool has_headline;
    struct nw_words command;
    struct nw_words variables; /* NAME=VALUE for `command` */
};

/* Returns true if the job runs on this machine only. */
bool nw_job_is_only_here(const struct nw_job *job);
/* Sets topology, given, known_by and oversubscribed of the plan. Returns
 * NW_EUNSUPPORTED if the job runs only on this machine, has more ranks than
 * cores there and -t is not given. */
NW_MUST_CHECK nw_status nw_run_find_topology(
    const struct nw_job *job, const struct nw_store *store,
    const struct nw_run_plan_options *options, struct nw_run_plan *plan);

/* Converts the core numbers of a mapping from those of plan->given, the part of
 * this machine that may be used, to those of plan->topology, the whole machine.
 * Returns NW_EUNSUPPORTED if the operating system's numbers of the cores are
 * unknown. */
NW_MUST_CHECK nw_status nw_run_renumber(const struct nw_run_plan *plan,
                                        nw_mapping *mapping);

NW_MUST_CHECK nw_status nw_run_plan_make(
    const struct nw_job *job, const struct nw_store *store,
    const nw_pattern *pattern, const struct nw_run_plan_options *options,
    struct nw_run_plan *plan);
/* Returns true if the launcher accepts the plan: runs true(1) instead of the
 * program, for at most nw_job_start_seconds. */
bool nw_run_plan_works(const struct nw_job *job,
                       const struct nw_run_plan *plan);
void nw_run_plan_fini(struct nw_run_plan *plan);

#endif
