/* SPDX-License-Identifier: BSD-3-Clause */
/* Up to which size which way is best: what a choice costs no more than a look
 * into, made from measured times or from the model. */
#ifndef NW_CHANNEL_TUNE_THRESHOLDS_H
#define NW_CHANNEL_TUNE_THRESHOLDS_H

#include "channel/tune/cost_model.h"

enum { NW_STEPS = 8, NW_PROVIDER_NAME = 32 };

/* How far the core, the GPU and the adapter are from each other. */
enum nw_locality {
    NW_LOCAL_SWITCH, /* GPU and adapter below one PCIe switch */
    NW_LOCAL_SOCKET, /* all at one socket, or not known */
    NW_LOCAL_FAR,    /* at two */
    NW_LOCALITIES
};
/* `pci` of the GPU, of the adapter ("" where there is none); `system` is /sys,
 * or a test's. */
enum nw_locality nw_locality_find(const char *system, const char *gpu,
                                  const char *adapter);

/* An adapter reads GPU memory so fast as the reference has measured it there.
 */
void nw_costs_of_locality(struct nw_costs *costs, enum nw_locality locality);

/* Ascending; the last is for all that is larger, too. */
struct nw_choice {
    int count;
    struct nw_step {
        uint64_t bytes; /* up to so many */
        struct nw_way_of way;
    } step[NW_STEPS];
};

/* The seconds of a way; INFINITY where it cannot be. */
typedef double (*nw_way_cost)(const void *context, struct nw_way_of way,
                              uint64_t bytes);
/* Of messages up to `most` bytes. A way is left only for one that is 4 % less:
 * ways that cost the same do not alternate. */
void nw_choice_make(nw_way_cost cost, const void *context, uint64_t most,
                    struct nw_choice *out);
struct nw_way_of nw_choice_find(const struct nw_choice *choice, uint64_t bytes);

/* What a choice depends on besides the size. */
struct nw_situation {
    bool gpu[2];
    char provider[NW_PROVIDER_NAME];
    enum nw_locality locality;
    enum nw_regime regime;
};
struct nw_thresholds {
    struct nw_measured {
        struct nw_situation of;
        struct nw_choice choice;
    } * row;
    size_t count, capacity;
};
NW_MUST_CHECK nw_status nw_thresholds_add(struct nw_thresholds *thresholds,
                                          const struct nw_situation *of,
                                          const struct nw_choice *choice);
/* As measured at this locality, else at another; NULL: not at all. */
const struct nw_choice *
nw_thresholds_find(const struct nw_thresholds *thresholds,
                   const struct nw_situation *of);
/* The file of this machine: $NODEWISE_CHANNEL_TABLE, else in the user's cache
 * folder, named for the host, its GPU and what the CPU reaches that through. */
NW_MUST_CHECK nw_status nw_thresholds_path(char **out);
NW_MUST_CHECK nw_status nw_thresholds_parse(const char *file, char *text,
                                            struct nw_thresholds *out);
NW_MUST_CHECK nw_status
nw_thresholds_write(const struct nw_thresholds *thresholds, char **out);
void nw_thresholds_fini(struct nw_thresholds *thresholds);

/* tune/mpi_rows.c: messages that an MPI carries out of GPU memory
 * (runtime/messages), "mpi:" and its library in a provider's place: up to which
 * size they are staged, beyond it straight to the other GPU. No protocols of a
 * channel's. */
enum { NW_STAGED = NW_CHANNEL_PROTOCOLS, NW_STRAIGHT, NW_PROTOCOLS };

/* Their words in tables and in the environment. */
extern const char *const nw_protocol_words[NW_PROTOCOLS];
extern const char *const nw_copy_words[NW_CHANNEL_COPIES];
#define NW_MPI_PROVIDER "mpi:"
/* A table with only that. */
NW_MUST_CHECK nw_status nw_mpi_rows_write(const char *provider, uint64_t from,
                                          char **out);
/* From what size on, INT_MAX where none is; false where this machine's table
 * has nothing of it. */
bool nw_mpi_rows_find(const char *provider, uint64_t *from);

#endif
