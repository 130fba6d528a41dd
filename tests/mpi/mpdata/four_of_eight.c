/* SPDX-License-Identifier: BSD-3-Clause */
/* A preloaded library that simulates a machine of 8 cores with a process that
 * is bound to 4 of them. */
#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set)
{
    (void)process;
    CPU_ZERO_S(bytes, set);
    for (size_t core = 4; core < 8; core++)
        CPU_SET_S(core, bytes, set);
    return 0;
}

long sysconf(int name)
{
    long (*real)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");

    return name == _SC_NPROCESSORS_ONLN ? 8 : real(name);
}
