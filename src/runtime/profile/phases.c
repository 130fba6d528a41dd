/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets the current phase, to which all later records belong. */
#include "runtime/profile/phases.h"

#include "base/clock.h"
#include "base/text.h"
#include "runtime/profile/count.h"
#include "runtime/warn.h"

#include <stdlib.h>
#include <string.h>

static bool phases_by_level;
/* a span of 0 means that phases do not depend on the time */
static uint64_t phases_begun_ns, phases_span_ns;

static void set_phase(uint64_t phase)
{
    nw_count_set_phase((uint16_t)(phase < NW_PHASES ? phase : NW_PHASES - 1));
}

void nw_phases_open(void)
{
    const char *word = getenv("NODEWISE_PHASES");
    double seconds;

    if (!word || !word[0])
        return;
    phases_begun_ns = nw_clock_ns();
    if (!strcmp(word, "pcontrol"))
        phases_by_level = true;
    else if (nw_parse_duration(word, &seconds) && seconds >= 1e-6)
        phases_span_ns = (uint64_t)(seconds * 1e9);
    else
        nw_warn_once("NODEWISE_PHASES is pcontrol or a time such as 10s, not "
                     "'%s'",
                     word);
}

bool nw_phases_are_on(void)
{
    return phases_by_level || phases_span_ns;
}

void nw_phases_level(int level)
{
    if (phases_by_level && level > 0)
        set_phase((uint64_t)level);
}

void nw_phases_time(uint64_t now_ns)
{
    if (phases_span_ns)
        set_phase((now_ns - phases_begun_ns) / phases_span_ns + 1);
}
