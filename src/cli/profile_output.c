/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a summary of a profile in a few lines to standard error. */
#include "cli/profile_output.h"

#include <nodewise/pattern.h>

#include "base/status.h"
#include "base/text.h"
#include "cli/pattern_times.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Largest numbers of pairs and of calls to print; phases have numbers below
 * PHASES. */
enum { PAIRS = 5, CALLS = 5, PHASES = 1000 };

/* The bytes that rank `src` sends to rank `dst`. */
struct profile_tell_pair {
    int32_t src, dst;
    uint64_t bytes;
};

/* Inserts the pair into best[*count], the list of the pairs with the most
 * bytes, if it belongs to the first PAIRS of them. Of pairs with equal bytes,
 * the one found first comes first. */
static void keep_pair(struct profile_tell_pair *best, size_t *count,
                      struct profile_tell_pair pair)
{
    size_t at = *count;

    while (at && best[at - 1].bytes < pair.bytes)
        at--;
    if (at == PAIRS)
        return;
    *count += *count < PAIRS;
    memmove(&best[at + 1], &best[at], (*count - at - 1) * sizeof *best);
    best[at] = pair;
}

/* Stores the PAIRS pairs of ranks with the most bytes, summed over all kinds of
 * memory, in `best`. Messages of a rank to itself, and pairs without bytes, do
 * not count. Returns the number of pairs. */
static size_t profile_tell_find_pairs(const nw_pattern *pattern,
                                      struct profile_tell_pair *best)
{
    size_t count = 0;

    for (int32_t r = 0; r < pattern->rank_count; r++)
        for (size_t e = pattern->row[r]; e < pattern->row[r + 1];) {
            struct profile_tell_pair pair = {r, pattern->dst[e], 0};

            for (; e < pattern->row[r + 1] && pattern->dst[e] == pair.dst; e++)
                pair.bytes += pattern->bytes[e];
            if (pair.dst != r && pair.bytes)
                keep_pair(best, &count, pair);
        }
    return count;
}

static const char *profile_tell_say_bytes(uint64_t bytes, char text[32])
{
    return nw_format_quantity((double)bytes, NW_UNIT_BYTES, text, 32);
}

static void print_totals(const char *path, const nw_pattern *pattern)
{
    uint64_t bytes = 0, messages = 0;
    char text[32];

    for (int kind = 0; kind < NW_KIND_COUNT; kind++) {
        struct nw_pattern_total total =
            nw_pattern_total_of(pattern, (enum nw_kind)kind);

        bytes += total.bytes;
        messages += total.messages;
    }
    fprintf(stderr,
            "nodewise profile: wrote %s: %d rank%s, %s in %llu message%s", path,
            pattern->rank_count, nw_plural((uint64_t)pattern->rank_count),
            profile_tell_say_bytes(bytes, text), (unsigned long long)messages,
            nw_plural(messages));
    if (pattern->partial)
        fprintf(stderr, "; partial: %s", pattern->partial);
    fputs("\n", stderr);
}

static void print_pairs(const nw_pattern *pattern)
{
    struct profile_tell_pair best[PAIRS] = {0};
    size_t count = profile_tell_find_pairs(pattern, best);
    char text[32];

    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "%s%d -> %d (%s)",
                i ? ", " : "nodewise profile: heaviest pairs: ", best[i].src,
                best[i].dst, profile_tell_say_bytes(best[i].bytes, text));
    if (count)
        fputs("\n", stderr);
}

static void print_line(const char *what, struct nw_text *text)
{
    if (text->length)
        fprintf(stderr, "nodewise profile: %s%s\n", what, text->data);
    nw_text_fini(text);
}

static void print_times(const nw_pattern *pattern)
{
    struct nw_text text = {0};

    nw_cli_add_mpi_time(pattern, &text);
    print_line("time in MPI of a rank: ", &text);
    if (!nw_cli_add_call_times(pattern, CALLS, &text) && text.data)
        fputs(text.data, stderr);
    nw_text_fini(&text);
}

/* Makes the name of the file with the pattern of a phase. */
static nw_status phase_path(const char *path, int phase, char **out)
{
    struct nw_text text = {0};

    nw_text_format(&text, "%s.phase-%d", path, phase);
    return nw_text_take(&text, out);
}

nw_status nw_profile_remove_phases(const char *path)
{
    nw_status status = NW_OK;
    char *phase = NULL;

    for (int p = 0; !status && p < PHASES; p++) {
        status = phase_path(path, p, &phase);
        if (!status && unlink(phase) && errno != ENOENT)
            status = nw_fail(NW_EIO, "%s: %s", phase, strerror(errno));
        free(phase);
        phase = NULL;
    }
    return status;
}

static void print_phase(int phase, const char *path)
{
    nw_pattern *pattern = NULL;
    struct nw_text text = {0};

    if (access(path, F_OK) || nw_pattern_read(path, NULL, &pattern))
        return;
    nw_text_format(&text, "phase %d (%s): ", phase, path);
    nw_cli_add_traffic(pattern, &text);
    nw_text_format(&text,
                   "%stime in MPI of a rank: ", pattern->traffic ? "; " : "");
    nw_cli_add_mpi_time(pattern, &text);
    print_line("", &text);
    nw_pattern_free(pattern);
}

static void print_phases(const char *path)
{
    char *phase;

    for (int p = 0; p < PHASES; p++) {
        if (phase_path(path, p, &phase))
            return;
        print_phase(p, phase);
        free(phase);
    }
}

void nw_profile_tell(const char *path, bool phases)
{
    nw_pattern *pattern = NULL;
    struct nw_text text = {0};

    if (nw_pattern_read(path, NULL, &pattern))
        return;
    print_totals(path, pattern);
    nw_cli_add_traffic(pattern, &text);
    print_line("", &text);
    print_pairs(pattern);
    print_times(pattern);
    if (phases)
        print_phases(path);
    nw_text_add(&text, "nodewise map -t live -p ");
    nw_text_add_word(&text, path);
    nw_text_add(&text, " -o app.mapping");
    print_line("next: ", &text);
    nw_pattern_free(pattern);
}
