/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memetic algorithm. First, the multilevel method of v_cycle.c makes
 * several partitions, each from its own seed ("starts"). Then the partitions
 * are combined in pairs. To combine two partitions, coarsening keeps two
 * vertices together if they are in the same part in both partitions. The better
 * of the two partitions is then refined on all levels again. Each start depends
 * only on its seed, and each combination only on its seed and its two
 * partitions, so threads can run them in any order.
 */
#include "map/kway/kway_memetic_internal.h"
#include "map/common/parameters.h"
#include "base/array.h"
#include "base/parallel.h"
#include "base/status.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Tasks that run at the same time, each of which makes one partition. */
struct kway_memetic_batch {
    struct nw_budget *budget;
    struct kway_memetic_task *task;
    pthread_mutex_t lock;
    bool free; /* neither a time nor a number of steps limits the search; then
                  all tasks may run at once */
};

/* Runs task i of a batch. If neither a time nor a number of steps limits the
 * search (batch->free), counts a step in the budget, and after Ctrl-C runs only
 * task 0. Otherwise kway_memetic_run_tasks counts the steps and ends the
 * batches. */
static nw_status kway_memetic_run_job(void *user, int32_t i)
{
    struct kway_memetic_batch *batch = user;
    nw_status status;

    /* After Ctrl-C, the first task still runs, since one partition is needed.
     */
    if (i && batch->free && nw_budget_is_overdue(batch->budget))
        return NW_OK;
    status = nw_kway_memetic_run_task(&batch->task[i]);
    if (status || !batch->free)
        return status;
    pthread_mutex_lock(&batch->lock);
    (void)nw_budget_spend(batch->budget, 1);
    pthread_mutex_unlock(&batch->lock);
    return NW_OK;
}

/* Runs `count` tasks in order, until the budget ends, and counts a step for
 * each task that was run. If the call has made no partition yet, at least one
 * task is run. */
static nw_status kway_memetic_run_tasks(struct nw_kway_run *run,
                                        struct kway_memetic_task *task,
                                        int count)
{
    struct nw_budget *budget = run->budget;
    struct kway_memetic_batch batch = {budget, task, PTHREAD_MUTEX_INITIALIZER,
                                       !budget->end_ns &&
                                           budget->steps_most == UINT64_MAX};
    nw_status status = NW_OK;

    for (int done = 0, want; !status && done < count; done += want) {
        bool first = !budget->steps, hurried = budget->hurried;

        want = count - done;
        if (!batch.free && want > budget->threads)
            want = budget->threads;
        want = (int)nw_budget_slice(budget, (uint64_t)want);

        /* One partition is made even if the budget has ended. */
        if (!first && !nw_budget_spend(budget, 0))
            break;
        budget->hurried = false;
        batch.task = task + done;
        status = nw_parallel_try(kway_memetic_run_job, &batch, want,
                                 budget->threads);
        if (!status && !batch.free)
            (void)nw_budget_spend(budget, (uint64_t)want);
        if (!status && !first && budget->hurried && !hurried) {
            /* The time limit cut these tasks short, so a run with the same
             * number of steps would give other partitions. */
            for (int i = done; i < done + want; i++) {
                free(task[i].out.part);
                task[i].out.part = NULL;
            }
            budget->hurried = false;
            break;
        }
        budget->hurried |= hurried;
    }
    return status;
}

/* Compares answers; also for qsort. Returns a value below 0 if the first answer
 * is better. An answer within the limits is better than an answer that exceeds
 * them. Otherwise the answer of lower cost is better. */
static int kway_memetic_compare(const void *a, const void *b)
{
    const struct kway_memetic_answer *one = a, *other = b;

    if (one->balanced != other->balanced)
        return one->balanced ? -1 : 1;
    return (one->cost > other->cost) - (one->cost < other->cost);
}

/* Keeps the better of both answers in *keep and frees the other. */
static void kway_memetic_keep_better(struct kway_memetic_answer *keep,
                                     struct kway_memetic_answer *made)
{
    if (made->part && (!keep->part || kway_memetic_compare(made, keep) < 0)) {
        struct kway_memetic_answer old = *keep;

        *keep = *made;
        *made = old;
    }
    free(made->part);
    *made = (struct kway_memetic_answer){0};
}

/* Makes `count` partitions from scratch in answer[count]. If the budget ends
 * earlier, `part` of the remaining answers stays NULL. `number` makes the seeds
 * differ between generations. */
static nw_status kway_memetic_make_starts(struct nw_kway_run *run,
                                          struct kway_memetic_answer *answer,
                                          int count, uint64_t number)
{
    struct kway_memetic_task *task;
    nw_status status = nw_alloc((size_t)count, sizeof *task, &task);

    if (status)
        return status;
    for (int i = 0; i < count; i++)
        task[i] = (struct kway_memetic_task){
            .run = run,
            .seed = run->seed * 1000003u + number + (uint64_t)i,
            .alternative = i % 2,
            .whole = i < run->wholes,
        };
    status = kway_memetic_run_tasks(run, task, count);
    for (int i = 0; i < count; i++)
        answer[i] = task[i].out;
    free(task);
    return status;
}

/* Combines the best of *count partitions with the worst, the second best with
 * the second worst, and so on, which leaves half of them. If the number is odd,
 * the middle one is dropped, and the worst one remains, too. A single partition
 * is instead coarsened and refined again. Sets *count to the number of
 * partitions left. `number` makes the seeds differ between calls. */
static nw_status kway_memetic_combine(struct nw_kway_run *run,
                                      struct kway_memetic_answer *answer,
                                      int *count, uint64_t number)
{
    struct kway_memetic_task *task;
    int pairs = *count > 1 ? *count / 2 : 1, left = (*count + 1) / 2;
    nw_status status = nw_alloc((size_t)pairs, sizeof *task, &task);

    if (status)
        return status;
    qsort(answer, (size_t)*count, sizeof *answer, kway_memetic_compare);
    for (int i = 0; i < pairs; i++)
        task[i] = (struct kway_memetic_task){
            .run = run,
            .one = &answer[i],
            .other = *count > 1 ? &answer[*count - 1 - i] : NULL,
            .seed = run->seed * 7919u + number + (uint64_t)i};
    status = kway_memetic_run_tasks(run, task, pairs);
    for (int i = 0; i < pairs; i++)
        kway_memetic_keep_better(&answer[i], &task[i].out);
    if (left > pairs) {
        struct kway_memetic_answer middle = answer[pairs];

        answer[pairs] = answer[*count - 1];
        answer[*count - 1] = middle;
    }
    for (int i = left; i < *count; i++) {
        free(answer[i].part);
        answer[i].part = NULL;
    }
    *count = left;
    free(task);
    return status;
}

/* Returns true if the budget allows another step, or no step was made yet. */
static bool kway_memetic_goes_on(const struct nw_kway_run *run)
{
    return !run->budget->steps || nw_budget_spend(run->budget, 0);
}

/* Runs one generation. It makes partitions from scratch, combines them until
 * one partition is left, and refines this partition in V-cycles. If the budget
 * ends earlier, the best partition so far is the result. *out becomes the
 * result, without a partition if all starts were left out; the caller frees its
 * partition, also after a failure. `number` is the number of the generation; it
 * selects the seeds. */
static nw_status kway_memetic_generation(struct nw_kway_run *run,
                                         uint64_t number,
                                         struct kway_memetic_answer *out)
{
    int count = run->effort.starts, made = 0;
    struct kway_memetic_answer *answer;
    nw_status status = nw_alloc((size_t)count, sizeof *answer, &answer);

    if (status)
        return status;
    status = kway_memetic_make_starts(run, answer, count, number << 32);
    for (int i = 0; i < count; i++)
        if (answer[i].part)
            answer[made++] = answer[i];
    for (int i = made; i < count; i++)
        answer[i].part = NULL;
    while (!status && made > 1 && kway_memetic_goes_on(run))
        status = kway_memetic_combine(run, answer, &made,
                                      (number << 32) + (uint64_t)made * 64);
    if (!status && made > 1)
        qsort(answer, (size_t)made, sizeof *answer, kway_memetic_compare);
    made = 1;
    for (int i = 0;
         !status && i < run->effort.cycles && kway_memetic_goes_on(run); i++)
        status = kway_memetic_combine(run, answer, &made,
                                      (number << 32) + 1000 + (uint64_t)i);
    *out = answer[0];
    for (int i = 1; i < count; i++)
        free(answer[i].part);
    free(answer);
    return status;
}

/* Copies the caller's partition, run->given, and its cost to *given, so that it
 * competes with the partitions of the generations. Sets run->given_fits to
 * whether it respects all limits and ranges. Changes nothing if run->given is
 * NULL. */
static nw_status kway_memetic_copy_given(struct nw_kway_run *run,
                                         struct kway_memetic_answer *given)
{
    size_t n = (size_t)run->graph->n;
    struct nw_kway_state state;
    nw_status status;

    if (!run->given)
        return NW_OK;
    status = nw_alloc(n, sizeof *given->part, &given->part);
    if (status)
        return status;
    memcpy(given->part, run->given, n * sizeof *given->part);
    given->cost = nw_kway_cost(run->graph, run->machine, given->part);
    status = nw_kway_state_init(&state, run->graph, run->machine, given->part);
    if (status)
        return status;
    given->balanced = true;
    for (int32_t q = 0; q < run->machine->k; q++)
        given->balanced &= !nw_kway_state_over(&state, q);
    for (int32_t v = 0; v < run->graph->n; v++)
        given->balanced &= nw_kway_allows(run->graph, v, given->part[v]);
    nw_kway_state_fini(&state);
    run->given_fits = given->balanced;
    return NW_OK;
}

/* Combines champion[0], the best partition so far, with champion[1], the result
 * of a generation. Keeps only the better one instead if one costs far more, if
 * champion[0] exceeds a limit, or if the budget has ended. champion[0] becomes
 * the result. */
static nw_status kway_memetic_challenge(struct nw_kway_run *run,
                                        struct kway_memetic_answer champion[2],
                                        uint64_t number)
{
    int count = 2;

    if (!champion[1].part)
        return NW_OK;
    if (!champion[0].part || !kway_memetic_goes_on(run) ||
        champion[0].cost > nw_tuned.kway.combined_max * champion[1].cost ||
        champion[1].cost > nw_tuned.kway.combined_max * champion[0].cost ||
        !champion[0].balanced) {
        kway_memetic_keep_better(&champion[0], &champion[1]);
        return NW_OK;
    }
    return kway_memetic_combine(run, champion, &count, (number << 32) + 5000);
}

/* Runs one generation, or with --time or --steps one after another until the
 * limit, and combines their results in champion[0]. champion[1] is scratch
 * space. */
static nw_status kway_memetic_evolve(struct nw_kway_run *run,
                                     struct kway_memetic_answer champion[2])
{
    nw_status status = NW_OK;

    for (uint64_t number = 0; !status; number++) {
        status = kway_memetic_generation(run, number, &champion[1]);
        if (!status)
            status = kway_memetic_challenge(run, champion, number);
        if (!run->budget->anytime || !kway_memetic_goes_on(run))
            break;
    }
    return status;
}

/* Refines only the given partition *one, in V-cycles: as many as the effort
 * has, with --time or --steps until the limit. Makes no partition from scratch.
 */
static nw_status kway_memetic_refine_best(struct nw_kway_run *run,
                                          struct kway_memetic_answer *one)
{
    nw_status status = NW_OK;

    for (int i = 0;
         !status && (i < run->effort.cycles || run->budget->anytime) &&
         kway_memetic_goes_on(run);
         i++) {
        int count = 1;

        status = kway_memetic_combine(run, one, &count, 1000 + (uint64_t)i);
    }
    return status;
}

nw_status nw_kway_unlimited(struct nw_kway_run *run, int32_t *part)
{
    struct kway_memetic_answer best = {0};
    nw_status status = kway_memetic_generation(run, 0, &best);

    if (!status)
        memcpy(part, best.part, (size_t)run->graph->n * sizeof *part);
    free(best.part);
    return status;
}

nw_status nw_kway(struct nw_kway_run *run, int32_t *part)
{
    struct kway_memetic_answer champion[2] = {{0}};
    struct nw_kway_run patient = *run;
    struct kway_memetic_task task = {.run = &patient, .seed = run->seed};
    nw_status status = kway_memetic_copy_given(run, &champion[0]);

    run->effort.partition = nw_kway_unlimited;
    if (!status)
        status = run->effort.starts ? kway_memetic_evolve(run, champion)
                                    : kway_memetic_refine_best(run, champion);
    /* If time was over before the first partition was finished, and the result
     * exceeds a limit, one more is made without a time limit. */
    if (!status && !champion[0].balanced && run->budget->hurried) {
        patient.budget = NULL;
        status = nw_kway_memetic_run_task(&task);
        kway_memetic_keep_better(&champion[0], &task.out);
    }
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
