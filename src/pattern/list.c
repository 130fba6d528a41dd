/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads lines of "src dst bytes [hops]" in any order. The ids in the lines are
 * ranks or, if the caller asks for it, are renumbered to close gaps. */
#include "base/array.h"
#include "pattern/format.h"

#include <stdlib.h>
#include <string.h>

struct list_line {
    int32_t src, dst;
    uint64_t bytes;
};

/* The state of the reader. */
struct list {
    struct nw_scan scan;
    int32_t *id; /* [id_count] the ids of the file; ascending and unique after
                    sort_ids; NULL if ids are ranks */
    size_t id_count, id_capacity;
    int32_t largest;
    nw_pattern_builder *builder;
};

bool nw_fits_list(const struct nw_shape *shape)
{
    return shape->numeric && shape->fewest == shape->most &&
           (shape->most == 3 || shape->most == 4) && shape->number_count >= 2;
}

static nw_status list_read_line(struct nw_scan *scan, struct list_line *line)
{
    double hops;

    if (!nw_scan_i32(scan, &line->src) || !nw_scan_i32(scan, &line->dst))
        return nw_scan_expected(scan, "a rank");
    if (!nw_scan_bytes(scan, &line->bytes))
        return nw_scan_expected(scan, "a number of bytes");
    if (!nw_scan_is_done(scan) && (!nw_scan_double(scan, &hops) || hops < 0))
        return nw_scan_expected(scan, "a number of hops");
    return nw_scan_is_done(scan)
               ? NW_OK
               : nw_scan_expected(scan, "the end of the line");
}

/* Updates the largest id and, if ids are renumbered, lists both ids of the
 * line. */
static nw_status note_ids(struct list *list, const struct list_line *line,
                          bool compact)
{
    nw_status status;

    if (line->src > list->largest)
        list->largest = line->src;
    if (line->dst > list->largest)
        list->largest = line->dst;
    if (!compact)
        return NW_OK;
    status = nw_grow(&list->id, &list->id_capacity, list->id_count + 2,
                     sizeof *list->id);
    if (status)
        return status;
    list->id[list->id_count++] = line->src;
    list->id[list->id_count++] = line->dst;
    return NW_OK;
}

static void sort_ids(struct list *list)
{
    size_t kept = 0;

    qsort(list->id, list->id_count, sizeof *list->id, nw_compare_int32);
    for (size_t i = 0; i < list->id_count; i++)
        if (!kept || list->id[kept - 1] != list->id[i])
            list->id[kept++] = list->id[i];
    list->id_count = kept;
}

static nw_status scan_ids(struct list *list, bool compact)
{
    struct nw_scan scan = list->scan;
    struct list_line line;
    nw_status status = NW_OK;

    list->largest = -1;
    while (!status && nw_scan_line(&scan)) {
        status = list_read_line(&scan, &line);
        if (!status)
            status = note_ids(list, &line, compact);
    }
    if (!status && list->largest < 0)
        status = nw_scan_fail(&scan, "the file has no edges");
    if (!status && compact)
        sort_ids(list);
    return status;
}

static int32_t list_rank_of(const struct list *list, int32_t id)
{
    const int32_t *found;

    if (!list->id)
        return id;
    found = bsearch(&id, list->id, list->id_count, sizeof id, nw_compare_int32);
    return (int32_t)(found - list->id);
}

static nw_status add_lines(struct list *list)
{
    struct list_line line;
    nw_status status = NW_OK;

    while (!status && nw_scan_line(&list->scan)) {
        status = list_read_line(&list->scan, &line);
        if (!status)
            status = nw_pattern_builder_add(
                list->builder, list_rank_of(list, line.src),
                list_rank_of(list, line.dst), NW_KIND_HH, line.bytes,
                (uint64_t)list->scan.line);
    }
    return status;
}

static nw_status check_ranks(const struct list *list, size_t length,
                             uint64_t ranks)
{
    if (nw_check_rank_count(&list->scan, length, ranks))
        return nw_scan_fail(&list->scan,
                            "id %d is too large for a file of %zu bytes; "
                            "--compact renumbers sparse ids",
                            list->largest, length);
    return NW_OK;
}

nw_status nw_list_read(const struct nw_pattern_text *text, nw_pattern **out)
{
    struct list list = {0};
    uint64_t ranks;
    nw_status status;

    nw_scan_init(&list.scan, text->file, text->data, text->length);
    status = scan_ids(&list, text->compact);
    ranks = list.id ? list.id_count : (uint64_t)list.largest + 1;
    if (!status)
        status = check_ranks(&list, text->length, ranks);
    if (!status)
        status = nw_pattern_builder_new((int32_t)ranks, &list.builder);
    if (!status)
        status = add_lines(&list);
    if (!status)
        status = nw_build_once(list.builder, text->file, out);
    nw_pattern_builder_free(list.builder);
    free(list.id);
    return status;
}

nw_status nw_list_render(const nw_pattern *p, struct nw_text *out)
{
    nw_status status = NW_OK;

    for (int32_t r = 0; r < p->rank_count; r++)
        for (size_t e = p->row[r]; !status && e < p->row[r + 1];) {
            char line[64], *at = nw_put_u64(line, (uint64_t)r);
            uint64_t bytes;

            *at++ = ' ';
            at = nw_put_u64(at, (uint64_t)p->dst[e]);
            *at++ = ' ';
            status = nw_pair_next(p, r, &e, &bytes);
            at = nw_put_u64(at, bytes);
            *at++ = '\n';
            nw_text_add_bytes(out, line, (size_t)(at - line));
        }
    return status;
}

nw_status nw_csv_render(const nw_pattern *p, struct nw_text *out)
{
    nw_text_add(out, "src,dst,kind,bytes,messages\n");
    for (int32_t r = 0; r < p->rank_count; r++)
        for (size_t e = p->row[r]; e < p->row[r + 1]; e++) {
            char line[128], *at = nw_put_u64(line, (uint64_t)r);

            *at++ = ',';
            at = nw_put_u64(at, (uint64_t)p->dst[e]);
            *at++ = ',';
            at = stpcpy(at, nw_kind_name((enum nw_kind)p->kind[e]));
            *at++ = ',';
            at = nw_put_u64(at, p->bytes[e]);
            *at++ = ',';
            at = nw_put_u64(at, p->messages[e]);
            *at++ = '\n';
            nw_text_add_bytes(out, line, (size_t)(at - line));
        }
    return NW_OK;
}
