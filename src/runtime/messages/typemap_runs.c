/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes lists of runs (struct nw_run). Adjacent runs are merged, and a repeated
 * run becomes one run with repetitions, if that keeps the order of MPI_Pack. */
#include "runtime/messages/typemap.h"

#include "base/array.h"
#include "base/status.h"

enum { MOST_RUNS = 1 << 22 };

static bool typemap_runs_is_plain(const struct nw_run *run)
{
    return run->n[0] == 1 && run->n[1] == 1;
}

nw_status nw_runs_add(struct nw_typemap *out, const struct nw_run *run)
{
    struct nw_run *last = out->count ? &out->run[out->count - 1] : NULL;
    nw_status status;

    if (!run->bytes)
        return NW_OK;
    if (last && typemap_runs_is_plain(last) && typemap_runs_is_plain(run) &&
        last->offset + (MPI_Aint)last->bytes == run->offset) {
        last->bytes += run->bytes;
        return NW_OK;
    }
    if (out->count == MOST_RUNS)
        return nw_fail(NW_EUNSUPPORTED,
                       "a datatype of more than %d separate pieces", MOST_RUNS);
    status =
        nw_grow(&out->run, &out->capacity, out->count + 1, sizeof *out->run);
    if (!status)
        out->run[out->count++] = *run;
    return status;
}

/* Changes the run so that it stands for n repetitions of itself, `step` bytes
 * apart. Returns false if one run cannot express this. */
static bool becomes_loop(struct nw_run *run, int64_t n, MPI_Aint step)
{
    if (typemap_runs_is_plain(run) && step == (MPI_Aint)run->bytes) {
        run->bytes *= (size_t)n;
        return true;
    }
    for (int i = 0; i < 2; i++)
        if (run->n[i] == 1) {
            run->n[i] = n;
            run->step[i] = step;
            return true;
        } else if (i == 0 && run->n[1] == 1 &&
                   step == run->step[0] * run->n[0]) {
            run->n[0] *= n;
            return true;
        }
    return false;
}

nw_status nw_runs_repeat(struct nw_typemap *out, const struct nw_typemap *part,
                         int64_t n, const MPI_Aint at[2])
{
    nw_status status = NW_OK;

    if (part->count == 1 && n > 1) {
        struct nw_run run = part->run[0];

        run.offset += at[0];
        if (becomes_loop(&run, n, at[1]))
            return nw_runs_add(out, &run);
    }
    for (int64_t k = 0; k < n && !status; k++)
        for (size_t i = 0; i < part->count && !status; i++) {
            struct nw_run run = part->run[i];

            run.offset += at[0] + k * at[1];
            status = nw_runs_add(out, &run);
        }
    return status;
}

static bool walk_run(const struct nw_run *run, MPI_Aint base,
                     nw_typemap_visit visit, void *context)
{
    for (int64_t j = 0; j < run->n[1]; j++)
        for (int64_t i = 0; i < run->n[0]; i++)
            if (!visit(context,
                       base + run->offset + i * run->step[0] + j * run->step[1],
                       run->bytes))
                return false;
    return true;
}

void nw_typemap_walk(const struct nw_typemap *layout, int64_t count,
                     nw_typemap_visit visit, void *context)
{
    if (layout->dense) {
        (void)visit(context, layout->lb,
                    (size_t)count * (size_t)layout->extent);
        return;
    }
    for (int64_t k = 0; k < count; k++)
        for (size_t i = 0; i < layout->count; i++)
            if (!walk_run(&layout->run[i], k * layout->extent, visit, context))
                return;
}

MPI_Aint nw_typemap_low(const struct nw_typemap *layout, int64_t count)
{
    MPI_Aint last = (count - 1) * layout->extent;

    return layout->lb + (last < 0 ? last : 0);
}

size_t nw_typemap_span(const struct nw_typemap *layout, int64_t count)
{
    MPI_Aint last = (count - 1) * layout->extent;

    return layout->span + (size_t)(last < 0 ? -last : last);
}
