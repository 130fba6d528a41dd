/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of messages that the receiver reads from the sender's memory:
 * - they arrive complete and in order, whichever side comes first;
 * - the sender may use its buffer again only afterwards;
 * - the kernel may refuse the read, the id of the sender's process may now
 *   belong to another process, and the sender may have died. */
#include "channel/state.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/ranks.h"

enum { LARGE = 100000, TAG = 3, WORD };

static char byte_of(int message, size_t i)
{
    return (char)(message * 37 + (int)(i * 5) + (int)(i >> 8));
}

/* Begins to send or receive a message. */
static nw_channel_request *begin(nw_channel *channel, bool sends, void *buffer,
                                 size_t bytes, int32_t tag)
{
    nw_channel_request *request = NULL;
    struct nw_channel_message message = {buffer, bytes, !channel->options.rank,
                                         tag};

    MUST(sends ? nw_channel_send(channel, &message, &request)
               : nw_channel_receive(channel, &message, &request));
    return request;
}

/* Sends or receives an empty message, by which the ranks synchronise. */
static void nod(nw_channel *channel, bool sends)
{
    nw_channel_request *request = begin(channel, sends, NULL, 0, WORD);

    MUST(nw_channel_wait(&request, NULL));
}

/* Rank 0 sends a message to rank 1, before or (`late`) after the receive is
 * posted. */
static struct nw_channel_result carry(nw_channel *channel, int32_t rank,
                                      size_t bytes, bool late)
{
    char *words = malloc(bytes);
    struct nw_channel_result result;
    nw_channel_request *request;

    for (size_t i = 0; i < bytes; i++)
        words[i] = rank ? 0 : byte_of((int)bytes, i);
    if (rank && late)
        nod(channel, false);
    request = begin(channel, !rank, words, bytes, TAG);
    if (!rank && late)
        nod(channel, true);
    MUST(nw_channel_wait(&request, &result));
    for (size_t i = 0; i < bytes; i++)
        SHOULD(words[i] == byte_of((int)bytes, i));
    free(words);
    return result;
}

static void read_all(nw_channel *channel, const struct job *job, int32_t rank)
{
    static const size_t sizes[] = {8193, 20480, LARGE, 3000001};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    struct nw_channel_counts counts;

    for (int i = 0; i < 2 * SIZES; i++) {
        struct nw_channel_result result =
            carry(channel, rank, sizes[i / 2], i % 2);

        SHOULD(result.protocol == NW_CHANNEL_CMA);
        SHOULD(result.protocol == NW_CHANNEL_FETCH); /* the old name */
        SHOULD(result.bytes == sizes[i / 2]);
    }
    nw_channel_count(channel, &counts);
    SHOULD(rank || counts.sent[NW_CHANNEL_CMA] == 2 * SIZES);
    SHOULD(!channel->words);
    (void)job;
}

static void read_where_they_lie(void **state)
{
    struct job job = {.count = 2, .provider = "shm", .work = read_all};

    (void)state;
    assert_int_equal(ranks_run(&job), 0);
}

/* The ids of requests start again after 2^32 requests. The sender then still
 * waits until its message was read. */
static void read_after_a_wrap(nw_channel *channel, const struct job *job,
                              int32_t rank)
{
    static char words[LARGE];
    nw_channel_request *request;
    bool done = false;

    nod(channel, !rank); /* later messages are sent at once */
    channel->generation = UINT32_MAX;
    if (rank)
        nod(channel, false);
    request = begin(channel, !rank, words, sizeof words, TAG);
    for (int i = 0; i < 100 && !rank; i++) {
        MUST(nw_channel_test(&request, &done, NULL));
        SHOULD(!done); /* no receive has been posted for it */
    }
    if (!rank)
        nod(channel, true);
    MUST(nw_channel_wait(&request, NULL));
    (void)job;
}

static void ids_start_again(void **state)
{
    struct job job = {.count = 2, .provider = "shm", .work = read_after_a_wrap};

    (void)state;
    assert_int_equal(ranks_run(&job), 0);
}

/* -- or sent in parts, whichever takes less time -- */

static struct fi_ops_msg slow, *usual;

static ssize_t send_part_slowly(struct fid_ep *ep, const void *bytes,
                                size_t count, uint64_t data, fi_addr_t to)
{
    (void)usleep(2000);
    return usual->injectdata(ep, bytes, count, data, to);
}

/* Sends messages of one size one at a time: a few in either way, then all in
 * the faster way. */
static void choose_quicker(nw_channel *channel, const struct job *job,
                           int32_t rank)
{
    enum { FIRST = 8, THEN = 50, BYTES = 8000 };
    struct fid_ep *ep = channel->fabric[0].ep;
    struct nw_channel_counts counts[2];

    (void)job;
    usual = ep->msg;
    slow = *usual;
    slow.injectdata = send_part_slowly;
    ep->msg = &slow;
    for (int i = 0; i < FIRST; i++)
        (void)carry(channel, rank, BYTES, i % 2);
    nw_channel_count(channel, &counts[0]);
    for (int i = 0; i < THEN; i++)
        (void)carry(channel, rank, BYTES, i % 2);
    nw_channel_count(channel, &counts[1]);
    ep->msg = usual;
    if (rank)
        return;
    SHOULD(counts[0].sent[NW_CHANNEL_CMA] == FIRST / 2);
    SHOULD(counts[1].sent[NW_CHANNEL_CMA] == FIRST / 2 + THEN);
}

static void read_where_parts_take_longer(void **state)
{
    struct job job = {.count = 2, .work = choose_quicker};

    (void)state;
    setenv("NODEWISE_CHANNEL_TABLE", "/nowhere", 1);
    assert_int_equal(ranks_run(&job), 0);
    unsetenv("NODEWISE_CHANNEL_TABLE");
}

/* Offers more messages at a time than there are words in shared memory for
 * their answers, and receives them from the last to the first. */
static void read_many(nw_channel *channel, const struct job *job, int32_t rank)
{
    enum { MANY = NW_WIRE_WORDS + 20 };
    static char words[MANY][9000];
    nw_channel_request *requests[MANY];
    bool done = false;

    for (int i = 0; i < MANY; i++)
        memset(words[i], rank ? 0 : i, sizeof *words);
    for (int i = 0; i < MANY && !rank; i++)
        requests[i] = begin(channel, true, words[i], sizeof *words, 10 + i);
    for (int i = 0; i < 100 && !rank; i++) {
        MUST(nw_channel_test(&requests[0], &done, NULL));
        SHOULD(!done); /* no receive has been posted for it */
    }
    nod(channel, !rank);
    for (int i = MANY; i-- > 0 && rank;)
        requests[i] = begin(channel, false, words[i], sizeof *words, 10 + i);
    for (int i = 0; i < MANY; i++)
        MUST(nw_channel_wait(&requests[i], NULL));
    for (int i = 0; i < MANY; i++)
        for (size_t k = 0; k < sizeof *words; k += 89)
            SHOULD(words[i][k] == (char)i);
    SHOULD(!channel->words);
    (void)job;
}

static void more_than_there_are_words_for(void **state)
{
    struct job job = {
        .count = 2, .provider = "shm", .credits = 200, .work = read_many};

    (void)state;
    assert_int_equal(ranks_run(&job), 0);
}

/* -- memory of GPUs -- */

static void read_gpus(nw_channel *channel, const struct job *job, int32_t rank)
{
    enum { BYTES = 7000 };
    char words[BYTES];

    for (int pair = 0; pair < 4; pair++) {
        bool gpu = rank ? pair & 2 : pair & 1;
        struct nw_channel_result result;
        nw_channel_request *request;
        void *memory = NULL;

        for (size_t i = 0; i < BYTES; i++)
            words[i] = rank ? 0 : byte_of(pair, i);
        MUST(nw_channel_memory_new(gpu, BYTES, &memory));
        MUST(nw_channel_memory_copy(memory, words, BYTES));
        request = begin(channel, !rank, memory, BYTES, TAG);
        MUST(nw_channel_wait(&request, &result));
        SHOULD(result.protocol == NW_CHANNEL_CMA);
        SHOULD(!rank || !gpu || result.copy == job->copy);
        MUST(nw_channel_memory_copy(words, memory, BYTES));
        for (size_t i = 0; i < BYTES; i++)
            SHOULD(words[i] == byte_of(pair, i));
        nw_channel_memory_free(gpu, memory);
    }
}

static void from_and_to_gpus(void **state)
{
    static const enum nw_channel_copy copies[] = {NW_CHANNEL_NAIVE,
                                                  NW_CHANNEL_FASTCOPY};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct job job = {.count = 2,
                          .provider = "shm",
                          .protocol = NW_CHANNEL_CMA,
                          .copy = copies[i],
                          .gpu = true,
                          .work = read_gpus};

        assert_int_equal(ranks_run(&job), 0);
    }
}

/* -- what cannot be read -- */

/* The second message is no longer offered for reading, because the answer to
 * the first one said that reading failed. */
static void grants_instead(nw_channel *channel, int32_t rank)
{
    struct nw_channel_counts counts;

    for (int i = 0; i < 3; i++) {
        struct nw_channel_result result = carry(channel, rank, LARGE, i == 1);

        SHOULD(result.protocol == NW_CHANNEL_RENDEZVOUS);
    }
    nw_channel_count(channel, &counts);
    SHOULD(rank || counts.sent[NW_CHANNEL_CMA] == 1);
    SHOULD(!counts.malformed && !channel->words);
}

static void forbid_reading(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};

    SHOULD(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    SHOULD(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void refuse(nw_channel *channel, const struct job *job, int32_t rank)
{
    (void)job;
    if (rank)
        forbid_reading();
    grants_instead(channel, rank);
}

static void the_kernel_refuses(void **state)
{
    struct job job = {.count = 2, .provider = "shm", .work = refuse};

    (void)state;
    assert_int_equal(ranks_run(&job), 0);
}

static void mistake(nw_channel *channel, const struct job *job, int32_t rank)
{
    (void)job;
    if (rank) /* other memory of the peer: what another process would have
                 there */
        channel->peer[0].nonce_at += sizeof channel->nonce;
    grants_instead(channel, rank);
}

static void a_number_is_anothers(void **state)
{
    struct job job = {.count = 2, .provider = "shm", .work = mistake};

    (void)state;
    assert_int_equal(ranks_run(&job), 0);
}

static void switched_off(nw_channel *channel, const struct job *job,
                         int32_t rank)
{
    struct nw_channel_counts counts;

    SHOULD(carry(channel, rank, 8192, false).protocol == NW_CHANNEL_GATHER);
    SHOULD(carry(channel, rank, LARGE, true).protocol == NW_CHANNEL_RENDEZVOUS);
    nw_channel_count(channel, &counts);
    SHOULD(!counts.sent[NW_CHANNEL_CMA]);
    (void)job;
}

static void nothing_is_read_where_that_is_off(void **state)
{
    struct job job = {.count = 2, .provider = "shm", .work = switched_off};

    (void)state;
    setenv("NODEWISE_CHANNEL_FETCH", "off", 1);
    assert_int_equal(ranks_run(&job), 0);
    unsetenv("NODEWISE_CHANNEL_FETCH");
}

/* Rank 0 dies after it has offered a message; rank 1 posts the receive before
 * it learns of that. */
static void die(nw_channel *channel, const struct job *job, int32_t rank)
{
    static char words[LARGE];
    nw_channel_request *request;
    struct nw_channel_counts counts = {.unexpected = 0};
    struct pollfd watch = {channel->peer[0].watch, POLLIN, 0};

    (void)job;
    if (!rank) {
        request = begin(channel, true, words, LARGE, TAG);
        nw_channel_flush(channel);
        nod(channel, false); /* rank 0 is killed while it waits here */
        return;
    }
    while (!counts.unexpected) {
        (void)nw_progress(channel);
        nw_channel_count(channel, &counts);
    }
    SHOULD(!kill(channel->peer[0].pid, SIGKILL));
    SHOULD(poll(&watch, 1, 20000) == 1);
    request = begin(channel, false, words, LARGE, TAG);
    SHOULD(nw_channel_wait(&request, NULL) == NW_EIO);
}

static void the_sender_is_dead(void **state)
{
    struct job job = {.count = 2, .provider = "shm", .work = die};
    int watch = (int)syscall(SYS_pidfd_open, getpid(), 0);

    (void)state;
    if (watch < 0) {
        print_message("no process is watched here\n");
        skip();
    }
    close(watch);
    assert_int_equal(ranks_run(&job), 1); /* the one that was killed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_where_they_lie),
        cmocka_unit_test(ids_start_again),
        cmocka_unit_test(read_where_parts_take_longer),
        cmocka_unit_test(more_than_there_are_words_for),
        cmocka_unit_test(from_and_to_gpus),
        cmocka_unit_test(the_kernel_refuses),
        cmocka_unit_test(a_number_is_anothers),
        cmocka_unit_test(nothing_is_read_where_that_is_off),
        cmocka_unit_test(the_sender_is_dead),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
