/* SPDX-License-Identifier: BSD-3-Clause */
/*
 *     mpirun -n P lj PARTICLES STEPS ROUNDS WAY...
 *     mpirun -n 2 lj methods
 *
 * The first form prints for each method of sending messages:
 * - the microseconds per step of computation, by the model of the GPU;
 * - the microseconds per step of messages: the median of the rounds, in which
 *   the methods take turns;
 * - a digest of the final positions of all particles;
 * - the energy at the beginning and at the end.
 * Then it prints the mean number of bytes that each rank sends to each
 * neighbour through each dimension: of positions in a step, and of particles
 * when new lists are made. The second form prints the time that a message takes
 * by each method.
 */
#include "lj.h"

#include "base/clock.h"

#include <math.h>
#include <mpi.h>
#include <nodewise/channel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, ROUNDS_MOST = 64 };
#define KERNEL_S 5e-6
#define KERNEL_RATE 200e9

struct outcome {
    double compute[ROUNDS_MOST], messages[ROUNDS_MOST], energy[2];
    uint64_t digest;
};

void lj_must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "lj: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

void *lj_memory(size_t bytes)
{
    void *memory = NULL;

    lj_must(!nw_channel_memory_new(true, bytes, &memory), nw_error_text());
    memset(memory, 0, bytes); /* the CPU may access memory of the test double */
    return memory;
}

void lj_work(struct lj_part *part, size_t bytes)
{
    part->compute_s += KERNEL_S + (double)bytes / KERNEL_RATE;
}

/* Begins with a barrier, so that the computation of one rank is not counted as
 * waiting of another. */
void lj_swap(struct lj_part *part, const struct lj_move move[LJ_SIDES])
{
    uint64_t begun;

    if (lj_way_is_timed(part->way))
        MPI_Barrier(MPI_COMM_WORLD);
    begun = nw_clock_ns();
    lj_way_swap(part->way, move);
    part->messages_s += (double)(nw_clock_ns() - begun) * 1e-9;
}

static void make_lists(struct lj_part *part)
{
    lj_migrate(part);
    lj_ghosts_find(part);
    lj_lists_make(part);
}

static void step(struct lj_part *part, int number)
{
    lj_drift(part);
    if (number % LJ_EVERY == LJ_EVERY - 1)
        make_lists(part);
    else
        lj_ghosts_update(part);
    lj_forces(part);
    lj_kick(part);
}

static double energy(const struct lj_part *part)
{
    double mine = part->energy + lj_heat(part), all = 0;

    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* A digest of all particles, which is the same for the same particles with the
 * same positions and velocities. */
static uint64_t digest(const struct lj_part *part)
{
    uint64_t sum = 0, all = 0;

    for (int i = 0; i < part->own; i++) {
        uint64_t hash = 0xcbf29ce484222325u;
        const unsigned char *bytes = (const void *)&part->at[i];

        for (size_t k = 0; k < sizeof part->at[i]; k++)
            hash = (hash ^ bytes[k]) * 0x100000001b3u;
        bytes = (const void *)&part->speed[i];
        for (size_t k = 0; k < sizeof part->speed[i].x; k++)
            hash = (hash ^ bytes[k]) * 0x100000001b3u;
        sum += hash;
    }
    MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void nothing_yet(struct lj_part *part)
{
    part->compute_s = part->messages_s = 0;
    for (int d = 0; d < 3; d++)
        for (int s = 0; s < LJ_SIDES; s++)
            part->side[d][s].positions = part->side[d][s].leavers = 0;
}

static void run(struct lj_part *part, int particles, int steps, int round,
                struct outcome *out)
{
    double mine[2], most[2] = {0};
    long own = 0, all = 0;

    lj_part_start(part, particles);
    make_lists(part);
    lj_forces(part);
    out->energy[0] = energy(part);
    nothing_yet(part);
    for (int i = 0; i < steps; i++)
        step(part, i);
    mine[0] = part->compute_s * 1e6 / steps;
    mine[1] = part->messages_s * 1e6 / steps;
    MPI_Allreduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    out->compute[round] = most[0];
    out->messages[round] = most[1];
    out->energy[1] = energy(part);
    out->digest = digest(part);
    own = part->own;
    MPI_Allreduce(&own, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    lj_must(all == particles, "particles were lost");
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void tell(const char *name, struct outcome *one, int rounds)
{
    qsort(one->compute, (size_t)rounds, sizeof(double), by_value);
    qsort(one->messages, (size_t)rounds, sizeof(double), by_value);
    printf("way\t%s\t%.3f\t%.3f\t%016llx\t%.6g\t%.6g\n", name,
           one->compute[rounds / 2], one->messages[rounds / 2],
           (unsigned long long)one->digest, one->energy[0], one->energy[1]);
}

static void tell_flows(const struct lj_part *part, int steps)
{
    double mine[12], *all = malloc((size_t)part->ranks * sizeof mine);
    int to[6], *whom = malloc((size_t)part->ranks * sizeof to);

    lj_must(all && whom, "memory");
    for (int k = 0; k < 6; k++) {
        const struct lj_side *side = &part->side[k / 2][k % 2];

        to[k] = lj_neighbour(part, k / 2, k % 2);
        mine[2 * k] = side->positions / steps;
        mine[2 * k + 1] = side->leavers / (steps / LJ_EVERY);
    }
    MPI_Gather(mine, 12, MPI_DOUBLE, all, 12, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Gather(to, 6, MPI_INT, whom, 6, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 6 * part->ranks && !part->rank; i++)
        if (whom[i] != i / 6)
            printf("flow\t%d\t%d\t%d\t%.0f\t%.0f\n", i % 6 / 2, i / 6, whom[i],
                   all[2 * i], all[2 * i + 1]);
    free(all);
    free(whom);
}

static void compare(struct lj_part *part, int argc, char **argv)
{
    int particles = atoi(argv[1]), steps = atoi(argv[2]);
    int rounds = atoi(argv[3]), count = argc - 4;
    struct lj_way *way[MOST];
    static struct outcome outcome[MOST];

    lj_must(count <= MOST && rounds > 0 && rounds <= ROUNDS_MOST &&
                steps >= LJ_EVERY && particles > 0,
            "usage: lj PARTICLES STEPS ROUNDS WAY...");
    particles = (int)lround(pow(round(cbrt(particles)), 3));
    lj_part_new(part, particles);
    for (int i = 0; i < count; i++)
        way[i] = lj_way_open(argv[4 + i]);
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < count; i++) {
            part->way = way[i];
            run(part, particles, steps, r, &outcome[i]);
        }
    if (!part->rank)
        printf("box\t%d\t%dx%dx%d\n", particles, part->grid[0], part->grid[1],
               part->grid[2]);
    for (int i = 0; i < count && !part->rank; i++)
        tell(argv[4 + i], &outcome[i], rounds);
    tell_flows(part, steps);
    for (int i = 0; i < count; i++)
        lj_way_close(way[i]);
}

int main(int argc, char **argv)
{
    struct lj_part part = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &part.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &part.ranks);
    if (argc == 2 && !strcmp(argv[1], "methods") && part.ranks == 2) {
        lj_ways_measure(part.rank);
    } else {
        lj_must(argc > 4, "usage: lj PARTICLES STEPS ROUNDS WAY...");
        compare(&part, argc, argv);
    }
    MPI_Finalize();
    return 0;
}
