/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the measurements of rank 0 of nodewise-probe, and its behaviour if a
 * rank does not answer. The other ranks, MPI and the clock are simulated. */
#include "probe/job.h"

#include "mpi_double.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { RANKS = 5 };

/* The job: ranks without a GPU, and from which command on a rank is deaf. */
static struct {
    bool gpus[RANKS];
    int deaf;
    int64_t deaf_from; /* number of the first command without an answer; of the
                          command to quit, 0 */
    bool quits;        /* false: the deaf rank does not take that command */
    struct nw_probe_reply *reply[RANKS];
    bool answered[RANKS], changed;
    /* [from][to] size of the chunks of the last stream from rank `from` to rank
     * `to`; 0: there was none */
    int64_t chunk[NW_PROBE_MEMORIES][RANKS][RANKS];
} job;
static double clock_now;

/* GPU messages take a thousand times as long as host messages. */
static void answer(int rank, const struct nw_probe_command *command,
                   struct nw_probe_reply *reply)
{
    double time = command->memory == NW_PROBE_GPU ? 1e-2 : 1e-5;

    *reply = (struct nw_probe_reply){.number = command->number, .good = true};
    if (command->work == WORK_PAIR) {
        for (int i = 1; i < NW_PROBE_FIGURES; i++)
            reply->figure[i] = time;
    } else if (command->work == WORK_STREAM) {
        reply->figure[0] = 131072 / time;
        reply->figure[1] = 100;
        if (command->first)
            job.chunk[command->memory][rank][command->peer] = command->chunk;
    }
    clock_now += command->seconds;
}

double nw_probe_now(void)
{
    return clock_now += 5e-3;
}

bool nw_probe_wait(MPI_Request *request, MPI_Status *status, double seconds)
{
    int done = 0;

    if (MPI_Test(request, &done, status) || done)
        return done;
    clock_now += seconds;
    MPI_Cancel(request);
    MPI_Request_free(request);
    return false;
}

void nw_probe_work(struct nw_probe_self *self,
                   const struct nw_probe_command *command,
                   struct nw_probe_reply *reply)
{
    answer(self->rank, command, reply);
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    (void)count, (void)type, (void)comm;
    *request = MPI_DOUBLE_DONE;
    if (tag == TAG_PLACE) {
        *(struct nw_probe_place *)buffer =
            (struct nw_probe_place){.name = "h",
                                    .cores = 8,
                                    .packages = 1,
                                    .gpus = job.gpus[source],
                                    .core = source};
        return MPI_SUCCESS;
    }
    job.reply[source] = buffer;
    job.answered[source] = false;
    *request = (MPI_Request)(uintptr_t)(0x100 + source);
    return MPI_SUCCESS;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    const struct nw_probe_command *command = buffer;

    (void)type, (void)comm;
    assert_int_equal(tag, TAG_COMMAND);
    *request = MPI_DOUBLE_DONE;
    if (to == job.deaf &&
        (command->work == WORK_QUIT ? !job.quits
                                    : command->number >= job.deaf_from)) {
        *request = mpi_double_never(buffer, (size_t)count);
    } else if (command->work != WORK_QUIT) {
        answer(to, command, job.reply[to]);
        job.answered[to] = true;
    }
    return MPI_SUCCESS;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    (void)status;
    job.changed |= !mpi_double_is_unchanged();
    *flag = *request != MPI_DOUBLE_NEVER;
    for (int r = 0; r < RANKS; r++)
        if (*request == (MPI_Request)(uintptr_t)(0x100 + r))
            *flag = job.answered[r];
    if (*flag)
        *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* Runs rank 0 without its output. */
static bool lead(double seconds)
{
    struct nw_probe_self self = {.size = RANKS, .timeout = 0.1};
    struct nw_probe_lead_options options = {.seconds = seconds};
    int out = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY);
    bool good;

    fflush(stdout);
    dup2(null, STDOUT_FILENO);
    good = nw_probe_lead(&self, &options);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    close(null);
    return good;
}

static int set_up(void **state)
{
    (void)state;
    memset(&job, 0, sizeof job);
    job.deaf = -1;
    clock_now = 1;
    return 0;
}

/* Each kind of memory has its own streams, with chunks that fit to its own
 * speed. */
static void test_memories(void **state)
{
    (void)state;
    for (int r = 1; r < RANKS; r++)
        job.gpus[r] = true;
    assert_true(lead(60));
    for (int a = 0; a < RANKS; a++)
        for (int b = 0; b < RANKS; b++)
            if (a != b && job.chunk[NW_PROBE_HOST][a][b] < 1 << 20)
                fail_msg("from rank %d to rank %d: chunks of %lld bytes", a, b,
                         (long long)job.chunk[NW_PROBE_HOST][a][b]);
    assert_int_equal(job.chunk[NW_PROBE_GPU][1][2], 16384);
}

/* A rank stops taking messages when its clock is asked, or later. */
static void test_deaf(void **state)
{
    for (int64_t from = 1; from < 32; from += 6) {
        int before = mpi_double_pending_count;

        set_up(state);
        job.deaf = 2;
        job.deaf_from = from;
        job.quits = true;
        assert_false(lead(20));
        assert_int_equal(mpi_double_pending_count, before + 1);
        if (job.changed)
            fail_msg("command %d was changed before it was sent", (int)from);
        assert_true(job.chunk[NW_PROBE_HOST][1][3] > 0);
    }
}

/* MPI_Finalize would wait for a rank that does not take its last command. */
static void test_deaf_at_the_end(void **state)
{
    (void)state;
    job.deaf = 2;
    job.deaf_from = INT64_MAX;
    assert_false(lead(20));
    assert_false(job.changed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_memories, set_up),
        cmocka_unit_test_setup(test_deaf, set_up),
        cmocka_unit_test_setup(test_deaf_at_the_end, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
