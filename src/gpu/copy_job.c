/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies the tables of a set of copies to the GPU, and launches the kernels. */
#include "gpu/copy_job.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define NAMES(work)                                                            \
    {                                                                          \
        work "_1", work "_2", work "_4", work "_8", work "_16"                 \
    }

const char *const nw_gpu_kernel_name[NW_GPU_WORK_COUNT][NW_GPU_WIDTHS] = {
    NAMES("nw_pack"),
    NAMES("nw_unpack"),
    NAMES("nw_move"),
};

/* One launch of a kernel for the boxes of one width. */
struct launch {
    const char *kernel;
    uint32_t blocks;
    struct nw_gpu_boxes boxes; /* addresses in GPU memory */
};

struct nw_gpu_copy_job {
    const struct nw_gpu *gpu;
    struct nw_gpu_life life; /* context in which `memory` was allocated */
    void *memory;
    int count;
    struct launch launch[2 * NW_GPU_WIDTHS];
};

/* Rounds a size up to a multiple of 16 bytes, the alignment of each table. */
static size_t copy_job_whole(size_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

static size_t table_bytes(const struct nw_gpu_copy_table *table)
{
    size_t bytes = copy_job_whole(table->shift_count * sizeof *table->shift);

    for (int i = 0; i < table->group_count; i++)
        bytes += copy_job_whole(table->group[i].box_count *
                                sizeof(struct nw_gpu_box)) +
                 copy_job_whole(table->group[i].blocks * sizeof(uint32_t));
    return bytes;
}

/* Writes, for each thread block of a group, the index of the box on which the
 * block works. */
static void write_owners(const struct nw_gpu_group *group, uint32_t *owner)
{
    for (size_t i = 0; i < group->box_count; i++) {
        uint32_t end = i + 1 < group->box_count ? group->box[i + 1].first_block
                                                : group->blocks;

        for (uint32_t b = group->box[i].first_block; b < end; b++)
            owner[b] = (uint32_t)i;
    }
}

/* Writes the tables into `image`, the host copy of job->memory, and sets the
 * pointers of each launch to the addresses of its tables in GPU memory. */
static void write_image(const struct nw_gpu_copy_table *table, char *image,
                        struct nw_gpu_copy_job *job)
{
    char *gpu = job->memory;
    size_t at = copy_job_whole(table->shift_count * sizeof *table->shift);

    if (table->shift_count)
        memcpy(image, table->shift, table->shift_count * sizeof *table->shift);
    for (int i = 0; i < table->group_count; i++) {
        const struct nw_gpu_group *group = &table->group[i];
        struct launch *launch = &job->launch[job->count++];
        size_t bytes = group->box_count * sizeof *group->box;

        launch->kernel = nw_gpu_kernel_name[group->work][group->width];
        launch->blocks = group->blocks;
        launch->boxes.shift = (const int64_t *)(void *)gpu;
        launch->boxes.box = (const struct nw_gpu_box *)(void *)(gpu + at);
        memcpy(image + at, group->box, bytes);
        at += copy_job_whole(bytes);
        launch->boxes.owner = (const uint32_t *)(void *)(gpu + at);
        write_owners(group, (uint32_t *)(void *)(image + at));
        at += copy_job_whole(group->blocks * sizeof(uint32_t));
    }
}

/* Loads all kernels now, since loading during a launch would fail inside a
 * graph capture. */
static nw_status load_kernels(const struct nw_gpu_copy_job *job)
{
    nw_status status = NW_OK;

    for (int i = 0; i < job->count && !status; i++)
        status = job->gpu->load(job->launch[i].kernel);
    return status;
}

nw_status nw_gpu_copy_job_new(const struct nw_gpu *gpu, enum nw_gpu_work work,
                              const struct nw_gpu_piece *pieces, size_t count,
                              struct nw_gpu_copy_job **out)
{
    struct nw_gpu_copy_table table = {.group_count = 0};
    struct nw_gpu_copy_job *job = NULL;
    char *image = NULL;
    size_t bytes;
    nw_status status = nw_gpu_copy_table_make(work, pieces, count, &table);

    bytes = table_bytes(&table);
    if (!status)
        status = nw_alloc(1, sizeof *job, &job);
    if (!status) {
        job->gpu = gpu;
        job->life = gpu->life();
        status = nw_alloc(bytes, 1, &image);
    }
    if (!status)
        status = gpu->alloc(bytes, &job->memory);
    if (!status) {
        write_image(&table, image, job);
        status = bytes ? gpu->copy_in(job->memory, image, bytes) : NW_OK;
    }
    if (!status)
        status = load_kernels(job);
    if (status)
        nw_gpu_copy_job_free(job);
    else
        *out = job;
    free(image);
    nw_gpu_copy_table_fini(&table);
    return status;
}

void nw_gpu_copy_job_free(struct nw_gpu_copy_job *job)
{
    if (job && job->gpu->lives(&job->life))
        job->gpu->drop(job->memory);
    free(job);
}

nw_status nw_gpu_copy_job_launch(const struct nw_gpu_copy_job *job,
                                 nw_gpu_stream stream)
{
    nw_status status = NW_OK;

    for (int i = 0; i < job->count && !status; i++) {
        struct nw_gpu_boxes boxes = job->launch[i].boxes;

        status = job->gpu->launch(job->launch[i].kernel, job->launch[i].blocks,
                                  &boxes, stream);
    }
    return status;
}
