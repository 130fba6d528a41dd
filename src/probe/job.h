/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages between rank 0 and the other ranks. No collective call is made
 * after MPI_Init and every wait has an end, so that a rank that fails or hangs
 * costs its own pairs only.
 */
#ifndef NW_PROBE_JOB_H
#define NW_PROBE_JOB_H

#include <mpi.h>

#include "gpu/gpu.h"
#include "probe/figures.h"

enum { TAG_COMMAND = 1, TAG_REPLY, TAG_PLACE, TAG_DATA };

/* The command that a rank gets. */
enum nw_probe_work { WORK_QUIT, WORK_PAIR, WORK_STREAM, WORK_CLOCK };
struct nw_probe_command {
    int64_t work, number, peer, first, memory, chunk;
    double seconds;
    double start; /* of a stream, by the receiver's of this command's clock; 0:
                     at once */
};

/* The description that a rank sends of itself at the beginning. */
struct nw_probe_place {
    char name[256];
    int32_t cores, packages, gpus, core, package, staged;
};

#define NW_PROBE_FIGURES (1 + 3 * NW_PROBE_CLASSES)
struct nw_probe_reply {
    int64_t number, good;
    /* a pair: spread, then each class; a stream: its rate, its chunks; a clock:
     * what it shows */
    double figure[NW_PROBE_FIGURES];
};

/* One rank, as the program knows itself. */
struct nw_probe_self {
    int rank, size;
    double timeout;           /* seconds to wait for a rank that says nothing */
    const struct nw_gpu *gpu; /* NULL where none is to be used */
    bool staged;
    char *buffer[NW_PROBE_MEMORIES]; /* WINDOW chunks each */
    char *stage;                     /* host twin, where messages are staged */
};

#define NW_PROBE_WINDOW 4
#define NW_PROBE_LARGEST ((size_t)1 << 21) /* of a chunk */

/* False where it was not done within `seconds`; the request is then given up.
 */
bool nw_probe_wait(MPI_Request *request, double seconds);
double nw_probe_now(void);

/* This rank's part of a pair or a stream (worker.c). */
void nw_probe_work(struct nw_probe_self *self,
                   const struct nw_probe_command *command,
                   struct nw_probe_reply *reply);
/* Obeys rank 0 until it says quit or is gone. True where all ranks are there
 * to the end. */
bool nw_probe_obey(struct nw_probe_self *self);

/* Rank 0 (lead.c): measures within `seconds`, prints records. False where some
 * rank was lost. */
struct nw_probe_wish {
    double seconds;
    bool describe; /* places only, nothing is measured */
};
bool nw_probe_lead(struct nw_probe_self *self,
                   const struct nw_probe_wish *wish);

/* The state of rank 0 (coordinator.c sends the commands). */
struct nw_probe_coordinator {
    struct nw_probe_self *self;
    struct nw_probe *probe; /* what was printed, taken in again */
    int64_t number;
    double begin, seconds;
    double *offset; /* [ranks] how far their clocks are ahead of rank 0's */
    int lost_count;
};
struct nw_probe_task {
    int a, b; /* a begins, or sends */
    enum nw_probe_work work;
    enum nw_probe_memory memory;
    size_t chunk;
    double seconds;
    double start;                   /* by rank 0's clock; 0: at once */
    struct nw_probe_reply reply[2]; /* of a and b */
};

/* Prints a record and takes it in. */
void nw_probe_emit_record(struct nw_probe_coordinator *coordinator,
                          const char *format, ...) NW_PRINTF(2, 3);
void nw_probe_gather_places(struct nw_probe_coordinator *coordinator);
/* Has disjoint pairs work at the same time. False for a task that came to
 * nothing, in reply[].good; who does not answer is said to be lost. */
void nw_probe_run_wave(struct nw_probe_coordinator *coordinator,
                       struct nw_probe_task *task, size_t count);
/* Learns the clocks of all ranks, for streams that must begin together. */
void nw_probe_set_clocks(struct nw_probe_coordinator *coordinator);
void nw_probe_dismiss(struct nw_probe_coordinator *coordinator);
bool nw_probe_is_here(const struct nw_probe_coordinator *coordinator, int rank);

/* Finds the place of this rank (place.c); opens its GPU if there is one. */
void nw_probe_find_place(struct nw_probe_self *self, bool use_gpu,
                         struct nw_probe_place *place);

/* Starts a process that reports this rank's end on standard output, unless the
 * rank has called nw_probe_watch_end before. Call before MPI_Init; pass the
 * result to the other two functions. -1 if the process cannot be started. */
int nw_probe_watch(void);
void nw_probe_watch_rank(int to, int32_t rank);
void nw_probe_watch_end(int to);

#endif
