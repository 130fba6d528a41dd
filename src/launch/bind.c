/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank takes its cores: logical numbers of the mapping become the operating
 * system's, and the kernel is asked whether it really did as told. */
#include <nodewise/launch.h>

#include "base/status.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define CPU_LIMIT 16384 /* more than any kernel is built for */

nw_status nw_launch_machine(const struct nw_topology_options *options,
                            nw_topology **out)
{
    size_t size = CPU_ALLOC_SIZE(CPU_LIMIT);
    cpu_set_t *all = CPU_ALLOC(CPU_LIMIT), *old = CPU_ALLOC(CPU_LIMIT);
    nw_status status;

    if (!all || !old) {
        status = nw_fail(NW_ENOMEM, "out of memory for a set of cores");
        goto out;
    }
    /* the live topology leaves out what the process is not bound to; the
     * kernel leaves out of `all` what the batch system forbids */
    memset(all, 0xff, size);
    if (sched_getaffinity(0, size, old) < 0)
        CPU_ZERO_S(size, old);
    (void)sched_setaffinity(0, size, all);
    status = nw_topology_load("live", options, out);
    if (CPU_COUNT_S(size, old))
        (void)sched_setaffinity(0, size, old);
out:
    CPU_FREE(all);
    CPU_FREE(old);
    return status;
}

static nw_status collect(const nw_topology *machine, struct nw_ints cores,
                         cpu_set_t *set)
{
    struct nw_range here = nw_topology_node_elements(machine, 0);

    CPU_ZERO_S(CPU_ALLOC_SIZE(CPU_LIMIT), set);
    for (size_t i = 0; i < cores.count; i++) {
        int32_t core = cores.values[i];
        const int32_t *cpus;
        size_t count;

        if (core < 0 || core >= here.count)
            return nw_fail(NW_ENODEV,
                           "core %d is not here: this machine has cores 0 to "
                           "%d",
                           core, here.count - 1);
        count = nw_topology_element_cpus(machine, here.first + core, &cpus);
        if (!count)
            return nw_fail(NW_ENODEV,
                           "the operating system's number of core %d is not "
                           "known",
                           core);
        for (size_t c = 0; c < count; c++)
            CPU_SET_S((size_t)cpus[c], CPU_ALLOC_SIZE(CPU_LIMIT), set);
    }
    return NW_OK;
}

static nw_status set_and_check(const cpu_set_t *wish, cpu_set_t *old,
                               cpu_set_t *now)
{
    size_t size = CPU_ALLOC_SIZE(CPU_LIMIT);

    if (sched_getaffinity(0, size, old) < 0)
        return nw_fail(NW_EUNSUPPORTED, "binding is not possible here: %s",
                       strerror(errno));
    if (sched_setaffinity(0, size, wish) < 0)
        return nw_fail(NW_ENODEV, "the kernel refuses the cores: %s",
                       strerror(errno));
    /* the kernel silently leaves out what this process may not use */
    CPU_ZERO_S(size, now);
    if (sched_getaffinity(0, size, now) < 0 || !CPU_EQUAL_S(size, wish, now)) {
        (void)sched_setaffinity(0, size, old);
        return nw_fail(NW_ENODEV, "some of the cores may not be used by this "
                                  "process");
    }
    return NW_OK;
}

nw_status nw_launch_bind(const nw_topology *machine, const nw_mapping *mapping,
                         int32_t rank)
{
    cpu_set_t *wish = CPU_ALLOC(CPU_LIMIT), *old = CPU_ALLOC(CPU_LIMIT),
              *now = CPU_ALLOC(CPU_LIMIT);
    nw_status status;

    if (!wish || !old || !now)
        status = nw_fail(NW_ENOMEM, "out of memory for a set of cores");
    else
        status = collect(machine, nw_mapping_cores(mapping, rank), wish);
    if (!status)
        status = set_and_check(wish, old, now);
    CPU_FREE(wish);
    CPU_FREE(old);
    CPU_FREE(now);
    return status;
}
