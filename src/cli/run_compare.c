/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the wall-clock time of whole runs, from the start to the end of the
 * launcher. */
#include "cli/run_compare.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/median.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/child.h"
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run_once(char **word, char **variables, double *seconds)
{
    uint64_t start = nw_clock_ns();
    int code = nw_job_run(word, variables);

    *seconds = (double)(nw_clock_ns() - start) / 1e9;
    return code ? code : nw_child_signal() ? 128 + nw_child_signal() : 0;
}

/* Runs both placements once; the one that runs first alternates from round to
 * round. If a run fails, ends the round and returns the exit status of that
 * run. */
static int run_round(const struct nw_words *usual,
                     const struct nw_run_plan *plan, struct nw_comparison *out)
{
    size_t round = out->rounds;
    int code = 0;

    for (size_t turn = 0; !code && turn < 2; turn++) {
        bool mapped = (turn + round) % 2;

        code = run_once(mapped ? plan->command.word : usual->word,
                        mapped ? plan->variables.word : NULL,
                        &out->seconds[mapped][round]);
        if (code)
            fprintf(stderr,
                    "nodewise run: the %s run failed; the comparison ends "
                    "after %zu of %zu round%s\n",
                    mapped ? "mapped" : "default", round, out->wanted,
                    nw_plural((uint64_t)out->wanted));
    }
    return code;
}

static const char *say_seconds(double seconds, char text[32])
{
    return nw_format_quantity(seconds, NW_UNIT_TIME, text, 32);
}

static void print_round(const struct nw_comparison *out)
{
    char time[2][32];
    size_t round = out->rounds - 1;

    if (!out->quiet)
        fprintf(stderr,
                "nodewise run: round %zu of %zu: default %s, mapped %s\n",
                out->rounds, out->wanted,
                say_seconds(out->seconds[0][round], time[0]),
                say_seconds(out->seconds[1][round], time[1]));
}

static nw_status run_compare_summarize(struct nw_comparison *out)
{
    double *ratio;
    nw_status status = nw_alloc(out->rounds, sizeof *ratio, &ratio);

    if (status)
        return status;
    for (size_t i = 0; i < out->rounds; i++)
        ratio[i] = out->seconds[0][i] / out->seconds[1][i];
    out->speedup = nw_median(ratio, out->rounds);
    out->least = ratio[0]; /* nw_median has sorted `ratio` */
    out->most = ratio[out->rounds - 1];
    free(ratio);
    return NW_OK;
}

int nw_run_compare(const struct nw_job *job, const struct nw_run_plan *plan,
                   struct nw_comparison *out)
{
    struct nw_words usual = {0};
    nw_status status = nw_job_plain_words(job, &usual);
    int code = 0;

    for (int side = 0; !status && side < 2; side++)
        status = nw_alloc(out->wanted, sizeof(double), &out->seconds[side]);
    while (!status && !code && out->rounds < out->wanted) {
        code = run_round(&usual, plan, out);
        if (code)
            break;
        out->rounds++;
        print_round(out);
    }
    if (!status && out->rounds)
        status = run_compare_summarize(out);
    nw_words_fini(&usual);
    return status ? nw_cli_fail("run", status) : code;
}

static void print_side(const char *name, const double *seconds, size_t count)
{
    double least = seconds[0], most = seconds[0], *copy = NULL;
    char text[3][32];

    for (size_t i = 1; i < count; i++) {
        least = seconds[i] < least ? seconds[i] : least;
        most = seconds[i] > most ? seconds[i] : most;
    }
    if (nw_alloc(count, sizeof *copy, &copy))
        return;
    memcpy(copy, seconds, count * sizeof *copy);
    fprintf(stderr, " %s %s (%s to %s)", name,
            say_seconds(nw_median(copy, count), text[0]),
            say_seconds(least, text[1]), say_seconds(most, text[2]));
    free(copy);
}

void nw_comparison_print(const struct nw_comparison *comparison,
                         const struct nw_run_plan *plan)
{
    size_t count = comparison->rounds;

    if (!count || comparison->quiet)
        return;
    fprintf(stderr, "nodewise run: measured in %zu round%s:", count,
            nw_plural((uint64_t)count));
    print_side("default", comparison->seconds[0], count);
    fputs(",", stderr);
    print_side("mapped", comparison->seconds[1], count);
    fprintf(stderr, "; mapped is %.2f times as fast (%.2f to %.2f)%s",
            comparison->speedup, comparison->least, comparison->most,
            count > 1 && comparison->least <= 1 && comparison->most >= 1
                ? ", no difference beyond the spread"
                : "");
    if (plan->has_headline)
        fprintf(stderr, "; predicted: %.3g %% less %s",
                plan->headline.percent_less,
                plan->headline.has_time ? "communication time" : "hop-bytes");
    fputs("\n", stderr);
}

void nw_comparison_fini(struct nw_comparison *comparison)
{
    free(comparison->seconds[0]);
    free(comparison->seconds[1]);
}
