/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of copies made ready on a GPU once, to be launched any number of
 * times: what packing, unpacking, moving inside a GPU and writing into a
 * peer's memory have in common. */
#ifndef NW_GPU_COPY_JOB_H
#define NW_GPU_COPY_JOB_H

#include "gpu/gpu.h"
#include "gpu/copy_table.h"

struct nw_gpu_copy_job;

/* On the current GPU, whose kernels must reach all memory named. Waits for the
 * GPU. NULL pieces' worth of nothing gives a job that launches nothing. */
NW_MUST_CHECK nw_status nw_gpu_copy_job_new(const struct nw_gpu *gpu,
                                            enum nw_gpu_work work,
                                            const struct nw_gpu_piece *pieces,
                                            size_t count,
                                            struct nw_gpu_copy_job **out);
void nw_gpu_copy_job_free(struct nw_gpu_copy_job *job); /* NULL is fine */
/* On the GPU where it was made; allocates nothing, waits for nothing. */
NW_MUST_CHECK nw_status
nw_gpu_copy_job_launch(const struct nw_gpu_copy_job *job, nw_gpu_stream stream);

#endif
