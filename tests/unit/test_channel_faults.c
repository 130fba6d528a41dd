/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of channels that fail: registrations run out, a GPU is reset, a
 * provider stops working, the two ends have different versions, or a peer sends
 * invalid headers. Failures of libfabric are made by replacing its functions.
 * Every request must end, with an error if necessary, and all other
 * communication must go on. */
#include "base/clock.h"
#include "base/random.h"
#include "channel/proto/nonce.h"
#include "gpu/cuda.h"

#include <nodewise/channel.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <rdma/fi_errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/ranks.h"

static const char *const providers[] = {"shm", "tcp;ofi_rxm"};
enum { LARGE = 300000, SMALL = 512, RESET = 719, STREAM = 1 << 24 };

static void run_over_both(int32_t count,
                          void (*work)(nw_channel *, const struct job *,
                                       int32_t))
{
    for (int i = 0; i < 2; i++) {
        struct job job = {
            .count = count, .provider = providers[i], .work = work};

        assert_int_equal(ranks_run(&job), 0);
    }
}

/* Sends or receives one message and waits for it. */
static nw_status pass(nw_channel *channel, bool sends,
                      struct nw_channel_message message)
{
    nw_channel_request *request = NULL;

    MUST(sends ? nw_channel_send(channel, &message, &request)
               : nw_channel_receive(channel, &message, &request));
    return nw_channel_wait(&request, NULL);
}

/* Whether the receiver has granted the rendezvous of the request. Requests are
 * reused: until its rendezvous begins, a request has no id and still has the
 * numbers of an earlier message. */
static bool is_granted(const nw_channel_request *request)
{
    return request->id && request->granted;
}

/* Checks that a message from host memory arrives unchanged. */
static void works(nw_channel *channel, int32_t rank, int32_t other,
                  size_t bytes)
{
    char *words = malloc(bytes);

    memset(words, rank ? 'y' : 'n', bytes);
    MUST(pass(channel, rank > other,
              (struct nw_channel_message){words, bytes, other, 77}));
    for (size_t i = 0; i < bytes; i++)
        SHOULD(words[i] == 'y');
    free(words);
}

/* -- a signal arrives while libfabric is loaded -- */

enum { OPENING = 1, OPENED };

static void open_alone(const void *about, int32_t rank)
{
    struct nw_channel_options options = NW_CHANNEL_OPTIONS_INIT;
    int *stage = *(int *const *)about;
    nw_channel *channel = NULL;

    (void)rank;
    options.count = 1;
    options.provider = "shm";
    __atomic_store_n(stage, OPENING, __ATOMIC_SEQ_CST);
    MUST(nw_channel_open(&options, &channel));
    __atomic_store_n(stage, OPENED, __ATOMIC_SEQ_CST);
    while (true)
        (void)pause();
}

/* The signal must have its default effect: the signal handlers that libraries
 * install end the process in their own way, or hang. Some of the signals must
 * arrive while the channel opens, which loads libfabric. */
static void a_signal_while_it_loads(void **state)
{
    int *stage = mmap(NULL, sizeof *stage, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int early = 0;

    (void)state;
    assert_ptr_not_equal(stage, MAP_FAILED);
    for (useconds_t i = 0; i < 12; i++) {
        pid_t child;
        int how = 0;

        *stage = 0;
        child = ranks_start(open_alone, &stage, 0);
        while (!__atomic_load_n(stage, __ATOMIC_SEQ_CST))
            (void)usleep(100);
        (void)usleep(i * 10000);
        assert_int_equal(kill(child, SIGTERM), 0);
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGTERM);
        early += *stage == OPENING;
        ranks_sweep(child);
    }
    assert_true(early);
    munmap(stage, sizeof *stage);
}

/* -- registrations run out -- */

static struct fi_ops_mr no_room;

static int refuse_region(struct fid *fid, const void *buffer, size_t bytes,
                         uint64_t access, uint64_t offset, uint64_t key,
                         uint64_t flags, struct fid_mr **out, void *context)
{
    (void)fid, (void)buffer, (void)bytes, (void)access, (void)offset;
    (void)key, (void)flags, (void)out, (void)context;
    return -FI_ENOSPC;
}

static void register_nothing(nw_channel *channel, const struct job *job,
                             int32_t rank)
{
    struct fid_domain *domain =
        channel->fabric[channel->peer[!rank].fabric].domain;
    struct fi_ops_mr *before = domain->mr;
    size_t bytes = job->copy ? SMALL : LARGE;
    void *memory = NULL;
    nw_status status;

    MUST(nw_channel_memory_new(job->gpu, LARGE, &memory));
    if (!rank) {
        no_room = *before;
        no_room.reg = refuse_region;
        domain->mr = &no_room;
    }
    status = pass(channel, rank != 0,
                  (struct nw_channel_message){memory, bytes, !rank, 5});
    SHOULD(status == NW_EIO); /* both ends of a rendezvous get the error */
    domain->mr = before;
    works(channel, rank, !rank, LARGE);
    works(channel, rank, !rank, SMALL);
    nw_channel_memory_free(job->gpu, memory);
}

static void registrations_run_out(void **state)
{
    struct job jobs[] = {
        {.count = 2, .protocol = NW_CHANNEL_RENDEZVOUS},
        {.count = 2, .gpu = true, .staged = true},
    };

    (void)state;
    setenv("NODEWISE_CHANNEL_IPC", "off", 1);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            jobs[i].provider = providers[k];
            jobs[i].work = register_nothing;
            assert_int_equal(ranks_run(&jobs[i]), 0);
        }
    unsetenv("NODEWISE_CHANNEL_IPC");
}

/* -- a GPU is reset -- */

static void reset_gpu(void)
{
    void (*reset)(int) = (void (*)(int))dlsym(dlopen("libcuda.so.1", RTLD_NOW),
                                              "fake_cuda_break");

    SHOULD(reset != NULL);
    reset(RESET);
}

/* The GPU of rank 0 fails: a message that it sends fails at both ends, and one
 * that it receives fails at least at rank 0; messages from host memory are not
 * affected. */
static void lose_gpu(nw_channel *channel, const struct job *job, int32_t rank)
{
    static const size_t sizes[] = {SMALL, LARGE};
    void *memory = NULL;

    MUST(nw_channel_memory_new(true, LARGE, &memory));
    for (int i = 0; i < 2; i++)
        MUST(pass(channel, rank != 0,
                  (struct nw_channel_message){memory, sizes[i], !rank, 1}));
    if (!rank)
        reset_gpu();
    for (int i = 0; i < 4; i++) {
        bool sends = (i & 1) == rank;
        nw_status status =
            pass(channel, sends,
                 (struct nw_channel_message){memory, sizes[i / 2], !rank, 2});
        bool eager = i < 2 && job->protocol != NW_CHANNEL_RENDEZVOUS;

        /* a message that was sent is complete, whatever happens to it at the
         * receiver */
        if (rank && sends)
            SHOULD(status == NW_OK || (!eager && status == NW_EIO));
        else
            SHOULD(status == (rank ? NW_EIO : NW_ECUDA));
    }
    works(channel, rank, !rank, SMALL);
    works(channel, rank, !rank, LARGE);
}

static void a_gpu_is_reset(void **state)
{
    static const enum nw_channel_protocol protocols[] = {
        NW_CHANNEL_AUTO, NW_CHANNEL_PACK, NW_CHANNEL_RENDEZVOUS};

    (void)state;
    for (int i = 0; i < 6; i++) {
        struct job job = {.count = 2,
                          .provider = providers[i % 2],
                          .gpu = true,
                          .staged = i >= 3,
                          .protocol = protocols[i % 3],
                          .work = lose_gpu};

        assert_int_equal(ranks_run(&job), 0);
    }
}

/* -- a copy fails while the peer writes more -- */

/* More bytes than all pieces of the receiver have. */
enum { PIECES = 5 * NW_PIECE_BYTES };
static struct nw_cuda driver;
static int copies;
static int fail_once(cu_memory gpu, const void *host, size_t bytes,
                     nw_gpu_stream stream)
{
    return copies++ ? driver.copy_in(gpu, host, bytes, stream) : RESET;
}

/* A slow network: all writes but the first are accepted and done later. */
static struct fi_ops_rma slow, *writes;
static struct fi_ops_cq looking, *looks;
static struct fid_ep *slow_end;
static struct late {
    struct fi_msg_rma msg;
    struct iovec from;
    struct fi_rma_iov to;
    void *descriptor;
    uint64_t flags;
} late[NW_PIECES];
static int late_count;
static uint64_t until_ns;

static ssize_t write_later(struct fid_ep *ep, const struct fi_msg_rma *msg,
                           uint64_t flags)
{
    struct late *one = &late[late_count];

    if (!until_ns) {
        until_ns = nw_clock_ns() + 400000000;
        return writes->writemsg(ep, msg, flags);
    }
    if (late_count == NW_PIECES)
        return -FI_EAGAIN;
    *one =
        (struct late){*msg, *msg->msg_iov, *msg->rma_iov, msg->desc[0], flags};
    one->msg.msg_iov = &one->from;
    one->msg.rma_iov = &one->to;
    one->msg.desc = &one->descriptor;
    late_count++;
    return 0;
}

static ssize_t read_and_write(struct fid_cq *queue, void *entries, size_t count)
{
    if (until_ns && nw_clock_ns() > until_ns)
        for (; late_count; late_count--)
            SHOULD(!writes->writemsg(slow_end, &late[late_count - 1].msg,
                                     late[late_count - 1].flags));
    return looks->read(queue, entries, count);
}

static void slow_down(struct nw_endpoint *fabric)
{
    slow_end = fabric->ep;
    writes = slow_end->rma;
    slow = *writes;
    slow.writemsg = write_later;
    slow_end->rma = &slow;
    looks = fabric->cq->ops;
    looking = *looks;
    looking.read = read_and_write;
    fabric->cq->ops = &looking;
}

/* The other pieces of rank 1 are in flight when rank 0 fails with the first
 * one. Rank 2 must not get the memory to which they are written before they
 * have arrived. */
static void fail_between_pieces(nw_channel *channel, const struct job *job,
                                int32_t rank)
{
    struct nw_channel_message message = {NULL, PIECES, rank ? 0 : 2, 1};
    char *words = malloc(PIECES);
    nw_channel_request *request = NULL;
    bool done = false;

    MUST(nw_channel_memory_new(job->gpu, PIECES, &message.buffer));
    memset(words, '0' + rank, PIECES);
    MUST(nw_memory_copy_in(0, message.buffer, words, PIECES));
    driver = nw_cuda;
    if (!rank)
        nw_cuda.copy_in = fail_once;
    if (rank == 1)
        slow_down(&channel->fabric[channel->peer[0].fabric]);
    if (rank) {
        nw_status status = pass(channel, true, message);

        SHOULD(status == (rank == 1 ? NW_EIO : NW_OK));
    } else {
        message.peer = 1;
        SHOULD(pass(channel, false, message) == NW_ECUDA);
        message.peer = 2;
        MUST(nw_channel_receive(channel, &message, &request));
        while (!is_granted(request) && !done)
            MUST(nw_channel_test(&request, &done, NULL));
        (void)usleep(800000); /* by then all pieces have arrived, and rank 1
                                 continues */
        MUST(nw_channel_wait(&request, NULL));
        MUST(nw_memory_copy_out(0, words, message.buffer, PIECES));
        for (size_t i = 0; i < PIECES; i++)
            SHOULD(words[i] == '2');
    }
    nw_cuda = driver;
    if (rank < 2)
        works(channel, rank, !rank, SMALL);
    nw_channel_memory_free(job->gpu, message.buffer);
    free(words);
}

static void a_copy_fails_between_pieces(void **state)
{
    (void)state;
    setenv("NODEWISE_CHANNEL_IPC", "off", 1);
    for (int i = 0; i < 2; i++) {
        struct job job = {.count = 3,
                          .provider = providers[i],
                          .gpu = true,
                          .staged = true,
                          .work = fail_between_pieces};

        assert_int_equal(ranks_run(&job), 0);
    }
    unsetenv("NODEWISE_CHANNEL_IPC");
}

/* -- a peer dies while others write to it -- */

/* Grants memory for a rendezvous, and then no longer makes progress. */
static void grant_and_die(nw_channel *channel, size_t bytes)
{
    char *words = malloc(bytes);
    nw_channel_request *request = NULL;
    bool done = false;

    MUST(nw_channel_receive(
        channel, &(struct nw_channel_message){words, bytes, 0, 1}, &request));
    while (!is_granted(request) && !done)
        MUST(nw_channel_test(&request, &done, NULL));
    nw_channel_flush(channel);
    (void)usleep(300000); /* in this time, rank 0 begins to write */
    (void)kill(getpid(), SIGKILL);
}

/* The buffers of writes that never end become available for messages to rank 2,
 * however often this happens; the writes are freed with the channel. */
static void write_to_the_dead(nw_channel *channel, const struct job *job,
                              int32_t rank)
{
    size_t bytes = job->largest;
    void *memory = NULL;

    if (rank == 1)
        grant_and_die(channel, bytes);
    MUST(nw_channel_memory_new(job->gpu, bytes, &memory));
    if (!rank) { /* all bytes may have arrived before it dies */
        nw_status status = pass(
            channel, true, (struct nw_channel_message){memory, bytes, 1, 1});

        SHOULD(status == NW_OK || status == NW_EIO);
    }
    for (int i = 0; i < 4; i++)
        MUST(pass(channel, !rank,
                  (struct nw_channel_message){memory, bytes, 2 - rank, 2}));
    nw_channel_memory_free(job->gpu, memory);
}

static void a_peer_dies_while_written(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct job job = {.count = 3,
                          .provider = providers[i % 2],
                          .gpu = i & 2,
                          .staged = true,
                          .protocol = NW_CHANNEL_RENDEZVOUS,
                          .largest = i & 4 ? SMALL : PIECES,
                          .work = write_to_the_dead};

        assert_int_equal(ranks_run(&job), 1); /* the one that was killed */
    }
}

/* -- a peer dies after it has announced a message -- */

static void announce(nw_channel *channel)
{
    char *words = calloc(1, LARGE);
    nw_channel_request *request[2] = {NULL};

    for (int i = 0; i < 2; i++)
        MUST(nw_channel_send(
            channel, &(struct nw_channel_message){words, i ? 8 : LARGE, 0, 5},
            &request[i]));
    MUST(nw_channel_wait(&request[1], NULL));
    nw_channel_flush(channel);
    MUST(pass(channel, true, (struct nw_channel_message){words, 1, 0, 6}));
    nw_channel_flush(channel);
    (void)usleep(300000);
    (void)kill(getpid(), SIGKILL);
}

/* A later message must not be taken for the announced one. */
static void miss_none(nw_channel *channel, const struct job *job, int32_t rank)
{
    char *words = calloc(1, LARGE);
    nw_channel_request *any = NULL;
    bool done = false;

    (void)job;
    if (rank == 1)
        announce(channel);
    if (!rank) {
        MUST(pass(channel, false, (struct nw_channel_message){words, 1, 1, 6}));
        SHOULD(pass(channel, false,
                    (struct nw_channel_message){words, 1, 1, 7}) == NW_EIO);
        MUST(nw_channel_receive(
            channel,
            &(struct nw_channel_message){words, LARGE, NW_CHANNEL_ANY, 5},
            &any));
        MUST(nw_channel_test(&any, &done, NULL));
        SHOULD(!done);
        for (int i = 0; i < 2; i++)
            SHOULD(pass(channel, false,
                        (struct nw_channel_message){words, LARGE, 1, 5}) ==
                   NW_EIO);
        nw_channel_cancel(any);
        SHOULD(nw_channel_wait(&any, NULL) == NW_ECANCELLED);
    }
    works(channel, rank, 2 - rank, SMALL);
    free(words);
}

static void a_peer_dies_that_announced(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct job job = {
            .count = 3, .provider = providers[i], .work = miss_none};

        assert_int_equal(ranks_run(&job), 1); /* the one that was killed */
    }
}

/* -- a peer dies without having received the messages sent to it -- */

/* Messages that were sent to it end, and messages between the other ranks are
 * not affected. */
static void send_to_the_deaf(nw_channel *channel, const struct job *job,
                             int32_t rank)
{
    enum { SENT = 3 };
    char *words = calloc(1, job->largest);
    nw_channel_request *request[SENT] = {NULL};

    for (int32_t peer = 0; peer < 3; peer++)
        if (peer != rank)
            works(channel, rank, peer, SMALL);
    nw_channel_flush(channel);
    if (rank == 2) {
        (void)usleep(100000);
        (void)kill(getpid(), SIGKILL);
    }
    for (int i = 0; i < SENT; i++)
        MUST(nw_channel_send(
            channel, &(struct nw_channel_message){words, job->largest, 2, 1},
            &request[i]));
    for (int i = 0; i < SENT; i++) {
        nw_status status = nw_channel_wait(&request[i], NULL);

        SHOULD(status == NW_EIO || !status);
    }
    for (int i = 0; i < 4; i++) {
        works(channel, rank, !rank, job->largest);
        MUST(pass(channel, !rank,
                  (struct nw_channel_message){words, job->largest, !rank, i}));
    }
    free(words);
}

static void a_peer_dies_deaf(void **state)
{
    static const size_t sizes[] = {8000, 16000, 8000};

    (void)state;
    for (int i = 0; i < 3 * NW_CHANNEL_PROTOCOLS; i++) {
        struct job job = {.count = 3,
                          .provider = providers[i % 3 == 2],
                          .protocol = (enum nw_channel_protocol)(i / 3),
                          .slot_bytes = 65536,
                          .largest = sizes[i % 3],
                          .work = send_to_the_deaf};

        assert_int_equal(ranks_run(&job), 1); /* the one that was killed */
    }
}

/* -- a peer that was given up still writes to granted memory -- */

static ssize_t write_not_yet(struct fid_ep *ep, const struct fi_msg_rma *msg,
                             uint64_t flags)
{
    return ranks_reached(1) ? writes->writemsg(ep, msg, flags) : -FI_EAGAIN;
}

/* Makes progress once. */
static void turn(nw_channel *channel)
{
    nw_channel_lock(channel);
    (void)nw_progress(channel);
    nw_channel_unlock(channel);
}

static void turn_until(nw_channel *channel, int stage)
{
    while (!ranks_reached(stage))
        turn(channel);
}

/* Rank 0 gives up rank 1, and frees the memory that it granted, before rank 1
 * writes there. */
static void be_given_up(nw_channel *channel, const struct job *job,
                        int32_t rank)
{
    nw_channel_request *request = NULL;
    struct nw_channel_message message = {NULL, LARGE, !rank, 3};
    bool done = false;

    MUST(nw_channel_memory_new(job->gpu, LARGE, &message.buffer));
    for (int i = 0; i < 2 && rank < 2; i++)
        MUST(pass(channel, rank == 1, message));
    if (rank == 1) {
        slow_end = channel->fabric[channel->peer[0].fabric].ep;
        writes = slow_end->rma;
        slow = *writes;
        slow.writemsg = write_not_yet;
        slow_end->rma = &slow;
        (void)!pass(channel, true, message);
        ranks_reach(2);
        _exit(0);
    }
    if (!rank) {
        MUST(nw_channel_receive(channel, &message, &request));
        while (!is_granted(request) && !done)
            MUST(nw_channel_test(&request, &done, NULL));
        nw_channel_flush(channel);
        nw_channel_lock(channel);
        nw_peer_lose(channel, &channel->peer[1]);
        nw_channel_unlock(channel);
        SHOULD(nw_channel_wait(&request, NULL) == NW_EIO);
        nw_channel_memory_free(job->gpu, message.buffer);
        ranks_reach(1);
        turn_until(channel, 2);
    }
    works(channel, rank, 2 - rank, LARGE);
    works(channel, rank, 2 - rank, SMALL);
}

static void a_peer_writes_that_was_given_up(void **state)
{
    (void)state;
    setenv("NODEWISE_CHANNEL_IPC", "off", 1);
    for (int i = 0; i < 4; i++) {
        struct job job = {.count = 3,
                          .provider = providers[i % 2],
                          .gpu = true,
                          .staged = i / 2,
                          .protocol = NW_CHANNEL_RENDEZVOUS,
                          .work = be_given_up};

        assert_int_equal(ranks_run(&job), 0);
    }
    unsetenv("NODEWISE_CHANNEL_IPC");
}

/* -- a peer is given up in the middle of a message, but is alive -- */

static void turn_for(nw_channel *channel, uint64_t ns)
{
    for (uint64_t until = nw_clock_ns() + ns; nw_clock_ns() < until;)
        turn(channel);
}

/* Ends the message with an error. The owner of the memory then stores other
 * data there, which must not change. */
static void end_midway(nw_channel *channel, bool sends, char *words)
{
    struct nw_channel_message message = {words, STREAM, 1, 3};
    nw_channel_request *request = NULL;
    bool done = false;

    MUST(sends ? nw_channel_send(channel, &message, &request)
               : nw_channel_receive(channel, &message, &request));
    while (!done && (sends ? !request->flights : !*(volatile char *)words))
        MUST(nw_channel_test(&request, &done, NULL));
    SHOULD(!done);
    nw_channel_lock(channel);
    nw_peer_lose(channel, &channel->peer[1]);
    nw_channel_unlock(channel);
    SHOULD(nw_channel_wait(&request, NULL) == NW_EIO);
    memset(words, 'o', STREAM);
    turn_for(channel, 300000000);
    ranks_reach(1);
}

static void be_midway(nw_channel *channel, const struct job *job, int32_t rank)
{
    char *words = calloc(1, STREAM), seen = rank ? 'o' : 's';
    bool sends = (job->messages != 0) == !rank;
    nw_channel_request *request = NULL;

    if (rank < 2)
        works(channel, rank, !rank, SMALL);
    if (sends)
        memset(words, 's', STREAM);
    if (!rank) {
        end_midway(channel, sends, words);
    } else if (rank == 1) {
        struct nw_channel_message message = {words, STREAM, 0, 3};

        MUST(sends ? nw_channel_send(channel, &message, &request)
                   : nw_channel_receive(channel, &message, &request));
        turn_until(channel, 1);
    }
    SHOULD(!memchr(words, seen, STREAM));
    if (rank == 1)
        _exit(0);
    works(channel, rank, 2 - rank, SMALL);
    free(words);
}

static void a_peer_is_given_up_midway(void **state)
{
    (void)state;
    setenv("NODEWISE_CHANNEL_FETCH", "off", 1);
    for (int i = 0; i < 2; i++) {
        struct job job = {.count = 3,
                          .provider = "tcp;ofi_rxm",
                          .protocol = NW_CHANNEL_RENDEZVOUS,
                          .messages = i,
                          .work = be_midway};

        assert_int_equal(ranks_run(&job), 0);
    }
    unsetenv("NODEWISE_CHANNEL_FETCH");
}

/* -- processes that are killed leave nothing in shared memory -- */

/* Ends as a killed rank would. The name of its file in shared memory would
 * remain; later versions of libfabric still need that name. */
static void leave_nothing(nw_channel *channel, const struct job *job,
                          int32_t rank)
{
    const struct fi_info *info =
        channel->fabric[channel->peer[!rank].fabric].info;
    char pattern[64];
    glob_t found;

    (void)job;
    works(channel, rank, !rank, SMALL);
    snprintf(pattern, sizeof pattern, "/dev/shm/nodewise-%d-*", getpid());
    SHOULD(glob(pattern, 0, NULL, &found) == GLOB_NOMATCH ||
           info->fabric_attr->prov_version >= FI_VERSION(118, 0));
    _exit(0); /* the process ends without closing the channel */
}

static void killed_ranks_leave_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct job job = {
            .count = 2, .provider = i ? NULL : "shm", .work = leave_nothing};

        assert_int_equal(ranks_run(&job), 0);
    }
}

/* -- a provider stops working -- */

static ssize_t read_nothing(struct fid_cq *queue, void *entries, size_t count)
{
    (void)queue, (void)entries, (void)count;
    return -FI_EOPBADSTATE;
}

static void lose_provider(nw_channel *channel, const struct job *job,
                          int32_t rank)
{
    static char large[LARGE], small[SMALL];
    struct fid_cq *queue = channel->fabric[channel->peer[!rank].fabric].cq;
    nw_channel_request *request[4] = {NULL};
    struct fi_ops_cq broken = *queue->ops;

    (void)job;
    for (int i = 0; i < 4; i++) {
        struct nw_channel_message message = {
            i % 2 ? large : small, i % 2 ? LARGE : SMALL,
            i == 2 ? NW_CHANNEL_ANY : !rank, i};

        MUST(i < 2 ? nw_channel_send(channel, &message, &request[i])
                   : nw_channel_receive(channel, &message, &request[i]));
    }
    if (!rank) {
        broken.read = read_nothing;
        queue->ops = &broken;
    }
    /* a small message may have been sent already; no other one can have been */
    for (int i = 0; i < 4; i++) {
        nw_status status = nw_channel_wait(&request[i], NULL);

        SHOULD(status == NW_EIO || (i != 3 && status == NW_OK));
        SHOULD(rank || status == NW_EIO || !i);
    }
    SHOULD(pass(channel, true,
                (struct nw_channel_message){small, 1, !rank, 1}) == NW_EIO);
    if (!rank)
        _exit(0); /* the other rank notices the failure by this */
}

static void a_provider_vanishes(void **state)
{
    (void)state;
    run_over_both(2, lose_provider);
}

/* -- two versions -- */

struct pair {
    int wire, rank, round;
};

/* Rank 1 sends the next version as its own; the version follows the name of its
 * host. */
static nw_status meet(void *context, const void *mine, size_t bytes, void *all)
{
    struct pair *pair = context;
    char *both = all, *own = malloc(bytes);
    uint32_t version;

    memcpy(own, mine, bytes);
    if (!pair->round++) {
        memcpy(&version, own + 160, sizeof version);
        SHOULD(version == NW_WIRE_VERSION);
        version += (uint32_t)pair->rank;
        memcpy(own + 160, &version, sizeof version);
    }
    memcpy(both + (size_t)pair->rank * bytes, own, bytes);
    SHOULD(write(pair->wire, own, bytes) == (ssize_t)bytes);
    SHOULD(recv(pair->wire, both + (size_t)!pair->rank * bytes, bytes,
                MSG_WAITALL) == (ssize_t)bytes);
    free(own);
    return NW_OK;
}

static void open_of_version(const void *wires, int32_t rank)
{
    struct pair pair = {((const int *)wires)[rank], rank, 0};
    struct nw_channel_options options = NW_CHANNEL_OPTIONS_INIT;
    nw_channel *channel = NULL;
    char words[80];

    options.rank = rank;
    options.count = 2;
    options.allgather = meet;
    options.context = &pair;
    options.provider = "shm";
    SHOULD(nw_channel_open(&options, &channel) == NW_EFORMAT);
    snprintf(words, sizeof words, "rank %d speaks version %d of the channel",
             !rank, NW_WIRE_VERSION + !rank);
    SHOULD(!channel && !strncmp(nw_error_text(), words, strlen(words)));
}

static void versions_differ(void **state)
{
    int wires[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, wires), 0);
    assert_int_equal(ranks_fork(2, open_of_version, wires), 0);
    for (int i = 0; i < 2; i++)
        close(wires[i]);
}

/* Rank 1 has no such provider. Rank 0 reports this and does not wait. */
static void open_by_nothing(const void *wires, int32_t rank)
{
    struct pair pair = {((const int *)wires)[rank], rank, 1};
    struct nw_channel_options options = NW_CHANNEL_OPTIONS_INIT;
    nw_channel *channel = NULL;

    options.rank = rank;
    options.count = 2;
    options.allgather = meet;
    options.context = &pair;
    options.provider = rank ? "nothing" : "shm";
    (void)alarm(60);
    SHOULD(nw_channel_open(&options, &channel) == NW_ENODEV && !channel);
    SHOULD(strstr(nw_error_text(), rank ? "no provider 'nothing'"
                                        : "no provider reaches rank 1"));
}

static void a_rank_has_no_provider(void **state)
{
    int wires[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, wires), 0);
    assert_int_equal(ranks_fork(2, open_by_nothing, wires), 0);
    for (int i = 0; i < 2; i++)
        close(wires[i]);
}

/* -- invalid headers -- */

/* Draws a header in which some fields are valid, or none; it never names
 * another peer. */
static size_t draw_rubbish(struct nw_random *random, uint64_t nonce, char *out)
{
    struct nw_wire wire;
    size_t bytes = nw_random_below(random, sizeof wire + 200);

    for (size_t i = 0; i < sizeof wire + 200; i++)
        out[i] = (char)nw_random_next(random);
    if (!nw_random_below(random, 4))
        return bytes;
    memcpy(&wire, out, sizeof wire);
    wire.magic = NW_WIRE_MAGIC;
    wire.version = NW_WIRE_VERSION;
    wire.kind = (uint8_t)nw_random_below(random, NW_WIRE_KINDS + 1);
    wire.source = nw_random_below(random, 8) ? 1 : 1000;
    wire.nonce = nw_random_below(random, 8) ? nonce : wire.nonce;
    wire.tag &= INT32_MAX;
    wire.credits = nw_random_below(random, 4) ? 0 : wire.credits;
    wire.bytes = nw_random_below(random, 3) ? bytes : wire.bytes;
    memcpy(out, &wire, sizeof wire);
    return bytes;
}

/* Draws a word like that of a payload or of a small message; it never names
 * another peer. */
static uint64_t draw_word(struct nw_random *random, uint64_t nonce)
{
    uint64_t word = nw_random_next(random) | NW_WIRE_WORD;

    switch (nw_random_below(random, 4)) {
    case 0:
        return nw_nonce_word(nonce, 1);
    case 1:
        return nw_nonce_word(nonce, 12345);
    default:
        word = (word & ~UINT64_C(0xffff0000)) |
               (nw_random_below(random, 2) ? 1 << 16 : 1000 << 16);
        return nw_random_below(random, 2) ? word & ~UINT64_C(0xff) : word;
    }
}

/* Rank 1 sends invalid headers directly by the provider, sometimes with a word
 * like that of a payload. */
static void send_rubbish(nw_channel *channel, uint64_t seed)
{
    struct nw_endpoint *fabric = &channel->fabric[channel->peer[0].fabric];
    char room[sizeof(struct nw_wire) + 200];
    struct nw_random random;

    nw_random_init(&random, seed);
    for (int i = 0; i < 300; i++) {
        size_t bytes = draw_rubbish(&random, channel->peer[0].nonce, room);
        uint64_t data = draw_word(&random, channel->peer[0].nonce);
        ssize_t code;

        do {
            code = nw_random_below(&random, 5)
                       ? fi_inject(fabric->ep, room, bytes,
                                   channel->peer[0].address)
                       : fi_injectdata(fabric->ep, room, bytes, data,
                                       channel->peer[0].address);
            if (code == -FI_EAGAIN)
                (void)nw_progress(channel);
        } while (code == -FI_EAGAIN);
        SHOULD(!code);
    }
}

/* Rank 0 and rank 2 exchange messages meanwhile; none of them is lost or
 * changed. */
static void hear_rubbish(nw_channel *channel, const struct job *job,
                         int32_t rank)
{
    struct nw_channel_counts counts;

    if (rank == 1) {
        send_rubbish(channel, (uint64_t)(job->provider == providers[1]) + 41);
        (void)usleep(200000);
        _exit(0);
    }
    for (int i = 0; i < 60; i++)
        works(channel, rank, 2 - rank, (size_t)(i % 3 ? 4096 : LARGE));
    /* the invalid headers may arrive after all messages of the others */
    for (nw_channel_count(channel, &counts); !rank && !counts.malformed;
         nw_channel_count(channel, &counts))
        (void)nw_progress(channel);
    _exit(0);
}

static void a_peer_sends_rubbish(void **state)
{
    (void)state;
    run_over_both(3, hear_rubbish);
}

/* -- a process that does not belong to the job -- */

/* Shared memory of the ranks and the process that does not belong to the
 * job. */
struct stranger {
    char file[NW_FILE_UNNAMED_PATH];
    char name[NW_ENDPOINT_NAME]; /* of rank 0's endpoint */
    bool named, heard;           /* the name is set; all headers were refused */
};

enum { STRANGER = 2, STRANGE_HEADERS = 5, STRANGE = STRANGE_HEADERS + 2 };

static void await(const bool *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        (void)usleep(1000);
}

/* Sends what rank 1 could send, but without the nonce of rank 0: headers, the
 * word of a small message, and the word of a payload. */
static ssize_t send_strange(const struct nw_endpoint *fabric, fi_addr_t to,
                            int i)
{
    static const uint8_t kinds[STRANGE_HEADERS] = {
        NW_WIRE_EAGER, NW_WIRE_HEAD, NW_WIRE_RTS, NW_WIRE_CREDIT, NW_WIRE_BYE};
    struct nw_wire wire = {.magic = NW_WIRE_MAGIC,
                           .version = NW_WIRE_VERSION,
                           .source = 1,
                           .tag = 77};
    char message[NW_WIRE_HEADER + SMALL] = {0};

    if (i >= STRANGE_HEADERS)
        return fi_injectdata(fabric->ep, message, SMALL,
                             i == STRANGE_HEADERS
                                 ? nw_wire_word(&wire)
                                 : nw_nonce_word(0, wire.source),
                             to);
    wire.kind = kinds[i];
    wire.credits = wire.kind == NW_WIRE_CREDIT;
    wire.bytes = wire.kind <= NW_WIRE_RTS ? SMALL : 0;
    memcpy(message, &wire, NW_WIRE_HEADER);
    return fi_inject(fabric->ep, message,
                     NW_WIRE_HEADER + (i ? (size_t)0 : SMALL), to);
}

static void be_a_stranger(struct stranger *shared)
{
    struct fi_cq_data_entry entry;
    struct nw_endpoint fabric = {0};
    fi_addr_t to = FI_ADDR_UNSPEC;

    await(&shared->named);
    MUST(nw_endpoint_open_one(providers[1], false, &fabric));
    MUST(nw_endpoint_meet(&fabric, shared->name, &to));
    for (int i = 0; i < STRANGE;) {
        ssize_t code = send_strange(&fabric, to, i);

        SHOULD(!code || code == -FI_EAGAIN);
        i += !code;
        (void)fi_cq_read(fabric.cq, &entry, 1);
    }
    while (!__atomic_load_n(&shared->heard, __ATOMIC_ACQUIRE))
        (void)fi_cq_read(fabric.cq, &entry, 1);
    nw_endpoint_close(&fabric);
}

/* A receive that is posted before the stranger sends gets the message of rank
 * 1. */
static void hear_a_stranger(nw_channel *channel, struct stranger *shared)
{
    struct nw_endpoint *fabric = &channel->fabric[channel->peer[1].fabric];
    struct nw_channel_message message;
    struct nw_channel_counts counts = {0};
    nw_channel_request *request = NULL;
    char words[SMALL] = "";

    message = (struct nw_channel_message){words, SMALL, 1, 77};
    MUST(nw_channel_receive(channel, &message, &request));
    memcpy(shared->name, fabric->name, sizeof shared->name);
    __atomic_store_n(&shared->named, true, __ATOMIC_RELEASE);
    while (counts.malformed < STRANGE) {
        nw_channel_lock(channel);
        (void)nw_progress(channel);
        nw_channel_unlock(channel);
        nw_channel_count(channel, &counts);
    }
    __atomic_store_n(&shared->heard, true, __ATOMIC_RELEASE);
    MUST(nw_channel_wait(&request, NULL));
    SHOULD(words[0] == 'y' && words[SMALL - 1] == 'y');
    nw_channel_count(channel, &counts);
    SHOULD(counts.malformed == STRANGE && !counts.lost_peers);
}

/* A process that does not know the key of registered memory cannot guess it, so
 * that it cannot write to that memory. */
static void guess_no_key(nw_channel *channel)
{
    struct nw_endpoint *fabric = &channel->fabric[channel->peer[1].fabric];
    static char memory[2][SMALL];
    struct fid_mr *region[2];

    for (int i = 0; i < 2; i++)
        MUST(nw_endpoint_register(fabric, memory[i], SMALL, &region[i]));
    SHOULD(fi_mr_key(region[0]) > UINT32_MAX);
    SHOULD(fi_mr_key(region[1]) - fi_mr_key(region[0]) > UINT32_MAX);
    for (int i = 0; i < 2; i++)
        nw_endpoint_unregister(region[i]);
}

static void open_beside_a_stranger(const void *about, int32_t rank)
{
    struct stranger *shared = (struct stranger *)(uintptr_t)about;
    struct nw_channel_options options = NW_CHANNEL_OPTIONS_INIT;
    nw_channel *channel = NULL;

    if (rank == STRANGER) {
        be_a_stranger(shared);
        return;
    }
    options.rank = rank;
    options.count = 2;
    options.file = shared->file;
    options.provider = providers[1];
    options.timeout_ms = 120000;
    MUST(nw_channel_open(&options, &channel));
    if (rank) {
        char words[SMALL];

        await(&shared->heard);
        memset(words, 'y', sizeof words);
        MUST(pass(channel, true,
                  (struct nw_channel_message){words, SMALL, 0, 77}));
    } else {
        guess_no_key(channel);
        hear_a_stranger(channel, shared);
    }
    works(channel, rank, !rank, LARGE);
    nw_channel_close(channel);
}

static void a_stranger_is_refused(void **state)
{
    struct stranger *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int fd = -1;

    (void)state;
    assert_ptr_not_equal(shared, MAP_FAILED);
    assert_int_equal(nw_file_unnamed(shared->file, &fd), NW_OK);
    assert_int_equal(ranks_fork(3, open_beside_a_stranger, shared), 0);
    (void)close(fd);
    (void)munmap(shared, sizeof *shared);
}

/* -- a peer that no longer reads -- */

/* Rank 0 closes its channel with more headers pending than the provider
 * accepts. A leak checker finds what the channel does not free. */
static void close_in_haste(nw_channel *channel, const struct job *job,
                           int32_t rank)
{
    struct nw_wire wire = {.kind = NW_WIRE_CREDIT};

    (void)job;
    works(channel, rank, !rank, SMALL);
    if (rank) {
        (void)usleep(1000000); /* the process is alive but makes no progress */
        _exit(0);
    }
    nw_channel_lock(channel);
    for (int i = 0; i < 5000; i++)
        nw_send_control(&channel->peer[1], channel, &wire);
    channel->options.timeout_ms = 1000; /* a tenth of it is the limit for the
                                           last messages at closing */
    nw_channel_unlock(channel);
}

static void a_peer_is_deaf(void **state)
{
    (void)state;
    run_over_both(2, close_in_haste);
}

/* -- a peer ends where the kernel cannot watch processes -- */

static void lose_unwatched(nw_channel *channel, const struct job *job,
                           int32_t rank)
{
    char byte = 0;

    (void)job;
    works(channel, rank, !rank, SMALL);
    if (rank)
        _exit(0); /* it remains a zombie, since its parent waits for rank 0
                     first */
    (void)close(channel->peer[1].watch);
    channel->peer[1].watch = -1;
    SHOULD(pass(channel, false, (struct nw_channel_message){&byte, 1, 1, 3}) ==
           NW_EIO);
}

static void a_peer_ends_unwatched(void **state)
{
    (void)state;
    run_over_both(2, lose_unwatched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_while_it_loads), // must come before the tests
                                                   // that load libfabric
        cmocka_unit_test(registrations_run_out),
        cmocka_unit_test(a_gpu_is_reset),
        cmocka_unit_test(a_copy_fails_between_pieces),
        cmocka_unit_test(a_peer_dies_while_written),
        cmocka_unit_test(a_peer_dies_that_announced),
        cmocka_unit_test(a_peer_dies_deaf),
        cmocka_unit_test(a_peer_writes_that_was_given_up),
        cmocka_unit_test(a_peer_is_given_up_midway),
        cmocka_unit_test(killed_ranks_leave_nothing),
        cmocka_unit_test(a_provider_vanishes),
        cmocka_unit_test(versions_differ),
        cmocka_unit_test(a_rank_has_no_provider),
        cmocka_unit_test(a_peer_sends_rubbish),
        cmocka_unit_test(a_stranger_is_refused),
        cmocka_unit_test(a_peer_is_deaf),
        cmocka_unit_test(a_peer_ends_unwatched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
