/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pattern is a program: how many bytes in how many messages rank i sends to
 * rank j, host and GPU buffers apart. Plain data in compressed rows, so that a
 * million ranks with 26 neighbours each fit in a few GB.
 */
#ifndef NODEWISE_PATTERN_H
#define NODEWISE_PATTERN_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the bytes are at the sender and at the receiver. */
enum nw_kind { NW_KIND_HH, NW_KIND_GG, NW_KIND_HG, NW_KIND_GH, NW_KIND_COUNT };
/* "hh", "gg", "hg", "gh". */
NW_API const char *nw_kind_name(enum nw_kind kind);

/* Edges of rank i are row[i] .. row[i + 1] - 1, sorted by dst, then kind; each
 * (i, dst, kind) once. Self edges are kept. Totals of the whole run. */
typedef struct nw_pattern {
    int32_t rank_count;
    size_t edge_count;
    size_t *row;        /* [rank_count + 1] */
    int32_t *dst;       /* [edge_count] */
    uint8_t *kind;      /* [edge_count], enum nw_kind */
    uint64_t *bytes;    /* [edge_count] */
    uint64_t *messages; /* [edge_count] */
    uint64_t *weight;   /* [rank_count] computation; NULL: 1 each */
    /* Message counts by size, NULL where not known: entries size_row[e] ..
     * size_row[e + 1] - 1 of edge e; bucket 0 holds empty messages, bucket b
     * sizes from 2^(b-1) to 2^b - 1; sorted by bucket. */
    size_t *size_row;     /* [edge_count + 1] */
    uint8_t *size_bucket; /* [size_row[edge_count]] */
    uint64_t *size_count; /* [size_row[edge_count]] */
    char *program;        /* command line that was profiled, or NULL */
    char *partial;        /* why the profile is not whole, or NULL */
    char *note;           /* where it comes from, for people, or NULL */
} nw_pattern;

NW_API void nw_pattern_free(nw_pattern *pattern); /* NULL is fine */

/* Collects edges in any order. */
typedef struct nw_pattern_builder nw_pattern_builder;

/* rank_count from 1 to 2^31 - 1. The caller frees the builder. */
NW_API NW_MUST_CHECK nw_status nw_pattern_builder_new(int32_t rank_count,
                                                      nw_pattern_builder **out);
NW_API void nw_pattern_builder_free(nw_pattern_builder *builder);
/* NW_EINVAL where a rank is out of range. */
NW_API NW_MUST_CHECK nw_status
nw_pattern_builder_add(nw_pattern_builder *builder, int32_t src, int32_t dst,
                       enum nw_kind kind, uint64_t bytes, uint64_t messages);
/* Adds `count` messages of size bucket `bucket` (0 to 64) to an edge; they do
 * not count into its messages, which nw_pattern_builder_add gives. */
NW_API NW_MUST_CHECK nw_status nw_pattern_builder_add_size(
    nw_pattern_builder *builder, int32_t src, int32_t dst, enum nw_kind kind,
    int bucket, uint64_t count);
/* The pattern of all that was added, equal edges summed (NW_EFORMAT where a
 * sum passes 2^64 - 1). The builder is empty afterwards and may be reused.
 * The caller frees *out with nw_pattern_free. */
NW_API NW_MUST_CHECK nw_status
nw_pattern_builder_build(nw_pattern_builder *builder, nw_pattern **out);

/* Reads a pattern input, "PREFIX:FILE" or FILE whose format is found from its
 * first line, then its suffix; see nodewise-formats(5). */
struct nw_pattern_read_options {
    size_t size;
    bool compact;    /* renumber sparse ids of lists from 0 */
    int32_t threads; /* 0: the cores available; 1 inside an MPI process */
};
#define NW_PATTERN_READ_OPTIONS_INIT                                           \
    {                                                                          \
        .size = sizeof(struct nw_pattern_read_options)                         \
    }
NW_API NW_MUST_CHECK nw_status nw_pattern_read(
    const char *input, const struct nw_pattern_read_options *options,
    nw_pattern **out);

/* Reads a QAPLIB instance: its first matrix as a pattern, its second as n x n
 * distances row by row (nw_topology_from_distances makes a machine of them).
 * The caller frees both. */
NW_API NW_MUST_CHECK nw_status nw_qaplib_read(const char *path,
                                              nw_pattern **flow,
                                              double **distances, size_t *n);

/* Writes the native format, atomically; "-" is standard output. */
NW_API NW_MUST_CHECK nw_status nw_pattern_write(const nw_pattern *pattern,
                                                const char *path);
/* Writes "native", "metis", "mm", "matrix" or "list". */
NW_API NW_MUST_CHECK nw_status nw_pattern_write_as(const nw_pattern *pattern,
                                                   const char *format,
                                                   const char *path);

/* A generated pattern from "NAME:key=value,..."; nodewise-pattern(1) lists
 * names, keys and formulas. */
NW_API NW_MUST_CHECK nw_status nw_pattern_generate(const char *specification,
                                                   nw_pattern **out);

/* host's edges as hh, gpu's as gg (whatever kinds they had). Ranks must be
 * equal in number. */
NW_API NW_MUST_CHECK nw_status nw_pattern_combine(const nw_pattern *host,
                                                  const nw_pattern *gpu,
                                                  nw_pattern **out);

/* The edges of one kind alone, with the pattern's words. */
NW_API NW_MUST_CHECK nw_status nw_pattern_select(const nw_pattern *pattern,
                                                 enum nw_kind kind,
                                                 nw_pattern **out);

/* The grid found in each kind of edge, extended to rank_count ranks; *how says
 * in a sentence what was found and done (the caller frees it). NW_EUNSUPPORTED
 * where no grid is found. */
NW_API NW_MUST_CHECK nw_status nw_pattern_scale(const nw_pattern *pattern,
                                                int32_t rank_count,
                                                nw_pattern **out, char **how);

/* Totals of one kind. Saturate at 2^64 - 1. */
struct nw_pattern_total {
    uint64_t bytes, messages;
    size_t edges;
};
NW_API struct nw_pattern_total nw_pattern_total(const nw_pattern *pattern,
                                                enum nw_kind kind);
/* True where any edge has an end on a GPU. */
NW_API bool nw_pattern_has_gpu(const nw_pattern *pattern);

#ifdef __cplusplus
}
#endif
#endif
