/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of GPU memory that is registered with an adapter, by the code that a
 * real adapter needs: the test double of libfabric enforces what such a
 * provider requires. They cover each result of registration: accepted, refused,
 * and with wrong results. They cover every protocol, copy and pair of memories,
 * and check every byte. Memory can also become impossible to register or be
 * freed meanwhile, and a provider can stop working. */
#include "base/random.h"
#include "channel/memory/nic_loopback.h"
#include "channel/state.h"

#include <dlfcn.h>
#include <rdma/fi_errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "support/ranks.h"

enum { LARGE = 700001, TAG = 3 };

static const size_t sizes[] = {1, 8, 4096, 8192, 8193, 262145, LARGE};

static void *symbol(const char *library, const char *name)
{
    void *found = dlsym(dlopen(library, RTLD_NOW), name);

    SHOULD(found != NULL);
    return found;
}

/* How often the driver has copied. */
static unsigned long copies(void)
{
    unsigned long (*uses)(const char *) =
        (unsigned long (*)(const char *))symbol("libcuda.so.1",
                                                "fake_cuda_uses");

    return uses("copy");
}

/* Sets how many regions of GPU memory may be registered. */
static void leave_room(int regions)
{
    void (*room)(int) =
        (void (*)(int))symbol("libfabric.so.1", "fake_hmem_room");

    room(regions);
}

static void *page(bool gpu, size_t bytes)
{
    void *memory = NULL;

    MUST(nw_channel_memory_new(gpu, bytes, &memory));
    return memory;
}

/* -- messages and their contents -- */

static void fill(void *memory, size_t bytes, int seed)
{
    char *words = malloc(bytes);

    for (size_t i = 0; i < bytes; i++)
        words[i] = (char)((size_t)seed + 7 * i + i / 251);
    MUST(nw_channel_memory_copy(memory, words, bytes));
    free(words);
}

static void check(const void *memory, size_t bytes, int seed)
{
    char *words = malloc(bytes);

    MUST(nw_channel_memory_copy(words, memory, bytes));
    for (size_t i = 0; i < bytes; i++)
        SHOULD(words[i] == (char)((size_t)seed + 7 * i + i / 251));
    free(words);
}

static nw_status pass(nw_channel *channel, bool sends, void *memory,
                      size_t bytes, struct nw_channel_result *result)
{
    struct nw_channel_message message = {memory, bytes, !channel->options.rank,
                                         TAG};
    nw_channel_request *request = NULL;
    nw_status status = sends ? nw_channel_send(channel, &message, &request)
                             : nw_channel_receive(channel, &message, &request);

    return status ? status : nw_channel_wait(&request, result);
}

/* Sends or receives one message and checks it; returns how often the driver
 * copied for it if this end has GPU memory. */
static unsigned long send_one(nw_channel *channel, bool sends, void *memory,
                              size_t bytes, int seed)
{
    unsigned long before;

    fill(memory, bytes, sends ? seed : seed + 1);
    before = copies();
    MUST(pass(channel, sends, memory, bytes, NULL));
    before = copies() - before;
    check(memory, bytes, seed);
    return before;
}

/* Passes messages of all sizes between all kinds of memory in both
 * directions. */
static void pass_all(nw_channel *channel, const struct job *job, int32_t rank)
{
    void *memory[2] = {page(false, LARGE), page(true, LARGE)};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int way = 0; way < 8; way++) {
            bool sends = (way & 1) == rank;
            bool gpu = way >> (1 + sends) & 1;
            bool rendezvous =
                sizes[i] > 8192 || job->protocol == NW_CHANNEL_RENDEZVOUS;
            unsigned long copied =
                send_one(channel, sends, memory[gpu], sizes[i], way + (int)i);

            /* only the adapter writes the bytes of a rendezvous, and those of a
             * way that asks for it; a sender may copy if reads by its adapter
             * are slow */
            if (job->more && !sends && (rendezvous || job->copy))
                SHOULD(!copied);
            if (job->more && sends && !rendezvous &&
                job->protocol == NW_CHANNEL_GATHER)
                SHOULD(!copied);
        }
    nw_channel_memory_free(false, memory[0]);
    nw_channel_memory_free(true, memory[1]);
}

static void tell(nw_channel *channel, const char *expected)
{
    const char *told = nw_channel_reach(channel, 0);

    if (strcmp(told, expected))
        fprintf(stderr, "reach: '%s', not '%s'\n", told, expected);
    SHOULD(!strcmp(told, expected));
}

static struct job job_of(void (*work)(nw_channel *, const struct job *,
                                      int32_t),
                         const char *expected)
{
    return (struct job){.count = 2,
                        .provider = "verbs;ofi_rxm",
                        .gpu = true,
                        .work = work,
                        .more = expected};
}

/* -- which way is taken -- */

static void expect_reach(nw_channel *channel, const struct job *job,
                         int32_t rank)
{
    struct job all = *job;

    tell(channel, job->more);
    all.more = strncmp(job->more, "by ", 3) ? NULL : job->more;
    pass_all(channel, &all, rank);
}

static char modules[] = "/tmp/nodewise-modules-XXXXXX";

static void load_module(bool loaded)
{
    char path[sizeof modules + 32];

    snprintf(path, sizeof path, "%s/nvidia_peermem", modules);
    if (loaded)
        assert_int_equal(mkdir(path, 0700), 0);
    else
        (void)rmdir(path);
}

static const struct {
    const char *refuse, *wrong, *minor;
    bool module;
    const char *expected;
} cases[] = {
    {"", "", "20", false, "by dma-buf"},
    {"gather", "", "20", true, "by dma-buf"},
    {"dmabuf", "", "20", true,
     "by peer memory (dma-buf: provider verbs;ofi_rxm cannot register memory: "
     "Operation not supported)"},
    {"", "", "17", true,
     "by peer memory (dma-buf: libfabric takes none before 1.20)"},
    {"", "dmabuf", "20", true,
     "by peer memory (dma-buf: a trial write into it moves wrong bytes)"},
    {"", "", "17", false,
     "staged (dma-buf: libfabric takes none before 1.20; peer memory: no "
     "module nvidia_peermem is loaded)"},
    {"dmabuf,peer", "", "20", true,
     "staged (dma-buf: provider verbs;ofi_rxm cannot register memory: "
     "Operation not supported; peer memory: provider verbs;ofi_rxm cannot "
     "register memory: Operation not supported)"},
    {"", "dmabuf,peer", "20", true,
     "staged (dma-buf: a trial write into it moves wrong bytes; peer memory: "
     "a trial write into it moves wrong bytes)"},
    {"hint", "", "20", true,
     "staged (libfabric has no provider 'verbs;ofi_rxm' for GPU memory here: "
     "No data available)"},
};

static void the_first_that_works_is_taken(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job job = job_of(expect_reach, cases[i].expected);

        setenv("FAKE_HMEM_REFUSE", cases[i].refuse, 1);
        setenv("FAKE_HMEM_WRONG", cases[i].wrong, 1);
        setenv("FAKE_HMEM_MINOR", cases[i].minor, 1);
        load_module(false);
        load_module(cases[i].module);
        assert_int_equal(ranks_run(&job), 0);
    }
    unsetenv("FAKE_HMEM_REFUSE");
    unsetenv("FAKE_HMEM_WRONG");
    unsetenv("FAKE_HMEM_MINOR");
}

/* A driver that exports no dma-bufs. */
static void the_driver_gives_none(void **state)
{
    struct job job = job_of(
        expect_reach, "by peer memory (dma-buf: the CUDA driver fails to give "
                      "a dma-buf: operation not supported (error 801))");

    (void)state;
    load_module(false);
    load_module(true);
    setenv("FAKE_CUDA_FAIL", "cuMemGetHandleForAddressRange:0:801", 1);
    assert_int_equal(ranks_run(&job), 0);
    unsetenv("FAKE_CUDA_FAIL");
}

/* -- every protocol and copy -- */

static void all_bytes_come(void **state)
{
    static const struct {
        enum nw_channel_protocol protocol;
        enum nw_channel_copy copy;
    } ways[] = {{NW_CHANNEL_GATHER, NW_CHANNEL_LOOPBACK},
                {NW_CHANNEL_PACK, NW_CHANNEL_LOOPBACK},
                {NW_CHANNEL_TWO, NW_CHANNEL_LOOPBACK},
                {NW_CHANNEL_TWO, NW_CHANNEL_NAIVE},
                {NW_CHANNEL_RENDEZVOUS, NW_CHANNEL_COPY_AUTO},
                {NW_CHANNEL_CMA, NW_CHANNEL_LOOPBACK}};

    (void)state;
    for (int i = 0; i < 12; i++) {
        struct job job = job_of(pass_all, "the adapter");

        job.protocol = ways[i % 6].protocol;
        job.copy = ways[i % 6].copy;
        if (job.copy == NW_CHANNEL_NAIVE)
            job.more = NULL;
        if (i >= 6)
            setenv("FAKE_HMEM_OFFSETS", "1", 1);
        assert_int_equal(ranks_run(&job), 0);
    }
    unsetenv("FAKE_HMEM_OFFSETS");
}

/* -- the lifetime of registrations -- */

/* The registrations of one rank run out: then all messages are staged there, or
 * kept registrations are dropped. */
static void run_out(nw_channel *channel, const struct job *job, int32_t rank)
{
    struct job staged = *job;
    void *memory[4];

    staged.more = NULL;
    pass_all(channel, &staged, rank);
    if (rank == job->messages)
        leave_room(0);
    pass_all(channel, &staged, rank);
    leave_room(2);
    for (int i = 0; i < 4; i++)
        memory[i] = page(true, LARGE);
    for (int i = 0; i < 12; i++)
        SHOULD(!send_one(channel, (i & 1) == rank, memory[i % 4], LARGE, i) ||
               (i & 1) == rank);
    for (int i = 0; i < 4; i++)
        nw_channel_memory_free(true, memory[i]);
}

static void registrations_run_out(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct job job = job_of(run_out, NULL);

        job.messages = i & 1;
        if (i & 2) {
            job.protocol = NW_CHANNEL_GATHER;
            job.copy = NW_CHANNEL_LOOPBACK;
        }
        assert_int_equal(ranks_run(&job), 0);
    }
}

/* Memory is freed and allocated again between messages, without a call of the
 * channel. */
static void free_between(nw_channel *channel, const struct job *job,
                         int32_t rank)
{
    (void)job;
    for (int i = 0; i < 2 * NW_RCACHE_REGIONS + 8; i++) {
        void *memory = page(true, 20000);
        unsigned long copied =
            send_one(channel, (i & 1) == rank, memory, 20000, i);

        SHOULD(!copied || (i & 1) == rank);
        SHOULD(channel->regions[1].count <= NW_RCACHE_REGIONS);
        nw_channel_memory_free(true, memory);
    }
}

static void freed_memory_is_registered_anew(void **state)
{
    struct job job = job_of(free_between, NULL);

    (void)state;
    assert_int_equal(ranks_run(&job), 0);
}

/* Resets the GPU of each process between messages, whose memory then has the
 * addresses of memory that was registered before. */
static void reset_between(nw_channel *channel, const struct job *job,
                          int32_t rank)
{
    int (*reset)(int) =
        (int (*)(int))symbol("libcuda.so.1", "cuDevicePrimaryCtxReset_v2");

    (void)job;
    for (int i = 0; i < 18; i++) {
        void *memory = page(true, 20000);

        (void)send_one(channel, (i & 1) == rank, memory, sizes[i / 2 % 3], i);
        nw_channel_memory_free(true, memory);
        if (i % 6 == 5)
            SHOULD(!reset(0));
    }
}

static void resets_leave_no_registrations(void **state)
{
    struct job job = job_of(reset_between, NULL);

    (void)state;
    for (int i = 0; i < 2; i++) {
        job.copy = i ? NW_CHANNEL_LOOPBACK : NW_CHANNEL_COPY_AUTO;
        job.protocol = i ? NW_CHANNEL_GATHER : NW_CHANNEL_RENDEZVOUS;
        assert_int_equal(ranks_run(&job), 0);
    }
}

/* Sends far more messages of GPU memory in both directions than the receiver
 * has room for, all at the same time. */
static void flood(nw_channel *channel, const struct job *job, int32_t rank)
{
    enum { MANY = 1000, STEP = 1024 };
    nw_channel_request *requests[2][MANY];
    char *memory[2] = {page(true, MANY * STEP), page(true, MANY * STEP)};

    (void)job;
    fill(memory[0], MANY * STEP, rank);
    fill(memory[1], MANY * STEP, 5);
    for (int i = 0; i < MANY; i++)
        for (int in = 0; in < 2; in++) {
            struct nw_channel_message message = {memory[in] + i * STEP, STEP,
                                                 !rank, TAG};

            MUST(in ? nw_channel_receive(channel, &message, &requests[in][i])
                    : nw_channel_send(channel, &message, &requests[in][i]));
        }
    for (int i = 0; i < 2 * MANY; i++)
        MUST(nw_channel_wait(&requests[i & 1][i / 2], NULL));
    check(memory[1], MANY * STEP, !rank);
    for (int i = 0; i < 2; i++)
        nw_channel_memory_free(true, memory[i]);
}

static void nothing_is_lost_in_a_flood(void **state)
{
    static const enum nw_channel_protocol protocols[] = {
        NW_CHANNEL_GATHER, NW_CHANNEL_PACK, NW_CHANNEL_TWO};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct job job = job_of(flood, NULL);

        job.protocol = protocols[i];
        job.copy = NW_CHANNEL_LOOPBACK;
        assert_int_equal(ranks_run(&job), 0);
    }
}

/* Registrations of GPU memory are kept, their number is bounded, and they never
 * refer to freed memory. */
static void keep_regions(nw_channel *channel, const struct job *job,
                         int32_t rank)
{
    enum { BUFFERS = 100, BYTES = 10000 };
    static const char *const names[] = {"verbs;ofi_rxm", NULL};
    struct nw_endpoint fabric = {0};
    struct nw_rcache regions = {0};
    struct nw_region *region = NULL, *held = NULL;
    struct nw_random random;
    void *memory[BUFFERS];

    (void)channel;
    (void)rank;
    MUST(nw_endpoint_open(names, true, &fabric));
    nw_random_init(&random, 11);
    for (int i = 0; i < BUFFERS; i++)
        memory[i] = page(true, BYTES);
    MUST(nw_rcache_take(&regions, &fabric,
                        &(struct nw_channel_message){.buffer = memory[0]},
                        &held));
    for (int i = 0; i < job->messages; i++) {
        uint64_t at = nw_random_below(&random, BUFFERS);
        struct nw_channel_message inside = {
            .buffer = (char *)memory[at] + nw_random_below(&random, BYTES)};

        MUST(nw_rcache_take(&regions, &fabric, &inside, &region));
        SHOULD(region->start == (uintptr_t)memory[at]);
        SHOULD((at == 0) == (region == held)); /* in use, so it is never
                                                  dropped */
        SHOULD(regions.count <= NW_RCACHE_REGIONS);
        nw_rcache_give(region);
    }
    SHOULD(regions.count == NW_RCACHE_REGIONS);
    SHOULD(regions.hits > (uint64_t)job->messages / 2);
    nw_channel_memory_free(true, memory[0]);
    SHOULD(nw_rcache_take(&regions, &fabric,
                          &(struct nw_channel_message){.buffer = memory[0]},
                          &region) == NW_ECUDA);
    nw_rcache_give(held);
    nw_rcache_close(&regions);
    nw_endpoint_close(&fabric);
    for (int i = 1; i < BUFFERS; i++)
        nw_channel_memory_free(true, memory[i]);
}

static void regions_are_kept_and_bounded(void **state)
{
    struct job job = job_of(keep_regions, NULL);

    job.count = 1;
    job.messages = 3000;

    (void)state;
    assert_int_equal(ranks_run(&job), 0);
}

/* -- GPU memory that the adapter reads for its own process -- */

static nw_status pull_out(struct nw_loopback *pull, char *gpu, size_t bytes,
                          int seed)
{
    static char came[NW_LOOPBACK_BYTES + 1];
    struct nw_memory_range range;
    unsigned long before;
    nw_status status;

    fill(gpu, bytes, seed);
    MUST(nw_memory_range(gpu, &range));
    memset(came, 0x55, sizeof came);
    before = copies();
    status = nw_loopback_out(pull, came, gpu, bytes, &range);
    SHOULD(copies() == before);
    if (status)
        return status;
    check(came, bytes, seed);
    SHOULD(came[bytes] == 0x55);
    return NW_OK;
}

/* Reads more allocations than the number of kept registrations; some are freed
 * and allocated again in between. */
static void pull_all(nw_channel *channel, const struct job *job, int32_t rank)
{
    struct nw_loopback *pull = NULL;

    (void)channel, (void)rank;
    setenv("NODEWISE_CHANNEL_PROVIDER", "verbs;ofi_rxm", 1);
    if (job->messages) {
        SHOULD(nw_loopback_open(&pull) == NW_ENODEV);
        return;
    }
    MUST(nw_loopback_open(&pull));
    for (int i = 0; i < NW_RCACHE_REGIONS + 8; i++) {
        char *memory = page(true, 2 * NW_LOOPBACK_BYTES),
             *other = page(true, 64);

        MUST(pull_out(pull, memory, 1, i));
        MUST(pull_out(pull, memory + i, 4096 + (size_t)i, i + 1));
        MUST(pull_out(pull, other, 64, i + 2));
        MUST(pull_out(pull, memory + NW_LOOPBACK_BYTES, NW_LOOPBACK_BYTES,
                      i + 3));
        nw_channel_memory_free(true, memory);
        if (i % 3)
            nw_channel_memory_free(true, other);
    }
    leave_room(0);
    SHOULD(pull_out(pull, page(true, 64), 64, 1) == NW_EIO);
    SHOULD(!nw_loopback_hangs(pull));
    leave_room(1);
    MUST(pull_out(pull, page(true, 64), 64, 2));
    nw_loopback_close(pull);
}

static void bytes_are_pulled(void **state)
{
    struct job job = job_of(pull_all, NULL);

    (void)state;
    assert_int_equal(ranks_run(&job), 0);
    setenv("FAKE_HMEM_OFFSETS", "1", 1);
    assert_int_equal(ranks_run(&job), 0);
    unsetenv("FAKE_HMEM_OFFSETS");
    setenv("FAKE_HMEM_WRONG", "dmabuf,peer", 1);
    job.messages = 1;
    assert_int_equal(ranks_run(&job), 0);
    unsetenv("FAKE_HMEM_WRONG");
}

/* -- the provider stops working -- */

static struct fi_ops_cq nothing;

static ssize_t read_nothing(struct fid_cq *queue, void *entries, size_t count)
{
    (void)queue, (void)entries, (void)count;
    return -FI_ENODEV;
}

static void vanish(nw_channel *channel, const struct job *job, int32_t rank)
{
    struct fid_cq *queue = channel->fabric[1].cq;
    struct fi_ops_cq *before = queue->ops;
    void *memory = page(true, LARGE);
    nw_channel_request *request = NULL;
    struct nw_channel_message message = {memory, LARGE, !rank, TAG};

    (void)send_one(channel, rank == 0, memory, LARGE, 1);
    if (job->messages)
        MUST(rank ? nw_channel_receive(channel, &message, &request)
                  : nw_channel_send(channel, &message, &request));
    nothing = *before;
    nothing.read = read_nothing;
    queue->ops = &nothing;
    if (request)
        SHOULD(nw_channel_wait(&request, NULL) == NW_EIO);
    SHOULD(pass(channel, rank == 0, memory, LARGE, NULL) == NW_EIO);
    SHOULD(pass(channel, rank == 0, memory, 8, NULL) == NW_EIO);
    queue->ops = before;
    nw_channel_memory_free(true, memory);
}

static void a_provider_vanishes(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct job job = job_of(vanish, NULL);

        job.messages = i;
        assert_int_equal(ranks_run(&job), 0);
    }
}

static int make_modules(void **state)
{
    (void)state;
    if (!mkdtemp(modules))
        return -1;
    return setenv("NODEWISE_CHANNEL_MODULES", modules, 1);
}

static int drop_modules(void **state)
{
    (void)state;
    load_module(false);
    return rmdir(modules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_kept_and_bounded),
        cmocka_unit_test(the_first_that_works_is_taken),
        cmocka_unit_test(the_driver_gives_none),
        cmocka_unit_test(all_bytes_come),
        cmocka_unit_test(registrations_run_out),
        cmocka_unit_test(freed_memory_is_registered_anew),
        cmocka_unit_test(resets_leave_no_registrations),
        cmocka_unit_test(nothing_is_lost_in_a_flood),
        cmocka_unit_test(bytes_are_pulled),
        cmocka_unit_test(a_provider_vanishes),
    };

    /* large messages within one host must also go through the adapter */
    setenv("NODEWISE_CHANNEL_IPC", "off", 1);
    return cmocka_run_group_tests(tests, make_modules, drop_modules);
}
