/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts (initial assignments) for grids: recursive bisections whose initial
 * cuts are straight or grown from a cell. The number of starts is limited by an
 * estimate of their time. */
#include "map/multilevel/multilevel_internal.h"
#include "map/common/parameters.h"

#include <math.h>

uint64_t nw_multilevel_grid_patience(const struct multilevel_search *search)
{
    return nw_tuned.effort.grid_patience[search->budget->effort];
}

/* Starts of a grid, the most useful first: each is a set of kinds of initial
 * cuts (enum nw_rb_start) for one recursive bisection. */
static const int grid_starts[] = {
    NW_RB_START_STRIPES | NW_RB_START_GROWN,
    NW_RB_START_STRIPES | NW_RB_START_GROWN | NW_RB_START_PACKED,
    NW_RB_START_STRIPES | NW_RB_START_GROWN | NW_RB_START_SPREAD,
    NW_RB_START_GROWN,
    NW_RB_START_STRIPES,
    NW_RB_START_STRIPES | NW_RB_START_FIRST,
    NW_RB_START_STRIPES | NW_RB_START_PACKED,
};

#define GRID_STARTS (int)(sizeof grid_starts / sizeof *grid_starts)

/* Starts of a large grid, in ascending order of estimated time: each is a set
 * of kinds of grown cuts, to which the straight cut with the fewest bytes is
 * always added. These bisections may use the time that is reserved for swaps if
 * swaps gain little, and most of the time of embeddings. */
static const int multilevel_starts[] = {0, NW_RB_START_LAST,
                                        NW_RB_START_FIRST | NW_RB_START_LAST,
                                        NW_RB_START_GROWN};

#define STARTS (int)(sizeof multilevel_starts / sizeof *multilevel_starts)

/* Returns how many of the cuts in the bits `kinds` are grown from a cell. */
static int multilevel_count_grown(int kinds)
{
    return __builtin_popcount((unsigned)kinds & NW_RB_START_GROWN);
}

/* Returns the estimated time of a recursive bisection with these kinds of cuts,
 * in visits of edges. */
static double multilevel_kind_cost(const struct multilevel_search *search,
                                   int kinds)
{
    const struct nw_assignment *assignment = search->assignment;
    double edges = (double)assignment->row[assignment->count] + 1;

    return edges *
           (nw_tuned.multilevel_grid.grown_cost *
                multilevel_count_grown(kinds) +
            (kinds & NW_RB_START_STRIPES ? search->tile->stencil.dims : 0));
}

bool nw_multilevel_is_denser(const struct multilevel_search *search)
{
    double cost = multilevel_kind_cost(search, grid_starts[0]);

    return search->assignment->count <= 2 * nw_tuned.multilevel.few &&
           cost > (double)nw_tuned.multilevel_grid.bisection_cost &&
           cost <= nw_tuned.multilevel_grid.denser *
                       (double)nw_tuned.multilevel_grid.bisection_cost;
}

bool nw_multilevel_is_searched_twice(const struct multilevel_search *search)
{
    return search->assignment->count <= 2 * nw_tuned.multilevel.few &&
           search->tile->stencil.dims > 1 &&
           search->budget->effort != NW_EFFORT_FAST;
}

bool nw_multilevel_is_costly(const struct multilevel_search *search)
{
    return nw_multilevel_is_searched_twice(search) &&
           multilevel_kind_cost(search, grid_starts[0]) >
               (double)(nw_tuned.multilevel_grid.bisection_cost *
                        nw_multilevel_grid_patience(search));
}

/* Makes a start with these kinds of cuts and keeps it if it costs less than
 * search->assignment. If `round` is not 0, the bytes of cuts are multiplied by
 * random factors, so that the result differs from that of round 0. */
static nw_status multilevel_start_kind(struct multilevel_search *search,
                                       int kinds, int round)
{
    struct nw_recursive_bisection bisect = {
        .seed = search->seed + (uint64_t)round,
        .stencil = &search->tile->stencil,
        .kinds = kinds,
        .loose = round ? nw_tuned.multilevel_grid.loose : 0};

    return nw_multilevel_take(search, &bisect);
}

/* Makes starts of a grid until their estimated times amount to `left`, in
 * visits of edges. Leaves out packing and spreading if every slot has a
 * process, because they change nothing then. */
static nw_status multilevel_bisect_grid(struct multilevel_search *search,
                                        double left)
{
    bool full =
        search->assignment->hierarchy->slots <= search->assignment->count;
    int useless = full ? NW_RB_START_PACKED | NW_RB_START_SPREAD : 0;
    nw_status status = NW_OK;

    for (int i = 0;
         !status && i < nw_tuned.multilevel_grid.rounds * GRID_STARTS; i++) {
        int kinds = grid_starts[i % GRID_STARTS];
        double cost = multilevel_kind_cost(search, kinds);

        if (cost > left || kinds & useless || search->budget->stopped)
            continue;
        left -= cost;
        status = multilevel_start_kind(search, kinds, i / GRID_STARTS);
    }
    return status;
}

/* Returns the estimated time of multilevel_starts entry `start` for a large
 * grid, in the unit of the tuned parameters multilevel_grid (parameters.def).
 */
static double multilevel_start_cost(const struct nw_assignment *assignment,
                                    int start)
{
    int grown = multilevel_count_grown(start);
    double edges = (double)assignment->row[assignment->count];

    return edges * (nw_tuned.multilevel_grid.straight_edge +
                    grown * nw_tuned.multilevel_grid.grown_edge) +
           assignment->count * (nw_tuned.multilevel_grid.straight_process +
                                grown * nw_tuned.multilevel_grid.grown_process);
}

/* Returns the limit on the estimated times of all bisections of a large grid
 * together, in the unit of multilevel_start_cost. */
static double multilevel_straight_most(const struct nw_assignment *assignment)
{
    return fmax((double)nw_tuned.multilevel.repeated_edges,
                nw_tuned.multilevel_grid.straight_cost_each *
                    (double)assignment->count);
}

int nw_multilevel_filling(const struct nw_assignment *assignment, int i)
{
    return assignment->hierarchy->slots > assignment->count && i % 2 == 0
               ? NW_RB_START_PACKED
               : 0;
}

/* The best order of filling the machine so far (0 or NW_RB_START_PACKED), and
 * the index in multilevel_starts of the start that was used to compare the
 * orders; -1: none was compared. */
struct multilevel_filled {
    int kind, start;
};

/* If there are two orders of filling the machine and the time *left allows,
 * compares them, by one start with each, and sets *best. Lowers *left by the
 * estimated times of these starts. The starts are chosen so that time for one
 * more bisection remains, if possible. `always`: kinds of cuts that every start
 * gets. */
static nw_status multilevel_choose_filling(struct multilevel_search *search,
                                           int always, double *left,
                                           struct multilevel_filled *best)
{
    const struct nw_assignment *assignment = search->assignment;
    double few = multilevel_start_cost(assignment, multilevel_starts[0]);
    double more = multilevel_start_cost(assignment, multilevel_starts[1]);
    bool second =
        (2 * few + more > *left || 3 * more <= *left) && 2 * more <= *left;
    nw_status status = NW_OK;

    *best =
        (struct multilevel_filled){nw_multilevel_filling(assignment, 0), -1};
    if (!best->kind || 2 * few > *left)
        return NW_OK;
    best->start = second;
    for (int i = 0; !status && i < 2 && !search->budget->stopped; i++) {
        int filling = nw_multilevel_filling(assignment, i);
        double before = search->cost;

        *left -= second ? more : few;
        status = multilevel_start_kind(
            search, always | multilevel_starts[second] | filling, 0);
        if (search->cost < before)
            best->kind = filling;
    }
    return status;
}

/* Makes starts of a large grid until their estimated times amount to `left`. */
static nw_status multilevel_bisect_straight(struct multilevel_search *search,
                                            double left)
{
    const struct nw_assignment *assignment = search->assignment;
    int always =
        NW_RB_START_STRAIGHT | (search->tile->layered ? NW_RB_START_LAYERS : 0);
    struct multilevel_filled best;
    nw_status status = multilevel_choose_filling(search, always, &left, &best);

    for (int round = 0; !status && round < nw_tuned.multilevel_grid.rounds;
         round++) {
        int start = STARTS - 1;

        while (start >= 0 && multilevel_start_cost(
                                 assignment, multilevel_starts[start]) > left)
            start--;
        if (start < 0 || (start == 0 && best.start >= 0) ||
            search->budget->stopped)
            break;
        left -= multilevel_start_cost(assignment, multilevel_starts[start]);
        status = multilevel_start_kind(
            search, always | best.kind | multilevel_starts[start],
            round + (start <= best.start));
    }
    return status;
}

nw_status nw_multilevel_cuts_max(struct multilevel_search *search, bool swapped)
{
    double left = (double)(nw_tuned.multilevel_grid.bisection_cost *
                           nw_multilevel_grid_patience(search));

    if (nw_multilevel_is_denser(search))
        left *= nw_tuned.multilevel_grid.denser;
    if (multilevel_kind_cost(search, grid_starts[0]) <= left ||
        search->tile->boxed || search->tile->stencil.dims < 3)
        return multilevel_bisect_grid(search, left);
    if (nw_multilevel_is_costly(search))
        return NW_OK;
    /* Near the lower bound, further bisections of a large grid are not worth
     * their time: they take seconds and seldom gain. */
    if (search->assignment->count > nw_tuned.multilevel_grid.near_bound_from &&
        search->cost <= nw_tuned.multilevel_grid.near_bound *
                            nw_stencil_lower_bound(search->assignment,
                                                   &search->tile->stencil))
        return NW_OK;
    left = multilevel_straight_most(search->assignment) *
           (double)nw_multilevel_grid_patience(search);
    return multilevel_bisect_straight(
        search, left - (swapped ? (double)nw_tuned.multilevel_grid.swaps : 0));
}

bool nw_multilevel_is_tiled_less(const struct nw_assignment *assignment)
{
    return assignment->count > nw_tuned.multilevel.many &&
           multilevel_start_cost(assignment, multilevel_starts[0]) <=
               multilevel_straight_most(assignment);
}
