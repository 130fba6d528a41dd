/* SPDX-License-Identifier: BSD-3-Clause */
/* The benchmarks of the channel, which need no launcher. */
#ifndef NW_CLI_BENCH_CHANNEL_H
#define NW_CLI_BENCH_CHANNEL_H

#include "base/file.h"

#include <nodewise/channel.h>

/* Runs `nodewise bench channel` with argv[0] = "channel"; returns the exit
 * status. */
int nw_bench_channel(int argc, char **argv);

enum nw_channel_test {
    NW_TEST_LATENCY,
    NW_TEST_BANDWIDTH,
    NW_TEST_RATE,
    NW_TEST_CHOICE, /* compares the protocol and copy method that the channel
                       chooses with the fastest ones */
    NW_TEST_GATHER, /* this test and the following ones are collective */
    NW_TEST_ALLGATHER,
    NW_TEST_ALLTOALL
};

/* Names of the protocols (-p) and of the copy methods (-c). */
extern const char *const nw_bench_protocols[NW_CHANNEL_PROTOCOLS + 1];
extern const char *const nw_bench_copies[NW_CHANNEL_COPIES + 1];

struct nw_bench_teller;
struct nw_channel_bench {
    struct nw_channel_options channel;
    enum nw_channel_test what;
    uint64_t largest, iterations, ranks;
    bool gpu[2]; /* whether the send buffer [0] and the receive buffer [1] are
                    in GPU memory */
    char file[NW_FILE_UNNAMED_PATH];
    struct nw_bench_teller *tell;
};

/* Runs one rank of a collective test (bench_collective.c). */
NW_MUST_CHECK nw_status
nw_bench_collective(const struct nw_channel_bench *bench, int32_t rank);
/* Runs one of the two ranks of the test `choice` (bench_choice.c). */
NW_MUST_CHECK nw_status nw_bench_choice(const struct nw_channel_bench *bench,
                                        int32_t rank);
#endif
