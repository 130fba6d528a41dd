/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates a solver from its options and computes its steps; this is where to
 * start reading. A step fills the ghosts of x, lets the threads compute the
 * blocks (or the stages over the whole grid), and swaps the two arrays of x. */
#include "mpdata/solver.h"
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* CACHE: about the bytes that the ring buffers of a block may have, which is
 * half of a common second-level cache. */
enum { CACHE = 512 * 1024, LARGE_PAGE = 2 * 1024 * 1024 };

int32_t nw_mpdata_halo(const struct nw_mpdata_options *o)
{
    return 1 + (o->passes - 1) * (1 + o->limited + o->third_order);
}

static nw_status solver_check_borders(const int64_t size[3],
                                      const struct nw_mpdata_options *o)
{
    for (int a = 0; a < 3; a++) {
        enum nw_mpdata_border low = o->border[a][0], high = o->border[a][1];
        if ((low == NW_MPDATA_PERIODIC) != (high == NW_MPDATA_PERIODIC))
            return nw_fail(NW_EINVAL, "axis %d is periodic on one side only",
                           a + 1);
        if (a == 2 && (low == NW_MPDATA_NEIGHBOUR || low != high))
            return nw_fail(NW_EINVAL, "the third axis cannot be divided");
        if (size[a] < 1 || size[a] > (1 << 28))
            return nw_fail(
                NW_EINVAL,
                "the grid has %lld cell%s along axis %d; allowed are 1 to 2^28",
                (long long)size[a], nw_plural((uint64_t)size[a]), a + 1);
        bool divided =
            low == NW_MPDATA_NEIGHBOUR || high == NW_MPDATA_NEIGHBOUR;
        if (divided && size[a] < nw_mpdata_halo(o))
            return nw_fail(NW_EINVAL,
                           "%lld cells along axis %d are fewer than the halo "
                           "of %d",
                           (long long)size[a], a + 1, nw_mpdata_halo(o));
    }
    return NW_OK;
}

static nw_status solver_check_options(const int64_t size[3],
                                      const struct nw_mpdata_options *o)
{
    if (o->passes < 1 || o->passes > 8)
        return nw_fail(NW_EINVAL, "MPDATA has 1 to 8 passes (--passes), not %d",
                       o->passes);
    if (o->passes != 2 && o->infinite_gauge)
        return nw_fail(NW_EINVAL,
                       "the infinite gauge needs exactly two passes");
    if (o->passes == 1 && (o->limited || o->third_order || o->divergent))
        return nw_fail(NW_EINVAL, "limiting, third order and the divergent "
                                  "term need at least two passes");
    if (o->threads < 0 || o->block < 0)
        return nw_fail(
            NW_EINVAL,
            "the numbers of threads and of rows of a block must be at least 0");
    if (o->path == NW_MPDATA_BLOCKED && (o->passes > 2 || o->third_order))
        return nw_fail(
            NW_EINVAL,
            "the blocked path needs at most two passes and no third order");
    return solver_check_borders(size, o);
}

/* Allocates memory and fills it with zeros; returns NULL if there is not
 * enough. Requests large pages if it is large enough, because a step reads many
 * planes at once and would otherwise miss often in the TLB. */
static void *memory_new(size_t bytes)
{
    size_t unit = bytes < LARGE_PAGE ? 4096 : LARGE_PAGE;
    size_t all = (bytes + unit - 1) / unit * unit;
    void *memory = aligned_alloc(unit, all);

    if (memory && unit == LARGE_PAGE)
        (void)madvise(memory, all, MADV_HUGEPAGE);
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

static nw_status field_new(const struct nw_mpdata *s, void **out)
{
    size_t cells = (size_t)(s->plane * (s->n[0] + 2 * s->ghost));
    size_t bytes = cells * s->bytes + 2 * NW_MPDATA_LINE;

    *out = memory_new(bytes);
    if (!*out)
        return nw_fail(NW_ENOMEM, "no memory for a field of %zu bytes", bytes);
    return NW_OK;
}

static nw_status fields_new(struct nw_mpdata *s)
{
    nw_status status = field_new(s, &s->next);

    for (int f = 0; f < NW_MPDATA_FIELD_COUNT && status == NW_OK; f++)
        status = field_new(s, &s->field[f]);
    for (int a = 0; a < NW_STAGE_COUNT && status == NW_OK && !s->blocked; a++)
        status = field_new(s, &s->stage[a]);
    if (status != NW_OK)
        return status;
    ptrdiff_t all = s->plane * (s->n[0] + 2 * s->ghost);
    for (ptrdiff_t at = 0; at < all; at++)
        nw_mpdata_store(s, s->field[NW_MPDATA_H], at, 1);
    return NW_OK;
}

/* Describes the fields to the kernels. */
static void solver_view_of(const struct nw_mpdata *s,
                           struct nw_mpdata_view *out)
{
    ptrdiff_t at = nw_mpdata_at(s, 0, 0) * (ptrdiff_t)s->bytes;
    const struct nw_mpdata_options *o = &s->options;

    *out = (struct nw_mpdata_view){
        .n = {s->n[0], s->n[1], s->n[2]},
        .plane = s->plane,
        .pitch = s->pitch,
        .ghost = s->ghost,
        .passes = o->passes,
        .limited = o->limited,
        .gauge = o->infinite_gauge,
        .third = o->third_order,
        .divergent = o->divergent,
        .fast = o->fast,
        .x = (char *)s->field[NW_MPDATA_X] + at,
        .h = (char *)s->field[NW_MPDATA_H] + at,
        .out = (char *)s->next + at,
    };
    for (int a = 0; a < 3; a++) {
        out->u[a] = (char *)s->field[NW_MPDATA_U1 + a] + at;
        for (int side = 0; side < 2; side++)
            out->open[a][side] = o->border[a][side] == NW_MPDATA_OPEN;
    }
    for (int i = 0; i < NW_STAGE_COUNT; i++)
        out->stage[i] = s->stage[i] ? (char *)s->stage[i] + at : NULL;
}

/* Returns the number of rows per block, at least 4 if the grid has as many: at
 * most those of options.block, or so many that the block's ring buffers fill
 * the cache. Blocks are of about equal size, and all threads have the same
 * number of blocks. */
static ptrdiff_t block_rows(const struct nw_mpdata *s)
{
    ptrdiff_t row = 20 * s->pitch * (ptrdiff_t)s->bytes;
    ptrdiff_t rows = s->options.block ? s->options.block : CACHE / row - 6;
    ptrdiff_t share = (s->n[1] + s->threads - 1) / s->threads;

    if (rows < 4)
        rows = 4;
    rows = (share + rows - 1) / rows; // blocks per thread
    rows = (share + rows - 1) / rows; // rows per block
    if (rows < 4)
        rows = 4;
    return rows > s->n[1] ? s->n[1] : rows;
}

static nw_status scratch_new(struct nw_mpdata *s)
{
    struct nw_mpdata_view view;

    if (!s->blocked)
        return NW_OK;
    solver_view_of(s, &view);
    s->rows = block_rows(s);
    s->scratch_bytes =
        (s->kernels->scratch_bytes(&view, s->rows) + 4095) / 4096 * 4096;
    size_t all = s->scratch_bytes * (size_t)s->threads;
    s->scratch = memory_new(all);
    if (!s->scratch)
        return nw_fail(NW_ENOMEM, "no memory for blocks of %zu bytes", all);
    return NW_OK;
}

nw_status nw_mpdata_new(const int64_t size[3],
                        const struct nw_mpdata_options *options,
                        nw_mpdata **out)
{
    struct nw_mpdata_options o = NW_MPDATA_OPTIONS_INIT;
    struct nw_mpdata *s = NULL;

    memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    nw_status status = solver_check_options(size, &o);
    if (status == NW_OK)
        status = nw_alloc(1, sizeof *s, &s);
    if (status != NW_OK)
        return status;
    s->options = o;
    s->bytes = o.single ? sizeof(float) : sizeof(double);
    for (int a = 0; a < 3; a++)
        s->n[a] = size[a];
    s->ghost = nw_mpdata_halo(&o);
    s->lead = NW_MPDATA_LINE / (ptrdiff_t)s->bytes;
    s->pitch = (s->n[2] + s->lead - 1) / s->lead * s->lead + s->lead;
    s->plane = (s->n[1] + 2 * s->ghost) * s->pitch;
    s->blocked = o.path != NW_MPDATA_STAGES && o.passes <= 2 && !o.third_order;
    s->threads = o.threads ? o.threads : omp_get_max_threads();
    s->kernels = nw_mpdata_kernels_find(o.single);
    status = fields_new(s);
    if (status == NW_OK)
        status = scratch_new(s);
    if (status == NW_OK)
        *out = s;
    else
        nw_mpdata_free(s);
    return status;
}

void nw_mpdata_free(nw_mpdata *s)
{
    if (!s)
        return;
    for (int f = 0; f < NW_MPDATA_FIELD_COUNT; f++)
        free(s->field[f]);
    for (int a = 0; a < NW_STAGE_COUNT; a++)
        free(s->stage[a]);
    free(s->next);
    free(s->scratch);
    free(s);
}

struct nw_mpdata_cells nw_mpdata_cells_of(nw_mpdata *s,
                                          enum nw_mpdata_field field)
{
    s->lent = s->lent || field == NW_MPDATA_X;
    return (struct nw_mpdata_cells){
        .base = (char *)s->field[field] + NW_MPDATA_LINE,
        .bytes = s->bytes,
        .row = (size_t)s->pitch * s->bytes,
        .plane = (size_t)s->plane * s->bytes,
        .ghost = (int32_t)s->ghost,
    };
}
NW_OLD_NAME(nw_mpdata_cells, nw_mpdata_cells_of);

void nw_mpdata_fill(nw_mpdata *s, enum nw_mpdata_field field)
{
    nw_mpdata_border(s, field, s->field[field]);
}

/* Computes the cells of `box`, block by block, with all threads. Each thread
 * has neighbouring blocks (or parts of them) and its own ring buffers, and
 * waits for the other threads only at the end. */
static void advance_blocks(nw_mpdata *s, const struct nw_mpdata_box *box)
{
    struct nw_mpdata_view view;
    ptrdiff_t rows = box->high[1] - box->low[1];
    ptrdiff_t planes = box->high[0] - box->low[0];
    ptrdiff_t blocks = (rows + s->rows - 1) / s->rows;
    /* number of parts of each block along the planes, if there are fewer blocks
     * than threads */
    ptrdiff_t runs = 1;

    if (blocks > s->threads)
        blocks = (blocks + s->threads - 1) / s->threads * s->threads;
    while (blocks * runs < s->threads && planes / (runs + 1) >= 2 * s->ghost)
        runs++;
    solver_view_of(s, &view);
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (ptrdiff_t b = 0; b < blocks * runs; b++) {
        struct nw_mpdata_box part;
        ptrdiff_t block = b / runs, run = b % runs;
        part.low[0] = box->low[0] + planes * run / runs;
        part.high[0] = box->low[0] + planes * (run + 1) / runs;
        part.low[1] = box->low[1] + rows * block / blocks;
        part.high[1] = box->low[1] + rows * (block + 1) / blocks;
        char *scratch = s->scratch;
        size_t mine = (size_t)omp_get_thread_num() * s->scratch_bytes;
        s->kernels->blocked(&view, &part, scratch + mine);
    }
}

void nw_mpdata_advance(nw_mpdata *s, const int64_t low[2],
                       const int64_t high[2])
{
    struct nw_mpdata_box box = {{low[0], low[1]}, {high[0], high[1]}};
    struct nw_mpdata_view view;

    if (box.low[0] >= box.high[0] || box.low[1] >= box.high[1])
        return;
    if (s->blocked) {
        advance_blocks(s, &box);
        return;
    }
    /* the staged solver always computes the whole grid */
    solver_view_of(s, &view);
    s->kernels->stages(&view);
}

void nw_mpdata_turn(nw_mpdata *s)
{
    void *old = s->field[NW_MPDATA_X];

    s->field[NW_MPDATA_X] = s->next;
    s->next = old;
}

void nw_mpdata_step(nw_mpdata *s, int64_t steps)
{
    const int64_t low[2] = {0, 0}, high[2] = {s->n[0], s->n[1]};

    for (; steps > 0; steps--) {
        if (s->lent)
            nw_mpdata_fill(s, NW_MPDATA_X);
        else
            nw_mpdata_sides(s);
        nw_mpdata_advance(s, low, high);
        nw_mpdata_turn(s);
    }
}
