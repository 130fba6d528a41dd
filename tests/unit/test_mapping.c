/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the methods of accessing GPU memory without the driver, with the
 * driver's test double. Each case runs in a process of its own.
 *
 * The resident kernel:
 * - It copies messages of any size and address, and changes no other byte.
 * - It ends after a time without messages, and when the mapping is closed.
 * - If other work occupies the whole GPU, the driver copies, and no message
 *   waits for the kernel.
 * - If the kernel fails, the driver copies all messages that it still can.
 *
 * Memory of Vulkan (Mesa's implementation in software, or a real one): the CPU,
 * the driver and kernels see the same bytes. */
#include "base/file.h"
#include "base/random.h"
#include "channel/memory/mapping.h"
#include "channel/memory/memory.h"
#include "channel/memory/vulkan.h"
#include "gpu/gpu.h"

#include <nodewise/channel.h>

#include <dirent.h>
#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MUST(call) must((call) == NW_OK, #call, __LINE__)
#define SHOULD(condition) must(condition, #condition, __LINE__)

enum { ROOM = 1 << 18, GUARD = 64, ENOUGH = 4 };

static void must(bool good, const char *what, int line)
{
    if (good)
        return;
    fprintf(stderr, "line %d: %s: %s\n", line, what, nw_error_text());
    _exit(1);
}

static void *driver(const char *name)
{
    void *found = dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);

    must(found != NULL, name, __LINE__);
    return found;
}

static void in_process(void (*work)(void))
{
    int how = 0;
    pid_t child = fork();

    if (!child) {
        alarm(120); /* a hang makes the test fail */
        work();
        exit(0);
    }
    waitpid(child, &how, 0);
    assert_int_equal(how, 0);
}

static const struct nw_gpu_mapping *open_resident(void)
{
    const struct nw_gpu_mapping *mapping;

    setenv("NODEWISE_CHANNEL_MAPPING", "resident", 1);
    mapping = nw_gpu_mapping_open();
    SHOULD(mapping && !strcmp(mapping->name, "resident"));
    return mapping;
}

static void fill(char *memory, size_t bytes, uint64_t seed)
{
    struct nw_random random;

    nw_random_init(&random, seed);
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        uint64_t word = nw_random_next(&random);

        memcpy(memory + i, &word,
               bytes - i < sizeof word ? bytes - i : sizeof word);
    }
}

static uint64_t served(void)
{
    struct nw_resident_counts counts;

    nw_resident_count(&counts);
    return counts.served;
}

/* Stores a message of random size at a random place and loads it again, and
 * checks the bytes around it. */
static void try_one(const struct nw_gpu_mapping *mapping, int32_t gpu,
                    char *device, struct nw_random *random)
{
    static _Thread_local char mine[ROOM], back[ROOM], whole[ROOM];
    size_t most = nw_random_below(random, 4) ? 300 : ROOM - 2 * GUARD;
    size_t bytes = nw_random_below(random, most + 1);
    size_t at = GUARD + nw_random_below(random, ROOM - 2 * GUARD - bytes + 1);

    fill(whole, ROOM, nw_random_below(random, 1000));
    fill(mine, bytes, nw_random_below(random, 1000));
    MUST(nw_memory_copy_in(gpu, device, whole, ROOM));
    MUST(nw_gpu_mapping_store(mapping, device + at, mine, bytes));
    memcpy(whole + at, mine, bytes);
    MUST(nw_memory_copy_out(gpu, back, device, ROOM));
    SHOULD(!memcmp(back, whole, ROOM));
    memset(back, 1, bytes + 1);
    MUST(nw_gpu_mapping_load(mapping, back, device + at, bytes));
    SHOULD(!memcmp(back, mine, bytes) && back[bytes] == 1);
}

static char *memory_of(int32_t gpu, size_t bytes)
{
    void *memory = NULL;

    MUST(nw_gpu_cuda.select(gpu));
    MUST(nw_gpu_cuda.alloc(bytes, &memory));
    return memory;
}

/* Makes stores and loads in such quick succession that a resident kernel is
 * started, until it has served enough of them. */
static void use(const struct nw_gpu_mapping *mapping, char *device)
{
    uint64_t goal = served() + ENOUGH;

    for (unsigned i = 0; served() < goal; i++) {
        unsigned back = 0;

        MUST(nw_gpu_mapping_store(mapping, device, &i, sizeof i));
        MUST(nw_gpu_mapping_load(mapping, &back, device, sizeof back));
        SHOULD(back == i);
    }
}

/* Makes resident kernels stay longer, since on a busy machine the host may be
 * slow to give the next order. */
static void stay(void)
{
    setenv("FAKE_CUDA_STAY", "100", 1);
}

static void any_bytes(void)
{
    const struct nw_gpu_mapping *mapping = open_resident();
    struct nw_random random;

    stay();
    nw_random_init(&random, 5);
    for (int32_t gpu = 0; gpu < 2; gpu++) {
        char *device = memory_of(gpu, ROOM);

        for (int i = 0; i < 20; i++) {
            use(mapping, device);
            try_one(mapping, gpu, device, &random);
        }
        nw_gpu_cuda.free(device);
    }
    nw_gpu_mapping_close(mapping);
}

static void test_any_bytes(void **state)
{
    (void)state;
    in_process(any_bytes);
}

static void *one_thread(void *mapping)
{
    struct nw_random random;
    char *device = memory_of(1, ROOM);

    nw_random_init(&random, (uintptr_t)device);
    for (int i = 0; i < 15; i++)
        try_one(mapping, 1, device, &random);
    return NULL;
}

static void threads(void)
{
    const struct nw_gpu_mapping *mapping = open_resident();
    pthread_t thread[3];

    stay();
    nw_gpu_cuda.free(memory_of(1, 1)); /* initialises the double before there
                                          are several threads */
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, one_thread, (void *)mapping);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    nw_gpu_mapping_close(mapping);
}

static void test_threads(void **state)
{
    (void)state;
    in_process(threads);
}

/* The resident kernel ends by itself, or this test would wait for ever; and
 * closing the mapping frees everything. */
static void leaves(void)
{
    long (*live)(void);
    const struct nw_gpu_mapping *mapping = open_resident(), *again;
    char *device = memory_of(0, ROOM);
    long before;

    /* otherwise work would wait for kernels of other tests on the double's
     * GPU */
    setenv("FAKE_CUDA_MPS", "1", 1);
    *(void **)&live = driver("fake_cuda_live");
    MUST(nw_gpu_cuda.select(1)); /* what the library has in a context */
    MUST(nw_gpu_cuda.select(0));
    before = live();
    stay(); /* 5 ms at most */
    for (int i = 0; i < 3; i++) {
        char *other = memory_of(0, 1);

        use(mapping, device);
        nw_gpu_cuda.free(other); /* waits for the whole GPU */
    }
    SHOULD(live() > before);
    again = nw_gpu_mapping_open();
    nw_gpu_mapping_close(mapping);
    use(again, device);
    nw_gpu_mapping_close(again);
    SHOULD(live() == before);
}

static void test_leaves(void **state)
{
    (void)state;
    in_process(leaves);
}

static void full_gpu(void)
{
    void (*others)(int);
    const struct nw_gpu_mapping *mapping = open_resident();
    char *device = memory_of(0, ROOM);
    struct nw_resident_counts counts;
    struct nw_random random;

    *(void **)&others = driver("fake_cuda_fill");
    nw_random_init(&random, 3);
    others(1);
    do /* in quick succession, otherwise no kernel is started */
        MUST(nw_gpu_mapping_store(mapping, device, "ab", 2));
    while (nw_resident_count(&counts), !counts.launched);
    for (int i = 0; i < 20; i++)
        try_one(mapping, 0, device, &random);
    nw_resident_count(&counts);
    SHOULD(counts.launched == 1 && counts.served == 0 && counts.driven > 40);
    others(0);
    stay();
    use(mapping, device);
    nw_gpu_mapping_close(mapping);
}

static void test_full_gpu(void **state)
{
    (void)state;
    in_process(full_gpu);
}

static void no_kernel(void)
{
    struct nw_resident_counts counts;
    struct nw_random random;
    const struct nw_gpu_mapping *mapping;
    char *device;

    setenv("FAKE_CUDA_FAIL", "cuLaunchKernel", 1);
    mapping = open_resident();
    device = memory_of(0, ROOM);
    nw_random_init(&random, 9);
    for (int i = 0; i < 30; i++)
        try_one(mapping, 0, device, &random);
    nw_resident_count(&counts);
    SHOULD(!counts.launched && !counts.served && counts.driven == 60);
    nw_gpu_mapping_close(mapping);
}

static void test_no_kernel(void **state)
{
    (void)state;
    in_process(no_kernel);
}

static void bad_memory(void)
{
    const struct nw_gpu_mapping *mapping = open_resident();
    char *device = memory_of(0, 1000), *other = memory_of(0, 10), byte = 0;
    void (*reset)(int);

    stay();
    use(mapping, device);
    SHOULD(nw_gpu_mapping_store(mapping, device + 999, "ab", 2) == NW_ECUDA);
    SHOULD(nw_gpu_mapping_load(mapping, &byte, device + 1000, 1) == NW_ECUDA);
    SHOULD(nw_gpu_mapping_store(mapping, &byte, "a", 1) != NW_OK);
    nw_gpu_cuda.free(other);
    SHOULD(nw_gpu_mapping_store(mapping, other, "a", 1) == NW_ECUDA);
    use(mapping, device);
    *(void **)&reset = driver("fake_cuda_break");
    reset(719);
    SHOULD(nw_gpu_mapping_store(mapping, device, "a", 1) == NW_ECUDA);
    nw_gpu_mapping_close(mapping);
}

static void test_bad_memory(void **state)
{
    (void)state;
    in_process(bad_memory);
}

/* After preparation, a message needs nothing that is not there yet. */
static void ready_at_open(void)
{
    long (*live)(void);
    const struct nw_gpu_mapping *mapping = open_resident();
    char *device = memory_of(0, ROOM);
    long before;

    setenv("FAKE_CUDA_MPS", "1", 1); /* as in leaves() */
    *(void **)&live = driver("fake_cuda_live");
    nw_gpu_mapping_prepare(mapping);
    before = live();
    stay();
    use(mapping, device);
    SHOULD(live() == before);
    nw_gpu_mapping_close(mapping);
}

static void test_ready_at_open(void **state)
{
    (void)state;
    in_process(ready_at_open);
}

/* Two processes on one GPU, whose work takes turns unless MPS runs. */
static void share(int32_t rank, int meet)
{
    const struct nw_gpu_mapping *mapping = &nw_gpu_mapping_resident;
    unsigned long (*turns)(void);
    struct nw_resident_counts counts;
    bool mps = getenv("FAKE_CUDA_MPS");
    char *device, byte = 'a';

    *(void **)&turns = driver("fake_cuda_turns");
    SHOULD(nw_memory_open() && mapping->open());
    device = memory_of(0, ROOM);
    mapping->prepare(0);
    SHOULD(write(meet, &byte, 1) == 1 && read(meet, &byte, 1) == 1);
    usleep(2000); /* the kernel may have been started before the other
                     process used the GPU */
    counts.launched = 0;
    for (int i = 0; i < 2000 || (mps && !counts.launched); i++) {
        MUST(nw_gpu_mapping_store(mapping, device, &rank, sizeof rank));
        nw_resident_count(&counts);
    }
    SHOULD(write(meet, &byte, 1) == 1 && read(meet, &byte, 1) == 1);
    nw_resident_count(&counts);
    SHOULD((counts.launched > 0) == mps);
    SHOULD(turns() == 0);
    nw_gpu_mapping_close(mapping);
}

static void share_both(void)
{
    int meet[2], how = 0;
    pid_t child;

    setenv("FAKE_CUDA_UUID", "5ead0000000000000000000000000000", 1);
    SHOULD(!socketpair(AF_UNIX, SOCK_STREAM, 0, meet));
    child = fork();
    if (!child) {
        alarm(120);
        share(1, meet[1]);
        exit(0);
    }
    share(0, meet[0]);
    SHOULD(waitpid(child, &how, 0) == child && !how);
}

static void share_with_mps(void)
{
    setenv("FAKE_CUDA_MPS", "1", 1);
    share_both();
}

static void test_nobody_waits_for_it(void **state)
{
    (void)state;
    in_process(share_both);
    in_process(share_with_mps);
}

/* cudaDeviceReset frees everything, and the next use sets up everything
 * again. */
static void reset_gpu(void)
{
    const struct nw_gpu_mapping *mapping = open_resident();
    int (*reset)(int);
    char *device = memory_of(0, ROOM);

    *(void **)&reset = driver("cuDevicePrimaryCtxReset_v2");
    stay();
    use(mapping, device);
    SHOULD(!reset(0));
    device = memory_of(0, ROOM);
    use(mapping, device);
    SHOULD(!reset(0));
    nw_gpu_mapping_close(mapping);
}

static void test_reset(void **state)
{
    (void)state;
    in_process(reset_gpu);
}

/* Kernels of one context must not touch memory of another. */
static void other_context(void)
{
    const struct nw_gpu_mapping *mapping = open_resident();
    int (*create)(void **, unsigned, int), (*alloc)(uint64_t *, size_t);
    char *device = memory_of(0, ROOM);
    struct nw_random random;
    uint64_t theirs = 0;
    void *context;

    *(void **)&create = driver("cuCtxCreate_v2");
    *(void **)&alloc = driver("cuMemAlloc_v2");
    stay();
    use(mapping, device);
    SHOULD(!create(&context, 0, 0) && !alloc(&theirs, ROOM));
    nw_random_init(&random, 8);
    for (int i = 0; i < 20; i++) {
        try_one(mapping, 0, (char *)theirs, &random);
        MUST(nw_gpu_cuda.select(0));
        use(mapping, device);
    }
    nw_gpu_mapping_close(mapping);
}

static void test_other_context(void **state)
{
    (void)state;
    in_process(other_context);
}

/* Memory of two adjacent pieces, as expandable segments have. */
static char *mapped_memory(size_t piece)
{
    int (*reserve)(uint64_t *, size_t, size_t, uint64_t, unsigned long long);
    int (*create)(void **, size_t, const void *, unsigned long long);
    int (*map)(uint64_t, size_t, size_t, void *, unsigned long long);
    int (*release)(void *);
    const int properties[8] = {1, 0, 1, 0};
    uint64_t start = 0;
    void *physical;

    *(void **)&reserve = driver("cuMemAddressReserve");
    *(void **)&create = driver("cuMemCreate");
    *(void **)&map = driver("cuMemMap");
    *(void **)&release = driver("cuMemRelease");
    SHOULD(!reserve(&start, 2 * piece, 0, 0, 0));
    for (int i = 0; i < 2; i++)
        SHOULD(!create(&physical, piece, properties, 0) &&
               !map(start + i * piece, piece, 0, physical, 0) &&
               !release(physical));
    return (char *)start;
}

/* Memory that the driver describes only in part is copied by the driver. */
static void pool_memory(void)
{
    const struct nw_gpu_mapping *mapping = open_resident();
    int (*alloc)(uint64_t *, size_t, void *);
    char *device = memory_of(0, ROOM);
    uint64_t pool = 0;
    struct nw_random random;

    *(void **)&alloc = driver("cuMemAllocAsync");
    stay();
    nw_random_init(&random, 4);
    SHOULD(!alloc(&pool, ROOM, NULL));
    for (int i = 0; i < 20; i++) {
        use(mapping, device);
        try_one(mapping, 0, (char *)pool, &random);
        use(mapping, device);
        try_one(mapping, 0, mapped_memory(ROOM / 2), &random);
    }
    nw_gpu_mapping_close(mapping);
}

static void test_pool_memory(void **state)
{
    (void)state;
    in_process(pool_memory);
}

static const char *chosen(const char *word)
{
    const struct nw_gpu_mapping *mapping;
    const char *name;

    if (word)
        setenv("NODEWISE_CHANNEL_MAPPING", word, 1);
    mapping = nw_gpu_mapping_open();
    name = mapping ? mapping->name : "none";
    nw_gpu_mapping_close(mapping);
    return name;
}

static void by_name(void)
{
    SHOULD(!strcmp(chosen(NULL), "gdrcopy")); /* that of the test double */
    SHOULD(!strcmp(chosen("auto"), "gdrcopy"));
    SHOULD(!strcmp(chosen("gdrcopy"), "gdrcopy"));
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    SHOULD(!strcmp(chosen("resident"), "none"));
    setenv("CUDA_LAUNCH_BLOCKING", "0", 1);
    SHOULD(!strcmp(chosen("resident"), "resident"));
    SHOULD(!strcmp(chosen("none"), "none"));
}

static void test_by_name(void **state)
{
    (void)state;
    in_process(by_name);
}

/* GDRCopy keeps a mapping while a thread copies through it, although so many
 * other allocations are used that all entries of its cache are replaced. If all
 * are in use, it maps no more memory. */
static void kept_in_use(void)
{
    enum { MOST = 64 };
    const struct nw_gpu_mapping *mapping = &nw_gpu_mapping_gdrcopy;
    struct nw_mapped mapped[MOST + 1];
    void *memory[MOST + 1];
    char word = 'a', back = 0;

    SHOULD(nw_memory_open() && mapping->open());
    for (int i = 0; i <= MOST; i++)
        MUST(nw_memory_new(0, 64, &memory[i]));
    MUST(mapping->map(memory[0], 64, &mapped[0]));
    for (int i = 1; i <= MOST; i++) {
        MUST(nw_gpu_mapping_store(mapping, memory[i], &word, 1));
        MUST(nw_gpu_mapping_load(mapping, &back, memory[i], 1));
        SHOULD(back == word);
    }
    nw_mapped_write(mapping, &mapped[0], mapped[0].at, &word, 1);
    nw_mapped_release(mapping, &mapped[0]);
    for (int i = 0; i < MOST; i++)
        MUST(mapping->map(memory[i], 64, &mapped[i]));
    SHOULD(nw_gpu_mapping_store(mapping, memory[MOST], &word, 1));
    nw_mapped_release(mapping, &mapped[MOST / 2]);
    MUST(nw_gpu_mapping_store(mapping, memory[MOST], &word, 1));
    for (int i = 0; i <= MOST; i++)
        nw_memory_free(memory[i]);
}

static void test_kept_in_use(void **state)
{
    (void)state;
    in_process(kept_in_use);
}

/* Times that were measured with one way are not used for another. */
static void tables(void)
{
    const char *words[] = {"gdrcopy", "resident"};

    setenv("XDG_CACHE_HOME", "/nowhere", 1);
    unsetenv("NODEWISE_CHANNEL_TABLE");
    for (int i = 0; i < 2; i++) {
        char *path = NULL;
        const char *end;

        setenv("NODEWISE_CHANNEL_MAPPING", words[i], 1);
        MUST(nw_channel_table_path(&path));
        end = strrchr(path, '-');
        SHOULD(end && !strcmp(end + 1, words[i]));
        free(path);
    }
}

static void test_tables(void **state)
{
    (void)state;
    in_process(tables);
}

/* -- Vulkan -- */

/* Gives GPU 0 of the double the UUID of Mesa's device. Other devices do not
 * count, since only their own driver can read what they export. */
static bool find_vulkan(void)
{
    unsigned char uuid[16];
    char words[40] = "";
    glob_t found;

    if (glob("/usr/share/vulkan/icd.d/lvp_icd.*.json", 0, NULL, &found)) {
        fprintf(stderr, "SKIP no Vulkan in software (mesa-vulkan-drivers)\n");
        return false;
    }
    setenv("VK_ICD_FILENAMES", found.gl_pathv[0], 1);
    globfree(&found);
    if (nw_vulkan_first(uuid)) {
        fprintf(stderr, "SKIP %s\n", nw_error_text());
        return false;
    }
    for (int i = 0; i < 16; i++)
        snprintf(words + 2 * i, 3, "%02x", uuid[i]);
    setenv("FAKE_CUDA_UUID", words, 1);
    return true;
}

/* Runs the test in a process that ends by _exit, so that no leak checker looks
 * at what Mesa does not free. */
static void with_vulkan(void (*work)(void))
{
    int how = 0;
    pid_t child = fork();

    if (!child) {
        alarm(120);
        work();
        _exit(0);
    }
    waitpid(child, &how, 0);
    if (WIFEXITED(how) && WEXITSTATUS(how) == 77)
        skip();
    assert_int_equal(how, 0);
}

static int descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void need_vulkan(void)
{
    if (!find_vulkan())
        _exit(77);
}

static void one_memory(void)
{
    enum { BYTES = 70000 };
    static char mine[BYTES], back[BYTES];
    const struct nw_gpu_mapping *mapping;
    void *memory = NULL, *other;
    char *host;
    long (*live)(void);
    long before;

    need_vulkan();
    setenv("NODEWISE_CHANNEL_MAPPING", "vulkan", 1);
    mapping = nw_gpu_mapping_open();
    SHOULD(mapping && !strcmp(mapping->name, "vulkan"));
    nw_gpu_cuda.free(memory_of(0, 1)); /* so that what the library keeps on a
                                          GPU is not counted below */
    *(void **)&live = driver("fake_cuda_live");
    MUST(nw_gpu_cuda.select(1)); /* what the library has in a context */
    MUST(nw_gpu_cuda.select(0));
    before = live();
    MUST(nw_channel_memory_new(true, BYTES, &memory));
    host = nw_vulkan_at(memory, BYTES);
    SHOULD(host && nw_memory_gpu(memory) == 0 && host != memory);
    fill(mine, BYTES, 1);
    MUST(nw_gpu_mapping_store(mapping, (char *)memory + 5, mine, BYTES - 5));
    MUST(nw_memory_copy_out(0, back, memory, BYTES));
    SHOULD(!memcmp(back + 5, mine, BYTES - 5));
    MUST(nw_memory_copy_in(0, memory, mine, BYTES));
    SHOULD(!memcmp(host, mine, BYTES));
    MUST(nw_gpu_mapping_load(mapping, back, memory, BYTES));
    SHOULD(!memcmp(back, mine, BYTES));
    other = memory_of(0, 100);
    SHOULD(nw_gpu_mapping_serves(mapping, memory));
    SHOULD(!nw_gpu_mapping_serves(mapping, other));
    SHOULD(nw_gpu_mapping_store(mapping, other, "a", 1) == NW_ECUDA);
    SHOULD(nw_gpu_mapping_store(mapping, (char *)memory + 131072, "a", 1) ==
           NW_ECUDA);
    nw_gpu_cuda.free(other);
    nw_channel_memory_free(true, memory);
    SHOULD(live() == before && !nw_vulkan_is_used());
    SHOULD(nw_gpu_mapping_store(mapping, memory, "a", 1) == NW_ECUDA);
    nw_gpu_mapping_close(mapping);
}

static void test_one_memory(void **state)
{
    (void)state;
    with_vulkan(one_memory);
}

/* Where Vulkan is used, the inbox of the resident kernel is in its memory, and
 * orders arrive there. */
static void inbox_on_gpu(void)
{
    const struct nw_gpu_mapping *mapping;
    struct nw_resident_counts counts;
    struct nw_random random;
    void *memory = NULL, *host = NULL;
    char *device;

    need_vulkan();
    stay();
    MUST(nw_gpu_cuda.open(&(int32_t){0}));
    MUST(nw_vulkan_new(0, ROOM, &memory, &host));
    mapping = open_resident();
    device = memory_of(0, ROOM);
    SHOULD(!strcmp(nw_channel_mapping(NULL), "vulkan, resident"));
    nw_random_init(&random, 11);
    for (int i = 0; i < 15; i++) {
        use(mapping, device);
        try_one(mapping, 0, device, &random);
    }
    try_one(mapping, 0, memory, &random);
    nw_resident_count(&counts);
    SHOULD(counts.beside && counts.beside == counts.launched);
    nw_gpu_mapping_close(mapping);
    SHOULD(nw_vulkan_free(memory) && !nw_vulkan_is_used());
}

static void test_inbox_on_gpu(void **state)
{
    (void)state;
    with_vulkan(inbox_on_gpu);
}

/* If a step of the import fails, memory is allocated by the driver, and nothing
 * stays open. */
static void no_import(void)
{
    static const char *const calls[] = {"cuImportExternalMemory:1",
                                        "cuExternalMemoryGetMappedBuffer:2"};
    char words[100];
    int before = 0;

    need_vulkan();
    snprintf(words, sizeof words, "%s,%s", calls[0], calls[1]);
    setenv("FAKE_CUDA_FAIL", words, 1);
    setenv("NODEWISE_CHANNEL_MAPPING", "vulkan", 1);
    for (int i = 0; i < 4; i++) {
        void *memory = NULL;

        MUST(nw_channel_memory_new(true, 4096, &memory));
        /* the calls that fail are the first import and the second mapping,
         * which is in the third try */
        SHOULD(nw_vulkan_is_used() == (i == 1 || i == 3));
        SHOULD(nw_memory_gpu(memory) == 0);
        nw_channel_memory_free(true, memory);
        if (!i)
            before = descriptors();
    }
    SHOULD(descriptors() == before);
}

static void test_no_import(void **state)
{
    (void)state;
    with_vulkan(no_import);
}

static void no_such_gpu(void)
{
    void *memory = NULL, *host = NULL;

    need_vulkan();
    setenv("FAKE_CUDA_UUID", "00112233445566778899aabbccddeeff", 1);
    setenv("NODEWISE_CHANNEL_MAPPING", "vulkan", 1);
    SHOULD(!nw_gpu_mapping_open());
    MUST(nw_channel_memory_new(true, 4096, &memory));
    SHOULD(!nw_vulkan_is_used());
    nw_channel_memory_free(true, memory);
    SHOULD(nw_vulkan_new(0, 1, &memory, &host) == NW_ENODEV);
}

static void test_no_such_gpu(void **state)
{
    (void)state;
    with_vulkan(no_such_gpu);
}

/* Two processes, each with a buffer in memory of Vulkan: both ends of
 * messages. */
static void one_rank(int32_t rank, const char *file)
{
    struct nw_channel_options options = NW_CHANNEL_OPTIONS_INIT;
    struct nw_channel_message message = {.peer = !rank};
    struct nw_channel_request *request = NULL;
    struct nw_channel_counts counts;
    nw_channel *channel = NULL;
    static char mine[8192], back[8192];

    need_vulkan();
    options.rank = rank;
    options.count = 2;
    options.file = file;
    options.timeout_ms = 120000;
    options.copy = NW_CHANNEL_FASTCOPY;
    setenv("NODEWISE_CHANNEL_MAPPING", "vulkan", 1);
    MUST(nw_channel_memory_new(true, sizeof mine, &message.buffer));
    MUST(nw_channel_open(&options, &channel));
    SHOULD(!strcmp(nw_channel_mapping(channel), "vulkan"));
    for (size_t bytes = 1; bytes <= sizeof mine; bytes *= 2) {
        message.bytes = bytes;
        fill(mine, bytes, bytes);
        if (rank)
            MUST(nw_channel_receive(channel, &message, &request));
        else
            MUST(nw_memory_copy_in(0, message.buffer, mine, bytes));
        if (!rank)
            MUST(nw_channel_send(channel, &message, &request));
        MUST(nw_channel_wait(&request, NULL));
        MUST(nw_memory_copy_out(0, back, message.buffer, bytes));
        SHOULD(!memcmp(back, mine, bytes));
    }
    nw_channel_count(channel, &counts);
    SHOULD(counts.copied[NW_CHANNEL_FASTCOPY] == (rank ? 14 : 0));
    nw_channel_close(channel);
    nw_channel_memory_free(true, message.buffer);
}

static void messages(void)
{
    char file[NW_FILE_UNNAMED_PATH];
    int fd = -1, how = 0;
    pid_t child;

    MUST(nw_file_unnamed(file, &fd));
    child = fork();
    one_rank(child != 0, file);
    if (!child)
        _exit(0);
    waitpid(child, &how, 0);
    SHOULD(how == 0);
}

static void test_messages(void **state)
{
    (void)state;
    with_vulkan(messages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_leaves),
        cmocka_unit_test(test_full_gpu),
        cmocka_unit_test(test_no_kernel),
        cmocka_unit_test(test_bad_memory),
        cmocka_unit_test(test_by_name),
        cmocka_unit_test(test_kept_in_use),
        cmocka_unit_test(test_one_memory),
        cmocka_unit_test(test_inbox_on_gpu),
        cmocka_unit_test(test_no_import),
        cmocka_unit_test(test_no_such_gpu),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_ready_at_open),
        cmocka_unit_test(test_nobody_waits_for_it),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_other_context),
        cmocka_unit_test(test_pool_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
