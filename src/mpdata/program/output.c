/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the report of a run to stdout, as text or as one JSON object. */
#include "mpdata/program/job.h"
#include "base/json.h"
#include "base/text.h"

#include <stdio.h>

void nw_mp_tell_start(const struct nw_mp_job *job)
{
    const struct nw_mp_settings *s = job->settings;
    const struct nw_mpdata_options *o = &job->options;
    const struct nw_mp_grid *g = &job->grid;

    if (g->rank || s->quiet || s->json)
        return;
    printf("%s: %lld x %lld x %lld cells, %s%s, %d pass%s%s%s%s%s\n",
           s->name ? s->name : s->input, (long long)g->n[0], (long long)g->n[1],
           (long long)g->n[2], o->single ? "single" : "double",
           o->fast ? ", fast" : "", o->passes,
           nw_by_count((uint64_t)o->passes, "", "es"),
           o->limited ? ", limited" : "",
           o->infinite_gauge ? ", infinite gauge" : "",
           o->third_order ? ", third order" : "",
           o->divergent ? ", divergent" : "");
    printf("%d rank%s as %d x %d, %d thread%s each, halo %d%s%s\n", g->size,
           nw_plural((uint64_t)g->size), g->parts[0], g->parts[1],
           job->solver->threads, nw_plural((uint64_t)job->solver->threads),
           nw_mpdata_halo(o), job->halo ? ", " : "",
           job->halo ? nw_halo_words(job->halo) : "");
    if (g->words[0])
        printf("arrangement %s\n", g->words);
    if (g->speed) {
        printf("rows of ranks end at");
        for (int32_t i = 1; i <= g->parts[0]; i++)
            printf(" %lld", (long long)g->low[0][i]);
        printf(", columns at");
        for (int32_t i = 1; i <= g->parts[1]; i++)
            printf(" %lld", (long long)g->low[1][i]);
        putchar('\n');
    }
    fflush(stdout);
}

static double per_cell(const struct nw_mp_job *job,
                       const struct nw_mp_result *result)
{
    double cells = (double)job->grid.n[0] * (double)job->grid.n[1] *
                   (double)job->grid.n[2];
    int64_t steps = job->step - result->first;

    return steps ? 1e9 * result->seconds / cells / (double)steps : 0;
}

static double tell_change(const struct nw_mp_result *result)
{
    double before = result->sums[0].mass, after = result->sums[1].mass;

    return before != 0 ? (after - before) / before : after;
}

static void print_text(const struct nw_mp_job *job,
                       const struct nw_mp_result *result)
{
    printf("%lld step%s in %.3f s, %.2f ns a cell and step\n",
           (long long)(job->step - result->first),
           nw_plural((uint64_t)(job->step - result->first)), result->seconds,
           per_cell(job, result));
    printf("%-8s %24s %16s %16s\n", "", "sum of h x", "lowest x", "highest x");
    for (int i = 0; i < 2; i++)
        printf("%-8s %24.16g %16.9g %16.9g\n", i ? "after" : "before",
               result->sums[i].mass, result->sums[i].low, result->sums[i].high);
    printf("change   %24.2e\n", tell_change(result));
}

static void put_variant(struct nw_json *json, const struct nw_mp_job *job)
{
    const struct nw_mpdata_options *o = &job->options;

    nw_json_object(json, "variant");
    nw_json_integer(json, "passes", o->passes);
    nw_json_bool(json, "limited", o->limited);
    nw_json_bool(json, "infinite_gauge", o->infinite_gauge);
    nw_json_bool(json, "third_order", o->third_order);
    nw_json_bool(json, "divergent", o->divergent);
    nw_json_bool(json, "single", o->single);
    nw_json_bool(json, "fast", o->fast);
    nw_json_end_object(json);
}

static void put_borders(struct nw_json *json, const char *key,
                        const int64_t *low, int32_t parts)
{
    nw_json_flat_array(json, key);
    for (int32_t i = 1; i <= parts; i++)
        nw_json_integer(json, NULL, low[i]);
    nw_json_end_array(json);
}

static void put_ranks(struct nw_json *json, const struct nw_mp_job *job)
{
    const struct nw_mp_grid *g = &job->grid;

    nw_json_integer(json, "ranks", g->size);
    nw_json_integer(json, "threads", job->solver->threads);
    put_borders(json, "rows_end", g->low[0], g->parts[0]);
    put_borders(json, "columns_end", g->low[1], g->parts[1]);
    nw_json_integer(json, "halo", nw_mpdata_halo(&job->options));
    if (job->halo)
        nw_json_string(json, "exchange", nw_halo_words(job->halo));
    if (g->words[0])
        nw_json_string(json, "arrangement", g->words);
}

static void put_summary(struct nw_json *json, const char *key,
                        const struct nw_mpdata_summary *sum)
{
    nw_json_object(json, key);
    nw_json_number(json, "sum", sum->mass);
    nw_json_number(json, "lowest", sum->low);
    nw_json_number(json, "highest", sum->high);
    nw_json_end_object(json);
}

static void print_json(const struct nw_mp_job *job,
                       const struct nw_mp_result *result)
{
    const struct nw_mp_settings *s = job->settings;
    struct nw_text text = {0};
    struct nw_json json = {.text = &text};

    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.mpdata/1");
    nw_json_string(&json, s->name ? "case" : "input",
                   s->name ? s->name : s->input);
    nw_json_flat_array(&json, "cells");
    for (int a = 0; a < 3; a++)
        nw_json_integer(&json, NULL, job->grid.n[a]);
    nw_json_end_array(&json);
    put_variant(&json, job);
    put_ranks(&json, job);
    nw_json_integer(&json, "first_step", result->first);
    nw_json_integer(&json, "steps", job->step - result->first);
    nw_json_bool(&json, "stopped", result->stopped);
    nw_json_number(&json, "seconds", result->seconds);
    nw_json_number(&json, "ns_per_cell_and_step", per_cell(job, result));
    put_summary(&json, "before", &result->sums[0]);
    put_summary(&json, "after", &result->sums[1]);
    nw_json_number(&json, "change", tell_change(result));
    nw_json_end_object(&json);
    fputs(text.data ? text.data : "", stdout);
    nw_text_fini(&text);
}

void nw_mp_tell_end(const struct nw_mp_job *job,
                    const struct nw_mp_result *result)
{
    const struct nw_mp_settings *s = job->settings;

    if (job->grid.rank || (s->quiet && !s->json))
        return;
    (s->json ? print_json : print_text)(job, result);
}
