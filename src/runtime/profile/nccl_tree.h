/* SPDX-License-Identifier: BSD-3-Clause */
/* NCCL's double binary tree, for collective calls that are not rings. */
#ifndef NW_PROFILE_NCCL_TREE_H
#define NW_PROFILE_NCCL_TREE_H

#include "runtime/profile/model.h"

/* The parent in the tree of `size` ranks whose root is 0; -1 at the root. */
int nw_nccl_parent(int rank, int size);
/* An all-reduce: each half of the data up one of two trees and down again. The
 * second is the first mirrored (even sizes) or turned by one (odd), so that a
 * leaf of one is no leaf of the other. */
void nw_nccl_tree_allreduce(const struct nw_model *model, uint64_t bytes);

#endif
