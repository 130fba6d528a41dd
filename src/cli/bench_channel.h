/* SPDX-License-Identifier: BSD-3-Clause */
/* The benchmark of the channel, which needs no launcher. */
#ifndef NW_CLI_BENCH_CHANNEL_H
#define NW_CLI_BENCH_CHANNEL_H

/* argv[0] is "channel"; the exit status. */
int nw_bench_channel(int argc, char **argv);

#endif
