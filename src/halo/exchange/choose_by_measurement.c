/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice by measurement: contests of whole schemes, first with one method
 * for each class of pairs, then what the model says of every pair, then one
 * kind of pairs after the other with each method of its own. What it may take
 * is bounded: what is not found out by then stays as it was. Where ranks share
 * cores it is mostly the scheduler that is measured: less of it, and no kinds.
 */
#include "halo/exchange/connections.h"
#include "halo/exchange/classes.h"
#include "halo/exchange/groups.h"
#include "halo/exchange/model_check.h"
#include "halo/exchange/yielding_collectives.h"

#include <stdlib.h>

#define CLASSES 2.25 /* seconds for all classes and the model */
#define KINDS 1.0    /* for all kinds */
#define CROWDED                                                                \
    0.2 /* of that where ranks share cores: it is mostly the                   \
           scheduler then that is measured */
#define LITTLE                                                                 \
    0.05 /* of all seconds, or of an exchange: not worth a contest             \
          */

#define MOST_SCHEMES 32

struct schemes {
    struct nw_halo_scheme item[MOST_SCHEMES];
    size_t count;
};

struct measuring {
    nw_halo *halo;
    bool once, phases; /* schedules that may be */
    uint32_t compared; /* classes whose methods were, a bit each */
    bool either;       /* schedules were compared */
    struct nw_halo_survey survey;
    double part; /* CROWDED, or 1 */
    double left; /* seconds */
};

/* --- contests --- */

static void add(struct schemes *schemes, const struct nw_halo_scheme *scheme)
{
    if (schemes->count < MOST_SCHEMES)
        schemes->item[schemes->count++] = *scheme;
}

/* One of `parts` equal shares of what is left may be spent on it. */
static nw_status run_contest(struct measuring *work,
                             const struct schemes *schemes, bool holder,
                             double parts)
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

/* One scheme for each method in `bits` for a class, all else as in `like`. */
static void vary(struct schemes *schemes, const struct nw_halo_scheme *like,
                 enum nw_halo_class kind, uint32_t bits)
{
    if (!bits)
        add(schemes, like);
    for (int i = 0; i < NW_HALO_METHOD_COUNT; i++) {
        struct nw_halo_scheme scheme = *like;

        scheme.methods[kind] = NW_HALO_BIT(i);
        if (bits & NW_HALO_BIT(i))
            add(schemes, &scheme);
    }
}

static bool is_open(const struct measuring *work, int kind)
{
    uint32_t bits = work->survey.methods[kind];

    return !(work->compared & 1u << kind) && bits & (bits - 1);
}

/* Contests to come, that with the model among them: mostly a short one. */
static double parts_of(const struct measuring *work)
{
    double parts = 0.5;

    for (int i = 0; i < NW_HALO_CLASS_COUNT; i++)
        parts += is_open(work, i);
    return parts;
}

/* The methods of a class, in both schedules where that may change them: light
 * pairs go along with the others. */
static nw_status compare_methods(struct measuring *work,
                                 enum nw_halo_class kind, uint32_t bits)
{
    struct nw_halo_scheme like = work->halo->scheme;
    struct schemes schemes = {.count = 0};
    double parts = parts_of(work);
    bool light = kind == NW_HALO_CLASS_PACKAGE_LIGHT ||
                 kind == NW_HALO_CLASS_NODE_LIGHT ||
                 kind == NW_HALO_CLASS_NETWORK_LIGHT;

    for (int phased = 0; phased < 2; phased++) {
        struct nw_halo_scheme scheme = like;

        scheme.phased = phased;
        if ((phased ? work->phases : work->once) &&
            (!light || phased == like.phased))
            vary(&schemes, &scheme, kind, bits);
    }
    work->compared |= 1u << kind;
    work->either = work->either || !light;
    return run_contest(work, &schemes, false, parts < 1 ? 1 : parts);
}

/* The class with the most bytes that has methods to choose from. */
static bool next_class(const struct measuring *work, enum nw_halo_class *out)
{
    bool found = false;

    for (int i = 0; i < NW_HALO_CLASS_COUNT; i++) {
        if (!is_open(work, i))
            continue;
        if (!found || work->survey.bytes[i] > work->survey.bytes[*out])
            *out = (enum nw_halo_class)i;
        found = true;
    }
    return found;
}

/* Class by class, those that move most first; each finds those before as they
 * were chosen. */
static nw_status measure_classes(struct measuring *work)
{
    nw_halo *halo = work->halo;
    struct nw_halo_scheme scheme = nw_halo_scheme_any(!work->once);
    enum nw_halo_class kind = NW_HALO_CLASS_ALONE;
    nw_status status = nw_halo_connections_open(halo, &scheme);

    if (!status)
        status = nw_halo_survey(halo, &work->survey);
    while (!status && next_class(work, &kind)) {
        status = compare_methods(work, kind, work->survey.methods[kind]);
        if (!status)
            status = nw_halo_survey(halo, &work->survey);
    }
    if (!status && !work->either && work->once && work->phases)
        status = compare_methods(work, NW_HALO_CLASS_ALONE, 0);
    return status;
}

/* --- pairs --- */

static bool is_worth(const struct measuring *work, double whole)
{
    return work->left > LITTLE * whole * work->part;
}

/* What was measured for classes against what the model says of each pair,
 * where that is something else. */
static nw_status compare_model(struct measuring *work)
{
    nw_halo *halo = work->halo;
    struct nw_halo_scheme model = nw_halo_scheme_any(halo->scheme.phased);
    struct schemes schemes = {.count = 0};
    bool differs = false;
    nw_status status = nw_halo_model_check_differs(halo, &differs);

    if (status || !differs || !is_worth(work, CLASSES))
        return status;
    model.modelled = true;
    add(&schemes, &halo->scheme);
    add(&schemes, &model);
    return run_contest(work, &schemes, true, 1);
}

/* What it may go by. `nodes` makes one message of all pairs: a class's. */
static uint32_t ways_of(const struct nw_halo_kind *kind)
{
    return kind->methods & ~NW_HALO_BIT(NW_HALO_NODES);
}

/* One that is alone in its class was compared with that. */
static bool is_alone(const struct nw_halo_kind *list, size_t count, size_t i)
{
    for (size_t k = 0; k < count; k++)
        if (k != i && list[k].class == list[i].class)
            return false;
    return true;
}

/* Leaves those that have a choice of their own, *worth of them a contest. */
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
    int i = 0;

    while (i < scheme->wish_count && scheme->wish[i].kind != kind->kind)
        i++;
    scheme->wish[i] = (struct nw_halo_wish){kind->kind, methods, 0};
    scheme->wish_count += i == scheme->wish_count;
}

/* What it goes by in the scheme; several bits: one for some, one for others. */
static uint32_t current_of(const struct nw_halo_scheme *scheme,
                           const struct nw_halo_kind *kind)
{
    for (int i = 0; i < scheme->wish_count; i++)
        if (scheme->wish[i].kind == kind->kind)
            return scheme->wish[i].methods;
    return kind->current;
}

/* The first of the kinds by one method, and all behind it in its class with
 * it: what waits for the slowest gains nothing from one of two slow ones. */
static void add_ways(struct schemes *schemes, const struct nw_halo_kind *kind,
                     size_t count, uint32_t bit)
{
    struct nw_halo_scheme scheme = schemes->item[0];
    bool more = false;

    wish(&scheme, kind, bit);
    add(schemes, &scheme);
    for (size_t i = 1; i < count; i++)
        if (kind[i].class == kind->class && kind[i].methods & bit &&
            current_of(&scheme, &kind[i]) != bit) {
            wish(&scheme, &kind[i], bit);
            more = true;
        }
    if (more)
        add(schemes, &scheme);
}

/* The kind as it goes now, written down where that is one way, and by each
 * other method. */
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
    add(&schemes, &like);
    for (int i = 0; i < NW_HALO_METHOD_COUNT; i++)
        if (bits & NW_HALO_BIT(i))
            add_ways(&schemes, kind, count, NW_HALO_BIT(i));
    return run_contest(work, &schemes, true, parts);
}

/* Pairs of unequal shape or distance inside a class, the greatest share of an
 * exchange first. */
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

nw_status nw_halo_measure(nw_halo *halo, bool once, bool phases)
{
    struct measuring work = {.halo = halo, .once = once, .phases = phases};
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
