/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations of those parts of Vulkan, and of CUDA's import of external
 * memory, that Nodewise uses. They replace the headers of Vulkan and CUDA,
 * which are thus not needed to build Nodewise. */
#ifndef NW_CHANNEL_MEMORY_VULKAN_H
#define NW_CHANNEL_MEMORY_VULKAN_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values of VkStructureType and of other Vulkan enumerations. */
enum {
    VK_APPLICATION = 0,
    VK_INSTANCE = 1,
    VK_QUEUE = 2,
    VK_DEVICE = 3,
    VK_ALLOCATE = 5,
    VK_PROPERTIES = 1000059001,
    VK_IDS = 1000071004,
    VK_EXPORT = 1000072002,
    VK_GET_FD = 1000074002,
};
enum {
    VK_VERSION_1_1 = 1 << 22 | 1 << 12,
    VK_OPAQUE_FD = 1,
    VK_TYPES = 32,
    /* on the GPU, accessible by the CPU, and coherent (no flushes needed) */
    VK_WANTED = 1 | 2 | 4,
};

struct vk_application {
    uint32_t what;
    const void *next;
    const char *name;
    uint32_t version;
    const char *engine;
    uint32_t engine_version, api;
};
struct vk_instance {
    uint32_t what;
    const void *next;
    uint32_t flags;
    const struct vk_application *application;
    uint32_t layer_count;
    const char *const *layers;
    uint32_t extension_count;
    const char *const *extensions;
};
struct vk_ids {
    uint32_t what;
    void *next;
    unsigned char device[16], driver[16], luid[8];
    uint32_t mask, valid;
};
struct vk_properties {
    uint32_t what;
    void *next;
    uint64_t rest[128]; /* space for the 824 bytes of limits in Vulkan 1.3 */
};
struct vk_queue {
    uint32_t what;
    const void *next;
    uint32_t flags, family, count;
    const float *priorities;
};
struct vk_device {
    uint32_t what;
    const void *next;
    uint32_t flags, queue_count;
    const struct vk_queue *queues;
    uint32_t layer_count;
    const char *const *layers;
    uint32_t extension_count;
    const char *const *extensions;
    const void *features;
};
struct vk_types {
    uint32_t count;
    struct {
        uint32_t flags, heap;
    } type[VK_TYPES];
    uint32_t heap_count;
    struct {
        uint64_t bytes;
        uint32_t flags;
    } heap[16];
};
struct vk_export {
    uint32_t what;
    const void *next;
    uint32_t handles;
};
struct vk_allocate {
    uint32_t what;
    const void *next;
    uint64_t bytes;
    uint32_t type;
};
struct vk_get_fd {
    uint32_t what;
    const void *next;
    void *memory;
    uint32_t handle;
};

/* The structures CUDA_EXTERNAL_MEMORY_HANDLE_DESC and
 * CUDA_EXTERNAL_MEMORY_BUFFER_DESC. */
enum { CU_OPAQUE_FD = 1 };
struct cu_handle {
    int type;
    union {
        int fd;
        void *words[2];
    } of;
    unsigned long long bytes;
    unsigned flags, rest[16];
};
struct cu_buffer {
    unsigned long long offset, bytes;
    unsigned flags, rest[16];
};

/* Allocates GPU memory that the CPU can also access: sets *out to its address
 * on the GPU and *host to its address for the CPU. NW_ENODEV if Vulkan does not
 * know this GPU; NW_ENOMEM if too many such allocations exist. nw_vulkan_free
 * frees the memory. */
NW_MUST_CHECK nw_status nw_vulkan_new(int32_t gpu, size_t bytes, void **out,
                                      void **host);
/* Frees memory of nw_vulkan_new and returns true; does nothing and returns
 * false for other memory. */
bool nw_vulkan_free(void *memory);
/* nw_vulkan_is_used returns true if any memory of nw_vulkan_new exists.
 * nw_vulkan_at returns the address for the CPU of `bytes` bytes of such memory,
 * or NULL for other memory. */
bool nw_vulkan_is_used(void);
void *nw_vulkan_at(const void *memory, size_t bytes);
/* For tests: sets `uuid` to the UUID of the first device that Vulkan lists.
 * NW_ENODEV if Vulkan lists none. */
NW_MUST_CHECK nw_status nw_vulkan_first(unsigned char uuid[16]);

#endif
