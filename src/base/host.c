/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/host.h"

#include "base/hash.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

void nw_host_boot(char boot[64])
{
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    memset(boot, 0, 64);
    if (file >= 0) {
        if (read(file, boot, 63) < 0)
            boot[0] = '\0';
        (void)close(file);
    }
    boot[strcspn(boot, "\n")] = '\0';
}

void nw_host_pid_space(char space[48])
{
    memset(space, 0, 48);
    if (readlink("/proc/self/ns/pid", space, 47) < 0)
        space[0] = '\0';
}

void nw_host_numbers(int number[2])
{
    char name[256] = "", boot[64];
    uint64_t hash;

    nw_host_boot(boot);
    (void)gethostname(name, sizeof name - 1);
    hash = nw_hash_text(nw_hash_text(NW_HASH_START, boot), name);
    number[0] = (int)(hash & INT_MAX);
    number[1] = (int)(hash >> 32 & INT_MAX);
}
