/* SPDX-License-Identifier: BSD-3-Clause */
/* This machine as the kernel's files tell it: just enough to turn a mapping's
 * logical numbers into the operating system's, without hwloc. */
#ifndef NW_LAUNCH_LOCAL_CPUS_H
#define NW_LAUNCH_LOCAL_CPUS_H

#include <nodewise/status.h>

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#define NW_CPU_LIMIT 16384 /* more than any kernel is built for */
#define NW_CPU_BYTES (NW_CPU_LIMIT / 8)

/* The allowed CPUs in hwloc's logical order: core c has the CPUs from
 * first[c] up to first[c + 1]. */
struct nw_local_cpus {
    int32_t cpu_count, core_count;
    int32_t *cpu;   /* [cpu_count] */
    int32_t *first; /* [core_count + 1] */
};

/* `root` is "/sys"; `allowed` has NW_CPU_BYTES. NW_EUNSUPPORTED where the
 * files are not there. */
NW_MUST_CHECK nw_status nw_local_cpus_read(const char *root,
                                           const cpu_set_t *allowed,
                                           struct nw_local_cpus *out);
void nw_local_cpus_fini(struct nw_local_cpus *here);

/* Marks the NUMA nodes with memory that `cpus` belong to. Returns how many
 * there are; `count` is that of the machine. */
#define NW_NUMA_LIMIT 1024
struct nw_numa_set {
    unsigned long bits[NW_NUMA_LIMIT / (8 * sizeof(unsigned long))];
};
int32_t nw_local_cpus_numa(const char *root, const cpu_set_t *cpus,
                           struct nw_numa_set *out, int32_t *count);

/* The name of network card number `index`, in PCI order: fabric adapters where
 * there are any, else network interfaces of PCI devices. NW_ENODEV. */
NW_MUST_CHECK nw_status nw_local_cpus_nic(const char *root, int32_t index,
                                          char *out, size_t size);
/* How many GPUs the drivers of NVIDIA, else AMD, else Intel know; 0 where none
 * does. `root` is "" for this machine. */
int32_t nw_local_cpus_gpu_count(const char *root);

#endif
