/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes a lower bound for bench/mapping/congestion: if a grid is divided
 * into k equal parts, the part that sends most sends at least so much. The
 * computation is exact, and no mapping can be below the bound. A set of cells
 * is marked: those at two ends of the grid, or at its corners, or all but
 * these. A part with few marked cells cuts much, and at least one of k parts
 * has no more marked cells than the mean. Whether a cell is marked does not
 * depend on one coordinate, so that the cells of a part may be moved along it
 * to the end of the grid without cutting more edges. A part then becomes a
 * field of heights, and the least cut of all such fields with as many cells,
 * and as many marked cells, is found row by row. */
#include "least_layers.h"
#include "base/array.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATES_MOST 7000
#define WORK_MOST 4e9
#define NEVER 30000
#define USAGE "least_cut X Y Z WEIGHT-X WEIGHT-Y WEIGHT-Z PARTS"

/* Which cells are marked: those at the ends of rows, of columns, of both or of
 * either. */
enum counts { ROW_ENDS, COLUMN_ENDS, CORNERS, RIM, COUNTS };

struct field {
    int height, rows, columns; /* of the grid in the direction in which it is
                                  seen */
    int up, along, across;     /* weights of edges upwards, between rows,
                                  between columns */
    int cells;
    enum counts counts;
    bool others;      /* the cells that `counts` does not name are marked */
    int most;         /* number of marked cells that a part may have */
    int states;       /* number of possible rows of heights */
    int *sum;         /* [states] number of cells of the row */
    int *counted;     /* [states] marked cells of this row */
    uint16_t *cut;    /* [states] cut edges inside the row */
    uint16_t *least;  /* [cells + 1][most + 1][states] least cut up to this
                         row */
    uint16_t *before; /* the same for the row before, then for any next row */
};

static int digit(const struct field *field, int state, int column)
{
    while (column--)
        state /= field->height + 1;
    return state % (field->height + 1);
}

static bool is_end(int at, int size)
{
    return at == 0 || at == size - 1;
}

static bool is_counted(const struct field *field, int row, int column)
{
    bool rows = is_end(row, field->rows);
    bool columns = is_end(column, field->columns);
    bool found = false;

    switch (field->counts) {
    case ROW_ENDS:
        found = rows;
        break;
    case COLUMN_ENDS:
        found = columns;
        break;
    case CORNERS:
        found = rows && columns;
        break;
    default:
        found = rows || columns;
    }
    return found != field->others;
}

static int count_all(const struct field *field)
{
    int count = 0;

    for (int row = 0; row < field->rows; row++)
        for (int column = 0; column < field->columns; column++)
            count += field->height * is_counted(field, row, column);
    return count;
}

static int count_row(const struct field *field, int state, int row)
{
    int count = 0;

    for (int column = 0; column < field->columns; column++)
        if (is_counted(field, row, column))
            count += digit(field, state, column);
    return count;
}

static void fill_states(struct field *field)
{
    for (int s = 0; s < field->states; s++)
        for (int column = 0; column < field->columns; column++) {
            int here = digit(field, s, column);
            int next = column + 1 < field->columns ? digit(field, s, column + 1)
                                                   : here;

            field->sum[s] += here;
            field->cut[s] += (uint16_t)(abs(here - next) * field->across);
            if (here > 0 && here < field->height)
                field->cut[s] += (uint16_t)field->up;
        }
}

/* --- rows --- */

static uint16_t *part(const struct field *field, uint16_t *table, int cells,
                      int counted)
{
    return table +
           ((size_t)cells * ((size_t)field->most + 1) + (size_t)counted) *
               (size_t)field->states;
}

static void lower(uint16_t *value, int other)
{
    if (other < *value)
        *value = (uint16_t)other;
}

/* Propagates the least cut to each next row: rows that differ by one in one
 * height differ by one cut edge. */
static void reach_next(const struct field *field, uint16_t *least)
{
    int base = field->height + 1;

    for (int step = 1; step < field->states; step *= base)
        for (int s = 0; s < field->states; s += step * base) {
            for (int i = step; i < step * base; i++)
                lower(&least[s + i], least[s + i - step] + field->along);
            for (int i = step * (base - 1) - 1; i >= 0; i--)
                lower(&least[s + i], least[s + i + step] + field->along);
        }
}

/* Tries all rows of heights as the next row, for so many cells up to it. */
static void add_states(struct field *field, int cells, int counted)
{
    uint16_t *least = part(field, field->least, cells, counted);

    for (int s = 0; s < field->states; s++) {
        least[s] = NEVER;
        if (field->sum[s] <= cells && field->counted[s] <= counted)
            lower(&least[s], part(field, field->before, cells - field->sum[s],
                                  counted - field->counted[s])[s] +
                                 field->cut[s]);
    }
}

static size_t table_size(const struct field *field)
{
    return ((size_t)field->cells + 1) * ((size_t)field->most + 1) *
           (size_t)field->states;
}

static void add_row(struct field *field, int row)
{
    uint16_t *swap = field->before;

    for (int s = 0; s < field->states; s++)
        field->counted[s] = count_row(field, s, row);
    for (int cells = 0; cells <= field->cells; cells++)
        for (int counted = 0; counted <= field->most; counted++) {
            add_states(field, cells, counted);
            if (row < field->rows - 1)
                reach_next(field, part(field, field->least, cells, counted));
        }
    field->before = field->least;
    field->least = swap;
}

/* Begins the table: no cells are before the first row, and no edges lead to
 * it. */
static void begin(struct field *field)
{
    size_t size = table_size(field);

    for (size_t i = 0; i < size; i++)
        field->before[i] = NEVER;
    memset(field->before, 0, (size_t)field->states * sizeof *field->before);
}

static int search(struct field *field)
{
    uint16_t least = NEVER;

    fill_states(field);
    begin(field);
    for (int row = 0; row < field->rows; row++)
        add_row(field, row);
    for (int u = 0; u <= field->most; u++)
        for (int s = 0; s < field->states; s++)
            lower(&least, part(field, field->before, field->cells, u)[s]);
    return least;
}

/* --- all directions and all kinds of marks --- */

static bool is_cheap(const struct field *field)
{
    double states = 1;

    for (int column = 0; column < field->columns; column++)
        states *= field->height + 1;
    return states <= STATES_MOST && states * (field->cells + 1.0) *
                                            (field->most + 1.0) * field->rows *
                                            (2.0 * field->columns + 1) <=
                                        WORK_MOST;
}

static nw_status find_least(struct field *field, int *out)
{
    size_t states = 1;
    nw_status status;

    for (int column = 0; column < field->columns; column++)
        states *= (size_t)field->height + 1;
    field->states = (int)states;
    status = nw_alloc(states, sizeof *field->sum, &field->sum);
    if (!status)
        status = nw_alloc(states, sizeof *field->counted, &field->counted);
    if (!status)
        status = nw_alloc(states, sizeof *field->cut, &field->cut);
    if (!status)
        status =
            nw_alloc(table_size(field), sizeof *field->least, &field->least);
    if (!status)
        status =
            nw_alloc(table_size(field), sizeof *field->before, &field->before);
    if (!status)
        *out = search(field);
    free(field->sum);
    free(field->counted);
    free(field->cut);
    free(field->least);
    free(field->before);
    return status;
}

/* Sets *bound to the largest of the bounds by all kinds of marks; a part has at
 * most the mean number of marked cells. */
static nw_status look(const struct field *seen, int parts, int *bound)
{
    nw_status status = NW_OK;

    for (int i = 0; !status && i < 2 * COUNTS; i++) {
        struct field field = *seen;
        int least = 0;

        field.counts = (enum counts)(i / 2);
        field.others = i % 2;
        field.most = count_all(&field) / parts;
        if (field.most > field.cells)
            field.most = field.cells;
        if (!is_cheap(&field))
            continue;
        status = find_least(&field, &least);
        if (!status && least > *bound && least < NEVER)
            *bound = least;
    }
    return status;
}

/* Computes the bound with heights along dimension `up`, and rows along the
 * larger of the others. */
static nw_status look_along(const int *size, const int *weight, int up,
                            int parts, int *bound)
{
    int a = (up + 1) % 3, b = (up + 2) % 3;
    int along = size[a] > size[b] ? a : b, across = a + b - along;

    return look(&(struct field){.height = size[up],
                                .rows = size[along],
                                .columns = size[across],
                                .up = weight[up],
                                .along = weight[along],
                                .across = weight[across],
                                .cells = size[0] * size[1] * size[2] / parts},
                parts, bound);
}

int main(int argc, char **argv)
{
    int number[7], bound = 0;
    nw_status status = NW_OK;

    for (int i = 0; i < 7; i++)
        if (argc != 8 || (number[i] = atoi(argv[i + 1])) < 1 ||
            number[i] > 1000) {
            fputs("usage: " USAGE "\n", stderr);
            return 2;
        }
    for (int up = 0; !status && up < 3; up++)
        if (number[up] > 1) {
            status = look_along(number, number + 3, up, number[6], &bound);
            if (!status)
                status =
                    nw_least_layers(number, number + 3, up, number[6], &bound);
        }
    if (status)
        return 1;
    printf("%d\n", bound);
    return 0;
}
