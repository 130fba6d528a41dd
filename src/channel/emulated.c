/* SPDX-License-Identifier: BSD-3-Clause */
/* GPU memory that the CPU and the adapter reach, played by the tests' double
 * of the CUDA driver: correct always, and as slow as the real thing where its
 * costs are switched on. Figures made so are to be called emulated. */
#include "channel/mapping.h"
#include "channel/memory.h"

#include "base/library.h"
#include "base/status.h"

#include <pthread.h>

static struct {
    int (*map)(uint64_t gpu, size_t bytes, void **out);
    void (*work)(const char *kind, size_t bytes);
    int (*behind_switch)(void);
} fake;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_fake;

static void load(void)
{
    const struct nw_symbol symbols[] = {
        {"nodewise_fake_map", &fake.map},
        {"nodewise_fake_work", &fake.work},
        {"nodewise_fake_switch", &fake.behind_switch},
    };

    is_fake = !nw_library_load("libcuda.so.1", symbols,
                               sizeof symbols / sizeof *symbols,
                               "to emulate a mapping");
}

/* By any thread, while another one already calls what it finds. */
bool nw_adapter_open(void)
{
    (void)pthread_once(&once, load);
    return is_fake;
}

bool nw_adapter_is_behind_switch(void)
{
    return fake.behind_switch();
}

nw_status nw_adapter_map(void *gpu, size_t bytes, void **out)
{
    (void)!nw_memory_keep_in_step(gpu); /* pool memory cannot be: no matter */
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
