/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the results of the channel benchmarks to standard output, in the form
 * of OSU's benchmarks or as JSON. Only rank 0 calls these functions. */
#ifndef NW_CLI_BENCH_OUTPUT_H
#define NW_CLI_BENCH_OUTPUT_H

#include "base/json.h"
#include "cli/bench_channel.h"

struct nw_bench_teller {
    bool json;
    struct nw_text text; /* the JSON text, printed by nw_bench_tell_end */
    struct nw_json writer;
};

void nw_bench_tell_head(const struct nw_channel_bench *bench,
                        nw_channel *channel);
/* Print a row of the table for messages of `bytes`. `seconds` is the time of a
 * message in one direction, or in a collective test the mean time over the
 * ranks. `messages` is the number of messages per second. */
void nw_bench_tell_latency(const struct nw_channel_bench *bench, size_t bytes,
                           double seconds);
void nw_bench_tell_rate(const struct nw_channel_bench *bench, size_t bytes,
                        double messages);

/* A protocol with its copy method, and the time of a message with it. */
struct nw_bench_method {
    char name[32];
    double seconds;
};
void nw_bench_tell_choice(const struct nw_channel_bench *bench, size_t bytes,
                          const struct nw_bench_method *best,
                          const struct nw_bench_method *chosen);
/* Ends the table. `worst` is used only by the test `choice`: the largest ratio,
 * over all sizes, of the time with the chosen protocol to that with the best
 * one. */
void nw_bench_tell_end(const struct nw_channel_bench *bench, double worst);

#endif
