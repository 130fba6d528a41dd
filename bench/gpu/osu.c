/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program in the form of OSU's benchmarks that gives MPI pointers to GPU
 * memory and knows nothing of Nodewise: two processes, latency or bandwidth,
 * every message checked. Rows are those of OSU's with -c.
 *
 *     gpu-osu latency|bw [D|H] [D|H] [MAX [TURNS]]
 *
 * Rank 0's memory, rank 1's; D is a GPU's. Exit status 1 where bytes are wrong.
 */
#include <mpi.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64, WARM = 10, TAG = 1 };

static struct {
    int (*alloc)(uint64_t *memory, size_t bytes);
    int (*in)(uint64_t gpu, const void *host, size_t bytes);
    int (*out)(void *host, uint64_t gpu, size_t bytes);
} cuda;

static int rank, on_gpu, turns = 200;
static char *out, *in, *image;

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
    if (on_gpu)
        need(cuda.in((uintptr_t)to, image, bytes), "cuMemcpyHtoD");
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

/* What came is the other's, and nothing beyond it was written. */
static int is_right(size_t bytes)
{
    int right = 1;

    get(in, bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        right &= image[i] == byte_of(!rank, bytes, i);
    return right && image[bytes] == 0x55;
}

static void ping(int bytes)
{
    if (!rank)
        MPI_Send(out, bytes, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
    MPI_Recv(in, bytes, MPI_CHAR, !rank, TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (rank)
        MPI_Send(out, bytes, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
}

/* A window from rank 0, then as much back, so that both are checked. */
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

/* One row; whether it is right on both. */
static int measure(size_t bytes, int is_bandwidth)
{
    double start = 0, seconds, value;
    int right, all;

    fill(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = -WARM; i < turns; i++) {
        if (!i)
            start = MPI_Wtime();
        if (is_bandwidth)
            stream((int)bytes);
        else
            ping((int)bytes);
    }
    seconds = MPI_Wtime() - start;
    right = is_right(bytes);
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    value = is_bandwidth ? (double)bytes * WINDOW * turns / seconds / 1e6
                         : seconds * 1e6 / (2.0 * turns);
    if (!rank)
        printf("%-10zu%18.2f%18s\n", bytes, value, all ? "Pass" : "Fail");
    return all;
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
    on_gpu = kind[rank][0] == 'D';
    if (on_gpu)
        open_gpu();
    image = malloc(largest + 1);
    need(!image, "malloc");
    out = memory_new(largest + 1);
    in = memory_new(largest + 1);
    if (!rank)
        printf(
            "# OSU form: MPI %s Test\n# Send Buffer on %s and Receive Buffer "
            "on %s\n# Size    %18s        Validation\n",
            is_bandwidth ? "Bandwidth" : "Latency",
            kind[0][0] == 'D' ? "DEVICE (D)" : "HOST (H)",
            kind[1][0] == 'D' ? "DEVICE (D)" : "HOST (H)",
            is_bandwidth ? "Bandwidth (MB/s)" : "Avg Latency(us)");
    for (size_t bytes = 1; bytes <= largest; bytes *= 2)
        right &= measure(bytes, is_bandwidth);
    MPI_Finalize();
    return !right;
}
