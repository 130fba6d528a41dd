/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that a rank is bound only to CPUs that its job was given. The latter
 * are taken from the affinity mask of the launcher's process, because the
 * launcher itself sets the rank's mask. Cpusets need no check, since the kernel
 * enforces them. */
#include <nodewise/launch.h>

#include "base/cpus.h"
#include "base/process.h"
#include "base/status.h"

#include <unistd.h>

#define GENERATIONS 16
#define LIST_MOST 180 /* maximum bytes of a list of CPUs in a message */

/* Returns the launcher's process: the nearest ancestor in another process
 * group; 0 if none of the nearest GENERATIONS ancestors is. Launchers give each
 * rank a process group of its own. Scripts around the program are in this
 * group, too, and may be bound like the rank, so they do not count. */
static pid_t find_starter(void)
{
    pid_t at = getpid(), group = getpgid(0);

    for (int i = 0; i < GENERATIONS && at > 0 && getpgid(at) == group; i++)
        at = at == getpid() ? getppid() : nw_process_parent(at, NULL);
    return at > 0 && getpgid(at) != group ? at : 0;
}

static bool affinity_check_contains(const unsigned long *cpus,
                                    const unsigned long *part)
{
    for (int i = 0; i < NW_CPU_WORDS; i++)
        if (part[i] & ~cpus[i])
            return false;
    return true;
}

nw_status nw_launch_check_cores(void)
{
    unsigned long own[NW_CPU_WORDS], given[NW_CPU_WORDS];
    struct nw_text mine = {0}, theirs = {0};
    pid_t starter = find_starter();
    nw_status status;

    if (starter <= 1 || !nw_cpus_read(0, own) ||
        !nw_cpus_read(starter, given) || affinity_check_contains(given, own))
        return NW_OK;
    nw_cpus_list(own, NW_CPU_WORDS, LIST_MOST, &mine);
    nw_cpus_list(given, NW_CPU_WORDS, LIST_MOST, &theirs);
    status = nw_fail(NW_ENODEV,
                     "bound to CPUs %s as the mapping says, but the launcher "
                     "was started on CPUs %s (taskset, a batch system)",
                     mine.data, theirs.data);
    nw_text_fini(&mine);
    nw_text_fini(&theirs);
    return status;
}
