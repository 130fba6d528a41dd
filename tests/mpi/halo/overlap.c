/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes in a separate thread during an exchange, under a race detector. The
 * thread reads the stencils of the interior in one quantity and writes the
 * interior of another. It makes no progress of the exchange, and the exchange
 * must not touch any of these cells. With "race" the thread also computes the
 * cells that need ghost cells, which is too early and must be found. */
#include <mpi.h>

#include <nodewise/halo.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 6

struct work {
    nw_halo *halo;
    int32_t from;
    bool race;
};

static double *at(const nw_halo *halo, int32_t piece, int32_t quantity,
                  const int64_t cell[3])
{
    const struct nw_halo_piece *own = nw_halo_piece(halo, piece);
    char *base = nw_halo_base(halo, piece, quantity);
    size_t row = (size_t)(cell[2] * own->allocated[1] + cell[1]);

    return (double *)(void *)(base +
                              row * nw_halo_pitch(halo, piece, quantity)) +
           cell[0];
}

static void step(const struct work *work, int32_t piece,
                 const struct nw_halo_box *box)
{
    int64_t cell[3];

    for (cell[2] = box->low[2]; cell[2] < box->high[2]; cell[2]++)
        for (cell[1] = box->low[1]; cell[1] < box->high[1]; cell[1]++)
            for (cell[0] = box->low[0]; cell[0] < box->high[0]; cell[0]++) {
                double sum = *at(work->halo, piece, work->from, cell);

                for (int axis = 0; axis < 3; axis++)
                    for (int side = -1; side < 2; side += 2) {
                        int64_t next[3] = {cell[0], cell[1], cell[2]};

                        next[axis] += side;
                        sum += *at(work->halo, piece, work->from, next);
                    }
                *at(work->halo, piece, !work->from, cell) = sum / 7;
            }
}

static void step_shells(const struct work *work)
{
    struct nw_halo_box shell[6];

    for (int32_t p = 0; p < nw_halo_piece_count(work->halo); p++)
        for (int32_t i = nw_halo_shell(work->halo, p, shell); i-- > 0;)
            step(work, p, &shell[i]);
}

static void *compute(void *argument)
{
    const struct work *work = argument;

    for (int32_t p = 0; p < nw_halo_piece_count(work->halo); p++) {
        struct nw_halo_box inside = nw_halo_interior(work->halo, p);

        step(work, p, &inside);
    }
    if (work->race)
        step_shells(work);
    return NULL;
}

static int run_step(struct work *work)
{
    pthread_t thread;
    int wrong = nw_halo_start(work->halo, &work->from, 1) != NW_OK;

    wrong += pthread_create(&thread, NULL, compute, work) != 0;
    wrong += nw_halo_wait(work->halo) != NW_OK;
    wrong += pthread_join(thread, NULL) != 0;
    step_shells(work);
    work->from = !work->from;
    return wrong;
}

static int run(char *methods, bool race)
{
    struct nw_halo_options options = NW_HALO_OPTIONS_INIT;
    struct nw_halo_quantity both[2] = {{sizeof(double), 0},
                                       {sizeof(double), 0}};
    struct work work = {.race = race};
    enum nw_halo_method method;
    int wrong = 0;

    for (int axis = 0; axis < 3; axis++)
        options.extent[axis] = 16;
    nw_halo_radius(&options, 1, true);
    options.quantity = both;
    options.quantity_count = 2;
    options.pieces_per_rank = 2;
    options.choice = NW_HALO_CHOOSE_ORDER;
    for (char *word = strtok(methods, ","); word; word = strtok(NULL, ","))
        if (nw_halo_method_find(word, &method))
            options.methods |= NW_HALO_BIT(method);
    if (nw_halo_plan(MPI_COMM_WORLD, &options, &work.halo)) {
        fprintf(stderr, "%s\n", nw_error_text());
        return 1;
    }
    for (int i = 0; i < STEPS; i++)
        wrong += run_step(&work);
    nw_halo_free(work.halo);
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong, all = 0, rank, level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    wrong = argc > 1 ? run(argv[1], argc > 2) : 1;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        puts(all ? "wrong" : "right");
    MPI_Finalize();
    return all != 0;
}
