/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels on the GPU that pack or unpack a set of pieces of memory. They are
 * kept for reuse, since programs send the same messages repeatedly. */
#ifndef NW_MESSAGES_PACK_KERNELS_H
#define NW_MESSAGES_PACK_KERNELS_H

#include "base/selector.h"
#include "gpu/gpu.h"
#include "runtime/messages/typemap.h"

struct nw_gpu_copy_job;

/* The pieces: elements of a datatype with gaps, in GPU memory (`device`), and
 * the contiguous bytes that they are packed to or unpacked from (`dense`). */
struct nw_pieces {
    const struct nw_typemap *layout;
    int64_t count;
    char *device;
    int32_t gpu;
    bool out;    /* true: pack; false: unpack */
    char *dense; /* packed bytes that the GPU can access; NULL:
                    nw_pack_kernel_take allocates memory for them */
};

struct nw_pack_kernel {
    struct nw_pack_kernel *next;
    uint64_t layout;
    struct nw_pieces what; /* pieces that the kernel was made for; `what.layout`
                              may be freed */
    char *dense;
    struct nw_gpu_copy_job *kernel;
    struct nw_gpu_life life;     /* context that made `kernel`, to check
                                    whether it still exists */
    struct nw_selector selector; /* times of the kernel and of the CPU for these
                                    pieces */
};

/* nw_pack_kernel_take finds or makes a kernel on the current GPU, which the
 * caller has selected. Returns NW_EUNSUPPORTED if the memory belongs to another
 * context. nw_pack_kernel_give returns the kernel to the list, or frees it if
 * `good` is false. */
NW_MUST_CHECK nw_status nw_pack_kernel_take(const struct nw_pieces *what,
                                            struct nw_pack_kernel **out);
/* Runs the kernel and waits for it. */
NW_MUST_CHECK nw_status nw_pack_kernel_run(const struct nw_pack_kernel *job);
void nw_pack_kernel_give(struct nw_pack_kernel *job, bool good);
/* Takes, runs and gives back a kernel on the GPU of `what`. Leaves the current
 * GPU unchanged. `from`: packed bytes on another GPU, which are copied to this
 * GPU first; NULL: nothing is copied. */
NW_MUST_CHECK nw_status nw_pack_kernel_do(const struct nw_pieces *what,
                                          const char *from);
void nw_pack_kernels_close(void);

#endif
