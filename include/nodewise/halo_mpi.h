/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Halo exchanges: the calls that need MPI, in libnodewise-openmpi and
 * libnodewise-mpich. This header includes mpi.h itself, so its place among the
 * includes of a program does not matter.
 */
#ifndef NODEWISE_HALO_MPI_H
#define NODEWISE_HALO_MPI_H

#ifndef MPI_VERSION
#include <mpi.h>
#endif

#include <nodewise/halo.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nw_halo nw_halo;

/* Plans an exchange. All ranks must pass the same domain, radii, borders,
 * quantities and methods; otherwise each rank gets NW_EINVAL and a sentence
 * that names the difference. A failure on one rank is returned on all ranks.
 * `comm` is duplicated. `options` is borrowed for the call; the caller's arrays
 * are borrowed until nw_halo_free. The caller frees *out with nw_halo_free.
 * Collective over comm. */
NW_MPI_API NW_MUST_CHECK nw_status nw_halo_plan(
    MPI_Comm comm, const struct nw_halo_options *options, nw_halo **out);
/* nw_halo_plan for Fortran. `comm` is a communicator as a Fortran integer. Its
 * type is not MPI_Fint, because the header of MPI's standard ABI does not
 * define that name. Collective over comm. */
NW_MPI_API NW_MUST_CHECK nw_status nw_halo_plan_fortran(
    int comm, const struct nw_halo_options *options, nw_halo **out);
/* Frees a halo after its running exchange has ended. NULL is allowed.
 * Collective over comm. */
NW_MPI_API void nw_halo_free(nw_halo *halo);

/* This rank's pieces, in the order of `base`, and the base pointer and pitch
 * (bytes) of their arrays. Borrowed. Local. */
NW_MPI_API int32_t nw_halo_piece_count(const nw_halo *halo);
NW_MPI_API const struct nw_halo_piece *nw_halo_piece_of(const nw_halo *halo,
                                                        int32_t piece);
#ifndef __cplusplus /* the name is also that of a struct */
NW_MPI_API const struct nw_halo_piece *nw_halo_piece(const nw_halo *halo,
                                                     int32_t piece);
#endif
NW_MPI_API void *nw_halo_base(const nw_halo *halo, int32_t piece,
                              int32_t quantity);
NW_MPI_API size_t nw_halo_pitch(const nw_halo *halo, int32_t piece,
                                int32_t quantity);

/* The interior: cells whose stencil contains no ghost cell, so that they can be
 * computed during an exchange. The shell: at most six disjoint boxes around the
 * interior; returns their count. Boxes are in local indexes, 0 being the first
 * allocated cell. Local. */
NW_MPI_API struct nw_halo_box nw_halo_interior(const nw_halo *halo,
                                               int32_t piece);
NW_MPI_API int32_t nw_halo_shell(const nw_halo *halo, int32_t piece,
                                 struct nw_halo_box out[6]);

/* Starts to fill ghost cells. Until the exchange is done, do not change own
 * cells next to a border and do not read ghost cells. `subset` lists `count`
 * quantities, the same on all ranks; NULL means all. NW_EINVAL: an exchange is
 * already running. This call allocates no memory. Collective: all ranks call it
 * in the same order, but it does not wait for them. */
NW_MPI_API NW_MUST_CHECK nw_status nw_halo_start(nw_halo *halo,
                                                 const int32_t *subset,
                                                 int32_t count);
/* Continues the exchange. *done becomes true when this rank's ghost cells are
 * filled and its own cells may change; it is also true if no exchange runs.
 * nw_halo_wait continues the exchange until then. After an error, such as
 * NW_EMPI if a peer is lost, the halo can only be freed. */
NW_MPI_API NW_MUST_CHECK nw_status nw_halo_test(nw_halo *halo, bool *done);
NW_MPI_API NW_MUST_CHECK nw_status nw_halo_wait(nw_halo *halo);

/* The layout, and one line with the methods and their bytes, such as "phases:
 * self 12 kB, direct 40 kB". Borrowed. Local. */
NW_MPI_API const nw_halo_layout *nw_halo_layout_of(const nw_halo *halo);
NW_MPI_API const char *nw_halo_words(const nw_halo *halo);

#ifdef __cplusplus
}
#endif
#endif
