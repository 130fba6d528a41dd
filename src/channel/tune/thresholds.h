/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the fastest protocol for each message size, made from measured
 * times or from the cost model. They reduce a choice to one look-up. */
#ifndef NW_CHANNEL_TUNE_THRESHOLDS_H
#define NW_CHANNEL_TUNE_THRESHOLDS_H

#include "channel/tune/cost_model.h"

enum { NW_STEPS = 8, NW_PROVIDER_NAME = 32 };

/* The distance between the core, the GPU and the adapter (NIC). */
enum nw_locality {
    NW_LOCAL_SWITCH, /* like SOCKET; GPU and adapter share a PCIe switch */
    NW_LOCAL_SOCKET, /* core, GPU and adapter at one socket, or unknown */
    NW_LOCAL_FAR,    /* core, GPU and adapter not all at one socket */
    NW_LOCALITIES
};
/* Returns the locality of a GPU and an adapter, given by their PCI addresses
 * ("" if unknown). `system` is /sys, or a copy of /sys for tests. */
enum nw_locality nw_locality_find(const char *system, const char *gpu,
                                  const char *adapter);

/* Sets the rate (bytes/s) at which an adapter reads GPU memory, if it shares a
 * PCIe switch with the GPU. */
void nw_costs_of_locality(struct nw_costs *costs, enum nw_locality locality);

/* The fastest protocol and copy method for each range of message sizes. Steps
 * are in ascending order of size. The last step also serves all larger
 * messages. */
struct nw_choice {
    int count;
    struct nw_step {
        uint64_t bytes; /* size of the largest message of this step */
        struct nw_protocol_copy method;
    } step[NW_STEPS];
};

/* Returns the seconds that a message of `bytes` bytes takes with this protocol
 * and copy method; INFINITY if this combination is impossible. */
typedef double (*nw_protocol_cost)(const void *context,
                                   struct nw_protocol_copy method,
                                   uint64_t bytes);
/* Finds the fastest protocol and copy method for each message size up to `most`
 * bytes. From one size to the next larger one, the choice changes only if this
 * saves at least 4 % of the time, so that choices of nearly equal time do not
 * alternate. */
void nw_choice_make(nw_protocol_cost cost, const void *context, uint64_t most,
                    struct nw_choice *out);
/* Returns the protocol and copy method for a message of `bytes` bytes. */
struct nw_protocol_copy nw_choice_find(const struct nw_choice *choice,
                                       uint64_t bytes);

/* The conditions on which a choice depends, besides the message size. gpu[0] is
 * true if the sender's memory is GPU memory, gpu[1] the same for the receiver.
 */
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
/* Returns the choice that was measured in the situation `of`, or else in a
 * situation that differs only in locality. NULL if there is neither. */
const struct nw_choice *
nw_thresholds_find(const struct nw_thresholds *thresholds,
                   const struct nw_situation *of);
/* Sets *out to the path of this machine's table: $NODEWISE_CHANNEL_TABLE, or a
 * file in the user's cache folder that is named after the host, its GPU and the
 * GPU mapping. The caller frees *out. */
NW_MUST_CHECK nw_status nw_thresholds_path(char **out);
NW_MUST_CHECK nw_status nw_thresholds_parse(const char *file, char *text,
                                            struct nw_thresholds *out);
NW_MUST_CHECK nw_status
nw_thresholds_write(const struct nw_thresholds *thresholds, char **out);
void nw_thresholds_fini(struct nw_thresholds *thresholds);

/* The names of protocols and copies in table files and environment variables.
 */
extern const char *const nw_protocol_words[NW_CHANNEL_PROTOCOLS];
extern const char *const nw_copy_words[NW_CHANNEL_COPIES];

#endif
