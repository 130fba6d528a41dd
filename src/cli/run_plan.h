/* SPDX-License-Identifier: BSD-3-Clause */
/* From a stored pattern to a command line that follows a mapping, and what is
 * predicted of it. */
#ifndef NW_CLI_RUN_PLAN_H
#define NW_CLI_RUN_PLAN_H

#include "cli/run_job.h"
#include "cli/run_store.h"

#include <nodewise/mapping.h>
#include <nodewise/report.h>
#include <nodewise/topology.h>

struct nw_run_wish {
    const char *topology; /* SOURCE, or NULL */
    double probe_seconds; /* for measuring hosts that are not known */
    bool refresh, store;
    bool quiet; /* no bar while hosts are measured */
};

struct nw_run_plan {
    nw_topology *topology;
    nw_topology *given;   /* what an affinity mask leaves of this machine, where
                             the job is on it alone; else NULL */
    const char *known_by; /* static: where the topology came from */
    bool crowded;         /* ranks share cores: hosts alone are chosen */
    nw_mapping *mapping;
    double before, after; /* s of communication of the run by the time model, in
                             the launcher's order and mapped; 0 if unknown */
    struct nw_headline headline;
    bool has_headline;
    struct nw_words command;
    struct nw_words variables; /* NAME=VALUE for it */
};

/* The job runs on this machine and on no other. */
bool nw_job_is_only_here(const struct nw_job *job);
/* Fills topology, known_by and crowded. */
NW_MUST_CHECK nw_status nw_run_find_topology(const struct nw_job *job,
                                             const struct nw_store *store,
                                             const struct nw_run_wish *wish,
                                             struct nw_run_plan *plan);

/* From cores of `given` to those of `topology`. */
NW_MUST_CHECK nw_status nw_run_renumber(const struct nw_run_plan *plan,
                                        nw_mapping *mapping);

NW_MUST_CHECK nw_status nw_run_plan_make(const struct nw_job *job,
                                         const struct nw_store *store,
                                         const nw_pattern *pattern,
                                         const struct nw_run_wish *wish,
                                         struct nw_run_plan *plan);
/* Whether the launcher takes the plan: it is tried with true(1) in the place of
 * the program. */
bool nw_run_plan_works(const struct nw_job *job,
                       const struct nw_run_plan *plan);
void nw_run_plan_fini(struct nw_run_plan *plan);

#endif
