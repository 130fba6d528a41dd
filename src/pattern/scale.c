/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes the number of ranks of a pattern: finds the pattern's grid and makes
 * another grid of similar aspect ratio. The work of each rank is assumed to
 * stay the same, so each edge keeps its bytes. */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "pattern/grid.h"

#include <math.h>
#include <stdlib.h>

/* Limit on the ratio of a dimension's growth to the mean growth. */
#define WORST_STRETCH 4.0

/* Returns how much the aspect ratio of grid `to` differs from that of grid
 * `from`: the largest deviation of a dimension's logarithmic growth from the
 * mean. */
static double scale_distortion(const struct nw_grid *from,
                               const struct nw_grid *to, bool col)
{
    double growth[NW_SPEC_DIMS], mean = 0, sum = 0;

    for (int32_t d = 0; d < from->dims; d++) {
        growth[d] = log((double)to->size[d] / from->size[d]);
        /* in a `col` pattern, dimension 1 stands for two dimensions */
        growth[d] /= col && d == 1 ? 2 : 1;
        mean += growth[d] / from->dims;
    }
    for (int32_t d = 0; d < from->dims; d++)
        sum = fmax(sum, fabs(growth[d] - mean));
    return sum;
}

/* Keeps the grid in *out if its distortion is less than *best. */
static void scale_consider(const struct nw_grid_found *found,
                           const struct nw_grid *grid, double *best,
                           struct nw_grid *out)
{
    double value = scale_distortion(&found->grid, grid, found->col);

    if (value < *best) {
        *best = value;
        *out = *grid;
    }
}

/* Finds the grid of n ranks whose aspect ratio is closest to that of the grid
 * found. Returns false if all grids differ too much. If the grid found has one
 * dimension, or all ranks are one group of an all-to-all, each n > 1 fits. */
static bool scale_lay_out(const struct nw_grid_found *found, int32_t n,
                          struct nw_grid *out)
{
    int32_t dims = found->grid.dims;
    double best = log(WORST_STRETCH);

    if (dims == 1 || (found->col && found->grid.size[1] == 1)) {
        *out = (struct nw_grid){dims, {n, 1}};
        return n > 1;
    }
    for (int32_t a = 2; a <= n / 2; a++) {
        if (n % a)
            continue;
        if (dims == 2)
            scale_consider(found, &(struct nw_grid){2, {a, n / a}}, &best, out);
        for (int32_t b = 2; dims == 3 && b <= n / a / 2; b++)
            if (n / a % b == 0)
                scale_consider(found, &(struct nw_grid){3, {a, b, n / a / b}},
                               &best, out);
    }
    return best < log(WORST_STRETCH);
}

static nw_status add_stencil(const struct nw_grid_found *found,
                             const struct nw_grid *grid, enum nw_kind kind,
                             nw_pattern_builder *builder)
{
    int32_t at[NW_SPEC_DIMS], offset[NW_SPEC_DIMS], n = nw_grid_ranks(grid);
    int codes = nw_grid_codes(grid);
    nw_status status = NW_OK;

    for (int32_t r = 0; r < n; r++) {
        nw_grid_coordinates(grid, r, at);
        for (int code = 0; !status && code < codes; code++) {
            int32_t to;

            if (!found->active[code])
                continue;
            nw_grid_offset(grid, code, offset);
            to = nw_grid_neighbour(grid, found->periodic, at, offset);
            if (to >= 0)
                status = nw_pattern_builder_add(builder, r, to, kind,
                                                found->bytes[code],
                                                found->messages[code]);
        }
    }
    return status;
}

static nw_status add_col(const struct nw_grid_found *found,
                         const struct nw_grid *grid, enum nw_kind kind,
                         nw_pattern_builder *builder)
{
    int32_t n = nw_grid_ranks(grid), stride = grid->size[1];
    nw_status status = NW_OK;

    for (int32_t r = 0; r < n; r++)
        for (int32_t to = r % stride; !status && to < n; to += stride)
            if (to != r)
                status = nw_pattern_builder_add(
                    builder, r, to, kind, found->bytes[0], found->messages[0]);
    return status;
}

/* Returns the largest number of edges that a rank has in the grid. */
static uint64_t scale_degree(const struct nw_grid_found *found,
                             const struct nw_grid *grid)
{
    uint64_t degree = 0;

    for (int code = 0; code < nw_grid_codes(grid); code++)
        degree += found->active[code];
    return found->col ? (uint64_t)grid->size[0] - 1 : degree;
}

static void scale_add_size(struct nw_text *text, const struct nw_grid *grid)
{
    for (int32_t d = 0; d < grid->dims; d++)
        nw_text_format(text, "%s%d", d ? "x" : "", grid->size[d]);
}

static void say_how(const struct nw_grid_found *found,
                    const struct nw_grid *grid, enum nw_kind kind,
                    struct nw_text *how)
{
    int points = 1;
    bool wraps = false;

    nw_text_format(how, "%s%s: ", how->length ? "; " : "", nw_kind_name(kind));
    for (int code = 0; code < NW_GRID_CODES; code++)
        points += found->active[code] && code != nw_grid_codes(grid) / 2;
    for (int32_t d = 0; d < grid->dims; d++)
        wraps |= found->periodic[d];
    if (found->col)
        nw_text_add(how, "all-to-all along the first dimension of ");
    else
        nw_text_format(how, "%d-D %d-point stencil with %s borders on ",
                       grid->dims, points, wraps ? "periodic" : "open");
    scale_add_size(how, &found->grid);
    nw_text_add(how, ", scaled to ");
    scale_add_size(how, grid);
}

static nw_status scale_kind(const nw_pattern *pattern, enum nw_kind kind,
                            int32_t rank_count, nw_pattern_builder *builder,
                            struct nw_text *how)
{
    struct nw_grid_found found;
    struct nw_grid grid;
    nw_status status;

    if (!nw_grid_find(pattern, kind, &found))
        return nw_fail(
            NW_EUNSUPPORTED,
            "the %s edges of %d ranks form no grid: only "
            "stencils and all-to-all along a dimension can be scaled",
            nw_kind_name(kind), pattern->rank_count);
    if (!scale_lay_out(&found, rank_count, &grid)) {
        struct nw_text size = {0};

        scale_add_size(&size, &found.grid);
        status = nw_fail(NW_EUNSUPPORTED,
                         "%d ranks cannot form a grid shaped like %s",
                         rank_count, size.data ? size.data : "before");
        nw_text_fini(&size);
        return status;
    }
    status = nw_check_edges("scale", (uint64_t)rank_count,
                            scale_degree(&found, &grid));
    if (status)
        return status;
    say_how(&found, &grid, kind, how);
    return found.col ? add_col(&found, &grid, kind, builder)
                     : add_stencil(&found, &grid, kind, builder);
}

static nw_status scale_build(nw_pattern_builder *builder, struct nw_text *words,
                             nw_pattern **out, char **how)
{
    nw_pattern *pattern = NULL;
    char *sentence = NULL;
    nw_status status;

    nw_text_add(words, "; each edge keeps its bytes");
    status = nw_text_take(words, &sentence);
    if (!status)
        status = nw_pattern_builder_build(builder, &pattern);
    if (!status)
        status = nw_strdup(sentence, &pattern->note);
    if (status) {
        nw_pattern_free(pattern);
        free(sentence);
        return status;
    }
    *out = pattern;
    *how = sentence;
    return NW_OK;
}

nw_status nw_pattern_scale(const nw_pattern *pattern, int32_t rank_count,
                           nw_pattern **out, char **how)
{
    nw_pattern_builder *builder = NULL;
    struct nw_text words = {0};
    nw_status status = nw_pattern_builder_new(rank_count, &builder);

    if (!status && !pattern->edge_count)
        status =
            nw_fail(NW_EUNSUPPORTED, "a pattern without edges has no grid");
    for (int k = 0; !status && k < NW_KIND_COUNT; k++)
        if (nw_pattern_total_of(pattern, (enum nw_kind)k).edges)
            status = scale_kind(pattern, (enum nw_kind)k, rank_count, builder,
                                &words);
    if (!status)
        status = scale_build(builder, &words, out, how);
    nw_text_fini(&words);
    nw_pattern_builder_free(builder);
    return status;
}
