/* SPDX-License-Identifier: BSD-3-Clause */
/* The benchmarks of the channel, which need no launcher. */
#ifndef NW_CLI_BENCH_CHANNEL_H
#define NW_CLI_BENCH_CHANNEL_H

#include "base/file.h"

#include <nodewise/channel.h>

/* argv[0] is "channel"; the exit status. */
int nw_bench_channel(int argc, char **argv);

enum nw_channel_test {
    NW_TEST_LATENCY,
    NW_TEST_BANDWIDTH,
    NW_TEST_RATE,
    NW_TEST_CHOICE, /* what choosing costs */
    NW_TEST_GATHER, /* from here on: of all ranks */
    NW_TEST_ALLGATHER,
    NW_TEST_ALLTOALL,
    NW_TEST_COUNT
};

/* As -p and -c have them. */
extern const char *const nw_bench_protocols[NW_CHANNEL_PROTOCOLS];
extern const char *const nw_bench_copies[NW_CHANNEL_COPIES];

struct nw_bench_teller;
struct nw_channel_bench {
    struct nw_channel_options channel;
    enum nw_channel_test what;
    uint64_t largest, iterations, ranks;
    bool gpu[2]; /* the memory sent from, the memory received into */
    char file[NW_FILE_UNNAMED_PATH];
    struct nw_bench_teller *tell;
};

/* bench_collective.c: one rank of a collective test. */
NW_MUST_CHECK nw_status
nw_bench_collective(const struct nw_channel_bench *bench, int32_t rank);
/* bench_choice.c: one of its two. */
NW_MUST_CHECK nw_status nw_bench_choice(const struct nw_channel_bench *bench,
                                        int32_t rank);
#endif
