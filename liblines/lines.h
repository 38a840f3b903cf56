/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serial transforms along the axes of strided arrays, on one processor or one device, without MPI.
 *
 * A problem says what is to be transformed: precision, kind, axes and loops with their strides, direction, and what may
 * be overwritten. A serial library makes plans of problems and executes them; it is a const table in a file, and a name
 * in liblines/meson.build. lines__choose finds the one for a problem. What a library may be able to do besides is a
 * member of its table that others leave NULL: to truncate, to store results elsewhere, to apply an operator between a
 * transform and the one back.
 */
#ifndef LINES_H
#define LINES_H

#include "fftnd_kinds.h"
#include "modes.h"
#include "redist_process.h"

#include <time.h>

/* One loop of a transform: its length and the strides of both arrays, in elements of each. */
struct lines__loop {
    redist_index n;
    ptrdiff_t in, out;
};

/* Threads that do one piece of work together. */
struct lines__threads {
    int count;
    /* Calls work(data, i) in thread i, for all of them, and waits. On failure: code and message of the first one that
     * failed. `work` must not call it. */
    int (*run)(const struct lines__threads *threads, int (*work)(void *data, int thread),
               void *data);
};

/* What processes remember, of this run and of earlier ones: texts by their keys. As redist_wisdom_find and
 * redist_wisdom_store. */
struct lines__wisdom {
    int (*find)(const struct lines__wisdom *wisdom, const char *key, size_t bytes, char text[]);
    int (*store)(const struct lines__wisdom *wisdom, const char *key, const char *text);
};

struct lines__operation;
struct lines__r2r_lines;
struct lines__library;

/* Transforms over some axes of a local array, repeated over the others. For real-to-complex and
 * complex-to-real the last transformed axis is halved, and its n is that of the real side. */
struct lines__problem {
    enum fftnd_kind kind; /* of this step: the c2c steps of an r2c chain are FFTND_C2C */
    enum fftnd_precision precision;
    int direction; /* REDIST_FORWARD or REDIST_BACKWARD */
    enum fftnd_effort effort;
    double seconds; /* to plan in, about */
    int keep_input; /* an out-of-place complex-to-real step must not use its input as scratch */
    /* that execute it together, and outlive the plan; NULL = any thread alone, several at once */
    const struct lines__threads *threads;
    int naxes; /* 0 = copy */
    struct lines__loop axes[REDIST_MAX_NDIMS];
    enum fftnd_r2r r2r[REDIST_MAX_NDIMS]; /* FFTND_R2R: of each axis, in this direction */
    struct lines__retained
        retained[REDIST_MAX_NDIMS]; /* of each axis the modes that the array has; .modes 0 = all */
    int nloops;
    struct lines__loop loops[REDIST_MAX_NDIMS];
    void *stream; /* of the user, where work runs in streams */
    const struct lines__library
        *library; /* of the space, where another one gives it work (r2r.c) */
};

enum { LINES__MOST_TARGETS = 8 };

/* Elements of the transformed axis, from the end of the part before to `end` - 1, and where they go: strides in complex
 * elements, of the axis and of the problem's loops. */
struct lines__target {
    redist_index end;
    char *memory; /* of the first of them in the first line */
    ptrdiff_t axis, loops[REDIST_MAX_NDIMS];
};

/* Transforms along one axis whose results are stored in parts, such as the arrays of peers: two functions more. */
struct lines__stores {
    /* Plans a complex problem of one axis; strides of its output are not used. `is_near`: all parts are in memory of
     * this rank. *plan is NULL where it cannot be done. Not collective. As `create` of struct lines__library. */
    int (*create)(const struct lines__problem *problem, int is_near, void **plan);

    /* Begins to transform in a stream, into at most LINES__MOST_TARGETS. `in` may be one of the parts if they lie as it
     * does. As its `execute`. */
    int (*execute)(void *plan, const void *in, int nparts, const struct lines__target parts[],
                   void *stream);

    void (*destroy)(void *plan);
};

/* Transforms along one axis, an operator on the modes, and transforms back, in one pass over memory. */
struct lines__round_trips {
    /* Plans a complex problem of one axis, whose output is where the transforms back put their results. *plan is NULL
     * where it cannot be done, or is not faster. As `create` of struct lines__library. */
    int (*create)(const struct lines__problem *problem, void **plan);

    /* Begins it in a stream. Of the operation, one that multiplies a field, `axis` is the transformed axis, the others
     * are the problem's loops in their order; it says nothing of where modes are. As its `execute`. */
    int (*execute)(void *plan, const void *in, void *out, const struct lines__operation *operation,
                   int axis, void *stream);

    void (*destroy)(void *plan);
};

struct lines__library {
    const char *name;
    enum redist_space space; /* of the arrays */
    int shares_columns;      /* short lines may be left to loops of this project's own */

    /* Whether a problem, from array `in` to `out`, is for this library rather than for problem->library, as far as it
     * knows or has measured. NULL = it transforms whatever others do not. */
    int (*is_suited)(const struct lines__problem *problem, const void *in, const void *out);

    /* Why it makes no plan in a precision, or NULL if it does. Without this function it has all precisions. */
    const char *(*lacks)(enum fftnd_precision precision);

    /* REDIST_OK if an array lies where the library can use it; `bytes` of an element. Without this function
     * all arrays do. */
    int (*check)(const char *function, const char *name, const void *array, size_t bytes);

    /* REDIST_OK if the environment variables that it reads have values that they can have, else REDIST_ERR_ARGUMENT.
     * NULL = it reads none. */
    int (*check_environment)(const char *function);

    /* Learns how fast it is with lines of these lengths, from wisdom or by measuring what is not known, so that plans
     * need not. NULL = it has nothing to learn. As the functions of wisdom. */
    int (*learn)(const struct lines__wisdom *wisdom, int nlengths, const redist_index lengths[],
                 enum fftnd_precision precision);

    /* Whether a copy, and a backward transform of all axes that ruins it, costs less than transforms of the other axes
     * before that of the halved one; the same on all ranks. NULL = it does not. */
    int (*prefers_copy)(int naxes, const redist_index lengths[], enum fftnd_precision precision);

    /* Whether it does the truncation along an axis of n points, and only that axis, itself: the array has some modes on
     * the spectral side, and others are neither written nor read. Halved axes are contiguous on both sides then, and
     * real lines aligned to complex elements. NULL = no axis. */
    int (*truncates)(redist_index n, int is_halved, enum fftnd_precision precision);

    /* Plans on arrays that planning may overwrite; in == out for an in-place transform. Both are
     * aligned to 64 bytes. For a device they are no addresses to use, and differ or not all the same.
     * Not collective. REDIST_ERR_SERIAL, REDIST_ERR_MEMORY, REDIST_ERR_LIMIT. */
    int (*create)(const struct lines__problem *problem, void *in, void *out, void **plan);

    /* Scratch memory that a plan needs, and one to use that other plans use too when it does not. NULL =
     * none. */
    size_t (*area_bytes)(const void *plan);
    int (*set_area)(void *plan, void *area);

    /* Transforms other arrays of the same shapes. Where work runs in streams, it has only begun; after a call
     * that fails, of this or of the next ones, nothing of it is under way. */
    int (*execute)(void *plan, void *in, void *out);

    /* The same with results that are multiplied by a factor. NULL = they are in a pass of their own, by `scale`. */
    int (*execute_scaled)(void *plan, void *in, void *out, long double factor);

    /* Multiplies all real numbers in `bytes` bytes. The same. */
    int (*scale)(void *array, size_t bytes, enum fftnd_precision precision, long double factor,
                 void *stream);

    void (*destroy)(void *plan);

    /* Changes modes, in a stream; as `scale`. NULL = arrays are in memory of the host. */
    int (*change)(const struct lines__modes *modes, void *stream);

    /* An operator on a box of modes, in a stream; as `scale` (operators/symbol.h). NULL = arrays are in memory of the
     * host. */
    int (*operate)(const struct lines__operation *operation, void *stream);

    /* Begins to make rows of lines, or lines `after` the transform of rows, in a stream (r2r_lines.h): for real-to-real
     * transforms along one axis of which `create` makes no plan. NULL = the library has them all itself. */
    int (*r2r)(const struct lines__r2r_lines *lines, int after, void *stream);

    const struct lines__stores *stores;           /* NULL = none */
    const struct lines__round_trips *round_trips; /* NULL = none */
};

/* Bytes of a real or complex element. */
static inline size_t lines__item_bytes(enum fftnd_precision precision, int real) {
    static const size_t bytes[] = {[FFTND_DOUBLE] = sizeof(double),
                                   [FFTND_FLOAT] = sizeof(float),
                                   [FFTND_LONG_DOUBLE] = sizeof(long double)};
    return bytes[precision] * (real ? 1 : 2);
}

/* Bytes of an element of a problem's input (0) or output (1), unless it is real-to-real. */
static inline size_t lines__item_of(const struct lines__problem *problem, int out) {
    int real_side = problem->direction == REDIST_BACKWARD;
    return lines__item_bytes(problem->precision, problem->kind == FFTND_R2C && out == real_side);
}

/* Whether all lines begin at the same places of both arrays, so that these may be one. */
int lines__lie_alike(const struct lines__problem *problem);

/* The loop over lines that are neighbours in both arrays; -1 = there is none. */
int lines__find_neighbours(const struct lines__problem *problem);

/* Whether complex lines of one axis lie side by side, at least `fewest`, and alike in both arrays if these are one. */
int lines__has_neighbours(const struct lines__problem *problem, redist_index fewest, int in_place);

/* How many lines group `number` has, of `lines` neighbours in groups of `width`; *in and *out move to where it begins.
 * The last loop is over the groups of the same neighbours, strides are in bytes. */
redist_index lines__neighbour_group(int nloops, const struct lines__loop loops[],
                                    redist_index lines, redist_index width, long long number,
                                    const char **in, char **out);

/* A line: its indices, and where it begins in both arrays. */
struct lines__position {
    redist_index index[REDIST_MAX_NDIMS];
    ptrdiff_t in, out;
};

/* To the next line, the last loop first; strides are in the units of the position. */
void lines__next_line(int nloops, const struct lines__loop loops[],
                      struct lines__position *position);

/* Seconds of a clock that only runs forward. */
static inline double lines__clock(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The library for a problem from array `in` to `out`: one that is suited to it, else problem->library. */
const struct lines__library *lines__choose(const struct lines__problem *problem, const void *in,
                                           const void *out);

enum {
    /* Bytes of a contiguous line; longer ones are fetched row by row for a library, for which there are too many
     * shorter ones. */
    LINES__SHORT_LINE = 1536,
    /* Bytes of neighbouring columns that are read at once in far rows, which lie in pages of their own. */
    LINES__AT_ONCE_BYTES = 1 << 10
};

/* Whether many columns of `n` elements, which lie side by side, are faster than the problem's library transforms them:
 * measured once for each length and precision, as it is planned in 0.05 s, or guessed where nothing is measured. Far
 * rows are those of an array that is larger than a second-level cache. */
int lines__columns_gain(const struct lines__problem *problem, redist_index n, int far);

/* How many columns to transform where there is room for more than these: the last group is full if columns gain. */
redist_index lines__columns_fill(const struct lines__problem *problem, redist_index n,
                                 redist_index columns);

/* The library for all problems in a space, AUTO = host; NULL = this build has none. */
const struct lines__library *lines__library_for(enum redist_space space);

/* Why there is no such library, or no such memory on this machine; NULL = there is. */
const char *lines__unavailable(enum redist_space space);

#endif
