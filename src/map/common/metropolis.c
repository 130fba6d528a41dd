/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills the tables of the Metropolis criterion when they are first needed. */
#include "map/common/metropolis.h"
#include "base/random.h"

#include <math.h>
#include <pthread.h>

static double metropolis_table[NW_METROPOLIS_SIZE];
static float metropolis_thresholds[NW_METROPOLIS_SIZE + NW_METROPOLIS_WIDTH];
static pthread_once_t metropolis_once = PTHREAD_ONCE_INIT;

static void metropolis_fill(void)
{
    int32_t order[NW_METROPOLIS_SIZE];
    struct nw_random random;

    for (int32_t i = 0; i < NW_METROPOLIS_SIZE; i++) {
        double u = (i + 0.5) / NW_METROPOLIS_SIZE;

        metropolis_table[i] = floor(-log(u) * 1048576.0) / 1048576.0;
        order[i] = i;
    }
    nw_random_init(&random, 1);
    nw_random_shuffle(&random, order, NW_METROPOLIS_SIZE);
    for (int32_t i = 0; i < NW_METROPOLIS_SIZE + NW_METROPOLIS_WIDTH; i++)
        metropolis_thresholds[i] =
            (float)metropolis_table[order[i % NW_METROPOLIS_SIZE]];
}

const double *nw_metropolis_table(void)
{
    (void)pthread_once(&metropolis_once, metropolis_fill);
    return metropolis_table;
}

const float *nw_metropolis_thresholds(void)
{
    (void)pthread_once(&metropolis_once, metropolis_fill);
    return metropolis_thresholds;
}
