/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses for each part of the ranks the group of hosts that takes it, by
 * solving a quadratic assignment problem (QAP). A part can only go to a group
 * with exactly as many slots as the part needs. So one QAP is solved for each
 * number of slots. In this QAP, only the parts that need this number move; all
 * other parts keep their groups. */
#include "map/groups/switch_groups.h"
#include "map/qap/qap.h"
#include "map/common/parameters.h"
#include "base/array.h"

#include <stdlib.h>

/* The parts, the groups and the present assignment of parts to groups. */
struct assign_groups_work {
    const struct nw_switch_groups *groups;
    struct nw_random *random;
    /* [parts^2] bytes between two parts, both directions summed */
    double *bytes;
    double *far; /* [parts^2] distance between two groups of hosts */
    /* group[p]: the group of hosts to which part p is assigned */
    int32_t group[NW_SWITCH_GROUPS_MAX];
};

/* Lists all parts in item[], first those that need `size` slots, which the QAP
 * may move. Returns the number of parts with that size. */
static int32_t assign_groups_order_parts(const struct nw_switch_groups *groups,
                                         int32_t size, int32_t *item)
{
    int32_t alike = 0, rest = groups->parts;

    for (int32_t p = groups->parts; p-- > 0;)
        if (nw_switch_groups_size(groups, p) != size)
            item[--rest] = p;
    for (int32_t p = 0; p < groups->parts; p++)
        if (nw_switch_groups_size(groups, p) == size)
            item[alike++] = p;
    return alike;
}

/* Assigns the parts with `size` slots to groups of that size by tabu search.
 * Item i of the QAP is part item[i]; places are groups. Flows are bytes between
 * parts, distances those between groups. */
static nw_status assign_groups_arrange_size(struct assign_groups_work *work,
                                            int32_t size)
{
    int32_t n = work->groups->parts, item[NW_SWITCH_GROUPS_MAX],
            place[NW_SWITCH_GROUPS_MAX];
    struct nw_qap qap;
    struct nw_robust_tabu *tabu = NULL;
    nw_status status = nw_qap_init(&qap, n);

    if (status)
        return status;
    qap.real = qap.movable =
        assign_groups_order_parts(work->groups, size, item);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            qap.flow[i * n + j] = work->bytes[item[i] * n + item[j]];
            qap.distance[i * n + j] = work->far[i * n + j];
        }
    nw_qap_finish(&qap);
    for (int32_t i = 0; i < n; i++)
        place[i] = work->group[item[i]];
    status = nw_robust_tabu_new(&qap, &tabu);
    if (!status)
        (void)nw_robust_tabu_run(
            tabu, work->random,
            nw_tuned.qap.group_steps * (uint64_t)qap.movable, place);
    for (int32_t i = 0; !status && i < n; i++)
        work->group[item[i]] = place[i];
    nw_robust_tabu_free(tabu);
    nw_qap_fini(&qap);
    return status;
}

/* Assigns the parts to groups, one size of parts after the other. */
static nw_status assign_groups_arrange_all(struct assign_groups_work *work)
{
    nw_status status = NW_OK;

    for (int32_t p = 0; !status && p < work->groups->parts; p++) {
        int32_t q = 0, size = nw_switch_groups_size(work->groups, p);

        while (nw_switch_groups_size(work->groups, q) != size)
            q++;
        if (q == p)
            status = assign_groups_arrange_size(work, size);
    }
    return status;
}

/* Fills `bytes` with the bytes between parts; part[r] is the part of rank r.
 * Assigns each part to the group with its own number, at first. */
static void assign_groups_count_bytes(const struct nw_slots *slots,
                                      const int32_t *part,
                                      struct assign_groups_work *work)
{
    int32_t n = work->groups->parts;

    for (int32_t p = 0; p < n; p++)
        work->group[p] = p;
    for (int32_t r = 0; r < slots->rank_count; r++)
        for (size_t t = slots->row[r]; t < slots->row[r + 1]; t++)
            if (part[r] != part[slots->edge[t].peer])
                work->bytes[part[r] * n + part[slots->edge[t].peer]] +=
                    slots->edge[t].out + slots->edge[t].in;
}

nw_status nw_assign_groups(const struct nw_slots *slots,
                           const struct nw_switch_groups *groups,
                           struct nw_random *random, int32_t *part,
                           bool *unlike)
{
    size_t cells = (size_t)groups->parts * (size_t)groups->parts;
    struct assign_groups_work work = {.groups = groups, .random = random};
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(cells, work.bytes), NW_ARRAY(cells, work.far));

    if (!status) {
        assign_groups_count_bytes(slots, part, &work);
        nw_switch_groups_measure(slots, groups, work.far);
        *unlike = false;
        for (int32_t p = 0; p < groups->parts; p++)
            for (int32_t q = 0; q < groups->parts; q++)
                *unlike |=
                    p != q && work.far[p * groups->parts + q] != work.far[1];
        if (*unlike)
            status = assign_groups_arrange_all(&work);
        for (int32_t r = 0; !status && r < slots->rank_count; r++)
            part[r] = work.group[part[r]];
    }
    free(work.bytes);
    free(work.far);
    return status;
}
