/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program in the form of OSU's benchmarks that gives pointers to GPU
 * memory to MPI and does not use Nodewise itself: two processes measure latency
 * or bandwidth, and check every message. Rows are those of OSU's with -c.
 *
 *     gpu-osu latency|bw [D|H|S] [D|H|S] [MAX [TURNS [p]]]
 *
 * The letters are the memory of rank 0 and of rank 1. D: memory of a GPU. H:
 * memory of the host. S: memory of a GPU; for latency, the program itself
 * copies each message to pinned host memory and back. p adds the median and the
 * 99th percentile. Exit status 1: bytes are wrong.
 */
#include <mpi.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64, MOST_WARM = 10, TAG = 1 };

static struct {
    int (*alloc)(uint64_t *memory, size_t bytes);
    int (*in)(uint64_t gpu, const void *host, size_t bytes);
    int (*out)(void *host, uint64_t gpu, size_t bytes);
    int (*pin)(void **host, size_t bytes, unsigned flags);
    int (*wait)(void *stream);
} cuda;

static int rank, on_gpu, by_hand, percentiles, turns = 200;
static char *out, *in, *image;
static char *pinned;     /* for S: the buffer that MPI gets */
static double *duration; /* of each turn, seconds */

static void need(int failed, const char *what)
{
    if (!failed)
        return;
    fprintf(stderr, "gpu-osu: %s fails\n", what);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static void open_gpu(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
    int (*init)(unsigned), (*retain)(void **, int), (*set)(void *);

    if (!driver) {
        if (!rank)
            fprintf(stderr, "gpu-osu: no CUDA driver here\n");
        MPI_Finalize();
        exit(77);
    }
    *(void **)&init = dlsym(driver, "cuInit");
    *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&set = dlsym(driver, "cuCtxSetCurrent");
    *(void **)&cuda.alloc = dlsym(driver, "cuMemAlloc_v2");
    *(void **)&cuda.in = dlsym(driver, "cuMemcpyHtoD_v2");
    *(void **)&cuda.out = dlsym(driver, "cuMemcpyDtoH_v2");
    *(void **)&cuda.pin = dlsym(driver, "cuMemHostAlloc");
    *(void **)&cuda.wait = dlsym(driver, "cuStreamSynchronize");
    need(init(0) || retain(&context, 0) || set(context), "cuInit");
}

static char *memory_new(size_t bytes)
{
    uint64_t memory = 0;
    char *host;

    if (on_gpu) {
        need(cuda.alloc(&memory, bytes), "cuMemAlloc");
        return (char *)(uintptr_t)memory;
    }
    host = malloc(bytes);
    need(!host, "malloc");
    return host;
}

static void put(char *to, size_t bytes)
{
    /* a copy from pageable memory may still be in progress when the call
     * returns */
    if (on_gpu)
        need(cuda.in((uintptr_t)to, image, bytes) || cuda.wait(NULL),
             "cuMemcpyHtoD");
    else
        memcpy(to, image, bytes);
}

static void get(const char *from, size_t bytes)
{
    if (on_gpu)
        need(cuda.out(image, (uintptr_t)from, bytes), "cuMemcpyDtoH");
    else
        memcpy(image, from, bytes);
}

static char byte_of(int from, size_t bytes, size_t i)
{
    return (char)(i * 7 + i / 251 + bytes + (size_t)from * 101);
}

static void fill(size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        image[i] = byte_of(rank, bytes, i);
    put(out, bytes);
    memset(image, 0x55, bytes + 1);
    put(in, bytes + 1);
}

/* Whether the message of the other rank arrived, and nothing beyond it was
 * written. */
static int is_right(size_t bytes)
{
    int right = 1;

    get(in, bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        right &= image[i] == byte_of(!rank, bytes, i);
    return right && image[bytes] == 0x55;
}

static void send_one(int bytes)
{
    if (by_hand)
        need(cuda.out(pinned, (uintptr_t)out, (size_t)bytes), "cuMemcpyDtoH");
    MPI_Send(by_hand ? pinned : out, bytes, MPI_CHAR, !rank, TAG,
             MPI_COMM_WORLD);
}

static void receive_one(int bytes)
{
    MPI_Recv(by_hand ? pinned : in, bytes, MPI_CHAR, !rank, TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (by_hand)
        need(cuda.in((uintptr_t)in, pinned, (size_t)bytes), "cuMemcpyHtoD");
}

static void ping(int bytes)
{
    if (!rank)
        send_one(bytes);
    receive_one(bytes);
    if (rank)
        send_one(bytes);
}

/* Sends a window of messages from rank 0, then as many back, so that both sides
 * are checked. */
static void stream(int bytes)
{
    MPI_Request request[WINDOW];
    MPI_Status status[WINDOW];

    for (int i = 0; i < WINDOW; i++)
        if (!rank)
            MPI_Isend(out, bytes, MPI_CHAR, 1, TAG, MPI_COMM_WORLD,
                      &request[i]);
        else
            MPI_Irecv(in, bytes, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &request[i]);
    MPI_Waitall(WINDOW, request, status);
    if (rank)
        MPI_Send(out, bytes, MPI_CHAR, 0, TAG + 1, MPI_COMM_WORLD);
    else
        MPI_Recv(in, bytes, MPI_CHAR, 1, TAG + 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static int compare_durations(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Returns the time of all turns in seconds, and keeps the time of each turn if
 * percentiles are requested. */
static double take_turns(int bytes, int is_bandwidth)
{
    int warm = turns < 5 * MOST_WARM ? turns / 5 + 1 : MOST_WARM;
    double start = 0, since = 0;

    for (int i = -warm; i < turns; i++) {
        if (!i)
            start = MPI_Wtime();
        if (percentiles)
            since = MPI_Wtime();
        if (is_bandwidth)
            stream(bytes);
        else
            ping(bytes);
        if (percentiles && i >= 0)
            duration[i] = MPI_Wtime() - since;
    }
    return MPI_Wtime() - start;
}

/* Measures and prints one row; returns whether all bytes are right on both
 * ranks. */
static int measure(size_t bytes, int is_bandwidth)
{
    double seconds, value;
    int right, all;

    fill(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = take_turns((int)bytes, is_bandwidth);
    right = is_right(bytes);
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    value = is_bandwidth ? (double)bytes * WINDOW * turns / seconds / 1e6
                         : seconds * 1e6 / (2.0 * turns);
    if (rank)
        return all;
    printf("%-10zu%18.2f", bytes, value);
    if (percentiles) {
        qsort(duration, (size_t)turns, sizeof *duration, compare_durations);
        printf("%12.2f%12.2f", duration[turns / 2] * 5e5,
               duration[turns * 99 / 100] * 5e5);
    }
    printf("%18s\n", all ? "Pass" : "Fail");
    return all;
}

static void print_head(int is_bandwidth, const char *const kind[2])
{
    static const char *const words[] = {"HOST (H)", "DEVICE (D)",
                                        "DEVICE, staged by hand (S)"};
    int of[2];

    for (int i = 0; i < 2; i++)
        of[i] = kind[i][0] == 'H' ? 0 : kind[i][0] == 'S' ? 2 : 1;
    printf("# OSU form: MPI %s Test\n# Send Buffer on %s and Receive Buffer "
           "on %s\n# Size    %18s%s        Validation\n",
           is_bandwidth ? "Bandwidth" : "Latency", words[of[0]], words[of[1]],
           is_bandwidth ? "Bandwidth (MB/s)" : "Avg Latency(us)",
           percentiles ? "         p50         p99" : "");
}

static void prepare(char kind, size_t largest)
{
    by_hand = kind == 'S';
    on_gpu = kind == 'D' || by_hand;
    if (on_gpu)
        open_gpu();
    image = malloc(largest + 1);
    duration = malloc((size_t)turns * sizeof *duration);
    need(!image || !duration, "malloc");
    out = memory_new(largest + 1);
    in = memory_new(largest + 1);
    if (by_hand)
        need(cuda.pin((void **)&pinned, largest + 1, 0), "cuMemHostAlloc");
}

int main(int argc, char **argv)
{
    size_t largest = 65536;
    int size, is_bandwidth, right = 1;
    const char *kind[2] = {argc > 2 ? argv[2] : "D", argc > 3 ? argv[3] : "D"};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    need(size != 2 || argc < 2, "gpu-osu latency|bw D D, with 2 processes,");
    is_bandwidth = !strcmp(argv[1], "bw");
    if (argc > 4)
        largest = strtoull(argv[4], NULL, 10);
    if (argc > 5)
        turns = atoi(argv[5]);
    percentiles = argc > 6 && argv[6][0] == 'p';
    need(turns < 1, "the number of turns");
    prepare(kind[rank][0], largest);
    if (!rank)
        print_head(is_bandwidth, kind);
    for (size_t bytes = 1; bytes <= largest; bytes *= 2)
        right &= measure(bytes, is_bandwidth);
    MPI_Finalize();
    return !right;
}
