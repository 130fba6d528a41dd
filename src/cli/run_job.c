/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the launcher that fits the program, and the hosts and ranks of the job:
 * from the command line, from the batch system, or from this machine. */
#include "cli/run_job.h"

#include <nodewise/topology.h>

#include "base/array.h"
#include "base/hostfile.h"
#include "base/hostlist.h"
#include "base/install_path.h"
#include "base/status.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/batch.h"
#include "cli/child.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

nw_status nw_words_add(struct nw_words *words, const char *word)
{
    nw_status status = nw_grow(&words->word, &words->capacity, words->count + 2,
                               sizeof *words->word);

    if (!status)
        status = nw_strdup(word, &words->word[words->count]);
    if (!status)
        words->word[++words->count] = NULL;
    return status;
}

void nw_words_fini(struct nw_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->word[i]);
    free(words->word);
    *words = (struct nw_words){0};
}

void nw_job_fini(struct nw_job *job)
{
    nw_words_fini(&job->launcher);
    nw_words_fini(&job->placement);
    nw_words_fini(&job->host);
    free(job->table.slot);
    free(job->slots);
}

/* --- the launcher --- */

/* Splits a line at blanks. Single or double quotes keep blanks in a word.
 * Returns NW_EINVAL if a quote is not closed or the line has no words. */
static nw_status split_line(const char *line, struct nw_words *out)
{
    nw_status status = NW_OK;

    while (!status && *(line += strspn(line, " \t"))) {
        struct nw_text word = {0};
        char quote = 0, *text = NULL;

        nw_text_add(&word, "");
        for (; *line && (quote || !strchr(" \t", *line)); line++)
            if (quote ? *line == quote : *line == '\'' || *line == '"')
                quote = quote ? 0 : *line;
            else
                nw_text_add_bytes(&word, line, 1);
        status = nw_text_take(&word, &text);
        if (!status && quote)
            status = nw_fail(NW_EINVAL,
                             "--launcher: the quote %c is not closed", quote);
        if (!status)
            status = nw_words_add(out, text);
        free(text);
    }
    if (!status && !out->count)
        return nw_fail(NW_EINVAL,
                       "--launcher is empty; give a command, such as mpirun");
    return status;
}

/* Returns true if the launcher can start programs of this MPI flavour. NULL
 * (unknown) and the standard ABI fit to all launchers. */
static bool run_job_fits(const char *flavour, enum nw_launcher_kind kind)
{
    return !flavour || !strcmp(flavour, "mpiabi") ||
           (kind == NW_LAUNCHER_OPENMPI && !strcmp(flavour, "openmpi")) ||
           (kind == NW_LAUNCHER_HYDRA && !strcmp(flavour, "mpich"));
}

/* Searches the PATH for the launcher of the program's MPI, or for any launcher
 * if this MPI is unknown. If the PATH lacks it, takes srun in a Slurm job. */
static nw_status run_job_search(struct nw_job *job)
{
    static const char *const names[] = {
        "mpirun",        "mpiexec",       "mpirun.openmpi", "mpiexec.openmpi",
        "mpiexec.hydra", "mpiexec.mpich", "mpirun.mpich",   "srun"};
    const char *flavour = job->flavour;
    char path[PATH_MAX];

    if (!flavour)
        flavour = nw_launcher_flavour(NW_LAUNCHER_NONE, job->program);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool slurm = !strcmp(names[i], "srun");
        nw_status status;

        if (!nw_install_path_search(names[i], path) ||
            (slurm && !getenv("SLURM_JOB_ID")))
            continue;
        status = nw_launcher_find(names[i], &job->kind);
        if (status == NW_EHELPER)
            fprintf(stderr, "nodewise run: %s\n", nw_error_text());
        if (status)
            continue;
        if (slurm || run_job_fits(flavour, job->kind))
            return nw_words_add(&job->launcher, names[i]);
    }
    return nw_fail(NW_ENODEV,
                   "no launcher of %s MPI is in the PATH; give "
                   "--launcher",
                   flavour ? "the program's" : "any");
}

/* Returns the first version number "X.Y" in a text as 100 X + Y, or 0 if the
 * text has no version number. */
static int number_of(const char *text)
{
    for (; *text; text++) {
        int major, minor;

        if (*text >= '0' && *text <= '9' &&
            sscanf(text, "%d.%d", &major, &minor) == 2)
            return 100 * major + minor;
    }
    return 0;
}

/* Returns the name by which nw_launch_new knows this launcher and its version;
 * NULL if unknown. */
static const char *find_writer(const struct nw_job *job)
{
    char answer[NW_LAUNCHER_ANSWER];
    const char *version;
    int number;

    (void)nw_launcher_ask(job->launcher.word[0], answer);
    version = strstr(answer, "Version:");
    number = number_of(version ? version : answer);
    switch (job->kind) {
    case NW_LAUNCHER_OPENMPI:
        return number >= 500 || strstr(answer, "rte") ? "openmpi5" : "openmpi4";
    case NW_LAUNCHER_HYDRA:
        return strstr(answer, "Intel") ? "intel"
               : number >= 500         ? "mpich41"
                                       : "mpich";
    case NW_LAUNCHER_SRUN:
        return number >= 2302 ? "slurm" : "slurm22";
    default:
        return NULL;
    }
}

nw_status nw_job_find_launcher(struct nw_job *job)
{
    nw_status status = job->launcher.count ? NW_OK
                       : job->launcher_line
                           ? split_line(job->launcher_line, &job->launcher)
                           : run_job_search(job);

    if (!status && job->launcher_line)
        status = nw_launcher_find(job->launcher.word[0], &job->kind);
    if (!status && job->kind == NW_LAUNCHER_NONE)
        status =
            nw_fail(NW_ENODEV,
                    "'%s' is not a known launcher; use mpirun, mpiexec or srun",
                    job->launcher.word[0]);
    if (!status)
        job->writer = find_writer(job);
    if (!status && !job->flavour) /* the flavour stays NULL if it is unknown */
        job->flavour = nw_launcher_flavour(job->kind, job->program);
    return status;
}

nw_status nw_job_check_mpi(const struct nw_job *job)
{
    const char *own = nw_launcher_flavour(NW_LAUNCHER_NONE, job->program);

    if (job->kind == NW_LAUNCHER_SRUN || run_job_fits(own, job->kind))
        return NW_OK;
    return nw_fail(NW_EMPI,
                   "'%s' uses %s, but '%s' starts programs of %s: each rank "
                   "would run alone; use the launcher of the program's MPI",
                   job->program[0],
                   strcmp(own, "openmpi") ? "MPICH or a relative of it"
                                          : "Open MPI",
                   job->launcher.word[0],
                   job->kind == NW_LAUNCHER_OPENMPI ? "Open MPI" : "MPICH");
}

/* --- hosts --- */

/* Returns true for a word that the launcher replaces by hosts: Open MPI's
 * relative ("+n1") and excluded hosts ("^n1"), and srun's file of hosts. */
static bool is_resolved(const struct nw_job *job, const char *name)
{
    return job->kind == NW_LAUNCHER_OPENMPI ? strchr("+^", *name) != NULL
           : job->kind == NW_LAUNCHER_SRUN  ? strchr(name, '/') != NULL
                                            : false;
}

static nw_status run_job_add_host(void *user, const char *name, int32_t slots)
{
    struct nw_job *job = user;
    size_t count = job->host.count, i = 0;
    nw_status status = is_resolved(job, name) ? NW_OK : nw_host_check(name);

    if (!status)
        status = nw_name_table_note(&job->table, job->host.word, name, &i);
    if (status)
        return status;
    if (i < count) {
        job->slots[i] = nw_hostfile_slots_sum(job->slots[i], slots);
        return NW_OK;
    }
    status = nw_words_add(&job->host, name);
    if (!status)
        status = nw_grow(&job->slots, &job->slot_capacity, count + 1,
                         sizeof *job->slots);
    if (!status)
        job->slots[i] = slots;
    return status;
}

static nw_status run_job_add_line(void *user, char *line)
{
    return nw_hostfile_line(line, run_job_add_host, user);
}

static nw_status find_batch_hosts(struct nw_job *job)
{
    struct nw_batch batch;
    nw_status status = nw_batch_find(&batch);
    const int32_t *slots;

    if (status)
        return status;
    job->in_batch = batch.variable != NULL;
    slots = nw_batch_tasks_hold(batch.tasks, batch.host.count, job->ranks)
                ? batch.tasks
                : batch.slots;
    for (size_t h = 0; !status && h < batch.host.count; h++)
        status = run_job_add_host(job, batch.host.name[h], slots[h]);
    nw_batch_fini(&batch);
    return status;
}

static nw_status find_hosts(struct nw_job *job)
{
    char name[256] = "";
    nw_status status;

    if (job->hostfile)
        return nw_hostfile_read(job->hostfile, run_job_add_line, job,
                                &job->host.count);
    if (job->hosts)
        return nw_hostfile_list(job->hosts, run_job_add_host, job);
    status = find_batch_hosts(job);
    if (status || job->host.count)
        return status;
    gethostname(name, sizeof name - 1);
    return run_job_add_host(job, name[0] ? name : "localhost", 0);
}

/* Returns the number of cores that this process may use. Counts cores, not
 * hardware threads, because Open MPI refuses more ranks than cores. If the
 * topology of this machine is unknown, returns the number of all its hardware
 * threads. */
static int32_t count_cores(void)
{
    nw_topology *machine = NULL;
    int32_t count = 0;

    if (!nw_topology_load("live", NULL, &machine))
        count = nw_topology_element_count(machine);
    nw_topology_free(machine);
    return count > 0 ? count : (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
}

/* Returns the sum of the slots of all hosts, or 0 if the slots of all hosts are
 * unknown. Otherwise a host with unknown slots counts as one slot. */
static int32_t count_slots(const struct nw_job *job)
{
    int64_t count = 0;
    bool is_said = false;

    for (size_t h = 0; h < job->host.count; h++) {
        is_said |= job->slots[h] > 0;
        count += job->slots[h] > 0 ? job->slots[h] : 1;
    }
    if (!is_said)
        return 0;
    return count < INT32_MAX ? (int32_t)count : INT32_MAX;
}

/* Returns the default number of ranks, or 0 if it is unknown. If the user gives
 * hosts with slots, and the launcher is not srun, the default is the number of
 * all slots. Otherwise the default is the number of tasks of the Slurm job.
 * Outside of Slurm jobs, the default is the number of slots. */
static int32_t guess_ranks(const struct nw_job *job)
{
    const char *tasks = getenv("SLURM_NTASKS");
    int32_t slots = count_slots(job), count = 0;

    if (job->kind != NW_LAUNCHER_SRUN && !job->in_batch &&
        (slots || job->is_line))
        return slots;
    if (tasks && nw_parse_i32(tasks, &count) && count > 0)
        return count;
    return slots;
}

/* Sets the number of ranks to the number that the cores of this machine take if
 * no number is known. If the job runs here without a limit of the user or of a
 * batch system, and has more ranks than cores, sets job->shared_cores. */
static void look_for_room(struct nw_job *job)
{
    bool is_open = !job->hostfile && !job->hosts && !job->in_batch &&
                   !getenv("SLURM_JOB_ID");
    int32_t cores = is_open || !job->ranks ? count_cores() : 0;
    int32_t each = job->cores_per_rank > 1 ? job->cores_per_rank : 1;

    if (!job->ranks)
        job->ranks = cores > each ? cores / each : 1;
    if (is_open && job->ranks > cores)
        job->shared_cores = cores;
}

nw_status nw_job_check_list(const struct nw_job *job)
{
    const char *list = job->hosts ? job->hosts : "";
    const char *at = *list == '-' ? list : strstr(list, ",-");

    for (const char *c = list; !at && *c; c++)
        if (!strchr("\t\r\n", *c) && nw_text_control(c))
            return nw_host_check(list);
    return at ? nw_host_check(at + (*at == ',')) : NW_OK;
}

/* Removes the last hosts if the user's line gives a smaller number of nodes. */
static void limit_hosts(struct nw_job *job)
{
    struct nw_words *host = &job->host;

    while (job->nodes && host->count > (size_t)job->nodes) {
        free(host->word[--host->count]);
        host->word[host->count] = NULL;
    }
}

nw_status nw_job_find_hosts(struct nw_job *job)
{
    nw_status status = find_hosts(job);

    if (status)
        nw_words_fini(&job->host);
    if (!status && !job->host.count)
        status = nw_fail(NW_EFORMAT, "--hosts: no host in '%s'", job->hosts);
    if (!status)
        limit_hosts(job);
    if (!status && !job->ranks)
        job->ranks = guess_ranks(job);
    if (!status && !job->ranks && job->is_line &&
        (job->hosts || job->hostfile)) /* launchers differ in their default */
        status = nw_fail(NW_EFORMAT, "the number of ranks is not in the line, "
                                     "nor slots with the hosts (give -n)");
    if (!status)
        look_for_room(job);
    return status;
}

/* --- command lines --- */

/* Adds the launcher's option with the list of hosts. */
static nw_status add_host_option(const struct nw_job *job, struct nw_words *out)
{
    bool openmpi = job->kind == NW_LAUNCHER_OPENMPI;
    struct nw_text text = {0};
    char *list = NULL;
    nw_status status;

    for (size_t h = 0; h < job->host.count; h++) {
        nw_text_format(&text, "%s%s", h ? "," : "", job->host.word[h]);
        if (job->slots[h] && job->kind != NW_LAUNCHER_SRUN)
            nw_text_format(&text, ":%d", job->slots[h]);
    }
    if (!job->host.count) /* Nodewise could not read the list, but the launcher
                             may be able to */
        nw_text_add(&text, job->hosts ? job->hosts : job->hostfile);
    status = nw_text_take(&text, &list);
    if (!status)
        status = nw_words_add(out, openmpi                         ? "--host"
                                   : job->kind == NW_LAUNCHER_SRUN ? "-w"
                                                                   : "-hosts");
    if (!status)
        status = nw_words_add(out, list);
    free(list);
    return status;
}

/* If ranks share cores, adds the option without which Open MPI refuses this,
 * unless the user's options name it. */
static nw_status add_sharing(const struct nw_job *job, struct nw_words *out)
{
    nw_status status;

    if (!job->shared_cores || job->kind != NW_LAUNCHER_OPENMPI)
        return NW_OK;
    for (size_t i = 0; i < job->launcher.count; i++)
        if (strcasestr(job->launcher.word[i], "oversubscribe"))
            return NW_OK;
    if (strcmp(job->writer, "openmpi5") != 0)
        return nw_words_add(out, "--oversubscribe");
    status = nw_words_add(out, "--map-by");
    return status ? status : nw_words_add(out, ":OVERSUBSCRIBE");
}

nw_status nw_job_start_words(const struct nw_job *job, struct nw_words *out)
{
    char count[16];
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < job->launcher.count; i++)
        status = nw_words_add(out, job->launcher.word[i]);
    if (!status)
        status = add_sharing(job, out);
    snprintf(count, sizeof count, "%d", job->ranks);
    if (!status && job->ranks)
        status = nw_words_add(out, "-n");
    if (!status && job->ranks)
        status = nw_words_add(out, count);
    if (!status && job->hostfile && job->kind != NW_LAUNCHER_SRUN) {
        status = nw_words_add(
            out, job->kind == NW_LAUNCHER_OPENMPI ? "--hostfile" : "-f");
        if (!status)
            status = nw_words_add(out, job->hostfile);
    } else if (!status && (job->hosts || job->hostfile)) {
        status = add_host_option(job, out);
    }
    return status;
}

nw_status nw_job_plain_words(const struct nw_job *job, struct nw_words *out)
{
    nw_status status = nw_job_start_words(job, out);

    for (size_t i = 0; !status && i < job->placement.count; i++)
        status = nw_words_add(out, job->placement.word[i]);
    for (char **word = job->program; !status && *word; word++)
        status = nw_words_add(out, *word);
    return status;
}

/* --- running --- */

static void set_variables(void *user)
{
    char **variables = user;

    for (; variables && *variables; variables++)
        putenv(*variables);
}

int nw_job_run(char **argv, char **variables)
{
    return nw_child_run(&(struct nw_child){.command = "run",
                                           .argv = argv,
                                           .out = -1,
                                           .prepare = set_variables,
                                           .user = variables});
}

int nw_job_start_seconds(const struct nw_job *job)
{
    return 20 + job->ranks / 50;
}

static void run_job_be_silent(void)
{
    int null = open("/dev/null", O_RDWR);

    for (int i = 0; null >= 0 && i < 3; i++)
        dup2(null, i);
}

int nw_job_try(char **argv, char **variables, int seconds)
{
    pid_t tried;
    int status;

    fflush(NULL);
    tried = nw_child_fork();
    if (!tried) {
        signal(SIGINT, SIG_DFL);
        run_job_be_silent();
        set_variables(variables);
        execvp(argv[0], argv);
        _exit(127);
    }
    if (tried < 0)
        return 127;
    nw_child_take_along(tried);
    status = nw_child_end(tried, seconds);
    nw_child_take_along(0);
    return status;
}
