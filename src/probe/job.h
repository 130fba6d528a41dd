/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages between rank 0 and the other ranks of the measuring program. No
 * collective call is made after MPI_Init, and every wait has a timeout, so that
 * a rank that fails or hangs affects only its own pairs. */
#ifndef NW_PROBE_JOB_H
#define NW_PROBE_JOB_H

#include <mpi.h>

#include "gpu/gpu.h"
#include "probe/records.h"

enum { TAG_COMMAND = 1, TAG_REPLY, TAG_PLACE, TAG_DATA };

/* The kinds of commands to a rank: quit, measure round trips with a peer, send
 * or receive a stream, return the clock's time. */
enum nw_probe_work { WORK_QUIT, WORK_PAIR, WORK_STREAM, WORK_CLOCK };
/* A command of rank 0:
 *
 * - `work` is an enum nw_probe_work.
 * - `number` identifies the command.
 * - `peer` is the other rank.
 * - `first` is 1 if the rank begins the pair or sends the stream.
 * - `memory` is an enum nw_probe_memory.
 * - `chunk` is the size of a stream's messages in bytes.
 * - `seconds` is the duration of a stream, or the time for each class of sizes
 *   of a pair. */
struct nw_probe_command {
    int64_t work, number, peer, first, memory, chunk;
    double seconds;
    double start; /* start time of a stream by the clock of the receiver of this
                     command; 0: at once */
};

/* A rank's description of itself, sent at the beginning. */
struct nw_probe_place {
    char name[256];
    int32_t cores, packages, gpus, core, package, staged;
};

/* Number of figures in a reply about a pair: the spread, then three for each
 * class of sizes. */
#define NW_PROBE_FIGURES (1 + 3 * NW_PROBE_CLASSES)
/* The reply to the command with the same number. `good` is 0 if the task
 * failed. */
struct nw_probe_reply {
    int64_t number, good;
    /* for a pair: spread, then time, overhead and gap for each class of sizes;
     * for a stream: rate and number of chunks; for a clock: its time */
    double figure[NW_PROBE_FIGURES];
};

/* The state of one rank of the measuring program. */
struct nw_probe_self {
    int rank, size;
    double timeout;           /* seconds to wait for a rank that does not
                                 answer */
    const struct nw_gpu *gpu; /* NULL: GPU memory is not measured */
    bool staged;
    char *buffer[NW_PROBE_MEMORIES]; /* one buffer for each kind of memory, of
                                        NW_PROBE_WINDOW x NW_PROBE_LARGEST
                                        bytes; that of GPU memory is NULL
                                        without `gpu` */
    char *stage;                     /* host buffer through which GPU messages
                                        are copied; NULL if none are copied */
};

#define NW_PROBE_WINDOW 4
#define NW_PROBE_LARGEST ((size_t)1 << 21) /* largest chunk in bytes */

/* Waits up to `seconds` for the request. Returns true if it is complete.
 * Returns false if MPI reports an error. Cancels the request and returns false
 * if the time is over. */
bool nw_probe_wait(MPI_Request *request, MPI_Status *status, double seconds);
double nw_probe_now(void);

/* Executes one command in this rank and fills the reply (worker.c). */
void nw_probe_work(struct nw_probe_self *self,
                   const struct nw_probe_command *command,
                   struct nw_probe_reply *reply);
/* Executes commands of rank 0 until the command WORK_QUIT or a failure of MPI.
 * Returns true if WORK_QUIT said that all ranks are alive. */
bool nw_probe_obey(struct nw_probe_self *self);

/* The options of nw_probe_lead, which runs on rank 0 (lead.c): it measures for
 * at most `seconds` and prints records. Returns false if a rank failed. */
struct nw_probe_lead_options {
    double seconds;
    bool describe; /* print hosts and cores only; measure nothing */
};
bool nw_probe_lead(struct nw_probe_self *self,
                   const struct nw_probe_lead_options *options);

/* The state of rank 0 while it measures. */
struct nw_probe_coordinator {
    struct nw_probe_self *self;
    struct nw_probe *probe; /* the records printed so far */
    int64_t number;
    double begin, seconds;
    double *offset; /* [ranks] time in s by which each rank's clock is ahead
                       of rank 0's */
    struct nw_probe_command *command; /* [ranks] last command to each rank; a
                                         lost rank gets no other command, since
                                         MPI may still send its last one */
    int lost_count;
};
/* A measurement between ranks a and b. */
struct nw_probe_task {
    int a, b; /* a begins the ping-pong, or sends the stream */
    enum nw_probe_work work;
    enum nw_probe_memory memory;
    size_t chunk;
    double seconds;
    double start;                   /* start time of a stream by rank 0's clock;
                                       0: at once */
    struct nw_probe_reply reply[2]; /* replies of a and b */
};

/* Prints a record, one line of the probe's results, on standard output and adds
 * it to coordinator->probe. */
void nw_probe_emit_record(struct nw_probe_coordinator *coordinator,
                          const char *format, ...) NW_PRINTF(2, 3);
/* Receives the description of each rank and prints a record for it. A rank that
 * does not answer is reported as lost. */
void nw_probe_gather_places(struct nw_probe_coordinator *coordinator);
/* Runs task[count], whose pairs of ranks are disjoint, at the same time, and
 * stores the replies; reply[].good is 0 for a failed task. A rank that does not
 * answer is reported as lost. */
void nw_probe_run_wave(struct nw_probe_coordinator *coordinator,
                       struct nw_probe_task *task, size_t count);
/* Measures the clock offsets of all ranks, for streams that must begin
 * together. */
void nw_probe_set_clocks(struct nw_probe_coordinator *coordinator);
/* Tells all ranks that are not lost to quit. A rank that does not take this
 * command counts as lost, but no record is printed. */
void nw_probe_dismiss(struct nw_probe_coordinator *coordinator);
/* Returns true if the rank has described itself and is not lost. */
bool nw_probe_is_here(const struct nw_probe_coordinator *coordinator, int rank);

/* Describes this rank, its host and its core in *place, and opens its GPU if
 * `use_gpu` (place.c). */
void nw_probe_find_place(struct nw_probe_self *self, bool use_gpu,
                         struct nw_probe_place *place);

/* Starts a process that prints a record on standard output when this rank ends
 * or is stopped. The process prints nothing if the rank has called
 * nw_probe_watch_end before. Must be called before MPI_Init. Returns -1 if the
 * process cannot be started. The caller passes the result as `to` to
 * nw_probe_watch_rank, which sends the number of the rank to the process, and
 * to nw_probe_watch_end. */
int nw_probe_watch(void);
void nw_probe_watch_rank(int to, int32_t rank);
void nw_probe_watch_end(int to);

#endif
