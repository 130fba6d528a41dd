/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rank has which particles: the domain is divided into boxes of equal
 * size, whose neighbours are at their six faces. Faces are exchanged one
 * dimension after the other, so that particles at edges and corners are passed
 * on. Dimensions that are not divided come last, so that periodic images of own
 * particles are not sent. Between new lists, only the positions of particles
 * near a face are sent, from and to GPU memory.
 */
#include "lj.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPOT = sizeof(struct lj_spot), INDEX = sizeof(int), SEED = 7 };

/* Divides the domain into the boxes with the least surface, which are longest
 * along z. */
static void divide(struct lj_part *part)
{
    double least = INFINITY;

    for (int x = 1; x <= part->ranks; x++)
        for (int y = x; part->ranks % x == 0 && y <= part->ranks / x; y++) {
            int z = part->ranks / x / y;
            double surface = 1.0 / (x * y) + 1.0 / (y * z) + 1.0 / (x * z);

            if (part->ranks % (x * y) || z < y || surface >= least)
                continue;
            least = surface;
            part->grid[0] = x;
            part->grid[1] = y;
            part->grid[2] = z;
        }
}

static int rank_at(const struct lj_part *part, const int place[3])
{
    return (place[2] * part->grid[1] + place[1]) * part->grid[0] + place[0];
}

int lj_neighbour(const struct lj_part *part, int dimension, int side)
{
    int place[3] = {part->place[0], part->place[1], part->place[2]};
    int n = part->grid[dimension];

    place[dimension] = (place[dimension] + (side == LJ_UP ? 1 : n - 1)) % n;
    return rank_at(part, place);
}

static void place_box(struct lj_part *part, int particles)
{
    part->box = cbrtf((float)particles / LJ_DENSITY);
    divide(part);
    for (int d = 0, rest = part->rank; d < 3; rest /= part->grid[d++]) {
        float width = part->box / (float)part->grid[d];

        lj_must(width >= LJ_REACH, "boxes are thinner than forces reach");
        part->place[d] = rest % part->grid[d];
        part->low[d] = width * (float)part->place[d];
        part->high[d] = width * (float)(part->place[d] + 1);
        part->cells[d] = (int)((width + 2 * LJ_REACH) / LJ_REACH);
    }
}

static void *memory(size_t count, size_t bytes)
{
    void *out = calloc(count, bytes);

    lj_must(out != NULL, "memory");
    return out;
}

void lj_part_new(struct lj_part *part, int particles)
{
    float outer = 1;
    size_t room;

    place_box(part, particles);
    for (int d = 0; d < 3; d++) {
        outer *= part->high[d] - part->low[d] + 2 * LJ_REACH;
    }
    room = (size_t)(1.3f * LJ_DENSITY * outer) + 1000;
    part->room = (int)room;
    part->at = lj_memory(room * SPOT);
    part->speed = lj_memory(room * SPOT);
    part->force = lj_memory(room * SPOT);
    for (int s = 0; s < LJ_SIDES; s++) {
        part->packed[s] = lj_memory(room * 2 * SPOT);
        part->unpacked[s] = lj_memory(room * 2 * SPOT);
    }
    for (int d = 0; d < 3; d++)
        for (int s = 0; s < LJ_SIDES; s++)
            part->side[d][s].list = memory(room, INDEX);
    part->listed = memory(room, SPOT);
    part->first = memory((size_t)part->cells[0] * (size_t)part->cells[1] *
                             (size_t)part->cells[2],
                         INDEX);
    part->next = memory(room, INDEX);
    part->near_from = memory(room + 1, INDEX);
}

static float normal(struct nw_random *random)
{
    double a = ((double)nw_random_below(random, 1 << 24) + 0.5) / (1 << 24),
           b = (double)nw_random_below(random, 1 << 24) / (1 << 24);

    return (float)(sqrt(-2 * log(a)) * cos(6.283185307179586 * b));
}

/* Puts particles on a lattice, each with a velocity that depends only on its
 * number. */
void lj_part_start(struct lj_part *part, int particles)
{
    int edge = (int)lround(cbrt(particles));

    part->own = part->ghosts = 0;
    for (int id = 0; id < particles; id++) {
        int site[3] = {id % edge, id / edge % edge, id / edge / edge};
        struct lj_spot spot = {.id = (float)id}, speed = {.id = 0};
        struct nw_random random;
        bool mine = true;

        nw_random_init(&random, SEED + (uint64_t)id);
        for (int d = 0; d < 3; d++) {
            spot.x[d] = part->box * ((float)site[d] + 0.5f) / (float)edge;
            speed.x[d] = sqrtf(LJ_HEAT) * normal(&random);
            mine &= spot.x[d] >= part->low[d] && spot.x[d] < part->high[d];
        }
        if (!mine)
            continue;
        lj_must(part->own < part->room, "more particles than there is room");
        part->at[part->own] = spot;
        part->speed[part->own++] = speed;
    }
}

/* -- messages through the two faces of a dimension -- */

static void swap(struct lj_part *part, int d, struct lj_move move[LJ_SIDES])
{
    for (int s = 0; s < LJ_SIDES; s++) {
        move[s].to = lj_neighbour(part, d, s);
        move[s].from = lj_neighbour(part, d, !s);
    }
    lj_swap(part, move);
}

static void swap_counts(struct lj_part *part, int d, const int out[LJ_SIDES],
                        int in[LJ_SIDES])
{
    struct lj_move move[LJ_SIDES];

    for (int s = 0; s < LJ_SIDES; s++)
        move[s] = (struct lj_move){(void *)&out[s], &in[s], INDEX, INDEX, 0, 0};
    swap(part, d, move);
}

/* Returns the distance to add to the position of a particle that leaves through
 * this face: the side of the box with its sign at a periodic border, otherwise
 * 0. */
static float shift(const struct lj_part *part, int d, int side)
{
    if (side == LJ_DOWN)
        return part->place[d] ? 0 : part->box;
    return part->place[d] < part->grid[d] - 1 ? 0 : -part->box;
}

/* -- particles that have left -- */

static int face_of(const struct lj_part *part, int i, int d)
{
    float x = part->at[i].x[d];

    return x < part->low[d] ? LJ_DOWN : x >= part->high[d] ? LJ_UP : -1;
}

static void pack_leaver(struct lj_part *part, int i, int d, int side, int count)
{
    struct lj_spot *to = &part->packed[side][2 * count];

    to[0] = part->at[i];
    to[1] = part->speed[i];
    to[0].x[d] += shift(part, d, side);
}

static void take_in(struct lj_part *part, const struct lj_spot *from, int count)
{
    lj_must(part->own + count <= part->room, "more came than there is room");
    for (int i = 0; i < count; i++, part->own++) {
        part->at[part->own] = from[2 * i];
        part->speed[part->own] = from[2 * i + 1];
    }
}

/* Moves particles that have left the box along dimension d to its
 * neighbours. */
static void migrate_through(struct lj_part *part, int d)
{
    int out[LJ_SIDES] = {0}, in[LJ_SIDES] = {0}, kept = 0;
    struct lj_move move[LJ_SIDES];

    for (int i = 0; i < part->own; i++) {
        int side = face_of(part, i, d);

        if (side >= 0) {
            pack_leaver(part, i, d, side, out[side]++);
            continue;
        }
        part->at[kept] = part->at[i];
        part->speed[kept++] = part->speed[i];
    }
    lj_work(part,
            (size_t)part->own * SPOT + (size_t)(out[0] + out[1]) * 4 * SPOT);
    part->own = kept;
    if (part->grid[d] == 1) {
        for (int s = 0; s < LJ_SIDES; s++)
            take_in(part, part->packed[s], out[s]);
        return;
    }
    swap_counts(part, d, out, in);
    for (int s = 0; s < LJ_SIDES; s++) {
        lj_must(in[s] >= 0 && in[s] <= part->room, "a count that cannot be");
        move[s] = (struct lj_move){part->packed[s],
                                   part->unpacked[s],
                                   (size_t)out[s] * 2 * SPOT,
                                   (size_t)in[s] * 2 * SPOT,
                                   0,
                                   0};
        part->side[d][s].leavers += (double)move[s].out_bytes;
    }
    swap(part, d, move);
    for (int s = 0; s < LJ_SIDES; s++)
        take_in(part, part->unpacked[s], in[s]);
}

void lj_migrate(struct lj_part *part)
{
    part->ghosts = 0;
    for (int d = 2; d >= 0; d--)
        migrate_through(part, d);
}

/* -- copies of particles near a face, for the neighbour -- */

static void pack_side(struct lj_part *part, int d, int s)
{
    const struct lj_side *side = &part->side[d][s];
    float by = shift(part, d, s);

    for (int i = 0; i < side->count; i++) {
        part->packed[s][i] = part->at[side->list[i]];
        part->packed[s][i].x[d] += by;
    }
}

/* Sends the positions of the lists of a dimension to their places at the
 * neighbours. */
static void send_lists(struct lj_part *part, int d)
{
    struct lj_side *side = part->side[d];
    struct lj_move move[LJ_SIDES];

    for (int s = 0; s < LJ_SIDES; s++)
        pack_side(part, d, s);
    lj_work(part, (size_t)(side[0].count + side[1].count) * (2 * SPOT + INDEX));
    for (int s = 0; s < LJ_SIDES; s++) {
        size_t bytes = (size_t)side[s].count * SPOT;
        struct lj_spot *to = &part->at[side[s].first];

        if (part->grid[d] == 1)
            memcpy(to, part->packed[s], bytes);
        move[s] = (struct lj_move){
            part->packed[s], to, bytes, (size_t)side[s].came * SPOT, 0, 0};
        side[s].positions += (double)bytes;
    }
    if (part->grid[d] > 1)
        swap(part, d, move);
}

static void list_side(struct lj_part *part, int d, int s, int all)
{
    struct lj_side *side = &part->side[d][s];

    side->count = 0;
    for (int i = 0; i < all; i++)
        if (s == LJ_DOWN ? part->at[i].x[d] < part->low[d] + LJ_REACH
                         : part->at[i].x[d] >= part->high[d] - LJ_REACH)
            side->list[side->count++] = i;
}

void lj_ghosts_find(struct lj_part *part)
{
    part->ghosts = 0;
    for (int d = 2; d >= 0; d--) {
        int all = part->own + part->ghosts;
        int out[LJ_SIDES], in[LJ_SIDES];

        for (int s = 0; s < LJ_SIDES; s++) {
            list_side(part, d, s, all);
            out[s] = in[s] = part->side[d][s].count;
        }
        lj_work(part, (size_t)all * SPOT);
        if (part->grid[d] > 1)
            swap_counts(part, d, out, in);
        for (int s = 0; s < LJ_SIDES; s++) {
            lj_must(in[s] >= 0 &&
                        part->own + part->ghosts + in[s] <= part->room,
                    "more ghosts than there is room");
            part->side[d][s].first = part->own + part->ghosts;
            part->side[d][s].came = in[s];
            part->ghosts += in[s];
        }
        send_lists(part, d);
    }
}

void lj_ghosts_update(struct lj_part *part)
{
    for (int i = 0; i < part->own; i++)
        for (int d = 0; d < 3; d++)
            lj_must(fabsf(part->at[i].x[d] - part->listed[i].x[d]) <
                        LJ_SKIN / 2,
                    "a particle is too fast for the lists");
    for (int d = 2; d >= 0; d--)
        send_lists(part, d);
}
