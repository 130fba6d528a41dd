/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the hosts of a batch job. Slurm names them in variables, LSF in a
 * variable or in a file. Flux is asked with flux(1). The other batch systems
 * have a variable that names a file with a line for each host or for each
 * slot. */
#include "cli/batch.h"
#include "base/array.h"
#include "base/file.h"
#include "base/hostfile.h"
#include "base/spawn.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/launcher_version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum form {
    LIST,   /* the variable is Slurm's list of hosts */
    PAIRS,  /* the variable is host, slots, host, slots, ... */
    NODES,  /* the variable names a file with a line for each host */
    SLOTS,  /* the variable names a file with a line for each slot */
    CHUNKS, /* the variable names a file with a line for each chunk (PBS),
               which may hold several ranks */
    SIZES,  /* the variable names a file with host, number of slots and more on
              each line */
    ASKED,  /* the variable is the address of Flux; flux(1), which reads it,
               lists the hosts */
};

/* The variables that describe a batch job, in order of precedence: the first
 * one that is set counts. */
static const struct batch_source {
    const char *variable;
    enum form form;
} sources[] = {
    {"SLURM_JOB_NODELIST", LIST}, {"LSB_MCPU_HOSTS", PAIRS},
    {"LSB_DJOB_HOSTFILE", SLOTS}, {"PE_HOSTFILE", SIZES},
    {"PBS_NODEFILE", CHUNKS},     {"OAR_NODEFILE", SLOTS},
    {"COBALT_NODEFILE", NODES},   {"FLUX_URI", ASKED},
};

/* Adds `more` to *sum, the slots or tasks of a host that is listed again. If
 * *sum is 0 (unknown), it stays 0. */
static void batch_raise(int32_t *sum, int32_t more)
{
    if (*sum)
        *sum = nw_hostfile_slots_sum(*sum, more);
}

/* Adds a host with its slots and tasks (0: unknown); adds them to the former
 * numbers if the host is already in the list. */
static nw_status batch_add_both(struct nw_batch *batch, const char *name,
                                int32_t slots, int32_t tasks)
{
    size_t count = batch->host.count, i;
    nw_status status =
        nw_name_table_note(&batch->table, batch->host.name, name, &i);

    if (status)
        return status;
    if (i < count) {
        batch_raise(&batch->slots[i], slots);
        batch_raise(&batch->tasks[i], tasks);
        return NW_OK;
    }
    status = nw_hostlist_expand(name, &batch->host);
    if (!status && batch->host.count != count + 1)
        status = nw_fail(NW_EFORMAT, "'%s' is not the name of one host", name);
    if (!status)
        status = nw_grow(&batch->slots, &batch->slot_capacity, count + 1,
                         sizeof *batch->slots);
    if (!status)
        status = nw_grow(&batch->tasks, &batch->task_capacity, count + 1,
                         sizeof *batch->tasks);
    if (status)
        return status;
    batch->slots[count] = slots;
    batch->tasks[count] = tasks;
    return NW_OK;
}

static nw_status batch_add(struct nw_batch *batch, const char *name,
                           int32_t slots)
{
    return batch_add_both(batch, name, slots, 0);
}

/* Adds a host with the number of slots in `word`; adds no host if this number
 * is 0. */
static nw_status add_sized(struct nw_batch *batch, const char *name,
                           const char *word)
{
    int32_t slots;

    if (!word || !nw_parse_i32(word, &slots) || slots < 0)
        return nw_fail(NW_EFORMAT,
                       "host '%s': the number of slots is missing or invalid",
                       name);
    slots -= slots == INT32_MAX; /* INT32_MAX means "not given" */
    return slots ? batch_add(batch, name, slots) : NW_OK;
}

/* The following functions add the host of one line of a file; they are of type
 * nw_host_taker, and `user` is the struct nw_batch. */
static nw_status batch_add_node(void *user, char *line)
{
    return batch_add(user, nw_word_next(&line), 0);
}

static nw_status add_slot(void *user, char *line)
{
    return batch_add(user, nw_word_next(&line), 1);
}

static nw_status batch_add_chunk(void *user, char *line)
{
    return batch_add_both(user, nw_word_next(&line), 0, 1);
}

static nw_status batch_add_line(void *user, char *line)
{
    const char *name = nw_word_next(&line);

    return add_sized(user, name, nw_word_next(&line));
}

/* Reads a list of hosts and slots such as "n1 4 n2 4". */
static nw_status read_pairs(struct nw_batch *batch, const char *text)
{
    char *words, *rest, *name;
    nw_status status = nw_strdup(text, &words);

    rest = words;
    while (!status && (name = nw_word_next(&rest)))
        status = add_sized(batch, name, nw_word_next(&rest));
    free(words);
    return status;
}

/* Returns entry h of a Slurm list such as "2(x3),4", which stands for 2,2,2,4;
 * 0 if the list is NULL or shorter. */
static int32_t batch_counted(const char *list, size_t h)
{
    while (list && *list) {
        char *end;
        long count = strtol(list, &end, 10), times = 1;

        if (end == list || count < 0 || count > INT32_MAX)
            return 0;
        if (!strncmp(end, "(x", 2))
            times = strtol(end + 2, &end, 10);
        if (times > 0 && h < (size_t)times)
            return (int32_t)count;
        h -= times > 0 ? (size_t)times : 0;
        end += strcspn(end, ",");
        list = end + (*end == ',');
    }
    return 0;
}

/* Returns the number of ranks that the job's CPUs of node h can hold, but at
 * least the number of the job's tasks on this node. */
static int32_t slurm_slots(size_t h)
{
    int32_t each = batch_counted(getenv("SLURM_CPUS_PER_TASK"), 0);
    int32_t room = batch_counted(getenv("SLURM_JOB_CPUS_PER_NODE"), h);
    int32_t least = batch_counted(getenv("SLURM_TASKS_PER_NODE"), h);

    room /= each > 0 ? each : 1;
    return room > least ? room : least;
}

static nw_status read_slurm(struct nw_batch *batch, const char *nodes)
{
    nw_status status = nw_hostlist_expand(nodes, &batch->host);

    if (!status)
        status =
            nw_alloc(batch->host.count, sizeof *batch->slots, &batch->slots);
    if (!status)
        status =
            nw_alloc(batch->host.count, sizeof *batch->tasks, &batch->tasks);
    for (size_t h = 0; !status && h < batch->host.count; h++) {
        batch->slots[h] = slurm_slots(h);
        batch->tasks[h] = batch_counted(getenv("SLURM_TASKS_PER_NODE"), h);
    }
    return status;
}

static nw_status add_bare(void *user, const char *name, int32_t slots)
{
    return batch_add(user, name, slots);
}

/* Asks flux(1) for the hosts: those of the job if this process has FLUX_JOB_ID
 * (flux-environment(7)), else all nodes of the Flux instance that are up. */
static nw_status read_flux(struct nw_batch *batch)
{
    const char *const job[] = {
        "jobs", "-n", "-o", "{nodelist}", getenv("FLUX_JOB_ID"), NULL};
    static const char *const all[] = {"resource", "list", "-n",         "-s",
                                      "up",       "-o",   "{nodelist}", NULL};
    const struct nw_spawn spawn = {.program = "flux",
                                   .arguments = job[4] ? job : all,
                                   .seconds = NW_ASK_SECONDS,
                                   .from_path = true};
    struct nw_text answer = {0};
    int how = 0;
    nw_status status = nw_spawn_run(&spawn, &answer, &how);

    for (char *line = answer.data, *end; !status && !how && line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        if (*line)
            status = nw_hostfile_list(line, add_bare, batch);
    }
    nw_text_fini(&answer);
    if (how == NW_SPAWN_TIMED_OUT)
        return nw_fail(NW_ENODEV, "flux(1) gave no answer in %d s",
                       (int)NW_ASK_SECONDS);
    if (how)
        return nw_fail(NW_ENODEV,
                       "flux(1) does not list the hosts of this job");
    return status || batch->host.count
               ? status
               : nw_fail(NW_EFORMAT, "flux(1) lists no host of this job");
}

static nw_status read_source(struct nw_batch *batch,
                             const struct batch_source *source,
                             const char *value)
{
    static nw_host_taker *const takers[] = {[NODES] = batch_add_node,
                                            [SLOTS] = add_slot,
                                            [CHUNKS] = batch_add_chunk,
                                            [SIZES] = batch_add_line};

    batch->variable = source->variable;
    switch (source->form) {
    case LIST:
        return read_slurm(batch, value);
    case PAIRS:
        return read_pairs(batch, value);
    case ASKED:
        return read_flux(batch);
    default:
        return nw_hostfile_read(value, takers[source->form], batch,
                                &batch->host.count);
    }
}

/* Returns the source of the first variable that is set, or NULL outside a batch
 * job. */
static const struct batch_source *batch_source_find(void)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        const char *value = getenv(sources[i].variable);

        if (value && *value)
            return &sources[i];
    }
    return NULL;
}

const char *nw_batch_variable(void)
{
    const struct batch_source *source = batch_source_find();

    return source ? source->variable : NULL;
}

nw_status nw_batch_find(struct nw_batch *out)
{
    const struct batch_source *source = batch_source_find();
    struct nw_batch batch = {0};
    nw_status status = NW_OK;

    if (source)
        status = read_source(&batch, source, getenv(source->variable));
    if (status) {
        status = nw_fail(status, "%s: %s", batch.variable, nw_error_text());
        nw_batch_fini(&batch);
    } else {
        *out = batch;
    }
    return status;
}

bool nw_batch_tasks_hold(const int32_t *tasks, size_t count, int32_t ranks)
{
    int64_t all = 0;

    for (size_t i = 0; i < count; i++) {
        if (!tasks[i])
            return false;
        all += tasks[i];
    }
    return count && ranks <= all;
}

void nw_batch_fini(struct nw_batch *batch)
{
    free(batch->tasks);
    free(batch->table.slot);
    nw_hostlist_fini(&batch->host);
    free(batch->slots);
    *batch = (struct nw_batch){0};
}
