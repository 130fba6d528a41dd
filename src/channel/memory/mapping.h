/* SPDX-License-Identifier: BSD-3-Clause */
/* How the CPU stores into GPU memory past the driver, behind one interface.
 * Most back ends give the memory an address that the CPU can use; the resident
 * kernel has none to give, and moves the bytes itself. */
#ifndef NW_CHANNEL_MEMORY_MAPPING_H
#define NW_CHANNEL_MEMORY_MAPPING_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* GPU memory that has an address for the CPU, and how its back end calls it. */
struct nw_mapped {
    char *at;
    unsigned long handle;
};

struct nw_gpu_mapping {
    const char *name;
    /* Whether it can be used here; each true is followed by a close. */
    bool (*open)(void);
    void (*close)(void); /* NULL: nothing to end */
    /* Makes ready what messages of that GPU need; NULL: nothing. */
    void (*prepare)(int32_t gpu);
    /* Where the CPU reaches [gpu, gpu + bytes). Asked before every use: memory
     * that was freed meanwhile is an error, NW_ECUDA. Cached inside. NULL where
     * there is no such place but the two below, done on return. */
    nw_status (*map)(void *gpu, size_t bytes, struct nw_mapped *out);
    nw_status (*store)(void *gpu, const void *from, size_t bytes);
    nw_status (*load)(void *to, const void *gpu, size_t bytes);
    /* Copies between host memory and mapped memory. NULL: the CPU's own stores
     * and loads do (nw_stores, nw_loads). */
    void (*write)(const struct nw_mapped *mapped, void *to, const void *from,
                  size_t bytes);
    void (*read)(const struct nw_mapped *mapped, void *to, const void *from,
                 size_t bytes);
};
extern const struct nw_gpu_mapping nw_gpu_mapping_gdrcopy;
extern const struct nw_gpu_mapping
    nw_gpu_mapping_vulkan; /* memory made so, only */
extern const struct nw_gpu_mapping nw_gpu_mapping_resident;

/* The one that $NODEWISE_CHANNEL_MAPPING names, else GDRCopy's; NULL if that
 * does not open. */
const struct nw_gpu_mapping *nw_gpu_mapping_open(void);
void nw_gpu_mapping_close(
    const struct nw_gpu_mapping *mapping); /* NULL is fine */
/* For the GPU that the caller uses, before its first message; NULL is fine. */
void nw_gpu_mapping_prepare(const struct nw_gpu_mapping *mapping);
/* Whether it reaches this memory: memory of Vulkan's is reached whichever of
 * them is open, other memory not by Vulkan's. NULL: none is open. */
bool nw_gpu_mapping_serves(const struct nw_gpu_mapping *mapping,
                           const void *gpu);
/* Whether GPU memory that we make ourselves is to be Vulkan's. */
bool nw_gpu_mapping_makes(void);
/* Done on return. */
NW_MUST_CHECK nw_status
nw_gpu_mapping_store(const struct nw_gpu_mapping *mapping, void *gpu,
                     const void *from, size_t bytes);
NW_MUST_CHECK nw_status nw_gpu_mapping_load(
    const struct nw_gpu_mapping *mapping, void *to, void *gpu, size_t bytes);
/* Copies into mapped memory and out of it: `to` or `from` lies in `mapped`. */
void nw_mapped_write(const struct nw_gpu_mapping *mapping,
                     const struct nw_mapped *mapped, void *to, const void *from,
                     size_t bytes);
void nw_mapped_read(const struct nw_gpu_mapping *mapping,
                    const struct nw_mapped *mapped, void *to, const void *from,
                    size_t bytes);

/* memcpy by the widest stores that go past the caches, and a fence. */
void nw_stores(void *to, const void *from, size_t bytes);
void nw_stores_fence(void); /* that, alone */
/* memcpy from mapped memory, by whole lines where the CPU can. */
void nw_loads(void *to, const void *from, size_t bytes);

/* What the resident kernels of this process did; for tests and benchmarks. */
struct nw_resident_counts {
    uint64_t launched; /* kernels */
    uint64_t beside;   /* those of them whose inbox is on the GPU */
    uint64_t served;   /* messages that one moved */
    uint64_t driven;   /* messages that the driver moved, as none was there */
};
void nw_resident_count(struct nw_resident_counts *out);

#endif
