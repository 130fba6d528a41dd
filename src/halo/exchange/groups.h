/* SPDX-License-Identifier: BSD-3-Clause */
/* What may go by a method of its own: all that one end has for another in one
 * phase, ends being pieces in GPU memory and ranks in host memory. */
#ifndef NW_HALO_EXCHANGE_GROUPS_H
#define NW_HALO_EXCHANGE_GROUPS_H

#include "halo/exchange/exchange.h"
#include "halo/plan/model.h"

struct nw_halo_group {
    struct nw_halo_pair pair; /* of its first transfer */
    struct nw_halo_traffic traffic;
    enum nw_halo_class class;
    uint64_t kind;       /* the same at both ends; alike ones share it */
    size_t first, count; /* in number[] */
};
/* Those of halo->transfers. */
struct nw_halo_groups {
    struct nw_halo_group *item; /* [count], owned */
    size_t count;
    size_t *number; /* transfers, group by group; owned */
};
/* Needs halo->paths and nw_halo_weigh. Local. */
NW_MUST_CHECK nw_status nw_halo_groups_make(const nw_halo *halo,
                                            struct nw_halo_groups *out);
void nw_halo_groups_fini(struct nw_halo_groups *groups);

/* The method of each of halo->transfers that the scheme gives to kinds of
 * groups, or lets the model say; the same at both ends, NULL where there is no
 * such word. out[halo->transfers.count]. Local. */
NW_MUST_CHECK nw_status
nw_halo_groups_methods(const nw_halo *halo, const struct nw_halo_scheme *scheme,
                       const struct nw_halo_method_ops **out);

/* Of a connection in one exchange, its two ends together. */
double nw_halo_connection_seconds(const struct nw_halo_connection *connection);

/* Groups that are alike, as the job has them. */
struct nw_halo_kind {
    uint64_t kind;
    uint32_t methods; /* that serve them */
    uint32_t current; /* that they go by */
    int32_t class;
    int32_t choice; /* of its own */
    double share;   /* of a rank's exchange, as the model says: the most */
};
#define NW_HALO_KINDS_TOLD 8 /* of each rank, by share */
/* Of the open connections, greatest share first; the same on all ranks. *out is
 * the caller's. Collective. */
NW_MUST_CHECK nw_status nw_halo_kinds_find(const nw_halo *halo,
                                           struct nw_halo_kind **out,
                                           size_t *count);

#endif
