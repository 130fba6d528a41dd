/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the motion from the positions: cells, lists of near particles,
 * forces, and half steps of velocity Verlet. Each function charges the time of
 * a kernel that would move the same bytes. */
#include "lj.h"

#include <math.h>
#include <stdlib.h>

enum { SPOT = sizeof(struct lj_spot), INDEX = sizeof(int) };

static int cell_of(const struct lj_part *part, const float *x)
{
    int cell = 0;

    for (int d = 2; d >= 0; d--) {
        float width = part->high[d] - part->low[d] + 2 * LJ_REACH;
        float place = (x[d] - part->low[d] + LJ_REACH) / width;
        int i = (int)(place * (float)part->cells[d]);

        i = i < 0 ? 0 : i >= part->cells[d] ? part->cells[d] - 1 : i;
        cell = cell * part->cells[d] + i;
    }
    return cell;
}

static void sort_into_cells(struct lj_part *part)
{
    int all = part->own + part->ghosts;
    int cells = part->cells[0] * part->cells[1] * part->cells[2];

    for (int i = 0; i < cells; i++)
        part->first[i] = -1;
    for (int i = all - 1; i >= 0; i--) {
        int cell = cell_of(part, part->at[i].x);

        part->next[i] = part->first[cell];
        part->first[cell] = i;
    }
    lj_work(part, (size_t)all * (SPOT + 2 * INDEX));
}

static float distance2(const struct lj_spot *a, const struct lj_spot *b,
                       float apart[3])
{
    float sum = 0;

    for (int d = 0; d < 3; d++) {
        apart[d] = a->x[d] - b->x[d];
        sum += apart[d] * apart[d];
    }
    return sum;
}

static void add_near(struct lj_part *part, size_t *count, int j)
{
    if (*count == part->near_room) {
        part->near_room = part->near_room * 2 + 4096;
        part->near = realloc(part->near, part->near_room * sizeof *part->near);
        lj_must(part->near != NULL, "memory for lists");
    }
    part->near[(*count)++] = j;
}

/* Adds all particles of a cell that are near enough to the list of particle i;
 * returns how many were compared. */
static size_t look_into(struct lj_part *part, int i, int cell, size_t *count)
{
    size_t looked = 0;
    float apart[3];

    for (int j = part->first[cell]; j >= 0; j = part->next[j], looked++)
        if (j != i &&
            distance2(&part->at[i], &part->at[j], apart) < LJ_REACH * LJ_REACH)
            add_near(part, count, j);
    return looked;
}

static size_t look_around(struct lj_part *part, int i, size_t *count)
{
    int home = cell_of(part, part->at[i].x), c[3], step[3];
    size_t looked = 0;

    c[0] = home % part->cells[0];
    c[1] = home / part->cells[0] % part->cells[1];
    c[2] = home / part->cells[0] / part->cells[1];
    for (int k = 0; k < 27; k++) {
        bool inside = true;

        for (int d = 0, rest = k; d < 3; d++, rest /= 3) {
            step[d] = c[d] + rest % 3 - 1;
            inside &= step[d] >= 0 && step[d] < part->cells[d];
        }
        if (inside)
            looked += look_into(
                part, i,
                (step[2] * part->cells[1] + step[1]) * part->cells[0] + step[0],
                count);
    }
    return looked;
}

void lj_lists_make(struct lj_part *part)
{
    size_t count = 0, looked = 0;

    sort_into_cells(part);
    for (int i = 0; i < part->own; i++) {
        part->near_from[i] = (int)count;
        looked += look_around(part, i, &count);
        part->listed[i] = part->at[i];
    }
    part->near_from[part->own] = (int)count;
    lj_work(part, looked * SPOT + count * INDEX);
}

static double force_on(struct lj_part *part, int i)
{
    const float sigma6 = 1 / (LJ_CUTOFF * LJ_CUTOFF * LJ_CUTOFF * LJ_CUTOFF *
                              LJ_CUTOFF * LJ_CUTOFF);
    const float at_cutoff = 4 * (sigma6 * sigma6 - sigma6);
    float sum[3] = {0}, energy = 0, apart[3];

    for (int k = part->near_from[i]; k < part->near_from[i + 1]; k++) {
        float r2 = distance2(&part->at[i], &part->at[part->near[k]], apart);
        float in2 = 1 / r2, in6 = in2 * in2 * in2;

        if (r2 >= LJ_CUTOFF * LJ_CUTOFF)
            continue;
        energy += 4 * (in6 * in6 - in6) - at_cutoff;
        for (int d = 0; d < 3; d++)
            sum[d] += apart[d] * in2 * (48 * in6 * in6 - 24 * in6);
    }
    for (int d = 0; d < 3; d++)
        part->force[i].x[d] = sum[d];
    return energy / 2;
}

void lj_forces(struct lj_part *part)
{
    part->energy = 0;
    for (int i = 0; i < part->own; i++)
        part->energy += force_on(part, i);
    lj_work(part, (size_t)part->near_from[part->own] * (SPOT + INDEX) +
                      (size_t)part->own * 3 * SPOT);
}

void lj_drift(struct lj_part *part)
{
    for (int i = 0; i < part->own; i++)
        for (int d = 0; d < 3; d++) {
            part->speed[i].x[d] += LJ_STEP / 2 * part->force[i].x[d];
            part->at[i].x[d] += LJ_STEP * part->speed[i].x[d];
        }
    lj_work(part, (size_t)part->own * 5 * SPOT);
}

void lj_kick(struct lj_part *part)
{
    for (int i = 0; i < part->own; i++)
        for (int d = 0; d < 3; d++)
            part->speed[i].x[d] += LJ_STEP / 2 * part->force[i].x[d];
    lj_work(part, (size_t)part->own * 3 * SPOT);
}

double lj_heat(const struct lj_part *part)
{
    double sum = 0;

    for (int i = 0; i < part->own; i++)
        for (int d = 0; d < 3; d++)
            sum +=
                0.5 * (double)part->speed[i].x[d] * (double)part->speed[i].x[d];
    return sum;
}
