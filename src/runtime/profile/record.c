/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the key of a record from the partner and the buffer of a message. */
#include "runtime/profile/record.h"

#include "base/array.h"
#include "runtime/gpu_memory.h"
#include "runtime/profile/profile.h"

static _Thread_local struct nw_plan *planning;

void nw_plan_begin(struct nw_plan *plan)
{
    planning = plan;
}

void nw_plan_end(void)
{
    planning = NULL;
}

static void record_plan(struct nw_planned planned)
{
    if (!nw_grow(&planning->entry, &planning->capacity, planning->count + 1,
                 sizeof *planning->entry))
        planning->entry[planning->count++] = planned;
}

static void profile_record_count(struct nw_planned planned)
{
    if (planned.key.peer == NW_RANK_OUTSIDE)
        nw_count_add_outside(planned.bytes, planned.messages);
    else
        nw_count_add(planned.key, planned.bytes, planned.messages);
}

void nw_plan_count(const struct nw_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        profile_record_count(plan->entry[i]);
}

bool nw_record_wanted(void)
{
    return planning || nw_profile_is_on();
}

void nw_record(struct nw_comm *comm, int rank, struct nw_count_key key,
               uint64_t bytes, uint64_t messages)
{
    struct nw_planned planned = {key, bytes, messages};

    planned.key.peer = nw_comm_world_rank(comm, rank);
    if (planned.key.peer == NW_RANK_NONE || !messages)
        return;
    if (planning)
        record_plan(planned);
    else
        profile_record_count(planned);
}

void nw_record_edge(struct nw_comm *comm, int rank, int class, uint64_t bytes)
{
    struct nw_count_key key = {.tag = NW_PART_NO_TAG,
                               .class = (uint8_t) class,
                               .origin = NW_ORIGIN_COLLECTIVE + 1};

    nw_record(comm, rank, key, bytes, 1);
}

uint64_t nw_type_bytes(MPI_Datatype type)
{
    MPI_Count size = 0;

    if (type == MPI_DATATYPE_NULL || NW_PMPI(Type_size_x)(type, &size))
        return 0;
    return size > 0 ? (uint64_t)size : 0;
}

uint64_t nw_data_bytes(struct nw_data data)
{
    return data.count > 0 ? (uint64_t)data.count * nw_type_bytes(data.type) : 0;
}

/* Adds the lower bound of the datatype to the address, since with MPI_BOTTOM
 * the datatype contains the address. */
bool nw_data_is_gpu(struct nw_data data)
{
    MPI_Aint low = 0, extent;

    if (!nw_gpu_is_used() || data.at == MPI_IN_PLACE ||
        data.type == MPI_DATATYPE_NULL ||
        NW_PMPI(Type_get_true_extent)(data.type, &low, &extent))
        return false;
    return nw_gpu_holds((const char *)data.at + low);
}

int nw_edge_class(bool from_gpu, bool to_gpu)
{
    if (from_gpu)
        return to_gpu ? NW_PART_GG : NW_PART_GH;
    return to_gpu ? NW_PART_HG : NW_PART_HH;
}
