/* SPDX-License-Identifier: BSD-3-Clause */
/* Which schemes there are, and which one is taken: measured, modelled, or the
 * first in the fixed order. */
#include "halo/exchange/channels.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static bool for_here(const nw_halo *halo, const struct nw_halo_method_ops *ops)
{
    return ops && ops->for_gpu == halo->gpu_memory;
}

nw_status nw_halo_methods_find(nw_halo *halo, uint32_t allowed)
{
    uint32_t own = 0, all = 0;
    int code;

    for (int i = 0; i < NW_HALO_METHOD_COUNT; i++) {
        const struct nw_halo_method_ops *ops = nw_halo_methods[i];

        if (!for_here(halo, ops) ||
            (allowed && !(allowed & NW_HALO_BIT(i)) && i != NW_HALO_SELF))
            continue;
        if (!ops->here || ops->here(halo))
            own |= NW_HALO_BIT(i);
    }
    code =
        NW_PMPI(Allreduce)(&own, &all, 1, MPI_UINT32_T, MPI_BAND, halo->comm);
    halo->methods = all;
    return nw_halo_mpi(code, "compare methods");
}

/* "phases: self 12 kB, direct 40 kB": this rank's incoming bytes. */
static void describe(nw_halo *halo)
{
    size_t used = (size_t)snprintf(halo->words, sizeof halo->words, "%s",
                                   halo->scheme.phased ? "phases" : "once");

    for (int i = 0; i < NW_HALO_METHOD_COUNT; i++) {
        double bytes = 0;
        char figure[32];

        for (size_t k = 0; k < halo->channel_count; k++)
            if (halo->channel[k].ops->id == (enum nw_halo_method)i &&
                halo->channel[k].receives)
                bytes += (double)halo->channel[k].bytes;
        if (bytes <= 0 || used >= sizeof halo->words)
            continue;
        used += (size_t)snprintf(
            halo->words + used, sizeof halo->words - used, "%s %s %s",
            used < 8 ? ":" : ",", nw_halo_method_name((enum nw_halo_method)i),
            nw_format_quantity(bytes, NW_UNIT_BYTES, figure, sizeof figure));
    }
}

nw_status nw_halo_choose(nw_halo *halo, const struct nw_halo_options *options)
{
    struct nw_halo_scheme scheme = {
        .phased = options->schedule != NW_HALO_SCHEDULE_ONCE &&
                  nw_halo_can_phase(halo->layout),
        .inside = UINT32_MAX,
        .between = UINT32_MAX,
    };
    nw_status status;

    if (options->schedule == NW_HALO_SCHEDULE_PHASES && !scheme.phased)
        return nw_fail(NW_EINVAL, "these radii or pieces cannot be exchanged "
                                  "in phases");
    status = nw_halo_channels_open(halo, &scheme);
    if (!status)
        describe(halo);
    return status;
}
