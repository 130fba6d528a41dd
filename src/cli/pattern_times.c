/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the time that the ranks spend in MPI and in each kind of MPI call, as
 * minimum, mean and maximum over the ranks, and the bytes of each kind. */
#include "cli/pattern_times.h"

#include "base/text.h"
#include "cli/command.h"

#include <nodewise/report.h>

#include <stdlib.h>
#include <string.h>

static const struct nw_pattern_time *find_time(const nw_pattern *p,
                                               const char *call)
{
    for (size_t i = 0; i < p->time_count; i++)
        if (!strcmp(p->time[i].call, call))
            return &p->time[i];
    return NULL;
}

/* Returns true if the entry is the time of one MPI call, false if it is that of
 * all calls together or of the whole run. */
static bool is_call(const struct nw_pattern_time *time)
{
    return strcmp(time->call, NW_PATTERN_MPI) &&
           strcmp(time->call, NW_PATTERN_RUN);
}

static const char *say_time(uint64_t ns, char words[40])
{
    return nw_format_quantity((double)ns * 1e-9, NW_UNIT_TIME, words, 40);
}

void nw_cli_add_traffic(const nw_pattern *p, struct nw_text *text)
{
    size_t begun = text->length;
    char words[40];

    for (int o = 0; p->traffic && o < NW_ORIGIN_COUNT; o++) {
        const struct nw_pattern_amount *amount = &p->traffic[o];

        if (!amount->messages)
            continue;
        nw_text_format(text, "%s%s %s in %llu message%s",
                       text->length == begun ? "" : ", ",
                       nw_origin_name((enum nw_origin)o),
                       nw_format_quantity((double)amount->bytes, NW_UNIT_BYTES,
                                          words, sizeof words),
                       (unsigned long long)amount->messages,
                       nw_plural(amount->messages));
    }
}

void nw_cli_add_mpi_time(const nw_pattern *p, struct nw_text *text)
{
    const struct nw_pattern_time *mpi = find_time(p, NW_PATTERN_MPI);
    const struct nw_pattern_time *run = find_time(p, NW_PATTERN_RUN);
    char words[40];

    if (!mpi)
        return;
    nw_text_format(text, "mean %s", say_time(mpi->mean_ns, words));
    if (run && run->mean_ns)
        nw_text_format(text, " (%.1f %% of %s)",
                       100.0 * (double)mpi->mean_ns / (double)run->mean_ns,
                       say_time(run->mean_ns, words));
    nw_text_format(text, ", min %s", say_time(mpi->min_ns, words));
    nw_text_format(text, ", max %s", say_time(mpi->max_ns, words));
}

static void add_call(const struct nw_pattern_time *time, nw_table *table)
{
    const uint64_t ns[] = {time->min_ns, time->mean_ns, time->max_ns};
    char words[40];

    nw_table_row(table, -1);
    nw_table_cell(table, "%s", time->call);
    nw_table_cell(table, "%llu", (unsigned long long)time->calls);
    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++)
        nw_table_cell(table, "%s", say_time(ns[i], words));
}

nw_status nw_cli_add_call_times(const nw_pattern *p, size_t most,
                                struct nw_text *text)
{
    static const char *const titles[] = {"CALLS", "MIN TIME", "MEAN TIME",
                                         "MAX TIME"};
    nw_table *table;
    nw_status status;

    if (!find_time(p, NW_PATTERN_MPI))
        return NW_OK;
    status = nw_table_new(&table);
    if (status)
        return status;
    nw_table_column(table, "MPI CALL", NW_ALIGN_LEFT);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        nw_table_column(table, titles[i], NW_ALIGN_RIGHT);
    for (size_t i = 0; i < p->time_count && most; i++)
        if (is_call(&p->time[i])) {
            add_call(&p->time[i], table);
            most--;
        }
    return nw_cli_add_table(table, text);
}

static void time_json(const struct nw_pattern_time *time, const char *key,
                      struct nw_json *json)
{
    nw_json_object(json, key);
    if (!key)
        nw_json_string(json, "call", time->call);
    nw_json_unsigned(json, "calls", time->calls);
    nw_json_number(json, "min", (double)time->min_ns * 1e-9);
    nw_json_number(json, "mean", (double)time->mean_ns * 1e-9);
    nw_json_number(json, "max", (double)time->max_ns * 1e-9);
    nw_json_end_object(json);
}

static void traffic_json(const nw_pattern *p, struct nw_json *json)
{
    static const char *const keys[NW_ORIGIN_COUNT] = {
        "point_to_point", "one_sided", "collective", "nccl"};

    if (!p->traffic)
        return;
    nw_json_object(json, "traffic");
    for (int o = 0; o < NW_ORIGIN_COUNT; o++) {
        nw_json_object(json, keys[o]);
        nw_json_unsigned(json, "bytes", p->traffic[o].bytes);
        nw_json_unsigned(json, "messages", p->traffic[o].messages);
        nw_json_end_object(json);
    }
    nw_json_end_object(json);
}

void nw_cli_times_json(const nw_pattern *p, struct nw_json *json)
{
    traffic_json(p, json);
    if (!p->time_count)
        return;
    nw_json_object(json, "time");
    for (size_t i = 0; i < p->time_count; i++)
        if (!is_call(&p->time[i]))
            time_json(&p->time[i],
                      strcmp(p->time[i].call, NW_PATTERN_RUN) ? "mpi" : "run",
                      json);
    nw_json_array(json, "calls");
    for (size_t i = 0; i < p->time_count; i++)
        if (is_call(&p->time[i]))
            time_json(&p->time[i], NULL, json);
    nw_json_end_array(json);
    nw_json_end_object(json);
}
