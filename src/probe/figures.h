/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The figures as they come from the job: the place of each rank, the times of
 * each pair, the rates of single and of simultaneous streams. Seconds and bytes
 * per second.
 */
#ifndef NW_PROBE_FIGURES_H
#define NW_PROBE_FIGURES_H

#include <nodewise/probe.h>

/* Every record is a line that begins with this word. */
#define NW_PROBE_MARK "@nodewise-probe"

enum nw_probe_memory { NW_PROBE_HOST, NW_PROBE_GPU, NW_PROBE_MEMORIES };

struct nw_probe_rank {
    char *name;                    /* of its host; NULL: not heard of */
    int32_t host;                  /* index, in order of first rank */
    int32_t cores, packages, gpus; /* of its host */
    int32_t core, package;         /* if it is bound to one; else -1 */
    bool staged;                   /* GPU messages pass host memory */
    char *lost;                    /* why it no longer answers, or NULL */
};

/* LogGP by size class: half a round trip (L + 2o + (s-1)G), the sender's
 * overhead o, the gap g between messages of a burst. */
struct nw_probe_class {
    double time, overhead, gap;
};
struct nw_probe_pair {
    int32_t a, b;
    enum nw_probe_memory memory;
    double spread; /* relative, of the smallest class's time */
    struct nw_probe_class class[NW_PROBE_CLASSES];
};

/* A long one-way flow. `set` is 0 if it ran with no other flow, else the number
 * of the experiment in which several flows ran together. */
struct nw_probe_stream {
    int32_t from, to, set;
    enum nw_probe_memory memory;
    double rate;
};

struct nw_probe {
    int32_t rank_count, host_count, set_count;
    struct nw_probe_rank *rank; /* [rank_count] */
    struct nw_probe_pair *pair;
    size_t pair_count, pair_capacity;
    struct nw_probe_stream *stream;
    size_t stream_count, stream_capacity;
    struct nw_probe_stage stage;
    char what[32];
    bool done;
    int32_t first_dead; /* rank + 1 of the first rank reported dead; 0 if all
                           are alive */
};

/* The first rank of a host. */
int32_t nw_probe_first_rank(const nw_probe *probe, int32_t host);
int32_t nw_probe_ranks_on(const nw_probe *probe, int32_t host);
bool nw_probe_is_alone(const struct nw_probe_stream *stream);
/* Whether two ranks of a host are known to be in two packages. */
bool nw_probe_crosses(const struct nw_probe *probe, int32_t a, int32_t b);

#endif
