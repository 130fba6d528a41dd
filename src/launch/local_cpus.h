/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the CPUs and devices of this machine from the kernel's files, without
 * hwloc. They are needed to convert a mapping's logical numbers into those of
 * the operating system. Sets of CPUs are those of base/cpus.h. */
#ifndef NW_LAUNCH_LOCAL_CPUS_H
#define NW_LAUNCH_LOCAL_CPUS_H

#include <nodewise/status.h>

#include <stddef.h>
#include <stdint.h>

/* The CPUs that nw_local_cpus_read was allowed to read, in hwloc's logical
 * order. Core c has the CPUs cpu[first[c]] to cpu[first[c + 1] - 1]. */
struct nw_local_cpus {
    int32_t cpu_count, core_count;
    int32_t *cpu; /* [cpu_count] numbers of the CPUs */
    /* [core_count + 1] index in `cpu` of each core's first CPU */
    int32_t *first;
};

/* Reads the CPUs of the set `allowed`, with NW_CPU_WORDS words, from the files
 * below `root` ("/sys"). Returns NW_EUNSUPPORTED if these files do not list the
 * CPUs of the packages. */
NW_MUST_CHECK nw_status nw_local_cpus_read(const char *root,
                                           const unsigned long *allowed,
                                           struct nw_local_cpus *out);
void nw_local_cpus_fini(struct nw_local_cpus *here);

/* Marks in *out the NUMA nodes that have memory and any of the CPUs. Returns
 * the number of nodes that it has marked, and sets *count to the number of the
 * machine's NUMA nodes with memory. Both are 0 if the kernel does not list
 * these nodes. Nodes from NW_NUMA_LIMIT on are ignored. */
#define NW_NUMA_LIMIT 1024
struct nw_numa_set {
    unsigned long bits[NW_NUMA_LIMIT / (8 * sizeof(unsigned long))];
};
int32_t nw_local_cpus_numa(const char *root, const unsigned long *cpus,
                           struct nw_numa_set *out, int32_t *count);

/* Sets `out` to the name of the NIC number `index`, counted from 0 in the order
 * of PCI addresses. Only devices in the kernel's class infiniband are counted
 * if it has any; otherwise, network interfaces. Virtual functions and
 * interfaces without a PCI address are not counted. Returns NW_ENODEV if the
 * number is negative or too large. */
NW_MUST_CHECK nw_status nw_local_cpus_nic(const char *root, int32_t index,
                                          char *out, size_t size);
/* Counts the GPUs of the first vendor that has GPUs here, in the order NVIDIA,
 * AMD, Intel. Returns 0 if no vendor has. `root` precedes "/proc" and "/sys",
 * so it is "" for this machine. */
int32_t nw_local_cpus_gpu_count(const char *root);

#endif
