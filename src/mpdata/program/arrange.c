/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses which rank computes which part of the grid. Either the shape of
 * --shape or that with the least data to exchange is taken with the ranks in
 * order, or the published heuristic or our search arranges the ranks by the
 * bandwidths between them. The result is a Cartesian communicator. */
#include "mpdata/program/job.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/text.h"

#include <nodewise/rowcol.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 256 };

/* --- the shape without an arrangement --- */

/* Returns the number of boundaries between `parts` parts of an axis. */
static int64_t arrange_sides(const struct nw_mp_settings *s, int axis,
                             int32_t parts)
{
    bool ring = s->options.border[axis][0] == NW_MPDATA_PERIODIC;

    return parts > 1 && ring ? parts : parts - 1;
}

/* Sets the number of rows and columns of ranks: those of --shape, or those with
 * the least data to exchange. */
static nw_status choose_shape(const struct nw_mp_settings *s,
                              struct nw_mp_grid *g)
{
    int64_t least = nw_mpdata_halo(&s->options), best = -1;

    if (s->shape[0]) {
        memcpy(g->parts, s->shape, sizeof g->parts);
        if ((int64_t)g->parts[0] * g->parts[1] != g->size)
            return nw_fail(NW_EFORMAT,
                           "the shape %d x %d does not fit the job's %d rank%s",
                           g->parts[0], g->parts[1], g->size,
                           nw_plural((uint64_t)g->size));
        return NW_OK;
    }
    for (int32_t r = g->size; r >= 1; r--) {
        int32_t c = g->size / r;
        int64_t cost =
            arrange_sides(s, 0, r) * g->n[1] + arrange_sides(s, 1, c) * g->n[0];
        if (g->size % r || (r > 1 && g->n[0] < least * r) ||
            (c > 1 && g->n[1] < least * c) || (best >= 0 && cost >= best))
            continue;
        best = cost;
        g->parts[0] = r;
        g->parts[1] = c;
    }
    if (best < 0)
        return nw_fail(NW_EFORMAT,
                       "%d ranks are too many for %lld x %lld cells: each rank "
                       "needs %lld along a side for its halo",
                       g->size, (long long)g->n[0], (long long)g->n[1],
                       (long long)least);
    return NW_OK;
}

/* --- bandwidths between ranks --- */

/* Finds the node of each rank by the name of its host. If names are missing in
 * the topology, but it has as many nodes as ranks, rank i is on node i. */
static nw_status arrange_find_nodes(const nw_topology *t, const char *hosts,
                                    int ranks, int32_t *node)
{
    int32_t nodes = nw_topology_node_count(t);
    int found = 0;

    for (int r = 0; r < ranks; r++) {
        node[r] = nw_topology_node_find(t, hosts + r * NAME);
        found += node[r] >= 0;
    }
    if (found == ranks)
        return NW_OK;
    if (nodes != ranks)
        return nw_fail(
            NW_EFORMAT,
            "%d of %d rank%s on hosts that %s lacks, and it has %d node%s",
            ranks - found, ranks, nw_by_count((uint64_t)ranks, " is", "s are"),
            nw_topology_name(t), nodes, nw_plural((uint64_t)nodes));
    for (int r = 0; r < ranks; r++)
        node[r] = r;
    return NW_OK;
}

/* Returns the bandwidth between two ranks of the same node in bytes/s. It is
 * the bandwidth of the slowest link between the first two cores. If the
 * topology has no link between them, or the node has one core, it is a typical
 * memory bandwidth. */
static double arrange_inside(const nw_topology *t, int32_t node)
{
    uint32_t *hops = NULL;
    double least = 8e9;

    if (nw_topology_node_elements(t, node).count < 2 ||
        nw_alloc(nw_topology_route_max(t), sizeof *hops, &hops))
        return least;
    int32_t first = nw_topology_node_elements(t, node).first;
    size_t count =
        nw_topology_route(t, nw_topology_element_end(t, first),
                          nw_topology_element_end(t, first + 1), hops);
    for (size_t i = 0; i < count; i++) {
        double b =
            nw_topology_link(t, (int32_t)(hops[i] / 2)).bandwidth[hops[i] % 2];
        if (i == 0 || b < least)
            least = b;
    }
    free(hops);
    return least;
}

/* Sorts the ranks by node, since the members of a group of bandwidths must be
 * consecutive. */
static void order_by_node(const int32_t *node, int ranks, int32_t *order)
{
    int next = 0;

    for (int32_t at = 0; next < ranks; at++)
        for (int r = 0; r < ranks; r++)
            if (node[r] == at)
                order[next++] = r;
}

/* Computes the bandwidths between ranks from those between nodes. order[] lists
 * the ranks by node. */
static nw_status arrange_spread(const nw_topology *t,
                                const struct nw_bandwidths *nodes,
                                const int32_t *node, const int32_t *order,
                                struct nw_bandwidths *out)
{
    size_t n = (size_t)out->count;
    nw_status status = nw_alloc(n, sizeof *out->group, &out->group);

    if (!status)
        status = nw_alloc(n * n, sizeof(double), &out->horizontal);
    if (!status)
        status = nw_alloc(n * n, sizeof(double), &out->vertical);
    for (size_t x = 0; x < n && !status; x++) {
        size_t from = (size_t)node[order[x]];
        out->group[x] = nodes->group[from];
        for (size_t y = 0; y < n; y++) {
            size_t to = (size_t)node[order[y]];
            size_t at = from * (size_t)nodes->count + to;
            double same = from == to ? arrange_inside(t, (int32_t)from) : 0;
            out->horizontal[x * n + y] =
                same > 0 ? same : nodes->horizontal[at];
            out->vertical[x * n + y] = same > 0 ? same : nodes->vertical[at];
        }
    }
    return status;
}

static nw_status from_topology(const char *source, const char *hosts,
                               int32_t *order, struct nw_bandwidths *out)
{
    struct nw_topology_options options = NW_TOPOLOGY_OPTIONS_INIT;
    struct nw_bandwidths nodes = {0};
    nw_topology *t = NULL;
    int32_t *node = NULL;
    int ranks = out->count;
    nw_status status = nw_topology_load(source, &options, &t);

    if (!status)
        status = nw_alloc((size_t)ranks, sizeof *node, &node);
    if (!status)
        status = arrange_find_nodes(t, hosts, ranks, node);
    if (!status)
        status = nw_bandwidths_of(t, &nodes);
    if (!status) {
        order_by_node(node, ranks, order);
        status = arrange_spread(t, &nodes, node, order, out);
    }
    nw_bandwidths_fini(&nodes);
    free(node);
    nw_topology_free(t);
    return status;
}

static nw_status find_bandwidths(const struct nw_mp_settings *s,
                                 const char *hosts, int32_t *order,
                                 struct nw_bandwidths *out)
{
    int ranks = out->count;
    nw_status status;

    for (int r = 0; r < ranks; r++)
        order[r] = r;
    if (!s->bandwidths)
        return from_topology(s->topology ? s->topology : "live", hosts, order,
                             out);
    status = nw_bandwidths_read(s->bandwidths, out);
    if (!status && out->count != ranks)
        status =
            nw_fail(NW_EFORMAT,
                    "%s: bandwidths of %d process%s, but the job has %d rank%s",
                    s->bandwidths, out->count,
                    nw_by_count((uint64_t)out->count, "", "es"), ranks,
                    nw_plural((uint64_t)ranks));
    return status;
}

/* --- the arrangement, on rank 0 --- */

static double arrange_sum_of(const struct nw_rowcol_problem *problem,
                             const struct nw_rowcol *a)
{
    struct nw_rowcol_cost cost;

    nw_rowcol_evaluate(problem, a, &cost);
    return nw_rowcol_figure(problem, &cost);
}

/* Describes the arrangement in g->words, and compares it with the ranks in
 * order. */
static void arrange_tell(const struct nw_mp_settings *s, struct nw_mp_grid *g,
                         const struct nw_rowcol_problem *problem,
                         const struct nw_rowcol *a)
{
    struct nw_rowcol plain = {.rows = g->parts[0], .columns = g->parts[1]};
    double before;

    if (nw_alloc((size_t)g->size, sizeof *plain.process, &plain.process))
        return;
    for (int r = 0; r < g->size; r++)
        plain.process[r] = r;
    before = arrange_sum_of(problem, &plain);
    free(plain.process);
    snprintf(g->words, sizeof g->words,
             "%s: %d x %d, %.4g us of an exchange; ranks in order as %d x %d "
             "%.4g us",
             s->arrange, a->rows, a->columns, arrange_sum_of(problem, a),
             plain.rows, plain.columns, before);
}

/* Returns the largest number of parts of an axis, each of which must be at
 * least as wide as the halo; 1 if the axis cannot be divided. */
static int32_t most_parts(const struct nw_mp_settings *s,
                          const struct nw_mp_grid *g, int axis)
{
    int64_t parts = g->n[axis] / nw_mpdata_halo(&s->options);

    return parts > 1 ? (int32_t)parts : 1;
}

/* Arranges the ranks; called on rank 0. Sets g->parts and g->words. rank_at[]
 * receives the rank that computes each part of the grid, row by row. */
static nw_status arrange_solve(const struct nw_mp_settings *s,
                               struct nw_mp_grid *g, const char *hosts,
                               int32_t *rank_at)
{
    double column = (double)g->n[2] * nw_mpdata_halo(&s->options) *
                    (s->options.single ? 4 : 8);
    struct nw_bandwidths b = {.count = g->size};
    struct nw_rowcol_problem problem = {
        .bandwidths = &b,
        .row_bytes = (double)g->n[0] * column,
        .column_bytes = (double)g->n[1] * column,
        .periodic = s->options.border[0][0] == NW_MPDATA_PERIODIC &&
                    s->options.border[1][0] == NW_MPDATA_PERIODIC,
        .objective = s->slowest ? NW_ROWCOL_SLOWEST : NW_ROWCOL_SUM,
        .seed = 1,
        .most = {most_parts(s, g, 0), most_parts(s, g, 1)},
    };
    struct nw_rowcol a = {0};
    double *speed = NULL;
    int32_t *order = NULL;
    nw_status status = nw_alloc((size_t)g->size, sizeof *order, &order);

    if (!status)
        status = nw_alloc((size_t)g->size, sizeof *speed, &speed);
    problem.all_shapes = !strcmp(s->arrange, "best");
    if (!status)
        status = find_bandwidths(s, hosts, order, &b);
    for (int i = 0; i < g->size && g->speed && !status; i++)
        speed[i] = g->speed[order[i]];
    problem.speed = g->speed ? speed : NULL;
    if (!status)
        status = problem.all_shapes ? nw_rowcol_best(&problem, &a)
                                    : nw_rowcol_paper(&problem, &a);
    if (!status) {
        arrange_tell(s, g, &problem, &a);
        g->parts[0] = a.rows;
        g->parts[1] = a.columns;
        for (int i = 0; i < g->size; i++)
            rank_at[i] = order[a.process[i]];
    }
    free(a.process);
    free(order);
    free(speed);
    nw_bandwidths_fini(&b);
    return status == NW_EINVAL ? NW_EFORMAT : status;
}

/* Gathers on rank 0 the host names of all ranks, without domains, NAME bytes
 * each. All ranks free *out. */
static nw_status gather_hosts(const struct nw_mp_grid *g, char **out)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "", own[NAME] = "";
    int length;
    nw_status status = nw_alloc((size_t)g->size, NAME, out);

    status = nw_mp_agree(MPI_COMM_WORLD, status);
    if (status)
        return status;
    MPI_Get_processor_name(name, &length);
    snprintf(own, sizeof own, "%.200s", name);
    own[strcspn(own, ".")] = '\0';
    MPI_Gather(own, NAME, MPI_CHAR, *out, NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    return NW_OK;
}

static nw_status arrange_run(const struct nw_mp_settings *s,
                             struct nw_mp_grid *g, int32_t *rank_at)
{
    char *hosts = NULL;
    nw_status status = gather_hosts(g, &hosts);

    if (!status)
        status =
            nw_mp_agree(MPI_COMM_WORLD,
                        g->rank ? NW_OK : arrange_solve(s, g, hosts, rank_at));
    free(hosts);
    if (status)
        return status;
    MPI_Bcast(rank_at, g->size, MPI_INT32_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(g->parts, 2, MPI_INT32_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(g->words, sizeof g->words, MPI_CHAR, 0, MPI_COMM_WORLD);
    return NW_OK;
}

/* --- speeds --- */

/* Creates a solver for a small grid, on which the speed is measured. */
static nw_status arrange_prepare(const struct nw_mp_settings *s,
                                 nw_mpdata **out)
{
    const int64_t size[3] = {48, 48, 64};
    struct nw_mpdata_options options = s->options;
    struct nw_mpdata_case made;
    nw_status status;

    memset(options.border, 0, sizeof options.border);
    status = nw_mpdata_new(size, &options, out);
    if (status)
        return status;
    nw_mpdata_case_find("wave", &made);
    made.scale = 48;
    return nw_mpdata_case_put(&made, *out);
}

/* Measures this rank's speed, as a number proportional to cells per second,
 * while all ranks compute. */
static double arrange_measure(nw_mpdata *solver)
{
    nw_mpdata_step(solver, 2);
    uint64_t begin = nw_clock_ns();
    nw_mpdata_step(solver, 8);
    return 1e9 / (double)(nw_clock_ns() - begin);
}

static nw_status arrange_read_speeds(const char *list, struct nw_mp_grid *g)
{
    char *copy = NULL, *rest, *word;
    int count = 0;
    nw_status status = nw_strdup(list, &copy);

    rest = copy;
    while (!status && (word = strsep(&rest, ","))) {
        double speed;
        if (!nw_parse_double(word, &speed) || !(speed > 0 && speed < 1e100))
            status = nw_fail(
                NW_EFORMAT,
                "--speeds: '%s' is not a number between 0 and 1e100", word);
        else if (count++ < g->size)
            g->speed[count - 1] = speed;
    }
    if (!status && count != g->size)
        status = nw_fail(NW_EFORMAT, "%d speeds are given for %d rank%s", count,
                         g->size, nw_plural((uint64_t)g->size));
    free(copy);
    return status;
}

/* Finds the speeds of all ranks of MPI_COMM_WORLD, by --speeds; without it,
 * g->speed stays NULL. The ranks agree before they measure, so that all of them
 * begin together. */
static nw_status find_speeds(const struct nw_mp_settings *s,
                             struct nw_mp_grid *g)
{
    nw_mpdata *solver = NULL;
    nw_status status;

    if (!s->speeds)
        return NW_OK;
    bool measured = !strcmp(s->speeds, "measure");
    status = nw_alloc((size_t)g->size, sizeof *g->speed, &g->speed);
    if (!status)
        status = measured ? arrange_prepare(s, &solver)
                          : arrange_read_speeds(s->speeds, g);
    status = nw_mp_agree(MPI_COMM_WORLD, status);
    if (!status && measured) {
        double own = arrange_measure(solver);
        MPI_Allgather(&own, 1, MPI_DOUBLE, g->speed, 1, MPI_DOUBLE,
                      MPI_COMM_WORLD);
    }
    nw_mpdata_free(solver);
    return status;
}

/* --- the communicator --- */

static nw_status make_comm(const struct nw_mp_settings *s, struct nw_mp_grid *g,
                           const int32_t *rank_at)
{
    int dims[2] = {g->parts[0], g->parts[1]}, periods[2], at[2], place = 0;
    double *speed = NULL;
    MPI_Comm ordered;
    nw_status status = nw_alloc((size_t)g->size, sizeof *speed, &speed);

    status = nw_mp_agree(MPI_COMM_WORLD, status);
    if (status)
        return status;
    for (int i = 0; i < g->size; i++) {
        if (rank_at[i] == g->rank)
            place = i;
        speed[i] = g->speed ? g->speed[rank_at[i]] : 1;
    }
    if (g->speed)
        memcpy(g->speed, speed, (size_t)g->size * sizeof *speed);
    free(speed);
    for (int a = 0; a < 2; a++)
        periods[a] = s->options.border[a][0] == NW_MPDATA_PERIODIC;
    MPI_Comm_split(MPI_COMM_WORLD, 0, place, &ordered);
    MPI_Cart_create(ordered, 2, dims, periods, 0, &g->comm);
    MPI_Comm_free(&ordered);
    MPI_Comm_rank(g->comm, &g->rank);
    MPI_Cart_coords(g->comm, g->rank, 2, at);
    for (int a = 0; a < 2; a++) {
        g->part[a] = at[a];
        MPI_Cart_shift(g->comm, a, 1, &g->low_rank[a], &g->high_rank[a]);
    }
    return NW_OK;
}

nw_status nw_mp_arrange(const struct nw_mp_settings *s, struct nw_mp_grid *g)
{
    int32_t *rank_at = NULL;
    bool arranged = strcmp(s->arrange, "none") != 0 && g->size > 1;
    nw_status status = nw_alloc((size_t)g->size, sizeof *rank_at, &rank_at);

    for (int i = 0; i < g->size && !status; i++)
        rank_at[i] = i;
    if (!status)
        status = choose_shape(s, g);
    status = nw_mp_agree(MPI_COMM_WORLD, status);
    if (!status)
        status = find_speeds(s, g);
    if (!status && arranged)
        status = arrange_run(s, g, rank_at);
    if (!status)
        status = make_comm(s, g, rank_at);
    free(rank_at);
    return status;
}
