/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that share a GPU take turns on it unless MPS runs (FAKE_CUDA_MPS=1
 * for all processes). While a resident kernel of one process runs, the work of
 * the other processes waits. It waits until the kernel ends or until the time
 * slice of the kernel is over. GPUs are identified by their UUID. */
#include "fake.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

API int cuDeviceGetUuid(unsigned char *uuid, int device);

enum { ABOUT_MPS = 133, SLICE_US = 2000 };

static unsigned long turns;

static bool has_mps(void)
{
    const char *word = getenv("FAKE_CUDA_MPS");

    return word && strcmp(word, "0");
}

API int cuDeviceGetAttribute(int *out, int attribute, int device)
{
    FAULT();
    if (device < 0 || device >= fake_gpus())
        return INVALID_DEVICE;
    if (attribute != ABOUT_MPS)
        return INVALID_VALUE;
    *out = has_mps();
    return SUCCESS;
}

/* A lock of one byte of a file that all processes can open; the byte depends on
 * the GPU. */
static struct flock lock_of(int gpu, short kind)
{
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_len = 1};
    unsigned char uuid[16] = {0};

    (void)cuDeviceGetUuid(uuid, gpu);
    lock.l_start = 1;
    for (int i = 0; i < 16; i++)
        lock.l_start = (lock.l_start * 31 + uuid[i]) & 0xffffffff;
    return lock;
}

static int own; /* number of resident kernels of this process */

int fake_turn_begin(int gpu)
{
    struct flock lock = lock_of(gpu, F_WRLCK);
    int file = has_mps() ? -1 : open("/dev/zero", O_RDWR | O_CLOEXEC);

    if (file >= 0)
        (void)fcntl(file, F_OFD_SETLK, &lock);
    __atomic_add_fetch(&own, 1, __ATOMIC_ACQ_REL);
    return file;
}

void fake_turn_end(int file)
{
    __atomic_sub_fetch(&own, 1, __ATOMIC_ACQ_REL);
    if (file >= 0)
        close(file);
}

/* Whether a resident kernel of another process has the GPU. */
static bool is_taken(int gpu, int file)
{
    struct flock lock = lock_of(gpu, F_RDLCK);

    return !fcntl(file, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

void fake_turn_wait(int gpu)
{
    double start = fake_clock();
    bool waited = false;
    int file;

    if (has_mps() || __atomic_load_n(&own, __ATOMIC_ACQUIRE))
        return;
    file = open("/dev/zero", O_RDWR | O_CLOEXEC);
    while (file >= 0 && fake_clock() - start < SLICE_US * 1e-6 &&
           is_taken(gpu, file)) {
        waited = true;
        usleep(50);
    }
    if (file >= 0)
        close(file);
    if (waited)
        __atomic_add_fetch(&turns, 1, __ATOMIC_RELAXED);
}

/* How often work waited for another process. The real driver has no such
 * counter. */
API unsigned long fake_cuda_turns(void)
{
    return __atomic_load_n(&turns, __ATOMIC_RELAXED);
}
