/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns a stored pattern into a command line that follows a mapping, and
 * predicts the time. */
#ifndef NW_CLI_RUN_PLAN_H
#define NW_CLI_RUN_PLAN_H

#include "cli/run_job.h"
#include "cli/run_store.h"

#include <nodewise/mapping.h>
#include <nodewise/report.h>
#include <nodewise/topology.h>

struct nw_run_wish {
    const char *topology; /* the SOURCE of -t, or NULL */
    double probe_seconds; /* longest time for measuring hosts that are not in
                             the store */
    bool refresh, store;
    bool quiet; /* draw no progress bar */
};

struct nw_run_plan {
    nw_topology *topology;
    nw_topology *given;   /* the part of this machine that an affinity mask
                             allows, if the job runs only here; else NULL */
    const char *known_by; /* source of the topology, for messages; static */
    bool crowded;         /* ranks share cores: the mapping selects only
                             hosts */
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
/* Sets topology, given, known_by and crowded of the plan. */
NW_MUST_CHECK nw_status nw_run_find_topology(const struct nw_job *job,
                                             const struct nw_store *store,
                                             const struct nw_run_wish *wish,
                                             struct nw_run_plan *plan);

/* Converts core numbers of plan->given to those of plan->topology. */
NW_MUST_CHECK nw_status nw_run_renumber(const struct nw_run_plan *plan,
                                        nw_mapping *mapping);

NW_MUST_CHECK nw_status nw_run_plan_make(const struct nw_job *job,
                                         const struct nw_store *store,
                                         const nw_pattern *pattern,
                                         const struct nw_run_wish *wish,
                                         struct nw_run_plan *plan);
/* Checks that the launcher accepts the plan, by running true(1) instead of the
 * program. */
bool nw_run_plan_works(const struct nw_job *job,
                       const struct nw_run_plan *plan);
void nw_run_plan_fini(struct nw_run_plan *plan);

#endif
