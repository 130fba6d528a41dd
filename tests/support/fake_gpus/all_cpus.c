/* SPDX-License-Identifier: BSD-3-Clause */
/* A library to preload, with which a process may use all CPUs, however many the
 * machine has. With it, a recorded machine passes for this one
 * (HWLOC_THISSYSTEM=1) and keeps all its cores. */
#include <sched.h>
#include <string.h>

__attribute__((visibility("default"))) int
sched_getaffinity(pid_t process, size_t size, cpu_set_t *set)
{
    (void)process;
    memset(set, 0xff, size);
    return 0;
}
