/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts out of placings and back, their cost from scratch, and layouts of
 * whole subtrees. */
#include "map/hierarchy/assignment.h"
#include "base/array.h"
#include "base/crew.h"
#include "map/common/budget.h"

#include <stdlib.h>
#include <string.h>

static nw_status alloc_layout(struct nw_layout *layout,
                              const struct nw_tree *tree, int32_t count,
                              size_t bonds)
{
    size_t n = (size_t)count, seats = (size_t)tree->seats;
    nw_status status;

    *layout = (struct nw_layout){.tree = tree, .count = count};
    status = nw_alloc(n + 1, sizeof *layout->row, &layout->row);
    if (!status)
        status = nw_alloc_raw(bonds, sizeof *layout->bond, &layout->bond);
    if (!status)
        status = nw_alloc_raw(n, sizeof *layout->seat, &layout->seat);
    if (!status)
        status = nw_alloc_raw(n, sizeof *layout->at, &layout->at);
    if (!status)
        status = nw_alloc_raw(seats, sizeof *layout->process, &layout->process);
    if (!status)
        status = nw_alloc(seats, sizeof *layout->fixed, &layout->fixed);
    for (size_t s = 0; !status && s < seats; s++)
        layout->process[s] = -1;
    return status;
}

void nw_layout_fini(struct nw_layout *layout)
{
    free(layout->row);
    free(layout->bond);
    free(layout->seat);
    free(layout->at);
    free(layout->process);
    free(layout->fixed);
    free(layout->name);
    free(layout->limit);
    *layout = (struct nw_layout){0};
}

void nw_layout_copy_fini(struct nw_layout *copy)
{
    free(copy->seat);
    free(copy->at);
    free(copy->process);
    *copy = (struct nw_layout){0};
}

nw_status nw_layout_copy(const struct nw_layout *layout, struct nw_layout *out)
{
    size_t n = (size_t)layout->count, seats = (size_t)layout->tree->seats;
    nw_status status;

    *out = *layout;
    out->at = NULL;
    out->process = NULL;
    status = nw_alloc_raw(n, sizeof *out->seat, &out->seat);
    if (!status)
        status = nw_alloc_raw(n, sizeof *out->at, &out->at);
    if (!status)
        status = nw_alloc_raw(seats, sizeof *out->process, &out->process);
    if (status) {
        nw_layout_copy_fini(out);
        return status;
    }
    memcpy(out->seat, layout->seat, n * sizeof *out->seat);
    memcpy(out->at, layout->at, n * sizeof *out->at);
    memcpy(out->process, layout->process, seats * sizeof *out->process);
    return NW_OK;
}

#define JOBS 64        /* bonds are shared out to so many */
#define JOBS_FROM 4096 /* processes */
#define LITTLE 300000  /* bonds: a thread takes longer to start and end */
#define SEAT 4         /* bonds that take as long */

static int32_t jobs_of(const struct nw_layout *layout)
{
    return layout->count < JOBS_FROM ? 1 : JOBS;
}

static int32_t part_of(const struct nw_layout *layout, int32_t i)
{
    return (int32_t)((int64_t)layout->count * i / jobs_of(layout));
}

/* Of a loop over so many bonds. */
static int32_t threads_for(const struct nw_layout *layout, size_t work)
{
    return work < LITTLE ? 1 : layout->threads;
}

struct reading {
    struct nw_layout *layout;
    const struct nw_placing *placing;
};

static void count_bonds(void *user, int32_t i)
{
    const struct reading *reading = user;
    const struct nw_placing *placing = reading->placing;
    int32_t end = part_of(reading->layout, i + 1);

    for (int32_t p = part_of(reading->layout, i); p < end; p++) {
        size_t count = 0;

        for (size_t a = placing->row[p]; a < placing->row[p + 1]; a++)
            count += placing->arc[a].out + placing->arc[a].in > 0;
        reading->layout->row[p + 1] = count;
    }
}

static void fill_bonds(void *user, int32_t i)
{
    const struct reading *reading = user;
    const struct nw_placing *placing = reading->placing;
    struct nw_layout *layout = reading->layout;
    int32_t end = part_of(layout, i + 1);
    size_t at = layout->row[part_of(layout, i)];

    for (int32_t p = part_of(layout, i); p < end; p++)
        for (size_t a = placing->row[p]; a < placing->row[p + 1]; a++) {
            double bytes = placing->arc[a].out + placing->arc[a].in;

            if (bytes > 0)
                layout->bond[at++] =
                    (struct nw_bond){placing->arc[a].peer, bytes};
        }
}

static void read_bonds(struct nw_layout *layout,
                       const struct nw_placing *placing)
{
    struct reading reading = {layout, placing};

    nw_crew_run(count_bonds, &reading, jobs_of(layout), layout->threads);
    for (int32_t p = 0; p < layout->count; p++)
        layout->row[p + 1] += layout->row[p];
    nw_crew_run(fill_bonds, &reading, jobs_of(layout), layout->threads);
}

static void sit(struct nw_layout *layout, int32_t process, int32_t seat)
{
    layout->seat[process] = seat;
    layout->at[process] = layout->tree->code[seat];
    layout->process[seat] = process;
}

/* Seats of one place stand together: the next free one of each. */
static nw_status take_seats(struct nw_layout *layout,
                            const struct nw_placing *placing)
{
    const struct nw_tree *tree = layout->tree;
    int32_t *next = NULL;
    nw_status status =
        nw_alloc_raw((size_t)placing->places->count, sizeof *next, &next);

    for (int32_t s = tree->seats; !status && s-- > 0;)
        next[tree->place[s]] = s;
    for (int32_t p = 0; !status && p < placing->count; p++) {
        int32_t seat = next[placing->place[p]]++;

        sit(layout, p, seat);
        layout->fixed[seat] = nw_placing_is_fixed(placing, p);
    }
    free(next);
    return status;
}

static nw_status read_limits(struct nw_layout *layout,
                             const struct nw_placing *placing)
{
    const struct nw_tree *tree = layout->tree;
    size_t seats = (size_t)tree->seats;
    nw_status status;

    layout->load = placing->load;
    if (!placing->load)
        return NW_OK;
    status = nw_alloc_raw(seats, sizeof *layout->limit, &layout->limit);
    for (size_t s = 0; !status && s < seats; s++)
        layout->limit[s] = placing->limit[tree->place[s]];
    return status;
}

nw_status nw_layout_init(struct nw_layout *layout, const struct nw_tree *tree,
                         const struct nw_placing *placing)
{
    nw_status status = alloc_layout(layout, tree, placing->count,
                                    placing->row[placing->count]);

    if (!status) {
        layout->threads = placing->budget ? placing->budget->threads : 1;
        read_bonds(layout, placing);
        status = take_seats(layout, placing);
    }
    if (!status)
        status = read_limits(layout, placing);
    if (status)
        nw_layout_fini(layout);
    return status;
}

void nw_layout_store(const struct nw_layout *layout, struct nw_placing *placing)
{
    for (int32_t p = 0; p < layout->count; p++)
        nw_rooms_give(&placing->rooms, placing->place[p], false);
    for (int32_t p = 0; p < layout->count; p++)
        nw_placing_put(placing, layout->name ? layout->name[p] : p,
                       layout->tree->place[layout->seat[p]]);
}

/* --- other numbers --- */

/* By peer, as bonds of a row stand else. */
static void sort_bonds(struct nw_bond *bond, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct nw_bond moved = bond[i];
        size_t at = i;

        for (; at && bond[at - 1].peer > moved.peer; at--)
            bond[at] = bond[at - 1];
        bond[at] = moved;
    }
}

struct renumbering {
    const struct nw_layout *from;
    const int32_t *order, *number;
    struct nw_layout *to;
};

static void renumber_part(void *user, int32_t part)
{
    const struct renumbering *of = user;
    const struct nw_layout *from = of->from;
    int32_t end = part_of(from, part + 1);

    for (int32_t i = part_of(from, part); i < end; i++) {
        struct nw_bond *bond = of->to->bond + of->to->row[i];
        size_t first = from->row[of->order[i]];
        size_t count = from->row[of->order[i] + 1] - first;

        for (size_t b = 0; b < count; b++) {
            bond[b] = from->bond[first + b];
            bond[b].peer = of->number[bond[b].peer];
        }
        sort_bonds(bond, count);
    }
}

static void renumber_bonds(const struct nw_layout *from, const int32_t *order,
                           const int32_t *number, struct nw_layout *to)
{
    struct renumbering of = {from, order, number, to};

    for (int32_t i = 0; i < to->count; i++)
        to->row[i + 1] =
            to->row[i] + from->row[order[i] + 1] - from->row[order[i]];
    nw_crew_run(renumber_part, &of, jobs_of(from),
                threads_for(from, from->row[from->count]));
}

nw_status nw_layout_renumber(struct nw_layout *layout, const int32_t *order)
{
    size_t n = (size_t)layout->count;
    struct nw_layout out;
    int32_t *number = NULL;
    nw_status status =
        alloc_layout(&out, layout->tree, layout->count, layout->row[n]);

    out.threads = layout->threads;
    if (!status)
        status = nw_alloc_raw(n, sizeof *out.name, &out.name);
    if (!status)
        status = nw_alloc_raw(n, sizeof *number, &number);
    if (status) {
        nw_layout_fini(&out);
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        out.name[i] = layout->name ? layout->name[order[i]] : order[i];
        number[order[i]] = (int32_t)i;
        sit(&out, (int32_t)i, layout->seat[order[i]]);
    }
    renumber_bonds(layout, order, number, &out);
    free(number);
    nw_layout_fini(layout);
    *layout = out;
    return NW_OK;
}

struct pricing {
    const struct nw_layout *layout;
    double sum[JOBS];
};

static void price_part(void *user, int32_t i)
{
    struct pricing *pricing = user;
    const struct nw_layout *layout = pricing->layout;
    int32_t end = part_of(layout, i + 1);
    double sum = 0;

    for (int32_t p = part_of(layout, i); p < end; p++)
        for (size_t b = layout->row[p]; b < layout->row[p + 1]; b++)
            sum += layout->bond[b].bytes *
                   nw_tree_apart(layout->tree, layout->at[p],
                                 layout->at[layout->bond[b].peer]);
    pricing->sum[i] = sum;
}

/* In parts, the same on any number of threads. */
double nw_layout_cost(const struct nw_layout *layout)
{
    struct pricing pricing = {.layout = layout};
    int32_t jobs = jobs_of(layout);
    double sum = 0;

    nw_crew_run(price_part, &pricing, jobs,
                threads_for(layout, layout->row[layout->count]));
    for (int32_t i = 0; i < jobs; i++)
        sum += pricing.sum[i];
    return sum / 2;
}

double nw_layout_bytes(const struct nw_layout *layout)
{
    size_t bonds = layout->row[layout->count];
    double bytes = 0;

    for (size_t b = 0; b < bonds; b++)
        bytes += layout->bond[b].bytes;
    return bytes;
}

double nw_layout_most(const struct nw_layout *layout)
{
    return nw_layout_bytes(layout) *
           layout->tree->distance[layout->tree->levels - 1];
}

struct seating {
    struct nw_layout *layout;
    const int32_t *seat;
};

static void empty_part(void *user, int32_t i)
{
    struct nw_layout *layout = ((struct seating *)user)->layout;
    int64_t seats = layout->tree->seats;
    int32_t jobs = jobs_of(layout), end = (int32_t)(seats * (i + 1) / jobs);

    for (int32_t s = (int32_t)(seats * i / jobs); s < end; s++)
        layout->process[s] = -1;
}

static void seat_part(void *user, int32_t i)
{
    const struct seating *seating = user;
    int32_t end = part_of(seating->layout, i + 1);

    for (int32_t p = part_of(seating->layout, i); p < end; p++)
        sit(seating->layout, p, seating->seat[p]);
}

void nw_layout_seat(struct nw_layout *layout, const int32_t *seat)
{
    struct seating seating = {layout, seat};
    int32_t jobs = jobs_of(layout);
    int32_t threads = threads_for(layout, SEAT * (size_t)layout->tree->seats);

    if (layout->tree->seats > layout->count)
        nw_crew_run(empty_part, &seating, jobs, threads);
    nw_crew_run(seat_part, &seating, jobs, threads);
}

nw_status nw_layout_take_if_better(struct nw_layout *layout,
                                   const int32_t *seat, double *cost)
{
    size_t n = (size_t)layout->count;
    int32_t *old = NULL;
    nw_status status = nw_alloc_raw(n, sizeof *old, &old);
    double mine;

    if (status)
        return status;
    memcpy(old, layout->seat, n * sizeof *old);
    nw_layout_seat(layout, seat);
    mine = nw_layout_cost(layout);
    if (mine < *cost)
        *cost = mine;
    else
        nw_layout_seat(layout, old);
    free(old);
    return NW_OK;
}

/* --- whole subtrees --- */

static int32_t common_size(const struct nw_tree *tree, int32_t level)
{
    const int32_t *first = tree->first[level];
    int32_t votes = 0, size = 0;

    for (int32_t c = 0; c < tree->count[level]; c++) {
        int32_t mine = first[c + 1] - first[c];

        if (!votes)
            size = mine;
        votes += mine == size ? 1 : -1;
    }
    return size;
}

static nw_status lift_tree(const struct nw_tree *tree, int32_t level,
                           struct nw_tree *out)
{
    const int32_t *first = tree->first[level];
    int32_t count = tree->count[level];
    double *gap = NULL;
    bool is_tree = true;
    nw_status status = nw_alloc((size_t)count, sizeof *gap, &gap);

    for (int32_t c = 0; !status && c + 1 < count; c++)
        gap[c] =
            nw_tree_apart(tree, tree->code[first[c]], tree->code[first[c + 1]]);
    if (!status)
        status = nw_tree_from_gaps(out, gap, first, count, &is_tree);
    free(gap);
    return status;
}

/* Adds up what the processes of one cluster exchange with each other
 * cluster. `slot` is 0 everywhere before and after, else 1 + bond. */
static void merge_bonds(const struct nw_layout *layout, int32_t level,
                        struct nw_layout *out, size_t *slot)
{
    const struct nw_tree *tree = layout->tree;
    const int32_t *cluster = tree->cluster[level];
    size_t at = 0;

    for (int32_t c = 0; c < tree->count[level]; c++) {
        for (int32_t s = tree->first[level][c]; s < tree->first[level][c + 1];
             s++) {
            int32_t p = layout->process[s];

            for (size_t b = p < 0 ? 0 : layout->row[p];
                 p >= 0 && b < layout->row[p + 1]; b++) {
                int32_t peer = cluster[layout->seat[layout->bond[b].peer]];

                if (peer == c)
                    continue;
                if (!slot[peer]) {
                    out->bond[at] = (struct nw_bond){peer, 0};
                    slot[peer] = ++at;
                }
                out->bond[slot[peer] - 1].bytes += layout->bond[b].bytes;
            }
        }
        for (size_t b = out->row[c]; b < at; b++)
            slot[out->bond[b].peer] = 0;
        out->row[c + 1] = at;
    }
}

static void fix_clusters(const struct nw_layout *layout, int32_t level,
                         struct nw_layout *out)
{
    const struct nw_tree *tree = layout->tree;
    int32_t usual = common_size(tree, level);

    for (int32_t c = 0; c < tree->count[level]; c++) {
        const int32_t *first = tree->first[level] + c;

        out->fixed[c] = first[1] - first[0] != usual;
        for (int32_t s = first[0]; s < first[1]; s++)
            out->fixed[c] |= layout->fixed[s];
        sit(out, c, c);
    }
}

nw_status nw_layout_lift(const struct nw_layout *layout, int32_t level,
                         struct nw_layout *out, struct nw_tree *tree)
{
    size_t *slot = NULL;
    int32_t count = layout->tree->count[level];
    nw_status status = lift_tree(layout->tree, level, tree);

    *out = (struct nw_layout){0};
    if (!status)
        status = nw_alloc((size_t)count, sizeof *slot, &slot);
    if (!status)
        status = alloc_layout(out, tree, count, layout->row[layout->count]);
    if (!status) {
        merge_bonds(layout, level, out, slot);
        fix_clusters(layout, level, out);
    }
    free(slot);
    if (status) {
        nw_layout_fini(out);
        nw_tree_fini(tree);
    }
    return status;
}

nw_status nw_layout_drop(struct nw_layout *layout, int32_t level,
                         const struct nw_layout *lifted)
{
    const struct nw_tree *tree = layout->tree;
    const int32_t *first = tree->first[level];
    int32_t *seat = NULL;
    nw_status status = nw_alloc((size_t)layout->count, sizeof *seat, &seat);

    for (int32_t p = 0; !status && p < layout->count; p++) {
        int32_t c = tree->cluster[level][layout->seat[p]];

        seat[p] = layout->seat[p] - first[c] + first[lifted->seat[c]];
    }
    if (!status)
        nw_layout_seat(layout, seat);
    free(seat);
    return status;
}
