/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory of the double: files in memory that are mapped at two
 * addresses. The host cannot access the address that the program gets, so that
 * a forgotten copy faults; the other address, a fixed distance away, is used by
 * the double. With FAKE_CUDA_READABLE the host can access the first address,
 * too; FAKE_CUDA_MEMORY is the number of bytes that a GPU has in each process;
 * FAKE_CUDA_SPOIL makes one byte of each copy to the host wrong. Freed
 * addresses are given to the next allocation of the same size, as the real
 * driver does; until then accesses to them fault. A page behind the memory
 * lists the processes that have opened it: with FAKE_CUDA_STRICT, its owner may
 * not free it before they have closed it. */
#include "fake.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    ATTRIBUTE_CONTEXT = 1,
    ATTRIBUTE_MEMORY_TYPE = 2,
    ATTRIBUTE_SYNC = 6,
    ATTRIBUTE_ID = 7,
    ATTRIBUTE_MANAGED = 8,
    ATTRIBUTE_ORDINAL = 9,
    PAGE = 4096,
    PINNED = 65536
};
enum { MEMORY_HOST = 1, MEMORY_DEVICE = 2, MEMORY_UNIFIED = 4 };
enum { MOST_FILLED = 64 << 20 };            /* bytes */
static size_t arena_room = (size_t)1 << 38; /* smaller if so many addresses
                                               cannot be reserved */

/* An IPC handle as the program sees it; it contains a struct exported, and its
 * other bytes are zero. */
struct handle {
    char bytes[64];
};
struct exported {
    uint32_t magic;
    int32_t pid, fd, gpu;
    uint64_t start, size, id; /* as in the exporting process */
};

/* An allocation, or other memory that has an address of the arena. */
struct range {
    struct range *next;
    uintptr_t start;
    size_t size, room;
    int gpu;         /* -1: pinned host memory */
    int fd;          /* -1: opened from another process, or memory of another
                        driver */
    bool foreign;    /* memory of another driver */
    bool bare;       /* memory of a pool, or mapped piece by piece */
    bool in_step;    /* synchronous copies are complete when they return */
    bool registered; /* pages of the program that it has pinned */
    struct owner owner;
    uint64_t id;
    struct sharers *sharers; /* if other processes can open the memory, or
                                this one has opened it */
    struct exported from;    /* its handle, if this process has opened the
                                memory */
    int opens;               /* how often it was opened; 0: it is not another
                                process's memory */
};

/* Freed addresses, which a later allocation of the same size gets again. */
struct hole {
    struct hole *next;
    uintptr_t start;
    size_t room;
};
static const uint32_t MAGIC = 0x6e776d65;

static struct range *ranges;
static struct hole *holes;
static unsigned long queries;
static char *arena;
static size_t arena_used;
static size_t used[GPUS];

static size_t memory_size(void)
{
    const char *word = getenv("FAKE_CUDA_MEMORY");

    return word ? strtoull(word, NULL, 10) : (size_t)16 << 30;
}

bool fake_is_device(uint64_t address)
{
    return arena && address - (uintptr_t)arena < arena_room;
}

void *fake_real(uint64_t address)
{
    return (void *)(uintptr_t)(address +
                               (fake_is_device(address) ? arena_room : 0));
}

static struct range *find(uint64_t address)
{
    for (struct range *r = ranges; r; r = r->next)
        if (address - r->start < r->size)
            return r;
    return NULL;
}

static bool holds(uint64_t address, size_t bytes, int *gpu)
{
    const struct range *range = find(address);

    /* to the program, pieces that are mapped next to each other are one */
    while (range && range->bare &&
           bytes > range->size - (address - range->start)) {
        bytes -= range->size - (address - range->start);
        address = range->start + range->size;
        range = find(address);
    }
    if (!range || bytes > range->size - (address - range->start))
        return false;
    *gpu = range->gpu;
    return true;
}

bool fake_holds(uint64_t address, size_t bytes, int *gpu)
{
    bool found;

    pthread_mutex_lock(&fake_lock);
    found = holds(address, bytes, gpu);
    pthread_mutex_unlock(&fake_lock);
    return found;
}

struct context *fake_context_of(uint64_t address)
{
    const struct range *range;
    struct context *context;

    pthread_mutex_lock(&fake_lock);
    range = find(address);
    context = range && range->gpu >= 0 ? range->owner.context : NULL;
    pthread_mutex_unlock(&fake_lock);
    return context;
}

bool fake_is_opened(uint64_t address)
{
    const struct range *range;
    bool opened;

    pthread_mutex_lock(&fake_lock);
    range = find(address);
    opened = range && range->opens;
    pthread_mutex_unlock(&fake_lock);
    return opened;
}

/* Maps the page behind the memory that lists the processes which have it
 * open. */
static struct sharers *sharers_of(int fd, size_t room)
{
    void *page =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)room);

    return page == MAP_FAILED ? NULL : page;
}

void fake_share(struct sharers *sharers, int32_t was, int32_t is)
{
    for (int i = 0; i < SHARERS; i++) {
        int32_t found = was;

        if (__atomic_compare_exchange_n(&sharers->pid[i], &found, is, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return;
    }
}

void fake_unshared(const struct sharers *sharers, const char *what)
{
    for (int i = 0; getenv("FAKE_CUDA_STRICT") && i < SHARERS; i++) {
        int32_t pid = __atomic_load_n(&sharers->pid[i], __ATOMIC_ACQUIRE);

        if (!pid || kill(pid, 0))
            continue;
        fprintf(stderr, "fake CUDA: %s is freed while process %d has it open\n",
                what, (int)pid);
        abort();
    }
}

/* The most recently freed addresses of this size, otherwise new ones; 0 if none
 * are left. */
static uintptr_t find_room(size_t room)
{
    uintptr_t start = (uintptr_t)arena + arena_used;

    for (struct hole **at = &holes; *at; at = &(*at)->next)
        if ((*at)->room == room) {
            struct hole *hole = *at;

            start = hole->start;
            *at = hole->next;
            free(hole);
            return start;
        }
    if (!arena || room > arena_room - arena_used)
        return 0;
    /* a gap follows the memory, so that accesses past its end fault; and
     * GDRCopy pins whole pages of 64 KiB */
    arena_used += (room + PAGE + PINNED - 1) / PINNED * PINNED;
    return start;
}

/* Makes the addresses of the range available to later allocations. */
static void leave_room(const struct range *range)
{
    struct hole *hole = malloc(sizeof *hole);

    if (!hole)
        return;
    *hole = (struct hole){holes, range->start, range->room};
    holes = hole;
}

/* Reserves the two areas of addresses in which device memory is mapped. */
static void make_arena(void)
{
    while (!arena && arena_room > PAGE) {
        void *room = mmap(NULL, 2 * arena_room, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (room == MAP_FAILED)
            arena_room /= 2; /* under valgrind, for example */
        else
            arena = room;
        arena_used = -(uintptr_t)arena % PINNED;
    }
}

/* Maps the file at both addresses: at range->start if that is set, otherwise at
 * addresses that it chooses. */
static int map_twice(struct range *range, int fd, off_t offset)
{
    int shown = getenv("FAKE_CUDA_READABLE") ? PROT_READ | PROT_WRITE : 0;

    make_arena();
    if (!range->start)
        range->start = find_room(range->room);
    if (!range->start)
        return OUT_OF_MEMORY;
    if (mmap((void *)range->start, range->room, shown, MAP_SHARED | MAP_FIXED,
             fd, offset) == MAP_FAILED ||
        mmap((void *)(range->start + arena_room), range->room,
             PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
             offset) == MAP_FAILED)
        return OUT_OF_MEMORY;
    range->sharers = sharers_of(fd, range->room);
    if (!range->sharers)
        return OUT_OF_MEMORY;
    return SUCCESS;
}

/* Unmaps the memory. The caller holds the lock. */
static void unmap(const struct range *range)
{
    if (range->registered)
        return;
    if (range->gpu < 0) {
        munmap((void *)range->start, range->room);
        return;
    }
    /* the addresses stay reserved without memory, so that malloc does not get
     * them */
    for (int i = 0; i < 2; i++)
        mmap((void *)(range->start + (i ? arena_room : 0)), range->room,
             PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
             -1, 0);
    /* if the program may access the addresses, the program may have taken them
     * for memory of the host; they are then never used again */
    if (!getenv("FAKE_CUDA_READABLE"))
        leave_room(range);
    munmap(range->sharers, PAGE);
    if (range->fd >= 0)
        close(range->fd);
}

static void add(struct range *range)
{
    static uint64_t ids;

    range->id = ++ids;
    range->owner = fake_owner();
    range->next = ranges;
    ranges = range;
    fake_live++;
}

static struct range *range_new(size_t size, int gpu, int fd)
{
    struct range *range = calloc(1, sizeof *range);

    if (range)
        *range = (struct range){.size = size,
                                .room = (size + PAGE - 1) / PAGE * PAGE,
                                .gpu = gpu,
                                .fd = fd};
    return range;
}

/* Allocates device memory. The caller holds the lock. */
static int allocate(size_t size, int gpu, uint64_t *pointer)
{
    struct range *range;
    int fd, code = OUT_OF_MEMORY;

    if (size > memory_size() - used[gpu])
        return OUT_OF_MEMORY;
    fd = memfd_create("fake-cuda", MFD_CLOEXEC);
    range = range_new(size, gpu, fd);
    if (fd >= 0 && range && !ftruncate(fd, (off_t)(range->room + PAGE)))
        code = map_twice(range, fd, 0);
    if (code) {
        if (fd >= 0)
            close(fd);
        free(range);
        return code;
    }
    /* device memory need not be zero; most of a large allocation is, to save
     * memory of the host */
    memset((void *)(range->start + arena_room), 0xa5,
           size < MOST_FILLED ? size : MOST_FILLED);
    add(range);
    range->sharers->id = range->id;
    used[gpu] += size;
    *pointer = range->start;
    return SUCCESS;
}

API int cuMemAlloc_v2(uint64_t *pointer, size_t size)
{
    const struct context *context = fake_current();
    int code;

    FAULT();
    UNSAFE();
    if (fake_broken)
        return fake_broken;
    if (!context)
        return fake_context(0)->retained ? INVALID_CONTEXT : NOT_INITIALIZED;
    if (fake_no_context())
        return fake_no_context();
    if (!size)
        return INVALID_VALUE;
    pthread_mutex_lock(&fake_lock);
    code = allocate(size, fake_gpu_of(context), pointer);
    pthread_mutex_unlock(&fake_lock);
    return code;
}

/* Frees the memory that starts there, if it is of the given kind: pinned or
 * not, and opened from another process or not. */
static int drop(uint64_t start, bool pinned, bool imported)
{
    struct range **at = &ranges, *range;

    pthread_mutex_lock(&fake_lock);
    while (*at && ((*at)->start != start || ((*at)->gpu < 0) != pinned ||
                   ((*at)->fd < 0 && !pinned && !(*at)->foreign) != imported))
        at = &(*at)->next;
    range = *at;
    if (range && range->opens > 1) {
        range->opens--;
        pthread_mutex_unlock(&fake_lock);
        return SUCCESS;
    }
    if (range) {
        *at = range->next;
        fake_live--;
        if (!pinned && !imported && !range->foreign)
            used[range->gpu] -= range->size;
    }
    pthread_mutex_unlock(&fake_lock);
    if (!range)
        return INVALID_VALUE;
    if (imported)
        fake_share(range->sharers, getpid(), 0);
    else if (!pinned)
        fake_unshared(range->sharers, "memory");
    pthread_mutex_lock(&fake_lock);
    unmap(range);
    pthread_mutex_unlock(&fake_lock);
    free(range);
    return SUCCESS;
}

void fake_forget_memory(const struct context *context)
{
    struct range **at = &ranges, *range;

    pthread_mutex_lock(&fake_lock);
    while ((range = *at) != NULL)
        if (range->owner.context == context) {
            *at = range->next;
            fake_live--;
            if (range->gpu >= 0 && range->fd >= 0)
                used[range->gpu] -= range->size;
            if (range->gpu >= 0 && range->fd < 0 && !range->foreign)
                fake_share(range->sharers, getpid(), 0);
            unmap(range);
            free(range);
        } else {
            at = &range->next;
        }
    pthread_mutex_unlock(&fake_lock);
}

int fake_adopt(int fd, off_t offset, size_t size, uint64_t *pointer)
{
    struct range *range = range_new(size, fake_gpu_of(fake_current()), -1);
    int code = OUT_OF_MEMORY;

    pthread_mutex_lock(&fake_lock);
    if (range)
        code = map_twice(range, fd, offset);
    if (!code) {
        range->foreign = true;
        add(range);
        *pointer = range->start;
    }
    pthread_mutex_unlock(&fake_lock);
    if (code)
        free(range);
    return code;
}

/* How often a call waited for all work of the GPU. The real driver has no such
 * counter. */
static unsigned long waits;

API unsigned long fake_cuda_waits(void)
{
    return __atomic_load_n(&waits, __ATOMIC_RELAXED);
}

static void wait_for_gpu(void)
{
    __atomic_add_fetch(&waits, 1, __ATOMIC_RELAXED);
    fake_drain();
}

uint64_t fake_reserve(size_t size)
{
    uint64_t start;

    pthread_mutex_lock(&fake_lock);
    make_arena();
    start = find_room((size + PAGE - 1) / PAGE * PAGE);
    pthread_mutex_unlock(&fake_lock);
    return start;
}

int fake_map_at(uint64_t start, size_t size, int gpu, int fd)
{
    struct range *range = range_new(size, gpu, fd);
    int code = OUT_OF_MEMORY;

    pthread_mutex_lock(&fake_lock);
    if (range) {
        range->start = start;
        code = map_twice(range, fd, 0);
    }
    if (!code) {
        add(range);
        range->bare = true;
        used[gpu] += size;
    } else {
        free(range);
    }
    pthread_mutex_unlock(&fake_lock);
    return code;
}

int fake_unmap_at(uint64_t start, size_t size)
{
    struct range *range;
    bool any = false;

    for (;;) {
        uint64_t at = 0;

        pthread_mutex_lock(&fake_lock);
        for (range = ranges; range; range = range->next)
            if (range->bare && range->start - start < size)
                at = range->start;
        pthread_mutex_unlock(&fake_lock);
        if (!at)
            return any ? SUCCESS : INVALID_VALUE;
        any = true;
        (void)drop(at, false, false);
    }
}

void fake_make_bare(uint64_t start)
{
    pthread_mutex_lock(&fake_lock);
    find(start)->bare = true;
    pthread_mutex_unlock(&fake_lock);
}

API int cuMemFree_v2(uint64_t pointer)
{
    FAULT();
    UNSAFE();
    if (fake_no_context())
        return fake_no_context();
    wait_for_gpu();
    return drop(pointer, false, false);
}

/* Frees memory of cuMemAlloc, as the programming guide describes it: the caller
 * must ensure that the memory is no longer used, and the call waits for
 * nothing. */
API int cuMemFreeAsync(uint64_t pointer, struct stream *stream)
{
    FAULT();
    (void)stream;
    return fake_no_context() ? fake_no_context() : drop(pointer, false, false);
}

API int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = memory_size();
    return SUCCESS;
}

API int cuMemGetInfo_v2(size_t *left, size_t *all)
{
    if (!fake_current())
        return INVALID_CONTEXT;
    *all = memory_size();
    *left = *all - used[fake_gpu_of(fake_current())];
    return SUCCESS;
}

API int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t pointer)
{
    const struct range *range;

    FAULT();
    if (fake_no_context())
        return fake_no_context();
    pthread_mutex_lock(&fake_lock);
    range = find(pointer);
    if (range) {
        *base = range->start;
        *bytes = range->size;
    }
    pthread_mutex_unlock(&fake_lock);
    return range ? SUCCESS : INVALID_VALUE;
}

API int cuMemHostAlloc(void **host, size_t size, unsigned flags)
{
    struct range *range;
    void *pages;

    FAULT();
    UNSAFE();
    (void)flags;
    if (fake_no_context())
        return fake_no_context();
    range = range_new(size, -1, -1);
    pages = range ? mmap(NULL, range->room, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                  : MAP_FAILED;
    if (pages == MAP_FAILED) {
        free(range);
        return OUT_OF_MEMORY;
    }
    range->start = (uintptr_t)pages;
    pthread_mutex_lock(&fake_lock);
    add(range);
    pthread_mutex_unlock(&fake_lock);
    *host = pages;
    return SUCCESS;
}

static bool is_registered(const void *host)
{
    const struct range *range;
    bool registered;

    pthread_mutex_lock(&fake_lock);
    range = find((uintptr_t)host);
    registered = range && range->registered;
    pthread_mutex_unlock(&fake_lock);
    return registered;
}

API int cuMemHostRegister_v2(void *host, size_t size, unsigned flags)
{
    struct range *range;
    int gpu;

    FAULT();
    UNSAFE();
    (void)flags;
    if (fake_no_context())
        return fake_no_context();
    if (fake_holds((uintptr_t)host, 1, &gpu))
        return ALREADY_PINNED;
    range = range_new(size, -1, -1);
    if (!range)
        return OUT_OF_MEMORY;
    range->start = (uintptr_t)host;
    range->registered = true;
    pthread_mutex_lock(&fake_lock);
    add(range);
    pthread_mutex_unlock(&fake_lock);
    return SUCCESS;
}

API int cuMemHostUnregister(void *host)
{
    UNSAFE();
    if (fake_no_context())
        return fake_no_context();
    if (!is_registered(host))
        return NOT_PINNED;
    wait_for_gpu();
    return drop((uintptr_t)host, true, false);
}

API int cuMemFreeHost(void *host)
{
    UNSAFE();
    if (fake_no_context())
        return fake_no_context();
    if (is_registered(host))
        return INVALID_VALUE;
    wait_for_gpu();
    return drop((uintptr_t)host, true, false);
}

API int cuPointerGetAttribute(void *out, int attribute, uint64_t pointer)
{
    int gpu = 0, result = INVALID_VALUE; /* the answer for host memory */
    uint64_t id = 0;
    struct context *context = fake_context_of(pointer);

    FAULT();
    pthread_mutex_lock(&fake_lock);
    queries++;
    if (fake_broken) {
        result = fake_broken;
    } else if (holds(pointer, 1, &gpu)) {
        result = SUCCESS;
        id = find(pointer)->bare ? 0 : find(pointer)->id;
    }
    pthread_mutex_unlock(&fake_lock);
    if (!result && attribute == ATTRIBUTE_MEMORY_TYPE)
        *(unsigned *)out = gpu < 0                       ? MEMORY_HOST
                           : getenv("FAKE_CUDA_UNIFIED") ? MEMORY_UNIFIED
                                                         : MEMORY_DEVICE;
    else if (!result && attribute == ATTRIBUTE_MANAGED)
        *(unsigned *)out = gpu >= 0 && getenv("FAKE_CUDA_UNIFIED");
    else if (!result && attribute == ATTRIBUTE_ORDINAL)
        *(int *)out = gpu < 0 ? 0 : gpu;
    else if (!result && attribute == ATTRIBUTE_ID)
        *(uint64_t *)out = id;
    else if (!result && attribute == ATTRIBUTE_CONTEXT)
        *(struct context **)out = context;
    else
        return result ? result : INVALID_VALUE;
    return result;
}

API int cuPointerSetAttribute(const void *value, int attribute,
                              uint64_t pointer)
{
    struct range *range;
    bool good, bare;

    FAULT();
    if (fake_no_context())
        return fake_no_context();
    pthread_mutex_lock(&fake_lock);
    range = find(pointer);
    bare = range && range->bare;
    good = !bare && value && attribute == ATTRIBUTE_SYNC && range &&
           range->gpu >= 0;
    if (good)
        range->in_step = true;
    pthread_mutex_unlock(&fake_lock);
    if (!good)
        return bare ? NOT_SUPPORTED : INVALID_VALUE;
    /* completes the copies whose calls have returned */
    return fake_settle(fake_context_of(pointer));
}

/* Exports whole pages as a dma-buf. They must be all of one allocation, because
 * the file starts where the allocation does. */
API int cuMemGetHandleForAddressRange(void *handle, uint64_t start, size_t size,
                                      int kind, unsigned long long flags)
{
    const struct range *range;
    int fd = -1;

    FAULT();
    if (kind != 1 || flags || start % PAGE || size % PAGE || !fake_current())
        return INVALID_VALUE;
    pthread_mutex_lock(&fake_lock);
    range = find(start);
    if (range && range->fd >= 0 && start - range->start <= range->room &&
        size <= range->room - (start - range->start))
        fd = fcntl(range->fd, F_DUPFD_CLOEXEC, 0);
    pthread_mutex_unlock(&fake_lock);
    if (fd < 0)
        return INVALID_VALUE;
    *(int *)handle = fd;
    return SUCCESS;
}

/* How many bytes at the end of a copy arrive only after the call has returned:
 * a copy from pageable memory returns when all of it is staged, and its end
 * reaches the GPU later. */
static size_t late_bytes(uint64_t to, const void *from, size_t size)
{
    enum { STAGED = 65536 };
    const struct range *range;
    bool pinned, in_step;

    pthread_mutex_lock(&fake_lock);
    pinned = find((uintptr_t)from) != NULL;
    range = find(to);
    in_step = range && range->in_step;
    pthread_mutex_unlock(&fake_lock);
    return pinned || in_step ? 0 : size < STAGED ? size : STAGED;
}

API int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size)
{
    size_t late;
    int gpu, code;

    FAULT();
    UNSAFE();
    if (fake_broken)
        return fake_broken;
    if (size && (!fake_holds(to, size, &gpu) || gpu < 0))
        return INVALID_VALUE;
    code = fake_sync_default(fake_context_of(to));
    if (code)
        return code;
    fake_spend(COST_COPY, size);
    late = late_bytes(to, from, size);
    memcpy(fake_real(to), from, size - late);
    return late ? fake_push_late(to + size - late,
                                 (const char *)from + size - late, late)
                : SUCCESS;
}

API int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size)
{
    int gpu, code;

    FAULT();
    UNSAFE();
    if (fake_broken)
        return fake_broken;
    if (size && (!fake_holds(from, size, &gpu) || gpu < 0))
        return INVALID_VALUE;
    code = fake_sync_default(fake_context_of(from));
    if (code)
        return code;
    fake_spend(COST_COPY, size);
    memcpy(to, fake_real(from), size);
    if (getenv("FAKE_CUDA_SPOIL") && size)
        ((char *)to)[0] ^= 1;
    return SUCCESS;
}

API int cuIpcGetMemHandle(struct handle *handle, uint64_t pointer)
{
    const struct range *range;
    struct exported exported = {.magic = MAGIC};

    FAULT();
    pthread_mutex_lock(&fake_lock);
    range = find(pointer);
    if (range && range->fd >= 0 && !range->bare)
        exported =
            (struct exported){MAGIC,        getpid(),    range->fd, range->gpu,
                              range->start, range->size, range->id};
    pthread_mutex_unlock(&fake_lock);
    if (!exported.size)
        return INVALID_VALUE;
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &exported, sizeof exported);
    return SUCCESS;
}

/* Opens the file that is open as `fd` in another process. */
static int open_of(int pid, int fd)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    return open(path, O_RDWR | O_CLOEXEC);
}

/* Finds the memory if this process has already opened it. Returns
 * ALREADY_MAPPED if the process has opened other memory that had these
 * addresses in the exporting process before. */
static int find_opened(const struct exported *exported, struct range **out)
{
    for (struct range *r = ranges; r; r = r->next)
        if (r->opens && r->from.pid == exported->pid &&
            r->from.start < exported->start + exported->size &&
            exported->start < r->from.start + r->from.size) {
            if (r->from.id != exported->id)
                return ALREADY_MAPPED;
            *out = r;
        }
    return SUCCESS;
}

/* Maps memory of another process that is not open yet. */
static int open_new(const struct exported *exported, struct range **out)
{
    struct range *range = range_new(exported->size, exported->gpu, -1);
    int fd = open_of(exported->pid, exported->fd);
    int code = fd >= 0 && range ? map_twice(range, fd, 0) : INVALID_HANDLE;

    if (fd >= 0)
        close(fd);
    if (!code && range->sharers->id != exported->id) {
        unmap(range); /* it was freed, and its descriptor now refers to other
                         memory */
        code = INVALID_HANDLE;
    }
    if (code) {
        free(range);
        return code;
    }
    add(range);
    range->from = *exported;
    fake_share(range->sharers, 0, getpid());
    *out = range;
    return SUCCESS;
}

API int cuIpcOpenMemHandle_v2(uint64_t *pointer, struct handle handle,
                              unsigned flags)
{
    struct exported exported;
    struct range *range = NULL;
    int code;

    FAULT();
    memcpy(&exported, &handle, sizeof exported);
    if (exported.magic != MAGIC || flags != 1 || !fake_current())
        return INVALID_VALUE;
    if (exported.pid == getpid())
        return INVALID_CONTEXT;
    pthread_mutex_lock(&fake_lock);
    code = find_opened(&exported, &range);
    if (!code && !range)
        code = open_new(&exported, &range);
    if (!code) {
        range->opens++;
        *pointer = range->start;
        /* as the flag requests, peer access to its GPU is enabled */
        fake_current()->reached |= 1u << exported.gpu;
    }
    pthread_mutex_unlock(&fake_lock);
    return code;
}

API int cuIpcCloseMemHandle(uint64_t pointer)
{
    if (fake_no_context())
        return fake_no_context();
    wait_for_gpu();
    return drop(pointer, false, true);
}

void *fake_page_new(int *fd)
{
    void *page = MAP_FAILED;

    *fd = memfd_create("fake-cuda-event", MFD_CLOEXEC);
    if (*fd >= 0 && !ftruncate(*fd, PAGE))
        page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    return page == MAP_FAILED ? NULL : page;
}

void *fake_page_open(int pid, int fd)
{
    int file = open_of(pid, fd);
    void *page = MAP_FAILED;

    if (file >= 0) {
        page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
    }
    return page == MAP_FAILED ? NULL : page;
}

void fake_page_close(void *page)
{
    munmap(page, PAGE);
}

/* How often the attributes of a pointer were queried. The real driver has no
 * such counter. */
API unsigned long fake_cuda_queries(void)
{
    return queries;
}

/* The address by which the host can access device memory, for the double of a
 * GPU-aware MPI. */
API void *fake_cuda_real(const void *pointer)
{
    return fake_real((uintptr_t)pointer);
}
