/* SPDX-License-Identifier: BSD-3-Clause */
/* Uses MPI sessions without MPI_Init, in the way that the argument names. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static MPI_Session begin(void)
{
    MPI_Session session;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    return session;
}

static MPI_Comm create(MPI_Session session, const char *set, bool is_turned)
{
    MPI_Group group, turned;
    MPI_Comm comm;
    int ranges[1][3] = {{0, 0, -1}};

    MPI_Group_from_session_pset(session, set, &group);
    MPI_Group_size(group, &ranges[0][0]);
    ranges[0][0]--;
    if (is_turned) {
        MPI_Group_range_incl(group, 1, ranges, &turned);
        MPI_Group_free(&group);
        group = turned;
    }
    MPI_Comm_create_from_group(group, set, MPI_INFO_NULL, MPI_ERRORS_RETURN,
                               &comm);
    MPI_Group_free(&group);
    return comm;
}

static void talk(MPI_Comm comm, int bytes)
{
    static char out[128], in[128];
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + 1) % size, 0, in, bytes,
                 MPI_BYTE, (rank + size - 1) % size, 0, comm,
                 MPI_STATUS_IGNORE);
}

static void talk_and_free(MPI_Session session, const char *set, int bytes)
{
    MPI_Comm comm = create(session, set, false);

    talk(comm, bytes);
    MPI_Comm_free(&comm);
}

static void use_second_session(void)
{
    MPI_Session second = begin();

    talk_and_free(second, "mpi://WORLD", 10);
    MPI_Session_finalize(&second);
}

static void use_init(void)
{
    MPI_Init(NULL, NULL);
    talk(MPI_COMM_WORLD, 10);
    MPI_Finalize();
}

int main(int count, char **words)
{
    const char *how = count > 1 ? words[1] : "one";
    MPI_Session session = begin(), second = MPI_SESSION_NULL;
    MPI_Comm comm;

    if (!strcmp(how, "several"))
        second = begin();
    if (strcmp(how, "one"))
        talk_and_free(session, "mpi://SELF", 5);
    if (strcmp(how, "none")) {
        comm = create(session, "mpi://WORLD", !strcmp(how, "turned"));
        talk(comm, 100);
        if (!strcmp(how, "later"))
            use_second_session();
        if (!strcmp(how, "init"))
            use_init();
        talk(comm, 1);
        MPI_Comm_free(&comm);
    }
    if (second != MPI_SESSION_NULL)
        MPI_Session_finalize(&second);
    MPI_Session_finalize(&session);
    puts("done");
    return 0;
}
