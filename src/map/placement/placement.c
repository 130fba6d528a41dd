/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and frees placements, and assigns processes to free slots. */
#include "map/placement/placement.h"
#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>

nw_status nw_placement_init(struct nw_placement *placement,
                            const struct nw_arcs_of *of)
{
    size_t n = of->ranks.count;
    nw_status status;

    *placement = (struct nw_placement){.count = (int32_t)n};
    status = nw_alloc_raw(n, sizeof *placement->place, &placement->place);
    for (size_t p = 0; !status && p < n; p++)
        placement->place[p] = -1;
    if (!status)
        status = nw_arcs_read(of, &placement->row, &placement->arc);
    if (status)
        nw_placement_fini(placement);
    return status;
}

void nw_placement_fini(struct nw_placement *placement)
{
    free(placement->row);
    free(placement->arc);
    nw_free_slots_fini(&placement->free_slots);
    NW_FREE_ALL(placement->place, placement->fixed, placement->affinity);
    *placement = (struct nw_placement){0};
}

bool nw_placement_fits(const struct nw_placement *placement, int32_t process,
                       int32_t place)
{
    return nw_free_slots_fits(&placement->free_slots, place,
                              nw_placement_wants_gpu(placement, process));
}

void nw_placement_put(struct nw_placement *placement, int32_t process,
                      int32_t place)
{
    placement->place[process] = place;
    nw_free_slots_take(&placement->free_slots, place,
                       nw_placement_wants_gpu(placement, process));
}

double nw_placement_distance_cost(const struct nw_placement *placement,
                                  int32_t process, int32_t place)
{
    double cost = 0;

    for (size_t a = placement->row[process]; a < placement->row[process + 1];
         a++) {
        const struct nw_arc *arc = &placement->arc[a];
        int32_t other = placement->place[arc->peer];

        if (other >= 0)
            cost +=
                arc->out * nw_places_distance(placement->places, place, other) +
                arc->in * nw_places_distance(placement->places, other, place);
    }
    return cost;
}

nw_status nw_placement_full(int32_t process)
{
    return nw_fail_about(NW_FIXED(-1), NW_EINVAL,
                         "the fixed ranks leave no element for process %d",
                         process);
}
