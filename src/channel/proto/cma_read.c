/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the memory of another process of this host. */
#include "channel/proto/cma.h"

#include <sys/uio.h>

enum { MOST = 1 << 30 }; /* largest number of bytes per system call */

bool nw_cma_read(const struct nw_peer *peer, uint64_t address, void *to,
                 size_t bytes)
{
    uint64_t nonce = 0;
    char *at = to;

    do {
        size_t part = bytes < MOST ? bytes : MOST;
        struct iovec here[] = {{&nonce, sizeof nonce}, {at, part}};
        struct iovec there[] = {
            {(void *)(uintptr_t)peer->nonce_at, sizeof nonce},
            {(void *)(uintptr_t)address, part}};
        ssize_t n = process_vm_readv(peer->pid, here, 2, there, 2, 0);

        if (n < (ssize_t)sizeof nonce || nonce != peer->nonce)
            return false;
        part = (size_t)n - sizeof nonce;
        if (bytes && !part)
            return false;
        at += part;
        address += part;
        bytes -= part;
    } while (bytes);
    return true;
}
