/* SPDX-License-Identifier: BSD-3-Clause */
/* The definition of a command, and functions that commands share. */
#ifndef NW_CLI_COMMAND_H
#define NW_CLI_COMMAND_H

#include <nodewise/progress.h>
#include <nodewise/report.h>
#include <nodewise/status.h>
#include <nodewise/topology.h>

#include <argp.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nw_text;

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
    /* returns the exit status; argv[0] is "nodewise NAME" */
    int (*run)(int argc, char **argv);
};

/* The commands, each defined in a file of its own. */
/* clang-format off: one name a line, in the order of --help */
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

/* Like argp_error, but replaces control characters, so that they cannot change
 * the terminal. */
void nw_argfail(struct argp_state *state, const char *format, ...)
    NW_PRINTF(2, 3);
/* Returns the index of `value` in `words`, which end at NULL. For another value
 * of `option`, calls nw_argfail with a message that lists the words. */
int nw_argchoose(struct argp_state *state, const char *option,
                 const char *value, const char *const *words);
/* Sets `path` to the program STEM-FLAVOUR, which is built with the MPI
 * `flavour` (openmpi or mpich) and is installed, or lies in `folder` of the
 * build folder of this program; `folder` is "" or ends with '/'. NW_ENODEV if
 * it is missing.
 */
NW_MUST_CHECK nw_status nw_cli_find_program(const char *folder,
                                            const char *stem,
                                            const char *flavour,
                                            char path[PATH_MAX]);
/* Returns the value of --elements: core or pu. */
enum nw_elements nw_argelements(struct argp_state *state, const char *value);

/* Options that most commands have. nw_common_argp parses them into a struct
 * nw_common; a command's parser sets common.help and passes the struct on in
 * ARGP_KEY_INIT: state->child_inputs[0] = &mine->common. */
struct nw_common {
    const char *output; /* value of -o; NULL: not given; "-": standard output */
    bool json;
    bool quiet, verbose;
    const char *progress; /* value of --progress: auto, always or never */
    const struct nw_common_help *help; /* the command's own texts */
};
/* The texts of the common options in --help. NULL: the command accepts the
 * option, and the option has no effect. */
struct nw_common_help {
    const char *output, *json, *progress, *quiet, *verbose;
};
#define NW_COMMON_OUTPUT "Write the result to FILE (- is stdout)"
#define NW_COMMON_JSON "Print JSON"
#define NW_COMMON_PROGRESS "Show progress: auto, always or never"
extern const struct argp nw_common_argp;
/* The common options without -o, for a command that defines -o itself. */
extern const struct argp nw_common_rest_argp;
/* The argp children of a command that shares only the options of nw_common_argp
 * with others. */
extern const struct argp_child nw_common_children[];

/* Prints nw_error_text() to standard error and returns the exit status for
 * `status`: 3 for bad input or a file that cannot be read, 2 for usage, 4 for
 * something missing, else 1. */
int nw_cli_fail(const char *command, nw_status status);
/* Like nw_cli_fail for a failure to write the output; returns 1. */
int nw_cli_fail_output(const char *command, nw_status status);
/* Prints `notes`, which say what the source of a topology does not describe,
 * one line each, unless --quiet. */
void nw_cli_notes(const char *command, const struct nw_common *common,
                  const char *notes);
/* Checks before any computation that the file of -o can be written. Returns
 * NW_EXIT_DONE if it can, else the exit status of the error. */
int nw_cli_check_output(const char *command, const struct nw_common *common);

/* Appends the table to the text and frees it. */
NW_MUST_CHECK nw_status nw_cli_add_table(nw_table *table, struct nw_text *text);

/* Writes the output of a command. With -o FILE, `result` goes to the file and
 * `table` (or `json` with --json) to standard output. Without -o, `result` goes
 * to standard output and `table` to standard error; with --json but without -o,
 * only `json` (or `result` if it is NULL) is printed. With -o -, `result` goes
 * to standard output and `table` or `json` to standard error. --quiet omits
 * `table`. Each text may be NULL. Returns the exit status. */
int nw_cli_output(const char *command, const struct nw_common *common,
                  const char *result, const char *table, const char *json);
/* Writes the output of a command whose only result is a table: `json` with
 * --json, else `table`, to the file of -o or to standard output. */
int nw_cli_output_table(const char *command, const struct nw_common *common,
                        const char *table, const char *json);

/* Returns NW_EINVAL if -o names the file that `input` is read from, since -o
 * would overwrite the input. `input` may be NULL or have a prefix such as
 * "hwloc:". */
NW_MUST_CHECK nw_status nw_cli_output_spares(const struct nw_common *common,
                                             const char *input);
/* Like nw_cli_output_spares for `output`, the value of another option such as
 * "--svg". */
NW_MUST_CHECK nw_status nw_cli_spares(const char *option, const char *output,
                                      const char *input);
/* A file that an option other than -o writes; path is NULL if not given. */
struct nw_cli_file {
    const char *option, *path;
};
/* Returns NW_EINVAL if two of the files of file[count], -o and --json are the
 * same file, and NW_EIO if -o or one of the files cannot be written. */
NW_MUST_CHECK nw_status nw_cli_apart(const struct nw_common *common,
                                     const struct nw_cli_file *file,
                                     size_t count);
/* Returns NW_EINVAL if -o names the topology's source, the pattern or one of
 * the mappings. Each of them may be NULL. */
NW_MUST_CHECK nw_status nw_cli_spare(const struct nw_common *common,
                                     const char *source, const char *pattern,
                                     char *const *mappings, size_t count);

/* Starts the progress bar and returns the struct nw_progress that updates it.
 * On a terminal, the bar appears after two seconds (at once with
 * --progress=always); elsewhere, a line is printed to standard error every 30
 * s. --quiet and --progress=never show nothing. The first Ctrl-C sets the
 * struct's `cancelled`, a second one ends the process. A process has one bar;
 * nw_cli_progress_finish removes it. */
struct nw_progress *nw_cli_progress(const struct nw_common *common);
/* Like nw_cli_progress, but until the first update Ctrl-C ends the process. It
 * is for work that begins by waiting for another process. */
struct nw_progress *nw_cli_progress_later(const struct nw_common *common);
void nw_cli_progress_finish(void);

#endif
