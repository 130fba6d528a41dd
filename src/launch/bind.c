/* SPDX-License-Identifier: BSD-3-Clause */
/* Binds a rank to its cores and to the memory near them. Converts the mapping's
 * logical numbers into those of the operating system, and then asks the kernel
 * whether the binding is in effect. */
#include <nodewise/launch.h>

#include "base/cpus.h"
#include "base/status.h"
#include "launch/local_cpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

nw_status nw_launch_machine(const struct nw_topology_options *options,
                            nw_topology **out)
{
    unsigned long all[NW_CPU_WORDS], old[NW_CPU_WORDS];
    bool known = nw_cpus_read(0, old);
    nw_status status;

    /* The live topology contains only CPUs to which this process is bound. So
     * the process is bound to all CPUs while hwloc reads the topology. The
     * kernel removes CPUs that the batch system forbids. */
    memset(all, 0xff, sizeof all);
    (void)nw_cpus_bind(all);
    status = nw_topology_load("live", options, out);
    if (known)
        (void)nw_cpus_bind(old);
    return status;
}

/* Adds the CPUs of the cores, by hwloc's numbers, to `wanted`. Fails if a core
 * does not exist or its CPUs are unknown. */
static nw_status bind_collect(const nw_topology *machine, struct nw_ints cores,
                              unsigned long *wanted)
{
    struct nw_range here = nw_topology_node_elements(machine, 0);

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
            nw_cpus_add(wanted, cpus[c]);
    }
    return NW_OK;
}

static nw_status set_and_check(const unsigned long *wanted)
{
    unsigned long old[NW_CPU_WORDS], now[NW_CPU_WORDS];

    if (!nw_cpus_read(0, old))
        return nw_fail(NW_EUNSUPPORTED, "binding is not possible here: %s",
                       strerror(errno));
    if (!nw_cpus_bind(wanted))
        return nw_fail(NW_ENODEV, "the kernel refuses the cores: %s",
                       strerror(errno));
    /* the kernel silently removes CPUs that this process may not use */
    if (!nw_cpus_read(0, now) || memcmp(wanted, now, sizeof now)) {
        (void)nw_cpus_bind(old);
        return nw_fail(NW_ENODEV, "some of the cores may not be used by this "
                                  "process");
    }
    return NW_OK;
}

nw_status nw_launch_bind(const nw_topology *machine, const nw_mapping *mapping,
                         int32_t rank)
{
    unsigned long wanted[NW_CPU_WORDS] = {0};
    nw_status status =
        bind_collect(machine, nw_mapping_cores(mapping, rank), wanted);

    return status ? status : set_and_check(wanted);
}

/* Returns true if a variable of hwloc is set that can describe another machine.
 */
static bool hwloc_is_told(void)
{
    return getenv("HWLOC_XMLFILE") || getenv("HWLOC_SYNTHETIC") ||
           getenv("HWLOC_FSROOT");
}

/* Adds the CPUs of the cores (or hardware threads), by the kernel's files, to
 * `wanted`. Fails if a core does not exist. */
static nw_status collect_here(const struct nw_local_cpus *here,
                              struct nw_ints cores, enum nw_elements elements,
                              unsigned long *wanted)
{
    int32_t count =
        elements == NW_ELEMENTS_PU ? here->cpu_count : here->core_count;

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
            nw_cpus_add(wanted, here->cpu[from]);
    }
    return NW_OK;
}

/* Binds the calling thread to all CPUs and reads back the CPUs that the kernel
 * allows. The caller then binds the thread to its cores or, on failure,
 * restores the old binding from `old`. */
static nw_status bind_widen(unsigned long *old, unsigned long *allowed)
{
    if (!nw_cpus_read(0, old))
        return nw_fail(NW_EUNSUPPORTED, "binding is not possible here: %s",
                       strerror(errno));
    memset(allowed, 0xff, NW_CPU_WORDS * sizeof *allowed);
    (void)nw_cpus_bind(allowed);
    if (!nw_cpus_read(0, allowed))
        memcpy(allowed, old, NW_CPU_WORDS * sizeof *allowed);
    return NW_OK;
}

static nw_status bind_here(const nw_mapping *mapping, int32_t rank,
                           enum nw_elements elements)
{
    unsigned long old[NW_CPU_WORDS], allowed[NW_CPU_WORDS],
        wanted[NW_CPU_WORDS] = {0};
    struct nw_local_cpus here = {0};
    nw_status status = bind_widen(old, allowed);

    if (status)
        return status;
    status = nw_local_cpus_read("/sys", allowed, &here);
    if (!status)
        status = collect_here(&here, nw_mapping_cores(mapping, rank), elements,
                              wanted);
    if (!status)
        status = set_and_check(wanted);
    if (status)
        (void)nw_cpus_bind(old);
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
    unsigned long cpus[NW_CPU_WORDS];
    struct nw_numa_set nodes;
    int32_t found, count;
    long answer;

    if (how == NW_MEMORY_LEAVE || !nw_cpus_read(0, cpus))
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
