/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of channels between real processes. They cover every protocol, pair of
 * memories and size, with tags and wildcards. Peers die, senders send more than
 * the receiver can accept, and headers arrive that no correct peer sends. GPU
 * memory is that of the test double of the driver. */
#include "channel/memory/memory.h"
#include "channel/memory/registration_cache.h"
#include "channel/memory/sharing.h"
#include "channel/memory/shared_gpu_copy.h"
#include "channel/proto/nonce.h"
#include "channel/proto/wire.h"

#include "base/random.h"

#include <nodewise/channel.h>

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/ranks.h"

/* -- a random exchange whose result every rank can compute -- */

/* A message of the exchange. */
struct letter {
    int32_t from, to, tag;
    size_t bytes;
    bool from_gpu, to_gpu;
};

/* Draws all messages of the job; every rank draws the same ones. */
static struct letter *draw(const struct job *job)
{
    struct letter *letters = calloc((size_t)job->messages, sizeof *letters);
    struct nw_random random;

    nw_random_init(&random, 7);
    for (int i = 0; i < job->messages; i++) {
        struct letter *one = &letters[i];

        one->from = (int32_t)nw_random_below(&random, (uint64_t)job->count);
        one->to = (int32_t)nw_random_below(&random, (uint64_t)job->count);
        one->tag = (int32_t)nw_random_below(&random, 3);
        one->bytes = nw_random_below(&random, job->largest + 1);
        if (nw_random_below(&random, 3))
            one->bytes %= 9000;
        if (!nw_random_below(&random, 10))
            one->bytes = 0;
        one->from_gpu = job->gpu && nw_random_below(&random, 2);
        one->to_gpu = job->gpu && nw_random_below(&random, 2);
    }
    return letters;
}

/* Byte i of a message. */
static char byte_of(int letter, size_t i)
{
    return (char)(letter * 31 + (int)(i * 7) + (int)(i >> 8));
}

/* Allocates memory of the host or of a GPU. */
static void *page(bool gpu, size_t bytes)
{
    void *memory = NULL;

    MUST(nw_channel_memory_new(gpu, bytes + 1, &memory));
    return memory;
}

static nw_channel_request *send_letter(nw_channel *channel, int i,
                                       const struct letter *one, void **memory)
{
    nw_channel_request *request = NULL;
    char *words = malloc(one->bytes + 1);

    for (size_t b = 0; b < one->bytes; b++)
        words[b] = byte_of(i, b);
    *memory = page(one->from_gpu, one->bytes);
    MUST(nw_channel_memory_copy(*memory, words, one->bytes));
    free(words);
    MUST(nw_channel_send(
        channel,
        &(struct nw_channel_message){*memory, one->bytes, one->to, one->tag},
        &request));
    return request;
}

static void check_letter(int i, const struct letter *one, void *memory,
                         const struct nw_channel_result *result)
{
    char *words = malloc(one->bytes + 1);

    SHOULD(result->peer == one->from && result->tag == one->tag);
    SHOULD(result->bytes == one->bytes);
    MUST(nw_channel_memory_copy(words, memory, one->bytes));
    for (size_t b = 0; b < one->bytes; b++)
        SHOULD(words[b] == byte_of(i, b));
    free(words);
}

/* Sends and receives all messages of the rank. Even messages are sent before
 * their receive is posted, odd ones after it. Receives name their source, their
 * tag or both, and are posted in the order of the messages. A receive with a
 * source and any tag therefore gets the next message of that source. */
static void exchange(nw_channel *channel, const struct job *job, int32_t rank)
{
    struct letter *letters = draw(job);
    nw_channel_request **sends = calloc((size_t)job->messages, sizeof *sends);
    nw_channel_request **receives =
        calloc((size_t)job->messages, sizeof *receives);
    void **out = calloc((size_t)job->messages, sizeof *out);
    void **in = calloc((size_t)job->messages, sizeof *in);
    struct nw_channel_counts counts;

    for (int late = 0; late < 2; late++)
        for (int i = 0; i < job->messages; i++) {
            const struct letter *one = &letters[i];

            if (one->from == rank && !late)
                sends[i] = send_letter(channel, i, one, &out[i]);
            if (one->to != rank || (rank % 2) != late)
                continue;
            in[i] = page(one->to_gpu, one->bytes);
            MUST(nw_channel_receive(channel,
                                    &(struct nw_channel_message){
                                        in[i], one->bytes, one->from, one->tag},
                                    &receives[i]));
        }
    for (int i = 0; i < job->messages; i++) {
        struct nw_channel_result result;

        if (receives[i]) {
            MUST(nw_channel_wait(&receives[i], &result));
            check_letter(i, &letters[i], in[i], &result);
            nw_channel_memory_free(letters[i].to_gpu, in[i]);
        }
        if (sends[i]) {
            MUST(nw_channel_wait(&sends[i], &result));
            nw_channel_memory_free(letters[i].from_gpu, out[i]);
        }
    }
    nw_channel_count(channel, &counts);
    SHOULD(!counts.malformed && !counts.lost_peers);
    if (job->protocol && !job->staged &&
        (job->protocol != NW_CHANNEL_CMA || !strcmp(job->provider, "shm")))
        SHOULD(counts.sent[job->protocol] > 0);
    /* with these providers, no adapter can access GPU memory */
    if (job->copy && job->protocol != NW_CHANNEL_RENDEZVOUS)
        SHOULD(counts.copied[job->copy == NW_CHANNEL_LOOPBACK ? NW_CHANNEL_NAIVE
                                                              : job->copy] > 0);
    free(letters);
    free(sends);
    free(receives);
    free(out);
    free(in);
}

static const char *const providers[] = {"shm", "tcp;ofi_rxm"};

static void host_by_every_protocol(void **state)
{
    (void)state;
    for (int provider = 0; provider < 2; provider++)
        for (int protocol = 0; protocol < NW_CHANNEL_PROTOCOLS; protocol++) {
            struct job job = {.count = 2 + protocol % 3,
                              .provider = providers[provider],
                              .protocol = (enum nw_channel_protocol)protocol,
                              .largest = 600000,
                              .messages = 80,
                              .work = exchange};

            assert_int_equal(ranks_run(&job), 0);
        }
}

/* Sends eager messages that are larger than the part size of shm but fit into a
 * slot. The kernel does not copy the messages that a process sends to
 * itself. */
static void eager_ones_beyond_parts(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct job job = {.count = 2,
                          .provider = providers[way / 2],
                          .protocol =
                              way % 2 ? NW_CHANNEL_AUTO : NW_CHANNEL_GATHER,
                          .slot_bytes = 65536,
                          .largest = 66000,
                          .messages = 80,
                          .work = exchange};

        assert_int_equal(ranks_run(&job), 0);
    }
}

static void gpu_by_every_way(void **state)
{
    (void)state;
    for (int way = 0; way < 12; way++) {
        struct job job = {
            .count = 2,
            .provider = providers[way / 6 ^ way % 2],
            .protocol = (enum nw_channel_protocol)(way % NW_CHANNEL_PROTOCOLS),
            .copy = (enum nw_channel_copy)(way % NW_CHANNEL_COPIES),
            .gpu = true,
            .largest = 700000,
            .messages = 80,
            .work = exchange};

        assert_int_equal(ranks_run(&job), 0);
    }
}

/* GPU memory that is accessible only by copies of the driver. */
static void gpu_through_pinned_pieces(void **state)
{
    (void)state;
    for (int provider = 0; provider < 2; provider++) {
        struct job job = {.count = 3,
                          .provider = providers[provider],
                          .gpu = true,
                          .staged = true,
                          .largest = 3000000,
                          .messages = 60,
                          .work = exchange};

        assert_int_equal(ranks_run(&job), 0);
    }
}

/* -- a program that uses another GPU than the first -- */

static bool is_in_use(int32_t gpu)
{
    int (*state)(int, unsigned *, int *) =
        (int (*)(int, unsigned *, int *))dlsym(dlopen("libcuda.so.1", RTLD_NOW),
                                               "cuDevicePrimaryCtxGetState");
    unsigned flags;
    int active = 0;

    SHOULD(state && !state(gpu, &flags, &active));
    return active;
}

/* All that the channel allocates or opens must belong to the current GPU: a
 * context on the first GPU would need memory there, or be refused. */
static void exchange_on_the_second(nw_channel *channel, const struct job *job,
                                   int32_t rank)
{
    struct nw_channel_counts counts;
    void *memory = page(true, 1), *before = nw_gpu_cuda.context();
    int32_t gpu = -1;

    SHOULD(nw_gpu_cuda.holds(memory, &gpu) && gpu == 1);
    nw_channel_memory_free(true, memory);
    exchange(channel, job, rank);
    nw_channel_count(channel, &counts);
    SHOULD(strcmp(job->provider, "shm") || job->protocol || counts.opened);
    SHOULD(before && nw_gpu_cuda.context() == before);
    SHOULD(is_in_use(1) && !is_in_use(0));
}

static void only_the_current_gpu_is_used(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct job job = {.count = 2,
                          .provider = providers[i % 2],
                          .protocol =
                              i / 2 ? NW_CHANNEL_RENDEZVOUS : NW_CHANNEL_AUTO,
                          .gpu = true,
                          .second = true,
                          .resident = i == 2,
                          .staged = i == 3,
                          .largest = 700000,
                          .messages = 80,
                          .work = exchange_on_the_second};

        assert_int_equal(ranks_run(&job), 0);
    }
}

/* -- wildcards, truncation, cancelling -- */

static void any_of_all(nw_channel *channel, const struct job *job, int32_t rank)
{
    int32_t word, last[4] = {-1, -1, -1, -1};
    int each = job->messages;

    for (int i = 0; rank && i < each; i++) {
        nw_channel_request *request = NULL;
        int32_t mine = rank * 1000 + i;

        MUST(nw_channel_send(
            channel, &(struct nw_channel_message){&mine, sizeof mine, 0, i % 5},
            &request));
        MUST(nw_channel_wait(&request, NULL));
    }
    for (int i = 0; !rank && i < each * (job->count - 1); i++) {
        nw_channel_request *request = NULL;
        struct nw_channel_result result;

        MUST(nw_channel_receive(channel,
                                &(struct nw_channel_message){&word, sizeof word,
                                                             NW_CHANNEL_ANY,
                                                             NW_CHANNEL_ANY},
                                &request));
        MUST(nw_channel_wait(&request, &result));
        SHOULD(word / 1000 == result.peer && word % 1000 % 5 == result.tag);
        SHOULD(word % 1000 == last[result.peer] + 1); /* none is lost or
                                                         received twice */
        last[result.peer] = word % 1000;
    }
}

static void any_source_in_order(void **state)
{
    struct job job = {.count = 4, .messages = 300, .work = any_of_all};

    (void)state;
    assert_int_equal(ranks_run(&job), 0);
}

static void too_much(nw_channel *channel, const struct job *job, int32_t rank)
{
    static char many[100000], few[1000 + 8];
    nw_channel_request *request = NULL;
    struct nw_channel_result result;

    memset(many, 5, sizeof many);
    for (int i = 0; i < 2; i++) {
        size_t bytes = i ? sizeof many : 2000;

        if (rank) {
            MUST(nw_channel_send(
                channel, &(struct nw_channel_message){many, bytes, 0, 1},
                &request));
            MUST(nw_channel_wait(&request, NULL));
            continue;
        }
        memset(few, 0, sizeof few);
        MUST(nw_channel_receive(
            channel, &(struct nw_channel_message){few, 1000, 1, 1}, &request));
        SHOULD(nw_channel_wait(&request, &result) == NW_EINVAL);
        SHOULD(result.bytes == bytes);
        SHOULD(few[0] == 5 && few[999] == 5 && few[1000] == 0);
    }
    if (!rank) {
        MUST(nw_channel_receive(
            channel, &(struct nw_channel_message){few, 10, 1, 2}, &request));
        nw_channel_cancel(request);
        SHOULD(nw_channel_wait(&request, NULL) == NW_ECANCELLED);
    }
    (void)job;
}

static void truncation_and_cancel(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct job job = {
            .count = 2, .provider = providers[i], .work = too_much};

        assert_int_equal(ranks_run(&job), 0);
    }
}

/* -- a slow receiver, and peers that die -- */

static void flood(nw_channel *channel, const struct job *job, int32_t rank)
{
    enum { MANY = 1500 };
    static nw_channel_request *requests[MANY];
    static int32_t words[MANY];
    struct nw_channel_counts counts;

    if (!rank)
        ranks_await(1); /* no rendezvous is granted before */
    for (int32_t i = 0; i < MANY; i++) {
        struct nw_channel_message message = {&words[i], sizeof words[i], !rank,
                                             3};

        words[i] = rank ? i : -1;
        if (rank)
            MUST(nw_channel_send(channel, &message, &requests[i]));
        else
            MUST(nw_channel_receive(channel, &message, &requests[i]));
    }
    if (rank)
        ranks_reach(1);
    for (int32_t i = 0; i < MANY; i++) {
        MUST(nw_channel_wait(&requests[i], NULL));
        SHOULD(words[i] == i);
    }
    nw_channel_count(channel, &counts);
    SHOULD(!rank || counts.stalled > MANY / 2);
    (void)job;
}

static void nothing_lost_in_a_flood(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct job job = {.count = 2,
                          .provider = providers[i],
                          .protocol = i ? NW_CHANNEL_AUTO : NW_CHANNEL_TWO,
                          .work = flood};

        assert_int_equal(ranks_run(&job), 0);
    }
}

/* Rank 1 dies with messages in flight; rank 0 gets an error, and rank 2 is not
 * affected. */
static void mourn(nw_channel *channel, const struct job *job, int32_t rank)
{
    static char large[400000];
    char word = 0;
    nw_channel_request *requests[3] = {NULL};
    struct nw_channel_counts counts;

    (void)job;
    if (rank == 1) {
        MUST(nw_channel_send(
            channel, &(struct nw_channel_message){large, sizeof large, 0, 9},
            &requests[0]));
        (void)kill(getpid(), SIGKILL);
    }
    if (!rank) {
        MUST(nw_channel_receive(channel,
                                &(struct nw_channel_message){&word, 1, 1, 4},
                                &requests[0]));
        MUST(nw_channel_send(
            channel, &(struct nw_channel_message){large, sizeof large, 1, 5},
            &requests[1]));
        SHOULD(nw_channel_wait(&requests[0], NULL) == NW_EIO);
        SHOULD(nw_channel_wait(&requests[1], NULL) == NW_EIO);
        MUST(nw_channel_receive(
            channel, &(struct nw_channel_message){&word, 1, NW_CHANNEL_ANY, 6},
            &requests[2]));
        MUST(nw_channel_wait(&requests[2], NULL));
        SHOULD(word == 7);
        SHOULD(!nw_channel_receive(channel,
                                   &(struct nw_channel_message){large, 9, 1, 9},
                                   &requests[2]) &&
               nw_channel_wait(&requests[2], NULL) == NW_EIO);
        nw_channel_count(channel, &counts);
        SHOULD(counts.lost_peers == 1);
    } else {
        word = 7;
        MUST(nw_channel_send(channel,
                             &(struct nw_channel_message){&word, 1, 0, 6},
                             &requests[2]));
        MUST(nw_channel_wait(&requests[2], NULL));
    }
}

static void a_peer_dies(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct job job = {.count = 3, .provider = providers[i], .work = mourn};

        assert_int_equal(ranks_run(&job), 1); /* only the killed rank failed */
    }
}

/* Rank 2 sends nothing and closes its channel: the others must treat it as a
 * peer that has left, not as one that died. */
static void leave(nw_channel *channel, const struct job *job, int32_t rank)
{
    struct nw_channel_counts counts;
    nw_channel_request *request = NULL;
    char word = 0;

    (void)job;
    if (rank == 2)
        return;
    MUST(nw_channel_receive(
        channel, &(struct nw_channel_message){&word, 1, 2, 4}, &request));
    SHOULD(nw_channel_wait(&request, NULL) == NW_EIO);
    nw_channel_count(channel, &counts);
    SHOULD(!counts.lost_peers);
}

static void a_peer_without_messages_leaves(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct job job = {.count = 3, .provider = providers[i], .work = leave};

        assert_int_equal(ranks_run(&job), 0);
    }
}

/* -- GPU memory that the other process opens -- */

/* Repeats messages with memory that is freed and allocated again at the same
 * addresses: the driver opens the new memory only when the mapping of the old
 * one is closed. */
static void open_anew(nw_channel *channel, const struct job *job, int32_t rank)
{
    struct nw_channel_counts counts;
    size_t bytes = 300000;
    char *words = malloc(bytes);

    for (int round = 0; round < 4; round++) {
        void *memory = page(true, bytes);
        nw_channel_request *request = NULL;
        struct nw_channel_message message = {memory, bytes, !rank, round};

        memset(words, rank ? 0 : 'a' + round, bytes);
        MUST(nw_channel_memory_copy(memory, words, bytes));
        MUST(rank ? nw_channel_receive(channel, &message, &request)
                  : nw_channel_send(channel, &message, &request));
        MUST(nw_channel_wait(&request, NULL));
        MUST(nw_channel_memory_copy(words, memory, bytes));
        for (size_t i = 0; i < bytes; i++)
            SHOULD(words[i] == 'a' + round);
        nw_channel_memory_free(true, memory);
    }
    nw_channel_count(channel, &counts);
    SHOULD(counts.opened == (rank || job->messages ? 0u : 4u));
    free(words);
}

static void large_ones_are_copied_into_opened_memory(void **state)
{
    struct job job = {.count = 2, .gpu = true, .work = open_anew};

    (void)state;
    assert_int_equal(ranks_run(&job), 0);
    /* memory that cannot be opened is sent in another way */
    job.messages = 1;
    setenv("FAKE_CUDA_FAIL", "cuIpcOpenMemHandle_v2", 1);
    assert_int_equal(ranks_run(&job), 0);
    setenv("FAKE_CUDA_FAIL", "cuIpcGetMemHandle", 1);
    assert_int_equal(ranks_run(&job), 0);
    unsetenv("FAKE_CUDA_FAIL");
}

/* The receiver frees its memory. The sender has it open and must close it while
 * it waits for the next message, which is sent only afterwards. */
static void open_and_pause(nw_channel *channel, const struct job *job,
                           int32_t rank)
{
    long (*live)(void);
    void *memory = page(true, 300000);
    struct nw_channel_message large = {memory, 300000, !rank, 1},
                              small = {NULL, 0, !rank, 2};
    nw_channel_request *request = NULL;
    bool done = false;
    long before;

    (void)job;
    *(void **)&live = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "fake_cuda_live");
    SHOULD(live != NULL);
    MUST(rank ? nw_channel_receive(channel, &large, &request)
              : nw_channel_send(channel, &large, &request));
    MUST(nw_channel_wait(&request, NULL));
    before = live();
    if (rank) {
        nw_channel_memory_free(true, memory);
        SHOULD(live() == before - 1);
        ranks_await(1);
        MUST(nw_channel_send(channel, &small, &request));
    } else {
        MUST(nw_channel_receive(channel, &small, &request));
        while (live() != before - 1) /* a hang makes the test fail */
            MUST(nw_channel_test(&request, &done, NULL));
        SHOULD(!done);
        ranks_reach(1);
    }
    MUST(nw_channel_wait(&request, NULL));
    if (!rank)
        nw_channel_memory_free(true, memory);
}

static void opened_memory_is_not_kept_for_ever(void **state)
{
    struct job job = {.count = 2, .gpu = true, .work = open_and_pause};

    (void)state;
    assert_int_equal(ranks_run(&job), 0);
}

/* If some memory of a peer cannot be opened, its other memory still is. */
static void open_but_one(nw_channel *channel, const struct job *job,
                         int32_t rank)
{
    struct nw_channel_counts counts;
    void *memory[3];

    (void)job;
    for (int i = 0; i < 3; i++) {
        nw_channel_request *request = NULL;
        struct nw_channel_message message = {memory[i] = page(true, 300000),
                                             300000, !rank, i};

        MUST(rank ? nw_channel_receive(channel, &message, &request)
                  : nw_channel_send(channel, &message, &request));
        MUST(nw_channel_wait(&request, NULL));
    }
    for (int i = 0; i < 3; i++)
        nw_channel_memory_free(true, memory[i]);
    nw_channel_count(channel, &counts);
    SHOULD(counts.opened == (rank ? 0u : 2u));
}

static void one_that_is_refused_leaves_the_others(void **state)
{
    struct job job = {.count = 2, .gpu = true, .work = open_but_one};

    (void)state;
    setenv("FAKE_CUDA_FAIL", "cuIpcOpenMemHandle_v2:1", 1);
    assert_int_equal(ranks_run(&job), 0);
    unsetenv("FAKE_CUDA_FAIL");
}

/* The CPU reads a small message from mapped GPU memory line by line, and the
 * driver copies a larger one. The test double counts both. */
static void send_out_of_gpu(nw_channel *channel, const struct job *job,
                            int32_t rank)
{
    static const size_t sizes[] = {100, 8000};
    unsigned long (*uses)(const char *);

    (void)job;
    *(void **)&uses = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "fake_cuda_uses");
    SHOULD(uses != NULL);
    for (int i = 0; i < 2; i++) {
        char words[8000], *memory = page(true, sizes[i]);
        struct nw_channel_message message = {memory, sizes[i], !rank, i};
        nw_channel_request *request = NULL;
        unsigned long loads;

        memset(words, rank ? 0 : 'a' + i, sizes[i]);
        MUST(nw_channel_memory_copy(memory, words, sizes[i]));
        loads = uses("load");
        MUST(rank ? nw_channel_receive(channel, &message, &request)
                  : nw_channel_send(channel, &message, &request));
        MUST(nw_channel_wait(&request, NULL));
        SHOULD(uses("load") - loads == (!rank && !i ? 1u : 0u));
        MUST(nw_channel_memory_copy(words, memory, sizes[i]));
        for (size_t at = 0; at < sizes[i]; at++)
            SHOULD(words[at] == 'a' + i);
        nw_channel_memory_free(true, memory);
    }
}

static void small_ones_are_loaded_by_the_cpu(void **state)
{
    struct job job = {.count = 2, .gpu = true, .work = send_out_of_gpu};

    (void)state;
    assert_int_equal(ranks_run(&job), 0);
}

/* Memory of a pool has no id, its copies are not synchronous, and other
 * processes cannot open it: its messages are copied, however other messages are
 * sent. */
static void send_from_pool(nw_channel *channel, const struct job *job,
                           int32_t rank)
{
    static const size_t sizes[] = {8, 5000, 30000, 300000};
    int (*alloc)(void **, size_t, void *);
    struct nw_channel_counts counts;

    (void)job;
    *(void **)&alloc =
        dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuMemAllocAsync");
    for (int i = 0; i < 16; i++) {
        size_t bytes = sizes[i % 4];
        nw_channel_request *request = NULL;
        struct nw_channel_message message = {NULL, bytes, !rank, i};
        char *words = malloc(bytes);
        void *other = page(true, bytes); /* this makes a GPU current */

        SHOULD(!alloc(&message.buffer, bytes, NULL));
        memset(words, rank ? 0 : 'a' + i, bytes);
        MUST(nw_channel_memory_copy(message.buffer, words, bytes));
        MUST(rank ? nw_channel_receive(channel, &message, &request)
                  : nw_channel_send(channel, &message, &request));
        MUST(nw_channel_wait(&request, NULL));
        MUST(nw_channel_memory_copy(words, message.buffer, bytes));
        for (size_t b = 0; b < bytes; b++)
            SHOULD(words[b] == 'a' + i);
        nw_channel_memory_free(true, other);
        free(words);
    }
    nw_channel_count(channel, &counts);
    SHOULD(!counts.opened);
}

static void pool_memory_is_copied(void **state)
{
    struct job job = {.count = 2, .gpu = true, .work = send_from_pool};

    (void)state;
    for (int i = 0; i < 3; i++) {
        job.copy = i == 1 ? NW_CHANNEL_LOOPBACK : NW_CHANNEL_COPY_AUTO;
        job.resident = i == 2;
        assert_int_equal(ranks_run(&job), 0);
    }
}

/* Two processes use one GPU; each of them announces this before it copies. */
static void copy_in_turns(nw_channel *channel, const struct job *job,
                          int32_t rank)
{
    static const size_t sizes[] = {1, 2, 3, 8, 1001, 32767, 32768, 32769};
    struct nw_channel_message none = {NULL, 0, !rank, 1};
    nw_channel_request *requests[2] = {NULL};
    char *words = malloc(32769), *back = malloc(32769);
    void *memory = page(true, 32769);
    bool mps = getenv("FAKE_CUDA_MPS") != NULL;

    (void)job;
    nw_sharing_join(0);
    MUST(nw_channel_send(channel, &none, &requests[0]));
    MUST(nw_channel_receive(channel, &none, &requests[1]));
    for (int i = 0; i < 2; i++)
        MUST(nw_channel_wait(&requests[i], NULL));
    usleep(2000); /* a resident kernel was requested before the other process
                     had announced itself */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t b = 0; b < sizes[i]; b++)
            words[b] = (char)(b * 7 + i);
        SHOULD(nw_turns_serve(0, memory, sizes[i]) == (!mps && i > 0 && i < 7));
        MUST(nw_memory_copy_in(0, memory, words, sizes[i]));
        MUST(nw_memory_copy_out(0, back, memory, sizes[i]));
        SHOULD(!memcmp(words, back, sizes[i]));
    }
    /* neither process leaves while the other still checks */
    MUST(nw_channel_send(channel, &none, &requests[0]));
    MUST(nw_channel_receive(channel, &none, &requests[1]));
    for (int i = 0; i < 2; i++)
        MUST(nw_channel_wait(&requests[i], NULL));
    nw_channel_memory_free(true, memory);
    free(words);
    free(back);
}

static void small_copies_take_no_turns(void **state)
{
    struct job job = {.count = 2, .gpu = true, .work = copy_in_turns};

    (void)state;
    assert_int_equal(ranks_run(&job), 0);
    setenv("FAKE_CUDA_MPS", "1", 1);
    assert_int_equal(ranks_run(&job), 0);
    unsetenv("FAKE_CUDA_MPS");
}

/* Sends messages one at a time, so that each is timed. A few are sent in either
 * way before the faster way is kept. */
static void weigh(nw_channel *channel, const struct job *job, int32_t rank)
{
    enum { BYTES = 16384, MESSAGES = 24, TRIED = 4 };
    void *memory = page(true, BYTES);
    struct nw_channel_counts counts;
    char words[BYTES];

    for (int i = 0; i < MESSAGES; i++) {
        struct nw_channel_message all = {memory, BYTES, !rank, 1},
                                  none = {NULL, 0, !rank, 2};
        nw_channel_request *request = NULL;

        memset(words, rank ? 0 : 'a' + i, BYTES);
        MUST(nw_channel_memory_copy(memory, words, BYTES));
        MUST(rank ? nw_channel_receive(channel, &all, &request)
                  : nw_channel_send(channel, &all, &request));
        MUST(nw_channel_wait(&request, NULL));
        MUST(rank ? nw_channel_send(channel, &none, &request)
                  : nw_channel_receive(channel, &none, &request));
        MUST(nw_channel_wait(&request, NULL));
        MUST(nw_channel_memory_copy(words, memory, BYTES));
        SHOULD(words[0] == 'a' + i && words[BYTES - 1] == 'a' + i);
    }
    nw_channel_memory_free(true, memory);
    nw_channel_count(channel, &counts);
    SHOULD(counts.opened == (rank            ? 0u
                             : job->messages ? MESSAGES - TRIED
                                             : (unsigned)TRIED));
}

static void smaller_ones_where_that_is_faster(void **state)
{
    struct job job = {.count = 2, .gpu = true, .work = weigh};

    (void)state;
    setenv("FAKE_CUDA_COSTS", "copy:0:1000,device:10000:1000", 1);
    assert_int_equal(ranks_run(&job), 0);
    job.messages = 1;
    setenv("FAKE_CUDA_COSTS",
           "copy:10000:1000,device:0:1000,adapter-read:10000:1000,"
           "adapter-write:10000:1000",
           1);
    assert_int_equal(ranks_run(&job), 0);
    unsetenv("FAKE_CUDA_COSTS");
}

/* After cudaDeviceReset, an open channel sends memory that the program
 * allocates then: the channel's own memory is not lost with that of the GPU. */
static void reset_between(nw_channel *channel, const struct job *job,
                          int32_t rank)
{
    static const size_t sizes[] = {8, 5000, 300000};
    int (*reset)(int);

    (void)job;
    *(void **)&reset =
        dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuDevicePrimaryCtxReset_v2");
    for (int i = 0; i < 18; i++) {
        size_t bytes = sizes[i / 2 % 3];
        bool gpu = i % 2;
        void *memory = page(gpu, bytes);
        nw_channel_request *request = NULL;
        struct nw_channel_message message = {memory, bytes, !rank, i};
        char *words = malloc(bytes);

        memset(words, rank ? 0 : 'a' + i, bytes);
        MUST(nw_channel_memory_copy(memory, words, bytes));
        MUST(rank ? nw_channel_receive(channel, &message, &request)
                  : nw_channel_send(channel, &message, &request));
        MUST(nw_channel_wait(&request, NULL));
        MUST(nw_channel_memory_copy(words, memory, bytes));
        for (size_t b = 0; b < bytes; b++)
            SHOULD(words[b] == 'a' + i);
        free(words);
        nw_channel_memory_free(gpu, memory);
        if (i == 5 || i == 11)
            SHOULD(!reset(0));
    }
}

static void a_reset_leaves_channels_open(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct job job = {.count = 2,
                          .gpu = true,
                          .provider = providers[i % 2],
                          .protocol = i < 2 ? NW_CHANNEL_AUTO : NW_CHANNEL_PACK,
                          .work = reset_between};

        assert_int_equal(ranks_run(&job), 0);
    }
}

/* Frees memory in a thread, for which no GPU is current. */
static void *free_it(void *memory)
{
    nw_channel_memory_free(true, memory);
    return NULL;
}

static void free_elsewhere(nw_channel *channel, const struct job *job,
                           int32_t rank)
{
    void *memory = page(true, 4096);
    pthread_t thread;

    (void)channel;
    (void)job;
    (void)rank;
    SHOULD(nw_memory_gpu(memory) >= 0);
    SHOULD(!pthread_create(&thread, NULL, free_it, memory));
    SHOULD(!pthread_join(thread, NULL));
    SHOULD(nw_memory_gpu(memory) < 0);
}

static void any_thread_frees(void **state)
{
    struct job job = {.count = 1, .gpu = true, .work = free_elsewhere};

    (void)state;
    assert_int_equal(ranks_run(&job), 0);
}

/* Large messages that small ones overtake in the provider are matched in the
 * order in which they were sent. */
static void send_mixed(nw_channel *channel, const struct job *job, int32_t rank)
{
    static char large[60000], room[60000];
    nw_channel_request *request[20] = {NULL};

    for (int i = 0; i < job->messages; i++) {
        size_t bytes = i % 2 ? 8 : 20000 + (size_t)i;
        struct nw_channel_message message = {large, bytes, 0, 1};

        if (rank)
            MUST(nw_channel_send(channel, &message, &request[i]));
    }
    for (int i = 0; i < job->messages; i++) {
        struct nw_channel_result result;
        struct nw_channel_message message = {room, sizeof room, NW_CHANNEL_ANY,
                                             NW_CHANNEL_ANY};

        if (!rank)
            MUST(nw_channel_receive(channel, &message, &request[i]));
        MUST(nw_channel_wait(&request[i], &result));
        SHOULD(result.bytes == (i % 2 ? 8 : 20000 + (size_t)i));
    }
}

static void small_ones_do_not_overtake(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct job job = {.count = 2,
                          .provider = providers[i % 2],
                          .protocol =
                              i / 2 ? NW_CHANNEL_TWO : NW_CHANNEL_GATHER,
                          .slot_bytes = 65536,
                          .messages = 20,
                          .work = send_mixed};

        assert_int_equal(ranks_run(&job), 0);
    }
}

/* Sends each message over the same channel in the way that is forced before it,
 * and the last ones in the way that the channel chooses. */
static void force_each(nw_channel *channel, const struct job *job, int32_t rank)
{
    static const enum nw_channel_protocol ways[] = {
        NW_CHANNEL_PACK, NW_CHANNEL_TWO, NW_CHANNEL_RENDEZVOUS, NW_CHANNEL_CMA,
        NW_CHANNEL_AUTO};
    static char memory[6000];

    (void)job;
    for (int i = 0; i < 10; i++) {
        /* in one piece, and in parts */
        struct nw_channel_message message = {memory, i < 5 ? 64 : 6000, !rank,
                                             1};
        enum nw_channel_protocol way = ways[i % 5];
        nw_channel_request *request = NULL;
        struct nw_channel_result result;

        memset(memory, rank ? i : 99, sizeof memory);
        nw_channel_force(channel, way, NW_CHANNEL_COPY_AUTO);
        MUST(rank ? nw_channel_send(channel, &message, &request)
                  : nw_channel_receive(channel, &message, &request));
        MUST(nw_channel_wait(&request, &result));
        SHOULD(memory[0] == i && memory[message.bytes - 1] == i);
        if (rank && way)
            SHOULD(result.protocol == way);
        else if (rank && i == 4)
            SHOULD(result.protocol <= NW_CHANNEL_PACK);
    }
}

static void one_channel_goes_as_it_is_forced(void **state)
{
    struct job job = {.count = 2, .provider = "shm", .work = force_each};

    (void)state;
    assert_int_equal(ranks_run(&job), 0);
}

/* -- without other processes -- */

static void malformed_headers_are_refused(void **state)
{
    struct nw_wire good = {.magic = NW_WIRE_MAGIC,
                           .version = NW_WIRE_VERSION,
                           .kind = NW_WIRE_EAGER,
                           .source = 1,
                           .tag = 3,
                           .bytes = 8},
                   out;
    char room[NW_WIRE_HEADER + 8] = {0};
    struct nw_wire bad[6];

    (void)state;
    for (int i = 0; i < 6; i++)
        bad[i] = good;
    bad[0].magic = 0;
    bad[1].version = NW_WIRE_VERSION + 1;
    bad[2].kind = NW_WIRE_KINDS;
    bad[3].source = 2;
    bad[4].bytes = 9;
    bad[5].tag = -1;
    memcpy(room, &good, NW_WIRE_HEADER);
    assert_int_equal(nw_wire_read(room, sizeof room, 2, &out), NW_OK);
    assert_int_equal(nw_wire_read(room, sizeof room - 1, 2, &out), NW_EFORMAT);
    assert_int_equal(nw_wire_read(room, NW_WIRE_HEADER - 1, 2, &out),
                     NW_EFORMAT);
    assert_int_equal(nw_wire_read(room, 0, 2, &out), NW_EFORMAT);
    assert_true(nw_wire_read_eager(room, sizeof room, 2, &out));
    assert_memory_equal(&out, &good, NW_WIRE_HEADER);
    assert_false(nw_wire_read_eager(room, sizeof room - 1, 2, &out));
    assert_false(nw_wire_read_eager(room, NW_WIRE_HEADER - 1, 2, &out));
    for (int i = 0; i < 6; i++) {
        memcpy(room, &bad[i], NW_WIRE_HEADER);
        assert_int_equal(nw_wire_read(room, sizeof room, 2, &out), NW_EFORMAT);
        assert_false(nw_wire_read_eager(room, sizeof room, 2, &out));
    }
}

/* The header of a small message, which is sent as a word with its payload, is
 * decoded correctly with each field at its limits. */
static void words_say_what_headers_say(void **state)
{
    static const struct nw_wire wires[] = {
        {.source = 0, .tag = 0, .credits = 0, .order = 0},
        {.source = 65535, .tag = 0, .credits = 0, .order = 0},
        {.source = 0, .tag = INT32_MAX, .credits = 0, .order = 0},
        {.source = 0, .tag = 0, .credits = 255, .order = 0},
        {.source = 0, .tag = 0, .credits = 0, .order = 255},
        {.source = 12345, .tag = 1 << 30 | 1, .credits = 7, .order = 0xfe01},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wires / sizeof *wires; i++) {
        uint64_t word = nw_wire_word(&wires[i]);
        struct nw_wire out = {0};

        assert_true(word & NW_WIRE_WORD);
        assert_true(nw_wire_read_word(word, i, NW_WIRE_WORD_RANKS, &out));
        assert_int_equal(out.kind, NW_WIRE_EAGER);
        assert_int_equal(out.bytes, i);
        assert_int_equal(out.source, wires[i].source);
        assert_int_equal(out.tag, wires[i].tag);
        assert_int_equal(out.credits, wires[i].credits);
        assert_int_equal(out.order, wires[i].order & 255);
        assert_false(nw_wire_read_word(word, i, wires[i].source, &out));
    }
    /* the word of a payload whose header is sent separately has no mark */
    assert_int_equal(nw_nonce_word(UINT64_MAX, 65535) & NW_WIRE_WORD, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_headers_are_refused),
        cmocka_unit_test(words_say_what_headers_say),
        cmocka_unit_test(host_by_every_protocol),
        cmocka_unit_test(eager_ones_beyond_parts),
        cmocka_unit_test(gpu_by_every_way),
        cmocka_unit_test(gpu_through_pinned_pieces),
        cmocka_unit_test(only_the_current_gpu_is_used),
        cmocka_unit_test(any_source_in_order),
        cmocka_unit_test(truncation_and_cancel),
        cmocka_unit_test(nothing_lost_in_a_flood),
        cmocka_unit_test(a_peer_dies),
        cmocka_unit_test(a_peer_without_messages_leaves),
        cmocka_unit_test(small_ones_are_loaded_by_the_cpu),
        cmocka_unit_test(large_ones_are_copied_into_opened_memory),
        cmocka_unit_test(opened_memory_is_not_kept_for_ever),
        cmocka_unit_test(one_that_is_refused_leaves_the_others),
        cmocka_unit_test(pool_memory_is_copied),
        cmocka_unit_test(small_copies_take_no_turns),
        cmocka_unit_test(smaller_ones_where_that_is_faster),
        cmocka_unit_test(small_ones_do_not_overtake),
        cmocka_unit_test(one_channel_goes_as_it_is_forced),
        cmocka_unit_test(any_thread_frees),
        cmocka_unit_test(a_reset_leaves_channels_open),
    };

    /* loaded once, before all forks, since loading takes most of the time of
     * opening a channel */
    (void)dlopen("libfabric.so.1", RTLD_NOW);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
