/* SPDX-License-Identifier: BSD-3-Clause */
/* The method NW_HALO_NODES, with one message for each pair of nodes (nodes.h).
 * It has two kinds of connections. The connection of two ranks packs cells into
 * the leader's buffer, or unpacks them from it. The connection of a leader
 * sends or receives the buffer. A sender's buffer is free again when it has
 * been sent, a receiver's when all cells are unpacked. */
#include "halo/exchange/nodes.h"

#include "halo/exchange/yielding_collectives.h"

#include <stdlib.h>

#define PART ((size_t)1 << 30) /* most bytes of an MPI message */
#define TAG 16000 /* tag of phase 0; above the tags of other connections */

static char *buffer_of(struct nw_halo_aggregate_flags *flags)
{
    return (char *)(flags + 1);
}

static size_t active_cell(const nw_halo *halo)
{
    size_t bytes = 0;

    for (int32_t i = 0; i < halo->active_count; i++)
        bytes += halo->field[halo->active[i]].bytes;
    return bytes;
}

/* --- connections of ranks --- */

struct member {
    struct nw_halo_copy_plan packs;
    struct nw_halo_aggregate_flags *flags;
    size_t before; /* cells of other connections before its own in the buffer */
    uint64_t count; /* number of exchanges started by this end */
    bool moved;     /* true: packed or unpacked in this exchange */
};

static bool nodes_fits(const nw_halo *halo, const struct nw_halo_pair *pair)
{
    (void)halo;
    return !pair->same_node;
}

static nw_status nodes_open(struct nw_halo_connection *connection,
                            struct nw_halo_offer *own)
{
    struct member *member = NULL;
    nw_status status = nw_alloc(1, sizeof *member, &member);

    (void)own;
    connection->state = member;
    return status ? status
                  : nw_halo_copy_plan_make(connection, connection->receives,
                                           &member->packs);
}

static nw_status nodes_join(struct nw_halo_connection *connection,
                            const struct nw_halo_offer *other)
{
    struct member *member = connection->state;
    const struct nw_halo_aggregate *aggregate =
        nw_halo_aggregate_of(connection, &member->before);

    (void)other;
    member->flags = nw_halo_segment_at(connection->halo, &aggregate->spot);
    return NW_OK;
}

/* Packs or unpacks if the buffer is ready, and returns true then. A sender
 * packs after the message of the previous exchange was sent. A receiver unpacks
 * after the message of this exchange has arrived. */
static bool try_move(struct nw_halo_connection *connection)
{
    struct member *member = connection->state;
    uint64_t wanted = member->count - connection->sends;
    char *at = buffer_of(member->flags) +
               member->before * active_cell(connection->halo);

    if (atomic_load_explicit(&member->flags->leader, memory_order_acquire) <
        wanted)
        return false;
    if (connection->sends)
        nw_halo_copy_plan_pack(connection, &member->packs, at);
    else
        nw_halo_copy_plan_unpack(connection, &member->packs, at);
    atomic_fetch_add_explicit(&member->flags->members, 1, memory_order_release);
    return true;
}

static nw_status nodes_start(struct nw_halo_connection *connection)
{
    struct member *member = connection->state;

    member->count++;
    member->moved = connection->sends && try_move(connection);
    return NW_OK;
}

static nw_status nodes_test(struct nw_halo_connection *connection, bool *done)
{
    struct member *member = connection->state;

    *done = member->moved = member->moved || try_move(connection);
    return NW_OK;
}

static void nodes_close_connection(struct nw_halo_connection *connection)
{
    struct member *member = connection->state;

    if (member)
        nw_halo_copy_plan_fini(&member->packs);
    free(member);
    connection->state = NULL;
}

const struct nw_halo_method_ops nw_halo_nodes = {
    .id = NW_HALO_NODES,
    .fits = nodes_fits,
    .open = nodes_open,
    .join = nodes_join,
    .start = nodes_start,
    .test = nodes_test,
    .close = nodes_close_connection,
};

/* --- connections of leaders --- */

struct end {
    struct nw_halo_aggregate *aggregate;
    struct nw_halo_aggregate_flags *flags;
    MPI_Request *request;
    int request_count; /* pending requests */
    uint64_t count;
    bool moving; /* the message of this exchange was started */
};

static nw_status end_open(struct nw_halo_connection *connection,
                          struct nw_halo_offer *own)
{
    struct end *end = NULL;
    nw_status status = nw_alloc(1, sizeof *end, &end);

    (void)own;
    connection->state = end;
    if (status)
        return status;
    end->aggregate = connection->aggregate;
    status = nw_alloc(connection->bytes / PART + 1, sizeof *end->request,
                      &end->request);
    return status
               ? status
               : nw_halo_segment_reserve(
                     connection->halo,
                     sizeof(struct nw_halo_aggregate_flags) + connection->bytes,
                     &end->aggregate->spot);
}

static nw_status end_join(struct nw_halo_connection *connection,
                          const struct nw_halo_offer *other)
{
    struct end *end = connection->state;

    (void)other;
    end->flags = nw_halo_segment_at(connection->halo, &end->aggregate->spot);
    return NW_OK;
}

static nw_status nodes_move(struct nw_halo_connection *connection)
{
    struct end *end = connection->state;
    MPI_Comm comm = connection->halo->comm;
    size_t bytes = end->aggregate->cells * active_cell(connection->halo);
    char *buffer = buffer_of(end->flags);
    int code = MPI_SUCCESS, tag = TAG + connection->phase;

    end->request_count = 0;
    for (size_t at = 0; code == MPI_SUCCESS && at < bytes; at += PART) {
        int part = (int)(bytes - at < PART ? bytes - at : PART);
        MPI_Request *request = &end->request[end->request_count++];

        *request = MPI_REQUEST_NULL;
        code = end->aggregate->share->out
                   ? MPI_Isend(buffer + at, part, MPI_BYTE, connection->peer,
                               tag, comm, request)
                   : MPI_Irecv(buffer + at, part, MPI_BYTE, connection->peer,
                               tag, comm, request);
    }
    return nw_halo_mpi(code, "move the halo of a node");
}

/* Starts the message if the buffer is ready; else does nothing. A sender's
 * buffer is ready when all cells of this exchange are packed. A receiver's
 * buffer is ready when all cells of the previous message are unpacked. */
static nw_status try_begin(struct nw_halo_connection *connection)
{
    struct end *end = connection->state;
    uint64_t turns = end->count - !end->aggregate->share->out;

    if (atomic_load_explicit(&end->flags->members, memory_order_acquire) <
        turns * end->aggregate->count)
        return NW_OK;
    end->moving = true;
    return nodes_move(connection);
}

static nw_status nodes_end_start(struct nw_halo_connection *connection)
{
    struct end *end = connection->state;

    end->count++;
    end->moving = false;
    return try_begin(connection);
}

static nw_status end_test(struct nw_halo_connection *connection, bool *done)
{
    struct end *end = connection->state;
    nw_status status = end->moving ? NW_OK : try_begin(connection);
    int flag = 0;

    if (status || !end->moving)
        return status;
    status = nw_halo_mpi(MPI_Testall(end->request_count, end->request, &flag,
                                     MPI_STATUSES_IGNORE),
                         "move the halo of a node");
    if (!status && flag)
        atomic_store_explicit(&end->flags->leader, end->count,
                              memory_order_release);
    *done = flag;
    return status;
}

static void end_close(struct nw_halo_connection *connection)
{
    struct end *end = connection->state;

    if (!end)
        return;
    nw_halo_give_up(connection, end->request_count, end->request,
                    !end->aggregate->share->out);
    free(end->request);
    free(end);
    connection->state = NULL;
}

const struct nw_halo_method_ops nw_halo_aggregate_end = {
    .id = NW_HALO_NODES,
    .fits = nodes_fits,
    .open = end_open,
    .join = end_join,
    .start = nodes_end_start,
    .test = end_test,
    .close = end_close,
};
