/* SPDX-License-Identifier: BSD-3-Clause */
/* The arrays of a halo. They belong to the caller or to another halo, or the
 * library allocates them. In host memory, it allocates them in a window that
 * the ranks of the node share; without one, in private memory. The ranks of a
 * node also exchange the addresses of their arrays here. */
#include "halo/exchange/gpus.h"

#include "base/host.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALIGN ((size_t)4096)

struct memory {
    MPI_Win window; /* MPI_WIN_NULL if the arrays are not shared */
    bool borrowed;  /* true: another halo owns and frees the arrays */
    char *own;      /* memory of arrays that are not shared */
};

static size_t stride_of(const struct nw_halo_quantity *quantity)
{
    return quantity->stride ? quantity->stride : quantity->bytes;
}

static size_t least_pitch(const nw_halo *halo,
                          const struct nw_halo_piece *piece, int32_t quantity)
{
    return (size_t)piece->allocated[0] * stride_of(&halo->quantity[quantity]);
}

static size_t array_bytes(const nw_halo *halo, int32_t own, int32_t quantity)
{
    const struct nw_halo_piece *piece = &halo->layout->piece[halo->own[own]];

    return halo->pitch[own * halo->quantity_count + quantity] *
           (size_t)(piece->allocated[1] * piece->allocated[2]);
}

static size_t round_up(size_t value, size_t to)
{
    return to > 1 ? (value + to - 1) / to * to : value;
}

/* Checks the caller's arrays and stores their addresses and pitches in the
 * halo. */
static nw_status take_arrays(nw_halo *halo,
                             const struct nw_halo_options *options)
{
    int32_t quantities = halo->quantity_count;

    for (int32_t i = 0; i < halo->own_count * quantities; i++) {
        const struct nw_halo_piece *piece =
            &halo->layout->piece[halo->own[i / quantities]];
        size_t least = least_pitch(halo, piece, i % quantities);

        halo->pitch[i] = options->base && options->pitch && options->pitch[i]
                             ? options->pitch[i]
                             : least;
        halo->base[i] = options->base
                            ? options->base[i]
                            : options->memory(options->context, piece,
                                              i % quantities, &halo->pitch[i]);
        if (!halo->base[i])
            return nw_fail(NW_EINVAL, "piece %d has no array of quantity %d",
                           i / quantities, i % quantities);
        if (halo->pitch[i] < least)
            return nw_fail(
                NW_EINVAL,
                "rows of quantity %d are %zu byte%s apart and %zu long",
                i % quantities, halo->pitch[i],
                nw_plural((uint64_t)halo->pitch[i]), least);
    }
    return NW_OK;
}

static bool same_pieces(const nw_halo *halo, const nw_halo *other)
{
    bool same = halo->own_count == other->own_count &&
                halo->quantity_count == other->quantity_count &&
                halo->gpu_memory == other->gpu_memory &&
                halo->node_size == other->node_size;

    for (int32_t i = 0; same && i < halo->own_count; i++)
        same = !memcmp(halo->layout->piece[halo->own[i]].allocated,
                       other->layout->piece[other->own[i]].allocated,
                       sizeof(int64_t[3]));
    for (int32_t i = 0; same && i < halo->quantity_count; i++)
        same = stride_of(&halo->quantity[i]) == stride_of(&other->quantity[i]);
    return same;
}

static nw_status borrow_arrays(nw_halo *halo, const nw_halo *other)
{
    size_t count = (size_t)halo->own_count * halo->quantity_count;
    const struct memory *theirs = other->memory;
    struct memory *memory = NULL;
    nw_status status = nw_alloc(1, sizeof *memory, &memory);

    if (status)
        return status;
    halo->memory = memory;
    memory->borrowed = true;
    memory->window = theirs ? theirs->window : MPI_WIN_NULL;
    if (!same_pieces(halo, other))
        return nw_fail(NW_EINVAL, "the halo whose arrays are to be used has "
                                  "other pieces or quantities");
    memcpy(halo->base, other->base, count * sizeof *halo->base);
    memcpy(halo->pitch, other->pitch, count * sizeof *halo->pitch);
    return NW_OK;
}

static nw_status halo_memory_allocate(nw_halo *halo, struct memory *memory,
                                      size_t bytes)
{
    struct nw_halo_shm_space room = {0, 0};
    nw_status status = NW_OK;

    if (halo->node_size > 1)
        status = nw_halo_shm_space_find(halo, bytes, &room);
    if (status)
        return status;
    /* without shared memory, use private memory: methods that send messages or
     * copy between processes still work */
    if (halo->node_size > 1 && room.need <= room.left)
        return nw_halo_share(halo, bytes, &halo->base[0], &memory->window);
    memory->own = aligned_alloc(ALIGN, round_up(bytes + 1, ALIGN));
    if (!memory->own)
        return nw_fail(NW_ENOMEM, "out of memory");
    memset(memory->own, 0, bytes);
    halo->base[0] = memory->own;
    return NW_OK;
}

/* Returns the bytes that all arrays need together. If `start` is not NULL, sets
 * the address of each array. The gaps between arrays shift their starts, so
 * that the same cell of several quantities is not always in the same cache set.
 */
static size_t halo_memory_lay_out(nw_halo *halo, char *start)
{
    int32_t quantities = halo->quantity_count;
    size_t at = 0;

    for (int32_t i = 0; i < halo->own_count * quantities; i++) {
        if (start)
            halo->base[i] = start + at;
        at += array_bytes(halo, i / quantities, i % quantities);
        at = round_up(at, 64) + 576;
    }
    return at;
}

/* Returns the alignment of rows in bytes. Without a request by the options,
 * rows in GPU memory are aligned to cache lines, if the distance of rows then
 * remains a multiple of the cell size: the application may count it in cells.
 */
static size_t alignment_of(const nw_halo *halo, int32_t quantity,
                           const struct nw_halo_options *options)
{
    size_t stride = stride_of(&halo->quantity[quantity]);

    if (options->row_align || !halo->gpu_memory)
        return options->row_align;
    return NW_HALO_GPU_LINE % stride ? 1 : NW_HALO_GPU_LINE;
}

/* Returns NW_ENOMEM if the arrays of this rank need 2^52 bytes or more, so that
 * sums of such sizes over the ranks of a node fit into 64 bits. */
static nw_status halo_memory_check_sizes(const nw_halo *halo)
{
    int32_t quantities = halo->quantity_count;
    double bytes = 0;

    for (int32_t i = 0; i < halo->own_count * quantities; i++) {
        const struct nw_halo_piece *piece =
            &halo->layout->piece[halo->own[i / quantities]];

        bytes += (double)halo->pitch[i] * (double)piece->allocated[1] *
                 (double)piece->allocated[2];
        /* rounding up to the alignment may have exceeded 64 bits */
        if (halo->pitch[i] < least_pitch(halo, piece, i % quantities))
            bytes = 0x1p64;
    }
    return bytes < 0x1p52 ? NW_OK
                          : nw_fail(NW_ENOMEM,
                                    "the arrays of a rank need %.3g bytes "
                                    "with the gaps between elements and rows",
                                    bytes);
}

static nw_status halo_memory_make_arrays(nw_halo *halo,
                                         const struct nw_halo_options *options)
{
    struct memory *memory = NULL;
    nw_status status = nw_alloc(1, sizeof *memory, &memory);
    int32_t quantities = halo->quantity_count;

    halo->memory = memory;
    if (!status)
        memory->window = MPI_WIN_NULL;
    status = nw_halo_agree(halo->comm, status);
    if (status)
        return status;
    for (int32_t i = 0; i < halo->own_count * quantities; i++)
        halo->pitch[i] = round_up(
            least_pitch(halo, &halo->layout->piece[halo->own[i / quantities]],
                        i % quantities),
            alignment_of(halo, i % quantities, options));
    status = nw_halo_agree(halo->comm, halo_memory_check_sizes(halo));
    if (status)
        return status;
    if (halo->gpu_memory)
        return NW_OK; /* nw_halo_gpus_open allocates the arrays */
    status = halo_memory_allocate(halo, memory,
                                  halo_memory_lay_out(halo, NULL) + 64);
    if (!status)
        halo_memory_lay_out(halo, halo->base[0]);
    return status;
}

nw_status nw_halo_memory_make(nw_halo *halo,
                              const struct nw_halo_options *options)
{
    size_t count = (size_t)halo->own_count * halo->quantity_count;
    nw_status status = nw_alloc(count, sizeof *halo->base, &halo->base);

    if (!status)
        status = nw_alloc(count, sizeof *halo->pitch, &halo->pitch);
    status = nw_halo_agree(halo->comm, status);
    if (status)
        return status;
    if (options->arrays)
        status = borrow_arrays(halo, options->arrays);
    else
        status = options->base || options->memory
                     ? take_arrays(halo, options)
                     : halo_memory_make_arrays(halo, options);
    return nw_halo_agree(halo->comm, status);
}

void nw_halo_memory_free(nw_halo *halo)
{
    struct memory *memory = halo->memory;

    if (memory && !memory->borrowed && memory->window != MPI_WIN_NULL)
        nw_halo_unshare(halo, &memory->window);
    if (memory && !halo->has_pending)
        free(memory->own);
    free(memory);
    free(halo->base);
    free(halo->pitch);
    free(halo->remote);
    free(halo->pid);
}

/* The data about one array that its rank sends to the other ranks of the node.
 */
struct memory_word {
    /* address of the array in its rank; its offset in the rank's part of the
     * shared window, or UINT64_MAX if it is not shared; bytes between rows */
    uint64_t address, offset, pitch;
    int64_t array; /* index of the array in nw_halo.remote: piece *
                      quantity_count + quantity */
};

static nw_status fill_words(nw_halo *halo, struct memory_word *words)
{
    const struct memory *memory = halo->memory;
    bool shared = memory && memory->window != MPI_WIN_NULL;
    MPI_Aint bytes = 0;
    int unit, code = MPI_SUCCESS;
    char *start = NULL;

    if (shared)
        code = NW_PMPI(Win_shared_query)(memory->window, halo->node_rank,
                                         &bytes, &unit, &start);
    for (int32_t i = 0; i < halo->own_count * halo->quantity_count; i++)
        words[i] = (struct memory_word){
            .address = (uintptr_t)halo->base[i],
            .offset = shared ? (uint64_t)(halo->base[i] - start) : UINT64_MAX,
            .pitch = halo->pitch[i],
            .array = (int64_t)halo->own[i / halo->quantity_count] *
                         halo->quantity_count +
                     i % halo->quantity_count,
        };
    return nw_halo_mpi(code, "find shared memory");
}

static nw_status read_words(nw_halo *halo, const struct memory_word *words,
                            int rank, int count)
{
    const struct memory *memory = halo->memory;
    MPI_Aint bytes;
    int unit, code = MPI_SUCCESS;
    char *start = NULL;

    for (int i = 0; code == MPI_SUCCESS && i < count; i++) {
        struct nw_halo_remote *remote = &halo->remote[words[i].array];

        remote->address = words[i].address;
        remote->pitch = words[i].pitch;
        if (words[i].offset == UINT64_MAX)
            continue;
        if (!start)
            code = NW_PMPI(Win_shared_query)(memory->window, rank, &bytes,
                                             &unit, &start);
        remote->mapped = start + words[i].offset;
    }
    return nw_halo_mpi(code, "find shared memory");
}

static nw_status halo_memory_tell_all(nw_halo *halo, struct memory_word *own,
                                      int *count, struct memory_word **all)
{
    int *at = NULL,
        mine = (int)(sizeof *own) * halo->own_count * halo->quantity_count;
    int code = NW_PMPI(Allgather)(&mine, 1, MPI_INT, count, 1, MPI_INT,
                                  halo->node_comm);
    size_t total = 0;
    nw_status status = nw_alloc((size_t)halo->node_size, sizeof *at, &at);

    for (int i = 0; !status && i < halo->node_size; i++) {
        at[i] = (int)total;
        total += (size_t)count[i];
    }
    if (!status)
        status = nw_alloc(total, 1, all);
    status = nw_halo_agree(halo->node_comm, status);
    if (!status && code == MPI_SUCCESS)
        code = NW_PMPI(Allgatherv)(own, mine, MPI_BYTE, *all, count, at,
                                   MPI_BYTE, halo->node_comm);
    free(at);
    return status ? status : nw_halo_mpi(code, "share the addresses of arrays");
}

struct memory_process {
    char space[48]; /* PID namespace */
    int32_t pid;
};

/* Fills halo->pid. Collective over the node. */
static nw_status memory_share_pids(nw_halo *halo)
{
    struct memory_process own = {.pid = (int32_t)getpid()}, *all = NULL;
    int bytes = sizeof own, code = MPI_SUCCESS;
    nw_status status = nw_alloc((size_t)halo->node_size, sizeof *all, &all);

    if (!status)
        status = nw_alloc((size_t)halo->node_size, sizeof own.pid, &halo->pid);
    nw_host_pid_space(own.space);
    status = nw_halo_agree(halo->node_comm, status);
    if (!status)
        code = NW_PMPI(Allgather)(&own, bytes, MPI_BYTE, all, bytes, MPI_BYTE,
                                  halo->node_comm);
    for (int i = 0; !status && code == MPI_SUCCESS && i < halo->node_size; i++)
        halo->pid[i] = strcmp(all[i].space, own.space) ? 0 : all[i].pid;
    free(all);
    return status ? status
                  : nw_halo_mpi(code, "share the numbers of processes");
}

nw_status nw_halo_memory_tell(nw_halo *halo)
{
    struct memory_word *own = NULL, *all = NULL, *next;
    int *count = NULL;
    nw_status status = nw_alloc((size_t)halo->own_count * halo->quantity_count,
                                sizeof *own, &own);

    if (!status)
        status = nw_alloc((size_t)halo->node_size, sizeof *count, &count);
    if (!status)
        status =
            nw_alloc((size_t)halo->layout->piece_count * halo->quantity_count,
                     sizeof *halo->remote, &halo->remote);
    if (!status)
        status = fill_words(halo, own);
    status = nw_halo_agree(halo->node_comm, status);
    if (!status)
        status = memory_share_pids(halo);
    if (!status)
        status = halo_memory_tell_all(halo, own, count, &all);
    next = all;
    for (int i = 0; !status && i < halo->node_size; i++) {
        int words = count[i] / (int)sizeof *own;

        status = read_words(halo, next, i, words);
        next += words;
    }
    free(own);
    free(all);
    free(count);
    return status;
}
