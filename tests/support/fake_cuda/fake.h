/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations that the source files of the double of the CUDA driver share. */
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
/* Modes of a capture (CUstreamCaptureMode): which threads may not make unsafe
 * calls during a capture, and for a thread, which captures it respects. */
enum { CAPTURE_GLOBAL, CAPTURE_THREAD, CAPTURE_RELAXED };

struct stream;
/* A context of a GPU. A reset or a destruction ends its lifetime; a primary
 * context begins another lifetime when it is retained again. */
struct context {
    int gpu;
    int retained;
    unsigned reached;        /* GPUs to which peer access is enabled, one bit
                                per GPU */
    struct stream *standard; /* the default stream */
    long things;             /* number of streams, events and graphs that
                                were made in this lifetime and still exist */
    int life; /* number of the lifetime; odd while the context exists */
};

/* One lock protects everything, since the double need not be fast. */
extern pthread_mutex_t fake_lock;
extern pthread_cond_t fake_news; /* signalled when work was added or
                                    completed */
extern int fake_broken;          /* if not 0, the code that every later call
                                    returns */

/* fault.c: the code with which this call of the named function must fail, or 0
 * if it must not fail. */
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
    COST_STORE, /* by the CPU, through GDRCopy's mapping */
    COST_LOAD,
    COST_ADAPTER_READ, /* of GPU memory, without the CPU */
    COST_ADAPTER_WRITE,
    COST_LOOPBACK, /* crosses the adapter's link three times */
    COST_FAR,      /* a copy between GPUs of different pairs (0 and 1, 2 and
                      3, ...) */
    COSTS
};
extern const char *const fake_cost_names[COSTS];
/* The time in seconds that work of this kind takes for the bytes; 0 unless
 * FAKE_CUDA_COSTS is set. */
double fake_cost(enum cost kind, size_t bytes);
/* The time of the monotonic clock in seconds. */
double fake_clock(void);
/* adapter.c: waits in the calling thread for the time fake_cost returns. */
void fake_spend(enum cost kind, size_t bytes);

/* device.c: the context that is current for this thread, or NULL. */
struct context *fake_current(void);
/* Whether this process was forked from the one that called cuInit. */
bool fake_is_forked(void);
struct context *fake_context(int gpu); /* the primary context of the GPU */
/* The number of the GPU to which the context belongs. */
int fake_gpu_of(const struct context *context);
/* The code of a call that needs a context when no context is current, or when
 * the current one was reset or destroyed. */
int fake_no_context(void);
/* The context in which an object was made, and the number of the lifetime of
 * that context. */
struct owner {
    struct context *context;
    int life;
};
/* The owner of an object that is made now: the current context. */
struct owner fake_owner(void);
/* Aborts the program if the lifetime of the owner has ended: in that case, the
 * real driver would use a pointer into freed memory. */
void fake_must_live(const struct owner *owner, const char *what);
/* The number of GPUs. */
int fake_gpus(void);

/* memory.c: the address by which the host can access the bytes. Device memory
 * is mapped at two addresses: the one that is given to the program, which the
 * host cannot access, and the one returned here. Other addresses are returned
 * unchanged. */
void *fake_real(uint64_t address);
/* Whether all bytes are in one allocation. *gpu becomes the GPU of that
 * allocation, or -1 for pinned host memory. */
bool fake_holds(uint64_t address, size_t bytes, int *gpu);
bool fake_is_device(uint64_t address);
/* The context in which the memory was allocated; NULL for pinned host memory,
 * which all contexts may use. */
struct context *fake_context_of(uint64_t address);
/* Whether the memory was opened from another process: every context that has
 * opened it may use it. */
bool fake_is_opened(uint64_t address);
/* Frees the memory that was allocated in the ending lifetime of the context. */
void fake_forget_memory(const struct context *context);
/* The processes that have opened an allocation or event of another process. */
enum { SHARERS = 64 };
struct sharers {
    int32_t pid[SHARERS]; /* 0: a free entry */
    uint64_t id;          /* identifies the memory in exported handles */
};
/* Replaces the process id `was` in the list by `is`; 0 stands for a free entry,
 * so that was = 0 adds a process and is = 0 removes one. */
void fake_share(struct sharers *sharers, int32_t was, int32_t is);
/* Aborts the program if a process still has the object open and
 * FAKE_CUDA_STRICT is set: the behaviour of CUDA is undefined in that case. */
void fake_unshared(const struct sharers *sharers, const char *what);
/* Maps memory of another driver for the current GPU; cuMemFree unmaps it. */
int fake_adopt(int fd, off_t offset, size_t size, uint64_t *pointer);
/* A page that processes share, made with a new file descriptor or opened by the
 * process id and the descriptor of the process that made it. */
void *fake_page_new(int *fd);
void *fake_page_open(int pid, int fd);
void fake_page_close(void *page);

/* kernels.c: runs a kernel with the given number of blocks and its argument.
 * All memory that it reads or writes must be accessible to the GPU of the
 * context. */
struct function;
int fake_run(const struct function *function, uint32_t blocks,
             const void *argument, const struct context *context);
/* Whether the kernel is resident: it waits for orders of the host, so that it
 * needs a thread of its own. */
bool fake_stays(const struct function *function);
/* The number of bytes that the kernel moves, by which its time is computed. */
size_t fake_run_bytes(const struct function *function, const void *argument,
                      uint32_t blocks);

/* turns.c: while a resident kernel runs on a GPU, from fake_turn_begin to
 * fake_turn_end, work of other processes waits in fake_turn_wait. */
int fake_turn_begin(int gpu); /* returns the argument of fake_turn_end */
void fake_turn_end(int turn); /* -1: no turn was begun */
void fake_turn_wait(int gpu);

/* memory.c, for pool.c: reserve addresses, and map memory there. `bare` memory
 * has no id, synchronous copies of it need not be complete when they return,
 * and other processes cannot open it. */
uint64_t fake_reserve(size_t size);
int fake_map_at(uint64_t start, size_t size, int gpu, int fd);
int fake_unmap_at(uint64_t start, size_t size);
void fake_make_bare(uint64_t start);

/* stream.c: the kinds of operations in a stream. */
struct event;
struct stream;
enum work { WORK_COPY, WORK_FILL, WORK_KERNEL, WORK_RECORD, WORK_WAIT };
/* The source or the destination of a copy: its address, and the distances in
 * bytes between its rows and between its planes. */
struct side {
    uint64_t at;
    size_t row, plane;
};
/* An operation in a stream or a graph; `work` says which members are used. */
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
    uint64_t count; /* number of the recording of the event that the
                       operation waits for or makes */
    uint64_t turn;  /* its number in the order in which all work was put into
                       streams */
    double late;    /* earliest time at which it is done, unless somebody
                       waits for it */
    void *staged;   /* source bytes of a late copy, freed with the operation */
};
/* Puts a copy of op at the end of the stream, or into the graph that is being
 * captured from it. */
int fake_push(struct stream *stream, const struct op *op);
void fake_drain(void); /* waits until all streams are empty */
/* Waits as a synchronous call on the default stream does: for the work of that
 * stream and of the blocking streams of the context. */
int fake_sync_default(struct context *context);
/* Waits only until the bytes of late copies have arrived. */
int fake_settle(struct context *context);
/* Copies bytes into device memory after some time, or when somebody waits for
 * the default stream. */
int fake_push_late(uint64_t to, const void *from, size_t size);
/* The code of a call that is not allowed while a stream is captured; the call
 * makes the capture invalid. 0 if no capture forbids the call. */
int fake_unsafe(void);
#define UNSAFE()                                                               \
    do {                                                                       \
        int unsafe_ = fake_unsafe();                                           \
        if (unsafe_)                                                           \
            return unsafe_;                                                    \
    } while (0)
/* Begin and end the capture of a stream. The end gives the captured operations
 * to the caller. */
int fake_capture_begin(struct stream *stream, int mode);
int fake_capture_end(struct stream *stream, struct op **out);
/* Performs a copy at once. */
void fake_do_copy(const struct op *op);

extern long fake_live; /* number of allocations, streams, events and graphs
                          that exist */

#endif
