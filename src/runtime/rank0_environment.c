/* SPDX-License-Identifier: BSD-3-Clause */
/* Only ranks that have a NODEWISE variable take part, through point-to-point
 * messages to rank 0, because a collective call made by only some ranks could
 * match a collective call of the program. Any rank other than 0 may lack this
 * library without receiving a message of ours. */
#include "runtime/rank0_environment.h"

#include "base/backoff.h"
#include "base/file.h"
#include "runtime/mpi_symbols.h"
#include "runtime/warn.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The variables of which all ranks read rank 0's value. They are not a column
 * of the table in base/environment.h, since no other file needs this property.
 */
static const char *const names[] = {
    "NODEWISE_RECORD",
    "NODEWISE_GPU_MESSAGES",
    "NODEWISE_GPU_COLLECTIVES",
    "NODEWISE_GPU_DIRECT",
};
#define COUNT (sizeof names / sizeof *names)
/* These variables need all ranks too; the folder reorder reads their values. */
static const char *const others[] = {"NODEWISE_REORDER", "NODEWISE_GPU"};
/* Time limits in seconds. MPI_Init returns at nearly the same time on all
 * ranks. The other ranks wait for rank 0's answer longer than rank 0 waits for
 * their messages. */
enum { PATIENCE_S = 10, ANSWER_S = 2 * PATIENCE_S };

/* Rank 0's values: the length of each, and the texts one after the other. */
static struct {
    int length[COUNT]; /* bytes without the NUL; 0: not set */
    char text[2 * PATH_MAX];
} all;
static bool joined, has_met;
static MPI_Comm meeting; /* communicator of all ranks */

static void rank0_environment_collect(void)
{
    char *at = all.text;

    for (size_t i = 0; i < COUNT; i++) {
        const char *value = getenv(names[i]);
        size_t length = value ? strlen(value) : 0;

        if (!length || length >= (size_t)(all.text + sizeof all.text - at))
            continue;
        memcpy(at, value, length);
        all.length[i] = (int)length;
        at += length + 1;
    }
}

/* Returns the name of the first variable of both lists that is set and not
 * empty, or NULL. */
static const char *find_variable(void)
{
    for (size_t i = 0; i < COUNT + 2; i++) {
        const char *name = i < COUNT ? names[i] : others[i - COUNT];
        const char *value = getenv(name);

        if (value && value[0])
            return name;
    }
    return NULL;
}

/* --- the exchange of all ranks with rank 0 --- */

static int find_tag(void)
{
    int *most = NULL, found = 0;

    NW_PMPI(Comm_get_attr)(meeting, MPI_TAG_UB, &most, &found);
    return found ? *most : 32767;
}

/* Waits for the request until the time `until`, in seconds of MPI_Wtime.
 * Returns false if the time is over or MPI_Test fails. */
static bool rank0_environment_await(MPI_Request *request, MPI_Status *status,
                                    double until)
{
    struct nw_backoff backoff = {0};
    int done = 0;

    while (!NW_PMPI(Test)(request, &done, status) && !done) {
        if (NW_PMPI(Wtime)() > until)
            return false;
        nw_backoff_yield(&backoff);
    }
    return done;
}

static void rank0_environment_give_up(MPI_Request *request)
{
    NW_PMPI(Cancel)(request);
    NW_PMPI(Wait)(request, MPI_STATUS_IGNORE);
}

static void rank0_environment_answer(int rank, int tag)
{
    int verdict = joined;

    NW_PMPI(Send)(&verdict, 1, MPI_INT, rank, tag, meeting);
}

/* On rank 0, receives one empty message from each rank and sets here[rank].
 * Returns the number of ranks that sent one in time, with rank 0. If `here` is
 * NULL, because memory is exhausted, answers each message at once. */
static int hear_all(char *here, int size, int tag)
{
    double until = NW_PMPI(Wtime)() + PATIENCE_S;
    int count = 1;

    if (here)
        here[0] = 1;
    while (count < size) {
        MPI_Request request;
        MPI_Status status;

        if (NW_PMPI(Irecv)(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, tag, meeting,
                           &request))
            break;
        if (!rank0_environment_await(&request, &status, until)) {
            rank0_environment_give_up(&request);
            break;
        }
        count += !here || !here[status.MPI_SOURCE];
        if (here)
            here[status.MPI_SOURCE] = 1;
        else
            rank0_environment_answer(status.MPI_SOURCE, tag);
    }
    return count;
}

static void rank0_environment_lead(int size, int tag)
{
    char *here = calloc((size_t)size, 1);
    int missing = 0;

    joined = hear_all(here, size, tag) == size && here;
    for (int rank = 1; here && rank < size; rank++)
        if (here[rank])
            rank0_environment_answer(rank, tag);
    while (here && !joined && here[missing])
        missing++;
    if (!here)
        nw_warn("nothing is done: memory is exhausted");
    else if (!joined)
        nw_warn("nothing is done: rank %d, for example, lacks %s or this "
                "library (LD_PRELOAD); all ranks need both",
                missing, find_variable());
    free(here);
}

static void rank0_environment_follow(int rank, int tag)
{
    MPI_Request request;
    int verdict = 0;

    if (NW_PMPI(Send)(NULL, 0, MPI_BYTE, 0, tag, meeting) ||
        NW_PMPI(Irecv)(&verdict, 1, MPI_INT, 0, tag, meeting, &request))
        return;
    if (!rank0_environment_await(&request, MPI_STATUS_IGNORE,
                                 NW_PMPI(Wtime)() + (double)ANSWER_S)) {
        nw_warn("rank %d has %s, but rank 0 has not, or not this library "
                "(LD_PRELOAD); all ranks need both: the job is ended",
                rank, find_variable());
        NW_PMPI(Abort)(meeting, EXIT_FAILURE);
    }
    joined = verdict;
}

/* --- ranks started by the launcher of another MPI library --- */

/* Returns the number of ranks that the launcher started, by its environment
 * variables, and sets *is_first on rank 0; 1 if the variables give no number or
 * this process was spawned. A launcher of another MPI library starts ranks that
 * are each alone in MPI_COMM_WORLD. */
static int launched_ranks(bool *is_first)
{
    static const char *const launchers[][2] = {
        {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
        {"PMI_SIZE", "PMI_RANK"},
        {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
    MPI_Comm parent = MPI_COMM_NULL;

    if (meeting == MPI_COMM_WORLD)
        NW_PMPI(Comm_get_parent)(&parent);
    for (size_t i = 0; parent == MPI_COMM_NULL && i < 3; i++) {
        const char *size = getenv(launchers[i][0]);
        const char *rank = getenv(launchers[i][1]);

        if (!size || !rank || atoi(size) < 2)
            continue;
        *is_first = !strcmp(rank, "0");
        return atoi(size);
    }
    return 1;
}

static bool is_alone_among_many(void)
{
    bool is_first = false;
    int ranks = launched_ranks(&is_first);

    if (is_first)
        nw_warn("nothing is done: the launcher started %d processes, but each "
                "is alone in its MPI_COMM_WORLD: program and launcher belong "
                "to different MPI libraries; use the launcher of the program's "
                "MPI",
                ranks);
    return ranks > 1;
}

void nw_rank0_environment_meet(MPI_Comm world)
{
    int rank = 0, size = 1, tag;

    nw_file_refuse_pipes();
    if (has_met || !find_variable())
        return;
    has_met = true;
    meeting = world;
    NW_PMPI(Comm_size)(meeting, &size);
    NW_PMPI(Comm_rank)(meeting, &rank);
    if (size == 1 && is_alone_among_many())
        return;
    tag = find_tag();
    if (rank)
        rank0_environment_follow(rank, tag);
    else
        rank0_environment_lead(size, tag);
    if (!joined)
        return;
    if (!rank)
        rank0_environment_collect();
    joined = !NW_PMPI(Bcast)(&all, (int)sizeof all, MPI_BYTE, 0, meeting);
}

bool nw_rank0_environment_joined(void)
{
    return joined;
}

const char *nw_rank0_environment_variable(const char *name)
{
    const char *at = all.text;

    for (size_t i = 0; i < COUNT; i++) {
        if (!strcmp(names[i], name))
            return joined && all.length[i] ? at : NULL;
        at += all.length[i] + (all.length[i] > 0);
    }
    return NULL;
}
