/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output of the channel benchmarks, printed by rank 0 in OSU's form or
 * as JSON. */
#ifndef NW_CLI_BENCH_TELL_H
#define NW_CLI_BENCH_TELL_H

#include "base/json.h"
#include "cli/bench_channel.h"

struct nw_bench_teller {
    bool json;
    struct nw_text text; /* the JSON text, printed by nw_bench_tell_end */
    struct nw_json writer;
};

void nw_bench_tell_head(const struct nw_channel_bench *bench,
                        nw_channel *channel);
/* Print a row of the table. `seconds` is the time of a message in one
 * direction, or the mean time of a rank in a collective; `messages` is a rate
 * per second. */
void nw_bench_tell_latency(const struct nw_channel_bench *bench, size_t bytes,
                           double seconds);
void nw_bench_tell_rate(const struct nw_channel_bench *bench, size_t bytes,
                        double messages);

struct nw_bench_way {
    char name[32];
    double seconds;
};
void nw_bench_tell_choice(const struct nw_channel_bench *bench, size_t bytes,
                          const struct nw_bench_way *best,
                          const struct nw_bench_way *chosen);
/* `worst` is the largest ratio of chosen to best time over all sizes; for
 * choice only. */
void nw_bench_tell_end(const struct nw_channel_bench *bench, double worst);

#endif
