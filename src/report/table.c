/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints tables as text. Cells are stored as strings; libsmartcols, which is
 * loaded when the first table is shown, arranges them. */
#include <nodewise/report.h>

#include "base/array.h"
#include "base/library.h"
#include "base/c_locale.h"
#include "base/status.h"
#include "base/text.h"

#include <assert.h>
#include <libsmartcols.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct column {
    char *title;
    enum nw_align align;
};

struct nw_table {
    struct column *column;
    size_t column_count, column_capacity;
    int32_t *parent; /* [row_count] parent row in a tree; -1: none */
    size_t row_count, row_capacity;
    char **cell; /* [cell_count] row by row; NULL: empty cell */
    size_t cell_count, cell_capacity;
    size_t filled; /* number of cells that the last row has so far */
    bool is_tree, failed;
};

/* The functions of libsmartcols, see table_load(). */
static struct {
    struct libscols_table *(*new_table)(void);
    void (*unref_table)(struct libscols_table *);
    struct libscols_column *(*new_column)(struct libscols_table *, const char *,
                                          double, int);
    struct libscols_line *(*new_line)(struct libscols_table *,
                                      struct libscols_line *);
    int (*set_data)(struct libscols_line *, size_t, const char *);
    int (*enable_noheadings)(struct libscols_table *, int);
    int (*set_termforce)(struct libscols_table *, int);
    int (*print_to_string)(struct libscols_table *, char **);
} scols;

static nw_status table_load(void)
{
    const struct nw_symbol symbols[] = {
        {"scols_new_table", &scols.new_table},
        {"scols_unref_table", &scols.unref_table},
        {"scols_table_new_column", &scols.new_column},
        {"scols_table_new_line", &scols.new_line},
        {"scols_line_set_data", &scols.set_data},
        {"scols_table_enable_noheadings", &scols.enable_noheadings},
        {"scols_table_set_termforce", &scols.set_termforce},
        {"scols_print_table_to_string", &scols.print_to_string},
    };

    return nw_library_load("libsmartcols.so.1", symbols,
                           sizeof symbols / sizeof *symbols, "to show tables");
}

nw_status nw_table_new(nw_table **out)
{
    return nw_alloc(1, sizeof **out, out);
}

void nw_table_free(nw_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->column_count; i++)
        free(table->column[i].title);
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cell[i]);
    free(table->column);
    free(table->parent);
    free(table->cell);
    free(table);
}

void nw_table_column(nw_table *table, const char *title, enum nw_align align)
{
    struct column column = {.align = align};

    assert(!table->row_count);
    if (nw_grow(&table->column, &table->column_capacity,
                table->column_count + 1, sizeof column) ||
        nw_strdup(title, &column.title))
        table->failed = true;
    else
        table->column[table->column_count++] = column;
}

int32_t nw_table_row(nw_table *table, int32_t parent)
{
    size_t cells = table->cell_count + table->column_count;

    assert(parent < (int32_t)table->row_count);
    if (nw_grow(&table->parent, &table->row_capacity, table->row_count + 1,
                sizeof *table->parent) ||
        nw_grow(&table->cell, &table->cell_capacity, cells,
                sizeof *table->cell)) {
        table->failed = true;
        return -1;
    }
    while (table->cell_count < cells)
        table->cell[table->cell_count++] = NULL;
    table->filled = 0;
    table->parent[table->row_count] = parent;
    table->is_tree |= parent >= 0;
    return (int32_t)table->row_count++;
}

void nw_table_cell(nw_table *table, const char *format, ...)
{
    size_t at = table->cell_count - table->column_count + table->filled;
    va_list args;

    if (table->failed)
        return;
    assert(table->row_count && table->filled < table->column_count);
    va_start(args, format);
    if (nw_vasprintf(&table->cell[at], format, args) < 0) {
        table->cell[at] = NULL;
        table->failed = true;
    }
    va_end(args);
    table->filled++;
}

static bool table_add_columns(const nw_table *table, struct libscols_table *to)
{
    bool titled = false;

    for (size_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->column[i];
        int flags = column->align == NW_ALIGN_RIGHT ? SCOLS_FL_RIGHT : 0;

        if (i == 0 && table->is_tree)
            flags |= SCOLS_FL_TREE;
        if (!scols.new_column(to, column->title, 0, flags))
            return false;
        titled |= *column->title != '\0';
    }
    return titled || !scols.enable_noheadings(to, 1);
}

static bool add_rows(const nw_table *table, struct libscols_table *to,
                     struct libscols_line **line)
{
    for (size_t row = 0; row < table->row_count; row++) {
        int32_t parent = table->parent[row];
        char **cell = &table->cell[row * table->column_count];

        line[row] = scols.new_line(to, parent < 0 ? NULL : line[parent]);
        if (!line[row])
            return false;
        for (size_t i = 0; i < table->column_count; i++)
            if (cell[i] && scols.set_data(line[row], i, cell[i]))
                return false;
    }
    return true;
}

/* Removes blanks at the ends of lines, so that copied output has none. */
static void trim_lines(char *text)
{
    char *to = text, *keep = text;

    for (const char *from = text; *from; from++) {
        if (*from == '\n')
            to = keep;
        *to++ = *from;
        if (*from != ' ')
            keep = to;
    }
    *to = '\0';
}

/* Makes the text by libsmartcols. line[row_count] is working memory. */
static nw_status table_lay_out(const nw_table *table,
                               struct libscols_line **line, char **out)
{
    struct libscols_table *to = scols.new_table();
    nw_status status = NW_OK;
    char *data = NULL;
    struct nw_text text = {0};

    if (!to || scols.set_termforce(to, SCOLS_TERMFORCE_NEVER) ||
        !table_add_columns(table, to) || !add_rows(table, to, line) ||
        scols.print_to_string(to, &data))
        status = nw_fail(NW_ENOMEM, "out of memory");
    scols.unref_table(to);
    if (!status) {
        nw_text_add(&text, data ? data : "");
        if (text.length && text.data[text.length - 1] != '\n')
            nw_text_add(&text, "\n");
        status = nw_text_take(&text, out);
    }
    if (!status)
        trim_lines(*out);
    free(data);
    return status;
}

nw_status nw_table_text(const nw_table *table, char **out)
{
    struct libscols_line **line = NULL;
    nw_status status;

    if (table->failed)
        return nw_fail(NW_ENOMEM, "out of memory");
    status = table_load();
    if (!status)
        status = nw_alloc(table->row_count, sizeof *line, &line);
    if (!status)
        status = table_lay_out(table, line, out);
    free(line);
    return status;
}
