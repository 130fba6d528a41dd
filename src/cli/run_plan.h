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
    const char *topology; /* SOURCE, or NULL */
    double probe_seconds; /* for measuring hosts that are not known */
    bool refresh, store;
    bool quiet; /* no bar while hosts are measured */
};

struct nw_run_plan {
    nw_topology *topology;
    nw_topology *given;   /* the part of this machine that an affinity mask
                             allows, if the job is only here; else NULL */
    const char *known_by; /* static: origin of the topology */
    bool crowded;         /* ranks share cores: only hosts are chosen */
    nw_mapping *mapping;
    double before, after; /* predicted communication time of the run in s, in
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

/* Changes cores of `given` to the same cores of `topology`. */
NW_MUST_CHECK nw_status nw_run_renumber(const struct nw_run_plan *plan,
                                        nw_mapping *mapping);

NW_MUST_CHECK nw_status nw_run_plan_make(const struct nw_job *job,
                                         const struct nw_store *store,
                                         const nw_pattern *pattern,
                                         const struct nw_run_wish *wish,
                                         struct nw_run_plan *plan);
/* Whether the launcher accepts the plan; true(1) runs instead of the program.
 * */
bool nw_run_plan_works(const struct nw_job *job,
                       const struct nw_run_plan *plan);
void nw_run_plan_fini(struct nw_run_plan *plan);

#endif
