/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the cost of a placement, and lowers its maximum congestion by swaps
 * of processes, like the refinement of PTRAM. It moves only processes whose
 * traffic crosses a link with the highest congestion; without bandwidths, or if
 * hop-bytes come first, it moves all that have traffic with other places. A
 * trial is a swap or move that is evaluated; it updates only the loads that it
 * changes. The sum of eighth powers of the congestion of all links replaces the
 * maximum, so that relieving one of several equally congested links is an
 * improvement. */
#include "map/placement/congestion_swaps.h"
#include "base/array.h"
#include "map/common/budget.h"
#include "map/common/parameters.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>

/* Most processes of one place that are tried in swaps with a process. */
#define PARTNERS 4
/* Smallest change of hop-bytes that counts as a change: MIN_MAX, or the
 * fraction MIN_OF_ALL of the placement's hop-bytes if that is less. MIN_MAX is
 * below 1, because distances are often whole numbers. */
#define MIN_MAX 0.5
#define MIN_OF_ALL 1e-9

/* State of the swaps on one placement. */
struct congestion_swaps_work {
    struct nw_placement *placement;
    double *load;    /* [hops] bytes that cross each hop (one direction of a
                        link) at present */
    double *change;  /* [hops] bytes that the present trial adds to each hop */
    bool *touched;   /* [hops] the hop is already in `touch` */
    uint32_t *touch; /* [touch_count] hops whose load the present trial
                        changes */
    size_t touch_count;
    uint32_t *buffer; /* scratch for one route */
    int32_t *head;    /* [places] first process on a place; -1: empty place */
    int32_t *next;    /* [processes] next process on the same place; -1: none */
    double scale;     /* 1 / maximum congestion before the first pass; 0 without
                         congestion */
    double most;      /* maximum congestion at the start of the present pass */
    double hop_bytes; /* change of hop-bytes by the present trial */
    double least;     /* a decrease of hop-bytes by less than this counts as
                         a rounding error, not as an improvement */
    uint64_t begun;   /* placement->steps when the search began */
};

/* Adds `bytes` on the route from one place to another to the load changes and
 * the hop-bytes of the present trial. Negative bytes are taken off the route.
 */
static void congestion_swaps_change_pair(struct congestion_swaps_work *work,
                                         int32_t from, int32_t to, double bytes)
{
    const struct nw_places *places = work->placement->places;
    struct nw_hops hops;

    if (from == to || bytes == 0)
        return;
    hops = nw_places_route(places, from, to, work->buffer);
    work->hop_bytes +=
        bytes * (places->bandwidth && !places->topology->depth_distance
                     ? (double)hops.count
                     : nw_places_distance(places, from, to));
    for (size_t i = 0; i < hops.count; i++) {
        uint32_t hop = hops.hop[i];

        if (!work->touched[hop]) {
            work->touched[hop] = true;
            work->touch[work->touch_count++] = hop;
        }
        work->change[hop] += bytes;
    }
}

/* Adds to the trial the change of the traffic of process p, which moves from
 * place way[0] to way[1]. Leaves out the traffic with process `partner`, which
 * moves from way[1] to way[0] at the same time (-1: no partner). */
static void congestion_swaps_change_process(struct congestion_swaps_work *work,
                                            int32_t p, int32_t partner,
                                            const int32_t way[2])
{
    const struct nw_placement *placement = work->placement;

    for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++) {
        const struct nw_arc *arc = &placement->arc[a];
        int32_t other = placement->place[arc->peer];

        if (arc->peer == partner)
            continue;
        congestion_swaps_change_pair(work, way[0], other, -arc->out);
        congestion_swaps_change_pair(work, other, way[0], -arc->in);
        congestion_swaps_change_pair(work, way[1], other, arc->out);
        congestion_swaps_change_pair(work, other, way[1], arc->in);
    }
}

/* Adds to the trial the change of the traffic between p, which moves from place
 * way[0] to way[1], and q, which moves from way[1] to way[0]. */
static void congestion_swaps_change_between(struct congestion_swaps_work *work,
                                            int32_t p, int32_t q,
                                            const int32_t way[2])
{
    const struct nw_placement *placement = work->placement;

    for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++) {
        const struct nw_arc *arc = &placement->arc[a];

        if (arc->peer != q)
            continue;
        congestion_swaps_change_pair(work, way[0], way[1], arc->in - arc->out);
        congestion_swaps_change_pair(work, way[1], way[0], arc->out - arc->in);
    }
}

/* Returns x to the power of 8. */
static double congestion_swaps_eighth(double x)
{
    x *= x;
    x *= x;
    return x * x;
}

/* Ends the present trial and returns its change of the sum of the eighth powers
 * of congestion x work->scale. If `keep` is true, the loads of the trial become
 * the present loads. */
static double congestion_swaps_end_trial(struct congestion_swaps_work *work,
                                         bool keep)
{
    const double *bandwidth = work->placement->places->bandwidth;
    double sum = 0;

    for (size_t i = 0; i < work->touch_count; i++) {
        uint32_t hop = work->touch[i];
        double after = work->load[hop] + work->change[hop];
        double scale = work->scale / bandwidth[hop];

        sum += congestion_swaps_eighth(after * scale) -
               congestion_swaps_eighth(work->load[hop] * scale);
        if (keep)
            work->load[hop] = after;
        work->change[hop] = 0;
        work->touched[hop] = false;
    }
    work->touch_count = 0;
    return sum;
}

/* --- processes of each place --- */

/* Adds a process to the list of processes on a place. */
static void congestion_swaps_link_process(struct congestion_swaps_work *work,
                                          int32_t p, int32_t place)
{
    work->next[p] = work->head[place];
    work->head[place] = p;
}

/* Moves a process to another place: updates the placement, the free slots and
 * the lists of the processes on each place. The caller updates the loads. */
static void congestion_swaps_move_process(struct congestion_swaps_work *work,
                                          int32_t p, int32_t place)
{
    struct nw_placement *placement = work->placement;
    int32_t *at = &work->head[placement->place[p]];

    while (*at != p)
        at = &work->next[*at];
    *at = work->next[p];
    nw_free_slots_give(&placement->free_slots, placement->place[p],
                       nw_placement_wants_gpu(placement, p));
    nw_placement_put(placement, p, place);
    congestion_swaps_link_process(work, p, place);
}

/* --- trials --- */

/* Begins a trial in which p moves to `place` and q to the place of p; q -1:
 * only p moves. Fills the changes of loads and hop-bytes. */
static void congestion_swaps_load_trial(struct congestion_swaps_work *work,
                                        int32_t p, int32_t q, int32_t place)
{
    int32_t way[2] = {work->placement->place[p], place};
    int32_t back[2] = {place, work->placement->place[p]};

    work->placement->steps++;
    work->hop_bytes = 0;
    congestion_swaps_change_process(work, p, q, way);
    if (q < 0)
        return;
    congestion_swaps_change_process(work, q, p, back);
    congestion_swaps_change_between(work, p, q, way);
}

/* Swaps p with process q on `place`, or moves p there if q is -1, if that
 * lowers the cost. Returns true if it does. */
static bool congestion_swaps_try_swap(struct congestion_swaps_work *work,
                                      int32_t p, int32_t q, int32_t place)
{
    int32_t home = work->placement->place[p];
    double change;
    bool better, nearer;

    congestion_swaps_load_trial(work, p, q, place);
    nearer = work->hop_bytes < -work->least;
    change = congestion_swaps_end_trial(work, false);
    if (work->placement->by_distance)
        better = nearer || (work->hop_bytes <= 0 && change < -1e-9);
    else
        better = change < -1e-9 || (change <= 1e-12 && nearer);
    if (!better)
        return false;
    congestion_swaps_load_trial(work, p, q, place);
    congestion_swaps_end_trial(work, true);
    if (q >= 0)
        congestion_swaps_move_process(work, q, home);
    congestion_swaps_move_process(work, p, place);
    return true;
}

/* Returns the bytes by which the traffic of q between different places falls if
 * q moves from place `from` to place `to`. */
static double congestion_swaps_draw(const struct nw_placement *placement,
                                    int32_t q, int32_t from, int32_t to)
{
    double sum = 0;

    for (size_t a = placement->row[q]; a < placement->row[q + 1]; a++) {
        const struct nw_arc *arc = &placement->arc[a];
        int32_t at = placement->place[arc->peer];

        if (at == to)
            sum += arc->out + arc->in;
        else if (at == from)
            sum -= arc->out + arc->in;
    }
    return sum;
}

/* Candidates for a swap with one process, in descending order of `draw`
 * (congestion_swaps_draw). */
struct congestion_swaps_partners {
    int32_t process[PARTNERS];
    double draw[PARTNERS];
    int count;
};

/* Inserts q with its draw into the list of the PARTNERS best; drops the last
 * one if the list is full. */
static void congestion_swaps_add_partner(struct congestion_swaps_partners *list,
                                         int32_t q, double value)
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

/* Tries to move p to `place`, then to swap it with the best partners on
 * `place`: those that are not fixed and need a GPU if p needs one. Returns true
 * if p was moved. */
static bool congestion_swaps_try_place(struct congestion_swaps_work *work,
                                       int32_t p, int32_t place)
{
    const struct nw_placement *placement = work->placement;
    struct congestion_swaps_partners partners = {.count = 0};
    int32_t home = placement->place[p];
    double gain;

    if (place == home)
        return false;
    gain = congestion_swaps_draw(placement, p, home, place);
    if (nw_placement_fits(placement, p, place) &&
        congestion_swaps_try_swap(work, p, -1, place))
        return true;
    for (int32_t q = work->head[place]; q >= 0; q = work->next[q])
        if (!nw_placement_is_fixed(placement, q) &&
            nw_placement_wants_gpu(placement, p) ==
                nw_placement_wants_gpu(placement, q))
            congestion_swaps_add_partner(
                &partners, q, congestion_swaps_draw(placement, q, place, home));
    for (int i = 0; i < partners.count && partners.draw[i] + gain >= 0; i++)
        if (congestion_swaps_try_swap(work, p, partners.process[i], place))
            return true;
    return false;
}

/* Tries all places for p, or if there are many, only the places of its peers
 * and those with the next lower and higher number. Returns true if p was moved.
 */
static bool congestion_swaps_try_process(struct congestion_swaps_work *work,
                                         int32_t p)
{
    const struct nw_placement *placement = work->placement;
    int32_t count = placement->places->count;

    if (count <= nw_tuned.placement.places_all) {
        for (int32_t place = 0; place < count; place++)
            if (congestion_swaps_try_place(work, p, place))
                return true;
        return false;
    }
    for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++) {
        int32_t near = placement->place[placement->arc[a].peer];

        for (int32_t place = near - 1; place <= near + 1; place++)
            if (place >= 0 && place < count &&
                congestion_swaps_try_place(work, p, place))
                return true;
    }
    return false;
}

/* --- passes --- */

/* Returns true if the route from one place to another has a link whose
 * congestion is at least work->most, the maximum at the start of this pass. */
static bool congestion_swaps_is_hot_route(struct congestion_swaps_work *work,
                                          int32_t from, int32_t to)
{
    const struct nw_places *places = work->placement->places;
    struct nw_hops hops = nw_places_route(places, from, to, work->buffer);

    for (size_t i = 0; i < hops.count; i++)
        if (work->load[hops.hop[i]] >=
            work->most * (1 - 1e-9) * places->bandwidth[hops.hop[i]])
            return true;
    return false;
}

/* Returns true if moving p may help: its traffic crosses a link with the
 * maximum congestion. Without bandwidths, or if hop-bytes come first, traffic
 * with any other place suffices. */
static bool congestion_swaps_is_hot(struct congestion_swaps_work *work,
                                    int32_t p)
{
    const struct nw_placement *placement = work->placement;

    for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++) {
        const struct nw_arc *arc = &placement->arc[a];
        int32_t here = placement->place[p], there = placement->place[arc->peer];

        if (here == there)
            continue;
        if (!placement->places->bandwidth || placement->by_distance ||
            (arc->out > 0 &&
             congestion_swaps_is_hot_route(work, here, there)) ||
            (arc->in > 0 && congestion_swaps_is_hot_route(work, there, here)))
            return true;
    }
    return false;
}

/* Returns the largest congestion of any hop, in seconds. */
static double
congestion_swaps_max_congestion(const struct congestion_swaps_work *work)
{
    const struct nw_places *places = work->placement->places;
    double most = 0;

    for (uint32_t i = 0; places->bandwidth && i < places->hop_count; i++)
        most = fmax(most, work->load[i] / places->bandwidth[i]);
    return most;
}

/* Returns true if the limit of trials is reached or the time is over. */
static bool congestion_swaps_is_spent(const struct congestion_swaps_work *work)
{
    return work->placement->steps - work->begun >
               nw_tuned.placement.congestion_trials +
                   nw_tuned.placement.congestion_trials_each *
                       (uint64_t)work->placement->count ||
           nw_budget_is_overdue(work->placement->budget);
}

/* Makes one pass over the processes that are not fixed: tries once to move or
 * swap each of them for which congestion_swaps_is_hot is true, with the maximum
 * congestion at the start of the pass. Returns true if a process was moved and
 * the limits allow another pass. */
static bool congestion_swaps_pass(struct congestion_swaps_work *work)
{
    const struct nw_placement *placement = work->placement;
    bool better = false;

    work->most = congestion_swaps_max_congestion(work);
    for (int32_t p = 0;
         p < placement->count && !congestion_swaps_is_spent(work); p++)
        if (!nw_placement_is_fixed(placement, p) &&
            congestion_swaps_is_hot(work, p))
            better |= congestion_swaps_try_process(work, p);
    return better && !congestion_swaps_is_spent(work);
}

/* Computes the loads and the hop-bytes of the whole placement, as one trial
 * whose loads are kept. */
static void congestion_swaps_load_all(struct congestion_swaps_work *work)
{
    const struct nw_placement *placement = work->placement;

    for (int32_t p = 0; p < placement->count; p++)
        for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++)
            congestion_swaps_change_pair(
                work, placement->place[p],
                placement->place[placement->arc[a].peer],
                placement->arc[a].out);
    congestion_swaps_end_trial(work, true);
}

/* Allocates the arrays and lists the processes of each place. */
static nw_status congestion_swaps_prepare(struct congestion_swaps_work *work)
{
    const struct nw_placement *placement = work->placement;
    const struct nw_places *places = placement->places;
    size_t n = (size_t)placement->count, hops = places->hop_count;
    nw_status status = NW_ALLOC_ALL(
        NW_ARRAY(hops, work->load), NW_ARRAY(hops, work->change),
        NW_ARRAY(hops, work->touched), NW_ARRAY(hops, work->touch),
        NW_ARRAY(nw_topology_route_max(places->topology), work->buffer),
        NW_ARRAY((size_t)places->count, work->head), NW_ARRAY(n, work->next));

    for (int32_t q = 0; !status && q < places->count; q++)
        work->head[q] = -1;
    for (int32_t p = placement->count - 1; !status && p >= 0; p--)
        congestion_swaps_link_process(work, p, placement->place[p]);
    return status;
}

static void congestion_swaps_fini(struct congestion_swaps_work *work)
{
    NW_FREE_ALL(work->load, work->change, work->touched, work->touch,
                work->buffer, work->head, work->next);
}

nw_status nw_placement_congestion_swaps(struct nw_placement *placement)
{
    struct congestion_swaps_work work = {.placement = placement,
                                         .begun = placement->steps};
    nw_status status = congestion_swaps_prepare(&work);
    if (!status) {
        congestion_swaps_load_all(&work);
        placement->steps++;
        work.least = fmin(MIN_MAX, MIN_OF_ALL * work.hop_bytes);
        work.most = congestion_swaps_max_congestion(&work);
        work.scale = work.most > 0 ? 1 / work.most : 0;
        for (int i = 0;
             i < nw_tuned.placement.passes && congestion_swaps_pass(&work); i++)
            ;
    }
    congestion_swaps_fini(&work);
    return status;
}

/* --- the cost of a placement --- */

nw_status nw_placement_evaluate(struct nw_placement *placement,
                                struct nw_placement_cost *out)
{
    struct congestion_swaps_work work = {.placement = placement};
    nw_status status = congestion_swaps_prepare(&work);

    if (!status) {
        congestion_swaps_load_all(&work);
        *out = (struct nw_placement_cost){
            congestion_swaps_max_congestion(&work), work.hop_bytes};
    }
    congestion_swaps_fini(&work);
    return status;
}

bool nw_placement_cost_less(const struct nw_placement *placement,
                            const struct nw_placement_cost *a,
                            const struct nw_placement_cost *b)
{
    const double left[] = {a->congestion, a->hop_bytes};
    const double right[] = {b->congestion, b->hop_bytes};

    for (int i = 0; i < 2; i++) {
        int k = placement->by_distance ? 1 - i : i;

        if (fabs(left[k] - right[k]) > 1e-9 * fmax(left[k], right[k]))
            return left[k] < right[k];
    }
    return false;
}
