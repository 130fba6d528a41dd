/* SPDX-License-Identifier: BSD-3-Clause */
/* GPU memory in messages of several threads at once: two ranks, whose threads
 * of the same number draw the same random calls over communicators of their
 * own. Every word and every gap is checked. Usage: threads SEED ROUNDS
 * [watched|race]. With watched, one more thread probes for all messages that
 * the others receive, and receives nothing. With race, the threads count in one
 * unprotected variable, which a race detector must find. Prints also what was
 * copied between GPUs. */
#include "driver.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, LETTERS = 4, MOST = 3000, MOST_STEP = 3, GAP = -7 };
enum { CARD = 40, FLOOD = 100 };
enum { PART = MOST * MOST_STEP, ROOM = LETTERS * PART };

static int rank, race, counted, version, subversion;
static int watching;

struct player {
    pthread_t thread;
    int number, rounds, round, wrong;
    MPI_Comm comm;
    uint64_t random, out, in;
    int *host;
    /* the members below are of this round */
    int letters, words, step;
    MPI_Datatype type;
    MPI_Request request[2 * LETTERS]; /* receives, sends */
};

static int draw(struct player *p, int below)
{
    p->random = p->random * 6364136223846793005 + 1442695040888963407;
    return (int)((p->random >> 33) % (uint64_t)below);
}

static int word_of(const struct player *p, int from, int i)
{
    return from << 28 | p->number << 24 | (p->round & 127) << 16 | i;
}

static void put(struct player *p, uint64_t memory)
{
    need(cuda.in(memory, p->host, ROOM * sizeof(int)), "cuMemcpyHtoD");
}

static void check(struct player *p, int (*wanted)(const struct player *p, int))
{
    int wrong = 0;

    need(cuda.out(p->host, p->in, ROOM * sizeof(int)), "cuMemcpyDtoH");
    for (int i = 0; i < ROOM; i++)
        wrong += p->host[i] != wanted(p, i);
    p->wrong += wrong != 0;
}

static void fill(struct player *p, int (*wanted)(const struct player *p, int))
{
    for (int i = 0; i < ROOM; i++)
        p->host[i] = wanted(p, i);
    put(p, p->out);
    for (int i = 0; i < ROOM; i++)
        p->host[i] = GAP;
    put(p, p->in);
}

/* -- messages, each in its part of the memory -- */

static int letter_word(const struct player *p, int from, int at)
{
    int letter = at / PART, i = at % PART;

    return letter >= p->letters || i % p->step || i / p->step >= p->words
               ? GAP
               : word_of(p, from, letter * MOST + i / p->step);
}

static int sent(const struct player *p, int at)
{
    return letter_word(p, rank, at);
}

static int received(const struct player *p, int at)
{
    return letter_word(p, !rank, at);
}

static void *part(uint64_t memory, int letter)
{
    return (void *)(memory + (uint64_t)letter * PART * sizeof(int));
}

static void see(struct player *p, int index, const MPI_Status *status)
{
    int bytes = -1;

    if (index >= p->letters)
        return;
    MPI_Get_elements(status, MPI_BYTE, &bytes);
    p->wrong += bytes != 4 * p->words || status->MPI_TAG != index ||
                status->MPI_SOURCE != !rank;
}

static void end_each(struct player *p)
{
    MPI_Status status;

    for (int i = 2 * p->letters - 1; i >= 0; i--) {
        MPI_Wait(&p->request[i], &status);
        see(p, i, &status);
    }
}

static void end_all(struct player *p)
{
    MPI_Status status[2 * LETTERS];

    MPI_Waitall(2 * p->letters, p->request, status);
    for (int i = 0; i < p->letters; i++)
        see(p, i, &status[i]);
}

static void end_any(struct player *p)
{
    MPI_Status status;
    int index = 0;

    while (index != MPI_UNDEFINED) {
        MPI_Waitany(2 * p->letters, p->request, &index, &status);
        if (index != MPI_UNDEFINED)
            see(p, index, &status);
    }
}

static void end_some(struct player *p)
{
    int count = 0, index[2 * LETTERS];
    MPI_Status status[2 * LETTERS];

    while (count != MPI_UNDEFINED) {
        MPI_Waitsome(2 * p->letters, p->request, &count, index, status);
        for (int i = 0; count != MPI_UNDEFINED && i < count; i++)
            see(p, index[i], &status[i]);
    }
}

static void test_each(struct player *p)
{
    int done, left = 2 * p->letters;
    MPI_Status status;

    for (int i = 0; left; i = (i + 1) % (2 * p->letters)) {
        if (p->request[i] == MPI_REQUEST_NULL)
            continue;
        MPI_Test(&p->request[i], &done, &status);
        left -= done;
        if (done)
            see(p, i, &status);
    }
}

static void test_all(struct player *p)
{
    MPI_Status status[2 * LETTERS];
    int done = 0;

    while (!done)
        MPI_Testall(2 * p->letters, p->request, &done, status);
    for (int i = 0; i < p->letters; i++)
        see(p, i, &status[i]);
}

static void test_any(struct player *p)
{
    MPI_Status status;
    int done, index = 0;

    do {
        MPI_Testany(2 * p->letters, p->request, &index, &done, &status);
        if (done && index != MPI_UNDEFINED)
            see(p, index, &status);
    } while (!done || index != MPI_UNDEFINED);
}

/* Tests a request that several threads test, one of which will end it. */
static void *look_at_all(void *context)
{
    struct player *p = context;
    int bytes, done;
    MPI_Status status;

    for (int i = 0; i < p->letters; i++) {
        for (done = 0; !done;)
            MPI_Request_get_status(p->request[i], &done, &status);
        MPI_Get_elements(&status, MPI_BYTE, &bytes);
        need(bytes != 4 * p->words, "MPI_Request_get_status");
    }
    return NULL;
}

static void end_looked(struct player *p)
{
    pthread_t other;

    need(pthread_create(&other, NULL, look_at_all, p), "pthread_create");
    (void)look_at_all(p);
    pthread_join(other, NULL);
    end_all(p);
}

/* The sends have ended when the other rank has received them. */
static void end_freed(struct player *p)
{
    for (int i = 0; i < p->letters; i++)
        MPI_Request_free(&p->request[p->letters + i]);
    MPI_Waitall(p->letters, p->request, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, !rank, LETTERS, NULL, 0, MPI_BYTE, !rank,
                 LETTERS, p->comm, MPI_STATUS_IGNORE);
}

/* Sends and receives, which are completed by a random kind of call. */
static void plain(struct player *p)
{
    void (*const end[])(struct player *) = {end_each, end_all,   end_any,
                                            end_some, test_each, test_all,
                                            test_any, end_freed, end_looked};

    for (int i = 0; i < p->letters; i++)
        MPI_Irecv(part(p->in, i), 1, p->type, !rank, i, p->comm,
                  &p->request[i]);
    for (int i = 0; i < p->letters; i++)
        MPI_Isend(part(p->out, i), 1, p->type, !rank, i, p->comm,
                  &p->request[p->letters + i]);
    end[draw(p, sizeof end / sizeof *end)](p);
}

/* Persistent requests, which are started twice. */
static void persistent(struct player *p)
{
    int n = p->letters;

    for (int i = 0; i < n; i++) {
        MPI_Recv_init(part(p->in, i), 1, p->type, !rank, i, p->comm,
                      &p->request[i]);
        MPI_Send_init(part(p->out, i), 1, p->type, !rank, i, p->comm,
                      &p->request[n + i]);
    }
    for (int turn = 0; turn < 2; turn++) {
        MPI_Startall(2 * n, p->request);
        end_all(p);
    }
    for (int i = 0; i < 2 * n; i++)
        MPI_Request_free(&p->request[i]);
}

/* MPI_Sendrecv, or MPI_Isendrecv if this MPI library has it. */
static void both(struct player *p)
{
    for (int i = 0; i < p->letters; i++) {
        MPI_Status status;
#if MPI_VERSION >= 4
        MPI_Request request;

        if (version >= 4) {
            MPI_Isendrecv(part(p->out, i), 1, p->type, !rank, i, part(p->in, i),
                          1, p->type, !rank, i, p->comm, &request);
            MPI_Wait(&request, &status);
            see(p, i, &status);
            continue;
        }
#endif
        MPI_Sendrecv(part(p->out, i), 1, p->type, !rank, i, part(p->in, i), 1,
                     p->type, !rank, i, p->comm, &status);
        see(p, i, &status);
    }
}

/* MPI_Sendrecv_replace. */
static void replaced(struct player *p)
{
    for (int i = 0; i < ROOM; i++)
        p->host[i] = sent(p, i);
    put(p, p->in);
    for (int i = 0; i < p->letters; i++) {
        MPI_Status status;

        MPI_Sendrecv_replace(part(p->in, i), 1, p->type, !rank, i, !rank, i,
                             p->comm, &status);
        see(p, i, &status);
    }
}

/* Receives after a matched probe. */
static void probed(struct player *p)
{
    int keeps = draw(p, 2);

    for (int i = 0; i < p->letters; i++)
        MPI_Isend(part(p->out, i), 1, p->type, !rank, i, p->comm,
                  &p->request[i]);
    for (int i = 0; i < p->letters; i++) {
        MPI_Message message;
        MPI_Status status;

        if (keeps)
            MPI_Mprobe(!rank, i, p->comm, &message, &status);
        else
            MPI_Probe(!rank, i, p->comm, &status);
        see(p, i, &status);
        if (keeps)
            MPI_Mrecv(part(p->in, i), 1, p->type, &message, &status);
        else
            MPI_Recv(part(p->in, i), 1, p->type, !rank, i, p->comm, &status);
        see(p, i, &status);
    }
    MPI_Waitall(p->letters, p->request, MPI_STATUSES_IGNORE);
}

/* Messages of an envelope's size, into which probes look, all with one tag:
 * each must arrive, in order. */
static void flood(struct player *p)
{
    int card[CARD] = {0}, wrong = 0;

    for (int i = 0; i < FLOOD; i++) {
        card[0] = word_of(p, rank, i);
        MPI_Send(card, CARD, MPI_INT, !rank, 0, p->comm);
    }
    for (int i = 0; i < FLOOD; i++) {
        MPI_Request request;

        if (i % 2) {
            MPI_Recv(card, CARD, MPI_INT, !rank, 0, p->comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Irecv(card, CARD, MPI_INT, !rank, 0, p->comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        wrong += card[0] != word_of(p, !rank, i);
    }
    p->wrong += wrong != 0;
}

static void exchange(struct player *p)
{
    void (*const way[])(struct player *) = {plain, persistent, both, replaced,
                                            probed};

    p->letters = 1 + draw(p, LETTERS);
    p->step = 1 + draw(p, MOST_STEP);
    MPI_Type_vector(p->words, 1, p->step, MPI_INT, &p->type);
    MPI_Type_commit(&p->type);
    fill(p, sent);
    way[draw(p, sizeof way / sizeof *way)](p);
    check(p, received);
    MPI_Type_free(&p->type);
}

/* -- collective calls -- */

static int own(const struct player *p, int i)
{
    return i < 2 * p->words ? word_of(p, rank, i) : GAP;
}

static int nothing(const struct player *p, int i)
{
    (void)p;
    (void)i;
    return GAP;
}

static int first_of_all(const struct player *p, int i)
{
    return i < 2 * p->words ? word_of(p, i / p->words, i % p->words) : GAP;
}

static int mine_of_all(const struct player *p, int i)
{
    return i < 2 * p->words
               ? word_of(p, i / p->words, rank * p->words + i % p->words)
               : GAP;
}

/* The larger of two words is that of rank 1. */
static int greater(const struct player *p, int i)
{
    return i < p->words ? word_of(p, 1, i) : GAP;
}

static int of_root(const struct player *p, int i)
{
    return i < p->words ? word_of(p, !rank, i) : GAP;
}

/* A random collective call. */
static void collective(struct player *p)
{
    void *out = (void *)p->out, *in = (void *)p->in;
    int n = p->words, root = draw(p, 2), to_me = rank == root;

    fill(p, own);
    switch (draw(p, 6)) {
    case 0:
        MPI_Bcast(to_me ? out : in, n, MPI_INT, root, p->comm);
        check(p, to_me ? nothing : of_root);
        break;
    case 1:
        MPI_Gather(out, n, MPI_INT, in, n, MPI_INT, root, p->comm);
        check(p, to_me ? first_of_all : nothing);
        break;
    case 2:
        MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, p->comm);
        check(p, first_of_all);
        break;
    case 3:
        MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, p->comm);
        check(p, mine_of_all);
        break;
    case 4:
        MPI_Reduce(out, in, n, MPI_INT, MPI_MAX, root, p->comm);
        check(p, to_me ? greater : nothing);
        break;
    default:
        MPI_Allreduce(out, in, n, MPI_INT, MPI_MAX, p->comm);
        check(p, greater);
    }
}

/* -- threads -- */

/* Makes a context current, since each thread has its own current context. */
static void take_gpu(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
    int (*retain)(void **, int), (*set)(void *);

    *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&set = dlsym(driver, "cuCtxSetCurrent");
    need(retain(&context, 0) || set(context), "cuCtxSetCurrent");
}

static void *play(void *context)
{
    struct player *p = context;

    take_gpu();
    need(cuda.alloc(&p->out, ROOM * sizeof(int)) ||
             cuda.alloc(&p->in, ROOM * sizeof(int)),
         "cuMemAlloc");
    for (p->round = 0; p->round < p->rounds; p->round++) {
        p->words = 1 + draw(p, draw(p, 2) ? MOST : 16);
        if (draw(p, 3))
            exchange(p);
        else if (watching && draw(p, 2))
            flood(p);
        else
            collective(p);
        if (race)
            counted++;
    }
    return NULL;
}

/* Probes for all messages that may arrive for any of the threads. */
static void *watch(void *context)
{
    const struct player *player = context;
    MPI_Status status;
    int flag;

    take_gpu();
    while (__atomic_load_n(&watching, __ATOMIC_RELAXED)) {
        for (int i = 0; i < THREADS; i++)
            MPI_Iprobe(!rank, MPI_ANY_TAG, player[i].comm, &flag, &status);
        sched_yield();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct player player[THREADS];
    unsigned long over, all_over;
    int level, wrong = 0, all = 0;
    pthread_t watcher;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_version(&version, &subversion);
    need(level < MPI_THREAD_MULTIPLE || argc < 3,
         "threads SEED ROUNDS [watched|race]");
    race = argc > 3 && !strcmp(argv[3], "race");
    watching = argc > 3 && !race;
    open_driver();
    for (int i = 0; i < THREADS; i++) {
        player[i] =
            (struct player){.number = i,
                            .random = 1000 * strtoull(argv[1], NULL, 10) + i,
                            .rounds = atoi(argv[2]),
                            .host = malloc(ROOM * sizeof(int))};
        MPI_Comm_dup(MPI_COMM_WORLD, &player[i].comm);
    }
    if (watching)
        need(pthread_create(&watcher, NULL, watch, player), "pthread_create");
    for (int i = 0; i < THREADS; i++)
        need(pthread_create(&player[i].thread, NULL, play, &player[i]),
             "pthread_create");
    for (int i = 0; i < THREADS; i++) {
        pthread_join(player[i].thread, NULL);
        wrong += player[i].wrong;
    }
    if (__atomic_exchange_n(&watching, 0, __ATOMIC_RELAXED))
        pthread_join(watcher, NULL);
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_free(&player[i].comm);
        free(player[i].host);
    }
    over = cuda.uses ? cuda.uses("device") : 0;
    MPI_Allreduce(&over, &all_over, 1, MPI_UNSIGNED_LONG, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!rank)
        printf("%d of %d rounds wrong, %lu copies between GPUs\n", all,
               2 * THREADS * player[0].rounds, all_over);
    MPI_Finalize();
    return all != 0;
}
