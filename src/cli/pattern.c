/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise pattern: shows, converts, generates, combines and scales
 * patterns. */
#include <nodewise/pattern.h>
#include <nodewise/report.h>

#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/pattern_pairs.h"
#include "cli/pattern_view.h"
#include "cli/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum key {
    KEY_COMPACT = 0x2001,
    KEY_COMBINE,
    KEY_DIFF,
    KEY_GENERATE,
    KEY_HEAT,
    KEY_KIND,
    KEY_SCALE,
    KEY_SVG,
    KEY_TO,
    KEY_TOP,
};

struct pattern_arguments {
    struct nw_common common;
    const char *input[2];
    size_t input_count;
    const char *generate, *to, *svg;
    bool combine, compact, diff, heat;
    int kind;      /* kind of messages to keep (enum nw_kind); -1: all */
    int32_t scale; /* number of ranks to scale to; 0: do not scale */
    int32_t top;   /* number of pairs to show; 0: show the summary */
};

static const struct argp_option options[] = {
    {"combine", KEY_COMBINE, NULL, 0,
     "Join two patterns: the first becomes the host layer, the second the GPU "
     "layer",
     0},
    {"compact", KEY_COMPACT, NULL, 0,
     "Renumber the ranks of a pattern list:FILE from 0 if numbers are missing",
     0},
    {"diff", KEY_DIFF, NULL, 0,
     "Compare two patterns: the pairs of ranks whose bytes differ most", 0},
    {"generate", KEY_GENERATE, "SPEC", 0,
     "Generate a pattern, for example stencil3d7:dims=4x4x4", 0},
    {"heat", KEY_HEAT, NULL, 0, "Show heat maps as text", 0},
    {"kind", KEY_KIND, "KIND", 0, "Keep only hh, gg, hg or gh", 0},
    {"scale", KEY_SCALE, "N", 0, "Scale the pattern's grid of ranks to N ranks",
     0},
    {"svg", KEY_SVG, "FILE", 0, "Write heat maps to FILE as SVG", 0},
    {"to", KEY_TO, "FORMAT", 0,
     "Write native (default), metis, mm, matrix, list or csv", 0},
    {"top", KEY_TOP, "N", 0,
     "Show the N heaviest pairs of ranks; with --diff, the N that differ most "
     "(default: 10)",
     0},
    {0},
};

static int pattern_parse_kind(const char *value, struct argp_state *state)
{
    for (int k = 0; k < NW_KIND_COUNT; k++)
        if (!strcmp(value, nw_kind_name((enum nw_kind)k)))
            return k;
    nw_argfail(state, "--kind is hh, gg, hg or gh, not '%s'", value);
    return -1;
}

static void check_inputs(const struct pattern_arguments *arguments,
                         struct argp_state *state)
{
    size_t wanted = arguments->generate                     ? 0
                    : arguments->combine || arguments->diff ? 2
                                                            : 1;

    if (arguments->generate && arguments->combine)
        nw_argfail(state, "--generate or --combine, not both");
    if (arguments->diff && (arguments->generate || arguments->combine))
        nw_argfail(state, "--diff compares two files; leave out --generate and "
                          "--combine");
    if ((arguments->diff || arguments->top) &&
        (arguments->to || arguments->svg || arguments->heat ||
         arguments->common.json || arguments->common.output))
        nw_argfail(state, "--diff and --top print a table; leave out --to, "
                          "--svg, --heat, --json and -o");
    if (arguments->heat && arguments->common.json)
        nw_argfail(state, "--heat prints text; leave out --json");
    if (arguments->diff && arguments->scale)
        nw_argfail(state, "--diff compares two files as they are; leave out "
                          "--scale");
    if (arguments->input_count != wanted)
        nw_argfail(state, "%s",
                   !wanted           ? "--generate takes no PATTERN"
                   : wanted == 1     ? "one PATTERN is needed"
                   : arguments->diff ? "--diff needs two patterns"
                                     : "--combine needs HOST and GPU pattern");
}

static error_t parse_flag(int key, struct pattern_arguments *arguments)
{
    switch (key) {
    case KEY_COMBINE:
        arguments->combine = true;
        return 0;
    case KEY_COMPACT:
        arguments->compact = true;
        return 0;
    case KEY_DIFF:
        arguments->diff = true;
        return 0;
    case KEY_HEAT:
        arguments->heat = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct nw_common_help pattern_help = {
    .output = "Write the pattern to FILE (- is stdout)",
    .json = "Print the summary as JSON",
    .quiet = "No summary beside a pattern or a picture",
};

static error_t pattern_parse(int key, char *value, struct argp_state *state)
{
    struct pattern_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        arguments->common.help = &pattern_help;
        state->child_inputs[0] = &arguments->common;
        return 0;
    case KEY_GENERATE:
        arguments->generate = value;
        return 0;
    case KEY_KIND:
        arguments->kind = pattern_parse_kind(value, state);
        return 0;
    case KEY_SCALE:
        if (!nw_parse_i32(value, &arguments->scale) || arguments->scale < 1)
            nw_argfail(state, "--scale is a number of ranks, not '%s'", value);
        return 0;
    case KEY_SVG:
        arguments->svg = value;
        return 0;
    case KEY_TO:
        arguments->to = value;
        return 0;
    case KEY_TOP:
        if (!nw_parse_i32(value, &arguments->top) || arguments->top < 1)
            nw_argfail(state, "--top is a number from 1, not '%s'", value);
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->input_count == 2)
            nw_argfail(state, "too many patterns");
        arguments->input[arguments->input_count++] = value;
        return 0;
    case ARGP_KEY_END:
        check_inputs(arguments, state);
        return 0;
    default:
        return parse_flag(key, arguments);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = pattern_parse,
    .args_doc =
        "[PATTERN]\n--combine HOST GPU\n--diff BEFORE AFTER\n--generate SPEC",
    .doc = "Show, convert, generate and combine patterns.\v"
           "Example:\n  nodewise pattern --generate "
           "stencil2d5:dims=8x8,weights=3:1 -o app.pattern\n"
           "  nodewise pattern app.pattern --heat\n",
    .children = nw_common_children,
};

/* Replaces the pattern by its messages of the kind of --kind, if given. */
static nw_status keep_kind(const struct pattern_arguments *arguments,
                           nw_pattern **pattern)
{
    nw_pattern *kept;
    nw_status status;

    if (arguments->kind < 0)
        return NW_OK;
    status = nw_pattern_select(*pattern, (enum nw_kind)arguments->kind, &kept);
    if (status)
        return status;
    nw_pattern_free(*pattern);
    *pattern = kept;
    return NW_OK;
}

/* Combines the two patterns of --combine. */
static nw_status read_two(const struct pattern_arguments *arguments,
                          const struct nw_pattern_read_options *read,
                          nw_pattern **out)
{
    nw_pattern *host = NULL, *gpu = NULL;
    nw_status status = nw_pattern_read(arguments->input[0], read, &host);

    if (!status)
        status = nw_pattern_read(arguments->input[1], read, &gpu);
    if (!status) {
        status = nw_pattern_combine(host, gpu, out);
        if (status == NW_EFORMAT) /* the sum over all kinds of a file is too
                                     large */
            status = nw_fail(status, "%s and %s: %s", arguments->input[0],
                             arguments->input[1], nw_error_text());
    }
    nw_pattern_free(host);
    nw_pattern_free(gpu);
    return status;
}

static nw_status pattern_spare_inputs(const struct pattern_arguments *arguments)
{
    nw_status status = nw_cli_apart(
        &arguments->common,
        (struct nw_cli_file[]){{"--svg", arguments->svg},
                               {"--to", arguments->to ? "-" : NULL}},
        arguments->common.output ? 1 : 2);

    for (size_t i = 0; !status && i < arguments->input_count; i++) {
        status = nw_cli_output_spares(&arguments->common, arguments->input[i]);
        if (!status)
            status =
                nw_cli_spares("--svg", arguments->svg, arguments->input[i]);
    }
    return status;
}

static nw_status pattern_make(const struct pattern_arguments *arguments,
                              nw_pattern **out)
{
    struct nw_pattern_read_options read = NW_PATTERN_READ_OPTIONS_INIT;

    read.compact = arguments->compact;
    if (arguments->generate)
        return nw_pattern_generate(arguments->generate, out);
    if (arguments->combine)
        return read_two(arguments, &read, out);
    return nw_pattern_read(arguments->input[0], &read, out);
}

/* If --scale is given, replaces the pattern by one with another number of
 * ranks; *how says how it was scaled. */
static nw_status pattern_scale(const struct pattern_arguments *arguments,
                               nw_pattern **pattern, char **how)
{
    nw_pattern *larger;
    nw_status status;

    if (!arguments->scale)
        return NW_OK;
    status = nw_pattern_scale(*pattern, arguments->scale, &larger, how);
    if (status)
        return status;
    nw_pattern_free(*pattern);
    *pattern = larger;
    return NW_OK;
}

static nw_status pattern_draw(const nw_pattern *pattern, const char *path)
{
    char *svg;
    nw_status status = nw_report_pattern_svg(pattern, &svg);

    if (status)
        return status;
    status = nw_cli_picture_write(path, svg);
    free(svg);
    return status;
}

/* Prints the table of --diff. */
static int show_diff(const struct pattern_arguments *arguments)
{
    struct nw_pattern_read_options read = NW_PATTERN_READ_OPTIONS_INIT;
    nw_pattern *pattern[2] = {NULL, NULL};
    char *table = NULL;
    nw_status status = NW_OK;
    int code;

    read.compact = arguments->compact;
    for (int i = 0; !status && i < 2; i++) {
        status = nw_pattern_read(arguments->input[i], &read, &pattern[i]);
        if (!status)
            status = keep_kind(arguments, &pattern[i]);
    }
    if (!status)
        status =
            nw_cli_pattern_diff(pattern[0], pattern[1],
                                arguments->top ? arguments->top : 10, &table);
    code = status ? nw_cli_fail("pattern", status)
                  : nw_cli_output("pattern", &arguments->common, table, NULL,
                                  NULL);
    nw_pattern_free(pattern[0]);
    nw_pattern_free(pattern[1]);
    free(table);
    return code;
}

/* Makes the text output: the table of --top, or the heat maps of --heat, which
 * begin with a summary, or else the summary. */
static nw_status pattern_make_table(const struct pattern_arguments *arguments,
                                    const nw_pattern *pattern, const char *how,
                                    char **out)
{
    if (arguments->top)
        return nw_cli_pattern_top(pattern, arguments->top, out);
    return arguments->heat ? nw_report_pattern_text(pattern, 80, out)
                           : nw_cli_pattern_table(pattern, how, out);
}

/* Writes the pattern with -o or --to, and the picture with --svg. Prints the
 * summary, to standard error if standard output has another result. */
static int pattern_show(const struct pattern_arguments *arguments,
                        const nw_pattern *pattern, const char *how)
{
    const struct nw_common *common = &arguments->common;
    bool converts = common->output || (arguments->to && !common->json);
    /* standard output has the picture, so that the table goes to standard
     * error */
    bool aside = arguments->svg && !strcmp(arguments->svg, "-");
    char *table = NULL, *json = NULL;
    nw_status status = pattern_make_table(arguments, pattern, how, &table);
    int code;

    if (!status)
        status = nw_cli_pattern_json(pattern, how, &json);
    if (status) {
        code = nw_cli_fail("pattern", status);
        goto out;
    }
    if (converts)
        status = nw_pattern_write_as(pattern,
                                     arguments->to ? arguments->to : "native",
                                     common->output ? common->output : "-");
    if (!status && arguments->svg)
        status = pattern_draw(pattern, arguments->svg);
    if (status)
        /* the inputs were read before, so that NW_EIO is an error of output */
        code = status == NW_EIO ? nw_cli_fail_output("pattern", status)
                                : nw_cli_fail("pattern", status);
    else
        code =
            nw_cli_output("pattern", common, converts || aside ? NULL : table,
                          converts && !aside ? table : NULL, json);
    if (!status && aside && !common->quiet)
        fputs(table, stderr);
out:
    free(table);
    free(json);
    return code;
}

/* Prints the error of reading the patterns and returns the exit status. */
static int fail_make(const struct pattern_arguments *arguments,
                     nw_status status)
{
    int code = nw_cli_fail("pattern", status);

    /* an error in the files, not in the command line */
    return status == NW_EINVAL && arguments->combine ? NW_EXIT_INPUT : code;
}

static int pattern_run(int argc, char **argv)
{
    struct pattern_arguments arguments = {.kind = -1};
    nw_pattern *pattern = NULL;
    char *how = NULL;
    nw_status status;
    int code;

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    status = pattern_spare_inputs(&arguments);
    if (status)
        return status == NW_EIO ? nw_cli_fail_output("pattern", status)
                                : nw_cli_fail("pattern", status);
    if (arguments.diff)
        return show_diff(&arguments);
    status = pattern_make(&arguments, &pattern);
    if (status)
        return fail_make(&arguments, status);
    status = keep_kind(&arguments, &pattern);
    if (!status)
        status = pattern_scale(&arguments, &pattern, &how);
    code = status ? nw_cli_fail("pattern", status)
                  : pattern_show(&arguments, pattern, how);
    free(how);
    nw_pattern_free(pattern);
    return code;
}

const struct nw_command nw_command_pattern = {
    "pattern", "show, convert, generate and combine patterns", &argp,
    pattern_run};
