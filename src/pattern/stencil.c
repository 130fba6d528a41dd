/* SPDX-License-Identifier: BSD-3-Clause */
/* Generates stencils on grids of ranks in row-major order: the first dimension
 * is the slowest, as in MPI_Cart_create. */
#include "base/status.h"
#include "pattern/grid.h"

#include <string.h>

/* The keys of a stencil. */
struct stencil {
    struct nw_grid grid;
    struct nw_volume volume;
    bool diagonals;
    /* An edge whose offset is not 0 in one dimension d has the weight
     * weight[d] * class[0]. If it is not 0 in k > 1 dimensions, its weight is
     * class[k - 1]. */
    uint64_t weight[NW_SPEC_DIMS];
    uint64_t class[NW_SPEC_DIMS];
    bool periodic[NW_SPEC_DIMS];
};

static const struct {
    const char *name;
    int32_t dims, points;
    bool diagonals;
} shapes[] = {{"stencil2d5", 2, 5, false},
              {"stencil2d9", 2, 9, true},
              {"stencil3d7", 3, 7, false},
              {"stencil3d27", 3, 27, true}};

/* Reads "0" or "1" for all dimensions, or a list such as "0:1", one number per
 * dimension. */
static nw_status read_periodic(struct nw_spec *spec, struct stencil *stencil)
{
    const char *word = nw_spec_find(spec, "periodic");
    size_t dims = (size_t)stencil->grid.dims;
    uint64_t periodic[NW_SPEC_DIMS] = {0};
    nw_status status;

    if (word && (!strcmp(word, "0") || !strcmp(word, "1"))) {
        for (size_t d = 0; d < dims; d++)
            stencil->periodic[d] = *word == '1';
        return NW_OK;
    }
    status = nw_spec_list(spec, "periodic", dims, periodic);
    for (size_t d = 0; !status && d < dims; d++) {
        stencil->periodic[d] = periodic[d];
        if (periodic[d] > 1)
            status = NW_EINVAL;
    }
    return status ? nw_fail(NW_EINVAL,
                            "%s: periodic= is 0 or 1, or %zu of them joined by "
                            "':', not '%s'",
                            spec->name, dims, word)
                  : NW_OK;
}

static nw_status stencil_read_keys(struct nw_spec *spec, int32_t dims,
                                   struct stencil *stencil)
{
    nw_status status = nw_spec_grid(spec, &stencil->grid);

    if (!status && stencil->grid.dims != dims)
        status = nw_fail(NW_EINVAL, "%s: dims= has %d sizes, not %d",
                         spec->name, dims, stencil->grid.dims);
    if (!status)
        status = nw_spec_volume(spec, &stencil->volume);
    if (!status)
        status = nw_spec_list(spec, "weights", (size_t)dims, stencil->weight);
    if (!status && stencil->diagonals)
        status = nw_spec_list(spec, "classes", (size_t)dims, stencil->class);
    if (!status)
        status = read_periodic(spec, stencil);
    return status;
}

static uint64_t weight_of(const struct stencil *stencil, const int32_t *offset)
{
    int32_t left = 0;
    uint64_t weight = 0;

    for (int32_t d = 0; d < stencil->grid.dims; d++)
        if (offset[d]) {
            left++;
            weight = stencil->weight[d];
        }
    if (!left || (left > 1 && !stencil->diagonals))
        return 0;
    return left == 1 ? weight * stencil->class[0] : stencil->class[left - 1];
}

/* Adds the edges of a rank. The offsets are enumerated as numbers in base 3, so
 * that on a grid without periodic borders the neighbours are in ascending
 * order. */
static nw_status add_neighbours(const struct stencil *stencil, int32_t rank,
                                const int32_t *at, nw_pattern_builder *builder)
{
    int32_t count = stencil->grid.dims == 2 ? 9 : 27;
    nw_status status = NW_OK;

    for (int32_t code = 0; !status && code < count; code++) {
        int32_t offset[NW_SPEC_DIMS], rest = code, to;
        struct nw_volume volume = stencil->volume;
        uint64_t weight;

        for (int32_t d = stencil->grid.dims - 1; d >= 0; d--, rest /= 3)
            offset[d] = rest % 3 - 1;
        weight = weight_of(stencil, offset);
        if (!weight)
            continue;
        to = nw_grid_neighbour(&stencil->grid, stencil->periodic, at, offset);
        if (to < 0 || to == rank)
            continue;
        status = nw_scale_bytes(volume.bytes, weight, &volume.bytes);
        if (!status)
            status = nw_add_volume(builder, rank, to, &volume);
    }
    return status;
}

/* Moves to the position of the next rank in row-major order. */
static void stencil_step(const struct nw_grid *grid, int32_t *at)
{
    for (int32_t d = grid->dims - 1; d >= 0 && ++at[d] == grid->size[d]; d--)
        at[d] = 0;
}

nw_status nw_generate_stencil(struct nw_spec *spec,
                              nw_pattern_builder **builder)
{
    struct stencil stencil = {.weight = {1, 1, 1}, .class = {1, 1, 1}};
    int32_t at[NW_SPEC_DIMS] = {0}, ranks;
    size_t i = 0;
    nw_status status;

    while (strcmp(shapes[i].name, spec->name))
        i++;
    stencil.diagonals = shapes[i].diagonals;
    status = stencil_read_keys(spec, shapes[i].dims, &stencil);
    if (status)
        return status;
    ranks = nw_grid_ranks(&stencil.grid);
    status = nw_spec_builder(spec, (uint64_t)ranks,
                             (uint64_t)shapes[i].points - 1, builder);
    for (int32_t r = 0; !status && r < ranks; r++) {
        status = add_neighbours(&stencil, r, at, *builder);
        stencil_step(&stencil.grid, at);
    }
    return status;
}
