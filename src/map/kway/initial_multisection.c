/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multisection: the elements of a machine are grouped at the widest gaps
 * between neighbouring elements, and a graph is divided among the groups, each
 * taken as one element. There are few groups and each is large, so that
 * vertices move between groups more freely than between full elements. That
 * improves the cut between groups, which matters most because a byte costs more
 * between groups than inside a group (Schulz and Woydt 2025).
 */
#include "base/array.h"
#include "map/kway/kway.h"
#include "map/common/parameters.h"

#include <math.h>
#include <stdlib.h>

void nw_kway_multisection_fini(struct nw_kway_multisection *groups)
{
    free(groups->first);
    free((void *)(uintptr_t)groups->machine.table);
    nw_kway_machine_fini(&groups->machine);
}

/* Lowers the load limits of the groups in `m` so that later bisections within a
 * group can also exceed their even share a little. `elements`: number of
 * elements in all groups; `load`: total load of the vertices to be divided. */
static void initial_multisection_tighten(struct nw_kway_machine *m,
                                         int32_t elements, double load)
{
    double part = ceil(log2(m->k)) / (ceil(log2(elements)) + 1), all = 0;

    for (int32_t g = 0; g < m->k; g++)
        all += m->share[g];
    for (int32_t g = 0; g < m->k; g++) {
        double target = all > 0 ? load * m->share[g] / all : load / m->k;
        double room = target > 0 ? (double)m->limit[g] / target : 1;
        double most = target * (room > 1 ? pow(room, part) : room) + 1e-6;

        if (most < ceil(target))
            most = ceil(target);
        if (most < (double)m->limit[g])
            m->limit[g] = (nw_graph_load)most;
    }
}

/* Returns the largest distance between neighbouring elements among low .. high
 * - 1. Sets *groups to the number of groups into which all gaps of this width
 * divide them. */
static double
initial_multisection_widest_gap(const struct nw_kway_machine *machine,
                                int32_t low, int32_t high, int32_t *groups)
{
    double widest = -1;

    *groups = 1;
    for (int32_t q = low + 1; q < high; q++)
        widest = fmax(widest, machine->step[q]);
    for (int32_t q = low + 1; q < high; q++)
        *groups += machine->step[q] == widest;
    return widest;
}

bool nw_kway_multisection_apply(const struct nw_kway_machine *machine,
                                int32_t low, int32_t high)
{
    int32_t k;

    initial_multisection_widest_gap(machine, low, high, &k);
    return k > 2 && k <= nw_tuned.kway.groups_max && k < high - low;
}

nw_status nw_kway_multisection_init(struct nw_kway_multisection *groups,
                                    const struct nw_kway_machine *machine,
                                    int32_t low, int32_t high, double load)
{
    struct nw_kway_machine *m = &groups->machine;
    int32_t k, g = -1;
    double widest = initial_multisection_widest_gap(machine, low, high, &k);
    double *table = NULL;
    nw_status status;

    *groups = (struct nw_kway_multisection){0};
    status = nw_kway_machine_alloc(m, k);
    if (!status)
        status = NW_ALLOC_ALL(NW_ARRAY((size_t)k + 1, groups->first),
                              NW_ARRAY((size_t)k * (size_t)k, table));
    m->table = table;
    if (status)
        return status;
    for (int32_t q = low; q < high; q++) {
        if (q == low || machine->step[q] == widest)
            groups->first[++g] = q;
        m->share[g] += machine->share[q];
        m->limit[g] += machine->limit[q];
        m->capacity[g] += machine->capacity[q] < INT32_MAX - m->capacity[g]
                              ? machine->capacity[q]
                              : INT32_MAX - m->capacity[g];
    }
    groups->first[k] = high;
    /* The distance between groups is that between their first elements. */
    for (int32_t a = 0; a < k; a++) {
        m->step[a] = widest;
        for (int32_t b = 0; b < k; b++)
            if (a != b)
                table[a * k + b] = nw_kway_distance(machine, groups->first[a],
                                                    groups->first[b]);
    }
    initial_multisection_tighten(m, high - low, load);
    return NW_OK;
}
