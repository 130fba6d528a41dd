/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that each fault ends with an error message on every rank, and never in
 * a hang: plans that differ between ranks, impossible domains, missing arrays,
 * a second start, a rank that dies. Usage: faults [METHOD] NAME... */
#include <mpi.h>

#include <nodewise/halo.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static const struct nw_halo_quantity quantity = {sizeof(double), 0};
static const char *method_name = "shared"; /* method of the fault "dying" */
static int rank, size;

static struct nw_halo_options plan(void)
{
    struct nw_halo_options options = NW_HALO_OPTIONS_INIT;

    options.extent[0] = options.extent[1] = options.extent[2] = 16;
    nw_halo_radius(&options, 2, true);
    options.quantity = &quantity;
    options.quantity_count = 1;
    options.choice = NW_HALO_CHOOSE_ORDER;
    return options;
}

/* Returns 0 if every rank got the status and the words in its message. */
static int refused(const struct nw_halo_options *options, nw_status status,
                   const char *words)
{
    nw_halo *halo = NULL;
    nw_status got = nw_halo_plan(MPI_COMM_WORLD, options, &halo);
    int good = got == status && !halo && strstr(nw_error_text(), words), all;

    if (!good)
        fprintf(stderr, "rank %d: status %d: %s\n", rank, (int)got,
                nw_error_text());
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return !all;
}

static int differing(void)
{
    struct nw_halo_options options = plan();
    int wrong;

    options.extent[1] += rank == size - 1;
    wrong = refused(&options, NW_EINVAL, "they differ in cells along y");
    options = plan();
    options.radius[0] += rank == 1;
    wrong += refused(&options, NW_EINVAL, "they differ in a radius");
    options = plan();
    options.border[2][0] = options.border[2][1] =
        rank ? NW_HALO_OPEN : NW_HALO_PERIODIC;
    wrong += refused(&options, NW_EINVAL, "they differ in a border");
    options = plan();
    options.ranks_per_node = rank == 1;
    wrong += refused(&options, NW_EINVAL, "they differ in the ranks a node");
    /* rank 0 reads the cache and sends the result to ranks that use one */
    options = plan();
    options.choice = NW_HALO_CHOOSE_MEASURE;
    options.cache = rank ? NULL : "";
    wrong += refused(&options, NW_EINVAL, "they differ in the use of a cache");
    return wrong;
}

static int impossible(void)
{
    struct nw_halo_options options = plan();
    int wrong;

    options.extent[0] = 0;
    wrong = refused(&options, NW_EINVAL, "the domain has 0 cells along x");
    options = plan();
    options.extent[2] = -5;
    wrong += refused(&options, NW_EINVAL, "the domain has -5 cells along z");
    options = plan();
    options.extent[1] = 1;
    wrong += refused(&options, NW_EINVAL, "smaller than its radius");
    options = plan();
    options.border[0][0] = NW_HALO_OPEN;
    wrong +=
        refused(&options, NW_EINVAL, "only one border along x is periodic");
    options = plan();
    options.radius[4] = -1;
    wrong += refused(&options, NW_EINVAL, "the radius -1 is negative");
    options = plan();
    options.quantity_count = 0;
    wrong += refused(&options, NW_EINVAL, "needs a quantity");
    options = plan();
    options.row_align = SIZE_MAX;
    wrong += refused(&options, NW_ENOMEM, "the arrays of a rank need");
    /* elements of 1 byte that are 2^20 bytes apart: more than 2^64 bytes */
    options = plan();
    options.quantity = &(struct nw_halo_quantity){1, (size_t)1 << 20};
    options.extent[0] = options.extent[1] = 1 << 24;
    options.extent[2] = 8;
    wrong += refused(&options, NW_ENOMEM, "the arrays of a rank need");
    /* 2^32 + 2 pieces of three ranks */
    options = plan();
    options.pieces_per_rank = 1431655766;
    wrong += refused(&options, NW_EINVAL, "more than 4194304 pieces");
    options = plan();
    options.radius[NW_HALO_DIRECTION(1, 1, 0)] = 1;
    options.schedule = NW_HALO_SCHEDULE_PHASES;
    wrong += refused(&options, NW_EINVAL, "in phases");
    return wrong;
}

/* Options that were not initialised, or of another version, on only one
 * rank. */
static int unset(void)
{
    struct nw_halo_options options = plan();

    if (rank == size - 1)
        options.size = 0;
    return refused(&options, NW_EINVAL, "not set by NW_HALO_OPTIONS_INIT");
}

/* Invalid words and numbers. */
static int unknown(void)
{
    struct nw_halo_options options = plan();
    int wrong;

    options.border[1][0] = NW_HALO_OPEN;
    options.border[1][1] = (enum nw_halo_border)7;
    wrong = refused(&options, NW_EINVAL, "invalid border 7 along y");
    options = plan();
    options.partition = (enum nw_halo_partition)2;
    wrong += refused(&options, NW_EINVAL, "invalid partition 2");
    options = plan();
    options.placement = (enum nw_halo_placement)4;
    wrong += refused(&options, NW_EINVAL, "invalid placement 4");
    options = plan();
    options.schedule = (enum nw_halo_schedule)3;
    wrong += refused(&options, NW_EINVAL, "invalid schedule 3");
    options = plan();
    options.choice = (enum nw_halo_choice)3;
    wrong += refused(&options, NW_EINVAL, "invalid choice 3");
    options = plan();
    options.methods = NW_HALO_BIT(NW_HALO_METHOD_COUNT);
    wrong += refused(&options, NW_EINVAL, "known methods");
    options = plan();
    options.ranks_per_node = -2;
    wrong += refused(&options, NW_EINVAL, "ranks of a node, -2, is negative");
    options = plan();
    options.timeout = -1;
    wrong += refused(&options, NW_EINVAL, "the timeout of -1");
    return wrong;
}

/* An intercommunicator of the two halves of the ranks, and no communicator at
 * all. */
static int between(void)
{
    struct nw_halo_options options = plan();
    MPI_Comm half, inter = MPI_COMM_NULL;
    nw_halo *halo = NULL;
    int wrong = nw_halo_plan(inter, &options, &halo) != NW_EINVAL;

    if (size < 2)
        return wrong;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 1, &inter);
    wrong += nw_halo_plan(inter, &options, &halo) != NW_EINVAL || halo;
    wrong += !strstr(nw_error_text(), "intercommunicator");
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return wrong;
}

static void *none_on_rank_1(void *context, const struct nw_halo_piece *piece,
                            int32_t which, size_t *pitch)
{
    (void)context, (void)which;
    return rank == 1 ? NULL
                     : malloc(*pitch * (size_t)(piece->allocated[1] *
                                                piece->allocated[2]));
}

static int missing(void)
{
    struct nw_halo_options options = plan();
    struct nw_halo_box box = {{0, 0, 0}, {16, 16, 8}};
    int wrong;

    options.memory = none_on_rank_1;
    wrong = refused(&options, NW_EINVAL, "has no array of quantity 0");
    options = plan();
    options.box = &box;
    options.box_count = 1;
    wrong += refused(&options, NW_EINVAL, size > 1 ? "overlap" : "out");
    return wrong;
}

/* Boxes with as many cells as the domain that do not divide it: two that share
 * a slab, and two quarters that occur twice. */
static int overlapping(void)
{
    static const int64_t slab[3][2] = {{0, 6}, {5, 11}, {11, 15}};
    struct nw_halo_options options = plan();
    struct nw_halo_box box[2] = {{{0, 0, 0}, {16, 16, 16}}};
    int64_t corner = rank ? 8 : 0;
    int wrong;

    box[0].low[2] = slab[rank % 3][0];
    box[0].high[2] = slab[rank % 3][1];
    options.box = box;
    options.box_count = 1;
    options.extent[2] = 16;
    wrong = refused(&options, NW_EINVAL, "pieces 0 and 1 overlap");
    for (int axis = 0; axis < 2; axis++) {
        box[0].low[axis] = corner;
        box[0].high[axis] = corner + 8;
    }
    box[0].low[2] = 0;
    box[0].high[2] = 16;
    box[1] = box[0];
    options.box_count = rank ? 1 : 2;
    return wrong + refused(&options, NW_EINVAL, "pieces 0 and 1 overlap");
}

/* The arrays of another halo, whose pieces differ. */
static int unlike(void)
{
    struct nw_halo_options options = plan();
    nw_halo *halo = NULL;
    int wrong;

    if (nw_halo_plan(MPI_COMM_WORLD, &options, &halo))
        return 1;
    options.arrays = halo;
    options.extent[0] = 12;
    wrong = refused(&options, NW_EINVAL, "has other pieces or quantities");
    options = plan();
    options.arrays = rank ? halo : NULL;
    wrong += refused(&options, NW_EINVAL, "they differ in own arrays");
    nw_halo_free(halo);
    return wrong;
}

static int twice(void)
{
    struct nw_halo_options options = plan();
    int32_t bad = 7, pair[2] = {0, 0};
    nw_halo *halo = NULL;
    int wrong;

    if (nw_halo_plan(MPI_COMM_WORLD, &options, &halo))
        return 1;
    wrong = nw_halo_start(halo, &bad, 1) != NW_EINVAL;
    wrong += nw_halo_start(halo, pair, 2) != NW_EINVAL;
    wrong += nw_halo_start(halo, NULL, 0) != NW_OK;
    wrong += nw_halo_start(halo, NULL, 0) != NW_EINVAL;
    wrong += nw_halo_wait(halo) != NW_OK;
    /* no exchange has started, so that it returns at once */
    wrong += nw_halo_wait(halo) != NW_OK;
    wrong += nw_halo_start(halo, NULL, 0) != NW_OK;
    nw_halo_free(halo); /* waits for the exchange */
    return wrong;
}

static int refuses; /* 1: this rank can no longer read many rows */

/* The method attach reads many rows by one such call. The test of the plan and
 * the MPI read one piece of memory. */
ssize_t process_vm_readv(pid_t process, const struct iovec *own,
                         unsigned long own_count, const struct iovec *other,
                         unsigned long other_count, unsigned long flags)
{
    if (refuses && other_count > 1) {
        errno = EPERM;
        return -1;
    }
    return syscall(SYS_process_vm_readv, process, own, own_count, other,
                   other_count, flags);
}

/* The memory of a neighbour cannot be read by one rank during a measurement,
 * after some of the other ranks have finished the exchange. The 600 rows of a
 * face are more than one call reads. */
static int unread(void)
{
    struct nw_halo_options options = plan();
    struct nw_halo_box box = {{0, 0, 4 * rank}, {16, 300, 4 * rank + 4}};
    int wrong;

    options.extent[1] = 300;
    options.extent[2] = 4 * size;
    options.box = &box;
    options.box_count = 1;
    options.choice = NW_HALO_CHOOSE_MEASURE;
    options.cache = "";
    options.methods = NW_HALO_BIT(NW_HALO_SELF) | NW_HALO_BIT(NW_HALO_ATTACH);
    refuses = rank == 1;
    wrong = refused(&options, NW_EMPI, "cannot be read");
    refuses = 0;
    return wrong;
}

#define PATIENCE 200 /* limit in seconds of one exchange on a busy machine */

static void waited(int number)
{
    static const char words[] = "still waiting\n";

    (void)number;
    (void)!write(STDERR_FILENO, words, sizeof words - 1);
    _exit(7);
}

/* Rank 1 ends during an exchange; the others must report it instead of waiting
 * for ever. The test also passes if the launcher ends them first. */
static int dying(void)
{
    struct nw_halo_options options = plan();
    nw_halo *halo = NULL;

    enum nw_halo_method method;

    if (!nw_halo_method_find(method_name, &method))
        return 1;
    options.methods = NW_HALO_BIT(NW_HALO_SELF) | NW_HALO_BIT(method);
    if (method >= NW_HALO_KERNEL) {
        options.methods = NW_HALO_BIT(NW_HALO_KERNEL) | NW_HALO_BIT(method);
        options.memory_kind = NW_HALO_MEMORY_GPU;
    }
    if (nw_halo_plan(MPI_COMM_WORLD, &options, &halo))
        return 1;
    signal(SIGTERM, SIG_IGN);
    signal(SIGALRM, waited);
    alarm(PATIENCE);
    for (int i = 0; rank == 1 && i < 3; i++)
        if (nw_halo_start(halo, NULL, 0) || (i < 2 && nw_halo_wait(halo)))
            return 1;
    if (rank == 1)
        kill(getpid(), SIGKILL); /* during the third exchange */
    while (nw_halo_start(halo, NULL, 0) == NW_OK && nw_halo_wait(halo) == NW_OK)
        alarm(PATIENCE);
    fprintf(stderr, "rank %d: %s\n", rank, nw_error_text());
    nw_halo_free(halo); /* must not wait for rank 1, which ended */
    _exit(strstr(nw_error_text(), "rank 1 ended during a halo exchange") ? 5
                                                                         : 6);
}

/* Rank 1 does not take part. */
static int silent(void)
{
    struct nw_halo_options options = plan();
    nw_halo *halo = NULL;
    int wrong = 0;

    options.timeout = 0.3;
    if (nw_halo_plan(MPI_COMM_WORLD, &options, &halo))
        return 1;
    if (rank != 1) {
        wrong = nw_halo_start(halo, NULL, 0) != NW_OK;
        wrong += nw_halo_wait(halo) != NW_EMPI;
        wrong += !strstr(nw_error_text(), "rank 1 is silent for");
        wrong += nw_halo_start(halo, NULL, 0) != NW_EMPI;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    nw_halo_free(halo);
    return wrong;
}

/* Counts the bytes that have changed in memory that was allocated after the
 * halo was freed. */
static int count_strange(char *const *block, size_t count)
{
    int strange = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < 64 * (i + 1); j++)
            strange += block[i][j] != 0x11;
    return strange;
}

/* Rank 1 starts its exchange after the others have given up: what it sends must
 * not be written to memory that they have freed and allocated again. */
static int late(void)
{
    enum { BLOCKS = 1500 };
    static char *block[BLOCKS];
    struct nw_halo_options options = plan();
    nw_halo *halo = NULL;
    enum nw_halo_method method;
    size_t cells = 20 * 20 * 20;
    void *base = malloc(cells * sizeof(double));
    int wrong = 0;

    memset(base, 0, cells * sizeof(double));
    options.base = &base;
    options.extent[2] = 16 * size;
    options.timeout = rank == 1 ? 20 : 0.2;
    if (!nw_halo_method_find(method_name, &method))
        return 1;
    options.methods = NW_HALO_BIT(NW_HALO_SELF) | NW_HALO_BIT(method);
    options.ranks_per_node =
        method == NW_HALO_NODES || method >= NW_HALO_KERNEL;
    if (method >= NW_HALO_KERNEL) {
        options.base = NULL;
        options.methods = NW_HALO_BIT(NW_HALO_KERNEL) | NW_HALO_BIT(method);
        options.memory_kind = NW_HALO_MEMORY_GPU;
    }
    if (nw_halo_plan(MPI_COMM_WORLD, &options, &halo))
        return 1;
    if (rank == 1) /* until rank 0 has given up and freed its halo */
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (nw_halo_start(halo, NULL, 0) == NW_OK)
        wrong = nw_halo_wait(halo) != NW_EMPI && rank != 1;
    nw_halo_free(halo);
    free(base);
    for (size_t i = 0; i < BLOCKS; i++) {
        block[i] = malloc(64 * (i + 1));
        memset(block[i], 0x11, 64 * (i + 1));
    }
    if (rank == 0)
        MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD); /* rank 1 has sent by now */
    wrong += count_strange(block, BLOCKS);
    for (size_t i = 0; i < BLOCKS; i++)
        free(block[i]);
    return wrong;
}

static const struct {
    const char *name;
    int (*run)(void);
} cases[] = {{"differing", differing}, {"impossible", impossible},
             {"missing", missing},     {"twice", twice},
             {"dying", dying},         {"silent", silent},
             {"late", late},           {"unlike", unlike},
             {"unset", unset},         {"unknown", unknown},
             {"between", between},     {"overlapping", overlapping},
             {"unread", unread}};

int main(int argc, char **argv)
{
    const size_t count = sizeof cases / sizeof *cases;
    int failed = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < argc; i++) {
        int wrong, all;
        size_t at = 0;

        while (at < count && strcmp(argv[i], cases[at].name))
            at++;
        if (at == count) {
            method_name = argv[i];
            continue;
        }
        wrong = cases[at].run();
        MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (!rank)
            printf("%s: %s\n", cases[at].name, all ? "wrong" : "right");
        fflush(stdout); /* MPI_Finalize may abort */
        failed += all != 0;
    }
    MPI_Finalize();
    return failed != 0;
}
