/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills the ghosts, which are the cells beyond the sides of a domain. On a
 * periodic side, they are copies of the cells at the opposite end. On an open
 * side, they are copies of the last cell; but velocities along the side are 0
 * there, and the velocity through the face on the side is as given. On a side
 * with a neighbour, they keep their values. */
#include "mpdata/solver.h"
#include <string.h>

enum beyond { COPY, ZERO };

/* Fills the two ghosts at each end of one row. `open` says how the ghosts of an
 * open side are filled. If it is ZERO, the first `kept` ghosts at the low end
 * of an open side keep their values. */
static void border_ends(const struct nw_mpdata *s, char *row, enum beyond open,
                        ptrdiff_t kept)
{
    ptrdiff_t l = s->n[2], size = (ptrdiff_t)s->bytes;

    for (ptrdiff_t d = 1; d <= 2; d++) {
        ptrdiff_t low = -d, high = l - 1 + d;
        ptrdiff_t from_low = (l - d % l) % l, from_high = (d - 1) % l;
        if (s->options.border[2][0] == NW_MPDATA_OPEN)
            from_low = 0, from_high = l - 1;
        else
            kept = 0;
        if (s->options.border[2][0] == NW_MPDATA_OPEN && open == ZERO) {
            if (d > kept)
                memset(row + low * size, 0, s->bytes);
            memset(row + high * size, 0, s->bytes);
            continue;
        }
        memcpy(row + low * size, row + from_low * size, s->bytes);
        memcpy(row + high * size, row + from_high * size, s->bytes);
    }
}

/* Returns the index of the row or plane from which the ghost at `at` is copied;
 * -1: fill with zeros; -2: leave unchanged, since it comes from a neighbour. */
static ptrdiff_t border_source(const struct nw_mpdata *s, int axis,
                               ptrdiff_t at, enum beyond open)
{
    ptrdiff_t n = s->n[axis];
    int side = at >= n;

    switch (s->options.border[axis][side]) {
    case NW_MPDATA_PERIODIC:
        return (at % n + n) % n;
    case NW_MPDATA_OPEN:
        return open == ZERO ? -1 : side ? n - 1 : 0;
    default:
        return -2;
    }
}

/* Copies elements, or fills with zeros if `from` is NULL. */
static void border_copy(const struct nw_mpdata *s, char *to, const char *from,
                        ptrdiff_t elements)
{
    size_t bytes = (size_t)elements * s->bytes;

    if (from)
        memcpy(to, from, bytes);
    else
        memset(to, 0, bytes);
}

/* Returns the address of the first ghost of row (i, j). */
static char *border_start(const struct nw_mpdata *s, void *values, ptrdiff_t i,
                          ptrdiff_t j)
{
    return (char *)values + (nw_mpdata_at(s, i, j) - 2) * (ptrdiff_t)s->bytes;
}

/* Fills the ghost rows of all planes, except those that come from neighbours.
 * `faces`: the field has velocities along axis 1, whose first face on an open
 * side is kept. */
static void border_rows(const struct nw_mpdata *s, char *values, bool faces,
                        enum beyond open)
{
    ptrdiff_t m = s->n[1];
    bool keep = faces && s->options.border[1][0] == NW_MPDATA_OPEN;

#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (ptrdiff_t i = -s->ghost; i < s->n[0] + s->ghost; i++)
        for (ptrdiff_t d = 0; d < 2 * s->ghost; d++) {
            ptrdiff_t j = d < s->ghost ? -1 - d : m + d - s->ghost;
            ptrdiff_t from = border_source(s, 1, j, open);
            if (from == -2 || (keep && j == -1))
                continue;
            border_copy(s, border_start(s, values, i, j),
                        from < 0 ? NULL : border_start(s, values, i, from),
                        s->n[2] + 4);
        }
}

/* Fills the ghost planes, except those that come from neighbours. `faces`: the
 * field has velocities along axis 0, whose first face on an open side is
 * kept. */
static void border_planes(const struct nw_mpdata *s, char *values, bool faces,
                          enum beyond open)
{
    ptrdiff_t n = s->n[0];
    bool keep = faces && s->options.border[0][0] == NW_MPDATA_OPEN;

#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (ptrdiff_t d = 0; d < 2 * s->ghost; d++) {
        ptrdiff_t i = d < s->ghost ? -1 - d : n + d - s->ghost;
        ptrdiff_t from = border_source(s, 0, i, open);
        if (from == -2 || (keep && i == -1))
            continue;
        border_copy(s, border_start(s, values, i, -s->ghost),
                    from < 0 ? NULL : border_start(s, values, from, -s->ghost),
                    s->plane - s->pitch + s->n[2] + 4);
    }
}

void nw_mpdata_border(const struct nw_mpdata *s, enum nw_mpdata_field field,
                      void *values)
{
    enum beyond open =
        field == NW_MPDATA_X || field == NW_MPDATA_H ? COPY : ZERO;
    ptrdiff_t size = (ptrdiff_t)s->bytes;

    for (ptrdiff_t i = -s->ghost; i < s->n[0] + s->ghost; i++)
        for (ptrdiff_t j = -s->ghost; j < s->n[1] + s->ghost; j++)
            border_ends(s, (char *)values + nw_mpdata_at(s, i, j) * size, open,
                        field == NW_MPDATA_U3);
    border_rows(s, values, field == NW_MPDATA_U2, open);
    border_planes(s, values, field == NW_MPDATA_U1, open);
}

/* Returns true if row (i, j), which is a ghost row, was received from a
 * neighbour. */
static bool border_received(const struct nw_mpdata *s, ptrdiff_t i, ptrdiff_t j)
{
    const ptrdiff_t at[2] = {i, j};

    for (int a = 0; a < 2; a++) {
        if (at[a] >= 0 && at[a] < s->n[a])
            continue;
        if (s->options.border[a][at[a] >= 0] == NW_MPDATA_NEIGHBOUR)
            return true;
    }
    return false;
}

void nw_mpdata_sides(struct nw_mpdata *s)
{
    char *x = s->field[NW_MPDATA_X];
    ptrdiff_t g = s->ghost, size = (ptrdiff_t)s->bytes;

    for (ptrdiff_t i = -g; i < s->n[0] + g; i++) {
        bool inside = i >= 0 && i < s->n[0];
        for (ptrdiff_t j = -g; j < s->n[1] + g; j++) {
            if (inside && j == 0)
                j = s->n[1];
            if (border_received(s, i, j))
                border_ends(s, x + nw_mpdata_at(s, i, j) * size, COPY, 0);
        }
    }
    border_rows(s, x, false, COPY);
    border_planes(s, x, false, COPY);
}
