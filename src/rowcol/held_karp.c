/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the order of processes with the lowest sum for a shape and proves it,
 * by dynamic programming over subsets (Held and Karp, 1962). Lines of the
 * shorter side are filled place by place. The cost of the next process depends
 * only on the last `width` processes, which are called the front, and on the
 * set of processes that have a place. So only the cheapest order is kept for
 * each pair of a front and a set. If the grid is not periodic, one table holds
 * all first lines. If it is periodic, the last line is a neighbour of the first
 * line, so that each first line has a table of its own. The first line then
 * begins with process 0, because rotating a ring changes no cost. */
#include "rowcol/rowcol.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 20, STATES = 1 << 22, WORK = 1 << 27 };

/* The front: the last `width` processes that got a place, oldest first (order).
 * Its code is the number whose digits in base p are these processes; p is the
 * number of processes. `ascending` has them sorted. */
struct held_karp_front {
    uint32_t bits; /* set of the processes, as bits; 0 if a process occurs
                      twice, so that the code is invalid */
    int8_t order[MAX], ascending[MAX];
};

/* State of the search. A line is a row or a column, along the shorter side of
 * the shape; it has `width` places. */
struct held_karp_lines {
    const struct nw_rowcol_problem *problem;
    int32_t p, width, count;
    bool transposed;         /* lines are columns, not rows */
    double *within, *across; /* [processes x processes] cost, in microseconds,
                                of a link from process x to y: inside a line
                                (within), from a line to the next (across) */
    struct held_karp_front *fronts;
    int32_t front_count;
    double *least; /* [states] lowest cost of all partial orders of a state: a
                      front and the set of the other processes with a place */
    int8_t *left;  /* [states] process that left the front when the newest
                      process got its place */
    int8_t first[MAX];
    double found;
    int8_t line[MAX]; /* best complete order, line by line */
};

static size_t held_karp_power(size_t base, int32_t n)
{
    size_t product = 1;

    while (n-- > 0 && product <= STATES)
        product *= base;
    return product;
}

/* Returns the index of a state in `least` and `left`: it consists of the code
 * of the front and the bits of the other processes that have a place. */
static size_t held_karp_state_of(const struct held_karp_lines *l, int32_t code,
                                 uint32_t placed)
{
    const struct held_karp_front *f = &l->fronts[code];

    for (int32_t i = l->width; i-- > 0;) {
        uint32_t below = (1U << f->ascending[i]) - 1;
        placed = (placed & below) | (placed >> 1 & ~below);
    }
    return ((size_t)code << (l->p - l->width)) + placed;
}

static void held_karp_make_front(const struct held_karp_lines *l, int32_t code,
                                 struct held_karp_front *f)
{
    int32_t digits = code, at = 0;

    f->bits = 0;
    for (int32_t i = l->width; i-- > 0; digits /= l->p) {
        f->order[i] = (int8_t)(digits % l->p);
        f->bits |= 1U << f->order[i];
    }
    if (__builtin_popcount(f->bits) < l->width)
        f->bits = 0;
    for (int8_t x = 0; x < l->p; x++)
        if (f->bits >> x & 1)
            f->ascending[at++] = x;
}

/* Returns the cost, in microseconds, that process `x` adds if it gets the place
 * `at` after the processes of the given front. */
static double held_karp_added(const struct held_karp_lines *l,
                              const int8_t *front, int32_t at, int8_t x)
{
    int32_t w = l->width, in_line = at % w;
    double sum = l->across[front[0] * l->p + x];

    if (in_line > 0)
        sum += l->within[front[w - 1] * l->p + x];
    if (l->problem->periodic && in_line == w - 1)
        sum += l->within[x * l->p + (w > 1 ? front[1] : x)];
    if (l->problem->periodic && at >= l->p - w)
        sum += l->across[x * l->p + l->first[in_line]];
    return sum;
}

/* Returns the cost, in microseconds, of the links inside a first line. */
static double held_karp_first_line(const struct held_karp_lines *l,
                                   const int8_t *order)
{
    double sum = 0;

    for (int32_t i = 1; i < l->width; i++)
        sum += l->within[order[i - 1] * l->p + order[i]];
    if (l->problem->periodic)
        sum += l->within[order[l->width - 1] * l->p + order[0]];
    return sum;
}

/* Extends a state by each process that has no place yet, and updates the lowest
 * costs of the states reached. Does nothing if the state already costs as much
 * as the best complete order. */
static void held_karp_place_next(struct held_karp_lines *l, int32_t code,
                                 uint32_t placed)
{
    const struct held_karp_front *f = &l->fronts[code];
    double so_far = l->least[held_karp_state_of(l, code, placed)];
    int32_t at = __builtin_popcount(placed);
    int32_t kept = code % (l->front_count / l->p) * l->p;

    if (so_far >= l->found)
        return;
    for (int8_t x = 0; x < l->p; x++) {
        if (placed >> x & 1)
            continue;
        size_t next = held_karp_state_of(l, kept + x, placed | 1U << x);
        double sum = so_far + held_karp_added(l, f->order, at, x);
        if (sum < l->least[next]) {
            l->least[next] = sum;
            l->left[next] = f->order[0];
        }
    }
}

/* Reconstructs the best order from its last place back to the first line, by
 * the processes that left the front. `code`: its last front. */
static void held_karp_read_back(struct held_karp_lines *l, int32_t code)
{
    uint32_t placed = (1U << l->p) - 1;

    for (int32_t at = l->p; at > l->width; at--) {
        const struct held_karp_front *f = &l->fronts[code];
        int8_t newest = f->order[l->width - 1];
        int8_t before = l->left[held_karp_state_of(l, code, placed)];
        l->line[at - 1] = newest;
        placed &= ~(1U << newest);
        code = code / l->p + before * (l->front_count / l->p);
    }
    memcpy(l->line, l->fronts[code].order, (size_t)l->width);
}

/* Keeps the cheapest complete order in the table if it is better than the best
 * so far. */
static void held_karp_take_least(struct held_karp_lines *l)
{
    uint32_t all = (1U << l->p) - 1;
    int32_t best = -1;

    for (int32_t code = 0; code < l->front_count; code++) {
        if (!l->fronts[code].bits)
            continue;
        double sum = l->least[held_karp_state_of(l, code, all)];
        if (sum < l->found) {
            l->found = sum;
            best = code;
        }
    }
    if (best >= 0)
        held_karp_read_back(l, best);
}

/* Fills the table of lowest costs, beginning with the first lines that are
 * already in it, and keeps the best complete order. `must`: processes, as bits,
 * that are in every first line. */
static void held_karp_fill(struct held_karp_lines *l, uint32_t must)
{
    uint32_t all = (1U << l->p) - 1;

    for (uint32_t placed = 0; placed < all; placed++) {
        if ((placed & must) != must || __builtin_popcount(placed) < l->width)
            continue;
        for (int32_t code = 0; code < l->front_count; code++)
            if (l->fronts[code].bits && !(l->fronts[code].bits & ~placed))
                held_karp_place_next(l, code, placed);
    }
    held_karp_take_least(l);
}

static void held_karp_forget(struct held_karp_lines *l)
{
    size_t states = (size_t)l->front_count << (l->p - l->width);

    for (size_t i = 0; i < states; i++)
        l->least[i] = INFINITY;
}

/* Enters the order whose first line is the front `code`, with no other process
 * placed, into the table: stores the cost of this line. */
static void held_karp_begin(struct held_karp_lines *l, int32_t code)
{
    const struct held_karp_front *f = &l->fronts[code];

    l->least[held_karp_state_of(l, code, f->bits)] =
        held_karp_first_line(l, f->order);
}

static void held_karp_fill_rings(struct held_karp_lines *l)
{
    for (int32_t code = 0; code < l->front_count; code++) {
        const struct held_karp_front *f = &l->fronts[code];
        if (!f->bits || f->order[0] != 0)
            continue;
        memcpy(l->first, f->order, (size_t)l->width);
        held_karp_forget(l);
        held_karp_begin(l, code);
        held_karp_fill(l, f->bits);
    }
}

static void held_karp_fill_chains(struct held_karp_lines *l)
{
    held_karp_forget(l);
    for (int32_t code = 0; code < l->front_count; code++)
        if (l->fronts[code].bits)
            held_karp_begin(l, code);
    held_karp_fill(l, 0);
}

static nw_status held_karp_allocate(struct held_karp_lines *l)
{
    size_t pairs = (size_t)l->p * (size_t)l->p;
    size_t states = (size_t)l->front_count << (l->p - l->width);
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY((size_t)l->front_count, l->fronts),
                     NW_ARRAY(2 * pairs, l->within), NW_ARRAY(states, l->least),
                     NW_ARRAY(states, l->left));

    if (!status)
        l->across = l->within + pairs;
    return status;
}

/* Sets front_count. Returns true if the table of states and the work to fill it
 * are small enough. */
static bool held_karp_is_small(struct held_karp_lines *l)
{
    size_t fronts = held_karp_power((size_t)l->p, l->width), turns = 1;

    if (l->p > MAX || l->width > l->p / 2 || fronts > STATES)
        return false;
    l->front_count = (int32_t)fronts;
    if (l->problem->periodic)
        turns = held_karp_power((size_t)l->p - 1, l->width - 1);
    return fronts << (l->p - l->width) <= STATES &&
           turns * (fronts << (l->p - l->width)) <= WORK;
}

static void held_karp_put_order(const struct held_karp_lines *l,
                                struct nw_rowcol *a)
{
    for (int32_t at = 0; at < l->p; at++) {
        int32_t line = at / l->width, i = at % l->width;
        int32_t place = l->transposed ? i * a->columns + line : at;
        a->process[place] = l->line[at];
    }
}

bool nw_rowcol_prove_sum(const struct nw_rowcol_problem *problem,
                         struct nw_rowcol *a)
{
    bool transposed = a->rows < a->columns;
    struct held_karp_lines l = {.problem = problem,
                                .p = a->rows * a->columns,
                                .width = transposed ? a->rows : a->columns,
                                .transposed = transposed,
                                .found = INFINITY};
    bool done = false;

    if (problem->speed || problem->objective != NW_ROWCOL_SUM ||
        !held_karp_is_small(&l))
        return false;
    if (!held_karp_allocate(&l)) {
        nw_rowcol_time_links(problem, a, transposed ? l.across : l.within,
                             transposed ? l.within : l.across);
        for (int32_t code = 0; code < l.front_count; code++)
            held_karp_make_front(&l, code, &l.fronts[code]);
        if (problem->periodic)
            held_karp_fill_rings(&l);
        else
            held_karp_fill_chains(&l);
        held_karp_put_order(&l, a);
        done = true;
    }
    NW_FREE_ALL(l.fronts, l.within, l.least, l.left);
    return done;
}
