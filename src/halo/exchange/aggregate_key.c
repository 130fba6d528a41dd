/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes and compares the sort keys of shares of aggregates (nodes.h). Both
 * nodes of an aggregate compute the same keys, so they sort its shares in the
 * same order. */
#include "halo/exchange/nodes.h"

int nw_halo_share_compare(const struct nw_halo_share *a,
                          const struct nw_halo_share *b, int count)
{
    return nw_halo_keys_compare(&a->node, &b->node, count);
}

struct nw_halo_share
nw_halo_share_of(const struct nw_halo_connection *connection)
{
    const nw_halo *halo = connection->halo;
    bool out = connection->sends;

    return (struct nw_halo_share){
        .node = halo->node_of[connection->peer],
        .out = out,
        .phase = connection->phase,
        .from = out ? halo->rank : connection->peer,
        .to = out ? connection->peer : halo->rank,
        .cells = (int64_t)(connection->bytes / halo->layout->domain.cell_bytes),
    };
}

const struct nw_halo_aggregate *
nw_halo_aggregate_of(const struct nw_halo_connection *connection,
                     size_t *before)
{
    const struct nw_halo_aggregates *aggregates = connection->halo->aggregates;
    struct nw_halo_share wanted = nw_halo_share_of(connection);

    for (size_t i = 0; i < aggregates->count; i++) {
        const struct nw_halo_aggregate *aggregate = &aggregates->item[i];

        if (nw_halo_share_compare(aggregate->share, &wanted,
                                  NW_HALO_SHARE_GROUP))
            continue;
        *before = 0;
        for (size_t k = 0; nw_halo_share_compare(&aggregate->share[k], &wanted,
                                                 NW_HALO_SHARE_KEYS);
             k++)
            *before += (size_t)aggregate->share[k].cells;
        return aggregate;
    }
    return NULL;
}
