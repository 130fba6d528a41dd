/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the algorithm of a collective call: the one that NODEWISE_COLLECTIVES
 * names, or else by message size and number of ranks. The table of sizes,
 * broadly that of MPICH, is in nodewise-profile(1).
 */
#include "runtime/profile/choice.h"

#include <string.h>

#define BIT(name) (1u << NW_ALGORITHM_##name)
#define TREES                                                                  \
    (BIT(LINEAR) | BIT(CHAIN) | BIT(PIPELINE) | BIT(BINARY) | BIT(BINOMIAL))

static const struct {
    const char *name;
    unsigned algorithms;
} collectives[NW_COLLECTIVE_COUNT] = {
    [NW_COLLECTIVE_BARRIER] = {"barrier", BIT(LINEAR) | BIT(BRUCK) |
                                              BIT(RECURSIVE_DOUBLING)},
    [NW_COLLECTIVE_BCAST] = {"bcast", TREES | BIT(SCATTER_ALLGATHER)},
    [NW_COLLECTIVE_REDUCE] = {"reduce", TREES},
    [NW_COLLECTIVE_ALLREDUCE] = {"allreduce", BIT(LINEAR) | BIT(BINOMIAL) |
                                                  BIT(RING) |
                                                  BIT(RECURSIVE_DOUBLING) |
                                                  BIT(RABENSEIFNER)},
    [NW_COLLECTIVE_GATHER] = {"gather", BIT(LINEAR) | BIT(BINOMIAL)},
    [NW_COLLECTIVE_SCATTER] = {"scatter", BIT(LINEAR) | BIT(BINOMIAL)},
    [NW_COLLECTIVE_ALLGATHER] = {"allgather", BIT(RING) | BIT(BRUCK) |
                                                  BIT(NEIGHBOR) |
                                                  BIT(RECURSIVE_DOUBLING)},
    [NW_COLLECTIVE_ALLTOALL] = {"alltoall",
                                BIT(LINEAR) | BIT(PAIRWISE) | BIT(BRUCK)},
    [NW_COLLECTIVE_REDUCE_SCATTER] = {"reduce_scatter", BIT(RECURSIVE_HALVING) |
                                                            BIT(RING) |
                                                            BIT(PAIRWISE)},
    [NW_COLLECTIVE_SCAN] = {"scan", BIT(LINEAR) | BIT(RECURSIVE_DOUBLING)},
};

static const char *const algorithms[] = {"auto",
#define NAME(name, text) text,
                                         NW_ALGORITHM_LIST(NAME)
#undef NAME
};

static enum nw_collective_algorithm chosen[NW_COLLECTIVE_COUNT];
static bool is_off;

static bool profile_choice_same(const char *word, size_t length,
                                const char *name)
{
    return strlen(name) == length && !memcmp(word, name, length);
}

/* Reads one setting "COLLECTIVE:ALGORITHM" that ends before `end`. Returns
 * false if it is invalid. */
static bool set_one(const char *word, const char *end)
{
    const char *colon = memchr(word, ':', (size_t)(end - word));
    int collective = 0, algorithm = 0;

    if (!colon)
        return false;
    while (collective < NW_COLLECTIVE_COUNT &&
           !profile_choice_same(word, (size_t)(colon - word),
                                collectives[collective].name))
        collective++;
    while (algorithm < NW_ALGORITHM_COUNT &&
           !profile_choice_same(colon + 1, (size_t)(end - colon - 1),
                                algorithms[algorithm]))
        algorithm++;
    if (collective == NW_COLLECTIVE_COUNT || algorithm == NW_ALGORITHM_COUNT ||
        (algorithm && !(collectives[collective].algorithms & 1u << algorithm)))
        return false;
    chosen[collective] = (enum nw_collective_algorithm)algorithm;
    return true;
}

void nw_choice_set(const char *text, const char **bad)
{
    *bad = NULL;
    memset(chosen, 0, sizeof chosen);
    is_off = text && !strcmp(text, "off");
    if (!text || is_off)
        return;
    while (*text) {
        const char *end = strchr(text, ',');

        end = end ? end : text + strlen(text);
        if (!set_one(text, end))
            *bad = text;
        text = *end ? end + 1 : end;
    }
}

bool nw_choice_is_on(void)
{
    return !is_off;
}

static enum nw_collective_algorithm
choice_by_size(enum nw_collective collective, int size, uint64_t bytes)
{
    switch (collective) {
    case NW_COLLECTIVE_BCAST:
        return bytes < 12288 || size < 8 ? NW_ALGORITHM_BINOMIAL
                                         : NW_ALGORITHM_SCATTER_ALLGATHER;
    case NW_COLLECTIVE_REDUCE:
        return NW_ALGORITHM_BINOMIAL;
    case NW_COLLECTIVE_ALLREDUCE:
        return bytes <= 2048      ? NW_ALGORITHM_RECURSIVE_DOUBLING
               : bytes <= 1 << 20 ? NW_ALGORITHM_RABENSEIFNER
                                  : NW_ALGORITHM_RING;
    case NW_COLLECTIVE_GATHER:
    case NW_COLLECTIVE_SCATTER:
        return bytes <= 2048 && size >= 8 ? NW_ALGORITHM_BINOMIAL
                                          : NW_ALGORITHM_LINEAR;
    case NW_COLLECTIVE_ALLGATHER:
        return bytes < 81920 ? NW_ALGORITHM_RECURSIVE_DOUBLING
                             : NW_ALGORITHM_RING;
    case NW_COLLECTIVE_ALLTOALL:
        return bytes <= 256 && size >= 8 ? NW_ALGORITHM_BRUCK
                                         : NW_ALGORITHM_PAIRWISE;
    case NW_COLLECTIVE_REDUCE_SCATTER:
        return bytes < 524288 ? NW_ALGORITHM_RECURSIVE_HALVING
                              : NW_ALGORITHM_RING;
    default:
        return NW_ALGORITHM_RECURSIVE_DOUBLING;
    }
}

enum nw_collective_algorithm nw_choice(enum nw_collective collective, int size,
                                       uint64_t bytes)
{
    return chosen[collective] ? chosen[collective]
                              : choice_by_size(collective, size, bytes);
}
