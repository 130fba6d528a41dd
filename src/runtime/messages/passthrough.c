/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores for which sizes messages are staged although the MPI library accepts
 * GPU memory itself. */
#include "runtime/messages/passthrough.h"

#include "base/clock.h"
#include "base/selector.h"
#include "runtime/gpu_memory.h"

enum { WAIT_MS = 50 };

bool nw_passthrough;
static uint32_t ours; /* bit b: messages of more than 2^(b-1) and up to 2^b
                         bytes are staged */

void nw_passthrough_set(uint32_t classes)
{
    ours = classes;
}

bool nw_passthrough_is_ours(uint64_t bytes)
{
    return ours >> nw_selector_class(bytes, NW_PASSTHROUGH_CLASSES) & 1;
}

bool nw_passthrough_sees(const void *memory)
{
    uint64_t start = nw_clock_ns();

    while (!nw_gpu_holds(memory))
        if (nw_clock_ns() - start > (uint64_t)WAIT_MS * 1000000)
            return false;
    return true;
}
