/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts calls. Calls of a communicator with equal function, algorithm, root
 * and size class (powers of two) share one counter. Each counter has a line of
 * fixed length in the file. Changed lines are rewritten at a call, at most once
 * a second, and when the communicator or the process ends.
 */
#include "runtime/nccl/record.h"

#include "runtime/nccl/part.h"
#include "runtime/nccl/process.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORD_NAME = 20 };

struct record_call {
    char function[RECORD_NAME], algorithm[RECORD_NAME];
    int root, size_class;
    uint64_t bytes, calls;
    long line; /* number of the call's line in the file of this process; the
                  line is rewritten when `calls` has grown; -1: not written
                  yet */
    bool is_new;
};

struct record_comm {
    struct record_comm *next;
    uint64_t id;
    int rank, size; /* rank -1: unknown yet */
    char device[32];
    int index; /* number in the file; -1: not written yet */
    struct record_call *call;
    size_t count, capacity;
};

static pthread_mutex_t record_lock = PTHREAD_MUTEX_INITIALIZER;
static struct record_comm *record_comms;
static pid_t record_pid; /* process that records; 0: none yet */
static int record_comm_count;
/* True while this thread holds the lock or takes it. A signal handler that
 * calls exit may have interrupted the thread meanwhile. */
static _Thread_local volatile bool record_is_locked;

/* Takes the lock with cancellation disabled, since a cancelled thread would
 * keep the lock. Returns false in a forked child, which has a copy of the lock
 * and must not record, and if this thread holds the lock already. */
static bool record_enter(int *cancel)
{
    if (record_is_locked || (record_pid && getpid() != record_pid))
        return false;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, cancel);
    record_is_locked = true;
    (void)pthread_mutex_lock(&record_lock);
    return true;
}

static void record_leave(int cancel)
{
    (void)pthread_mutex_unlock(&record_lock);
    record_is_locked = false;
    (void)pthread_setcancelstate(cancel, NULL);
}

/* --- the file --- */

static void record_put_comm(struct record_comm *comm)
{
    char size[16] = "-";

    if (comm->size > 0)
        snprintf(size, sizeof size, "%d", comm->size);
    comm->index = record_comm_count++;
    nw_nccl_part_put(-1, "comm %d 0x%" PRIx64 " %d %s %s", comm->index,
                     comm->id, comm->rank, size, comm->device);
}

static void record_put_call(const struct record_comm *comm,
                            struct record_call *call)
{
    char root[16] = "-";

    if (call->root >= 0)
        snprintf(root, sizeof root, "%d", call->root);
    call->line = nw_nccl_part_put(
        call->line, "call %d %s %s %s %" PRIu64 " %" PRIu64, comm->index,
        call->function, call->algorithm, root, call->bytes, call->calls);
    call->is_new = false;
}

static void record_save_comm(struct record_comm *comm)
{
    if (comm->rank < 0)
        return;
    if (comm->index < 0)
        record_put_comm(comm);
    for (size_t i = 0; i < comm->count; i++)
        if (comm->call[i].is_new)
            record_put_call(comm, &comm->call[i]);
}

static void record_save(void)
{
    for (struct record_comm *comm = record_comms; comm; comm = comm->next)
        record_save_comm(comm);
}

static bool record_start(void)
{
    struct nw_nccl_self self;

    if (record_pid)
        return nw_nccl_part_is_open();
    record_pid = getpid();
    if (!nw_nccl_self(&self) || !nw_nccl_part_open(&self))
        return false;
    nw_nccl_part_put(-1, "nodewise nccl 1");
    nw_nccl_part_put(-1, "process %s %s %ld %s", self.rank, self.world,
                     (long)record_pid, self.host);
    return true;
}

/* --- communicators and calls --- */

void *nw_nccl_record_open(void)
{
    struct record_comm *comm = NULL;
    int cancel;

    if (!record_enter(&cancel))
        return NULL;
    if (record_start())
        comm = calloc(1, sizeof *comm);
    if (comm) {
        *comm =
            (struct record_comm){.next = record_comms, .rank = -1, .index = -1};
        nw_nccl_device(comm->device, sizeof comm->device);
        record_comms = comm;
    }
    record_leave(cancel);
    return comm;
}

void nw_nccl_record_comm(void *context, uint64_t id, int rank)
{
    struct record_comm *comm = context;
    int cancel;

    if (!comm || !record_enter(&cancel))
        return;
    if (comm->rank < 0 && rank >= 0) {
        comm->id = id;
        comm->rank = rank;
    }
    record_leave(cancel);
}

void nw_nccl_record_size(void *context, int size)
{
    struct record_comm *comm = context;
    int cancel;

    if (!comm || !record_enter(&cancel))
        return;
    comm->size = size;
    /* written now, since a communicator without calls is written too */
    record_save_comm(comm);
    record_leave(cancel);
}

/* Copies the letters, digits and underscores of a name, so that it is one word
 * in the file; "-" if the name has only other characters. */
static void record_name(char out[RECORD_NAME], const char *name)
{
    size_t length = 0;

    for (; name && *name && length < RECORD_NAME - 1; name++)
        if ((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
            (*name >= '0' && *name <= '9') || *name == '_')
            out[length++] = *name;
    if (!length)
        out[length++] = '-';
    out[length] = '\0';
}

static struct record_call *record_add(struct record_comm *comm,
                                      const struct record_call *call)
{
    size_t capacity = comm->capacity ? 2 * comm->capacity : 16;
    struct record_call *more;

    if (comm->count == comm->capacity) {
        more = realloc(comm->call, capacity * sizeof *more);
        if (!more)
            return NULL;
        comm->call = more;
        comm->capacity = capacity;
    }
    comm->call[comm->count] = *call;
    return &comm->call[comm->count++];
}

static struct record_call *record_find(struct record_comm *comm,
                                       const struct record_call *call)
{
    for (size_t i = comm->count; i-- > 0;) {
        struct record_call *one = &comm->call[i];

        if (one->size_class == call->size_class && one->root == call->root &&
            !strcmp(one->function, call->function) &&
            !strcmp(one->algorithm, call->algorithm))
            return one;
    }
    return record_add(comm, call);
}

void nw_nccl_record_call(void *context, const struct nw_nccl_seen *seen)
{
    struct record_comm *comm = context;
    struct record_call call = {.root = seen->root < 0 ? -1 : seen->root,
                               .line = -1},
                       *found;
    int cancel;

    if (!comm || !record_enter(&cancel))
        return;
    record_name(call.function, seen->function);
    record_name(call.algorithm, seen->algorithm);
    call.size_class = seen->bytes ? 64 - __builtin_clzll(seen->bytes) : 0;
    found = record_find(comm, &call);
    if (found) {
        found->bytes += seen->bytes;
        found->calls++;
        found->is_new = true;
    }
    if (nw_nccl_part_is_due()) {
        record_save();
        nw_nccl_part_saved();
    }
    record_leave(cancel);
}

void nw_nccl_record_close(void *context)
{
    struct record_comm **at = &record_comms, *comm = context;
    int cancel;

    if (!comm || !record_enter(&cancel))
        return;
    record_save_comm(comm);
    while (*at && *at != comm)
        at = &(*at)->next;
    if (*at) {
        *at = comm->next;
        free(comm->call);
        free(comm);
    }
    record_leave(cancel);
}

/* Writes the last counts at exit, since many programs never destroy their
 * communicators. */
__attribute__((destructor)) static void record_end(void)
{
    int cancel;

    if (!record_pid || !record_enter(&cancel))
        return;
    record_save();
    nw_nccl_part_close();
    record_leave(cancel);
}
