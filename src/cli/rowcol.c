/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise map --algorithm rowcol: arranges the processes of a divided grid in
 * rows and columns by the bandwidths between the nodes. */
#include "cli/rowcol.h"
#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/numbers.h"

#include <nodewise/mapping.h>

#include <stdlib.h>
#include <string.h>

enum {
    KEY_GRID = 0x2101,
    KEY_BANDWIDTHS,
    KEY_SHAPES,
    KEY_ARRANGE,
    KEY_BY,
    KEY_HALO,
    KEY_PERIODIC,
    KEY_SINGLE,
};

static const struct argp_option options[] = {
    {"grid", KEY_GRID, "NxMxL", 0,
     "With --algorithm rowcol: cells of the grid; columns have L cells", 5},
    {"bandwidths", KEY_BANDWIDTHS, "FILE", 0,
     "With --algorithm rowcol: file of bandwidths between processes (default: "
     "those of the "
     "topology)",
     5},
    {"shapes", KEY_SHAPES, "WHICH", 0,
     "With --algorithm rowcol: shapes of the process grid: several (default) "
     "rows and "
     "columns, or all",
     5},
    {"arrange", KEY_ARRANGE, "HOW", 0,
     "With --algorithm rowcol: search method: best (default), or paper (the "
     "published "
     "heuristic)",
     5},
    {"arrange-by", KEY_BY, "WHAT", 0,
     "With --algorithm rowcol: what to minimise: sum (default) over all links, "
     "or slowest, "
     "the exchange of the slowest rank",
     5},
    {"halo", KEY_HALO, "CELLS", 0,
     "With --algorithm rowcol: width of the halo in cells (default: 3)", 5},
    {"periodic", KEY_PERIODIC, NULL, 0,
     "With --algorithm rowcol: the grid is periodic along rows and columns", 5},
    {"single", KEY_SINGLE, NULL, 0,
     "With --algorithm rowcol: a grid cell has 4 bytes (default: 8)", 5},
    {0},
};

static void parse_grid(char *value, int32_t grid[3], struct argp_state *state)
{
    char *copy = strdup(value), *rest = copy, *word;
    int count = 0;

    while (copy && count <= 3 && (word = strsep(&rest, "x")))
        if (count == 3 || !nw_parse_i32(word, &grid[count++]) ||
            grid[count - 1] < 1)
            count = 4;
    free(copy);
    if (count != 3)
        nw_argfail(state,
                   "--grid is three numbers such as 512x512x64, not '%s'",
                   value);
}

/* Returns true if `value` of the option that is parsed is the word `two`, false
 * if it is `one`; other values are errors. */
static bool rowcol_either(const char *value, const char *one, const char *two,
                          struct argp_state *state)
{
    const struct nw_cli_rowcol *rowcol = state->input;

    if (strcmp(value, one) && strcmp(value, two))
        nw_argfail(state, "--%s is %s or %s, not '%s'", rowcol->option, one,
                   two, value);
    return !strcmp(value, two);
}

static error_t rowcol_parse(int key, char *value, struct argp_state *state)
{
    struct nw_cli_rowcol *rowcol = state->input;

    for (const struct argp_option *at = options; at->name; at++)
        if (at->key == key)
            rowcol->option = at->name;
    switch (key) {
    case KEY_GRID:
        parse_grid(value, rowcol->grid, state);
        return 0;
    case KEY_BANDWIDTHS:
        rowcol->bandwidths = value;
        return 0;
    case KEY_SHAPES:
        rowcol->all_shapes = rowcol_either(value, "several", "all", state);
        return 0;
    case KEY_ARRANGE:
        rowcol->paper = rowcol_either(value, "best", "paper", state);
        return 0;
    case KEY_BY:
        rowcol->slowest = rowcol_either(value, "sum", "slowest", state);
        return 0;
    case KEY_HALO:
        if (!nw_parse_i32(value, &rowcol->halo) || rowcol->halo < 1)
            nw_argfail(state, "--halo is a number from 1, not '%s'", value);
        return 0;
    case KEY_PERIODIC:
        rowcol->periodic = true;
        return 0;
    case KEY_SINGLE:
        rowcol->single = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp nw_rowcol_argp = {.options = options, .parser = rowcol_parse};

/* Inputs and results: the arrangement by the heuristic of the paper, and the
 * best one that is found. */
struct result {
    nw_topology *topology;
    struct nw_bandwidths bandwidths;
    struct nw_rowcol_problem problem;
    struct nw_rowcol paper, best;
    double *speed;                  /* speed of each process; NULL: all equal */
    const struct nw_rowcol *chosen; /* the arrangement to use: &paper or
                                       &best */
    nw_mapping *mapping;
};

/* Checks that the bandwidths are for one process per node of the machine. Once
 * an arrangement is chosen, also checks that the grid has at least one cell for
 * each row and each column of processes. */
static nw_status check_fit(const struct result *r,
                           const struct nw_cli_rowcol *rowcol)
{
    const struct nw_rowcol *a = r->chosen;
    int32_t nodes = nw_topology_node_count(r->topology);

    if (r->bandwidths.count != nodes)
        return nw_fail(
            NW_EFORMAT,
            "%s:1: bandwidths of %d process%s, and the machine has %d node%s",
            rowcol->bandwidths, r->bandwidths.count,
            nw_by_count((uint64_t)r->bandwidths.count, "", "es"), nodes,
            nw_plural((uint64_t)nodes));
    if (a && (a->rows > rowcol->grid[0] || a->columns > rowcol->grid[1]))
        return nw_fail(NW_EFORMAT,
                       "a grid of %d x %d processes does not fit into %d x %d",
                       a->rows, a->columns, rowcol->grid[0], rowcol->grid[1]);
    return NW_OK;
}

/* Reads the speed of each process, in the order of the processes in the
 * bandwidths; each must be above 0. */
static nw_status read_speeds(struct result *r, const char *path)
{
    nw_status status =
        nw_cli_read_speeds(path, (size_t)r->bandwidths.count, &r->speed);

    for (int32_t i = 0; !status && i < r->bandwidths.count; i++)
        if (!(r->speed[i] > 0))
            status =
                nw_fail(NW_EFORMAT, "%s: speed %g of process %d is not above 0",
                        path, r->speed[i], i);
    r->problem.speed = r->speed;
    return status;
}

/* Makes the mapping: process i of the arrangement, row by row, is rank i and
 * runs on the first core of its node. */
static nw_status make_mapping(struct result *r)
{
    const struct nw_rowcol *a = r->chosen;
    nw_status status =
        nw_mapping_new(r->topology, r->bandwidths.count, &r->mapping);

    for (int32_t i = 0; !status && i < r->bandwidths.count; i++) {
        r->mapping->node[i] = a->process[i];
        r->mapping->core[i] = 0;
        r->mapping->gpu[i] = -1;
    }
    return status;
}

static nw_status rowcol_arrange(struct result *r,
                                const struct nw_cli_rowcol *rowcol,
                                const char *source)
{
    struct nw_topology_options topology = NW_TOPOLOGY_OPTIONS_INIT;
    nw_status status = nw_topology_load(source, &topology, &r->topology);

    if (!status)
        status = rowcol->bandwidths
                     ? nw_bandwidths_read(rowcol->bandwidths, &r->bandwidths)
                     : nw_bandwidths_of(r->topology, &r->bandwidths);
    if (!status)
        status = check_fit(r, rowcol);
    if (!status && rowcol->speeds)
        status = read_speeds(r, rowcol->speeds);
    if (!status)
        status = nw_rowcol_paper(&r->problem, &r->paper);
    if (!status)
        status = nw_rowcol_best(&r->problem, &r->best);
    if (status)
        return status;
    r->chosen = rowcol->paper ? &r->paper : &r->best;
    status = check_fit(r, rowcol);
    return status ? status : make_mapping(r);
}

static void rowcol_add_row(struct nw_text *text, const char *name,
                           const struct nw_rowcol *a)
{
    nw_text_format(text, "%-9s %3d x %-3d %16.0f %16.0f %16.0f %16.0f\n", name,
                   a->rows, a->columns, a->cost.horizontal, a->cost.vertical,
                   a->cost.horizontal + a->cost.vertical, a->cost.slowest);
}

static nw_status rowcol_make_table(const struct result *r, char **out)
{
    const struct nw_rowcol *a = r->chosen;
    struct nw_text text = {0};

    nw_text_format(&text, "%-9s %-9s %16s %16s %16s %16s\n", "", "shape",
                   "horizontal", "vertical", "sum", "slowest rank");
    rowcol_add_row(&text, "paper", &r->paper);
    rowcol_add_row(&text, "best", &r->best);
    nw_text_add(&text, "microseconds of one exchange; the heuristic took ");
    nw_text_format(&text, "%d iteration%s\n\n", r->paper.iterations,
                   nw_plural((uint64_t)r->paper.iterations));
    for (int32_t i = 0; i < a->rows * a->columns; i++)
        nw_text_format(&text, "%s%s",
                       nw_topology_node_name(r->topology, a->process[i]),
                       (i + 1) % a->columns ? " " : "\n");
    return nw_text_take(&text, out);
}

static void rowcol_add_json(struct nw_json *json, const char *name,
                            const struct nw_rowcol *a)
{
    nw_json_object(json, name);
    nw_json_unsigned(json, "rows", (uint64_t)a->rows);
    nw_json_unsigned(json, "columns", (uint64_t)a->columns);
    nw_json_number(json, "horizontal", a->cost.horizontal);
    nw_json_number(json, "vertical", a->cost.vertical);
    nw_json_number(json, "sum", a->cost.horizontal + a->cost.vertical);
    nw_json_number(json, "slowest", a->cost.slowest);
    nw_json_unsigned(json, "iterations", (uint64_t)a->iterations);
    nw_json_end_object(json);
}

static nw_status rowcol_make_json(const struct result *r, char **out)
{
    struct nw_text text = {0};
    struct nw_json json = {.text = &text};

    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.rowcol/1");
    nw_json_string(&json, "algorithm", "rowcol");
    nw_json_string(&json, "chosen", r->chosen == &r->paper ? "paper" : "best");
    nw_json_unsigned(&json, "seed", r->problem.seed);
    rowcol_add_json(&json, "paper", &r->paper);
    rowcol_add_json(&json, "best", &r->best);
    nw_json_end_object(&json);
    return nw_text_take(&text, out);
}

static int rowcol_show(const struct result *r, const struct nw_common *common)
{
    char *table = NULL, *json = NULL;
    nw_status status = rowcol_make_table(r, &table);
    int code;

    if (!status)
        status = rowcol_make_json(r, &json);
    if (status) {
        code = nw_cli_fail("map", status);
    } else {
        if (!common->json || common->output)
            status = nw_mapping_write(r->mapping,
                                      common->output ? common->output : "-");
        code = status ? nw_cli_fail_output("map", status)
                      : nw_cli_output("map", common, NULL, table, json);
    }
    free(table);
    free(json);
    return code;
}

int nw_cli_rowcol(const struct nw_cli_rowcol *rowcol,
                  const struct nw_common *common, const char *source,
                  uint64_t seed)
{
    double column = (double)rowcol->grid[2] *
                    (rowcol->halo ? rowcol->halo : 3) *
                    (rowcol->single ? 4 : 8);
    struct result r = {0};
    nw_status status;
    int code;

    r.problem = (struct nw_rowcol_problem){
        .bandwidths = &r.bandwidths,
        .row_bytes = rowcol->grid[0] * column,
        .column_bytes = rowcol->grid[1] * column,
        .periodic = rowcol->periodic,
        .all_shapes = rowcol->all_shapes,
        .objective = rowcol->slowest ? NW_ROWCOL_SLOWEST : NW_ROWCOL_SUM,
        .seed = seed,
    };
    status = rowcol_arrange(&r, rowcol, source);
    code = status ? nw_cli_fail("map", status) : rowcol_show(&r, common);
    if (status == NW_EINVAL)
        code = NW_EXIT_INPUT;
    nw_mapping_free(r.mapping);
    nw_bandwidths_fini(&r.bandwidths);
    free(r.paper.process);
    free(r.best.process);
    free(r.speed);
    nw_topology_free(r.topology);
    return code;
}
