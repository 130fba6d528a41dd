/* SPDX-License-Identifier: BSD-3-Clause */
/* Options, errors and output that are the same for all commands. */
#include "cli/command.h"
#include "base/array.h"
#include "base/file.h"
#include "base/install_path.h"
#include "base/status.h"
#include "base/target.h"
#include "base/text.h"
#include "cli/picture.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_JSON 0x1001
#define KEY_PROGRESS 0x1002

static const struct argp_option output_options[] = {
    {"output", 'o', "FILE", 0, NW_COMMON_OUTPUT, 100},
    {0},
};
static const struct argp_option options[] = {
    {"json", KEY_JSON, NULL, 0, NW_COMMON_JSON, 100},
    {"quiet", 'q', NULL, 0, "No tables, notes or progress", 100},
    {"verbose", 'v', NULL, 0, "Print more messages on stderr", 100},
    {"progress", KEY_PROGRESS, "WHEN", 0, NW_COMMON_PROGRESS, 100},
    {0},
};

void nw_argfail(struct argp_state *state, const char *format, ...)
{
    char sentence[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    nw_text_hide_controls(sentence);
    argp_error(state, "%s", sentence);
}

int nw_argchoose(struct argp_state *state, const char *option,
                 const char *value, const char *const *words)
{
    struct nw_text list = {0};
    int i;

    for (i = 0; words[i] && strcmp(words[i], value); i++)
        nw_text_format(&list, "%s%s",
                       !i             ? ""
                       : words[i + 1] ? ", "
                                      : " or ",
                       words[i]);
    if (!words[i])
        nw_argfail(state, "%s is %s, not '%s'", option,
                   list.data ? list.data : "", value);
    nw_text_fini(&list);
    return words[i] ? i : 0;
}

nw_status nw_cli_find_program(const char *folder, const char *stem,
                              const char *flavour, char path[PATH_MAX])
{
    char name[96], beside[160];

    snprintf(name, sizeof name, "%.62s-%.30s", stem, flavour);
    snprintf(beside, sizeof beside, "%.60s%s", folder, name);
    if (nw_install_path_find(beside, name, X_OK, path))
        return NW_OK;
    return nw_fail(NW_ENODEV,
                   "%s is not installed: Nodewise was built without that MPI",
                   name);
}

enum nw_elements nw_argelements(struct argp_state *state, const char *value)
{
    static const char *const words[] = {"core", "pu", NULL};

    return (enum nw_elements)nw_argchoose(state, "--elements", value, words);
}

static error_t output_parse(int key, char *value, struct argp_state *state)
{
    struct nw_common *common = state->input;

    if (key != 'o')
        return ARGP_ERR_UNKNOWN;
    if (!*value)
        nw_argfail(state, "-o names no file");
    common->output = value;
    return 0;
}

static error_t common_parse(int key, char *value, struct argp_state *state)
{
    static const char *const when[] = {"auto", "always", "never", NULL};
    struct nw_common *common = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        if (state->child_inputs)
            state->child_inputs[0] = common;
        return 0;
    case KEY_JSON:
        common->json = true;
        return 0;
    case 'q':
        common->quiet = true;
        return 0;
    case 'v':
        common->verbose = true;
        return 0;
    case KEY_PROGRESS:
        nw_argchoose(state, "--progress", value, when);
        common->progress = value;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Returns the text of a common option in --help: the command's own text, or
 * "Accepted, without effect" if it has none. argp frees the result if it
 * differs from `text`. */
static char *common_help(int key, const char *text, void *input)
{
    const struct nw_common *common = input;
    const struct nw_common_help *help = common ? common->help : NULL;
    const char *own = text;

    if (!help || !text)
        return (char *)text;
    if (key == 'o')
        own = help->output;
    else if (key == KEY_JSON)
        own = help->json;
    else if (key == KEY_PROGRESS)
        own = help->progress;
    else if (key == 'q')
        own = help->quiet;
    else if (key == 'v')
        own = help->verbose;
    return own == text ? (char *)text
                       : strdup(own ? own : "Accepted, without effect");
}

static const struct argp output_argp = {.options = output_options,
                                        .parser = output_parse,
                                        .help_filter = common_help};
static const struct argp_child output_children[] = {{&output_argp, 0, NULL, 0},
                                                    {0}};
const struct argp nw_common_argp = {.options = options,
                                    .parser = common_parse,
                                    .children = output_children,
                                    .help_filter = common_help};
const struct argp nw_common_rest_argp = {
    .options = options, .parser = common_parse, .help_filter = common_help};
const struct argp_child nw_common_children[] = {{&nw_common_argp, 0, NULL, 0},
                                                {0}};

/* Prints the message of the last error. */
static void common_say(const char *command, nw_status status)
{
    const char *text = nw_error_text();

    fflush(stdout);
    /* an error in a file begins with the file's name, so that editors find
     * it */
    if (status == NW_EFORMAT || status == NW_EIO)
        fprintf(stderr, "%s\n", text);
    else
        fprintf(stderr, "nodewise %s: %s\n", command, text);
}

int nw_cli_fail(const char *command, nw_status status)
{
    common_say(command, status);
    switch (status) {
    case NW_OK:
        return NW_EXIT_DONE;
    case NW_EINVAL:
        return NW_EXIT_USAGE;
    case NW_EFORMAT:
    case NW_EIO:
        return NW_EXIT_INPUT;
    case NW_ENODEV:
    case NW_EUNSUPPORTED:
        return NW_EXIT_ABSENT;
    default:
        return NW_EXIT_FAILED;
    }
}

void nw_cli_notes(const char *command, const struct nw_common *common,
                  const char *notes)
{
    while (*notes && !common->quiet) {
        size_t length = strcspn(notes, "\n");

        fprintf(stderr, "nodewise %s: note: %.*s\n", command, (int)length,
                notes);
        notes += length + (notes[length] == '\n');
    }
}

int nw_cli_fail_output(const char *command, nw_status status)
{
    common_say(command, status);
    return NW_EXIT_FAILED;
}

int nw_cli_check_output(const char *command, const struct nw_common *common)
{
    nw_status status = nw_file_writable(common->output);

    return status ? nw_cli_fail_output(command, status) : NW_EXIT_DONE;
}

static bool is_same_file(const char *one, const char *other)
{
    struct stat a, b;

    return !stat(one, &a) && !stat(other, &b) && S_ISREG(a.st_mode) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

nw_status nw_cli_spares(const char *option, const char *output,
                        const char *input)
{
    /* the file's name may follow a prefix, as in hwloc:F or n[1-4]=hwloc:F */
    for (const char *at = input; output && at;) {
        if (is_same_file(output, at))
            return nw_fail(NW_EINVAL,
                           "'%s' is an input: %s would write over it", output,
                           option);
        at = strpbrk(at, ":=");
        at += at != NULL;
    }
    return NW_OK;
}

nw_status nw_cli_output_spares(const struct nw_common *common,
                               const char *input)
{
    return nw_cli_spares("-o", common->output, input);
}

nw_status nw_cli_spare(const struct nw_common *common, const char *source,
                       const char *pattern, char *const *mappings, size_t count)
{
    nw_status status = nw_cli_output_spares(common, source);

    if (!status)
        status = nw_cli_output_spares(common, pattern);
    for (size_t i = 0; !status && i < count; i++)
        status = nw_cli_output_spares(common, mappings[i]);
    return status;
}

/* The location of a file that may not exist yet: its folder and its name in the
 * folder, after all symbolic links are resolved. */
struct common_place {
    char target[PATH_MAX];
    const char *name;
    struct stat folder;
};

static bool find_place(const char *path, struct common_place *place)
{
    char *slash;

    if (nw_target_find(path, place->target))
        return false;
    slash = strrchr(place->target, '/');
    place->name = slash ? slash + 1 : place->target;
    if (!slash)
        return !stat(".", &place->folder);
    *slash = '\0';
    return !stat(slash > place->target ? place->target : "/", &place->folder);
}

/* Returns true if both paths name the same file, which may not exist yet, or if
 * both are "-". */
static bool is_one_place(const char *one, const char *other)
{
    struct common_place a, b;

    if (!strcmp(one, other))
        return true;
    return strcmp(one, "-") && strcmp(other, "-") && find_place(one, &a) &&
           find_place(other, &b) && !strcmp(a.name, b.name) &&
           a.folder.st_dev == b.folder.st_dev &&
           a.folder.st_ino == b.folder.st_ino;
}

static nw_status check_apart(const struct nw_cli_file *a,
                             const struct nw_cli_file *b)
{
    if (!a->path || !b->path || !is_one_place(a->path, b->path))
        return NW_OK;
    return nw_fail(NW_EINVAL, "%s and %s both write to %s", a->option,
                   b->option,
                   strcmp(a->path, "-") ? a->path : "standard output");
}

nw_status nw_cli_apart(const struct nw_common *common,
                       const struct nw_cli_file *file, size_t count)
{
    /* with -o FILE, --json also prints to standard output */
    const struct nw_cli_file json = {"--json", common->json ? "-" : NULL};
    const struct nw_cli_file result = {"-o", common->output};
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < count; i++) {
        status = check_apart(&result, &file[i]);
        if (!status)
            status = check_apart(&json, &file[i]);
        for (size_t k = 0; !status && k < i; k++)
            status = check_apart(&file[k], &file[i]);
    }
    if (!status)
        status = nw_file_writable(common->output);
    for (size_t i = 0; !status && i < count; i++)
        status = nw_file_writable(file[i].path);
    return status;
}

static nw_status common_put(const char *path, const char *text)
{
    fflush(stdout);
    return text ? nw_cli_picture_write(path, text) : NW_OK;
}

nw_status nw_cli_add_table(nw_table *table, struct nw_text *text)
{
    char *words = NULL;
    nw_status status = nw_table_text(table, &words);

    if (!status)
        nw_text_add(text, words);
    free(words);
    nw_table_free(table);
    return status;
}

int nw_cli_output(const char *command, const struct nw_common *common,
                  const char *result, const char *table, const char *json)
{
    const char *shown = common->json ? json : common->quiet ? NULL : table;
    nw_status status;

    if (!common->output && common->json) {
        status = common_put("-", json ? json : result);
        return status ? nw_cli_fail_output(command, status) : NW_EXIT_DONE;
    }
    status = common_put(common->output ? common->output : "-", result);
    if (status == NW_ENODEV || status == NW_EHELPER)
        return nw_cli_fail(command, status);
    if (status)
        return nw_cli_fail_output(command, status);
    if (common->output && strcmp(common->output, "-"))
        status = common_put("-", shown);
    else if (shown && shown != result)
        fputs(shown, stderr);
    return status ? nw_cli_fail_output(command, status) : NW_EXIT_DONE;
}

int nw_cli_output_table(const char *command, const struct nw_common *common,
                        const char *table, const char *json)
{
    return nw_cli_output(command, common, common->json ? json : table, NULL,
                         NULL);
}
