/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mapping problem, made from the arguments of a call. It consists of the
 * nodes that take part, the units of each node (groups of cores or of GPUs),
 * the number of ranks that each node and unit takes, and the fixed ranks.
 * Algorithms fill an answer; nw_answer_to_mapping converts it to a mapping.
 */
#ifndef NW_MAP_PROBLEM_PROBLEM_H
#define NW_MAP_PROBLEM_PROBLEM_H

#include <nodewise/map.h>

/* Arguments of a call of the library; `options` may be NULL. */
struct nw_map_call {
    const nw_topology *topology;
    const nw_pattern *pattern;
    const struct nw_map_options *options;
};

/* Units of all hosts. A unit is a group of cores, or of GPUs, of one node, as
 * many as one rank needs. Host h has the units first[h] .. first[h + 1] - 1.
 * Unit u consists of the `size` cores or GPUs from member[u * size] on, as
 * ascending indexes within the node. */
struct nw_units {
    int32_t size;
    int32_t *first; /* [host_count + 1] first unit of each host */
    int32_t *member;
    int32_t *capacity; /* [units] how many ranks that are not fixed to its cores
                          or GPUs each unit takes */
};

/* Returns the sum of the capacities of a host's units. */
static inline int64_t nw_units_capacity(const struct nw_units *units,
                                        int32_t host)
{
    int64_t sum = 0;

    for (int32_t u = units->first[host]; u < units->first[host + 1]; u++)
        sum += units->capacity[u];
    return sum;
}

struct nw_budget;

/* The problem. Algorithms only read it. */
struct nw_problem {
    struct nw_budget *budget; /* limits of steps and time, shared by all
                                 searches; NULL: no limits */
    /* cost of the default mapping, filled by the algorithms; NULL: not
     * requested */
    struct nw_cost *standard;
    const nw_topology *topology;
    const nw_pattern *pattern;
    /* phases of a training step in `pattern`; phases->found is false if it has
     * none */
    const struct nw_pattern_phases *phases;
    /* options of the call. cores_per_rank, ranks_per_gpu and capacity are 1 if
     * they were 0; gpus_per_rank, too, if ranks use GPUs. If the pattern has
     * phases, `careful` is off. */
    struct nw_map_options options;
    bool uses_gpus;  /* at least one rank uses a GPU */
    bool *wants_gpu; /* [rank_count] the rank uses a GPU */
    int32_t host_count;
    /* [host_count] node of each host, as its index in the topology */
    int32_t *host;
    int32_t *capacity; /* [host_count] most ranks of each host, including fixed
                          ones */
    /* [host_count] most ranks with GPUs that the GPUs of each host take,
     * including fixed ones; the host may have fewer cores */
    int32_t *gpu_capacity;
    /* units of cores; units of GPUs. Cores and GPUs that fixed ranks fill are
     * left out. */
    struct nw_units core, gpu;
    bool lean; /* true: `auto` leaves out the QAP searches for small problems */
    int32_t *fixed_host; /* [rank_count] host of a fixed rank, otherwise -1;
                            NULL if no rank is fixed */
    /* Borrowed: load[r] of each rank; limit[u], the largest load allowed on
     * each core unit. NULL if loads are not limited. Only the searches on slots
     * (congestion/), swaps on hierarchies (hierarchy/) and the assignment of
     * GPUs in capacity/ respect the limits. */
    const int64_t *load, *limit;
};

/* Returns true if the load of `rank` is within the limit of a core unit (-1: no
 * unit), or if loads are not limited. */
static inline bool nw_problem_within_limit(const struct nw_problem *problem,
                                           int32_t core_unit, int32_t rank)
{
    return !problem->limit || core_unit < 0 ||
           problem->load[rank] <= problem->limit[core_unit];
}

/* Returns the caller's options with defaults for fields that an older, shorter
 * struct lacks; `options` may be NULL. */
struct nw_map_options nw_problem_options(const struct nw_map_options *options);
/* Makes the problem; the caller calls nw_problem_fini unless this fails. If the
 * ranks do not fit on the hosts, returns NW_EINVAL with a message that says how
 * many would. The problem borrows all arguments until nw_problem_fini;
 * `options` may be NULL. */
NW_MUST_CHECK nw_status nw_problem_init(struct nw_problem *problem,
                                        const nw_topology *topology,
                                        const nw_pattern *pattern,
                                        const struct nw_map_options *options);
void nw_problem_fini(struct nw_problem *problem);

/* Returns NW_EINVAL if an objective of the options needs links and the topology
 * has none. */
NW_MUST_CHECK nw_status nw_problem_check_links(
    const nw_topology *topology, const struct nw_map_options *options);

/* Returns true if messages of a kind are in GPU memory at their sender's end
 * (end 0) or at their receiver's end (end 1). */
static inline bool nw_problem_is_gpu_end(enum nw_kind kind, int end)
{
    return kind == NW_KIND_GG || kind == (end ? NW_KIND_HG : NW_KIND_GH);
}

/* Sets marks[r] to true for each rank r that sends from a GPU or receives on
 * one. The other marks do not change. */
void nw_problem_mark_gpu_ends(const nw_pattern *pattern, bool *marks);

/* Returns NW_EINVAL if a host of the options is not a node of the topology, or
 * is given twice. */
NW_MUST_CHECK nw_status nw_problem_check_hosts(
    const nw_topology *topology, const struct nw_map_options *options);

/* Steps of nw_problem_init, defined in hosts_and_units.c. The first one lists
 * the hosts; the second one divides their cores and GPUs into units. */
NW_MUST_CHECK nw_status nw_problem_list_hosts(struct nw_problem *problem);
NW_MUST_CHECK nw_status nw_problem_cut_units(struct nw_problem *problem);

/* Sets `capacity` and `gpu_capacity`: the sum of the capacities of a host's
 * core (GPU) units plus the number of ranks with a fixed core (GPU). `capacity`
 * is at most the host's slots. */
void nw_problem_count_capacity(struct nw_problem *problem);

/* Sets *host_of to the host of each node of the topology, -1 if the node is not
 * used. The caller frees *host_of. */
NW_MUST_CHECK nw_status
nw_problem_hosts_of_nodes(const struct nw_problem *problem, int32_t **host_of);

/* Returns the cores or, if `gpus` is set, the GPUs that a rank is fixed to; an
 * empty list if it is not fixed to any. */
struct nw_ints nw_problem_fixed(const struct nw_problem *problem, bool gpus,
                                int32_t rank);
/* Returns the cores or GPUs of a unit, borrowed from `units`; an empty list if
 * `unit` is -1. */
struct nw_ints nw_units_members(const struct nw_units *units, int32_t unit);
/* Return true if a rank must get a core unit, because its core is not fixed, or
 * a GPU unit, because it uses a GPU that is not fixed. */
bool nw_problem_needs_core(const struct nw_problem *problem, int32_t rank);
bool nw_problem_needs_gpu(const struct nw_problem *problem, int32_t rank);

/* Returns a core or, if `gpus` is set, a GPU of a host as an end of routes;
 * `member` is its index within the node. */
struct nw_end nw_problem_end(const struct nw_problem *problem, bool gpus,
                             int32_t host, int32_t member);
static inline struct nw_end
nw_problem_core_end(const struct nw_problem *problem, int32_t host,
                    int32_t core)
{
    return nw_problem_end(problem, false, host, core);
}
static inline struct nw_end nw_problem_gpu_end(const struct nw_problem *problem,
                                               int32_t host, int32_t gpu)
{
    return nw_problem_end(problem, true, host, gpu);
}
/* Returns NIC `nic` of a host as an end of routes; the root of the node if it
 * has no such NIC. */
struct nw_end nw_problem_nic_end(const struct nw_problem *problem, int32_t host,
                                 int32_t nic);
/* Returns the largest value of count() for any host's node, at least 1. */
int32_t nw_problem_most(const struct nw_problem *problem,
                        int32_t (*count)(const nw_topology *, int32_t node));
/* Returns the mean of nw_topology_distance between the given cores and GPUs of
 * one host: the links on a route, or the distance that the topology states. */
double nw_problem_gpu_distance(const struct nw_problem *problem, int32_t host,
                               struct nw_ints cores, struct nw_ints gpus);
/* Returns the package of the first core of a core unit, -1 if unknown. */
int32_t nw_problem_core_package(const struct nw_problem *problem, int32_t host,
                                int32_t unit);

/* The result of an algorithm: a host, a core unit and a GPU unit for each rank.
 * -1: none assigned, or the rank's core or GPU is fixed. */
struct nw_answer {
    int32_t *host, *core, *gpu; /* [rank_count] host and units of each rank */
    /* [rank_count] host of the rank's GPU, if GPUs may be on other nodes;
     * otherwise NULL */
    int32_t *gpu_host;
    bool approximate; /* the search used an approximation of the machine */
    bool grid_found;  /* the search found a grid in the pattern */
};
NW_MUST_CHECK nw_status nw_answer_init(struct nw_answer *answer,
                                       int32_t rank_count);
/* If gpu_host is NULL, allocates it, so that GPUs may be on other nodes, and
 * sets it to the host of each rank. Otherwise does nothing. */
NW_MUST_CHECK nw_status nw_answer_allow_remote(struct nw_answer *answer,
                                               int32_t rank_count);
void nw_answer_fini(struct nw_answer *answer);
/* Makes the mapping of a complete answer; the caller frees *out. */
NW_MUST_CHECK nw_status nw_answer_to_mapping(const struct nw_answer *answer,
                                             const struct nw_problem *problem,
                                             nw_mapping **out);

/* Makes an answer from the mapping of --from (options.start); without such a
 * mapping, the answer has no arrays. Each rank gets the units that contain its
 * first core and first GPU in that mapping, -1 if no unit does or if it is
 * fixed to a core or GPU. The caller calls nw_answer_fini unless this fails.
 * Returns NW_EINVAL if the mapping has another number of ranks or uses nodes
 * that are not among the hosts. Defined in from_mapping.c. */
NW_MUST_CHECK nw_status nw_answer_from_mapping(const struct nw_problem *problem,
                                               struct nw_answer *answer);
/* Returns NW_EINVAL if a rank lacks a host or a unit that it needs, or is not
 * on the host to which it is fixed. Also returns it if a unit or host has more
 * ranks than it takes. */
NW_MUST_CHECK nw_status nw_answer_check_complete(
    const struct nw_problem *problem, const struct nw_answer *answer);

/* Fills an answer with the default mapping. Defined in launcher_default.c. */
NW_MUST_CHECK nw_status nw_answer_default(const struct nw_problem *problem,
                                          struct nw_answer *answer);
/* Makes the default mapping of a call; the caller frees *out. */
NW_MUST_CHECK nw_status nw_problem_default(const struct nw_map_call *call,
                                           nw_mapping **out);
/* Assigns core units as the default mapping does: the ranks of each host
 * alternate between its packages, and each gets a unit of its own, -1 if none
 * is left. The hosts of the ranks must be set. Ranks fixed to a core get none.
 */
NW_MUST_CHECK nw_status nw_answer_default_cores(
    const struct nw_problem *problem, struct nw_answer *answer);
/* Assigns the GPU units of each host in ascending order to those of its ranks
 * that need one; after the last unit the first one follows again. The hosts of
 * the ranks must be set. A rank gets -1 if all units are full. */
NW_MUST_CHECK nw_status nw_answer_gpus_in_order(
    const struct nw_problem *problem, struct nw_answer *answer);

#endif
