/* SPDX-License-Identifier: BSD-3-Clause */
/* A pattern format is one row of functions. Text formats read a text that is in
 * memory already; the other formats open the input themselves. */
#ifndef NW_PATTERN_FORMAT_H
#define NW_PATTERN_FORMAT_H

#include "base/text.h"
#include "pattern/scan.h"

#include <nodewise/pattern.h>

struct nw_pattern_text {
    const char *file; /* for messages */
    const char *data; /* NUL-terminated UTF-8 */
    size_t length;
    bool compact; /* renumber sparse ids */
    int32_t threads;
};

typedef nw_status nw_pattern_reader(const struct nw_pattern_text *text,
                                    nw_pattern **out);
typedef nw_status nw_pattern_opener(const char *path, nw_pattern **out);
/* Appends the whole file to `out`, whose failure the caller sees in the text
 * itself. `path` is for messages. */
typedef nw_status nw_pattern_renderer(const nw_pattern *pattern,
                                      struct nw_text *out);

/* Properties of a text that identify its format. Lines that begin with % are
 * skipped, except a first %%MatrixMarket. */
struct nw_shape {
    const char *first; /* first line with words */
    size_t first_length, first_words;
    size_t number[4]; /* the whole numbers that it begins with */
    size_t number_count;
    size_t lines, words; /* lines with words, and the words */
    size_t fewest, most; /* words of a line */
    size_t later_lines;  /* lines after the first, blank ones too */
    size_t later_filled; /* those with words */
    bool numeric;        /* every word begins like a number */
};

struct nw_pattern_format {
    const char *name;            /* the prefix, without its colon */
    nw_pattern_reader *read;     /* NULL where `fits` is */
    nw_pattern_opener *open;     /* for a folder, or NULL */
    nw_pattern_renderer *render; /* NULL where we only read */
    /* what the first line or the shape of the file says; NULL: never found
     * by itself */
    bool (*fits)(const struct nw_shape *shape);
    const char *suffixes; /* ".mtx .mm", or NULL */
};

extern const struct nw_pattern_format nw_pattern_formats[];
extern const size_t nw_pattern_format_count;

/* The format of a text without a prefix. NW_EFORMAT where none or several
 * fit. */
NW_MUST_CHECK nw_status nw_pattern_detect(const struct nw_pattern_text *text,
                                          const struct nw_pattern_format **out);

nw_pattern_reader nw_native_read, nw_metis_read, nw_market_read, nw_matrix_read,
    nw_list_read, nw_qaplib_pattern, nw_ti_read;
nw_pattern_opener nw_monitoring_open, nw_ti_open, nw_otf2_open,
    nw_nccl_calls_open, nw_nccl_inspector_open, nw_nccl_log_open;
/* In this process, which a damaged trace may end; nw_otf2_open asks a helper.
 */
nw_pattern_opener nw_otf2_read;
nw_pattern_renderer nw_native_render, nw_metis_render, nw_market_render,
    nw_matrix_render, nw_list_render, nw_csv_render;
bool nw_fits_metis(const struct nw_shape *shape);
bool nw_fits_market(const struct nw_shape *shape);
bool nw_fits_matrix(const struct nw_shape *shape);
bool nw_fits_list(const struct nw_shape *shape);
bool nw_fits_qaplib(const struct nw_shape *shape);
bool nw_fits_ti(const struct nw_shape *shape);

/* The bytes of all kinds from `src` to dst[*edge]; *edge goes to the next
 * partner. For formats with one number for a pair; NW_EUNSUPPORTED where the
 * sum does not fit. */
NW_MUST_CHECK nw_status nw_pair_next(const nw_pattern *pattern, int32_t src,
                                     size_t *edge, uint64_t *bytes);

/* Refuses more ranks than a file of that length may name: 2^24, or one a byte,
 * so that a wrong number cannot take all memory. */
NW_MUST_CHECK nw_status nw_check_rank_count(const struct nw_scan *scan,
                                            size_t length, uint64_t ranks);

/* Readers of formats that hold an edge at most once pass the line of each
 * record as its `messages`. A pattern whose edges have one message each, or
 * "file:line: edge a -> b stands twice". */
NW_MUST_CHECK nw_status nw_build_once(nw_pattern_builder *builder,
                                      const char *file, nw_pattern **out);
/* The same, but `messages` still holds the lines. */
NW_MUST_CHECK nw_status nw_build_lines(nw_pattern_builder *builder,
                                       const char *file, nw_pattern **out);
/* Sums equal edges once they are many, so that memory follows the partners
 * and not the messages of a trace. Cheap to call after every message. */
NW_MUST_CHECK nw_status nw_builder_fold(nw_pattern_builder *builder);
/* After a sum that passed 64 bits: takes what was added since, and is true from
 * the record on with which that sum passes again. */
bool nw_builder_passes(nw_pattern_builder *builder);
/* A pattern without edges, with memory for this many; the caller fills and owns
 * it. */
void nw_pattern_free_phases(struct nw_pattern_phases *phases);
NW_MUST_CHECK nw_status nw_pattern_new(int32_t ranks, size_t edges,
                                       nw_pattern **out);
/* Allocates the arrays of this many edges, without sizes, for the caller to
 * fill. */
NW_MUST_CHECK nw_status nw_pattern_alloc_edges(nw_pattern *pattern,
                                               size_t edges);
/* The edge from src to dst of a pattern whose rows are sorted and hold each
 * once, or SIZE_MAX. */
size_t nw_pattern_find(const nw_pattern *pattern, int32_t src, int32_t dst);
void nw_pattern_one_message(nw_pattern *pattern);

#endif
