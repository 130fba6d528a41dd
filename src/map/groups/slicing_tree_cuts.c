/* SPDX-License-Identifier: BSD-3-Clause */
/* Divides the whole grid by a slicing tree, or the cells of one node of the
 * tree again after a change, and counts the bytes that each part exchanges with
 * other parts. */
#include "map/groups/slicing_tree_internal.h"
#include "map/common/parameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The order of cells at equal distances from a cut's centre, as a small number
 * that is added to the distance of each cell. The number is first + sum over d
 * of coordinate[d] x each[d]; dimension `lead` is most significant. */
struct slicing_tree_order {
    double first, each[NW_STENCIL_DIMS];
};

/* Returns the order of cells at equal distances for a cut. */
static struct slicing_tree_order
slicing_tree_order_of(const struct slicing_tree_work *work,
                      const struct slicing_tree_cut *cut)
{
    const struct nw_stencil *stencil = work->stencil;
    struct slicing_tree_order order = {.first = 0};
    double unit = nw_tuned.slicing_tree.order_weight / work->ranks;

    for (int i = stencil->dims - 1; i >= 0; i--) {
        int d = (cut->lead + i) % stencil->dims;
        bool turned = cut->turned >> d & 1;

        order.each[d] = turned ? -unit : unit;
        order.first += turned ? unit * (stencil->size[d] - 1) : 0;
        unit *= stencil->size[d];
    }
    return order;
}

/* Fills centre[] with the point from which the cut of `piece` measures
 * distances. cut->at[] is its position in the bounding box of the piece's
 * `count` cells. */
static void slicing_tree_find_centre(const struct slicing_tree_work *work,
                                     const struct slicing_tree_piece *piece,
                                     int32_t count, double *centre)
{
    for (int d = 0; d < work->stencil->dims; d++) {
        int32_t low = work->stencil->size[d], high = 0;

        for (int32_t i = 0; i < count; i++) {
            int32_t at = work->cell[piece->box[i].rank][d];

            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        centre[d] = low + (high - low) * piece->cut->at[d];
    }
}

/* Computes for each of the `count` cells of a piece the value `far` of its box.
 * The cut of the piece sorts the cells by this value. */
static void slicing_tree_measure(const struct slicing_tree_work *work,
                                 const struct slicing_tree_piece *piece,
                                 int32_t count)
{
    const struct slicing_tree_cut *cut = piece->cut;
    struct slicing_tree_order order = slicing_tree_order_of(work, cut);
    double centre[NW_STENCIL_DIMS];

    if (!cut->across)
        slicing_tree_find_centre(work, piece, count, centre);
    for (int32_t i = 0; i < count; i++) {
        const int32_t *cell = work->cell[piece->box[i].rank];
        double far = 0, edge = order.first;

        for (int d = 0; d < work->stencil->dims; d++) {
            double away =
                cut->across ? 0 : fabs(cell[d] - centre[d]) * cut->far[d];

            far = away > far ? away : far;
            edge += cell[d] * order.each[d];
        }
        piece->box[i].far = far + edge;
    }
}

/* Returns true if cell a comes before cell b: its `far` (order of the cut) is
 * smaller, or equal and its rank is lower. */
static bool slicing_tree_is_before(struct slicing_tree_box a,
                                   struct slicing_tree_box b)
{
    return a.far < b.far || (a.far == b.far && a.rank < b.rank);
}

/* Reorders box[count] so that the `want` cells with the smallest `far` come
 * first (quickselect). */
static void slicing_tree_select_boxes(struct slicing_tree_box *box,
                                      int32_t count, int32_t want)
{
    int32_t low = 0, high = count - 1;

    while (low < high) {
        struct slicing_tree_box middle = box[low + (high - low) / 2];
        int32_t i = low, j = high;

        while (i <= j) {
            while (slicing_tree_is_before(box[i], middle))
                i++;
            while (slicing_tree_is_before(middle, box[j]))
                j--;
            if (i <= j) {
                struct slicing_tree_box other = box[i];

                box[i++] = box[j];
                box[j--] = other;
            }
        }
        if (want <= j)
            high = j;
        else if (want >= i)
            low = i;
        else
            return;
    }
}

int32_t nw_slicing_tree_count_boxes(const struct slicing_tree_work *work,
                                    const struct slicing_tree_piece *piece)
{
    return work->sizes.first[piece->first + piece->parts] -
           work->sizes.first[piece->first];
}

/* Sets half[] to the two pieces before and after the cut of `piece`. The cells
 * must be sorted by this cut before the halves are used. */
static void slicing_tree_split(const struct slicing_tree_work *work,
                               const struct slicing_tree_piece *piece,
                               struct slicing_tree_piece half[2])
{
    int32_t parts = 1 + (int32_t)(piece->cut->share * (piece->parts - 1));

    half[0] = half[1] = *piece;
    half[0].parts = parts;
    half[0].cut++;
    half[1].parts -= parts;
    half[1].first += parts;
    half[1].cut += parts;
    half[1].box += nw_slicing_tree_count_boxes(work, &half[0]);
}

/* Divides the cells of a piece by its cuts, down to single parts, and writes
 * the part of each cell to work->part. */
static void slicing_tree_slice(struct slicing_tree_work *work,
                               const struct slicing_tree_piece *piece)
{
    int32_t count = nw_slicing_tree_count_boxes(work, piece);
    struct slicing_tree_piece half[2];

    if (piece->parts == 1) {
        for (int32_t i = 0; i < count; i++)
            work->part[piece->box[i].rank] = work->sizes.name[piece->first];
        return;
    }
    slicing_tree_split(work, piece, half);
    slicing_tree_measure(work, piece, count);
    slicing_tree_select_boxes(piece->box, count,
                              nw_slicing_tree_count_boxes(work, &half[0]));
    slicing_tree_slice(work, &half[0]);
    slicing_tree_slice(work, &half[1]);
}

/* Returns the whole grid as a piece. */
static struct slicing_tree_piece
slicing_tree_whole(const struct slicing_tree_work *work)
{
    return (struct slicing_tree_piece){work->box, work->cut, work->best->parts,
                                       0};
}

/* Fills work->leaving: the bytes that each part sends to and receives from
 * other parts. */
static void slicing_tree_count_leaving(struct slicing_tree_work *work)
{
    const struct nw_slots *slots = work->slots;
    const int32_t *part = work->part;

    memset(work->leaving, 0, (size_t)work->best->parts * sizeof *work->leaving);
    for (int32_t r = 0; r < slots->rank_count; r++)
        for (size_t t = slots->row[r]; t < slots->row[r + 1]; t++)
            if (part[slots->edge[t].peer] != part[r])
                work->leaving[part[r]] +=
                    slots->edge[t].out + slots->edge[t].in;
}

void nw_slicing_tree_slice_all(struct slicing_tree_work *work)
{
    struct slicing_tree_piece all = slicing_tree_whole(work);

    for (int32_t r = 0; r < work->ranks; r++)
        work->box[r].rank = r;
    slicing_tree_slice(work, &all);
    slicing_tree_count_leaving(work);
}

struct slicing_tree_piece
nw_slicing_tree_find_piece(const struct slicing_tree_work *work,
                           const struct slicing_tree_cut *cut)
{
    struct slicing_tree_piece piece = slicing_tree_whole(work), half[2];

    while (piece.cut != cut) {
        slicing_tree_split(work, &piece, half);
        piece = half[cut >= half[1].cut];
    }
    return piece;
}

/* Moves a rank to part `to` and updates the bytes that the parts exchange. */
static void slicing_tree_move_rank(struct slicing_tree_work *work, int32_t rank,
                                   int32_t to)
{
    const struct nw_slots *slots = work->slots;
    int32_t from = work->part[rank];

    for (size_t t = slots->row[rank]; t < slots->row[rank + 1]; t++) {
        const struct nw_directed_edge *edge = &slots->edge[t];
        double bytes = edge->out + edge->in;
        int32_t there = work->part[edge->peer];

        if (edge->peer == rank)
            continue;
        work->leaving[from] += there == from ? bytes : -bytes;
        work->leaving[to] += there == to ? -bytes : bytes;
    }
    work->part[rank] = to;
}

void nw_slicing_tree_reslice(struct slicing_tree_work *work,
                             const struct slicing_tree_piece *piece)
{
    int32_t count = nw_slicing_tree_count_boxes(work, piece);
    struct slicing_tree_remains *before = &work->before;

    memcpy(before->box, piece->box, (size_t)count * sizeof *before->box);
    memcpy(before->leaving, work->leaving,
           (size_t)work->best->parts * sizeof *before->leaving);
    for (int32_t i = 0; i < count; i++)
        before->part[i] = work->part[before->box[i].rank];
    slicing_tree_slice(work, piece);
    for (int32_t i = 0; i < count; i++) {
        int32_t *part = &work->part[before->box[i].rank];

        before->now[i] = *part;
        *part = before->part[i];
    }
    for (int32_t i = 0; i < count; i++)
        if (before->now[i] != before->part[i])
            slicing_tree_move_rank(work, before->box[i].rank, before->now[i]);
}
