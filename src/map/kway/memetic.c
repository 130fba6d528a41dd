/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All of it together: the graph is coarsened, cut where it is small, and the
 * parts are refined on every level on the way back. Several such answers are
 * made, each from its own seed, and combined: what two of them agree on stays
 * together, the better one is refined on coarser levels again. Starts and
 * combinations depend on nothing but the seed, so threads share them out.
 */
#include "map/kway/memetic.h"
#include "base/array.h"
#include "base/crew.h"
#include "base/status.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 40, PER_PART = 200 };

/* The graph and its coarser ones; into[i] leads from level i to i + 1. */
struct levels {
    struct nw_kgraph graph[LEVELS]; /* [0] is borrowed */
    int32_t *into[LEVELS];
    int count;
};

struct answer {
    int32_t *part;
    double cost;
    bool balanced;
};

/* One thread's task: from two answers (or none) a third. */
struct task {
    const struct nw_krun *run;
    const struct answer *one, *other; /* NULL: a start, or a cycle */
    uint64_t seed;
    bool other_share;
    bool grouped;         /* the start goes by the machine's groups */
    bool whole;           /* the start is cut without coarsening */
    struct nw_kpace pace; /* on the way back; work: vertices */
    struct answer out;
};

static void levels_fini(struct levels *levels)
{
    for (int i = 0; i < levels->count; i++) {
        if (i)
            nw_kgraph_fini(&levels->graph[i]);
        free(levels->into[i]);
    }
}

static nw_status project_up(const struct levels *levels, int level,
                            const int32_t *part, int32_t **out)
{
    int32_t n = levels->graph[level + 1].n;
    nw_status status;

    if (!part)
        return NW_OK;
    status = nw_alloc((size_t)n, sizeof **out, out);
    for (int32_t v = 0; !status && v < levels->graph[level].n; v++)
        (*out)[levels->into[level][v]] = part[v];
    return status;
}

static double total_load(const struct nw_kgraph *graph)
{
    double sum = 0;

    for (int32_t v = 0; v < graph->n; v++)
        sum += (double)graph->load[v];
    return sum;
}

/* Coarsens within the parts of both answers, down to a few vertices a part.
 * *coarse_part is the first answer's on the last level. */
static nw_status build_levels(struct task *task, struct nw_random *random,
                              struct levels *levels, int32_t **coarse_part)
{
    int64_t per_part = task->run->per_part ? task->run->per_part : PER_PART;
    int64_t small = task->run->machine->k * per_part;
    const int32_t *given[2] = {task->one ? task->one->part : NULL,
                               task->other ? task->other->part : NULL};
    int32_t *part[2] = {NULL, NULL};
    struct nw_kmerge merge = {.budget = task->run->budget};
    nw_status status = NW_OK;

    levels->graph[0] = *task->run->graph;
    levels->count = 1;
    merge.load_max =
        (int64_t)(1.5 * total_load(task->run->graph) / (double)small) + 1;
    while (!status && levels->count < LEVELS) {
        int at = levels->count - 1;
        struct nw_kgraph *fine = &levels->graph[at];
        int32_t *next[2] = {NULL, NULL};

        if (fine->n <= small || task->whole)
            break;
        merge.part = part[0] ? part[0] : given[0];
        merge.other = part[1] ? part[1] : given[1];
        status = nw_kcoarsen(fine, &merge, random, fine + 1, &levels->into[at]);
        if (status || !levels->into[at])
            break;
        levels->count++;
        for (int i = 0; !status && i < 2; i++)
            status =
                project_up(levels, at, i ? merge.other : merge.part, &next[i]);
        free(part[0]);
        free(part[1]);
        part[0] = next[0];
        part[1] = next[1];
        if (fine[1].n > fine->n - fine->n / 20)
            break;
    }
    free(part[1]);
    *coarse_part = part[0];
    return status;
}

/* Coarse vertices are heavy: limits are eased by about one of them. */
static void ease(struct nw_kstate *state)
{
    const struct nw_kgraph *g = state->graph;
    int64_t load = 0, count = 0;

    for (int32_t v = 0; v < g->n; v++) {
        if (g->load[v] > load)
            load = g->load[v];
        if (g->count[v] > count)
            count = g->count[v];
    }
    for (int32_t q = 0; q < state->machine->k; q++) {
        if (state->most[q])
            state->most[q] += count;
        state->limit[q] += load / 2;
    }
}

/* About what all edges would cost, each as far as can be. */
static double most_of(const struct nw_kgraph *graph,
                      const struct nw_kmachine *machine)
{
    double bytes = 0, far = 0;

    for (size_t e = 0; e < graph->row[graph->n]; e++)
        bytes += graph->weight[e];
    for (int32_t q = 1; q < machine->k; q++)
        far = fmax(far, nw_kdistance(machine, 0, q));
    return bytes * far;
}

/* The cost from scratch is the one that gains lead to, but for what sums lose
 * that were far larger in between. */
static bool agrees(const struct nw_kstate *state, double begun)
{
    double cost = nw_kway_cost(state->graph, state->machine, state->part);
    double off = fabs(begun - state->gained - cost);

    return off <= 1e-9 * (1 + begun + cost) ||
           off <= 1e-12 * most_of(state->graph, state->machine);
}

static nw_status refine(struct task *task, const struct nw_kgraph *graph,
                        bool finest, struct nw_random *random, int32_t *part)
{
    const struct nw_keffort *effort = &task->run->effort;
    struct nw_kstate state;
    bool balanced;
    double begun = 0;
    nw_status status;

    if (!finest && nw_budget_is_overdue(task->run->budget))
        return NW_OK;
    status = nw_kstate_init(&state, graph, task->run->machine, part);
    if (status)
        return status;
    state.budget = task->run->budget;
    state.until = nw_kpace_until(&task->pace, graph->n);
    /* only where it is looked at */
    assert((begun = nw_kway_cost(graph, task->run->machine, part)) >= 0);
    if (!finest)
        ease(&state);
    status = nw_kbalance(&state, &balanced);
    if (!status)
        status = nw_ksweep(&state, 6, random);
    for (int i = 0;
         !status && i < effort->searches && !nw_kstate_is_late(&state); i++) {
        double before = state.gained;

        status = nw_ksearch(&state, effort->patience, random);
        if (state.gained <= before)
            break;
    }
    if (finest)
        task->out.balanced = balanced;
    assert(status || agrees(&state, begun));
    nw_kstate_fini(&state);
    return status;
}

static void set_pace(struct task *task, const struct levels *levels)
{
    double all = 0;

    for (int i = 0; i < levels->count; i++)
        all += levels->graph[i].n;
    nw_kpace_begin(&task->pace, task->run->budget, 1, all);
}

/* From the coarsest level to the finest. *part is of the coarsest. */
static nw_status come_back(struct task *task, struct levels *levels,
                           struct nw_random *random, int32_t **part)
{
    nw_status status = NW_OK;

    set_pace(task, levels);
    for (int i = levels->count - 1; !status; i--) {
        const struct nw_kgraph *graph = &levels->graph[i];
        int32_t *finer = NULL;

        status = refine(task, graph, i == 0, random, *part);
        if (status || !i)
            break;
        status =
            nw_alloc((size_t)levels->graph[i - 1].n, sizeof *finer, &finer);
        for (int32_t v = 0; !status && v < levels->graph[i - 1].n; v++)
            finer[v] = (*part)[levels->into[i - 1][v]];
        if (!status) {
            free(*part);
            *part = finer;
        }
    }
    return status;
}

static nw_status begin(struct task *task, const struct levels *levels,
                       int32_t **part)
{
    const struct nw_kgraph *last = &levels->graph[levels->count - 1];
    struct nw_keffort effort = task->run->effort;
    struct nw_kmachine machine = *task->run->machine;
    nw_status status;

    if (*part)
        return NW_OK;
    status = nw_alloc((size_t)last->n, sizeof **part, part);
    if (status)
        return status;
    if (task->one) {
        memcpy(*part, task->one->part, (size_t)last->n * sizeof **part);
        return NW_OK;
    }
    effort.budget = task->run->budget;
    if (task->other_share)
        machine.share = (double *)task->run->share;
    if (!task->grouped)
        effort.group_starts = 0;
    return nw_ksection(last, &machine, &effort, task->seed, *part);
}

/* Before anything is cut for an answer that is late already, where one is there
 * that keeps every limit. */
static bool is_idle(const struct task *task)
{
    return !task->one && task->run->given_fits &&
           nw_budget_is_overdue(task->run->budget);
}

static nw_status run_task(struct task *task)
{
    struct levels levels = {0};
    struct nw_random random;
    int32_t *part = NULL;
    nw_status status;

    nw_random_init(&random, task->seed);
    status = build_levels(task, &random, &levels, &part);
    if (!status && !is_idle(task))
        status = begin(task, &levels, &part);
    if (!status && part)
        status = come_back(task, &levels, &random, &part);
    if (!status && part)
        task->out.cost =
            nw_kway_cost(task->run->graph, task->run->machine, part);
    levels_fini(&levels);
    task->out.part = part;
    return status;
}

/* A step is counted, and the best so far told. */
static void count_answer(struct nw_budget *budget, const struct task *task)
{
    double best = budget->best;

    if (task->out.balanced && (best == 0 || task->out.cost < best))
        best = task->out.cost;
    (void)nw_budget_go(budget, 1, best);
}

/* Where nothing but effort ends them all tasks may run at once. */
static bool is_free(const struct nw_budget *budget)
{
    return !budget->end_ns && budget->steps_most == UINT64_MAX;
}

struct batch {
    struct nw_budget *budget;
    struct task *task;
    pthread_mutex_t lock;
};

static nw_status run_job(void *user, int32_t i)
{
    struct batch *batch = user;
    bool free = is_free(batch->budget);
    nw_status status;

    /* called off, one answer in haste is enough */
    if (i && free && nw_budget_is_overdue(batch->budget))
        return NW_OK;
    status = run_task(&batch->task[i]);
    if (status || !free)
        return status;
    pthread_mutex_lock(&batch->lock);
    count_answer(batch->budget, &batch->task[i]);
    pthread_mutex_unlock(&batch->lock);
    return NW_OK;
}

static nw_status run_batch(struct nw_budget *budget, struct task *task,
                           int count)
{
    struct batch batch = {budget, task, PTHREAD_MUTEX_INITIALIZER};
    nw_status status = nw_crew_try(run_job, &batch, count, budget->threads);

    for (int i = 0; !status && !is_free(budget) && i < count; i++)
        count_answer(budget, &task[i]);
    return status;
}

/* Answers cut short are the first that a count of steps would not repeat. */
static void drop(struct task *task, int count)
{
    for (int i = 0; i < count; i++) {
        free(task[i].out.part);
        task[i].out.part = NULL;
    }
}

/* How many run before the budget is asked again. */
static int next_batch(const struct nw_budget *budget, int left)
{
    if (is_free(budget))
        return left;
    if (left > budget->threads)
        left = budget->threads;
    return (int)nw_budget_slice(budget, (uint64_t)left);
}

/* *count is how many the budget let run, the first ones. */
static nw_status run_tasks(struct nw_krun *run, struct task *task, int *count)
{
    struct nw_budget *budget = run->budget;
    int done = 0, all = *count;
    nw_status status = NW_OK;

    while (!status && done < all) {
        bool first = !budget->steps, hurried = budget->hurried;
        int want = next_batch(budget, all - done);

        /* whatever the budget, one answer is made */
        if (!first && !nw_budget_go(budget, 0, budget->best))
            break;
        budget->hurried = false;
        status = run_batch(budget, task + done, want);
        if (!status && !first && budget->hurried && !hurried) {
            drop(task + done, want);
            budget->hurried = false;
            break;
        }
        budget->hurried |= hurried;
        done += want;
    }
    *count = done;
    return status;
}

static bool better(const struct answer *a, const struct answer *b)
{
    if (a->balanced != b->balanced)
        return a->balanced;
    return a->cost < b->cost;
}

/* Puts the better answer into `keep` and drops the other. */
static void keep_better(struct answer *keep, struct answer *made)
{
    if (made->part && (!keep->part || better(made, keep))) {
        struct answer old = *keep;

        *keep = *made;
        *made = old;
    }
    free(made->part);
    *made = (struct answer){0};
}

static int by_cost(const void *a, const void *b)
{
    const struct answer *one = a, *other = b;

    return better(one, other) ? -1 : better(other, one);
}

/* New answers, as many as the budget lets; those not made have no part. */
static nw_status make_starts(struct nw_krun *run, struct answer *answer,
                             int count, uint64_t number)
{
    struct task *task;
    nw_status status = nw_alloc((size_t)count, sizeof *task, &task);

    if (status)
        return status;
    for (int i = 0; i < count; i++)
        task[i] = (struct task){
            .run = run,
            .seed = run->seed * 1000003u + number + (uint64_t)i,
            .other_share = run->share && i % 2,
            .grouped = run->effort.group_starts && i % 2,
            .whole = i < run->wholes,
        };
    status = run_tasks(run, task, &count);
    for (int i = 0; i < count; i++)
        answer[i] = task[i].out;
    free(task);
    return status;
}

/* The best are combined with the worst, two by two: half are left. An answer
 * alone is coarsened and refined again. */
static nw_status combine(struct nw_krun *run, struct answer *answer, int *count,
                         uint64_t number)
{
    struct task *task;
    int half = *count / 2, done;
    nw_status status;

    half = half ? half : 1;
    done = half;
    status = nw_alloc((size_t)half, sizeof *task, &task);
    if (status)
        return status;
    qsort(answer, (size_t)*count, sizeof *answer, by_cost);
    for (int i = 0; i < half; i++)
        task[i] =
            (struct task){.run = run,
                          .one = &answer[i],
                          .other = *count > 1 ? &answer[*count - 1 - i] : NULL,
                          .seed = run->seed * 7919u + number + (uint64_t)i};
    status = run_tasks(run, task, &done);
    for (int i = 0; i < half; i++)
        keep_better(&answer[i], &task[i].out);
    for (int i = half; i < *count - *count % 2; i++) {
        free(answer[i].part);
        answer[i].part = NULL;
    }
    if (*count > 1 && *count % 2) {
        struct answer last = answer[*count - 1];

        answer[*count - 1].part = NULL;
        answer[half] = last;
    }
    *count -= *count > 1 ? half : 0;
    free(task);
    return status;
}

static bool goes_on(const struct nw_krun *run)
{
    return !run->budget->steps ||
           nw_budget_go(run->budget, 0, run->budget->best);
}

/* Starts, made one by combination, then refined again: the champion of one
 * generation. */
static nw_status generation(struct nw_krun *run, struct answer *answer,
                            uint64_t number)
{
    int count = run->effort.starts, made = 0;
    nw_status status = make_starts(run, answer, count, number << 32);

    for (int i = 0; i < count; i++)
        if (answer[i].part)
            answer[made++] = answer[i];
    for (int i = made; i < count; i++)
        answer[i].part = NULL;
    while (!status && made > 1 && goes_on(run))
        status =
            combine(run, answer, &made, (number << 32) + (uint64_t)made * 64);
    if (!status && made > 1)
        qsort(answer, (size_t)made, sizeof *answer, by_cost);
    made = 1;
    for (int i = 0; !status && i < run->effort.cycles && goes_on(run); i++)
        status =
            combine(run, answer, &made, (number << 32) + 1000 + (uint64_t)i);
    return status;
}

/* What is given takes part like the champion of a generation. */
static nw_status take_given(struct nw_krun *run, struct answer *given)
{
    size_t n = (size_t)run->graph->n;
    struct nw_kstate state;
    nw_status status;

    if (!run->given)
        return NW_OK;
    status = nw_alloc(n, sizeof *given->part, &given->part);
    if (status)
        return status;
    memcpy(given->part, run->given, n * sizeof *given->part);
    given->cost = nw_kway_cost(run->graph, run->machine, given->part);
    status = nw_kstate_init(&state, run->graph, run->machine, given->part);
    if (status)
        return status;
    given->balanced = true;
    for (int32_t q = 0; q < run->machine->k; q++)
        given->balanced &= !nw_kstate_over(&state, q);
    for (int32_t v = 0; v < run->graph->n; v++)
        given->balanced &= nw_kmay(run->graph, v, given->part[v]);
    nw_kstate_fini(&state);
    run->given_fits = given->balanced;
    return NW_OK;
}

/* Two champions become one; what is far worse is not worth the work. */
static nw_status challenge(struct nw_krun *run, struct answer champion[2],
                           uint64_t number)
{
    int count = 2;

    if (!champion[1].part)
        return NW_OK;
    if (!champion[0].part || !goes_on(run) ||
        champion[0].cost > 1.3 * champion[1].cost ||
        champion[1].cost > 1.3 * champion[0].cost || !champion[0].balanced) {
        keep_better(&champion[0], &champion[1]);
        return NW_OK;
    }
    return combine(run, champion, &count, (number << 32) + 5000);
}

static nw_status evolve(struct nw_krun *run, struct answer champion[2])
{
    size_t starts = (size_t)run->effort.starts;
    struct answer *answer;
    nw_status status = nw_alloc(starts, sizeof *answer, &answer);

    if (status)
        return status;
    for (uint64_t number = 0; !status; number++) {
        memset(answer, 0, starts * sizeof *answer);
        status = generation(run, answer, number);
        champion[1] = answer[0];
        answer[0].part = NULL;
        for (size_t i = 1; i < starts; i++)
            free(answer[i].part);
        if (!status)
            status = challenge(run, champion, number);
        if (!run->budget->endless || !goes_on(run))
            break;
    }
    free(answer);
    return status;
}

/* No other answer is made. */
static nw_status polish(struct nw_krun *run, struct answer *one)
{
    nw_status status = NW_OK;

    for (int i = 0; !status && (i < run->effort.cycles || run->budget->endless);
         i++) {
        int count = 1;

        if (!goes_on(run))
            break;
        status = combine(run, one, &count, 1000 + (uint64_t)i);
    }
    return status;
}

/* An answer in order that could not be brought within the limits is no answer:
 * one is made, whatever the time. */
static nw_status make_patiently(const struct nw_krun *run,
                                struct answer *answer)
{
    struct nw_krun patient = *run;
    struct task task = {.run = &patient, .seed = run->seed};
    nw_status status;

    patient.budget = NULL;
    status = run_task(&task);
    keep_better(answer, &task.out);
    return status;
}

nw_status nw_kparts(struct nw_krun *run, int32_t *part)
{
    size_t starts = (size_t)run->effort.starts;
    struct answer *answer;
    nw_status status = nw_alloc(starts, sizeof *answer, &answer);

    if (status)
        return status;
    status = generation(run, answer, 0);
    if (!status)
        memcpy(part, answer[0].part, (size_t)run->graph->n * sizeof *part);
    for (size_t i = 0; i < starts; i++)
        free(answer[i].part);
    free(answer);
    return status;
}

nw_status nw_kway(struct nw_krun *run, int32_t *part)
{
    struct answer champion[2] = {{0}};
    nw_status status = take_given(run, &champion[0]);

    if (!status)
        status =
            run->effort.starts ? evolve(run, champion) : polish(run, champion);
    if (!status && !champion[0].balanced && run->budget->hurried)
        status = make_patiently(run, &champion[0]);
    if (!status && !champion[0].balanced)
        status = nw_fail(NW_EINVAL, "no way was found to keep every element "
                                    "within its limit; a larger imbalance or "
                                    "capacity is needed");
    if (!status)
        memcpy(part, champion[0].part, (size_t)run->graph->n * sizeof *part);
    free(champion[0].part);
    free(champion[1].part);
    return status;
}
