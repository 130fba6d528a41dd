/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whether the CPU can read memory, by a system call, since a fault would
 * end the process. */
#ifndef NW_BASE_READABLE_H
#define NW_BASE_READABLE_H

#include <errno.h>
#include <stdbool.h>
#include <sys/uio.h>
#include <unistd.h>

/* Returns true if the CPU cannot read the byte at `memory`. */
static inline bool nw_is_out_of_reach(const void *memory)
{
    char byte;
    struct iovec to = {&byte, 1}, from = {(void *)memory, 1};

    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) < 0 &&
           errno == EFAULT;
}

#endif
