/* SPDX-License-Identifier: BSD-3-Clause */
/* A test double of NCCL that loads a profiler plug-in and calls it by one
 * version of the profiler interface, as NCCL's documentation and headers
 * describe it. The structs of the interface are written here again, so that a
 * wrong member in the plug-in is found. Usage: nccl-job PLUGIN VERSION
 * [STEP...], with RANK and WORLD_SIZE in the environment. The steps are:
 * allreduce broadcast send allgather half ce finalize fork kill close. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COLL_V1                                                                \
    const char *name;                                                          \
    uint64_t commHash, seqNumber;                                              \
    uint8_t func;                                                              \
    void const *sendBuff;                                                      \
    void *recvBuff;                                                            \
    size_t count;                                                              \
    int root;                                                                  \
    uint8_t datatype;                                                          \
    uint32_t op;                                                               \
    size_t trafficBytes;                                                       \
    uint8_t nMaxChannels, nWarps, algo, proto;                                 \
    int isCollnet, isNvls;
#define COLL_V2                                                                \
    const char *name;                                                          \
    uint64_t commHash, seqNumber;                                              \
    const char *func;                                                          \
    void const *sendBuff;                                                      \
    void *recvBuff;                                                            \
    size_t count;                                                              \
    int root;                                                                  \
    const char *datatype;                                                      \
    size_t trafficBytes;                                                       \
    uint8_t nMaxChannels, nWarps;                                              \
    const char *algo, *proto;
#define COLL_V3                                                                \
    const char *name;                                                          \
    uint64_t commHash, seqNumber;                                              \
    const char *func;                                                          \
    void const *sendBuff;                                                      \
    void *recvBuff;                                                            \
    size_t count;                                                              \
    int root;                                                                  \
    const char *datatype;                                                      \
    uint8_t nMaxChannels, nWarps;                                              \
    const char *algo, *proto;
#define COLL_V4                                                                \
    uint64_t seqNumber;                                                        \
    const char *func;                                                          \
    void const *sendBuff;                                                      \
    void *recvBuff;                                                            \
    size_t count;                                                              \
    int root;                                                                  \
    const char *datatype;                                                      \
    uint8_t nChannels, nWarps;                                                 \
    const char *algo, *proto;
#define P2P_V1                                                                 \
    const char *name;                                                          \
    uint64_t commHash;                                                         \
    uint8_t func;                                                              \
    void *buff;                                                                \
    uint8_t datatype;                                                          \
    size_t count;                                                              \
    int peer;
#define P2P_V2                                                                 \
    const char *name;                                                          \
    uint64_t commHash;                                                         \
    const char *func;                                                          \
    void *buff;                                                                \
    const char *datatype;                                                      \
    size_t count;                                                              \
    int peer;
#define P2P_V4                                                                 \
    const char *func;                                                          \
    void *buff;                                                                \
    const char *datatype;                                                      \
    size_t count;                                                              \
    int peer;                                                                  \
    uint8_t nChannels;
#define CE_COLL                                                                \
    uint64_t seqNumber;                                                        \
    const char *func;                                                          \
    void const *sendBuff;                                                      \
    void *recvBuff;                                                            \
    size_t count;                                                              \
    int root;                                                                  \
    const char *datatype, *syncStrategy;                                       \
    bool intraBatchSync;                                                       \
    uint32_t batchSize, numBatches, ceSeqNum;                                  \
    void *stream;

#define EVENT(type_bits, ...)                                                  \
    struct {                                                                   \
        uint##type_bits##_t type;                                              \
        void *parentObj;                                                       \
        int rank;                                                              \
        union {                                                                \
            __VA_ARGS__                                                        \
        };                                                                     \
    }
#define PART(members, name)                                                    \
    struct {                                                                   \
        members                                                                \
    } name;

typedef EVENT(8, PART(COLL_V1, coll) PART(P2P_V1, p2p)) event_v1;
typedef EVENT(8, PART(COLL_V2, coll) PART(P2P_V2, p2p)) event_v2;
typedef EVENT(8, PART(COLL_V3, coll) PART(P2P_V2, p2p)) event_v3;
typedef EVENT(8, PART(COLL_V4, coll) PART(P2P_V4, p2p)) event_v4;
typedef EVENT(64, PART(COLL_V4 void *parentGroup;, coll)
                      PART(P2P_V4 void *parentGroup;, p2p)) event_v5;
typedef EVENT(64, PART(COLL_V4 void *parentGroup;, coll)
                      PART(P2P_V4 void *parentGroup;, p2p)
                          PART(CE_COLL, ceColl)) event_v6;

struct profiler {
    const char *name;
    void *init;
    int (*startEvent)(void *context, void **handle, void *event);
    int (*stopEvent)(void *handle);
    int (*recordEventState)(void *handle, int state, void *arguments);
    int (*finalize)(void *context);
};

static const struct profiler *profiler;
static int version, world, me, mask;

struct comm {
    void *context;
    uint64_t id;
    int rank, size;
};

/* A collective call that is reported to the plug-in. */
struct call {
    const char *function, *type, *algorithm;
    uint8_t function_v1, type_v1, algorithm_v1;
    size_t count;
    int root;
};

static void log_nothing(int level, unsigned long flags, const char *file,
                        int line, const char *format, ...)
{
    (void)level;
    (void)flags;
    (void)file;
    (void)line;
    (void)format;
}

/* Calls the plug-in as NCCL does when a communicator is made. */
static void open_comm(struct comm *comm)
{
    int code;

    if (version <= 3)
        code = ((int (*)(void **, int *))profiler->init)(&comm->context, &mask);
    else if (version == 4)
        code = ((int (*)(void **, int *, const char *, uint64_t, int, int, int,
                         void (*)(int, unsigned long, const char *, int,
                                  const char *, ...)))profiler->init)(
            &comm->context, &mask, "group", comm->id, 1, comm->size, comm->rank,
            log_nothing);
    else
        code = ((int (*)(void **, uint64_t, int *, const char *, int, int, int,
                         void (*)(int, unsigned long, const char *, int,
                                  const char *, ...)))profiler->init)(
            &comm->context, comm->id, &mask, "group", 1, comm->size, comm->rank,
            log_nothing);
    if (code)
        abort();
}

/* Starts the event in the plug-in, as NCCL does, and stops it. */
static void give(struct comm *comm, void *event)
{
    void *handle = &handle;

    if (!comm->context)
        return;
    if (profiler->startEvent(comm->context, &handle, event))
        abort();
    if (handle)
        profiler->stopEvent(handle);
}

#define FILL(kind, who)                                                        \
    e.type = kind;                                                             \
    e.rank = comm->rank;                                                       \
    e.who.count = call->count
#define HASH(who) e.who.commHash = comm->id
#define WORDS(who)                                                             \
    e.who.func = call->function;                                               \
    e.who.datatype = call->type
#define NUMBERS(who)                                                           \
    e.who.func = call->function_v1;                                            \
    e.who.datatype = call->type_v1
#define COLL(version, extra, names, algorithm_)                                \
    {                                                                          \
        event_v##version e = {0};                                              \
                                                                               \
        FILL(1 << 1, coll);                                                    \
        extra;                                                                 \
        names(coll);                                                           \
        e.coll.root = call->root;                                              \
        e.coll.algo = call->algorithm_;                                        \
        give(comm, &e);                                                        \
    }                                                                          \
    break
#define P2P(version, extra, names)                                             \
    {                                                                          \
        event_v##version e = {0};                                              \
                                                                               \
        FILL(1 << 2, p2p);                                                     \
        extra;                                                                 \
        names(p2p);                                                            \
        e.p2p.peer = call->root;                                               \
        give(comm, &e);                                                        \
    }                                                                          \
    break

static void give_coll(struct comm *comm, const struct call *call)
{
    if (!(mask & 1 << 1))
        return;
    switch (version) {
    case 1:
        COLL(1, HASH(coll), NUMBERS, algorithm_v1);
    case 2:
        COLL(2, HASH(coll), WORDS, algorithm);
    case 3:
        COLL(3, HASH(coll), WORDS, algorithm);
    case 4:
        COLL(4, , WORDS, algorithm);
    case 5:
        COLL(5, , WORDS, algorithm);
    default:
        COLL(6, , WORDS, algorithm);
    }
}

static void give_p2p(struct comm *comm, const struct call *call)
{
    if (!(mask & 1 << 2))
        return;
    switch (version) {
    case 1:
        P2P(1, HASH(p2p), NUMBERS);
    case 2:
    case 3:
        P2P(2, HASH(p2p), WORDS);
    case 4:
        P2P(4, , WORDS);
    case 5:
        P2P(5, , WORDS);
    default:
        P2P(6, , WORDS);
    }
}

static void give_ce(struct comm *comm)
{
    event_v6 e = {.type = 1 << 12, .rank = comm->rank};

    if (!(mask & 1 << 12))
        return;
    e.ceColl.func = "AllGather";
    e.ceColl.datatype = "ncclInt8";
    e.ceColl.count = 64;
    give(comm, &e);
}

static struct comm all, half;

/* Makes calls until the test has found what it waits for in the file of the
 * plug-in. */
static void wait_for_saving(void)
{
    struct call call = {"AllReduce", "ncclFloat32", "RING", 4, 7, 1, 0, 0};
    const char *path = getenv("NCCL_JOB_SEEN");
    struct timespec pause = {0, 20000000};

    /* the test makes this file when it has found what it waits for */
    while (access(path, F_OK)) {
        nanosleep(&pause, NULL);
        give_coll(&all, &call);
    }
}

/* Performs one step of the command line. */
static void step(const char *name)
{
    struct call reduce = {"AllReduce", "ncclFloat32", "RING", 4, 7, 1, 1000, 0};
    struct call tree = {"AllReduce", "ncclFloat16", "TREE", 4, 6, 0, 500, 0};
    struct call cast = {"Broadcast", "ncclBfloat16", "RING", 0, 9, 1, 500, 2};
    struct call gather = {"AllGather", "ncclInt8", "NVLS", 2, 0, 4, 64, 0};
    struct call send = {"Send", "ncclFloat64", NULL, 6, 8, 0, 10, 0};
    struct call recv = {"Recv", "ncclFloat64", NULL, 7, 8, 0, 10, 0};

    send.root = (me + 1) % world;
    recv.root = (me + world - 1) % world;
    if (!strcmp(name, "allreduce"))
        give_coll(&all, &reduce);
    else if (!strcmp(name, "tree"))
        give_coll(&all, &tree);
    else if (!strcmp(name, "broadcast"))
        give_coll(&all, &cast);
    else if (!strcmp(name, "allgather"))
        give_coll(&all, &gather);
    else if (!strcmp(name, "half"))
        give_coll(&half, &reduce);
    else if (!strcmp(name, "ce"))
        give_ce(&all);
    else if (!strcmp(name, "send")) {
        give_p2p(&all, &send);
        give_p2p(&all, &recv);
    } else if (!strcmp(name, "fork")) {
        pid_t child = fork();

        if (!child) {
            give_coll(&all, &reduce);
            exit(0);
        }
        waitpid(child, NULL, 0);
    } else if (!strcmp(name, "close")) {
        for (int file = 3; file < 64; file++)
            close(file);
    } else if (!strcmp(name, "wait"))
        wait_for_saving();
    else if (!strcmp(name, "kill"))
        raise(SIGKILL);
    else if (!strcmp(name, "finalize")) {
        if (half.context)
            profiler->finalize(half.context);
        if (all.context)
            profiler->finalize(all.context);
    } else
        abort();
}

int main(int argc, char **argv)
{
    void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const char *rank = getenv("RANK"), *size = getenv("WORLD_SIZE");
    const char *run = getenv("NCCL_JOB_RUN");
    uint64_t salt = run ? strtoull(run, NULL, 10) << 32 : 0;
    char name[32];

    if (!library) {
        fprintf(stderr, "nccl-job: %s\n", argc > 2 ? dlerror() : "usage");
        return 2;
    }
    version = atoi(argv[2]);
    snprintf(name, sizeof name, "ncclProfiler_v%d", version);
    profiler = dlsym(library, name);
    if (!profiler)
        return 3;
    me = rank ? atoi(rank) : atoi(getenv("NCCL_JOB_RANK"));
    world = size ? atoi(size) : atoi(getenv("NCCL_JOB_SIZE"));
    all = (struct comm){NULL, 0xabc0 + salt, me, world};
    half = (struct comm){NULL, 0xabc1 + salt + (uint64_t)(me % 2), me / 2,
                         (world + 1 - me % 2) / 2};
    open_comm(&all);
    open_comm(&half);
    for (int i = 3; i < argc; i++)
        step(argv[i]);
    return 0;
}
