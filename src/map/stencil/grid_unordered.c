/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grid behind a stencil whose processes are numbered anyhow. Bonds between
 * diagonal neighbours are told from those between faces by how many neighbours
 * their ends share (the Cartesian skeleton of a strong product; R. Hammack and
 * W. Imrich, On Cartesian skeletons of graphs, 2009). Then the directions of
 * one corner are carried on from cell to cell: two faces of a cell that lie in
 * different dimensions have one more neighbour in common. What comes of it is
 * an order of the processes, which is looked at as any other is.
 */
#include "map/stencil/grid.h"
#include "base/array.h"
#include "base/crew.h"

#include <stdlib.h>
#include <string.h>

#define CELLS_LEAST 16
#define BONDS_MOST 80 /* of a cell: all round it in four dimensions */
#define DEGREES_MOST (2 * NW_TILE_DIMS + 1) /* by how near borders are */
#define SLOTS (2 * NW_TILE_DIMS) /* up dimension d: 2 d, down: the next one */
#define MARKERS_MOST 64          /* threads that look at bonds */

/* Cells next to one. */
struct faces {
    int32_t count, cell[SLOTS];
};

/* The same by direction, -1 beyond a border, and how far it is from the
 * root. */
struct spot {
    bool known;
    int32_t at[NW_TILE_DIMS], next[SLOTS];
};

struct ordering {
    const struct nw_layout *layout;
    int32_t *peer;   /* [bonds] without their bytes: a quarter to read */
    uint8_t *shared; /* [bonds] cells that both ends see, themselves too */
    bool *diagonal;  /* [bonds] of the end that has the lower number */
    uint8_t *mark;   /* [markers][count] 0 in between */
    int32_t markers;
    bool taken[MARKERS_MOST]; /* their marks */
    struct faces *faces;
    struct spot *spot;
    int32_t *queue;
    int dims;
    int32_t size[NW_TILE_DIMS];
};

static int32_t seen_by(const struct nw_layout *layout, int32_t p)
{
    return (int32_t)(layout->row[p + 1] - layout->row[p]) + 1;
}

/* Few patterns without a grid come through this. */
static bool may_be_grid(const struct nw_layout *layout)
{
    bool seen[BONDS_MOST + 2] = {false};
    int degrees = 0;

    if (layout->count < CELLS_LEAST || layout->load)
        return false;
    for (int32_t p = 0; p < layout->count; p++) {
        int32_t degree = seen_by(layout, p);

        if (degree < 2 || degree > BONDS_MOST + 1)
            return false;
        degrees += !seen[degree];
        seen[degree] = true;
    }
    return degrees <= DEGREES_MOST;
}

/* --- faces --- */

/* Peers of p get their number in its row, from 1 on, or 0 again. */
static void mark_peers(const struct ordering *work, uint8_t *mark, int32_t p,
                       bool on)
{
    const struct nw_layout *layout = work->layout;

    for (size_t b = layout->row[p]; b < layout->row[p + 1]; b++)
        mark[work->peer[b]] = on ? (uint8_t)(b - layout->row[p] + 1) : 0;
}

/* Looks at a bond of p, whose peers are marked. */
typedef void look(struct ordering *work, const uint8_t *mark, int32_t p,
                  size_t bond);

struct looking {
    struct ordering *work;
    look *look;
};

static void look_at_part(void *user, int32_t number)
{
    const struct looking *looking = user;
    struct ordering *work = looking->work;
    const struct nw_layout *layout = work->layout;
    struct nw_crew_part part = nw_crew_part(layout->count, number);
    int32_t marker = nw_crew_claim(work->taken, work->markers);
    uint8_t *mark = work->mark + (size_t)marker * (size_t)layout->count;

    for (int32_t p = (int32_t)part.first; p < part.end; p++) {
        mark_peers(work, mark, p, true);
        for (size_t b = layout->row[p]; b < layout->row[p + 1]; b++)
            if (work->peer[b] > p)
                looking->look(work, mark, p, b);
        mark_peers(work, mark, p, false);
    }
    nw_crew_release(work->taken, marker);
}

/* At each bond from the end with the lower number. */
static void look_at_all(struct ordering *work, look *how)
{
    struct looking looking = {work, how};

    nw_crew_run(look_at_part, &looking, NW_CREW_PARTS, work->markers);
}

/* For both ends of a bond at once. */
static void count_bond(struct ordering *work, const uint8_t *mark, int32_t p,
                       size_t bond)
{
    const struct nw_layout *layout = work->layout;
    int32_t q = work->peer[bond];
    size_t back = bond;
    int shared = 2;

    for (size_t b = layout->row[q]; b < layout->row[q + 1]; b++) {
        shared += mark[work->peer[b]] > 0;
        back = work->peer[b] == p ? b : back;
    }
    work->shared[bond] = work->shared[back] = (uint8_t)shared;
}

static void count_shared(struct ordering *work)
{
    const struct nw_layout *layout = work->layout;

    for (size_t b = 0; b < layout->row[layout->count]; b++)
        work->peer[b] = layout->bond[b].peer;
    look_at_all(work, count_bond);
}

/* Three cells, each next to the others: what each two of them share, and what
 * each sees. */
struct corner {
    int pq, pr, qr, p, q, r;
};

/* Whether the way from p to q by r is the nearer one, as seen from p: at an
 * edge of the grid as near, but it leads away from there. */
static bool goes_by(const struct corner *c)
{
    return c->pr > c->pq || (c->pr == c->pq && c->p < c->r && c->r < c->q);
}

static void find_diagonal(struct ordering *work, const uint8_t *mark, int32_t p,
                          size_t bond)
{
    const struct nw_layout *layout = work->layout;
    const uint8_t *mine = work->shared + layout->row[p];
    int32_t q = work->peer[bond];
    int pq = work->shared[bond];

    work->diagonal[bond] = false;
    for (size_t b = layout->row[q]; b < layout->row[q + 1]; b++) {
        int32_t r = work->peer[b], number = mark[r];
        struct corner there, back;

        if (!number || work->shared[b] < pq || mine[number - 1] < pq)
            continue;
        there = (struct corner){pq,
                                mine[number - 1],
                                work->shared[b],
                                seen_by(layout, p),
                                seen_by(layout, q),
                                seen_by(layout, r)};
        back = (struct corner){there.pq, there.qr, there.pr,
                               there.q,  there.p,  there.r};
        if (goes_by(&there) && goes_by(&back)) {
            work->diagonal[bond] = true;
            return;
        }
    }
}

static bool add_face(struct faces *faces, int32_t cell)
{
    if (faces->count == SLOTS)
        return false;
    faces->cell[faces->count++] = cell;
    return true;
}

static bool find_faces(struct ordering *work)
{
    const struct nw_layout *layout = work->layout;
    bool fit = true;

    look_at_all(work, find_diagonal);
    for (int32_t p = 0; fit && p < layout->count; p++)
        for (size_t b = layout->row[p]; fit && b < layout->row[p + 1]; b++) {
            int32_t q = work->peer[b];

            if (q > p && !work->diagonal[b])
                fit = add_face(&work->faces[p], q) &&
                      add_face(&work->faces[q], p);
        }
    return fit;
}

/* --- directions --- */

static bool is_face(const struct ordering *work, int32_t p, int32_t q)
{
    const struct faces *faces = &work->faces[p];
    int i = 0;

    while (i < faces->count && faces->cell[i] != q)
        i++;
    return i < faces->count;
}

/* Two faces of the root in one dimension have nothing else in common, but that
 * a ring of three closes. */
static bool are_opposite(const struct ordering *work, int32_t root, int32_t p,
                         int32_t q)
{
    const struct faces *faces = &work->faces[p];

    if (is_face(work, p, q))
        return true;
    for (int i = 0; i < faces->count; i++)
        if (faces->cell[i] != root && is_face(work, q, faces->cell[i]))
            return false;
    return true;
}

static void clear_spots(struct ordering *work)
{
    for (int32_t p = 0; p < work->layout->count; p++)
        for (int s = 0; s < SLOTS; s++)
            work->spot[p].next[s] = -1;
}

/* A cell with the fewest faces lies at the end of all open dimensions. */
static int32_t choose_root(const struct ordering *work)
{
    int32_t root = 0;

    for (int32_t p = 1; p < work->layout->count; p++)
        if (work->faces[p].count < work->faces[root].count)
            root = p;
    return root;
}

static bool name_directions(struct ordering *work, int32_t root)
{
    const struct faces *faces = &work->faces[root];
    struct spot *spot = &work->spot[root];

    spot->known = true;
    for (int i = 0; i < faces->count; i++) {
        int d = 0;

        while (d < work->dims &&
               !are_opposite(work, root, faces->cell[i], spot->next[2 * d]))
            d++;
        if (d == NW_TILE_DIMS || spot->next[2 * d + 1] >= 0)
            return false;
        spot->next[2 * d + (d < work->dims)] = faces->cell[i];
        work->dims += d == work->dims;
    }
    return work->dims > 0;
}

/* The direction from a cell to its neighbour q, which lies beside another one,
 * `from`, whose neighbours are marked; -1: straight on. */
static int direction_of(const struct ordering *work, int32_t cell, int32_t q,
                        int came)
{
    const struct faces *faces = &work->faces[q];

    for (int i = 0; i < faces->count; i++) {
        int slot = work->mark[faces->cell[i]] - 1;

        if (slot >= 0 && faces->cell[i] != cell && slot != came &&
            slot != (came ^ 1))
            return slot;
    }
    return -1;
}

/* The neighbours of what lies one step beyond a known cell. */
static bool enter(struct ordering *work, int32_t from, int came)
{
    int32_t cell = work->spot[from].next[came];
    struct spot *spot = &work->spot[cell];
    const struct faces *faces = &work->faces[cell];

    spot->known = true;
    memcpy(spot->at, work->spot[from].at, sizeof spot->at);
    spot->at[came / 2] += came % 2 ? -1 : 1;
    spot->next[came ^ 1] = from;
    for (int i = 0; i < faces->count; i++) {
        int slot;

        if (faces->cell[i] == from)
            continue;
        slot = direction_of(work, cell, faces->cell[i], came);
        if (slot < 0)
            slot = came;
        if (spot->next[slot] >= 0)
            return false;
        spot->next[slot] = faces->cell[i];
    }
    return true;
}

static bool carry_on(struct ordering *work, int32_t root)
{
    int32_t end = 1;
    bool fit = true;

    work->queue[0] = root;
    for (int32_t i = 0; fit && i < end; i++) {
        const struct spot *spot = &work->spot[work->queue[i]];

        for (int s = 0; s < SLOTS; s++)
            if (spot->next[s] >= 0)
                work->mark[spot->next[s]] = (uint8_t)(s + 1);
        for (int s = 0; fit && s < SLOTS; s++) {
            if (spot->next[s] < 0 || work->spot[spot->next[s]].known)
                continue;
            fit = enter(work, work->queue[i], s);
            work->queue[end++] = spot->next[s];
        }
        for (int s = 0; s < SLOTS; s++)
            if (spot->next[s] >= 0)
                work->mark[spot->next[s]] = 0;
    }
    return fit && end == work->layout->count;
}

/* --- the order --- */

/* Along each dimension to its end, or once round it. */
static bool measure(struct ordering *work, int32_t root)
{
    int64_t cells = 1;

    for (int d = 0; d < work->dims; d++) {
        int32_t p = root;

        do {
            p = work->spot[p].next[2 * d];
            work->size[d]++;
        } while (p >= 0 && p != root && work->size[d] < work->layout->count);
        cells *= work->size[d];
        if (cells > work->layout->count)
            return false;
    }
    return cells == work->layout->count;
}

static bool number_cells(const struct ordering *work, int32_t *order)
{
    int32_t count = work->layout->count;

    memset(order, -1, (size_t)count * sizeof *order);
    for (int32_t p = 0; p < count; p++) {
        int32_t cell = 0;

        for (int d = 0; d < work->dims; d++) {
            int32_t size = work->size[d];

            cell = cell * size + (work->spot[p].at[d] % size + size) % size;
        }
        if (order[cell] >= 0)
            return false;
        order[cell] = p;
    }
    return true;
}

static bool find_order(struct ordering *work, int32_t *order)
{
    int32_t root;

    count_shared(work);
    if (!find_faces(work))
        return false;
    clear_spots(work);
    root = choose_root(work);
    return name_directions(work, root) && carry_on(work, root) &&
           measure(work, root) && number_cells(work, order);
}

#define LITTLE 100000 /* bonds: a thread takes longer to start and end */

static int32_t markers_for(const struct nw_layout *layout)
{
    int32_t threads = layout->threads < 1 ? 1 : layout->threads;

    if (layout->row[layout->count] < LITTLE)
        return 1;
    return threads < MARKERS_MOST ? threads : MARKERS_MOST;
}

nw_status nw_tiling_order(const struct nw_layout *layout, int32_t *order,
                          bool *found)
{
    struct ordering work = {.layout = layout};
    size_t n = (size_t)layout->count;
    nw_status status;

    *found = false;
    if (!may_be_grid(layout))
        return NW_OK;
    status = nw_alloc_raw(layout->row[n], sizeof *work.peer, &work.peer);
    if (!status)
        status = nw_alloc(layout->row[n], 1, &work.shared);
    if (!status)
        status = nw_alloc_raw(layout->row[n], 1, &work.diagonal);
    work.markers = markers_for(layout);
    if (!status)
        status = nw_alloc(n * (size_t)work.markers, 1, &work.mark);
    if (!status)
        status = nw_alloc(n, sizeof *work.faces, &work.faces);
    if (!status)
        status = nw_alloc(n, sizeof *work.spot, &work.spot);
    if (!status)
        status = nw_alloc(n, sizeof *work.queue, &work.queue);
    if (!status)
        *found = find_order(&work, order);
    free(work.peer);
    free(work.shared);
    free(work.diagonal);
    free(work.mark);
    free(work.faces);
    free(work.spot);
    free(work.queue);
    return status;
}
