/* SPDX-License-Identifier: BSD-3-Clause */
/* Phase 1 of MAGC as the paper takes it from PTRAM: an initial partition, here
 * by recursive bisection of processes and places together, then a refinement
 * of maximum congestion. Several starts, the best is kept. */
#include "map/placement/exact_fm.h"
#include "map/common/budget.h"
#include "map/placement/congestion_swaps.h"
#include "map/placement/rank_strides.h"
#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

#define TRIES 3
#define TRIES_IN_HASTE 2
#define STARTS_SPARED 1 /* in haste: the last */

/* Places first .. end - 1 and the processes that go there. */
struct piece {
    int32_t first, end;
    struct nw_ints list; /* points into partition.list */
};

/* One way through the recursion. */
struct start {
    enum nw_seed_kind seed[TRIES]; /* the best of these at each cut */
    bool packed; /* fill places one after the other instead of evenly */
};

struct partition {
    struct nw_placing *placing;
    struct nw_bisection bisection;
    int32_t *list; /* processes, those of a piece together */
    int32_t *half; /* for splitting a list */
    int32_t *place;
    int8_t *best_side; /* [processes] of the best cut so far */
    int32_t *bucket;   /* [processes + 1] for sorting by stripe */
    int32_t *anchor;   /* fixed processes, those of a place together */
    int32_t *anchored; /* [places + 2] where those of each begin */
    struct nw_stripes stripes;
    struct start start;
};

struct room {
    int64_t all, gpu;
};

static struct room room_of(const struct nw_rooms *rooms, int32_t first,
                           int32_t end)
{
    struct room sum = {0, 0};

    for (int32_t p = first; p < end; p++) {
        int32_t room = rooms->room[p];
        int32_t gpu = rooms->gpu_room ? rooms->gpu_room[p] : 0;

        sum.all += room;
        sum.gpu += gpu < room ? gpu : room;
    }
    return sum;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    value = value > high ? high : value;
    return value < low ? low : value;
}

/* `count` processes on two halves with so much room: how many go left. */
static int64_t share(int64_t count, int64_t left, int64_t right, bool packed)
{
    int64_t even =
        left + right ? (count * left + (left + right) / 2) / (left + right) : 0;

    return clamp(packed ? left : even, count - right,
                 left < count ? left : count);
}

static void choose_target(const struct partition *part,
                          const struct piece *piece, int32_t middle,
                          int32_t target[NW_CLASS_COUNT])
{
    const struct nw_rooms *rooms = &part->placing->rooms;
    struct room left = room_of(rooms, piece->first, middle);
    struct room right = room_of(rooms, middle, piece->end);
    int64_t gpus = 0, left_gpus, plain;

    for (size_t i = 0; i < piece->list.count; i++)
        gpus += nw_placing_wants_gpu(part->placing, piece->list.values[i]);
    plain = (int64_t)piece->list.count - gpus;
    left_gpus = share(gpus, left.gpu, right.gpu, part->start.packed);
    target[NW_CLASS_GPU] = (int32_t)left_gpus;
    target[NW_CLASS_PLAIN] =
        (int32_t)share(plain, left.all - left_gpus,
                       right.all - (gpus - left_gpus), part->start.packed);
}

/* Where the places of a piece come apart: the widest gap near the middle. */
static int32_t split_point(const struct partition *part,
                           const struct piece *piece)
{
    const struct nw_places *places = part->placing->places;
    int32_t count = piece->end - piece->first;
    int32_t middle = piece->first + count / 2, best = middle;
    double widest = -1;

    for (int32_t i = 0; i <= count / 4; i++)
        for (int side = -1; side <= 1; side += 2) {
            int32_t at = middle + side * i;
            double gap;

            if (at <= piece->first || at >= piece->end)
                continue;
            gap = nw_places_distance(places, at - 1, at);
            if (gap > widest) {
                widest = gap;
                best = at;
            }
        }
    return best;
}

/* Left processes first, each half in its old order. */
static size_t split_list(struct partition *part, struct nw_ints list)
{
    int32_t *values = part->list + (list.values - part->list);
    const int8_t *side = part->bisection.side;
    size_t left = 0, right = 0;

    for (size_t i = 0; i < list.count; i++)
        if (side[values[i]])
            part->half[right++] = values[i];
        else
            values[left++] = values[i];
    memcpy(values + left, part->half, right * sizeof *values);
    return left;
}

static nw_status list_anchors(struct partition *part)
{
    const struct nw_placing *placing = part->placing;
    size_t places = (size_t)placing->places->count;
    int32_t *row = NULL;
    nw_status status = nw_alloc(places + 2, sizeof *row, &row);

    part->anchored = row;
    if (!status && placing->fixed)
        status = nw_alloc((size_t)placing->count, sizeof *part->anchor,
                          &part->anchor);
    if (status || !placing->fixed)
        return status;
    for (int32_t p = 0; p < placing->count; p++)
        if (placing->fixed[p])
            row[placing->place[p] + 2]++;
    for (size_t q = 2; q < places + 2; q++)
        row[q] += row[q - 1];
    for (int32_t p = 0; p < placing->count; p++)
        if (placing->fixed[p])
            part->anchor[row[placing->place[p] + 1]++] = p;
    return NW_OK;
}

/* Sides of fixed processes, which attract what talks to them; -1 clears. */
static void set_anchors(struct partition *part, const struct piece *piece,
                        int32_t middle, bool on)
{
    const int32_t *row = part->anchored;

    for (int32_t i = row[piece->first]; i < row[piece->end]; i++)
        part->bisection.side[part->anchor[i]] =
            on ? (int8_t)(i >= row[middle]) : -1;
}

/* Traffic over the cut, counted from both of its ends. */
static double cut_bytes(const struct partition *part, struct nw_ints list)
{
    const struct nw_placing *placing = part->placing;
    const int8_t *side = part->bisection.side;
    double sum = 0;

    for (size_t i = 0; i < list.count; i++) {
        int32_t p = list.values[i];

        for (size_t a = placing->row[p]; a < placing->row[p + 1]; a++) {
            const struct nw_arc *arc = &placing->arc[a];

            if (side[arc->peer] >= 0 && side[arc->peer] != side[p])
                sum += arc->out + arc->in;
        }
    }
    return sum;
}

static void copy_sides(int8_t *to, const int8_t *from, struct nw_ints list)
{
    for (size_t i = 0; i < list.count; i++)
        to[list.values[i]] = from[list.values[i]];
}

struct span {
    int32_t low, size;
};

/* From the least coordinate of a list to the largest: small pieces know few. */
static struct span span_of(const int32_t *at, struct nw_ints list)
{
    int32_t low = at[list.values[0]], high = low;

    for (size_t i = 1; i < list.count; i++) {
        int32_t here = at[list.values[i]];

        low = here < low ? here : low;
        high = here > high ? here : high;
    }
    return (struct span){low, high - low + 1};
}

/* The first in the order of a coordinate are the left part. */
static void cut_stripe(struct partition *part, struct nw_ints list, int stripe,
                       const int32_t target[NW_CLASS_COUNT])
{
    int32_t left[NW_CLASS_COUNT] = {target[0], target[1]};
    const int32_t *at = part->stripes.stripe[stripe].at;
    struct span span = span_of(at, list);
    int32_t *bucket = part->bucket;

    memset(bucket, 0, ((size_t)span.size + 1) * sizeof *bucket);
    for (size_t i = 0; i < list.count; i++)
        bucket[at[list.values[i]] - span.low + 1]++;
    for (int32_t c = 0; c < span.size; c++)
        bucket[c + 1] += bucket[c];
    for (size_t i = 0; i < list.count; i++) {
        int32_t p = list.values[i];

        part->half[bucket[at[p] - span.low]++] = p;
    }
    for (size_t i = 0; i < list.count; i++) {
        int32_t p = part->half[i];

        part->bisection.side[p] =
            left[nw_placing_wants_gpu(part->placing, p)]-- > 0 ? 0 : 1;
    }
}

/* The cut along the best coordinate; false where there is none. */
static bool cut_along_stripe(struct partition *part, struct nw_ints list,
                             const int32_t target[NW_CLASS_COUNT])
{
    double best = -1;
    int chosen = -1;

    for (int i = 0; i < part->stripes.count; i++) {
        double bytes;

        cut_stripe(part, list, i, target);
        bytes = cut_bytes(part, list);
        if (chosen < 0 || bytes < best) {
            best = bytes;
            chosen = i;
        }
    }
    if (chosen >= 0)
        cut_stripe(part, list, chosen, target);
    return chosen >= 0;
}

/* The best of the start's tries. */
static void bisect(struct partition *part, struct nw_ints list,
                   const int32_t target[NW_CLASS_COUNT])
{
    int8_t *side = part->bisection.side;
    double best = -1;
    int tries = part->placing->in_haste ? TRIES_IN_HASTE : TRIES;

    if (nw_budget_is_overdue(part->placing->budget))
        tries = 0;
    for (int i = 0; i < tries && best != 0; i++) {
        double bytes;

        if (part->start.seed[i] == NW_SEED_NONE ||
            (part->start.seed[i] == NW_SEED_GIVEN &&
             !cut_along_stripe(part, list, target)))
            continue;
        nw_bisect(&part->bisection, list, target, part->start.seed[i]);
        bytes = cut_bytes(part, list);
        if (best < 0 || bytes < best) {
            best = bytes;
            copy_sides(part->best_side, side, list);
        }
    }
    if (best < 0) /* nothing talks, or no time: any cut is as good */
        nw_bisect(&part->bisection, list, target, NW_SEED_ORDER);
    else
        copy_sides(side, part->best_side, list);
}

static void cut_piece(struct partition *part, struct piece piece)
{
    int32_t middle, target[NW_CLASS_COUNT];
    size_t left;

    if (!piece.list.count)
        return;
    if (piece.end - piece.first == 1) {
        for (size_t i = 0; i < piece.list.count; i++)
            part->place[piece.list.values[i]] = piece.first;
        return;
    }
    middle = split_point(part, &piece);
    choose_target(part, &piece, middle, target);
    set_anchors(part, &piece, middle, true);
    bisect(part, piece.list, target);
    left = split_list(part, piece.list);
    set_anchors(part, &piece, middle, false);
    for (size_t i = 0; i < piece.list.count; i++)
        part->bisection.side[piece.list.values[i]] = -1;
    cut_piece(part,
              (struct piece){piece.first, middle, {piece.list.values, left}});
    cut_piece(part, (struct piece){
                        middle,
                        piece.end,
                        {piece.list.values + left, piece.list.count - left}});
}

/* One start: every process without a place gets one in part->place. */
static void run_start(struct partition *part)
{
    struct nw_placing *placing = part->placing;
    size_t count = 0;

    for (int32_t p = 0; p < placing->count; p++) {
        part->place[p] =
            placing->fixed && placing->fixed[p] ? placing->place[p] : -1;
        if (part->place[p] < 0)
            part->list[count++] = p;
    }
    cut_piece(part,
              (struct piece){0, placing->places->count, {part->list, count}});
}

static void swap_places(struct partition *part)
{
    int32_t *place = part->placing->place;

    part->placing->place = part->place;
    part->place = place;
}

/* Keeps the better of the placing's answer and the one in part->place. */
static nw_status keep_better(struct partition *part,
                             struct nw_placing_cost *best)
{
    struct nw_placing_cost cost;
    nw_status status;

    swap_places(part);
    status = nw_placing_price(part->placing, &cost);
    if (!status && (best->hop_bytes < 0 ||
                    nw_placing_cost_less(part->placing, &cost, best)))
        *best = cost;
    else
        swap_places(part);
    return status;
}

static void take_rooms(struct nw_placing *placing)
{
    for (int32_t p = 0; p < placing->count; p++)
        if (!nw_placing_is_fixed(placing, p))
            nw_placing_put(placing, p, placing->place[p]);
}

static nw_status all_starts(struct partition *part)
{
    static const struct start starts[] = {
        {{NW_SEED_ORDER, NW_SEED_GIVEN, NW_SEED_RANDOM}, false},
        {{NW_SEED_ORDER, NW_SEED_GIVEN, NW_SEED_FIRST}, true},
        {{NW_SEED_GIVEN}, false},
        {{NW_SEED_FIRST, NW_SEED_RANDOM, NW_SEED_RANDOM}, false},
    };
    const struct nw_placing *placing = part->placing;
    size_t start_count = sizeof starts / sizeof *starts -
                         (placing->in_haste ? STARTS_SPARED : 0);
    struct nw_placing_cost best = {0, -1};
    int64_t room = 0, count = 0;
    nw_status status = NW_OK;

    for (int32_t p = 0; p < placing->rooms.count; p++)
        room += placing->rooms.room[p];
    for (int32_t p = 0; p < placing->count; p++)
        count += !nw_placing_is_fixed(placing, p);
    for (size_t i = 0; !status && i < start_count; i++)
        if (!i || ((!starts[i].packed || room > count) &&
                   !nw_budget_is_overdue(placing->budget))) {
            part->start = starts[i];
            run_start(part);
            status = keep_better(part, &best);
        }
    if (!status && placing->hint) {
        memcpy(part->place, placing->hint,
               (size_t)placing->count * sizeof *part->place);
        status = keep_better(part, &best);
    }
    return status;
}

static nw_status check_room(const struct nw_placing *placing)
{
    struct room room = room_of(&placing->rooms, 0, placing->places->count);
    int64_t count = 0, gpus = 0;

    for (int32_t p = 0; p < placing->count; p++)
        if (!nw_placing_is_fixed(placing, p)) {
            count++;
            gpus += nw_placing_wants_gpu(placing, p);
        }
    if (count > room.all || gpus > room.gpu)
        return nw_fail_about(NW_FIXED(-1), NW_EINVAL,
                             "the fixed ranks leave no room for others");
    return NW_OK;
}

nw_status nw_place_partition(struct nw_placing *placing)
{
    struct partition part = {.placing = placing};
    size_t n = (size_t)placing->count;
    nw_status status = check_room(placing);

    if (!status)
        status = nw_bisection_init(&part.bisection, placing);
    if (!status)
        status = nw_alloc(n, sizeof *part.list, &part.list);
    if (!status)
        status = nw_alloc(n, sizeof *part.half, &part.half);
    if (!status)
        status = nw_alloc(n, sizeof *part.place, &part.place);
    if (!status)
        status = nw_alloc(n, sizeof *part.best_side, &part.best_side);
    if (!status)
        status = nw_alloc(n + 1, sizeof *part.bucket, &part.bucket);
    if (!status)
        status = list_anchors(&part);
    if (!status)
        status = nw_stripes_find(placing, &part.stripes);
    if (!status)
        status = all_starts(&part);
    placing->steps += part.bisection.steps;
    nw_bisection_fini(&part.bisection);
    free(part.list);
    free(part.half);
    free(part.place);
    free(part.best_side);
    free(part.bucket);
    free(part.anchor);
    free(part.anchored);
    nw_stripes_fini(&part.stripes);
    if (status)
        return status;
    take_rooms(placing);
    return nw_placing_refine(placing);
}
