/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies from a GPU to host memory by the NIC. For each size class, the NIC's
 * time is compared with the faster of driver and CPU (copy_path.c). Loading
 * libfabric takes as long as the NIC saves in some hundred thousand small
 * messages. So libfabric is loaded only after this number of messages, and only
 * if NODEWISE_GPU_MESSAGES is set. With NODEWISE_CHANNEL_COPY=loopback, it is
 * loaded at once.
 */
#include "runtime/messages/nic_read.h"

#include "base/selector.h"
#include "channel/memory/nic_loopback.h"
#include "runtime/rank0_environment.h"
#include "runtime/messages/staging.h"

#include <string.h>

enum { CLASSES = 17, FIRST = 16, AFTER = 1 << 18, REFUSALS = 32, CLEARLY = 12 };

static bool wanted, forced;
static uint64_t after; /* further messages before libfabric is loaded */
static struct nw_loopback *loopback;
static struct nw_selector selectors[CLASSES];
static uint32_t first[CLASSES]; /* number of copies per size class so far, up to
                                   FIRST; the NIC makes none of these */
static bool taken_up[CLASSES];
static int refusals;

void nw_nic_read_start(const char *copy)
{
    const char *asked = nw_rank0_environment_variable("NODEWISE_GPU_MESSAGES");
    bool any = !copy || !*copy || !strcmp(copy, "auto");

    forced = copy && !strcmp(copy, "loopback");
    wanted = forced || (any && asked);
    after = nw_messages_setting("NODEWISE_GPU_ADAPTER_AFTER", 0, AFTER, 0,
                                UINT64_MAX);
}

static int nic_read_class_of(const struct nw_path_copy *descriptor)
{
    return nw_selector_class(descriptor->bytes, CLASSES);
}

bool nw_nic_read_may(const struct nw_path_copy *descriptor)
{
    return descriptor->out && __atomic_load_n(&wanted, __ATOMIC_RELAXED) &&
           descriptor->bytes <= NW_LOOPBACK_BYTES;
}

static void nic_read_stop(void)
{
    __atomic_store_n(&wanted, false, __ATOMIC_RELAXED);
    nw_loopback_close(loopback);
    loopback = NULL;
}

/* Returns true if the NIC is used for a size class. better: the selector has
 * picked the NIC for the present copy. The NIC is adopted when it is at least
 * 1/12 faster, and dropped when it is less than 1/20 faster. These margins are
 * needed because the times do not include the work around a message. */
static bool nic_read_leads(int class, bool better)
{
    taken_up[class] = better && (taken_up[class] ||
                                 nw_selector_leads(&selectors[class], CLEARLY));
    return taken_up[class];
}

bool nw_nic_read_pick(const struct nw_path_copy *descriptor, bool *timed)
{
    int class = nic_read_class_of(descriptor);
    bool better;

    if (!nw_nic_read_may(descriptor) ||
        (!forced && (nw_selector_is_hopeless(selectors, class) ||
                     (first[class] < FIRST && ++first[class]))))
        return false;
    if (!loopback && !forced && after && after--)
        return false;
    if (!loopback && nw_loopback_open(&loopback)) {
        nic_read_stop();
        return false;
    }
    if (forced)
        return true;
    better = nw_selector_pick(&selectors[class], timed);
    return *timed ? better : nic_read_leads(class, better);
}

void nw_nic_read_took(const struct nw_path_copy *descriptor, bool pulled,
                      uint64_t ns)
{
    nw_selector_took(&selectors[nic_read_class_of(descriptor)], pulled, ns);
}

bool nw_nic_read_move(const struct nw_path_copy *descriptor)
{
    const struct nw_pointer *owner = descriptor->owner;
    struct nw_memory_range range = {(void *)owner->start, owner->bytes,
                                    owner->id};
    bool moved =
        !nw_loopback_out(loopback, descriptor->host, descriptor->device,
                         descriptor->bytes, &range);

    if (!moved && (nw_loopback_hangs(loopback) || ++refusals == REFUSALS))
        nic_read_stop();
    return moved;
}

void nw_nic_read_close(void)
{
    nic_read_stop();
    memset(selectors, 0, sizeof selectors);
    memset(first, 0, sizeof first);
    memset(taken_up, 0, sizeof taken_up);
}
