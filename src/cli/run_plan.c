/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the mapping of the job's ranks, predicts its communication time, and
 * writes the launcher's files. */
#include "cli/run_plan.h"

#include <nodewise/launch.h>
#include <nodewise/map.h>

#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- mapping --- */

/* Finds the nodes of the job's hosts in the topology and their slots. Returns
 * NW_EFORMAT if the topology lacks a host. The caller calls nw_cli_hosts_fini,
 * also after an error. */
static nw_status find_nodes(const struct nw_job *job,
                            const nw_topology *topology, struct nw_hosts *hosts)
{
    nw_status status =
        nw_alloc(job->host.count, sizeof *hosts->node, &hosts->node);

    if (!status)
        status = nw_alloc(job->host.count, sizeof *hosts->slots, &hosts->slots);
    for (size_t h = 0; !status && h < job->host.count; h++) {
        int32_t node = nw_topology_node_find(topology, job->host.word[h]);

        if (node < 0)
            return nw_fail(NW_EFORMAT, "%s has no node '%s' of this job",
                           nw_topology_name(topology), job->host.word[h]);
        hosts->node[h] = node;
        hosts->slots[h] = job->slots[h] ? job->slots[h] : INT32_MAX;
    }
    hosts->count = job->host.count;
    return status;
}

/* Renames the nodes of the mapping to the host names of the job, which the
 * launcher knows. The topology may have long names where the job has short
 * ones. */
static nw_status rename_nodes(const struct nw_job *job,
                              const struct nw_hosts *hosts, nw_mapping *mapping)
{
    nw_status status = NW_OK;

    for (size_t h = 0; !status && h < hosts->count; h++) {
        char **name = &mapping->node_name[hosts->node[h]], *own;

        if (!strcmp(*name, job->host.word[h]))
            continue;
        status = nw_strdup(job->host.word[h], &own);
        if (!status) {
            free(*name);
            *name = own;
        }
    }
    return status;
}

/* Predicts the communication time of the run with the time model, for the
 * default placement `usual` and for the mapping, and makes the headline. */
static void run_predict(const nw_topology *machine, const nw_pattern *pattern,
                        const nw_mapping *usual, struct nw_run_plan *plan)
{
    struct nw_cost cost[2] = {0};
    const struct nw_cost *const side[2] = {&cost[0], &cost[1]};

    plan->has_headline =
        !nw_cost_evaluate(machine, pattern, usual, &cost[0]) &&
        !nw_cost_evaluate(machine, pattern, plan->mapping, &cost[1]);
    if (plan->has_headline)
        nw_report_headline(machine, pattern, side, &plan->headline);
    if (plan->has_headline && cost[0].has_congestion) {
        plan->before = cost[0].time;
        plan->after = cost[1].time;
    }
    nw_cost_fini(&cost[0]);
    nw_cost_fini(&cost[1]);
}

static nw_status run_plan_compute(const struct nw_job *job,
                                  const nw_pattern *pattern,
                                  struct nw_run_plan *plan)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    struct nw_objective_choice choice = {NW_OBJECTIVE_HOP_BYTES, ""};
    struct nw_hosts hosts = {0};
    nw_mapping *usual = NULL;
    const nw_topology *machine = plan->given ? plan->given : plan->topology;
    bool here = !nw_topology_node_count(plan->topology) ||
                (nw_job_is_only_here(job) &&
                 nw_topology_node_count(plan->topology) == 1);
    nw_status status = here ? NW_OK : find_nodes(job, plan->topology, &hosts);

    if (!status)
        status = nw_map_choose_objective(machine, pattern, &choice);
    options.objective = choice.objective;
    options.careful = true;
    options.cores_per_rank = job->cores_per_rank;
    options.hosts = hosts.node;
    options.slots = hosts.slots;
    options.host_count = hosts.count;
    if (!status)
        status = nw_map(machine, pattern, &options, &plan->mapping, NULL);
    if (!status)
        status = rename_nodes(job, &hosts, plan->mapping);
    if (!status)
        status = nw_map_default(machine, pattern, &options, &usual);
    if (!status)
        run_predict(machine, pattern, usual, plan);
    if (!status && plan->given)
        status = nw_run_renumber(plan, plan->mapping);
    nw_mapping_free(usual);
    nw_cli_hosts_fini(&hosts);
    return status;
}

/* --- launch --- */

static nw_status run_plan_add_words(struct nw_words *out, char *const *word,
                                    size_t count)
{
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < count; i++)
        status = nw_words_add(out, word[i]);
    return status;
}

static size_t run_plan_count_words(char *const *word)
{
    size_t count = 0;

    while (word[count])
        count++;
    return count;
}

/* Writes a host file with one line per rank, in the order of ranks, from which
 * the launcher takes each rank's host but no cores. The caller frees *path. */
static nw_status write_order(const struct nw_store *store,
                             const struct nw_job *job,
                             const nw_mapping *mapping, char **path)
{
    struct nw_text text = {0}, name = {0};
    char *words = NULL;
    nw_status status;

    for (int32_t r = 0; r < mapping->rank_count; r++)
        nw_text_format(&text, "%s%s\n", mapping->node_name[mapping->node[r]],
                       job->kind == NW_LAUNCHER_HYDRA ? ":1" : "");
    nw_text_format(&name, "%s.order", store->prefix);
    status = nw_text_take(&text, &words);
    if (!status)
        status = nw_text_take(&name, path);
    if (!status)
        status = nw_file_write(*path, words, strlen(words));
    free(words);
    nw_text_fini(&text);
    nw_text_fini(&name);
    return status;
}

/* Makes the rest of the command if ranks share cores: the mapping selects only
 * the host of each rank. */
static nw_status order_command(const struct nw_job *job,
                               const struct nw_store *store,
                               struct nw_run_plan *plan)
{
    static const char *const openmpi[] = {"--map-by", "seq", "--bind-to",
                                          "none", "--hostfile"};
    static const char *const hydra[] = {"-f"};
    static const char *const slurm[] = {"-m", "arbitrary", "--overcommit"};
    const char *const *option = job->kind == NW_LAUNCHER_OPENMPI ? openmpi
                                : job->kind == NW_LAUNCHER_HYDRA ? hydra
                                                                 : slurm;
    size_t count = job->kind == NW_LAUNCHER_OPENMPI ? 5
                   : job->kind == NW_LAUNCHER_HYDRA ? 1
                                                    : 3;
    char number[16], *path = NULL;
    nw_status status = write_order(store, job, plan->mapping, &path);

    snprintf(number, sizeof number, "%d", job->ranks);
    if (!status)
        status = nw_words_add(&plan->command, "-n");
    if (!status)
        status = nw_words_add(&plan->command, number);
    if (!status)
        status =
            run_plan_add_words(&plan->command, (char *const *)option, count);
    if (!status && job->kind != NW_LAUNCHER_SRUN)
        status = nw_words_add(&plan->command, path);
    if (!status && job->kind == NW_LAUNCHER_SRUN) {
        struct nw_text text = {0};
        char *variable = NULL;

        nw_text_format(&text, "SLURM_HOSTFILE=%s", path);
        status = nw_text_take(&text, &variable);
        if (!status)
            status = nw_words_add(&plan->variables, variable);
        free(variable);
    }
    if (!status)
        status = run_plan_add_words(&plan->command, job->program,
                                    run_plan_count_words(job->program));
    free(path);
    return status;
}

/* Makes the rest of the command if each rank has its own cores: the launcher's
 * files bind the ranks. */
static nw_status bound_command(const struct nw_job *job,
                               const struct nw_store *store,
                               struct nw_run_plan *plan)
{
    struct nw_launch_options options = NW_LAUNCH_OPTIONS_INIT;
    struct nw_text name = {0};
    nw_launch *launch = NULL;
    char *path = NULL, *self = realpath("/proc/self/exe", NULL);
    nw_status status;

    nw_text_format(&name, "%s.mapping", store->prefix);
    status = nw_text_take(&name, &path);
    if (!status)
        status = nw_mapping_write(plan->mapping, path);
    options.launcher = job->writer;
    options.prefix = store->prefix;
    options.exec_path = self;
    options.mapping_path = path;
    options.program = (const char *const *)job->program;
    options.program_words = run_plan_count_words(job->program);
    if (!status)
        status =
            nw_launch_new(plan->topology, plan->mapping, &options, &launch);
    if (!status)
        status = nw_launch_write(launch);
    if (!status)
        status = run_plan_add_words(&plan->command, launch->word + 1,
                                    launch->word_count - 1);
    if (!status)
        status = run_plan_add_words(&plan->variables, launch->variable,
                                    launch->variable_count);
    nw_launch_free(launch);
    free(path);
    free(self);
    return status;
}

/* Script that Hydra in a Slurm job calls instead of its remote shell. Without
 * it, Hydra orders the hosts as Slurm does, not as the host file does, and uses
 * each host once. The script starts a job step for each line of the host file,
 * which keeps the order. Since version 23.11, Slurm passes options of srun in
 * HYDRA_LAUNCHER_EXTRA_ARGS, which Hydra puts before the host. */
static const char agent[] =
    "#!/bin/sh\n"
    "# Written by nodewise run: what Hydra calls as it would rsh.\n"
    "options=\n"
    "while [ \"${1#-}\" != \"$1\" ]; do\n"
    "    options=\"$options $1\"\n"
    "    shift\n"
    "done\n"
    "host=$1\n"
    "shift\n"
    "unset SLURM_NTASKS_PER_NODE SLURM_HOSTFILE\n"
    "exec srun $options --overlap -N 1 -n 1 -w \"$host\" -m block \\\n"
    "    --mpi=none --cpu-bind=none --input=none sh -c \"$*\"\n";

/* Returns true if an option of the user chooses what Hydra starts its helpers
 * with (-launcher, -bootstrap) or its resource manager (-rmk). */
static bool names_agent(const struct nw_words *launcher)
{
    static const char *const options[] = {"-launcher", "-bootstrap", "-rmk"};

    for (size_t i = 0; i < launcher->count; i++)
        for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
            const char *word = launcher->word[i];

            word += !strncmp(word, "--", 2);
            if (!strncmp(word, options[o], strlen(options[o])))
                return true;
        }
    return false;
}

/* Writes the script and adds the options by which Hydra uses it. */
static nw_status add_agent(const struct nw_job *job,
                           const struct nw_store *store,
                           struct nw_run_plan *plan)
{
    bool intel = !strcmp(job->writer, "intel");
    const char *option = intel ? "-bootstrap" : "-launcher";
    const char *by = intel ? "-bootstrap-exec" : "-launcher-exec";
    struct nw_text name = {0};
    char *path = NULL;
    nw_status status;

    nw_text_format(&name, "%s.agent", store->prefix);
    status = nw_text_take(&name, &path);
    if (!status)
        status = nw_file_write(path, agent, strlen(agent));
    if (!status && chmod(path, 0700))
        status = nw_fail(NW_EIO, "%s: %s", path, strerror(errno));
    if (!status)
        status = run_plan_add_words(
            &plan->command,
            (char *const[]){(char *)option, (char *)"rsh", (char *)by, path},
            4);
    free(path);
    return status;
}

static nw_status make_command(const struct nw_job *job,
                              const struct nw_store *store,
                              struct nw_run_plan *plan)
{
    nw_status status = run_plan_add_words(&plan->command, job->launcher.word,
                                          job->launcher.count);

    if (!status && job->kind == NW_LAUNCHER_HYDRA && getenv("SLURM_JOB_ID") &&
        !names_agent(&job->launcher))
        status = add_agent(job, store, plan);
    if (status)
        return status;
    return plan->oversubscribed ? order_command(job, store, plan)
                                : bound_command(job, store, plan);
}

nw_status nw_run_plan_make(const struct nw_job *job,
                           const struct nw_store *store,
                           const nw_pattern *pattern,
                           const struct nw_run_plan_options *options,
                           struct nw_run_plan *plan)
{
    nw_status status = nw_run_find_topology(job, store, options, plan);

    if (!status)
        status = run_plan_compute(job, pattern, plan);
    if (!status)
        status = make_command(job, store, plan);
    return status;
}

bool nw_run_plan_works(const struct nw_job *job, const struct nw_run_plan *plan)
{
    size_t words = plan->command.count - run_plan_count_words(job->program);
    struct nw_words trial = {0};
    int code = 1;

    if (!run_plan_add_words(&trial, plan->command.word, words) &&
        !nw_words_add(&trial, "true"))
        code = nw_job_try(trial.word, plan->variables.word,
                          nw_job_start_seconds(job));
    nw_words_fini(&trial);
    return code == 0;
}

void nw_run_plan_fini(struct nw_run_plan *plan)
{
    nw_topology_free(plan->topology);
    nw_topology_free(plan->given);
    nw_mapping_free(plan->mapping);
    nw_words_fini(&plan->command);
    nw_words_fini(&plan->variables);
}
