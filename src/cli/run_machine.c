/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the topology of the job. If the user gives one, takes it. Otherwise, if
 * the job runs only on this host, takes that of this machine. Otherwise takes
 * the stored topology of the job's hosts or, if it cannot be used, asks the
 * hosts for a new one. */
#include "cli/run_plan.h"

#include <nodewise/launch.h>
#include <nodewise/probe.h>

#include "base/file.h"
#include "base/hostlist.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/probe_run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The words in a cluster file of nodewise probe that say that ranks shared
 * cores while the hosts were measured. */
#define OVERSUBSCRIBED "ranks shared"

bool nw_job_is_only_here(const struct nw_job *job)
{
    char name[256] = "";

    gethostname(name, sizeof name - 1);
    return job->host.count == 1 && (nw_host_is_same(job->host.word[0], name) ||
                                    !strcmp(job->host.word[0], "localhost"));
}

/* Returns the error of a measurement that did not finish. `code` is the
 * launcher's exit status. */
static nw_status say_unmeasured(const struct nw_job *job, const nw_probe *probe,
                                int code)
{
    const char *launcher = job->launcher.word[0];

    if (nw_probe_rank_count(probe))
        return nw_fail(NW_EMPI,
                       "the hosts could not be measured: %s ended with "
                       "status %d",
                       launcher, code);
    return nw_fail(NW_ENODEV,
                   "no rank on %zu host%s answered, and %s ended with "
                   "status %d: can every host be reached from here?",
                   job->host.count, nw_plural(job->host.count), launcher, code);
}

/* Runs the measuring program and shows its progress. If the user ends it with
 * Ctrl-C, this process ends, too. */
static nw_status run_probe_job(struct nw_probe_run *run, bool quiet,
                               nw_probe *probe, int *code)
{
    nw_status status;
    bool cancelled;

    run->progress = nw_cli_progress(&(struct nw_common){.quiet = quiet});
    status = nw_probe_run_job(run, probe, code);
    cancelled = __atomic_load_n(&run->progress->cancelled, __ATOMIC_RELAXED);
    nw_cli_progress_finish();
    if (cancelled)
        raise(SIGINT);
    return status;
}

/* Measures the job's hosts, or only asks them for their cores if the time limit
 * is 0, and stores the text of a cluster file in *out, which the caller frees.
 * Returns NW_ENODEV if no rank on the hosts answered. */
static nw_status run_machine_measure(const struct nw_job *job,
                                     const struct nw_run_plan_options *options,
                                     char **out)
{
    struct nw_words words = {0};
    struct nw_probe_run run = {.flavour = job->flavour,
                               .seconds = options->probe_seconds,
                               .patience = 5,
                               .start = nw_job_start_seconds(job),
                               .describe = options->probe_seconds <= 0};
    nw_probe *probe = NULL;
    int code = 0;
    nw_status status = nw_job_start_words(job, &words);

    run.launcher = words.word;
    if (run.describe)
        run.seconds = 1;
    if (!status)
        status = nw_probe_new(&probe);
    if (!status)
        status = run_probe_job(&run, options->quiet, probe, &code);
    if (!status && !nw_probe_is_done(probe))
        status = say_unmeasured(job, probe, code);
    if (!status)
        status = nw_probe_cluster(probe, out);
    nw_probe_free(probe);
    nw_words_fini(&words);
    return status;
}

/* Sets *oversubscribed to true if the cluster file says that ranks share cores,
 * or else to false. */
static nw_status run_machine_find_oversubscribed(const char *path,
                                                 bool *oversubscribed)
{
    size_t length;
    char *data;
    nw_status status = nw_file_read(path, &data, &length);

    if (!status) {
        *oversubscribed = strstr(data, OVERSUBSCRIBED);
        free(data);
    }
    return status;
}

static bool has_all_hosts(const nw_topology *topology, const struct nw_job *job)
{
    for (size_t h = 0; h < job->host.count; h++)
        if (nw_topology_node_find(topology, job->host.word[h]) < 0)
            return false;
    return true;
}

/* Loads the cluster file `path`. Returns an error if it lacks a host of the
 * job. */
static nw_status load_all_hosts(const struct nw_job *job, const char *path,
                                nw_topology **out)
{
    nw_topology *told = NULL;
    nw_status status = nw_topology_load(path, NULL, &told);

    if (!status && !has_all_hosts(told, job))
        status = nw_fail(NW_EMPI, "not all of the job's hosts answered when "
                                  "they were measured");
    if (status)
        nw_topology_free(told);
    else
        *out = told;
    return status;
}

/* Measures the hosts, writes store->measured and loads it. Returns an error if
 * a host of the job is missing in it, because its ranks did not answer in time.
 */
static nw_status take_measured(const struct nw_job *job,
                               const struct nw_run_plan_options *options,
                               const struct nw_store *store, nw_topology **out)
{
    char *text = NULL;
    nw_status status = run_machine_measure(job, options, &text);

    if (!status)
        status = nw_file_write(store->measured, text, strlen(text));
    if (!status)
        status = load_all_hosts(job, store->measured, out);
    free(text);
    return status;
}

/* Loads the stored topology of these hosts. If it is missing, damaged, without
 * one of the hosts or to be refreshed, measures the hosts. If that fails after
 * it was started, only asks the hosts for their cores. The result replaces the
 * stored one, except with --no-store. */
static nw_status run_machine_discover(const struct nw_job *job,
                                      const struct nw_store *store,
                                      const struct nw_run_plan_options *options,
                                      struct nw_run_plan *plan)
{
    bool known = !options->refresh && !access(store->topology, R_OK) &&
                 !load_all_hosts(job, store->topology, &plan->topology);
    struct nw_run_plan_options describe = *options;
    nw_status status =
        known ? NW_OK : take_measured(job, options, store, &plan->topology);

    describe.probe_seconds = 0;
    plan->known_by = known                        ? "from the store"
                     : options->probe_seconds > 0 ? "measured"
                                                  : "discovered";
    if (status && status != NW_ENODEV && options->probe_seconds > 0) {
        plan->known_by = "discovered";
        status = take_measured(job, &describe, store, &plan->topology);
    }
    if (!status)
        status = run_machine_find_oversubscribed(
            known ? store->topology : store->measured, &plan->oversubscribed);
    if (!status && !known && options->store &&
        rename(store->measured, store->topology))
        status = nw_fail(NW_EIO, "%s: %s", store->topology, strerror(errno));
    unlink(store->measured); /* the folder of a dry run stays */
    return status;
}

/* Sets plan->oversubscribed to true if the topology gives this machine more
 * cores than the machine has. Ranks then share cores. */
static void compare_with_here(struct nw_run_plan *plan)
{
    char name[256] = "";
    nw_topology *here = NULL;
    int32_t node;

    gethostname(name, sizeof name - 1);
    node = nw_topology_node_find(plan->topology, name);
    if (node < 0 || nw_launch_machine(NULL, &here))
        return;
    plan->oversubscribed |=
        nw_topology_node_elements(plan->topology, node).count >
        nw_topology_element_count(here);
    nw_topology_free(here);
}

nw_status nw_run_find_topology(const struct nw_job *job,
                               const struct nw_store *store,
                               const struct nw_run_plan_options *options,
                               struct nw_run_plan *plan)
{
    nw_status status;

    if (options->topology) {
        plan->known_by = "given";
        status = nw_topology_load(options->topology, NULL, &plan->topology);
        if (!status)
            compare_with_here(plan);
        return status;
    }
    if (!nw_job_is_only_here(job))
        return run_machine_discover(job, store, options, plan);
    plan->known_by = "of this machine";
    status = nw_launch_machine(NULL, &plan->topology);
    if (!status)
        status = nw_topology_load("live", NULL, &plan->given);
    if (status || nw_topology_element_count(plan->given) >= job->ranks)
        return status;
    return nw_fail(NW_EUNSUPPORTED,
                   "%d ranks share the %d core%s of this "
                   "machine: there is nothing to choose",
                   job->ranks, nw_topology_element_count(plan->given),
                   nw_plural((uint64_t)nw_topology_element_count(plan->given)));
}

/* Returns the index, within node 0, of the element that has this CPU of the
 * operating system. Returns -1 if no element has this CPU. */
static int32_t find_cpu(const nw_topology *machine, int32_t cpu)
{
    struct nw_range all = nw_topology_node_elements(machine, 0);
    const int32_t *cpus;

    for (int32_t e = 0; e < all.count; e++)
        for (size_t c = nw_topology_element_cpus(machine, all.first + e, &cpus);
             c-- > 0;)
            if (cpus[c] == cpu)
                return e;
    return -1;
}

nw_status nw_run_renumber(const struct nw_run_plan *plan, nw_mapping *mapping)
{
    size_t count = mapping->core_row ? mapping->core_row[mapping->rank_count]
                                     : (size_t)mapping->rank_count;
    int32_t first = nw_topology_node_elements(plan->given, 0).first;

    for (size_t i = 0; i < count; i++) {
        const int32_t *cpus;
        int32_t core = mapping->core[i];

        if (core >= 0 &&
            nw_topology_element_cpus(plan->given, first + core, &cpus))
            core = find_cpu(plan->topology, cpus[0]);
        if (core < 0)
            return nw_fail(NW_EUNSUPPORTED, "the operating system's numbers of "
                                            "the cores are not known");
        mapping->core[i] = core;
    }
    return NW_OK;
}
