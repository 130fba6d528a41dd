/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks MPI how a datatype was constructed. If a datatype was made with large
 * counts, only the large-count functions of MPI 4 can describe it. Their
 * results are converted to the order of MPI_Type_get_contents. */
#include "runtime/messages/datatype_contents.h"

#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>

/* The lengths of the arrays that MPI returns for a datatype. */
struct amounts {
    MPI_Count ints, addresses, large, types;
};

#if MPI_VERSION >= 4
/* Returns true if the MPI library supports MPI 4. This is asked at run time,
 * since the library may be older than the header. */
static bool knows_large(void)
{
    static int version;
    int known = __atomic_load_n(&version, __ATOMIC_RELAXED), minor;

    if (!known && !NW_PMPI(Get_version)(&known, &minor))
        __atomic_store_n(&version, known, __ATOMIC_RELAXED);
    return known >= 4;
}
#endif

static int ask_amounts(MPI_Datatype type, struct amounts *out, int *combiner)
{
    int ints, addresses, types, rc;

#if MPI_VERSION >= 4
    if (knows_large())
        return NW_PMPI(Type_get_envelope_c)(type, &out->ints, &out->addresses,
                                            &out->large, &out->types, combiner);
#endif
    rc = NW_PMPI(Type_get_envelope)(type, &ints, &addresses, &types, combiner);
    if (!rc)
        *out = (struct amounts){ints, addresses, 0, types};
    return rc;
}

static int ask_contents(MPI_Datatype type, const struct amounts *n, int *ints,
                        MPI_Count *large, struct nw_datatype_contents *out)
{
#if MPI_VERSION >= 4
    if (knows_large())
        return NW_PMPI(Type_get_contents_c)(type, n->ints, n->addresses,
                                            n->large, n->types, ints,
                                            out->address, large, out->type);
#endif
    (void)large;
    return NW_PMPI(Type_get_contents)(type, (int)n->ints, (int)n->addresses,
                                      (int)n->types, ints, out->address,
                                      out->type);
}

static bool is_basic(int combiner)
{
    return combiner == MPI_COMBINER_NAMED ||
           combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX ||
           combiner == MPI_COMBINER_F90_INTEGER;
}

bool nw_datatype_contents_is_basic(const struct nw_datatype_contents *recipe)
{
    return is_basic(recipe->combiner);
}

bool nw_type_is_named(MPI_Datatype type)
{
    struct amounts n;
    int combiner;

    return type != MPI_DATATYPE_NULL && !ask_amounts(type, &n, &combiner) &&
           combiner == MPI_COMBINER_NAMED;
}

/* Returns the index among the integer arguments at which the large counts are
 * inserted: after the leading integers for array constructors, after all
 * integers for other constructors. */
static size_t place_of_large(int combiner, size_t ints)
{
    if (combiner == MPI_COMBINER_SUBARRAY)
        return 1;
    return combiner == MPI_COMBINER_DARRAY ? 3 : ints;
}

static void datatype_contents_join(const int *ints, const MPI_Count *large,
                                   const struct amounts *n,
                                   struct nw_datatype_contents *out)
{
    size_t place = place_of_large(out->combiner, (size_t)n->ints);
    size_t many = (size_t)n->large;

    out->numbers = (size_t)n->ints + many;
    for (size_t i = 0; i < (size_t)n->ints; i++)
        out->number[i < place || !many ? i : i + many] = ints[i];
    for (size_t i = 0; i < many; i++)
        out->number[place + i] = large[i];
}

/* Returns how many of the large counts, at their end, are displacements in
 * bytes. */
static size_t count_places(const struct nw_datatype_contents *recipe)
{
    switch (recipe->combiner) {
    case MPI_COMBINER_HVECTOR:
        return 1;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
        return (size_t)recipe->number[0];
    default:
        return 0;
    }
}

static void move_places(struct nw_datatype_contents *recipe)
{
    size_t places = count_places(recipe);

    recipe->numbers -= places;
    recipe->addresses = places;
    for (size_t i = 0; i < places; i++)
        recipe->address[i] = (MPI_Aint)recipe->number[recipe->numbers + i];
}

/* Frees the derived datatypes that MPI_Type_get_contents returned. */
static void free_types(struct nw_datatype_contents *recipe)
{
    struct amounts n;
    int combiner;

    for (size_t i = 0; i < recipe->types; i++)
        if (!ask_amounts(recipe->type[i], &n, &combiner) && !is_basic(combiner))
            NW_PMPI(Type_free)(&recipe->type[i]);
}

static nw_status datatype_contents_make_room(const struct amounts *n,
                                             struct nw_datatype_contents *out)
{
    size_t ints = (size_t)n->ints, large = (size_t)n->large;
    nw_status status =
        nw_alloc(ints + large + 1, sizeof *out->number, &out->number);

    if (!status)
        status = nw_alloc((size_t)n->addresses + large + 1,
                          sizeof *out->address, &out->address);
    if (!status)
        status = nw_alloc((size_t)n->types + 1, sizeof *out->type, &out->type);
    return status;
}

static nw_status read_contents(MPI_Datatype type, const struct amounts *n,
                               struct nw_datatype_contents *out)
{
    int *ints = NULL;
    MPI_Count *large = NULL;
    nw_status status = datatype_contents_make_room(n, out);

    if (!status)
        status = nw_alloc((size_t)n->ints + 1, sizeof *ints, &ints);
    if (!status)
        status = nw_alloc((size_t)n->large + 1, sizeof *large, &large);
    if (!status && ask_contents(type, n, ints, large, out))
        status = nw_fail(NW_EUNSUPPORTED, "a datatype whose construction MPI "
                                          "does not give");
    if (!status) {
        out->types = (size_t)n->types;
        out->addresses = (size_t)n->addresses;
        datatype_contents_join(ints, large, n, out);
        if (n->large)
            move_places(out);
    }
    free(ints);
    free(large);
    return status;
}

nw_status nw_datatype_contents_read(MPI_Datatype type,
                                    struct nw_datatype_contents *out)
{
    struct amounts n;

    *out = (struct nw_datatype_contents){.number = NULL};
    if (ask_amounts(type, &n, &out->combiner))
        return nw_fail(NW_EINVAL, "not an MPI datatype");
    return is_basic(out->combiner) ? NW_OK : read_contents(type, &n, out);
}

void nw_datatype_contents_free(struct nw_datatype_contents *recipe)
{
    free_types(recipe);
    free(recipe->number);
    free(recipe->address);
    free(recipe->type);
}
