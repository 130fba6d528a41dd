/* SPDX-License-Identifier: BSD-3-Clause */
/* A call has returned a request: its buffers stay in the table until the
 * request ends. */
#include "runtime/messages/request_table.h"

#include "runtime/messages/datatype_contents.h"

#include <stdlib.h>
#include <string.h>

/* The program may free its datatype before the request is done. */
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

int nw_stage_keep(struct nw_stage *stage, int rc, MPI_Request request,
                  struct nw_errhandler_scope whose)
{
    struct nw_tracked_request *kept = rc ? NULL : malloc(sizeof *kept);

    if (stage->posting)
        nw_post_end();
    if (!kept) {
        nw_direct_unsent(stage->buffer, stage->count);
        nw_matched_drop(stage->caught.from);
        for (int i = 0; i < stage->count; i++)
            nw_buffer_free(stage->buffer[i]);
        return rc ? rc : MPI_ERR_NO_MEM;
    }
    nw_detached_reap();
    *kept = (struct nw_tracked_request){.request = request,
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
