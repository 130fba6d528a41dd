/* SPDX-License-Identifier: BSD-3-Clause */
/* From an answer to its seating and back: a seat for each rank that a unit
 * takes, and one of its own for each fixed core or GPU. */
#include "map/congestion/slots.h"
#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* Seats of cores or of GPUs are made by the same steps. */
struct making {
    struct nw_seats *seats;
    const struct nw_units *units;
    const int32_t *unit; /* [ranks] of the answer */
    struct nw_end (*end)(const struct nw_problem *, int32_t, int32_t);
    struct nw_ints (*fixed)(const struct nw_problem *, int32_t);
    int32_t base; /* 0, or rank_count for GPUs */
    int32_t *at;  /* [units] first seat of each not given away yet */
};

static int32_t add_seat(struct making *make, int32_t host, int32_t unit,
                        int32_t member)
{
    struct nw_seats *seats = make->seats;
    int32_t seat = seats->count++;

    seats->host[seat] = host;
    seats->unit[seat] = unit;
    seats->end[seat] = make->end(seats->problem, host, member);
    seats->owner[seat] = -1;
    return seat;
}

static void add_seats(struct making *make, int32_t *first)
{
    const struct nw_units *units = make->units;
    int32_t hosts = make->seats->problem->host_count;

    for (int32_t h = 0; h < hosts; h++) {
        first[h] = make->seats->count;
        for (int32_t u = units->first[h]; u < units->first[h + 1]; u++) {
            make->at[u] = make->seats->count;
            for (int32_t k = 0; k < units->room[u]; k++)
                add_seat(make, h, u,
                         units->member[(size_t)u * (size_t)units->size]);
        }
    }
    first[hosts] = make->seats->count;
}

static void seat_rank(struct making *make, const struct nw_answer *answer,
                      int32_t rank)
{
    struct nw_seats *seats = make->seats;
    int32_t unit = make->unit[rank], seat;
    struct nw_ints fixed = make->fixed(seats->problem, rank);

    if (unit >= 0)
        seat = make->at[unit]++;
    else if (fixed.count)
        seat = add_seat(make, answer->host[rank], -1, fixed.values[0]);
    else
        return;
    seats->seat[make->base + rank] = seat;
    seats->owner[seat] = make->base + rank;
}

static nw_status make_seats(struct making *make, const struct nw_answer *answer,
                            int32_t *first)
{
    int32_t hosts = make->seats->problem->host_count;
    size_t units = (size_t)make->units->first[hosts];
    nw_status status = nw_alloc(units, sizeof *make->at, &make->at);

    if (status)
        return status;
    add_seats(make, first);
    for (int32_t r = 0; r < make->seats->rank_count; r++)
        seat_rank(make, answer, r);
    free(make->at);
    return NW_OK;
}

static size_t seats_of(const struct nw_units *units, int32_t hosts)
{
    size_t sum = 0;

    for (int32_t u = 0; u < units->first[hosts]; u++)
        sum += (size_t)units->room[u];
    return sum;
}

static nw_status alloc_seats(struct nw_seats *seats)
{
    const struct nw_problem *problem = seats->problem;
    size_t hosts = (size_t)problem->host_count;
    size_t ranks = (size_t)seats->rank_count;
    size_t most = seats_of(&problem->core, problem->host_count) +
                  seats_of(&problem->gpu, problem->host_count) + 2 * ranks;
    nw_status status = nw_alloc(most, sizeof *seats->end, &seats->end);

    if (!status)
        status = nw_alloc(most, sizeof *seats->host, &seats->host);
    if (!status)
        status = nw_alloc(most, sizeof *seats->unit, &seats->unit);
    if (!status)
        status = nw_alloc(most, sizeof *seats->owner, &seats->owner);
    if (!status)
        status = nw_alloc(2 * hosts + 2, sizeof *seats->first, &seats->first);
    if (!status)
        status = nw_alloc(2 * ranks, sizeof *seats->seat, &seats->seat);
    if (!status)
        status = nw_alloc(ranks, sizeof *seats->locked, &seats->locked);
    if (!status)
        status = nw_alloc(ranks, sizeof *seats->held, &seats->held);
    if (!status)
        status = nw_alloc(ranks, sizeof *seats->half, &seats->half);
    if (!status)
        status = nw_alloc(hosts, sizeof *seats->used, &seats->used);
    if (!status)
        status = nw_alloc(hosts, sizeof *seats->gpu_used, &seats->gpu_used);
    for (size_t a = 0; !status && a < 2 * ranks; a++)
        seats->seat[a] = -1;
    return status;
}

static nw_status check_near(const struct nw_answer *answer, int32_t ranks)
{
    for (int32_t r = 0; answer->gpu_host && r < ranks; r++)
        if (answer->gpu_host[r] >= 0 && answer->gpu_host[r] != answer->host[r])
            return nw_fail(NW_EUNSUPPORTED,
                           "rank %d has its GPU on another node", r);
    return NW_OK;
}

static void count_ranks(struct nw_seats *seats, const struct nw_answer *answer)
{
    const int32_t *fixed = seats->problem->fixed_host;

    for (int32_t r = 0; r < seats->rank_count; r++) {
        bool here = fixed && fixed[r] >= 0, core, gpu;

        seats->held[r] = here && seats->problem->host_count > 1;
        core = here && nw_problem_fixed_cores(seats->problem, r).count;
        gpu = here && nw_problem_fixed_gpus(seats->problem, r).count;
        seats->locked[r] = core && (gpu || !nw_seats_has_gpu(seats, r));
        seats->half[r] =
            !seats->locked[r] && (core || (gpu && nw_seats_has_gpu(seats, r)));
        seats->used[answer->host[r]]++;
        if (nw_seats_has_gpu(seats, r))
            seats->gpu_used[seats->host[seats->seat[seats->rank_count + r]]]++;
    }
}

/* --- ties --- */

static int32_t actor_of(const struct nw_seats *seats, int32_t rank, bool gpu)
{
    return gpu ? seats->rank_count + rank : rank;
}

struct ends {
    int32_t from, to;
};

static struct ends ends_of(const struct nw_seats *seats, int32_t src, size_t e)
{
    const nw_pattern *pattern = seats->problem->pattern;
    uint8_t kind = pattern->kind[e];

    return (struct ends){
        actor_of(seats, src, kind == NW_KIND_GG || kind == NW_KIND_GH),
        actor_of(seats, pattern->dst[e],
                 kind == NW_KIND_GG || kind == NW_KIND_HG)};
}

static void add_ties(struct nw_seats *seats, size_t *at)
{
    const nw_pattern *pattern = seats->problem->pattern;

    for (int32_t r = 0; r < seats->rank_count; r++)
        for (size_t e = pattern->row[r]; e < pattern->row[r + 1]; e++) {
            struct ends ends = ends_of(seats, r, e);
            double bytes = (double)pattern->bytes[e];
            double messages = (double)pattern->messages[e];

            seats->tie[at[ends.from]++] =
                (struct nw_tie){ends.to, bytes, 0, messages, 0};
            if (ends.from == ends.to)
                continue;
            seats->tie[at[ends.to]++] =
                (struct nw_tie){ends.from, 0, bytes, 0, messages};
        }
}

static int by_peer(const void *left, const void *right)
{
    const struct nw_tie *a = left, *b = right;

    return (a->peer > b->peer) - (a->peer < b->peer);
}

static size_t merge(struct nw_tie *to, const struct nw_tie *tie, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (!kept || to[kept - 1].peer != tie[i].peer) {
            to[kept++] = tie[i];
            continue;
        }
        to[kept - 1].out += tie[i].out;
        to[kept - 1].in += tie[i].in;
        to[kept - 1].out_messages += tie[i].out_messages;
        to[kept - 1].in_messages += tie[i].in_messages;
    }
    return kept;
}

void nw_seats_merge_ties(struct nw_seats *seats)
{
    size_t begin = 0, at = 0;

    for (int32_t a = 0; a < 2 * seats->rank_count; a++) {
        size_t end = seats->row[a + 1];

        qsort(seats->tie + begin, end - begin, sizeof *seats->tie, by_peer);
        at += merge(seats->tie + at, seats->tie + begin, end - begin);
        begin = end;
        seats->row[a + 1] = at;
    }
}

static nw_status make_ties(struct nw_seats *seats)
{
    const nw_pattern *pattern = seats->problem->pattern;
    size_t actors = 2 * (size_t)seats->rank_count, *at = NULL;
    nw_status status = nw_alloc(actors + 1, sizeof *seats->row, &seats->row);

    if (!status)
        status = nw_alloc(actors, sizeof *at, &at);
    if (status)
        return status;
    for (int32_t r = 0; r < seats->rank_count; r++)
        for (size_t e = pattern->row[r]; e < pattern->row[r + 1]; e++) {
            struct ends ends = ends_of(seats, r, e);

            seats->row[ends.from + 1]++;
            seats->row[ends.to + 1] += ends.from != ends.to;
        }
    for (size_t a = 0; a < actors; a++) {
        at[a] = seats->row[a];
        seats->row[a + 1] += seats->row[a];
    }
    status = nw_alloc(seats->row[actors], sizeof *seats->tie, &seats->tie);
    if (!status) {
        add_ties(seats, at);
        nw_seats_merge_ties(seats);
    }
    free(at);
    return status;
}

nw_status nw_seats_init(struct nw_seats *seats,
                        const struct nw_problem *problem,
                        const struct nw_answer *answer)
{
    struct making cores = {seats,
                           &problem->core,
                           answer->core,
                           nw_problem_core_end,
                           nw_problem_fixed_cores,
                           0,
                           NULL};
    struct making gpus = {seats,
                          &problem->gpu,
                          answer->gpu,
                          nw_problem_gpu_end,
                          nw_problem_fixed_gpus,
                          problem->pattern->rank_count,
                          NULL};
    nw_status status = NW_OK;

    *seats = (struct nw_seats){.problem = problem,
                               .remote = problem->options.remote_gpus &&
                                         problem->uses_gpus,
                               .rank_count = problem->pattern->rank_count};
    if (!seats->remote)
        status = check_near(answer, problem->pattern->rank_count);
    if (!status)
        status = alloc_seats(seats);
    if (!status)
        status = make_seats(&cores, answer, seats->first);
    seats->core_count = seats->count;
    if (!status && problem->uses_gpus)
        status =
            make_seats(&gpus, answer, seats->first + problem->host_count + 1);
    if (!status) {
        count_ranks(seats, answer);
        status = make_ties(seats);
    }
    if (status)
        nw_seats_fini(seats);
    return status;
}

void nw_seats_fini(struct nw_seats *seats)
{
    free(seats->end);
    free(seats->host);
    free(seats->unit);
    free(seats->first);
    free(seats->row);
    free(seats->tie);
    free(seats->seat);
    free(seats->owner);
    free(seats->locked);
    free(seats->held);
    free(seats->half);
    free(seats->used);
    free(seats->gpu_used);
    free(seats->kin);
    *seats = (struct nw_seats){0};
}

bool nw_seats_are_free(const struct nw_seats *seats)
{
    for (int32_t r = 0; r < seats->rank_count; r++)
        if (seats->locked[r] || seats->held[r] || seats->half[r])
            return false;
    for (int32_t h = 0; h < seats->problem->host_count; h++)
        if (seats->problem->room[h] < seats->first[h + 1] - seats->first[h])
            return false;
    return seats->count == seats->core_count &&
           seats->row[seats->rank_count] == seats->row[2 * seats->rank_count];
}

bool nw_seats_are_full(const struct nw_seats *seats)
{
    return nw_seats_are_free(seats) && seats->core_count == seats->rank_count;
}

void nw_seats_sit(struct nw_seats *seats, const int32_t *seat)
{
    size_t hosts = (size_t)seats->problem->host_count;

    for (int32_t s = 0; s < seats->count; s++)
        seats->owner[s] = -1;
    memset(seats->used, 0, hosts * sizeof *seats->used);
    memset(seats->gpu_used, 0, hosts * sizeof *seats->gpu_used);
    for (int32_t a = 0; a < 2 * seats->rank_count; a++) {
        seats->seat[a] = seat[a];
        if (seat[a] < 0)
            continue;
        seats->owner[seat[a]] = a;
        (a < seats->rank_count ? seats->used
                               : seats->gpu_used)[seats->host[seat[a]]]++;
    }
}

void nw_seats_finish(const struct nw_seats *seats, struct nw_answer *answer)
{
    for (int32_t r = 0; r < seats->rank_count; r++) {
        int32_t core = seats->seat[r];
        int32_t gpu = seats->seat[seats->rank_count + r];

        answer->host[r] = seats->host[core];
        answer->core[r] = seats->unit[core];
        answer->gpu[r] = gpu < 0 ? -1 : seats->unit[gpu];
        if (answer->gpu_host)
            answer->gpu_host[r] = gpu < 0 ? -1 : seats->host[gpu];
    }
}
