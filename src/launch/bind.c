/* SPDX-License-Identifier: BSD-3-Clause */
/* Binds a rank to its cores and to the memory near them. Converts the mapping's
 * logical numbers into those of the operating system, and then asks the kernel
 * whether the binding is in effect. */
#include <nodewise/launch.h>

#include "base/status.h"
#include "launch/local_cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

nw_status nw_launch_machine(const struct nw_topology_options *options,
                            nw_topology **out)
{
    size_t size = NW_CPU_BYTES;
    cpu_set_t *all = CPU_ALLOC(NW_CPU_LIMIT), *old = CPU_ALLOC(NW_CPU_LIMIT);
    nw_status status;

    if (!all || !old) {
        status = nw_fail(NW_ENOMEM, "out of memory for a set of cores");
        goto out;
    }
    /* The live topology contains only CPUs to which this process is bound. So
     * the process is bound to all CPUs while hwloc reads the topology. The
     * kernel removes CPUs that the batch system forbids. */
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

static nw_status bind_collect(const nw_topology *machine, struct nw_ints cores,
                              cpu_set_t *set)
{
    struct nw_range here = nw_topology_node_elements(machine, 0);

    CPU_ZERO_S(NW_CPU_BYTES, set);
    for (size_t i = 0; i < cores.count; i++) {
        int32_t core = cores.values[i];
        const int32_t *cpus;
        size_t count;

        if (core < 0 || core >= here.count)
            return nw_fail(NW_ENODEV,
                           "core %d is not here: this process may be given "
                           "cores 0 to %d",
                           core, here.count - 1);
        count = nw_topology_element_cpus(machine, here.first + core, &cpus);
        if (!count)
            return nw_fail(NW_ENODEV,
                           "the operating system's number of core %d is not "
                           "known",
                           core);
        for (size_t c = 0; c < count; c++)
            CPU_SET_S((size_t)cpus[c], NW_CPU_BYTES, set);
    }
    return NW_OK;
}

static nw_status set_and_check(const cpu_set_t *wanted, cpu_set_t *old,
                               cpu_set_t *now)
{
    size_t size = NW_CPU_BYTES;

    if (sched_getaffinity(0, size, old) < 0)
        return nw_fail(NW_EUNSUPPORTED, "binding is not possible here: %s",
                       strerror(errno));
    if (sched_setaffinity(0, size, wanted) < 0)
        return nw_fail(NW_ENODEV, "the kernel refuses the cores: %s",
                       strerror(errno));
    /* the kernel silently removes CPUs that this process may not use */
    CPU_ZERO_S(size, now);
    if (sched_getaffinity(0, size, now) < 0 ||
        !CPU_EQUAL_S(size, wanted, now)) {
        (void)sched_setaffinity(0, size, old);
        return nw_fail(NW_ENODEV, "some of the cores may not be used by this "
                                  "process");
    }
    return NW_OK;
}

nw_status nw_launch_bind(const nw_topology *machine, const nw_mapping *mapping,
                         int32_t rank)
{
    cpu_set_t *wanted = CPU_ALLOC(NW_CPU_LIMIT), *old = CPU_ALLOC(NW_CPU_LIMIT),
              *now = CPU_ALLOC(NW_CPU_LIMIT);
    nw_status status;

    if (!wanted || !old || !now)
        status = nw_fail(NW_ENOMEM, "out of memory for a set of cores");
    else
        status = bind_collect(machine, nw_mapping_cores(mapping, rank), wanted);
    if (!status)
        status = set_and_check(wanted, old, now);
    CPU_FREE(wanted);
    CPU_FREE(old);
    CPU_FREE(now);
    return status;
}

/* Returns true if hwloc's environment variables describe another machine. */
static bool hwloc_is_told(void)
{
    return getenv("HWLOC_XMLFILE") || getenv("HWLOC_SYNTHETIC") ||
           getenv("HWLOC_FSROOT");
}

static nw_status collect_here(const struct nw_local_cpus *here,
                              struct nw_ints cores, enum nw_elements elements,
                              cpu_set_t *wanted)
{
    int32_t count =
        elements == NW_ELEMENTS_PU ? here->cpu_count : here->core_count;

    CPU_ZERO_S(NW_CPU_BYTES, wanted);
    for (size_t i = 0; i < cores.count; i++) {
        int32_t core = cores.values[i], from = core, to = core + 1;

        if (core < 0 || core >= count)
            return nw_fail(NW_ENODEV,
                           "core %d is not here: this process may be given "
                           "cores 0 to %d",
                           core, count - 1);
        if (elements == NW_ELEMENTS_CORE) {
            from = here->first[core];
            to = here->first[core + 1];
        }
        for (; from < to; from++)
            CPU_SET_S((size_t)here->cpu[from], NW_CPU_BYTES, wanted);
    }
    return NW_OK;
}

/* Binds this process to all CPUs and reads back the CPUs that the kernel
 * allows. The caller must restore the old binding from `old`. */
static nw_status bind_widen(cpu_set_t *old, cpu_set_t *allowed)
{
    if (sched_getaffinity(0, NW_CPU_BYTES, old) < 0)
        return nw_fail(NW_EUNSUPPORTED, "binding is not possible here: %s",
                       strerror(errno));
    memset(allowed, 0xff, NW_CPU_BYTES);
    (void)sched_setaffinity(0, NW_CPU_BYTES, allowed);
    CPU_ZERO_S(NW_CPU_BYTES, allowed);
    if (sched_getaffinity(0, NW_CPU_BYTES, allowed) < 0)
        memcpy(allowed, old, NW_CPU_BYTES);
    return NW_OK;
}

static nw_status bind_here(const nw_mapping *mapping, int32_t rank,
                           enum nw_elements elements)
{
    static _Alignas(cpu_set_t) char room[4][NW_CPU_BYTES];
    cpu_set_t *old = (cpu_set_t *)room[0], *allowed = (cpu_set_t *)room[1],
              *wanted = (cpu_set_t *)room[2], *now = (cpu_set_t *)room[3];
    struct nw_local_cpus here = {0};
    nw_status status = bind_widen(old, allowed);

    if (status)
        return status;
    status = nw_local_cpus_read("/sys", allowed, &here);
    if (!status)
        status = collect_here(&here, nw_mapping_cores(mapping, rank), elements,
                              wanted);
    if (!status)
        status = set_and_check(wanted, allowed, now);
    if (status)
        (void)sched_setaffinity(0, NW_CPU_BYTES, old);
    nw_local_cpus_fini(&here);
    return status;
}

nw_status nw_launch_bind_cores(const nw_mapping *mapping, int32_t rank,
                               enum nw_elements elements)
{
    struct nw_topology_options options = NW_TOPOLOGY_OPTIONS_INIT;
    nw_topology *machine = NULL;
    nw_status status =
        hwloc_is_told() ? NW_EUNSUPPORTED : bind_here(mapping, rank, elements);

    if (status != NW_EUNSUPPORTED)
        return status;
    options.elements = elements;
    status = nw_launch_machine(&options, &machine);
    if (!status)
        status = nw_launch_bind(machine, mapping, rank);
    nw_topology_free(machine);
    return status;
}

/* Policy numbers of the system call set_mempolicy. They are defined here so
 * that libnuma's header is not needed. */
enum { POLICY_PREFERRED = 1, POLICY_BIND = 2, POLICY_PREFERRED_MANY = 5 };

static long set_policy(int policy, const struct nw_numa_set *nodes)
{
    return syscall(SYS_set_mempolicy, policy, nodes->bits,
                   (unsigned long)NW_NUMA_LIMIT);
}

nw_status nw_launch_bind_memory(enum nw_memory_binding how)
{
    static _Alignas(cpu_set_t) char room[NW_CPU_BYTES];
    cpu_set_t *cpus = (cpu_set_t *)room;
    struct nw_numa_set nodes;
    int32_t found, count;
    long answer;

    if (how == NW_MEMORY_LEAVE || sched_getaffinity(0, NW_CPU_BYTES, cpus) < 0)
        return NW_OK;
    found = nw_local_cpus_numa("/sys", cpus, &nodes, &count);
    /* if no memory is near the cores, the kernel's default policy is right */
    if (!found)
        return NW_OK;
    answer = set_policy(
        how == NW_MEMORY_BIND ? POLICY_BIND : POLICY_PREFERRED_MANY, &nodes);
    if (answer && how == NW_MEMORY_PREFER && found == 1)
        /* before Linux 5.15, only one node can be preferred */
        answer = set_policy(POLICY_PREFERRED, &nodes);
    if (answer && count > 1)
        return nw_fail(NW_EUNSUPPORTED,
                       "memory cannot be bound to its NUMA nodes: %s",
                       strerror(errno));
    return NW_OK;
}
