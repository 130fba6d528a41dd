/* SPDX-License-Identifier: BSD-3-Clause */
/* The definition of a command, and functions that all commands share. */
#ifndef NW_CLI_COMMAND_H
#define NW_CLI_COMMAND_H

#include <nodewise/progress.h>
#include <nodewise/status.h>

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nw_exit {
    NW_EXIT_DONE = 0,
    NW_EXIT_FAILED = 1,
    NW_EXIT_USAGE = 2,
    NW_EXIT_INPUT = 3,
    NW_EXIT_ABSENT = 4,
};

struct nw_command {
    const char *name;
    const char *summary;
    const struct argp *argp;
    /* argv[0] is "nodewise NAME"; the exit status */
    int (*run)(int argc, char **argv);
};

/* Each command is one file that defines its row. */
/* clang-format off: one a line, in the order of the journey */
#define NW_COMMAND_LIST(X)                                                     \
    X(topology)                                                                \
    X(probe)                                                                   \
    X(profile)                                                                 \
    X(pattern)                                                                 \
    X(map)                                                                     \
    X(evaluate)                                                                \
    X(simulate)                                                                \
    X(launch)                                                                  \
    X(run)                                                                     \
    X(exec)                                                                    \
    X(reorder)                                                                 \
    X(gpu_messages)                                                            \
    X(halo)                                                                    \
    X(channel)                                                                 \
    X(bench)                                                                   \
    X(report)                                                                  \
    X(doctor)
/* clang-format on */

#define NW_COMMAND_DECLARE(name)                                               \
    extern const struct nw_command nw_command_##name;
NW_COMMAND_LIST(NW_COMMAND_DECLARE)
#undef NW_COMMAND_DECLARE

/* As argp_error, but without what a terminal would obey. */
void nw_argfail(struct argp_state *state, const char *format, ...)
    NW_PRINTF(2, 3);

/* Options that every command has: an argp child, its input a struct
 * nw_common. A command's parser passes it on in ARGP_KEY_INIT:
 * state->child_inputs[0] = &mine->common. */
struct nw_common {
    const char *output; /* NULL where not given; "-" is stdout */
    bool json;
    bool quiet, verbose;
    const char *progress; /* auto, always, never */
};
extern const struct argp nw_common_argp;
/* For a command whose only shared options these are. */
extern const struct argp_child nw_common_children[];

/* Says what failed on stderr, as nw_error_text() has it, and gives the exit
 * status that fits: bad input 3, usage 2, absent 4, else 1. */
int nw_cli_fail(const char *command, nw_status status);
/* The same for a failure to write: 1. */
int nw_cli_fail_output(const char *command, nw_status status);
/* Prints what a topology's source leaves open, a line each, unless --quiet. */
void nw_cli_notes(const char *command, const struct nw_common *common,
                  const char *notes);
/* Checks -o before anything is computed; NW_EXIT_DONE if the file can be
 * written. */
int nw_cli_check_output(const char *command, const struct nw_common *common);

/* The contract of -o: with a file the result goes there and the table to
 * stdout; without, the result to stdout and the table to stderr; --json
 * without -o prints only the JSON. Any text may be NULL. */
int nw_cli_output(const char *command, const struct nw_common *common,
                  const char *result, const char *table, const char *json);

/* NW_EINVAL where -o names the very file that `input` is read from, which may
 * be NULL or have a prefix such as "hwloc:": it would be lost. */
NW_MUST_CHECK nw_status nw_cli_output_spares(const struct nw_common *common,
                                             const char *input);
/* The same of another option that writes a file, such as "--svg". */
NW_MUST_CHECK nw_status nw_cli_spares(const char *option, const char *output,
                                      const char *input);
/* A file that an option beside -o writes; path NULL where not given. */
struct nw_cli_file {
    const char *option, *path;
};
/* NW_EINVAL where two of them, or one and -o, or one and --json, would write
 * into each other. */
NW_MUST_CHECK nw_status nw_cli_apart(const struct nw_common *common,
                                     const struct nw_cli_file *file,
                                     size_t count);
/* -o and all that is priced, any of which may be NULL. */
NW_MUST_CHECK nw_status nw_cli_spare(const struct nw_common *common,
                                     const char *source, const char *pattern,
                                     char *const *mappings, size_t count);

/* A struct nw_progress that draws a bar on stderr after two seconds (on a
 * terminal; elsewhere a line every 30 s) and whose `cancelled` is set by
 * Ctrl-C. Process-wide; finish clears the bar. */
struct nw_progress *nw_cli_progress(const struct nw_common *common);
void nw_cli_progress_finish(void);

#endif
