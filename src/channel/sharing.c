/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that use a GPU hold a read lock of one byte of a file that all of
 * them have, /dev/null: at the place that the GPU's UUID names. So nothing is
 * left behind by a process that is killed, and other programs' locks of that
 * byte can only make the answer "shared". */
#include "channel/sharing.h"

#include "base/hash.h"
#include "gpu/cuda.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct flock sharing_byte(int32_t gpu, short kind)
{
    struct nw_gpu_facts facts = {.uuid = ""};
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_len = 1};

    (void)!nw_gpu_cuda.facts(gpu, &facts);
    lock.l_start =
        (off_t)(nw_hash_text(NW_HASH_START, facts.uuid) & INT64_MAX) / 2;
    return lock;
}

int nw_sharing_join(int32_t gpu)
{
    struct flock lock = sharing_byte(gpu, F_RDLCK);
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (file >= 0 && fcntl(file, F_OFD_SETLK, &lock)) {
        (void)close(file);
        file = -1;
    }
    return file;
}

/* Drivers before 12.5 do not say: the pipe of a running daemon does. */
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

bool nw_sharing_takes_turns(int32_t gpu, int descriptor)
{
    struct flock lock = sharing_byte(gpu, F_WRLCK);

    if (descriptor >= 0 && !fcntl(descriptor, F_OFD_GETLK, &lock) &&
        lock.l_type == F_UNLCK)
        return false;
    return !sharing_has_mps(gpu);
}
