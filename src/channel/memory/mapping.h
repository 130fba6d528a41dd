/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between the CPU and GPU memory without the driver, behind one
 * interface with several back ends. Most back ends give GPU memory an address
 * that the CPU can access. The resident kernel gives no address; it copies the
 * bytes itself. */
#ifndef NW_CHANNEL_MEMORY_MAPPING_H
#define NW_CHANNEL_MEMORY_MAPPING_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* GPU memory that the CPU can access: `at` is its address for the CPU, and
 * `handle` is the back end's handle of the mapping. */
struct nw_mapped {
    char *at;
    unsigned long handle;
};

struct nw_gpu_mapping {
    const char *name;
    /* Opens the back end; returns false if it does not work on this node. Each
     * success needs a `close`. */
    bool (*open)(void);
    void (*close)(void); /* NULL: the back end needs no close */
    /* Allocates the resources for messages of a GPU; NULL: not needed. */
    void (*prepare)(int32_t gpu);
    /* Finds the address for the CPU of `bytes` bytes of GPU memory at `gpu`.
     * Back ends cache their mappings. The caller calls `map` before each use,
     * because the memory may have been freed since; NW_ECUDA then. NULL: the
     * back end has no addresses and copies with `store` and `load`, which are
     * complete on return. */
    nw_status (*map)(void *gpu, size_t bytes, struct nw_mapped *out);
    /* Ends the use of an address that `map` has returned. Until then, the back
     * end keeps the mapping. NULL: not needed. */
    void (*release)(const struct nw_mapped *mapped);
    nw_status (*store)(void *gpu, const void *from, size_t bytes);
    nw_status (*load)(void *to, const void *gpu, size_t bytes);
    /* Copies from host memory to mapped memory, and from mapped memory to host
     * memory. NULL: the CPU copies with nw_stores and nw_loads. */
    void (*write)(const struct nw_mapped *mapped, void *to, const void *from,
                  size_t bytes);
    void (*read)(const struct nw_mapped *mapped, void *to, const void *from,
                 size_t bytes);
};
extern const struct nw_gpu_mapping nw_gpu_mapping_gdrcopy;
extern const struct nw_gpu_mapping
    nw_gpu_mapping_vulkan; /* reaches only memory that Vulkan allocated */
extern const struct nw_gpu_mapping nw_gpu_mapping_resident;

/* Opens the back end that $NODEWISE_CHANNEL_MAPPING names, or GDRCopy by
 * default. Returns NULL if that fails. */
const struct nw_gpu_mapping *nw_gpu_mapping_open(void);
void nw_gpu_mapping_close(
    const struct nw_gpu_mapping *mapping); /* NULL is ignored */
/* Allocates the back end's resources for the GPU that the caller uses, so that
 * the first message need not. NULL is ignored. */
void nw_gpu_mapping_prepare(const struct nw_gpu_mapping *mapping);
/* Returns true if the open back end `mapping` may reach this GPU memory. Every
 * back end reaches memory that Vulkan allocated, but Vulkan reaches no other
 * memory. Returns false if `mapping` is NULL. */
bool nw_gpu_mapping_serves(const struct nw_gpu_mapping *mapping,
                           const void *gpu);
/* Returns true if Nodewise allocates its own GPU memory by Vulkan, else false.
 */
bool nw_gpu_mapping_makes(void);
/* Copies into GPU memory (store) and out of it (load); complete on return. */
NW_MUST_CHECK nw_status
nw_gpu_mapping_store(const struct nw_gpu_mapping *mapping, void *gpu,
                     const void *from, size_t bytes);
NW_MUST_CHECK nw_status nw_gpu_mapping_load(
    const struct nw_gpu_mapping *mapping, void *to, void *gpu, size_t bytes);
/* Calls `release` if the back end has it. */
void nw_mapped_release(const struct nw_gpu_mapping *mapping,
                       const struct nw_mapped *mapped);
/* Copies host memory into mapped memory (write: `to` lies in `mapped`) and out
 * of it (read: `from` lies in `mapped`). */
void nw_mapped_write(const struct nw_gpu_mapping *mapping,
                     const struct nw_mapped *mapped, void *to, const void *from,
                     size_t bytes);
void nw_mapped_read(const struct nw_gpu_mapping *mapping,
                    const struct nw_mapped *mapped, void *to, const void *from,
                    size_t bytes);

/* Copies like memcpy, by the widest non-temporal stores of the CPU if it has
 * such stores, then executes a store fence. */
void nw_stores(void *to, const void *from, size_t bytes);
/* Executes only the store fence of nw_stores. */
void nw_stores_fence(void);
/* Copies like memcpy from mapped memory, by loads of whole 64-byte lines if the
 * CPU has such loads. The lines of the first and last byte are then read whole,
 * so they must lie in the mapping. */
void nw_loads(void *to, const void *from, size_t bytes);

/* Counts of the resident kernels, for statistics and tests. */
struct nw_resident_counts {
    uint64_t launched; /* kernels launched */
    uint64_t beside;   /* kernels launched with the inbox in GPU memory */
    uint64_t served;   /* messages copied by a kernel */
    uint64_t driven;   /* messages copied by the driver instead */
};
void nw_resident_count(struct nw_resident_counts *out);

#endif
