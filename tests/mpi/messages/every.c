/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls every function of mpi.h that takes a buffer (every.py lists them); each
 * process communicates with itself, and all buffers are GPU memory. Each call
 * must either return MPI_ERR_BUFFER and leave the buffers unchanged, or do what
 * it does with host memory. The host cannot access device memory of the test
 * double: an access ends the program, and its last line names the call. Prints
 * "N functions: S staged, R refused, W wrong", and "unknown: NAME" for each
 * function that is not in calls.table. */
#include "driver.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFERS = 3, BYTES = 64, COUNT = 3, TAG = 5 };

struct function {
    const char *name;
    int buffers;
    int (*call)(char *const *at);
};

static MPI_Comm ring; /* this process is its own neighbour on both sides */
static MPI_Win window;
static MPI_File file;
static MPI_Request partner = MPI_REQUEST_NULL;
static int partner_sends, position;
static int mail[BYTES / 4];

/* ---- the other end of a message, in host memory ---- */
static void host_receives(void)
{
    partner_sends = 0;
    MPI_Irecv(mail, COUNT, MPI_INT, 0, TAG, MPI_COMM_SELF, &partner);
}

static void host_sends(void)
{
    partner_sends = 1;
    for (int i = 0; i < COUNT; i++)
        mail[i] = 1000 + i;
    MPI_Isend(mail, COUNT, MPI_INT, 0, TAG, MPI_COMM_SELF, &partner);
}

/* If the call was refused, its message is still pending. */
static void host_settles(int rc)
{
    if (rc && partner != MPI_REQUEST_NULL && !partner_sends)
        MPI_Cancel(&partner);
    if (rc && partner_sends && partner != MPI_REQUEST_NULL)
        MPI_Recv((int[COUNT]){0}, COUNT, MPI_INT, 0, TAG, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    MPI_Wait(&partner, MPI_STATUS_IGNORE);
}

static int finish(int rc, MPI_Request *request, int persistent)
{
    if (rc)
        return rc;
    if (persistent)
        rc = MPI_Start(request);
    if (!rc)
        rc = MPI_Wait(request, MPI_STATUS_IGNORE);
    if (persistent)
        MPI_Request_free(request);
    return rc;
}

#include EVERY_CALLS

/* ---- what all calls use ---- */
static char *gpu_memory(int i)
{
    static uint64_t memory[BUFFERS];

    if (memory[i])
        return (char *)memory[i];
    if (!cuda.alloc)
        open_driver();
    need(cuda.alloc(&memory[i], BYTES), "cuMemAlloc");
    return (char *)memory[i];
}

static void image_of(int i, int *image)
{
    for (int k = 0; k < BYTES / 4; k++)
        image[k] = 100 * (i + 1) + k;
}

/* Fills the file with known bytes and goes to its beginning. */
static void rewind_file(void)
{
    int image[BYTES / 4];

    image_of(7, image);
    MPI_File_set_size(file, 0);
    MPI_File_write_at(file, 0, image, BYTES / 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
}

/* The results of a call: its buffers, what its partner received, the file, and
 * how far it has packed. */
struct result {
    int rc, memory[BUFFERS][BYTES / 4], mail[BYTES / 4], file[BYTES / 4];
    int position;
};

static void play(const struct function *f, int on_gpu, struct result *out)
{
    static int host[BUFFERS][BYTES / 4];
    char *at[BUFFERS];

    memset(out, 0, sizeof *out);
    memset(mail, 0, sizeof mail);
    position = 0;
    rewind_file();
    for (int i = 0; i < BUFFERS; i++) {
        image_of(i, host[i]);
        at[i] = on_gpu ? gpu_memory(i) : (char *)host[i];
        if (on_gpu)
            need(cuda.in((uintptr_t)at[i], host[i], BYTES), "cuMemcpyHtoD");
    }
    out->rc = f->call(at);
    for (int i = 0; i < BUFFERS; i++)
        if (on_gpu)
            need(cuda.out(out->memory[i], (uintptr_t)at[i], BYTES),
                 "cuMemcpyDtoH");
        else
            memcpy(out->memory[i], host[i], BYTES);
    memcpy(out->mail, mail, sizeof mail);
    MPI_File_read_at(file, 0, out->file, BYTES / 4, MPI_INT, MPI_STATUS_IGNORE);
    out->position = position;
}

static int is_untouched(const struct result *result)
{
    int image[BYTES / 4], same = 1;

    for (int i = 0; i < BUFFERS; i++) {
        image_of(i, image);
        same &= !memcmp(image, result->memory[i], BYTES);
    }
    return same;
}

/* 0: refused; 1: staged; 2: wrong. */
static int try_one(const struct function *f)
{
    struct result gpu, host;
    int class = MPI_SUCCESS;

    play(f, 1, &gpu);
    if (gpu.rc)
        MPI_Error_class(gpu.rc, &class);
    if (class == MPI_ERR_BUFFER && is_untouched(&gpu))
        return 0;
    play(f, 0, &host);
    return gpu.rc == MPI_SUCCESS && !memcmp(&gpu, &host, sizeof gpu) ? 1 : 2;
}

static void set_up(void)
{
    static int memory[BYTES / 4], room[BYTES * 64];
    int one = 1;
    char name[32];

    /* by the process, since the tests of two MPI libraries may run in the same
     * folder at the same time */
    snprintf(name, sizeof name, "every.%d.tmp", (int)getpid());
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Cart_create(MPI_COMM_SELF, 1, &one, &one, 0, &ring);
    MPI_Buffer_attach(room, sizeof room);
    need(MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_WORLD,
                        &window),
         "MPI_Win_create");
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    need(MPI_File_open(MPI_COMM_SELF, name,
                       MPI_MODE_CREATE | MPI_MODE_RDWR |
                           MPI_MODE_DELETE_ON_CLOSE,
                       MPI_INFO_NULL, &file),
         "MPI_File_open");
}

/* A collective call of one process that places a block far behind the start of
 * the buffer. */
static int is_placed(int blocking)
{
    enum { PLACE = 1 << 22, ROOM = 4 * (PLACE + COUNT) };
    static const int sent[COUNT] = {7, 8, 9}, count = COUNT, place = PLACE;
    int came[COUNT] = {0}, rc;
    uint64_t from = 0, to = 0;
    MPI_Request request;

    need(cuda.alloc(&from, sizeof sent) || cuda.alloc(&to, ROOM) ||
             cuda.in(from, sent, sizeof sent),
         "cuMemAlloc");
    if (blocking)
        rc = MPI_Allgatherv((void *)from, COUNT, MPI_INT, (void *)to, &count,
                            &place, MPI_INT, MPI_COMM_SELF);
    else
        rc = MPI_Iallgatherv((void *)from, COUNT, MPI_INT, (void *)to, &count,
                             &place, MPI_INT, MPI_COMM_SELF, &request);
    if (!rc && !blocking)
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    need(cuda.out(came, to + 4 * PLACE, sizeof came), "cuMemcpyDtoH");
    return !rc && !memcmp(came, sent, sizeof sent);
}

int main(int argc, char **argv)
{
    int count = sizeof functions / sizeof *functions, seen[3] = {0};

    MPI_Init(&argc, &argv);
    set_up();
    for (int i = 0; i < count; i++) {
        MPI_Win kept = window;
        int what;

        if (argc > 1)
            fprintf(stderr, "%s\n", functions[i].name);
        what = try_one(&functions[i]);
        window = kept; /* MPI_Win_create has replaced it */
        seen[what]++;
        if (what == 2)
            fprintf(stderr, "%s: wrong\n", functions[i].name);
    }
    for (int blocking = 0; blocking < 2; blocking++)
        if (!is_placed(blocking)) {
            fprintf(stderr, "MPI_Allgatherv of one process: wrong\n");
            seen[2]++;
        }
    for (int i = 0; unknown[i]; i++)
        printf("unknown: %s\n", unknown[i]);
    printf("%d functions: %d staged, %d refused, %d wrong\n", count, seen[1],
           seen[0], seen[2]);
    MPI_File_close(&file);
    MPI_Win_free(&window);
    MPI_Finalize();
    return seen[2] != 0;
}
