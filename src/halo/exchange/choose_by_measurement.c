/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses methods by measuring whole exchanges with different schemes. A scheme
 * gives a method to every pair of ranks. First, the methods of each class of
 * pairs are compared. Next, the best scheme so far is compared with the scheme
 * that the model predicts to be best. Last, the methods of single kinds of
 * pairs within a class are compared. The total time is limited; choices that
 * were not measured in time keep their first value. If ranks share cores, times
 * mostly show effects of the scheduler. Then the time limit is shorter, and
 * kinds are not measured.
 */
#include "halo/exchange/connections.h"
#include "halo/exchange/groups.h"
#include "halo/exchange/yielding_collectives.h"

#include <stdlib.h>

#define CLASSES 2.25 /* time limit in seconds for all classes and the model */
#define KINDS 1.0    /* time limit in seconds for all kinds */
#define CROWDED 0.2  /* factor for both limits if ranks share cores */
/* a smaller fraction of the time limit, or of an exchange, is not measured */
#define LITTLE 0.05
#define MOST_SCHEMES 32

struct schemes {
    struct nw_halo_scheme item[MOST_SCHEMES];
    size_t count;
};

struct measuring {
    nw_halo *halo;
    const bool *allowed; /* schedules: [0] at once, [1] in phases */
    uint32_t compared;   /* bit mask of the classes that were compared */
    bool either;         /* true: both schedules have been compared */
    struct nw_halo_survey survey;
    double part; /* factor of the time limits: CROWDED or 1 */
    double left; /* seconds left for measurements */
};

/* --- contests --- */

static void measurement_add(struct schemes *schemes,
                            const struct nw_halo_scheme *scheme)
{
    if (schemes->count < MOST_SCHEMES)
        schemes->item[schemes->count++] = *scheme;
}

/* Compares the schemes by measurement, within 1/parts of the time that is left,
 * and opens the fastest. If `holder` is true, the first scheme wins unless
 * another is certainly faster. */
static nw_status measurement_run_contest(struct measuring *work,
                                         const struct schemes *schemes,
                                         bool holder, double parts)
{
    struct nw_halo_rivals rivals = {.scheme = schemes->item,
                                    .count = schemes->count,
                                    .holder = holder,
                                    .seconds = work->left / parts};
    double spent = 0;
    nw_status status;

    nw_halo_connections_close(work->halo);
    if (schemes->count == 1)
        return nw_halo_connections_open(work->halo, schemes->item);
    status = nw_halo_tune(work->halo, &rivals, &spent);
    work->left = work->left > spent ? work->left - spent : 0;
    return status;
}

/* --- classes --- */

static bool measurement_is_open(const struct measuring *work, int kind)
{
    uint32_t bits = work->survey.methods[kind];

    return !(work->compared & 1u << kind) && bits & (bits - 1);
}

/* Returns the number of measurements that remain. The comparison with the model
 * counts as 0.5, because it is usually short. */
static double parts_of(const struct measuring *work)
{
    double parts = 0.5;

    for (int i = 0; i < NW_HALO_CLASS_COUNT; i++)
        parts += measurement_is_open(work, i);
    return parts;
}

static bool is_light(enum nw_halo_class class)
{
    return class == NW_HALO_CLASS_PACKAGE_LIGHT ||
           class == NW_HALO_CLASS_NODE_LIGHT ||
           class == NW_HALO_CLASS_NETWORK_LIGHT;
}

/* Compares the methods in `bits` for a class, each in all allowed schedules.
 * For a light class only the current schedule is used, since pairs with more
 * bytes decide the schedule. If `bits` is 0, compares only the schedules. */
static nw_status compare_methods(struct measuring *work,
                                 enum nw_halo_class class, uint32_t bits)
{
    struct nw_halo_scheme scheme = work->halo->scheme;
    bool light = is_light(class), current = scheme.phased;
    struct schemes schemes = {.count = 0};
    double parts = parts_of(work);

    for (int phased = 0; phased < 2; phased++) {
        if (!work->allowed[phased] || (light && phased != current))
            continue;
        scheme.phased = phased;
        if (!bits)
            measurement_add(&schemes, &scheme);
        for (uint32_t left = bits; left; left &= left - 1) {
            scheme.methods[class] = left & -left;
            measurement_add(&schemes, &scheme);
        }
    }
    work->compared |= 1u << class;
    work->either = work->either || !light;
    return measurement_run_contest(work, &schemes, false,
                                   parts < 1 ? 1 : parts);
}

/* Sets *out to the class with the most bytes among those that have several
 * methods and were not compared yet. Returns false if no such class is left. */
static bool next_class(const struct measuring *work, enum nw_halo_class *out)
{
    bool found = false;

    for (int i = 0; i < NW_HALO_CLASS_COUNT; i++) {
        if (!measurement_is_open(work, i))
            continue;
        if (!found || work->survey.bytes[i] > work->survey.bytes[*out])
            *out = (enum nw_halo_class)i;
        found = true;
    }
    return found;
}

/* Measures the classes in descending order of their bytes. Each measurement
 * uses the methods that were chosen for the earlier classes. */
static nw_status measure_classes(struct measuring *work)
{
    nw_halo *halo = work->halo;
    struct nw_halo_scheme scheme = nw_halo_scheme_any(!work->allowed[0]);
    enum nw_halo_class kind = NW_HALO_CLASS_ALONE;
    nw_status status = nw_halo_connections_open(halo, &scheme);

    if (!status)
        status = nw_halo_survey(halo, &work->survey);
    while (!status && next_class(work, &kind)) {
        status = compare_methods(work, kind, work->survey.methods[kind]);
        if (!status)
            status = nw_halo_survey(halo, &work->survey);
    }
    if (!status && !work->either && work->allowed[0] && work->allowed[1])
        status = compare_methods(work, NW_HALO_CLASS_ALONE, 0);
    return status;
}

/* --- pairs --- */

static bool is_worth(const struct measuring *work, double whole)
{
    return work->left > LITTLE * whole * work->part;
}

/* Compares the best scheme so far with a scheme in which the model chooses the
 * method of each pair, unless both are equal. */
static nw_status compare_model(struct measuring *work)
{
    nw_halo *halo = work->halo;
    struct nw_halo_scheme model = nw_halo_scheme_any(halo->scheme.phased);
    struct schemes schemes = {.count = 0};
    bool modelled = false;
    nw_status status = nw_halo_groups_modelled(halo, &modelled);

    if (status || modelled || !is_worth(work, CLASSES))
        return status;
    model.modelled = true;
    measurement_add(&schemes, &halo->scheme);
    measurement_add(&schemes, &model);
    return measurement_run_contest(work, &schemes, true, 1);
}

/* Returns the methods (bits) among which a kind may choose. NW_HALO_NODES is
 * not among them: it joins the messages of all pairs, so only a whole class can
 * use it. */
static uint32_t ways_of(const struct nw_halo_kind *kind)
{
    return kind->methods & ~NW_HALO_BIT(NW_HALO_NODES);
}

/* Returns true if list[i] is the only kind of its class. Then the measurement
 * of the class has already compared its methods. */
static bool is_alone(const struct nw_halo_kind *list, size_t count, size_t i)
{
    for (size_t k = 0; k < count; k++)
        if (k != i && list[k].class == list[i].class)
            return false;
    return true;
}

/* Removes the kinds without a choice from the list: those with one method only,
 * and those that are alone in their class. Returns the number of kinds that are
 * left. *worth gets the number of those that take a considerable share of an
 * exchange. */
static size_t sift(struct nw_halo_kind *list, size_t count, size_t *worth)
{
    size_t kept = 0;

    *worth = 0;
    for (size_t i = 0; i < count; i++)
        list[i].choice = !is_alone(list, count, i) &&
                         ways_of(&list[i]) & (ways_of(&list[i]) - 1);
    for (size_t i = 0; i < count && kept < NW_HALO_WISHES; i++) {
        struct nw_halo_kind kind = list[i];

        if (!kind.choice)
            continue;
        *worth += kind.share > LITTLE;
        list[kept++] = kind;
    }
    return kept;
}

static void wish(struct nw_halo_scheme *scheme, const struct nw_halo_kind *kind,
                 uint32_t methods)
{
    uint32_t *old = nw_halo_wish_find(scheme, kind->kind);

    if (old)
        *old = methods;
    else
        scheme->wish[scheme->wish_count++] =
            (struct nw_halo_wish){kind->kind, methods, 0};
}

/* Returns the method that a kind uses in the scheme, as a bit. The result has
 * several bits if pairs of this kind use different methods. */
static uint32_t current_of(struct nw_halo_scheme *scheme,
                           const struct nw_halo_kind *kind)
{
    const uint32_t *wish = nw_halo_wish_find(scheme, kind->kind);

    return wish ? *wish : kind->current;
}

/* Adds two schemes to the comparison. In one, the first kind uses the method
 * `bit`. In the other, all later kinds of its class use this method, too: an
 * exchange waits for its slowest pair, so changing only one of two slow kinds
 * would gain nothing. */
static void measurement_add_ways(struct schemes *schemes,
                                 const struct nw_halo_kind *kind, size_t count,
                                 uint32_t bit)
{
    struct nw_halo_scheme scheme = schemes->item[0];
    bool more = false;

    wish(&scheme, kind, bit);
    measurement_add(schemes, &scheme);
    for (size_t i = 1; i < count; i++)
        if (kind[i].class == kind->class && kind[i].methods & bit &&
            current_of(&scheme, &kind[i]) != bit) {
            wish(&scheme, &kind[i], bit);
            more = true;
        }
    if (more)
        measurement_add(schemes, &scheme);
}

/* Compares the current method of a kind with each other method. `count` is the
 * number of kinds in the list from `kind` on. */
static nw_status compare_kind(struct measuring *work,
                              const struct nw_halo_kind *kind, size_t count,
                              double parts)
{
    struct nw_halo_scheme like = work->halo->scheme;
    struct schemes schemes = {.count = 0};
    uint32_t current = current_of(&like, kind), bits = ways_of(kind);

    if (!(current & (current - 1))) {
        wish(&like, kind, current);
        bits &= ~current;
    }
    measurement_add(&schemes, &like);
    for (; bits; bits &= bits - 1)
        measurement_add_ways(&schemes, kind, count, bits & -bits);
    return measurement_run_contest(work, &schemes, true, parts);
}

/* Measures the kinds of pairs, which differ in shape or distance within a
 * class. Begins with the kind that has the greatest share of an exchange. */
static nw_status measure_kinds(struct measuring *work)
{
    struct nw_halo_kind *kind = NULL;
    size_t count, worth;
    nw_status status = nw_halo_kinds_find(work->halo, &kind, &count);

    if (status)
        return status;
    count = sift(kind, count, &worth);
    work->left = KINDS * work->part;
    for (size_t i = 0; !status && i < worth && is_worth(work, KINDS); i++)
        status = compare_kind(work, &kind[i], count - i, (double)(worth - i));
    free(kind);
    return status;
}

nw_status nw_halo_measure(nw_halo *halo, const bool allowed[2])
{
    struct measuring work = {.halo = halo, .allowed = allowed};
    int own = halo->crowded, any = 0;
    nw_status status = nw_halo_mpi(
        nw_halo_allreduce(halo->comm, &own, &any, 1, MPI_INT, MPI_MAX),
        "measure a halo");

    halo->crowded = any;
    work.part = any ? CROWDED : 1;
    work.left = CLASSES * work.part;
    if (!status)
        status = measure_classes(&work);
    if (!status)
        status = compare_model(&work);
    return status || any ? status : measure_kinds(&work);
}
