/* SPDX-License-Identifier: BSD-3-Clause */
/* Generates patterns from a specification: the micro-benchmarks of the MAGC
 * paper (section VI), and graphs for testing mappers. */
#include "base/array.h"
#include "base/random.h"
#include "base/nearest.h"
#include "base/status.h"
#include "base/text.h"
#include "pattern/spec.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_SEED 1

/* Generates MPI_Alltoall in each group of ranks whose coordinates differ only
 * in the first dimension. */
static nw_status generate_col(struct nw_spec *spec,
                              nw_pattern_builder **builder)
{
    struct nw_grid grid;
    struct nw_volume volume = {0};
    int32_t ranks, stride;
    nw_status status = nw_spec_grid(spec, &grid);

    if (!status)
        status = nw_spec_volume(spec, &volume);
    if (status)
        return status;
    ranks = nw_grid_ranks(&grid);
    stride = ranks / grid.size[0];
    status =
        nw_spec_builder(spec, (uint64_t)ranks, (uint64_t)grid.size[0], builder);
    for (int32_t r = 0; !status && r < ranks; r++)
        for (int32_t i = 0; !status && i < grid.size[0]; i++)
            if (r % stride + i * stride != r)
                status = nw_add_volume(*builder, r, r % stride + i * stride,
                                       &volume);
    return status;
}

static nw_status read_ranks(struct nw_spec *spec, uint64_t *ranks,
                            struct nw_volume *volume)
{
    nw_status status = nw_spec_number(
        spec, &(struct nw_spec_number){"ranks", 1, INT32_MAX, ranks});

    if (status)
        return status;
    if (!*ranks)
        return nw_spec_lacks(spec, "ranks", "64");
    return nw_spec_volume(spec, volume);
}

static nw_status generate_hypercube(struct nw_spec *spec,
                                    nw_pattern_builder **builder)
{
    struct nw_volume volume = {0};
    uint64_t ranks = 0;
    nw_status status = read_ranks(spec, &ranks, &volume);

    if (!status && (ranks & (ranks - 1)))
        status =
            nw_fail(NW_EINVAL, "hypercube: ranks= is a power of two, not %llu",
                    (unsigned long long)ranks);
    if (!status)
        status = nw_spec_builder(spec, ranks, 31, builder);
    for (uint64_t r = 0; !status && r < ranks; r++)
        for (uint64_t bit = 1; !status && bit < ranks; bit <<= 1)
            status = nw_add_volume(*builder, (int32_t)r, (int32_t)(r ^ bit),
                                   &volume);
    return status;
}

static nw_status generate_alltoall(struct nw_spec *spec,
                                   nw_pattern_builder **builder)
{
    struct nw_volume volume = {0};
    uint64_t ranks = 0;
    nw_status status = read_ranks(spec, &ranks, &volume);

    if (!status)
        status = nw_spec_builder(spec, ranks, ranks, builder);
    for (uint64_t r = 0; !status && r < ranks; r++)
        for (uint64_t to = 0; !status && to < ranks; to++)
            if (to != r)
                status =
                    nw_add_volume(*builder, (int32_t)r, (int32_t)to, &volume);
    return status;
}

/* The state while random partners are drawn. */
struct draw {
    struct nw_random random;
    uint64_t ranks, degree, seed;
    int32_t *mark; /* [ranks] mark[x] is r + 1 if rank r has drawn x */
    struct nw_volume volume;
};

/* Draws `degree` different partners for a rank with Floyd's algorithm for
 * sampling without replacement. */
static nw_status add_partners(struct draw *draw, int32_t rank,
                              nw_pattern_builder *builder)
{
    uint64_t others = draw->ranks - 1;
    nw_status status = NW_OK;

    for (uint64_t j = others - draw->degree; !status && j < others; j++) {
        uint64_t to = nw_random_below(&draw->random, j + 1);

        if (draw->mark[to] == rank + 1)
            to = j;
        draw->mark[to] = rank + 1;
        to += to >= (uint64_t)rank;
        status = nw_add_volume(builder, rank, (int32_t)to, &draw->volume);
    }
    return status;
}

static nw_status read_draw(struct nw_spec *spec, struct draw *draw)
{
    nw_status status = read_ranks(spec, &draw->ranks, &draw->volume);

    if (status)
        return status;
    draw->degree = draw->ranks > 4 ? 4 : draw->ranks - 1;
    status = nw_spec_number(
        spec,
        &(struct nw_spec_number){"degree", 0, draw->ranks - 1, &draw->degree});
    if (!status)
        status = nw_spec_number(
            spec, &(struct nw_spec_number){"seed", 0, UINT64_MAX, &draw->seed});
    return status;
}

static nw_status generate_random(struct nw_spec *spec,
                                 nw_pattern_builder **builder)
{
    struct draw draw = {.seed = DEFAULT_SEED};
    nw_status status = read_draw(spec, &draw);

    if (!status)
        status = nw_spec_builder(spec, draw.ranks, draw.degree, builder);
    if (!status)
        status = nw_alloc(draw.ranks, sizeof *draw.mark, &draw.mark);
    nw_random_init(&draw.random, draw.seed);
    for (uint64_t r = 0; !status && r < draw.ranks; r++)
        status = add_partners(&draw, (int32_t)r, *builder);
    free(draw.mark);
    return status;
}

static const struct {
    const char *name;
    nw_generator *generate;
} generators[] = {
    {"stencil2d5", nw_generate_stencil},
    {"stencil2d9", nw_generate_stencil},
    {"stencil3d7", nw_generate_stencil},
    {"stencil3d27", nw_generate_stencil},
    {"col", generate_col},
    {"hypercube", generate_hypercube},
    {"alltoall", generate_alltoall},
    {"random", generate_random},
    {"training", nw_generate_training},
};

/* Stores the specification in the pattern's note, with the default seed if the
 * specification has none. */
static nw_status note_origin(struct nw_spec *spec, const char *specification,
                             nw_pattern *pattern)
{
    struct nw_text note = {0};

    nw_text_add(&note, specification);
    if (!strcmp(spec->name, "random") && !nw_spec_find(spec, "seed"))
        nw_text_format(&note, ",seed=%d", DEFAULT_SEED);
    return nw_text_take(&note, &pattern->note);
}

static nw_status generate_make(struct nw_spec *spec, nw_pattern **out)
{
    nw_pattern_builder *builder = NULL;
    struct nw_nearest nearest;
    size_t i = 0, count = sizeof generators / sizeof *generators;
    nw_status status;

    nw_nearest_start(&nearest, spec->name, strlen(spec->name));
    while (i < count && strcmp(generators[i].name, spec->name))
        nw_nearest_try(&nearest, generators[i++].name);
    if (i == count)
        return nw_fail(NW_EINVAL, "unknown generator '%s'; %s", spec->name,
                       nw_nearest_say(&nearest, "see nodewise-pattern(1)"));
    status = generators[i].generate(spec, &builder);
    if (!status)
        status = nw_pattern_builder_build(builder, out);
    nw_pattern_builder_free(builder);
    return status;
}

nw_status nw_pattern_generate(const char *specification, nw_pattern **out)
{
    struct nw_spec spec;
    nw_pattern *pattern = NULL;
    nw_status status = nw_spec_init(&spec, specification);

    if (!status)
        status = generate_make(&spec, &pattern);
    if (!status)
        status = note_origin(&spec, specification, pattern);
    nw_spec_fini(&spec);
    if (status)
        nw_pattern_free(pattern);
    else
        *out = pattern;
    return status;
}
