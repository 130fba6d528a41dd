/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps whether calls are recorded at present, and a communicator of all ranks.
 */
#include "runtime/profile/profile.h"

#include "base/clock.h"
#include "runtime/profile/phases.h"

bool nw_active;
_Thread_local int nw_depth;
MPI_Comm nw_profile_comm;
static bool state_is_on = true; /* switched by MPI_Pcontrol */

void nw_profile_level(int level)
{
    nw_phases_level(level);
    __atomic_store_n(&state_is_on, level > 0, __ATOMIC_RELAXED);
}

bool nw_profile_is_on(void)
{
    return __atomic_load_n(&state_is_on, __ATOMIC_RELAXED);
}

/* Measures only the outermost call. Otherwise a call inside another call, made
 * by a callback, would be measured twice. */
uint64_t nw_call_begin(void)
{
    uint64_t now_ns;

    if (nw_depth != 1 || !nw_profile_is_on())
        return 0;
    now_ns = nw_clock_ns();
    nw_phases_time(now_ns);
    return now_ns;
}

void nw_call_end(uint64_t begun_ns, int id, const char *name)
{
    if (begun_ns)
        nw_count_add_time(id, name, nw_clock_ns() - begun_ns);
}
