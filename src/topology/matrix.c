/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads matrix:FILE, n lines of n distances. The result is one node with a core
 * for each row and no links. */
#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/source.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 46340 /* n^2 stays below 2^31 */

static nw_status matrix_read_row(struct nw_lines *lines, char *line, size_t row,
                                 size_t *n, size_t *capacity, double **values)
{
    size_t column = 0;
    char *word;

    while ((word = nw_word_next(&line))) {
        double value;
        nw_status status;

        if ((!nw_parse_double(word, &value) &&
             !nw_parse_duration(word, &value)) ||
            value < 0)
            return nw_lines_fail(lines,
                                 "a distance is a number from 0, or a time "
                                 "such as 1.5us, not '%s'",
                                 word);
        if (value > NW_DISTANCE_MOST)
            return nw_lines_fail(lines, "distance %s is larger than %g", word,
                                 NW_DISTANCE_MOST);
        if (row && column == *n)
            return nw_lines_fail(lines, "row %zu has more than %zu column%s",
                                 row, *n, nw_plural((uint64_t)*n));
        status =
            nw_grow(values, capacity, row * *n + column + 1, sizeof **values);
        if (status)
            return status;
        (*values)[row * *n + column++] = value;
    }
    if (!row)
        *n = column;
    if (*n > MAX_ROWS)
        return nw_lines_fail(lines, "more than %d columns", MAX_ROWS);
    if (column != *n)
        return nw_lines_fail(lines, "row %zu has %zu column%s, not %zu", row,
                             column, nw_plural((uint64_t)column), *n);
    return NW_OK;
}

static nw_status read_values(const char *file, double **values, size_t *n)
{
    struct nw_lines lines;
    size_t length, capacity = 0, row = 0;
    char *data, *line;
    nw_status status = nw_file_read_text(file, &data, &length);

    if (status)
        return status;
    nw_lines_init(&lines, file, data);
    while (!status && (line = nw_lines_next(&lines))) {
        if (row && row == *n)
            status = nw_lines_fail(&lines, "more than %zu row%s", *n,
                                   nw_plural((uint64_t)*n));
        else
            status = matrix_read_row(&lines, line, row++, n, &capacity, values);
    }
    if (!status && (!row || row != *n))
        status = nw_lines_fail(&lines, "%zu row%s of %zu column%s", row,
                               nw_plural((uint64_t)row), *n,
                               nw_plural((uint64_t)*n));
    free(data);
    return status;
}

/* Makes a topology of n elements from n x n distances, row by row. Takes
 * ownership of `values`, which is freed also on failure. */
static nw_status matrix_make_topology(const char *name, double *values,
                                      size_t n, enum nw_elements elements,
                                      nw_topology **out)
{
    nw_topology *topology = NULL;
    struct nw_node_type *type;
    int32_t vertex;
    nw_status status = nw_topology_new(name, &topology);

    if (status) {
        free(values);
        return status;
    }
    topology->matrix = values;
    status = nw_node_type_new(topology, "matrix", &type);
    for (size_t i = 0; !status && i < n; i++)
        status = nw_node_type_add(type, 0, NW_VERTEX_CORE, -1, &vertex);
    if (!status)
        status = nw_topology_set_nodes(topology, 1, 0);
    if (!status)
        status = nw_strdup("machine", &topology->node_name[0]);
    if (!status)
        status = nw_topology_finish(topology, elements);
    if (status)
        nw_topology_free(topology);
    else
        *out = topology;
    return status;
}

nw_status nw_topology_from_distances(const char *name, const double *distances,
                                     size_t n, nw_topology **out)
{
    double *values;
    nw_status status;

    if (!n || n > MAX_ROWS)
        return nw_fail(NW_EINVAL, "%s: distances of 1 to %d elements, not %zu",
                       name, MAX_ROWS, n);
    for (size_t i = 0; i < n * n; i++)
        if (!(distances[i] >= 0) || distances[i] > NW_DISTANCE_MOST)
            return nw_fail(NW_EINVAL, "%s: a distance is a number from 0 to %g",
                           name, NW_DISTANCE_MOST);
    status = nw_alloc(n * n, sizeof *values, &values);
    if (status)
        return status;
    memcpy(values, distances, n * n * sizeof *values);
    return matrix_make_topology(name, values, n, NW_ELEMENTS_CORE, out);
}

nw_status nw_source_matrix(const char *what, enum nw_elements elements,
                           nw_topology **out)
{
    double *values = NULL;
    size_t n = 0;
    nw_status status = read_values(what, &values, &n);

    if (status) {
        free(values);
        return status;
    }
    return matrix_make_topology(what, values, n, elements, out);
}
