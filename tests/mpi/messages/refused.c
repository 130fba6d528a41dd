/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes calls that keep their memory with GPU memory: each must return
 * MPI_ERR_BUFFER, and the program must go on. Prints "refused N of M, failed
 * K". The argument chooses another test:
 * - "send" or "receive": passes one message whose copy fails because the test
 *   requests it; with "reset" as second argument, the GPU has failed
 *   permanently before.
 * - "mixed" or "led": uses datatypes that lead from other addresses to GPU
 *   memory. */
#include <mpi.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int asked, refused, failed, rank;

static void count(int rc)
{
    int class = MPI_SUCCESS;

    if (rc)
        MPI_Error_class(rc, &class);
    asked++;
    refused += class == MPI_ERR_BUFFER;
    failed += rc != MPI_SUCCESS;
}

static char *gpu_memory(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
    int (*init)(unsigned), (*retain)(void **, int), (*set)(void *);
    int (*alloc)(uint64_t *, size_t);
    uint64_t memory = 0;

    if (!driver)
        return NULL;
    *(void **)&init = dlsym(driver, "cuInit");
    *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&set = dlsym(driver, "cuCtxSetCurrent");
    *(void **)&alloc = dlsym(driver, "cuMemAlloc_v2");
    if (init(0) || retain(&context, 0) || set(context) || alloc(&memory, 4096))
        return NULL;
    return (char *)memory;
}

/* Resets the GPU: from now on, every call of the driver returns this error. */
static void reset_gpu(void)
{
    void (*reset)(int);

    *(void **)&reset =
        dlsym(dlopen("libcuda.so.1", RTLD_NOW), "fake_cuda_break");
    reset(719);
}

static void windows(char *gpu)
{
    MPI_Win win, other;
    int memory[16] = {0};

    MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, win);
    count(MPI_Put(gpu, 4, MPI_INT, 0, 0, 4, MPI_INT, win));
    count(MPI_Get(gpu, 4, MPI_INT, 0, 0, 4, MPI_INT, win));
    count(MPI_Accumulate(gpu, 4, MPI_INT, 0, 0, 4, MPI_INT, MPI_SUM, win));
    count(MPI_Get_accumulate(memory, 1, MPI_INT, gpu, 1, MPI_INT, 0, 0, 1,
                             MPI_INT, MPI_SUM, win));
    count(MPI_Fetch_and_op(memory, gpu, MPI_INT, 0, 0, MPI_SUM, win));
    count(MPI_Compare_and_swap(memory, gpu, memory, MPI_INT, 0, 0, win));
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    count(MPI_Win_create(gpu, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other));
    MPI_Win_free(&other);
}

static void files(char *gpu)
{
    MPI_File file;

    char name[32];

    snprintf(name, sizeof name, "refused.%d.tmp", (int)getpid());
    MPI_File_open(MPI_COMM_SELF, name,
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    count(MPI_File_write_all_begin(file, gpu, 4, MPI_INT));
    if (!refused)
        MPI_File_write_all_end(file, gpu, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/* A message of the rank to itself, with one side in GPU memory. */
static void message(const char *side, char *gpu)
{
    char memory[4096];
    int to_gpu = strcmp(side, "send");
    MPI_Request request;

    memset(memory, 1, sizeof memory);
    count(MPI_Irecv(to_gpu ? gpu : memory, 64, MPI_CHAR, 0, 1, MPI_COMM_SELF,
                    &request));
    count(MPI_Send(to_gpu ? memory : gpu, 64, MPI_CHAR, 0, 1, MPI_COMM_SELF));
    if (failed)
        MPI_Cancel(&request);
    count(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* A datatype of four bytes at each of two places. */
static MPI_Datatype two(MPI_Aint first, MPI_Aint second)
{
    int lengths[2] = {4, 4};
    MPI_Aint at[2] = {first, second};
    MPI_Datatype type;

    MPI_Type_create_hindexed(2, lengths, at, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    return type;
}

/* The same as a vector that begins at one place. */
static MPI_Datatype step(MPI_Aint first, MPI_Aint second)
{
    int one = 1;
    MPI_Datatype each, pair, type;

    MPI_Type_contiguous(4, MPI_CHAR, &each);
    MPI_Type_create_hvector(2, 1, second - first, each, &pair);
    MPI_Type_create_hindexed(1, &one, &first, pair, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&pair);
    MPI_Type_free(&each);
    return type;
}

static void try(void *buffer, MPI_Datatype type)
{
    int counts[1] = {1}, places[1] = {0};
    int rc;
    char got[8];
    MPI_Request request;

    rc = MPI_Isend(buffer, 1, type, 0, 1, MPI_COMM_SELF, &request);
    count(rc);
    if (!rc) {
        MPI_Recv(got, 8, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    count(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, buffer, counts, places,
                        &type, MPI_COMM_SELF));
    MPI_Type_free(&type);
}

/* Passes host and GPU memory in one argument: by absolute addresses, and by
 * distances from either. */
static void mixed(char *gpu)
{
    static char memory[16]; /* has lower addresses than GPU memory of the
                               test double */
    MPI_Aint host = (MPI_Aint)memory, device = (MPI_Aint)gpu;

    try(MPI_BOTTOM, two(host, device));
    try(MPI_BOTTOM, two(device, host));
    try(MPI_BOTTOM, step(host, device));
    try(memory, two(0, device - host));
    try(gpu, two(0, host - device));
}

/* GPU memory to which only the datatype leads: its bytes are sent and received,
 * and calls that would keep it are refused. */
static void led(char *gpu)
{
    char memory[64], got[8] = "";
    MPI_Aint device = (MPI_Aint)gpu, far = device - (MPI_Aint)memory;
    MPI_Datatype types[3] = {two(device, device + 16), two(far, far + 16),
                             step(device, device + 16)};
    void *buffers[3] = {MPI_BOTTOM, memory, MPI_BOTTOM};
    MPI_Win win;

    for (int i = 0; i < 3; i++) {
        count(MPI_Sendrecv("seven up", 8, MPI_CHAR, 0, 1, buffers[i], 1,
                           types[i], 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        count(MPI_Sendrecv(buffers[i], 1, types[i], 0, 1, got, 8, MPI_CHAR, 0,
                           1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        count(memcmp(got, "seven up", 8) ? MPI_ERR_OTHER : MPI_SUCCESS);
        memset(got, 0, sizeof got);
    }
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF,
                   &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 3; i++)
        count(MPI_Put(buffers[i], 1, types[i], 0, 0, 8, MPI_CHAR, win));
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    for (int i = 0; i < 3; i++)
        MPI_Type_free(&types[i]);
}

int main(int argc, char **argv)
{
    char *gpu;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    gpu = gpu_memory();
    if (!gpu)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (argc > 1 && !strcmp(argv[1], "mixed")) {
        mixed(gpu);
    } else if (argc > 1 && !strcmp(argv[1], "led")) {
        led(gpu);
    } else if (argc > 1) {
        if (argc > 2)
            reset_gpu();
        message(argv[1], gpu);
    } else {
        windows(gpu);
        files(gpu);
        count(MPI_Buffer_attach(gpu, 4096));
    }
    printf("refused %d of %d, failed %d\n", refused, asked, failed);
    MPI_Finalize();
    return 0;
}
