/* SPDX-License-Identifier: BSD-3-Clause */
/* A pattern format is one row of a table of functions. The readers of text
 * formats get a text in memory. The other formats open their files themselves.
 */
#ifndef NW_PATTERN_FORMAT_H
#define NW_PATTERN_FORMAT_H

#include "base/text.h"
#include "pattern/scan.h"

#include <nodewise/pattern.h>

/* The text of a file, and how to read it. */
struct nw_pattern_text {
    const char *file; /* name of the file in messages */
    const char *data; /* NUL-terminated UTF-8 */
    size_t length;
    bool compact; /* renumber the ranks that occur as 0, 1, 2, ... */
    int32_t threads;
};

typedef nw_status nw_pattern_reader(const struct nw_pattern_text *text,
                                    nw_pattern **out);
typedef nw_status nw_pattern_opener(const char *path, nw_pattern **out);
/* Appends the whole file of a pattern to `out`. Returns an error if the format
 * cannot store the pattern. If memory for the text runs out, the function does
 * not fail: `out` records the failure, which nw_text_take returns. */
typedef nw_status nw_pattern_renderer(const nw_pattern *pattern,
                                      struct nw_text *out);

/* Properties of a text by which nw_pattern_detect recognises its format. Lines
 * that begin with % are skipped, except %%MatrixMarket on line 1. */
struct nw_shape {
    const char *first; /* first line with words */
    size_t first_length, first_words;
    size_t number[4]; /* the whole numbers at the start of `first`, at most 4 */
    size_t number_count;
    /* The members below only cover the lines up to the first line that has a
     * word which does not start like a number. */
    size_t lines, words; /* lines that have words; all words */
    size_t fewest, most; /* smallest and largest number of words in a line that
                            has words */
    size_t later_lines;  /* lines after line `first`, blank lines included */
    size_t later_filled; /* later lines that have words */
    bool numeric;        /* every word starts like a number */
};

/* A row of the table of formats. */
struct nw_pattern_format {
    const char *name;        /* prefix of a path, without the colon */
    nw_pattern_reader *read; /* reads a text; must be set if `fits` is */
    nw_pattern_opener *open; /* reads a folder or file by its path; NULL: the
                                format has only `read` */
    nw_pattern_renderer *render; /* writes; NULL: the format can only be read */
    /* whether a text looks like this format; NULL: the format needs its prefix
     * or suffix */
    bool (*fits)(const struct nw_shape *shape);
    const char *suffixes; /* file name suffixes, as ".mtx .mm"; or NULL */
};

extern const struct nw_pattern_format nw_pattern_formats[];
extern const size_t nw_pattern_format_count;

/* Finds the format of a text whose path has no prefix. NW_EFORMAT if no format
 * or several formats match. */
NW_MUST_CHECK nw_status nw_pattern_detect(const struct nw_pattern_text *text,
                                          const struct nw_pattern_format **out);

nw_pattern_reader nw_native_read, nw_metis_read, nw_market_read, nw_matrix_read,
    nw_list_read, nw_qaplib_pattern, nw_ti_read;
nw_pattern_opener nw_monitoring_open, nw_ti_open, nw_otf2_open,
    nw_nccl_calls_open, nw_nccl_inspector_open, nw_nccl_log_open;
/* Reads an OTF2 trace in the calling process, which a damaged trace may crash;
 * nw_otf2_open uses a helper process instead. */
nw_pattern_opener nw_otf2_read;
nw_pattern_renderer nw_native_render, nw_metis_render, nw_market_render,
    nw_matrix_render, nw_list_render, nw_csv_render;
bool nw_fits_metis(const struct nw_shape *shape);
bool nw_fits_market(const struct nw_shape *shape);
bool nw_fits_matrix(const struct nw_shape *shape);
bool nw_fits_list(const struct nw_shape *shape);
bool nw_fits_qaplib(const struct nw_shape *shape);
bool nw_fits_ti(const struct nw_shape *shape);

/* Stores in *bytes the sum of the edges of all kinds from `src` to its partner
 * dst[*edge], and moves *edge to the next partner. The caller starts with *edge
 * at the first edge of `src`. Used for formats that store one number for each
 * pair of ranks. NW_EUNSUPPORTED if the sum exceeds 64 bits. */
NW_MUST_CHECK nw_status nw_pair_next(const nw_pattern *pattern, int32_t src,
                                     size_t *edge, uint64_t *bytes);

/* Fails if `ranks` is larger than both 2^24 and `length`, the size of the file
 * in bytes, so that a wrong number in a file cannot use all memory. */
NW_MUST_CHECK nw_status nw_check_rank_count(const struct nw_scan *scan,
                                            size_t length, uint64_t ranks);

/* For formats that may hold each edge only once: the reader adds each edge with
 * its line number as `messages`. Builds the pattern with 1 message per edge, or
 * fails with "file:line: edge a -> b occurs twice". */
NW_MUST_CHECK nw_status nw_build_once(nw_pattern_builder *builder,
                                      const char *file, nw_pattern **out);
/* Like nw_build_once, but leaves the line numbers in `messages`. If `file` is
 * NULL, adds up the bytes and messages of equal edges instead of failing. */
NW_MUST_CHECK nw_status nw_build_lines(nw_pattern_builder *builder,
                                       const char *file, nw_pattern **out);
/* Sums the records of equal edges once the builder holds many records, so that
 * memory grows with the number of edges and not of messages. Cheap enough to
 * call after every message. */
NW_MUST_CHECK nw_status nw_builder_fold(nw_pattern_builder *builder);
/* Finds the line at which the sum of an edge exceeds 64 bits, after
 * nw_builder_fold or building has failed. The caller reads the trace again and
 * calls this function after each line. It adds the new records of the failed
 * edge to a running sum and returns true once the sum exceeds 64 bits. */
bool nw_builder_passes(nw_pattern_builder *builder);
/* Returns the phase with a name of `length` bytes; -1 if the name is unknown.
 */
int nw_phase_find(const char *name, size_t length);
void nw_pattern_free_phases(struct nw_pattern_phases *phases);
/* Divides a recorded pattern, which must not have phases yet, into phases:
 * phase_of[e] is the enum nw_phase of edge e. */
NW_MUST_CHECK nw_status nw_pattern_set_phases(nw_pattern *pattern,
                                              const uint8_t *phase_of);
/* Returns true if nw_pattern_set_phases divided the pattern, so that its phases
 * are those of a whole run and not of one training step. */
bool nw_pattern_is_recorded_in_phases(const nw_pattern *pattern);
/* Creates a pattern without edges, with memory for `edges` edges. The caller
 * fills and owns the pattern. */
NW_MUST_CHECK nw_status nw_pattern_new(int32_t ranks, size_t edges,
                                       nw_pattern **out);
/* Allocates the arrays for `edges` edges, except the size classes of messages;
 * the caller fills the arrays. */
NW_MUST_CHECK nw_status nw_pattern_alloc_edges(nw_pattern *pattern,
                                               size_t edges);
/* Returns the index of the first edge from src to dst (there may be one of each
 * kind), or SIZE_MAX if no such edge exists. The edges of src must be sorted by
 * destination. */
size_t nw_pattern_find(const nw_pattern *pattern, int32_t src, int32_t dst);
/* Sets the messages of each edge to 1. */
void nw_pattern_one_message(nw_pattern *pattern);

#endif
