/* SPDX-License-Identifier: BSD-3-Clause */
/* Which part to which pen: a quadratic assignment problem, solved for the pens
 * of each size among themselves while the others stay. */
#include "map/groups/switch_groups.h"
#include "map/qap/qap.h"
#include "base/array.h"

#include <stdlib.h>

#define STEPS_EACH 200 /* of tabu search, a pen */

struct arranging {
    const struct nw_pens *pens;
    struct nw_random *random;
    double *bytes; /* [parts^2] between parts, both ways */
    double *far;   /* [parts^2] between pens */
    int32_t pen[NW_PENS_MOST];
};

static int32_t size_of(const struct nw_pens *pens, int32_t pen)
{
    return pens->first[pen + 1] - pens->first[pen];
}

static bool is_flat(const struct arranging *work)
{
    int32_t n = work->pens->parts;

    for (int32_t p = 0; p < n; p++)
        for (int32_t q = 0; q < n; q++)
            if (p != q && work->far[p * n + q] != work->far[1])
                return false;
    return true;
}

/* Those of that size first: they alone may move. */
static int32_t order_parts(const struct nw_pens *pens, int32_t size,
                           int32_t *item)
{
    int32_t alike = 0, rest = pens->parts;

    for (int32_t p = pens->parts; p-- > 0;)
        if (size_of(pens, p) != size)
            item[--rest] = p;
    for (int32_t p = 0; p < pens->parts; p++)
        if (size_of(pens, p) == size)
            item[alike++] = p;
    return alike;
}

static void fill(const struct arranging *work, const int32_t *item,
                 struct nw_qap *qap)
{
    int32_t n = qap->n;

    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            qap->flow[i * n + j] = work->bytes[item[i] * n + item[j]];
            qap->distance[i * n + j] = work->far[i * n + j];
        }
}

static nw_status arrange_size(struct arranging *work, int32_t size)
{
    int32_t n = work->pens->parts, item[NW_PENS_MOST], place[NW_PENS_MOST];
    struct nw_qap qap;
    struct nw_tabu *tabu = NULL;
    nw_status status = nw_qap_init(&qap, n);

    if (status)
        return status;
    qap.real = qap.movable = order_parts(work->pens, size, item);
    fill(work, item, &qap);
    nw_qap_finish(&qap);
    for (int32_t i = 0; i < n; i++)
        place[i] = work->pen[item[i]];
    status = nw_tabu_new(&qap, &tabu);
    if (!status)
        (void)nw_tabu_run(tabu, work->random,
                          STEPS_EACH * (uint64_t)qap.movable, place);
    for (int32_t i = 0; !status && i < n; i++)
        work->pen[item[i]] = place[i];
    nw_tabu_free(tabu);
    nw_qap_fini(&qap);
    return status;
}

static nw_status arrange_all(struct arranging *work)
{
    nw_status status = NW_OK;

    for (int32_t p = 0; !status && p < work->pens->parts; p++) {
        int32_t q = 0, size = size_of(work->pens, p);

        while (size_of(work->pens, q) != size)
            q++;
        if (q == p)
            status = arrange_size(work, size);
    }
    return status;
}

static void count_bytes(const struct nw_seats *seats, const int32_t *part,
                        struct arranging *work)
{
    int32_t n = work->pens->parts;

    for (int32_t p = 0; p < n; p++)
        work->pen[p] = p;
    for (int32_t r = 0; r < seats->rank_count; r++)
        for (size_t t = seats->row[r]; t < seats->row[r + 1]; t++)
            if (part[r] != part[seats->tie[t].peer])
                work->bytes[part[r] * n + part[seats->tie[t].peer]] +=
                    seats->tie[t].out + seats->tie[t].in;
}

nw_status nw_pens_arrange(const struct nw_seats *seats,
                          const struct nw_pens *pens, struct nw_random *random,
                          int32_t *part, bool *unlike)
{
    size_t cells = (size_t)pens->parts * (size_t)pens->parts;
    struct arranging work = {.pens = pens, .random = random};
    nw_status status = nw_alloc(cells, sizeof *work.bytes, &work.bytes);

    if (!status)
        status = nw_alloc(cells, sizeof *work.far, &work.far);
    if (!status) {
        count_bytes(seats, part, &work);
        nw_pens_measure(seats, pens, work.far);
        *unlike = !is_flat(&work);
        if (*unlike)
            status = arrange_all(&work);
        for (int32_t r = 0; !status && r < seats->rank_count; r++)
            part[r] = work.pen[part[r]];
    }
    free(work.bytes);
    free(work.far);
    return status;
}
