/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds symmetric rows of a matrix. Two rows are symmetric if there is a
 * renumbering of rows and columns that gives one the number of the other,
 * leaves the matrix unchanged, and keeps the numbers of all taken rows.
 * Machines and periodic grids have many symmetries. */
#include "map/qap/symmetry.h"

#include <math.h>

#define MOST NW_QAP_EXACT_MOST
/* Limit of comparisons for one pair of rows; beyond it, the pair counts as not
 * symmetric. */
#define TRIES 4000

struct renumbering {
    const struct nw_qap_symmetry *symmetry;
    int image[MOST]; /* new number of each row; -1: not set yet */
    bool used[MOST];
    int tries;
};

/* Compares two elements of the matrix with a tolerance, because the sums along
 * a route and along its reverse may differ in their last bits. */
static bool symmetry_same(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

/* Returns true if row v can get the new number w, given the rows that already
 * have a new number. */
static bool symmetry_agrees(struct renumbering *work, int v, int w)
{
    const double *m = work->symmetry->matrix;
    int n = work->symmetry->n;

    if (!symmetry_same(m[v * n + v], m[w * n + w]))
        return false;
    for (int u = 0; u < n; u++) {
        int x = work->image[u];

        if (x < 0 || u == v)
            continue;
        work->tries++;
        if (!symmetry_same(m[v * n + u], m[w * n + x]) ||
            !symmetry_same(m[u * n + v], m[x * n + w]))
            return false;
    }
    return true;
}

/* Completes the renumbering, from row v on, by backtracking. Returns false if
 * that is impossible or takes more than TRIES comparisons. */
static bool symmetry_extend(struct renumbering *work, int v)
{
    int n = work->symmetry->n;

    while (v < n && work->image[v] >= 0)
        v++;
    if (v == n)
        return true;
    for (int w = 0; w < n && work->tries < TRIES; w++) {
        if (work->used[w] || !symmetry_agrees(work, v, w))
            continue;
        work->image[v] = w;
        work->used[w] = true;
        if (symmetry_extend(work, v + 1))
            return true;
        work->image[v] = -1;
        work->used[w] = false;
    }
    return false;
}

static bool symmetry_alike(const struct nw_qap_symmetry *symmetry, int p, int q)
{
    struct renumbering work = {.symmetry = symmetry};

    for (int i = 0; i < symmetry->n; i++) {
        work.used[i] = symmetry->taken[i];
        work.image[i] = symmetry->taken[i] ? i : -1;
    }
    if (!symmetry_agrees(&work, p, q))
        return false;
    work.image[p] = q;
    work.used[q] = true;
    return symmetry_extend(&work, 0);
}

bool nw_qap_orbits(const struct nw_qap_symmetry *symmetry, int *orbit)
{
    bool any = false;

    for (int q = 0; q < symmetry->n; q++) {
        orbit[q] = q;
        for (int p = 0; !symmetry->taken[q] && p < q && orbit[q] == q; p++)
            if (!symmetry->taken[p] && orbit[p] == p &&
                symmetry_alike(symmetry, p, q))
                orbit[q] = p;
        any = any || orbit[q] != q;
    }
    return any;
}
