/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes all ranks return a failure that occurred on one rank, and checks that
 * all ranks have passed the same options. */
#include "halo/exchange/agree.h"
#include "halo/exchange/yielding_collectives.h"

#include "base/hash.h"

#include <string.h>

nw_status nw_halo_mpi(int code, const char *what)
{
    char words[MPI_MAX_ERROR_STRING + 1] = "";
    int length;

    if (code == MPI_SUCCESS)
        return NW_OK;
    NW_PMPI(Error_string)(code, words, &length);
    words[strcspn(words, "\n")] = '\0';
    return nw_fail(NW_EMPI, "MPI fails to %s: %s", what, words);
}

struct failure {
    int status;
    char text[508];
};

nw_status nw_halo_agree(MPI_Comm comm, nw_status status)
{
    struct failure failure = {.status = (int)status};
    int rank, size, own, first;
    int code = NW_PMPI(Comm_rank)(comm, &rank);

    if (code == MPI_SUCCESS)
        code = NW_PMPI(Comm_size)(comm, &size);
    if (code != MPI_SUCCESS)
        return nw_halo_mpi(code, "agree");
    own = status ? rank : size;
    code = nw_halo_allreduce(comm, &own, &first, 1, MPI_INT, MPI_MIN);
    if (code != MPI_SUCCESS)
        return nw_halo_mpi(code, "agree");
    if (first == size)
        return NW_OK;
    if (status)
        strncpy(failure.text, nw_error_text(), sizeof failure.text - 1);
    code = NW_PMPI(Bcast)(&failure, sizeof failure, MPI_BYTE, first, comm);
    if (code != MPI_SUCCESS)
        return nw_halo_mpi(code, "agree");
    if (rank == first)
        return status;
    return nw_fail((nw_status)failure.status, "rank %d: %s", first,
                   failure.text);
}

/* The options that must be equal on every rank, as pairs of a name for messages
 * and an integer. Options with several numbers, such as the 27 radii, are
 * hashed into one. */
#define WORD_LIST(X)                                                           \
    X("cells along x", options->extent[0])                                     \
    X("cells along y", options->extent[1])                                     \
    X("cells along z", options->extent[2])                                     \
    X("a radius", fold_radii(options))                                         \
    X("a border", fold_borders(options))                                       \
    X("the number of quantities", options->quantity_count)                     \
    X("the size of a quantity", fold_quantities(options))                      \
    X("the interval", options->interval)                                       \
    X("the partition", options->partition)                                     \
    X("the placement", options->placement)                                     \
    X("the seed", (int64_t)options->seed)                                      \
    X("the topology", fold_text(options->topology))                            \
    X("own pieces or the library's", options->box != NULL)                     \
    X("own arrays or the library's", whose_arrays(options))                    \
    X("the kind of memory", options->memory_kind)                              \
    X("the methods", options->methods)                                         \
    X("the schedule", options->schedule)                                       \
    X("the choice", options->choice)                                           \
    X("the use of a cache", !options->cache || *options->cache)                \
    X("the ranks a node", options->ranks_per_node)

static int64_t halo_agree_fold(int64_t hash, int64_t value)
{
    return (int64_t)(nw_hash_word((uint64_t)hash, (uint64_t)value) & INT64_MAX);
}

static int64_t fold_radii(const struct nw_halo_options *options)
{
    int64_t hash = 7;

    for (int d = 0; d < 27; d++)
        hash = halo_agree_fold(hash, options->radius[d]);
    return hash;
}

static int64_t fold_borders(const struct nw_halo_options *options)
{
    int64_t hash = 7;

    for (int axis = 0; axis < 3; axis++)
        hash = halo_agree_fold(hash, options->border[axis][0] +
                                         4 * (int)options->border[axis][1]);
    return hash;
}

static int64_t fold_quantities(const struct nw_halo_options *options)
{
    int64_t hash = 7;

    for (int32_t i = 0; options->quantity && i < options->quantity_count; i++) {
        hash = halo_agree_fold(hash, (int64_t)options->quantity[i].bytes);
        hash = halo_agree_fold(hash, (int64_t)options->quantity[i].stride);
    }
    return hash;
}

static int64_t whose_arrays(const struct nw_halo_options *options)
{
    return options->arrays ? 2 : options->base || options->memory;
}

static int64_t fold_text(const char *text)
{
    int64_t hash = 7;

    for (; text && *text; text++)
        hash = halo_agree_fold(hash, *text);
    return hash;
}

static const char *const word_names[] = {
#define NAME(name, value) name,
    WORD_LIST(NAME)
#undef NAME
};
enum { WORDS = sizeof word_names / sizeof *word_names };

nw_status nw_halo_agree_options(MPI_Comm comm,
                                const struct nw_halo_options *options)
{
    int64_t words[WORDS] = {
#define VALUE(name, value) (int64_t)(value),
        WORD_LIST(VALUE)
#undef VALUE
    };
    int64_t least[WORDS], most[WORDS];
    int code =
        nw_halo_allreduce(comm, words, least, WORDS, MPI_INT64_T, MPI_MIN);

    if (code == MPI_SUCCESS)
        code =
            nw_halo_allreduce(comm, words, most, WORDS, MPI_INT64_T, MPI_MAX);
    if (code != MPI_SUCCESS)
        return nw_halo_mpi(code, "compare plans");
    for (int i = 0; i < WORDS; i++)
        if (least[i] != most[i])
            return nw_fail(NW_EINVAL,
                           "the ranks plan different halos: they differ in %s",
                           word_names[i]);
    return NW_OK;
}
