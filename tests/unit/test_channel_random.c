/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of channels with random cases of 2 to 8 processes. Each case has a
 * random provider, protocol, copy, slot size and number of credits. Messages
 * have any size and go between any memories. Receives name the source, the tag,
 * both or neither. Requests are tested and waited for in any order. The test
 * computes in advance which message may match a receive, so that it can check
 * every byte. Another test uses several threads on one channel. NW_SEED and
 * NW_CASES choose other cases; NW_LONG runs more of them, with messages of up
 * to 64 MB. A failure prints the seed that repeats it. */
#include "base/random.h"

#include <nodewise/channel.h>

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "support/ranks.h"
#include "support/share.h"

enum { TAGS = 3, NEVER = 99, THREADS = 3 };

/* How a rank names what it receives. */
enum naming { BY_BOTH, BY_SOURCE, BY_TAG, BY_NONE, NAMINGS };

/* A message of a case. */
struct letter {
    int32_t from, to, tag;
    size_t bytes;
    bool from_gpu, to_gpu;
};

/* The data of a case that are not in its job. */
struct draw {
    uint64_t seed;
    bool gpu;
    int32_t count;
    enum naming naming[RANKS_MOST];
    struct letter *letter;
    int letters;
    size_t largest[RANKS_MOST]; /* the largest message that each rank may
                                   receive */
};

static uint64_t below(struct nw_random *random, uint64_t limit)
{
    return nw_random_below(random, limit);
}

/* -- drawing a case -- */

static size_t draw_bytes(struct nw_random *random, size_t largest)
{
    static const size_t edges[] = {0,    1,    31,     32,    33,
                                   4063, 4064, 4065,   4096,  8191,
                                   8192, 8193, 262144, 262145};
    size_t bytes = edges[below(random, sizeof edges / sizeof *edges)];

    switch (below(random, 4)) {
    case 0:
        break;
    case 1:
        bytes = below(random, 300);
        break;
    case 2:
        bytes = below(random, 20000);
        break;
    default:
        bytes = below(random, (uint64_t)1 << (below(random, 27)));
    }
    return bytes <= largest ? bytes : bytes % (largest + 1);
}

static void draw_letters(struct draw *draw, struct nw_random *random)
{
    size_t left = getenv("NW_LONG") ? (size_t)160 << 20 : (size_t)6 << 20;
    size_t largest = getenv("NW_LONG") ? (size_t)64 << 20 : (size_t)2 << 20;

    for (int i = 0; i < draw->letters; i++) {
        struct letter *one = &draw->letter[i];

        *one = (struct letter){
            .from = (int32_t)below(random, (uint64_t)draw->count),
            .to = (int32_t)below(random, (uint64_t)draw->count),
            .tag = (int32_t)below(random, TAGS),
            .bytes = draw_bytes(random, largest),
            .from_gpu = draw->gpu && below(random, 2),
            .to_gpu = draw->gpu && below(random, 2),
        };
        if (one->bytes > left)
            one->bytes = left % 5000;
        left -= one->bytes;
        if (one->bytes > draw->largest[one->to])
            draw->largest[one->to] = one->bytes;
    }
}

/* -- the contents of a message -- */

static uint64_t word_of(int letter, size_t i)
{
    return ((uint64_t)letter + 1) * 0x9e3779b97f4a7c15u + i * 0x2545f491u;
}

static void *page(bool gpu, size_t bytes)
{
    void *memory = NULL;

    MUST(nw_channel_memory_new(gpu, bytes + 8, &memory));
    return memory;
}

static void write_words(int letter, void *memory, size_t bytes)
{
    uint64_t *words = malloc(bytes + 8);

    for (size_t i = 0; i <= bytes / 8; i++)
        words[i] = word_of(letter, i);
    MUST(nw_channel_memory_copy(memory, words, bytes));
    free(words);
}

static void check_words(int letter, const void *memory, size_t bytes)
{
    uint64_t *words = calloc(bytes / 8 + 1, 8), last = 0;

    MUST(nw_channel_memory_copy(words, memory, bytes));
    for (size_t i = 0; i < bytes / 8; i++)
        SHOULD(words[i] == word_of(letter, i));
    last = word_of(letter, bytes / 8);
    SHOULD(!memcmp(&words[bytes / 8], &last, bytes % 8));
    free(words);
}

/* -- one rank of a case -- */

/* The state of one rank of a case. */
struct side {
    const struct draw *draw;
    nw_channel *channel;
    int32_t rank;
    struct nw_random random;
    nw_channel_request **send, **receive;
    struct nw_channel_result *result;
    void **out, **in;
    bool *taken; /* whether each message has arrived */
};

static void post_send(struct side *side, int i)
{
    const struct letter *one = &side->draw->letter[i];

    side->out[i] = page(one->from_gpu, one->bytes);
    write_words(i, side->out[i], one->bytes);
    MUST(nw_channel_send(side->channel,
                         &(struct nw_channel_message){side->out[i], one->bytes,
                                                      one->to, one->tag},
                         &side->send[i]));
}

static void post_receive(struct side *side, int i)
{
    const struct letter *one = &side->draw->letter[i];
    enum naming naming = side->draw->naming[side->rank];
    bool source = naming == BY_BOTH || naming == BY_SOURCE;
    bool tag = naming == BY_BOTH || naming == BY_TAG;
    size_t room =
        naming == BY_BOTH ? one->bytes : side->draw->largest[side->rank];

    side->in[i] = page(one->to_gpu, room);
    MUST(nw_channel_receive(
        side->channel,
        &(struct nw_channel_message){side->in[i], room,
                                     source ? one->from : NW_CHANNEL_ANY,
                                     tag ? one->tag : NW_CHANNEL_ANY},
        &side->receive[i]));
}

/* The first message from the source of the receive, with its tag if it names
 * one, that has not arrived: only this message may match the receive. */
static int foretell(const struct side *side, int i)
{
    const struct draw *draw = side->draw;
    enum naming naming = draw->naming[side->rank];
    bool tag = naming == BY_BOTH || naming == BY_TAG;

    for (int k = 0; k < draw->letters; k++)
        if (draw->letter[k].to == side->rank && !side->taken[k] &&
            draw->letter[k].from == side->result[i].peer &&
            (!tag || draw->letter[k].tag == draw->letter[i].tag))
            return k;
    return -1;
}

static void check_receive(struct side *side, int i)
{
    int k = foretell(side, i);
    const struct nw_channel_result *result = &side->result[i];
    const struct letter *one;

    SHOULD(k >= 0);
    one = &side->draw->letter[k];
    side->taken[k] = true;
    SHOULD(result->tag == one->tag && result->bytes == one->bytes);
    check_words(k, side->in[i], one->bytes);
    nw_channel_memory_free(side->draw->letter[i].to_gpu, side->in[i]);
}

static void test_some(struct side *side)
{
    int i = (int)below(&side->random, (uint64_t)side->draw->letters);
    bool done = false;

    if (side->receive[i])
        MUST(nw_channel_test(&side->receive[i], &done, &side->result[i]));
    if (side->send[i])
        MUST(nw_channel_test(&side->send[i], &done, NULL));
}

/* Posts the sends and the receives in their order, but with a random shift
 * between the two. */
static void post_all(struct side *side)
{
    const struct draw *draw = side->draw;
    int ahead =
        (int)below(&side->random, (uint64_t)draw->letters * 2) - draw->letters;

    for (int i = -draw->letters; i < 2 * draw->letters; i++) {
        int s = i, r = i + ahead;

        if (s >= 0 && s < draw->letters && draw->letter[s].from == side->rank)
            post_send(side, s);
        if (r >= 0 && r < draw->letters && draw->letter[r].to == side->rank)
            post_receive(side, r);
        if (below(&side->random, 2))
            test_some(side);
    }
}

/* Posts receives that match no message, and cancels them. */
static void take_back(struct side *side)
{
    char room[8];
    nw_channel_request *request = NULL;

    MUST(nw_channel_receive(
        side->channel,
        &(struct nw_channel_message){room, sizeof room, side->rank, NEVER},
        &request));
    nw_channel_cancel(request);
    SHOULD(nw_channel_wait(&request, NULL) == NW_ECANCELLED);
}

static void exchange(nw_channel *channel, const struct job *job, int32_t rank)
{
    const struct draw *draw = job->more;
    size_t n = (size_t)draw->letters;
    struct side side = {.draw = draw, .channel = channel, .rank = rank};
    struct nw_channel_counts counts;

    nw_random_init(&side.random, draw->seed ^ ((uint64_t)rank << 32));
    side.send = calloc(n, sizeof *side.send);
    side.receive = calloc(n, sizeof *side.receive);
    side.result = calloc(n, sizeof *side.result);
    side.out = calloc(n, sizeof *side.out);
    side.in = calloc(n, sizeof *side.in);
    side.taken = calloc(n, sizeof *side.taken);
    post_all(&side);
    take_back(&side);
    for (int i = 0; i < draw->letters; i++) {
        if (side.receive[i])
            MUST(nw_channel_wait(&side.receive[i], &side.result[i]));
        if (draw->letter[i].to == rank)
            check_receive(&side, i);
    }
    for (int i = 0; i < draw->letters; i++) {
        if (side.send[i])
            MUST(nw_channel_wait(&side.send[i], NULL));
        if (draw->letter[i].from == rank)
            nw_channel_memory_free(draw->letter[i].from_gpu, side.out[i]);
    }
    nw_channel_count(channel, &counts);
    SHOULD(!counts.malformed && !counts.lost_peers);
    free(side.send);
    free(side.receive);
    free(side.result);
    free(side.out);
    free(side.in);
    free(side.taken);
}

static struct job draw_case(struct draw *draw, uint64_t seed)
{
    static const char *const providers[] = {"shm", "tcp;ofi_rxm", NULL};
    static const size_t slots[] = {0, 64, 4064, 65536};
    static const uint32_t credits[] = {0, 2, 3, 40};
    struct nw_random random;
    struct job job = {.work = exchange, .more = draw};

    nw_random_init(&random, seed);
    *draw = (struct draw){.seed = seed};
    job.count = draw->count = 2 + (int32_t)below(&random, RANKS_MOST - 1);
    job.provider = providers[below(&random, 3)];
    job.protocol =
        (enum nw_channel_protocol)below(&random, NW_CHANNEL_PROTOCOLS);
    job.copy = (enum nw_channel_copy)below(&random, NW_CHANNEL_COPIES);
    job.slot_bytes = slots[below(&random, 4)];
    job.credits = credits[below(&random, 4)];
    job.gpu = draw->gpu = below(&random, 3);
    job.staged = !below(&random, 4);
    job.resident = seed % 6 == 0; /* not drawn, so that the other choices of
                                     a seed stay the same */
    for (int i = 0; i < RANKS_MOST; i++)
        draw->naming[i] = (enum naming)below(&random, NAMINGS);
    draw->letters = 20 + (int)below(&random, 100);
    draw->letter = calloc((size_t)draw->letters, sizeof *draw->letter);
    draw_letters(draw, &random);
    return job;
}

static uint64_t number(const char *variable, uint64_t otherwise)
{
    const char *word = getenv(variable);

    return word ? strtoull(word, NULL, 10) : otherwise;
}

static void at_random(void **state)
{
    bool is_long = getenv("NW_LONG") != NULL;
    uint64_t seed = number("NW_SEED", is_long ? (uint64_t)time(NULL) : 1);
    uint64_t cases = number("NW_CASES", is_long ? 400 : 12);
    uint64_t step = (uint64_t)share_step((int)cases, "cases at random");

    (void)state;
    printf("# NW_SEED=%llu NW_CASES=%llu\n", (unsigned long long)seed,
           (unsigned long long)cases);
    for (uint64_t i = seed; i < seed + cases; i += step) {
        struct draw draw;
        struct job job = draw_case(&draw, i);

        if (ranks_run(&job))
            fail_msg("NW_SEED=%llu NW_CASES=1", (unsigned long long)i);
        free(draw.letter);
    }
}

/* -- threads: each exchanges messages with the threads of the same number in
 * the other processes by its tag, and uses what all threads share -- */

struct thread {
    nw_channel *channel;
    const struct job *job;
    int32_t rank, tag;
};

static int careless; /* set by NW_RACE: adds a race that ThreadSanitizer must
                        find */

static void talk(const struct thread *me, int turn)
{
    size_t bytes = (size_t)(turn * 977 % 20000) + 8;
    bool gpu = me->job->gpu && turn % 2;
    void *in[RANKS_MOST] = {NULL}, *out = page(gpu, bytes);
    nw_channel_request *receive[RANKS_MOST] = {NULL},
                       *send[RANKS_MOST] = {NULL};
    struct nw_channel_counts counts;

    write_words(me->rank + 100 * me->tag, out, bytes);
    for (int32_t peer = 0; peer < me->job->count; peer++) {
        in[peer] = page(gpu, bytes);
        MUST(nw_channel_receive(
            me->channel,
            &(struct nw_channel_message){in[peer], bytes, peer, me->tag},
            &receive[peer]));
        MUST(nw_channel_send(
            me->channel,
            &(struct nw_channel_message){out, bytes, peer, me->tag},
            &send[peer]));
    }
    nw_channel_count(me->channel, &counts);
    for (int32_t peer = 0; peer < me->job->count; peer++) {
        MUST(nw_channel_wait(&receive[peer], NULL));
        MUST(nw_channel_wait(&send[peer], NULL));
        check_words(peer + 100 * me->tag, in[peer], bytes);
        nw_channel_memory_free(gpu, in[peer]);
    }
    nw_channel_memory_free(gpu, out);
}

static void *run_thread(void *argument)
{
    const struct thread *me = argument;
    int turns = getenv("NW_LONG") ? 300 : 20;

    for (int turn = 0; turn < turns; turn++) {
        talk(me, turn);
        if (getenv("NW_RACE"))
            careless++;
    }
    return NULL;
}

static void run_threads(nw_channel *channel, const struct job *job,
                        int32_t rank)
{
    pthread_t thread[THREADS];
    struct thread each[THREADS];

    for (int32_t i = 0; i < THREADS; i++) {
        each[i] = (struct thread){channel, job, rank, i};
        SHOULD(!pthread_create(&thread[i], NULL, run_thread, &each[i]));
    }
    for (int i = 0; i < THREADS; i++)
        SHOULD(!pthread_join(thread[i], NULL));
}

static void threads_of_one_channel(void **state)
{
    static const char *const providers[] = {"shm", "tcp;ofi_rxm"};

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct job job = {.count = 2 + i / 2,
                          .provider = providers[i % 2],
                          .gpu = i % 2,
                          .work = run_threads};

        assert_int_equal(ranks_run(&job), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_random),
        cmocka_unit_test(threads_of_one_channel),
    };

    /* loaded once, before all forks, since loading takes most of the time of
     * opening a channel */
    (void)dlopen("libfabric.so.1", RTLD_NOW);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
