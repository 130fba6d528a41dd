/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicts the time of a method as the sum of its consecutive steps. The model
 * regards each pair of pieces or ranks alone: unlike a measurement, it ignores
 * that pairs share links and copy engines.
 */
#include "halo/plan/model.h"

#include <math.h>

/* Host memory: seconds for each message, and for each byte, of each method.
 * They were taken from MPI calls over shared memory between two idle cores and
 * from copies at memory speed. */
struct figures {
    double message, byte;
};
static const struct figures host[NW_HALO_METHOD_COUNT] = {
    [NW_HALO_SELF] = {1e-7, 2.0e-10},   [NW_HALO_DIRECT] = {5e-7, 3.0e-10},
    [NW_HALO_SHARED] = {6e-7, 4.5e-10}, [NW_HALO_ATTACH] = {4e-6, 6.0e-10},
    [NW_HALO_PACKED] = {2e-6, 6.0e-10}, [NW_HALO_TYPES] = {3e-6, 7.0e-10},
    [NW_HALO_NODES] = {1e-6, 8.0e-10},
};
#define HOST_BOX 5e-8 /* seconds for each box of cells in one array */

/* GPU memory. MEMORY is the rate in bytes/s at which kernels of an H200 read
 * and write; SECTOR is the bytes of the smallest access. The other figures,
 * published or estimated for such machines, are times in seconds, except STORE.
 */
#define MEMORY 4.3e12
#define SECTOR 32.0
#define LAUNCH 6.5e-6 /* seconds until a kernel's event is seen (5 to 8 us) */
#define COPY 8e-6     /* seconds until a copy's event is seen (6 to 10 us) */
#define NEXT 2.5e-6   /* seconds of each further kernel or copy in one stream */
#define EVENT 2e-6    /* seconds to notify by a shared counter and IPC event */
#define ROW 4e-9      /* seconds of each short row of a 3-D copy */
#define STORE 0.8     /* fraction of a link's rate that kernels reach */
#define MESSAGE 2e-6  /* seconds of an MPI message of host memory */
#define MESSAGE_BYTE 2.3e-10 /* seconds per byte of a message inside a node */
/* seconds of an MPI message of GPU memory, without GDRCopy */
#define AWARE 15e-6

void nw_halo_traffic_add(struct nw_halo_traffic *traffic,
                         const struct nw_halo_transfer *transfer,
                         size_t element)
{
    double row = (double)transfer->extent[0] * (double)element;
    double rows = (double)(transfer->extent[1] * transfer->extent[2]);

    traffic->bytes += rows * row;
    traffic->sector += rows * ceil(row / SECTOR) * SECTOR;
    traffic->rows += rows;
    traffic->boxes += 1;
    traffic->gaps = traffic->gaps || transfer->mirror;
}

static double host_seconds(enum nw_halo_method method,
                           const struct nw_halo_traffic *traffic)
{
    struct figures figures = host[method];
    double seconds = figures.message + figures.byte * traffic->bytes +
                     HOST_BOX * traffic->boxes;

    if (figures.message <= 0)
        return INFINITY;
    if (!traffic->same_node)
        seconds += traffic->path.latency + traffic->bytes / traffic->path.wire;
    return seconds;
}

/* Returns the seconds to copy cells from an array to a dense buffer, or back.
 */
static double halo_model_pack(const struct nw_halo_traffic *traffic)
{
    return (traffic->sector + traffic->bytes) / MEMORY;
}

/* Returns the seconds of a kernel that moves `bytes` bytes over a link of
 * `link` bytes/s. At the same time it needs `inside` seconds for accesses to
 * the memory of its own GPU. */
static double plan_model_over(double inside, double bytes, double link)
{
    return fmax(inside, bytes / (STORE * link));
}

static double halo_model_tell(const struct nw_halo_traffic *traffic)
{
    return traffic->same_rank ? 0 : EVENT;
}

static double plan_model_message(const struct nw_halo_traffic *traffic)
{
    if (traffic->same_node)
        return MESSAGE + MESSAGE_BYTE * traffic->bytes;
    return MESSAGE + traffic->path.latency +
           traffic->bytes / traffic->path.wire;
}

/* Returns the seconds of one kernel that copies cells from array to array. A
 * link carries whole sectors. */
static double write_seconds(const struct nw_halo_traffic *traffic)
{
    double inside = 2 * traffic->sector / MEMORY;

    return LAUNCH + halo_model_tell(traffic) +
           (traffic->same_gpu
                ? inside
                : plan_model_over(inside, traffic->sector, traffic->path.link));
}

static double copies_seconds(const struct nw_halo_traffic *traffic)
{
    double rate = traffic->same_gpu ? MEMORY / 2 : traffic->path.link;

    if (traffic->gaps)
        return write_seconds(traffic);
    return COPY + halo_model_tell(traffic) + NEXT * (traffic->boxes - 1) +
           fmax(traffic->bytes / rate, ROW * traffic->rows);
}

static double packed_seconds(const struct nw_halo_traffic *traffic)
{
    double rate = traffic->same_gpu ? MEMORY / 2 : traffic->path.link;

    return LAUNCH + 2 * NEXT + halo_model_tell(traffic) +
           2 * halo_model_pack(traffic) + traffic->bytes / rate;
}

static double aware_seconds(const struct nw_halo_traffic *traffic)
{
    return 2 * LAUNCH + AWARE + 2 * halo_model_pack(traffic) +
           (traffic->same_node ? 0 : traffic->path.latency) +
           traffic->bytes / traffic->path.link;
}

static double staged_seconds(const struct nw_halo_traffic *traffic)
{
    return 2 * (LAUNCH + NEXT) + 2 * halo_model_pack(traffic) +
           plan_model_message(traffic) + traffic->bytes / traffic->path.out +
           traffic->bytes / traffic->path.in;
}

static double pinned_seconds(const struct nw_halo_traffic *traffic)
{
    double inside = halo_model_pack(traffic), bytes = traffic->bytes;

    return 2 * LAUNCH + plan_model_message(traffic) +
           plan_model_over(inside, bytes, traffic->path.out) +
           plan_model_over(inside, bytes, traffic->path.in);
}

double nw_halo_model(enum nw_halo_method method,
                     const struct nw_halo_traffic *traffic)
{
    if (!traffic->gpu)
        return host_seconds(method, traffic);
    switch (method) {
    case NW_HALO_KERNEL:
    case NW_HALO_WRITE:
        return write_seconds(traffic);
    case NW_HALO_PEER3D:
        return copies_seconds(traffic);
    case NW_HALO_PEER:
    case NW_HALO_COLOCATED:
        return packed_seconds(traffic);
    case NW_HALO_AWARE:
        return aware_seconds(traffic);
    case NW_HALO_STAGED:
        return staged_seconds(traffic);
    case NW_HALO_PINNED:
        return pinned_seconds(traffic);
    default:
        return INFINITY;
    }
}

bool nw_halo_model_best(uint32_t methods, const struct nw_halo_traffic *traffic,
                        enum nw_halo_method *out)
{
    double least = INFINITY;

    for (int i = 0; i < NW_HALO_METHOD_COUNT; i++) {
        double seconds = methods & NW_HALO_BIT(i) && i != NW_HALO_NODES
                             ? nw_halo_model((enum nw_halo_method)i, traffic)
                             : INFINITY;

        if (seconds >= least)
            continue;
        least = seconds;
        *out = (enum nw_halo_method)i;
    }
    return least < INFINITY;
}
