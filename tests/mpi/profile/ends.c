/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends one message from each rank to the next and then ends as the argument
 * says. Rank 1 does "abort", "handler", "exit" or "kill"; with "good", all
 * ranks end normally. The exit status is 5 if the program chooses it. "wait":
 * rank 0 prints a line, and all ranks sleep until they are killed. "early":
 * the program aborts before any message. "closed": rank 1 closes the file of
 * its part of the profile before it sends. "told": rank 0 broadcasts a message
 * instead, and all ranks print its first character. "caught": a signal arrives
 * while the library writes to the file of the part, and its handler calls
 * MPI_Abort; with "caught-exit", exit. "limited": as "good", but no file may
 * grow beyond 64 bytes from now on. "plugin": the program unloads a library
 * that it has loaded before a call; the exit status is 6 if it stays loaded. */
#include <mpi.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

static int is_armed, exits;

/* Replaces the function of libc, by which the library writes the part. */
ssize_t pwrite64(int file, const void *bytes, size_t count, off_t at)
{
    static ssize_t (*next)(int, const void *, size_t, off_t);

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "pwrite64");
    if (is_armed) {
        is_armed = 0;
        raise(SIGUSR1);
    }
    return next(file, bytes, count, at);
}

/* MPI_Abort of MPICH 5.0 may return before the launcher ends the process. */
static void abort_job(MPI_Comm comm)
{
    MPI_Abort(comm, 5);
    sleep(300);
}

/* An error handler as in many programs. */
static void give_up(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    abort_job(*comm);
}

static void fail(int peer)
{
    MPI_Errhandler handler;

    MPI_Comm_create_errhandler(give_up, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Send(&peer, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
}

/* Closes the file of this rank's part, as a program does that closes all
 * descriptors. */
static void close_part(void)
{
    for (int d = 3; d < 1024; d++) {
        char link[32], path[4096] = "";

        snprintf(link, sizeof link, "/proc/self/fd/%d", d);
        if (readlink(link, path, sizeof path - 1) > 0 &&
            strstr(path, ".pattern.part."))
            close(d);
    }
}

static void handle(int number)
{
    (void)number;
    if (exits)
        exit(7);
    abort_job(MPI_COMM_WORLD);
}

/* Makes calls until one of them is interrupted while it is recorded. */
static void catch_signal(void)
{
    signal(SIGUSR1, handle);
    for (is_armed = 1; is_armed;)
        MPI_Barrier(MPI_COMM_SELF);
}

static void load_plugin(void)
{
    static const char name[] = "libBrokenLocale.so.1";
    void *plugin = dlopen(name, RTLD_NOW);
    int one = 1, sum;

    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    if (!plugin || dlclose(plugin) || dlopen(name, RTLD_NOW | RTLD_NOLOAD))
        exit(6);
}

static void tell(int rank)
{
    static char words[40000];

    words[0] = rank ? '-' : 'x';
    MPI_Bcast(words, sizeof words, MPI_CHAR, 0, MPI_COMM_WORLD);
    printf("told %c\n", words[0]);
}

int main(int argc, char **argv)
{
    int rank, size;
    double out[10] = {0}, in[10];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && !strcmp(argv[1], "told")) {
        tell(rank);
        MPI_Finalize();
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "early")) {
        if (rank == 1)
            abort_job(MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (argc > 1 && !strcmp(argv[1], "closed") && rank == 1)
        close_part();
    MPI_Sendrecv(out, 10, MPI_DOUBLE, (rank + 1) % size, 0, in, 10, MPI_DOUBLE,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc < 2)
        return 2;
    exits = !strcmp(argv[1], "caught-exit");
    if (exits || !strcmp(argv[1], "caught"))
        catch_signal();
    if (!strcmp(argv[1], "abort") && rank == 1)
        abort_job(MPI_COMM_WORLD);
    if (!strcmp(argv[1], "handler") && rank == 1)
        fail(size);
    if (!strcmp(argv[1], "exit") && rank == 1)
        exit(5);
    if (!strcmp(argv[1], "kill") && rank == 1)
        kill(getpid(), SIGKILL);
    if (!strcmp(argv[1], "wait")) {
        if (!rank)
            puts("waiting");
        fflush(stdout);
        sleep(300);
    }
    if (!strcmp(argv[1], "plugin"))
        load_plugin();
    if (!strcmp(argv[1], "limited"))
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){64, 64});
    if (strcmp(argv[1], "good") && strcmp(argv[1], "closed"))
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 5;
}
