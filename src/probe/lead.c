/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rank 0 that decides what is measured, in four stages:
 *
 * 1. round trips of all pairs of ranks
 * 2. single streams between and inside hosts
 * 3. simultaneous streams over the links that the groups suggest
 * 4. a stream for each remaining pair of ranks, as time allows */
#include "probe/groups.h"
#include "probe/job.h"
#include "probe/schedule.h"

#include "base/array.h"

#include <stdlib.h>

/* Durations of streams in s: the longest and the shortest of a single stream,
 * and that of simultaneous streams. */
#define STREAM_SECONDS 0.1
#define SHORTEST_STREAM 0.03
#define TOGETHER_SECONDS 0.4
/* Time in s until streams start together; enough for all ranks to receive the
 * command. */
#define START_SECONDS 0.05
/* A stream with fewer than FEWEST_CHUNKS chunks is repeated with smaller
 * chunks, of at least 16384 bytes. Streams between hosts are measured
 * FEWEST_STREAMS to MOST_STREAMS times, until two successive rates differ by at
 * most the fraction EQUAL. */
#define FEWEST_CHUNKS 15
#define FEWEST_STREAMS 3
#define MOST_STREAMS 5
#define EQUAL 0.05
#define TOGETHER 8 /* largest number of simultaneous streams */
/* Shares of the time budget. When such a share is over, no more round trips,
 * single streams or simultaneous streams, in this order, are begun. */
#define PAIRS_END 0.4
#define STREAMS_END 0.75
#define TOGETHER_END 0.9

/* Returns true if more than `share` of the time budget is over. */
static bool lead_is_late(const struct nw_probe_coordinator *coordinator,
                         double share)
{
    return nw_probe_now() - coordinator->begin > share * coordinator->seconds;
}

static int32_t lead_host_of(const struct nw_probe_coordinator *coordinator,
                            int rank)
{
    return coordinator->probe->rank[rank].host;
}

/* --- pairs --- */

static void say_pair(struct nw_probe_coordinator *coordinator,
                     const struct nw_probe_task *task)
{
    static const char *const memory[] = {"host", "gpu"};
    const double *figure = task->reply[0].figure;

    _Static_assert(NW_PROBE_FIGURES == 13, "as many as are printed");
    if (!task->reply[0].good || !task->reply[1].good)
        return;
    nw_probe_emit_record(
        coordinator,
        "pair %s %d %d %.4g %.6g %.4g %.4g %.6g %.4g %.4g %.6g %.4g "
        "%.4g %.6g %.4g %.4g",
        memory[task->memory], task->a, task->b, figure[0], figure[1], figure[2],
        figure[3], figure[4], figure[5], figure[6], figure[7], figure[8],
        figure[9], figure[10], figure[11], figure[12]);
}

/* A round of the tournament: its pairs of ranks, and buffers for dividing them
 * into waves. */
struct round {
    struct nw_probe_task *task, *wave_task;
    int32_t *host, *wave;
    unsigned char *busy;
    size_t count;
};

/* Sets the pairs of a round; leaves out lost ranks, and for GPU memory ranks
 * without GPUs. */
static void fill_round(struct nw_probe_coordinator *coordinator, int32_t number,
                       enum nw_probe_memory memory, struct round *round)
{
    int size = coordinator->self->size;

    round->count = 0;
    for (int a = 0; a < size; a++) {
        int b = nw_probe_opponent(size, number, a);
        bool gpus;

        if (b <= a || !nw_probe_is_here(coordinator, a) ||
            !nw_probe_is_here(coordinator, b))
            continue;
        gpus = coordinator->probe->rank[a].gpus &&
               coordinator->probe->rank[b].gpus;
        if (memory == NW_PROBE_GPU && !gpus)
            continue;
        round->host[2 * round->count] = lead_host_of(coordinator, a);
        round->host[2 * round->count + 1] = lead_host_of(coordinator, b);
        round->task[round->count++] = (struct nw_probe_task){
            .a = a, .b = b, .work = WORK_PAIR, .memory = memory};
    }
}

/* Runs a round in waves in which no host occurs twice. Returns false if the
 * share PAIRS_END of the time budget is over before the last wave; the
 * remaining pairs are then skipped. `class_seconds` is the time in s for each
 * class of sizes. */
static bool play_round(struct nw_probe_coordinator *coordinator,
                       struct round *round, double class_seconds)
{
    struct nw_probe_waves waves = {round->host, round->count,
                                   coordinator->probe->host_count, round->busy};
    int32_t count = nw_probe_share_out(&waves, round->wave);

    for (int32_t w = 0; w < count; w++) {
        size_t n = 0;

        if (lead_is_late(coordinator, PAIRS_END))
            return false;
        for (size_t i = 0; i < round->count; i++)
            if (round->wave[i] == w &&
                nw_probe_is_here(coordinator, round->task[i].a) &&
                nw_probe_is_here(coordinator, round->task[i].b)) {
                round->wave_task[n] = round->task[i];
                round->wave_task[n++].seconds = class_seconds;
            }
        nw_probe_run_wave(coordinator, round->wave_task, n);
        for (size_t i = 0; i < n; i++)
            say_pair(coordinator, &round->wave_task[i]);
    }
    return true;
}

static nw_status make_round(const struct nw_probe_coordinator *coordinator,
                            struct round *round)
{
    size_t pairs = (size_t)coordinator->self->size / 2 + 1;
    nw_status status = nw_alloc(pairs, sizeof *round->task, &round->task);

    if (!status)
        status = nw_alloc(pairs, sizeof *round->wave_task, &round->wave_task);
    if (!status)
        status = nw_alloc(2 * pairs, sizeof *round->host, &round->host);
    if (!status)
        status = nw_alloc(pairs, sizeof *round->wave, &round->wave);
    if (!status)
        status = nw_alloc(pairs * (size_t)coordinator->probe->host_count, 1,
                          &round->busy);
    return status;
}

/* Measures all pairs of ranks in the rounds of a round-robin tournament, so
 * that many pairs are measured at the same time. Ends early if the time for
 * this stage is over. */
static void play_tournament(struct nw_probe_coordinator *coordinator,
                            enum nw_probe_memory memory)
{
    int32_t rounds = nw_probe_rounds(coordinator->self->size);
    int32_t crowd =
        (coordinator->self->size + coordinator->probe->host_count - 1) /
        coordinator->probe->host_count;
    double each = PAIRS_END / 2 * coordinator->seconds /
                  ((double)rounds * crowd * NW_PROBE_CLASSES + 1);
    struct round round = {0};

    each = each > 8e-3 ? 8e-3 : each < 0.5e-3 ? 0.5e-3 : each;
    if (make_round(coordinator, &round) == NW_OK)
        for (int32_t r = 0; r < rounds; r++) {
            fill_round(coordinator, r, memory, &round);
            if (!play_round(coordinator, &round, each))
                break;
            nw_probe_emit_record(coordinator, "stage pairs %d %d", r + 1,
                                 rounds);
        }
    free(round.task);
    free(round.wave_task);
    free(round.host);
    free(round.wave);
    free(round.busy);
}

/* --- streams --- */

static void say_stream(struct nw_probe_coordinator *coordinator,
                       const struct nw_probe_task *task, int set)
{
    static const char *const memory[] = {"host", "gpu"};

    if (task->reply[0].good && task->reply[1].good &&
        task->reply[1].figure[0] > 0)
        nw_probe_emit_record(coordinator, "stream %s %d %d %d %.6g",
                             memory[task->memory], set, task->a, task->b,
                             task->reply[1].figure[0]);
}

/* Estimates a size of chunks in bytes with which the stream has more than
 * FEWEST_CHUNKS chunks. It follows from the time of the largest messages of the
 * task's ranks in its kind of memory, or from 1e9 bytes/s if this pair was not
 * measured. The size is from 16384 to NW_PROBE_LARGEST. */
static size_t guess_chunk(const struct nw_probe_coordinator *coordinator,
                          const struct nw_probe_task *task)
{
    const struct nw_probe *probe = coordinator->probe;
    int a = task->a, b = task->b;
    double rate = 1e9, chunk;

    for (size_t i = 0; i < probe->pair_count; i++) {
        const struct nw_probe_pair *it = &probe->pair[i];
        const struct nw_probe_class *last = &it->class[NW_PROBE_CLASSES - 1];

        if (it->memory == task->memory && it->a + it->b == a + b &&
            (it->a == a || it->a == b) && last->time > 0)
            rate =
                (double)nw_probe_class_bytes(NW_PROBE_CLASSES - 1) / last->time;
    }
    chunk = rate * task->seconds / (8 * FEWEST_CHUNKS);
    return chunk < 16384                      ? 16384
           : chunk > (double)NW_PROBE_LARGEST ? NW_PROBE_LARGEST
                                              : (size_t)chunk;
}

/* Repeats a stream until two successive results agree, but at least
 * FEWEST_STREAMS and at most `most` times (`most` may be lower). Ends early if
 * a rank is lost or the stream fails. Uses smaller chunks if too few
 * arrived. */
static void run_alone(struct nw_probe_coordinator *coordinator,
                      struct nw_probe_task *task, int most)
{
    double before = 0;
    int done = 0;

    for (int tries = 0; most > 0 && tries < 2 * MOST_STREAMS; tries++) {
        double rate;

        if (!nw_probe_is_here(coordinator, task->a) ||
            !nw_probe_is_here(coordinator, task->b))
            return;
        nw_probe_run_wave(coordinator, task, 1);
        if (!task->reply[0].good || !task->reply[1].good)
            return;
        rate = task->reply[1].figure[0];
        if (task->reply[1].figure[1] < FEWEST_CHUNKS && task->chunk > 16384) {
            task->chunk = task->chunk > 131072 ? task->chunk / 8 : 16384;
            continue;
        }
        say_stream(coordinator, task, 0);
        if (++done >= FEWEST_STREAMS && rate > before * (1 - EQUAL) &&
            rate < before * (1 + EQUAL))
            return;
        before = rate;
        most--;
    }
}

/* Measures a stream from a to b, then a stream from b to a. `task_like` has the
 * memory and the duration of the streams. Each stream is repeated at most
 * `most` times. */
static void both_directions(struct nw_probe_coordinator *coordinator, int a,
                            int b, struct nw_probe_task *task_like, int most)
{
    struct nw_probe_task task = *task_like;

    task.work = WORK_STREAM;
    task.a = a;
    task.b = b;
    task.chunk = guess_chunk(coordinator, &task);
    run_alone(coordinator, &task, most);
    task.a = b;
    task.b = a;
    run_alone(coordinator, &task, most);
}

/* Returns number k, from 0, of the ranks of a host that are alive and, for GPU
 * memory, have a GPU; -1 if there are fewer. */
static int rank_on(const struct nw_probe_coordinator *coordinator, int32_t host,
                   int k, enum nw_probe_memory memory)
{
    for (int r = 0; r < coordinator->self->size; r++)
        if (nw_probe_is_here(coordinator, r) &&
            lead_host_of(coordinator, r) == host &&
            (memory == NW_PROBE_HOST || coordinator->probe->rank[r].gpus) &&
            !k--)
            return r;
    return -1;
}

/* Measures streams between the first ranks of each pair of hosts, one pair
 * after the other, until the time of this stage is over. */
static void stream_between(struct nw_probe_coordinator *coordinator,
                           enum nw_probe_memory memory)
{
    int32_t hosts = coordinator->probe->host_count,
            rounds = nw_probe_rounds(hosts);
    double share = (STREAMS_END - PAIRS_END) / 2 * coordinator->seconds /
                   (4.0 * rounds * hosts / 2 + 1);
    struct nw_probe_task task_like = {
        .memory = memory,
        .seconds = share < SHORTEST_STREAM  ? SHORTEST_STREAM
                   : share > STREAM_SECONDS ? STREAM_SECONDS
                                            : share};

    for (int32_t r = 0; r < rounds; r++) {
        for (int32_t h = 0;
             h < hosts && !lead_is_late(coordinator, STREAMS_END); h++) {
            int32_t other = nw_probe_opponent(hosts, r, h);
            int a = rank_on(coordinator, h, 0, memory);
            int b = other > h ? rank_on(coordinator, other, 0, memory) : -1;

            if (a >= 0 && b >= 0)
                both_directions(coordinator, a, b, &task_like, MOST_STREAMS);
        }
        nw_probe_emit_record(coordinator, "stage streams %d %d", r + 1, rounds);
    }
}

static bool same_package(const struct nw_probe_coordinator *coordinator, int a,
                         int b)
{
    int32_t x = coordinator->probe->rank[a].package,
            y = coordinator->probe->rank[b].package;

    return x < 0 || y < 0 || x == y;
}

/* Measures a stream in each host between its first rank and another rank of the
 * same package, and one between the first rank and a rank of another package.
 * Ranks whose package is unknown count as of the same package. Ends early if
 * the time of this stage is over. */
static void stream_inside(struct nw_probe_coordinator *coordinator,
                          enum nw_probe_memory memory)
{
    struct nw_probe_task task_like = {.memory = memory,
                                      .seconds = SHORTEST_STREAM};

    for (int32_t h = 0; h < coordinator->probe->host_count; h++) {
        int a = rank_on(coordinator, h, 0, memory), b = -1;
        bool had[2] = {false, false};

        for (int k = 1; a >= 0; k++) {
            bool same;

            b = rank_on(coordinator, h, k, memory);
            if (b < 0 || lead_is_late(coordinator, STREAMS_END))
                break;
            same = same_package(coordinator, a, b);
            if (had[same])
                continue;
            had[same] = true;
            both_directions(coordinator, a, b, &task_like, 3);
        }
    }
}

/* --- together --- */

struct experiment {
    struct nw_probe_task task[TOGETHER];
    size_t count;
};

static void lead_add_flow(struct nw_probe_coordinator *coordinator,
                          struct experiment *it, int a, int b)
{
    struct nw_probe_task task = {.a = a,
                                 .b = b,
                                 .work = WORK_STREAM,
                                 .memory = NW_PROBE_HOST,
                                 .seconds = TOGETHER_SECONDS};

    if (a < 0 || b < 0 || it->count == TOGETHER)
        return;
    task.chunk = guess_chunk(coordinator, &task) / 4;
    it->task[it->count++] = task;
}

static void start_soon(struct experiment *it)
{
    for (size_t i = 0; i < it->count; i++)
        it->task[i].start = nw_probe_now() + START_SECONDS;
}

/* Runs the streams at the same time, then all of them in the other direction.
 * Does nothing with fewer than two streams, or if the time of this stage is
 * over. Repeats the streams of a direction with smaller chunks if too few
 * chunks of one of them arrived. */
static void run_together(struct nw_probe_coordinator *coordinator,
                         struct experiment *it)
{
    for (int way = 0; it->count > 1 && way < 2; way++) {
        int set = coordinator->probe->set_count + 1;
        bool few = false;

        if (lead_is_late(coordinator, TOGETHER_END))
            return;
        start_soon(it);
        nw_probe_run_wave(coordinator, it->task, it->count);
        for (size_t i = 0; i < it->count; i++) {
            if (it->task[i].reply[1].figure[1] < FEWEST_CHUNKS &&
                it->task[i].chunk > 16384) {
                few = true;
                it->task[i].chunk = 16384;
            }
        }
        if (few) {
            start_soon(it);
            nw_probe_run_wave(coordinator, it->task, it->count);
        }
        for (size_t i = 0; i < it->count; i++) {
            int a = it->task[i].a;

            say_stream(coordinator, &it->task[i], set);
            it->task[i].a = it->task[i].b;
            it->task[i].b = a;
        }
    }
}

/* Measures how much a host's link to the network carries: simultaneous streams
 * from up to four ranks of a host of group `g` to as many ranks of a host below
 * another child of `g`. */
static void try_port(struct nw_probe_coordinator *coordinator,
                     const struct nw_probe_groups *groups, int32_t g)
{
    struct experiment it = {.count = 0};
    int32_t a = 0, b = 0;

    while (a < groups->host_count && !nw_probe_groups_below(groups, a, g))
        a++;
    while (b < groups->host_count &&
           (a == b || nw_probe_groups_meet(groups, a, b) != g))
        b++;
    for (int k = 0; k < 4 && b < groups->host_count; k++)
        lead_add_flow(coordinator, &it,
                      rank_on(coordinator, a, k, NW_PROBE_HOST),
                      rank_on(coordinator, b, k, NW_PROBE_HOST));
    run_together(coordinator, &it);
}

/* Measures how much the link of group `g` to its parent carries: simultaneous
 * streams from its hosts to as many hosts of the parent outside `g`. */
static void try_group(struct nw_probe_coordinator *coordinator,
                      const struct nw_probe_groups *groups, int32_t g)
{
    struct experiment it = {.count = 0};
    int32_t top = groups->group[g].parent, b = 0;

    for (int32_t a = 0; a < groups->host_count; a++) {
        if (!nw_probe_groups_below(groups, a, g))
            continue;
        while (b < groups->host_count &&
               (nw_probe_groups_below(groups, b, g) ||
                !nw_probe_groups_below(groups, b, top)))
            b++;
        if (b == groups->host_count)
            break;
        lead_add_flow(coordinator, &it,
                      rank_on(coordinator, a, 0, NW_PROBE_HOST),
                      rank_on(coordinator, b++, 0, NW_PROBE_HOST));
    }
    run_together(coordinator, &it);
}

static void stream_together(struct nw_probe_coordinator *coordinator)
{
    struct nw_probe_groups groups;

    if (nw_probe_groups_find(coordinator->probe, NW_PROBE_HOST, &groups))
        return;
    for (int32_t g = groups.host_count; g < groups.count; g++) {
        try_port(coordinator, &groups, g);
        if (groups.group[g].parent >= 0)
            try_group(coordinator, &groups, g);
        nw_probe_emit_record(coordinator, "stage together %d %d",
                             g + 1 - groups.host_count,
                             groups.count - groups.host_count);
    }
    nw_probe_groups_fini(&groups);
}

/* --- the rest --- */

static bool has_host_stream(const struct nw_probe *probe, int a, int b)
{
    for (size_t i = 0; i < probe->stream_count; i++) {
        const struct nw_probe_stream *it = &probe->stream[i];

        if (it->memory == NW_PROBE_HOST && nw_probe_is_alone(it) &&
            it->from + it->to == a + b && (it->from == a || it->from == b))
            return true;
    }
    return false;
}

/* Measures a stream between the host memories of each pair of ranks that has
 * none yet, until the time budget is used up. */
static void stream_rest(struct nw_probe_coordinator *coordinator)
{
    int size = coordinator->self->size, rounds = nw_probe_rounds(size);
    struct nw_probe_task task_like = {.memory = NW_PROBE_HOST,
                                      .seconds = SHORTEST_STREAM};

    for (int r = 0; r < rounds; r++) {
        for (int a = 0; a < size; a++) {
            int b = nw_probe_opponent(size, r, a);

            if (lead_is_late(coordinator, 1))
                return;
            if (b > a && nw_probe_is_here(coordinator, a) &&
                nw_probe_is_here(coordinator, b) &&
                !has_host_stream(coordinator->probe, a, b))
                both_directions(coordinator, a, b, &task_like, 1);
        }
        nw_probe_emit_record(coordinator, "stage rest %d %d", r + 1, rounds);
    }
}

static bool has_gpus(const struct nw_probe_coordinator *coordinator)
{
    int count = 0;

    for (int r = 0; r < coordinator->self->size; r++)
        count += nw_probe_is_here(coordinator, r) &&
                 coordinator->probe->rank[r].gpus > 0;
    return count > 1;
}

static void lead_measure(struct nw_probe_coordinator *coordinator)
{
    bool gpus = has_gpus(coordinator);

    play_tournament(coordinator, NW_PROBE_HOST);
    if (gpus)
        play_tournament(coordinator, NW_PROBE_GPU);
    stream_between(coordinator, NW_PROBE_HOST);
    stream_inside(coordinator, NW_PROBE_HOST);
    if (gpus) {
        stream_between(coordinator, NW_PROBE_GPU);
        stream_inside(coordinator, NW_PROBE_GPU);
    }
    stream_together(coordinator);
    stream_rest(coordinator);
}

bool nw_probe_lead(struct nw_probe_self *self,
                   const struct nw_probe_lead_options *options)
{
    struct nw_probe_coordinator coordinator = {.self = self,
                                               .seconds = options->seconds};

    if (nw_probe_new(&coordinator.probe))
        return false;
    if (nw_alloc((size_t)self->size, sizeof *coordinator.command,
                 &coordinator.command)) {
        nw_probe_free(coordinator.probe);
        return false;
    }
    nw_probe_gather_places(&coordinator);
    coordinator.begin = nw_probe_now();
    if (!options->describe) {
        nw_probe_set_clocks(&coordinator);
        lead_measure(&coordinator);
    }
    nw_probe_emit_record(&coordinator, "done");
    nw_probe_dismiss(&coordinator);
    nw_probe_free(coordinator.probe);
    free(coordinator.offset);
    if (coordinator.lost_count)
        return false; /* MPI may still read coordinator.command */
    free(coordinator.command);
    return true;
}
