/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether calls are recorded now, and the communicator of all ranks. */
#include "runtime/profile/profile.h"

#include "base/clock.h"

bool nw_active;
_Thread_local int nw_depth;
MPI_Comm nw_profile_comm;
static bool state_is_on = true; /* by MPI_Pcontrol */

void nw_profile_level(int level)
{
    __atomic_store_n(&state_is_on, level > 0, __ATOMIC_RELAXED);
}

bool nw_profile_is_on(void)
{
    return __atomic_load_n(&state_is_on, __ATOMIC_RELAXED);
}

/* A call inside another one, by a callback, is part of the outer one's time. */
uint64_t nw_call_begin(void)
{
    return nw_depth == 1 && nw_profile_is_on() ? nw_clock_ns() : 0;
}

void nw_call_end(uint64_t begun_ns, int id, const char *name)
{
    if (begun_ns)
        nw_count_add_time(id, name, nw_clock_ns() - begun_ns);
}
