/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the GPU functions with the test double of the driver. Kernels are
 * compared with their versions for the host and with loops over elements. Other
 * tests cover copies, the order that streams and events define, graphs, memory
 * and events that other processes open, and failures. */
#include "base/random.h"
#include "gpu/copy_job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct nw_gpu *gpu = &nw_gpu_cuda;

enum { ROOM = 1 << 20, QUANTITIES = 4 };

static int start(void **state)
{
    int32_t count;

    (void)state;
    return gpu->open(&count) || count != 3 || gpu->select(0);
}

static uint32_t below(struct nw_random *random, uint32_t n)
{
    return (uint32_t)nw_random_below(random, n);
}

/* --- kernels --- */

/* The source or destination of a random copy: an array with a few more layers
 * than are copied. */
struct array {
    int64_t step, row, plane, first;
    int64_t shift[QUANTITIES];
};

static void random_array(struct nw_random *random, const uint32_t n[3],
                         size_t bytes, struct array *out)
{
    int64_t gap = below(random, 3) ? 0 : (int64_t)below(random, 9);
    int64_t size;

    out->step = (int64_t)bytes + gap;
    out->row = out->step * (n[0] + below(random, 3)) + below(random, 2) * 4;
    out->plane = out->row * (n[1] + below(random, 3));
    size = out->plane * n[2] + 64;
    out->first = below(random, 4) ? 64 * below(random, 3) : below(random, 64);
    for (int q = 0; q < QUANTITIES; q++)
        out->shift[q] = size * q;
    if (below(random, 4))
        return;
    /* mirrored along x: the copy begins at the last element and goes
     * backwards */
    out->first += out->step * (n[0] - 1);
    out->step = -out->step;
}

static void describe(const struct array *to, const struct array *from,
                     struct nw_gpu_piece *piece)
{
    piece->to_step = to->step;
    piece->to_row = to->row;
    piece->to_plane = to->plane;
    piece->to_shift = to->shift;
    piece->from_step = from->step;
    piece->from_row = from->row;
    piece->from_plane = from->plane;
    piece->from_shift = from->shift;
}

/* The offset of one element in the source or destination. */
static size_t element(const struct nw_gpu_piece *p, bool to, bool dense,
                      const int64_t at[4])
{
    const int64_t *shift = to ? p->to_shift : p->from_shift;
    int64_t step[3] = {to ? p->to_step : p->from_step,
                       to ? p->to_row : p->from_row,
                       to ? p->to_plane : p->from_plane};
    int64_t bytes = (int64_t)p->bytes;

    if (dense) {
        step[0] = bytes;
        step[1] = bytes * p->x;
        step[2] = bytes * p->x * p->y;
    }
    return (size_t)(at[0] * step[0] + at[1] * step[1] + at[2] * step[2] +
                    (shift ? shift[at[3]] : step[2] * p->z * at[3]));
}

static void plain_loops(enum nw_gpu_work work, const struct nw_gpu_piece *p,
                        char *to, const char *from)
{
    int64_t at[4];

    for (at[3] = 0; at[3] < p->quantities; at[3]++)
        for (at[2] = 0; at[2] < p->z; at[2]++)
            for (at[1] = 0; at[1] < p->y; at[1]++)
                for (at[0] = 0; at[0] < p->x; at[0]++)
                    memcpy(to + element(p, true, work == NW_GPU_PACK, at),
                           from + element(p, false, work == NW_GPU_UNPACK, at),
                           p->bytes);
}

static void run_on_gpu(enum nw_gpu_work work, struct nw_gpu_piece *piece,
                       char *to, const char *from, int64_t first[2])
{
    struct nw_gpu_copy_job *job = NULL;
    nw_gpu_stream stream = NULL;
    void *memory[2];

    assert_int_equal(gpu->alloc(ROOM, &memory[0]), NW_OK);
    assert_int_equal(gpu->alloc(ROOM, &memory[1]), NW_OK);
    assert_int_equal(gpu->copy_in(memory[0], to, ROOM), NW_OK);
    assert_int_equal(gpu->copy_in(memory[1], from, ROOM), NW_OK);
    piece->to = (char *)memory[0] + first[0];
    piece->from = (char *)memory[1] + first[1];
    assert_int_equal(gpu->stream_new(&stream), NW_OK);
    assert_int_equal(nw_gpu_copy_job_new(gpu, work, piece, 1, &job), NW_OK);
    assert_int_equal(nw_gpu_copy_job_launch(job, stream), NW_OK);
    assert_int_equal(gpu->stream_wait(stream), NW_OK);
    assert_int_equal(gpu->copy_out(to, memory[0], ROOM), NW_OK);
    nw_gpu_copy_job_free(job);
    gpu->stream_free(stream);
    gpu->free(memory[0]);
    gpu->free(memory[1]);
}

/* The address of the first word of one side, and the distances in bytes to the
 * next word, row and plane. */
struct reference_side {
    uint64_t at;
    int64_t step, row, plane;
};

static struct reference_side
reference_dense(uint64_t at, const struct nw_gpu_box *box, size_t size)
{
    int64_t row = (int64_t)(box->x * size), plane = row * box->y;

    return (struct reference_side){at, (int64_t)size, row, plane};
}

static void reference_copy(struct reference_side to, struct reference_side from,
                           const struct nw_gpu_box *box, size_t size)
{
    for (int64_t z = 0; z < box->z; z++)
        for (int64_t y = 0; y < box->y; y++)
            for (int64_t x = 0; x < box->x; x++)
                memcpy(
                    (void *)(to.at + x * to.step + y * to.row + z * to.plane),
                    (const void *)(from.at + x * from.step + y * from.row +
                                   z * from.plane),
                    size);
}

/* Does what the kernel for `work` and words of 1 << `width` bytes does, with
 * plain loops on host memory. */
static void reference_box(enum nw_gpu_work work, int width,
                          const struct nw_gpu_box *box, const int64_t *shift)
{
    size_t size = (size_t)1 << width;

    for (uint32_t q = 0; q < box->quantities; q++) {
        struct reference_side to = {box->to, box->to_step, box->to_row,
                                    box->to_plane};
        struct reference_side from = {box->from, box->from_step, box->from_row,
                                      box->from_plane};

        if (work == NW_GPU_PACK)
            to = reference_dense(box->to, box, size);
        if (work == NW_GPU_UNPACK)
            from = reference_dense(box->from, box, size);
        to.at += (uint64_t)shift[box->to_shift + q];
        from.at += (uint64_t)shift[box->from_shift + q];
        reference_copy(to, from, box, size);
    }
}

static void run_twin(enum nw_gpu_work work, struct nw_gpu_piece *piece,
                     char *to, const char *from, int64_t first[2])
{
    struct nw_gpu_copy_table table;

    piece->to = to + first[0];
    piece->from = from + first[1];
    assert_int_equal(nw_gpu_copy_table_make(work, piece, 1, &table), NW_OK);
    for (int i = 0; i < table.group_count; i++)
        for (size_t j = 0; j < table.group[i].box_count; j++)
            reference_box(table.group[i].work, table.group[i].width,
                          &table.group[i].box[j], table.shift);
    nw_gpu_copy_table_fini(&table);
}

static void one_copy(struct nw_random *random, char *const buffer[4])
{
    enum nw_gpu_work work = below(random, NW_GPU_WORK_COUNT);
    uint32_t n[3] = {1 + below(random, 40), 1 + below(random, 12),
                     1 + below(random, 12)};
    struct nw_gpu_piece piece = {
        .bytes = below(random, 3) ? (size_t)1 << below(random, 5)
                                  : 1 + below(random, 24),
        .x = n[0],
        .y = n[1],
        .z = n[2],
        .quantities = 1 + below(random, QUANTITIES),
    };
    const int64_t gaps[QUANTITIES] = {0, 1 << 17, 2 << 17, 3 << 17};
    struct array to, from;
    int64_t first[2];

    random_array(random, n, piece.bytes, &to);
    random_array(random, n, piece.bytes, &from);
    if (to.plane * n[2] + to.first + to.shift[3] > ROOM ||
        from.plane * n[2] + from.first + from.shift[3] > ROOM)
        return;
    describe(&to, &from, &piece);
    if (work == NW_GPU_PACK)
        piece.to_shift = below(random, 2) ? gaps : NULL;
    if (work == NW_GPU_UNPACK)
        piece.from_shift = below(random, 2) ? gaps : NULL;
    first[0] = work == NW_GPU_PACK ? 16 * below(random, 4) : to.first;
    first[1] = work == NW_GPU_UNPACK ? 16 * below(random, 4) : from.first;
    for (int i = 1; i < 4; i++)
        memset(buffer[i], 0xee, ROOM);
    plain_loops(work, &piece, buffer[1] + first[0], buffer[0] + first[1]);
    run_twin(work, &piece, buffer[2], buffer[0], first);
    run_on_gpu(work, &piece, buffer[3], buffer[0], first);
    assert_memory_equal(buffer[1], buffer[2], ROOM);
    assert_memory_equal(buffer[1], buffer[3], ROOM);
}

static void kernels_do_what_loops_do(void **state)
{
    struct nw_random random;
    char *buffer[4];

    (void)state;
    nw_random_init(&random, 20261121);
    for (int i = 0; i < 4; i++)
        assert_non_null(buffer[i] = malloc(ROOM));
    for (size_t i = 0; i < ROOM; i++)
        buffer[0][i] = (char)nw_random_below(&random, 256);
    for (int i = 0; i < 200; i++)
        one_copy(&random, buffer);
    for (int i = 0; i < 4; i++)
        free(buffer[i]);
}

/* Checks the reciprocals of table.c with each divisor, at both sides of its
 * multiples. */
static void divisions_are_exact(void **state)
{
    static const uint32_t divisors[] = {1,   2,    3,     5,        7,
                                        10,  255,  256,   641,      1000003,
                                        513, 4097, 65537, 1u << 30, 0x7fffffff};

    (void)state;
    for (size_t i = 0; i < sizeof divisors / sizeof *divisors; i++) {
        uint32_t d = divisors[i];
        struct nw_gpu_piece piece = {.bytes = 1,
                                     .x = d,
                                     .y = 1,
                                     .z = 1,
                                     .quantities = 1,
                                     .to_step = 1,
                                     .from_step = 1,
                                     .from_shift = &(int64_t){0}};
        struct nw_gpu_copy_table table;
        struct nw_gpu_box box;

        piece.to = (void *)1; /* an odd address: words of one byte */
        assert_int_equal(nw_gpu_copy_table_make(NW_GPU_PACK, &piece, 1, &table),
                         NW_OK);
        box = table.group[0].box[0];
        assert_int_equal(box.x, d);
        for (uint64_t k = 0; k < 4000; k++) {
            uint64_t n = (0x7fffffff / d) * k / 3999 * d;

            for (uint64_t m = n ? n - 1 : 0; m <= n + 1; m++)
                if (m < 0x80000000u)
                    assert_int_equal(m * box.x_magic >> box.x_shift, m / d);
        }
        nw_gpu_copy_table_fini(&table);
    }
}

static void too_large_a_copy_is_refused(void **state)
{
    static const int64_t extent[][3] = {
        {INT64_C(1) << 31, 2, 1},
        {(INT64_C(1) << 32) + 1, 1, 1},
        {1, (INT64_C(1) << 32) + 1, 1},
        {1, 1, (INT64_C(1) << 32) + 1},
        {4, INT64_C(1) << 31, INT64_C(1) << 31}};
    struct nw_gpu_piece piece = {.bytes = 1,
                                 .quantities = 1,
                                 .from_step = 2,
                                 .from_shift = &(int64_t){0}};
    struct nw_gpu_copy_table table;

    (void)state;
    for (size_t i = 0; i < sizeof extent / sizeof *extent; i++) {
        piece.x = extent[i][0];
        piece.y = extent[i][1];
        piece.z = extent[i][2];
        assert_int_equal(nw_gpu_copy_table_make(NW_GPU_PACK, &piece, 1, &table),
                         NW_EUNSUPPORTED);
    }
}

/* --- memory --- */

static void host_cannot_read_gpu_memory(void **state)
{
    void *memory;
    int32_t whose = -2;
    int status;
    pid_t child;

    (void)state;
    assert_int_equal(gpu->alloc(64, &memory), NW_OK);
    assert_true(gpu->holds((char *)memory + 63, &whose));
    assert_int_equal(whose, 0);
    assert_false(gpu->holds(&whose, &whose));
    fflush(stdout);
    child = fork();
    if (!child) {
        signal(SIGSEGV, SIG_DFL);
        _exit(*(volatile char *)memory == 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    gpu->free(memory);
}

static void memory_that_is_not_there(void **state)
{
    void *memory = NULL;

    (void)state;
    assert_int_equal(gpu->alloc((size_t)1 << 40, &memory), NW_ENOMEM);
    assert_null(memory);
    assert_string_equal(
        nw_error_text(),
        "GPU 0 cannot hold 1.1 TB: 17.2 GB of 17.2 GB are free");
}

static void fill_host(unsigned char *host, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        host[i] = (unsigned char)(i * 7 + 3);
}

/* Copies a box of 5 x rows x planes bytes at (2, 1, 1) of an array of 16 x 8 x
 * 6 to the corner of one of 12 x 6 x 5. One row or plane has no next one; the
 * distance to it is then more than the driver takes. */
static void box_is_copied(int32_t from_gpu, int32_t to_gpu, int rows,
                          int planes)
{
    size_t far = (size_t)3 << 30;
    unsigned char host[16 * 8 * 6], back[12 * 6 * 5];
    void *from, *to;
    struct nw_gpu_copy copy = {.row_bytes = 5,
                               .rows = (size_t)rows,
                               .planes = (size_t)planes,
                               .from_row = rows > 1 ? 16 : far,
                               .from_plane = planes > 1 ? 16 * 8 : far,
                               .to_row = rows > 1 ? 12 : far,
                               .to_plane = planes > 1 ? 12 * 6 : far,
                               .from_gpu = from_gpu,
                               .to_gpu = to_gpu};

    fill_host(host, sizeof host);
    assert_int_equal(gpu->select(from_gpu), NW_OK);
    assert_int_equal(gpu->alloc(sizeof host, &from), NW_OK);
    assert_int_equal(gpu->select(to_gpu), NW_OK);
    assert_int_equal(gpu->alloc(sizeof back, &to), NW_OK);
    assert_int_equal(gpu->copy_in(from, host, sizeof host), NW_OK);
    assert_int_equal(gpu->fill(to, 9, sizeof back, NULL), NW_OK);
    copy.from = (char *)from + 16 * 8 + 16 + 2;
    copy.to = to;
    assert_int_equal(gpu->copy_box(&copy, NULL), NW_OK);
    assert_int_equal(gpu->stream_wait(NULL), NW_OK);
    assert_int_equal(gpu->copy_out(back, to, sizeof back), NW_OK);
    for (int z = 0; z < 5; z++)
        for (int y = 0; y < 6; y++)
            for (int x = 0; x < 12; x++)
                assert_int_equal(
                    back[z * 72 + y * 12 + x],
                    x < 5 && y < rows && z < planes
                        ? host[(z + 1) * 128 + (y + 1) * 16 + x + 2]
                        : 9);
    gpu->free(from);
    gpu->free(to);
    assert_int_equal(gpu->select(0), NW_OK);
}

/* Copies two planes of one row each, which are 2 GiB apart. */
static void far_planes_are_copied(int32_t from_gpu, int32_t to_gpu)
{
    const size_t far = (size_t)2 << 30;
    char back[8] = "";
    void *from, *to;
    struct nw_gpu_copy copy = {.row_bytes = 4,
                               .rows = 1,
                               .planes = 2,
                               .from_row = 1 << 16,
                               .from_plane = far,
                               .to_row = 4,
                               .to_plane = 4,
                               .from_gpu = from_gpu,
                               .to_gpu = to_gpu};

    assert_int_equal(gpu->select(from_gpu), NW_OK);
    assert_int_equal(gpu->alloc(far + 4, &from), NW_OK);
    assert_int_equal(gpu->select(to_gpu), NW_OK);
    assert_int_equal(gpu->alloc(sizeof back, &to), NW_OK);
    assert_int_equal(gpu->copy_in(from, "near", 4), NW_OK);
    assert_int_equal(gpu->copy_in((char *)from + far, "far.", 4), NW_OK);
    copy.from = from;
    copy.to = to;
    assert_int_equal(gpu->copy_box(&copy, NULL), NW_OK);
    assert_int_equal(gpu->stream_wait(NULL), NW_OK);
    assert_int_equal(gpu->copy_out(back, to, sizeof back), NW_OK);
    assert_memory_equal(back, "nearfar.", 8);
    gpu->free(from);
    gpu->free(to);
    assert_int_equal(gpu->select(0), NW_OK);
}

static void boxes_are_copied(int32_t from_gpu, int32_t to_gpu)
{
    far_planes_are_copied(from_gpu, to_gpu);
    box_is_copied(from_gpu, to_gpu, 4, 3);
    box_is_copied(from_gpu, to_gpu, 1, 3);
    box_is_copied(from_gpu, to_gpu, 4, 1);
    box_is_copied(from_gpu, to_gpu, 1, 1);
}

static void copies_of_boxes(void **state)
{
    (void)state;
    boxes_are_copied(0, 0);
    boxes_are_copied(1, 2);
}

/* A kernel of GPU 0 writes to memory of GPU 1, with and without peer access. */
static void peers_are_reached(void **state)
{
    unsigned char host[256], back[256];
    void *here, *there;
    int64_t zero = 0;
    struct nw_gpu_piece piece = {.bytes = 4,
                                 .x = 64,
                                 .y = 1,
                                 .z = 1,
                                 .quantities = 1,
                                 .to_step = 4,
                                 .from_step = 4,
                                 .to_shift = &zero,
                                 .from_shift = &zero};
    struct nw_gpu_copy_job *job;

    (void)state;
    fill_host(host, sizeof host);
    assert_int_equal(gpu->select(1), NW_OK);
    assert_int_equal(gpu->alloc(256, &there), NW_OK);
    assert_int_equal(gpu->select(0), NW_OK);
    assert_int_equal(gpu->alloc(256, &here), NW_OK);
    assert_int_equal(gpu->copy_in(here, host, 256), NW_OK);
    assert_true(gpu->can_access_peer(0, 1));
    assert_int_equal(gpu->enable_peer_access(1), NW_OK);
    assert_int_equal(gpu->enable_peer_access(1), NW_OK);
    piece.to = there;
    piece.from = here;
    assert_int_equal(nw_gpu_copy_job_new(gpu, NW_GPU_MOVE, &piece, 1, &job),
                     NW_OK);
    assert_int_equal(nw_gpu_copy_job_launch(job, NULL), NW_OK);
    assert_int_equal(gpu->stream_wait(NULL), NW_OK);
    assert_int_equal(gpu->copy_out(back, there, 256), NW_OK);
    assert_memory_equal(host, back, 256);
    nw_gpu_copy_job_free(job);
    gpu->free(here);
    gpu->free(there);
}

/* --- order --- */

static void events_order_streams(void **state)
{
    nw_gpu_stream first, second;
    nw_gpu_event event;
    void *a, *b;
    bool done = false;

    (void)state;
    assert_int_equal(gpu->stream_new(&first), NW_OK);
    assert_int_equal(gpu->stream_new(&second), NW_OK);
    assert_int_equal(gpu->event_new(&event), NW_OK);
    assert_int_equal(gpu->alloc(4096, &a), NW_OK);
    assert_int_equal(gpu->alloc(4096, &b), NW_OK);
    for (int round = 1; round < 200; round++) {
        unsigned char back = 0;

        for (int i = 0; i < 3; i++)
            assert_int_equal(gpu->fill(a, i, 4096, first), NW_OK);
        assert_int_equal(gpu->fill(a, round, 4096, first), NW_OK);
        assert_int_equal(gpu->event_record(event, first), NW_OK);
        assert_int_equal(gpu->event_join(event, second), NW_OK);
        assert_int_equal(gpu->copy(b, a, 4096, second), NW_OK);
        assert_int_equal(gpu->stream_wait(second), NW_OK);
        assert_int_equal(gpu->event_test(event, &done), NW_OK);
        assert_true(done);
        assert_int_equal(gpu->copy_out(&back, (char *)b + 4095, 1), NW_OK);
        assert_int_equal(back, (unsigned char)round);
    }
    gpu->free(a);
    gpu->free(b);
    gpu->event_free(event);
    gpu->stream_free(first);
    gpu->stream_free(second);
}

static void graphs_repeat(void **state)
{
    nw_gpu_stream stream;
    nw_gpu_graph graph;
    unsigned char back[2];
    void *a, *b;

    (void)state;
    assert_int_equal(gpu->stream_new(&stream), NW_OK);
    assert_int_equal(gpu->alloc(16, &a), NW_OK);
    assert_int_equal(gpu->alloc(16, &b), NW_OK);
    assert_int_equal(gpu->fill(a, 1, 16, stream), NW_OK);
    assert_int_equal(gpu->fill(b, 2, 16, stream), NW_OK);
    assert_int_equal(gpu->graph_begin(stream), NW_OK);
    assert_int_equal(gpu->copy(b, a, 16, stream), NW_OK);
    assert_int_equal(gpu->fill(a, 3, 16, stream), NW_OK);
    assert_int_equal(gpu->graph_end(stream, &graph), NW_OK);
    assert_int_equal(gpu->stream_wait(stream), NW_OK);
    assert_int_equal(gpu->copy_out(back, b, 1), NW_OK);
    assert_int_equal(back[0], 2); /* nothing was done yet */
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gpu->graph_launch(graph, stream), NW_OK);
        assert_int_equal(gpu->stream_wait(stream), NW_OK);
        assert_int_equal(gpu->copy_out(&back[i], b, 1), NW_OK);
    }
    assert_int_equal(back[0], 1);
    assert_int_equal(back[1], 3);
    gpu->graph_free(graph);
    gpu->free(a);
    gpu->free(b);
    gpu->stream_free(stream);
}

/* --- other processes and faults: in child processes, which start the driver
 * again --- */

static void pipe_in(int fd, void *data, size_t bytes)
{
    assert_int_equal(read(fd, data, bytes), (ssize_t)bytes);
}

static void pipe_out(int fd, const void *data, size_t bytes)
{
    assert_int_equal(write(fd, data, bytes), (ssize_t)bytes);
}

/* Fills the parent's memory with 7 once its event is reached. */
static int be_the_other(int in, int out)
{
    struct nw_gpu_handle memory, event;
    nw_gpu_event theirs;
    size_t offset;
    void *at;
    char word = 'd';

    if (read(in, &memory, sizeof memory) < 0 ||
        read(in, &event, sizeof event) < 0 ||
        read(in, &offset, sizeof offset) < 0)
        return 1;
    if (gpu->select(0) || gpu->memory_import(&memory, &at) ||
        gpu->event_import(&event, &theirs) || gpu->event_join(theirs, NULL) ||
        gpu->fill((char *)at + offset, 7, 16, NULL) || gpu->stream_wait(NULL))
        return 2;
    gpu->event_free(theirs);
    gpu->memory_close(at);
    return write(out, &word, 1) == 1 ? 0 : 3;
}

/* Forks the other process. main calls this first, before the driver has a
 * thread. */
static int other_process(int *in, int *out)
{
    int down[2], up[2];
    int32_t count;
    pid_t child;

    if (pipe(down) || pipe(up))
        return -1;
    child = fork();
    if (!child)
        _exit(gpu->open(&count) ? 4 : be_the_other(down[0], up[1]));
    *in = up[0];
    *out = down[1];
    return child;
}

static int to_child, from_child;
static pid_t child;

static void processes_share_memory_and_events(void **state)
{
    struct nw_gpu_handle memory, event;
    unsigned char back[64];
    nw_gpu_event reached;
    void *at, *own = NULL;
    size_t offset = 0;
    int status;
    char word;

    (void)state;
    assert_int_equal(gpu->alloc(64, &at), NW_OK);
    assert_int_equal(gpu->event_new_shared(&reached), NW_OK);
    assert_int_equal(gpu->fill(at, 5, 64, NULL), NW_OK);
    assert_int_equal(gpu->event_record(reached, NULL), NW_OK);
    assert_int_equal(gpu->memory_export((char *)at + 16, &memory, &offset),
                     NW_OK);
    assert_int_equal(offset, 16);
    assert_int_equal(gpu->memory_import(&memory, &own), NW_ECUDA);
    assert_int_equal(gpu->event_export(reached, &event), NW_OK);
    pipe_out(to_child, &memory, sizeof memory);
    pipe_out(to_child, &event, sizeof event);
    pipe_out(to_child, &offset, sizeof offset);
    pipe_in(from_child, &word, 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(gpu->copy_out(back, at, 64), NW_OK);
    for (int i = 0; i < 64; i++)
        assert_int_equal(back[i], i >= 16 && i < 32 ? 7 : 5);
    gpu->event_free(reached);
    gpu->free(at);
}

static long live(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    long (*count)(void);

    assert_non_null(driver);
    *(void **)&count = dlsym(driver, "fake_cuda_live");
    assert_non_null(count);
    return count();
}

/* Memory that is mapped again at the addresses where it was unmapped overwrites
 * nothing of the host: meanwhile these addresses are not given to the host,
 * also if the host may access GPU memory. */
static void unmapped_addresses_stay_reserved(void **state)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *physical, *host;
    int (*reserve)(uint64_t *, size_t, size_t, uint64_t, unsigned long long);
    int (*create)(void **, size_t, const void *, unsigned long long);
    int (*map)(uint64_t, size_t, size_t, void *, unsigned long long);
    int (*unmap)(uint64_t, size_t);
    int (*release)(void *);
    const int properties[8] = {1, 0, 1, 0};
    uint64_t at = 0;

    (void)state;
    assert_non_null(driver);
    *(void **)&reserve = dlsym(driver, "cuMemAddressReserve");
    *(void **)&create = dlsym(driver, "cuMemCreate");
    *(void **)&map = dlsym(driver, "cuMemMap");
    *(void **)&unmap = dlsym(driver, "cuMemUnmap");
    *(void **)&release = dlsym(driver, "cuMemRelease");
    setenv("FAKE_CUDA_READABLE", "1", 1);
    assert_int_equal(create(&physical, ROOM, properties, 0), 0);
    assert_int_equal(reserve(&at, ROOM, 0, 0, 0), 0);
    assert_int_equal(map(at, ROOM, 0, physical, 0), 0);
    memset((void *)(uintptr_t)at, 1, ROOM);
    assert_int_equal(unmap(at, ROOM), 0);
    /* as malloc would do it: at that address if it is free */
    host = mmap((void *)(uintptr_t)at, ROOM, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(host != MAP_FAILED);
    memset(host, 2, ROOM);
    assert_int_equal(map(at, ROOM, 0, physical, 0), 0);
    assert_int_equal(*(char *)host, 2);
    assert_int_equal(*(char *)(uintptr_t)at, 1);
    assert_int_equal(unmap(at, ROOM), 0);
    assert_int_equal(release(physical), 0);
    unsetenv("FAKE_CUDA_READABLE");
    munmap(host, ROOM);
}

/* Only two objects remain for each selected GPU: those that cuda_context.c
 * keeps in a context. */
static void nothing_is_left(void **state)
{
    (void)state;
    assert_int_equal(live(), 2 * 3);
}

static void facts_of_a_gpu(void **state)
{
    struct nw_gpu_properties properties;

    (void)state;
    assert_int_equal(gpu->properties(1, &properties), NW_OK);
    assert_string_equal(properties.name, "fake GPU 1");
    assert_string_equal(properties.pci_id, "0000:11:00.0");
    assert_string_equal(properties.uuid,
                        "GPU-00000000-0000-0000-0000-000000000001");
    assert_int_equal(gpu->select(77), NW_ECUDA);
}

/* The environment requests the faults, so that these tests run in processes of
 * their own. */
static int expect_broken_stream(void)
{
    nw_gpu_stream stream;
    void *at;
    bool done = false;

    if (gpu->alloc(64, &at) || gpu->stream_new(&stream) ||
        gpu->copy(at, (char *)at + 32, 16, stream))
        return 1;
    if (gpu->stream_wait(stream) != NW_ECUDA ||
        !strstr(nw_error_text(), "unspecified launch failure"))
        return 2;
    return gpu->stream_test(stream, &done) == NW_ECUDA ? 0 : 3;
}

/* A program may query the GPUs without a selected GPU, and the query does not
 * change its current context. */
static void programs_may_ask(void **state)
{
    struct nw_gpu_properties same, properties;
    int32_t count = 0, whose = 7;
    void *memory, *before = gpu->context();
    char host;

    (void)state;
    assert_int_equal(nw_gpu_count(&count), NW_OK);
    assert_int_equal(count, 3);
    assert_int_equal(gpu->properties(2, &same), NW_OK);
    assert_int_equal(nw_gpu_describe(2, &properties), NW_OK);
    assert_string_equal(properties.pci_id, same.pci_id);
    assert_string_equal(properties.uuid, same.uuid);
    assert_int_equal(nw_gpu_describe(3, &properties), NW_EINVAL);
    assert_int_equal(nw_gpu_describe(-1, &properties), NW_EINVAL);
    assert_int_equal(gpu->select(1), NW_OK);
    assert_int_equal(gpu->alloc(64, &memory), NW_OK);
    gpu->restore(before);
    assert_true(nw_gpu_owns((char *)memory + 63, &whose));
    assert_int_equal(whose, 1);
    assert_false(nw_gpu_owns(&host, &whose));
    assert_int_equal(whose, -1);
    assert_ptr_equal(gpu->context(), before);
    gpu->free(memory);
}

static void errors_in_streams_are_told(void **state)
{
    char self[4096] = "";
    int status;
    pid_t fault;

    (void)state;
    /* by the name of the file: under valgrind, starting /proc/self/exe would
     * start valgrind */
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    fflush(stdout);
    fault = fork();
    if (!fault) {
        setenv("NW_TEST_FAULT", "1", 1);
        setenv("FAKE_CUDA_FAIL", "copy:1", 1);
        execl(self, "test-gpu", (char *)NULL);
        _exit(9);
    }
    assert_int_equal(waitpid(fault, &status, 0), fault);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_do_what_loops_do),
        cmocka_unit_test(divisions_are_exact),
        cmocka_unit_test(too_large_a_copy_is_refused),
        cmocka_unit_test(host_cannot_read_gpu_memory),
        cmocka_unit_test(memory_that_is_not_there),
        cmocka_unit_test(copies_of_boxes),
        cmocka_unit_test(peers_are_reached),
        cmocka_unit_test(events_order_streams),
        cmocka_unit_test(graphs_repeat),
        cmocka_unit_test(processes_share_memory_and_events),
        cmocka_unit_test(unmapped_addresses_stay_reserved),
        cmocka_unit_test(facts_of_a_gpu),
        cmocka_unit_test(programs_may_ask),
        cmocka_unit_test(errors_in_streams_are_told),
        cmocka_unit_test(nothing_is_left),
    };
    int32_t count;

    if (getenv("NW_TEST_FAULT"))
        return gpu->open(&count) || gpu->select(0) ? 8 : expect_broken_stream();
    child = other_process(&from_child, &to_child);
    return child < 0 ? 1 : cmocka_run_group_tests(tests, start, NULL);
}
