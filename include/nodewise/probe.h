/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of `nodewise probe`: latency and bandwidth between the ranks of a
 * job, and the machine that these figures describe. An MPI program, one for
 * each MPI flavour, takes the measurements; its rank 0 prints records during
 * the run. These calls collect the records, so that a job that fails still
 * leaves its measurements. All calls are local.
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

/* Number of message size classes. Each class has its own LogGP parameters. */
#define NW_PROBE_CLASSES 4
/* The message size in bytes of a class, 0 to NW_PROBE_CLASSES - 1. */
NW_API size_t nw_probe_class_bytes(int index);

/* Creates an empty collection of records. The caller frees *out with
 * nw_probe_free. */
NW_API NW_MUST_CHECK nw_status nw_probe_new(nw_probe **out);
NW_API void nw_probe_free(nw_probe *probe); /* NULL is fine */

/* Reads one line that the program printed. *taken is false if the line is not a
 * probe record. NW_EFORMAT: the record is damaged. */
NW_API NW_MUST_CHECK nw_status nw_probe_take_line(nw_probe *probe,
                                                  const char *line,
                                                  bool *taken);

/* Progress of the measurement: `done` of `total` parts. `what` is borrowed. */
struct nw_probe_stage {
    uint64_t done, total;
    const char *what;
};
NW_API struct nw_probe_stage nw_probe_stage_of(const nw_probe *probe);
#ifndef __cplusplus /* the name is also that of a struct */
NW_API struct nw_probe_stage nw_probe_stage(const nw_probe *probe);
#endif
/* True when rank 0 has reported the end of the measurement. */
NW_API bool nw_probe_is_done(const nw_probe *probe);
/* True if rank 0, which controls the measurement, has died or stopped. No more
 * records will come. */
NW_API bool nw_probe_is_headless(const nw_probe *probe);
NW_API int32_t nw_probe_rank_count(const nw_probe *probe);
NW_API int32_t nw_probe_host_count(const nw_probe *probe);

/* The calls below use the records that have arrived so far. NW_EFORMAT: the
 * list of ranks and their hosts is incomplete. The caller frees *out with
 * free(). */

/* The machine as a cluster file with measured links. */
NW_API NW_MUST_CHECK nw_status nw_probe_cluster(const nw_probe *probe,
                                                char **out);
/* A matrix of ranks by ranks for the source "matrix:FILE". Each entry is the
 * time in microseconds until a message of 1 MiB has arrived. */
NW_API NW_MUST_CHECK nw_status nw_probe_matrix(const nw_probe *probe,
                                               char **out);
/* A text for people: groups and their figures, contention, lost or slow ranks.
 */
NW_API NW_MUST_CHECK nw_status nw_probe_summary(const nw_probe *probe,
                                                char **out);
/* JSON with the schema nodewise.probe/1. */
NW_API NW_MUST_CHECK nw_status nw_probe_json(const nw_probe *probe, char **out);
/* One line for each lost or slow rank, and one if no link was measured between
 * several ranks; NULL if no line applies. */
NW_API NW_MUST_CHECK nw_status nw_probe_troubles(const nw_probe *probe,
                                                 char **out);

#ifdef __cplusplus
}
#endif
#endif
