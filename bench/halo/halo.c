/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nodewise bench halo: the exchange of ghost cells in host memory, by the
 * library and by other implementations in turns. It is timed as in the paper: a
 * barrier, MPI_Wtime around the exchange, and the time of the slowest rank. The
 * ghost cells of every implementation are checked before it is timed. LLNL's
 * Comb, which bench/halo/comb builds, is run by the command that starts this
 * program.
 */
#include "peers.h"
#include "../parse.h"

#include <nodewise/halo_mpi.h>

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LIST 16
#define MOST_CONTESTANTS 32
#define KEY_JSON 0x2001
#define KEY_FORCED 0x2002
#define KEY_SHAPE 0x2003
#define KEY_COMB 0x2004

struct arguments {
    int n[MOST_LIST], n_count;
    int radius[MOST_LIST], radius_count;
    int rounds;
    bool json, forced, shape;
    const char *comb;
};

static const struct argp_option options[] = {
    {"cells", 'n', "LIST", 0,
     "Cells along each side of a rank's cube (32,64,128)", 0},
    {"radius", 'r', "LIST", 0, "Radii to measure (1,2,3)", 0},
    {"rounds", 'i', "N", 0, "Rounds of five exchanges (30)", 0},
    {"forced", KEY_FORCED, NULL, 0,
     "Also measure each method of Nodewise separately", 0},
    {"json", KEY_JSON, NULL, 0, "Print JSON", 0},
    {"shape", KEY_SHAPE, NULL, OPTION_HIDDEN, "Print the rows alone", 0},
    {"comb", KEY_COMB, "ROWS", OPTION_HIDDEN, "What Comb took", 0},
    {0},
};

/* Parses a list of numbers, which is the value of the option `name`; returns
 * how many there are, or 0 if `list` is not a list, which rank 0 reports. */
static int parse_list(const char *name, const char *list, int *out,
                      struct argp_state *state)
{
    const char *words = list;
    int count = 0;
    char *end;

    for (; count < MOST_LIST; words = end + 1) {
        long value = strtol(words, &end, 10);

        if (end == words || value < 1 || value > 4096)
            break;
        out[count++] = (int)value;
        if (!*end)
            return count;
        if (*end != ',')
            break;
    }
    argp_error(state, "--%s is up to %d numbers from 1 to 4096, not '%s'", name,
               MOST_LIST, list);
    return 0;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    int list[MOST_LIST];

    switch (key) {
    case 'n':
        arguments->n_count = parse_list("cells", value, arguments->n, state);
        return arguments->n_count ? 0 : EINVAL;
    case 'r':
        arguments->radius_count =
            parse_list("radius", value, arguments->radius, state);
        return arguments->radius_count ? 0 : EINVAL;
    case 'i':
        if (parse_list("rounds", value, list, state) != 1) {
            argp_error(state, "--rounds is one number, not '%s'", value);
            return EINVAL;
        }
        arguments->rounds = list[0];
        return 0;
    case KEY_JSON:
        arguments->json = true;
        return 0;
    case KEY_FORCED:
        arguments->forced = true;
        return 0;
    case KEY_SHAPE:
        arguments->shape = true;
        return 0;
    case KEY_COMB:
        arguments->comb = value;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Time halo exchanges in host memory, beside other ways: 26 "
           "neighbours, periodic, four float quantities.\v"
           "Example:\n  nodewise bench halo -n 64 -r 1,2 -- mpirun -n 2\n",
};

/* --- ours --- */

struct ours {
    const char *name;
    uint32_t methods;
    enum nw_halo_schedule schedule;
};

static const struct ours variants[] = {
    {"nodewise", 0, NW_HALO_SCHEDULE_AUTO},
    {"once/direct", NW_HALO_BIT(NW_HALO_DIRECT), NW_HALO_SCHEDULE_ONCE},
    {"once/shared", NW_HALO_BIT(NW_HALO_SHARED), NW_HALO_SCHEDULE_ONCE},
    {"once/packed", NW_HALO_BIT(NW_HALO_PACKED), NW_HALO_SCHEDULE_ONCE},
    {"once/types", NW_HALO_BIT(NW_HALO_TYPES), NW_HALO_SCHEDULE_ONCE},
    {"once/attach", NW_HALO_BIT(NW_HALO_ATTACH), NW_HALO_SCHEDULE_ONCE},
    {"phases/direct", NW_HALO_BIT(NW_HALO_DIRECT), NW_HALO_SCHEDULE_PHASES},
    {"phases/shared", NW_HALO_BIT(NW_HALO_SHARED), NW_HALO_SCHEDULE_PHASES},
    {"phases/packed", NW_HALO_BIT(NW_HALO_PACKED), NW_HALO_SCHEDULE_PHASES},
    {"phases/types", NW_HALO_BIT(NW_HALO_TYPES), NW_HALO_SCHEDULE_PHASES},
    {"phases/attach", NW_HALO_BIT(NW_HALO_ATTACH), NW_HALO_SCHEDULE_PHASES},
};

static nw_halo *open_ours(const struct setup *setup, const struct ours *ours,
                          const nw_halo *arrays)
{
    struct nw_halo_options plan = NW_HALO_OPTIONS_INIT;
    struct nw_halo_quantity quantity[QUANTITIES];
    struct nw_halo_box box;
    nw_halo *halo = NULL;

    for (int q = 0; q < QUANTITIES; q++)
        quantity[q] = (struct nw_halo_quantity){sizeof(float), 0};
    for (int axis = 0; axis < 3; axis++) {
        plan.extent[axis] = (int64_t)setup->n * setup->dims[2 - axis];
        box.low[axis] = (int64_t)setup->n * setup->place[2 - axis];
        box.high[axis] = box.low[axis] + setup->n;
    }
    nw_halo_radius(&plan, setup->radius, true);
    plan.quantity = quantity;
    plan.quantity_count = QUANTITIES;
    plan.box = &box;
    plan.box_count = 1;
    plan.methods = ours->methods;
    plan.schedule = ours->schedule;
    plan.cache = "";
    plan.arrays = arrays;
    if (nw_halo_plan(setup->grid, &plan, &halo)) {
        if (!setup->rank && !ours->methods)
            fprintf(stderr, "nodewise bench halo: %s\n", nw_error_text());
        return NULL;
    }
    return halo;
}

/* --- contestants --- */

struct contestant {
    const char *name;
    const struct peer *peer; /* NULL: ours */
    void *state;
    double *seconds;
    int count;
    double *turn; /* the median of each turn */
    int turns;
    double median, quartile, mean, deviation;
};

static void exchange(const struct contestant *contestant)
{
    if (contestant->peer)
        contestant->peer->exchange(contestant->state);
    else if (nw_halo_start(contestant->state, NULL, 0) ||
             nw_halo_wait(contestant->state)) {
        fprintf(stderr, "nodewise bench halo: %s\n", nw_error_text());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static float *array_of(const struct contestant *contestant, int quantity)
{
    if (contestant->peer)
        return contestant->peer->array
                   ? contestant->peer->array(contestant->state, quantity)
                   : NULL;
    return nw_halo_base(contestant->state, 0, quantity);
}

/* The value of the domain's cell that corresponds to an allocated cell. */
static float value_of(const struct setup *setup, const int at[3], int quantity)
{
    long id = 0;

    for (int axis = 0; axis < 3; axis++) {
        int all = setup->dims[axis] * setup->n;
        int cell = setup->place[axis] * setup->n + at[axis] - setup->radius;

        id = id * all + (cell + all) % all;
    }
    return (float)((id * 7 + quantity) % 8388593);
}

/* Fills own cells and sets wrong values in ghost cells if `fill`; otherwise
 * returns the number of wrong cells. */
static long walk(const struct setup *setup, float *array, int quantity,
                 bool fill)
{
    int p = setup->padded, r = setup->radius, at[3];
    long wrong = 0;

    for (at[0] = 0; at[0] < p; at[0]++)
        for (at[1] = 0; at[1] < p; at[1]++)
            for (at[2] = 0; at[2] < p; at[2]++) {
                float *cell = &array[((size_t)at[0] * p + at[1]) * p + at[2]];
                bool own = true;

                for (int axis = 0; axis < 3; axis++)
                    own = own && at[axis] >= r && at[axis] < r + setup->n;
                if (fill)
                    *cell = own ? value_of(setup, at, quantity) : -1;
                else
                    wrong += *cell != value_of(setup, at, quantity);
            }
    return wrong;
}

static long check(const struct setup *setup,
                  const struct contestant *contestant)
{
    long wrong = 0, all;

    if (!array_of(contestant, 0))
        return 0;
    for (int q = 0; q < QUANTITIES; q++)
        walk(setup, array_of(contestant, q), q, true);
    MPI_Barrier(setup->grid);
    exchange(contestant);
    for (int q = 0; q < QUANTITIES; q++)
        wrong += walk(setup, array_of(contestant, q), q, false);
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, setup->grid);
    return all;
}

/* Comb is a program of its own, which does not take turns: its figures of this
 * row are read and printed. It reports means and minima of four phases, but no
 * median. */
static void close_comb(void *state)
{
    (void)state;
}

static const struct peer peer_comb = {"comb", NULL, NULL, NULL, close_comb};

static bool runs(const struct contestant *contestant)
{
    return contestant->peer != &peer_comb;
}

static int add_comb(const struct setup *setup, const char *rows,
                    struct contestant *out)
{
    int n, radius, used = 0;
    double mean, least;

    for (; rows && sscanf(rows, "%d:%d:%lf:%lf%n", &n, &radius, &mean, &least,
                          &used) == 4;
         rows += used + (rows[used] == ',')) {
        if (n != setup->n || radius != setup->radius)
            continue;
        *out = (struct contestant){.name = "comb", .peer = &peer_comb};
        out->median = out->mean = mean;
        out->quartile = least;
        return 1;
    }
    return 0;
}

/* Opens all contestants. All that can use the arrays of the first one do, so
 * that their placement in memory does not differ. */
static int open_all(struct setup *setup, const struct arguments *arguments,
                    struct contestant *out)
{
    static const struct peer *const peers[] = {&peer_alltoallw, &peer_types,
                                               &peer_naive,     &peer_phases,
                                               &peer_direct,    &peer_dmda};
    size_t own = arguments->forced ? sizeof variants / sizeof *variants : 1;
    int count = 0;

    for (size_t i = 0; i < own; i++) {
        void *state =
            open_ours(setup, &variants[i], count ? out[0].state : NULL);

        if (state)
            out[count++] = (struct contestant){variants[i].name, NULL, state};
        else if (!count)
            return 0;
    }
    for (int q = 0; q < QUANTITIES; q++)
        setup->array[q] = nw_halo_base(out[0].state, 0, q);
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++) {
        void *state = peers[i]->open(setup);

        if (state)
            out[count++] = (struct contestant){peers[i]->name, peers[i], state};
    }
    count += add_comb(setup, arguments->comb, &out[count]);
    return count;
}

static void close_all(struct contestant *contestants, int count)
{
    for (int i = count - 1; i >= 0; i--) { /* the owner of the arrays must be
                                              closed last */
        free(contestants[i].seconds);
        free(contestants[i].turn);
        if (contestants[i].peer)
            contestants[i].peer->close(contestants[i].state);
        else
            nw_halo_free(contestants[i].state);
    }
}

/* --- timing --- */

#define TURN 5 /* exchanges in one turn; the first is not counted */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_of(double *values, int n)
{
    qsort(values, (size_t)n, sizeof(double), ascending);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

static void take_turn(const struct setup *setup, struct contestant *contestant)
{
    double turn[TURN - 1];

    for (int i = 0; i < TURN; i++) {
        double own, slowest;

        MPI_Barrier(setup->grid);
        own = MPI_Wtime();
        exchange(contestant);
        own = MPI_Wtime() - own;
        MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, setup->grid);
        if (i)
            turn[i - 1] = contestant->seconds[contestant->count++] = slowest;
    }
    contestant->turn[contestant->turns++] = median_of(turn, TURN - 1);
}

static void summarise(struct contestant *contestant)
{
    int n = contestant->count;
    double sum = 0, squares = 0;

    qsort(contestant->seconds, (size_t)n, sizeof(double), ascending);
    contestant->median = contestant->seconds[n / 2];
    contestant->quartile = contestant->seconds[n / 4];
    for (int i = 0; i < n; i++) {
        sum += contestant->seconds[i];
        squares += contestant->seconds[i] * contestant->seconds[i];
    }
    contestant->mean = sum / n;
    contestant->deviation =
        sqrt(fmax(0, squares / n - contestant->mean * contestant->mean));
}

/* Chooses another order in each round, the same on all ranks: a contestant that
 * always followed the same one would inherit the state of the caches and the
 * time slice from it. */
static void shuffle(int *order, int count)
{
    static uint64_t state = 88172645463325252u; /* xorshift64 */

    for (int i = count - 1; i > 0; i--) {
        int j, held = order[i];

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        j = (int)(state % (uint64_t)(i + 1));
        order[i] = order[j];
        order[j] = held;
    }
}

static void time_all(const struct setup *setup,
                     const struct arguments *arguments,
                     struct contestant *contestants, int count)
{
    int order[MOST_CONTESTANTS];

    for (int i = 0; i < count; i++) {
        order[i] = i;
        contestants[i].seconds =
            calloc((size_t)arguments->rounds * TURN, sizeof(double));
        contestants[i].turn = calloc((size_t)arguments->rounds, sizeof(double));
    }
    for (int round = 0; round < arguments->rounds; round++) {
        shuffle(order, count);
        for (int i = 0; i < count; i++)
            if (runs(&contestants[order[i]]))
                take_turn(setup, &contestants[order[i]]);
    }
    for (int i = 0; i < count; i++)
        if (runs(&contestants[i]))
            summarise(&contestants[i]);
}

/* --- telling --- */

/* How many times as long one takes as another: the median over the rounds, so
 * that temporary disturbances of the machine affect both. */
static double ratio_of(const struct contestant *a, const struct contestant *b)
{
    double *ratio = calloc((size_t)a->turns, sizeof(double)), median;

    for (int i = 0; i < a->turns; i++)
        ratio[i] = a->turn[i] / b->turn[i];
    median = median_of(ratio, a->turns);
    free(ratio);
    return median;
}

/* The ratio of the automatic choice to the best of the forced methods, and to
 * another plan of the same method, which shows by how much two measurements of
 * the same exchange differ. */
struct choice {
    double against_best, against_same;
};

static bool is_same(const struct contestant *forced, const char *words)
{
    const char *method = strchr(forced->name, '/');
    size_t schedule = (size_t)(method - forced->name);
    char word[32];

    snprintf(word, sizeof word, " %s ", method + 1);
    return !strncmp(words, forced->name, schedule) && strstr(words, word);
}

static struct choice judge_choice(const struct contestant *contestants,
                                  int count)
{
    struct choice choice = {0, NAN};
    const char *words = nw_halo_words(contestants[0].state);

    for (int i = 1; i < count && !contestants[i].peer; i++) {
        double ratio = ratio_of(&contestants[0], &contestants[i]);

        choice.against_best = fmax(choice.against_best, ratio);
        if (is_same(&contestants[i], words))
            choice.against_same = ratio;
    }
    return choice;
}

struct verdict {
    double best_peer; /* the fastest of all contestants but ours */
    double best_bar;  /* the faster of alltoallw and DMDA */
    double best_own;  /* the fastest of our forced methods; without forced
                         methods, the automatic choice */
};

/* The median or the lower quartile. On a busy machine, the latter shows what an
 * exchange takes without disturbances. */
static double figure(const struct contestant *contestant, bool quartiles)
{
    return quartiles ? contestant->quartile : contestant->median;
}

static struct verdict judge(const struct contestant *contestants, int count,
                            bool quartiles)
{
    struct verdict verdict = {INFINITY, INFINITY,
                              figure(&contestants[0], quartiles)};

    for (int i = 1; i < count; i++) {
        double time = figure(&contestants[i], quartiles);

        if (!contestants[i].peer) {
            verdict.best_own = fmin(verdict.best_own, time);
            continue;
        }
        verdict.best_peer = fmin(verdict.best_peer, time);
        if (contestants[i].peer == &peer_alltoallw ||
            contestants[i].peer == &peer_dmda)
            verdict.best_bar = fmin(verdict.best_bar, time);
    }
    return verdict;
}

static void tell_text(const struct setup *setup,
                      const struct contestant *contestants, int count)
{
    struct verdict verdict = judge(contestants, count, false);
    struct verdict quiet = judge(contestants, count, true);

    printf("%d ranks, domain of %d cells along its first side, %d x %d x %d "
           "cells a rank, radius %d: %s\n",
           setup->size, setup->n * setup->dims[0], setup->n, setup->n, setup->n,
           setup->radius, nw_halo_words(contestants[0].state));
    for (int i = 0; i < count; i++)
        printf("  %-14s %9.1f us median %9.1f quartile %9.1f mean %8.1f "
               "deviation\n",
               contestants[i].name, contestants[i].median * 1e6,
               contestants[i].quartile * 1e6, contestants[i].mean * 1e6,
               contestants[i].deviation * 1e6);
    printf("  best of the others / nodewise: %.2f, by quartiles %.2f\n",
           verdict.best_peer / contestants[0].median,
           quiet.best_peer / contestants[0].quartile);
    if (count > 1 && !contestants[1].peer) {
        struct choice choice = judge_choice(contestants, count);

        printf("  nodewise / best forced, turn by turn: %.3f; / the same "
               "method forced: %.3f\n",
               choice.against_best, choice.against_same);
    }
    fflush(stdout);
}

static void tell_json(const struct setup *setup,
                      const struct contestant *contestants, int count,
                      bool first)
{
    printf("%s{\"cells\": %d, \"radius\": %d, \"ranks\": %d, \"chosen\": "
           "\"%s\", \"seconds\": {",
           first ? "" : ",\n  ", setup->n, setup->radius, setup->size,
           nw_halo_words(contestants[0].state));
    for (int i = 0; i < count; i++)
        printf("%s\"%s\": {\"median\": %.9g, \"quartile\": %.9g, \"mean\": "
               "%.9g, \"spread\": %.9g}",
               i ? ", " : "", contestants[i].name, contestants[i].median,
               contestants[i].quartile, contestants[i].mean,
               contestants[i].deviation);
    printf("}");
    if (count > 1 && !contestants[1].peer) {
        struct choice choice = judge_choice(contestants, count);

        printf(", \"against_best_forced\": %.4g", choice.against_best);
        if (isfinite(choice.against_same))
            printf(", \"against_same_forced\": %.4g", choice.against_same);
    }
    printf("}");
}

struct totals { /* of fastest and close, element 0 is by medians and 1 by
                   lower quartiles */
    int rows, fastest[2], close[2];
    int close_by_turns;
    double logs[2];
};

static void add_up(struct totals *totals, const struct contestant *contestants,
                   int count)
{
    totals->rows++;
    totals->close_by_turns +=
        judge_choice(contestants, count).against_best <= 1.05;
    for (int i = 0; i < 2; i++) {
        struct verdict verdict = judge(contestants, count, i);
        double own = figure(&contestants[0], i);

        totals->fastest[i] += own <= verdict.best_peer;
        totals->close[i] += own <= 1.05 * verdict.best_own;
        totals->logs[i] += log(verdict.best_bar / own);
    }
}

static int run_row(struct setup *setup, const struct arguments *arguments,
                   struct totals *totals)
{
    struct contestant contestants[MOST_CONTESTANTS] = {{0}};
    int count = open_all(setup, arguments, contestants);
    long wrong = 0;

    if (!count || contestants[0].peer)
        return 1;
    for (int i = 0; !wrong && i < count; i++) {
        wrong = check(setup, &contestants[i]);
        if (wrong && !setup->rank)
            fprintf(stderr, "nodewise bench halo: %s: %ld wrong cells\n",
                    contestants[i].name, wrong);
    }
    if (!wrong) {
        time_all(setup, arguments, contestants, count);
        if (!setup->rank && arguments->json)
            tell_json(setup, contestants, count, !totals->rows);
        else if (!setup->rank)
            tell_text(setup, contestants, count);
        add_up(totals, contestants, count);
    }
    close_all(contestants, count);
    return wrong != 0;
}

static void set_up(struct setup *setup, int n, int radius)
{
    int periods[3] = {1, 1, 1};

    *setup = (struct setup){.n = n, .radius = radius};
    setup->padded = n + 2 * radius;
    MPI_Comm_size(MPI_COMM_WORLD, &setup->size);
    MPI_Dims_create(setup->size, 3, setup->dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, setup->dims, periods, 0, &setup->grid);
    MPI_Comm_rank(setup->grid, &setup->rank);
    MPI_Cart_coords(setup->grid, setup->rank, 3, setup->place);
}

static void conclude_json(const struct totals *totals, const double mean[2])
{
    printf("],\n \"rows\": %d, \"fastest\": %d, \"within_5_percent\": %d, "
           "\"against_alltoallw_and_dmda\": %.4g,\n \"quartiles\": "
           "{\"fastest\": %d, \"within_5_percent\": %d, "
           "\"against_alltoallw_and_dmda\": %.4g},\n"
           " \"within_5_percent_by_turns\": %d}\n",
           totals->rows, totals->fastest[0], totals->close[0], mean[0],
           totals->fastest[1], totals->close[1], mean[1],
           totals->close_by_turns);
}

static void conclude(const struct arguments *arguments,
                     const struct totals *totals)
{
    static const char *const by[] = {"medians", "lower quartiles"};
    double rows = totals->rows ? totals->rows : 1;
    double mean[2] = {exp(totals->logs[0] / rows), exp(totals->logs[1] / rows)};

    if (arguments->json) {
        conclude_json(totals, mean);
        return;
    }
    for (int i = 0; i < 2; i++) {
        printf("by %s: fastest on %d of %d rows; %.2f times the best of "
               "alltoallw and DMDA in the geometric mean\n",
               by[i], totals->fastest[i], totals->rows, mean[i]);
        if (arguments->forced)
            printf("  the choice is within 5 %% of the best forced method on "
                   "%d of %d rows\n",
                   totals->close[i], totals->rows);
    }
    if (arguments->forced)
        printf("turn by turn: the choice is within 5 %% of the best forced "
               "method on %d of %d rows\n",
               totals->close_by_turns, totals->rows);
    if (!arguments->forced)
        printf("--forced times each method\n");
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.n = {32, 64, 128},
                                  .n_count = 3,
                                  .radius = {1, 2, 3},
                                  .radius_count = 3,
                                  .rounds = 30};
    struct totals totals = {0};
    int failed = 0, rank;

    bench_parse(&argp, "nodewise bench halo", argc, argv, &arguments);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!rank && arguments.json && !arguments.shape)
        printf("{\"schema\": \"nodewise.bench.halo/1\",\n \"results\": [\n  ");
    for (int i = 0; i < arguments.n_count; i++)
        for (int j = 0; !failed && j < arguments.radius_count; j++) {
            struct setup setup;

            set_up(&setup, arguments.n[i], arguments.radius[j]);
            if (!arguments.shape)
                failed = run_row(&setup, &arguments, &totals);
            else if (!rank)
                printf("row %d %d %d %d %d\n", setup.n, setup.radius,
                       setup.dims[2], setup.dims[1], setup.dims[0]);
            MPI_Comm_free(&setup.grid);
        }
    if (!rank && !failed && !arguments.shape)
        conclude(&arguments, &totals);
    MPI_Finalize();
    return failed;
}
