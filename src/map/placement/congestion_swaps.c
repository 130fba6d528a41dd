/* SPDX-License-Identifier: BSD-3-Clause */
/* Lowers the maximum congestion by swaps, as PTRAM's refinement does: only
 * processes whose traffic crosses a most congested link are moved, each trial
 * changes only the loads it touches. The sum of eighth powers of all
 * congestions stands for the maximum, so that one of several equal links may
 * be relieved before the others. */
#include "map/placement/congestion_swaps.h"
#include "base/array.h"
#include "map/common/budget.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>

#define PASSES_MOST 12
#define TRIALS_LEAST 100000
#define TRIALS_EACH 100
#define PARTNERS 4    /* tried per process and place */
#define PLACES_ALL 64 /* up to here every place is a target */
/* Of hop-bytes, less than one where distances are whole. */
#define LEAST_MOST 0.5
#define LEAST_OF_ALL 1e-9

struct refining {
    struct nw_placing *placing;
    double *load;    /* [hops] bytes */
    double *change;  /* [hops] bytes of the trial */
    bool *touched;   /* [hops] */
    uint32_t *touch; /* those hops */
    size_t touch_count;
    uint32_t *room;   /* for a route */
    int32_t *head;    /* [places] first process there, -1 */
    int32_t *next;    /* [processes] the next one there, -1 */
    double scale;     /* 1 / congestion at the start */
    double most;      /* congestion at the start of the pass */
    double hop_bytes; /* change in the trial */
    double least;     /* change of them that is more than rounding */
    uint64_t begun;   /* steps before */
};

static double distance(const struct refining *work, int32_t from, int32_t to,
                       struct nw_hops hops)
{
    const struct nw_places *places = work->placing->places;

    if (places->bandwidth && !places->topology->depth_distance)
        return (double)hops.count;
    return nw_places_distance(places, from, to);
}

static void change_pair(struct refining *work, int32_t from, int32_t to,
                        double bytes)
{
    struct nw_hops hops;

    if (from == to || bytes == 0)
        return;
    hops = nw_places_route(work->placing->places, from, to, work->room);
    work->hop_bytes += bytes * distance(work, from, to, hops);
    for (size_t i = 0; i < hops.count; i++) {
        uint32_t hop = hops.hop[i];

        if (!work->touched[hop]) {
            work->touched[hop] = true;
            work->touch[work->touch_count++] = hop;
        }
        work->change[hop] += bytes;
    }
}

/* p goes from `from` to `to`; what it exchanges with `partner`, which goes the
 * other way, is counted once, with p. */
static void change_process(struct refining *work, int32_t p, int32_t partner,
                           const int32_t way[2])
{
    const struct nw_placing *placing = work->placing;

    for (size_t a = placing->row[p]; a < placing->row[p + 1]; a++) {
        const struct nw_arc *arc = &placing->arc[a];
        int32_t other = placing->place[arc->peer];

        if (arc->peer == partner)
            continue;
        change_pair(work, way[0], other, -arc->out);
        change_pair(work, other, way[0], -arc->in);
        change_pair(work, way[1], other, arc->out);
        change_pair(work, other, way[1], arc->in);
    }
}

static void change_between(struct refining *work, int32_t p, int32_t q,
                           const int32_t way[2])
{
    const struct nw_placing *placing = work->placing;

    for (size_t a = placing->row[p]; a < placing->row[p + 1]; a++) {
        const struct nw_arc *arc = &placing->arc[a];

        if (arc->peer != q)
            continue;
        change_pair(work, way[0], way[1], arc->in - arc->out);
        change_pair(work, way[1], way[0], arc->out - arc->in);
    }
}

static double eighth(double x)
{
    x *= x;
    x *= x;
    return x * x;
}

/* The change of the sum of powers, and of the loads where it is kept. */
static double end_trial(struct refining *work, bool keep)
{
    const double *bandwidth = work->placing->places->bandwidth;
    double sum = 0;

    for (size_t i = 0; i < work->touch_count; i++) {
        uint32_t hop = work->touch[i];
        double after = work->load[hop] + work->change[hop];
        double scale = work->scale / bandwidth[hop];

        sum += eighth(after * scale) - eighth(work->load[hop] * scale);
        if (keep)
            work->load[hop] = after;
        work->change[hop] = 0;
        work->touched[hop] = false;
    }
    work->touch_count = 0;
    work->placing->steps++;
    return sum;
}

/* --- which processes are where --- */

static void unlink_process(struct refining *work, int32_t p)
{
    int32_t *at = &work->head[work->placing->place[p]];

    while (*at != p)
        at = &work->next[*at];
    *at = work->next[p];
}

static void link_process(struct refining *work, int32_t p, int32_t place)
{
    work->next[p] = work->head[place];
    work->head[place] = p;
}

static void move_process(struct refining *work, int32_t p, int32_t place)
{
    struct nw_placing *placing = work->placing;

    unlink_process(work, p);
    nw_rooms_give(&placing->rooms, placing->place[p],
                  nw_placing_wants_gpu(placing, p));
    nw_placing_put(placing, p, place);
    link_process(work, p, place);
}

/* --- trials --- */

static void load_trial(struct refining *work, int32_t p, int32_t q,
                       int32_t place)
{
    int32_t way[2] = {work->placing->place[p], place};
    int32_t back[2] = {place, work->placing->place[p]};

    work->hop_bytes = 0;
    change_process(work, p, q, way);
    if (q < 0)
        return;
    change_process(work, q, p, back);
    change_between(work, p, q, way);
}

/* Swaps p with q (-1: free room) on `place` where that is better. */
static bool try_swap(struct refining *work, int32_t p, int32_t q, int32_t place)
{
    int32_t home = work->placing->place[p];
    double change;
    bool better, nearer;

    load_trial(work, p, q, place);
    nearer = work->hop_bytes < -work->least;
    change = end_trial(work, false);
    if (work->placing->by_distance)
        better = nearer || (work->hop_bytes <= 0 && change < -1e-9);
    else
        better = change < -1e-9 || (change <= 1e-12 && nearer);
    if (!better)
        return false;
    load_trial(work, p, q, place);
    end_trial(work, true);
    if (q >= 0)
        move_process(work, q, home);
    move_process(work, p, place);
    return true;
}

/* Traffic that q would take off the wire by going from `from` to `to`. */
static double draw(const struct nw_placing *placing, int32_t q, int32_t from,
                   int32_t to)
{
    double sum = 0;

    for (size_t a = placing->row[q]; a < placing->row[q + 1]; a++) {
        const struct nw_arc *arc = &placing->arc[a];
        int32_t at = placing->place[arc->peer];

        if (at == to)
            sum += arc->out + arc->in;
        else if (at == from)
            sum -= arc->out + arc->in;
    }
    return sum;
}

struct partners {
    int32_t process[PARTNERS];
    double draw[PARTNERS];
    int count;
};

static void add_partner(struct partners *list, int32_t q, double value)
{
    int at = list->count;

    if (at == PARTNERS && list->draw[at - 1] >= value)
        return;
    if (at < PARTNERS)
        list->count++;
    else
        at--;
    for (; at && list->draw[at - 1] < value; at--) {
        list->process[at] = list->process[at - 1];
        list->draw[at] = list->draw[at - 1];
    }
    list->process[at] = q;
    list->draw[at] = value;
}

static bool may_swap(const struct nw_placing *placing, int32_t p, int32_t q)
{
    return !nw_placing_is_fixed(placing, q) &&
           nw_placing_wants_gpu(placing, p) == nw_placing_wants_gpu(placing, q);
}

static bool try_place(struct refining *work, int32_t p, int32_t place)
{
    const struct nw_placing *placing = work->placing;
    struct partners partners = {.count = 0};
    int32_t home = placing->place[p];
    double gain;

    if (place == home)
        return false;
    gain = draw(placing, p, home, place);
    if (nw_placing_fits(placing, p, place) && try_swap(work, p, -1, place))
        return true;
    for (int32_t q = work->head[place]; q >= 0; q = work->next[q])
        if (may_swap(placing, p, q))
            add_partner(&partners, q, draw(placing, q, place, home));
    for (int i = 0; i < partners.count && partners.draw[i] + gain >= 0; i++)
        if (try_swap(work, p, partners.process[i], place))
            return true;
    return false;
}

static bool try_process(struct refining *work, int32_t p)
{
    const struct nw_placing *placing = work->placing;
    int32_t count = placing->places->count;

    if (count <= PLACES_ALL) {
        for (int32_t place = 0; place < count; place++)
            if (try_place(work, p, place))
                return true;
        return false;
    }
    for (size_t a = placing->row[p]; a < placing->row[p + 1]; a++) {
        int32_t near = placing->place[placing->arc[a].peer];

        for (int32_t place = near - 1; place <= near + 1; place++)
            if (place >= 0 && place < count && try_place(work, p, place))
                return true;
    }
    return false;
}

/* --- passes --- */

static bool is_hot_route(struct refining *work, int32_t from, int32_t to)
{
    const struct nw_places *places = work->placing->places;
    struct nw_hops hops = nw_places_route(places, from, to, work->room);

    for (size_t i = 0; i < hops.count; i++)
        if (work->load[hops.hop[i]] >=
            work->most * (1 - 1e-9) * places->bandwidth[hops.hop[i]])
            return true;
    return false;
}

static bool is_hot(struct refining *work, int32_t p)
{
    const struct nw_placing *placing = work->placing;

    for (size_t a = placing->row[p]; a < placing->row[p + 1]; a++) {
        const struct nw_arc *arc = &placing->arc[a];
        int32_t here = placing->place[p], there = placing->place[arc->peer];

        if (here == there)
            continue;
        if (!placing->places->bandwidth || placing->by_distance ||
            (arc->out > 0 && is_hot_route(work, here, there)) ||
            (arc->in > 0 && is_hot_route(work, there, here)))
            return true;
    }
    return false;
}

static double max_congestion(const struct refining *work)
{
    const struct nw_places *places = work->placing->places;
    double most = 0;

    for (uint32_t i = 0; places->bandwidth && i < places->hop_count; i++)
        most = fmax(most, work->load[i] / places->bandwidth[i]);
    return most;
}

static bool is_spent(const struct refining *work)
{
    return work->placing->steps - work->begun >
               TRIALS_LEAST + TRIALS_EACH * (uint64_t)work->placing->count ||
           nw_budget_is_overdue(work->placing->budget);
}

static bool pass(struct refining *work)
{
    const struct nw_placing *placing = work->placing;
    bool better = false;

    work->most = max_congestion(work);
    for (int32_t p = 0; p < placing->count && !is_spent(work); p++)
        if (!nw_placing_is_fixed(placing, p) && is_hot(work, p))
            better |= try_process(work, p);
    return better && !is_spent(work);
}

static void load_all(struct refining *work)
{
    const struct nw_placing *placing = work->placing;

    for (int32_t p = 0; p < placing->count; p++)
        for (size_t a = placing->row[p]; a < placing->row[p + 1]; a++)
            change_pair(work, placing->place[p],
                        placing->place[placing->arc[a].peer],
                        placing->arc[a].out);
    work->least = fmin(LEAST_MOST, LEAST_OF_ALL * work->hop_bytes);
    end_trial(work, true);
}

static nw_status prepare(struct refining *work)
{
    const struct nw_placing *placing = work->placing;
    const struct nw_places *places = placing->places;
    size_t n = (size_t)placing->count, hops = places->hop_count;
    nw_status status = nw_alloc(hops, sizeof *work->load, &work->load);

    if (!status)
        status = nw_alloc(hops, sizeof *work->change, &work->change);
    if (!status)
        status = nw_alloc(hops, sizeof *work->touched, &work->touched);
    if (!status)
        status = nw_alloc(hops, sizeof *work->touch, &work->touch);
    if (!status)
        status = nw_alloc(nw_topology_route_max(places->topology),
                          sizeof *work->room, &work->room);
    if (!status)
        status =
            nw_alloc((size_t)places->count, sizeof *work->head, &work->head);
    if (!status)
        status = nw_alloc(n, sizeof *work->next, &work->next);
    for (int32_t q = 0; !status && q < places->count; q++)
        work->head[q] = -1;
    for (int32_t p = placing->count - 1; !status && p >= 0; p--)
        link_process(work, p, placing->place[p]);
    return status;
}

nw_status nw_placing_refine(struct nw_placing *placing)
{
    struct refining work = {.placing = placing, .begun = placing->steps};
    nw_status status = prepare(&work);
    if (!status) {
        load_all(&work);
        work.most = max_congestion(&work);
        work.scale = work.most > 0 ? 1 / work.most : 0;
        for (int i = 0; i < PASSES_MOST && pass(&work); i++)
            ;
    }
    free(work.load);
    free(work.change);
    free(work.touched);
    free(work.touch);
    free(work.room);
    free(work.head);
    free(work.next);
    return status;
}
