/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the six collective calls that have two forms, blocking and nonblocking.
 * Each result is known in advance: word i of the block from rank a to rank b is
 * a number of (a, b, i). Every rank draws which of its buffers are GPU memory,
 * and whether they have gaps, which must stay unchanged. The communicators are
 * the world, its halves, and the world reversed; sometimes messages of MPI are
 * pending during the call. Usage: forms SEED ROUNDS LARGEST */
#include "driver.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 16, GAP = 0x5a5a5a5a };

static uint64_t own, shared;
static int rank, size; /* in the communicator of the case */

/* A buffer of words, the image of what it must hold, and its datatype. */
struct side {
    int *image, *host;
    uint64_t device;
    int on_gpu, step; /* distance between two words */
    int count;
    MPI_Datatype type;
};
static struct side sides[2];

static int draw(uint64_t *from, int below)
{
    *from = *from * 6364136223846793005u + 1442695040888963407u;
    return (int)((*from >> 33) % (unsigned)below);
}

static int word(int from, int to, int i)
{
    return (from + 1) * 40503 + (to + 1) * 9176 + i;
}

static void open_gpu(size_t bytes)
{
    open_driver();
    for (int i = 0; i < 2; i++) {
        need(cuda.alloc(&sides[i].device, bytes), "cuMemAlloc");
        sides[i].host = malloc(bytes);
        sides[i].image = malloc(bytes);
    }
}

/* The offset of word i of block b. */
static int at(const struct side *side, int words, int b, int i)
{
    return (b * words + i) * side->step;
}

/* Fills the buffer and its image with the value of gaps, and makes the datatype
 * of `words` words. */
static void prepare(struct side *side, int words, int blocks, int plain)
{
    side->step = plain || draw(&own, 3) ? 1 : 2;
    side->on_gpu = draw(&own, 3) > 0;
    for (int i = 0; i < words * blocks * 2; i++)
        side->image[i] = GAP;
    side->count = words;
    side->type = MPI_INT;
    if (side->step == 2) {
        MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &side->type);
        MPI_Type_commit(&side->type);
    }
}

static void *place(struct side *side, int words, int blocks)
{
    size_t bytes = (size_t)words * (size_t)blocks * 2 * sizeof(int);

    memcpy(side->host, side->image, bytes);
    if (side->on_gpu)
        need(cuda.in(side->device, side->image, bytes), "cuMemcpyHtoD");
    return side->on_gpu ? (void *)(uintptr_t)side->device : side->host;
}

static int is_wrong(struct side *side, int words, int blocks, const char *what)
{
    size_t n = (size_t)words * (size_t)blocks * 2;

    if (side->on_gpu)
        need(cuda.out(side->host, side->device, n * sizeof(int)),
             "cuMemcpyDtoH");
    if (side->step == 2)
        MPI_Type_free(&side->type);
    for (size_t i = 0; i < n; i++)
        if (side->host[i] != side->image[i]) {
            fprintf(stderr, "rank %d of %d: %s, %d words%s%s: word %zu\n", rank,
                    size, what, words, side->on_gpu ? ", GPU" : "",
                    side->step == 2 ? ", gaps" : "", i);
            return 1;
        }
    return 0;
}

static int broadcast(int words, MPI_Comm comm)
{
    struct side *a = &sides[0];
    int root = draw(&shared, size);
    void *memory;

    prepare(a, words, 1, 0);
    for (int i = 0; rank == root && i < words; i++)
        a->image[at(a, words, 0, i)] = word(root, 0, i);
    memory = place(a, words, 1);
    MPI_Bcast(memory, a->count, a->type, root, comm);
    for (int i = 0; i < words; i++)
        a->image[at(a, words, 0, i)] = word(root, 0, i);
    return is_wrong(a, words, 1, "broadcast");
}

/* Tests gather, allgather or alltoall. */
static int collected(int which, int words, MPI_Comm comm)
{
    static const char *const names[] = {"gather", "allgather", "alltoall"};
    struct side *a = &sides[0], *b = &sides[1];
    int root = draw(&shared, size), in_place = draw(&shared, 3) == 0;
    int from_blocks = which == 2 ? size : 1, wrong;
    int takes = which > 0 || rank == root;
    void *from, *into;

    in_place &= which == 1 || (which == 0 && rank == root);
    prepare(a, words, from_blocks, 0);
    prepare(b, words, size, 0);
    for (int k = 0; k < from_blocks; k++)
        for (int i = 0; i < words; i++)
            a->image[at(a, words, k, i)] = word(rank, which == 2 ? k : 0, i);
    for (int i = 0; in_place && i < words; i++)
        b->image[at(b, words, rank, i)] = word(rank, 0, i);
    from = place(a, words, from_blocks);
    into = place(b, words, size);
    if (in_place)
        from = MPI_IN_PLACE;
    if (which == 0)
        MPI_Gather(from, a->count, a->type, into, b->count, b->type, root,
                   comm);
    else if (which == 1)
        MPI_Allgather(from, a->count, a->type, into, b->count, b->type, comm);
    else
        MPI_Alltoall(from, a->count, a->type, into, b->count, b->type, comm);
    for (int k = 0; takes && k < size; k++)
        for (int i = 0; i < words; i++)
            b->image[at(b, words, k, i)] = word(k, which == 2 ? rank : 0, i);
    wrong = is_wrong(a, words, from_blocks, names[which]);
    return is_wrong(b, words, size, names[which]) || wrong;
}

/* Whether the reduction can use MPI_IN_PLACE: MPICH 4.0 itself reads at the
 * address MPI_IN_PLACE in a long reduction whose root is not 0. */
static int may_be_in_place(int everywhere, int root)
{
#ifdef MPICH
    return everywhere || (rank == root && !root);
#else
    return everywhere || rank == root;
#endif
}

static int reduced(int everywhere, int words, MPI_Comm comm)
{
    struct side *a = &sides[0], *b = &sides[1];
    int root = draw(&shared, size), in_place = draw(&shared, 3) == 0;
    int most = draw(&shared, 2), wrong, takes = everywhere || rank == root;
    void *from, *into;

    in_place &= may_be_in_place(everywhere, root);
    prepare(a, words, 1, 1);
    prepare(b, words, 1, 1);
    for (int i = 0; i < words; i++) {
        a->image[i] = word(rank, 0, i);
        if (in_place)
            b->image[i] = a->image[i];
    }
    from = place(a, words, 1);
    into = place(b, words, 1);
    if (in_place)
        from = MPI_IN_PLACE;
    if (everywhere)
        MPI_Allreduce(from, into, words, MPI_INT, most ? MPI_MAX : MPI_SUM,
                      comm);
    else
        MPI_Reduce(from, into, words, MPI_INT, most ? MPI_MAX : MPI_SUM, root,
                   comm);
    for (int i = 0; takes && i < words; i++) {
        int sum = 0;

        for (int k = 0; k < size; k++)
            sum += word(k, 0, i);
        b->image[i] = most ? word(size - 1, 0, i) : sum;
    }
    wrong = is_wrong(a, words, 1, "reduction, operand");
    return is_wrong(b, words, 1, "reduction") || wrong;
}

static int try_one(int words, MPI_Comm comm)
{
    int which = draw(&shared, 6);

    if (which == 0)
        return broadcast(words, comm);
    if (which < 4)
        return collected(which - 1, words, comm);
    return reduced(which == 5, words, comm);
}

/* A large message is pending during the call: rank 0 sends it before the call
 * and its receiver waits for it in MPI while rank 0 is in the call; then in the
 * other direction. */
static int try_with_messages(int words, MPI_Comm comm)
{
    static int large[50000], came[50000];
    MPI_Request request = MPI_REQUEST_NULL;
    int wrong, n = 50000;

    for (int i = 0; i < n; i++)
        large[i] = word(rank, 3, i);
    if (!rank)
        MPI_Isend(large, n, MPI_INT, size - 1, 77, comm, &request);
    if (rank == size - 1)
        MPI_Recv(came, n, MPI_INT, 0, 77, comm, MPI_STATUS_IGNORE);
    wrong = try_one(words, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; rank == size - 1 && i < n; i++)
        wrong |= came[i] != word(0, 3, i);
    return wrong;
}

/* Each rank gets the error in either form: none waits for another. */
static int refused(MPI_Comm comm)
{
    double own_words[2] = {1, 2}, sum[2];
    int class = MPI_SUCCESS, rc;

    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    rc = MPI_Allreduce(own_words, sum, 2, MPI_DOUBLE, MPI_BAND, comm);
    MPI_Error_class(rc, &class);
    if (class != MPI_ERR_OP)
        fprintf(stderr, "rank %d: bits of doubles: class %d\n", rank, class);
    return class != MPI_ERR_OP;
}

int main(int argc, char **argv)
{
    MPI_Comm comms[3];
    int wrong = 0, all, world, largest, rounds;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    need(argc != 4 || world > RANKS, "usage: forms SEED ROUNDS LARGEST");
    shared = strtoull(argv[1], NULL, 10);
    own = shared * 31 + (uint64_t)rank;
    rounds = atoi(argv[2]);
    largest = atoi(argv[3]);
    open_gpu((size_t)largest * (size_t)world * 2 * sizeof(int));
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
    for (int i = 0; i < rounds; i++) {
        MPI_Comm comm = comms[draw(&shared, 3)];
        int words = draw(&shared, 4) ? draw(&shared, 40) + 1
                                     : draw(&shared, largest) + 1;
        int busy = draw(&shared, 8) == 0;

        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        wrong += busy ? try_with_messages(words, comm) : try_one(words, comm);
    }
    wrong += refused(comms[2]);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!rank)
        printf("%d of %d cases wrong\n", all, rounds);
    MPI_Finalize();
    return all != 0;
}
