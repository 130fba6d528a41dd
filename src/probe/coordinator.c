/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rank 0 that sends commands to the other ranks and receives their
 * replies. Every wait has a time limit. */
#include "probe/job.h"

#include "base/array.h"
#include "base/backoff.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nw_probe_emit_record(struct nw_probe_coordinator *coordinator,
                          const char *format, ...)
{
    char line[2048] = NW_PROBE_MARK " ";
    size_t length = strlen(line);
    va_list arguments;
    bool taken;

    va_start(arguments, format);
    vsnprintf(line + length, sizeof line - length, format, arguments);
    va_end(arguments);
    puts(line);
    fflush(stdout);
    if (nw_probe_take_line(coordinator->probe, line, &taken))
        fprintf(stderr, "nodewise probe: %s\n", nw_error_text());
}

bool nw_probe_is_here(const struct nw_probe_coordinator *coordinator, int rank)
{
    return coordinator->probe->rank[rank].name &&
           !coordinator->probe->rank[rank].lost;
}

/* Counts a rank as lost and prints a record of it; does nothing if the rank
 * already counts as lost. */
static void coordinator_lose(struct nw_probe_coordinator *coordinator, int rank,
                             const char *why)
{
    if (coordinator->probe->rank[rank].lost)
        return;
    coordinator->lost_count++;
    nw_probe_emit_record(coordinator, "lost %d %s", rank, why);
}

static void say_place(struct nw_probe_coordinator *coordinator, int rank,
                      struct nw_probe_place *place)
{
    place->name[sizeof place->name - 1] = '\0';
    place->name[strcspn(place->name, " \t\r\n")] = '\0';
    nw_probe_emit_record(coordinator, "rank %d %s %d %d %d %d %d %d", rank,
                         place->name, place->packages, place->cores,
                         place->gpus, place->core, place->package,
                         place->staged);
}

void nw_probe_gather_places(struct nw_probe_coordinator *coordinator)
{
    size_t size = (size_t)coordinator->self->size;
    struct nw_probe_place *place = calloc(size, sizeof *place);
    MPI_Request *request = calloc(size, sizeof *request);
    double end = nw_probe_now() + 3 * coordinator->self->timeout;

    nw_probe_emit_record(coordinator, "ranks %d", coordinator->self->size);
    for (int r = 0; place && request && r < coordinator->self->size; r++)
        if (MPI_Irecv(&place[r], sizeof *place, MPI_BYTE, r, TAG_PLACE,
                      MPI_COMM_WORLD, &request[r]))
            coordinator_lose(coordinator, r, "MPI cannot receive its messages");
    for (int r = 0; place && request && r < coordinator->self->size; r++) {
        if (coordinator->probe->rank[r].lost)
            continue;
        if (nw_probe_wait(&request[r], MPI_STATUS_IGNORE, end - nw_probe_now()))
            say_place(coordinator, r, &place[r]);
        else
            coordinator_lose(coordinator, r, "did not answer at the beginning");
    }
    free(request);
    free(place);
}

/* A rank from which a reply is expected: one of the two ranks of a running
 * task, or a rank whose clock is asked. */
struct half {
    int rank;
    struct nw_probe_command *command; /* coordinator->command[rank] */
    struct nw_probe_reply *reply;
    MPI_Request sent, answered;
    bool failed;
    double done; /* time at which the reply arrived or the rank was given up;
                    0: not yet */
};

static struct nw_probe_command
coordinator_make_command(const struct nw_probe_task *task, int64_t number,
                         int end)
{
    return (struct nw_probe_command){
        .work = task->work,
        .number = number,
        .peer = end ? task->a : task->b,
        .first = !end,
        .memory = task->memory,
        .chunk = (int64_t)task->chunk,
        .seconds = task->seconds,
    };
}

/* Posts the receive of the reply and sends the command. */
static void coordinator_begin(struct half *half)
{
    half->sent = half->answered = MPI_REQUEST_NULL;
    half->failed =
        MPI_Irecv(half->reply, sizeof *half->reply, MPI_BYTE, half->rank,
                  TAG_REPLY, MPI_COMM_WORLD, &half->answered) ||
        MPI_Isend(half->command, sizeof *half->command, MPI_BYTE, half->rank,
                  TAG_COMMAND, MPI_COMM_WORLD, &half->sent);
}

/* Stops waiting for a rank, which then counts as lost. */
static void coordinator_give_up(struct nw_probe_coordinator *coordinator,
                                struct half *half)
{
    half->done = nw_probe_now();
    half->reply->good = 0;
    if (half->answered != MPI_REQUEST_NULL) {
        MPI_Cancel(&half->answered);
        MPI_Request_free(&half->answered);
    }
    coordinator_lose(coordinator, half->rank, "does not answer any more");
}

/* Returns true if a rank must be given up: its time is over, a message failed,
 * or its peer was given up some time ago. */
static bool is_overdue(const struct nw_probe_coordinator *coordinator,
                       const struct half *half, const struct half *peer,
                       double until)
{
    double now = nw_probe_now();

    return half->failed || now > until ||
           (peer && peer->done > 0 && !peer->reply->good &&
            now > peer->done + coordinator->self->timeout / 2);
}

/* Checks whether the reply of a rank has arrived. Gives the rank up if another
 * reply came, or if is_overdue. */
static void coordinator_look(struct nw_probe_coordinator *coordinator,
                             struct half *half, const struct half *peer,
                             double until)
{
    int come = 0;

    if (!half->failed && MPI_Test(&half->answered, &come, MPI_STATUS_IGNORE))
        half->failed = true;
    if (come && half->reply->number == half->command->number) {
        half->done = nw_probe_now();
        nw_probe_wait(&half->sent, MPI_STATUS_IGNORE,
                      coordinator->self->timeout);
    } else if (come || is_overdue(coordinator, half, peer, until)) {
        coordinator_give_up(coordinator, half);
    }
}

/* Waits until each of the `count` ranks has answered or was given up. If
 * `count` is not 1, half[2i] and half[2i + 1] are the two ranks of a task. If a
 * rank is lost meanwhile, the duration of this wait does not count against the
 * time budget. */
static void coordinator_end(struct nw_probe_coordinator *coordinator,
                            struct half *half, size_t count, double until)
{
    double start = nw_probe_now();
    int lost = coordinator->lost_count;
    struct nw_backoff backoff = {0};
    size_t left = 1;

    while (left) {
        left = 0;
        for (size_t i = 0; i < count; i++) {
            struct half *peer = count > 1 ? &half[i ^ 1] : NULL;

            if (half[i].done <= 0)
                coordinator_look(coordinator, &half[i], peer, until);
            left += half[i].done <= 0;
        }
        if (left)
            nw_backoff_yield(&backoff);
    }
    if (coordinator->lost_count > lost)
        coordinator->begin += nw_probe_now() - start;
}

void nw_probe_run_wave(struct nw_probe_coordinator *coordinator,
                       struct nw_probe_task *task, size_t count)
{
    struct half *half = calloc(2 * count + 1, sizeof *half), *mine = NULL;
    double longest = 0;

    for (size_t i = 0; half && i < 2 * count; i++) {
        struct nw_probe_task *of = &task[i / 2];
        int which = (int)(i % 2);

        if (!which)
            coordinator->number++;
        longest = of->seconds > longest ? of->seconds : longest;
        half[i].rank = which ? of->b : of->a;
        half[i].reply = &of->reply[which];
        half[i].command = &coordinator->command[half[i].rank];
        *half[i].command =
            coordinator_make_command(of, coordinator->number, which);
        if (of->start > 0 && coordinator->offset)
            half[i].command->start =
                of->start + coordinator->offset[half[i].rank];
        if (half[i].rank)
            coordinator_begin(&half[i]);
        else
            mine = &half[i];
    }
    if (mine) {
        nw_probe_work(coordinator->self, mine->command, mine->reply);
        mine->done = nw_probe_now();
    }
    longest = nw_probe_now() + NW_PROBE_CLASSES * longest +
              3 * coordinator->self->timeout;
    if (half)
        coordinator_end(coordinator, half, 2 * count, longest);
    free(half);
}

/* Returns how far a rank's clock is ahead of rank 0's clock, in s; 0 if the
 * rank does not answer. Rank 0 asks several times and uses the reply with the
 * shortest round trip, because this reply is the most exact. */
static double ask_clock(struct nw_probe_coordinator *coordinator, int rank)
{
    double best = 1e9, offset = 0;

    for (int i = 0; i < 5 && nw_probe_is_here(coordinator, rank); i++) {
        struct nw_probe_reply reply = {0};
        struct half half = {.rank = rank,
                            .reply = &reply,
                            .command = &coordinator->command[rank]};
        double sent = nw_probe_now(), back;

        *half.command = (struct nw_probe_command){
            .work = WORK_CLOCK, .number = ++coordinator->number};
        coordinator_begin(&half);
        coordinator_end(coordinator, &half, 1,
                        sent + coordinator->self->timeout);
        back = nw_probe_now();
        if (reply.good && back - sent < best) {
            best = back - sent;
            offset = reply.figure[0] - (sent + back) / 2;
        }
    }
    return offset;
}

void nw_probe_set_clocks(struct nw_probe_coordinator *coordinator)
{
    if (nw_alloc((size_t)coordinator->self->size, sizeof *coordinator->offset,
                 &coordinator->offset))
        return;
    for (int r = 1; r < coordinator->self->size; r++)
        coordinator->offset[r] = ask_clock(coordinator, r);
}

/* `first` of the command says whether all ranks are alive, so that they can
 * call MPI_Finalize. */
void nw_probe_dismiss(struct nw_probe_coordinator *coordinator)
{
    struct nw_probe_command quit = {.work = WORK_QUIT,
                                    .first = !coordinator->lost_count};

    for (int r = 1; r < coordinator->self->size; r++) {
        MPI_Request request;

        if (!nw_probe_is_here(coordinator, r))
            continue;
        coordinator->command[r] = quit;
        if (MPI_Isend(&coordinator->command[r], sizeof quit, MPI_BYTE, r,
                      TAG_COMMAND, MPI_COMM_WORLD, &request) ||
            !nw_probe_wait(&request, MPI_STATUS_IGNORE,
                           coordinator->self->timeout))
            coordinator->lost_count++;
    }
}
