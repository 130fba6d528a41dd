/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads logs of NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,GRAPH,COLL. A line
 * begins with host:pid:thread. INIT lines give communicators, GRAPH lines give
 * rings, COLL lines give calls. Other lines are the program's own output.
 */
#include "base/array.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/status.h"
#include "base/text.h"
#include "pattern/format.h"
#include "pattern/nccl/datatype.h"
#include "pattern/nccl/files.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* A communicator, found by its address in a process or by the thread that
 * creates it. */
struct log_entry {
    int32_t process;
    bool is_thread;
    uint64_t key; /* the address of the communicator, or the thread */
    uint64_t comm;
    int32_t size;
    size_t member;
};

/* The state while one log is read. */
struct log_file {
    struct nw_nccl_job *job;
    const char *path;
    void *tree; /* tree of struct log_entry */
    int32_t process;
    uint64_t thread; /* thread that wrote the current line */
};

static int log_by_key(const void *a, const void *b)
{
    const struct log_entry *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->is_thread != y->is_thread)
        return x->is_thread ? 1 : -1;
    return (x->key > y->key) - (x->key < y->key);
}

/* Stores an entry. It replaces an earlier entry with the same address or
 * thread, since the program may have reused either. */
static nw_status log_remember(struct log_file *in,
                              const struct log_entry *entry)
{
    struct log_entry *made = NULL;
    struct log_entry **found;
    nw_status status = nw_alloc(1, sizeof *made, &made);

    if (status)
        return status;
    *made = *entry;
    found = (struct log_entry **)tsearch(made, &in->tree, log_by_key);
    if (found && *found != made)
        **found = *entry;
    if (!found || *found != made)
        free(made);
    return found ? NW_OK
                 : nw_fail(NW_ENOMEM, "out of memory for a log of NCCL");
}

static const struct log_entry *log_recall(const struct log_file *in,
                                          bool is_thread, uint64_t key)
{
    struct log_entry wanted = {
        .process = in->process, .is_thread = is_thread, .key = key};
    struct log_entry *const *found =
        (struct log_entry *const *)tfind(&wanted, &in->tree, log_by_key);

    return found ? *found : NULL;
}

/* Reads the number after " NAME ", such as " nranks 8" or " comm 0x5f10". */
static bool log_number(const char *line, const char *name, int base,
                       uint64_t *out)
{
    const char *at = strstr(line, name);
    char *end;

    if (!at)
        return false;
    at += strlen(name);
    errno = 0;
    *out = strtoull(at, &end, base);
    return !errno && end > at && *at != '-' &&
           (*end == ' ' || !*end || *end == '\r');
}

static bool log_rank(const char *line, const char *name, int32_t *out)
{
    uint64_t number;

    if (!log_number(line, name, 10, &number) || number > INT32_MAX)
        return false;
    *out = (int32_t)number;
    return true;
}

/* Reads the id of a communicator. Later versions of NCCL give no id to one that
 * is split off another. Its id is then made of "parent 0x1 splitCount 1 color
 * 0" at "Init START", where 0x1 is the address of the parent in this process.
 * From NCCL 2.27 on splitCount is called childCount. */
static bool log_read_id(const struct log_file *in, const char *line,
                        uint64_t *comm)
{
    const struct log_entry *parent;
    uint64_t key, count, color;

    if (log_number(line, " commId ", 16, comm))
        return true;
    if (!strstr(line, "Init START") ||
        !log_number(line, " parent ", 16, &key) ||
        (!log_number(line, " splitCount ", 10, &count) &&
         !log_number(line, " childCount ", 10, &count)) ||
        !log_number(line, " color ", 10, &color))
        return false;
    parent = log_recall(in, false, key);
    if (parent)
        *comm = nw_hash_word(nw_hash_word(parent->comm, count), color);
    return parent;
}

/* Reads "... comm 0x1 rank 0 nranks 8 cudaDev 0 nvmlDev 0 busId 1b000 commId
 * 0x2 - Init START". Stores the communicator under its address and under the
 * thread. Ignores a line that lacks a number. */
static nw_status log_read_init(struct log_file *in, const char *line)
{
    struct nw_nccl_member member = {.process = in->process, .device = -1};
    struct log_entry entry = {.process = in->process};
    uint64_t device;
    nw_status status;

    if (!log_number(line, " comm ", 16, &entry.key) ||
        !log_rank(line, " rank ", &member.rank) ||
        !log_rank(line, " nranks ", &member.size) ||
        !log_read_id(in, line, &member.comm) || member.rank >= member.size)
        return NW_OK;
    if (log_number(line, " busId ", 16, &device) && device <= INT64_MAX)
        member.device = (int64_t)device;
    status = nw_nccl_job_member(in->job, &member, &entry.member);
    entry.comm = member.comm;
    entry.size = member.size;
    if (!status)
        status = log_remember(in, &entry);
    entry.is_thread = true;
    entry.key = in->thread;
    return status ? status : log_remember(in, &entry);
}

/* Reads "Channel 00/02 : 0 1 3 2", which rank 0 prints once per ring. Ignores a
 * line that NCCL truncated, which ends in "...". */
static nw_status log_read_ring(struct log_file *in, const char *at)
{
    const struct log_entry *entry = log_recall(in, true, in->thread);
    int32_t *order = NULL, count = 0;
    nw_status status;
    char *end;

    if (!entry || strstr(at, "..."))
        return NW_OK;
    /* a line with fewer characters than ranks is truncated */
    if ((size_t)entry->size > strlen(at))
        return NW_OK;
    status = nw_alloc((size_t)entry->size, sizeof *order, &order);
    if (status)
        return status;
    for (; count < entry->size; count++, at = end) {
        long rank = strtol(at, &end, 10);

        if (end == at || rank < 0 || rank >= entry->size)
            break;
        order[count] = (int32_t)rank;
    }
    if (count == entry->size)
        return nw_nccl_job_ring(in->job, entry->comm, count, order);
    free(order);
    return NW_OK;
}

/* Reads "AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 25 datatype 7 op
 * 0 root 0 comm 0x3 [nranks=8] stream 0x4". */
static nw_status log_read_call(struct log_file *in, const char *line)
{
    struct nw_nccl_call call = {.algorithm = NW_NCCL_UNKNOWN, .calls = 1};
    const struct log_entry *entry;
    uint64_t count, type, comm;
    char name[32];
    size_t length = strcspn(line, ":");

    if (length >= sizeof name || !log_number(line, " count ", 10, &count) ||
        !log_number(line, " datatype ", 10, &type) ||
        !log_rank(line, " root ", &call.root) ||
        !log_number(line, " comm ", 16, &comm)) {
        nw_nccl_job_lose(in->job);
        return NW_OK;
    }
    memcpy(name, line, length);
    name[length] = '\0';
    entry = log_recall(in, false, comm);
    if (!entry ||
        __builtin_mul_overflow(count, nw_nccl_type_bytes(type), &call.bytes)) {
        nw_nccl_job_lose(in->job);
        return NW_OK;
    }
    if (nw_nccl_function_find(name, &call.function))
        return nw_nccl_job_call(in->job, entry->member, &call);
    nw_nccl_job_skip(in->job, 1);
    return NW_OK;
}

/* Reads "host:pid:thread [0] NCCL INFO ..."; *message is the text after INFO,
 * or NULL for other lines. */
static nw_status log_read_origin(struct log_file *in, char *line,
                                 const char **message)
{
    static const char mark[] = "NCCL INFO ";
    struct nw_nccl_process process = {
        .rank = -1, .world = -1, .file = in->path};
    char *at = strstr(line, mark), *end = at, *pid, *thread, *host;

    *message = NULL;
    while (end && end > line && strchr(" []0123456789", end[-1]))
        end--; /* moves to the last digit of the thread's number */
    if (!at)
        return NW_OK;
    *message = at + sizeof mark - 1;
    at = strchr(end, '[');
    if (at)
        *at = '\0';
    while (end > line && end[-1] != ' ')
        end--;
    thread = strrchr(end, ':');
    if (thread)
        *thread++ = '\0';
    pid = thread ? strrchr(end, ':') : NULL;
    if (pid)
        *pid++ = '\0';
    if (pid)
        thread[strcspn(thread, " ")] = '\0';
    if (!pid || !*end || !nw_parse_u64(pid, &process.pid) ||
        !nw_parse_u64(thread, &in->thread)) {
        *message = NULL;
        return NW_OK;
    }
    host = strrchr(end, ':'); /* mpirun --tag-output: [1,0]<stdout>:host */
    process.host = host ? host + 1 : end;
    return nw_nccl_job_process(in->job, &process, &in->process);
}

static nw_status log_read_line(struct log_file *in, char *line)
{
    const char *message, *colon;
    nw_status status = log_read_origin(in, line, &message);

    if (status || !message)
        return status;
    if (strstr(message, "- Init START") || strstr(message, "- Init COMPLETE"))
        return log_read_init(in, message);
    if (!strncmp(message, "Channel ", 8) && (colon = strstr(message, " : ")) &&
        !strstr(message, "->"))
        return log_read_ring(in, colon + 3);
    if (strstr(message, ": opCount "))
        return log_read_call(in, message);
    return NW_OK;
}

static nw_status log_read_file(struct nw_nccl_job *job, const char *path)
{
    struct log_file in = {.job = job, .path = path};
    char *data, *next;
    size_t length;
    nw_status status = nw_file_read(path, &data, &length);

    if (status)
        return status;
    for (char *line = data; !status && line < data + length; line = next) {
        next = line + strcspn(line, "\n");
        *next++ = '\0';
        status = log_read_line(&in, line);
    }
    tdestroy(in.tree, free);
    free(data);
    return status;
}

nw_status nw_nccl_log_open(const char *path, nw_pattern **out)
{
    static const struct nw_nccl_reader reader = {
        log_read_file, NULL,
        "; run the program with NCCL_DEBUG=INFO and "
        "NCCL_DEBUG_SUBSYS=INIT,GRAPH,COLL"};

    return nw_nccl_files_read(path, &reader, out);
}
