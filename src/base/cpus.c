/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/cpus.h"

#include <sched.h>
#include <string.h>

#define BYTES (NW_CPU_LIMIT / 8)

int nw_cpus_read(pid_t process, unsigned long *cpus)
{
    int words = NW_CPU_WORDS;

    memset(cpus, 0, BYTES);
    if (sched_getaffinity(process, BYTES, (cpu_set_t *)cpus))
        return 0;
    while (words && !cpus[words - 1])
        words--;
    return words;
}

bool nw_cpus_bind(const unsigned long *cpus)
{
    return !sched_setaffinity(0, BYTES, (const cpu_set_t *)cpus);
}

int nw_cpus_count(const unsigned long *cpus, int words)
{
    int count = 0;

    for (int i = 0; i < words; i++)
        count += __builtin_popcountl(cpus[i]);
    return count;
}

void nw_cpus_list(const unsigned long *cpus, int words, size_t most,
                  struct nw_text *text)
{
    size_t start = text->length;

    for (int first = 0, last; first < words * NW_CPU_WORD; first = last + 1) {
        const char *comma = text->length > start ? "," : "";

        last = first;
        if (!nw_cpus_has(cpus, words, first))
            continue;
        if (text->length - start > most) {
            nw_text_add(text, ",...");
            return;
        }
        while (nw_cpus_has(cpus, words, last + 1))
            last++;
        nw_text_format(text, last > first ? "%s%d-%d" : "%s%d", comma, first,
                       last);
    }
}
