/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * At the end of a run or of a region (region.h), every rank packs its records
 * into 64-bit words. Rank 0 gathers them and writes the pattern.
 */
#include "runtime/profile/profile.h"

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "runtime/profile/hosts.h"
#include "runtime/profile/merge_records.h"
#include "runtime/profile/phases.h"
#include "runtime/profile/region.h"
#include "runtime/warn.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The words of a packed record: these five, then one for each size class that
 * has messages. */
enum { WORD_PEER, WORD_WHAT, WORD_TAG, WORD_BYTES, WORD_MESSAGES, WORDS };
/* The words of the header that a rank sends before its records. */
enum {
    HEAD_COUNT,
    HEAD_OUTSIDE_BYTES,
    HEAD_OUTSIDE_MESSAGES,
    HEAD_SHORT,
    HEAD_MIXED,
    HEAD_WORDS
};

/* the word of a size class: the class in the upper 8 bits, the number of
 * messages below */
#define SIZE_SHIFT 56

struct pack {
    uint64_t *word;
    size_t count, capacity;
};

static nw_status gather_add_word(struct pack *pack, uint64_t word)
{
    nw_status status = nw_grow(&pack->word, &pack->capacity, pack->count + 1,
                               sizeof *pack->word);

    if (!status)
        pack->word[pack->count++] = word;
    return status;
}

static nw_status pack_record(struct pack *pack,
                             const struct nw_part_record *record)
{
    size_t what = pack->count + WORD_WHAT;
    uint64_t sizes = 0;
    uint64_t words[WORDS] = {(uint32_t)record->peer,
                             record->class | (uint64_t)record->inward << 8 |
                                 (uint64_t)record->origin << 9,
                             (uint16_t)record->tag | (uint64_t)record->phase
                                                         << 16,
                             record->bytes, record->messages};
    nw_status status = NW_OK;

    for (int i = 0; !status && i < WORDS; i++)
        status = gather_add_word(pack, words[i]);
    for (uint64_t b = 0; !status && b < NW_PART_SIZES; b++)
        if (record->sizes[b]) {
            status = gather_add_word(pack, b << SIZE_SHIFT | record->sizes[b]);
            sizes++;
        }
    if (!status)
        pack->word[what] |= sizes << 16;
    return status;
}

static nw_status pack_all(struct pack *pack, uint64_t head[HEAD_WORDS])
{
    const struct nw_part_header *header = nw_count_header();
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < nw_count_count(); i++) {
        struct nw_part_record record = *nw_count_record(i);

        nw_region_subtract(i, &record);
        if (!record.messages)
            continue;
        head[HEAD_MIXED] |= nw_part_is_gpu_end(record.class);
        status = pack_record(pack, &record);
    }
    head[HEAD_COUNT] = pack->count;
    head[HEAD_OUTSIDE_BYTES] = header->outside_bytes;
    head[HEAD_OUTSIDE_MESSAGES] = header->outside_messages;
    nw_region_subtract_outside(&head[HEAD_OUTSIDE_BYTES],
                               &head[HEAD_OUTSIDE_MESSAGES]);
    head[HEAD_SHORT] = status || nw_count_is_short();
    return NW_OK;
}

/* Unpacks one record. `rest` is the number of words that are left. Returns the
 * number of words read, or 0 if there are too few. */
static size_t unpack_record(const uint64_t *word, size_t rest,
                            struct nw_part_record *record)
{
    size_t sizes = rest < WORDS ? rest : word[WORD_WHAT] >> 16;

    if (rest < WORDS + sizes)
        return 0;
    *record = (struct nw_part_record){
        .peer = (int32_t)word[WORD_PEER],
        .tag = (int16_t)word[WORD_TAG],
        .phase = (uint16_t)(word[WORD_TAG] >> 16),
        .class = (uint8_t)word[WORD_WHAT],
        .inward = word[WORD_WHAT] >> 8 & 1,
        .origin = word[WORD_WHAT] >> 9 & 0x7f,
        .bytes = word[WORD_BYTES],
        .messages = word[WORD_MESSAGES],
    };
    for (size_t i = 0; i < sizes; i++) {
        uint64_t size = word[WORDS + i];

        record->sizes[size >> SIZE_SHIFT] =
            size & ((UINT64_C(1) << SIZE_SHIFT) - 1);
    }
    return WORDS + sizes;
}

/* The data that rank 0 has gathered: the headers of all ranks, and their words
 * in the order of ranks; for each rank, the number of its words and the index
 * of the first. */
struct gathered {
    int rank_count;
    uint64_t *head;
    uint64_t *word;
    int *count, *start;
};

static void free_gathered(struct gathered *all)
{
    free(all->head);
    free(all->word);
    free(all->count);
    free(all->start);
}

static nw_status alloc_gathered(struct gathered *all)
{
    size_t n = (size_t)all->rank_count;
    nw_status status = nw_alloc(n * HEAD_WORDS, sizeof *all->head, &all->head);

    if (!status)
        status = nw_alloc(n, sizeof *all->count, &all->count);
    if (!status)
        status = nw_alloc(n, sizeof *all->start, &all->start);
    return status;
}

static nw_status place_words(struct gathered *all)
{
    uint64_t total = 0;

    for (int r = 0; r < all->rank_count; r++) {
        uint64_t count = all->head[r * HEAD_WORDS + HEAD_COUNT];

        if (total + count > INT_MAX)
            return nw_fail(NW_EUNSUPPORTED,
                           "the profile would be larger than 16 GB");
        all->count[r] = (int)count;
        all->start[r] = (int)total;
        total += count;
    }
    return nw_alloc(total, sizeof *all->word, &all->word);
}

enum { ALL_PHASES = -1 };

/* Returns true if the record belongs to the phase. The time of the whole run
 * belongs to no single phase. */
static bool is_in_phase(const struct nw_part_record *record, int phase)
{
    return phase == ALL_PHASES ||
           (record->phase == phase &&
            (record->class != NW_PART_TIME || record->peer != NW_CALL_RUN));
}

static nw_status merge_rank(struct nw_merge *merge, const struct gathered *all,
                            int rank, int phase)
{
    const uint64_t *word = all->word + all->start[rank];
    const uint64_t *head = all->head + rank * HEAD_WORDS;
    size_t rest = (size_t)all->count[rank], step;
    struct nw_part_record record;
    nw_status status = NW_OK;

    for (; !status && rest; word += step, rest -= step) {
        step = unpack_record(word, rest, &record);
        if (!step)
            break;
        if (is_in_phase(&record, phase))
            status = nw_merge_add(merge, rank, &record);
    }
    if (phase != ALL_PHASES)
        return status;
    nw_merge_add_outside(merge, head[HEAD_OUTSIDE_BYTES],
                         head[HEAD_OUTSIDE_MESSAGES]);
    return status;
}

static bool any_head(const struct gathered *all, int what)
{
    for (int r = 0; r < all->rank_count; r++)
        if (all->head[r * HEAD_WORDS + what])
            return true;
    return false;
}

static nw_status write_pattern(const struct gathered *all, const char *hosts,
                               const char *path, int phase)
{
    struct nw_merge *merge = NULL;
    nw_pattern *pattern = NULL;
    nw_status status =
        nw_merge_new(all->rank_count, any_head(all, HEAD_MIXED), &merge);

    for (int r = 0; !status && r < all->rank_count; r++)
        status = merge_rank(merge, all, r, phase);
    if (!status)
        status = nw_merge_build(merge, &pattern);
    if (!status)
        status = nw_strdup(nw_count_header()->program, &pattern->program);
    if (!status && any_head(all, HEAD_SHORT))
        status = nw_strdup("memory ran out while counting", &pattern->partial);
    if (!status) {
        nw_hosts_note(hosts, &pattern->note);
        status = nw_pattern_write(pattern, path);
    }
    nw_pattern_free(pattern);
    nw_merge_free(merge);
    return status;
}

static void find_phases(const struct gathered *all, bool found[NW_PHASES])
{
    struct nw_part_record record;
    size_t step;

    for (int r = 0; r < all->rank_count; r++)
        for (size_t at = 0; at < (size_t)all->count[r]; at += step) {
            step = unpack_record(all->word + all->start[r] + at,
                                 (size_t)all->count[r] - at, &record);
            if (!step)
                break;
            if (record.phase < NW_PHASES && is_in_phase(&record, record.phase))
                found[record.phase] = true;
        }
}

/* Writes the pattern of the whole run, or of a region, to `path`. If phases are
 * on and this is not a region, then writes one pattern for each phase. */
static nw_status write_patterns(const struct gathered *all, const char *hosts,
                                const char *path)
{
    bool found[NW_PHASES] = {0};
    nw_status status = write_pattern(all, hosts, path, ALL_PHASES);

    if (!nw_phases_are_on() || nw_region_is_written())
        return status;
    find_phases(all, found);
    for (int p = 0; !status && p < NW_PHASES; p++) {
        struct nw_text text = {0};
        char *name = NULL;

        if (!found[p])
            continue;
        nw_text_format(&text, "%s.phase-%d", path, p);
        status = nw_text_take(&text, &name);
        if (!status)
            status = write_pattern(all, hosts, name, p);
        free(name);
    }
    return status;
}

/* Gathers the packed records of all ranks on rank 0. Collective; a rank that
 * could not pack its records must take part, too. */
static nw_status gather_and_write_exchange(MPI_Comm comm, struct pack *pack,
                                           const uint64_t head[HEAD_WORDS],
                                           struct gathered *all)
{
    int rank, go = 1;
    nw_status status = NW_OK;

    NW_PMPI(Comm_rank)(comm, &rank);
    NW_PMPI(Comm_size)(comm, &all->rank_count);
    if (!rank)
        status = alloc_gathered(all);
    go = !status;
    NW_PMPI(Bcast)(&go, 1, MPI_INT, 0, comm);
    if (!go)
        return status;
    NW_PMPI(Gather)
    (head, HEAD_WORDS, MPI_UINT64_T, all->head, HEAD_WORDS, MPI_UINT64_T, 0,
     comm);
    if (!rank)
        status = place_words(all);
    go = !status;
    NW_PMPI(Bcast)(&go, 1, MPI_INT, 0, comm);
    if (!go)
        return status;
    NW_PMPI(Gatherv)
    (pack->word, (int)pack->count, MPI_UINT64_T, all->word, all->count,
     all->start, MPI_UINT64_T, 0, comm);
    return NW_OK;
}

bool nw_profile_gather(MPI_Comm comm, const char *path)
{
    struct pack pack = {0};
    struct gathered all = {0};
    uint64_t head[HEAD_WORDS] = {0};
    int rank, written;
    nw_status status = pack_all(&pack, head);
    char *hosts = nw_hosts_gather(comm);

    NW_PMPI(Comm_rank)(comm, &rank);
    status = gather_and_write_exchange(comm, &pack, head, &all);
    if (!status && !rank && all.word)
        status = write_patterns(&all, hosts, path);
    written = !status && (rank || all.word);
    if (status)
        nw_warn_once("no profile: %s", nw_error_text());
    NW_PMPI(Bcast)(&written, 1, MPI_INT, 0, comm);
    free_gathered(&all);
    free(pack.word);
    free(hosts);
    return written;
}
