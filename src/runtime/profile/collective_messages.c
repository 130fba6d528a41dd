/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Models of collective algorithms. Most calls with a root use a tree; in most
 * others, each rank exchanges data with one partner after the other. If the
 * number of ranks is not a power of two, recursive doubling and halving in
 * reductions let pairs among the first ranks act as one rank, as in Open MPI
 * and MPICH. The parts of a vector are assumed to be equal, although those of
 * the MPI library may differ by one element.
 */
#include "runtime/profile/collective_messages.h"

#include "runtime/profile/collective_trees.h"

static void model_send(const struct nw_model *model, int to, uint64_t bytes)
{
    model->send(model->context, to, bytes);
}

/* model_from_root returns the number of this rank relative to the root. to_rank
 * converts such a number to a rank. */
static int model_from_root(const struct nw_model *model, int root)
{
    return (model->rank - root + model->size) % model->size;
}

static int to_rank(const struct nw_model *model, int root, int from)
{
    return (from + root) % model->size;
}

static int highest_power(int size)
{
    return 1 << (31 - __builtin_clz((unsigned)size));
}

static void send_down(const struct nw_model *model, enum nw_tree tree, int root,
                      uint64_t bytes)
{
    int self = model_from_root(model, root), child = 0;

    while ((child = nw_tree_child(tree, self, model->size, child)))
        model_send(model, to_rank(model, root, child), bytes);
}

static void send_up(const struct nw_model *model, enum nw_tree tree, int root,
                    uint64_t bytes)
{
    int self = model_from_root(model, root);

    if (self)
        model_send(
            model,
            to_rank(model, root, nw_tree_parent(tree, self, model->size)),
            bytes);
}

static enum nw_tree tree_of(enum nw_collective_algorithm algorithm,
                            enum nw_tree binomial)
{
    switch (algorithm) {
    case NW_ALGORITHM_CHAIN:
        return NW_TREE_CHAINS;
    case NW_ALGORITHM_PIPELINE:
        return NW_TREE_LINE;
    case NW_ALGORITHM_BINARY:
        return NW_TREE_BINARY;
    case NW_ALGORITHM_LINEAR:
        return NW_TREE_FLAT;
    default:
        return binomial;
    }
}

struct model_share {
    uint64_t bytes;
};

static uint64_t equal_share(const void *context, int rank)
{
    (void)rank;
    return ((const struct model_share *)context)->bytes;
}

/* A broadcast uses the binomial tree NW_TREE_HIGH in Open MPI and NW_TREE_LOW
 * in MPICH. */
#ifdef NW_MODEL_MPICH
#define BCAST_TREE NW_TREE_LOW
#else
#define BCAST_TREE NW_TREE_HIGH
#endif

void nw_model_bcast(const struct nw_model *model,
                    enum nw_collective_algorithm algorithm, int root,
                    uint64_t bytes)
{
    struct model_share share = {bytes / (uint64_t)model->size};
    struct nw_blocks blocks = {equal_share, &share};

    if (algorithm != NW_ALGORITHM_SCATTER_ALLGATHER) {
        send_down(model, tree_of(algorithm, BCAST_TREE), root, bytes);
        return;
    }
    nw_model_scatter(model, NW_ALGORITHM_BINOMIAL, root, share.bytes);
    nw_model_allgather(model, NW_ALGORITHM_RING, &blocks);
}

void nw_model_reduce(const struct nw_model *model,
                     enum nw_collective_algorithm algorithm, int root,
                     uint64_t bytes)
{
    send_up(model, tree_of(algorithm, NW_TREE_LOW), root, bytes);
}

void nw_model_gather(const struct nw_model *model,
                     enum nw_collective_algorithm algorithm, int root,
                     uint64_t bytes)
{
    int self = model_from_root(model, root);
    int weight = nw_tree_low_weight(self, model->size);

    if (algorithm == NW_ALGORITHM_BINOMIAL)
        send_up(model, NW_TREE_LOW, root, (uint64_t)weight * bytes);
    else
        send_up(model, NW_TREE_FLAT, root, bytes);
}

void nw_model_scatter(const struct nw_model *model,
                      enum nw_collective_algorithm algorithm, int root,
                      uint64_t bytes)
{
    int self = model_from_root(model, root), child = 0;

    if (algorithm != NW_ALGORITHM_BINOMIAL) {
        send_down(model, NW_TREE_FLAT, root, bytes);
        return;
    }
    while ((child = nw_tree_child(NW_TREE_LOW, self, model->size, child))) {
        int weight = nw_tree_low_weight(child, model->size);

        model_send(model, to_rank(model, root, child),
                   (uint64_t)weight * bytes);
    }
}

/* Reduces the number of ranks to a power of two ("folds"): of each pair among
 * the first 2 * `extra` ranks, only one takes part. */
struct fold {
    int size, extra;
    /* which rank of a pair takes part: 1: the odd one, 0: the even one */
    int keep;
    int self; /* this rank's number among those that take part, or -1 */
};

static struct fold collective_messages_fold(const struct nw_model *model,
                                            int keep)
{
    struct fold fold = {.size = highest_power(model->size), .keep = keep};

    fold.extra = model->size - fold.size;
    if (model->rank >= 2 * fold.extra)
        fold.self = model->rank - fold.extra;
    else
        fold.self = model->rank % 2 == keep ? model->rank / 2 : -1;
    return fold;
}

static int collective_messages_unfold(const struct fold *fold, int number)
{
    return number < fold->extra ? 2 * number + fold->keep
                                : number + fold->extra;
}

static bool is_paired(const struct nw_model *model, const struct fold *fold)
{
    return model->rank < 2 * fold->extra;
}

static void double_recursively(const struct nw_model *model, uint64_t bytes)
{
    struct fold f = collective_messages_fold(model, 1);

    if (f.self < 0) {
        model_send(model, model->rank + 1, bytes);
        return;
    }
    for (int mask = 1; mask < f.size; mask *= 2)
        model_send(model, collective_messages_unfold(&f, f.self ^ mask), bytes);
    if (is_paired(model, &f))
        model_send(model, model->rank - 1, bytes);
}

/* Rabenseifner's all-reduce: a reduce-scatter by recursive halving, then an
 * allgather. The two ranks of a folded pair first exchange halves. The odd rank
 * then sends its reduced half, and receives the whole result at the end. */
static void reduce_by_halves(const struct nw_model *model, uint64_t bytes)
{
    struct fold f = collective_messages_fold(model, 0);
    uint64_t part = bytes / 2;

    if (f.self < 0) {
        model_send(model, model->rank - 1, part);
        model_send(model, model->rank - 1, bytes - part);
        return;
    }
    if (is_paired(model, &f))
        model_send(model, model->rank + 1, bytes - part);
    for (int mask = 1; mask < f.size; mask *= 2, part /= 2) {
        model_send(model, collective_messages_unfold(&f, f.self ^ mask), part);
        model_send(model, collective_messages_unfold(&f, f.self ^ mask), part);
    }
    if (is_paired(model, &f))
        model_send(model, model->rank + 1, bytes);
}

void nw_model_allreduce(const struct nw_model *model,
                        enum nw_collective_algorithm algorithm, uint64_t bytes)
{
    int next = (model->rank + 1) % model->size;

    switch (algorithm) {
    case NW_ALGORITHM_LINEAR:
    case NW_ALGORITHM_BINOMIAL:
        nw_model_reduce(model, algorithm, 0, bytes);
        nw_model_bcast(model, algorithm, 0, bytes);
        break;
    case NW_ALGORITHM_RING:
        for (int step = 0; step < 2 * (model->size - 1); step++)
            model_send(model, next, bytes / (uint64_t)model->size);
        break;
    case NW_ALGORITHM_RABENSEIFNER:
        reduce_by_halves(model, bytes);
        break;
    default:
        double_recursively(model, bytes);
    }
}

/* Returns the bytes of the blocks of `count` ranks from rank `first` on; rank 0
 * follows the last rank. */
static uint64_t sum_blocks(const struct nw_model *model,
                           const struct nw_blocks *blocks, int first, int count)
{
    uint64_t sum = 0;

    for (int i = 0; i < count; i++)
        sum += blocks->bytes(blocks->context, (first + i) % model->size);
    return sum;
}

static void gather_in_ring(const struct nw_model *model,
                           const struct nw_blocks *blocks)
{
    for (int step = 0; step < model->size - 1; step++)
        model_send(
            model, (model->rank + 1) % model->size,
            sum_blocks(model, blocks, model->rank - step + model->size, 1));
}

static void gather_by_bruck(const struct nw_model *model,
                            const struct nw_blocks *blocks)
{
    for (int far = 1; far < model->size; far *= 2) {
        int count = far < model->size - far ? far : model->size - far;

        model_send(model, (model->rank - far + model->size) % model->size,
                   sum_blocks(model, blocks, model->rank, count));
    }
}

static void gather_by_doubling(const struct nw_model *model,
                               const struct nw_blocks *blocks)
{
    for (int mask = 1; mask < model->size; mask *= 2)
        model_send(model, model->rank ^ mask,
                   sum_blocks(model, blocks, model->rank & ~(mask - 1), mask));
}

/* The neighbour-exchange algorithm: sends one block to the first neighbour,
 * then two blocks of average size alternately to both neighbours. */
static void gather_by_neighbours(const struct nw_model *model,
                                 const struct nw_blocks *blocks)
{
    int size = model->size, right = (model->rank + 1) % size;
    int left = (model->rank + size - 1) % size;
    bool even = model->rank % 2 == 0;
    uint64_t total = sum_blocks(model, blocks, 0, size);

    model_send(model, even ? right : left,
               sum_blocks(model, blocks, model->rank, 1));
    for (int step = 1; step < size / 2; step++)
        model_send(model, even == (step % 2 == 0) ? right : left,
                   2 * total / (uint64_t)size);
}

void nw_model_allgather(const struct nw_model *model,
                        enum nw_collective_algorithm algorithm,
                        const struct nw_blocks *blocks)
{
    bool power = highest_power(model->size) == model->size;

    switch (algorithm) {
    case NW_ALGORITHM_BRUCK:
        gather_by_bruck(model, blocks);
        break;
    case NW_ALGORITHM_RECURSIVE_DOUBLING:
        if (power)
            gather_by_doubling(model, blocks);
        else
            gather_by_bruck(model, blocks);
        break;
    case NW_ALGORITHM_NEIGHBOR:
        if (model->size % 2 == 0) {
            gather_by_neighbours(model, blocks);
            break;
        }
        gather_in_ring(model, blocks);
        break;
    default:
        gather_in_ring(model, blocks);
    }
}

static int count_with_bit(int size, int bit)
{
    int count = 0;

    for (int k = 1; k < size; k++)
        count += (k & bit) != 0;
    return count;
}

void nw_model_alltoall(const struct nw_model *model,
                       enum nw_collective_algorithm algorithm, uint64_t bytes)
{
    int size = model->size;

    if (algorithm == NW_ALGORITHM_BRUCK)
        for (int far = 1; far < size; far *= 2)
            model_send(model, (model->rank + far) % size,
                       (uint64_t)count_with_bit(size, far) * bytes);
    else
        for (int far = 1; far < size; far++)
            model_send(model, (model->rank + far) % size, bytes);
}

/* Returns the bytes of the blocks of those ranks that have the numbers `first`
 * to `first` + `count` - 1 in `fold`, including the blocks of the ranks paired
 * with them. In each pair, the odd rank must be the one that takes part. */
static uint64_t sum_folded(const struct nw_blocks *blocks,
                           const struct fold *fold, int first, int count)
{
    uint64_t sum = 0;

    for (int number = first; number < first + count; number++) {
        int rank = collective_messages_unfold(fold, number);

        sum += blocks->bytes(blocks->context, rank);
        if (number < fold->extra)
            sum += blocks->bytes(blocks->context, rank - 1);
    }
    return sum;
}

static void scatter_by_halving(const struct nw_model *model,
                               const struct nw_blocks *blocks)
{
    struct fold f = collective_messages_fold(model, 1);

    if (f.self < 0) {
        model_send(model, model->rank + 1,
                   sum_blocks(model, blocks, 0, model->size));
        return;
    }
    for (int mask = f.size / 2; mask > 0; mask /= 2) {
        int peer = f.self ^ mask, first = peer & ~(mask - 1);

        model_send(model, collective_messages_unfold(&f, peer),
                   sum_folded(blocks, &f, first, mask));
    }
    if (is_paired(model, &f))
        model_send(model, model->rank - 1,
                   sum_blocks(model, blocks, model->rank - 1, 1));
}

void nw_model_reduce_scatter(const struct nw_model *model,
                             enum nw_collective_algorithm algorithm,
                             const struct nw_blocks *blocks)
{
    int size = model->size, rank = model->rank;

    if (algorithm == NW_ALGORITHM_RING)
        for (int step = 1; step < size; step++)
            model_send(model, (rank + 1) % size,
                       sum_blocks(model, blocks, rank - step + size, 1));
    else if (algorithm == NW_ALGORITHM_PAIRWISE)
        for (int far = 1; far < size; far++)
            model_send(model, (rank + far) % size,
                       sum_blocks(model, blocks, rank + far, 1));
    else
        scatter_by_halving(model, blocks);
}

void nw_model_scan(const struct nw_model *model,
                   enum nw_collective_algorithm algorithm, uint64_t bytes)
{
    if (algorithm == NW_ALGORITHM_LINEAR) {
        if (model->rank + 1 < model->size)
            model_send(model, model->rank + 1, bytes);
        return;
    }
    for (int mask = 1; mask < model->size; mask *= 2)
        if ((model->rank ^ mask) < model->size)
            model_send(model, model->rank ^ mask, bytes);
}

void nw_model_barrier(const struct nw_model *model,
                      enum nw_collective_algorithm algorithm)
{
    bool power = highest_power(model->size) == model->size;

    if (algorithm == NW_ALGORITHM_LINEAR) {
        nw_model_reduce(model, algorithm, 0, 0);
        nw_model_bcast(model, algorithm, 0, 0);
    } else if (power && algorithm == NW_ALGORITHM_RECURSIVE_DOUBLING)
        double_recursively(model, 0);
    else
        for (int far = 1; far < model->size; far *= 2)
            model_send(model, (model->rank + far) % model->size, 0);
}
