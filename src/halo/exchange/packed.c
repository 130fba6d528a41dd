/* SPDX-License-Identifier: BSD-3-Clause */
/* The method NW_HALO_PACKED: packs the cells into a buffer and sends one MPI
 * message, from which the receiver unpacks them. A message of more than 1 GiB
 * is sent in several parts, since MPI counts bytes in an int. */
#include "halo/exchange/yielding_collectives.h"

#include <stdlib.h>

#define PART ((size_t)1 << 30) /* most bytes of an MPI message */

struct packed {
    struct nw_halo_copy_plan packs;
    char *buffer;
    MPI_Request *request;
    int request_count; /* pending requests */
};

static bool packed_fits(const nw_halo *halo, const struct nw_halo_pair *pair)
{
    (void)halo;
    return !pair->same_rank;
}

static nw_status packed_open(struct nw_halo_connection *connection,
                             struct nw_halo_offer *own)
{
    struct packed *packed = NULL;
    nw_status status = nw_alloc(1, sizeof *packed, &packed);

    (void)own;
    connection->state = packed;
    if (!status)
        status = nw_halo_copy_plan_make(connection, connection->receives,
                                        &packed->packs);
    if (!status)
        status = nw_alloc(connection->bytes, 1, &packed->buffer);
    if (!status)
        status = nw_alloc(connection->bytes / PART + 1, sizeof *packed->request,
                          &packed->request);
    return status;
}

static nw_status move_parts(struct nw_halo_connection *connection)
{
    struct packed *packed = connection->state;
    MPI_Comm comm = connection->halo->comm;
    size_t bytes = nw_halo_active_bytes(connection);
    int code = MPI_SUCCESS;

    packed->request_count = 0;
    for (size_t at = 0; code == MPI_SUCCESS && at < bytes; at += PART) {
        int part = (int)(bytes - at < PART ? bytes - at : PART);
        MPI_Request *request = &packed->request[packed->request_count++];

        *request = MPI_REQUEST_NULL;
        code =
            connection->sends
                ? MPI_Isend(packed->buffer + at, part, MPI_BYTE,
                            connection->peer, connection->tag, comm, request)
                : MPI_Irecv(packed->buffer + at, part, MPI_BYTE,
                            connection->peer, connection->tag, comm, request);
    }
    return nw_halo_mpi(code, "move a packed halo");
}

static nw_status packed_post(struct nw_halo_connection *connection)
{
    return connection->receives ? move_parts(connection) : NW_OK;
}

static nw_status packed_start(struct nw_halo_connection *connection)
{
    struct packed *packed = connection->state;

    if (!connection->sends)
        return NW_OK;
    nw_halo_copy_plan_pack(connection, &packed->packs, packed->buffer);
    return move_parts(connection);
}

static nw_status packed_test(struct nw_halo_connection *connection, bool *done)
{
    struct packed *packed = connection->state;
    int flag = 0;
    int code = MPI_Testall(packed->request_count, packed->request, &flag,
                           MPI_STATUSES_IGNORE);

    if (code != MPI_SUCCESS)
        return nw_halo_mpi(code, "move a packed halo");
    if (flag && connection->receives)
        nw_halo_copy_plan_unpack(connection, &packed->packs, packed->buffer);
    *done = flag;
    return NW_OK;
}

static void packed_close_connection(struct nw_halo_connection *connection)
{
    struct packed *packed = connection->state;

    if (!packed)
        return;
    nw_halo_copy_plan_fini(&packed->packs);
    if (nw_halo_give_up(connection, packed->request_count, packed->request,
                        connection->receives))
        free(packed->buffer);
    free(packed->request);
    free(packed);
    connection->state = NULL;
}

const struct nw_halo_method_ops nw_halo_packed = {
    .id = NW_HALO_PACKED,
    .fits = packed_fits,
    .open = packed_open,
    .post = packed_post,
    .start = packed_start,
    .test = packed_test,
    .close = packed_close_connection,
};
