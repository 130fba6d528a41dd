/* SPDX-License-Identifier: BSD-3-Clause */
/* GPU memory that the CPU and the adapter reach, played by the tests' double
 * of the CUDA driver: correct always, and as slow as the real thing where its
 * costs are switched on. Figures made so are to be called emulated. */
#include "channel/mapping.h"
#include "channel/memory.h"

#include "base/library.h"
#include "base/status.h"

static struct {
    int (*map)(uint64_t gpu, size_t bytes, void **out);
    void (*work)(const char *kind, size_t bytes);
    int (*behind_switch)(void);
} fake;

bool nw_adapter_open(void)
{
    const struct nw_symbol symbols[] = {
        {"nodewise_fake_map", &fake.map},
        {"nodewise_fake_work", &fake.work},
        {"nodewise_fake_switch", &fake.behind_switch},
    };

    return !nw_library_load("libcuda.so.1", symbols, 3, "to emulate a mapping");
}

bool nw_adapter_is_behind_switch(void)
{
    return fake.behind_switch();
}

nw_status nw_adapter_map(void *gpu, size_t bytes, void **out)
{
    if (fake.map((uint64_t)(uintptr_t)gpu, bytes, out))
        return nw_fail(NW_ECUDA, "%zu bytes at %p are no GPU memory (any more)",
                       bytes, gpu);
    return NW_OK;
}

void nw_adapter_pay(enum nw_adapter_work work, size_t bytes)
{
    static const char *const kinds[] = {"adapter-read", "adapter-write",
                                        "loopback"};

    fake.work(kinds[work], bytes);
}

static void stored(size_t bytes)
{
    fake.work("store", bytes);
}

static void loaded(size_t bytes)
{
    fake.work("load", bytes);
}

const struct nw_mapping nw_mapping_emulated = {
    .name = "emulated",
    .open = nw_adapter_open,
    .map = nw_adapter_map,
    .stored = stored,
    .loaded = loaded,
};
