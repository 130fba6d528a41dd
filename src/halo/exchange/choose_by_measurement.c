/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses methods by measuring whole exchanges with different schemes. A scheme
 * gives a method to every pair of ranks. First, the methods of each class of
 * pairs are compared. Then the best scheme so far is compared with the scheme
 * that the model predicts to be best. The total time is limited; choices that
 * were not measured in time keep their first value. If ranks share cores, times
 * mostly show effects of the scheduler, so the time limit is shorter.
 */
#include "halo/exchange/choose.h"
#include "halo/exchange/yielding_collectives.h"

#define LIMIT 2.25 /* time limit in seconds for all classes and the model */
#define OVERSUBSCRIBED 0.2 /* factor for the limit if ranks share cores */
/* if a smaller fraction of the limit is left, the model is not compared */
#define LITTLE 0.05
/* The comparison with the model is usually short. It takes this part of the
 * time of a class. */
#define MODEL 0.5

struct measuring {
    nw_halo *halo;
    const bool *allowed; /* schedules: [0] at once, [1] in phases */
    uint32_t compared;   /* bit mask of the classes that were compared */
    bool both;           /* true: both schedules have been compared */
    struct nw_halo_survey survey;
    double left; /* seconds left for measurements */
};

static void measurement_add(struct nw_halo_rivals *rivals,
                            const struct nw_halo_scheme *scheme)
{
    if (rivals->count < NW_HALO_RIVALS)
        rivals->scheme[rivals->count++] = *scheme;
}

/* Compares the schemes by measurement, within 1/parts of the time that is left,
 * and opens the fastest. */
static nw_status measurement_compare(struct measuring *work,
                                     struct nw_halo_rivals *rivals,
                                     double parts)
{
    double spent = 0;
    nw_status status;

    nw_halo_connections_close(work->halo);
    if (rivals->count == 1)
        return nw_halo_connections_open(work->halo, rivals->scheme);
    rivals->seconds = work->left / parts;
    status = nw_halo_tune(work->halo, rivals, &spent);
    work->left = work->left > spent ? work->left - spent : 0;
    return status;
}

/* Compares the methods in `bits` for a class, each in all allowed schedules.
 * For a light class only the current schedule is used, since pairs with more
 * bytes decide the schedule. If `bits` is 0, compares only the schedules. */
static nw_status compare_methods(struct measuring *work,
                                 enum nw_halo_class class, uint32_t bits,
                                 double parts)
{
    struct nw_halo_scheme scheme = work->halo->scheme;
    bool light = nw_halo_is_light(class), current = scheme.phased;
    struct nw_halo_rivals rivals = {.count = 0};

    for (int phased = 0; phased < 2; phased++) {
        if (!work->allowed[phased] || (light && phased != current))
            continue;
        scheme.phased = phased;
        if (!bits)
            measurement_add(&rivals, &scheme);
        for (uint32_t left = bits; left; left &= left - 1) {
            scheme.methods[class] = left & -left;
            measurement_add(&rivals, &scheme);
        }
    }
    work->compared |= 1u << class;
    work->both = work->both || !light;
    return measurement_compare(work, &rivals, parts);
}

/* Returns the number of classes that have several methods and were not compared
 * yet. Sets *most to the one of them with the most bytes. */
static int open_classes(const struct measuring *work, enum nw_halo_class *most)
{
    int count = 0;

    for (int i = 0; i < NW_HALO_CLASS_COUNT; i++) {
        uint32_t bits = work->survey.methods[i];

        if (work->compared & 1u << i || !(bits & (bits - 1)))
            continue;
        if (!count++ || work->survey.bytes[i] > work->survey.bytes[*most])
            *most = (enum nw_halo_class)i;
    }
    return count;
}

/* Measures the classes in descending order of their bytes. Each measurement
 * uses the methods that were chosen for the earlier classes. An exchange waits
 * for its slowest pair, so a slow first method of a later class can hide the
 * differences of an earlier one. So several classes are measured twice. */
static nw_status measure_classes(struct measuring *work)
{
    nw_halo *halo = work->halo;
    struct nw_halo_scheme scheme = nw_halo_scheme_any(!work->allowed[0]);
    enum nw_halo_class class = NW_HALO_CLASS_ALONE;
    nw_status status = nw_halo_connections_open(halo, &scheme);
    int count = 0, later = 0;

    for (int pass = 0; !status && pass < 2; pass++) {
        work->compared = 0;
        do {
            status = nw_halo_survey(halo, &work->survey);
            count = status ? 0 : open_classes(work, &class);
            if (!pass && !work->compared)
                later = count > 1 ? count : 0;
            if (count)
                status =
                    compare_methods(work, class, work->survey.methods[class],
                                    count + MODEL + (pass ? 0 : later));
        } while (!status && count);
        if (!later)
            break;
    }
    if (!status && !work->both && work->allowed[0] && work->allowed[1])
        status = compare_methods(work, NW_HALO_CLASS_ALONE, 0, 1);
    return status;
}

/* Compares the best scheme so far with a scheme in which the model chooses the
 * method of each pair, unless both are equal. */
static nw_status compare_model(struct measuring *work, double limit)
{
    nw_halo *halo = work->halo;
    struct nw_halo_scheme model = nw_halo_scheme_any(halo->scheme.phased);
    struct nw_halo_rivals rivals = {.holder = true};
    bool modelled = false;
    nw_status status = nw_halo_is_modelled(halo, &modelled);

    if (status || modelled || work->left <= LITTLE * limit)
        return status;
    model.modelled = true;
    measurement_add(&rivals, &halo->scheme);
    measurement_add(&rivals, &model);
    return measurement_compare(work, &rivals, 1);
}

nw_status nw_halo_measure(nw_halo *halo, const bool allowed[2])
{
    struct measuring work = {.halo = halo, .allowed = allowed};
    int own = halo->oversubscribed, any = 0;
    nw_status status = nw_halo_mpi(
        nw_halo_allreduce(halo->comm, &own, &any, 1, MPI_INT, MPI_MAX),
        "measure a halo");
    double limit = any ? OVERSUBSCRIBED * LIMIT : LIMIT;

    halo->oversubscribed = any;
    work.left = limit;
    if (!status)
        status = measure_classes(&work);
    return status ? status : compare_model(&work, limit);
}
