/* SPDX-License-Identifier: BSD-3-Clause */
/* NCCL's double binary tree, for calls that do not use a ring. */
#ifndef NW_PROFILE_NCCL_TREE_H
#define NW_PROFILE_NCCL_TREE_H

#include "runtime/profile/collective_messages.h"

/* Records the messages that this rank sends in an all-reduce of `bytes` bytes.
 * Each half of the data is reduced to the root of one of the two trees and
 * broadcast back. */
void nw_nccl_tree_allreduce(const struct nw_model *model, uint64_t bytes);

#endif
