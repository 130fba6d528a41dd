/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the domain from the user's options: checks them and multiplies the
 * radii by the interval. */
#include "halo/plan/layout.h"

#include "base/status.h"
#include "base/text.h"

#include <string.h>

/* maximum number of cells along one axis */
#define MOST_CELLS ((int64_t)1 << 40)
/* maximum size of one element in bytes */
#define MOST_BYTES ((size_t)1 << 20)
#define MOST_INTERVAL 1024

static const char axis_name[] = "xyz";

void nw_halo_radius(struct nw_halo_options *options, int32_t radius,
                    bool corners)
{
    for (int d = 0; d < 27; d++) {
        int sides = 0;
        bool there = true;

        for (int axis = 0; axis < 3; axis++)
            if (nw_halo_component(d, axis)) {
                sides++;
                there = there && options->extent[axis] > 1;
            }
        options->radius[d] =
            there && sides && (corners || sides == 1) ? radius : 0;
    }
}

void nw_halo_borders(struct nw_halo_options *options,
                     enum nw_halo_border border)
{
    for (int axis = 0; axis < 3; axis++)
        options->border[axis][0] = options->border[axis][1] = border;
}

void nw_halo_ghosts(const struct nw_halo_domain *domain, int64_t low[3],
                    int64_t high[3])
{
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = high[axis] = 0;
        for (int d = 0; d < 27; d++) {
            int side = nw_halo_component(d, axis);
            int64_t *ghost = side < 0 ? &low[axis] : &high[axis];

            if (side && domain->radius[d] > *ghost)
                *ghost = domain->radius[d];
        }
    }
}

static nw_status check_extents(const struct nw_halo_options *options)
{
    for (int axis = 0; axis < 3; axis++)
        if (options->extent[axis] < 1 || options->extent[axis] > MOST_CELLS)
            return nw_fail(
                NW_EINVAL,
                "the domain has %lld cell%s along %c; allowed are 1 to 2^40",
                (long long)options->extent[axis],
                nw_plural((uint64_t)options->extent[axis]), axis_name[axis]);
    return NW_OK;
}

static nw_status
halo_domain_check_borders(const struct nw_halo_options *options)
{
    for (int axis = 0; axis < 3; axis++) {
        const enum nw_halo_border *side = options->border[axis];

        for (int end = 0; end < 2; end++)
            if ((unsigned)side[end] > NW_HALO_MIRROR)
                return nw_fail(NW_EINVAL, "invalid border %d along %c",
                               (int)side[end], axis_name[axis]);
        if ((side[0] == NW_HALO_PERIODIC) != (side[1] == NW_HALO_PERIODIC))
            return nw_fail(
                NW_EINVAL,
                "only one border along %c is periodic; make both periodic",
                axis_name[axis]);
    }
    return NW_OK;
}

static nw_status check_quantities(const struct nw_halo_options *options)
{
    if (options->quantity_count < 1 || !options->quantity)
        return nw_fail(NW_EINVAL, "a halo exchange needs a quantity");
    for (int32_t i = 0; i < options->quantity_count; i++) {
        const struct nw_halo_quantity *quantity = &options->quantity[i];

        if (!quantity->bytes || quantity->bytes > MOST_BYTES ||
            quantity->stride > MOST_BYTES ||
            (quantity->stride && quantity->stride < quantity->bytes))
            return nw_fail(
                NW_EINVAL,
                "quantity %d: invalid size of an element (%zu byte%s) or "
                "stride (%zu byte%s)",
                i, quantity->bytes, nw_plural((uint64_t)quantity->bytes),
                quantity->stride, nw_plural((uint64_t)quantity->stride));
    }
    return NW_OK;
}

static nw_status set_radii(const struct nw_halo_options *options,
                           struct nw_halo_domain *out)
{
    int32_t interval = options->interval ? options->interval : 1;

    if (interval < 1 || interval > MOST_INTERVAL)
        return nw_fail(NW_EINVAL,
                       "the interval is %d step%s; allowed are 1 to %d",
                       interval, nw_plural((uint64_t)interval), MOST_INTERVAL);
    for (int d = 0; d < 27; d++) {
        int64_t radius = (int64_t)options->radius[d] * interval;

        if (d == 13)
            continue;
        for (int axis = 0; axis < 3; axis++)
            if (nw_halo_component(d, axis) && radius > options->extent[axis])
                return nw_fail(NW_EINVAL,
                               "a domain of %lld cell%s along %c is smaller "
                               "than its radius, %lld",
                               (long long)options->extent[axis],
                               nw_plural((uint64_t)options->extent[axis]),
                               axis_name[axis], (long long)radius);
        if (radius < 0)
            return nw_fail(NW_EINVAL, "the radius %lld is negative",
                           (long long)radius);
        if (radius > INT32_MAX)
            return nw_fail(NW_EINVAL,
                           "the radius %lld is too large; allowed are at most "
                           "%d ghost layers",
                           (long long)radius, INT32_MAX);
        out->radius[d] = (int32_t)radius;
    }
    return NW_OK;
}

static nw_status check_choices(const struct nw_halo_options *options)
{
    const struct {
        const char *name;
        int value, most;
    } choice[] = {
        {"partition", (int)options->partition, NW_HALO_PARTITION_PAPER},
        {"placement", (int)options->placement, NW_HALO_PLACE_WORST},
        {"schedule", (int)options->schedule, NW_HALO_SCHEDULE_PHASES},
        {"choice", (int)options->choice, NW_HALO_CHOOSE_ORDER},
        {"kind of memory", (int)options->memory_kind, NW_HALO_MEMORY_GPU},
    };

    for (size_t i = 0; i < sizeof choice / sizeof *choice; i++)
        if (choice[i].value < 0 || choice[i].value > choice[i].most)
            return nw_fail(NW_EINVAL, "invalid %s %d", choice[i].name,
                           choice[i].value);
    if (options->methods >> NW_HALO_METHOD_COUNT)
        return nw_fail(NW_EINVAL,
                       "unknown methods in 0x%x; known methods: 0x%x",
                       options->methods, NW_HALO_BIT(NW_HALO_METHOD_COUNT) - 1);
    if (options->ranks_per_node < 0)
        return nw_fail(NW_EINVAL,
                       "the number of ranks of a node, %d, is negative",
                       options->ranks_per_node);
    if (!(options->timeout >= 0))
        return nw_fail(NW_EINVAL,
                       "the timeout of %g seconds is not a number from 0",
                       options->timeout);
    return NW_OK;
}

/* Returns an error if the domain has too many bytes. Sums over halos, each of
 * which may be as large as the domain, must fit into 64 bits. */
static nw_status check_volume(const struct nw_halo_domain *domain)
{
    double bytes = (double)domain->cell_bytes;

    for (int axis = 0; axis < 3; axis++)
        bytes *= (double)domain->extent[axis];
    if (bytes < 0x1p58)
        return NW_OK;
    return nw_fail(NW_EINVAL,
                   "the domain of %lld x %lld x %lld cells of %zu byte%s has "
                   "more than 2^58 bytes",
                   (long long)domain->extent[0], (long long)domain->extent[1],
                   (long long)domain->extent[2], domain->cell_bytes,
                   nw_plural((uint64_t)domain->cell_bytes));
}

nw_status nw_halo_domain_make(const struct nw_halo_options *options,
                              struct nw_halo_domain *out)
{
    struct nw_halo_domain domain = {.cell_bytes = 0};
    nw_status status;

    if (options->size != sizeof *options)
        return nw_fail(NW_EINVAL,
                       "the halo options were not set by NW_HALO_OPTIONS_INIT");
    status = check_extents(options);
    if (!status)
        status = halo_domain_check_borders(options);
    if (!status)
        status = check_quantities(options);
    if (!status)
        status = check_choices(options);
    if (!status)
        status = set_radii(options, &domain);
    if (status)
        return status;
    memcpy(domain.extent, options->extent, sizeof domain.extent);
    memcpy(domain.border, options->border, sizeof domain.border);
    for (int32_t i = 0; i < options->quantity_count; i++)
        domain.cell_bytes += options->quantity[i].bytes;
    status = check_volume(&domain);
    if (!status)
        *out = domain;
    return status;
}
