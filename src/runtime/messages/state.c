/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings made in MPI_Init, and the GPU driver. All other files of this
 * folder may use this file; it uses none of them. */
#include "runtime/messages/staging.h"

#include "base/text.h"
#include "gpu/gpu.h"
#include "runtime/warn.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

bool nw_messaging, nw_threaded, nw_direct;
enum nw_algorithm_call nw_algorithm_call;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static nw_status opened;

static void messages_state_open_gpu(void)
{
    int32_t count;

    opened = nw_gpu_cuda.open(&count);
}

nw_status nw_messages_open_gpu(void)
{
    (void)pthread_once(&once, messages_state_open_gpu);
    return opened;
}

uint64_t nw_messages_setting(const char *name, uint64_t unit, uint64_t standard,
                             uint64_t least, uint64_t most)
{
    const char *word = getenv(name);
    uint64_t value = standard;
    bool fits;

    if (!word || !*word)
        return standard;
    fits = nw_parse_u64(word, &value);
    if (unit && fits) {
        fits = value <= most / unit;
        value *= unit;
    } else if (unit) {
        fits = nw_parse_size(word, &value);
    }
    if (fits && value >= least && value <= most)
        return value;
    nw_warn_once("%s=%s is not a %s from %" PRIu64 " to %" PRIu64 "%s", name,
                 word, unit ? "size" : "number", least, most,
                 unit ? " bytes" : "");
    return standard;
}
