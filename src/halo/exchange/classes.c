/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the class of a pair of ranks. The class depends on the hardware between
 * them (GPU, package, node, network). It also depends on the number of cells,
 * because a face and a corner may need different methods. */
#include "halo/exchange/choose.h"
#include "halo/exchange/yielding_collectives.h"

#include "base/cpus.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>

#define LIGHT 8 /* a pair is light below 1/8 of the greatest weight */

/* Returns the number of the package (socket) of a core, or -1 if unknown. */
static int classes_package_of(int core)
{
    char path[96], *text = NULL;
    size_t length;
    int package = -1;

    snprintf(path, sizeof path,
             "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
             core);
    if (!nw_file_read_text(path, &text, &length))
        package = atoi(text);
    free(text);
    return package;
}

int nw_halo_own_package(void)
{
    unsigned long cpus[NW_CPU_WORDS];
    int package = -1, words = nw_cpus_read(0, cpus);

    for (int i = 0; i < words * NW_CPU_WORD; i++) {
        int other;

        if (!nw_cpus_has(cpus, words, i))
            continue;
        other = classes_package_of(i);
        if (other < 0 || (package >= 0 && package != other))
            return -1;
        package = other;
    }
    return package;
}

struct nw_halo_pair nw_halo_pair_of(const nw_halo *halo,
                                    const struct nw_halo_transfer *transfer)
{
    const struct nw_halo_piece *from = &halo->layout->piece[transfer->from];
    const struct nw_halo_piece *to = &halo->layout->piece[transfer->to];

    return (struct nw_halo_pair){
        .from = transfer->from,
        .to = transfer->to,
        .from_rank = from->rank,
        .to_rank = to->rank,
        .same_rank = from->rank == to->rank,
        .same_node = halo->node_of[from->rank] == halo->node_of[to->rank],
        .same_gpu = from->node == to->node && from->slot == to->slot,
    };
}

static uint64_t classes_cells_of(const struct nw_halo_transfer *transfer)
{
    return (uint64_t)(transfer->extent[0] * transfer->extent[1] *
                      transfer->extent[2]);
}

static bool classes_is_alone(const nw_halo *halo,
                             const struct nw_halo_pair *pair)
{
    return pair->same_rank && (pair->same_gpu || !halo->gpu_memory);
}

/* Returns the number of cells that are copied in the direction of the pair,
 * between two pieces of this rank or between two ranks. */
static uint64_t classes_cells_between(const nw_halo *halo,
                                      const struct nw_halo_pair *pair)
{
    const struct nw_halo_transfer *item = halo->transfers.item;
    const struct nw_halo_piece *piece = halo->layout->piece;
    uint64_t cells = 0;

    for (size_t i = 0; i < halo->transfers.count; i++)
        if (pair->same_rank
                ? item[i].from == pair->from && item[i].to == pair->to
                : piece[item[i].from].rank == pair->from_rank &&
                      piece[item[i].to].rank == pair->to_rank)
            cells += classes_cells_of(&item[i]);
    return cells;
}

nw_status nw_halo_weigh(nw_halo *halo)
{
    uint64_t own[2] = {0, 0};
    int code;

    for (size_t i = 0; i < halo->transfers.count; i++) {
        struct nw_halo_pair pair =
            nw_halo_pair_of(halo, &halo->transfers.item[i]);
        uint64_t cells = classes_cells_between(halo, &pair);

        if (!classes_is_alone(halo, &pair) && cells > own[pair.same_rank])
            own[pair.same_rank] = cells;
    }
    code = nw_halo_allreduce(halo->comm, own, halo->heaviest, 2, MPI_UINT64_T,
                             MPI_MAX);
    return nw_halo_mpi(code, "add up the bytes of a halo");
}

enum nw_halo_class nw_halo_class_of(const nw_halo *halo,
                                    const struct nw_halo_pair *pair)
{
    enum nw_halo_class class = NW_HALO_CLASS_NETWORK;
    bool light;

    if (classes_is_alone(halo, pair))
        return NW_HALO_CLASS_ALONE;
    if (pair->same_rank)
        class = NW_HALO_CLASS_GPUS;
    else if (pair->same_node)
        class =
            halo->package_of[pair->from_rank] == halo->package_of[pair->to_rank]
                ? NW_HALO_CLASS_PACKAGE
                : NW_HALO_CLASS_NODE;
    light = classes_cells_between(halo, pair) * LIGHT <
            halo->heaviest[pair->same_rank];
    return (enum nw_halo_class)(class + light);
}

uint32_t nw_halo_fitting(const nw_halo *halo, const struct nw_halo_pair *pair)
{
    uint32_t bits = 0;

    for (int i = 0; i < NW_HALO_METHOD_COUNT; i++)
        if (halo->methods & NW_HALO_BIT(i) &&
            nw_halo_methods[i]->fits(halo, pair))
            bits |= NW_HALO_BIT(i);
    return bits;
}

nw_status nw_halo_survey(const nw_halo *halo, struct nw_halo_survey *out)
{
    struct nw_halo_survey own = {.methods = {0}};
    int code;

    for (size_t i = 0; i < halo->transfers.count; i++) {
        const struct nw_halo_transfer *transfer = &halo->transfers.item[i];
        struct nw_halo_pair pair = nw_halo_pair_of(halo, transfer);
        enum nw_halo_class class = nw_halo_class_of(halo, &pair);

        own.methods[class] |= nw_halo_fitting(halo, &pair);
        own.bytes[class] += (double)classes_cells_of(transfer);
    }
    code = nw_halo_allreduce(halo->comm, own.methods, out->methods,
                             NW_HALO_CLASS_COUNT, MPI_UINT32_T, MPI_BOR);
    if (code == MPI_SUCCESS)
        code = nw_halo_allreduce(halo->comm, own.bytes, out->bytes,
                                 NW_HALO_CLASS_COUNT, MPI_DOUBLE, MPI_SUM);
    return nw_halo_mpi(code, "compare the methods of a halo");
}
