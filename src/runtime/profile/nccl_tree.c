/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks as nodes of a binary search tree: odd ones are leaves, the lowest bit
 * that is set tells the height. Sanders, Speck and Traff, "Two-tree algorithms
 * for full bandwidth broadcast, reduction and scan" (2009).
 */
#include "runtime/profile/nccl_tree.h"

int nw_nccl_parent(int rank, int size)
{
    int bit = rank & -rank, up = (rank ^ bit) | bit << 1;

    if (!rank)
        return -1;
    return up < size ? up : rank ^ bit;
}

/* Both trees seen as the first one. */
static int turn(int rank, int size, int tree)
{
    return !tree ? rank : size % 2 ? (rank + size - 1) % size : size - 1 - rank;
}

static int turn_back(int rank, int size, int tree)
{
    return !tree ? rank : size % 2 ? (rank + 1) % size : size - 1 - rank;
}

void nw_nccl_tree_allreduce(const struct nw_model *model, uint64_t bytes)
{
    for (int tree = 0; tree < 2; tree++) {
        uint64_t half = tree ? bytes / 2 : bytes - bytes / 2;
        int me = turn(model->rank, model->size, tree);
        int parent = nw_nccl_parent(me, model->size);

        if (parent >= 0)
            model->send(model->context, turn_back(parent, model->size, tree),
                        half);
        for (int bit = 1; bit < model->size; bit <<= 1)
            for (int side = -1; side <= 1; side += 2) {
                int child = me + side * bit;

                if (child > 0 && child < model->size &&
                    nw_nccl_parent(child, model->size) == me)
                    model->send(model->context,
                                turn_back(child, model->size, tree), half);
            }
    }
}
