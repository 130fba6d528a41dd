/* SPDX-License-Identifier: BSD-3-Clause */
/* Random messages between all ranks, from and to host and GPU memory; many are
 * large enough to be copied directly between GPUs. Every receiver knows in
 * which order each rank has sent to it, and therefore which message each
 * receive may get. Prints the number of wrong messages and the number of copies
 * between GPUs. Usage: direct SEED ROUNDS [probes] */
#include "driver.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 40000, MOST = 24, RANKS = 8, TAGS = 3, CARD = 160 };

struct letter {
    int from, to, tag, bytes, id;
    int spread; /* the sender's datatype has gaps */
    int taken;
};

static int rank, size, probes, wrong;
static uint64_t shared_state, state;
static struct letter letters[RANKS * MOST];
static int letter_count;
static unsigned char image[2 * ROOM + 8];

static unsigned draw(uint64_t *from, unsigned bound)
{
    *from = *from * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*from >> 33) % bound;
}

/* Memory for a message. It is twice as large as the message, so that the
 * message may have gaps. */
struct memory {
    int on_gpu;
    uint64_t gpu;
    char *host;
};

static struct memory memory_new(int on_gpu)
{
    struct memory memory = {.on_gpu = on_gpu};

    if (on_gpu)
        need(cuda.alloc(&memory.gpu, sizeof image), "cuMemAlloc");
    else
        memory.host = malloc(sizeof image);
    return memory;
}

static void *address(const struct memory *memory)
{
    return memory->on_gpu ? (void *)memory->gpu : memory->host;
}

static void put(const struct memory *memory)
{
    if (memory->on_gpu)
        need(cuda.in(memory->gpu, image, sizeof image), "cuMemcpyHtoD");
    else
        memcpy(memory->host, image, sizeof image);
}

static void get(const struct memory *memory)
{
    if (memory->on_gpu)
        need(cuda.out(image, memory->gpu, sizeof image), "cuMemcpyDtoH");
    else
        memcpy(image, memory->host, sizeof image);
}

static unsigned char byte_of(int id, int i)
{
    return (unsigned char)(id * 37 + i * 11 + i / 251);
}

/* The offset of byte i, where words have gaps between them or not. */
static int place_of(int spread, int i)
{
    return spread ? i / 4 * 8 + i % 4 : i;
}

static void write_letter(const struct letter *letter,
                         const struct memory *memory)
{
    memset(image, 0x33, sizeof image);
    for (int i = 0; i < letter->bytes; i++)
        image[place_of(letter->spread, i)] = byte_of(letter->id, i);
    put(memory);
}

/* Whether the message has arrived and the gaps and the bytes behind it are
 * unchanged. */
static int reads_as(const struct letter *letter, const struct memory *memory,
                    int spread)
{
    static unsigned char expected[sizeof image];

    memset(expected, 0x55, sizeof expected);
    for (int i = 0; i < letter->bytes; i++)
        expected[place_of(spread, i)] = byte_of(letter->id, i);
    get(memory);
    return !memcmp(image, expected, sizeof image);
}

/* -- the list of messages, which all ranks know -- */

static void draw_letters(int round)
{
    static const int sizes[] = {0,    4,    CARD, CARD,  1020, 1024,
                                2048, 5000, 8192, 20000, ROOM};

    letter_count = size * MOST;
    for (int i = 0; i < letter_count; i++) {
        struct letter *letter = &letters[i];

        letter->from = i / MOST;
        letter->to = (int)draw(&shared_state, (unsigned)size);
        letter->tag = (int)draw(&shared_state, TAGS);
        letter->bytes = sizes[draw(&shared_state, 11)];
        letter->spread = !draw(&shared_state, 4);
        letter->id = round * 1000 + i;
        letter->taken = 0;
    }
}

/* The first message from that source and with that tag that was not received
 * yet. */
static struct letter *first_of(int from, int tag)
{
    for (int i = 0; i < letter_count; i++)
        if (letters[i].from == from && letters[i].to == rank &&
            !letters[i].taken && (tag < 0 || letters[i].tag == tag))
            return &letters[i];
    return NULL;
}

static void complain(const char *what, const struct letter *letter, int got)
{
    fprintf(stderr, "rank %d: %s: from %d tag %d bytes %d id %d, got %d\n",
            rank, what, letter ? letter->from : -1, letter ? letter->tag : -1,
            letter ? letter->bytes : -1, letter ? letter->id : -1, got);
    wrong++;
}

/* -- sends -- */

/* Starts to send the message by a random kind of call. */
static void send_letter(const struct letter *letter,
                        const struct memory *memory, MPI_Comm comm,
                        MPI_Request *request)
{
    void *at = address(memory);
    int words = letter->bytes / 4, to = letter->to, tag = letter->tag, n;
    MPI_Datatype type;

    write_letter(letter, memory);
    if (letter->spread)
        MPI_Type_vector(words, 1, 2, MPI_INT, &type);
    else
        MPI_Type_contiguous(words, MPI_INT, &type);
    MPI_Type_commit(&type);
    n = 1;
    switch (draw(&state, 6)) {
    case 0:
        MPI_Issend(at, n, type, to, tag, comm, request);
        break;
    case 1:
        MPI_Ibsend(at, n, type, to, tag, comm, request);
        break;
    case 2:
        MPI_Send_init(at, n, type, to, tag, comm, request);
        MPI_Start(request);
        break;
    case 3:
        MPI_Bsend(at, n, type, to, tag, comm);
        *request = MPI_REQUEST_NULL;
        break;
    default:
        MPI_Isend(at, n, type, to, tag, comm, request);
    }
    MPI_Type_free(&type);
}

/* -- receives -- */

struct target {
    struct memory memory;
    int spread, count;
    MPI_Datatype type;
    MPI_Comm comm;
};

static void look_at(struct target *t, MPI_Request *request, MPI_Status *status)
{
    int flag = 0, index = -1;
    MPI_Status again;

    switch (draw(&state, 5)) {
    case 0:
        while (!flag)
            MPI_Test(request, &flag, status);
        return;
    case 1:
        MPI_Waitany(1, request, &index, status);
        return;
    case 2:
        while (!flag)
            MPI_Request_get_status(*request, &flag, status);
        MPI_Wait(request, &again);
        // MPICH 4.2.1 returns an empty status for a persistent request
        if (again.MPI_SOURCE != status->MPI_SOURCE &&
            again.MPI_SOURCE != MPI_ANY_SOURCE)
            complain("MPI_Wait after a look", NULL, again.MPI_SOURCE);
        return;
    case 3:
        MPI_Waitsome(1, request, &flag, &index, status);
        return;
    default:
        MPI_Waitall(1, request, status);
    }
    (void)t;
}

#if MPI_VERSION >= 4
/* Receives with a count that is too large for an int. */
static void receive_much(struct target *t, int from, int tag,
                         MPI_Status *status)
{
    MPI_Count count = (MPI_Count)1 << 32;
    void *at = address(&t->memory);
    MPI_Request request;

    switch (draw(&state, 3)) {
    case 0:
        MPI_Recv_c(at, count, t->type, from, tag, t->comm, status);
        return;
    case 1:
        MPI_Sendrecv_c(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, at, count, t->type,
                       from, tag, t->comm, status);
        return;
    default:
        MPI_Irecv_c(at, count, t->type, from, tag, t->comm, &request);
        look_at(t, &request, status);
    }
}
#endif

/* Receives without a probe, by a random kind of call. */
static void receive_plain(struct target *t, int from, int tag,
                          MPI_Status *status)
{
    void *at = address(&t->memory);
    MPI_Request request;

    switch (draw(&state, MPI_VERSION < 4 ? 5 : 8)) {
    case 0:
        MPI_Recv(at, t->count, t->type, from, tag, t->comm, status);
        return;
    case 1:
        MPI_Irecv(at, t->count, t->type, from, tag, t->comm, &request);
        look_at(t, &request, status);
        return;
    case 2:
        MPI_Recv_init(at, t->count, t->type, from, tag, t->comm, &request);
        if (draw(&state, 2))
            MPI_Start(&request);
        else
            MPI_Startall(1, &request);
        look_at(t, &request, status);
        MPI_Request_free(&request);
        return;
    case 3:
        MPI_Sendrecv_replace(at, t->count, t->type, MPI_PROC_NULL, 0, from, tag,
                             t->comm, status);
        return;
#if MPI_VERSION >= 4
    case 4:
        MPI_Isendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, at, t->count, t->type,
                      from, tag, t->comm, &request);
        look_at(t, &request, status);
        return;
    case 5:
        MPI_Isendrecv_replace(at, t->count, t->type, MPI_PROC_NULL, 0, from,
                              tag, t->comm, &request);
        look_at(t, &request, status);
        return;
    case 6:
        if (!t->memory.on_gpu && !t->spread) {
            receive_much(t, from, tag, status);
            return;
        }
        MPI_Recv(at, t->count, t->type, from, tag, t->comm, status);
        return;
#endif
    default:
        MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, at, t->count, t->type,
                     from, tag, t->comm, status);
    }
}

/* The message that is received must be the one that the probe reported. */
static void receive_probed(struct target *t, int from, int tag,
                           MPI_Status *status)
{
    void *at = address(&t->memory);
    int flag = 0, said, came;
    MPI_Status seen;
    MPI_Message message;
    MPI_Request request;

    switch (draw(&state, 4)) {
    case 0:
        MPI_Probe(from, tag, t->comm, &seen);
        receive_plain(t, seen.MPI_SOURCE, seen.MPI_TAG, status);
        break;
    case 1:
        while (!flag)
            MPI_Iprobe(from, tag, t->comm, &flag, &seen);
        receive_plain(t, seen.MPI_SOURCE, seen.MPI_TAG, status);
        break;
    case 2:
        MPI_Mprobe(from, tag, t->comm, &message, &seen);
        MPI_Mrecv(at, t->count, t->type, &message, status);
        break;
    default:
        while (!flag)
            MPI_Improbe(from, tag, t->comm, &flag, &message, &seen);
        MPI_Imrecv(at, t->count, t->type, &message, &request);
        look_at(t, &request, status);
    }
    MPI_Get_elements(&seen, MPI_BYTE, &said);
    MPI_Get_elements(status, MPI_BYTE, &came);
    if (said != came || seen.MPI_SOURCE != status->MPI_SOURCE ||
        seen.MPI_TAG != status->MPI_TAG)
        complain("a probe said otherwise", NULL, said);
}

static void check(struct target *t, int from, int tag, MPI_Status *status)
{
    struct letter *letter;
    int bytes;

    if ((from != MPI_ANY_SOURCE && status->MPI_SOURCE != from) ||
        (tag != MPI_ANY_TAG && status->MPI_TAG != tag))
        complain("another's message", NULL, status->MPI_SOURCE);
    letter = first_of(status->MPI_SOURCE, tag == MPI_ANY_TAG ? -1 : tag);
    if (!letter || letter->tag != status->MPI_TAG) {
        complain("out of order", letter, status->MPI_TAG);
        return;
    }
    letter->taken = 1;
    MPI_Get_elements(status, MPI_BYTE, &bytes);
    if (bytes != letter->bytes)
        complain("the size", letter, bytes);
    else if (!reads_as(letter, &t->memory, t->spread))
        complain("the bytes", letter, bytes);
}

/* Receives a message that has not been received yet, or any message that
 * matches its source or tag. */
static void receive_one(struct target *t, int left)
{
    int skip = (int)draw(&state, (unsigned)left), from = 0, tag = 0;
    MPI_Status status;

    for (int i = 0; i < letter_count; i++)
        if (letters[i].to == rank && !letters[i].taken && skip-- == 0) {
            from = letters[i].from;
            tag = letters[i].tag;
        }
    if (!draw(&state, 3))
        from = MPI_ANY_SOURCE;
    if (!draw(&state, 3))
        tag = MPI_ANY_TAG;
    memset(image, 0x55, sizeof image);
    put(&t->memory);
    if (probes && draw(&state, 2))
        receive_probed(t, from, tag, &status);
    else
        receive_plain(t, from, tag, &status);
    check(t, from, tag, &status);
}

static void receive_all(MPI_Comm comm)
{
    static struct memory memory[2];
    static int made;
    MPI_Datatype spread;
    int left = 0;

    for (int i = 0; i < 2 && !made; i++)
        memory[i] = memory_new(i);
    made = 1;
    MPI_Type_vector(ROOM / 4, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    for (int i = 0; i < letter_count; i++)
        left += letters[i].to == rank;
    for (; left && !wrong; left--) {
        struct target t = {.memory = memory[draw(&state, 2)],
                           .spread = !draw(&state, 3),
                           .comm = comm};

        t.count = t.spread ? 1 : ROOM / 4;
        t.type = t.spread ? spread : MPI_INT;
        receive_one(&t, left);
    }
    MPI_Type_free(&spread);
}

static void play(int round, MPI_Comm comm)
{
    static struct memory memory[MOST][2];
    MPI_Request requests[MOST];

    for (int i = 0; i < MOST && !memory[0][0].host; i++)
        for (int on_gpu = 1; on_gpu >= 0; on_gpu--)
            memory[MOST - 1 - i][on_gpu] = memory_new(on_gpu);
    draw_letters(round);
    for (int i = 0; i < MOST; i++)
        send_letter(&letters[rank * MOST + i], &memory[i][draw(&state, 4) != 0],
                    comm, &requests[i]);
    receive_all(comm);
    for (int i = 0; i < MOST; i++) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        if (requests[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&requests[i]);
    }
    MPI_Barrier(comm); // later messages belong to another list
}

/* -- cases with messages of their own -- */

static void around(MPI_Comm comm)
{
    struct letter letter = {.bytes = 20000, .id = rank},
                  mine = {.bytes = 20000, .id = (rank + size - 1) % size};
    struct memory out = memory_new(1), in = memory_new(1);
    int next = (rank + 1) % size;
    MPI_Status status;

    write_letter(&letter, &out);
    memset(image, 0x55, sizeof image);
    put(&in);
    MPI_Sendrecv(address(&out), 20000, MPI_CHAR, next, 9, address(&in), ROOM,
                 MPI_CHAR, mine.id, 9, comm, &status);
    if (!reads_as(&mine, &in, 0))
        complain("MPI_Sendrecv", &mine, 0);
    memset(image, 0x55, sizeof image);
    for (int i = 0; i < letter.bytes; i++)
        image[i] = byte_of(letter.id, i);
    put(&out);
    MPI_Sendrecv_replace(address(&out), 20000, MPI_CHAR, next, 9, mine.id, 9,
                         comm, &status);
    if (!reads_as(&mine, &out, 0))
        complain("MPI_Sendrecv_replace", &mine, 0);
}

#if MPI_VERSION >= 4
enum { LONG = 1 << 20, WAYS = 7 };

/* Waits for the end of both, in one of several ways, with other requests. */
static void end_both(struct target *t, int way, MPI_Request *both,
                     MPI_Status *status)
{
    MPI_Request two[2] = {*both, MPI_REQUEST_NULL};
    int index = -1, next = (rank + 1) % size;

    if (way < WAYS - 2) {
        look_at(t, both, status);
    } else if (way == WAYS - 2) {
        MPI_Irecv(NULL, 0, MPI_INT, (rank + size - 1) % size, 14, t->comm,
                  &two[1]);
        MPI_Waitany(2, two, &index, status);
        if (index != 0)
            complain("MPI_Waitany of two", NULL, index);
        MPI_Send(NULL, 0, MPI_INT, next, 14, t->comm);
        MPI_Wait(&two[1], MPI_STATUS_IGNORE);
    } else {
        MPI_Request_free(both);
    }
}

/* MPI_Isendrecv whose received message was looked into: the request ends only
 * with the send, which is long, and its status describes the received
 * message. */
static void both_ways(struct memory memory, int way, MPI_Comm comm)
{
    static char out[LONG], in[LONG];
    int next = (rank + 1) % size, before = (rank + size - 1) % size, flag;
    struct letter mine = {.bytes = CARD, .id = rank},
                  letter = {.bytes = CARD, .id = before};
    struct target t = {.memory = memory, .comm = comm};
    MPI_Request request, both;
    MPI_Status status;

    write_letter(&mine, &memory);
    MPI_Send(address(&memory), CARD, MPI_CHAR, next, 11, comm);
    memset(image, 0x55, sizeof image);
    if (way % 2)
        for (int i = 0; i < CARD; i++)
            image[i] = byte_of(mine.id, i);
    put(&memory);
    MPI_Probe(before, 11, comm, &status);
    memset(out, rank + 1, sizeof out);
    if (way % 2)
        MPI_Isendrecv_replace(address(&memory), CARD, MPI_CHAR, next, 12,
                              before, 11, comm, &both);
    else
        MPI_Isendrecv(out, LONG, MPI_CHAR, next, 12, address(&memory), CARD,
                      MPI_CHAR, before, 11, comm, &both);
    MPI_Request_get_status(both, &flag, &status);
    MPI_Irecv(in, LONG, MPI_CHAR, before, 12, comm, &request);
    end_both(&t, way, &both, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (in[0] != (way % 2 ? (char)byte_of(before, 0) : (char)(before + 1)) ||
        (way % 2 == 0 && in[LONG - 1] != (char)(before + 1)))
        complain("what MPI_Isendrecv sent", &mine, in[0]);
    if (way == WAYS - 1)
        return;
    MPI_Get_elements(&status, MPI_BYTE, &flag);
    if (flag != CARD || status.MPI_SOURCE != before || status.MPI_TAG != 11)
        complain("what MPI_Isendrecv says", &letter, flag);
    if (!reads_as(&letter, &memory, 0))
        complain("MPI_Isendrecv", &letter, way);
}
#endif

/* A message that does not fit is an error, and the next message is received
 * correctly. */
static void truncated(MPI_Comm comm)
{
    struct letter letter = {.bytes = 8192, .id = 5};
    struct memory memory = memory_new(1);
    int rc = MPI_SUCCESS, class = MPI_SUCCESS;

    if (size < 2 || rank > 1)
        return;
    write_letter(&letter, &memory);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (!rank) {
        MPI_Send(address(&memory), 8192, MPI_CHAR, 1, 1, comm);
        MPI_Send(address(&memory), 8192, MPI_CHAR, 1, 1, comm);
        return;
    }
    if (probes)
        MPI_Probe(0, 1, comm, MPI_STATUS_IGNORE);
    rc = MPI_Recv(address(&memory), 4096, MPI_CHAR, 0, 1, comm,
                  MPI_STATUS_IGNORE);
    MPI_Error_class(rc, &class);
    if (class != MPI_ERR_TRUNCATE)
        complain("truncation", &letter, class);
    memset(image, 0x55, sizeof image);
    put(&memory);
    rc = MPI_Recv(address(&memory), 8192, MPI_CHAR, 0, 1, comm,
                  MPI_STATUS_IGNORE);
    if (rc || !reads_as(&letter, &memory, 0))
        complain("behind a truncation", &letter, rc);
}

/* Several requests at once: the status of the one that failed has the error,
 * and all are complete. MPICH calls the error handler of MPI_COMM_WORLD for
 * it. */
static void truncated_among(int way, MPI_Comm comm)
{
    struct letter letter = {.bytes = 8192, .id = 8};
    struct memory memory[2] = {memory_new(1), memory_new(1)};
    int rc, class = MPI_SUCCESS, done[2] = {0, 1}, n = 2, flag = 0;
    MPI_Request request[2];
    MPI_Status status[2];

    if (!rank) {
        MPI_Recv(NULL, 0, MPI_INT, 1, 2, comm, MPI_STATUS_IGNORE);
        for (int i = 0; i < 2; i++)
            MPI_Send(address(&memory[i]), 8192, MPI_CHAR, 1, 1, comm);
        MPI_Send(NULL, 0, MPI_INT, 1, 3, comm);
        return;
    }
    for (int i = 0; i < 2; i++) {
        MPI_Irecv(address(&memory[i]), i ? 4096 : 8192, MPI_CHAR, 0, 1, comm,
                  &request[i]);
        status[i].MPI_ERROR = -1;
    }
    MPI_Send(NULL, 0, MPI_INT, 0, 2, comm);
    /* comes after both messages */
    MPI_Recv(NULL, 0, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE);
    if (way == 0)
        rc = MPI_Waitall(2, request, status);
    else if (way == 1)
        while (!(rc = MPI_Testall(2, request, &flag, status)) && !flag)
            continue;
    else
        do
            rc = MPI_Waitsome(2, request, &n, done, status);
        while (!rc && n != MPI_UNDEFINED);
    MPI_Error_class(rc, &class);
    if (class != MPI_ERR_IN_STATUS)
        complain("several, one truncated", &letter, class);
    for (int i = 0; i < n && class == MPI_ERR_IN_STATUS; i++) {
        int one = MPI_SUCCESS;

        MPI_Error_class(status[i].MPI_ERROR, &one);
        if (one != (done[i] ? MPI_ERR_TRUNCATE : MPI_SUCCESS))
            complain("the status of one of several", &letter, one);
    }
}

/* Receives two messages into a buffer that is smaller than an envelope (the
 * internal message that announces a payload). The first message fits: it is
 * received, and the gaps of the buffer stay unchanged. The second message does
 * not fit: the receive is an error, and the slot of the message becomes free
 * for the next one. */
static void receive_little(MPI_Comm comm, struct memory memory, int spread)
{
    struct letter letter = {.bytes = 24, .id = 7};
    struct target t = {.memory = memory, .comm = comm, .spread = spread};
    int bytes, class = MPI_SUCCESS, rc;
    MPI_Status status;

    t.count = spread ? 1 : 8;
    if (spread)
        MPI_Type_vector(8, 1, 2, MPI_INT, &t.type);
    else
        MPI_Type_dup(MPI_INT, &t.type);
    MPI_Type_commit(&t.type);
    memset(image, 0x55, sizeof image);
    put(&memory);
    receive_plain(&t, 0, 5, &status);
    MPI_Get_elements(&status, MPI_BYTE, &bytes);
    if (bytes != letter.bytes || !reads_as(&letter, &memory, spread))
        complain("a small receive", &letter, bytes);
    rc = MPI_Recv(address(&memory), t.count, t.type, 0, 5, comm, &status);
    MPI_Error_class(rc, &class);
    if (class != MPI_ERR_TRUNCATE)
        complain("a small truncation", &letter, class);
    MPI_Type_free(&t.type);
}

/* Number of copies between GPUs so far, as the test double counts them; 0 on a
 * GPU. */
static unsigned long copies(void)
{
    return cuda.uses ? cuda.uses("device") : 0;
}

static void little(MPI_Comm comm)
{
    enum { TIMES = 100, SLOTS = 64 };
    struct memory memory[2] = {memory_new(0), memory_new(1)};
    struct letter letter = {.bytes = 24, .id = 7};
    unsigned long before = copies(), direct;

    if (size < 2 || rank > 1)
        return;
    write_letter(&letter, &memory[!rank]);
    for (int i = 0; i < TIMES; i++) {
        void *at = address(&memory[1]);

        if (rank) {
            receive_little(comm, memory[i % 2], i / 2 % 2);
            MPI_Send(NULL, 0, MPI_INT, 0, 6, comm);
            continue;
        }
        MPI_Send(at, 24, MPI_CHAR, 1, 5, comm);
        MPI_Send(at, i % 10 == 9 ? 40 : 2048, MPI_CHAR, 1, 5, comm);
        MPI_Recv(NULL, 0, MPI_INT, 1, 6, comm, MPI_STATUS_IGNORE);
    }
    direct = copies() - before;
    if (!rank && direct && direct <= SLOTS)
        complain("slots that stay taken", &letter, (int)direct);
}

/* A cancelled send needs no receive, and its space becomes free again. */
static void cancelled(MPI_Comm comm)
{
    struct letter letter = {.bytes = ROOM, .id = 6};
    struct memory memory = memory_new(1);
    int flag = 0, rc;

    if (size < 2 || rank > 1)
        return;
    write_letter(&letter, &memory);
    for (int i = 0; i < 100; i++) {
        MPI_Request request;
        MPI_Status status;

        if (rank) {
            MPI_Irecv(address(&memory), ROOM, MPI_CHAR, 0, 3 + i, comm,
                      &request);
            MPI_Recv(&flag, 1, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE);
            if (flag)
                MPI_Cancel(&request);
            rc = MPI_Wait(&request, &status);
            if (rc)
                complain("behind a cancel", &letter, rc);
            continue;
        }
        if (i % 2)
            MPI_Send_init(address(&memory), ROOM, MPI_CHAR, 1, 3 + i, comm,
                          &request);
        else
            MPI_Isend(address(&memory), ROOM, MPI_CHAR, 1, 3 + i, comm,
                      &request);
        if (i % 2)
            MPI_Start(&request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        if (i % 2)
            MPI_Request_free(&request);
        MPI_Send(&flag, 1, MPI_INT, 1, 2, comm);
    }
}

/* Sends elements of three characters and a number from GPU memory into host
 * memory. The end of an envelope would be inside an element. */
static void uneven(MPI_Comm comm)
{
    enum { ELEMENTS = 2000, EACH = 16 };
    struct letter letter = {.bytes = ELEMENTS * 11, .id = 7};
    struct memory memory = memory_new(!rank);
    MPI_Datatype type;
    int rc = MPI_SUCCESS;

    if (size < 2 || rank > 1)
        return;
    MPI_Type_create_struct(2, (int[]){3, 1}, (MPI_Aint[]){0, 8},
                           (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE}, &type);
    MPI_Type_commit(&type);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < ELEMENTS * EACH; i++)
            image[i] = rank ? 0x5a : byte_of(letter.id + turn, i);
        put(&memory);
        if (rank)
            rc = MPI_Recv(address(&memory), ELEMENTS, type, 0, 8, comm,
                          MPI_STATUS_IGNORE);
        else
            MPI_Ssend(address(&memory), ELEMENTS, type, 1, 8, comm);
        get(&memory);
        for (int i = 0; rank && i < ELEMENTS * EACH && !rc; i++)
            rc = image[i] != (i % EACH < 3 || i % EACH > 7
                                  ? byte_of(letter.id + turn, i)
                                  : 0x5a);
        if (rc)
            complain("numbers of two sizes", &letter, rc);
    }
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    static char room[RANKS * MOST * (ROOM + 1024)];
    unsigned long device, all_device;
    int rounds, all;
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    need(argc < 3 || size > RANKS, "direct SEED ROUNDS [probes]");
    shared_state = strtoull(argv[1], NULL, 10);
    state = shared_state * 31 + (uint64_t)rank;
    rounds = atoi(argv[2]);
    probes = argc > 3;
    MPI_Buffer_attach(room, sizeof room);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    open_driver();
    for (int i = 0; i < rounds && !wrong; i++)
        play(i, comm);
    around(comm);
    uneven(comm);
#if MPI_VERSION >= 4
    for (int i = 0; i < 2 * WAYS && probes; i++)
        both_ways(memory_new(i % 3 != 0), i % WAYS, comm);
#endif
    truncated(comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3 && size > 1 && rank < 2; i++)
        truncated_among(i, comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    little(comm);
    cancelled(comm);
    device = copies();
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&device, &all_device, 1, MPI_UNSIGNED_LONG, MPI_SUM,
                  MPI_COMM_WORLD);
    if (!rank)
        printf("%d wrong, %lu copies between GPUs\n", all, all_device);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return all != 0;
}
