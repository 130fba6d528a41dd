/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records one-sided calls, on the rank that issues them. Bytes flow to the
 * target of a put and from the target of a get. The target's memory is assumed
 * to be of the same kind (host or GPU) as this rank's part of the window.
 */
#include "runtime/profile/profile.h"

static void onesided_record(struct nw_data data, struct nw_target target,
                            bool inward)
{
    struct nw_comm *win = nw_win_find(target.win);
    struct nw_count_key key = {.tag = NW_PART_NO_TAG,
                               .inward = inward,
                               .origin = NW_ORIGIN_ONE_SIDED + 1};
    bool here;

    if (!win)
        return;
    here = nw_data_is_gpu(data);
    key.class = (uint8_t)(inward ? nw_edge_class(win->gpu_window, here)
                                 : nw_edge_class(here, win->gpu_window));
    nw_record(win, target.rank, key, nw_data_bytes(data), 1);
}

void nw_put(struct nw_data origin, struct nw_target target)
{
    if (nw_record_wanted() && target.rank >= 0)
        onesided_record(origin, target, false);
}

void nw_got(struct nw_data origin, struct nw_target target)
{
    if (nw_record_wanted() && target.rank >= 0)
        onesided_record(origin, target, true);
}

void nw_fetched(struct nw_data origin, struct nw_data result,
                struct nw_target target, MPI_Op op)
{
    if (!nw_record_wanted() || target.rank < 0)
        return;
    if (op != MPI_NO_OP)
        onesided_record(origin, target, false);
    onesided_record(result, target, true);
}
