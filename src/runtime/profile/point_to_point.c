/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records point-to-point messages. The sender counts each message, and whether
 * its buffer is in GPU memory. If GPUs are in use, the receiver also counts the
 * messages that arrive in GPU memory. merge_records.c matches both counts.
 */
#include "runtime/profile/profile.h"

/* point_to_point_sort returns a number made from the tag and the size class of
 * a message, by which merge_records.c matches the records of sender and
 * receiver. Tags that are equal modulo TAG_KINDS give the same number, so that
 * memory does not grow with the number of tags. */
#define TAG_KINDS 64

static int16_t point_to_point_sort(int tag, uint64_t bytes)
{
    return (int16_t)((tag & (TAG_KINDS - 1)) * NW_PART_SIZES +
                     nw_part_size_class(bytes));
}

void nw_sent(struct nw_data data, struct nw_peer_tag to)
{
    struct nw_count_key key = {.tag = NW_PART_NO_TAG,
                               .class = NW_PART_SENT_HOST,
                               .origin = NW_ORIGIN_POINT_TO_POINT + 1};

    uint64_t bytes;

    if (!nw_record_wanted() || to.rank < 0)
        return;
    bytes = nw_data_bytes(data);
    if (nw_gpu_is_used()) {
        key.tag = point_to_point_sort(to.tag, bytes);
        if (nw_data_is_gpu(data))
            key.class = NW_PART_SENT_GPU;
    }
    nw_record(nw_comm_find(to.comm), to.rank, key, bytes, 1);
}

void nw_received(struct nw_data data, MPI_Comm comm, const MPI_Status *status)
{
    struct nw_count_key key = {.class = NW_PART_RECEIVED_GPU,
                               .origin = NW_ORIGIN_POINT_TO_POINT + 1};
    MPI_Count bytes = 0;
    int cancelled = 0;

    if (!nw_gpu_is_used() || !nw_record_wanted() || !nw_data_is_gpu(data) ||
        status->MPI_SOURCE < 0 || NW_PMPI(Test_cancelled)(status, &cancelled) ||
        cancelled || NW_PMPI(Get_elements_x)(status, MPI_BYTE, &bytes) ||
        bytes < 0)
        return;
    key.tag = point_to_point_sort(status->MPI_TAG, (uint64_t)bytes);
    nw_record(nw_comm_find(comm), status->MPI_SOURCE, key, (uint64_t)bytes, 1);
}
