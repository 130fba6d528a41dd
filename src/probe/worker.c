/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of one rank: round trips, bursts and streams with a peer. The first
 * rank of a pair decides how many messages are sent; before each batch, it
 * sends the number to the second rank. A waiting rank spins for a while, then
 * yields its core, since ranks may share cores. */
#include "probe/job.h"

#include "base/array.h"
#include "base/backoff.h"
#include "base/clock.h"
#include "base/median.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Limits of the measurements:
 *
 * - A class of sizes is measured in FEWEST_BATCHES to BATCHES batches, or in
 *   fewer batches if its time is over. This time is CLASS_SECONDS, in s, unless
 *   rank 0 gives another one.
 * - A batch takes about BATCH_SECONDS, in s.
 * - A burst has BURST messages, or SHORT_BURST messages if a message takes
 *   longer than SLOW_MESSAGE, in s.
 * - A median is stable if it changes by less than the fraction STABLE. */
#define BATCHES 15
#define FEWEST_BATCHES 5
#define BATCH_SECONDS 200e-6
#define CLASS_SECONDS 8e-3
#define BURST 16
#define SHORT_BURST 4
#define SLOW_MESSAGE 1e-3
#define STABLE 0.03

/* The exchange of messages with a peer. `lost` becomes true if the peer does
 * not answer. */
struct talk {
    struct nw_probe_self *self;
    int peer, tag;
    enum nw_probe_memory memory;
    bool lost;
};

/* Message that announces a batch of messages; count 0 ends the measurement. */
struct batch {
    int64_t count, bytes, burst;
};

double nw_probe_now(void)
{
    return (double)nw_clock_ns() * 1e-9;
}

bool nw_probe_wait(MPI_Request *request, MPI_Status *status, double seconds)
{
    struct nw_backoff backoff = {0};
    double end = nw_probe_now() + seconds;
    int done = 0;

    do {
        nw_backoff_yield(&backoff);
        if (MPI_Test(request, &done, status))
            return false;
        if (done)
            return true;
    } while (backoff.idle % NW_MPI_LOOKS || nw_probe_now() <= end);
    MPI_Cancel(request);
    MPI_Request_free(request);
    return false;
}

static bool worker_finish(struct talk *talk, MPI_Request *request)
{
    if (!talk->lost &&
        !nw_probe_wait(request, MPI_STATUS_IGNORE, talk->self->timeout))
        talk->lost = true;
    return !talk->lost;
}

static char *worker_memory_of(const struct talk *talk, size_t slot)
{
    const struct nw_probe_self *self = talk->self;
    char *buffer = talk->memory == NW_PROBE_GPU && self->staged
                       ? self->stage
                       : self->buffer[talk->memory];

    return buffer + slot * NW_PROBE_LARGEST;
}

/* Copies a message from the GPU to the staging buffer (`out`) or back, if GPU
 * messages are staged. */
static void worker_stage(const struct talk *talk, size_t bytes, bool out)
{
    const struct nw_probe_self *self = talk->self;
    char *gpu = self->buffer[NW_PROBE_GPU];

    if (talk->memory != NW_PROBE_GPU || !self->staged)
        return;
    if (out ? self->gpu->copy_out(self->stage, gpu, bytes)
            : self->gpu->copy_in(gpu, self->stage, bytes))
        abort(); /* the rank ends; rank 0 then reports it */
}

static void worker_send(struct talk *talk, size_t bytes, double *overhead)
{
    MPI_Request request;
    double start = nw_probe_now();

    if (talk->lost)
        return;
    worker_stage(talk, bytes, true);
    if (MPI_Isend(worker_memory_of(talk, 0), (int)bytes, MPI_BYTE, talk->peer,
                  talk->tag, MPI_COMM_WORLD, &request)) {
        talk->lost = true;
        return;
    }
    if (overhead)
        *overhead += nw_probe_now() - start;
    worker_finish(talk, &request);
}

static void worker_receive(struct talk *talk, size_t bytes)
{
    MPI_Request request;

    if (talk->lost)
        return;
    if (MPI_Irecv(worker_memory_of(talk, 1), (int)bytes, MPI_BYTE, talk->peer,
                  talk->tag, MPI_COMM_WORLD, &request))
        talk->lost = true;
    else
        worker_finish(talk, &request);
    worker_stage(talk, bytes, false);
}

/* Announces a batch. If the peer does not take the message in time, its memory
 * is never freed, since MPI may still read it. */
static void worker_tell(struct talk *talk, struct batch batch)
{
    struct batch *kept = NULL;
    MPI_Request request;

    if (talk->lost)
        return;
    talk->lost = nw_alloc(1, sizeof *kept, &kept);
    if (talk->lost)
        return;
    *kept = batch;
    talk->lost = MPI_Isend(kept, sizeof *kept, MPI_BYTE, talk->peer, talk->tag,
                           MPI_COMM_WORLD, &request);
    if (talk->lost || worker_finish(talk, &request))
        free(kept);
}

static struct batch worker_hear(struct talk *talk)
{
    struct batch batch = {0};
    MPI_Request request;

    if (talk->lost)
        return batch;
    if (MPI_Irecv(&batch, sizeof batch, MPI_BYTE, talk->peer, talk->tag,
                  MPI_COMM_WORLD, &request))
        talk->lost = true;
    else if (!worker_finish(talk, &request))
        batch.count = 0;
    return batch;
}

/* --- pairs --- */

/* Makes `count` round trips after one that is not timed. Returns half of the
 * mean time of a round trip; *overhead is the mean time for staging a message,
 * if it is staged, and calling MPI_Isend. */
static double round_trips(struct talk *talk, size_t bytes, int64_t count,
                          double *overhead)
{
    double start;

    *overhead = 0;
    worker_tell(talk, (struct batch){count + 1, (int64_t)bytes, 0});
    worker_send(talk, bytes, NULL);
    worker_receive(talk, bytes);
    start = nw_probe_now();
    for (int64_t i = 0; i < count; i++) {
        worker_send(talk, bytes, overhead);
        worker_receive(talk, bytes);
    }
    *overhead /= (double)count;
    return (nw_probe_now() - start) / (2 * (double)count);
}

/* Sends a burst of messages without waiting for replies; returns the gap
 * between messages in s, at least 0. `time` is the time of one message. */
static double worker_burst(struct talk *talk, size_t bytes, double time)
{
    int count = time > SLOW_MESSAGE ? SHORT_BURST : BURST;
    MPI_Request request[BURST];
    double start, gap;

    worker_tell(talk, (struct batch){count, (int64_t)bytes, 1});
    worker_send(talk, bytes, NULL);
    worker_receive(talk, bytes);
    start = nw_probe_now();
    worker_stage(talk, bytes, true);
    for (int i = 0; i < count; i++) {
        request[i] = MPI_REQUEST_NULL;
        if (!talk->lost &&
            MPI_Isend(worker_memory_of(talk, 0), (int)bytes, MPI_BYTE,
                      talk->peer, talk->tag, MPI_COMM_WORLD, &request[i]))
            talk->lost = true;
    }
    for (int i = 0; i < count; i++)
        worker_finish(talk, &request[i]);
    worker_receive(talk, 8);
    gap = (nw_probe_now() - start - 2 * time) / (count - 1);
    return gap > 0 ? gap : 0;
}

/* Returns half the difference of the quartiles divided by the median of n
 * sorted values; 0 if the median is 0. */
static double spread_of(const double *sorted, int n)
{
    double middle = sorted[n / 2];

    return middle > 0 ? (sorted[3 * n / 4] - sorted[n / 4]) / (2 * middle) : 0;
}

/* Measures a class of sizes: runs batches of round trips until the median is
 * stable or the time is up, then a burst. figure[] receives time, overhead and
 * gap. Returns the spread of the times (see spread_of); 0 if the peer is
 * lost. */
static double measure_class(struct talk *talk, int class, double *figure,
                            double seconds)
{
    size_t bytes = nw_probe_class_bytes(class);
    double time[BATCHES], work[BATCHES], overhead[BATCHES], before = 0;
    double start, first = round_trips(talk, bytes, 2, overhead);
    int64_t count = first > 0 ? (int64_t)(BATCH_SECONDS / (2 * first)) : 1;
    int n = 0;

    count = count < 1 ? 1 : count > 100 ? 100 : count;
    start = nw_probe_now();
    if (first > seconds) {
        /* one batch is enough if a single message takes longer than the time
         * for all */
        time[n] = first;
        overhead[n++] = overhead[0];
    }
    while (n < BATCHES && !talk->lost && first <= seconds) {
        double median;

        time[n] = round_trips(talk, bytes, count, &overhead[n]);
        n++;
        memcpy(work, time, sizeof work);
        median = nw_median(work, (size_t)n);
        if ((n >= FEWEST_BATCHES && median > before * (1 - STABLE) &&
             median < before * (1 + STABLE)) ||
            (n >= 3 && nw_probe_now() - start > seconds))
            break;
        before = median;
    }
    if (talk->lost)
        return 0;
    figure[0] = nw_median(time, (size_t)n);
    figure[1] = nw_median(overhead, (size_t)n);
    figure[2] = worker_burst(talk, bytes, figure[0]);
    return spread_of(time, n);
}

static void lead_pair(struct talk *talk, double seconds,
                      struct nw_probe_reply *reply)
{
    for (int c = 0; c < NW_PROBE_CLASSES && !talk->lost; c++) {
        double spread = measure_class(talk, c, reply->figure + 1 + 3 * c,
                                      seconds > 0 ? seconds : CLASS_SECONDS);

        if (c == 0)
            reply->figure[0] = spread;
    }
    worker_tell(talk, (struct batch){0});
}

static void follow_burst(struct talk *talk, const struct batch *batch)
{
    MPI_Request request[BURST];
    int count = batch->count < BURST ? (int)batch->count : BURST;

    worker_receive(talk, (size_t)batch->bytes);
    for (int i = 0; i < count; i++) {
        request[i] = MPI_REQUEST_NULL;
        if (!talk->lost &&
            MPI_Irecv(worker_memory_of(talk, 1), (int)batch->bytes, MPI_BYTE,
                      talk->peer, talk->tag, MPI_COMM_WORLD, &request[i]))
            talk->lost = true;
    }
    worker_send(talk, (size_t)batch->bytes, NULL);
    for (int i = 0; i < count; i++)
        worker_finish(talk, &request[i]);
    worker_stage(talk, (size_t)batch->bytes, false);
    worker_send(talk, 8, NULL);
}

static void follow_pair(struct talk *talk)
{
    struct batch batch;

    while ((batch = worker_hear(talk)).count > 0 && !talk->lost) {
        if (batch.burst) {
            follow_burst(talk, &batch);
            continue;
        }
        for (int64_t i = 0; i < batch.count && !talk->lost; i++) {
            worker_receive(talk, (size_t)batch.bytes);
            worker_send(talk, (size_t)batch.bytes, NULL);
        }
    }
}

/* --- streams --- */

/* Waits until the clock shows `start`; does not wait if this time is past or
 * `start` is 0. Returns the time at which the stream begins. */
static double worker_await(double start)
{
    double now;

    while ((now = nw_probe_now()) < start)
        (void)usleep(NW_NAP_US);
    return start > 0 ? start : now;
}

/* Sends chunks until the time is up, then an empty message for each request of
 * the window. Sends are synchronous, so that at most the window is in flight,
 * however large the buffers on the way are. */
static void send_stream(struct talk *talk,
                        const struct nw_probe_command *command)
{
    size_t chunk = (size_t)command->chunk;
    MPI_Request request[NW_PROBE_WINDOW];
    double start = worker_await(command->start);
    int more = NW_PROBE_WINDOW;

    for (int i = 0; i < NW_PROBE_WINDOW; i++)
        request[i] = MPI_REQUEST_NULL;
    for (int i = 0; more && !talk->lost; i = (i + 1) % NW_PROBE_WINDOW) {
        bool last = nw_probe_now() - start > command->seconds;

        worker_finish(talk, &request[i]);
        more -= last;
        worker_stage(talk, chunk, true);
        if (!talk->lost &&
            MPI_Issend(worker_memory_of(talk, 0), last ? 0 : (int)chunk,
                       MPI_BYTE, talk->peer, talk->tag, MPI_COMM_WORLD,
                       &request[i]))
            talk->lost = true;
    }
    for (int i = 0; i < NW_PROBE_WINDOW; i++)
        worker_finish(talk, &request[i]);
    /* wait for the receiver, so that nothing is in flight when the next
     * measurement begins */
    worker_receive(talk, 8);
}

/* The times in s at which chunks arrived. */
struct arrivals {
    double *at;
    size_t count, capacity;
};

/* Returns the rate in bytes/s in the steady part of a stream; 0 if too few
 * chunks arrived in it. The first third of `seconds` does not count: buffers
 * fill, and token buckets of rate limiters empty. Chunks after `seconds` do not
 * count either: the sender only empties its queue, and simultaneous streams no
 * longer overlap. *chunks is the number of chunks that count. */
static double rate_of(const struct arrivals *arrivals,
                      const struct nw_probe_command *command, double *chunks)
{
    size_t chunk = (size_t)command->chunk;
    double seconds = command->seconds;
    size_t first = 0, last, n = arrivals->count;
    double begin;

    *chunks = 0;
    if (n < 3)
        return 0;
    begin = command->start > 0 ? command->start : arrivals->at[0];
    last = n - 1;
    while (first < last && arrivals->at[first] < begin + seconds / 3)
        first++;
    while (last > first && arrivals->at[last] > begin + seconds)
        last--;
    if (last <= first)
        return 0;
    *chunks = (double)(last - first);
    return (double)((last - first) * chunk) /
           (arrivals->at[last] - arrivals->at[first]);
}

static bool note_arrival(struct arrivals *arrivals)
{
    if (nw_grow(&arrivals->at, &arrivals->capacity, arrivals->count + 1,
                sizeof *arrivals->at))
        return false;
    arrivals->at[arrivals->count++] = nw_probe_now();
    return true;
}

/* Posts the receive of a chunk into part `slot` of the buffer. */
static void expect_chunk(struct talk *talk, int slot, int bytes,
                         MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    if (!talk->lost &&
        MPI_Irecv(worker_memory_of(talk, (size_t)slot), bytes, MPI_BYTE,
                  talk->peer, talk->tag, MPI_COMM_WORLD, request))
        talk->lost = true;
}

static bool wait_for_chunk(struct talk *talk, MPI_Request *request, int *bytes)
{
    MPI_Status status;

    talk->lost |= !nw_probe_wait(request, &status, talk->self->timeout);
    if (talk->lost)
        return false;
    MPI_Get_count(&status, MPI_BYTE, bytes);
    return true;
}

static double receive_stream(struct talk *talk,
                             const struct nw_probe_command *command,
                             double *chunks)
{
    size_t chunk = (size_t)command->chunk;
    MPI_Request request[NW_PROBE_WINDOW];
    struct arrivals arrivals = {0};
    double rate;
    int ends = 0;

    for (int i = 0; i < NW_PROBE_WINDOW; i++)
        expect_chunk(talk, i, (int)chunk, &request[i]);
    for (int i = 0; ends < NW_PROBE_WINDOW && !talk->lost;
         i = (i + 1) % NW_PROBE_WINDOW) {
        int bytes = 0;

        if (!wait_for_chunk(talk, &request[i], &bytes))
            break;
        if (!bytes) {
            ends++;
            continue;
        }
        worker_stage(talk, chunk, false);
        if (!note_arrival(&arrivals))
            talk->lost = true;
        expect_chunk(talk, i, (int)chunk, &request[i]);
    }
    worker_send(talk, 8, NULL);
    rate = rate_of(&arrivals, command, chunks);
    free(arrivals.at);
    return rate;
}

/* --- obeying --- */

void nw_probe_work(struct nw_probe_self *self,
                   const struct nw_probe_command *command,
                   struct nw_probe_reply *reply)
{
    struct talk talk = {.self = self,
                        .peer = (int)command->peer,
                        .tag = TAG_DATA + (int)(command->number % 30000),
                        .memory = (enum nw_probe_memory)command->memory};

    *reply = (struct nw_probe_reply){.number = command->number};
    if (command->work == WORK_CLOCK)
        reply->figure[0] = nw_probe_now();
    else if (command->work == WORK_PAIR && command->first)
        lead_pair(&talk, command->seconds, reply);
    else if (command->work == WORK_PAIR)
        follow_pair(&talk);
    else if (command->first)
        send_stream(&talk, command);
    else
        reply->figure[0] = receive_stream(&talk, command, &reply->figure[1]);
    reply->good = !talk.lost;
}

/* Waits for a command; sleeps between checks, since idle ranks may share cores
 * with ranks that measure. */
static bool wait_idle(MPI_Request *request)
{
    int done = 0;

    while (!done) {
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE))
            return false;
        if (!done)
            (void)usleep(100);
    }
    return true;
}

bool nw_probe_obey(struct nw_probe_self *self)
{
    struct nw_probe_command command;
    struct nw_probe_reply reply;
    MPI_Request request;

    for (;;) {
        if (MPI_Irecv(&command, sizeof command, MPI_BYTE, 0, TAG_COMMAND,
                      MPI_COMM_WORLD, &request) ||
            !wait_idle(&request))
            return false;
        if (command.work == WORK_QUIT)
            return command.first;
        nw_probe_work(self, &command, &reply);
        if (MPI_Isend(&reply, sizeof reply, MPI_BYTE, 0, TAG_REPLY,
                      MPI_COMM_WORLD, &request) ||
            !nw_probe_wait(&request, MPI_STATUS_IGNORE, self->timeout))
            return false;
    }
}
