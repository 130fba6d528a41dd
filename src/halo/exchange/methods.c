/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of all methods, indexed by enum nw_halo_method. */
#include "halo/exchange/gpus.h"

const struct nw_halo_method_ops *const nw_halo_methods[NW_HALO_METHOD_COUNT] = {
    [NW_HALO_SELF] = &nw_halo_same_rank,
    [NW_HALO_DIRECT] = &nw_halo_direct,
    [NW_HALO_SHARED] = &nw_halo_shared,
    [NW_HALO_ATTACH] = &nw_halo_cma,
    [NW_HALO_PACKED] = &nw_halo_packed,
    [NW_HALO_TYPES] = &nw_halo_types,
    [NW_HALO_NODES] = &nw_halo_nodes,
    [NW_HALO_KERNEL] = &nw_halo_kernel,
    [NW_HALO_WRITE] = &nw_halo_write,
    [NW_HALO_PEER3D] = &nw_halo_peer3d,
    [NW_HALO_PEER] = &nw_halo_peer,
    [NW_HALO_COLOCATED] = &nw_halo_colocated,
    [NW_HALO_AWARE] = &nw_halo_aware,
    [NW_HALO_PINNED] = &nw_halo_pinned,
    [NW_HALO_STAGED] = &nw_halo_staged,
};
