/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of two ways: the least counts, since whatever disturbs a turn makes it
 * longer; and what disturbs one does not disturb a few of them. */
#include "base/pace.h"

enum { TRIES = 8, AGAIN = 256, FEW = 4 };

bool nw_pace_leads(const struct nw_pace *pace, uint32_t part)
{
    return pace->least_ns[1] &&
           pace->least_ns[1] < pace->least_ns[0] - pace->least_ns[0] / part;
}

int nw_pace_best(const struct nw_pace *pace)
{
    return nw_pace_leads(pace, 20);
}

bool nw_pace_is_lost(const struct nw_pace *pace)
{
    return pace->turns >= TRIES && pace->least_ns[1] / 2 > pace->least_ns[0];
}

bool nw_pace_is_hopeless(const struct nw_pace *pace, int class)
{
    for (int i = 0; i < class && !pace[class].turns; i++)
        if (nw_pace_is_lost(&pace[i]))
            return true;
    return false;
}

int nw_pace_pick(struct nw_pace *pace, bool *timed)
{
    uint32_t turn = pace->turns++;

    if (turn >= UINT32_MAX - 1)
        pace->turns = AGAIN;
    *timed = turn < TRIES || turn % AGAIN < 2;
    return *timed ? (int)(turn % 2) : nw_pace_best(pace);
}

void nw_pace_took(struct nw_pace *pace, int way, uint64_t ns)
{
    uint32_t took = ns < 1 ? 1 : ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
    uint32_t *least = &pace->least_ns[way], *recent = &pace->recent_ns[way];

    if (!*least || took < *least)
        *least = took;
    if (!pace->recent[way] || took < *recent)
        *recent = took;
    if (++pace->recent[way] == FEW) {
        *least = *recent;
        pace->recent[way] = 0;
    }
}

int nw_pace_class(uint64_t bytes, int classes)
{
    int class = bytes > 1 ? 64 - __builtin_clzll(bytes - 1) : 0;

    return class < classes ? class : classes - 1;
}
