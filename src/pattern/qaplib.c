/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads QAPLIB instances: n, then n x n flows, then n x n distances, with any
 * line breaks. */
#include "base/array.h"
#include "base/file.h"
#include "pattern/format.h"

#include <stdlib.h>
#include <string.h>

bool nw_fits_qaplib(const struct nw_shape *shape)
{
    size_t n = shape->number[0];

    return shape->numeric && shape->first_words == 1 &&
           shape->number_count == 1 && n && n < 1 << 24 &&
           shape->words == 1 + 2 * n * n;
}

static nw_status qaplib_seek(struct nw_scan *scan, const char *what)
{
    return nw_scan_seek(scan)
               ? NW_OK
               : nw_scan_fail(scan, "the file ends within the %s", what);
}

static nw_status read_flow(struct nw_scan *scan, size_t n,
                           nw_pattern_builder *builder)
{
    nw_status status = NW_OK;
    uint64_t bytes;

    for (size_t i = 0; !status && i < n * n; i++) {
        status = qaplib_seek(scan, "flows");
        if (status)
            return status;
        if (!nw_scan_bytes(scan, &bytes))
            return nw_scan_expected(scan, "a flow");
        if (bytes)
            status =
                nw_pattern_builder_add(builder, (int32_t)(i / n),
                                       (int32_t)(i % n), NW_KIND_HH, bytes, 1);
    }
    return status;
}

static nw_status read_distances(struct nw_scan *scan, size_t n, double *out)
{
    nw_status status = NW_OK;

    for (size_t i = 0; i < n * n; i++) {
        status = qaplib_seek(scan, "distances");
        if (status)
            return status;
        if (!nw_scan_double(scan, &out[i]))
            return nw_scan_expected(scan, "a distance");
        if (out[i] < 0)
            return nw_scan_fail(scan, "expected a distance from 0, not '%g'",
                                out[i]);
    }
    if (nw_scan_seek(scan))
        return nw_scan_expected(scan, "the end of the file");
    return NW_OK;
}

/* A QAPLIB instance of n facilities. */
struct instance {
    size_t n;
    nw_pattern *flow;
    double *distances;
};

static nw_status qaplib_read_size(struct nw_scan *scan, size_t length,
                                  size_t *n)
{
    uint64_t value;

    if (!nw_scan_line(scan) || !nw_scan_u64(scan, &value))
        return nw_scan_expected(scan, "the size of the instance");
    /* each number takes at least two characters */
    if (!value || value > length || value > length / value)
        return nw_scan_fail(scan, "size %llu does not fit a file of %zu bytes",
                            (unsigned long long)value, length);
    *n = (size_t)value;
    return NW_OK;
}

static nw_status read_instance(const struct nw_pattern_text *text,
                               struct instance *out)
{
    struct nw_scan scan;
    nw_pattern_builder *builder = NULL;
    nw_status status;

    nw_scan_init(&scan, text->file, text->data, text->length);
    status = qaplib_read_size(&scan, text->length, &out->n);
    if (!status)
        status = nw_pattern_builder_new((int32_t)out->n, &builder);
    if (!status)
        status = read_flow(&scan, out->n, builder);
    if (!status)
        status = nw_alloc(out->n * out->n, sizeof(double), &out->distances);
    if (!status)
        status = read_distances(&scan, out->n, out->distances);
    if (!status)
        status = nw_pattern_builder_build(builder, &out->flow);
    nw_pattern_builder_free(builder);
    if (status)
        free(out->distances);
    return status;
}

nw_status nw_qaplib_pattern(const struct nw_pattern_text *text,
                            nw_pattern **out)
{
    struct instance instance = {0};
    nw_status status = read_instance(text, &instance);

    if (status)
        return status;
    free(instance.distances);
    *out = instance.flow;
    return NW_OK;
}

nw_status nw_qaplib_read(const char *path, nw_pattern **flow,
                         double **distances, size_t *n)
{
    struct nw_pattern_text text = {.file = path};
    struct instance instance = {0};
    char *data;
    nw_status status = nw_file_read_text(path, &data, &text.length);

    if (status)
        return status;
    if (!strcmp(path, "-"))
        text.file = "standard input";
    text.data = data;
    status = read_instance(&text, &instance);
    free(data);
    if (status)
        return status;
    *flow = instance.flow;
    *distances = instance.distances;
    *n = instance.n;
    return NW_OK;
}
