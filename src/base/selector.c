/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the shortest times of two variants: disturbances only make a turn
 * longer, and they rarely affect several turns. The first TRIES turns and two
 * of every AGAIN later turns are timed, alternating between the variants. */
#include "base/selector.h"

enum { TRIES = 8, AGAIN = 256, FEW = 4 };

bool nw_selector_leads(const struct nw_selector *selector, uint32_t part)
{
    return selector->least_ns[1] &&
           selector->least_ns[1] <
               selector->least_ns[0] - selector->least_ns[0] / part;
}

int nw_selector_best(const struct nw_selector *selector)
{
    return nw_selector_leads(selector, 20);
}

static bool selector_is_lost(const struct nw_selector *selector)
{
    return selector->turns >= TRIES &&
           selector->least_ns[1] / 2 > selector->least_ns[0];
}

bool nw_selector_is_hopeless(const struct nw_selector *selector, int class)
{
    for (int i = 0; i < class && !selector[class].turns; i++)
        if (selector_is_lost(&selector[i]))
            return true;
    return false;
}

int nw_selector_pick(struct nw_selector *selector, bool *timed)
{
    uint32_t turn = selector->turns++;

    if (turn >= UINT32_MAX - 1)
        selector->turns = AGAIN;
    *timed = turn < TRIES || turn % AGAIN < 2;
    return *timed ? (int)(turn % 2) : nw_selector_best(selector);
}

void nw_selector_took(struct nw_selector *selector, int choice, uint64_t ns)
{
    uint32_t took = ns < 1 ? 1 : ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
    uint32_t *least = &selector->least_ns[choice],
             *recent = &selector->recent_ns[choice];

    if (!*least || took < *least)
        *least = took;
    if (!selector->recent[choice] || took < *recent)
        *recent = took;
    if (++selector->recent[choice] == FEW) {
        *least = *recent;
        selector->recent[choice] = 0;
    }
}

int nw_selector_class(uint64_t bytes, int classes)
{
    int class = bytes > 1 ? 64 - __builtin_clzll(bytes - 1) : 0;

    return class < classes ? class : classes - 1;
}
