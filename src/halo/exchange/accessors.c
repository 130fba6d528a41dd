/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries of a halo: its pieces, their arrays and its layout. */
#include "halo/exchange/exchange.h"

#include "base/status.h"

int32_t nw_halo_piece_count(const nw_halo *halo)
{
    return halo->own_count;
}

const struct nw_halo_piece *nw_halo_piece_of(const nw_halo *halo, int32_t piece)
{
    return &halo->layout->piece[halo->own[piece]];
}
NW_OLD_NAME(nw_halo_piece, nw_halo_piece_of);

void *nw_halo_base(const nw_halo *halo, int32_t piece, int32_t quantity)
{
    return halo->base[piece * halo->quantity_count + quantity];
}

size_t nw_halo_pitch(const nw_halo *halo, int32_t piece, int32_t quantity)
{
    return halo->pitch[piece * halo->quantity_count + quantity];
}

const nw_halo_layout *nw_halo_layout_of(const nw_halo *halo)
{
    return halo->layout;
}

const char *nw_halo_words(const nw_halo *halo)
{
    return halo->words;
}
