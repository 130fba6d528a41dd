/* SPDX-License-Identifier: BSD-3-Clause */
/* Phase 1 of MAGC, which its paper takes from PTRAM: an initial partition, then
 * a refinement of the maximum congestion. Here the initial partition is a dual
 * recursive bipartitioning, in which processes and places are bisected
 * together. A start is one run of it from the whole machine down. The best of
 * several starts is refined. */
#include "map/placement/exact_fm.h"
#include "map/common/budget.h"
#include "map/placement/congestion_swaps.h"
#include "map/placement/rank_strides.h"
#include "map/common/parameters.h"
#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

#define TRIES 3 /* most initial cuts of each bisection */
/* Number of last starts, and of last initial cuts of each bisection, that are
 * left out with reduced effort. */
#define SPARED 1

/* A piece (subproblem of the recursion): the places first .. end - 1, and the
 * processes in `list`, which will be assigned to these places. */
struct dual_bipartition_piece {
    int32_t first, end;
    struct nw_ints list; /* a part of dual_bipartition_work.list */
};

/* The settings of one start. */
struct dual_bipartition_start {
    /* kinds of initial cuts that each bisection tries; the best result is kept
     */
    enum nw_seed_kind seed[TRIES];
    bool packed; /* fill the left half of the places first, not both evenly */
};

/* State of one placement, used by all its starts. */
struct dual_bipartition_work {
    struct nw_placement *placement;
    struct nw_exact_fm fm;
    int32_t *list;     /* processes to be placed, sorted by piece */
    int32_t *half;     /* scratch for splitting or sorting a list */
    int32_t *place;    /* [processes] places that the present start has
                          assigned */
    int8_t *best_side; /* [processes] side in the best cut of the present
                          bisection */
    int32_t *coordinate, *bucket; /* [processes], [processes + 2] scratch for
                                     sorting by a coordinate */
    int32_t *anchor;              /* fixed processes, sorted by place */
    int32_t *anchored; /* [places + 2] index in anchor[] of the first process
                          fixed to each place; the last entry is scratch */
    struct nw_rank_strides strides;
    bool has_spare; /* more slots are free than processes are to be placed */
    struct dual_bipartition_start start;
};

/* Free slots of a range of places: how many processes they can take in all, and
 * how many of these can be processes with a GPU. */
struct dual_bipartition_capacity {
    int64_t all, gpu;
};

/* Returns the sums of the free slots of places first .. end - 1. */
static struct dual_bipartition_capacity
dual_bipartition_capacity_of(const struct nw_free_slots *free_slots,
                             int32_t first, int32_t end)
{
    struct dual_bipartition_capacity sum = {0, 0};

    for (int32_t p = first; p < end; p++) {
        int32_t capacity = free_slots->capacity[p];
        int32_t gpu =
            free_slots->gpu_capacity ? free_slots->gpu_capacity[p] : 0;

        sum.all += capacity;
        sum.gpu += gpu < capacity ? gpu : capacity;
    }
    return sum;
}

/* Returns how many of `count` processes go to the left half of the places.
 * `left` and `right` are the numbers of free slots of both halves. If `packed`,
 * fills the left half first, otherwise divides the processes in proportion to
 * the free slots. */
static int64_t dual_bipartition_share(int64_t count, int64_t left,
                                      int64_t right, bool packed)
{
    int64_t most = left < count ? left : count, all = left + right;
    int64_t share = packed ? left : all ? (count * left + all / 2) / all : 0;

    share = share > most ? most : share;
    return share < count - right ? count - right : share;
}

/* Sets target[class] to the number of processes of each class (with or without
 * a GPU) of a piece that go to its places before `middle`. */
static void
dual_bipartition_choose_target(const struct dual_bipartition_work *part,
                               const struct dual_bipartition_piece *piece,
                               int32_t middle, int32_t target[NW_CLASS_COUNT])
{
    const struct nw_free_slots *free_slots = &part->placement->free_slots;
    struct dual_bipartition_capacity left =
        dual_bipartition_capacity_of(free_slots, piece->first, middle);
    struct dual_bipartition_capacity right =
        dual_bipartition_capacity_of(free_slots, middle, piece->end);
    int64_t gpus = 0, left_gpus, plain;

    for (size_t i = 0; i < piece->list.count; i++)
        gpus += nw_placement_wants_gpu(part->placement, piece->list.values[i]);
    plain = (int64_t)piece->list.count - gpus;
    left_gpus =
        dual_bipartition_share(gpus, left.gpu, right.gpu, part->start.packed);
    target[NW_CLASS_GPU] = (int32_t)left_gpus;
    target[NW_CLASS_PLAIN] = (int32_t)dual_bipartition_share(
        plain, left.all - left_gpus, right.all - (gpus - left_gpus),
        part->start.packed);
}

/* Returns the place at which the right half of a piece begins: among the places
 * in the middle half of the piece, the one farthest from the place before it.
 */
static int32_t
dual_bipartition_split_point(const struct dual_bipartition_work *part,
                             const struct dual_bipartition_piece *piece)
{
    const struct nw_places *places = part->placement->places;
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

/* Moves the processes of side 0 to the start of a list. The order within each
 * side stays the same. Returns the number of processes of side 0. */
static size_t dual_bipartition_split_list(struct dual_bipartition_work *part,
                                          struct nw_ints list)
{
    int32_t *values = part->list + (list.values - part->list);
    const int8_t *side = part->fm.side;
    size_t left = 0, right = 0;

    for (size_t i = 0; i < list.count; i++)
        if (side[values[i]])
            part->half[right++] = values[i];
        else
            values[left++] = values[i];
    memcpy(values + left, part->half, right * sizeof *values);
    return left;
}

/* Fills anchor[] and anchored[] with the fixed processes; place[] is scratch.
 */
static nw_status
dual_bipartition_list_anchors(struct dual_bipartition_work *part)
{
    const struct nw_placement *placement = part->placement;
    size_t places = (size_t)placement->places->count;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY((size_t)placement->count, part->anchor),
                     NW_ARRAY(places + 2, part->anchored));

    for (int32_t p = 0; !status && p < placement->count; p++)
        part->place[p] =
            nw_placement_is_fixed(placement, p) ? placement->place[p] : -1;
    if (!status)
        nw_list_by_group(part->place, placement->count, (int32_t)places,
                         part->anchored, part->anchor);
    return status;
}

/* The processes that are fixed to places of a piece attract their peers while
 * the piece is bisected. If `on` is true, sets their sides; if `on` is false,
 * resets these sides to -1. */
static void
dual_bipartition_set_anchors(struct dual_bipartition_work *part,
                             const struct dual_bipartition_piece *piece,
                             int32_t middle, bool on)
{
    const int32_t *row = part->anchored;

    for (int32_t i = row[piece->first]; i < row[piece->end]; i++)
        part->fm.side[part->anchor[i]] = on ? (int8_t)(i >= row[middle]) : -1;
}

/* Returns the bytes that processes of `list` exchange with processes on the
 * other side of the cut. An edge with both ends in the list counts twice. */
static double
dual_bipartition_cut_bytes(const struct dual_bipartition_work *part,
                           struct nw_ints list)
{
    const struct nw_placement *placement = part->placement;
    const int8_t *side = part->fm.side;
    double sum = 0;

    for (size_t i = 0; i < list.count; i++) {
        int32_t p = list.values[i];

        for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++) {
            const struct nw_arc *arc = &placement->arc[a];

            if (side[arc->peer] >= 0 && side[arc->peer] != side[p])
                sum += arc->out + arc->in;
        }
    }
    return sum;
}

static void dual_bipartition_copy_sides(int8_t *to, const int8_t *from,
                                        struct nw_ints list)
{
    for (size_t i = 0; i < list.count; i++)
        to[list.values[i]] = from[list.values[i]];
}

/* Cuts a list along one coordinate of its processes. In the order of this
 * coordinate, the first target[c] processes of each class c go to side 0, the
 * others to side 1. */
static void dual_bipartition_cut_stride(struct dual_bipartition_work *part,
                                        struct nw_ints list, int stride,
                                        const int32_t target[NW_CLASS_COUNT])
{
    int32_t left[NW_CLASS_COUNT] = {target[0], target[1]};
    struct nw_rank_coordinate of = part->strides.coordinate[stride];
    int32_t low = INT32_MAX, high = 0;

    /* The range of the coordinates of a short list is small, so that a counting
     * sort over it is fast. */
    for (size_t i = 0; i < list.count; i++) {
        int32_t here = list.values[i] / of.stride % of.length;

        part->coordinate[i] = here;
        low = here < low ? here : low;
        high = here > high ? here : high;
    }
    for (size_t i = 0; i < list.count; i++)
        part->coordinate[i] -= low;
    nw_list_by_group(part->coordinate, (int32_t)list.count, high - low + 1,
                     part->bucket, part->half);
    for (size_t i = 0; i < list.count; i++) {
        int32_t p = list.values[part->half[i]];

        part->fm.side[p] =
            left[nw_placement_wants_gpu(part->placement, p)]-- > 0 ? 0 : 1;
    }
}

/* Makes one cut of the list across each coordinate found in the pattern, and
 * sets the sides to the cut with the fewest bytes. Returns false if no
 * coordinates were found. */
static bool
dual_bipartition_cut_along_stride(struct dual_bipartition_work *part,
                                  struct nw_ints list,
                                  const int32_t target[NW_CLASS_COUNT])
{
    double best = -1;
    int chosen = -1;

    for (int i = 0; i < part->strides.count; i++) {
        double bytes;

        dual_bipartition_cut_stride(part, list, i, target);
        bytes = dual_bipartition_cut_bytes(part, list);
        if (chosen < 0 || bytes < best) {
            best = bytes;
            chosen = i;
        }
    }
    if (chosen >= 0)
        dual_bipartition_cut_stride(part, list, chosen, target);
    return chosen >= 0;
}

/* Bisects the processes of a piece. Makes each initial cut that the start asks
 * for (with reduced effort not all), refines it by FM, and keeps the result
 * with the fewest bytes. */
static void dual_bipartition_bisect(struct dual_bipartition_work *part,
                                    struct nw_ints list,
                                    const int32_t target[NW_CLASS_COUNT])
{
    int8_t *side = part->fm.side;
    double best = -1;
    int tries = TRIES - (part->placement->in_reduced_effort ? SPARED : 0);

    if (nw_budget_is_overdue(part->placement->budget))
        tries = 0;
    for (int i = 0; i < tries && best != 0; i++) {
        double bytes;

        if (part->start.seed[i] == NW_SEED_NONE ||
            (part->start.seed[i] == NW_SEED_GIVEN &&
             !dual_bipartition_cut_along_stride(part, list, target)))
            continue;
        nw_exact_fm_bisect(&part->fm, list, target, part->start.seed[i]);
        bytes = dual_bipartition_cut_bytes(part, list);
        if (best < 0 || bytes < best) {
            best = bytes;
            dual_bipartition_copy_sides(part->best_side, side, list);
        }
    }
    if (best < 0) /* no coordinate to cut along, or no time left: any cut will
                     do */
        nw_exact_fm_bisect(&part->fm, list, target, NW_SEED_ORDER);
    else
        dual_bipartition_copy_sides(side, part->best_side, list);
}

/* Assigns the processes of a piece to its places: bisects both and continues
 * with the two halves until one place is left. */
static void dual_bipartition_cut_piece(struct dual_bipartition_work *part,
                                       struct dual_bipartition_piece piece)
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
    middle = dual_bipartition_split_point(part, &piece);
    dual_bipartition_choose_target(part, &piece, middle, target);
    dual_bipartition_set_anchors(part, &piece, middle, true);
    dual_bipartition_bisect(part, piece.list, target);
    left = dual_bipartition_split_list(part, piece.list);
    dual_bipartition_set_anchors(part, &piece, middle, false);
    for (size_t i = 0; i < piece.list.count; i++)
        part->fm.side[piece.list.values[i]] = -1;
    dual_bipartition_cut_piece(
        part, (struct dual_bipartition_piece){
                  piece.first, middle, {piece.list.values, left}});
    dual_bipartition_cut_piece(
        part, (struct dual_bipartition_piece){
                  middle,
                  piece.end,
                  {piece.list.values + left, piece.list.count - left}});
}

/* Runs one start: sets part->place[p] for every process p that is not fixed. */
static void dual_bipartition_run_start(struct dual_bipartition_work *part)
{
    struct nw_placement *placement = part->placement;
    size_t count = 0;

    for (int32_t p = 0; p < placement->count; p++) {
        part->place[p] =
            nw_placement_is_fixed(placement, p) ? placement->place[p] : -1;
        if (part->place[p] < 0)
            part->list[count++] = p;
    }
    dual_bipartition_cut_piece(
        part, (struct dual_bipartition_piece){
                  0, placement->places->count, {part->list, count}});
}

/* Exchanges the arrays of places of the present start and of the best placement
 * so far. */
static void dual_bipartition_swap_places(struct dual_bipartition_work *part)
{
    int32_t *place = part->placement->place;

    part->placement->place = part->place;
    part->place = place;
}

/* Compares the present start, part->place, with the best start so far, whose
 * places are in the placement and whose cost is *best. Keeps the better one in
 * the placement. */
static nw_status
dual_bipartition_keep_better(struct dual_bipartition_work *part,
                             struct nw_placement_cost *best)
{
    struct nw_placement_cost cost;
    nw_status status;

    dual_bipartition_swap_places(part);
    status = nw_placement_evaluate(part->placement, &cost);
    if (!status && (best->hop_bytes < 0 ||
                    nw_placement_cost_less(part->placement, &cost, best)))
        *best = cost;
    else
        dual_bipartition_swap_places(part);
    return status;
}

/* Runs the starts and keeps the best one in the placement. Packed starts are
 * left out if no slot stays free, all but the first if the time is over. The
 * initial solution, if there is one, is compared as another start. */
static nw_status dual_bipartition_all_starts(struct dual_bipartition_work *part)
{
    static const struct dual_bipartition_start starts[] = {
        {{NW_SEED_ORDER, NW_SEED_GIVEN, NW_SEED_RANDOM}, false},
        {{NW_SEED_ORDER, NW_SEED_GIVEN, NW_SEED_FIRST}, true},
        {{NW_SEED_GIVEN}, false},
        {{NW_SEED_FIRST, NW_SEED_RANDOM, NW_SEED_RANDOM}, false},
    };
    const struct nw_placement *placement = part->placement;
    size_t start_count = sizeof starts / sizeof *starts -
                         (placement->in_reduced_effort ? SPARED : 0);
    struct nw_placement_cost best = {0, -1};
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < start_count; i++)
        if (!i || ((!starts[i].packed || part->has_spare) &&
                   !nw_budget_is_overdue(placement->budget))) {
            part->start = starts[i];
            dual_bipartition_run_start(part);
            status = dual_bipartition_keep_better(part, &best);
        }
    if (!status && placement->initial) {
        memcpy(part->place, placement->initial,
               (size_t)placement->count * sizeof *part->place);
        status = dual_bipartition_keep_better(part, &best);
    }
    return status;
}

/* Returns NW_EINVAL if there are more processes than free slots, or more
 * processes with a GPU than free slots with a GPU. Notes whether slots stay
 * free. */
static nw_status
dual_bipartition_check_capacity(struct dual_bipartition_work *part)
{
    const struct nw_placement *placement = part->placement;
    struct dual_bipartition_capacity capacity = dual_bipartition_capacity_of(
        &placement->free_slots, 0, placement->places->count);
    int64_t count = 0, gpus = 0;

    for (int32_t p = 0; p < placement->count; p++)
        if (!nw_placement_is_fixed(placement, p)) {
            count++;
            gpus += nw_placement_wants_gpu(placement, p);
        }
    part->has_spare = capacity.all > count;
    if (count > capacity.all || gpus > capacity.gpu)
        return nw_fail_about(NW_FIXED(-1), NW_EINVAL,
                             "the fixed ranks leave no elements for others");
    return NW_OK;
}

nw_status nw_place_partition(struct nw_placement *placement)
{
    struct dual_bipartition_work part = {.placement = placement};
    size_t n = (size_t)placement->count;
    nw_status status = dual_bipartition_check_capacity(&part);

    if (!status)
        status = nw_exact_fm_init(&part.fm, placement);
    if (!status)
        status = NW_ALLOC_ALL(
            NW_ARRAY(n, part.list), NW_ARRAY(n, part.half),
            NW_ARRAY(n, part.place), NW_ARRAY(n, part.best_side),
            NW_ARRAY(n, part.coordinate), NW_ARRAY(n + 2, part.bucket));
    if (!status)
        status = dual_bipartition_list_anchors(&part);
    if (!status)
        status = nw_rank_strides_find(placement, &part.strides);
    if (!status)
        status = dual_bipartition_all_starts(&part);
    placement->steps += part.fm.steps;
    nw_exact_fm_fini(&part.fm);
    NW_FREE_ALL(part.list, part.half, part.place, part.best_side,
                part.coordinate, part.bucket, part.anchor, part.anchored);
    if (status)
        return status;
    /* The starts did not change the numbers of free slots. */
    for (int32_t p = 0; p < placement->count; p++)
        if (!nw_placement_is_fixed(placement, p))
            nw_placement_put(placement, p, placement->place[p]);
    return nw_placement_congestion_swaps(placement);
}
