/* SPDX-License-Identifier: BSD-3-Clause */
/* Topology of the allocation (given, stored, measured, or this machine), the
 * mapping, its prediction, and the launcher's files. */
#include "cli/run_plan.h"

#include <nodewise/launch.h>
#include <nodewise/map.h>
#include <nodewise/probe.h>
#include <nodewise/simulate.h>

#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/hosts.h"
#include "cli/prober.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CROWDED "ranks shared"
#define TRY_SECONDS 60

/* --- topology --- */

static bool is_only_here(const struct nw_job *job)
{
    char name[256] = "";

    gethostname(name, sizeof name - 1);
    return job->host.count == 1 && (!strcmp(job->host.word[0], name) ||
                                    !strcmp(job->host.word[0], "localhost"));
}

/* The measuring program on the job's own hosts. */
static nw_status measure(const struct nw_job *job,
                         const struct nw_run_wish *wish, char **out)
{
    struct nw_words words = {0};
    struct nw_prober prober = {.flavour = job->flavour,
                               .seconds = wish->probe_seconds,
                               .patience = 5,
                               .describe = wish->probe_seconds <= 0};
    nw_probe *probe = NULL;
    int code = 0;
    nw_status status = nw_job_start_words(job, &words);

    prober.launcher = words.word;
    if (prober.describe)
        prober.seconds = 1;
    if (!status)
        status = nw_probe_new(&probe);
    if (!status)
        status = nw_prober_run(&prober, probe, &code);
    if (!status && !nw_probe_is_done(probe))
        status = nw_fail(NW_EMPI,
                         "the hosts could not be measured: %s ended "
                         "with status %d",
                         job->launcher.word[0], code);
    if (!status)
        status = nw_probe_cluster(probe, out);
    nw_probe_free(probe);
    nw_words_fini(&words);
    return status;
}

static nw_status look_for_crowd(const char *path, bool *crowded)
{
    size_t length;
    char *data;
    nw_status status = nw_file_read(path, &data, &length);

    if (!status) {
        *crowded = strstr(data, CROWDED);
        free(data);
    }
    return status;
}

static nw_status discover(const struct nw_job *job,
                          const struct nw_store *store,
                          const struct nw_run_wish *wish,
                          struct nw_run_plan *plan)
{
    bool known = !wish->refresh && !access(store->topology, R_OK);
    char *text = NULL;
    nw_status status = NW_OK;

    if (!known)
        status = measure(job, wish, &text);
    if (!status && text)
        status = nw_file_write(store->topology, text, strlen(text));
    free(text);
    plan->known_by = known                     ? "from the store"
                     : wish->probe_seconds > 0 ? "measured"
                                               : "discovered";
    if (!status)
        status = look_for_crowd(store->topology, &plan->crowded);
    if (!status)
        status = nw_topology_load(store->topology, NULL, &plan->topology);
    if (!known && !wish->store)
        unlink(store->topology);
    return status;
}

/* A host that is this machine shows whether the description has more cores
 * than there are. */
static void compare_with_here(struct nw_run_plan *plan)
{
    char name[256] = "";
    nw_topology *here = NULL;
    int32_t node;

    gethostname(name, sizeof name - 1);
    node = nw_topology_node_find(plan->topology, name);
    if (node < 0 || nw_launch_machine(NULL, &here))
        return;
    plan->crowded |= nw_topology_node_elements(plan->topology, node).count >
                     nw_topology_element_count(here);
    nw_topology_free(here);
}

static nw_status find_topology(const struct nw_job *job,
                               const struct nw_store *store,
                               const struct nw_run_wish *wish,
                               struct nw_run_plan *plan)
{
    nw_status status;

    if (wish->topology) {
        plan->known_by = "given";
        status = nw_topology_load(wish->topology, NULL, &plan->topology);
        if (!status)
            compare_with_here(plan);
        return status;
    }
    if (!is_only_here(job))
        return discover(job, store, wish, plan);
    plan->known_by = "of this machine";
    status = nw_launch_machine(NULL, &plan->topology);
    if (status || nw_topology_element_count(plan->topology) >= job->ranks)
        return status;
    return nw_fail(NW_EUNSUPPORTED,
                   "%d ranks share the %d cores of this "
                   "machine: there is nothing to choose",
                   job->ranks, nw_topology_element_count(plan->topology));
}

/* --- mapping --- */

/* The job's hosts as nodes of the topology, with their slots. */
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

/* The launcher knows the hosts by the job's names, which may be short where
 * the topology's are long. */
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

/* All of the run's bytes at once: what links that are full cost it. */
static double predict(const struct nw_run_plan *plan, const nw_pattern *pattern,
                      const nw_mapping *mapping)
{
    struct nw_simulate_options options = NW_SIMULATE_OPTIONS_INIT;
    struct nw_simulation result;

    options.total = true;
    if (!nw_simulate(plan->topology, pattern, mapping, &options, &result))
        return result.time;
    options.estimate = true;
    if (!nw_simulate(plan->topology, pattern, mapping, &options, &result))
        return result.time;
    return 0;
}

static nw_status compute(const struct nw_job *job, const nw_pattern *pattern,
                         struct nw_run_plan *plan)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    struct nw_objective_choice choice = {NW_OBJECTIVE_HOP_BYTES, ""};
    struct nw_hosts hosts = {0};
    nw_mapping *usual = NULL;
    bool here =
        !nw_topology_node_count(plan->topology) ||
        (is_only_here(job) && nw_topology_node_count(plan->topology) == 1);
    nw_status status = here ? NW_OK : find_nodes(job, plan->topology, &hosts);

    if (!status)
        status = nw_map_choose_objective(plan->topology, pattern, &choice);
    options.objective = choice.objective;
    options.careful = true;
    options.hosts = hosts.node;
    options.slots = hosts.slots;
    options.host_count = hosts.count;
    if (!status)
        status =
            nw_map(plan->topology, pattern, &options, &plan->mapping, NULL);
    if (!status)
        status = rename_nodes(job, &hosts, plan->mapping);
    if (!status)
        status = nw_map_default(plan->topology, pattern, &options, &usual);
    if (!status) {
        plan->before = predict(plan, pattern, usual);
        plan->after = predict(plan, pattern, plan->mapping);
    }
    nw_mapping_free(usual);
    nw_cli_hosts_fini(&hosts);
    return status;
}

/* --- launch --- */

static nw_status add_words(struct nw_words *out, char *const *word,
                           size_t count)
{
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < count; i++)
        status = nw_words_add(out, word[i]);
    return status;
}

static size_t count_words(char *const *word)
{
    size_t count = 0;

    while (word[count])
        count++;
    return count;
}

/* A line a rank, in order of ranks: hosts alone, nobody is bound. */
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
        status = add_words(&plan->command, (char *const *)option, count);
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
        status =
            add_words(&plan->command, job->program, count_words(job->program));
    free(path);
    return status;
}

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
    options.program_words = count_words(job->program);
    if (!status)
        status =
            nw_launch_new(plan->topology, plan->mapping, &options, &launch);
    if (!status)
        status = nw_launch_write(launch);
    if (!status)
        status =
            add_words(&plan->command, launch->word + 1, launch->word_count - 1);
    if (!status)
        status = add_words(&plan->variables, launch->variable,
                           launch->variable_count);
    nw_launch_free(launch);
    free(path);
    free(self);
    return status;
}

static nw_status make_command(const struct nw_job *job,
                              const struct nw_store *store,
                              struct nw_run_plan *plan)
{
    nw_status status =
        add_words(&plan->command, job->launcher.word, job->launcher.count);

    if (status)
        return status;
    return plan->crowded ? order_command(job, store, plan)
                         : bound_command(job, store, plan);
}

nw_status nw_run_plan_make(const struct nw_job *job,
                           const struct nw_store *store,
                           const nw_pattern *pattern,
                           const struct nw_run_wish *wish,
                           struct nw_run_plan *plan)
{
    nw_status status = find_topology(job, store, wish, plan);

    if (!status)
        status = compute(job, pattern, plan);
    if (!status)
        status = make_command(job, store, plan);
    return status;
}

bool nw_run_plan_works(const struct nw_job *job, const struct nw_run_plan *plan)
{
    size_t words = plan->command.count - count_words(job->program);
    struct nw_words trial = {0};
    int code = 1;

    if (!add_words(&trial, plan->command.word, words) &&
        !nw_words_add(&trial, "true"))
        code = nw_job_try(trial.word, TRY_SECONDS);
    nw_words_fini(&trial);
    return code == 0;
}

void nw_run_plan_fini(struct nw_run_plan *plan)
{
    nw_topology_free(plan->topology);
    nw_mapping_free(plan->mapping);
    nw_words_fini(&plan->command);
    nw_words_fini(&plan->variables);
}
