/* SPDX-License-Identifier: BSD-3-Clause */
/* Does the work of the kernels with plain loops on host memory. Tests compare
 * the kernels' results with this reference. */
#include "gpu/kernels.h"

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

/* The address of the first word of one side, and the distances in bytes to the
 * next word, row and plane. */
struct host_reference_side {
    uint64_t at;
    int64_t step, row, plane;
};

static struct host_reference_side
host_reference_dense(uint64_t at, const struct nw_gpu_box *box, size_t size)
{
    int64_t row = (int64_t)(box->x * size), plane = row * box->y;

    return (struct host_reference_side){at, (int64_t)size, row, plane};
}

static void host_reference_copy(struct host_reference_side to,
                                struct host_reference_side from,
                                const struct nw_gpu_box *box, size_t size)
{
    for (int64_t z = 0; z < box->z; z++)
        for (int64_t y = 0; y < box->y; y++)
            for (int64_t x = 0; x < box->x; x++)
                memcpy(
                    (void *)(to.at + x * to.step + y * to.row + z * to.plane),
                    (const void *)(from.at + x * from.step + y * from.row +
                                   z * from.plane),
                    size);
}

void nw_gpu_host_reference(enum nw_gpu_work work, int width,
                           const struct nw_gpu_box *box, const int64_t *shift)
{
    size_t size = (size_t)1 << width;

    for (uint32_t q = 0; q < box->quantities; q++) {
        struct host_reference_side to = {box->to, box->to_step, box->to_row,
                                         box->to_plane};
        struct host_reference_side from = {box->from, box->from_step,
                                           box->from_row, box->from_plane};

        if (work == NW_GPU_PACK)
            to = host_reference_dense(box->to, box, size);
        if (work == NW_GPU_UNPACK)
            from = host_reference_dense(box->from, box, size);
        to.at += (uint64_t)shift[box->to_shift + q];
        from.at += (uint64_t)shift[box->from_shift + q];
        host_reference_copy(to, from, box, size);
    }
}
