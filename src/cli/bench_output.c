/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/bench_output.h"

#include <stdio.h>
#include <string.h>

static const char *memory_of(bool gpu)
{
    return gpu ? "DEVICE (D)" : "HOST (H)";
}

static void print_head(const struct nw_channel_bench *bench,
                       nw_channel *channel)
{
    static const char all_to_all[] = "All-to-All Personalized Exchange Latency";
    static const char *const names[] = {
        "Latency", "Bandwidth",      "Multiple Bandwidth / Message Rate",
        "Choice",  "Gather Latency", "Allgather Latency",
        all_to_all};
    static const char *const columns[] = {
        "# Size       Avg Latency(us)", "# Size      Bandwidth (MB/s)",
        "# Size                  MB/s        Messages/s", NULL};
    const char *mapping = nw_channel_mapping(channel);
    bool none = !strcmp(mapping, "none");

    printf("# Nodewise channel %s Test, provider %s%s%s\n", names[bench->what],
           nw_channel_provider(channel, 1),
           none ? "" : ", CPU's stores: ", none ? "" : mapping);
    printf("# Send Buffer on %s and Receive Buffer on %s\n",
           memory_of(bench->gpu[0]), memory_of(bench->gpu[1]));
    if (bench->what == NW_TEST_CHOICE)
        printf("# %-8s %-17s%9s   %-17s%9s%8s\n", "Size", "Best", "us",
               "Chosen", "us", "ratio");
    else
        printf("%s\n", columns[bench->what < NW_TEST_GATHER ? bench->what : 0]);
}

static void begin_json(const struct nw_channel_bench *bench,
                       nw_channel *channel)
{
    static const char *const names[] = {
        "latency", "bw", "mbw_mr", "choice", "gather", "allgather", "alltoall"};
    struct nw_json *json = &bench->tell->writer;

    json->text = &bench->tell->text;
    nw_json_object(json, NULL);
    nw_json_string(json, "schema", "nodewise.bench.channel/1");
    nw_json_string(json, "test", names[bench->what]);
    nw_json_string(json, "provider", nw_channel_provider(channel, 1));
    nw_json_string(json, "mapping", nw_channel_mapping(channel));
    nw_json_string(json, "send", bench->gpu[0] ? "device" : "host");
    nw_json_string(json, "receive", bench->gpu[1] ? "device" : "host");
    nw_json_unsigned(json, "ranks",
                     bench->what < NW_TEST_GATHER ? 2 : bench->ranks);
    nw_json_unsigned(json, "iterations", bench->iterations);
    nw_json_array(json, "rows");
}

void nw_bench_tell_head(const struct nw_channel_bench *bench,
                        nw_channel *channel)
{
    (bench->tell->json ? begin_json : print_head)(bench, channel);
}

/* Begins the JSON object of a row and returns it; NULL if the output is
 * text. */
static struct nw_json *bench_output_row(const struct nw_channel_bench *bench,
                                        size_t bytes)
{
    struct nw_json *json = &bench->tell->writer;

    if (!bench->tell->json)
        return NULL;
    nw_json_flat_object(json, NULL);
    nw_json_unsigned(json, "bytes", bytes);
    return json;
}

void nw_bench_tell_latency(const struct nw_channel_bench *bench, size_t bytes,
                           double seconds)
{
    struct nw_json *json = bench_output_row(bench, bytes);

    if (json) {
        nw_json_number(json, "time", seconds);
        nw_json_end_object(json);
    } else {
        printf("%-10zu%18.2f\n", bytes, seconds * 1e6);
        fflush(stdout);
    }
}

void nw_bench_tell_rate(const struct nw_channel_bench *bench, size_t bytes,
                        double messages)
{
    struct nw_json *json = bench_output_row(bench, bytes);
    double bandwidth = messages * (double)bytes;

    if (json) {
        nw_json_number(json, "bandwidth", bandwidth);
        nw_json_number(json, "messages_per_second", messages);
        nw_json_end_object(json);
        return;
    }
    if (bench->what == NW_TEST_BANDWIDTH)
        printf("%-10zu%18.2f\n", bytes, bandwidth / 1e6);
    else
        printf("%-10zu%18.2f%18.2f\n", bytes, bandwidth / 1e6, messages);
    fflush(stdout);
}

void nw_bench_tell_choice(const struct nw_channel_bench *bench, size_t bytes,
                          const struct nw_bench_method *best,
                          const struct nw_bench_method *chosen)
{
    struct nw_json *json = bench_output_row(bench, bytes);
    double ratio = chosen->seconds / best->seconds;

    if (json) {
        nw_json_string(json, "best", best->name);
        nw_json_number(json, "best_time", best->seconds);
        nw_json_string(json, "chosen", chosen->name);
        nw_json_number(json, "chosen_time", chosen->seconds);
        nw_json_number(json, "ratio", ratio);
        nw_json_end_object(json);
        return;
    }
    printf("%-10zu %-17s%9.2f   %-17s%9.2f%8.3f\n", bytes, best->name,
           best->seconds * 1e6, chosen->name, chosen->seconds * 1e6, ratio);
    fflush(stdout);
}

void nw_bench_tell_end(const struct nw_channel_bench *bench, double worst)
{
    struct nw_bench_teller *tell = bench->tell;

    if (tell->json) {
        nw_json_end_array(&tell->writer);
        if (bench->what == NW_TEST_CHOICE)
            nw_json_number(&tell->writer, "worst_ratio", worst);
        nw_json_end_object(&tell->writer);
        fputs(tell->text.data ? tell->text.data : "", stdout);
    } else if (bench->what == NW_TEST_CHOICE) {
        printf("# chosen: at most %.1f %% above the best\n", 100 * (worst - 1));
    }
    fflush(stdout);
}
