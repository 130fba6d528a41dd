/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of CPUs on machines of any size. The kernel refuses to write the CPUs of
 * a process to libc's cpu_set_t if the machine may have more than 1,024 CPUs.
 * So a set is an array of NW_CPU_WORDS words, in the kernel's form. Bitmaps of
 * hwloc are not used, because they need libhwloc, which takes long to load.
 * Nodewise loads it only to read a topology, and nodewise exec, which runs
 * before every rank, does not load it. */
#ifndef NW_BASE_CPUS_H
#define NW_BASE_CPUS_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NW_CPU_LIMIT 16384 /* more CPUs than any Linux kernel supports */
#define NW_CPU_WORD ((int)(8 * sizeof(unsigned long)))
#define NW_CPU_WORDS (NW_CPU_LIMIT / NW_CPU_WORD)

/* Reads the CPUs that the main thread of a process may use; process 0 stands
 * for the calling thread. Returns the number of words up to the last CPU.
 * Returns 0, with an empty set and errno, if the kernel does not report them.
 */
int nw_cpus_read(pid_t process, unsigned long *cpus);
/* Binds the calling thread to the CPUs. Returns false, with errno, if the
 * kernel refuses. The kernel silently leaves out CPUs that the thread may not
 * use. */
bool nw_cpus_bind(const unsigned long *cpus);
/* Counts the CPUs in the first `words` words of a set. */
int nw_cpus_count(const unsigned long *cpus, int words);
/* Appends a list such as "0-3,8" of the CPUs in the first `words` words of a
 * set. The list ends with ",..." once it has more than `most` bytes. */
void nw_cpus_list(const unsigned long *cpus, int words, size_t most,
                  struct nw_text *text);

/* Returns true if a set of `words` words contains the CPU; `cpu` may be any
 * number. */
static inline bool nw_cpus_has(const unsigned long *cpus, int words,
                               int32_t cpu)
{
    return cpu >= 0 && cpu < words * NW_CPU_WORD &&
           cpus[cpu / NW_CPU_WORD] >> cpu % NW_CPU_WORD & 1;
}

/* Adds a CPU to a set of NW_CPU_WORDS words, unless the number is too large. */
static inline void nw_cpus_add(unsigned long *cpus, int32_t cpu)
{
    if (cpu >= 0 && cpu < NW_CPU_LIMIT)
        cpus[cpu / NW_CPU_WORD] |= 1ul << cpu % NW_CPU_WORD;
}

#endif
