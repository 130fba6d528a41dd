/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of transfers, each of which can have its own method. A group holds all
 * transfers between two ends in one phase. An end is a piece for GPU memory,
 * and a rank for host memory. */
#ifndef NW_HALO_EXCHANGE_GROUPS_H
#define NW_HALO_EXCHANGE_GROUPS_H

#include "halo/exchange/classes.h"
#include "halo/plan/model.h"

struct nw_halo_group {
    struct nw_halo_pair pair; /* pair of the group's first transfer */
    struct nw_halo_traffic traffic;
    enum nw_halo_class class;
    uint64_t kind;    /* hash of shape and path; equal at both ends */
    uint32_t methods; /* bits of the methods that fit */
    const struct nw_halo_method_ops *current; /* method in use, or NULL */
    /* its transfers, in groups->number */
    size_t first, count;
};
/* The groups of halo->transfers. */
struct nw_halo_groups {
    struct nw_halo_group *item; /* [count] the groups; owned */
    size_t count;
    size_t *number; /* indices of transfers, sorted by group; owned */
};
/* Makes the groups of halo->transfers; call it after nw_halo_weigh, while
 * halo->paths is set. Local. */
NW_MUST_CHECK nw_status nw_halo_groups_make(const nw_halo *halo,
                                            struct nw_halo_groups *out);
void nw_halo_groups_fini(struct nw_halo_groups *groups);

/* Returns the methods (bits) that the scheme stores for one kind of groups, or
 * NULL if the scheme stores none for it. */
uint32_t *nw_halo_wish_find(struct nw_halo_scheme *scheme, uint64_t kind);
/* Sets out[i], for each transfer i, to its method in halo->scheme, or to NULL
 * if no method fits. Both ends get the same result. Local. */
NW_MUST_CHECK nw_status
nw_halo_groups_methods(nw_halo *halo, const struct nw_halo_method_ops **out);
/* Sets *out to true if all groups of open connections use the methods that the
 * model predicts to be fastest, on all ranks; else to false. Collective. */
NW_MUST_CHECK nw_status nw_halo_groups_modelled(const nw_halo *halo, bool *out);

/* Returns the seconds that the model predicts for the work of both ends of a
 * connection in one exchange. */
double nw_halo_connection_seconds(const struct nw_halo_connection *connection);

/* All groups of one kind in the job. */
struct nw_halo_kind {
    uint64_t kind;
    uint32_t methods; /* bits of the methods that fit */
    uint32_t current; /* bits of the methods that the groups use */
    int32_t class;
    int32_t choice; /* not 0: the kind should get its own choice */
    double share;   /* fraction of an exchange, maximum over ranks */
};
/* Each rank reports at most this number of kinds, those with its largest
 * shares. */
#define NW_HALO_KINDS_TOLD 8
/* Lists the kinds of all open connections in the job, in descending order of
 * their shares. All ranks get the same list. The caller frees *out. Collective.
 */
NW_MUST_CHECK nw_status nw_halo_kinds_find(const nw_halo *halo,
                                           struct nw_halo_kind **out,
                                           size_t *count);

#endif
