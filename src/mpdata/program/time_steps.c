/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the steps of a divided grid. Each step has one exchange of x. During
 * the exchange, the cells that need no ghosts are computed; after it, the shell
 * of cells around them. If an axis is not divided, the solver fills the ghosts
 * of this axis, and the exchange treats them as cells of the part. */
#include "mpdata/program/job.h"
#include "base/status.h"

static bool time_steps_divided(const struct nw_mp_grid *g, int axis)
{
    return g->parts[axis] > 1;
}

/* Describes the exchange to the halo library. The library's axes z, y, x are
 * the solver's axes 0, 1, 2; x is contiguous. */
static void march_describe(const struct nw_mp_job *job,
                           struct nw_halo_options *options,
                           struct nw_halo_box *box)
{
    const struct nw_mp_grid *g = &job->grid;
    int32_t ghost = (int32_t)job->solver->ghost;

    options->extent[0] = box->high[0] = g->n[2];
    for (int a = 0; a < 2; a++) {
        int axis = 2 - a;
        int64_t more = time_steps_divided(g, a) ? 0 : 2 * ghost;
        options->extent[axis] = g->n[a] + more;
        box->low[axis] = g->first[a];
        box->high[axis] = g->first[a] + g->own[a] + more;
        for (int side = 0; side < 2; side++)
            options->border[axis][side] =
                time_steps_divided(g, a) &&
                        job->settings->options.border[a][side] ==
                            NW_MPDATA_PERIODIC
                    ? NW_HALO_PERIODIC
                    : NW_HALO_OPEN;
    }
    options->border[0][0] = options->border[0][1] = NW_HALO_OPEN;
    for (int z = -1; z <= 1; z++)
        for (int y = -1; y <= 1; y++)
            if ((z || y) && (!z || time_steps_divided(g, 0)) &&
                (!y || time_steps_divided(g, 1)))
                options->radius[NW_HALO_DIRECTION(0, y, z)] = ghost;
}

nw_status nw_mp_plan(struct nw_mp_job *job)
{
    struct nw_halo_options options = NW_HALO_OPTIONS_INIT;
    struct nw_halo_quantity two[2] = {{job->solver->bytes, 0},
                                      {job->solver->bytes, 0}};
    struct nw_halo_box box = {{0}, {0}};
    void *base[2];
    size_t pitch[2];

    if (job->grid.size == 1)
        return NW_OK;
    march_describe(job, &options, &box);
    for (int i = 0; i < 2; i++) {
        struct nw_mpdata_cells cells =
            nw_mpdata_cells_of(job->solver, NW_MPDATA_X);
        base[i] = cells.base;
        pitch[i] = cells.row;
        nw_mpdata_turn(job->solver);
    }
    options.quantity = two;
    options.quantity_count = 2;
    options.box = &box;
    options.box_count = 1;
    options.base = base;
    options.pitch = pitch;
    options.choice = NW_HALO_CHOOSE_MODEL;
    return nw_mp_agree(job->grid.comm,
                       nw_halo_plan(job->grid.comm, &options, &job->halo));
}

/* Converts a box of the halo library to a range of the solver's planes and
 * rows; returns false if the range is empty. */
static bool march_cells_of(const struct nw_mp_job *job,
                           const struct nw_halo_box *box, int64_t low[2],
                           int64_t high[2])
{
    for (int a = 0; a < 2; a++) {
        low[a] = box->low[2 - a] - job->solver->ghost;
        high[a] = box->high[2 - a] - job->solver->ghost;
        if (low[a] < 0)
            low[a] = 0;
        if (high[a] > job->grid.own[a])
            high[a] = job->grid.own[a];
        if (high[a] <= low[a])
            return false;
    }
    return true;
}

/* Computes the cells that need no ghosts, in bands of one block for each
 * thread; the exchange makes progress between the bands. */
static nw_status march_inside(struct nw_mp_job *job)
{
    struct nw_halo_box box = nw_halo_interior(job->halo, 0);
    int64_t low[2], high[2];
    ptrdiff_t band = job->solver->rows * job->solver->threads;
    nw_status status = NW_OK;

    if (!march_cells_of(job, &box, low, high))
        return NW_OK;
    for (int64_t at = low[1]; at < high[1] && !status; at += band) {
        int64_t from[2] = {low[0], at}, to[2] = {high[0], at + band};
        bool done;
        if (to[1] > high[1])
            to[1] = high[1];
        nw_mpdata_advance(job->solver, from, to);
        status = nw_halo_test(job->halo, &done);
    }
    return status;
}

/* Computes the shell of cells that need ghosts. */
static void time_steps_around(struct nw_mp_job *job)
{
    struct nw_halo_box shell[6];
    int32_t count = nw_halo_shell(job->halo, 0, shell);
    int64_t low[2], high[2];

    for (int32_t i = 0; i < count; i++)
        if (march_cells_of(job, &shell[i], low, high))
            nw_mpdata_advance(job->solver, low, high);
}

static nw_status march_exchange(struct nw_mp_job *job, bool overlap)
{
    nw_status status = nw_halo_start(job->halo, &job->now, 1);

    if (!status && overlap)
        status = march_inside(job);
    if (!status)
        status = nw_halo_wait(job->halo);
    return status;
}

nw_status nw_mp_step(struct nw_mp_job *job)
{
    const int64_t low[2] = {0, 0};
    bool overlap = job->solver->blocked && !job->settings->blocking;
    nw_status status = NW_OK;

    nw_mpdata_sides(job->solver);
    if (job->halo) {
        status = march_exchange(job, overlap);
        nw_mpdata_sides(job->solver);
    }
    if (status)
        return status;
    if (job->halo && overlap)
        time_steps_around(job);
    else
        nw_mpdata_advance(job->solver, low, job->grid.own);
    nw_mpdata_turn(job->solver);
    job->now ^= 1;
    job->step++;
    return NW_OK;
}
