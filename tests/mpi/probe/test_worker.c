/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that a rank of nodewise-probe calls a measurement failed if any of its
 * messages failed. MPI and the peer are simulated. */
#include "probe/job.h"

#include "mpi_double.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* The message that announces a batch has three numbers. */
enum { BATCH_BYTES = 24, SENDS = 0, RECEIVES, KINDS };

/* Which call fails: the one with this index, of those with a batch or of those
 * with other messages. */
static struct {
    int left[KINDS][2]; /* [sends or receives][other messages, batches] -1: no
                           call fails */
    bool never;         /* the call does not fail, but its request never ends */
    int failures, batches;
} job;

/* Returns true if this call fails. */
static bool fails(int kind, int bytes)
{
    int *left = &job.left[kind][bytes == BATCH_BYTES];

    if (*left < 0 || (*left)--)
        return false;
    job.failures++;
    return true;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    (void)type, (void)to, (void)tag, (void)comm;
    *request = MPI_DOUBLE_DONE;
    if (!fails(SENDS, count))
        return MPI_SUCCESS;
    if (!job.never)
        return MPI_ERR_OTHER;
    *request = mpi_double_never(buffer, (size_t)count);
    return MPI_SUCCESS;
}

int MPI_Issend(const void *buffer, int count, MPI_Datatype type, int to,
               int tag, MPI_Comm comm, MPI_Request *request)
{
    return MPI_Isend(buffer, count, type, to, tag, comm, request);
}

/* The peer announces a batch of one message, and then the end. */
int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    static const int64_t batch[2][3] = {{1, 8, 0}, {0}};

    (void)type, (void)source, (void)tag, (void)comm;
    if (fails(RECEIVES, count))
        return MPI_ERR_OTHER;
    *request = MPI_DOUBLE_DONE;
    if (count == BATCH_BYTES)
        memcpy(buffer, batch[job.batches++ % 2], BATCH_BYTES);
    return MPI_SUCCESS;
}

/* As MPI does, takes only requests that it has returned. */
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    (void)status;
    assert_true(*request == MPI_DOUBLE_DONE || *request == MPI_DOUBLE_NEVER ||
                *request == MPI_REQUEST_NULL);
    *flag = *request != MPI_DOUBLE_NEVER;
    if (*flag)
        *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* A stream ends at once. */
int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    (void)status, (void)type;
    *count = 0;
    return MPI_SUCCESS;
}

/* Returns whether the rank calls a measurement good. */
static bool measure(enum nw_probe_work work, bool first)
{
    struct nw_probe_self self = {.size = 2, .timeout = 0.01};
    struct nw_probe_command command = {.work = work,
                                       .peer = 1,
                                       .first = first,
                                       .memory = NW_PROBE_HOST,
                                       .chunk = 16384,
                                       .seconds = 1e-4};
    struct nw_probe_reply reply;

    self.buffer[NW_PROBE_HOST] = calloc(NW_PROBE_WINDOW, NW_PROBE_LARGEST);
    nw_probe_work(&self, &command, &reply);
    free(self.buffer[NW_PROBE_HOST]);
    return reply.good;
}

static void nothing_fails(void)
{
    memset(job.left, -1, sizeof job.left);
    job.failures = job.batches = 0;
}

static void test_failures(void **state)
{
    (void)state;
    job.never = false;
    for (int what = 0; what < 4; what++) {
        enum nw_probe_work work = what < 2 ? WORK_PAIR : WORK_STREAM;
        bool first = what % 2;

        nothing_fails();
        assert_true(measure(work, first));
        for (int kind = 0; kind < KINDS; kind++)
            for (int of = 0; of < 2; of++)
                for (int index = 0; index < 10; index++) {
                    nothing_fails();
                    job.left[kind][of] = index;
                    bool good = measure(work, first);
                    if (good != !job.failures)
                        fail_msg("%s, %s rank: %s %d of %s failed, and the "
                                 "measurement is good",
                                 work == WORK_PAIR ? "pair" : "stream",
                                 first ? "first" : "second",
                                 kind == SENDS ? "send" : "receive", index,
                                 of ? "batches" : "other messages");
                }
    }
}

/* Writes over the part of the stack that returned functions used. */
static void use_stack(void)
{
    volatile char all[8192];

    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (char)i;
}

/* The peer may take a batch after this rank has given it up. */
static void test_late(void **state)
{
    (void)state;
    job.never = true;
    nothing_fails();
    job.left[SENDS][1] = 1;
    assert_false(measure(WORK_PAIR, true));
    assert_int_equal(mpi_double_pending_count, 1);
    use_stack();
    assert_true(mpi_double_is_unchanged());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
