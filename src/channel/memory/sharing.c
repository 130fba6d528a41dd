/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out whether several processes use a GPU. Each process holds a read lock
 * on one byte of /dev/null, at an offset computed from the GPU's UUID. If
 * another process holds such a lock, the kernel refuses a write lock. The locks
 * vanish when a process dies. Locks that other programs hold on /dev/null can
 * only cause the false answer "shared". */
#include "channel/memory/sharing.h"

#include "base/clock.h"
#include "base/hash.h"
#include "gpu/cuda.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ASK_NS = 1000000 }; /* an answer is reused for this time */

struct sharing {
    /* process that took the lock; a forked child takes its own */
    pid_t process;
    bool mps;
    off_t place; /* offset of the GPU's byte in /dev/null */
    int file;
    uint64_t asked_ns; /* time of the kernel's last answer */
    bool shared;
};

static pthread_mutex_t sharing_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sharing sharing_of[NW_GPUS];

/* Returns true if the GPU is used through MPS. Drivers before 12.5 do not
 * report MPS; then the pipe of a running MPS daemon shows it. */
static bool sharing_has_mps(int32_t gpu)
{
    const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
    char path[512];
    bool mps = false;

    if (nw_cuda_has_mps(gpu, &mps))
        return mps;
    snprintf(path, sizeof path, "%s/control",
             folder && *folder ? folder : "/tmp/nvidia-mps");
    return !access(path, F_OK);
}

static struct flock sharing_byte(const struct sharing *one, short kind)
{
    return (struct flock){.l_type = kind,
                          .l_whence = SEEK_SET,
                          .l_start = one->place,
                          .l_len = 1};
}

static void sharing_start(struct sharing *one, int32_t gpu)
{
    struct nw_gpu_properties properties = {.uuid = ""};
    struct flock lock;

    (void)!nw_gpu_cuda.properties(gpu, &properties);
    one->place =
        (off_t)(nw_hash_text(NW_HASH_START, properties.uuid) & INT64_MAX) / 2;
    one->mps = sharing_has_mps(gpu);
    one->file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    lock = sharing_byte(one, F_RDLCK);
    if (one->file >= 0 && fcntl(one->file, F_OFD_SETLK, &lock)) {
        (void)close(one->file);
        one->file = -1;
    }
    one->process = getpid();
}

static void sharing_ask(struct sharing *one, int32_t gpu, uint64_t now)
{
    struct flock lock;

    if (one->process != getpid())
        sharing_start(one, gpu);
    lock = sharing_byte(one, F_WRLCK);
    one->asked_ns = now;
    one->shared =
        !one->mps && (one->file < 0 || fcntl(one->file, F_OFD_GETLK, &lock) ||
                      lock.l_type != F_UNLCK);
}

void nw_sharing_join(int32_t gpu)
{
    (void)pthread_mutex_lock(&sharing_lock);
    sharing_ask(&sharing_of[gpu % NW_GPUS], gpu, nw_clock_ns());
    (void)pthread_mutex_unlock(&sharing_lock);
}

/* The answer may be ASK_NS old, so it can miss a process that has just started
 * or ended. A wrong answer costs time, but does not affect the data. */
bool nw_sharing_takes_turns(int32_t gpu)
{
    struct sharing *one = &sharing_of[gpu % NW_GPUS];
    uint64_t now = nw_clock_ns();
    bool shared;

    (void)pthread_mutex_lock(&sharing_lock);
    if (now - one->asked_ns >= ASK_NS)
        sharing_ask(one, gpu, now);
    shared = one->shared;
    (void)pthread_mutex_unlock(&sharing_lock);
    return shared;
}
