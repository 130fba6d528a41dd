/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the double of the CUDA driver, for each other. */
#ifndef FAKE_CUDA_FAKE_H
#define FAKE_CUDA_FAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define API __attribute__((visibility("default")))

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_DEVICE = 101,
    INVALID_PTX = 218,
    INVALID_CONTEXT = 201,
    ALREADY_MAPPED = 208,
    NO_PEER = 217,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    ALREADY_REACHED = 704,
    CONTEXT_DESTROYED = 709,
    ALREADY_PINNED = 712,
    NOT_PINNED = 713,
    LAUNCH_FAILED = 719,
    NOT_SUPPORTED = 801,
    CAPTURING = 900,
    CAPTURE_INVALIDATED = 901,
    CAPTURE_ISOLATION = 905,
    CAPTURE_IMPLICIT = 906,
    CAPTURE_WRONG_THREAD = 908,
};

enum { GPUS = 16 };
/* Whose calls a capture forbids, and which captures a thread heeds. */
enum { CAPTURE_GLOBAL, CAPTURE_THREAD, CAPTURE_RELAXED };

struct stream;
struct context {
    int gpu;
    int retained;
    unsigned reached;        /* bit per GPU */
    struct stream *standard; /* the default one */
    long things;             /* streams, events, graphs made in this life */
    int life; /* odd while it lives: a reset ends one, and the next retain
                 begins another */
};

/* One lock for everything: the double need not be fast. */
extern pthread_mutex_t fake_lock;
extern pthread_cond_t fake_news; /* work came, or work was done */
extern int fake_broken;          /* what every later call of a context says */

/* fault.c: the code with which this call must fail, 0 for none. */
int fake_fault(const char *call);
#define FAULT()                                                                \
    do {                                                                       \
        int fault_ = fake_fault(__func__);                                     \
        if (fault_)                                                            \
            return fault_;                                                     \
    } while (0)
enum cost {
    COST_COPY,
    COST_DEVICE,
    COST_KERNEL,
    COST_STORE, /* the CPU through a mapping */
    COST_LOAD,
    COST_ADAPTER_READ, /* of GPU memory, past the CPU */
    COST_ADAPTER_WRITE,
    COST_LOOPBACK, /* three times over the adapter's link */
    COST_FAR,      /* a copy between GPUs of two pairs: 0 1, 2 3, ... */
    COSTS
};
extern const char *const fake_cost_names[COSTS];
/* Seconds that the work takes; 0 unless FAKE_CUDA_COSTS is set. */
double fake_cost(enum cost kind, size_t bytes);
double fake_clock(void);
/* adapter.c: spends that time here and now. */
void fake_spend(enum cost kind, size_t bytes);

/* device.c: NULL where there is none. */
struct context *fake_current(void);
/* Whether this process was forked from the one that called cuInit. */
bool fake_is_forked(void);
struct context *fake_context(int gpu); /* the primary one */
int fake_gpu_of(const struct context *context);
/* What a call that needs a context answers where none is current, or one that
 * was reset or destroyed. */
int fake_no_context(void);
/* Something made in a context, and in which of its lives. */
struct owner {
    struct context *context;
    int life;
};
struct owner fake_owner(void);
/* Ends the program where the owner's life has ended: the real driver follows
 * a pointer into freed memory then. */
void fake_must_live(const struct owner *owner, const char *what);
int fake_gpus(void);

/* memory.c: an address as the host may use it. Device memory has two: the one
 * given out, which the host cannot touch, and this. */
void *fake_real(uint64_t address);
/* Whether all bytes lie in one allocation; whose (-1: pinned host memory). */
bool fake_holds(uint64_t address, size_t bytes, int *gpu);
bool fake_is_device(uint64_t address);
/* The context of that memory, NULL for pinned memory, which all may use. */
struct context *fake_context_of(uint64_t address);
/* Whether it is another process's: every context that opened it may use it. */
bool fake_is_opened(uint64_t address);
/* Frees what was allocated in the life of the context that ends. */
void fake_forget_memory(const struct context *context);
/* The processes that have opened something of another one. */
enum { SHARERS = 64 };
struct sharers {
    int32_t pid[SHARERS]; /* 0: a free place */
    uint64_t id;          /* of the memory, which handles name */
};
void fake_share(struct sharers *sharers, int32_t was, int32_t is);
/* Ends the program where anyone still has it open and FAKE_CUDA_STRICT is
 * set: for CUDA, what happens then is undefined. */
void fake_unshared(const struct sharers *sharers, const char *what);
/* Memory of another driver for the current GPU; given back by cuMemFree. */
int fake_adopt(int fd, off_t offset, size_t size, uint64_t *pointer);
/* A page shared with other processes, by its descriptor. */
void *fake_page_new(int *fd);
void *fake_page_open(int pid, int fd);
void fake_page_close(void *page);

/* kernels.c: both ends must be within reach of the GPU. */
struct function;
int fake_run(const struct function *function, uint32_t blocks,
             const void *argument, const struct context *context);
/* Whether it waits for what the host says: it needs a thread of its own. */
bool fake_stays(const struct function *function);
size_t fake_run_bytes(const struct function *function, const void *argument,
                      uint32_t blocks);

/* turns.c: while a kernel stays on the GPU, from begin to end, work of other
 * processes there waits. */
int fake_turn_begin(int gpu); /* for fake_turn_end */
void fake_turn_end(int turn); /* -1 is fine */
void fake_turn_wait(int gpu);

/* memory.c, for pool.c: addresses that are nobody's, and memory there; `bare`
 * memory has no id, is not kept in step and is not for other processes. */
uint64_t fake_reserve(size_t size);
int fake_map_at(uint64_t start, size_t size, int gpu, int fd);
int fake_unmap_at(uint64_t start, size_t size);
void fake_make_bare(uint64_t start);

/* stream.c */
struct event;
struct stream;
enum work { WORK_COPY, WORK_FILL, WORK_KERNEL, WORK_RECORD, WORK_WAIT };
struct side {
    uint64_t at;
    size_t row, plane;
};
struct op {
    struct op *next;
    enum work work;
    struct side to, from;
    size_t row_bytes, rows, planes;
    int byte;
    const struct function *function;
    uint32_t blocks;
    _Alignas(8) char argument[80];
    struct event *event;
    uint64_t count; /* the recording waited for, or made */
    uint64_t turn;  /* when it was put into its stream, among all work */
    double late;    /* not before that time, unless somebody waits for it */
    void *staged;   /* bytes of a late copy, freed with it */
};
/* Puts a copy of op at the end of the stream, or into the graph that is being
 * captured from it. */
int fake_push(struct stream *stream, const struct op *op);
void fake_drain(void); /* waits until nothing is under way */
/* As a synchronous call on the default stream: after all work of that stream
 * and of blocking ones. */
int fake_sync_default(struct context *context);
/* Late bytes are there; nothing else is waited for. */
int fake_settle(struct context *context);
/* Puts bytes into device memory some time later, or when somebody waits for
 * the default stream. */
int fake_push_late(uint64_t to, const void *from, size_t size);
/* What a call that is not allowed while a stream is captured answers; the
 * capture is invalid then. */
int fake_unsafe(void);
#define UNSAFE()                                                               \
    do {                                                                       \
        int unsafe_ = fake_unsafe();                                           \
        if (unsafe_)                                                           \
            return unsafe_;                                                    \
    } while (0)
/* Takes the list of a capture. */
int fake_capture_begin(struct stream *stream, int mode);
int fake_capture_end(struct stream *stream, struct op **out);
void fake_do_copy(const struct op *op);

extern long fake_live; /* allocations, streams, events, graphs */

#endif
