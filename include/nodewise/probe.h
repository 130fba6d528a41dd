/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `nodewise probe` has measured: latency and bandwidth between the ranks
 * of a job, and the machine that these figures describe. The measuring itself
 * is done by an MPI program, one for each flavour, whose rank 0 prints records
 * as they come; here they are collected, so that a job that came to a bad end
 * still leaves what it had measured.
 */
#ifndef NODEWISE_PROBE_H
#define NODEWISE_PROBE_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nw_probe nw_probe;

/* The size classes: each has LogGP parameters of its own. */
#define NW_PROBE_CLASSES 4
NW_API size_t nw_probe_class_bytes(int index);

/* The caller frees *out. */
NW_API NW_MUST_CHECK nw_status nw_probe_new(nw_probe **out);
NW_API void nw_probe_free(nw_probe *probe); /* NULL is fine */

/* Takes one line of what the program printed. *taken is false for a line that
 * is no record of ours. NW_EFORMAT where a record is damaged. */
NW_API NW_MUST_CHECK nw_status nw_probe_take_line(nw_probe *probe,
                                                  const char *line,
                                                  bool *taken);

/* Where the measuring is: parts done, of how many; `what` is borrowed. */
struct nw_probe_stage {
    uint64_t done, total;
    const char *what;
};
NW_API struct nw_probe_stage nw_probe_stage(const nw_probe *probe);
/* True once rank 0 has said that all is measured. */
NW_API bool nw_probe_is_done(const nw_probe *probe);
/* Rank 0, which leads, was told dead or stopped: no more will come. */
NW_API bool nw_probe_is_headless(const nw_probe *probe);
NW_API int32_t nw_probe_rank_count(const nw_probe *probe);
NW_API int32_t nw_probe_host_count(const nw_probe *probe);

/* Everything below reads what has come so far; NW_EFORMAT where that is not
 * even the ranks and their hosts. The caller frees *out. */

/* The machine as a cluster file with measured links. */
NW_API NW_MUST_CHECK nw_status nw_probe_cluster(const nw_probe *probe,
                                                char **out);
/* Ranks by ranks: microseconds until a message of 1 MiB has arrived, as
 * `matrix:` reads it. */
NW_API NW_MUST_CHECK nw_status nw_probe_matrix(const nw_probe *probe,
                                               char **out);
/* For people: groups, their figures, contention, ranks lost or slow. */
NW_API NW_MUST_CHECK nw_status nw_probe_summary(const nw_probe *probe,
                                                char **out);
/* Schema nodewise.probe/1. */
NW_API NW_MUST_CHECK nw_status nw_probe_json(const nw_probe *probe, char **out);
/* One line for each rank that was lost or is slow; NULL where all are well. */
NW_API NW_MUST_CHECK nw_status nw_probe_troubles(const nw_probe *probe,
                                                 char **out);

#ifdef __cplusplus
}
#endif
#endif
