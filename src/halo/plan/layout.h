/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layout: the pieces (subdomains) of a domain and the nodes and slots that
 * they are placed on. partition.c divides the domain, place.c places the
 * pieces, and transfers.c finds the cells to copy between pieces.
 */
#ifndef NW_HALO_PLAN_LAYOUT_H
#define NW_HALO_PLAN_LAYOUT_H

#include <nodewise/halo.h>

#define NW_HALO_PIECES_MOST (1 << 22) /* maximum number of pieces */

/* The domain that the options describe, after all checks. It is equal on all
 * ranks. */
struct nw_halo_domain {
    int64_t extent[3];
    int32_t radius[27]; /* ghost layers in each direction: radius * interval */
    enum nw_halo_border border[3][2];
    uint64_t cell_bytes; /* bytes of one cell, summed over all quantities */
};

/* A division of a box: the number of parts along each axis. */
struct nw_halo_grid {
    int32_t parts[3];
};

struct nw_halo_layout {
    struct nw_halo_domain domain;
    int32_t piece_count;
    struct nw_halo_piece *piece;
    int32_t node_count;
    int32_t *first; /* [node_count + 1] first piece of each node, in the order
                       before nw_halo_place */
    bool gpus;      /* true: the slots of nodes are GPUs */
    bool cores;     /* true: the slots of nodes are cores; if `gpus` and `cores`
                       are false, it is unknown what the slots are */
    bool tensor;    /* true: the pieces are all boxes between cuts that go
                       through the whole domain along x, y and z */
    struct nw_halo_summary summary;
};

/* Checks the options and makes the domain. Returns NW_EINVAL, and does not
 * change *out, if options are invalid or contradict each other. */
NW_MUST_CHECK nw_status nw_halo_domain_make(
    const struct nw_halo_options *options, struct nw_halo_domain *out);

/* Sets the number of ghost layers on the low and high side of each axis. This
 * is the largest radius of all directions to that side. */
void nw_halo_ghosts(const struct nw_halo_domain *domain, int64_t low[3],
                    int64_t high[3]);
/* Returns the component of a direction index along an axis: -1, 0 or 1. */
static inline int nw_halo_component(int direction, int axis)
{
    static const int power[3] = {1, 3, 9};

    return direction / power[axis] % 3 - 1;
}

/* Returns the number of cells that the parts exchange if `grid` divides `box`.
 * An axis counts as periodic if the domain is periodic along it and the box
 * spans the whole domain. */
double nw_halo_grid_cells(const struct nw_halo_domain *domain,
                          const struct nw_halo_box *box,
                          const struct nw_halo_grid *grid);
/* Sets *out to the best division of the box into `count` parts for this kind of
 * partition; NW_EINVAL if no division fits the box. */
NW_MUST_CHECK nw_status nw_halo_factor(const struct nw_halo_domain *domain,
                                       const struct nw_halo_box *box,
                                       enum nw_halo_partition kind,
                                       int32_t count, struct nw_halo_grid *out);
/* Returns the box of part `index` of a divided box; indexes run along x first.
 */
struct nw_halo_box nw_halo_grid_box(const struct nw_halo_box *box,
                                    const struct nw_halo_grid *grid,
                                    int32_t index);
/* Divides the domain: sets box, node and slot of each piece, and the grids of
 * the summary. If the nodes differ in slots, both grids are 0. */
NW_MUST_CHECK nw_status nw_halo_divide(nw_halo_layout *layout,
                                       const struct nw_halo_places *places,
                                       enum nw_halo_partition kind);

/* A box of cells of one piece that fills ghost cells of another piece, or of
 * the same piece. `source` and `target` are the lowest indices of the two
 * boxes, local to a piece's array: 0 is the first allocated cell. */
struct nw_halo_transfer {
    int32_t from, to; /* numbers of the source piece, the target piece */
    int64_t source[3], target[3], extent[3];
    uint8_t mirror; /* bit a: the source runs backwards along axis a */
    uint8_t phase;  /* phase of the transfer in a phased schedule, else 0 */
};

struct nw_halo_transfers {
    struct nw_halo_transfer *item; /* [count], owned by this struct */
    size_t count, capacity;
};

/* The transfers to find: those with at least one end in a piece of `rank`, or
 * all. `phased` is true for exchanges along one axis after the other. */
struct nw_halo_wanted {
    const nw_halo_layout *layout;
    int32_t rank; /* -1: all transfers */
    bool phased;
};
/* Appends the wanted transfers to *out. They are sorted by target piece, phase,
 * direction, part of the ghost box and source piece, so their order depends
 * only on the layout. The caller frees *out, also after an error. */
NW_MUST_CHECK nw_status nw_halo_transfers_find(
    const struct nw_halo_wanted *wanted, struct nw_halo_transfers *out);
void nw_halo_transfers_fini(struct nw_halo_transfers *transfers);
/* Returns true if exchanges along x, then y, then z fill all ghost cells
 * correctly, else false. */
bool nw_halo_can_phase(const nw_halo_layout *layout);

/* Sets `tensor`, and the ghost layers and allocated cells of each piece, of a
 * layout whose boxes are set. Returns NW_EINVAL if boxes overlap, leave cells
 * out or are not inside the domain. */
NW_MUST_CHECK nw_status nw_halo_layout_finish(nw_halo_layout *layout);
/* Allocates a layout with one piece for each slot; the pieces are not set yet.
 * The caller frees *out with nw_halo_layout_free. */
NW_MUST_CHECK nw_status
nw_halo_layout_new(const struct nw_halo_options *options,
                   const struct nw_halo_places *places, nw_halo_layout **out);

/* Returns the core that belongs to a slot, as an index within the node. If
 * `gpus` is true, the slot is a GPU, and the core is one of the GPU's package.
 * If `gpus` is false, or if the node lacks the GPU or the core, it is the core
 * with the slot's number, modulo the number of cores. Returns 0 if the node has
 * no cores. */
int32_t nw_halo_core_of(const nw_topology *topology, int32_t node, int32_t slot,
                        bool gpus);

/* Assigns the nodes of the partition to nodes of the machine, and the pieces of
 * each node to its slots. The nodes keep their order if `topology` is NULL or
 * the nodes differ in slots. Also sets the costs of the summary, and whether
 * the slots are GPUs or cores. */
NW_MUST_CHECK nw_status nw_halo_place(nw_halo_layout *layout,
                                      const struct nw_halo_options *options,
                                      const nw_topology *topology);

#endif
