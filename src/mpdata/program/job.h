/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One run of nodewise-mpdata: what was asked, how the grid is divided over the
 * ranks, and this rank's part. Functions that return nw_status here are
 * collective unless they say that they are local: a failure of one rank is one
 * of all, and one rank has said why on stderr.
 */
#ifndef NW_MPDATA_PROGRAM_JOB_H
#define NW_MPDATA_PROGRAM_JOB_H

#include <mpi.h>

#include "mpdata/cases.h"
#include "mpdata/solver.h"

#include <nodewise/halo_mpi.h>

struct nw_mp_settings {
    struct nw_mpdata_options options;
    const char *name;  /* of a built-in case */
    const char *input; /* NetCDF, instead */
    int64_t size[3];   /* 0: the case's */
    int64_t steps;     /* -1: the case's */
    double courant;    /* 0: the case's */
    bool bordered;     /* options.border was given */
    const char *output, *vtk;
    bool fields; /* u1, u2, u3 and h into the output too */
    const char *checkpoint, *restart;
    int64_t every; /* steps from checkpoint to checkpoint; 0: none */
    const char *arrange;
    bool slowest;                      /* arranged by the slowest rank */
    const char *bandwidths, *topology; /* a file; a SOURCE */
    const char *speeds;
    int32_t shape[2]; /* rows, columns of ranks; 0: chosen */
    bool blocking;    /* nothing is computed during an exchange */
    bool quiet, json;
    bool bar;    /* progress even if stderr is not a terminal */
    bool silent; /* no progress even if stderr is a terminal */
};

/* The division: row i of ranks has planes row_low[i] to row_low[i + 1]. */
struct nw_mp_grid {
    MPI_Comm comm; /* Cartesian, after the arrangement */
    int rank, size;
    int32_t part[2], parts[2]; /* row and column, of how many */
    int64_t n[3];
    int64_t *low[2]; /* [parts + 1] */
    int64_t first[3], own[3];
    int low_rank[2], high_rank[2]; /* neighbours, MPI_PROC_NULL at a border */
    double *speed;                 /* of each rank of the world; NULL: equal */
    char words[160];               /* about the arrangement, for people */
};

struct nw_mp_job {
    const struct nw_mp_settings *settings;
    struct nw_mp_grid grid;
    struct nw_mpdata_case made;
    struct nw_mpdata_options options; /* of this rank's solver */
    nw_mpdata *solver;
    nw_halo *halo; /* NULL where nothing is divided */
    int32_t now;   /* which of the two arrays holds x */
    int64_t step;  /* done */
    uint64_t fingerprint;
};

/* options.c; local: exits on --help and on usage errors. */
void nw_mp_parse(int argc, char **argv, struct nw_mp_settings *out);

/* begin.c: everything up to the first step, of all ranks of MPI_COMM_WORLD; the
 * settings get the case's borders and the threads, and outlive the job. */
nw_status nw_mp_begin(struct nw_mp_job *job, struct nw_mp_settings *settings);
/* Also of one whose beginning failed. */
void nw_mp_end(struct nw_mp_job *job);

/* agree.c. One of the ranks that failed says what its nw_error_text has. */
nw_status nw_mp_agree(MPI_Comm comm, nw_status status);
int nw_mp_exit_code(nw_status status);

/* arrange.c: the shape, the communicator and the speeds, from the settings. */
nw_status nw_mp_arrange(const struct nw_mp_settings *settings,
                        struct nw_mp_grid *grid);
/* divide.c: the cells of each rank. */
nw_status nw_mp_divide(struct nw_mp_grid *grid,
                       const struct nw_mpdata_options *options);
void nw_mp_grid_free(struct nw_mp_grid *grid);
/* Local. parts + 1 borders of n cells, shares of 1 as `weight` has them, at
 * least `least` cells each. */
void nw_mp_shares(int64_t n, int32_t parts, const double *weight, int64_t least,
                  int64_t *low);

/* load.c: the case or the file into the solver, ghosts of u and h included. */
nw_status nw_mp_size(struct nw_mp_job *job);
nw_status nw_mp_load(struct nw_mp_job *job);
/* Local. The part of a field's array that this rank has to write: its cells
 * and the faces above them, at the low side of the grid those below too. */
void nw_mp_part(const struct nw_mp_job *job, enum nw_mpdata_field field,
                int64_t first[3], int64_t extent[3]);
/* Local. Copies that part out of the solver. */
void nw_mp_take(const struct nw_mp_job *job, enum nw_mpdata_field field,
                double *out);

/* Local. The step that the run ends with. */
int64_t nw_mp_last(const struct nw_mp_job *job);

/* march.c */
nw_status nw_mp_plan(struct nw_mp_job *job);
nw_status nw_mp_step(struct nw_mp_job *job);

/* gather.c: every rank's part in turn to a function of rank 0. */
typedef nw_status nw_mp_sink(void *context, const int64_t first[3],
                             const int64_t extent[3], const double *values);
nw_status nw_mp_gather(const struct nw_mp_job *job, enum nw_mpdata_field field,
                       nw_mp_sink *sink, void *context);
/* Sum of h x in more digits than a double has, and extrema, the same for any
 * division. */
struct nw_mpdata_summary nw_mp_sum(const struct nw_mp_job *job);
/* The same for any division, of all bits of a field. */
uint64_t nw_mp_hash(const struct nw_mp_job *job, enum nw_mpdata_field field);

/* classic.c. Local. NW_EFORMAT where a file of NetCDF's classic formats ends
 * before its variables do. */
nw_status nw_mp_classic_check(const char *path);

/* netcdf.c. Reading is local. */
nw_status nw_mp_netcdf_size(const char *path, int64_t size[3]);
nw_status nw_mp_netcdf_read(const char *path, enum nw_mpdata_field field,
                            const int64_t size[3], const int64_t first[3],
                            const int64_t extent[3], double *values);
nw_status nw_mp_netcdf_write(const struct nw_mp_job *job);
extern const char *const nw_mp_field_name[NW_MPDATA_FIELD_COUNT];

/* tell.c: what stdout gets, from rank 0. Local. */
struct nw_mp_result {
    int64_t first; /* step, after a restart */
    double seconds;
    struct nw_mpdata_summary sums[2]; /* before, after */
    bool stopped;
};
void nw_mp_tell_start(const struct nw_mp_job *job);
void nw_mp_tell_end(const struct nw_mp_job *job,
                    const struct nw_mp_result *result);

/* The first removes those of killed processes: files of this user, without a
 * lock, and beginning with `magic`. */
void nw_mp_sweep_beside(const char *target, const char *magic);
int nw_mp_hold_beside(const char *temporary);
/* Gives the file `held` its final mode and name. The mode goes by the
 * descriptor, since another user may have put a link in place of the name. */
bool nw_mp_name_beside(int held, const char *temporary, const char *target);

/* store.c */
nw_status nw_mp_vtk_write(const struct nw_mp_job *job);
/* Where checkpoints go, asked for or not. */
const char *nw_mp_checkpoint_path(const struct nw_mp_settings *s);
nw_status nw_mp_checkpoint_write(const struct nw_mp_job *job, const char *path);
nw_status nw_mp_checkpoint_read(struct nw_mp_job *job);

#endif
