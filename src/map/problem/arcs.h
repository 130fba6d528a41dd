/* SPDX-License-Identifier: BSD-3-Clause */
/* The traffic between ranks, read from a pattern: for each rank its peers in
 * ascending order, with the bytes or messages sent to and received from each
 * peer. */
#ifndef NW_MAP_PROBLEM_ARCS_H
#define NW_MAP_PROBLEM_ARCS_H

#include <nodewise/mapping.h>
#include <nodewise/pattern.h>
#include <nodewise/status.h>
#include <stdbool.h>

/* Bytes or messages sent to a peer (`out`) and received from it (`in`). The
 * sums are integers, so they are exact below 2^53. */
struct nw_arc {
    int32_t peer;
    double out, in;
};

/* Masks of traffic kinds, one bit for each enum nw_kind: host to host, GPU to
 * GPU, or all. */
#define NW_KINDS_HOST (1u << NW_KIND_HH)
#define NW_KINDS_GPU (1u << NW_KIND_GG)
#define NW_KINDS_ALL ((1u << NW_KIND_COUNT) - 1)

/* Which traffic nw_arcs_read reads: edges of the kinds in `kinds` between some
 * ranks, the processes. Process p is rank ranks.values[p]; these are ascending.
 * If ranks.values is NULL, process p is rank p, and ranks.count is their
 * number. local[r] is the process of rank r, and may have any value if the rank
 * is not a process. If local is NULL, rank r is process r. */
struct nw_arcs_of {
    const nw_pattern *pattern;
    struct nw_ints ranks;
    const int32_t *local;
    unsigned kinds;
    bool messages; /* true: messages are counted; false: bytes */
};

/* Reads the traffic (arcs) of each process: the arcs of process p are
 * arc[row[p]] .. arc[row[p + 1] - 1]. Each peer occurs once, with all kinds of
 * traffic summed; traffic of a process with itself is left out. The caller
 * frees *row and *arc, also after a failure. */
NW_MUST_CHECK nw_status nw_arcs_read(const struct nw_arcs_of *of, size_t **row,
                                     struct nw_arc **arc);

#endif
