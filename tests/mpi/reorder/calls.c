/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the creation of communicators: bad arguments, error handlers,
 * duplicates, threads, and memory that is not freed. Rank 0 prints its results,
 * which must be the same with and without the preloaded library. Only `lonely`
 * differs: without the library its ranks wait for ever. Usage: calls TEST, with
 * one of: errors, lonely, life, late, threads, leaks, gpus, grid, profiled,
 * initialised, borders, nobody, asked, unasked, unfreed, aborted, none, kept.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void say(const char *what, int value)
{
    if (!rank)
        printf("%s %d\n", what, value);
    fflush(stdout);
}

static int class_of(int code)
{
    int class = -1;

    if (code)
        MPI_Error_class(code, &class);
    return code ? class : 0;
}

static void say_made(const char *what, int code, MPI_Comm made)
{
    int any = made != MPI_COMM_NULL;

    say(what, class_of(code));
    if (!code && any)
        MPI_Comm_free(&made);
}

/* A null pointer as a list; volatile, so that the compiler does not know it. */
static int *volatile nothing;

/* Calls with null pointers as lists. */
static void missing(void)
{
    int index[2] = {1, 2}, self[1] = {rank}, one[1] = {1}, vertex;
    MPI_Comm made = MPI_COMM_NULL;

    say_made("graph, no edges:",
             MPI_Graph_create(MPI_COMM_WORLD, 2, index, nothing, 1, &made),
             made);
    say("map, no edges:",
        class_of(MPI_Graph_map(MPI_COMM_WORLD, 2, index, nothing, &vertex)));
    say_made("dist, no sources:",
             MPI_Dist_graph_create(MPI_COMM_WORLD, 1, nothing, nothing, nothing,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made),
             made);
    say_made("dist, no destinations:",
             MPI_Dist_graph_create(MPI_COMM_WORLD, 1, self, one, nothing,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made),
             made);
    say_made("dist, no weights:",
             MPI_Dist_graph_create(MPI_COMM_WORLD, 1, self, one, self, nothing,
                                   MPI_INFO_NULL, 1, &made),
             made);
    say_made("adjacent, no destinations:",
             MPI_Dist_graph_create_adjacent(
                 MPI_COMM_WORLD, 1, self, MPI_UNWEIGHTED, 1, nothing,
                 MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made),
             made);
#ifdef OPEN_MPI /* MPICH 4.0 ends the program */
    say_made("adjacent, no weights:",
             MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, self, nothing, 1,
                                            self, nothing, MPI_INFO_NULL, 1,
                                            &made),
             made);
#endif
}

/* Makes calls that are errors on every rank. */
static void errors(void)
{
    static const int bad_dims[][2] = {{1000, 1000}, {-1, 2}, {2, -4}};
    int periods[2] = {0, 0}, dims[2] = {2, 2}, self[1] = {rank}, one[1] = {1};
    int far[1] = {size}, below[1] = {-7}, minus[1] = {-3};
    int index[2] = {1, 2}, edges[2] = {1, 99}, down[2] = {2, 1};
    MPI_Comm made = MPI_COMM_NULL;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++) {
        made = MPI_COMM_NULL;
        say_made(
            "cart, bad dims:",
            MPI_Cart_create(MPI_COMM_WORLD, 2, bad_dims[i], periods, 1, &made),
            made);
    }
    made = MPI_COMM_NULL;
    say_made("cart, -1 dimensions:",
             MPI_Cart_create(MPI_COMM_WORLD, -1, dims, periods, 1, &made),
             made);
    made = MPI_COMM_NULL;
    say_made("graph, edge out of range:",
             MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 1, &made), made);
    made = MPI_COMM_NULL;
    edges[1] = 0;
    say_made("graph, falling index:",
             MPI_Graph_create(MPI_COMM_WORLD, 2, down, edges, 1, &made), made);
    made = MPI_COMM_NULL;
    say_made("adjacent, far source:",
             MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, far, one, 1,
                                            self, one, MPI_INFO_NULL, 1, &made),
             made);
    made = MPI_COMM_NULL;
    say_made("adjacent, negative source:",
             MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, below, one, 1,
                                            self, one, MPI_INFO_NULL, 1, &made),
             made);
    made = MPI_COMM_NULL;
    say_made("adjacent, negative weight:",
             MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, self, minus, 1,
                                            self, minus, MPI_INFO_NULL, 1,
                                            &made),
             made);
    made = MPI_COMM_NULL;
    say_made("dist, negative weight:",
             MPI_Dist_graph_create(MPI_COMM_WORLD, 1, self, one, self, minus,
                                   MPI_INFO_NULL, 1, &made),
             made);
#ifdef OPEN_MPI /* MPICH 4.0 ends the program */
    made = MPI_COMM_NULL;
    say_made("dist, far source:",
             MPI_Dist_graph_create(MPI_COMM_WORLD, 1, far, one, self, one,
                                   MPI_INFO_NULL, 1, &made),
             made);
#endif
    missing();
    /* different arguments on different ranks, which MPI libraries let pass */
    dims[0] = rank ? 2 : 1;
    dims[1] = rank ? 1 : 2;
    made = MPI_COMM_NULL;
    say_made("cart, differing:",
             MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &made), made);
}

/* Every rank must get an error for bad arguments on the last rank alone. */
static void say_all_heard(const char *what, int code)
{
    int heard = code != MPI_SUCCESS, all;

    MPI_Allreduce(&heard, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say(what, all);
}

static void lonely(void)
{
    bool bad = rank == size - 1;
    int periods[2] = {0, 0}, dims[2] = {bad ? 1000 : 2, bad ? 1000 : 2};
    int index[2] = {1, 2}, edges[2] = {1, bad ? 99 : 0};
    int peer[1] = {bad ? size : rank}, self[1] = {rank}, one[1] = {1};
    int weight[1] = {bad ? -3 : 2};
    MPI_Comm made;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    say_all_heard("grid:",
                  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &made));
    say_all_heard("graph:",
                  MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 1, &made));
    say_all_heard("source:", MPI_Dist_graph_create_adjacent(
                                 MPI_COMM_WORLD, 1, peer, one, 1, self, one,
                                 MPI_INFO_NULL, 1, &made));
    say_all_heard("weight:",
                  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, self, one, self,
                                        weight, MPI_INFO_NULL, 1, &made));
}

/* A line of processes whose ends have MPI_PROC_NULL as a neighbour, which MPI
 * libraries accept. Every process finds its neighbours by its new rank. */
static void borders(void)
{
    int peer[2] = {rank ? rank - 1 : MPI_PROC_NULL,
                   rank < size - 1 ? rank + 1 : MPI_PROC_NULL};
    int in[2] = {-7, -7}, out[2] = {-7, -7}, me, right, all;
    MPI_Comm made;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    say("borders:", class_of(MPI_Dist_graph_create_adjacent(
                        MPI_COMM_WORLD, 2, peer, MPI_UNWEIGHTED, 2, peer,
                        MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made)));
    MPI_Comm_rank(made, &me);
    MPI_Dist_graph_neighbors(made, 2, in, MPI_UNWEIGHTED, 2, out,
                             MPI_UNWEIGHTED);
    right = in[0] == (me ? me - 1 : MPI_PROC_NULL) && out[0] == in[0] &&
            in[1] == (me < size - 1 ? me + 1 : MPI_PROC_NULL) &&
            out[1] == in[1];
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say("know their neighbours:", all);
    MPI_Comm_free(&made);
}

/* A ring that the program uses by the old ranks, without asking for the new
 * ones, and frees or leaves to MPI_Finalize, or for which it asks a duplicate
 * for its rank. */
static void unasked(const char *what)
{
    int peer[2] = {(rank + size - 1) % size, (rank + 1) % size}, me;
    MPI_Comm made, again;

    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, peer, MPI_UNWEIGHTED, 2,
                                   peer, MPI_UNWEIGHTED, MPI_INFO_NULL, 1,
                                   &made);
    MPI_Barrier(made);
    MPI_Comm_dup(made, &again);
    if (!strcmp(what, "asked"))
        MPI_Comm_rank(again, &me);
    if (!strcmp(what, "unfreed"))
        return;
    if (!strcmp(what, "aborted") && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&again);
    MPI_Comm_free(&made);
}

/* With these arguments, Open MPI 4.1 counts in memory before its own, so that
 * the result is chance. MPICH 4.0 waits for ever. */
static void nobody(void)
{
    int peer[2] = {rank ? rank - 1 : MPI_PROC_NULL, (rank + 1) % size};
    MPI_Comm made;

    alarm(60);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, (int[]){2}, peer,
                          MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made);
}

static int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

/* Tests the error handler that a new communicator inherits, and the topology of
 * its duplicates and parts. */
static void life(void)
{
    int dims[2] = {2, size / 2}, periods[2] = {1, 0}, keep[2] = {0, 1};
    int kind, count, sources, destinations, weighted, one = 1, next;
    MPI_Comm base, made, copy, row;
    MPI_Errhandler handler, found;
    MPI_Info info;

    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(base, handler);
    MPI_Info_create(&info);
    MPI_Info_set(info, "nodewise_cart_weights", "1,50");
    MPI_Comm_set_info(base, info);
    MPI_Cart_create(base, 2, dims, periods, 1, &made);
    MPI_Comm_get_errhandler(made, &found);
    say("inherits its error handler:", found == handler);
    MPI_Cart_rank(base, dims, &count);
    say("handler was called:", handled);
    MPI_Comm_dup(made, &copy);
    MPI_Topo_test(copy, &kind);
    say("a duplicate is a grid:", kind == MPI_CART);
    MPI_Cartdim_get(copy, &count);
    say("of dimensions:", count);
    MPI_Cart_sub(copy, keep, &row);
    MPI_Comm_size(row, &count);
    say("a row has:", count);
    MPI_Comm_free(&row);
    MPI_Comm_free(&made);
    MPI_Comm_rank(copy, &rank);
    next = 0;
    MPI_Dist_graph_create(copy, 1, &rank, &one, &next, &one, info, 1, &made);
    MPI_Dist_graph_neighbors_count(made, &sources, &destinations, &weighted);
    say("weighted:", weighted);
    MPI_Topo_test(made, &kind);
    say("a graph:", kind == MPI_DIST_GRAPH);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&made);
    MPI_Comm_free(&base);
    MPI_Errhandler_free(&found);
    MPI_Errhandler_free(&handler);
    MPI_Info_free(&info);
}

/* The other ranks wait in the creation for the last rank. */
static void come_late(void)
{
    if (rank == size - 1)
        usleep(100000);
}

/* Grids with weights, on a duplicate with another info object, and without
 * one. */
static void hints(void)
{
    int dims[2] = {2, size / 2}, periods[2] = {0, 0};
    MPI_Comm comm[3], made;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nodewise_cart_weights", "1,100");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm[0]);
    MPI_Info_delete(info, "nodewise_cart_weights");
    MPI_Comm_dup_with_info(comm[0], info, &comm[1]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[2]);
    MPI_Info_free(&info);
    for (int i = 0; i < 3; i++) {
        MPI_Cart_create(comm[i], 2, dims, periods, 1, &made);
        MPI_Comm_free(&made);
        MPI_Comm_free(&comm[i]);
    }
    say("grids:", 3);
}

/* A rank that comes late, a misspelt info key, and a graph that differs on rank
 * 0. */
static void late(void)
{
    int dims[1] = {size}, periods[1] = {1}, next = (rank + 1) % size, one = 1;
    int index[2] = {1, 2}, edges[2] = {1, 0}, before, after, now;
    MPI_Comm base, made = MPI_COMM_NULL;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nodewise_cart_weigths", "1,50");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &base);
    MPI_Info_free(&info);
    come_late();
    MPI_Cart_create(base, 1, dims, periods, 1, &made);
    MPI_Comm_rank(made, &now);
    MPI_Cart_shift(made, 0, 1, &before, &after);
    say("late, a ring:", after == (now + 1) % size);
    MPI_Comm_free(&made);
    come_late();
    MPI_Dist_graph_create(base, 1, &rank, &one, &next, &one, MPI_INFO_NULL, 1,
                          &made);
    MPI_Comm_free(&made);
    edges[0] = rank ? 1 : 0;
    made = MPI_COMM_NULL;
    come_late();
    say_made("graph, differing:",
             MPI_Graph_create(base, 2, index, edges, 1, &made), made);
    MPI_Comm_free(&base);
}

/* Creates communicators repeatedly on a communicator of this thread; each
 * vertex must find its neighbours. */
static void *create_many(void *context)
{
    MPI_Comm comm = *(MPI_Comm *)context, made;
    int dims[1] = {size}, periods[1] = {1};
    long wrong = 0;

    for (int i = 0; i < 10; i++) {
        int now, before, after, got[2];

        MPI_Cart_create(comm, 1, dims, periods, 1, &made);
        MPI_Comm_rank(made, &now);
        MPI_Cart_shift(made, 0, 1, &before, &after);
        MPI_Neighbor_allgather(&now, 1, MPI_INT, got, 1, MPI_INT, made);
        wrong += got[0] != before || got[1] != after ||
                 before != (now + size - 1) % size;
        MPI_Comm_free(&made);
    }
    return (void *)wrong;
}

static void threads(int provided)
{
    MPI_Comm comm[2], first;
    int one = 1, no = 0;
    pthread_t thread;
    void *there = NULL, *here;

    if (provided < MPI_THREAD_MULTIPLE) {
        say("SKIP thread level", provided);
        return;
    }
    /* Open MPI 4.1 initialises its topologies at the first call, without a
     * lock */
    MPI_Cart_create(MPI_COMM_SELF, 1, &one, &no, 0, &first);
    MPI_Comm_free(&first);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm[1]);
    pthread_create(&thread, NULL, create_many, &comm[0]);
    here = create_many(&comm[1]);
    pthread_join(thread, &there);
    say("wrong in threads:", (int)((long)here + (long)there));
    MPI_Comm_free(&comm[0]);
    MPI_Comm_free(&comm[1]);
}

/* Determines the first free numbers of handles in Fortran: a new handle gets
 * the first free number. */
static void free_numbers(int number[2])
{
    MPI_Comm comm;
    MPI_Group group;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_group(comm, &group);
#ifdef MPI_ABI_VERSION /* the standard ABI's name of the number */
    number[0] = MPI_Comm_toint(comm);
    number[1] = MPI_Group_toint(group);
#else
    number[0] = (int)MPI_Comm_c2f(comm);
    number[1] = (int)MPI_Group_c2f(group);
#endif
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
}

static void create_all(void)
{
    int dims[1] = {size - 1}, periods[1] = {1}, next = (rank + 1) % size;
    int before = (rank + size - 1) % size, one = 1;
    MPI_Comm made, copy;

    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 1, &made);
    if (made != MPI_COMM_NULL) {
        MPI_Comm_dup(made, &copy);
        MPI_Comm_free(&made);
        MPI_Comm_free(&copy);
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &one, 1, &next,
                                   &one, MPI_INFO_NULL, 1, &made);
    MPI_Comm_free(&made);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &next, &one,
                          MPI_INFO_NULL, 1, &made);
    MPI_Comm_free(&made);
}

/* A grid of two columns: the heavy dimension determines which processes belong
 * together. */
static void create_grid(void)
{
    int dims[2] = {2, size / 2}, periods[2] = {0, 0};
    MPI_Comm made;

    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &made);
    MPI_Comm_free(&made);
}

/* Prints what each process would see of CUDA. `first`: CUDA is initialised
 * before. */
static void gpus(bool first, bool create, bool grid)
{
    int peer = (rank + 2) % size, weight = 100, used = 0;
    const char *seen;
    char mine[64], all[16][64];
    MPI_Comm made;

    if (first) {
        void *driver = dlopen("libcuda.so.1", RTLD_NOW);
        int (*start)(unsigned) = NULL;

        if (driver)
            *(void **)&start = dlsym(driver, "cuInit");
        used = start ? start(0) : -1;
    }
    if (create) {
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &peer, &weight, 1,
                                       &peer, &weight, MPI_INFO_NULL, 0, &made);
        MPI_Comm_free(&made);
    }
    if (grid)
        create_grid();
    seen = getenv("CUDA_VISIBLE_DEVICES");
    snprintf(mine, sizeof mine, "%s", seen ? seen : "-");
    MPI_Gather(mine, 64, MPI_CHAR, all, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int r = 0; !rank && r < size && r < 16; r++)
        printf("%s %s", r ? "" : "devices", all[r]);
    if (!rank)
        printf("\nstarted %d\n", used);
}

/* Rank 0 can be reordered by none of its calls; the others create a grid of
 * their own. */
static void keep_order(bool grid)
{
    MPI_Comm others, made;

    MPI_Comm_split(MPI_COMM_WORLD, rank ? 0 : MPI_UNDEFINED, rank, &others);
    if (rank) {
        int dims[1] = {size - 1}, periods[1] = {1};

        MPI_Cart_create(others, 1, dims, periods, 1, &made);
        MPI_Comm_free(&made);
        MPI_Comm_free(&others);
    }
    if (grid) {
        int dims[1] = {size}, periods[1] = {1};

        MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &made);
        MPI_Comm_free(&made);
    }
    say("kept", 1);
}

/* Everything that a creation allocates is freed. */
static void leaks(void)
{
    int first[2], last[2];

    create_all();
    free_numbers(first);
    for (int i = 0; i < 12; i++)
        create_all();
    free_numbers(last);
    say("communicators that were kept:", last[0] - first[0]);
    say("groups that were kept:", last[1] - first[1]);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int provided;

    MPI_Init_thread(&argc, &argv,
                    strcmp(what, "threads") ? MPI_THREAD_SINGLE
                                            : MPI_THREAD_MULTIPLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(what, "errors"))
        errors();
    else if (!strcmp(what, "lonely"))
        lonely();
    else if (!strcmp(what, "borders"))
        borders();
    else if (!strcmp(what, "asked") || !strcmp(what, "unasked") ||
             !strcmp(what, "unfreed") || !strcmp(what, "aborted"))
        unasked(what);
    else if (!strcmp(what, "nobody"))
        nobody();
    else if (!strcmp(what, "life"))
        life();
    else if (!strcmp(what, "hints"))
        hints();
    else if (!strcmp(what, "late"))
        late();
    else if (!strcmp(what, "gpus") || !strcmp(what, "initialised"))
        gpus(!strcmp(what, "initialised"), true, false);
    else if (!strcmp(what, "profiled") || !strcmp(what, "grid"))
        gpus(false, false, !strcmp(what, "grid"));
    else if (!strcmp(what, "threads"))
        threads(provided);
    else if (!strcmp(what, "none") || !strcmp(what, "kept"))
        keep_order(!strcmp(what, "kept"));
    else
        leaks();
    MPI_Finalize();
    return 0;
}
