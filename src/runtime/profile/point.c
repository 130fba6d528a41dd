/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between two calls. The sender counts them, with the side of its
 * buffer; where GPUs are in use the receiver counts those that go to its GPU,
 * and the two meet when the profile is put together.
 */
#include "runtime/profile/profile.h"

/* Where both ends have both sides, messages are told apart by their tag, so
 * far as few tags can: memory grows with partners, not with tags. */
#define TAG_KINDS 64

static int tag_kind(int tag)
{
    return tag & (TAG_KINDS - 1);
}

void nw_sent(struct nw_data data, struct nw_end to)
{
    struct nw_tally_key key = {.tag = NW_PART_NO_TAG,
                               .class = NW_PART_SENT_HOST};

    if (!nw_record_wanted() || to.rank < 0)
        return;
    if (nw_gpu_is_used()) {
        key.tag = tag_kind(to.tag);
        if (nw_data_is_gpu(data))
            key.class = NW_PART_SENT_GPU;
    }
    nw_record(nw_comm_find(to.comm), to.rank, key, nw_data_bytes(data), 1);
}

void nw_received(struct nw_data data, MPI_Comm comm, const MPI_Status *status)
{
    struct nw_tally_key key = {.class = NW_PART_RECEIVED_GPU};
    MPI_Count bytes = 0;
    int cancelled = 0;

    if (!nw_gpu_is_used() || !nw_record_wanted() || !nw_data_is_gpu(data) ||
        status->MPI_SOURCE < 0 || NW_PMPI(Test_cancelled)(status, &cancelled) ||
        cancelled || NW_PMPI(Get_elements_x)(status, MPI_BYTE, &bytes) ||
        bytes < 0)
        return;
    key.tag = tag_kind(status->MPI_TAG);
    nw_record(nw_comm_find(comm), status->MPI_SOURCE, key, (uint64_t)bytes, 1);
}
