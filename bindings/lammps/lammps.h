/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions by which LAMMPS, as a shared library, transforms and remaps its grids, and what their files share.
 *
 * Grids have the indices i (fast), j (mid) and k (slow), which are the axes 2, 1 and 0 here; bounds are inclusive, and
 * in these indices on both sides, whatever the order in memory. The functions return no errors: a failure ends the
 * program with a message.
 */
#ifndef FFTND_LAMMPS_H
#define FFTND_LAMMPS_H

#include "fftnd.h"
#include "redist.h"

enum { FFTND_LAMMPS_AXES = 3 };

struct fft_plan_3d;
struct remap_plan_3d;

/* C++ encodes the types of arguments in the names of functions, and MPI libraries have different types. */
#ifdef OPEN_MPI
#define FFTND_LAMMPS_COMM "P19ompi_communicator_t"
#else
#define FFTND_LAMMPS_COMM "i"
#endif
#define FFTND_LAMMPS_CREATE "_Z20remap_3d_create_plan" FFTND_LAMMPS_COMM "iiiiiiiiiiiiiiiii"
#define FFTND_LAMMPS_DOUBLE "_Z8remap_3dPdS_S_P13remap_plan_3d"
#define FFTND_LAMMPS_FLOAT  "_Z8remap_3dPfS_S_P13remap_plan_3d"

/* ---------------------------------------------------------------- LAMMPS's functions */

/*
 * Makes a plan of three-dimensional complex transforms; the libraries' plans are made at the first transform of each
 * sign. Numbers are float if the caller's library has the remap_3d of floats, else double. Ends the program if that is
 * a LAMMPS without plugins, from before 10 Mar 2021: until about January 2021 its signs were the opposite ones.
 *   in_*, out_*    bounds of this rank's box of the input and the output; the boxes of all ranks cover the grid once
 *   scaled         nonzero: transforms of sign +1 divide by the number of points
 *   permute        0..2: how often the output's axes in memory are rotated, so that mid, then slow becomes fast
 *   nbuf           out: complex numbers of the copy that transforms in place need; may be NULL
 *   usecollective  ignored, as the planner chooses
 * Collective on comm.
 */
REDIST_API struct fft_plan_3d *fft_3d_create_plan(MPI_Comm comm, int nfast, int nmid, int nslow,
                                                  int in_ilo, int in_ihi, int in_jlo, int in_jhi,
                                                  int in_klo, int in_khi, int out_ilo, int out_ihi,
                                                  int out_jlo, int out_jhi, int out_klo,
                                                  int out_khi, int scaled, int permute, int *nbuf,
                                                  int usecollective);

/* Transforms `in` to `out`, which may be the same array, with the sign -1 (flag 1) or +1 (flag -1). Both lead from the
 * input's boxes to the output's. Collective on the plan's communicator. */
REDIST_API void fft_3d(void *in, void *out, int flag, struct fft_plan_3d *plan);

/* Transforms lines along each of the axes without exchanges, to time them: as many elements of `data` as the input's
 * box has, taken for contiguous lines of each axis; nothing if nsize is less. Not collective. */
REDIST_API void fft_1d_only(void *data, int nsize, int flag, struct fft_plan_3d *plan);

/* SPARTA's name of fft_1d_only. */
REDIST_API void fft_3d_1d_only(void *data, int nsize, int flag, struct fft_plan_3d *plan);

/* Frees a plan; NULL is none. Collective on the plan's communicator. */
REDIST_API void fft_3d_destroy_plan(struct fft_plan_3d *plan);

/*
 * Makes a plan that moves a grid from the input's boxes to the output's; libredist's is made at the first execution.
 *   in_*, out_*    bounds of this rank's boxes, in a grid of any origin; those of the output may overlap
 *   nqty           numbers of each point, side by side
 *   permute        as of fft_3d_create_plan
 *   memory, precision, usecollective  ignored: the plan has its own buffer, and the function says the precision
 * Collective on comm.
 */
REDIST_API struct remap_plan_3d *
remap_3d_create_plan(MPI_Comm comm, int in_ilo, int in_ihi, int in_jlo, int in_jhi, int in_klo,
                     int in_khi, int out_ilo, int out_ihi, int out_jlo, int out_jhi, int out_klo,
                     int out_khi, int nqty, int permute, int memory, int precision,
                     int usecollective) __asm__(FFTND_LAMMPS_CREATE);

/* Moves `in` to `out`, which may be the same array; `buffer` is ignored. Points of the output that no rank's input has
 * are unchanged. Collective on the plan's communicator. */
REDIST_API void remap_3d_double(double *in, double *out, double *buffer,
                                struct remap_plan_3d *plan) __asm__(FFTND_LAMMPS_DOUBLE);
REDIST_API void remap_3d_float(float *in, float *out, float *buffer,
                               struct remap_plan_3d *plan) __asm__(FFTND_LAMMPS_FLOAT);

/* Frees a plan; NULL is none. Collective on the plan's communicator. */
REDIST_API void remap_3d_destroy_plan(struct remap_plan_3d *plan) __asm__(
    "_Z21remap_3d_destroy_planP13remap_plan_3d");

/* ---------------------------------------------------------------- what both kinds of plans share */

/* Returns the axes of an output in memory, from the slowest; ends the program unless permute is 0..2. */
const int *fftnd_lammps__order(MPI_Comm comm, const char *function, int permute);

/* Returns the box of these bounds: ilo, ihi, jlo, jhi, klo, khi; an empty one has no start. */
redist_box fftnd_lammps__box(const int bounds[2 * FFTND_LAMMPS_AXES]);

redist_index fftnd_lammps__volume(const redist_box *box);

/* Returns the effort of rank 0's FFTND_LAMMPS_EFFORT, or FFTND_MEASURE; ends the
 * program if it has another value. Collective on comm. */
enum fftnd_effort fftnd_lammps__effort(MPI_Comm comm);

/* Ends the program with a message of this rank. */
void fftnd_lammps__refuse(MPI_Comm comm, const char *function, const char *format, ...)
    REDIST_PRINTF(3, 4);

/* Ends the program if a call of the libraries has failed. */
void fftnd_lammps__insist(MPI_Comm comm, const char *function, int code);

/* Prints a line of rank 0, if FFTND_LAMMPS_REPORT is set. */
void fftnd_lammps__report(MPI_Comm comm, const char *format, ...) REDIST_PRINTF(2, 3);

#endif
