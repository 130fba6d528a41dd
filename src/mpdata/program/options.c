/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the command line of nodewise-mpdata. */
#include "mpdata/program/job.h"
#include "base/text.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_SIZE = 0x100,
    KEY_COURANT,
    KEY_PASSES,
    KEY_LIMITED,
    KEY_GAUGE,
    KEY_THIRD,
    KEY_DIVERGENT,
    KEY_SINGLE,
    KEY_FAST,
    KEY_BORDER,
    KEY_PATH,
    KEY_THREADS,
    KEY_BLOCK,
    KEY_VTK,
    KEY_FIELDS,
    KEY_CHECKPOINT,
    KEY_EVERY,
    KEY_RESTART,
    KEY_ARRANGE,
    KEY_BY,
    KEY_SHAPE,
    KEY_BANDWIDTHS,
    KEY_SPEEDS,
    KEY_BLOCKING,
    KEY_PROGRESS,
    KEY_JSON,
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Problem", 1},
    {"case", 'c', "NAME", 0, "Built-in case, listed below", 1},
    {"input", 'i', "FILE", 0,
     "NetCDF file with the fields x, u1, u2, u3 and h (names of the "
     "variables), instead of a test case",
     1},
    {"size", KEY_SIZE, "NxMxL", 0,
     "Number of cells, for a case without a fixed size", 1},
    {"courant", KEY_COURANT, "C", 0, "Courant number of the case's velocity",
     1},
    {"steps", 's', "N", 0, "Total number of steps (default: that of the case)",
     1},
    {NULL, 0, NULL, 0, "Method", 2},
    {"passes", KEY_PASSES, "N", 0,
     "Donor cell pass and corrective passes together, 1 to 8 (default: 2)", 2},
    {"limited", KEY_LIMITED, NULL, 0,
     "Limit fluxes so that no new extrema appear", 2},
    {"infinite-gauge", KEY_GAUGE, NULL, 0,
     "Allow positive and negative values (infinite gauge)", 2},
    {"third-order", KEY_THIRD, NULL, 0,
     "Make the corrective passes third-order accurate", 2},
    {"divergent", KEY_DIVERGENT, NULL, 0, "Add the term for divergent flows",
     2},
    {"single", KEY_SINGLE, NULL, 0, "Compute in single precision", 2},
    {"fast", KEY_FAST, NULL, 0,
     "Divide only once per face; the last digits of results differ", 2},
    {"border", KEY_BORDER, "B[,B,B]", 0,
     "Border of each axis: open or periodic", 2},
    {"path", KEY_PATH, "PATH", 0,
     "Order of computation: auto (default), blocked, or stages", 2},
    {NULL, 0, NULL, 0, "Ranks", 3},
    {"arrange", KEY_ARRANGE, "HOW", 0,
     "Assign parts of the grid by the bandwidths between ranks: paper (a "
     "published heuristic), best (search) or none (default: in rank order)",
     3},
    {"arrange-by", KEY_BY, "WHAT", 0,
     "What --arrange minimises: sum (default) over all links, or slowest, the "
     "exchange of the slowest rank",
     3},
    {"shape", KEY_SHAPE, "RxC", 0, "Rows and columns of ranks", 3},
    {"topology", 't', "SOURCE", 0,
     "The machine, as for nodewise map, such as a file of nodewise probe", 3},
    {"bandwidths", KEY_BANDWIDTHS, "FILE", 0,
     "File of bandwidths between ranks (default: those of the topology)", 3},
    {"speeds", KEY_SPEEDS, "LIST", 0,
     "Speed of each rank (such as 1,1,2,2), or measure: faster ranks get more "
     "cells",
     3},
    {"threads", KEY_THREADS, "N", 0,
     "OpenMP threads of each rank (default: OMP_NUM_THREADS, else the cores "
     "that it may use, divided among the ranks that share them)",
     3},
    {"block", KEY_BLOCK, "ROWS", 0,
     "Rows of a block (default: chosen by the size of the cache)", 3},
    {"blocking", KEY_BLOCKING, NULL, 0,
     "Wait for each exchange instead of computing meanwhile", 3},
    {NULL, 0, NULL, 0, "Files", 4},
    {"output", 'o', "FILE", 0, "Write x as NetCDF at the end", 4},
    {"fields", KEY_FIELDS, NULL, 0,
     "With --output: also write the fields u1, u2, u3 and h, so that the file "
     "can be an --input",
     4},
    {"vtk", KEY_VTK, "FILE", 0, "Write x for ParaView at the end", 4},
    {"checkpoint", KEY_CHECKPOINT, "FILE", 0,
     "Checkpoint written on SIGTERM (default: nodewise-mpdata.checkpoint)", 4},
    {"every", KEY_EVERY, "N", 0, "Also write a checkpoint every N steps", 4},
    {"restart", KEY_RESTART, "FILE", 0, "Continue from a checkpoint", 4},
    {NULL, 0, NULL, 0, "Messages", 5},
    {"json", KEY_JSON, NULL, 0, "Print JSON", 5},
    {"quiet", 'q', NULL, 0, "Print only errors", 5},
    {"progress", KEY_PROGRESS, "WHEN", 0,
     "Show progress: auto (default), always, never", 5},
    {0},
};

static void options_whole(const char *name, const char *value, int64_t least,
                          int64_t *out, struct argp_state *state)
{
    if (!nw_parse_i64(value, out) || *out < least)
        argp_error(state, "--%s is a number from %lld, not '%s'", name,
                   (long long)least, value);
}

static int32_t options_small(const char *name, const char *value, int32_t least,
                             struct argp_state *state)
{
    int64_t found = 0;

    options_whole(name, value, least, &found, state);
    if (found > 1 << 20)
        argp_error(state, "--%s is at most %d, not '%s'", name, 1 << 20, value);
    return (int32_t)found;
}

/* Parses `count` numbers that are separated by x, such as 8x8x4, each of which
 * is at least 1. */
static void options_product(const char *name, char *value, int count,
                            int64_t *out, struct argp_state *state)
{
    char *copy = strdup(value), *rest = copy, *word;
    int found = 0;

    while (copy && found <= count && (word = strsep(&rest, "x")))
        if (found == count || !nw_parse_i64(word, &out[found]) ||
            out[found] > INT32_MAX || out[found++] < 1)
            found = count + 1;
    free(copy);
    if (found != count)
        argp_error(state, "--%s is %s, not '%s'", name,
                   count == 3 ? "three numbers such as 64x64x32"
                              : "two numbers such as 2x3",
                   value);
}

static void options_borders(struct nw_mp_settings *s, char *value,
                            struct argp_state *state)
{
    char *copy = strdup(value), *rest = copy, *word;
    int count = 0;

    while (copy && (word = strsep(&rest, ","))) {
        bool open = strcmp(word, "open") == 0;
        if (count == 3 || (!open && strcmp(word, "periodic")))
            argp_error(state,
                       "--border is open or periodic, once or for each axis, "
                       "not '%s'",
                       value);
        for (int a = count++; a < 3; a++)
            s->options.border[a][0] = s->options.border[a][1] =
                open ? NW_MPDATA_OPEN : NW_MPDATA_PERIODIC;
    }
    free(copy);
    s->bordered = true;
}

/* Returns the index of `value` in a list of three words; another value is a
 * usage error. */
static int one_of(const char *name, const char *value,
                  const char *const words[3], struct argp_state *state)
{
    for (int i = 0; i < 3; i++)
        if (!strcmp(value, words[i]))
            return i;
    argp_error(state, "--%s is %s, %s or %s, not '%s'", name, words[0],
               words[1], words[2], value);
    return 0;
}

static error_t parse_variant(int key, char *value, struct argp_state *state)
{
    static const char *const paths[3] = {"auto", "blocked", "stages"};
    struct nw_mp_settings *s = state->input;
    struct nw_mpdata_options *o = &s->options;

    switch (key) {
    case KEY_PASSES:
        o->passes = options_small("passes", value, 1, state);
        return 0;
    case KEY_LIMITED:
        o->limited = true;
        return 0;
    case KEY_GAUGE:
        o->infinite_gauge = true;
        return 0;
    case KEY_THIRD:
        o->third_order = true;
        return 0;
    case KEY_DIVERGENT:
        o->divergent = true;
        return 0;
    case KEY_SINGLE:
        o->single = true;
        return 0;
    case KEY_FAST:
        o->fast = true;
        return 0;
    case KEY_BORDER:
        options_borders(s, value, state);
        return 0;
    case KEY_PATH:
        o->path = (enum nw_mpdata_path)one_of("path", value, paths, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_files(int key, char *value, struct argp_state *state)
{
    struct nw_mp_settings *s = state->input;

    switch (key) {
    case 'o':
        s->output = value;
        return 0;
    case KEY_FIELDS:
        s->fields = true;
        return 0;
    case KEY_VTK:
        s->vtk = value;
        return 0;
    case KEY_CHECKPOINT:
        s->checkpoint = value;
        return 0;
    case KEY_EVERY:
        options_whole("every", value, 1, &s->every, state);
        return 0;
    case KEY_RESTART:
        if (!*value)
            argp_error(state, "--restart names no file");
        s->restart = value;
        return 0;
    default:
        return parse_variant(key, value, state);
    }
}

static error_t options_parse_ranks(int key, char *value,
                                   struct argp_state *state)
{
    static const char *const hows[3] = {"none", "paper", "best"};
    struct nw_mp_settings *s = state->input;
    int64_t shape[2];

    switch (key) {
    case KEY_ARRANGE:
        s->arrange = hows[one_of("arrange", value, hows, state)];
        return 0;
    case KEY_BY:
        if (strcmp(value, "sum") && strcmp(value, "slowest"))
            argp_error(state, "--arrange-by is sum or slowest, not '%s'",
                       value);
        s->slowest = !strcmp(value, "slowest");
        return 0;
    case KEY_SHAPE:
        options_product("shape", value, 2, shape, state);
        s->shape[0] = (int32_t)shape[0];
        s->shape[1] = (int32_t)shape[1];
        return 0;
    case 't':
        s->topology = value;
        return 0;
    case KEY_BANDWIDTHS:
        s->bandwidths = value;
        return 0;
    case KEY_SPEEDS:
        s->speeds = value;
        return 0;
    case KEY_THREADS:
        s->options.threads = options_small("threads", value, 1, state);
        return 0;
    case KEY_BLOCK:
        s->options.block = options_small("block", value, 1, state);
        return 0;
    case KEY_BLOCKING:
        s->blocking = true;
        return 0;
    default:
        return parse_files(key, value, state);
    }
}

static void options_check(const struct nw_mp_settings *s,
                          struct argp_state *state)
{
    if (!s->name == !s->input)
        argp_error(state, "give a --case or an --input");
    if (s->input && (s->size[0] || s->courant > 0))
        argp_error(state, "--size and --courant belong to a case");
    if (s->arrange && s->shape[0] && strcmp(s->arrange, "none"))
        argp_error(state, "--arrange chooses the shape itself");
    if (!s->arrange && (s->topology || s->bandwidths || s->slowest))
        argp_error(state, "-t, --bandwidths and --arrange-by are for "
                          "--arrange, which is missing");
    if (s->topology && s->bandwidths)
        argp_error(state, "-t and --bandwidths exclude each other");
    if (s->output && s->vtk && !strcmp(s->output, s->vtk))
        argp_error(state, "-o and --vtk both write to %s", s->vtk);
    if (s->fields && !s->output)
        argp_error(state, "--fields needs --output");
}

static error_t options_parse(int key, char *value, struct argp_state *state)
{
    static const char *const whens[3] = {"auto", "always", "never"};
    struct nw_mp_settings *s = state->input;
    int found;

    switch (key) {
    case 'c':
        s->name = value;
        return 0;
    case 'i':
        if (!*value)
            argp_error(state, "--input names no file");
        s->input = value;
        return 0;
    case KEY_SIZE:
        options_product("size", value, 3, s->size, state);
        return 0;
    case KEY_COURANT:
        if (!nw_parse_double(value, &s->courant) || !(s->courant > 0))
            argp_error(state, "--courant is above 0, not '%s'", value);
        return 0;
    case 's':
        options_whole("steps", value, 0, &s->steps, state);
        return 0;
    case 'q':
        s->quiet = true;
        return 0;
    case KEY_JSON:
        s->json = true;
        return 0;
    case KEY_PROGRESS:
        found = one_of("progress", value, whens, state);
        s->bar = found == 1;
        s->silent = found == 2;
        return 0;
    case ARGP_KEY_END:
        options_check(s, state);
        s->arrange = s->arrange ? s->arrange : "none";
        return 0;
    default:
        return options_parse_ranks(key, value, state);
    }
}

/* Adds the built-in cases and an example below the options of --help. */
static char *options_help(int key, const char *text, void *input)
{
    struct nw_text list = {0};
    struct nw_mpdata_case c;
    char *out = NULL;

    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    nw_text_add(&list, "Cases:\n");
    for (size_t i = 0; nw_mpdata_case_get(i, &c); i++)
        nw_text_format(&list, "  %-9s %s\n", c.name, c.sentence);
    nw_text_add(&list,
                "\nExample:\n  mpirun -n 4 nodewise-mpdata --case sphere "
                "--limited -o sphere.nc\n");
    return nw_text_take(&list, &out) ? NULL : out;
}

static const struct argp argp = {
    .options = options,
    .parser = options_parse,
    .doc = "Advects a quantity by MPDATA on a grid that is divided over the "
           "ranks of an MPI job.\v ",
    .help_filter = options_help,
};

/* Parses the arguments by argp; wrong usage ends the program with status 2. */
void nw_mp_parse(int argc, char **argv, struct nw_mp_settings *out)
{
    static char name[] = "nodewise-mpdata";
    struct nw_mp_settings s = {.options = NW_MPDATA_OPTIONS_INIT, .steps = -1};

    argv[0] = name;
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &s);
    *out = s;
}
