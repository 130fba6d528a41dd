/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls the error handler of the communicator, window or file of an MPI call.
 */
#include "runtime/messages/staging.h"

#include "runtime/messages/shadow_comm.h"
#include "runtime/warn.h"

int nw_stage_raise(struct nw_errhandler_scope whose, int code)
{
    if (!code)
        return code;
    if (whose.owner)
        nw_comm_owner_report(whose.owner, code);
    else if (whose.file != MPI_FILE_NULL)
        NW_PMPI(File_call_errhandler)(whose.file, code);
    else if (whose.win != MPI_WIN_NULL)
        NW_PMPI(Win_call_errhandler)(whose.win, code);
    else
        NW_PMPI(Comm_call_errhandler)(whose.comm, code);
    return code;
}

int nw_stage_error(struct nw_errhandler_scope whose, const char *call,
                   const char *why)
{
    nw_warn_once("%s: %s", call, why);
    return nw_stage_raise(whose, MPI_ERR_BUFFER);
}
