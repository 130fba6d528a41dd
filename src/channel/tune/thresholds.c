/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns times of protocols into tables of message sizes. Reads and writes the
 * file of measured tables, whose format is in nodewise-formats(5). */
#include "channel/tune/thresholds.h"

#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "channel/memory/mapping.h"
#include "gpu/gpu.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const nw_protocol_words[NW_CHANNEL_PROTOCOLS] = {
    "auto", "gather", "pack", "two", "rendezvous", "fetch"};
const char *const nw_copy_words[NW_CHANNEL_COPIES] = {"auto", "naive",
                                                      "loopback", "fastcopy"};
static const char *const localities[] = {"switch", "socket", "far"};
static const char *const regimes[] = {"latency", "flood"};
static const char *const memories[] = {"host", "device"};

/* -- tables from times -- */

/* The possible combinations of protocol and copy method, in the order in which
 * they are compared, and the function that gives their times. */
struct thresholds_candidates {
    nw_protocol_cost cost;
    const void *context;
    int count;
    struct nw_protocol_copy item[1 + NW_CHANNEL_PROTOCOLS * NW_CHANNEL_COPIES];
};

static void thresholds_add_candidate(struct thresholds_candidates *candidates,
                                     int protocol, int copy, uint64_t most)
{
    struct nw_protocol_copy method = {(enum nw_channel_protocol)protocol,
                                      (enum nw_channel_copy)copy};

    if (!isinf(candidates->cost(candidates->context, method, 0)) ||
        !isinf(candidates->cost(candidates->context, method, most)))
        candidates->item[candidates->count++] = method;
}

/* Lists the possible combinations. Rendezvous comes first, so that it is chosen
 * if all others are impossible. */
static void find_candidates(struct thresholds_candidates *candidates,
                            uint64_t most)
{
    candidates->item[0] =
        (struct nw_protocol_copy){NW_CHANNEL_RENDEZVOUS, NW_CHANNEL_COPY_AUTO};
    candidates->count = 1;
    for (int p = NW_CHANNEL_GATHER; p < NW_CHANNEL_PROTOCOLS; p++)
        for (int c = 0; p != NW_CHANNEL_RENDEZVOUS && c < NW_CHANNEL_COPIES;
             c++)
            thresholds_add_candidate(candidates, p, c, most);
}

static struct nw_protocol_copy
thresholds_cheapest(const struct thresholds_candidates *candidates,
                    uint64_t bytes, double *seconds)
{
    struct nw_protocol_copy best = candidates->item[0];

    *seconds = candidates->cost(candidates->context, best, bytes);
    for (int i = 1; i < candidates->count; i++) {
        double one =
            candidates->cost(candidates->context, candidates->item[i], bytes);

        if (one < *seconds) {
            *seconds = one;
            best = candidates->item[i];
        }
    }
    return best;
}

static bool is_left(const struct thresholds_candidates *candidates,
                    struct nw_protocol_copy method, uint64_t bytes)
{
    const double worth = 0.96;
    double limit = worth * candidates->cost(candidates->context, method, bytes);

    for (int i = 0; i < candidates->count; i++)
        if ((candidates->item[i].protocol != method.protocol ||
             candidates->item[i].copy != method.copy) &&
            candidates->cost(candidates->context, candidates->item[i], bytes) <
                limit)
            return true;
    return false;
}

/* Finds by bisection the size in bytes in the interval `between` from which on
 * another combination is better than `method` by at least 4 %. Uses bisection,
 * since times may jump between sizes. Changes `between`. */
static uint64_t where_left(const struct thresholds_candidates *candidates,
                           struct nw_protocol_copy method, uint64_t between[2])
{
    while (between[1] - between[0] > 1) {
        uint64_t middle = (between[0] + between[1]) / 2;

        between[is_left(candidates, method, middle)] = middle;
    }
    return between[1];
}

void nw_choice_make(nw_protocol_cost cost, const void *context, uint64_t most,
                    struct nw_choice *out)
{
    struct thresholds_candidates candidates = {.cost = cost,
                                               .context = context};
    uint64_t before = 0;
    double seconds;
    struct nw_protocol_copy now;

    find_candidates(&candidates, most);
    now = thresholds_cheapest(&candidates, 0, &seconds);
    out->count = 0;
    for (uint64_t bytes = 1; bytes <= most && out->count < NW_STEPS - 1;) {
        if (is_left(&candidates, now, bytes)) {
            bytes = where_left(&candidates, now, (uint64_t[]){before, bytes});
            out->step[out->count++] = (struct nw_step){bytes - 1, now};
            now = thresholds_cheapest(&candidates, bytes, &seconds);
        }
        before = bytes;
        bytes += 1 + bytes / 64;
    }
    out->step[out->count++] = (struct nw_step){most, now};
}

struct nw_protocol_copy nw_choice_find(const struct nw_choice *choice,
                                       uint64_t bytes)
{
    int i = 0;

    while (i < choice->count - 1 && bytes > choice->step[i].bytes)
        i++;
    return choice->step[i].method;
}

/* -- tables of several situations -- */

nw_status nw_thresholds_add(struct nw_thresholds *thresholds,
                            const struct nw_situation *of,
                            const struct nw_choice *choice)
{
    nw_status status = nw_grow(&thresholds->row, &thresholds->capacity,
                               thresholds->count + 1, sizeof *thresholds->row);

    if (!status)
        thresholds->row[thresholds->count++] =
            (struct nw_measured){*of, *choice};
    return status;
}

static bool thresholds_is_alike(const struct nw_situation *a,
                                const struct nw_situation *b)
{
    return a->gpu[0] == b->gpu[0] && a->gpu[1] == b->gpu[1] &&
           a->regime == b->regime && !strcmp(a->provider, b->provider);
}

const struct nw_choice *
nw_thresholds_find(const struct nw_thresholds *thresholds,
                   const struct nw_situation *of)
{
    const struct nw_choice *found = NULL;

    for (size_t i = 0; i < thresholds->count; i++) {
        const struct nw_measured *row = &thresholds->row[i];

        if (thresholds_is_alike(&row->of, of) &&
            (!found || row->of.locality == of->locality))
            found = &row->choice;
    }
    return found;
}

void nw_thresholds_fini(struct nw_thresholds *thresholds)
{
    free(thresholds->row);
    *thresholds = (struct nw_thresholds){0};
}

/* -- the file -- */

/* Appends the name of GPU 0 to a file name, with '-' in place of characters
 * that are unfit for file names. Appends nothing without a GPU. */
static void add_gpu(struct nw_text *text)
{
    struct nw_gpu_properties properties;
    int32_t count = 0;

    if (nw_gpu_cuda.open(&count) || nw_gpu_cuda.properties(0, &properties))
        return;
    for (char *c = properties.name; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '-';
    nw_text_format(text, "-%s", properties.name);
}

/* Appends the name of the GPU mapping to a file name, since the time of
 * FASTCOPY depends on the mapping. */
static void thresholds_add_mapping(struct nw_text *text)
{
    const struct nw_gpu_mapping *mapping = nw_gpu_mapping_open();

    if (mapping)
        nw_text_format(text, "-%s", mapping->name);
    nw_gpu_mapping_close(mapping);
}

nw_status nw_thresholds_path(char **out)
{
    const char *file = getenv("NODEWISE_CHANNEL_TABLE");
    struct nw_text text = {0};
    char host[65] = "";

    if (file && *file) {
        nw_text_add(&text, file);
        return nw_text_take(&text, out);
    }
    if (!nw_file_cache(&text))
        return nw_fail(NW_EINVAL, "neither NODEWISE_CHANNEL_TABLE nor "
                                  "XDG_CACHE_HOME nor HOME is set");
    (void)gethostname(host, sizeof host - 1);
    nw_text_format(&text, "/channel/%s", host);
    add_gpu(&text);
    thresholds_add_mapping(&text);
    return nw_text_take(&text, out);
}

nw_status nw_thresholds_write(const struct nw_thresholds *thresholds,
                              char **out)
{
    struct nw_text text = {0};

    nw_text_add(&text, "nodewise channel 1\n# from to provider locality "
                       "regime bytes protocol copy\n");
    for (size_t i = 0; i < thresholds->count; i++) {
        const struct nw_measured *row = &thresholds->row[i];

        for (int k = 0; k < row->choice.count; k++) {
            const struct nw_step *step = &row->choice.step[k];

            nw_text_format(&text, "%s %s %s %s %s %llu %s %s\n",
                           memories[row->of.gpu[0]], memories[row->of.gpu[1]],
                           row->of.provider, localities[row->of.locality],
                           regimes[row->of.regime],
                           (unsigned long long)step->bytes,
                           nw_protocol_words[step->method.protocol],
                           nw_copy_words[step->method.copy]);
        }
    }
    return nw_text_take(&text, out);
}

static bool thresholds_word_of(const char *word, const char *const *words,
                               int count, int *out)
{
    for (int i = 0; word && i < count; i++)
        if (!strcmp(word, words[i])) {
            *out = i;
            return true;
        }
    return false;
}

/* Parses the words "from to provider locality regime" of a line. */
static nw_status parse_situation(struct nw_lines *lines, char **rest,
                                 struct nw_situation *out)
{
    const char *from = nw_word_next(rest), *to = nw_word_next(rest);
    const char *provider = nw_word_next(rest), *place = nw_word_next(rest);
    const char *regime = nw_word_next(rest);
    int kind[2], locality, which;

    if (!thresholds_word_of(from, memories, 2, &kind[0]) ||
        !thresholds_word_of(to, memories, 2, &kind[1]))
        return nw_lines_fail(lines, "expected host or device, twice");
    if (!provider || strlen(provider) >= NW_PROVIDER_NAME)
        return nw_lines_fail(lines, "expected a provider");
    if (!thresholds_word_of(place, localities, NW_LOCALITIES, &locality))
        return nw_lines_fail(lines, "expected switch, socket or far");
    if (!thresholds_word_of(regime, regimes, NW_REGIMES, &which))
        return nw_lines_fail(lines, "expected latency or flood");
    *out = (struct nw_situation){.gpu = {kind[0], kind[1]},
                                 .locality = (enum nw_locality)locality,
                                 .regime = (enum nw_regime)which};
    snprintf(out->provider, sizeof out->provider, "%s", provider);
    return NW_OK;
}

/* Parses the words "bytes protocol copy" of a line. */
static nw_status parse_step(struct nw_lines *lines, char **rest,
                            struct nw_step *out)
{
    const char *most = nw_word_next(rest), *protocol = nw_word_next(rest);
    const char *copy = nw_word_next(rest);
    int how, into;

    if (!most || !nw_parse_u64(most, &out->bytes))
        return nw_lines_fail(lines, "expected bytes");
    if (!thresholds_word_of(protocol, nw_protocol_words, NW_CHANNEL_PROTOCOLS,
                            &how) ||
        !how)
        return nw_lines_fail(lines,
                             "expected gather, pack, two, rendezvous or fetch");
    if (!thresholds_word_of(copy, nw_copy_words, NW_CHANNEL_COPIES, &into))
        return nw_lines_fail(lines,
                             "expected auto, naive, loopback or fastcopy");
    if (nw_word_next(rest))
        return nw_lines_fail(lines, "a word too many");
    out->method = (struct nw_protocol_copy){(enum nw_channel_protocol)how,
                                            (enum nw_channel_copy)into};
    return NW_OK;
}

static bool is_same(const struct nw_situation *a, const struct nw_situation *b)
{
    return thresholds_is_alike(a, b) && a->locality == b->locality;
}

static nw_status take_step(struct nw_lines *lines, struct nw_thresholds *out,
                           const struct nw_situation *of,
                           const struct nw_step *step)
{
    struct nw_choice one = {1, {*step}}, *last;

    for (size_t i = 0; i + 1 < out->count; i++)
        if (is_same(&out->row[i].of, of))
            return nw_lines_fail(lines, "lines for the same kind of message "
                                        "must follow each other");
    last = out->count ? &out->row[out->count - 1].choice : NULL;
    if (!last || !is_same(&out->row[out->count - 1].of, of))
        return nw_thresholds_add(out, of, &one);
    if (step->bytes <= last->step[last->count - 1].bytes)
        return nw_lines_fail(lines, "sizes must ascend");
    if (last->count == NW_STEPS)
        return nw_lines_fail(lines, "more than %d steps", NW_STEPS);
    last->step[last->count++] = *step;
    return NW_OK;
}

nw_status nw_thresholds_parse(const char *file, char *text,
                              struct nw_thresholds *out)
{
    struct nw_thresholds thresholds = {0};
    struct nw_situation of;
    struct nw_lines lines;
    struct nw_step step;
    nw_status status = NW_OK;
    char *line;

    nw_lines_init(&lines, file, text);
    line = nw_lines_next(&lines);
    if (!line || strcmp(line, "nodewise channel 1"))
        return nw_fail(NW_EFORMAT, "%s:%d: expected 'nodewise channel 1'", file,
                       lines.line ? lines.line : 1);
    while (!status && (line = nw_lines_next(&lines))) {
        status = parse_situation(&lines, &line, &of);
        if (!status && !strncmp(of.provider, "mpi:", 4))
            /* Lines for "mpi:" were written by an earlier version and are
             * ignored. */
            continue;
        if (!status)
            status = parse_step(&lines, &line, &step);
        if (!status)
            status = take_step(&lines, &thresholds, &of, &step);
    }
    if (status)
        nw_thresholds_fini(&thresholds);
    else
        *out = thresholds;
    return status;
}
