/* SPDX-License-Identifier: BSD-3-Clause */
/* NCCL's double binary tree, for collective calls that are not rings. */
#ifndef NW_PROFILE_NCCL_TREE_H
#define NW_PROFILE_NCCL_TREE_H

#include "runtime/profile/model.h"

/* An all-reduce sends each half of the data up one of two trees and down
 * again. */
void nw_nccl_tree_allreduce(const struct nw_model *model, uint64_t bytes);

#endif
