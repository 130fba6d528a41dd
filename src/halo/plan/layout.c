/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a layout: divides the domain, places the pieces, and computes the sums
 * of its summary. */
#include "halo/plan/layout.h"

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

nw_status nw_halo_layout_new(const struct nw_halo_options *options,
                             const struct nw_halo_places *places,
                             nw_halo_layout **out)
{
    nw_halo_layout *layout = NULL;
    int64_t count = 0;
    nw_status status = nw_alloc(1, sizeof *layout, &layout);

    if (status)
        return status;
    status = nw_halo_domain_make(options, &layout->domain);
    layout->node_count = places->node_count;
    if (!status && places->node_count < 1)
        status = nw_fail(NW_EINVAL, "a layout needs a node");
    if (!status)
        status = nw_alloc((size_t)places->node_count + 1, sizeof *layout->first,
                          &layout->first);
    for (int32_t i = 0; !status && i < places->node_count; i++) {
        if (places->slots[i] < 1 ||
            places->slots[i] > NW_HALO_PIECES_MOST - count)
            status =
                nw_fail(NW_EINVAL, "node %d has %d slot%s", i, places->slots[i],
                        nw_plural((uint64_t)places->slots[i]));
        else
            count += places->slots[i];
        layout->first[i + 1] = (int32_t)count;
    }
    if (!status)
        status = nw_alloc((size_t)count, sizeof *layout->piece, &layout->piece);
    layout->piece_count = (int32_t)count;
    if (status)
        nw_halo_layout_free(layout);
    else
        *out = layout;
    return status;
}

void nw_halo_layout_free(nw_halo_layout *layout)
{
    if (!layout)
        return;
    free(layout->piece);
    free(layout->first);
    free(layout);
}

/* The distinct intervals of the pieces along one axis. */
struct cuts {
    int64_t (*item)[2]; /* [count] low and high end of each interval */
    int64_t count;
};

static int by_low(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0])
                        : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Fills cuts->item, which has space for one entry per piece, in ascending
 * order. Returns false if the intervals overlap or leave gaps. */
static bool find_cuts(const nw_halo_layout *layout, int axis, struct cuts *cuts)
{
    int64_t(*item)[2] = cuts->item;

    for (int32_t i = 0; i < layout->piece_count; i++) {
        item[i][0] = layout->piece[i].box.low[axis];
        item[i][1] = layout->piece[i].box.high[axis];
    }
    qsort(item, (size_t)layout->piece_count, sizeof *item, by_low);
    cuts->count = 1;
    for (int32_t i = 1; i < layout->piece_count; i++) {
        int64_t *last = item[cuts->count - 1];

        if (item[i][0] == last[0] && item[i][1] == last[1])
            continue;
        if (item[i][0] != last[1])
            return false;
        memmove(item[cuts->count++], item[i], sizeof *item);
    }
    return true;
}

static int64_t layout_place_of(const struct cuts *cuts,
                               const struct nw_halo_box *box, int axis)
{
    const int64_t key[2] = {box->low[axis], box->high[axis]};
    const int64_t(*found)[2] =
        bsearch(key, cuts->item, (size_t)cuts->count, sizeof key, by_low);

    return found - (const int64_t(*)[2])cuts->item;
}

/* Returns true if each combination of three intervals, one from each axis, is
 * the box of exactly one piece. There must be as many pieces as combinations.
 */
static bool all_once(const nw_halo_layout *layout, const struct cuts cuts[3],
                     char *seen)
{
    for (int32_t i = 0; i < layout->piece_count; i++) {
        int64_t at = 0;

        for (int axis = 2; axis >= 0; axis--)
            at = at * cuts[axis].count +
                 layout_place_of(&cuts[axis], &layout->piece[i].box, axis);
        if (seen[at]++)
            return false;
    }
    return true;
}

static nw_status find_tensor(nw_halo_layout *layout)
{
    size_t pieces = (size_t)layout->piece_count;
    struct cuts cuts[3] = {{NULL, 0}};
    int64_t(*item)[2] = NULL, product = 1;
    char *seen = NULL;
    nw_status status = nw_alloc(3 * pieces, sizeof *item, &item);

    if (!status)
        status = nw_alloc(pieces, 1, &seen);
    layout->tensor = !status;
    for (int axis = 0; layout->tensor && axis < 3; axis++) {
        cuts[axis].item = item + (size_t)axis * pieces;
        layout->tensor = find_cuts(layout, axis, &cuts[axis]) &&
                         cuts[axis].count <= layout->piece_count / product;
        product *= cuts[axis].count;
    }
    layout->tensor = layout->tensor && product == layout->piece_count &&
                     all_once(layout, cuts, seen);
    free(item);
    free(seen);
    return status;
}

static bool layout_overlap(const struct nw_halo_box *a,
                           const struct nw_halo_box *b)
{
    for (int axis = 0; axis < 3; axis++)
        if (a->high[axis] <= b->low[axis] || b->high[axis] <= a->low[axis])
            return false;
    return true;
}

/* Returns NW_EINVAL unless the boxes are inside the domain, do not overlap, and
 * together have as many cells as the domain. Needs layout->tensor. */
static nw_status check_boxes(const nw_halo_layout *layout)
{
    const int64_t *n = layout->domain.extent;
    int64_t cells = 0;

    for (int32_t i = 0; i < layout->piece_count; i++) {
        const struct nw_halo_box *box = &layout->piece[i].box;
        int64_t own = 1;

        for (int axis = 0; axis < 3; axis++) {
            if (box->low[axis] < 0 || box->high[axis] <= box->low[axis] ||
                box->high[axis] > n[axis])
                return nw_fail(NW_EINVAL, "piece %d does not lie in the domain",
                               i);
            own *= box->high[axis] - box->low[axis];
        }
        cells += own;
        for (int32_t j = 0; !layout->tensor && j < i; j++)
            if (layout_overlap(box, &layout->piece[j].box))
                return nw_fail(NW_EINVAL, "pieces %d and %d overlap", j, i);
    }
    if (cells != n[0] * n[1] * n[2])
        return nw_fail(NW_EINVAL, "the pieces leave cells of the domain out");
    return NW_OK;
}

nw_status nw_halo_layout_finish(nw_halo_layout *layout)
{
    nw_status status = find_tensor(layout);

    if (!status)
        status = check_boxes(layout);
    for (int32_t i = 0; i < layout->piece_count; i++) {
        struct nw_halo_piece *piece = &layout->piece[i];

        nw_halo_ghosts(&layout->domain, piece->low_ghost, piece->high_ghost);
        for (int axis = 0; axis < 3; axis++)
            piece->allocated[axis] =
                piece->box.high[axis] - piece->box.low[axis] +
                piece->low_ghost[axis] + piece->high_ghost[axis];
    }
    return status;
}

static uint64_t transfer_bytes(const nw_halo_layout *layout,
                               const struct nw_halo_transfer *transfer)
{
    return layout->domain.cell_bytes * (uint64_t)transfer->extent[0] *
           (uint64_t)transfer->extent[1] * (uint64_t)transfer->extent[2];
}

static nw_status layout_sum_up(nw_halo_layout *layout)
{
    struct nw_halo_transfers transfers = {0};
    struct nw_halo_wanted all = {.layout = layout, .rank = -1};
    struct nw_halo_summary *sum = &layout->summary;
    nw_status status = nw_halo_transfers_find(&all, &transfers);

    for (size_t i = 0; !status && i < transfers.count; i++) {
        const struct nw_halo_transfer *transfer = &transfers.item[i];
        uint64_t bytes = transfer_bytes(layout, transfer);

        sum->bytes += bytes;
        if (transfer->from == transfer->to)
            sum->bytes_self += bytes;
        if (layout->piece[transfer->from].node !=
            layout->piece[transfer->to].node)
            sum->bytes_between_nodes += bytes;
    }
    nw_halo_transfers_fini(&transfers);
    return status;
}

/* Counts the slots of each node: its GPUs, or its cores if no node has a GPU.
 * The caller frees *out. */
static nw_status layout_count_slots(const nw_topology *topology, int32_t **out)
{
    int32_t nodes = nw_topology_node_count(topology), *slots;
    bool gpus = nw_topology_gpu_count(topology) > 0;
    nw_status status = nw_alloc((size_t)nodes + 1, sizeof *slots, &slots);

    if (status)
        return status;
    for (int32_t i = 0; i < nodes; i++)
        slots[i] = gpus ? nw_topology_node_gpus(topology, i).count
                        : nw_topology_node_elements(topology, i).count;
    *out = slots;
    return NW_OK;
}

static nw_status layout_make(const struct nw_halo_options *options,
                             const struct nw_halo_places *places,
                             const nw_topology *topology, nw_halo_layout **out)
{
    nw_halo_layout *layout = NULL;
    nw_status status = nw_halo_layout_new(options, places, &layout);

    if (status)
        return status;
    for (int32_t i = 0; i < layout->piece_count; i++)
        layout->piece[i].rank = -1;
    status = nw_halo_divide(layout, places, options->partition);
    if (!status)
        status = nw_halo_layout_finish(layout);
    if (!status)
        status = nw_halo_place(layout, options, topology);
    if (!status)
        status = layout_sum_up(layout);
    if (status)
        nw_halo_layout_free(layout);
    else
        *out = layout;
    return status;
}

nw_status nw_halo_layout_make(const struct nw_halo_options *options,
                              const struct nw_halo_places *places,
                              nw_halo_layout **out)
{
    nw_topology *topology = NULL;
    int32_t *slots = NULL;
    struct nw_halo_places own;
    nw_status status = NW_OK;

    if (options->topology)
        status = nw_topology_load(options->topology, NULL, &topology);
    if (!status && !places && !topology)
        status = nw_fail(NW_EINVAL, "the layout needs options.topology, or "
                                    "`places`: the slots of each node");
    if (!status && !places) {
        status = layout_count_slots(topology, &slots);
        own.node_count = nw_topology_node_count(topology);
        own.slots = slots;
        places = &own;
    }
    if (!status)
        status = layout_make(options, places, topology, out);
    free(slots);
    nw_topology_free(topology);
    return status;
}

int32_t nw_halo_layout_count(const nw_halo_layout *layout)
{
    return layout->piece_count;
}

const struct nw_halo_piece *nw_halo_layout_piece(const nw_halo_layout *layout,
                                                 int32_t piece)
{
    return &layout->piece[piece];
}

void nw_halo_layout_summary(const nw_halo_layout *layout,
                            struct nw_halo_summary *out)
{
    *out = layout->summary;
}

nw_status nw_halo_layout_pattern(const nw_halo_layout *layout, nw_pattern **out)
{
    struct nw_halo_transfers transfers = {0};
    struct nw_halo_wanted all = {.layout = layout, .rank = -1};
    enum nw_kind kind = layout->cores ? NW_KIND_HH : NW_KIND_GG;
    nw_pattern_builder *builder = NULL;
    nw_status status = nw_pattern_builder_new(layout->piece_count, &builder);

    if (!status)
        status = nw_halo_transfers_find(&all, &transfers);
    for (size_t i = 0; !status && i < transfers.count; i++)
        status = nw_pattern_builder_add(
            builder, transfers.item[i].from, transfers.item[i].to, kind,
            transfer_bytes(layout, &transfers.item[i]), 1);
    if (!status)
        status = nw_pattern_builder_build(builder, out);
    nw_pattern_builder_free(builder);
    nw_halo_transfers_fini(&transfers);
    return status;
}

/* Each GPU of a package gets a core of its own in this package, if there are
 * enough, so that data through the host uses a NIC near the GPU. */
int32_t nw_halo_core_of(const nw_topology *topology, int32_t node, int32_t slot,
                        bool gpus)
{
    struct nw_range cores = nw_topology_node_elements(topology, node);
    struct nw_range all = nw_topology_node_gpus(topology, node);
    int32_t package, before = 0;

    if (!cores.count)
        return 0;
    if (!gpus || slot >= all.count)
        return slot % cores.count;
    package = nw_topology_gpu_package(topology, all.first + slot);
    for (int32_t i = 0; i < slot; i++)
        before += nw_topology_gpu_package(topology, all.first + i) == package;
    for (int32_t i = 0; i < cores.count; i++)
        if (nw_topology_element_package(topology, cores.first + i) == package &&
            !before--)
            return i;
    return slot % cores.count;
}

nw_status nw_halo_layout_mapping(const nw_halo_layout *layout,
                                 const nw_topology *topology, nw_mapping **out)
{
    nw_mapping *mapping = NULL;
    nw_status status = nw_mapping_new(topology, layout->piece_count, &mapping);

    if (status)
        return status;
    for (int32_t i = 0; i < layout->piece_count; i++) {
        const struct nw_halo_piece *piece = &layout->piece[i];

        mapping->node[i] = piece->node;
        mapping->core[i] =
            nw_halo_core_of(topology, piece->node, piece->slot, layout->gpus);
        mapping->gpu[i] =
            piece->slot < nw_topology_node_gpus(topology, piece->node).count
                ? piece->slot
                : -1;
    }
    *out = mapping;
    return NW_OK;
}
