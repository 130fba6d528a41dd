/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of staged calls. The buffers are kept in the table of requests until
 * the request completes. Then received data is copied to the program's buffer.
 */
#include "runtime/messages/request_table.h"

#include "base/array.h"
#include "runtime/messages/datatype_contents.h"

#include <nodewise/status.h>
#include <stdlib.h>
#include <string.h>

/* Duplicates the datatype of a receive, since the program may free it before
 * the request is complete. */
static void keep_type(struct nw_tracked_request *kept)
{
    struct nw_catch *caught = &kept->caught;
    MPI_Datatype type = caught->type;

    if (!caught->on || type == MPI_DATATYPE_NULL || nw_type_is_named(type) ||
        NW_PMPI(Type_dup)(type, &caught->type))
        return;
    kept->owned = true;
    if (caught->as == type)
        caught->as = caught->type;
}

/* --- completion --- */

/* Sets the status of a request whose completion was already reported to the
 * program. MPI's status describes the envelope, so the stored values replace
 * it. */
static void see_again(const struct nw_tracked_request *kept, MPI_Status *status)
{
    if (!kept->opened)
        return;
    status->MPI_SOURCE = kept->source;
    status->MPI_TAG = kept->tag;
    NW_PMPI(Status_set_elements_x)(status, MPI_BYTE, kept->bytes);
}

/* Handles the received message if it is an envelope or was received into a
 * small buffer. Returns true if its data was copied to the program's buffer. */
static bool open_caught(struct nw_tracked_request *kept, MPI_Status *status,
                        int *rc)
{
    bool given = nw_matched_see(kept->caught.from, status);
    bool opened = nw_envelope_open(&kept->caught, status, rc);

    if (opened || given)
        nw_request_table_remember(kept, status);
    return opened;
}

/* Copies received data from the host memory of all staged buffers to the GPU.
 * Does nothing for sends. */
static nw_status empty_all(const struct nw_tracked_request *kept,
                           const MPI_Status *status)
{
    nw_status bad = NW_OK;

    for (int i = 0; i < kept->count && !bad; i++)
        if (kept->buffer[i]->access & NW_WRITE)
            bad = nw_buffer_empty(kept->buffer[i],
                                  kept->whole ? UINT64_MAX
                                              : nw_stage_received(status));
    return bad;
}

static int request_start_complete(struct nw_tracked_request *kept,
                                  MPI_Status *status)
{
    nw_status bad = NW_OK;
    int cancelled = 0, rc = MPI_SUCCESS;

    if (!kept->active) {
        see_again(kept, status);
        return MPI_SUCCESS;
    }
    kept->active = false;
    if (!kept->whole) // if `whole` is true, the status may be undefined
        NW_PMPI(Test_cancelled)(status, &cancelled);
    if (cancelled)
        nw_direct_unsent(kept->buffer, kept->count);
    else if (kept->caught.on && open_caught(kept, status, &rc))
        return nw_stage_raise(kept->whose, rc);
    if (!cancelled)
        bad = empty_all(kept, status);
    return bad ? nw_stage_error(kept->whose, kept->call, nw_error_text())
               : MPI_SUCCESS;
}

/* --- start --- */

bool nw_stage_reserve(struct nw_stage *stage)
{
    stage->status = nw_alloc_raw(1, sizeof *stage->kept, &stage->kept);
    if (stage->status && stage->posting)
        nw_post_end();
    return !stage->status;
}

int nw_stage_keep(struct nw_stage *stage, int rc, MPI_Request request,
                  struct nw_errhandler_scope whose)
{
    struct nw_tracked_request *kept = stage->kept;

    if (stage->posting)
        nw_post_end();
    if (rc) {
        free(kept);
        nw_direct_unsent(stage->buffer, stage->count);
        nw_matched_drop(stage->caught.from);
        for (int i = 0; i < stage->count; i++)
            nw_buffer_free(stage->buffer[i]);
        return rc;
    }
    nw_detached_reap();
    *kept = (struct nw_tracked_request){.request = request,
                                        .complete = request_start_complete,
                                        .persistent = stage->persistent,
                                        .active = !stage->persistent,
                                        .whole = stage->whole,
                                        .whose = whose,
                                        .owner = {.comm = whose.comm},
                                        .call = stage->call,
                                        .count = stage->count,
                                        .caught = stage->caught};
    if (whose.comm != MPI_COMM_NULL && !whose.owner)
        kept->whose.owner = &kept->owner;
    keep_type(kept);
    memcpy(kept->buffer, stage->buffer, sizeof kept->buffer);
    nw_request_table_put(kept);
    return MPI_SUCCESS;
}
