/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads bandwidths between processes from a file of groups and pairs, or
 * computes them from the routes of a topology with one process per node.
 */
#include <nodewise/rowcol.h>

#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 4096 };

void nw_bandwidths_fini(struct nw_bandwidths *b)
{
    NW_FREE_ALL(b->group, b->horizontal, b->vertical);
    *b = (struct nw_bandwidths){0};
}

/* The state of reading a file of bandwidths. */
struct bandwidths_reader {
    struct nw_lines lines;
    struct nw_bandwidths *out;
    char **name; /* [count] names of groups; they point into the text of the
                    file */
    size_t capacity, count;
    size_t room; /* number of allocated elements in out->group */
    bool pairs;  /* a "between" or "pair" line was read, so that no "group" line
                    may follow */
};

/* Reads "group NAME NUMBER": the next NUMBER processes form a group called
 * NAME. */
static nw_status bandwidths_read_group(struct bandwidths_reader *r, char *rest)
{
    char *name = nw_word_next(&rest), *number = nw_word_next(&rest);
    struct nw_bandwidths *b = r->out;
    int32_t members;
    nw_status status;

    if (r->pairs)
        return nw_lines_fail(&r->lines,
                             "groups must come before all bandwidths");
    if (!number || !nw_parse_i32(number, &members) || members < 1 ||
        members > MAX - b->count || nw_word_next(&rest))
        return nw_lines_fail(&r->lines,
                             "expected a name and a number of "
                             "processes, %d in all",
                             MAX);
    for (size_t g = 0; g < r->count; g++)
        if (!strcmp(r->name[g], name))
            return nw_lines_fail(&r->lines, "group %s occurs twice", name);
    status = nw_grow(&r->name, &r->capacity, r->count + 1, sizeof *r->name);
    if (!status)
        status = nw_grow(&b->group, &r->room, (size_t)(b->count + members),
                         sizeof *b->group);
    if (status)
        return status;
    r->name[r->count] = name;
    while (members--)
        b->group[b->count++] = (int32_t)r->count;
    r->count++;
    return NW_OK;
}

/* Allocates the arrays of bandwidths at the first "between" or "pair" line. */
static nw_status bandwidths_begin_pairs(struct bandwidths_reader *r)
{
    size_t n = (size_t)r->out->count;

    if (r->pairs)
        return NW_OK;
    if (!n)
        return nw_lines_fail(&r->lines, "no groups before this line");
    r->pairs = true;
    return NW_ALLOC_ALL(NW_ARRAY(n * n, r->out->horizontal),
                        NW_ARRAY(n * n, r->out->vertical));
}

static nw_status bandwidths_read_two(struct bandwidths_reader *r, char *rest,
                                     double out[2])
{
    for (int i = 0; i < 2; i++) {
        char *word = nw_word_next(&rest);
        if (!word)
            return nw_lines_fail(&r->lines, "expected a %s bandwidth",
                                 i ? "vertical" : "horizontal");
        if (!nw_parse_quantity(word, NW_UNIT_BANDWIDTH, &out[i]))
            return nw_lines_fail(
                &r->lines, "bandwidth '%s' is not a number above 0", word);
        if (!(out[i] > 0))
            return nw_lines_fail(&r->lines, "bandwidth %s is not positive",
                                 word);
    }
    if (nw_word_next(&rest))
        return nw_lines_fail(&r->lines, "more than two bandwidths");
    return NW_OK;
}

static int32_t bandwidths_find_group(const struct bandwidths_reader *r,
                                     const char *name)
{
    for (size_t g = 0; name && g < r->count; g++)
        if (!strcmp(r->name[g], name))
            return (int32_t)g;
    return -1;
}

static void bandwidths_set_pair(struct nw_bandwidths *b, int32_t x, int32_t y,
                                const double two[2])
{
    size_t at = (size_t)x * (size_t)b->count + (size_t)y;

    b->horizontal[at] = two[0];
    b->vertical[at] = two[1];
}

/* Reads "between GROUP GROUP HORIZONTAL VERTICAL": the bandwidths, in both
 * directions, between all processes of two groups, or inside a group that is
 * named twice. */
static nw_status bandwidths_read_between(struct bandwidths_reader *r,
                                         char *rest)
{
    int32_t one = bandwidths_find_group(r, nw_word_next(&rest));
    int32_t other = bandwidths_find_group(r, nw_word_next(&rest));
    struct nw_bandwidths *b = r->out;
    double two[2];
    nw_status status = bandwidths_begin_pairs(r);

    if (status)
        return status;
    if (one < 0 || other < 0)
        return nw_lines_fail(&r->lines, "expected the names of two groups");
    status = bandwidths_read_two(r, rest, two);
    for (int32_t x = 0; !status && x < b->count; x++)
        for (int32_t y = 0; y < b->count; y++)
            if ((b->group[x] == one && b->group[y] == other) ||
                (b->group[x] == other && b->group[y] == one))
                bandwidths_set_pair(b, x, y, two);
    return status;
}

/* Reads "pair FROM TO HORIZONTAL VERTICAL": the bandwidths from one process to
 * another, in one direction. */
static nw_status bandwidths_read_pair(struct bandwidths_reader *r, char *rest)
{
    const char *from = nw_word_next(&rest), *to = nw_word_next(&rest);
    double two[2];
    int32_t x, y;
    nw_status status = bandwidths_begin_pairs(r);

    if (status)
        return status;
    if (!to || !nw_parse_i32(from, &x) || !nw_parse_i32(to, &y) || x < 0 ||
        y < 0 || x >= r->out->count || y >= r->out->count || x == y)
        return nw_lines_fail(&r->lines, "expected two processes below %d",
                             r->out->count);
    status = bandwidths_read_two(r, rest, two);
    if (!status)
        bandwidths_set_pair(r->out, x, y, two);
    return status;
}

static nw_status bandwidths_read_lines(struct bandwidths_reader *r)
{
    char *line = nw_lines_next(&r->lines);
    nw_status status = NW_OK;

    if (!line || strcmp(line, "nodewise bandwidths 1"))
        return nw_lines_fail(&r->lines, "expected 'nodewise bandwidths 1'");
    while (!status && (line = nw_lines_next(&r->lines))) {
        char *word = nw_word_next(&line);
        if (!strcmp(word, "group"))
            status = bandwidths_read_group(r, line);
        else if (!strcmp(word, "between"))
            status = bandwidths_read_between(r, line);
        else if (!strcmp(word, "pair"))
            status = bandwidths_read_pair(r, line);
        else
            status =
                nw_lines_fail(&r->lines, "expected group, between or pair");
    }
    return status;
}

static nw_status bandwidths_check_complete(const char *path,
                                           const struct nw_bandwidths *b)
{
    if (!b->horizontal)
        return nw_fail(NW_EFORMAT, "%s:1: no bandwidths", path);
    for (int32_t x = 0; x < b->count; x++)
        for (int32_t y = 0; y < b->count; y++)
            if (x != y &&
                !(b->horizontal[(size_t)x * (size_t)b->count + (size_t)y] > 0))
                return nw_fail(NW_EFORMAT,
                               "%s:1: no bandwidths from process %d to %d",
                               path, x, y);
    return NW_OK;
}

nw_status nw_bandwidths_read(const char *path, struct nw_bandwidths *out)
{
    struct nw_bandwidths b = {0};
    struct bandwidths_reader r = {.out = &b};
    char *text = NULL;
    size_t length;
    nw_status status = nw_file_read_text(path, &text, &length);

    if (!status) {
        nw_lines_init(&r.lines, path, text);
        status = bandwidths_read_lines(&r);
    }
    if (!status)
        status = bandwidths_check_complete(path, &b);
    free(r.name);
    free(text);
    if (status)
        nw_bandwidths_fini(&b);
    else
        *out = b;
    return status;
}

/* Returns the bandwidth, in bytes/s, of the slowest link on the route from the
 * first core of node x to that of node y. Returns 0 if the route has no link.
 * hops[] is scratch for a route. */
static double bandwidths_slowest(const nw_topology *t, int32_t x, int32_t y,
                                 uint32_t *hops)
{
    struct nw_end from =
        nw_topology_element_end(t, nw_topology_node_elements(t, x).first);
    struct nw_end to =
        nw_topology_element_end(t, nw_topology_node_elements(t, y).first);
    size_t count = nw_topology_route(t, from, to, hops);
    double least = 0;

    for (size_t i = 0; i < count; i++) {
        struct nw_link_info link = nw_topology_link(t, (int32_t)(hops[i] / 2));
        double bandwidth = link.bandwidth[hops[i] % 2];
        if (i == 0 || bandwidth < least)
            least = bandwidth;
    }
    return least;
}

/* Returns true if two names are equal except for the number at their end. */
static bool bandwidths_alike(const char *a, const char *b)
{
    size_t i = strlen(a), j = strlen(b);

    while (i && isdigit((unsigned char)a[i - 1]))
        i--;
    while (j && isdigit((unsigned char)b[j - 1]))
        j--;
    return i == j && !strncmp(a, b, i);
}

/* Sets the bandwidths between all nodes of a topology, one process per node.
 * Consecutive nodes whose names differ only in the number at their end form a
 * group. Returns NW_EINVAL if a node has no cores or a route has no bandwidth.
 */
static nw_status bandwidths_fill_from(const nw_topology *t,
                                      struct nw_bandwidths *b, uint32_t *hops)
{
    for (int32_t x = 0; x < b->count; x++) {
        if (nw_topology_node_elements(t, x).count < 1)
            return nw_fail(NW_EINVAL, "node %s has no cores",
                           nw_topology_node_name(t, x));
        if (x)
            b->group[x] = b->group[x - 1] +
                          !bandwidths_alike(nw_topology_node_name(t, x - 1),
                                            nw_topology_node_name(t, x));
        for (int32_t y = 0; y < b->count; y++) {
            double bandwidth = x == y ? 1 : bandwidths_slowest(t, x, y, hops);
            const double two[2] = {bandwidth, bandwidth};
            if (!(bandwidth > 0))
                return nw_fail(NW_EINVAL, "no bandwidth from %s to %s",
                               nw_topology_node_name(t, x),
                               nw_topology_node_name(t, y));
            bandwidths_set_pair(b, x, y, two);
        }
    }
    return NW_OK;
}

nw_status nw_bandwidths_of(const nw_topology *t, struct nw_bandwidths *out)
{
    struct nw_bandwidths b = {.count = nw_topology_node_count(t)};
    size_t n = (size_t)b.count;
    uint32_t *hops = NULL;
    nw_status status;

    if (!nw_topology_has_links(t) || b.count > MAX)
        return nw_fail(NW_EINVAL, "%s has no links between up to %d nodes",
                       nw_topology_name(t), MAX);
    status = NW_ALLOC_ALL(NW_ARRAY(n, b.group), NW_ARRAY(n * n, b.horizontal),
                          NW_ARRAY(n * n, b.vertical),
                          NW_ARRAY(nw_topology_route_max(t), hops));
    if (!status)
        status = bandwidths_fill_from(t, &b, hops);
    free(hops);
    if (status)
        nw_bandwidths_fini(&b);
    else
        *out = b;
    return status;
}
