/* SPDX-License-Identifier: BSD-3-Clause */
/* The traffic of ranks with each other, read from a pattern: for each rank the
 * peers in ascending order, with what goes out and what comes in. */
#ifndef NW_MAP_PROBLEM_ARCS_H
#define NW_MAP_PROBLEM_ARCS_H

#include <nodewise/mapping.h>
#include <nodewise/pattern.h>
#include <nodewise/status.h>
#include <stdbool.h>

/* Traffic to and from a peer. Sums of integers: exact below 2^53. */
struct nw_arc {
    int32_t peer;
    double out, in;
};

/* Bits of the kinds of traffic that count. */
#define NW_KINDS_HOST (1u << NW_KIND_HH)
#define NW_KINDS_GPU (1u << NW_KIND_GG)
#define NW_KINDS_ALL ((1u << NW_KIND_COUNT) - 1)

/* Process p is rank ranks.values[p], in ascending order. local[r] is the index
 * of rank r among them, or anything that does not point back; NULL: the same.
 * ranks.values NULL: every rank is a process. */
struct nw_arcs_of {
    const nw_pattern *pattern;
    struct nw_ints ranks;
    const int32_t *local;
    unsigned kinds;
    bool messages; /* counts messages, not bytes */
};

/* The arcs of process p are arc[row[p]] .. arc[row[p + 1] - 1]: each peer once,
 * all kinds together, none to itself. The caller frees both, also after a
 * failure. */
NW_MUST_CHECK nw_status nw_arcs_read(const struct nw_arcs_of *of, size_t **row,
                                     struct nw_arc **arc);

#endif
