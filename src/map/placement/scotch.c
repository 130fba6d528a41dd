/* SPDX-License-Identifier: BSD-3-Clause */
/* A placer for any phase that uses Scotch's dual recursive bipartitioning
 * (Pellegrini and Roman 1996). No other file uses Scotch. The 64-bit variant of
 * the library is loaded at first use. Each call has its own context, a random
 * seed from the placement and one thread. Additional processes without traffic
 * fill the free slots: the balance that Scotch keeps is then one per slot. */
#include "map/placement/rashti_weights.h"
#include "map/placement/placement.h"
#include "base/array.h"
#include "base/library.h"
#include "base/status.h"
#include "config.h"
#include "topology/topology.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include NW_SCOTCH_HEADER

#define GRAPH_PLACES_MAX 1024 /* most places given as a complete graph */
#define LEVELS_MAX 32         /* more than a tree of 2^31 places has */
#define LENGTH_MAX 1e6        /* limit on a distance; keeps sums in 64 bits */
#define LENGTH_FINE 1e4 /* scaled longest distance if some are fractions */
#define WEIGHT_SUM 1e12 /* limit on the sum of all weights, in 64 bits */

/* Functions of the loaded library; scotch_load_from lists their names. */
static struct {
    __typeof__(&SCOTCH_numSizeof) num_size;
    __typeof__(&SCOTCH_randomSeed) random_seed;
    __typeof__(&SCOTCH_randomReset) random_reset;
    __typeof__(&SCOTCH_contextInit) context_init;
    __typeof__(&SCOTCH_contextExit) context_exit;
    __typeof__(&SCOTCH_contextOptionSetNum) context_option;
    __typeof__(&SCOTCH_contextRandomClone) context_clone;
    __typeof__(&SCOTCH_contextRandomSeed) context_seed;
    __typeof__(&SCOTCH_contextRandomReset) context_reset;
    __typeof__(&SCOTCH_contextThreadSpawn) context_threads;
    __typeof__(&SCOTCH_contextBindGraph) context_bind;
    __typeof__(&SCOTCH_graphInit) graph_init;
    __typeof__(&SCOTCH_graphExit) graph_exit;
    __typeof__(&SCOTCH_graphBuild) graph_build;
    __typeof__(&SCOTCH_graphMap) graph_map;
    __typeof__(&SCOTCH_graphMapFixed) graph_map_fixed;
    __typeof__(&SCOTCH_archInit) arch_init;
    __typeof__(&SCOTCH_archExit) arch_exit;
    __typeof__(&SCOTCH_archTleaf) arch_tleaf;
    __typeof__(&SCOTCH_archCmpltw) arch_complete;
    __typeof__(&SCOTCH_archBuild0) arch_build;
    __typeof__(&SCOTCH_stratInit) strat_init;
    __typeof__(&SCOTCH_stratExit) strat_exit;
    __typeof__(&SCOTCH_stratGraphMapBuild) strat_map;
    __typeof__(&SCOTCH_stratGraphMap) strat_words;
    __typeof__(&SCOTCH_stratGraphBipart) strat_bipartition;
} scotch;

static bool scotch_is_loaded;
static pthread_once_t scotch_once = PTHREAD_ONCE_INIT;
/* Held while Scotch runs, because it draws random numbers from a global state
 * when it reads a machine. */
static pthread_mutex_t scotch_one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* Loads Scotch from the library with this file name and finds its functions. */
static nw_status scotch_load_from(const char *name)
{
    const struct nw_symbol symbols[] = {
        {"SCOTCH_numSizeof", &scotch.num_size},
        {"SCOTCH_randomSeed", &scotch.random_seed},
        {"SCOTCH_randomReset", &scotch.random_reset},
        {"SCOTCH_contextInit", &scotch.context_init},
        {"SCOTCH_contextExit", &scotch.context_exit},
        {"SCOTCH_contextOptionSetNum", &scotch.context_option},
        {"SCOTCH_contextRandomClone", &scotch.context_clone},
        {"SCOTCH_contextRandomSeed", &scotch.context_seed},
        {"SCOTCH_contextRandomReset", &scotch.context_reset},
        {"SCOTCH_contextThreadSpawn", &scotch.context_threads},
        {"SCOTCH_contextBindGraph", &scotch.context_bind},
        {"SCOTCH_graphInit", &scotch.graph_init},
        {"SCOTCH_graphExit", &scotch.graph_exit},
        {"SCOTCH_graphBuild", &scotch.graph_build},
        {"SCOTCH_graphMap", &scotch.graph_map},
        {"SCOTCH_graphMapFixed", &scotch.graph_map_fixed},
        {"SCOTCH_archInit", &scotch.arch_init},
        {"SCOTCH_archExit", &scotch.arch_exit},
        {"SCOTCH_archTleaf", &scotch.arch_tleaf},
        {"SCOTCH_archCmpltw", &scotch.arch_complete},
        {"SCOTCH_archBuild0", &scotch.arch_build},
        {"SCOTCH_stratInit", &scotch.strat_init},
        {"SCOTCH_stratExit", &scotch.strat_exit},
        {"SCOTCH_stratGraphMapBuild", &scotch.strat_map},
        {"SCOTCH_stratGraphMap", &scotch.strat_words},
        {"SCOTCH_stratGraphBipart", &scotch.strat_bipartition},
    };

    return nw_library_load(name, symbols, sizeof symbols / sizeof *symbols,
                           "to map by Scotch");
}

/* Loads Scotch once. Does not load it if the program itself is linked to
 * Scotch: the loaded library would then use that Scotch's symbols. */
static void scotch_load(void)
{
    static const char *const names[] = {NW_SCOTCH_LIBRARY, "libscotch-7.0.so",
                                        "libscotch.so"};

    if (dlsym(RTLD_DEFAULT, "SCOTCH_graphInit"))
        return;
    for (size_t i = 0; !scotch_is_loaded && i < sizeof names / sizeof *names;
         i++)
        scotch_is_loaded = !scotch_load_from(names[i]) &&
                           scotch.num_size() == sizeof(SCOTCH_Num);
}

bool nw_scotch_is_here(void)
{
    pthread_once(&scotch_once, scotch_load);
    return scotch_is_loaded;
}

static nw_status scotch_failed(const char *what)
{
    return nw_fail(NW_EUNSUPPORTED, "scotch could not %s", what);
}

/* --- the machine as Scotch's architecture --- */

/* Scotch's architecture of the machine, and the data from which it is made. */
struct scotch_machine {
    SCOTCH_Arch arch;
    SCOTCH_Context *context; /* context of the present call; borrowed */
    const struct nw_placement *placement;
    bool by_weights;      /* weights of Rashti et al., not distances */
    double scale;         /* factor by which distances are multiplied */
    SCOTCH_Num *capacity; /* [places] free slots plus fixed processes, at least
                             1 */
    int levels; /* levels of the regular tree of places; 0: no such tree */
    SCOTCH_Num size[LEVELS_MAX],
        cost[LEVELS_MAX]; /* the last `levels` entries: children of a vertex and
                             distance between them, from the root down */
};

/* Returns the mean of the distances from place a to b and from b to a: Scotch
 * has one length for both directions and does not terminate if they differ. */
static double scotch_both_ways(const struct nw_places *places, int32_t a,
                               int32_t b)
{
    return (nw_places_distance(places, a, b) +
            nw_places_distance(places, b, a)) /
           2;
}

/* Returns the distance between two places, scaled and rounded to at least 1. */
static SCOTCH_Num scotch_whole_distance(const struct scotch_machine *machine,
                                        int32_t a, int32_t b)
{
    double distance = scotch_both_ways(machine->placement->places, a, b);

    distance = ceil(distance * machine->scale);
    return distance < 1 ? 1 : (SCOTCH_Num)fmin(distance, LENGTH_MAX);
}

/* Sets the factor on distances. It makes the longest one LENGTH_MAX if it
 * exceeds that, or else LENGTH_FINE if some are fractions. Considers distances
 * from the first place, of a matrix all (none above GRAPH_PLACES_MAX places).
 */
static void scotch_find_scale(struct scotch_machine *machine)
{
    const struct nw_places *places = machine->placement->places;
    int32_t count = places->count, from = 1;
    double longest = 0;
    bool whole = true;

    if (places->topology->matrix)
        from = count <= GRAPH_PLACES_MAX ? count : 0;
    for (int32_t a = 0; a < from; a++)
        for (int32_t b = 0; b < count; b++) {
            double length = a == b ? 0 : scotch_both_ways(places, a, b);

            longest = fmax(longest, length);
            whole &= length == floor(length);
        }
    machine->scale = 1;
    if (longest > LENGTH_MAX)
        machine->scale = LENGTH_MAX / longest;
    else if (!whole)
        machine->scale = LENGTH_FINE / longest;
}

/* Sets capacity[] to the free slots plus fixed processes of each place. */
static nw_status scotch_read_capacities(struct scotch_machine *machine)
{
    const struct nw_placement *placement = machine->placement;
    size_t count = (size_t)placement->places->count;
    nw_status status =
        nw_alloc(count, sizeof *machine->capacity, &machine->capacity);

    if (status)
        return status;
    for (size_t q = 0; q < count; q++)
        machine->capacity[q] = placement->free_slots.capacity[q];
    for (int32_t p = 0; p < placement->count; p++)
        if (placement->place[p] >= 0)
            machine->capacity[placement->place[p]]++;
    for (size_t q = 0; q < count; q++)
        if (!machine->capacity[q]) /* Scotch does not allow capacity 0 */
            machine->capacity[q] = 1;
    return NW_OK;
}

/* Finds the levels of a regular tree of places from the leaves up. gap[i] is
 * the distance between places i - 1 and i. Each distance that occurs in gap[]
 * makes one level, whose subtrees are the longest sequences of consecutive
 * places without a larger gap. Leaves `levels` 0 if the subtrees of a level
 * have different numbers of places. */
static void scotch_read_levels(struct scotch_machine *machine,
                               const SCOTCH_Num *gap)
{
    int32_t count = machine->placement->places->count, length = 1;
    SCOTCH_Num width = 0;
    int levels = 0;

    while (length < count) {
        int32_t inner = length;
        SCOTCH_Num next = (SCOTCH_Num)LENGTH_MAX;

        for (int32_t i = 1; i < count; i++)
            next = gap[i] > width && gap[i] < next ? gap[i] : next;
        for (length = 1; length < count && gap[length] <= next;)
            length++;
        for (int32_t i = 1; i <= count; i++)
            if ((i == count || gap[i] > next) != (i % length == 0))
                return;
        levels++;
        machine->size[LEVELS_MAX - levels] = length / inner;
        machine->cost[LEVELS_MAX - levels] = width = next;
    }
    machine->levels = levels;
}

/* Sets `levels`, `size` and `cost` for a regular tree of equal capacities: if
 * the distance from place 0 to each place i equals the largest distance between
 * consecutive places from 0 to i. */
static nw_status scotch_find_hierarchy(struct scotch_machine *machine)
{
    int32_t count = machine->placement->places->count;
    SCOTCH_Num *gap, widest = 0;
    nw_status status = nw_alloc((size_t)count, sizeof *gap, &gap);
    bool regular = !status;

    for (int32_t i = 1; i < count && regular; i++) {
        gap[i] = scotch_whole_distance(machine, i - 1, i);
        widest = gap[i] > widest ? gap[i] : widest;
        regular = machine->capacity[i] == machine->capacity[0] &&
                  scotch_whole_distance(machine, 0, i) == widest;
    }
    if (regular)
        scotch_read_levels(machine, gap);
    free(gap);
    return status;
}

/* The strategy by which Scotch halves a machine: its default strategy with `x`
 * at the end, which makes the halves equal. The default may cut off one place
 * at a time, and Scotch's tables have 2^depth entries: 4 GB for 111 places. */
static const char scotch_halves[] =
    "(m{vert=50,low=h{pass=10},asc=f{move=100,bal=0.1}}f{move=100,bal=0.05})x";

/* Builds a complete graph of the places. Scotch uses its edge weights as
 * lengths: distances, or longer for smaller weights of Rashti et al. */
static nw_status scotch_build_graph_machine(struct scotch_machine *machine)
{
    const struct nw_places *places = machine->placement->places;
    size_t n = (size_t)places->count, at = 0;
    SCOTCH_Num *row = NULL, *peer = NULL, *cost = NULL;
    struct nw_rashti_weights weights = {0};
    SCOTCH_Graph graph, bound;
    SCOTCH_Strat strat;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(n + 1, row), NW_ARRAY(n * n, peer),
                                    NW_ARRAY(n * n, cost));

    if (status)
        goto out;
    if (machine->by_weights)
        weights = nw_rashti_weights_init(places);
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++)
            if (a != b) {
                peer[at] = (SCOTCH_Num)b;
                cost[at++] = machine->by_weights
                                 ? nw_rashti_weights_length(
                                       &weights, (int32_t)a, (int32_t)b)
                                 : scotch_whole_distance(machine, (int32_t)a,
                                                         (int32_t)b);
            }
        row[a + 1] = (SCOTCH_Num)at;
    }
    scotch.graph_init(&graph);
    scotch.graph_init(&bound);
    scotch.strat_init(&strat);
    if (scotch.graph_build(&graph, 0, (SCOTCH_Num)n, row, NULL,
                           machine->capacity, NULL, (SCOTCH_Num)at, peer,
                           cost) ||
        scotch.context_bind(machine->context, &graph, &bound) ||
        scotch.strat_bipartition(&strat, scotch_halves) ||
        scotch.arch_build(&machine->arch, &bound, 0, NULL, &strat))
        status = scotch_failed("read the machine");
    scotch.strat_exit(&strat);
    scotch.graph_exit(&bound);
    scotch.graph_exit(&graph);
out:
    NW_FREE_ALL(row, peer, cost);
    return status;
}

/* Makes Scotch's architecture: a regular tree if the places form one, otherwise
 * a complete graph, with equal distances above GRAPH_PLACES_MAX. */
static nw_status scotch_build_machine(struct scotch_machine *machine)
{
    int32_t count = machine->placement->places->count;
    nw_status status = scotch_read_capacities(machine);

    scotch_find_scale(machine);
    if (!status && !machine->by_weights)
        status = scotch_find_hierarchy(machine);
    if (status)
        return status;
    if (machine->by_weights && count > GRAPH_PLACES_MAX)
        return nw_fail(NW_EUNSUPPORTED,
                       "rashti uses all pairs of elements: this machine has %d "
                       "elements, more than %d",
                       count, GRAPH_PLACES_MAX);
    if (!machine->levels && count <= GRAPH_PLACES_MAX)
        return scotch_build_graph_machine(machine);
    if (machine->levels
            ? scotch.arch_tleaf(&machine->arch, machine->levels,
                                machine->size + LEVELS_MAX - machine->levels,
                                machine->cost + LEVELS_MAX - machine->levels)
            : scotch.arch_complete(&machine->arch, count, machine->capacity))
        return scotch_failed("read the machine");
    return NW_OK;
}

/* --- the program as Scotch's graph --- */

/* The processes and their traffic as a graph for Scotch. */
struct scotch_program {
    SCOTCH_Graph graph;
    SCOTCH_Num count;                /* vertices: processes, then fillers */
    SCOTCH_Num *row, *peer, *weight; /* [count + 1]; [arcs]; [arcs] */
    SCOTCH_Num *part;                /* [count] result: place of each vertex */
};

/* Makes the graph of the processes. The weight of an edge is its bytes plus 1;
 * the bytes are scaled so that their sum is at most WEIGHT_SUM. Adds one vertex
 * without traffic (a filler) for each free slot that stays empty; none if they
 * would be far too many. */
static nw_status scotch_build_program(struct scotch_program *program,
                                      const struct nw_placement *placement)
{
    size_t n = (size_t)placement->count, arcs = placement->row[n];
    double sum = 0, scale;
    SCOTCH_Num fillers = 0;
    nw_status status;

    for (size_t a = 0; a < arcs; a++)
        sum += placement->arc[a].out + placement->arc[a].in;
    scale = sum > WEIGHT_SUM ? WEIGHT_SUM / sum : 1;
    for (int32_t q = 0; q < placement->free_slots.count; q++)
        fillers += placement->free_slots.capacity[q];
    for (size_t p = 0; p < n; p++)
        fillers -= placement->place[p] < 0;
    program->count = (SCOTCH_Num)n;
    if (fillers <= 16 * (SCOTCH_Num)n + 1024)
        program->count += fillers;
    status = NW_ALLOC_ALL(NW_ARRAY((size_t)program->count + 1, program->row),
                          NW_ARRAY(arcs, program->peer),
                          NW_ARRAY(arcs, program->weight),
                          NW_ARRAY((size_t)program->count, program->part));
    if (status)
        return status;
    for (size_t a = 0; a < arcs; a++) {
        const struct nw_arc *arc = &placement->arc[a];

        program->peer[a] = arc->peer;
        program->weight[a] = 1 + (SCOTCH_Num)((arc->out + arc->in) * scale);
    }
    for (size_t p = 0; p <= (size_t)program->count; p++)
        program->row[p] = (SCOTCH_Num)placement->row[p < n ? p : n];
    for (SCOTCH_Num p = 0; p < program->count; p++)
        program->part[p] = p < (SCOTCH_Num)n ? placement->place[p] : -1;
    if (scotch.graph_build(&program->graph, 0, program->count, program->row,
                           NULL, NULL, NULL, (SCOTCH_Num)arcs, program->peer,
                           program->weight))
        return scotch_failed("read the program");
    return NW_OK;
}

/* --- mapping --- */

/* Lets Scotch map the graph to the machine. */
static nw_status scotch_map_graph(struct scotch_program *program,
                                  struct scotch_machine *machine)
{
    const struct nw_placement *placement = machine->placement;
    SCOTCH_Graph bound;
    SCOTCH_Strat strat;
    int failure;

    scotch.graph_init(&bound);
    scotch.strat_init(&strat);
    failure = scotch.context_bind(machine->context, &program->graph, &bound);
    /* With fixed vertices, Scotch leaks memory with other strategies than "r".
     */
    if (!failure && placement->fixed)
        failure = scotch.strat_words(&strat, "r") ||
                  scotch.graph_map_fixed(&bound, &machine->arch, &strat,
                                         program->part);
    else if (!failure)
        failure =
            scotch.strat_map(&strat, SCOTCH_STRATBALANCE | SCOTCH_STRATSPEED,
                             placement->places->count, 0.0) ||
            scotch.graph_map(&bound, &machine->arch, &strat, program->part);
    scotch.strat_exit(&strat);
    scotch.graph_exit(&bound);
    return failure ? scotch_failed("map") : NW_OK;
}

/* Makes a context with one thread, whose random numbers begin from `seed`, so
 * that equal seeds give equal mappings. */
static nw_status scotch_begin(SCOTCH_Context *context, uint64_t seed)
{
    if (scotch.context_init(context))
        return scotch_failed("begin");
    if (scotch.context_option(context, SCOTCH_OPTIONNUMDETERMINISTIC, 1) ||
        scotch.context_option(context, SCOTCH_OPTIONNUMRANDOMFIXEDSEED, 1) ||
        scotch.context_threads(context, 1, NULL) ||
        scotch.context_clone(context)) {
        scotch.context_exit(context);
        return scotch_failed("begin");
    }
    scotch.context_seed(context, (SCOTCH_Num)(seed >> 33));
    scotch.context_reset(context);
    return NW_OK;
}

/* Runs Scotch. The machine is read in the context, too: outside of it Scotch
 * uses one thread per core and is not reproducible. */
static nw_status scotch_run(struct scotch_program *program,
                            struct scotch_machine *machine, uint64_t seed)
{
    SCOTCH_Context context;
    nw_status status = scotch_begin(&context, seed);

    if (status)
        return status;
    machine->context = &context;
    status = scotch_build_machine(machine);
    if (!status)
        status = scotch_build_program(program, machine->placement);
    scotch.context_reset(&context);
    if (!status)
        status = scotch_map_graph(program, machine);
    scotch.context_exit(&context);
    return status;
}

/* Puts each process on the place that Scotch chose if that has a free slot,
 * otherwise on the free place where it costs least, or fails. */
static nw_status scotch_take_answer(struct nw_placement *placement,
                                    const SCOTCH_Num *part)
{
    for (int32_t p = 0; p < placement->count; p++)
        if (placement->place[p] < 0 && part[p] >= 0 &&
            part[p] < placement->places->count &&
            nw_placement_fits(placement, p, (int32_t)part[p]))
            nw_placement_put(placement, p, (int32_t)part[p]);
    for (int32_t p = 0; p < placement->count; p++) {
        double least = 0;
        int32_t best = -1;

        if (placement->place[p] >= 0)
            continue;
        for (int32_t q = 0; q < placement->places->count; q++)
            if (nw_placement_fits(placement, p, q)) {
                double cost = nw_placement_distance_cost(placement, p, q);

                if (best < 0 || cost < least) {
                    best = q;
                    least = cost;
                }
            }
        if (best < 0)
            return nw_placement_full(p);
        nw_placement_put(placement, p, best);
    }
    return NW_OK;
}

/* Runs Scotch on a placement. `by_weights`: use the weights of Rashti et al.
 * instead of distances. */
static nw_status scotch_place(struct nw_placement *placement, bool by_weights)
{
    struct scotch_program program = {.count = 0};
    struct scotch_machine machine = {.placement = placement,
                                     .by_weights = by_weights};
    uint64_t seed = nw_random_next(placement->random);
    nw_status status;

    if (!nw_scotch_is_here())
        return nw_fail(NW_ENODEV,
                       "%s (64-bit) is needed to map by Scotch and "
                       "was not found, or this program has its own",
                       NW_SCOTCH_LIBRARY);
    if (placement->places->count < 2) /* only one possible placement */
        return nw_place_block(placement);
    pthread_mutex_lock(&scotch_one_at_a_time);
    scotch.random_seed((SCOTCH_Num)(seed >> 33));
    scotch.random_reset();
    scotch.graph_init(&program.graph);
    scotch.arch_init(&machine.arch);
    status = scotch_run(&program, &machine, seed);
    pthread_mutex_unlock(&scotch_one_at_a_time);
    if (!status)
        status = scotch_take_answer(placement, program.part);
    placement->steps++;
    scotch.arch_exit(&machine.arch);
    scotch.graph_exit(&program.graph);
    NW_FREE_ALL(machine.capacity, program.row, program.peer, program.weight,
                program.part);
    return status;
}

nw_status nw_place_scotch(struct nw_placement *placement)
{
    return scotch_place(placement, false);
}

nw_status nw_place_rashti(struct nw_placement *placement)
{
    return scotch_place(placement, true);
}
