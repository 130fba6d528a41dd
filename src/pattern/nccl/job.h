/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collects the NCCL calls of all processes of a job from files and builds one
 * pattern. Ranks of communicators are matched to ranks of the job: a process by
 * its RANK, a GPU by its bus id, a communicator by the id that NCCL gives it.
 */
#ifndef NW_PATTERN_NCCL_JOB_H
#define NW_PATTERN_NCCL_JOB_H

#include "pattern/nccl/model.h"

#include <nodewise/pattern.h>

struct nw_nccl_job;

NW_MUST_CHECK nw_status nw_nccl_job_new(struct nw_nccl_job **out);
void nw_nccl_job_free(struct nw_nccl_job *job); /* NULL is allowed */

/* A process of the job. */
struct nw_nccl_process {
    const char *host; /* copied by the job */
    uint64_t pid;
    int32_t rank, world; /* -1: unknown */
    /* name of the process's file in messages; must exist until
     * nw_nccl_job_build returns */
    const char *file;
};
/* Stores the number of a process in *out. Adds the process unless the job has
 * one of the same host and pid. */
NW_MUST_CHECK nw_status
nw_nccl_job_process(struct nw_nccl_job *job,
                    const struct nw_nccl_process *process, int32_t *out);

/* One rank of a communicator. */
struct nw_nccl_member {
    uint64_t comm; /* id, the same on all ranks of the communicator */
    int32_t process, rank, size; /* size 0: unknown */
    int64_t device;              /* bus id as a number; -1: unknown */
};
/* Stores the number of a member, that is, of one rank of a communicator, in
 * *out. Adds the member unless the job has one of the same process,
 * communicator and rank. */
NW_MUST_CHECK nw_status nw_nccl_job_member(struct nw_nccl_job *job,
                                           const struct nw_nccl_member *member,
                                           size_t *out);

/* Adds calls of a member. */
NW_MUST_CHECK nw_status nw_nccl_job_call(struct nw_nccl_job *job, size_t member,
                                         const struct nw_nccl_call *call);

/* Counts calls of a function that the model does not know. */
void nw_nccl_job_skip(struct nw_nccl_job *job, uint64_t calls);

/* Counts a call that cannot be read, or whose communicator is unknown. */
void nw_nccl_job_lose(struct nw_nccl_job *job);

/* Stores NCCL's ring of one channel of a communicator. `take_order` has the
 * communicator's `size` ranks in the order of the ring. The job frees it, also
 * if this call fails. */
NW_MUST_CHECK nw_status nw_nccl_job_ring(struct nw_nccl_job *job, uint64_t comm,
                                         int32_t size, int32_t *take_order);

/* Builds the pattern. NW_EFORMAT if `path` has no communicator, or if its files
 * contradict each other or belong to several runs. `remedy` ends the error of a
 * missing communicator: "" or "; ...". */
NW_MUST_CHECK nw_status nw_nccl_job_build(struct nw_nccl_job *job,
                                          const char *path, const char *remedy,
                                          nw_pattern **out);

#endif
