/* SPDX-License-Identifier: BSD-3-Clause */
/* The search that lowers hop-bytes on a tree: starts, then again and again
 * swaps of whole subtrees from the largest down and swaps of processes. */
#include "map/multilevel/recursive_bisection.h"
#include "map/hierarchy/anneal_swaps_table.h"
#include "map/hierarchy/anneal_swaps.h"
#include "map/stencil/grid.h"
#include "base/array.h"
#include "base/crew.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tried swaps of default effort: so many for each of the first processes, fewer
 * for each of those beyond; for bonds few enough. */
static const struct {
    int32_t from;
    uint64_t each;
} steps_each[] = {{0, 9000}, {512, 3600}, {4096, 300}};
#define DEGREE 6.0
/* Grids are swapped for about as long as they are read and cut: the smallest,
 * which are sifted, less, but once more from hotter. */
static const struct {
    int32_t count_most;
    uint64_t steps;
    double again; /* heat; 0: not */
} grid_swaps[] = {{2048, 100000, 2}, {4096, 400000, 0}, {INT32_MAX, 250000, 0}};
#define STENCIL_STEPS_LEAST_EACH 30
/* A tenth of a second where it is done twice. */
#define BONDS_SWAPPED 5000000
#define BONDS_SWAPPED_AGAIN 4000000 /* more are not swapped once more */

#define ROUNDS 50
/* Heat of the first round, by how many processes share the steps. */
static double heat_of(int32_t count)
{
    return count > 8192 ? 1 : count > 1024 ? 1.4 : 5;
}

/* Repeated cuts gain more than swaps do, as far as they cost as little. */
#define REPEATS_MOST 24
#define REPEATED_BONDS 800000
/* Tries of a process on a level, and of all together. */
#define SIFT_TRIES_EACH 8000
#define SIFT_TRIES_MOST 30000000
/* What tries of few processes may cost in bonds looked at, and cost beside
 * those: else there are fewer. */
#define SIFT_COST_MOST 40
#define SIFT_COST_EACH 8
#define SIFTED_ALWAYS 8191 /* processes; larger only without a shape */
#define SIFTED_REPEATS 3
#define SIFTED_FEW 1024 /* processes */
#define OUTLINES 24     /* of starts, from which those sifted are chosen */
#define FEW_LESS 8      /* swaps after them */
#define STARTED_LESS 16 /* swaps after them, and colder */
#define STARTED_HEAT 0.5
/* Few processes' swaps take turns with those of subtrees, more often where
 * there are many levels, and are twice as many together. What one turn finds in
 * one place the next ones keep while they search all others. */
#define LEVELS_FEW 6
#define CYCLES 4
#define CYCLES_DEEP 8
#define CYCLES_MORE 2
#define SIFTED_LESS 5 /* swaps afterwards, and colder */
#define SIFTED_HEAT 0.3
#define HUBS_FEWER 8192  /* processes, and sifted: hubs are swapped less */
#define SUBTREE_HEAT 0.1 /* of whole subtrees */
#define SIMMER_HEAT 0.35 /* of anything that was sifted and is simmered */
#define TURNS_HEAT 0.6   /* in turns */
#define STENCIL_HEAT 0.5

static double degree_of(const struct nw_layout *layout)
{
    return layout->count
               ? (double)layout->row[layout->count] / (double)layout->count
               : 0;
}

static uint64_t steps_of(const struct nw_layout *layout, enum nw_effort effort)
{
    double degree = degree_of(layout);
    int32_t end = layout->count;
    uint64_t steps = 0;

    for (size_t i = sizeof steps_each / sizeof *steps_each; i-- > 0;)
        if (end > steps_each[i].from) {
            steps += (uint64_t)(end - steps_each[i].from) * steps_each[i].each;
            end = steps_each[i].from;
        }
    if (degree > DEGREE)
        steps = (uint64_t)((double)steps * 2 * DEGREE / (DEGREE + degree));
    if (effort == NW_EFFORT_FAST)
        steps /= 4;
    return effort == NW_EFFORT_STRONG ? 8 * steps : steps;
}

/* One search after the other, each from where the last one ended. */
struct search {
    struct nw_layout *layout;
    const struct nw_placing *placing;
    double cost;
    uint64_t seed, steps; /* of a cycle */
    int cycles;           /* by effort */
    double heat;
    bool sparing;       /* with hubs */
    double simmer_heat; /* of what fits; 0: stirred */
};

/* The processes of a layout, which may stand for subtrees. */
static nw_status anneal(const struct search *search, struct nw_layout *layout,
                        uint64_t seed, uint64_t steps, double heat,
                        double *cost)
{
    struct nw_budget *budget = search->placing->budget;
    struct nw_simmer simmer = {layout,
                               budget,
                               seed,
                               steps,
                               ROUNDS,
                               search->simmer_heat,
                               nw_layout_cost(layout)};
    struct nw_stir stir = {.layout = layout,
                           .budget = budget,
                           .seed = seed,
                           .steps = steps,
                           .rounds = ROUNDS,
                           .heat = heat,
                           .sparing = search->sparing,
                           .cost = simmer.cost};
    bool fits = search->simmer_heat > 0 && nw_simmer_fits(layout);
    nw_status status = fits ? nw_simmer(&simmer) : nw_stir(&stir);

    *cost = fits ? simmer.cost : stir.cost;
    return status;
}

static nw_status stir_subtrees(struct search *search, int32_t level)
{
    struct nw_layout lifted;
    struct nw_tree tree;
    double cost;
    nw_status status = nw_layout_lift(search->layout, level, &lifted, &tree);

    if (status)
        return status;
    status = anneal(search, &lifted, search->seed + (uint64_t)level,
                    search->steps * (uint64_t)lifted.count /
                        (uint64_t)(search->layout->count + 1),
                    SUBTREE_HEAT, &cost);
    if (!status)
        status = nw_layout_drop(search->layout, level, &lifted);
    nw_layout_fini(&lifted);
    nw_tree_fini(&tree);
    return status;
}

static nw_status stir_processes(struct search *search)
{
    return anneal(search, search->layout, search->seed, search->steps,
                  search->heat, &search->cost);
}

static nw_status cycle(struct search *search)
{
    const struct nw_tree *tree = search->layout->tree;
    nw_status status = NW_OK;

    for (int32_t level = tree->levels - 3; !status && level > 0; level--)
        if (!search->layout->load && !search->placing->budget->stopped)
            status = stir_subtrees(search, level);
    if (!status && !search->placing->budget->stopped)
        status = stir_processes(search);
    return status;
}

/* Some cycles by effort; with a time or steps given longer and longer ones. */
static nw_status search_on(struct search *search)
{
    struct nw_budget *budget = search->placing->budget;
    uint64_t cycles = (uint64_t)search->cycles;
    nw_status status = NW_OK;

    budget->expected = budget->steps + cycles * search->steps;
    for (uint64_t i = 0; !status && i < cycles && !budget->stopped; i++) {
        search->seed += i ? 1000 : 0;
        status = cycle(search);
    }
    while (!status && budget->endless && !budget->stopped) {
        uint64_t before = budget->steps;

        search->seed += 1000;
        search->steps += search->steps / 2;
        status = cycle(search);
        if (budget->steps == before)
            break; /* a machine without anything to choose */
    }
    return status;
}

static int repeats_of(const struct search *search)
{
    const struct nw_layout *layout = search->layout;
    size_t bonds = layout->row[layout->count] + 1, most = REPEATED_BONDS;
    enum nw_effort effort = search->placing->budget->effort;

    if (effort == NW_EFFORT_FAST)
        most /= 4;
    if (effort == NW_EFFORT_STRONG)
        most *= 4;
    if (most < bonds)
        return 1;
    return most / bonds < REPEATS_MOST ? (int)(most / bonds) : REPEATS_MOST;
}

/* Starts that are sifted, not in haste: the first has a share of the tries, and
 * so has each of the others where there is a shape; of many one beside it. What
 * has none is sifted once more for the rest. */
static const struct sifts {
    uint64_t more;
    double first, others;
} few_sifts = {6, 0.35, 0.35}, deep_sifts = {5, 0.35, 0.35},
  many_sifts = {0, 1, 0.5};

static bool are_few(const struct search *search)
{
    return search->layout->count <= SIFTED_FEW &&
           search->placing->budget->effort != NW_EFFORT_FAST;
}

static const struct sifts *sifts_of(const struct search *search)
{
    if (!are_few(search))
        return &many_sifts;
    return search->layout->tree->levels > LEVELS_FEW ? &deep_sifts : &few_sifts;
}

static bool has_two_starts(const struct search *search)
{
    return search->layout->count > SIFTED_FEW &&
           search->layout->count <= SIFTED_ALWAYS &&
           search->placing->budget->effort != NW_EFFORT_FAST;
}

static void share_out_cycles(struct search *search)
{
    if (!are_few(search))
        return;
    search->cycles =
        search->layout->tree->levels > LEVELS_FEW ? CYCLES_DEEP : CYCLES;
    search->steps = search->steps * CYCLES_MORE / (uint64_t)search->cycles;
    search->simmer_heat = TURNS_HEAT;
}

static uint64_t sift_tries(const struct search *search, double share)
{
    enum nw_effort effort = search->placing->budget->effort;
    uint64_t tries = SIFT_TRIES_MOST / (uint64_t)(search->layout->count + 1);
    double cost = SIFT_COST_EACH + degree_of(search->layout);

    if (tries > SIFT_TRIES_EACH)
        tries = SIFT_TRIES_EACH;
    if (effort == NW_EFFORT_FAST)
        tries /= 4;
    if (effort == NW_EFFORT_STRONG)
        tries *= 8;
    if (are_few(search))
        share *= fmin(1, SIFT_COST_MOST / cost);
    return (uint64_t)(share * (double)tries);
}

/* Sifted, but for the first one after a longer search for cuts. */
static nw_status start_init(const struct search *search, uint64_t number,
                            double share, struct nw_section *out)
{
    bool few = search->layout->count <= SIFTED_FEW;

    *out = (struct nw_section){.layout = search->layout,
                               .seed = search->seed + 7919 * number,
                               .repeats = number ? SIFTED_REPEATS : 1,
                               .tries = number && few ? 1 : 2,
                               .threads = search->placing->budget->threads,
                               .sift = sift_tries(search, share),
                               .recut = search->layout->count <= SIFTED_ALWAYS,
                               .budget = search->placing->budget};
    return nw_alloc((size_t)search->layout->count, sizeof *out->seat,
                    &out->seat);
}

/* Two starts, of which the second is for patterns with a shape. */
static nw_status take_two(struct search *search, bool *formless)
{
    const struct sifts *sifts = sifts_of(search);
    struct nw_section start[2] = {{0}};
    bool both = false;
    nw_status status = start_init(search, 0, sifts->first, &start[0]);

    if (!status)
        status = start_init(search, 1, sifts->others, &start[1]);
    if (!status)
        status = nw_section_pair(start, &both);
    for (int i = 0; !status && i < (both ? 2 : 1); i++)
        status = nw_layout_take_if_better(search->layout, start[i].seat,
                                          &search->cost);
    *formless = start[0].formless;
    free(start[0].seat);
    free(start[1].seat);
    return status;
}

/* *formless: the pattern has no shape that cuts could follow; large ones with
 * a shape are left alone. */
static nw_status take_sifted(struct search *search, bool *formless)
{
    struct nw_section section;
    nw_status status = start_init(search, 0, sifts_of(search)->first, &section);

    section.only_formless = search->layout->count > SIFTED_ALWAYS;
    if (!status)
        status = nw_section(&section);
    if (!status && (section.formless || !section.only_formless))
        status = nw_layout_take_if_better(search->layout, section.seat,
                                          &search->cost);
    *formless = section.formless;
    free(section.seat);
    return status;
}

/* The seats of a section where they are better. */
static nw_status take(struct search *search, struct nw_section *section)
{
    nw_status status = nw_alloc((size_t)search->layout->count,
                                sizeof *section->seat, &section->seat);

    section->layout = search->layout;
    section->budget = search->placing->budget;
    section->threads = section->budget->threads;
    if (!status)
        status = nw_section(section);
    if (!status)
        status = nw_layout_take_if_better(search->layout, section->seat,
                                          &search->cost);
    free(section->seat);
    return status;
}

/* Once and in haste with 0 repeats. */
static nw_status take_section(struct search *search, uint64_t seed, int repeats)
{
    struct nw_section section = {.seed = seed,
                                 .repeats = repeats ? repeats : 1,
                                 .tries = repeats ? 4 : 1};

    return take(search, &section);
}

static nw_status sift_again(struct search *search, uint64_t number,
                            double share)
{
    struct nw_section section;
    nw_status status;

    if (search->placing->budget->stopped)
        return NW_OK;
    status = start_init(search, number, share, &section);
    if (!status)
        status = nw_section(&section);
    if (!status)
        status = nw_layout_take_if_better(search->layout, section.seat,
                                          &search->cost);
    free(section.seat);
    return status;
}

/* The first cuts of a start, which sifting hardly mends. */
struct outline {
    uint64_t number; /* of the start */
    double cut;      /* bytes between the top's children */
};

static int by_cut(const void *left, const void *right)
{
    const struct outline *a = left, *b = right;

    if (a->cut != b->cut)
        return a->cut < b->cut ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static double cut_at_top(const struct nw_layout *layout, const int32_t *seat)
{
    const int32_t *child = layout->tree->cluster[layout->tree->levels - 2];
    double cut = 0;

    for (int32_t p = 0; p < layout->count; p++)
        for (size_t b = layout->row[p]; b < layout->row[p + 1]; b++)
            if (child[seat[p]] != child[seat[layout->bond[b].peer]])
                cut += layout->bond[b].bytes;
    return cut / 2;
}

static nw_status draw(const struct search *search, struct outline *outline)
{
    struct nw_section section;
    nw_status status = start_init(search, outline->number, 0, &section);

    section.outline = true;
    if (!status)
        status = nw_section(&section);
    if (!status)
        outline->cut = cut_at_top(search->layout, section.seat);
    free(section.seat);
    return status;
}

/* Sifts the starts that cut least at the top, of many. */
static nw_status sift_chosen(struct search *search)
{
    const struct sifts *sifts = sifts_of(search);
    struct outline outline[OUTLINES];
    nw_status status = NW_OK;

    for (uint64_t i = 0; !status && i < OUTLINES; i++) {
        outline[i].number = i + 1;
        status = draw(search, &outline[i]);
    }
    if (status)
        return status;
    qsort(outline, OUTLINES, sizeof *outline, by_cut);
    for (uint64_t i = 0; !status && i < sifts->more; i++)
        status = sift_again(search, outline[i].number, sifts->others);
    return status;
}

/* What is sifted between levels leaves better starts than cuts alone do, where
 * there are few processes. */
static nw_status take_sifted_again(struct search *search)
{
    nw_status status = are_few(search) ? sift_chosen(search) : NW_OK;

    search->steps /= are_few(search) ? FEW_LESS : STARTED_LESS;
    search->heat *= STARTED_HEAT;
    share_out_cycles(search);
    return status;
}

static uint64_t grid_patience(const struct search *search)
{
    return search->placing->budget->effort == NW_EFFORT_STRONG ? 30 : 1;
}

/* Ways to section a grid, the most useful first, and what each costs for a
 * bond beside the others. */
static const struct {
    int ways;
    double cost, cost_of_dimension;
} grid_ways[] = {
    {NW_SECTION_STRIPES | NW_SECTION_GROWN, 7.5, 1},
    {NW_SECTION_STRIPES | NW_SECTION_GROWN | NW_SECTION_PACKED, 7.5, 1},
    {NW_SECTION_STRIPES | NW_SECTION_GROWN | NW_SECTION_SPREAD, 7.5, 1},
    {NW_SECTION_GROWN, 7.5, 0},
    {NW_SECTION_STRIPES, 0, 1},
    {NW_SECTION_STRIPES | NW_SECTION_FIRST, 2.5, 1},
    {NW_SECTION_STRIPES | NW_SECTION_PACKED, 0, 1},
};

#define GRID_WAYS (int)(sizeof grid_ways / sizeof *grid_ways)
#define GRID_ROUNDS 4
#define GRID_LOOSE 0.2           /* of all rounds but the first */
#define GRID_SECTION_COST 300000 /* of all sections of a grid together */

/* Large grids: sections whose first cuts are the least of those across and some
 * grown, and what they cost for a bond and a process. They get the time of
 * swaps where these are not worth it, and that of most ways to tile. */
static const int starts[] = {
    0, NW_SECTION_LAST, NW_SECTION_FIRST | NW_SECTION_LAST, NW_SECTION_GROWN};
#define STARTS (int)(sizeof starts / sizeof *starts)
#define FILLINGS 3

static const struct {
    double bond, process;
} straight_cost = {0.6, 4.5}, grown_cost = {0.5, 3.5};

/* of all of them, or so much for each process */
#define STRAIGHT_MOST 800000
#define STRAIGHT_MOST_EACH 16
#define CUT_DIMS 4        /* more are not cut, but into boxes */
#define TILED_ALWAYS 8192 /* processes at most that are tiled in all ways */
#define GRID_SWAPS_COST 400000

/* Where ranks have many partners: sections cost more, and swaps are fewer. */
#define GRID_SECTION_DENSER 2
#define GRID_SWAPS_DENSER 2

static double way_cost(const struct search *search,
                       const struct nw_tiling *tiling, int way)
{
    const struct nw_layout *layout = search->layout;
    double bonds = (double)layout->row[layout->count] + 1;

    return bonds * (grid_ways[way].cost +
                    grid_ways[way].cost_of_dimension * tiling->dims);
}

/* Even the first way passes what all of them may cost, where a swap lowers
 * little: it is worth more than swaps of the same time. */
static bool is_denser(const struct search *search,
                      const struct nw_tiling *tiling)
{
    double cost = way_cost(search, tiling, 0);

    return search->layout->count <= grid_swaps[0].count_most &&
           cost > GRID_SECTION_COST &&
           cost <= GRID_SECTION_DENSER * GRID_SECTION_COST;
}

static bool is_searched_twice(const struct search *search,
                              const struct nw_tiling *tiling)
{
    return search->layout->count <= grid_swaps[0].count_most &&
           tiling->dims > 1 &&
           search->placing->budget->effort != NW_EFFORT_FAST;
}

/* Few ranks of so many partners that one start and its swaps take as long as
 * all of others: round parts come first. */
static bool is_dear(const struct search *search, const struct nw_tiling *tiling)
{
    return is_searched_twice(search, tiling) &&
           way_cost(search, tiling, 0) >
               (double)(GRID_SECTION_COST * grid_patience(search));
}

/* Where every seat is taken, packing changes nothing. */
static bool is_for(const struct search *search, int ways)
{
    return !(ways & (NW_SECTION_PACKED | NW_SECTION_SPREAD)) ||
           search->layout->tree->seats > search->layout->count;
}

/* Another answer at each round but the first. */
static nw_status section_way(struct search *search,
                             const struct nw_tiling *tiling, int ways,
                             int round)
{
    struct nw_section section = {.seed = search->seed + (uint64_t)round,
                                 .tiling = tiling,
                                 .ways = ways,
                                 .loose = round ? GRID_LOOSE : 0};

    return take(search, &section);
}

/* What straight cuts cannot reach, these may. */
static nw_status section_grid(struct search *search,
                              const struct nw_tiling *tiling, double left)
{
    nw_status status = NW_OK;

    for (int i = 0; !status && i < GRID_ROUNDS * GRID_WAYS; i++) {
        int way = i % GRID_WAYS;
        double cost = way_cost(search, tiling, way);

        if (cost > left || !is_for(search, grid_ways[way].ways) ||
            search->placing->budget->stopped)
            continue;
        left -= cost;
        status =
            section_way(search, tiling, grid_ways[way].ways, i / GRID_WAYS);
    }
    return status;
}

static double start_cost(const struct nw_layout *layout, int start)
{
    int grown = __builtin_popcount((unsigned)start & NW_SECTION_GROWN);
    double bonds = (double)layout->row[layout->count];

    return bonds * (straight_cost.bond + grown * grown_cost.bond) +
           layout->count * (straight_cost.process + grown * grown_cost.process);
}

static double straight_most(const struct nw_layout *layout)
{
    return fmax(STRAIGHT_MOST, STRAIGHT_MOST_EACH * (double)layout->count);
}

/* Ways to fill a machine that differ. */
static int list_fillings(const struct nw_layout *layout, int *list)
{
    int count = 0;

    if (layout->tree->seats > layout->count)
        list[count++] = NW_SECTION_PACKED;
    list[count++] = 0;
    if (nw_tiling_may_spread(layout))
        list[count++] = NW_SECTION_SPREAD;
    return count;
}

/* The most starts that so much is enough for; -1: none. */
static int most_starts(const struct nw_layout *layout, double left)
{
    int start = STARTS - 1;

    while (start >= 0 && start_cost(layout, starts[start]) > left)
        start--;
    return start;
}

/* What was found of fillings: the best, and from which starts; -1: none. */
struct filled {
    int way, start;
};

/* How many fillings there is time to tell apart, and from which starts, so that
 * one more section can follow if possible. */
static int tell_apart(const struct nw_layout *layout, int count, double left,
                      int *start)
{
    double few = start_cost(layout, starts[0]);
    double more = start_cost(layout, starts[1]);

    if (count > 2 && count * few + more > left)
        count = 2;
    *start = count * few + more > left || (count + 1) * more <= left;
    *start &= count * more <= left;
    return count > 1 && count * few <= left ? count : 0;
}

static nw_status choose_filling(struct search *search,
                                const struct nw_tiling *tiling, int always,
                                double *left, struct filled *best)
{
    const struct nw_layout *layout = search->layout;
    int filling[FILLINGS], all = list_fillings(layout, filling), start;
    int count = tell_apart(layout, all, *left, &start);
    nw_status status = NW_OK;

    *best = (struct filled){filling[0], count ? start : -1};
    for (int i = 0; !status && i < count; i++) {
        double before = search->cost;

        if (search->placing->budget->stopped)
            break;
        *left -= start_cost(layout, starts[start]);
        status =
            section_way(search, tiling, always | starts[start] | filling[i], 0);
        if (search->cost < before)
            best->way = filling[i];
    }
    return status;
}

static nw_status section_straight(struct search *search,
                                  const struct nw_tile_try *tile, double left)
{
    const struct nw_layout *layout = search->layout;
    int always = NW_SECTION_STRAIGHT | (tile->layered ? NW_SECTION_LAYERS : 0);
    struct filled best;
    nw_status status =
        choose_filling(search, &tile->tiling, always, &left, &best);

    for (int round = 0; !status && round < GRID_ROUNDS; round++) {
        int start = most_starts(layout, left);

        if (start < 0 || (start == 0 && best.start >= 0) ||
            search->placing->budget->stopped)
            break;
        left -= start_cost(layout, starts[start]);
        status = section_way(search, &tile->tiling,
                             always | best.way | starts[start],
                             round + (start <= best.start));
    }
    return status;
}

/* Sections of the largest grids take seconds, and seldom gain of what is not
 * far above the least. */
#define NEAR_LEAST 1.025
#define NEAR_FROM 262144 /* cells */

static bool is_near_least(const struct search *search,
                          const struct nw_tiling *tiling)
{
    return search->layout->count > NEAR_FROM &&
           search->cost <= NEAR_LEAST * nw_tiling_least(search->layout, tiling);
}

/* Cells that fill boxes, or lie in a plane, leave nothing to sections of large
 * grids; round parts leave little to those of small dense ones. */
static nw_status section_most(struct search *search,
                              const struct nw_tile_try *tile, bool swapped)
{
    const struct nw_tiling *tiling = &tile->tiling;
    double left = (double)(GRID_SECTION_COST * grid_patience(search));

    if (is_denser(search, tiling))
        left *= GRID_SECTION_DENSER;
    if (way_cost(search, tiling, 0) <= left || tile->boxed || tiling->dims < 3)
        return section_grid(search, tiling, left);
    if (is_dear(search, tiling) || is_near_least(search, tiling))
        return NW_OK;
    left = straight_most(search->layout) * (double)grid_patience(search);
    return section_straight(search, tile,
                            left - (swapped ? GRID_SWAPS_COST : 0));
}

/* Where cells fill no boxes, but all seats, round parts are mostly better than
 * any cuts; which seats to leave free sections tell. */
#define ROUND_MOST 4096          /* processes: of more they take too long, */
#define ROUND_MOST_ASKEW 10000   /* but where borders askew cost little more */
#define ROUND_ASKEW 1.2          /* than others */
#define ROUND_SIFT_COST 16000000 /* in bonds looked at, of all levels */
#define ROUND_COST_EACH 8        /* of a try beside the bonds */
#define ROUND_ENOUGH 0.992       /* of the best cuts: no sections of those */

static double across(const struct nw_tiling *tiling, int d)
{
    double sum = 0;

    for (int i = 0; i < tiling->steps; i++)
        sum += tiling->bytes[i] * abs(tiling->step[i][d]);
    return fmax(sum, 1);
}

/* Of the first two dimensions: bytes across a border halfway between them,
 * beside those across one of them. */
static double across_askew(const struct nw_tiling *tiling)
{
    double first = across(tiling, 0), second = across(tiling, 1), sum = 0;

    for (int i = 0; i < tiling->steps; i++)
        sum += tiling->bytes[i] * fabs(tiling->step[i][0] / first +
                                       tiling->step[i][1] / second);
    return sum * sqrt(0.5);
}

static bool may_round(const struct search *search,
                      const struct nw_tile_try *tile)
{
    const struct nw_layout *layout = search->layout;

    return !tile->boxed && tile->tiling.dims > 1 &&
           (layout->count <= ROUND_MOST ||
            (layout->count <= ROUND_MOST_ASKEW &&
             across_askew(&tile->tiling) < ROUND_ASKEW)) &&
           layout->tree->seats == layout->count &&
           !search->placing->budget->stopped;
}

static nw_status round_parts(struct search *search,
                             const struct nw_tiling *tiling, uint64_t number,
                             int ways)
{
    const struct nw_layout *layout = search->layout;
    double cost = (double)layout->row[layout->count] +
                  ROUND_COST_EACH * (double)layout->count;
    double tries = ROUND_SIFT_COST * (double)grid_patience(search) / cost;
    struct nw_section section = {
        .seed = search->seed + number,
        .tiling = tiling,
        .ways = ways,
        .rounded = true,
        .sift = (uint64_t)(tries / fmax(1, layout->tree->levels - 2))};

    return take(search, &section);
}

static nw_status round_or_section(struct search *search,
                                  const struct nw_tile_try *tile, bool swapped)
{
    double begun = search->cost;
    nw_status status;

    if (!may_round(search, tile))
        return section_most(search, tile, swapped);
    status = round_parts(search, &tile->tiling, 0, NW_SECTION_STRAIGHT);
    if (status || is_dear(search, &tile->tiling) ||
        (search->layout->count > ROUND_MOST &&
         search->cost <= ROUND_ENOUGH * begun))
        return status;
    return section_most(search, tile, swapped);
}

/* Small grids are sifted as other patterns are, from cuts across: that reaches
 * what borders moved one after the other do not. */
#define GRID_SIFT_COST 16000000 /* in bonds looked at, all tries together */
#define GRID_SIFT_COST_EACH 8   /* of a try beside the bonds */
#define GRID_SIFT_TRIES 1500    /* of a cell, at most about */
#define GRID_SIFTS_MOST 6
#define GRID_SIFT_DEAR 0.2 /* of it */
#define GRID_EVEN 1.1      /* most across one dimension beside another's */

static bool is_even(const struct nw_tiling *tiling)
{
    double least = INFINITY, most = 0;

    for (int d = 0; d < tiling->dims; d++) {
        double sum = across(tiling, d);

        least = fmin(least, sum);
        most = fmax(most, sum);
    }
    return most <= GRID_EVEN * least;
}

/* Beside round parts cuts gain little where all dimensions are alike. */
static double sift_worth(const struct search *search,
                         const struct nw_tiling *tiling)
{
    if (!is_dear(search, tiling))
        return 1;
    return is_even(tiling) ? 0 : GRID_SIFT_DEAR;
}

static nw_status sift_grid(struct search *search,
                           const struct nw_tiling *tiling)
{
    const struct nw_layout *layout = search->layout;
    double cost = (double)layout->row[layout->count] +
                  GRID_SIFT_COST_EACH * (double)layout->count;
    double tries = GRID_SIFT_COST * (double)grid_patience(search) / cost;
    int sifts = (int)fmax(1, fmin(GRID_SIFTS_MOST, tries / GRID_SIFT_TRIES));
    double worth = sift_worth(search, tiling);
    nw_status status = NW_OK;

    if (layout->count > grid_swaps[0].count_most || worth <= 0)
        return NW_OK;
    for (int i = 1; !status && i <= sifts; i++) {
        struct nw_section section = {.seed = search->seed + (uint64_t)i,
                                     .tiling = tiling,
                                     .ways = NW_SECTION_STRIPES,
                                     .sift = (uint64_t)(worth * tries / sifts)};

        if (!search->placing->budget->stopped)
            status = take(search, &section);
    }
    return status;
}

static nw_status swap_grid(struct search *search, uint64_t steps, double heat)
{
    search->heat = heat;
    search->seed += 1000;
    if (search->steps > steps)
        search->steps = steps;
    return search_on(search);
}

/* Swaps of ranks with many partners take as much longer each. */
static uint64_t swaps_of(const struct search *search,
                         const struct nw_tiling *tiling, int kind)
{
    uint64_t most = grid_swaps[kind].steps;
    uint64_t count = (uint64_t)search->layout->count;
    uint64_t bonds = search->layout->row[count];

    if (most * bonds / count > BONDS_SWAPPED)
        most = BONDS_SWAPPED * count / bonds;
    if (is_denser(search, tiling))
        most /= GRID_SWAPS_DENSER;
    return most * grid_patience(search);
}

/* Heat of the second time; 0: once is enough. */
static double heat_again(const struct search *search, int kind)
{
    uint64_t count = (uint64_t)search->layout->count;
    uint64_t bonds = search->layout->row[count];

    if (grid_patience(search) == 1 &&
        grid_swaps[kind].steps * bonds > BONDS_SWAPPED_AGAIN * count)
        return 0;
    return grid_swaps[kind].again;
}

/* The best cuts, and few swaps. */
static nw_status cut_and_swap(struct search *search,
                              const struct nw_tile_try *tile)
{
    struct nw_budget *budget = search->placing->budget;
    int32_t count = search->layout->count;
    uint64_t worth = (uint64_t)count * STENCIL_STEPS_LEAST_EACH, most;
    bool endless = budget->endless, swapped;
    double again;
    nw_status status;
    int i = 0;

    while (count > grid_swaps[i].count_most)
        i++;
    most = swaps_of(search, &tile->tiling, i);
    swapped = endless || worth <= most;
    status = round_or_section(search, tile, swapped);
    if (!status)
        status = sift_grid(search, &tile->tiling);
    if (status || budget->stopped || !swapped)
        return status;
    again = heat_again(search, i);
    budget->endless = endless && again <= 0;
    status = swap_grid(search, most, STENCIL_HEAT);
    budget->endless = endless;
    if (!status && again > 0 && !budget->stopped)
        status = swap_grid(search, most, again);
    return status;
}

/* Beside that, where there are few ranks: round parts alone, of which one start
 * is often better than another. What is swapped from each is more than what is
 * swapped from the best. */
static const struct {
    int32_t count_most;
    int rounds;
} rounds_beside[] = {{512, 3}, {1024, 2}, {INT32_MAX, 1}};

static int rounds_of(const struct search *search,
                     const struct nw_tile_try *tile)
{
    int i = 0;

    if (!is_searched_twice(search, &tile->tiling))
        return 0;
    while (search->layout->count > rounds_beside[i].count_most)
        i++;
    return rounds_beside[i].rounds;
}

struct grid_search {
    struct search search;
    const struct nw_tile_try *tile;
    struct nw_placing placing; /* of the second one */
    struct nw_budget budget;
    struct nw_layout layout;
};

static nw_status run_cuts(void *user)
{
    struct grid_search *grid = user;

    return cut_and_swap(&grid->search, grid->tile);
}

static nw_status run_rounds(void *user)
{
    struct grid_search *grid = user;
    struct search *search = &grid->search;
    const struct nw_budget *budget = search->placing->budget;
    const struct nw_tiling *tiling = &grid->tile->tiling;
    int filling[FILLINGS], count = list_fillings(search->layout, filling);
    int rounds = rounds_of(search, grid->tile);
    uint64_t most;
    nw_status status = NW_OK;

    for (int i = 0; !status && !budget->stopped && i < rounds; i++) {
        bool straight = i % 2 || rounds == 1;

        status =
            round_parts(search, tiling, (uint64_t)i + 1,
                        filling[i % count] | (straight ? NW_SECTION_STRAIGHT
                                                       : NW_SECTION_STRIPES));
    }
    if (status || budget->stopped)
        return status;
    most = swaps_of(search, tiling, 0);
    return swap_grid(search, is_dear(search, tiling) ? most / 2 : most,
                     STENCIL_HEAT);
}

/* On seats of its own, and tells nobody. */
static nw_status begin_rounds(const struct grid_search *first,
                              struct grid_search *grid)
{
    *grid = *first;
    grid->budget = *first->search.placing->budget;
    grid->budget.quiet = true;
    grid->placing = *first->search.placing;
    grid->placing.budget = &grid->budget;
    grid->search.placing = &grid->placing;
    grid->search.layout = &grid->layout;
    grid->search.cost = INFINITY;
    return nw_layout_copy(first->search.layout, &grid->layout);
}

static nw_status run_both(struct grid_search both[2])
{
    struct nw_budget *budget = both[0].search.placing->budget;
    uint64_t begun = budget->steps;
    struct nw_crew_task task[] = {{.run = run_cuts, .user = &both[0]},
                                  {.run = run_rounds, .user = &both[1]}};
    nw_status status = nw_crew_pair(task, budget->threads);

    budget->steps += both[1].budget.steps - begun;
    budget->stopped |= both[1].budget.stopped;
    budget->hurried |= both[1].budget.hurried;
    return status;
}

/* Where steps or seconds are given: they are for one after the other. */
static nw_status run_in_turn(struct grid_search both[2])
{
    struct nw_budget *budget = both[0].search.placing->budget;
    bool quiet = budget->quiet;
    nw_status status = run_cuts(&both[0]);

    if (status || budget->stopped)
        return status;
    both[1].placing.budget = budget;
    budget->quiet = true;
    status = run_rounds(&both[1]);
    budget->quiet = quiet;
    return status;
}

static nw_status search_twice(struct search *search,
                              const struct nw_tile_try *tile, bool in_turn)
{
    struct grid_search both[2] = {{.search = *search, .tile = tile}};
    nw_status status = begin_rounds(&both[0], &both[1]);

    if (!status)
        status = in_turn ? run_in_turn(both) : run_both(both);
    *search = both[0].search;
    if (!status)
        status = nw_layout_take_if_better(search->layout, both[1].layout.seat,
                                          &search->cost);
    search->placing->budget->best = search->cost;
    nw_layout_copy_fini(&both[1].layout);
    return status;
}

/* Grids are answered in milliseconds. */
static nw_status improve_grid(struct search *search,
                              const struct nw_tile_try *tile)
{
    struct nw_budget *budget = search->placing->budget;
    bool endless = budget->endless;
    nw_status status;

    budget->gridded = true;
    search->simmer_heat = SIMMER_HEAT;
    if (!rounds_of(search, tile))
        return cut_and_swap(search, tile);
    budget->endless = false;
    status = search_twice(search, tile, endless);
    budget->endless = endless;
    if (status || budget->stopped || !endless)
        return status;
    return swap_grid(search, swaps_of(search, &tile->tiling, 0),
                     grid_swaps[0].again);
}

/* Many sections would add nothing, and few swaps do. */
static nw_status leave_formless(struct search *search)
{
    double rest = 1 - sifts_of(search)->first;

    search->steps /= SIFTED_LESS;
    search->heat = SIFTED_HEAT;
    search->sparing = search->layout->count > HUBS_FEWER;
    share_out_cycles(search);
    return rest > 0 ? sift_again(search, 1, rest) : NW_OK;
}

/* Beside what was sifted once. */
static nw_status take_more(struct search *search)
{
    const struct nw_budget *budget = search->placing->budget;

    if (budget->stopped)
        return NW_OK;
    if (search->layout->count > SIFTED_ALWAYS)
        return take_section(search, search->seed, repeats_of(search));
    if (budget->effort != NW_EFFORT_FAST)
        return take_sifted_again(search);
    search->steps /= 2;
    return take_section(search, search->seed, repeats_of(search));
}

/* Sections do more in the same time. */
static bool is_tiled_less(const struct nw_layout *layout)
{
    return layout->count > TILED_ALWAYS &&
           start_cost(layout, starts[0]) <= straight_most(layout);
}

/* Cuts across a grid follow the means of its steps: where bonds differ from
 * those, or are missing, such cuts are no more than a start. In five dimensions
 * nearly all cells lie at borders: what fills no boxes there is searched as
 * anything else is. */
#define UNEVEN_MOST 0.03 /* bytes that deviate by a sixth of the mean */
#define FILLED_LEAST 0.9

static bool is_grid(const struct nw_tile_try *tile)
{
    const struct nw_tiling *tiling = &tile->tiling;

    return tiling->uneven <= UNEVEN_MOST && tiling->filled >= FILLED_LEAST &&
           (tile->boxed || tiling->dims <= CUT_DIMS);
}

static nw_status improve(struct nw_layout *layout,
                         const struct nw_placing *placing)
{
    struct search search = {.layout = layout,
                            .placing = placing,
                            .seed = placing->options->seed,
                            .steps = steps_of(layout, placing->budget->effort),
                            .cycles = 1,
                            .heat = heat_of(layout->count)};
    struct nw_tile_try tile = {.few = is_tiled_less(layout),
                               .cost = nw_layout_cost(layout)};
    bool formless = false;
    nw_status status = NW_OK;

    placing->budget->best = tile.cost;
    if (layout->tree->levels < 2) /* all is equally far: no distance but 0 */
        return NW_OK;
    status = nw_layout_tile(layout, &tile);
    placing->budget->best = search.cost = tile.cost;
    if (!status && tile.found && is_grid(&tile))
        return improve_grid(&search, &tile);
    search.simmer_heat = SIMMER_HEAT;
    if (!status && tile.found && !placing->budget->stopped)
        status = sift_grid(&search, &tile.tiling);
    if (!status)
        status = has_two_starts(&search) ? take_two(&search, &formless)
                                         : take_sifted(&search, &formless);
    if (!status)
        status = formless ? leave_formless(&search) : take_more(&search);
    return status || placing->budget->stopped ? status : search_on(&search);
}

/* Limits leave a beginning far from the best: that is left hot. */
static nw_status refine(struct nw_layout *layout,
                        const struct nw_placing *placing)
{
    struct search search = {.layout = layout,
                            .placing = placing,
                            .seed = placing->options->seed,
                            .steps = steps_of(layout, placing->budget->effort),
                            .cycles = 1,
                            .heat = layout->load ? heat_of(layout->count)
                                                 : STENCIL_HEAT};

    return search_on(&search);
}

static nw_status tile(struct nw_layout *layout,
                      const struct nw_placing *placing)
{
    struct nw_tile_try try = {.cost = nw_layout_cost(layout)};
    nw_status status = nw_layout_tile(layout, &try);

    (void)placing;
    if (!status && !try.found)
        return nw_fail(NW_EUNSUPPORTED,
                       "tile needs a pattern that is a stencil on a grid, and "
                       "nothing fixed");
    return status;
}

/* So many bonds, of all sections together, cost a program that waits less than
 * its messages do. */
#define WAITING_BONDS 800
#define WAITING_SECTIONS 4
#define WAITING_BONDS_OF_GRIDS 8000

static nw_status section_waiting(struct search *search, uint64_t seed)
{
    const struct nw_layout *layout = search->layout;
    size_t bonds = layout->row[layout->count] + 1;
    nw_status status = NW_OK;

    if (bonds > WAITING_BONDS)
        return take_section(search, seed, 0);
    for (size_t i = 0; !status && i < WAITING_SECTIONS; i++)
        if ((i + 1) * bonds <= WAITING_BONDS)
            status = take_section(search, seed + i, 1);
    return status;
}

/* No swaps: for programs that wait. */
static nw_status section(struct nw_layout *layout,
                         const struct nw_placing *placing)
{
    struct search search = {.layout = layout, .placing = placing};
    struct nw_tile_try tile = {.once = true, .cost = nw_layout_cost(layout)};
    nw_status status = nw_layout_tile(layout, &tile);

    search.cost = tile.cost;
    if (status ||
        (tile.found && layout->row[layout->count] > WAITING_BONDS_OF_GRIDS))
        return status;
    return section_waiting(&search, placing->options->seed);
}

/* --- the placers --- */

typedef nw_status improver(struct nw_layout *layout,
                           const struct nw_placing *placing);

static nw_status place_on_tree(struct nw_placing *placing, improver *run)
{
    struct nw_layout layout = {0};
    struct nw_tree tree;
    bool is_tree;
    nw_status status = nw_placing_begin(placing);

    if (!status)
        status = nw_tree_init(&tree, placing, &is_tree);
    if (status)
        return status;
    if (!is_tree)
        return nw_fail(NW_EUNSUPPORTED,
                       "this search needs a machine like a tree");
    placing->budget->likened |= !tree.exact;
    status = nw_layout_init(&layout, &tree, placing);
    if (!status)
        status = run(&layout, placing);
    if (!status)
        nw_layout_store(&layout, placing);
    nw_layout_fini(&layout);
    nw_tree_fini(&tree);
    return status;
}

nw_status nw_place_multilevel(struct nw_placing *placing)
{
    return place_on_tree(placing, improve);
}

nw_status nw_place_section(struct nw_placing *placing)
{
    return place_on_tree(placing, section);
}

nw_status nw_place_tile(struct nw_placing *placing)
{
    return place_on_tree(placing, tile);
}

nw_status nw_place_refine(struct nw_placing *placing)
{
    return place_on_tree(placing, refine);
}
