/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that a rank is bound only to CPUs that its job was given. The latter
 * are taken from the affinity mask of the launcher's process, because the
 * launcher itself sets the rank's mask. Cpusets need no check, since the kernel
 * enforces them. */
#include <nodewise/launch.h>

#include "base/status.h"
#include "launch/local_cpus.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GENERATIONS 16

static pid_t affinity_check_parent_of(pid_t process)
{
    char path[40], line[512], *end;
    int parent = 0;
    FILE *file;

    if (process == getpid())
        return getppid();
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    file = fopen(path, "re");
    if (!file)
        return 0;
    /* the program's name may contain blanks and brackets, so search the last
     * bracket */
    if (fgets(line, sizeof line, file) && (end = strrchr(line, ')')) &&
        sscanf(end + 1, " %*c %d", &parent) != 1)
        parent = 0;
    fclose(file);
    return parent;
}

/* Returns the launcher's process: the nearest ancestor in another process
 * group; 0 if not found. Launchers give each rank a process group of its own.
 * Scripts around the program are in this group, too, and may be bound like the
 * rank, so they do not count. */
static pid_t find_starter(void)
{
    pid_t at = getpid(), group = getpgid(0);

    for (int i = 0; i < GENERATIONS && at > 0 && getpgid(at) == group; i++)
        at = affinity_check_parent_of(at);
    return at > 0 && getpgid(at) != group ? at : 0;
}

/* Writes a list of CPUs such as "0-3,8" to `out`. The list is shortened if it
 * does not fit. */
static void affinity_check_write_list(const cpu_set_t *cpus, char *out,
                                      size_t size)
{
    size_t length = 0;

    *out = '\0';
    for (size_t c = 0, from = 0; c <= NW_CPU_LIMIT; c++) {
        if (c < NW_CPU_LIMIT && CPU_ISSET_S(c, NW_CPU_BYTES, cpus))
            continue;
        if (c > from && length + 24 > size) {
            strcpy(out + length, ",...");
            return;
        }
        if (c > from)
            length += (size_t)sprintf(out + length,
                                      c - from > 1 ? "%s%zu-%zu" : "%s%zu",
                                      length ? "," : "", from, c - 1);
        from = c + 1;
    }
}

nw_status nw_launch_check_cores(void)
{
    static _Alignas(cpu_set_t) char room[3][NW_CPU_BYTES];
    cpu_set_t *own = (cpu_set_t *)room[0], *given = (cpu_set_t *)room[1],
              *both = (cpu_set_t *)room[2];
    pid_t starter = find_starter();
    char mine[200], theirs[200];

    if (starter <= 1 || sched_getaffinity(0, NW_CPU_BYTES, own) < 0 ||
        sched_getaffinity(starter, NW_CPU_BYTES, given) < 0)
        return NW_OK;
    CPU_AND_S(NW_CPU_BYTES, both, own, given);
    if (CPU_EQUAL_S(NW_CPU_BYTES, both, own))
        return NW_OK;
    affinity_check_write_list(own, mine, sizeof mine);
    affinity_check_write_list(given, theirs, sizeof theirs);
    return nw_fail(NW_ENODEV,
                   "bound to CPUs %s as the mapping says, but the launcher was "
                   "started on CPUs %s (taskset, a batch system)",
                   mine, theirs);
}
