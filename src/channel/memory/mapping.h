/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between the CPU and GPU memory without the driver, behind one
 * interface. Most back ends give the memory an address for the CPU; the
 * resident kernel has no such address and copies the bytes itself. */
#ifndef NW_CHANNEL_MEMORY_MAPPING_H
#define NW_CHANNEL_MEMORY_MAPPING_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* GPU memory that has an address for the CPU, and its handle in the back
 * end. */
struct nw_mapped {
    char *at;
    unsigned long handle;
};

struct nw_gpu_mapping {
    const char *name;
    /* Whether the back end works here; each success needs a close. */
    bool (*open)(void);
    void (*close)(void); /* NULL: nothing to end */
    /* Allocates the resources for messages of a GPU; NULL: not needed. */
    void (*prepare)(int32_t gpu);
    /* Finds the address for the CPU of [gpu, gpu + bytes), with a cache inside.
     * The caller asks before each use: memory that was freed meanwhile is an
     * error, NW_ECUDA. NULL: the back end has `store` and `load`, complete on
     * return. */
    nw_status (*map)(void *gpu, size_t bytes, struct nw_mapped *out);
    nw_status (*store)(void *gpu, const void *from, size_t bytes);
    nw_status (*load)(void *to, const void *gpu, size_t bytes);
    /* Copies between host memory and mapped memory. NULL: the CPU's own stores
     * and loads (nw_stores, nw_loads). */
    void (*write)(const struct nw_mapped *mapped, void *to, const void *from,
                  size_t bytes);
    void (*read)(const struct nw_mapped *mapped, void *to, const void *from,
                 size_t bytes);
};
extern const struct nw_gpu_mapping nw_gpu_mapping_gdrcopy;
extern const struct nw_gpu_mapping
    nw_gpu_mapping_vulkan; /* reaches only memory that it allocated */
extern const struct nw_gpu_mapping nw_gpu_mapping_resident;

/* Opens the back end that $NODEWISE_CHANNEL_MAPPING names, or GDRCopy; NULL if
 * this fails. */
const struct nw_gpu_mapping *nw_gpu_mapping_open(void);
void nw_gpu_mapping_close(
    const struct nw_gpu_mapping *mapping); /* NULL is fine */
/* Prepares the GPU that the caller uses, before its first message; NULL is
 * fine. */
void nw_gpu_mapping_prepare(const struct nw_gpu_mapping *mapping);
/* Whether a back end reaches this memory. Any back end reaches Vulkan's memory,
 * but Vulkan reaches no other memory. NULL: no back end is open. */
bool nw_gpu_mapping_serves(const struct nw_gpu_mapping *mapping,
                           const void *gpu);
/* Whether Nodewise allocates its own GPU memory by Vulkan. */
bool nw_gpu_mapping_makes(void);
/* Copy; complete on return. */
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
void nw_stores_fence(void); /* only the fence */
/* memcpy from mapped memory, by whole lines of 64 bytes where the CPU can. Then
 * the lines of the first and the last byte are read whole. */
void nw_loads(void *to, const void *from, size_t bytes);

/* Counters of the resident kernels of this process, for tests and
 * benchmarks. */
struct nw_resident_counts {
    uint64_t launched; /* kernels */
    uint64_t beside;   /* kernels with an inbox in GPU memory */
    uint64_t served;   /* messages copied by a kernel */
    uint64_t driven;   /* messages copied by the driver instead */
};
void nw_resident_count(struct nw_resident_counts *out);

#endif
