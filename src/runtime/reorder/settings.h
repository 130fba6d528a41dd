/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's settings, equal on every rank: rank 0's environment. */
#ifndef NW_REORDER_SETTINGS_H
#define NW_REORDER_SETTINGS_H

#include <stdbool.h>

enum nw_reorder_mode {
    NW_REORDER_OFF,    /* every call passes straight through */
    NW_REORDER_REPORT, /* say what would be done, do nothing */
    NW_REORDER_ON,     /* if the program passed reorder */
    NW_REORDER_FORCE,  /* even if the program did not */
};

/* How the edges of distributed graphs reach rank 0. */
enum nw_gather_way {
    NW_GATHER_AUTO, /* by node in very large jobs */
    NW_GATHER_RANK, /* from every rank */
    NW_GATHER_NODE, /* from one rank of each node */
};

#define NW_CART_WEIGHTS 16
struct nw_reorder_settings {
    int mode;
    int check;
    int gpus;    /* to be assigned */
    int gather;  /* enum nw_gather_way */
    double gain; /* least share of the cost to save, 0.01 for 1 % */
    char algorithm[32];
    bool quiet;         /* a call of its own: nothing is said */
    bool weights_first; /* ahead of those noted on the communicator */
    int weight_count;
    double weight[NW_CART_WEIGHTS]; /* per dimension */
};

/* Reads the environment; a bad value warns once and counts as not set. */
void nw_reorder_settings_read(struct nw_reorder_settings *settings);
/* "3,1,1": positive numbers. The count; 0 if the words are bad. */
int nw_cart_weights_parse(const char *words, double weight[NW_CART_WEIGHTS]);

#endif
