/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layout: the pieces of a domain and where each is. Partition divides, assign
 * places, transfers says which cells go from which piece to which.
 */
#ifndef NW_HALO_PLAN_LAYOUT_H
#define NW_HALO_PLAN_LAYOUT_H

#include <nodewise/halo.h>

/* The options that all ranks must agree on, checked and made plain. */
struct nw_halo_domain {
    int64_t extent[3];
    int32_t radius[27]; /* times the interval */
    enum nw_halo_border border[3][2];
    uint64_t cell_bytes; /* of all quantities together */
};

/* How one axis-aligned box is cut: parts along each axis. */
struct nw_halo_grid {
    int32_t parts[3];
};

struct nw_halo_layout {
    struct nw_halo_domain domain;
    int32_t piece_count;
    struct nw_halo_piece *piece;
    int32_t node_count;
    int32_t *first; /* [node_count + 1] pieces of the partition's node i */
    bool gpus;      /* slots are GPUs */
    bool cores;     /* or cores; neither: nobody says */
    bool tensor;    /* pieces are the products of one set of cuts an axis */
    struct nw_halo_summary summary;
};

/* NW_EINVAL where options contradict themselves. */
NW_MUST_CHECK nw_status nw_halo_domain_make(
    const struct nw_halo_options *options, struct nw_halo_domain *out);

/* Ghost layers a piece has on both sides of an axis: the deepest radius. */
void nw_halo_ghosts(const struct nw_halo_domain *domain, int64_t low[3],
                    int64_t high[3]);
/* Component of direction index d along an axis: -1, 0, 1. */
static inline int nw_halo_component(int direction, int axis)
{
    static const int power[3] = {1, 3, 9};

    return direction / power[axis] % 3 - 1;
}

/* Cells that cross between different parts when `box` is cut by `grid`, with
 * the domain's borders where the box reaches them on both sides. */
double nw_halo_grid_cells(const struct nw_halo_domain *domain,
                          const struct nw_halo_box *box,
                          const struct nw_halo_grid *grid);
/* The factorisation of `count` parts; NW_EINVAL where none fits the box. */
NW_MUST_CHECK nw_status nw_halo_factor(const struct nw_halo_domain *domain,
                                       const struct nw_halo_box *box,
                                       enum nw_halo_partition kind,
                                       int32_t count, struct nw_halo_grid *out);
/* Part `index` (x fastest) of the box. */
struct nw_halo_box nw_halo_grid_box(const struct nw_halo_box *box,
                                    const struct nw_halo_grid *grid,
                                    int32_t index);
/* Fills layout->piece boxes, first, the summary's grids and `tensor`. */
NW_MUST_CHECK nw_status nw_halo_divide(nw_halo_layout *layout,
                                       const struct nw_halo_places *places,
                                       enum nw_halo_partition kind);

/* Cells of one piece that fill ghost cells of another, as one box. Indexes are
 * local: 0 is the first allocated cell. */
struct nw_halo_transfer {
    int32_t from, to; /* pieces */
    int64_t source[3], target[3], extent[3];
    uint8_t mirror; /* bit a: along axis a the source runs backwards */
    uint8_t phase;  /* of the phased schedule, else 0 */
};

struct nw_halo_transfers {
    struct nw_halo_transfer *item; /* owned */
    size_t count, capacity;
};

/* What is wanted: one or both ends among the pieces first <= p < last. */
struct nw_halo_wanted {
    const nw_halo_layout *layout;
    int32_t rank; /* pieces of this rank; -1 for all pieces */
    bool phased;
};
/* All transfers with an end there, in an order that depends on the layout
 * alone: sorted by target piece, phase, direction, source. */
NW_MUST_CHECK nw_status nw_halo_transfers_find(
    const struct nw_halo_wanted *wanted, struct nw_halo_transfers *out);
void nw_halo_transfers_fini(struct nw_halo_transfers *transfers);
/* Whether x, then y, then z gives every ghost cell what it must have. */
bool nw_halo_can_phase(const nw_halo_layout *layout);

/* Ghosts, sums and `tensor` of pieces whose boxes are known; NW_EINVAL where
 * they overlap or leave cells out. */
NW_MUST_CHECK nw_status nw_halo_layout_finish(nw_halo_layout *layout);
/* A layout without boxes yet. */
NW_MUST_CHECK nw_status
nw_halo_layout_new(const struct nw_halo_options *options,
                   const struct nw_halo_places *places, nw_halo_layout **out);

/* The core of a slot, inside the node: for a GPU one of its own package. */
int32_t nw_halo_core_of(const nw_topology *topology, int32_t node, int32_t slot,
                        bool gpus);

/* Gives nodes of the partition nodes of the machine, and pieces slots. */
NW_MUST_CHECK nw_status nw_halo_place(nw_halo_layout *layout,
                                      const struct nw_halo_options *options,
                                      const nw_topology *topology);

#endif
