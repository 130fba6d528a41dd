/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the grid of a stencil under any numbering of the processes. Edges
 * between diagonal neighbours are distinguished from edges across the faces of
 * cells by the number of neighbours that both ends have in common (Cartesian
 * skeleton of a strong product: Hammack and Imrich 2009, On Cartesian skeletons
 * of graphs). Then a direction is given to each face neighbour of one corner
 * cell, the root. Directions are carried from cell to cell: two face neighbours
 * of a cell in different dimensions have one more face neighbour in common. The
 * result is an order of the processes, in which grid_numbered.c finds the grid.
 */
#include "map/stencil/grid.h"
#include "map/common/parameters.h"
#include "base/array.h"
#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* Most edges of a process: a cell with all its neighbours in four dimensions.
 */
#define EDGES_MAX 80
/* Most different numbers of edges that processes of a grid can have: inside it
 * and near its borders. */
#define DEGREES_MAX (2 * NW_STENCIL_DIMS + 1)
/* Number of directions of a cell: 2 d is up in dimension d, 2 d + 1 is down. */
#define SLOTS (2 * NW_STENCIL_DIMS)
/* Most threads that use a mark array at the same time. */
#define MARKERS_MAX 64

/* The face neighbours of a cell: those across its faces, not diagonal ones. */
struct grid_unordered_faces {
    int32_t count, cell[SLOTS];
};

/* The face neighbours of a cell by direction (-1: none, beyond a border), and
 * its coordinates relative to the root. */
struct grid_unordered_spot {
    bool known; /* the directions of this cell are known: `at` and `next` are
                   set */
    int32_t at[NW_STENCIL_DIMS], next[SLOTS];
};

/* State of the search. */
struct grid_unordered_work {
    const struct nw_assignment *assignment;
    int32_t *peer; /* [edges] peer of each edge of `assignment`, copied without
                      the weights so that loops read less memory */
    uint8_t *shared; /* [edges] number of neighbours that the two ends of the
                        edge have in common, plus 2 for the ends */
    bool *diagonal;  /* [edges] the edge joins diagonal neighbours; set only at
                        its end with the lower number */
    uint8_t *mark; /* [markers][count] marks of processes, one array per thread;
                      all 0 while not in use */
    int32_t markers;                    /* number of arrays in `mark` */
    bool taken[MARKERS_MAX];            /* arrays that are in use by a thread */
    struct grid_unordered_faces *faces; /* [count] face neighbours of cells */
    struct grid_unordered_spot *spot;   /* [count] directions of cells */
    int32_t *queue;                     /* [count] known cells in the order of
                                           their distance from the root */
    int dims;                           /* number of dimensions, from the
                                           directions of the root */
    int32_t size[NW_STENCIL_DIMS];      /* number of cells in each dimension */
    /* function that is called for an edge of process p while the neighbours of
     * p are marked */
    void (*look)(struct grid_unordered_work *work, const uint8_t *mark,
                 int32_t p, size_t edge);
};

/* Returns the number of processes among p and its neighbours: p counts, too, as
 * both ends of an edge do in `shared`. */
static int32_t grid_unordered_seen_by(const struct nw_assignment *assignment,
                                      int32_t p)
{
    return (int32_t)(assignment->row[p + 1] - assignment->row[p]) + 1;
}

/* Returns true if the numbers of edges of the processes may be those of a grid,
 * there are enough processes, and loads are not limited. This excludes most
 * other patterns at little cost. */
static bool grid_unordered_may_be_grid(const struct nw_assignment *assignment)
{
    bool seen[EDGES_MAX + 2] = {false};
    int degrees = 0;

    if (assignment->count < nw_tuned.tiling.cells_min || assignment->load)
        return false;
    for (int32_t p = 0; p < assignment->count; p++) {
        int32_t degree = grid_unordered_seen_by(assignment, p);

        if (degree < 2 || degree > EDGES_MAX + 1)
            return false;
        degrees += !seen[degree];
        seen[degree] = true;
    }
    return degrees <= DEGREES_MAX;
}

/* --- faces --- */

/* Sets mark[] of each neighbour of p to 1 + the index of its edge among the
 * edges of p; sets these marks to 0 if `on` is false. */
static void grid_unordered_mark_peers(const struct grid_unordered_work *work,
                                      uint8_t *mark, int32_t p, bool on)
{
    const struct nw_assignment *assignment = work->assignment;

    for (size_t b = assignment->row[p]; b < assignment->row[p + 1]; b++)
        mark[work->peer[b]] = on ? (uint8_t)(b - assignment->row[p] + 1) : 0;
}

/* Calls work->look for each edge to a higher number, for one range of the
 * processes; a task for threads. */
static void grid_unordered_look_at_part(void *user, int32_t number)
{
    struct grid_unordered_work *work = user;
    const struct nw_assignment *assignment = work->assignment;
    struct nw_parallel_range part =
        nw_parallel_range(assignment->count, number);
    int32_t marker = nw_parallel_claim(work->taken, work->markers);
    uint8_t *mark = work->mark + (size_t)marker * (size_t)assignment->count;

    for (int32_t p = (int32_t)part.first; p < part.end; p++) {
        grid_unordered_mark_peers(work, mark, p, true);
        for (size_t b = assignment->row[p]; b < assignment->row[p + 1]; b++)
            if (work->peer[b] > p)
                work->look(work, mark, p, b);
        grid_unordered_mark_peers(work, mark, p, false);
    }
    nw_parallel_release(work->taken, marker);
}

/* Counts the neighbours that both ends of an edge have in common and stores 2 +
 * that number in `shared`, at both ends. */
static void grid_unordered_count_edge(struct grid_unordered_work *work,
                                      const uint8_t *mark, int32_t p,
                                      size_t edge)
{
    const struct nw_assignment *assignment = work->assignment;
    int32_t q = work->peer[edge];
    size_t back = edge;
    int shared = 2;

    for (size_t b = assignment->row[q]; b < assignment->row[q + 1]; b++) {
        shared += mark[work->peer[b]] > 0;
        back = work->peer[b] == p ? b : back;
    }
    work->shared[edge] = work->shared[back] = (uint8_t)shared;
}

/* Returns true if a cell r is nearer to a cell p than its neighbour q is: then
 * the edge from p to q may be a diagonal. r is nearer if it has more neighbours
 * in common with p (pr) than q has (pq). At the border of the grid the numbers
 * may be equal; then r is nearer if the numbers of neighbours (p, r, q)
 * increase from p to r to q. */
static inline bool grid_unordered_goes_by(int pr, int pq, int32_t p, int32_t r,
                                          int32_t q)
{
    return pr > pq || (pr == pq && p < r && r < q);
}

/* Sets work->diagonal for the edge from p to q: true if some common neighbour r
 * is nearer to p than q is, and nearer to q than p is. */
static void grid_unordered_find_diagonal(struct grid_unordered_work *work,
                                         const uint8_t *mark, int32_t p,
                                         size_t edge)
{
    const struct nw_assignment *assignment = work->assignment;
    const uint8_t *mine = work->shared + assignment->row[p];
    int32_t q = work->peer[edge];
    int pq = work->shared[edge];
    int32_t seen_by_p = grid_unordered_seen_by(assignment, p);
    int32_t seen_by_q = grid_unordered_seen_by(assignment, q);

    work->diagonal[edge] = false;
    for (size_t b = assignment->row[q]; b < assignment->row[q + 1]; b++) {
        int32_t r = work->peer[b], number = mark[r];
        int32_t seen_by_r = grid_unordered_seen_by(assignment, r);

        if (number &&
            grid_unordered_goes_by(mine[number - 1], pq, seen_by_p, seen_by_r,
                                   seen_by_q) &&
            grid_unordered_goes_by(work->shared[b], pq, seen_by_q, seen_by_r,
                                   seen_by_p)) {
            work->diagonal[edge] = true;
            return;
        }
    }
}

/* Adds `cell` to the face neighbours of a cell. Returns false if there are too
 * many. */
static bool grid_unordered_add_face(struct grid_unordered_faces *faces,
                                    int32_t cell)
{
    if (faces->count == SLOTS)
        return false;
    faces->cell[faces->count++] = cell;
    return true;
}

/* Fills work->faces. Returns false if a cell has more than SLOTS face
 * neighbours. */
static bool grid_unordered_find_faces(struct grid_unordered_work *work)
{
    const struct nw_assignment *assignment = work->assignment;
    bool fit = true;

    work->look = grid_unordered_find_diagonal;
    nw_parallel_run(grid_unordered_look_at_part, work, NW_PARALLEL_RANGES,
                    work->markers);
    for (int32_t p = 0; fit && p < assignment->count; p++)
        for (size_t b = assignment->row[p]; fit && b < assignment->row[p + 1];
             b++) {
            int32_t q = work->peer[b];

            if (q > p && !work->diagonal[b])
                fit = grid_unordered_add_face(&work->faces[p], q) &&
                      grid_unordered_add_face(&work->faces[q], p);
        }
    return fit;
}

/* --- directions --- */

/* Returns true if q is a face neighbour of p. */
static bool grid_unordered_is_face(const struct grid_unordered_work *work,
                                   int32_t p, int32_t q)
{
    const struct grid_unordered_faces *faces = &work->faces[p];
    int i = 0;

    while (i < faces->count && faces->cell[i] != q)
        i++;
    return i < faces->count;
}

/* Returns true if p and q, two face neighbours of the root, are in opposite
 * directions of one dimension: they have no common face neighbour except the
 * root, or they touch (a ring of three cells). A ring of four counts as two
 * dimensions of two cells. */
static bool grid_unordered_are_opposite(const struct grid_unordered_work *work,
                                        int32_t root, int32_t p, int32_t q)
{
    const struct grid_unordered_faces *faces = &work->faces[p];

    if (grid_unordered_is_face(work, p, q))
        return true;
    for (int i = 0; i < faces->count; i++)
        if (faces->cell[i] != root &&
            grid_unordered_is_face(work, q, faces->cell[i]))
            return false;
    return true;
}

/* Sets all directions of all cells to -1 (no neighbour). Returns a cell with
 * the fewest face neighbours, from which the directions are carried on: it is
 * at a corner in all dimensions that are not periodic. */
static int32_t
grid_unordered_clear_spots(const struct grid_unordered_work *work)
{
    int32_t root = 0;

    for (int32_t p = 0; p < work->assignment->count; p++) {
        for (int s = 0; s < SLOTS; s++)
            work->spot[p].next[s] = -1;
        if (work->faces[p].count < work->faces[root].count)
            root = p;
    }
    return root;
}

/* Gives each face neighbour of the root a direction: opposite neighbours get
 * both directions of one dimension. Returns false if there are too many
 * dimensions or none, or three neighbours would be in one dimension. */
static bool grid_unordered_name_directions(struct grid_unordered_work *work,
                                           int32_t root)
{
    const struct grid_unordered_faces *faces = &work->faces[root];
    struct grid_unordered_spot *spot = &work->spot[root];

    spot->known = true;
    for (int i = 0; i < faces->count; i++) {
        int d = 0;

        while (d < work->dims &&
               !grid_unordered_are_opposite(work, root, faces->cell[i],
                                            spot->next[2 * d]))
            d++;
        if (d == NW_STENCIL_DIMS || spot->next[2 * d + 1] >= 0)
            return false;
        spot->next[2 * d + (d < work->dims)] = faces->cell[i];
        work->dims += d == work->dims;
    }
    return work->dims > 0;
}

/* Returns the direction from `cell` to its face neighbour q. `cell` was reached
 * from another cell in direction `came`, and the face neighbours of that other
 * cell are marked with their directions. If one of these, in another dimension
 * than `came`, is a face neighbour of q, its direction is the answer. Otherwise
 * q is straight ahead, in direction `came`, and -1 is returned. */
static int grid_unordered_direction_of(const struct grid_unordered_work *work,
                                       int32_t cell, int32_t q, int came)
{
    const struct grid_unordered_faces *faces = &work->faces[q];

    for (int i = 0; i < faces->count; i++) {
        int slot = work->mark[faces->cell[i]] - 1;

        if (slot >= 0 && faces->cell[i] != cell && slot != came &&
            slot != (came ^ 1))
            return slot;
    }
    return -1;
}

/* Makes the cell known that is one step in direction `came` from the known cell
 * `from`: sets its coordinates and its neighbours by direction. Returns false
 * if two neighbours would be in the same direction. */
static bool grid_unordered_enter(struct grid_unordered_work *work, int32_t from,
                                 int came)
{
    int32_t cell = work->spot[from].next[came];
    struct grid_unordered_spot *spot = &work->spot[cell];
    const struct grid_unordered_faces *faces = &work->faces[cell];

    spot->known = true;
    memcpy(spot->at, work->spot[from].at, sizeof spot->at);
    spot->at[came / 2] += came % 2 ? -1 : 1;
    spot->next[came ^ 1] = from;
    for (int i = 0; i < faces->count; i++) {
        int slot;

        if (faces->cell[i] == from)
            continue;
        slot = grid_unordered_direction_of(work, cell, faces->cell[i], came);
        if (slot < 0)
            slot = came;
        if (spot->next[slot] >= 0)
            return false;
        spot->next[slot] = faces->cell[i];
    }
    return true;
}

/* Makes all cells known, from the root outwards, nearest cells first. Returns
 * false if directions contradict each other or do not reach every cell. */
static bool grid_unordered_carry_on(struct grid_unordered_work *work,
                                    int32_t root)
{
    int32_t end = 1;
    bool fit = true;

    work->queue[0] = root;
    for (int32_t i = 0; fit && i < end; i++) {
        const struct grid_unordered_spot *spot = &work->spot[work->queue[i]];

        for (int s = 0; s < SLOTS; s++)
            if (spot->next[s] >= 0)
                work->mark[spot->next[s]] = (uint8_t)(s + 1);
        for (int s = 0; fit && s < SLOTS; s++) {
            if (spot->next[s] < 0 || work->spot[spot->next[s]].known)
                continue;
            fit = grid_unordered_enter(work, work->queue[i], s);
            work->queue[end++] = spot->next[s];
        }
        for (int s = 0; s < SLOTS; s++)
            if (spot->next[s] >= 0)
                work->mark[spot->next[s]] = 0;
    }
    return fit && end == work->assignment->count;
}

/* --- the order of the cells --- */

/* Sets work->size: the number of cells in each dimension, counted from the root
 * to the border or, if the dimension is periodic, once around. Returns false if
 * their product is not the number of processes. */
static bool grid_unordered_measure(struct grid_unordered_work *work,
                                   int32_t root)
{
    int64_t cells = 1;

    for (int d = 0; d < work->dims; d++) {
        int32_t p = root;

        do {
            p = work->spot[p].next[2 * d];
            work->size[d]++;
        } while (p >= 0 && p != root &&
                 work->size[d] < work->assignment->count);
        cells *= work->size[d];
        if (cells > work->assignment->count)
            return false;
    }
    return cells == work->assignment->count;
}

/* Fills order[count] with the process of each cell, row by row. Returns false
 * if two processes have the same coordinates. */
static bool grid_unordered_number_cells(const struct grid_unordered_work *work,
                                        int32_t *order)
{
    int32_t count = work->assignment->count;

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

/* Fills order[count] with the process of each cell, row by row. Returns false
 * if the processes form no grid. */
static bool grid_unordered_find_order(struct grid_unordered_work *work,
                                      int32_t *order)
{
    const struct nw_assignment *assignment = work->assignment;
    int32_t root;

    for (size_t b = 0; b < assignment->row[assignment->count]; b++)
        work->peer[b] = assignment->edge[b].peer;
    work->look = grid_unordered_count_edge;
    nw_parallel_run(grid_unordered_look_at_part, work, NW_PARALLEL_RANGES,
                    work->markers);
    if (!grid_unordered_find_faces(work))
        return false;
    root = grid_unordered_clear_spots(work);
    return grid_unordered_name_directions(work, root) &&
           grid_unordered_carry_on(work, root) &&
           grid_unordered_measure(work, root) &&
           grid_unordered_number_cells(work, order);
}

nw_status nw_stencil_find_unordered(const struct nw_assignment *assignment,
                                    int32_t *order, bool *found)
{
    struct grid_unordered_work work = {.assignment = assignment, .markers = 1};
    size_t n = (size_t)assignment->count;
    size_t edges = assignment->row[n];
    nw_status status;

    *found = false;
    if (!grid_unordered_may_be_grid(assignment))
        return NW_OK;
    /* threads that read edges at the same time, each with a mark array */
    if (edges >= nw_tuned.threads.edges_min && assignment->threads > 1)
        work.markers = assignment->threads < MARKERS_MAX ? assignment->threads
                                                         : MARKERS_MAX;
    status = NW_ALLOC_ALL(
        NW_ARRAY_RAW(edges, work.peer), NW_ARRAY(edges, work.shared),
        NW_ARRAY_RAW(edges, work.diagonal),
        NW_ARRAY(n * (size_t)work.markers, work.mark), NW_ARRAY(n, work.faces),
        NW_ARRAY(n, work.spot), NW_ARRAY(n, work.queue));
    if (!status)
        *found = grid_unordered_find_order(&work, order);
    NW_FREE_ALL(work.peer, work.shared, work.diagonal, work.mark, work.faces,
                work.spot, work.queue);
    return status;
}
