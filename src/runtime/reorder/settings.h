/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings from the environment of rank 0, which are equal on every rank.
 */
#ifndef NW_REORDER_SETTINGS_H
#define NW_REORDER_SETTINGS_H

#include <stdbool.h>

enum nw_reorder_mode {
    NW_REORDER_OFF,    /* every call goes to MPI unchanged */
    NW_REORDER_REPORT, /* report the new order, but keep the old one */
    NW_REORDER_ON,     /* reorder if the program passed reorder = 1 */
    NW_REORDER_FORCE,  /* as NW_REORDER_ON, even if the program passed reorder =
                          0 */
};

/* Which ranks send the edges of distributed graphs to rank 0. */
enum nw_gather_place {
    NW_GATHER_AUTO, /* NW_GATHER_NODE in very large jobs, else NW_GATHER_RANK */
    NW_GATHER_RANK, /* every rank sends its own edges */
    NW_GATHER_NODE, /* one rank of each node sends those of its ranks */
};

#define NW_CART_WEIGHTS 16
struct nw_reorder_settings {
    int mode;
    int check;
    int gpus;    /* not 0: assign GPUs to ranks */
    int gather;  /* enum nw_gather_place */
    double gain; /* minimum gain as a fraction of the cost; 0.01: 1 %; negative:
                    none is needed */
    char algorithm[32];
    bool quiet;         /* report nothing */
    bool weights_first; /* prefer `weight` to weights stored with the
                           communicator (nw_reorder_ask) */
    int weight_count;
    double weight[NW_CART_WEIGHTS]; /* weight of each dimension */
};

/* Fills the settings from the environment. An invalid value causes a warning
 * and counts as not set; the name of the algorithm is not checked, and
 * NODEWISE_CHECK is off if it is not "1". */
void nw_reorder_settings_read(struct nw_reorder_settings *settings);
/* Reads weights such as "3,1,1", which must be from 0 to 1e9. Returns their
 * number, or 0 if `words` is invalid. */
int nw_cart_weights_parse(const char *words, double weight[NW_CART_WEIGHTS]);

#endif
