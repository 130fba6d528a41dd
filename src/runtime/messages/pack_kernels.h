/* SPDX-License-Identifier: BSD-3-Clause */
/* Pack kernels, each ready for one set of pieces. Their tables are kept, since
 * programs repeat their messages. */
#ifndef NW_MESSAGES_PACK_KERNELS_H
#define NW_MESSAGES_PACK_KERNELS_H

#include "base/selector.h"
#include "gpu/gpu.h"
#include "runtime/messages/typemap.h"

struct nw_gpu_copy_job;

/* Pieces of a datatype without inner gaps, and their dense copy. */
struct nw_pieces {
    const struct nw_typemap *layout;
    int64_t count;
    char *device;
    int32_t gpu;
    bool out;    /* pack (else unpack) */
    char *dense; /* the GPU can access it, or NULL: allocate */
};

struct nw_pack_kernel {
    struct nw_pack_kernel *next;
    uint64_t layout;
    struct nw_pieces what; /* its layout may be freed */
    char *dense;
    struct nw_gpu_copy_job *kernel;
    struct nw_gpu_life life;     /* of the context that made it */
    struct nw_selector selector; /* kernel or CPU */
};

/* The caller selects the GPU, and gives the kernel back; a kernel that failed
 * is freed. NW_EUNSUPPORTED for memory of a context other than the current one.
 */
NW_MUST_CHECK nw_status nw_pack_kernel_take(const struct nw_pieces *what,
                                            struct nw_pack_kernel **out);
NW_MUST_CHECK nw_status
nw_pack_kernel_run(const struct nw_pack_kernel *job); /* runs it and waits */
void nw_pack_kernel_give(struct nw_pack_kernel *job, bool good);
/* Takes, runs and gives back a kernel, whatever GPU is current. If the dense
 * data is on another GPU, `from` is copied before. */
NW_MUST_CHECK nw_status nw_pack_kernel_do(const struct nw_pieces *what,
                                          const char *from);
void nw_pack_kernels_close(void);

#endif
