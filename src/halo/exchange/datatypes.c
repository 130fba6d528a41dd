/* SPDX-License-Identifier: BSD-3-Clause */
/* The method NW_HALO_TYPES: MPI derived datatypes describe the cells of all
 * transfers in place, so that MPI does the packing. An exchange of a subset of
 * the quantities sends a message with a datatype of its own for each quantity.
 */
#include "halo/exchange/yielding_collectives.h"

#include <limits.h>
#include <stdlib.h>

struct types {
    MPI_Datatype *type; /* one for each field; then one for all joined fields */
    MPI_Request *request;
    int request_count;
};

static bool types_fits(const nw_halo *halo, const struct nw_halo_pair *pair)
{
    (void)halo;
    return !pair->same_rank;
}

/* Makes a datatype for cells in reverse order (mirror borders), from explicit
 * displacements. A vector does not work: Open MPI 4.1.4 treats a stride of -1
 * byte like +1. */
static int make_backwards(int count, int64_t step, MPI_Datatype inner,
                          MPI_Datatype *out)
{
    MPI_Aint *at = NULL;
    int code;

    if (nw_alloc((size_t)count, sizeof *at, &at))
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < count; i++)
        at[i] = (MPI_Aint)(i * step);
    code = NW_PMPI(Type_create_hindexed_block)(count, 1, at, inner, out);
    free(at);
    return code;
}

/* Makes a datatype for the cells of a view: one nested vector of bytes for each
 * axis. Axes in reverse order use make_backwards. */
static int make_block(const struct nw_halo_copy *copy,
                      const struct nw_halo_view *view, MPI_Datatype *out)
{
    MPI_Datatype inner;
    int code = NW_PMPI(Type_contiguous)((int)copy->bytes, MPI_BYTE, out);

    for (int axis = 0; code == MPI_SUCCESS && axis < 3; axis++) {
        if (copy->n[axis] == 1)
            continue;
        inner = *out;
        if (copy->n[axis] > INT_MAX) {
            NW_PMPI(Type_free)(&inner);
            return MPI_ERR_COUNT;
        }
        code = view->step[axis] < 0
                   ? make_backwards((int)copy->n[axis], view->step[axis], inner,
                                    out)
                   : NW_PMPI(Type_create_hvector)((int)copy->n[axis], 1,
                                                  view->step[axis], inner, out);
        NW_PMPI(Type_free)(&inner);
    }
    return code;
}

static nw_status types_join(struct nw_halo_connection *connection,
                            MPI_Datatype *part, MPI_Aint *at, MPI_Datatype *out)
{
    int *ones = NULL, code;
    nw_status status = nw_alloc(connection->count, sizeof *ones, &ones);

    if (status)
        return status;
    for (size_t i = 0; i < connection->count; i++)
        ones[i] = 1;
    code = NW_PMPI(Type_create_struct)((int)connection->count, ones, at, part,
                                       out);
    if (code == MPI_SUCCESS)
        code = NW_PMPI(Type_commit)(out);
    free(ones);
    return nw_halo_mpi(code, "make a derived type");
}

static nw_status make_field(struct nw_halo_connection *connection,
                            int32_t field)
{
    const nw_halo *halo = connection->halo;
    struct types *types = connection->state;
    MPI_Datatype *part = NULL;
    MPI_Aint *at = NULL;
    size_t made = 0;
    int code = MPI_SUCCESS;
    nw_status status = nw_alloc(connection->count, sizeof(MPI_Datatype), &part);

    if (!status)
        status = nw_alloc(connection->count, sizeof *at, &at);
    for (; !status && code == MPI_SUCCESS && made < connection->count; made++) {
        const struct nw_halo_transfer *transfer = &connection->transfer[made];
        struct nw_halo_ending ending = {transfer, &halo->field[field],
                                        connection->receives};
        struct nw_halo_copy copy = {.n = {transfer->extent[0],
                                          transfer->extent[1],
                                          transfer->extent[2]},
                                    .bytes = ending.field->bytes};
        struct nw_halo_view view = nw_halo_view_of(halo, &ending, NW_HALO_OWN);

        at[made] = (MPI_Aint)view.at;
        code = make_block(&copy, &view, &part[made]);
    }
    if (!status)
        status = nw_halo_mpi(code, "make a derived type");
    if (!status)
        status = types_join(connection, part, at, &types->type[field]);
    while (made--)
        if (code == MPI_SUCCESS)
            NW_PMPI(Type_free)(&part[made]);
    free(part);
    free(at);
    return status;
}

/* Makes one datatype that contains all joined fields, so that they are sent in
 * one message. */
static nw_status make_whole(struct nw_halo_connection *connection)
{
    const nw_halo *halo = connection->halo;
    struct types *types = connection->state;
    int *ones = NULL, code;
    MPI_Aint *at = NULL;
    nw_status status =
        nw_alloc((size_t)halo->joined_count, sizeof *ones, &ones);

    if (!status)
        status = nw_alloc((size_t)halo->joined_count, sizeof *at, &at);
    if (!status) {
        for (int32_t i = 0; i < halo->joined_count; i++)
            ones[i] = 1;
        code = NW_PMPI(Type_create_struct)(halo->joined_count, ones, at,
                                           types->type,
                                           &types->type[halo->field_count]);
        if (code == MPI_SUCCESS)
            code = NW_PMPI(Type_commit)(&types->type[halo->field_count]);
        status = nw_halo_mpi(code, "make a derived type");
    }
    free(ones);
    free(at);
    return status;
}

static nw_status types_open(struct nw_halo_connection *connection,
                            struct nw_halo_offer *own)
{
    const nw_halo *halo = connection->halo;
    struct types *types = NULL;
    nw_status status = nw_alloc(1, sizeof *types, &types);

    (void)own;
    connection->state = types;
    if (!status)
        status = nw_alloc((size_t)halo->field_count + 1, sizeof *types->type,
                          &types->type);
    if (!status)
        status = nw_alloc((size_t)halo->field_count, sizeof *types->request,
                          &types->request);
    for (int32_t i = 0; !status && i <= halo->field_count; i++)
        types->type[i] = MPI_DATATYPE_NULL;
    for (int32_t i = 0; !status && i < halo->field_count; i++)
        status = make_field(connection, i);
    return status ? status : make_whole(connection);
}

static int types_move(struct nw_halo_connection *connection, int32_t field)
{
    struct types *types = connection->state;
    MPI_Request *request = &types->request[types->request_count++];

    *request = MPI_REQUEST_NULL;
    return connection->sends
               ? MPI_Isend(MPI_BOTTOM, 1, types->type[field], connection->peer,
                           connection->tag, connection->halo->comm, request)
               : MPI_Irecv(MPI_BOTTOM, 1, types->type[field], connection->peer,
                           connection->tag, connection->halo->comm, request);
}

static nw_status types_move_all(struct nw_halo_connection *connection)
{
    const nw_halo *halo = connection->halo;
    struct types *types = connection->state;
    bool whole = halo->active_count == halo->joined_count && !halo->active[0] &&
                 halo->active_count > 0;
    int code = MPI_SUCCESS;

    types->request_count = 0;
    for (int32_t i = 0; whole && i < halo->active_count; i++)
        whole = halo->active[i] == i;
    if (whole)
        code = types_move(connection, halo->field_count);
    for (int32_t i = 0; !whole && code == MPI_SUCCESS && i < halo->active_count;
         i++)
        code = types_move(connection, halo->active[i]);
    return nw_halo_mpi(code, "move a halo in place");
}

/* Receives are posted at the start of the exchange, even for later phases. This
 * is safe, because no other phase reads these ghost cells before their own
 * phase is done. */
static nw_status types_post(struct nw_halo_connection *connection)
{
    return connection->receives ? types_move_all(connection) : NW_OK;
}

static nw_status types_start(struct nw_halo_connection *connection)
{
    return connection->sends ? types_move_all(connection) : NW_OK;
}

static nw_status types_test(struct nw_halo_connection *connection, bool *done)
{
    struct types *types = connection->state;
    int flag = 0;
    int code = MPI_Testall(types->request_count, types->request, &flag,
                           MPI_STATUSES_IGNORE);

    *done = flag;
    return nw_halo_mpi(code, "move a halo in place");
}

static void types_close_connection(struct nw_halo_connection *connection)
{
    struct types *types = connection->state;

    if (!types)
        return;
    nw_halo_give_up(connection, types->request_count, types->request,
                    connection->receives);
    for (int32_t i = 0; types->type && i <= connection->halo->field_count; i++)
        if (types->type[i] && types->type[i] != MPI_DATATYPE_NULL)
            NW_PMPI(Type_free)(&types->type[i]);
    free(types->type);
    free(types->request);
    free(types);
    connection->state = NULL;
}

const struct nw_halo_method_ops nw_halo_types = {
    .id = NW_HALO_TYPES,
    .fits = types_fits,
    .open = types_open,
    .post = types_post,
    .start = types_start,
    .test = types_test,
    .close = types_close_connection,
};
