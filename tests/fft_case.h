/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * One distributed transform to be tested, and what the documentation of fftnd.h promises for it.
 * Everything here is computed from the description alone, without a call of the libraries.
 */
#ifndef FFT_CASE_H
#define FFT_CASE_H

#include "fftnd.h"

#include <stdint.h>

/** Where an array that is handed to the library lies. */
enum fft_memory {
    FFT_MEMORY_HEAP,      /**< aligned memory of the C library; NULL when it has no elements */
    FFT_MEMORY_UNALIGNED, /**< one number behind an aligned address */
    FFT_MEMORY_SHARED,    /**< from redist_alloc */
    FFT_MEMORY_LOCAL      /**< from redist_alloc_local; on a device as FFT_MEMORY_SHARED */
};

enum { FFT_MOST_BLOCKS = 12 };

typedef struct fft_case {
    int ndims;
    int sizes[REDIST_MAX_NDIMS];
    enum fftnd_kind kind;
    enum fftnd_precision precision;
    int grid[REDIST_MAX_NDIMS];             /**< used when options.grid_ndims is not 0 */
    enum fftnd_r2r r2r[REDIST_MAX_NDIMS];   /**< used for FFTND_R2R */
    int has_order;                          /**< nonzero: `order` is used */
    int order[REDIST_MAX_NDIMS];            /**< the axis at each place of the chain */
    int drops_modes;                        /**< nonzero: `retained` is used */
    int retained[REDIST_MAX_NDIMS];         /**< modes along each axis */
    int drops_points;                       /**< nonzero: `filled` is used */
    int filled[REDIST_MAX_NDIMS];           /**< points along each axis of the physical side */
    enum fftnd_axis axes[REDIST_MAX_NDIMS]; /**< used for FFTND_MIXED */
    int has_memory_order[2];                /**< nonzero: `memory_order` is used, by side */
    int memory_order[2][REDIST_MAX_NDIMS];
    int padding[2][REDIST_MAX_NDIMS];
    int offset[2][REDIST_MAX_NDIMS]; /**< of the padding, before a rank's part */
    enum fftnd_blocks blocks[2];
    int has_bounds[2]; /**< nonzero: `bounds` are used, by side */
    redist_index bounds[2][REDIST_MAX_NDIMS][FFT_MOST_BLOCKS + 1];
    int has_split[2]; /**< nonzero: `split` is used, by side */
    int split[2][REDIST_MAX_NDIMS];
    int has_box[2]; /**< nonzero: a side is in boxes, which the seed decides */
    uint64_t box_seed;
    enum fft_memory memory[2]; /**< of the arrays of each side */
    enum fft_memory workspace; /**< used with options.user_workspace */
    fftnd_options
        options; /**< grid, r2r, order, retained_modes and filled are set by fft_case_plan */
} fft_case;

/** A double precision case on a grid of the library's choice, planned without measuring. */
fft_case fft_case_make(int ndims, const int sizes[], enum fftnd_kind kind);

/** The same with the extents written as further arguments. */
#define FFT_CASE(kind, ...)                                                                        \
    fft_case_make((int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)),                         \
                  (const int[]){__VA_ARGS__}, kind)

/** The precision, or double where FFTW has no library for it in this build. */
enum fftnd_precision fft_case_precision(enum fftnd_precision wanted);

/** Skips a test of a precision that FFTW lacks in this build. */
#define FFT_NEEDS(precision)                                                                       \
    do {                                                                                           \
        if (fft_case_precision(precision) != (precision))                                          \
            skip_test("this build has no FFTW in " #precision);                                    \
    } while (0)

/** Asks for a process grid. */
void fft_case_grid(fft_case *given, int grid_ndims, const int grid[]);

/** The same with the numbers of processes written as further arguments. */
#define FFT_GRID(given, ...)                                                                       \
    fft_case_grid(given, (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)),                  \
                  (const int[]){__VA_ARGS__})

/** The case in words; valid until the next call. */
const char *fft_case_text(const fft_case *given);

/** Calls fftnd_plan_create. */
int fft_case_plan(MPI_Comm comm, const fft_case *given, fftnd_plan **plan);

/** The other side. */
enum fftnd_side fft_case_opposite(enum fftnd_side side);

/** The halved axis, or -1 if there is none. */
int fft_case_halved_axis(const fft_case *given);

/** The real-to-real transform of an axis, or -1 if it has another one. */
int fft_case_r2r(const fft_case *given, int axis);

/** Sets the modes, or the points of the physical side, that each axis has. */
void fft_case_retain(fft_case *given, const int retained[]);
void fft_case_fill(fft_case *given, const int filled[]);

/** Modes that are retained along an axis. */
int fft_case_retained(const fft_case *given, int axis);

/** Points of the physical side along an axis. */
int fft_case_filled(const fft_case *given, int axis);

/** Nonzero if a second round trip changes nothing: the first one drops modes or points, not both. */
int fft_case_repeats(const fft_case *given);

/** Global extents of one side. */
void fft_case_sizes(const fft_case *given, enum fftnd_side side, int sizes[]);

/** The axis at each place of the chain: in the given order, else 0, 1 ... with the halved axis last. On
 * a device the library may choose, with the grid. */
void fft_case_chain(const fft_case *given, const fftnd_plan_info *info, int axes[]);

/** Numbers per element of one side: 2 for complex, 1 for real. */
int fft_case_components(const fft_case *given, enum fftnd_side side);

/** Bytes of one number. */
size_t fft_case_number_bytes(const fft_case *given);

/** The product of the logical sizes. */
long double fft_case_logical_size(const fft_case *given);

/** The factor that the transform from `side` to the other one applies. */
long double fft_case_scale(const fft_case *given, enum fftnd_side side);

/** How far results may be off, relative to the largest value of the result. */
double fft_case_tolerance(const fft_case *given);

/** A rank's part of the side after `nexchanges` exchanges on the grid. */
void fft_case_part(const fft_case *given, enum fftnd_side side, const fftnd_plan_info *info,
                   int rank, int nexchanges, int start[], int count[]);

/** Bytes of a rank's largest array in the whole chain, batch included. */
size_t fft_case_largest_bytes(const fft_case *given, const fftnd_plan_info *info, int rank);

#endif
