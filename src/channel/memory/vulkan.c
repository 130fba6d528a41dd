/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocates GPU memory that the CPU can also access, without an additional
 * kernel module. Vulkan allocates memory on the GPU that is visible to the
 * host, and exports it; the CUDA driver imports it. Memory that others
 * allocated cannot be mapped this way. So it serves only for buffers that
 * Nodewise allocates: those of nw_channel_memory_new, and the inbox of the
 * resident kernel. Opening Vulkan takes long, so it is opened only if the user
 * selects this mapping: for GPU 0 with the channel, for another GPU when memory
 * on it is first requested.
 */
#include "channel/memory/vulkan.h"

#include "base/library.h"
#include "base/status.h"
#include "channel/memory/mapping.h"
#include "gpu/gpu.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { KEPT = 64, UUID = 16, PAGE = 65536 };

static struct {
    int (*create_instance)(const struct vk_instance *, const void *, void **);
    int (*list)(void *instance, uint32_t *count, void **devices);
    void (*properties)(void *device, struct vk_properties *out);
    void (*types)(void *device, struct vk_types *out);
    int (*create_device)(void *, const struct vk_device *, const void *,
                         void **);
    void *(*find)(void *device, const char *name);
    int (*allocate)(void *, const struct vk_allocate *, const void *, void **);
    void (*free)(void *device, void *memory, const void *);
    int (*map)(void *, void *, uint64_t, uint64_t, uint32_t, void **);
} vk;

static struct {
    int (*uuid)(void *uuid, int device);
    int (*import)(void **out, const struct cu_handle *handle);
    int (*buffer)(uintptr_t *out, void *memory, const struct cu_buffer *how);
    int (*drop)(void *memory);
    int (*free)(uintptr_t memory);
} cu;

/* One GPU, opened by Vulkan. */
struct vulkan_device {
    void *device; /* NULL: not opened yet */
    uint32_t type;
    int (*get_fd)(void *device, const struct vk_get_fd *what, int *fd);
    bool failed;
};

struct vulkan_kept {
    char *gpu, *host; /* addresses for GPU and CPU; gpu is NULL: unused entry */
    size_t bytes;
    void *memory, *imported;
    int32_t whose;
    struct nw_gpu_life life; /* life of the context that imported the memory */
};

static const struct nw_gpu *const gpus = &nw_gpu_cuda;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *instance;
static struct vulkan_device devices[NW_GPUS];
static struct vulkan_kept kept[KEPT];
static int kept_count; /* atomic, since it is also read without the lock */

static nw_status vulkan_fails(const char *what)
{
    return nw_fail(NW_ENODEV, "Vulkan fails to %s", what);
}

static nw_status vulkan_load(void)
{
    const struct nw_symbol vulkan[] = {
        {"vkCreateInstance", &vk.create_instance},
        {"vkEnumeratePhysicalDevices", &vk.list},
        {"vkGetPhysicalDeviceProperties2", &vk.properties},
        {"vkGetPhysicalDeviceMemoryProperties", &vk.types},
        {"vkCreateDevice", &vk.create_device},
        {"vkGetDeviceProcAddr", &vk.find},
        {"vkAllocateMemory", &vk.allocate},
        {"vkFreeMemory", &vk.free},
        {"vkMapMemory", &vk.map},
    };
    const struct vk_application us = {.what = VK_APPLICATION,
                                      .api = VK_VERSION_1_1};
    const struct vk_instance how = {.what = VK_INSTANCE, .application = &us};
    nw_status status = instance
                           ? NW_OK
                           : nw_library_load("libvulkan.so.1", vulkan,
                                             sizeof vulkan / sizeof *vulkan,
                                             "to map GPU memory");

    if (!status && !instance && vk.create_instance(&how, NULL, &instance)) {
        instance = NULL;
        status = vulkan_fails("begin");
    }
    return status;
}

static nw_status load_driver(void)
{
    const struct nw_symbol driver[] = {
        {"cuDeviceGetUuid", &cu.uuid},
        {"cuImportExternalMemory", &cu.import},
        {"cuExternalMemoryGetMappedBuffer", &cu.buffer},
        {"cuDestroyExternalMemory", &cu.drop},
        {"cuMemFree_v2", &cu.free},
    };

    return nw_library_load("libcuda.so.1", driver,
                           sizeof driver / sizeof *driver,
                           "to import memory of Vulkan");
}

/* -- devices -- */

static nw_status vulkan_list(void *out[NW_GPUS], uint32_t *count)
{
    nw_status status = vulkan_load();
    int code;

    if (status)
        return status;
    *count = NW_GPUS;
    code = vk.list(instance, count, out);
    return code < 0 ? vulkan_fails("list its devices") : NW_OK;
}

static void uuid_of(void *physical, unsigned char out[UUID])
{
    struct vk_ids ids = {.what = VK_IDS};
    struct vk_properties all = {.what = VK_PROPERTIES, .next = &ids};

    vk.properties(physical, &all);
    memcpy(out, ids.device, UUID);
}

static nw_status find_physical(const unsigned char uuid[UUID], void **out)
{
    void *all[NW_GPUS];
    uint32_t count = 0;
    nw_status status = vulkan_list(all, &count);

    for (uint32_t i = 0; i < count && !status; i++) {
        unsigned char its[UUID];

        uuid_of(all[i], its);
        if (!memcmp(its, uuid, UUID)) {
            *out = all[i];
            return NW_OK;
        }
    }
    return status ? status : vulkan_fails("find this GPU");
}

static nw_status vulkan_find_type(void *physical, uint32_t *out)
{
    struct vk_types types = {0};

    vk.types(physical, &types);
    for (uint32_t i = 0; i < types.count && i < VK_TYPES; i++)
        if ((types.type[i].flags & VK_WANTED) == VK_WANTED) {
            *out = i;
            return NW_OK;
        }
    return vulkan_fails("allocate GPU memory that the CPU can address");
}

static nw_status vulkan_create(void *physical, struct vulkan_device *out)
{
    static const char *const extensions[] = {"VK_KHR_external_memory_fd"};
    const float priority = 1;
    const struct vk_queue queue = {
        .what = VK_QUEUE, .count = 1, .priorities = &priority};
    const struct vk_device how = {.what = VK_DEVICE,
                                  .queue_count = 1,
                                  .queues = &queue,
                                  .extension_count = 1,
                                  .extensions = extensions};
    void *device = NULL;

    if (vk.create_device(physical, &how, NULL, &device))
        return vulkan_fails("export memory of this GPU");
    *(void **)&out->get_fd = vk.find(device, "vkGetMemoryFdKHR");
    if (!out->get_fd)
        return vulkan_fails("export memory");
    out->device = device;
    return NW_OK;
}

static nw_status open_device(int32_t gpu)
{
    struct vulkan_device *one = &devices[gpu];
    unsigned char uuid[UUID];
    void *physical = NULL;
    nw_status status = NW_OK;

    if (one->device)
        return NW_OK;
    if (one->failed)
        return vulkan_fails("use this GPU");
    status = load_driver();
    if (!status && cu.uuid(uuid, gpu))
        status = vulkan_fails("know this GPU");
    if (!status)
        status = find_physical(uuid, &physical);
    if (!status)
        status = vulkan_find_type(physical, &one->type);
    if (!status)
        status = vulkan_create(physical, one);
    one->failed = status != NW_OK;
    return status;
}

nw_status nw_vulkan_first(unsigned char uuid[UUID])
{
    void *all[NW_GPUS];
    uint32_t count = 0;
    nw_status status;

    (void)pthread_mutex_lock(&lock);
    status = vulkan_list(all, &count);
    if (!status && count)
        uuid_of(all[0], uuid);
    (void)pthread_mutex_unlock(&lock);
    return status || count ? status : vulkan_fails("find any device");
}

/* -- memory -- */

static nw_status vulkan_allocate(const struct vulkan_device *on,
                                 struct vulkan_kept *one, int *fd)
{
    const struct vk_export export = {.what = VK_EXPORT,
                                     .handles = VK_OPAQUE_FD};
    const struct vk_allocate how = {.what = VK_ALLOCATE,
                                    .next = &export,
                                    .bytes = one->bytes,
                                    .type = on->type};
    struct vk_get_fd get = {.what = VK_GET_FD, .handle = VK_OPAQUE_FD};
    void *host = NULL;

    if (vk.allocate(on->device, &how, NULL, &one->memory))
        return vulkan_fails("allocate memory");
    get.memory = one->memory;
    if (!vk.map(on->device, one->memory, 0, one->bytes, 0, &host) &&
        !on->get_fd(on->device, &get, fd)) {
        one->host = host;
        return NW_OK;
    }
    vk.free(on->device, one->memory, NULL); /* this also unmaps the memory */
    return vulkan_fails("map and export memory");
}

/* Imports memory into CUDA. After a successful import, the driver owns the
 * descriptor `fd`. The driver's copies to this memory are made synchronous;
 * otherwise the CPU could load bytes before a copy has written them. */
static nw_status vulkan_import(struct vulkan_kept *one, int fd)
{
    const struct cu_handle handle = {
        .type = CU_OPAQUE_FD, .of.fd = fd, .bytes = one->bytes};
    const struct cu_buffer whole = {.bytes = one->bytes};
    uintptr_t gpu = 0;
    nw_status status;

    if (cu.import(&one->imported, &handle)) {
        (void)close(fd);
        return nw_fail(NW_ECUDA, "the CUDA driver takes no memory of Vulkan");
    }
    if (cu.buffer(&gpu, one->imported, &whole)) {
        (void)cu.drop(one->imported);
        return nw_fail(NW_ECUDA, "the CUDA driver maps no memory of Vulkan");
    }
    status = gpus->keep_in_step((void *)gpu);
    if (status) {
        (void)cu.free(gpu);
        (void)cu.drop(one->imported);
        return status;
    }
    one->gpu = (char *)gpu;
    one->life = gpus->life();
    return NW_OK;
}

static struct vulkan_kept *vulkan_room(void)
{
    for (struct vulkan_kept *one = kept; one < kept + KEPT; one++)
        if (!one->gpu)
            return one;
    return NULL;
}

/* Allocates memory on `gpu` and fills in *one. The caller makes the GPU
 * current. */
static nw_status vulkan_make(int32_t gpu, size_t bytes, struct vulkan_kept *one)
{
    nw_status status = open_device(gpu);
    int fd = -1;

    one->whose = gpu;
    one->bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    if (!status)
        status = vulkan_allocate(&devices[gpu], one, &fd);
    if (status)
        return status;
    status = vulkan_import(one, fd);
    if (status)
        vk.free(devices[gpu].device, one->memory, NULL);
    else
        (void)__atomic_add_fetch(&kept_count, 1, __ATOMIC_RELEASE);
    return status;
}

nw_status nw_vulkan_new(int32_t gpu, size_t bytes, void **out, void **host)
{
    void *before = gpus->context();
    nw_status status = gpus->select(gpu);
    struct vulkan_kept *one;

    (void)pthread_mutex_lock(&lock);
    one = vulkan_room();
    if (!status && (!one || gpu >= NW_GPUS || bytes > SIZE_MAX - PAGE))
        status = nw_fail(NW_ENOMEM, "no more memory of Vulkan is kept");
    if (!status)
        status = vulkan_make(gpu, bytes, one);
    if (!status) {
        *out = one->gpu;
        *host = one->host;
    }
    (void)pthread_mutex_unlock(&lock);
    gpus->restore(before);
    return status;
}

/* Forgets memory of a GPU that was reset. The driver no longer has this memory,
 * and may use its addresses for other memory. */
static void vulkan_forget_dead(void)
{
    for (struct vulkan_kept *one = kept; one < kept + KEPT; one++) {
        if (!one->gpu || gpus->lives(&one->life))
            continue;
        vk.free(devices[one->whose].device, one->memory, NULL);
        one->gpu = NULL;
        (void)__atomic_sub_fetch(&kept_count, 1, __ATOMIC_RELEASE);
    }
}

static struct vulkan_kept *vulkan_find(const void *memory, size_t bytes)
{
    vulkan_forget_dead();
    for (struct vulkan_kept *one = kept; one < kept + KEPT; one++) {
        size_t at = (size_t)((const char *)memory - one->gpu);

        if (one->gpu && at < one->bytes && bytes <= one->bytes - at)
            return one;
    }
    return NULL;
}

bool nw_vulkan_free(void *memory)
{
    void *before;
    struct vulkan_kept *one;

    if (!memory || !nw_vulkan_is_used())
        return false;
    before = gpus->context();
    (void)pthread_mutex_lock(&lock);
    one = vulkan_find(memory, 1);
    if (one && !gpus->select(one->whose)) {
        (void)cu.free((uintptr_t)one->gpu);
        (void)cu.drop(one->imported);
        vk.free(devices[one->whose].device, one->memory, NULL);
        one->gpu = NULL;
        (void)__atomic_sub_fetch(&kept_count, 1, __ATOMIC_RELEASE);
    }
    (void)pthread_mutex_unlock(&lock);
    gpus->restore(before);
    return one != NULL;
}

bool nw_vulkan_is_used(void)
{
    return __atomic_load_n(&kept_count, __ATOMIC_ACQUIRE) > 0;
}

void *nw_vulkan_at(const void *memory, size_t bytes)
{
    struct vulkan_kept *one;
    void *at = NULL;

    if (!nw_vulkan_is_used())
        return NULL;
    (void)pthread_mutex_lock(&lock);
    one = vulkan_find(memory, bytes);
    if (one)
        at = one->host + ((const char *)memory - one->gpu);
    (void)pthread_mutex_unlock(&lock);
    return at;
}

/* -- the GPU mapping -- */

static bool vulkan_open(void)
{
    bool opened;

    (void)pthread_mutex_lock(&lock);
    opened = !open_device(0);
    (void)pthread_mutex_unlock(&lock);
    return opened;
}

static nw_status vulkan_map(void *gpu, size_t bytes, struct nw_mapped *out)
{
    void *at = nw_vulkan_at(gpu, bytes);

    if (!at)
        return nw_fail(NW_ECUDA, "%zu bytes at %p are not of Vulkan", bytes,
                       gpu);
    out->at = at;
    return NW_OK;
}

const struct nw_gpu_mapping nw_gpu_mapping_vulkan = {
    .name = "vulkan",
    .open = vulkan_open,
    .map = vulkan_map,
};
