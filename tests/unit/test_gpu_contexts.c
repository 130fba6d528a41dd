/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests with the test double of the driver in which the program itself uses the
 * GPU beside this library. They cover threads without a context, contexts that
 * the program made, resets, captures of streams, pageable memory, and work in
 * the default stream. */
#include "gpu/copy_job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 4096, NON_BLOCKING = 1, CAPTURE_GLOBAL = 0, CAPTURE_THREAD = 1 };

static const struct nw_gpu *gpu = &nw_gpu_cuda;

typedef int call(); /* any function of the driver */

/* A function of the driver, or one that only the double has. */
static call *driver(const char *name)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    call *found = NULL;

    assert_non_null(library);
    *(void **)&found = dlsym(library, name);
    assert_non_null(found);
    return found;
}

static unsigned long counted(const char *name)
{
    unsigned long (*count)(void) = NULL;

    *(void **)&count = dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);
    assert_non_null(count);
    return count();
}

static int start(void **state)
{
    int32_t count;

    (void)state;
    return gpu->open(&count) || gpu->select(0);
}

/* --- pageable memory --- */

static struct nw_gpu_copy_job *copy_job(void *to, const void *from)
{
    static const int64_t zero;
    struct nw_gpu_piece piece = {.to = to,
                                 .from = from,
                                 .bytes = 1,
                                 .x = BYTES,
                                 .y = 1,
                                 .z = 1,
                                 .quantities = 1,
                                 .to_step = 1,
                                 .from_step = 1,
                                 .to_shift = &zero,
                                 .from_shift = &zero};
    struct nw_gpu_copy_job *job = NULL;

    assert_int_equal(nw_gpu_copy_job_new(gpu, NW_GPU_MOVE, &piece, 1, &job),
                     NW_OK);
    return job;
}

/* A kernel in a stream that does not wait for other streams finds all bytes
 * that were copied before, and its own tables. */
static void copies_in_are_done_when_they_return(void **state)
{
    char *host = malloc(BYTES), *back = malloc(BYTES);
    struct nw_gpu_copy_job *job;
    nw_gpu_stream stream;
    void *from, *to;

    (void)state;
    assert_non_null(host);
    assert_non_null(back);
    assert_int_equal(gpu->alloc(BYTES, &from), NW_OK);
    assert_int_equal(gpu->alloc(BYTES, &to), NW_OK);
    assert_int_equal(gpu->stream_new(&stream), NW_OK);
    job = copy_job(to, from);
    for (int round = 0; round < 20; round++) {
        memset(host, round, BYTES);
        assert_int_equal(gpu->copy_in(from, host, BYTES), NW_OK);
        assert_int_equal(nw_gpu_copy_job_launch(job, stream), NW_OK);
        assert_int_equal(gpu->stream_wait(stream), NW_OK);
        assert_int_equal(gpu->copy_out(back, to, BYTES), NW_OK);
        assert_memory_equal(host, back, BYTES);
    }
    nw_gpu_copy_job_free(job);
    gpu->stream_free(stream);
    gpu->free(from);
    gpu->free(to);
    free(host);
    free(back);
}

/* The program's own copy has returned, though its last bytes have not arrived:
 * a copy of this library comes after them. */
static void copies_of_the_program_come_first(void **state)
{
    char host[64], back[64];
    void *memory;

    (void)state;
    for (int round = 1; round < 20; round++) {
        assert_int_equal(gpu->alloc(sizeof host, &memory), NW_OK);
        memset(host, round, sizeof host);
        assert_int_equal(
            driver("cuMemcpyHtoD_v2")((uintptr_t)memory, host, sizeof host), 0);
        assert_int_equal(gpu->copy_out(back, memory, sizeof back), NW_OK);
        assert_memory_equal(host, back, sizeof host);
        gpu->free(memory);
    }
}

/* --- threads --- */

static void *without_context(void *result)
{
    char host[64] = "in", back[64] = "";
    void *pinned = NULL, *memory = result;
    struct nw_gpu_range range = {0};
    bool right = !gpu->context() && !gpu->alloc_pinned(64, &pinned) &&
                 !gpu->copy_in(memory, host, 64) &&
                 !gpu->copy_out(back, memory, 64) && !strcmp(back, "in") &&
                 !gpu->range(memory, &range) && range.bytes == 64 &&
                 !gpu->keep_in_step(memory);

    gpu->free_pinned(pinned);
    gpu->free(memory);
    return right && !gpu->context() ? result : NULL;
}

/* Nothing fails, nothing leaks, and the thread has no context afterwards. */
static void threads_need_no_context(void **state)
{
    unsigned long before = counted("fake_cuda_live");
    pthread_t thread;
    void *memory, *result;

    (void)state;
    assert_int_equal(gpu->alloc(64, &memory), NW_OK);
    assert_int_equal(pthread_create(&thread, NULL, without_context, memory), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, memory);
    assert_int_equal(counted("fake_cuda_live"), before);
}

/* --- captures --- */

struct capture {
    pthread_barrier_t begun, done;
    int code;
};

/* Captures a blocking stream, in the mode that forbids all threads what might
 * disturb the capture. */
static void *capture(void *argument)
{
    struct capture *capture = argument;
    void *graph = NULL, *context = NULL;
    nw_gpu_stream stream = NULL;

    capture->code = driver("cuDevicePrimaryCtxRetain")(&context, 0) ||
                    driver("cuCtxSetCurrent")(context) ||
                    driver("cuStreamCreate")(&stream, 0) ||
                    driver("cuStreamBeginCapture_v2")(stream, CAPTURE_GLOBAL);
    pthread_barrier_wait(&capture->begun);
    pthread_barrier_wait(&capture->done);
    if (!capture->code)
        capture->code = driver("cuStreamEndCapture")(stream, &graph);
    if (graph)
        driver("cuGraphDestroy")(graph);
    gpu->stream_free(stream);
    return NULL;
}

static void captures_are_left_alone(void **state)
{
    struct capture other = {.code = -1};
    pthread_t thread;
    char host[64] = "in", back[64] = "";
    void *memory = NULL, *pinned = NULL;

    (void)state;
    pthread_barrier_init(&other.begun, NULL, 2);
    pthread_barrier_init(&other.done, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, capture, &other), 0);
    pthread_barrier_wait(&other.begun);
    assert_int_equal(gpu->alloc(64, &memory), NW_OK);
    assert_int_equal(gpu->alloc_pinned(64, &pinned), NW_OK);
    assert_int_equal(gpu->copy_in(memory, host, 64), NW_OK);
    assert_int_equal(gpu->copy_out(back, memory, 64), NW_OK);
    assert_string_equal(back, "in");
    gpu->free_pinned(pinned);
    gpu->free(memory);
    pthread_barrier_wait(&other.done);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(other.code, 0);
}

/* Uses a graph as the first action of a process on the GPU. */
static int first_graph(void)
{
    nw_gpu_graph graph = NULL;
    nw_gpu_stream stream;
    struct nw_gpu_copy_job *job;
    void *from, *to;

    if (gpu->alloc(BYTES, &from) || gpu->alloc(BYTES, &to) ||
        gpu->stream_new(&stream))
        return 1;
    job = copy_job(to, from);
    if (gpu->graph_begin(stream) || nw_gpu_copy_job_launch(job, stream))
        return 2;
    if (gpu->graph_end(stream, &graph) || !graph ||
        gpu->graph_launch(graph, stream) || gpu->stream_wait(stream))
        return 3;
    gpu->graph_free(graph);
    nw_gpu_copy_job_free(job);
    return 0;
}

/* Calls that the test double refuses during a capture, as the real driver
 * does. */
static int refused(void)
{
    nw_gpu_stream stream;
    void *memory, *graph = NULL, *module;
    nw_gpu_event event;
    char host[8];

    if (gpu->alloc(BYTES, &memory) || gpu->stream_new(&stream) ||
        gpu->event_new(&event) || gpu->event_record(event, NULL))
        return 1;
    for (int what = 0; what < 5; what++) {
        int code = driver("cuStreamBeginCapture_v2")(stream, CAPTURE_THREAD);

        if (what == 0)
            code += driver("cuModuleLoadData")(&module, "") != 900;
        if (what == 1)
            code += driver("cuMemFree_v2")((uintptr_t)memory) != 900;
        if (what == 2)
            code += driver("cuMemcpyDtoH_v2")(host, (uintptr_t)memory,
                                              sizeof host) != 900;
        if (what == 3)
            code += driver("cuStreamWaitEvent")(stream, event, 0) != 905;
        if (what == 4)
            code += driver("cuMemAlloc_v2")(&memory, (size_t)BYTES) != 900;
        if (code || driver("cuStreamEndCapture")(stream, &graph) != 901)
            return 10 + what;
    }
    /* work in the default stream while a blocking stream is captured */
    if (driver("cuStreamCreate")(&stream, 0) ||
        driver("cuStreamBeginCapture_v2")(stream, CAPTURE_THREAD) ||
        driver("cuMemsetD8Async")((uintptr_t)memory, 0, (size_t)1, NULL) != 906)
        return 20;
    return 0;
}

/* -- what the test double must refuse or delay, because the driver does -- */

/* The end of a copy from pageable memory arrives after the call, unless
 * somebody waits for the default stream; that of a copy from pinned memory does
 * not. */
static int late_copies(void)
{
    nw_gpu_stream stream;
    char *pageable = malloc(BYTES), *pinned, *back;
    void *memory, *all[2];
    int late = 0;

    if (!pageable || gpu->alloc(BYTES, &memory) ||
        gpu->alloc_pinned(BYTES, &all[0]) ||
        gpu->alloc_pinned(BYTES, &all[1]) || gpu->stream_new(&stream))
        return 1;
    pinned = all[0];
    back = all[1];
    for (int round = 1; round < 60; round++) {
        char *from = round % 3 ? pageable : pinned;

        memset(from, round, BYTES);
        if (driver("cuMemcpyHtoD_v2")((uintptr_t)memory, from, (size_t)BYTES) ||
            (round % 3 == 2 && gpu->stream_wait(NULL)) ||
            gpu->copy(back, memory, BYTES, stream) || gpu->stream_wait(stream))
            return 2;
        late += round % 3 == 1 && back[BYTES - 1] != round;
        if (round % 3 != 1 && back[BYTES - 1] != round)
            return 3;
    }
    return late ? 0 : 4;
}

/* Exports an allocation, frees it, and exports another at its address. The
 * other process answers on the standard input. */
static int export_twice(void)
{
    struct nw_gpu_handle handle;
    size_t offset;
    void *memory, *first = NULL;
    char answer;

    for (int i = 0; i < 2; i++) {
        if (gpu->alloc(BYTES, &memory) || (first && memory != first) ||
            gpu->memory_export(memory, &handle, &offset) ||
            write(1, &handle, sizeof handle) != sizeof handle ||
            read(0, &answer, 1) != 1)
            return 1;
        gpu->free(memory);
        first = memory;
    }
    return 0;
}

static int open_twice(int peer)
{
    struct nw_gpu_handle handle[2];
    void *a, *b;

    if (read(peer, &handle[0], sizeof *handle) != sizeof *handle ||
        gpu->memory_import(&handle[0], &a) ||
        gpu->memory_import(&handle[0], &b) || a != b)
        return 2;
    if (write(peer, "", 1) != 1 ||
        read(peer, &handle[1], sizeof *handle) != sizeof *handle ||
        !gpu->memory_import(&handle[1], &b) ||
        !strstr(nw_error_text(), "error 208"))
        return 3;
    gpu->memory_close(a);
    if (!gpu->memory_import(&handle[1], &b)) /* it was opened twice */
        return 4;
    gpu->memory_close(a);
    return gpu->memory_import(&handle[1], &b) || write(peer, "", 1) != 1 ? 5
                                                                         : 0;
}

static void become_other(size_t number);

static int shared_twice(void)
{
    int both[2], status;
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, both))
        return 1;
    child = fork();
    if (!child) {
        dup2(both[0], 0);
        dup2(both[0], 1);
        become_other(0);
    }
    status = open_twice(both[1]);
    if (status)
        shutdown(both[1], SHUT_RDWR);
    return waitpid(child, &(int){0}, 0) != child ? 6 : status;
}

/* Calls that need a context, and memory that does not come from cuMemAlloc. */
static int refused_memory(void)
{
    enum { WITHOUT = 201, APART = 801, POOL = 1, SYNC = 6 };
    char handle[64];
    uintptr_t base, memory = 0;
    size_t bytes;
    unsigned on = 1;
    void *pinned, *context;

    if (gpu->alloc_pinned(BYTES, &pinned) ||
        driver("cuMemAllocAsync")(&memory, (size_t)BYTES, NULL))
        return 1;
    if (gpu->id((void *)memory) ||
        driver("cuPointerSetAttribute")(&on, SYNC, memory) != APART ||
        driver("cuIpcGetMemHandle")(handle, memory) != POOL)
        return 2;
    context = gpu->context();
    driver("cuCtxSetCurrent")(NULL);
    if (driver("cuMemFreeHost")(pinned) != WITHOUT ||
        driver("cuIpcCloseMemHandle")(memory) != WITHOUT ||
        driver("cuMemGetAddressRange_v2")(&base, &bytes, memory) != WITHOUT ||
        driver("cuPointerSetAttribute")(&on, SYNC, memory) != WITHOUT)
        return 3;
    gpu->restore(context);
    return 0;
}

/* --- the default stream --- */

/* The default stream and blocking streams wait for each other; other streams do
 * not. */
static void default_stream_keeps_order(void **state)
{
    nw_gpu_stream blocking = NULL;
    char back[1];
    void *a, *b;

    (void)state;
    assert_int_equal(driver("cuStreamCreate")(&blocking, 0), 0);
    assert_int_equal(gpu->alloc(BYTES, &a), NW_OK);
    assert_int_equal(gpu->alloc(BYTES, &b), NW_OK);
    for (int round = 1; round < 100; round++) {
        for (int i = 0; i < 4; i++)
            assert_int_equal(gpu->fill(a, round, BYTES, blocking), NW_OK);
        assert_int_equal(gpu->copy(b, a, BYTES, NULL), NW_OK);
        assert_int_equal(gpu->fill(a, 0, BYTES, blocking), NW_OK);
        assert_int_equal(gpu->stream_wait(NULL), NW_OK);
        assert_int_equal(gpu->stream_wait(blocking), NW_OK);
        assert_int_equal(gpu->copy_out(back, (char *)b + BYTES - 1, 1), NW_OK);
        assert_int_equal(back[0], round);
    }
    gpu->stream_free(blocking);
    gpu->free(a);
    gpu->free(b);
}

/* --- contexts --- */

/* A program makes its own context, as PyCUDA does. The primary context does not
 * exist, and the library does not make one. */
static int program_context(void)
{
    char host[BYTES], back[BYTES];
    void *own = NULL, *current = NULL;
    uintptr_t from = 0, to = 0;
    unsigned flags;
    int active = 1;
    struct nw_gpu_copy_job *job;

    if (driver("cuCtxCreate_v2")(&own, 0, 0) ||
        driver("cuMemAlloc_v2")(&from, (size_t)BYTES) ||
        driver("cuMemAlloc_v2")(&to, (size_t)BYTES) || gpu->select(0) ||
        driver("cuCtxGetCurrent")(&current) || current != own)
        return 1;
    if (!gpu->serves((void *)from))
        return 2;
    memset(host, 7, BYTES);
    if (gpu->copy_in((void *)from, host, BYTES))
        return 3;
    job = copy_job((void *)to, (void *)from);
    if (nw_gpu_copy_job_launch(job, gpu->own()) ||
        gpu->stream_wait(gpu->own()) ||
        gpu->copy_out(back, (void *)to, BYTES) || memcmp(host, back, BYTES))
        return 4;
    driver("cuDevicePrimaryCtxGetState")(0, &flags, &active);
    return active ? 5 : 0;
}

/* Memory of another context than the current one: no kernel may access it. */
static int foreign_context(void)
{
    uintptr_t memory = 0;
    void *own = NULL, *ours;
    struct nw_gpu_copy_job *job;

    if (gpu->select(0) || gpu->alloc(BYTES, &ours) ||
        driver("cuCtxCreate_v4")(&own, NULL, 0, 0) ||
        driver("cuMemAlloc_v2")(&memory, (size_t)BYTES) || gpu->select(0))
        return 1;
    if (gpu->serves((void *)memory) || !gpu->serves(ours))
        return 2;
    job = copy_job(ours, (void *)memory);
    /* the driver's error for a kernel that does */
    if (nw_gpu_copy_job_launch(job, gpu->own()))
        return 3;
    return gpu->stream_wait(gpu->own()) == NW_ECUDA &&
                   strstr(nw_error_text(), "error 700")
               ? 0
               : 4;
}

/* After cudaDeviceReset, the library works with memory and streams that the
 * program makes afterwards. It knows that what was made before no longer
 * exists; the double ends a process that uses it. */
static int reset(void)
{
    struct nw_gpu_life life;
    struct nw_gpu_copy_job *old, *job;
    char host[BYTES], back[BYTES];
    void *a, *b;

    if (gpu->alloc(BYTES, &a) || gpu->alloc(BYTES, &b))
        return 1;
    life = gpu->life();
    old = copy_job(b, a);
    if (!gpu->lives(&life) || driver("cuDevicePrimaryCtxReset_v2")(0) ||
        gpu->lives(&life))
        return 2;
    nw_gpu_copy_job_free(old);
    if (gpu->select(0) || gpu->lives(&life) || gpu->alloc(BYTES, &a) ||
        gpu->alloc(BYTES, &b))
        return 3;
    memset(host, 3, BYTES);
    if (gpu->copy_in(a, host, BYTES))
        return 4;
    job = copy_job(b, a);
    if (nw_gpu_copy_job_launch(job, gpu->own()) ||
        gpu->stream_wait(gpu->own()) || gpu->copy_out(back, b, BYTES) ||
        memcmp(host, back, BYTES))
        return 5;
    nw_gpu_copy_job_free(job);
    return 0;
}

/* A job may be freed during a call of MPI, so that freeing it must not wait for
 * the whole GPU. */
static void jobs_are_freed_without_waiting(void **state)
{
    struct nw_gpu_copy_job *job;
    unsigned long waits;
    void *memory;

    (void)state;
    assert_int_equal(gpu->alloc(2 * BYTES, &memory), NW_OK);
    job = copy_job(memory, (char *)memory + BYTES);
    waits = counted("fake_cuda_waits");
    nw_gpu_copy_job_free(job);
    assert_int_equal(counted("fake_cuda_waits"), waits);
    gpu->free(memory);
}

/* --- new processes: this program starts itself with the number of a test
 * --- */

/* The driver cannot be used in a child that was forked from a process which
 * uses it. */
static int forked(void)
{
    enum { NOT_INITIALIZED = 3 };
    void *memory = NULL;
    int device, how = 0;
    pid_t child = fork();

    if (!child)
        _exit(driver("cuCtxGetDevice")(&device) != NOT_INITIALIZED ? 1
              : driver("cuInit")(0) != NOT_INITIALIZED             ? 2
              : gpu->select(0) != NW_ECUDA                         ? 3
              : gpu->alloc(BYTES, &memory) != NW_ECUDA             ? 4
              : gpu->alloc_pinned(BYTES, &memory) != NW_ECUDA      ? 5
                                                                   : 0);
    if (waitpid(child, &how, 0) != child || how)
        return 1;
    return gpu->alloc(BYTES, &memory) || gpu->select(0);
}

static const struct {
    const char *name;
    int (*run)(void);
    bool selects; /* whether a GPU is selected before */
} others[] = {
    {"exports for the next", export_twice, true},
    {"IPC handles again", shared_twice, true},
    {"late copies", late_copies, true},
    {"refused memory", refused_memory, true},
    {"first graph", first_graph, true},
    {"refused captures", refused, true},
    {"a context of the program's", program_context, false},
    {"a foreign context", foreign_context, false},
    {"reset", reset, true},
    {"a forked child", forked, true},
};

/* Makes this process run others[number]. Starts the file by its name, since
 * /proc/self/exe is valgrind under valgrind. */
static void become_other(size_t number)
{
    char word[8], self[4096] = "";

    snprintf(word, sizeof word, "%zu", number);
    setenv("NW_TEST_OTHER", word, 1);
    if (readlink("/proc/self/exe", self, sizeof self - 1) > 0)
        execl(self, "test-gpu-contexts", (char *)NULL);
    _exit(99);
}

static void others_are_right(void **state)
{
    int status;

    (void)state;
    for (size_t i = 1; i < sizeof others / sizeof *others; i++) {
        pid_t child = fork();

        if (!child)
            become_other(i);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status)
            print_message("%s: %#x\n", others[i].name, (unsigned)status);
        assert_int_equal(status, 0);
    }
}

static int be_other(int number)
{
    int32_t count;

    if (gpu->open(&count) || (others[number].selects && gpu->select(0)))
        return 98;
    return others[number].run();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_in_are_done_when_they_return),
        cmocka_unit_test(copies_of_the_program_come_first),
        cmocka_unit_test(threads_need_no_context),
        cmocka_unit_test(captures_are_left_alone),
        cmocka_unit_test(default_stream_keeps_order),
        cmocka_unit_test(jobs_are_freed_without_waiting),
        cmocka_unit_test(others_are_right),
    };

    /* These tests do not free the driver's objects, as many programs do not. */
    if (getenv("NW_TEST_OTHER"))
        _exit(be_other(atoi(getenv("NW_TEST_OTHER"))));
    return cmocka_run_group_tests(tests, start, NULL);
}
