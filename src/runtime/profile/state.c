/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether calls are recorded now, and the communicator of all ranks. */
#include "runtime/profile/profile.h"

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
