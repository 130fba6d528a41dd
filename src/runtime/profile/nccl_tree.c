/* SPDX-License-Identifier: BSD-3-Clause */
/* Models an all-reduce over NCCL's two trees (src/pattern/nccl/tree.h). Each
 * tree carries half of the bytes. */
#include "runtime/profile/nccl_tree.h"

#include "pattern/nccl/tree.h"

void nw_nccl_tree_allreduce(const struct nw_model *model, uint64_t bytes)
{
    int peer[NW_NCCL_TREE_PEERS];

    for (int tree = 0; tree < 2; tree++) {
        uint64_t half = tree ? bytes / 2 : bytes - bytes / 2;
        size_t count = nw_nccl_tree_peers(model->rank, model->size, tree, peer);

        for (size_t i = 0; i < count; i++)
            model->send(model->context, peer[i], half);
    }
}
