/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast the kernels pack and unpack faces, compared with the rate of the
 * GPU's own copy, and whether every byte is right. The program needs only the
 * GPU functions, neither MPI nor hwloc. One launch takes faces at many places
 * of the arrays, so that they are larger than the GPU's caches. Rows are first
 * laid out as in the library's own arrays, with own cells on whole cache lines,
 * and then without gaps, as in many programs. "launch" is the time for which
 * the CPU is busy with one launch, piece by piece and as a graph. Usage: faces
 * [SIZE [RADIUS [REPEATS]]] */
#include "base/clock.h"
#include "gpu/copy_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUANTITIES = 4, SECTOR = 32, LINE = 128 };

static const struct nw_gpu *gpu = &nw_gpu_cuda;

static struct bench {
    int64_t size, radius, planes; /* cells along a side; faces in a launch */
    int repeats;
    int64_t row, plane; /* bytes */
    int64_t first;      /* bytes of a row before own cells */
    size_t room;        /* size of an array, enough for both layouts of rows */
    size_t bytes, face; /* of an array; of all faces of one quantity */
    char *array[QUANTITIES], *dense, *host, *back;
    int64_t shift[QUANTITIES];
    double copy_rate; /* payload bytes a second */
    nw_gpu_stream stream;
} bench;

static void must(nw_status status)
{
    if (!status)
        return;
    fprintf(stderr, "faces: %s\n", nw_error_text());
    exit(status == NW_ENODEV ? 77 : 1);
}

static double seconds_of(nw_status (*work)(void *), void *what)
{
    uint64_t since;

    must(work(what));
    must(gpu->stream_wait(bench.stream));
    since = nw_clock_ns();
    for (int i = 0; i < bench.repeats; i++)
        must(work(what));
    must(gpu->stream_wait(bench.stream));
    return (double)(nw_clock_ns() - since) * 1e-9 / bench.repeats;
}

static nw_status copy(void *unused)
{
    size_t bytes = bench.bytes;

    (void)unused;
    return gpu->copy(bench.array[1], bench.array[0], bytes, bench.stream);
}

static nw_status launch(void *job)
{
    return nw_gpu_copy_job_launch(job, bench.stream);
}

/* Describes the faces across an axis as pieces: `planes` slabs with the depth
 * of the radius at equal distances. */
static void fill_pieces(int axis, enum nw_gpu_work work,
                        struct nw_gpu_piece *piece)
{
    int64_t n[3] = {bench.size, bench.size, bench.size}, each, distance;
    int64_t step[3] = {4, bench.row, bench.plane};

    n[axis] = bench.radius;
    each = n[0] * n[1] * n[2] * 4;
    distance = bench.size / bench.planes;
    for (int64_t i = 0; i < bench.planes; i++, piece++) {
        char *at = bench.array[0] + bench.first + bench.radius * bench.row +
                   bench.radius * bench.plane + i * distance * step[axis];
        char *dense = bench.dense + i * each * QUANTITIES;
        bool pack = work == NW_GPU_PACK;

        *piece = (struct nw_gpu_piece){.bytes = 4,
                                       .x = n[0],
                                       .y = n[1],
                                       .z = n[2],
                                       .quantities = QUANTITIES};
        piece->to = pack ? dense : at;
        piece->from = pack ? at : dense;
        piece->to_step = piece->from_step = 4;
        piece->to_row = piece->from_row = bench.row;
        piece->to_plane = piece->from_plane = bench.plane;
        piece->to_shift = pack ? NULL : bench.shift;
        piece->from_shift = pack ? bench.shift : NULL;
    }
}

static struct nw_gpu_copy_job *job_of(int axis, enum nw_gpu_work work)
{
    struct nw_gpu_piece *piece = calloc((size_t)bench.planes, sizeof *piece);
    struct nw_gpu_copy_job *job = NULL;

    if (!piece)
        exit(1);
    fill_pieces(axis, work, piece);
    must(nw_gpu_copy_job_new(gpu, work, piece, (size_t)bench.planes, &job));
    free(piece);
    return job;
}

/* --- whether every byte is right --- */

enum {
    APART = 4099
}; /* difference in words between the contents of two
      quantities */

static uint32_t *reference(int q)
{
    return (uint32_t *)(void *)bench.host + q * APART;
}

static void fill_reference(void)
{
    uint32_t *word = reference(0);

    for (size_t i = 0; i < bench.bytes / 4 + QUANTITIES * APART; i++)
        word[i] = (uint32_t)(i * 2654435761u) | 1;
}

static bool is_in_face(int axis, int64_t at)
{
    int64_t distance = bench.size / bench.planes;

    return at >= 0 && at < bench.size &&
           (axis < 0 ||
            (at / distance < bench.planes && at % distance < bench.radius));
}

/* Sets a mask of the words of a row: all bits for words of a face, none for
 * others. */
static void fill_mask(int axis, int64_t y, int64_t z, uint32_t *mask)
{
    bool row = is_in_face(axis == 1 ? 1 : -1, y - bench.radius) &&
               is_in_face(axis == 2 ? 2 : -1, z - bench.radius);

    memset(mask, 0, (size_t)bench.row);
    for (int64_t x = 0; row && x < bench.size; x++)
        if (axis || is_in_face(0, x))
            mask[bench.first / 4 + x] = ~0u;
}

static size_t wrong_in_row(const uint32_t *found, const uint32_t *expected,
                           const uint32_t *mask)
{
    size_t wrong = 0;

    for (int64_t x = 0; x < bench.row / 4; x++)
        wrong += found[x] != (expected[x] & mask[x]);
    return wrong;
}

static size_t wrong_in(int axis, int q, const uint32_t *found)
{
    int64_t layers = bench.size + 2 * bench.radius;
    uint32_t *mask = malloc((size_t)bench.row);
    size_t wrong = 0;

    if (!mask)
        exit(1);
    for (int64_t z = 0; z < layers; z++)
        for (int64_t y = 0; y < layers; y++) {
            int64_t at = (z * bench.plane + y * bench.row) / 4;

            fill_mask(axis, y, z, mask);
            wrong += wrong_in_row(found + at, reference(q) + at, mask);
        }
    free(mask);
    return wrong;
}

/* The number of wrong bytes after packing and unpacking into zeroed arrays: the
 * faces must be there again, and nothing else. */
static size_t wrong_after(int axis)
{
    struct nw_gpu_copy_job *pack = job_of(axis, NW_GPU_PACK);
    struct nw_gpu_copy_job *unpack = job_of(axis, NW_GPU_UNPACK);
    size_t wrong = 0;

    for (int q = 0; q < QUANTITIES; q++)
        must(gpu->copy_in(bench.array[q], reference(q), bench.bytes));
    must(nw_gpu_copy_job_launch(pack, bench.stream));
    for (int q = 0; q < QUANTITIES; q++)
        must(gpu->fill(bench.array[q], 0, bench.bytes, bench.stream));
    must(nw_gpu_copy_job_launch(unpack, bench.stream));
    must(gpu->stream_wait(bench.stream));
    for (int q = 0; q < QUANTITIES; q++) {
        must(gpu->copy_out(bench.back, bench.array[q], bench.bytes));
        wrong += wrong_in(axis, q, (const uint32_t *)(void *)bench.back);
    }
    nw_gpu_copy_job_free(pack);
    nw_gpu_copy_job_free(unpack);
    return wrong;
}

/* --- how fast --- */

/* The time in microseconds for which the CPU is busy with one launch. */
static double launch_us(nw_status (*work)(void *), void *what)
{
    uint64_t since;
    double us = 0;

    for (int i = 0; i < bench.repeats; i++) {
        since = nw_clock_ns();
        must(work(what));
        us += (double)(nw_clock_ns() - since) * 1e-3;
        must(gpu->stream_wait(bench.stream));
    }
    return us / bench.repeats;
}

static nw_status launch_graph(void *graph)
{
    return gpu->graph_launch(graph, bench.stream);
}

static double graph_us(struct nw_gpu_copy_job *job)
{
    nw_gpu_graph graph = NULL;
    double us;

    must(gpu->graph_begin(bench.stream));
    must(nw_gpu_copy_job_launch(job, bench.stream));
    must(gpu->graph_end(bench.stream, &graph));
    must(launch_graph(graph)); /* the first launch copies the graph to the
                                  GPU */
    must(gpu->stream_wait(bench.stream));
    us = launch_us(launch_graph, graph);
    gpu->graph_free(graph);
    return us;
}

/* The rate that is possible: for an x face, whole sectors must be read or
 * written on its strided side. */
static double allowed_rate(int axis)
{
    double payload = (double)bench.radius * 4, touched = payload;

    if (axis == 0)
        touched = (double)((bench.radius * 4 + SECTOR - 1) / SECTOR * SECTOR);
    return 2 * bench.copy_rate * payload / (payload + touched);
}

static void measure(int axis)
{
    static const enum nw_gpu_work works[] = {NW_GPU_PACK, NW_GPU_UNPACK};
    size_t wrong = wrong_after(axis);

    for (int i = 0; i < 2; i++) {
        struct nw_gpu_copy_job *job = job_of(axis, works[i]);
        double seconds = seconds_of(launch, job);
        double rate = (double)(bench.face * QUANTITIES) / seconds;

        printf("%c face   %-7s %8.1f MB %9.1f us %8.1f GB/s  %5.1f %% of the "
               "copy  %5.1f %% of what sectors allow  launch %5.1f us, as a "
               "graph %5.1f us  %s\n",
               'x' + axis, works[i] == NW_GPU_PACK ? "pack" : "unpack",
               (double)(bench.face * QUANTITIES) * 1e-6, seconds * 1e6,
               rate * 1e-9, 100 * rate / bench.copy_rate,
               100 * rate / allowed_rate(axis), launch_us(launch, job),
               graph_us(job), wrong ? "WRONG" : "right");
        nw_gpu_copy_job_free(job);
    }
    if (wrong)
        exit(1);
}

/* Lays rows out on whole cache lines, or without gaps. */
static void lay_out(bool lines)
{
    int64_t layers = bench.size + 2 * bench.radius, ghosts = bench.radius * 4;

    bench.first = lines ? 0 : ghosts; /* the lower ghost cells are at the end
                                         of the row before */
    bench.row = bench.size * 4 + 2 * ghosts;
    if (lines)
        bench.row = (bench.row + LINE - 1) / LINE * LINE;
    bench.plane = bench.row * layers;
    bench.bytes = (size_t)(bench.plane * layers);
}

static void measure_all(bool lines)
{
    lay_out(lines);
    printf("# rows %s, %lld bytes apart\n",
           lines ? "on whole lines" : "without gaps", (long long)bench.row);
    for (int axis = 2; axis >= 0; axis--)
        measure(axis);
}

static void make(int argc, char **argv)
{
    int64_t wide;

    bench.size = argc > 1 ? atoll(argv[1]) : 512;
    bench.radius = argc > 2 ? atoll(argv[2]) : 1;
    bench.repeats = argc > 3 ? atoi(argv[3]) : 20;
    /* at least eight cells from one face to the next, so that each has sectors
     * of its own */
    wide = bench.radius > 8 ? bench.radius : 8;
    bench.planes = bench.size / wide;
    if (bench.planes < 1 || bench.radius < 1 || bench.repeats < 1)
        exit(2);
    bench.face = (size_t)(bench.size * bench.size * bench.radius * 4) *
                 (size_t)bench.planes;
    lay_out(true);
    bench.room = bench.bytes;
    must(gpu->alloc_pinned(bench.room + QUANTITIES * APART * 4,
                           (void **)&bench.host));
    must(gpu->alloc_pinned(bench.room, (void **)&bench.back));
    must(gpu->stream_new(&bench.stream));
    must(gpu->alloc(bench.face * QUANTITIES, (void **)&bench.dense));
    for (int q = 0; q < QUANTITIES; q++) {
        must(gpu->alloc(bench.room, (void **)&bench.array[q]));
        bench.shift[q] = bench.array[q] - bench.array[0];
    }
    fill_reference();
}

int main(int argc, char **argv)
{
    struct nw_gpu_properties facts;
    int32_t count;

    must(gpu->open(&count));
    must(gpu->select(0));
    must(gpu->properties(0, &facts));
    make(argc, argv);
    bench.copy_rate = (double)bench.bytes / seconds_of(copy, NULL);
    printf(
        "%s, %d GPU%s; %lld^3 cells, radius %lld, %d quantities of 4 bytes\n",
        facts.name, count, count > 1 ? "s" : "", (long long)bench.size,
        (long long)bench.radius, QUANTITIES);
    printf("device copy     %8.1f MB %21.1f GB/s payload\n",
           (double)bench.bytes * 1e-6, bench.copy_rate * 1e-9);
    measure_all(true);
    measure_all(false);
    for (int q = 0; q < QUANTITIES; q++)
        gpu->free(bench.array[q]);
    gpu->free(bench.dense);
    gpu->stream_free(bench.stream);
    gpu->free_pinned(bench.host);
    gpu->free_pinned(bench.back);
    return 0;
}
