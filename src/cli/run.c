/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise run profiles the program at its first run and stores the pattern.
 * Later runs are mapped by this pattern. If Nodewise fails after the launcher
 * was found, it only prints a warning and starts the launcher without Nodewise.
 * Wrong options, an output that cannot be written and a missing launcher are
 * errors. */
#include <nodewise/profile.h>

#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/run_store_entry.h"
#include "cli/launcher_line.h"
#include "cli/run_plan.h"
#include "cli/run_output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY_HOSTS 0x2001
#define KEY_HOSTFILE 0x2002
#define KEY_LAUNCHER 0x2003
#define KEY_MPI 0x2004
#define KEY_DRY 0x2005
#define KEY_NO_STORE 0x2006
#define KEY_REFRESH 0x2007
#define KEY_STORE 0x2008
#define KEY_PROBE_TIME 0x2009
#define KEY_JSON 0x200a
#define KEY_LIST 0x200b
#define KEY_FORGET 0x200c
#define KEY_COMPARE 0x200d
#define KEY_CORES 0x200e

struct run_arguments {
    struct nw_job job;
    struct nw_run_plan_options plan;
    const char *folder, *output, *pattern;
    nw_pattern *given; /* content of the pattern given by the user */
    int32_t rounds;    /* number of rounds of a comparison; 0: no comparison */
    bool dry, quiet, json, list, forget;
};

static const struct argp_option options[] = {
    {"ranks", 'n', "N", 0,
     "Number of ranks, also -np (default: the tasks of the Slurm job, all "
     "slots, or all cores)",
     0},
    {"cores-per-rank", KEY_CORES, "N", 0,
     "Cores of each mapped rank, for programs with threads (default: 1)", 0},
    {"pattern", 'p', "PATTERN", 0, "Use this pattern instead of the stored one",
     0},
    {"topology", 't', "SOURCE", 0,
     "The machine (default: the stored, measured or live one)", 0},
    {"hostfile", KEY_HOSTFILE, "FILE", 0,
     "Host file in the launcher's own format", 0},
    {"hosts", KEY_HOSTS, "LIST", 0, "Hosts, with optional slots: n[1-4]:8,x",
     0},
    {"launcher", KEY_LAUNCHER, "COMMAND", 0,
     "Launcher and its options (default: the launcher of the program's MPI)",
     0},
    {"mpi", KEY_MPI, "FLAVOUR", 0,
     "MPI of the program, openmpi or mpich (default: found from launcher and "
     "program)",
     0},
    {"dry-run", KEY_DRY, NULL, 0, "Print the command and start nothing", 0},
    {"no-store", KEY_NO_STORE, NULL, 0,
     "Use the store, but write nothing to it", 0},
    {"refresh", KEY_REFRESH, NULL, 0,
     "Profile again, and measure the hosts again", 0},
    {"compare", KEY_COMPARE, "ROUNDS", OPTION_ARG_OPTIONAL,
     "Run default placement and mapping in turns and measure both (default: 3 "
     "rounds)",
     0},
    {"list", KEY_LIST, NULL, 0, "List the stored patterns", 0},
    {"forget", KEY_FORGET, NULL, 0,
     "Remove the stored patterns of PROGRAM, or without PROGRAM all patterns, "
     "topologies and files of dry runs",
     0},
    {"store", KEY_STORE, "FOLDER", 0,
     "Folder of stored patterns and topologies (default: $NODEWISE_STORE, else "
     "~/.cache/nodewise)",
     0},
    {"probe-time", KEY_PROBE_TIME, "TIME", 0,
     "Time limit for measuring unknown hosts (default: 10s; 0s: do not "
     "measure)",
     0},
    {"output", 'o', "FILE", 0,
     "Write the command to FILE before it is started; with --dry-run or "
     "--list: write the output to FILE",
     0},
    {"json", KEY_JSON, NULL, 0, "With --dry-run, -o or --list: print JSON", 0},
    {"quiet", 'q', NULL, 0, "Print warnings only", 0},
    {0},
};

static void parse_ranks(struct run_arguments *arguments, const char *value,
                        struct argp_state *state)
{
    if (!nw_parse_i32(value, &arguments->job.ranks) || arguments->job.ranks < 1)
        nw_argfail(state, "ranks are a number from 1, not '%s'", value);
}

static error_t parse_place(int key, char *value, struct argp_state *state)
{
    static const char *const flavours[] = {"openmpi", "mpich", NULL};
    struct run_arguments *arguments = state->input;

    switch (key) {
    case 'n':
        if (!strcmp(state->argv[state->next - 1], "-np") &&
            state->next < state->argc)
            value = state->argv[state->next++];
        parse_ranks(arguments, value, state);
        return 0;
    case KEY_CORES:
        if (!nw_parse_i32(value, &arguments->job.cores_per_rank) ||
            arguments->job.cores_per_rank < 1)
            nw_argfail(state,
                       "--cores-per-rank is a number from 1, not "
                       "'%s'",
                       value);
        return 0;
    case 'p':
        arguments->pattern = value;
        return 0;
    case 't':
        arguments->plan.topology = value;
        return 0;
    case KEY_HOSTFILE:
        arguments->job.hostfile = value;
        return 0;
    case KEY_HOSTS:
        arguments->job.hosts = value;
        return 0;
    case KEY_LAUNCHER:
        arguments->job.launcher_line = value;
        return 0;
    case KEY_MPI:
        nw_argchoose(state, "--mpi", value, flavours);
        arguments->job.flavour = value;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void run_check_words(const struct run_arguments *arguments,
                            struct argp_state *state)
{
    if (!arguments->job.program)
        nw_argfail(
            state,
            "the program is missing; for example: nodewise run -n 64 -- ./app");
    if (arguments->rounds && arguments->job.program[1] &&
        !strcmp(arguments->job.program[1], "--"))
        nw_argfail(state, "rounds are given as --compare=%s",
                   arguments->job.program[0]);
    if (arguments->job.hosts && arguments->job.hostfile)
        nw_argfail(state, "--hosts and --hostfile exclude each other");
    if (arguments->plan.refresh && !arguments->plan.store &&
        !arguments->pattern)
        nw_argfail(state, "--refresh stores a new pattern; leave out "
                          "--no-store, or give -p");
    if (arguments->dry && arguments->rounds)
        nw_argfail(state, "--dry-run and --compare exclude each other");
    if (!arguments->dry &&
        (arguments->output ? !strcmp(arguments->output, "-") : arguments->json))
        nw_argfail(state, "standard output is the program's; give -o FILE "
                          "or --dry-run");
}

static error_t run_parse(int key, char *value, struct argp_state *state)
{
    struct run_arguments *arguments = state->input;

    switch (key) {
    case KEY_DRY:
        arguments->dry = true;
        return 0;
    case KEY_NO_STORE:
        arguments->plan.store = false;
        return 0;
    case KEY_REFRESH:
        arguments->plan.refresh = true;
        return 0;
    case KEY_STORE:
        if (!*value)
            nw_argfail(state, "--store names no folder");
        arguments->folder = value;
        return 0;
    case KEY_PROBE_TIME:
        if (!nw_parse_duration(value, &arguments->plan.probe_seconds) ||
            arguments->plan.probe_seconds < 0)
            nw_argfail(state, "--probe-time is a time such as 10s, not '%s'",
                       value);
        return 0;
    case 'q':
        arguments->quiet = arguments->plan.quiet = true;
        return 0;
    case 'o':
        arguments->output = value;
        return 0;
    case KEY_JSON:
        arguments->json = true;
        return 0;
    case ARGP_KEY_ARGS:
        arguments->job.program = state->argv + state->next;
        return 0;
    case KEY_COMPARE:
        arguments->rounds = 3;
        if (value &&
            (!nw_parse_i32(value, &arguments->rounds) || arguments->rounds < 1))
            nw_argfail(state, "--compare: rounds are a number from 1, not '%s'",
                       value);
        return 0;
    case KEY_LIST:
        arguments->list = true;
        return 0;
    case KEY_FORGET:
        arguments->forget = true;
        return 0;
    case ARGP_KEY_END:
        if (arguments->list && arguments->forget)
            nw_argfail(state, "--list and --forget exclude each other");
        if (arguments->forget && (arguments->dry || !arguments->plan.store))
            nw_argfail(state, "--forget removes files; leave out --dry-run and "
                              "--no-store");
        if (!arguments->list && !arguments->forget)
            run_check_words(arguments, state);
        return 0;
    default:
        return parse_place(key, value, state);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = run_parse,
    .args_doc = "-- PROGRAM [ARGUMENT...]\n-- mpirun [OPTION...] PROGRAM "
                "[ARGUMENT...]\n--list\n--forget [PROGRAM]",
    .doc = "Run an MPI program with its ranks well placed. The first run is "
           "profiled; later runs are mapped.\v"
           "Example:\n  nodewise run -n 64 --hostfile hosts -- ./app input\n"
           "  nodewise run -- mpirun -n 64 --hostfile hosts ./app input\n",
};

static void run_say(const struct run_arguments *arguments, const char *format,
                    ...) NW_PRINTF(2, 3);
static void run_say(const struct run_arguments *arguments, const char *format,
                    ...)
{
    va_list words;

    if (arguments->quiet)
        return;
    fputs("nodewise run: ", stderr);
    va_start(words, format);
    vfprintf(stderr, format, words);
    va_end(words);
    fputs("\n", stderr);
}

/* With --dry-run, only prints the command. Otherwise writes it to the file of
 * -o, if given, and runs it; a failure to write is then only a warning. */
static int run_start(const struct run_arguments *arguments,
                     const struct nw_run_account *account)
{
    nw_status status = NW_OK;

    if (arguments->dry || arguments->output)
        status = nw_run_tell(&arguments->job, account, arguments->json,
                             arguments->output);
    if (status && arguments->dry)
        return nw_cli_fail_output("run", status);
    if (status)
        fprintf(stderr, "nodewise run: warning: %s\n", nw_error_text());
    return arguments->dry
               ? NW_EXIT_DONE
               : nw_job_run((char **)account->word, (char **)account->variable);
}

/* Starts the launcher without Nodewise. `why` is the reason after an error, or
 * NULL. */
static int run_plain(const struct run_arguments *arguments, const char *why)
{
    struct nw_words words = {0};
    nw_status status = nw_job_plain_words(&arguments->job, &words);
    struct nw_run_account account = {
        .action = "plain", .why = why, .word = words.word};
    int code =
        status ? nw_cli_fail("run", status) : run_start(arguments, &account);

    nw_words_fini(&words);
    return code;
}

/* Prints the warning `why`, then starts the launcher without Nodewise. */
static int run_warned(const struct run_arguments *arguments, const char *why)
{
    char *kept = strdup(why);
    int code;

    fprintf(stderr, "nodewise run: warning: %s; started as without nodewise\n",
            why);
    code = run_plain(arguments, kept);
    free(kept);
    return code;
}

/* Returns the name of the library to preload. A program that is linked with the
 * MPI standard ABI needs the library for this ABI, whichever MPI's launcher
 * starts it. */
static const char *run_preloaded(const struct nw_job *job)
{
    const char *library = nw_launcher_library(job->kind, job->program);

    return library && !strcmp(library, "mpiabi") ? library : job->flavour;
}

/* --- first run: profile --- */

/* Makes the command line of the first run, which preloads the profiler. The
 * caller frees *out with nw_argv_free. */
static nw_status profiled_words(const struct run_arguments *arguments,
                                const struct nw_store *store, char ***out)
{
    const struct nw_job *job = &arguments->job;
    const char *name[2] = {NW_ENV_RECORD, NW_ENV_PRELOAD}, *value[2];
    struct nw_variables variables = {name, value, 2};
    struct nw_words plain = {0};
    char *library = NULL;
    nw_status status = nw_job_plain_words(job, &plain);

    if (!status && !job->flavour)
        status = nw_fail(NW_ENODEV,
                         "cannot find out which MPI '%s' uses; link the "
                         "program to an MPI library dynamically",
                         job->program[0]);
    if (!status)
        status = nw_profile_library(run_preloaded(job), &library);
    value[0] = store->fresh;
    value[1] = library;
    if (!status)
        status = nw_launcher_argv(job->kind, plain.word, &variables, out);
    free(library);
    nw_words_fini(&plain);
    return status;
}

/* Returns false if ranks share the cores of this machine, since a mapping
 * cannot improve anything then. A topology of -t may be another machine. */
static bool may_be_mapped(const struct run_arguments *arguments)
{
    return !arguments->job.shared_cores || arguments->plan.topology;
}

static void say_shared(const struct run_arguments *arguments)
{
    const struct nw_job *job = &arguments->job;

    if (job->shared_cores)
        run_say(arguments, "%d ranks share the %d core%s of this machine%s",
                job->ranks, job->shared_cores,
                nw_plural((uint64_t)job->shared_cores),
                may_be_mapped(arguments) ? ""
                                         : ": there will be nothing to map");
}

/* Stores the recorded pattern unless the run failed or was interrupted or the
 * pattern is partial, since it may then be incomplete. `code` is the exit
 * status of the run. `has_machine` is false if the topology of -t cannot be
 * loaded, so that a later run of this command cannot be mapped. */
static void keep_pattern(const struct run_arguments *arguments,
                         const struct nw_store *store, bool has_machine,
                         int code)
{
    nw_pattern *pattern = NULL;
    nw_status status;

    if (code || nw_child_signal() || access(store->fresh, R_OK)) {
        run_say(arguments, "%s: no pattern was stored",
                code ? "the program failed"
                : nw_child_signal()
                    ? "the program was interrupted"
                    : "the program made no MPI calls that were seen");
        return;
    }
    status = nw_pattern_read(store->fresh, NULL, &pattern);
    if (!status && pattern->partial)
        status =
            nw_fail(NW_EFORMAT, "the pattern is partial: %s", pattern->partial);
    if (!status)
        status = nw_store_keep(store, &arguments->job);
    if (status) {
        fprintf(stderr, "nodewise run: warning: %s; no pattern was stored\n",
                nw_error_text());
    } else {
        run_say(arguments,
                "first time: profiled %d rank%s and stored the pattern in %s%s",
                pattern->rank_count, nw_plural((uint64_t)pattern->rank_count),
                store->pattern,
                has_machine && may_be_mapped(arguments) && !arguments->rounds
                    ? "; the next run will be mapped"
                    : "");
    }
    nw_pattern_free(pattern);
}

/* Prints a warning before the profiled run if the topology of -t cannot be
 * loaded, since later runs could then not be mapped; returns false then. */
static bool check_topology(const struct run_arguments *arguments)
{
    nw_topology *topology = NULL;
    nw_status status =
        arguments->plan.topology
            ? nw_topology_load(arguments->plan.topology, NULL, &topology)
            : NW_OK;

    if (status)
        fprintf(stderr,
                "nodewise run: warning: %s; without this topology no run can "
                "be mapped\n",
                nw_error_text());
    nw_topology_free(topology);
    return !status;
}

static int run_profiled(const struct run_arguments *arguments,
                        struct nw_store *store)
{
    char **words = NULL;
    bool has_machine = check_topology(arguments);
    int code;

    say_shared(arguments);
    if (!arguments->plan.store) {
        run_say(arguments, "no pattern is known, and none is to be stored: "
                           "started as without nodewise");
        return run_plain(arguments, NULL);
    }
    if (nw_store_begin_run(store, arguments->dry) ||
        profiled_words(arguments, store, &words))
        return run_warned(arguments, nw_error_text());
    if (arguments->dry)
        run_say(arguments, "first time: would profile %d rank%s",
                arguments->job.ranks,
                nw_plural((uint64_t)arguments->job.ranks));
    code = run_start(arguments, &(struct nw_run_account){.action = "profile",
                                                         .word = words});
    if (!arguments->dry)
        keep_pattern(arguments, store, has_machine, code);
    nw_argv_free(words);
    return code;
}

/* --- later runs: map --- */

static void say_plan(const struct run_arguments *arguments,
                     const struct nw_run_plan *plan)
{
    char *words = NULL;

    run_say(arguments, "%s %d rank%s on %zu host%s, topology %s%s",
            arguments->dry ? "would map" : "mapped", arguments->job.ranks,
            nw_plural((uint64_t)arguments->job.ranks),
            arguments->job.host.count,
            nw_plural((uint64_t)arguments->job.host.count), plan->known_by,
            plan->oversubscribed ? ", ranks share cores" : "");
    if (arguments->quiet || !plan->has_headline ||
        nw_report_headline_text(&plan->headline, &words))
        return;
    for (char *line = words, *end; (end = strchr(line, '\n')); line = end + 1)
        run_say(arguments, "%.*s", (int)(end - line), line);
    free(words);
}

/* Runs default placement and mapping in turns and prints the measured times;
 * with -o, also writes them to the file. */
static int cli_run_compare(const struct run_arguments *arguments,
                           struct nw_run_account *account)
{
    struct nw_comparison comparison = {.wanted = (size_t)arguments->rounds,
                                       .quiet = arguments->quiet};
    int code = nw_run_compare(&arguments->job, account->plan, &comparison);

    nw_comparison_print(&comparison, account->plan);
    account->comparison = &comparison;
    if (arguments->output && nw_run_tell(&arguments->job, account,
                                         arguments->json, arguments->output))
        fprintf(stderr, "nodewise run: warning: %s\n", nw_error_text());
    nw_comparison_fini(&comparison);
    return code;
}

/* Starts the mapped run. If the launcher has not accepted this plan before,
 * tries the plan first, and starts without Nodewise if the launcher rejects it.
 * Unless --no-store is given, stores whether the run succeeded. With --dry-run,
 * only prints the command; with --compare, runs a comparison. */
static int start_plan(const struct run_arguments *arguments,
                      const struct nw_store *store,
                      const struct nw_run_plan *plan)
{
    struct nw_run_account account = {.action = "map",
                                     .variable = plan->variables.word,
                                     .word = plan->command.word,
                                     .plan = plan};
    bool tried;
    int code;

    if (arguments->dry) {
        say_plan(arguments, plan);
        return run_start(arguments, &account);
    }
    tried = nw_store_is_tried(store, &plan->command, &plan->variables);
    if (!tried && !nw_run_plan_works(&arguments->job, plan))
        return run_warned(
            arguments,
            !strcmp(arguments->job.writer, "openmpi5") &&
                    strpbrk(store->prefix, "-,:")
                ? "the launcher does not accept the mapping; Open MPI 5.0 "
                  "refuses a '-', a comma or a colon in the path of the store: "
                  "name another folder with --store"
                : "the launcher does not accept the mapping");
    say_plan(arguments, plan);
    code = arguments->rounds ? cli_run_compare(arguments, &account)
                             : run_start(arguments, &account);
    if (arguments->plan.store && tried != !code)
        nw_store_set_tried(store, &plan->command, &plan->variables, !code);
    return code;
}

/* Maps the ranks by the pattern and starts the program. */
static int run_mapped(const struct run_arguments *arguments,
                      struct nw_store *store, const nw_pattern *pattern)
{
    struct nw_run_plan plan = {0};
    int code;

    if (nw_store_begin_run(store, arguments->dry) ||
        nw_run_plan_make(&arguments->job, store, pattern, &arguments->plan,
                         &plan))
        code = run_warned(arguments, nw_error_text());
    else
        code = start_plan(arguments, store, &plan);
    nw_run_plan_fini(&plan);
    return code;
}

/* Reads the pattern of -p, if given. The pattern also sets the number of ranks
 * if the user gave none. */
static nw_status read_given(struct run_arguments *arguments)
{
    nw_status status =
        arguments->pattern
            ? nw_pattern_read(arguments->pattern, NULL, &arguments->given)
            : NW_OK;

    if (!status && arguments->given && !arguments->job.ranks)
        arguments->job.ranks = arguments->given->rank_count;
    return status;
}

/* Runs without the pattern of -p, which cannot be scaled. */
static int run_not_scaled(const struct run_arguments *arguments)
{
    struct nw_text text = {0};
    int code;

    nw_text_format(&text,
                   "%s is for %d rank%s, this job has %d, and the pattern "
                   "cannot be scaled: %s",
                   arguments->pattern, arguments->given->rank_count,
                   nw_plural((uint64_t)arguments->given->rank_count),
                   arguments->job.ranks, nw_error_text());
    code = run_warned(arguments, text.data ? text.data : nw_error_text());
    nw_text_fini(&text);
    return code;
}

/* Runs with the pattern of -p, which is scaled if the job has another number of
 * ranks. Runs without it if it cannot be scaled. */
static int run_by_given(const struct run_arguments *arguments,
                        struct nw_store *store)
{
    nw_pattern *scaled = NULL;
    char *how = NULL;
    int code;

    if (arguments->given->rank_count == arguments->job.ranks)
        return run_mapped(arguments, store, arguments->given);
    if (nw_pattern_scale(arguments->given, arguments->job.ranks, &scaled, &how))
        return run_not_scaled(arguments);
    run_say(arguments, "%s: scaled from %d to %d ranks: %s", arguments->pattern,
            arguments->given->rank_count, arguments->job.ranks, how);
    code = run_mapped(arguments, store, scaled);
    nw_pattern_free(scaled);
    free(how);
    return code;
}

/* Finds the stored pattern of this job, or else a pattern of the same program
 * with other input. If both are missing, sets *pattern to NULL. *why then says
 * why the job's own pattern is unusable, or is NULL if it was never stored. The
 * caller frees *why. */
static void find_pattern(const struct run_arguments *arguments,
                         const struct nw_store *store, nw_pattern **pattern,
                         char **why)
{
    const char *reason;
    char *how = NULL;

    if (nw_store_pattern(store, &arguments->job, pattern, &reason))
        reason = nw_error_text();
    *why = reason ? strdup(reason) : NULL;
    if (*pattern || nw_known_find(store, &arguments->job, pattern, &how) ||
        !*pattern)
        return;
    run_say(arguments, "uses %s (--refresh profiles this input)", how);
    free(*why);
    *why = NULL;
    free(how);
}

static int run_with_store(const struct run_arguments *arguments,
                          struct nw_store *store)
{
    nw_pattern *pattern = NULL;
    const char *changed;
    char *why = NULL;
    int code;

    if (arguments->given)
        return run_by_given(arguments, store);
    if (!arguments->plan.refresh)
        find_pattern(arguments, store, &pattern, &why);
    if (why)
        run_say(arguments, "%s: profiling again", why);
    free(why);
    if (!pattern) {
        code = run_profiled(arguments, store);
        /* a comparison needs a profiled run first if no pattern is stored */
        if (code || !arguments->rounds ||
            nw_store_pattern(store, &arguments->job, &pattern, &changed) ||
            !pattern)
            return code;
    }
    code = run_mapped(arguments, store, pattern);
    nw_pattern_free(pattern);
    return code;
}

/* Starts a command line that only the launcher understands, unchanged. */
static int run_verbatim(const struct run_arguments *arguments)
{
    struct nw_run_account account = {.action = "plain",
                                     .why = nw_error_text(),
                                     .word = arguments->job.program};

    fprintf(stderr, "nodewise run: warning: %s; started as without nodewise\n",
            nw_error_text());
    return run_start(arguments, &account);
}

static int show_store(const struct run_arguments *arguments)
{
    nw_status status =
        nw_known_show(arguments->folder, arguments->json, arguments->output);

    if (status == NW_EIO)
        return nw_cli_fail_output("run", status);
    return status ? nw_cli_fail("run", status) : NW_EXIT_DONE;
}

static int run_forget(const struct run_arguments *arguments)
{
    const char *program =
        arguments->job.program ? arguments->job.program[0] : NULL;
    size_t count = 0;
    nw_status status = nw_known_forget(arguments->folder, program, &count);

    if (status)
        return nw_cli_fail("run", status);
    run_say(arguments, "removed %zu file%s%s%s", count,
            nw_plural((uint64_t)count), program ? " of " : "",
            program ? program : "");
    return NW_EXIT_DONE;
}

/* Checks that -o can be written and names neither a word of the command nor an
 * input. */
static nw_status check_output(const struct run_arguments *arguments)
{
    const char *const input[] = {arguments->job.hostfile, arguments->pattern,
                                 arguments->plan.topology};
    nw_status status = nw_file_writable(arguments->output);

    for (char **word = arguments->job.program; !status && *word; word++)
        status = nw_cli_spares("-o", arguments->output, *word);
    for (size_t i = 0; !status && i < sizeof input / sizeof *input; i++)
        status = nw_cli_spares("-o", arguments->output, input[i]);
    return status;
}

static int cli_run(int argc, char **argv)
{
    struct run_arguments arguments = {
        .plan = {.probe_seconds = 10, .store = true}};
    struct nw_store store = {.lock = -1};
    nw_status status, found;
    int code;

    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
    if (arguments.list || arguments.forget)
        return arguments.list ? show_store(&arguments) : run_forget(&arguments);
    status = check_output(&arguments);
    if (!status)
        status = nw_job_paste(&arguments.job);
    if (status == NW_EUNSUPPORTED) {
        code = run_verbatim(&arguments);
        goto out;
    }
    if (!status)
        status = nw_job_check_list(&arguments.job);
    if (!status)
        status = nw_job_find_launcher(&arguments.job);
    if (!status)
        status = nw_job_check_launcher(&arguments.job);
    if (status) {
        code = status == NW_EIO ? nw_cli_fail_output("run", status)
                                : nw_cli_fail("run", status);
        goto out;
    }
    status = read_given(&arguments);
    found = status ? NW_OK : nw_job_find_hosts(&arguments.job);
    if (found == NW_EINVAL && (arguments.job.hosts || arguments.job.hostfile))
        code = nw_cli_fail("run", found);
    else if (status || found || nw_job_check_mpi(&arguments.job) ||
             nw_store_open(&store, arguments.folder, &arguments.job))
        code = run_warned(&arguments, nw_error_text());
    else
        code = run_with_store(&arguments, &store);
out:
    nw_store_fini(&store);
    nw_pattern_free(arguments.given);
    nw_job_fini(&arguments.job);
    return code;
}

const struct nw_command nw_command_run = {
    "run", "profile a program, map its ranks and start it", &argp, cli_run};
