/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of copies that is prepared on a GPU once and may be launched any number
 * of times: packing, unpacking, copies inside a GPU, and writes into a peer
 * GPU's memory. */
#ifndef NW_GPU_COPY_JOB_H
#define NW_GPU_COPY_JOB_H

#include "gpu/gpu.h"
#include "gpu/copy_table.h"

struct nw_gpu_copy_job;

/* Prepares the copies on the current GPU, whose kernels must have access to all
 * memory in `pieces`; waits for the GPU. With count 0, launching the job does
 * nothing. The caller frees *out with nw_gpu_copy_job_free. */
NW_MUST_CHECK nw_status nw_gpu_copy_job_new(const struct nw_gpu *gpu,
                                            enum nw_gpu_work work,
                                            const struct nw_gpu_piece *pieces,
                                            size_t count,
                                            struct nw_gpu_copy_job **out);
void nw_gpu_copy_job_free(struct nw_gpu_copy_job *job); /* NULL is allowed */
/* Launches the job in `stream`, on the GPU where it was made. Allocates nothing
 * and does not wait for the GPU. */
NW_MUST_CHECK nw_status
nw_gpu_copy_job_launch(const struct nw_gpu_copy_job *job, nw_gpu_stream stream);

#endif
