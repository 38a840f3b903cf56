/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of this library's own functions, with its precision: a program may be linked with the static libraries of
 * several. For all headers that declare such functions.
 */
#ifndef FFTND_FFTW_OWN_H
#define FFTND_FFTW_OWN_H

/* PREFIX is fftw, fftwf or fftwl. */
#define FFTND_FFTW_OWN_OF(prefix, name) fftnd_##prefix##__##name
#define FFTND_FFTW_OWN_IN(prefix, name) FFTND_FFTW_OWN_OF(prefix, name)
#define FFTND_FFTW_OWN(name)            FFTND_FFTW_OWN_IN(PREFIX, name)

#define fftnd_fftw__axis_array       FFTND_FFTW_OWN(axis_array)
#define fftnd_fftw__axis_create      FFTND_FFTW_OWN(axis_create)
#define fftnd_fftw__axis_destroy     FFTND_FFTW_OWN(axis_destroy)
#define fftnd_fftw__axis_elements    FFTND_FFTW_OWN(axis_elements)
#define fftnd_fftw__axis_move        FFTND_FFTW_OWN(axis_move)
#define fftnd_fftw__block            FFTND_FFTW_OWN(block)
#define fftnd_fftw__blocks_fit       FFTND_FFTW_OWN(blocks_fit)
#define fftnd_fftw__find             FFTND_FFTW_OWN(find)
#define fftnd_fftw__is_inside        FFTND_FFTW_OWN(is_inside)
#define fftnd_fftw__next             FFTND_FFTW_OWN(next)
#define fftnd_fftw__plan_copy        FFTND_FFTW_OWN(plan_copy)
#define fftnd_fftw__plan_create      FFTND_FFTW_OWN(plan_create)
#define fftnd_fftw__plan_destroy     FFTND_FFTW_OWN(plan_destroy)
#define fftnd_fftw__plan_execute     FFTND_FFTW_OWN(plan_execute)
#define fftnd_fftw__plan_init        FFTND_FFTW_OWN(plan_init)
#define fftnd_fftw__plan_of          FFTND_FFTW_OWN(plan_of)
#define fftnd_fftw__report_execution FFTND_FFTW_OWN(report_execution)
#define fftnd_fftw__report_passed    FFTND_FFTW_OWN(report_passed)
#define fftnd_fftw__report_plan      FFTND_FFTW_OWN(report_plan)
#define fftnd_fftw__transform_create FFTND_FFTW_OWN(transform_create)
#define fftnd_fftw__transpose_create FFTND_FFTW_OWN(transpose_create)

#endif
