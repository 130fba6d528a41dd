/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the phases of a training step. The traffic of each kind of group is
 * generated again from the specification in the pattern's note. In recorded
 * patterns, each edge belongs to one phase. */
#include "pattern/format.h"

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Returns the text after "KEY=" in a specification, or NULL if the key is
 * missing. */
static const char *phases_value(const char *specification, const char *key)
{
    size_t length = strlen(key);
    const char *at = specification;

    while ((at = strstr(at, key))) {
        if (at > specification && (at[-1] == ':' || at[-1] == ',') &&
            at[length] == '=')
            return at + length + 1;
        at += length;
    }
    return NULL;
}

/* Returns the size of a kind of group, which is 1 if its key is missing. */
static double phases_group_size(const char *specification, const char *key)
{
    const char *value = phases_value(specification, key);

    return value ? strtod(value, NULL) : 1;
}

/* Returns the phase that the note names with the key "only", or -1 if it has
 * all phases. */
static int phases_only(const char *note)
{
    const char *only = phases_value(note, "only");

    return only ? nw_phase_find(only, strcspn(only, ",")) : -1;
}

/* Returns true if the note specifies a training step whose group sizes fit the
 * pattern: their product is the number of ranks, and the expert groups do not
 * have more edges than the pattern. Edges are not compared if the note names
 * only another phase. A file may contain any note, so groups that do not fit
 * are not generated. */
static bool phases_are_possible(const nw_pattern *pattern)
{
    const char *note = pattern->note;
    double ranks = 1, edges;
    int only;

    if (!note || strncmp(note, "training:", 9))
        return false;
    only = phases_only(note);
    ranks = phases_group_size(note, "tp") * phases_group_size(note, "cp") *
            phases_group_size(note, "dp") * phases_group_size(note, "pp");
    edges = ranks * (phases_group_size(note, "ep") - 1);
    return ranks == pattern->rank_count &&
           ((only >= 0 && only != NW_PHASE_EXPERT) ||
            edges <= (double)pattern->edge_count);
}

static nw_status phases_generate(const char *note, int phase, nw_pattern **out)
{
    struct nw_text text = {0};
    char *words = NULL;
    int only = phases_only(note);
    nw_status status;

    if (only >= 0 && only != phase)
        return NW_OK;
    nw_text_add(&text, note);
    if (only < 0)
        nw_text_format(&text, ",only=%s", nw_phase_name(phase));
    status = nw_text_take(&text, &words);
    if (!status)
        status = nw_pattern_generate(words, out);
    free(words);
    return status;
}

static double phases_sum_bytes(const nw_pattern *pattern)
{
    double sum = 0;

    for (size_t e = 0; e < pattern->edge_count; e++)
        sum += (double)pattern->bytes[e];
    return sum;
}

/* Returns true if the phases add up to the pattern's traffic. They do not if
 * the pattern was combined or edited after it was generated. */
static bool phases_are_whole(const nw_pattern *pattern,
                             const struct nw_pattern_phases *phases)
{
    double sum = 0, whole = phases_sum_bytes(pattern), difference;

    for (int p = 0; p < NW_PHASE_COUNT; p++) {
        if (!phases->pattern[p])
            continue;
        if (phases->pattern[p]->rank_count != pattern->rank_count)
            return false;
        sum += phases_sum_bytes(phases->pattern[p]);
    }
    difference = sum < whole ? whole - sum : sum - whole;
    return difference <= 1e-9 * whole;
}

/* Sets the rounds of each phase to the largest message count of its edges, and
 * marks the phases as found. Frees the pattern of a phase without messages. */
static void phases_count_rounds(struct nw_pattern_phases *phases)
{
    for (int p = 0; p < NW_PHASE_COUNT; p++) {
        const nw_pattern *pattern = phases->pattern[p];

        for (size_t e = 0; pattern && e < pattern->edge_count; e++)
            if (pattern->messages[e] > phases->rounds[p])
                phases->rounds[p] = pattern->messages[e];
        if (!phases->rounds[p]) {
            nw_pattern_free(phases->pattern[p]);
            phases->pattern[p] = NULL;
        }
    }
    phases->found = true;
}

/* Generates the phases. If the note is not a valid specification, or the phases
 * do not add up to the pattern, *out is an object without phases, so that the
 * search is not repeated. */
static nw_status phases_make(const nw_pattern *pattern,
                             struct nw_pattern_phases **out)
{
    struct nw_pattern_phases *phases = NULL;
    nw_status status = nw_alloc(1, sizeof *phases, &phases);

    for (int p = 0; !status && p < NW_PHASE_COUNT; p++)
        status = phases_generate(pattern->note, p, &phases->pattern[p]);
    if (!status && phases_are_whole(pattern, phases)) {
        phases_count_rounds(phases);
        *out = phases;
        return NW_OK;
    }
    nw_pattern_free_phases(phases);
    /* these errors mean that the note is not a specification */
    return status && status != NW_EINVAL && status != NW_EFORMAT
               ? status
               : nw_alloc(1, sizeof **out, out);
}

/* Sets *out to a new pattern with the edges of one phase. Does not change *out
 * if the phase has no edges. The number of rounds of the phase is its largest
 * message count. All edges get this count: each then sends its recorded bytes
 * over all rounds. */
static nw_status phases_extract(const nw_pattern *pattern,
                                const uint8_t *phase_of, uint8_t phase,
                                nw_pattern **out)
{
    size_t count = 0;
    uint64_t rounds = 1;
    nw_pattern *part = NULL;
    nw_status status;

    for (size_t e = 0; e < pattern->edge_count; e++)
        if (phase_of[e] == phase) {
            count++;
            rounds =
                pattern->messages[e] > rounds ? pattern->messages[e] : rounds;
        }
    if (!count)
        return NW_OK;
    status = nw_pattern_new(pattern->rank_count, count, &part);
    if (status)
        return status;
    count = 0;
    for (int32_t r = 0; r < pattern->rank_count; r++) {
        for (size_t e = pattern->row[r]; e < pattern->row[r + 1]; e++) {
            if (phase_of[e] != phase)
                continue;
            part->dst[count] = pattern->dst[e];
            part->kind[count] = pattern->kind[e];
            part->bytes[count] = pattern->bytes[e];
            part->messages[count++] = rounds;
        }
        part->row[r + 1] = count;
    }
    *out = part;
    return NW_OK;
}

nw_status nw_pattern_set_phases(nw_pattern *pattern, const uint8_t *phase_of)
{
    nw_status status = nw_alloc(1, sizeof *pattern->phases, &pattern->phases);

    for (int p = 0; !status && p < NW_PHASE_COUNT; p++)
        status = phases_extract(pattern, phase_of, (uint8_t)p,
                                &pattern->phases->pattern[p]);
    if (!status)
        phases_count_rounds(pattern->phases);
    return status;
}

bool nw_pattern_is_recorded_in_phases(const nw_pattern *pattern)
{
    return pattern->phases && pattern->phases->found &&
           !phases_are_possible(pattern);
}

nw_status nw_pattern_find_phases(const nw_pattern *pattern,
                                 const struct nw_pattern_phases **out)
{
    static const struct nw_pattern_phases none;
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    nw_status status = NW_OK;

    *out = &none;
    if (!phases_are_possible(pattern)) {
        if (pattern->phases)
            *out = pattern->phases;
        return NW_OK;
    }
    pthread_mutex_lock(&mutex);
    if (!pattern->phases)
        status = phases_make(pattern, &((nw_pattern *)pattern)->phases);
    if (!status)
        *out = pattern->phases;
    pthread_mutex_unlock(&mutex);
    return status;
}
