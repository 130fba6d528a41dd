/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of a measured job: the host and core of each rank, the times of
 * each pair of ranks, the rates of single and of simultaneous streams. Times
 * are in seconds, rates in bytes per second.
 */
#ifndef NW_PROBE_RECORDS_H
#define NW_PROBE_RECORDS_H

#include <nodewise/probe.h>

/* The first word of each line that is a record; other lines come from the
 * launcher. */
#define NW_PROBE_MARK "@nodewise-probe"

enum nw_probe_memory { NW_PROBE_HOST, NW_PROBE_GPU, NW_PROBE_MEMORIES };

/* A rank and its host, as the rank describes itself. */
struct nw_probe_rank {
    char *name;                    /* name of its host; NULL: the rank has not
                                      described itself yet */
    int32_t host;                  /* index of its host; hosts are in the order
                                      of their first ranks */
    int32_t cores, packages, gpus; /* numbers of cores, packages and GPUs of its
                                      host */
    int32_t core, package;         /* the core that it is bound to and the
                                      package of this core; else -1 */
    bool staged;                   /* true: messages of GPU memory are copied
                                      through host memory */
    char *lost;                    /* why the rank counts as failed; NULL if
                                      it does not */
};

/* Parameters of the LogGP model for a message of s bytes, in seconds: half of a
 * round trip, L + 2o + (s - 1)G; the sender's overhead o; the gap g between
 * messages of a burst. */
struct nw_probe_class {
    double time, overhead, gap;
};
/* The measurements of round trips and bursts between two ranks. */
struct nw_probe_pair {
    int32_t a, b;
    enum nw_probe_memory memory;
    double spread; /* relative spread of the times of the smallest size */
    struct nw_probe_class class[NW_PROBE_CLASSES];
};

/* The rate of a long stream in one direction, in bytes/s. `set` is 0 for a
 * single stream, else the number of the experiment in which several streams ran
 * at the same time. */
struct nw_probe_stream {
    int32_t from, to, set;
    enum nw_probe_memory memory;
    double rate;
};

/* All records of a job. */
struct nw_probe {
    int32_t rank_count, host_count, set_count;
    struct nw_probe_rank *rank; /* [rank_count] */
    struct nw_probe_pair *pair;
    size_t pair_count, pair_capacity;
    struct nw_probe_stream *stream;
    size_t stream_count, stream_capacity;
    struct nw_probe_stage stage;
    char what[32];
    bool done;          /* true: the last record has come: rank 0 has ended the
                           measurement */
    int32_t first_dead; /* rank + 1 of the first rank reported dead; 0: none was
                           reported */
};

/* Returns the first rank of a host. */
int32_t nw_probe_first_rank(const nw_probe *probe, int32_t host);
int32_t nw_probe_ranks_on(const nw_probe *probe, int32_t host);
bool nw_probe_is_alone(const struct nw_probe_stream *stream);
/* Returns true if two ranks of a host are known to be in different packages. */
bool nw_probe_crosses(const struct nw_probe *probe, int32_t a, int32_t b);

#endif
