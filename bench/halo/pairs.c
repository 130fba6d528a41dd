/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the gain from a method of its own for pairs with small faces. Four
 * pieces are on four GPUs of one process: two pairs of near GPUs share large
 * faces, and far pairs share small ones. Each method for all pairs of two GPUs
 * is compared with the automatic choice, in turns; times are in microseconds.
 * With the following costs of the test double of the driver, no single method
 * is the best:
 *   FAKE_CUDA_COSTS=device:2:400,far:60:400,kernel:10:8 \
 *   FAKE_CUDA_DEVICES=4 LD_LIBRARY_PATH=build/tests/support/fake_cuda \
 *   build/bench/halo/pairs-openmpi
 */
#include <mpi.h>

#include <nodewise/halo_mpi.h>

#include <stdio.h>
#include <stdlib.h>

#define WAYS 4
#define ROUNDS 60
#define TURN 5 /* exchanges in one turn; the first is not counted */

static const struct {
    const char *name;
    enum nw_halo_method method;
} ways[WAYS] = {{"automatic", NW_HALO_METHOD_COUNT},
                {"peer", NW_HALO_PEER},
                {"write", NW_HALO_WRITE},
                {"peer3d", NW_HALO_PEER3D}};

/* Plans the exchange with one method for all pairs, or with the automatic
 * choice. */
static nw_halo *open_way(int way)
{
    static const struct nw_halo_quantity one = {sizeof(double), 0};
    static const int32_t gpu[] = {0, 1, 2, 3};
    struct nw_halo_options plan = NW_HALO_OPTIONS_INIT;
    struct nw_halo_box box[4];
    nw_halo *halo = NULL;

    for (int i = 0; i < 4; i++)
        box[i] = (struct nw_halo_box){
            {0, i / 2 * 128, i % 2 * 4},
            {128, i / 2 * 128 + 128, i % 2 * 4 + 4},
        };
    plan.extent[0] = 128;
    plan.extent[1] = 256;
    plan.extent[2] = 8;
    plan.quantity = &one;
    plan.quantity_count = 1;
    plan.box = box;
    plan.box_count = 4;
    plan.gpu = gpu;
    plan.memory_kind = NW_HALO_MEMORY_GPU;
    plan.cache = "";
    if (way)
        plan.methods =
            NW_HALO_BIT(NW_HALO_KERNEL) | NW_HALO_BIT(ways[way].method);
    nw_halo_borders(&plan, NW_HALO_OPEN);
    nw_halo_radius(&plan, 1, true);
    if (!nw_halo_plan(MPI_COMM_WORLD, &plan, &halo))
        return halo;
    fprintf(stderr, "%s: %s\n", ways[way].name, nw_error_text());
    return NULL;
}

static int take_turn(nw_halo *halo, double *least)
{
    *least = 1;
    for (int k = 0; k < TURN; k++) {
        double since = MPI_Wtime(), seconds;

        if (nw_halo_start(halo, NULL, 0) || nw_halo_wait(halo))
            return 0;
        seconds = MPI_Wtime() - since;
        if (k && seconds < *least)
            *least = seconds;
    }
    return 1;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double seconds[WAYS][ROUNDS];
    nw_halo *halo[WAYS] = {NULL};
    int good = 1;

    MPI_Init(&argc, &argv);
    for (int i = 0; good && i < WAYS; i++)
        good = (halo[i] = open_way(i)) != NULL;
    for (int round = 0; good && round < ROUNDS; round++)
        for (int i = 0; good && i < WAYS; i++)
            good = take_turn(halo[i], &seconds[i][round]);
    for (int i = 0; good && i < WAYS; i++) {
        qsort(seconds[i], ROUNDS, sizeof(double), ascending);
        printf("%-10s %7.1f us median %7.1f quartile  %s\n", ways[i].name,
               seconds[i][ROUNDS / 2] * 1e6, seconds[i][ROUNDS / 4] * 1e6,
               nw_halo_words(halo[i]));
    }
    for (int i = 0; i < WAYS; i++)
        nw_halo_free(halo[i]);
    MPI_Finalize();
    return !good;
}
