/* SPDX-License-Identifier: BSD-3-Clause */
/* The method NW_HALO_ATTACH, between ranks of one node with arrays in any host
 * memory. The receiver reads the neighbour's cells from its process by system
 * calls (cross-memory attach), one contiguous run of bytes after the other,
 * into a buffer without gaps. Then it copies the cells from this buffer to its
 * ghost cells. */
#include "halo/exchange/connections.h"
#include "halo/exchange/exchange.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#define PIECES 512 /* most contiguous runs of bytes in one system call */

struct cma_flags {
    /* numbers of exchanges whose source cells are ready, and were read */
    _Alignas(64) _Atomic uint64_t ready;
    _Alignas(64) _Atomic uint64_t read;
};

struct attach {
    struct nw_halo_copy_plan packs; /* at the receiver: unpacks the buffer */
    struct nw_halo_spot spot;
    struct cma_flags *flags;
    uint64_t count;
    int32_t pid;
    char *buffer; /* the cells of all quantities, without gaps */
    struct iovec *remote;
};

/* Returns true if the kernel allows this rank to read the memory of the next
 * rank of the node. Tests it by reading a word there. Before, allows all
 * processes to read this process. Collective over the node. */
static bool halo_cma_here(nw_halo *halo)
{
    uint64_t word = 0x6e6f646577697365u + (uint64_t)halo->rank, got = 0;
    uint64_t address = (uintptr_t)&word, theirs = 0;
    int next = (halo->node_rank + 1) % halo->node_size;
    int before = (halo->node_rank + halo->node_size - 1) % halo->node_size;
    struct iovec own = {&got, sizeof got}, other;
    bool good;

    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    if (NW_PMPI(Sendrecv)(&address, 1, MPI_UINT64_T, before, 0, &theirs, 1,
                          MPI_UINT64_T, next, 0, halo->node_comm,
                          MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return false;
    other = (struct iovec){(void *)(uintptr_t)theirs, sizeof got};
    good = process_vm_readv(halo->pid[next], &own, 1, &other, 1, 0) ==
               (ssize_t)sizeof got &&
           got >> 32 == word >> 32;
    /* the word must exist until the other rank has read it */
    NW_PMPI(Barrier)(halo->node_comm);
    return good;
}

static nw_status halo_cma_open(struct nw_halo_connection *connection,
                               struct nw_halo_offer *own)
{
    struct attach *attach = NULL;
    nw_halo *halo = connection->halo;
    nw_status status = nw_alloc(1, sizeof *attach, &attach);

    connection->state = attach;
    if (!status)
        status = nw_halo_copy_plan_make(connection, connection->receives,
                                        &attach->packs);
    if (!status && connection->receives)
        status = nw_alloc(connection->bytes, 1, &attach->buffer);
    if (!status && connection->receives)
        status = nw_alloc(PIECES, sizeof *attach->remote, &attach->remote);
    if (!status && connection->sends)
        status = nw_halo_segment_reserve(halo, sizeof(struct cma_flags),
                                         &attach->spot);
    if (!status)
        attach->pid = halo->pid[halo->node_rank_of[connection->peer]];
    if (!status)
        *(struct nw_halo_spot *)(void *)own->bytes = attach->spot;
    return status;
}

static nw_status halo_cma_join(struct nw_halo_connection *connection,
                               const struct nw_halo_offer *other)
{
    struct attach *attach = connection->state;

    if (connection->receives)
        attach->spot = *(const struct nw_halo_spot *)(const void *)other->bytes;
    attach->flags = nw_halo_segment_at(connection->halo, &attach->spot);
    return NW_OK;
}

static nw_status halo_cma_start(struct nw_halo_connection *connection)
{
    struct attach *attach = connection->state;

    attach->count++;
    if (connection->sends)
        atomic_store_explicit(&attach->flags->ready, attach->count,
                              memory_order_release);
    return NW_OK;
}

struct cma_reading {
    struct nw_halo_connection *connection;
    size_t filled; /* number of runs of bytes that the next system call will
                      read */
    size_t bytes;  /* total bytes of these runs */
    char *to;      /* address in the buffer for the next bytes */
};

/* Removes the first `bytes` bytes, which one system call has read, from the
 * list of runs to read: the kernel reads at most 2 GiB per call. Returns the
 * number of runs that are read completely. */
static size_t take_off(struct iovec *piece, size_t bytes)
{
    size_t whole = 0;

    for (; bytes && bytes >= piece[whole].iov_len; whole++)
        bytes -= piece[whole].iov_len;
    if (bytes) {
        piece[whole].iov_base = (char *)piece[whole].iov_base + bytes;
        piece[whole].iov_len -= bytes;
    }
    return whole;
}

static nw_status cma_flush(struct cma_reading *reading)
{
    struct attach *attach = reading->connection->state;

    for (size_t at = 0; reading->bytes;) {
        struct iovec own = {reading->to, reading->bytes};
        ssize_t got = process_vm_readv(
            attach->pid, &own, 1, attach->remote + at, reading->filled - at, 0);

        if (got < 0 && errno == ESRCH)
            return nw_halo_watch_ended(reading->connection->peer);
        if (got <= 0)
            return nw_fail(NW_EMPI, "the memory of rank %d cannot be read: %s",
                           reading->connection->peer,
                           got < 0 ? strerror(errno) : "nothing comes");
        at += take_off(attach->remote + at, (size_t)got);
        reading->to += got;
        reading->bytes -= (size_t)got;
    }
    reading->filled = 0;
    return NW_OK;
}

static nw_status halo_cma_add(struct cma_reading *reading, char *from,
                              size_t bytes)
{
    struct attach *attach = reading->connection->state;
    nw_status status = NW_OK;

    if (reading->filled == PIECES)
        status = cma_flush(reading);
    if (status)
        return status;
    attach->remote[reading->filled++] = (struct iovec){from, bytes};
    reading->bytes += bytes;
    return NW_OK;
}

/* Adds every contiguous run of bytes of a transfer in one field to the list of
 * runs to read, in the order of packing. Reads the list when it is full. */
static nw_status read_transfer(struct cma_reading *reading,
                               const struct nw_halo_ending *ending)
{
    const nw_halo *halo = reading->connection->halo;
    const struct nw_halo_transfer *transfer = ending->transfer;
    struct nw_halo_copy copy = {
        .n = {transfer->extent[0], transfer->extent[1], transfer->extent[2]},
        .bytes = ending->field->bytes};
    nw_status status = NW_OK;

    copy.from = nw_halo_view_of(halo, ending, NW_HALO_THEIRS);
    copy.to = nw_halo_dense(copy.n, copy.bytes, NULL);
    nw_halo_copy_prepare(&copy);
    for (int64_t k = 0; k < copy.n[2]; k++)
        for (int64_t j = 0; j < copy.n[1]; j++)
            for (int64_t i = 0; !status && i < copy.n[0]; i++)
                status = halo_cma_add(reading,
                                      copy.from.at + i * copy.from.step[0] +
                                          j * copy.from.step[1] +
                                          k * copy.from.step[2],
                                      copy.bytes);
    return status;
}

static nw_status halo_cma_read_all(struct nw_halo_connection *connection)
{
    const nw_halo *halo = connection->halo;
    struct attach *attach = connection->state;
    struct cma_reading reading = {.connection = connection,
                                  .to = attach->buffer};
    nw_status status = NW_OK;

    for (size_t i = 0; i < connection->count; i++)
        for (int32_t a = 0; !status && a < halo->active_count; a++) {
            struct nw_halo_ending ending = {
                &connection->transfer[i], &halo->field[halo->active[a]], false};

            status = read_transfer(&reading, &ending);
        }
    return status ? status : cma_flush(&reading);
}

static nw_status halo_cma_test(struct nw_halo_connection *connection,
                               bool *done)
{
    struct attach *attach = connection->state;
    struct cma_flags *flags = attach->flags;
    nw_status status;

    if (connection->sends) {
        *done = atomic_load_explicit(&flags->read, memory_order_acquire) >=
                attach->count;
        return NW_OK;
    }
    *done = atomic_load_explicit(&flags->ready, memory_order_acquire) >=
            attach->count;
    if (!*done)
        return NW_OK;
    status = halo_cma_read_all(connection);
    if (!status)
        nw_halo_copy_plan_unpack(connection, &attach->packs, attach->buffer);
    atomic_store_explicit(&flags->read, attach->count, memory_order_release);
    return status;
}

static void halo_cma_close_connection(struct nw_halo_connection *connection)
{
    struct attach *attach = connection->state;

    if (!attach)
        return;
    nw_halo_copy_plan_fini(&attach->packs);
    free(attach->buffer);
    free(attach->remote);
    free(attach);
    connection->state = NULL;
}

const struct nw_halo_method_ops nw_halo_cma = {
    .id = NW_HALO_ATTACH,
    .here = halo_cma_here,
    .fits = nw_halo_fits_node,
    .open = halo_cma_open,
    .join = halo_cma_join,
    .start = halo_cma_start,
    .test = halo_cma_test,
    .close = halo_cma_close_connection,
};
