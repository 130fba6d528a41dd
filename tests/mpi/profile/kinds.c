/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages from and to host memory and GPU memory of the test double of the
 * driver, in all four combinations and with every kind of receive. Rank 0
 * prints what a profile must contain: "src dst kind bytes messages". The last
 * rank has no GPU. */
#include <mpi.h>

#include <dlfcn.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM 65536

enum { HH, GG, HG, GH, KINDS };
static const char *const names[] = {"hh", "gg", "hg", "gh"};

static int rank, size;
static long long *table; /* [dst][kind][bytes, messages] */
static char *side[2];    /* host, GPU */
static char *to[2];
static int (*alloc)(uint64_t *, size_t);
static int (*release)(uint64_t);

static int kind_of(int from, int into)
{
    return from ? (into ? GG : GH) : (into ? HG : HH);
}

static void count(int dst, int kind, long long bytes)
{
    long long *cell = table + 2 * (dst * KINDS + kind);

    cell[0] += bytes;
    cell[1]++;
}

static void check(int failed, const char *what)
{
    if (!failed)
        return;
    fprintf(stderr, "%s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static char *gpu_memory(void)
{
    uint64_t pointer;

    check(alloc(&pointer, ROOM), "cuMemAlloc");
    return (char *)pointer;
}

static void open_gpu(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
    int (*init)(unsigned), (*retain)(void **, int), (*set)(void *);
    unsigned long (*queries)(void);

    check(!driver, "dlopen");
    init = (int (*)(unsigned))dlsym(driver, "cuInit");
    retain = (int (*)(void **, int))dlsym(driver, "cuDevicePrimaryCtxRetain");
    set = (int (*)(void *))dlsym(driver, "cuCtxSetCurrent");
    alloc = (int (*)(uint64_t *, size_t))dlsym(driver, "cuMemAlloc_v2");
    release = (int (*)(uint64_t))dlsym(driver, "cuMemFree_v2");
    queries = (unsigned long (*)(void))dlsym(driver, "fake_cuda_queries");
    /* the driver is loaded but has no context: no pointer may be queried yet */
    MPI_Sendrecv(side[0], 3, MPI_CHAR, 0, 0, to[0], 3, MPI_CHAR, 0, 0,
                 MPI_COMM_SELF, MPI_STATUS_IGNORE);
    count(rank, HH, 3);
    check(queries() != 0, "no query without a context");
    check(init(0) || retain(&context, 0) || set(context), "cuInit");
    side[1] = gpu_memory();
    to[1] = gpu_memory();
}

/* A message from each rank to the next: the memory of the sender and of the
 * receiver, and the size. */
struct step {
    int from, into, bytes, tag;
};

static const struct step steps[] = {{0, 0, 100, 1},
                                    {0, 1, 100, 2},
                                    {1, 0, 100, 3},
                                    {1, 1, 100, 4},
                                    {1, 1, 500, 5},
                                    {0, 0, 1000, 6},
                                    {0, 0, 2000, 6},
                                    /* both have one tag and differ by size */
                                    {0, 1, 70, 7},
                                    {1, 0, 3000, 7},
                                    {1, 1, 20000, 7}};

static int has_gpu(int r)
{
    return r < size - 1;
}

static void receive(const struct step *step, int how, int source)
{
    char *at = to[has_gpu(rank) ? step->into : 0];
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    int index, flag = 0, done, indices[1];

    switch (how % 6) {
    case 0:
        MPI_Recv(at, ROOM, MPI_CHAR, MPI_ANY_SOURCE, step->tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        return;
    case 1:
        MPI_Mprobe(source, step->tag, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(at, ROOM, MPI_CHAR, &message, MPI_STATUS_IGNORE);
        return;
    default:
        MPI_Irecv(at, ROOM, MPI_CHAR, how == 3 ? MPI_ANY_SOURCE : source,
                  how == 4 ? MPI_ANY_TAG : step->tag, MPI_COMM_WORLD, &request);
    }
    if (how % 6 == 2)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    else if (how % 6 == 3)
        MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    else if (how % 6 == 4)
        MPI_Waitsome(1, &request, &done, indices, MPI_STATUSES_IGNORE);
    else
        while (!flag)
            MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE);
}

static void ring(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const struct step *s = &steps[i];
        int from = has_gpu(rank) && s->from, into = has_gpu(right) && s->into;
        MPI_Request request;

        MPI_Isend(side[from], s->bytes, MPI_CHAR, right, s->tag, MPI_COMM_WORLD,
                  &request);
        count(right, kind_of(from, into), s->bytes);
        receive(s, (int)i, left);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void persistent(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request request[2];

    MPI_Recv_init(to[has_gpu(rank)], 64, MPI_CHAR, left, 20, MPI_COMM_WORLD,
                  &request[0]);
    MPI_Send_init(side[0], 64, MPI_CHAR, right, 20, MPI_COMM_WORLD,
                  &request[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        count(right, kind_of(0, has_gpu(right)), 64);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

/* Rooted calls from the upper half of the ranks to rank 0, and from rank 0 to
 * the upper half. All significant buffers are host memory. The standard (MPI
 * 4.0, 6.5 to 6.9) makes the others insignificant: the receive buffer of a
 * sender, even if its rank in its group equals `root`, and that of a root that
 * sends. */
static void groups(void)
{
    int low = rank < size / 2, gpu = has_gpu(rank);
    int root = !low ? 0 : rank ? MPI_PROC_NULL : MPI_ROOT;
    char *unused = to[gpu];
    MPI_Comm half, both;

    MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? size / 2 : 0, 5, &both);
    MPI_Gather(low ? unused : side[0], 8, MPI_CHAR, rank ? unused : to[0], 8,
               MPI_CHAR, root, both);
    MPI_Reduce(low ? unused : side[0], rank ? unused : to[0], 2, MPI_INT,
               MPI_SUM, root, both);
    MPI_Scatter(low ? side[0] : unused, 8, MPI_CHAR, low ? unused : to[0], 8,
                MPI_CHAR, root, both);
    for (int i = 0; !low && i < 2; i++)
        count(0, HH, 8);
    for (int r = size / 2; !rank && r < size; r++)
        count(r, HH, 8);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

/* Memory of the host gets an address that was GPU memory before. */
static void reuse(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    char *old = side[1], *again;

    if (has_gpu(rank)) {
        check(release((uint64_t)(uintptr_t)old), "cuMemFree");
        again = mmap(old, ROOM, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        check(again != old, "mmap");
    }
    MPI_Sendrecv(has_gpu(rank) ? old : side[0], 11, MPI_CHAR, right, 30, to[0],
                 11, MPI_CHAR, left, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    count(right, HH, 11);
}

/* Whether MPI reports that a message was truncated: Open MPI 4.1 does not. */
static int tells(void)
{
    MPI_Request request;

    MPI_Irecv(to[0], 8, MPI_CHAR, 0, 43, MPI_COMM_SELF, &request);
    MPI_Send(side[0], 64, MPI_CHAR, 0, 43, MPI_COMM_SELF);
    count(rank, HH, 64);
    return MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
}

/* Makes two receives into GPU memory, one of which is `room` bytes long and may
 * be too small. Then it makes some receives into host memory, whose requests
 * may get the handles of the first ones. */
static void fail_once(int room)
{
    MPI_Request request[3];
    MPI_Status status[2];
    int rc;

    for (int i = 0; i < 2; i++)
        MPI_Irecv(to[1], i ? room : 64, MPI_CHAR, 0, 40 + i, MPI_COMM_SELF,
                  &request[i]);
    for (int i = 0; i < 2; i++)
        MPI_Send(side[0], 64, MPI_CHAR, 0, 40 + i, MPI_COMM_SELF);
    rc = MPI_Waitall(2, request, status);
    for (int i = 0; i < 2; i++)
        count(rank, rc && status[i].MPI_ERROR ? HH : HG, 64);
    for (int i = 0; i < 3; i++)
        MPI_Irecv(to[0], 64, MPI_CHAR, 0, 42, MPI_COMM_SELF, &request[i]);
    for (int i = 0; i < 3; i++) {
        MPI_Send(side[0], 33, MPI_CHAR, 0, 42, MPI_COMM_SELF);
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
        count(rank, HH, 33);
    }
}

static void fail(void)
{
    size_t before;
    int room;

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    room = tells() ? 8 : 64;
    fail_once(room);
    before = mallinfo2().uordblks;
    for (int i = 0; i < 1000; i++)
        fail_once(room);
    check(mallinfo2().uordblks > before + 40000,
          "giving back what requests that failed had");
}

static void print_table(void)
{
    int n = 2 * KINDS * size;
    long long *all = malloc((size_t)(n * size) * sizeof *all);

    MPI_Pcontrol(0);
    MPI_Gather(table, n, MPI_LONG_LONG, all, n, MPI_LONG_LONG, 0,
               MPI_COMM_WORLD);
    for (int s = 0; !rank && s < size; s++)
        for (int d = 0; d < size; d++)
            for (int k = 0; k < KINDS; k++) {
                long long *cell = all + s * n + 2 * (d * KINDS + k);

                if (cell[1])
                    printf("%d %d %s %lld %lld\n", s, d, names[k], cell[0],
                           cell[1]);
            }
    free(all);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    table = calloc((size_t)(2 * KINDS * size), sizeof *table);
    side[0] = calloc(1, ROOM);
    to[0] = calloc(1, ROOM);
    if (has_gpu(rank))
        open_gpu();
    ring();
    persistent();
    groups();
    if (has_gpu(rank))
        fail();
    reuse();
    print_table();
    free(table);
    MPI_Finalize();
    return 0;
}
