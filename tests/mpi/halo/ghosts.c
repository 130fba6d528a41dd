/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks every ghost cell of random halos. The value of each cell is computed
 * from its place in the domain. A ghost cell must have the value of the cell
 * that the borders put there, or must be unchanged if it may not be written.
 *
 *   ghosts SEED CASES [methods [schedule [ranks-per-node]]] [then SEED ...]
 */
#include <mpi.h>

#include <nodewise/halo.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST_QUANTITIES 4
#define UNTOUCHED 0xee

struct work {
    struct nw_halo_options options;
    struct nw_halo_quantity quantity[MOST_QUANTITIES];
    bool interleaved, own_arrays;
    size_t padding;
    nw_halo *halo;
    uint64_t round;
    int rank;
    long wrong;
};

/* Replaces the system call for the library: like the kernel, it reads a limited
 * number of bytes of another process in one call, 2 GiB, or fewer with
 * HALO_READS=BYTES. */
ssize_t process_vm_readv(pid_t process, const struct iovec *own,
                         unsigned long own_count, const struct iovec *other,
                         unsigned long other_count, unsigned long flags)
{
    const char *most = getenv("HALO_READS");
    struct iovec cut = *own;

    if (most && cut.iov_len > strtoul(most, NULL, 10))
        cut.iov_len = strtoul(most, NULL, 10);
    return syscall(SYS_process_vm_readv, process, &cut, own_count, other,
                   other_count, flags);
}

static uint64_t state;

/* xorshift64*, the same on all ranks */
static uint64_t next(uint64_t below)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (state * 2685821657736338717u >> 33) % below;
}

static unsigned char byte_of(const struct work *work, const int64_t cell[3],
                             int32_t quantity, size_t byte)
{
    const int64_t *n = work->options.extent;
    uint64_t id = (uint64_t)((cell[2] * n[1] + cell[1]) * n[0] + cell[0]);
    uint64_t mixed =
        (id * 4 + (uint64_t)quantity + work->round * 977) * 0x9e3779b97f4a7c15u;

    return (unsigned char)(mixed >> (8 * (byte % 7) + 5));
}

/* The cell of the domain that corresponds to cell `at` along an axis; -1 beyond
 * an open side. */
static int64_t behind(const struct work *work, int axis, int64_t at)
{
    int64_t n = work->options.extent[axis];
    int side = at < 0 ? 0 : 1;

    if (at >= 0 && at < n)
        return at;
    switch (work->options.border[axis][side]) {
    case NW_HALO_PERIODIC:
        return (at + n) % n;
    case NW_HALO_MIRROR:
        return side ? 2 * n - 1 - at : -1 - at;
    default:
        return -1;
    }
}

/* Depth of the ghost layer that a local cell is in along one axis, 0 inside. */
static int64_t depth_of(const struct nw_halo_piece *piece, int axis, int64_t at,
                        int *side)
{
    int64_t low = piece->low_ghost[axis];
    int64_t high = piece->allocated[axis] - piece->high_ghost[axis];

    *side = at < low ? -1 : at >= high;
    return at < low ? low - at : at >= high ? at - high + 1 : 0;
}

/* Returns whether the exchange must fill the local cell. `cell` gets the cell
 * of the domain that must be there.
 * - 1: the exchange must fill the cell;
 * - 0: the cell is the piece's own;
 * - -1: the cell must stay unchanged. */
static int wanted(const struct work *work, const struct nw_halo_piece *piece,
                  const int64_t local[3], int64_t cell[3])
{
    int64_t deepest = 0, radius;
    int side[3], direction;
    bool there = true;

    for (int axis = 0; axis < 3; axis++) {
        int64_t depth = depth_of(piece, axis, local[axis], &side[axis]);

        deepest = depth > deepest ? depth : deepest;
        cell[axis] =
            behind(work, axis,
                   piece->box.low[axis] + local[axis] - piece->low_ghost[axis]);
        there = there && cell[axis] >= 0;
    }
    direction = (int)NW_HALO_DIRECTION(side[0], side[1], side[2]);
    if (direction == 13)
        return 0;
    radius = (int64_t)work->options.radius[direction] * work->options.interval;
    return there && deepest <= radius ? 1 : -1;
}

static unsigned char *element(const struct work *work, int32_t piece,
                              int32_t quantity, const int64_t at[3])
{
    const struct nw_halo_piece *own = nw_halo_piece(work->halo, piece);
    size_t pitch = nw_halo_pitch(work->halo, piece, quantity);
    size_t stride = work->quantity[quantity].stride
                        ? work->quantity[quantity].stride
                        : work->quantity[quantity].bytes;

    return (unsigned char *)nw_halo_base(work->halo, piece, quantity) +
           (size_t)(at[2] * own->allocated[1] + at[1]) * pitch +
           (size_t)at[0] * stride;
}

typedef long visit(struct work *work, int32_t piece, const int64_t at[3]);

/* Calls `what` for every allocated cell; returns the sum of its results. */
static long for_cells(struct work *work, visit *what)
{
    long sum = 0;

    for (int32_t p = 0; p < nw_halo_piece_count(work->halo); p++) {
        const int64_t *n = nw_halo_piece(work->halo, p)->allocated;
        int64_t at[3];

        for (at[2] = 0; at[2] < n[2]; at[2]++)
            for (at[1] = 0; at[1] < n[1]; at[1]++)
                for (at[0] = 0; at[0] < n[0]; at[0]++)
                    sum += what(work, p, at);
    }
    return sum;
}

static long fill(struct work *work, int32_t piece, const int64_t at[3])
{
    int64_t cell[3];
    int kind = wanted(work, nw_halo_piece(work->halo, piece), at, cell);

    for (int32_t q = 0; q < work->options.quantity_count; q++)
        for (size_t b = 0; b < work->quantity[q].bytes; b++)
            element(work, piece, q, at)[b] =
                kind ? UNTOUCHED : byte_of(work, cell, q, b);
    return 0;
}

static int done;           /* cases that could be divided */
static unsigned exchanged; /* bits of the quantities in the last exchange */

static long check(struct work *work, int32_t piece, const int64_t at[3])
{
    int64_t cell[3];
    int kind = wanted(work, nw_halo_piece(work->halo, piece), at, cell);
    long wrong = 0;

    for (int32_t q = 0; q < work->options.quantity_count; q++)
        for (size_t b = 0; b < work->quantity[q].bytes; b++) {
            bool value = kind == 0 || (kind == 1 && exchanged >> q & 1);
            unsigned char want = value ? byte_of(work, cell, q, b) : UNTOUCHED;

            wrong += element(work, piece, q, at)[b] != want;
        }
    return wrong;
}

/* Gives the halo arrays of the caller, whose rows are padded by a few bytes. */
static void *give(void *context, const struct nw_halo_piece *piece,
                  int32_t quantity, size_t *pitch)
{
    struct work *work = context;
    static char *first;
    size_t bytes;

    *pitch += work->padding;
    bytes = *pitch * (size_t)(piece->allocated[1] * piece->allocated[2]);
    if (!work->interleaved)
        return malloc(bytes);
    if (!quantity)
        return first = malloc(bytes);
    for (int32_t q = 0; q < quantity; q++)
        if (q == quantity - 1)
            first += work->quantity[q].bytes;
    return first;
}

static void draw_radii(struct work *work)
{
    struct nw_halo_options *options = &work->options;
    int64_t kind = (int64_t)next(3);
    int32_t most = 3;

    options->interval = next(4) ? 1 : 2;
    for (int axis = 0; axis < 3; axis++)
        if (options->extent[axis] > 1 &&
            options->extent[axis] / options->interval < most)
            most = (int32_t)(options->extent[axis] / options->interval);
    if (kind < 2) {
        nw_halo_radius(options, 1 + (int32_t)next((uint64_t)most), kind == 0);
        return;
    }
    nw_halo_radius(options, 1, true);
    for (int d = 0; d < 27; d++)
        if (options->radius[d])
            options->radius[d] = (int32_t)next((uint64_t)most + 1);
}

static void draw_borders(struct work *work)
{
    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2; side++)
            work->options.border[axis][side] = 1 + (enum nw_halo_border)next(2);
    for (int axis = 0; axis < 3; axis++)
        if (next(2))
            work->options.border[axis][0] = work->options.border[axis][1] =
                NW_HALO_PERIODIC;
}

static void draw_quantities(struct work *work)
{
    static const size_t sizes[] = {1, 2, 4, 4, 8, 8, 12, 3};
    size_t cell = 0;

    work->options.quantity_count = 1 + (int32_t)next(MOST_QUANTITIES);
    work->interleaved = next(2) && work->own_arrays;
    for (int32_t q = 0; q < work->options.quantity_count; q++) {
        work->quantity[q].bytes = sizes[next(8)];
        work->quantity[q].stride = 0;
        cell += work->quantity[q].bytes;
    }
    for (int32_t q = 0; work->interleaved && q < work->options.quantity_count;
         q++)
        work->quantity[q].stride = cell;
    work->options.quantity = work->quantity;
}

static void draw(struct work *work, const struct nw_halo_options *given)
{
    struct nw_halo_options *options = &work->options;

    *options = *given;
    for (int axis = 0; axis < 3; axis++)
        options->extent[axis] = axis < 2 || next(4) ? 3 + (int64_t)next(15) : 1;
    options->extent[0] += 6;
    options->extent[1] += 6;
    options->pieces_per_rank = 1 + (int32_t)next(2);
    options->partition =
        next(2) ? NW_HALO_PARTITION_BEST : NW_HALO_PARTITION_PAPER;
    options->placement = next(2) ? NW_HALO_PLACE_RANDOM : NW_HALO_PLACE_BEST;
    options->row_align = next(2) ? 64 : 0;
    work->own_arrays =
        next(2) && !(options->methods & NW_HALO_BIT(NW_HALO_DIRECT));
    work->padding = (size_t)next(3) * 8;
    options->memory = work->own_arrays ? give : NULL;
    options->context = work;
    draw_borders(work);
    draw_radii(work);
    draw_quantities(work);
    options->seed = next(1000);
}

/* Changes a byte of the last allocated cell, which the check must find. */
static void spoil(struct work *work)
{
    const int64_t *n = nw_halo_piece(work->halo, 0)->allocated;
    const int64_t last[3] = {n[0] - 1, n[1] - 1, n[2] - 1};

    *element(work, 0, 0, last) ^= 1;
}

static long exchange_more(struct work *work, const int32_t *subset, int count)
{
    work->round++;
    exchanged = subset ? 0 : ~0u;
    for (int i = 0; i < count; i++)
        exchanged |= 1u << subset[i];
    for_cells(work, fill);
    if (nw_halo_start(work->halo, subset, count) || nw_halo_wait(work->halo)) {
        fprintf(stderr, "rank %d: %s\n", work->rank, nw_error_text());
        return 1000000;
    }
    if (getenv("HALO_SPOIL"))
        spoil(work);
    return for_cells(work, check);
}

/* Makes one exchange. If an exchange fails on a rank, the rank makes no further
 * exchange, but it still meets the others in each barrier. */
static void exchange_once(struct work *work, const int32_t *subset, int count)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (!work->wrong)
        work->wrong = exchange_more(work, subset, count);
}

/* Frees the halo, and then the arrays that it used. */
static void free_arrays(struct work *work)
{
    void *held[64];
    int count = 0;

    for (int32_t p = 0; p < nw_halo_piece_count(work->halo); p++)
        for (int32_t q = 0; q < work->options.quantity_count; q++)
            if (work->own_arrays && (!q || !work->interleaved))
                held[count++] = nw_halo_base(work->halo, p, q);
    nw_halo_free(work->halo);
    while (count--)
        free(held[count]);
}

/* Makes a second plan for the same arrays, which must fill them as well. */
static void exchange_again(struct work *work)
{
    nw_halo *first = work->halo, *second = NULL;
    struct nw_halo_options options = work->options;

    options.memory = NULL;
    options.arrays = first;
    if (nw_halo_plan(MPI_COMM_WORLD, &options, &second)) {
        fprintf(stderr, "rank %d: %s\n", work->rank, nw_error_text());
        work->wrong = 1000000;
        return;
    }
    work->halo = second;
    exchange_once(work, NULL, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    nw_halo_free(second);
    work->halo = first;
}

/* Frees the halo while NODEWISE_HALO_TRACE has another value: a program may
 * change the bytes that getenv returned to the halo. */
static void free_halo(struct work *work)
{
    char *name = getenv("NODEWISE_HALO_TRACE");

    if (name)
        *name ^= 1;
    if (work->own_arrays)
        free_arrays(work);
    else
        nw_halo_free(work->halo);
    if (name)
        *name ^= 1;
    work->halo = NULL;
}

/* Runs one random case; returns the number of wrong cells. */
static long run_case(struct work *work)
{
    int32_t subset[MOST_QUANTITIES], count = 0;
    nw_status status =
        nw_halo_plan(MPI_COMM_WORLD, &work->options, &work->halo);

    if (status == NW_EINVAL && strstr(nw_error_text(), "cannot be divided"))
        return 0;
    if (status == NW_EINVAL && strstr(nw_error_text(), "in phases"))
        return 0;
    if (status) {
        fprintf(stderr, "rank %d: %s\n", work->rank, nw_error_text());
        return 1000000;
    }
    if (work->options.topology)
        printf("rank %d: %s\n", work->rank, nw_halo_words(work->halo));
    for (int i = 0; i < 3; i++)
        exchange_once(work, NULL, 0);
    for (int32_t q = work->options.quantity_count - 1; q >= 0; q--)
        if (next(2))
            subset[count++] = q;
    if (count)
        exchange_once(work, subset, count);
    exchange_once(work, NULL, 0);
    if (getenv("HALO_AGAIN"))
        exchange_again(work);
    MPI_Barrier(MPI_COMM_WORLD);
    done++;
    free_halo(work);
    return work->wrong;
}

static uint32_t parse_methods(char *words)
{
    uint32_t methods = 0;
    enum nw_halo_method method;

    for (char *word = strtok(words, ","); word; word = strtok(NULL, ","))
        if (nw_halo_method_find(word, &method))
            methods |= NW_HALO_BIT(method);
    return methods;
}

static enum nw_halo_choice choice(void)
{
    if (getenv("HALO_MODEL"))
        return NW_HALO_CHOOSE_MODEL;
    return getenv("HALO_MEASURE") ? NW_HALO_CHOOSE_MEASURE
                                  : NW_HALO_CHOOSE_ORDER;
}

/* Runs the cases of one SEED and the words that follow it; returns 0 if all are
 * right. */
static int run_cases(int rank, int argc, char **argv)
{
    struct nw_halo_options given = NW_HALO_OPTIONS_INIT;
    long wrong = 0, all = 0;
    int cases = argc > 1 ? atoi(argv[1]) : 10;

    done = 0;
    state =
        (argc > 0 ? strtoull(argv[0], NULL, 10) : 1) * 2 + 88172645463325252u;
    given.choice = choice();
    given.cache = getenv("HALO_MEASURE");
    given.topology = getenv("HALO_TOPOLOGY");
    given.timeout = 30;
    if (argc > 2)
        given.methods = parse_methods(argv[2]);
    if (argc > 3)
        given.schedule = (enum nw_halo_schedule)atoi(argv[3]);
    if (argc > 4)
        given.ranks_per_node = atoi(argv[4]);
    for (int i = 0; i < cases && !all; i++) {
        struct work work = {.rank = rank};

        draw(&work, &given);
        wrong = run_case(&work);
        MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (all && wrong)
            fprintf(stderr, "rank %d: case %d: %ld wrong bytes\n", rank, i,
                    wrong);
    }
    if (!rank)
        printf("%s %d of %d cases\n", all ? "wrong after" : "right", done,
               cases);
    return all != 0 || 3 * done < cases;
}

int main(int argc, char **argv)
{
    int failed = 0, rank, first = 1, end;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    do {
        for (end = first; end < argc && strcmp(argv[end], "then");)
            end++;
        failed += run_cases(rank, end - first, argv + first);
        first = end + 1;
    } while (end < argc);
    MPI_Finalize();
    return failed != 0;
}
