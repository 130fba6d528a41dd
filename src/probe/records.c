/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the records that the measuring program prints, and stores their
 * figures. */
#include "probe/records.h"

#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RANKS (1 << 20)

size_t nw_probe_class_bytes(int index)
{
    static const size_t bytes[NW_PROBE_CLASSES] = {8, 1024, 16384, 131072};

    return bytes[index];
}

nw_status nw_probe_new(nw_probe **out)
{
    return nw_alloc(1, sizeof **out, out);
}

void nw_probe_free(nw_probe *probe)
{
    if (!probe)
        return;
    for (int32_t r = 0; r < probe->rank_count; r++) {
        free(probe->rank[r].name);
        free(probe->rank[r].lost);
    }
    free(probe->rank);
    free(probe->pair);
    free(probe->stream);
    free(probe);
}

struct nw_probe_stage nw_probe_stage_of(const nw_probe *probe)
{
    struct nw_probe_stage stage = probe->stage;

    stage.what = probe->what;
    return stage;
}
NW_OLD_NAME(nw_probe_stage, nw_probe_stage_of);

bool nw_probe_is_done(const nw_probe *probe)
{
    return probe->done;
}

int32_t nw_probe_rank_count(const nw_probe *probe)
{
    return probe->rank_count;
}

int32_t nw_probe_host_count(const nw_probe *probe)
{
    return probe->host_count;
}

int32_t nw_probe_first_rank(const nw_probe *probe, int32_t host)
{
    int32_t r = 0;

    while (r < probe->rank_count && probe->rank[r].host != host)
        r++;
    return r;
}

int32_t nw_probe_ranks_on(const nw_probe *probe, int32_t host)
{
    int32_t count = 0;

    for (int32_t r = 0; r < probe->rank_count; r++)
        count += probe->rank[r].name && probe->rank[r].host == host;
    return count;
}

bool nw_probe_is_alone(const struct nw_probe_stream *stream)
{
    return !stream->set;
}

bool nw_probe_crosses(const nw_probe *probe, int32_t a, int32_t b)
{
    return probe->rank[a].package >= 0 && probe->rank[b].package >= 0 &&
           probe->rank[a].package != probe->rank[b].package;
}

/* --- records --- */

static nw_status records_damaged(const char *what)
{
    return nw_fail(NW_EFORMAT, "a record of the probe is damaged: %s", what);
}

/* records_take_number, take_figure, records_take_rank and records_take_memory
 * read the next word of a record from *rest; they return false if it is missing
 * or invalid. */
static bool records_take_number(char **rest, int32_t *out)
{
    char *word = nw_word_next(rest);

    return word && nw_parse_i32(word, out);
}

/* Reads a finite number that is at least 0 from *rest; returns false if there
 * is none. */
static bool take_figure(char **rest, double *out)
{
    char *word = nw_word_next(rest);

    return word && nw_parse_double(word, out) && isfinite(*out) && *out >= 0;
}

static bool records_take_rank(const nw_probe *probe, char **rest, int32_t *out)
{
    return records_take_number(rest, out) && *out >= 0 &&
           *out < probe->rank_count;
}

/* Each function that the table records[] names takes one kind of record; `rest`
 * is the text after the word for the kind. */
static nw_status records_take_ranks(nw_probe *probe, char *rest)
{
    int32_t count;
    nw_status status;

    if (probe->rank || !records_take_number(&rest, &count) || count < 1 ||
        count > MOST_RANKS)
        return records_damaged("ranks");
    status = nw_alloc((size_t)count, sizeof *probe->rank, &probe->rank);
    if (status)
        return status;
    for (int32_t r = 0; r < count; r++)
        probe->rank[r].host = -1;
    probe->rank_count = count;
    return NW_OK;
}

/* Returns the number of the host with this name. Hosts are numbered in the
 * order in which their names first occur. */
static int32_t records_host_of(nw_probe *probe, const char *name)
{
    for (int32_t r = 0; r < probe->rank_count; r++)
        if (probe->rank[r].name && !strcmp(probe->rank[r].name, name))
            return probe->rank[r].host;
    return probe->host_count++;
}

static nw_status records_take_place(nw_probe *probe, char *rest)
{
    struct nw_probe_rank it = {0};
    int32_t rank, staged;
    char *name;
    nw_status status;

    if (!records_take_rank(probe, &rest, &rank) ||
        !(name = nw_word_next(&rest)) || probe->rank[rank].name ||
        !records_take_number(&rest, &it.packages) ||
        !records_take_number(&rest, &it.cores) ||
        !records_take_number(&rest, &it.gpus) ||
        !records_take_number(&rest, &it.core) ||
        !records_take_number(&rest, &it.package) ||
        !records_take_number(&rest, &staged))
        return records_damaged("rank");
    if (it.packages < 1 || it.cores < it.packages || it.gpus < 0 ||
        it.cores > 1 << 16 || it.gpus > 1 << 10)
        return records_damaged("rank");
    it.staged = staged;
    status = nw_strdup(name, &name);
    if (status)
        return status;
    it.host = records_host_of(probe, name);
    it.name = name;
    probe->rank[rank] = it;
    return NW_OK;
}

static bool records_take_memory(char **rest, enum nw_probe_memory *out)
{
    char *word = nw_word_next(rest);

    if (!word || (strcmp(word, "host") && strcmp(word, "gpu")))
        return false;
    *out = word[0] == 'h' ? NW_PROBE_HOST : NW_PROBE_GPU;
    return true;
}

static nw_status records_take_pair(nw_probe *probe, char *rest)
{
    struct nw_probe_pair it;
    nw_status status;
    bool good = records_take_memory(&rest, &it.memory) &&
                records_take_rank(probe, &rest, &it.a) &&
                records_take_rank(probe, &rest, &it.b) && it.a != it.b &&
                take_figure(&rest, &it.spread);

    for (int c = 0; good && c < NW_PROBE_CLASSES; c++)
        good = take_figure(&rest, &it.class[c].time) &&
               take_figure(&rest, &it.class[c].overhead) &&
               take_figure(&rest, &it.class[c].gap);
    if (!good || !probe->rank[it.a].name || !probe->rank[it.b].name)
        return records_damaged("pair");
    status = nw_grow(&probe->pair, &probe->pair_capacity, probe->pair_count + 1,
                     sizeof *probe->pair);
    if (!status)
        probe->pair[probe->pair_count++] = it;
    return status;
}

static nw_status take_stream(nw_probe *probe, char *rest)
{
    struct nw_probe_stream it;
    nw_status status;

    if (!records_take_memory(&rest, &it.memory) ||
        !records_take_number(&rest, &it.set) || it.set < 0 ||
        !records_take_rank(probe, &rest, &it.from) ||
        !records_take_rank(probe, &rest, &it.to) || it.from == it.to ||
        !take_figure(&rest, &it.rate) || it.rate <= 0 ||
        !probe->rank[it.from].name || !probe->rank[it.to].name)
        return records_damaged("stream");
    if (it.set > probe->set_count)
        probe->set_count = it.set;
    status = nw_grow(&probe->stream, &probe->stream_capacity,
                     probe->stream_count + 1, sizeof *probe->stream);
    if (!status)
        probe->stream[probe->stream_count++] = it;
    return status;
}

static nw_status take_lost(nw_probe *probe, char *rest)
{
    int32_t rank;

    if (!records_take_rank(probe, &rest, &rank) ||
        (probe->rank[rank].lost && rank + 1 != probe->first_dead))
        return records_damaged("lost");
    if (probe->rank[rank].lost)
        return NW_OK;
    return nw_strdup(rest ? rest + strspn(rest, " ") : "",
                     &probe->rank[rank].lost);
}

/* Takes the report of a watching process that its rank has died. Only the first
 * report counts: other ranks may have died as a consequence, or been ended with
 * the job. */
static nw_status take_died(nw_probe *probe, char *rest)
{
    int32_t rank;

    if (!records_take_rank(probe, &rest, &rank) || probe->done ||
        probe->first_dead || probe->rank[rank].lost)
        return NW_OK;
    probe->first_dead = rank + 1;
    return nw_strdup(rest ? rest + strspn(rest, " ") : "",
                     &probe->rank[rank].lost);
}

static nw_status take_stage(nw_probe *probe, char *rest)
{
    char *what = nw_word_next(&rest);
    int32_t done, total;

    if (!what || !records_take_number(&rest, &done) ||
        !records_take_number(&rest, &total) || done < 0 || total < 0)
        return records_damaged("stage");
    strncpy(probe->what, what, sizeof probe->what - 1);
    probe->stage.done = (uint64_t)done;
    probe->stage.total = (uint64_t)total;
    return NW_OK;
}

static nw_status take_done(nw_probe *probe, char *rest)
{
    (void)rest;
    probe->done = true;
    return NW_OK;
}

static const struct {
    const char *word;
    nw_status (*take)(nw_probe *probe, char *rest);
} records[] = {
    {"ranks", records_take_ranks}, {"rank", records_take_place},
    {"pair", records_take_pair},   {"lost", take_lost},
    {"stream", take_stream},       {"stage", take_stage},
    {"done", take_done},           {"died", take_died},
};

static nw_status take_record(nw_probe *probe, char *rest)
{
    char *word = nw_word_next(&rest);

    for (size_t i = 0; word && i < sizeof records / sizeof *records; i++)
        if (!strcmp(word, records[i].word))
            return records[i].take(probe, rest);
    return records_damaged(word ? word : "empty");
}

bool nw_probe_is_headless(const nw_probe *probe)
{
    return probe->first_dead == 1;
}

nw_status nw_probe_take_line(nw_probe *probe, const char *line, bool *taken)
{
    size_t length = strlen(NW_PROBE_MARK);
    nw_status status;
    char *copy;

    *taken = !strncmp(line, NW_PROBE_MARK " ", length + 1);
    if (!*taken)
        return NW_OK;
    status = nw_strdup(line + length, &copy);
    if (status)
        return status;
    copy[strcspn(copy, "\r\n")] = '\0';
    status = take_record(probe, copy);
    free(copy);
    return status;
}
