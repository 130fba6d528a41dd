/* SPDX-License-Identifier: BSD-3-Clause */
/* The pack kernels, ready for one set of pieces each: their tables are kept,
 * since programs repeat their messages. */
#ifndef NW_MESSAGES_PACK_KERNELS_H
#define NW_MESSAGES_PACK_KERNELS_H

#include "base/selector.h"
#include "gpu/gpu.h"
#include "runtime/messages/typemap.h"

struct nw_gpu_copy_job;

/* Pieces of a datatype without gaps inside, and their dense twin. */
struct nw_pieces {
    const struct nw_typemap *layout;
    int64_t count;
    char *device;
    int32_t gpu;
    bool out;    /* of the pieces, else into them */
    char *dense; /* where that GPU reaches it; NULL: made with the kernel */
};

struct nw_pack_kernel {
    struct nw_pack_kernel *next;
    uint64_t layout;
    struct nw_pieces what; /* its layout may be gone */
    char *dense;
    struct nw_gpu_copy_job *kernel;
    struct nw_gpu_life life; /* in which it was made */
    struct nw_selector
        selector; /* of the kernel, and of the CPU in its place */
};

/* With that GPU current. To be given back; kept only where it is good.
 * NW_EUNSUPPORTED for memory of a context other than the current one. */
NW_MUST_CHECK nw_status nw_pack_kernel_take(const struct nw_pieces *what,
                                            struct nw_pack_kernel **out);
NW_MUST_CHECK nw_status
nw_pack_kernel_run(const struct nw_pack_kernel *job); /* and waits */
void nw_pack_kernel_give(struct nw_pack_kernel *job, bool good);
/* All of it, whatever is current: into dense memory, or out of it; where that
 * is another GPU's, `from` is copied before. */
NW_MUST_CHECK nw_status nw_pack_kernel_do(const struct nw_pieces *what,
                                          const char *from);
void nw_pack_kernels_close(void);

#endif
