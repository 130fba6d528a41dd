/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the CPU can read memory. Asked of the kernel: a fault would kill us.
 */
#ifndef NW_BASE_READABLE_H
#define NW_BASE_READABLE_H

#include <errno.h>
#include <stdbool.h>
#include <sys/uio.h>
#include <unistd.h>

static inline bool nw_is_out_of_reach(const void *memory)
{
    char byte;
    struct iovec to = {&byte, 1}, from = {(void *)memory, 1};

    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) < 0 &&
           errno == EFAULT;
}

#endif
