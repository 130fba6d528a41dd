/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the trunks of a node: what all its ranks exchange with other nodes,
 * sorted the same way at both ends. */
#include "halo/exchange/nodes.h"

#include <stdlib.h>
#include <string.h>

#define KEYS 5   /* numbers of a share that it is sorted by */
#define GROUP 3  /* the first of them name the trunk */
#define FIELDS 6 /* all its numbers */

bool nw_halo_trunks_wanted(const nw_halo *halo)
{
    const uint32_t *methods = halo->scheme.methods;
    uint32_t earlier = NW_HALO_BIT(NW_HALO_PACKED) | NW_HALO_BIT(NW_HALO_TYPES);
    bool wanted = false;

    for (int kind = NW_HALO_CLASS_NETWORK; kind < NW_HALO_CLASS_COUNT; kind++) {
        uint32_t bits = halo->methods & methods[kind];

        bits = bits ? bits : halo->methods;
        wanted =
            wanted || (bits & NW_HALO_BIT(NW_HALO_NODES) && !(bits & earlier));
    }
    return wanted;
}

static int compare_keys(const struct nw_halo_share *a,
                        const struct nw_halo_share *b, int count)
{
    const int64_t *x = &a->node, *y = &b->node;

    for (int i = 0; i < count; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static int compare(const void *a, const void *b)
{
    return compare_keys(a, b, KEYS);
}

static struct nw_halo_share share_of(const struct nw_halo_channel *channel)
{
    const nw_halo *halo = channel->halo;
    bool out = channel->sends;

    return (struct nw_halo_share){
        .node = halo->node_of[channel->peer],
        .out = out,
        .phase = channel->phase,
        .from = out ? halo->rank : channel->peer,
        .to = out ? channel->peer : halo->rank,
        .cells = (int64_t)(channel->bytes / halo->layout->domain.cell_bytes),
    };
}

static size_t own_shares(const nw_halo *halo, struct nw_halo_share *out)
{
    size_t count = 0;

    for (size_t i = 0; i < halo->channel_count; i++)
        if (halo->channel[i].ops == &nw_halo_nodes)
            out[count++] = share_of(&halo->channel[i]);
    return count;
}

/* How many numbers each rank of the node gives, and where they start. */
static nw_status count_shares(nw_halo *halo, int own, int *counts, int *starts)
{
    int code = NW_PMPI(Allgather)(&own, 1, MPI_INT, counts, 1, MPI_INT,
                                  halo->node_comm);
    int sum = 0;

    for (int i = 0; i < halo->node_size; i++) {
        starts[i] = sum;
        sum += counts[i];
    }
    halo->trunks->share_count = (size_t)sum / FIELDS;
    return nw_halo_mpi(code, "list what goes between nodes");
}

/* The shares of all ranks of the node, gathered. */
static nw_status gather(nw_halo *halo, const struct nw_halo_share *own,
                        size_t count)
{
    struct nw_halo_trunks *trunks = halo->trunks;
    int *counts = NULL;
    nw_status status =
        nw_alloc(2 * (size_t)halo->node_size, sizeof *counts, &counts);

    status = nw_halo_agree(halo->node_comm, status);
    if (!status)
        status = count_shares(halo, (int)count * FIELDS, counts,
                              counts + halo->node_size);
    if (!status)
        status = nw_alloc(trunks->share_count + 1, sizeof *trunks->share,
                          &trunks->share);
    status = nw_halo_agree(halo->node_comm, status);
    if (!status)
        status = nw_halo_mpi(
            NW_PMPI(Allgatherv)(own, (int)count * FIELDS, MPI_INT64_T,
                                trunks->share, counts, counts + halo->node_size,
                                MPI_INT64_T, halo->node_comm),
            "list what goes between nodes");
    free(counts);
    return status;
}

static nw_status gather_own(nw_halo *halo)
{
    struct nw_halo_share *own = NULL;
    size_t count = 0;
    nw_status status = nw_alloc(halo->channel_count + 1, sizeof *own, &own);

    status = nw_halo_agree(halo->node_comm, status);
    if (!status) {
        count = own_shares(halo, own);
        status = gather(halo, own, count);
    }
    free(own);
    return status;
}

/* The rank of `node` that leads the trunks to `other`. */
static int leader_of(const nw_halo *halo, int node, int other)
{
    int size = 0;

    for (int i = 0; i < halo->size; i++)
        size += halo->node_of[i] == node;
    for (int i = 0; i < halo->size; i++)
        if (halo->node_of[i] == node && halo->node_rank_of[i] == other % size)
            return i;
    return -1;
}

static nw_status cut(nw_halo *halo)
{
    struct nw_halo_trunks *trunks = halo->trunks;
    int here = halo->node_of[halo->rank];
    nw_status status =
        nw_alloc(trunks->share_count + 1, sizeof *trunks->item, &trunks->item);

    if (status)
        return status;
    qsort(trunks->share, trunks->share_count, sizeof *trunks->share, compare);
    for (size_t i = 0; i < trunks->share_count; i++) {
        const struct nw_halo_share *share = &trunks->share[i];
        struct nw_halo_trunk *trunk = &trunks->item[trunks->count];

        if (i && !compare_keys(share - 1, share, GROUP)) {
            trunk--;
        } else {
            trunks->count++;
            trunk->share = share;
            trunk->leader = leader_of(halo, here, (int)share->node);
            trunk->other = leader_of(halo, (int)share->node, here);
        }
        trunk->count++;
        trunk->cells += (size_t)share->cells;
    }
    return NW_OK;
}

/* Channels stay in the order of their phases. */
static void insert_channel(nw_halo *halo, struct nw_halo_trunk *trunk)
{
    uint8_t phase = (uint8_t)trunk->share->phase;
    size_t at = halo->channel_count++;

    for (; at > 0 && halo->channel[at - 1].phase > phase; at--)
        halo->channel[at] = halo->channel[at - 1];
    halo->channel[at] = (struct nw_halo_channel){
        .ops = &nw_halo_trunk_end,
        .halo = halo,
        .peer = trunk->other,
        .phase = phase,
        .bytes = trunk->cells * halo->layout->domain.cell_bytes,
        .trunk = trunk,
    };
}

static nw_status add_channels(nw_halo *halo)
{
    struct nw_halo_trunks *trunks = halo->trunks;
    struct nw_halo_channel *channel = NULL;
    nw_status status = nw_alloc(halo->channel_count + trunks->count + 1,
                                sizeof *channel, &channel);

    if (status)
        return status;
    memcpy(channel, halo->channel, halo->channel_count * sizeof *channel);
    free(halo->channel);
    halo->channel = channel;
    for (size_t i = 0; i < trunks->count; i++)
        if (trunks->item[i].leader == halo->rank) {
            insert_channel(halo, &trunks->item[i]);
            /* a leader has the phases of those it leads for */
            if (trunks->item[i].share->phase >= halo->phase_count)
                halo->phase_count = (int)trunks->item[i].share->phase + 1;
        }
    return NW_OK;
}

nw_status nw_halo_trunks_make(nw_halo *halo)
{
    nw_status status = nw_alloc(1, sizeof *halo->trunks, &halo->trunks);

    status = nw_halo_agree(halo->node_comm, status);
    if (!status)
        status = gather_own(halo);
    if (!status)
        status = cut(halo);
    return status ? status : add_channels(halo);
}

nw_status nw_halo_trunks_share(nw_halo *halo)
{
    struct nw_halo_trunks *trunks = halo->trunks;
    uint64_t *own = NULL;
    nw_status status = nw_alloc(2 * trunks->count + 1, sizeof *own, &own);

    status = nw_halo_agree(halo->node_comm, status);
    for (size_t i = 0; !status && i < trunks->count; i++)
        own[i] = trunks->item[i].spot.offset;
    if (!status)
        status = nw_halo_mpi(
            NW_PMPI(Allreduce)(own, own + trunks->count, (int)trunks->count,
                               MPI_UINT64_T, MPI_MAX, halo->node_comm),
            "share buffers between nodes");
    for (size_t i = 0; !status && i < trunks->count; i++)
        trunks->item[i].spot = (struct nw_halo_spot){
            .rank = trunks->item[i].leader, .offset = own[trunks->count + i]};
    free(own);
    return status;
}

void nw_halo_trunks_free(nw_halo *halo)
{
    if (halo->trunks) {
        free(halo->trunks->share);
        free(halo->trunks->item);
    }
    free(halo->trunks);
    halo->trunks = NULL;
}

const struct nw_halo_trunk *
nw_halo_trunk_of(const struct nw_halo_channel *channel, size_t *before)
{
    const struct nw_halo_trunks *trunks = channel->halo->trunks;
    struct nw_halo_share wanted = share_of(channel);

    for (size_t i = 0; i < trunks->count; i++) {
        const struct nw_halo_trunk *trunk = &trunks->item[i];

        if (compare_keys(trunk->share, &wanted, GROUP))
            continue;
        *before = 0;
        for (size_t k = 0; compare_keys(&trunk->share[k], &wanted, KEYS); k++)
            *before += (size_t)trunk->share[k].cells;
        return trunk;
    }
    return NULL;
}
