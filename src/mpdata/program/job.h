/* SPDX-License-Identifier: BSD-3-Clause */
/* One run of nodewise-mpdata: the settings, the division of the grid over the
 * ranks, and this rank's part. Functions that return nw_status are collective
 * unless their comment says "Local". If one rank fails, all ranks return the
 * failure, and one rank has printed the reason to stderr. nw_mp_step and
 * nw_mp_gather are exceptions: a rank returns only its own failure. */
#ifndef NW_MPDATA_PROGRAM_JOB_H
#define NW_MPDATA_PROGRAM_JOB_H

#include <mpi.h>

#include "mpdata/cases.h"
#include "mpdata/solver.h"

#include <nodewise/halo_mpi.h>

/* The command line. Members that are 0 or NULL were not given, unless the
 * comment says otherwise. */
struct nw_mp_settings {
    struct nw_mpdata_options options;
    const char *name;  /* built-in case; or NULL */
    const char *input; /* NetCDF file; or NULL */
    int64_t size[3];   /* 0: the default of the case */
    int64_t steps;     /* -1: the default of the case */
    double courant;    /* Courant number; 0: the default of the case */
    bool bordered;     /* options.border is from the command line */
    const char *output, *vtk;
    bool fields; /* write u1, u2, u3 and h to the output, too */
    const char *checkpoint, *restart;
    int64_t every; /* steps between checkpoints; 0: no checkpoint */
    const char *arrange;
    bool slowest; /* --arrange minimises the cost of the slowest rank instead
                     of the sum */
    const char *bandwidths, *topology; /* file of --bandwidths; SOURCE of -t */
    const char *speeds;
    int32_t shape[2]; /* rows and columns of ranks; 0: automatic */
    bool blocking;    /* wait for an exchange instead of computing during it */
    bool quiet, json;
    bool bar;    /* show progress even if stderr is not a terminal */
    bool silent; /* show no progress even if stderr is a terminal */
};

/* The division of the grid into rows and columns of parts. The ranks of row i
 * have the planes from low[0][i] to low[0][i + 1] - 1; the ranks of column i
 * have the rows of cells from low[1][i] to low[1][i + 1] - 1. */
struct nw_mp_grid {
    MPI_Comm comm; /* Cartesian communicator of all ranks, reordered */
    int rank, size;
    int32_t part[2], parts[2]; /* row and column of this rank; numbers of rows
                                  and columns of ranks */
    int64_t n[3];
    int64_t *low[2];          /* [parts[axis] + 1] index of the first plane
                                 (axis 0) or row (axis 1) of each part */
    int64_t first[3], own[3]; /* this rank's first cell and number of cells */
    int low_rank[2], high_rank[2]; /* neighbours; MPI_PROC_NULL at a border */
    double *speed;                 /* [size] speed of each rank; NULL: all
                                      equal */
    char words[160]; /* description of the arrangement for users; empty without
                        one */
};

struct nw_mp_job {
    const struct nw_mp_settings *settings;
    struct nw_mp_grid grid;
    struct nw_mpdata_case made;
    struct nw_mpdata_options options; /* options of this rank's solver */
    nw_mpdata *solver;
    nw_halo *halo; /* NULL if no axis is divided */
    int32_t now;   /* index of the array (0 or 1) that holds x, for the
                      exchange */
    /* number of the last computed step, including those before a restart */
    int64_t step;
    uint64_t fingerprint; /* hash of velocities and h, to check a restart */
};

/* options.c. Local. Parses the command line. Ends the program after --help or
 * wrong usage. */
void nw_mp_parse(int argc, char **argv, struct nw_mp_settings *out);

/* job.c. Loads the inputs and prepares the first step; all ranks of
 * MPI_COMM_WORLD call it. Sets the case's borders and the number of threads in
 * `settings`, which must outlive the job. */
nw_status nw_mp_begin(struct nw_mp_job *job, struct nw_mp_settings *settings);
/* Frees the job. Call it after a failure of nw_mp_begin, too. */
void nw_mp_end(struct nw_mp_job *job);

/* agree.c. If any rank failed, returns a failure on all ranks of `comm`; one of
 * the failed ranks prints its nw_error_text. */
nw_status nw_mp_agree(MPI_Comm comm, nw_status status);
int nw_mp_exit_code(nw_status status);

/* arrange.c. Sets shape, communicator and speeds of the grid. */
nw_status nw_mp_arrange(const struct nw_mp_settings *settings,
                        struct nw_mp_grid *grid);
/* divide.c. Computes which cells each rank has. */
nw_status nw_mp_divide(struct nw_mp_grid *grid,
                       const struct nw_mpdata_options *options);
void nw_mp_grid_free(struct nw_mp_grid *grid);

/* load.c. nw_mp_size finds the case and sets the size of the grid. nw_mp_load
 * creates the solver, loads the built-in case or the input file into it, fills
 * the ghosts of velocities and of h (a field of mpdata.h), and checks that the
 * flow is stable. */
nw_status nw_mp_size(struct nw_mp_job *job);
nw_status nw_mp_load(struct nw_mp_job *job);

/* Local. Returns the number of the last step of the run. */
int64_t nw_mp_last(const struct nw_mp_job *job);

/* time_steps.c. nw_mp_plan plans the exchange of x with the neighbours;
 * nw_mp_step computes one step, with its exchange. */
nw_status nw_mp_plan(struct nw_mp_job *job);
nw_status nw_mp_step(struct nw_mp_job *job);

/* gather.c. Rank 0 calls `sink` for each rank's part of a field, one rank after
 * the other; a large part may come in several pieces of whole planes. A part
 * contains the cells or faces that its rank writes. first[] and extent[]
 * describe the part or piece, values[] are its cells or faces, valid during the
 * call. Other ranks return NW_OK. */
typedef nw_status nw_mp_sink(void *context, const int64_t first[3],
                             const int64_t extent[3], const double *values);
nw_status nw_mp_gather(const struct nw_mp_job *job, enum nw_mpdata_field field,
                       nw_mp_sink *sink, void *context);
/* Computes minimum and maximum of x and the sum of h x over all ranks, which
 * all call it. The sum is computed with about twice the digits of a double, so
 * that the division of the grid hardly ever changes it. */
struct nw_mpdata_summary nw_mp_sum(const struct nw_mp_job *job);
/* Returns a hash of all bits of a field, which does not depend on the division
 * of the grid. All ranks call it. */
uint64_t nw_mp_hash(const struct nw_mp_job *job, enum nw_mpdata_field field);

/* classic.c. Local. Returns NW_EFORMAT if a file of NetCDF's classic formats is
 * shorter than its header says or has a damaged header, and NW_EIO if the file
 * cannot be opened. Returns NW_OK for files of other formats. */
nw_status nw_mp_classic_check(const char *path);

/* netcdf.c. The functions that read are local; writing is collective. */
nw_status nw_mp_netcdf_size(const char *path, int64_t size[3]);
nw_status nw_mp_netcdf_read(const char *path, enum nw_mpdata_field field,
                            const int64_t size[3], const int64_t first[3],
                            const int64_t extent[3], double *values);
nw_status nw_mp_netcdf_write(const struct nw_mp_job *job);

/* output.c. Local. Rank 0 prints the report of the run on stdout:
 * nw_mp_tell_start, unless --quiet or --json is given, what the run will do;
 * nw_mp_tell_end, unless --quiet is given without --json, the result. */
struct nw_mp_result {
    /* step from which this run starts: 0, or that of the checkpoint */
    int64_t first;
    double seconds;
    struct nw_mpdata_summary sums[2]; /* before and after the run */
    bool stopped;
};
void nw_mp_tell_start(const struct nw_mp_job *job);
void nw_mp_tell_end(const struct nw_mp_job *job,
                    const struct nw_mp_result *result);

/* temporary_file.c. nw_mp_sweep_beside removes temporary files of killed
 * processes: files of this user with names TARGET.NUMBER.new whose contents
 * begin with `magic` and that are not locked. */
void nw_mp_sweep_beside(const char *target, const char *magic);
/* Creates a temporary file and locks it. Returns the descriptor, or -1 with
 * errno. */
int nw_mp_create_beside(const char *temporary);
/* Renames the file `temporary`, which is open as `held`, to `target` and sets
 * its final mode. Returns false, with errno, on failure. The mode is set by
 * fchmod, since another user may have replaced the name by a link. */
bool nw_mp_name_beside(int held, const char *temporary, const char *target);

/* store.c. Writes x to the file of --vtk. */
nw_status nw_mp_vtk_write(const struct nw_mp_job *job);
/* Returns the file name of checkpoints, even if none was requested. */
const char *nw_mp_checkpoint_path(const struct nw_mp_settings *s);
nw_status nw_mp_checkpoint_write(const struct nw_mp_job *job, const char *path);
nw_status nw_mp_checkpoint_read(struct nw_mp_job *job);

#endif
