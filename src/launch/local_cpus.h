/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the CPUs and devices of this machine from the kernel's files, without
 * hwloc. They are needed to convert a mapping's logical numbers into those of
 * the operating system. Sets of CPUs are those of base/cpus.h. */
#ifndef NW_LAUNCH_LOCAL_CPUS_H
#define NW_LAUNCH_LOCAL_CPUS_H

#include <nodewise/status.h>

#include <stddef.h>
#include <stdint.h>

/* The CPUs that this process may use, in hwloc's logical order. Core c has the
 * CPUs cpu[first[c]] to cpu[first[c + 1] - 1]. */
struct nw_local_cpus {
    int32_t cpu_count, core_count;
    int32_t *cpu; /* [cpu_count] numbers of the CPUs */
    /* [core_count + 1] index in `cpu` of each core's first CPU */
    int32_t *first;
};

/* Reads the CPUs below `root` ("/sys") that are in `allowed`. Returns
 * NW_EUNSUPPORTED if files are missing. */
NW_MUST_CHECK nw_status nw_local_cpus_read(const char *root,
                                           const unsigned long *allowed,
                                           struct nw_local_cpus *out);
void nw_local_cpus_fini(struct nw_local_cpus *here);

/* nw_local_cpus_numa marks in *out the NUMA nodes that have memory and any of
 * the CPUs. Returns the number of nodes that it has marked, and sets *count to
 * the number of the machine's NUMA nodes. */
#define NW_NUMA_LIMIT 1024
struct nw_numa_set {
    unsigned long bits[NW_NUMA_LIMIT / (8 * sizeof(unsigned long))];
};
int32_t nw_local_cpus_numa(const char *root, const unsigned long *cpus,
                           struct nw_numa_set *out, int32_t *count);

/* Sets `out` to the name of the NIC number `index` in the order of PCI
 * addresses. Only fabric adapters are counted if there are any; otherwise, all
 * network interfaces on PCI. Returns NW_ENODEV if the number is too large. */
NW_MUST_CHECK nw_status nw_local_cpus_nic(const char *root, int32_t index,
                                          char *out, size_t size);
/* Returns the number of GPUs of NVIDIA's driver; without it, of AMD's; without
 * both, of Intel's; 0 without all three. `root` is "" for this machine. */
int32_t nw_local_cpus_gpu_count(const char *root);

#endif
