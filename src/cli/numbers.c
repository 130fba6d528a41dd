/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads files with one number a line, one for each rank or element. */
#include "cli/numbers.h"

#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>

/* Converts a line to a number and stores it at index i of `values`; returns
 * false if the line is not a valid number. */
typedef bool taker(const char *line, void *values, size_t i);

static bool take_weight(const char *line, void *values, size_t i)
{
    return nw_parse_u64(line, (uint64_t *)values + i);
}

static bool take_speed(const char *line, void *values, size_t i)
{
    double *value = (double *)values + i;

    return nw_parse_double(line, value) && *value >= 0;
}

static nw_status numbers_read_lines(struct nw_lines *lines, size_t count,
                                    taker *take, void *values)
{
    for (size_t i = 0; i < count; i++) {
        const char *line = nw_lines_next(lines);

        if (!line)
            return nw_lines_fail(lines, "%zu number%s, and %zu are needed", i,
                                 nw_plural((uint64_t)i), count);
        if (!take(line, values, i))
            return nw_lines_fail(lines, "expected a number, not '%.20s'", line);
    }
    if (nw_lines_next(lines))
        return nw_lines_fail(lines, "more than %zu number%s", count,
                             nw_plural((uint64_t)count));
    return NW_OK;
}

static nw_status numbers_read_numbers(const char *path, size_t count,
                                      taker *take, void *out)
{
    struct nw_lines lines;
    uint64_t *values = NULL; /* also used for doubles, which have the same
                                size */
    size_t length;
    char *data;
    nw_status status = nw_file_read_text(path, &data, &length);

    if (status)
        return status;
    status = nw_alloc(count, sizeof *values, &values);
    nw_lines_init(&lines, path, data);
    if (!status)
        status = numbers_read_lines(&lines, count, take, values);
    free(data);
    if (status)
        free(values);
    else
        *(void **)out = values;
    return status;
}

nw_status nw_cli_read_weights(const char *path, size_t count, uint64_t **out)
{
    return numbers_read_numbers(path, count, take_weight, out);
}

nw_status nw_cli_read_speeds(const char *path, size_t count, double **out)
{
    return numbers_read_numbers(path, count, take_speed, out);
}
