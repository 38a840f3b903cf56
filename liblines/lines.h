/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serial transforms along the axes of strided arrays, on one processor or one device, without MPI.
 *
 *     struct lines__problem problem = {...};     what is transformed
 *     struct lines__plan plan = {0};
 *     lines__create(lines__choose(&problem, in, out), &problem, in, out, &plan);
 *     lines__execute(&plan, in, out);            as often as wanted, also on other arrays of these shapes
 *     lines__destroy(&plan);
 *
 * A serial library is a const table in a file, whose name liblines/meson.build lists. A general library, one for each
 * memory space, transforms all problems; the others are suited to some of them. Optional abilities are members of the
 * table, NULL in libraries that lack them.
 *
 * Functions that return int return REDIST_OK, or a code with a message (redist_error_message). REDIST_ERR_MEMORY: no
 * memory; REDIST_ERR_SERIAL: the library cannot, or failed; REDIST_ERR_LIMIT: it takes no such sizes;
 * REDIST_ERR_DEVICE: the device failed. Transforms are not scaled, unless a plan is told to (scale_results).
 */
#ifndef LINES_H
#define LINES_H

#include "fftnd_kinds.h"
#include "modes.h"
#include "redist_process.h"

/* ---------------------------------------------------------------- problems */

/* A loop of a transform: its length, and its strides in elements of each array. */
struct lines__loop {
    redist_index n;
    ptrdiff_t in, out;
};

/* Threads that execute a plan together. */
struct lines__threads {
    int count;
    /* Calls work(data, i) in thread i, for all of them, and waits. After a failure: code and message of the first
     * thread that failed. `work` must not call it. */
    int (*run)(const struct lines__threads *threads, int (*work)(void *data, int thread),
               void *data);
};

struct lines__library;

/* Transforms along some axes of an array, repeated over loops along the others. Of FFTND_R2C the last axis is halved;
 * its length is that of the real side. */
struct lines__problem {
    enum fftnd_kind kind;
    enum fftnd_precision precision;
    int direction; /* REDIST_FORWARD or REDIST_BACKWARD */
    enum fftnd_effort effort;
    double seconds; /* of planning, at most, about */
    int keep_input; /* 1 = complex-to-real, out of place: the input is no scratch memory */
    int may_ruin;   /* 1 = out of place: a complex input may be scratch memory */
    int is_odd;     /* FFTND_R2C: the real side may begin between two complex elements */
    int naxes;      /* 0 = a copy */
    struct lines__loop axes[REDIST_MAX_NDIMS];
    enum fftnd_r2r
        r2r[REDIST_MAX_NDIMS]; /* FFTND_R2R: the transform along each axis, in this direction */
    unsigned mixed; /* other kinds: 1 << axis, real-to-real, of real and imaginary parts; only where
                     * the general library truncates */
    struct lines__retained
        retained[REDIST_MAX_NDIMS]; /* modes of each axis that the array has; .modes 0 = all */
    redist_index filled[REDIST_MAX_NDIMS]; /* points of each axis that the physical side has, the
                                            * others being zero; 0 = all. For libraries with `fills`,
                                            * of one axis, and those that truncate */
    int nloops;
    struct lines__loop loops[REDIST_MAX_NDIMS];
    void *stream; /* of the user, in spaces with streams */
    const struct lines__threads
        *threads; /* outlive the plan; NULL = calling threads, several at once */
    const struct lines__library
        *general; /* for what no other library is suited to (lines__library_for) */
};

/* Returns the i-th of the axes and loops, the axes first. */
static inline const struct lines__loop *lines__loop_at(const struct lines__problem *problem,
                                                       int i) {
    return i < problem->naxes ? &problem->axes[i] : &problem->loops[i - problem->naxes];
}

/* Nonzero if a side has some elements of one of the axes only. */
static inline int lines__truncates(const struct lines__problem *problem, int axis) {
    return problem->retained[axis].modes > 0 || problem->filled[axis] > 0;
}

static inline int lines__truncates_some(const struct lines__problem *problem) {
    int truncates = 0;
    for (int i = 0; i < problem->naxes; i++)
        truncates |= lines__truncates(problem, i);
    return truncates;
}

/* Bytes of a real or complex element. */
static inline size_t lines__item_bytes(enum fftnd_precision precision, int real) {
    static const size_t bytes[] = {[FFTND_DOUBLE] = sizeof(double),
                                   [FFTND_FLOAT] = sizeof(float),
                                   [FFTND_LONG_DOUBLE] = sizeof(long double)};
    return bytes[precision] * (real ? 1 : 2);
}

/* Bytes of an element of a problem's input (0) or output (1), unless its kind is real-to-real. */
static inline size_t lines__item_of(const struct lines__problem *problem, int out) {
    int real_side = problem->direction == REDIST_BACKWARD;
    return lines__item_bytes(problem->precision, problem->kind == FFTND_R2C && out == real_side);
}

/* A line: its indices, and its offsets in both arrays. */
struct lines__position {
    redist_index index[REDIST_MAX_NDIMS];
    ptrdiff_t in, out;
};

/* Moves to the next line, the last loop first. Offsets have the unit of the loops' strides. */
void lines__next_line(int nloops, const struct lines__loop loops[],
                      struct lines__position *position);

/* ---------------------------------------------------------------- optional abilities */

enum { LINES__MOST_TARGETS = 8 };

/* Target of a direct store: the elements of the transformed axis from the end of the target before to `end` - 1.
 * Strides along the axis and the problem's loops are in complex elements. */
struct lines__target {
    redist_index end;
    char *memory; /* of the first of them in the first line */
    ptrdiff_t axis, loops[REDIST_MAX_NDIMS];
};

/* Direct stores: transforms along one axis whose results are written into several targets, such as peers' arrays. */
struct lines__stores {
    /* Creates a plan as `create` of struct lines__library, for one complex axis; the output's strides are not used.
     * `is_near` = all targets are in memory of this device. *plan is NULL if the library cannot. */
    int (*create)(const struct lines__problem *problem, int is_near, void **plan);

    /* Begins to transform in a stream, into at most LINES__MOST_TARGETS targets that cover the axis. `in` may be one of
     * the targets if their strides are its own. After a failure nothing is under way. */
    int (*execute)(void *plan, const void *in, int ntargets, const struct lines__target targets[],
                   void *stream);

    /* Sets a factor of the results, as `scale_results` of struct lines__library does. */
    int (*scale_results)(void *plan, long double factor);

    void (*destroy)(void *plan);
};

struct lines__operation;

/* Round trips: transforms along one axis, a multiplication of the modes, and transforms back, in one sweep. */
struct lines__round_trips {
    /* Creates a plan as `create` of struct lines__library, for one complex axis; `out` is the array after the
     * transforms back. *plan is NULL if the library cannot, or is not faster so. */
    int (*create)(const struct lines__problem *problem, void **plan);

    /* Begins a round trip in a stream. Axis number `axis` of the operation, which multiplies one field, is the
     * transformed one; its others are the problem's loops in their order. Its arrays and strides are not used. After a
     * failure nothing is under way. */
    int (*execute)(void *plan, const void *in, void *out, const struct lines__operation *operation,
                   int axis, void *stream);

    void (*destroy)(void *plan);
};

/* Texts by their keys that outlive the process, as redist_wisdom_find and redist_wisdom_store. */
struct lines__wisdom {
    int (*find)(const struct lines__wisdom *wisdom, const char *key, size_t bytes, char text[]);
    int (*store)(const struct lines__wisdom *wisdom, const char *key, const char *text);
};

struct lines__r2r_lines;

/* ---------------------------------------------------------------- a serial library */

struct lines__library {
    const char *name;
    enum redist_space space; /* of the arrays */

    /* ---- plans */

    /* Plans on arrays that planning may overwrite, aligned to 64 bytes; in == out: in place. Addresses of a device are
     * only compared. The caller destroys *plan. */
    int (*create)(const struct lines__problem *problem, void *in, void *out, void **plan);

    /* Transforms arrays of the plan's shapes; in spaces with streams, begins to. After a failure, of this call or a
     * later one, nothing is under way. */
    int (*execute)(void *plan, void *in, void *out);

    /* Bytes of scratch memory of a plan, and its address, which the caller owns and plans may share that do not run at
     * once. NULL = none. */
    size_t (*area_bytes)(const void *plan);
    int (*set_area)(void *plan, void *area);

    void (*destroy)(void *plan);

    /* ---- which problems */

    /* Expected time in percent of the general library's, from array `in` to `out`, guessed or measured; 0 = not suited.
     * NULL = this is a general library. */
    int (*percent)(const struct lines__problem *problem, const void *in, const void *out);

    /* 1 = host kernels of liblines may take problems of this general library where they are faster. */
    int yields_lines;

    /* 1 = it transforms an axis of which the physical side is filled in part; it is chosen for such a problem only if
     * it is expected to be faster than the general library, which does not. */
    int fills;

    /* Why the library makes no plan in a precision, NULL = it does. Without this function it has all precisions. */
    const char *(*lacks)(enum fftnd_precision precision);

    /* REDIST_ERR_ARGUMENT if the library cannot use an array of elements of `bytes` bytes at this address; the message
     * names the caller's function and argument. NULL = any address. */
    int (*check)(const char *function, const char *name, const void *array, size_t bytes);

    /* REDIST_ERR_ARGUMENT if an environment variable has a value that it cannot have. NULL = none is read. */
    int (*check_environment)(const char *function);

    /* Reads rates of lines of these lengths from wisdom, or measures and stores them, before plans need them. As the
     * functions of wisdom. NULL = nothing to learn. */
    int (*learn)(const struct lines__wisdom *wisdom, int nlengths, const redist_index lengths[],
                 enum fftnd_precision precision);

    /* Writes what plans of a precision have found by measurement, as text that the caller frees by free(), NULL = none;
     * and takes what another process has found, which spares plans of the same problems the measurement. No other
     * thread of the process may plan meanwhile, outside of liblines either. NULL = nothing can be passed on. */
    char *(*tell_found)(enum fftnd_precision precision);
    void (*take_found)(enum fftnd_precision precision, const char *text);

    /* Nonzero if a copy of the input and a backward transform of all axes that overwrites it is expected to be faster
     * than transforms of the other axes before that of the halved one; the same on all ranks. NULL = 0. */
    int (*prefers_copy)(int naxes, const redist_index lengths[], enum fftnd_precision precision);

    /* ---- optional abilities */

    /* Nonzero if the library truncates an axis of n points, the only one of its problem: modes that the array does not
     * retain, and points that are not filled, are neither written nor read. Halved axes that do not retain all modes
     * are contiguous on both sides, and their real lines, of which an even number of points is filled, aligned to
     * complex elements. `stores` and `round_trips` treat points alike. NULL = 0. */
    int (*truncates)(redist_index n, int is_halved, enum fftnd_precision precision);

    /* Multiplies all real numbers in `bytes` bytes; as `execute`, in a stream. */
    int (*scale)(void *array, size_t bytes, enum fftnd_precision precision, long double factor,
                 void *stream);

    /* Has a plan multiply its results from now on, 1 = not, if it does that where they are in registers. Returns 0 if
     * it cannot, and leaves it as it is. NULL = no plan can. */
    int (*scale_results)(void *plan, long double factor);

    /* Changes modes; as `scale`. NULL = for memory of the host, lines__change_modes. */
    int (*change)(const struct lines__modes *modes, void *stream);

    /* Applies an operator to a box of modes (operation.h); as `scale`. NULL = for the host, lines__operate. */
    int (*operate)(const struct lines__operation *operation, void *stream);

    /* Makes rows of real-to-real lines, or lines of rows `after` their transform (r2r_lines.h); as `scale`. It is used
     * where `create` succeeds with *plan NULL. NULL = `create` plans all real-to-real transforms. A library with this
     * function and `truncates` fills real-to-real axes of all lengths, `create` those that it plans. */
    int (*r2r)(const struct lines__r2r_lines *lines, int after, void *stream);

    const struct lines__stores *stores;           /* NULL = none */
    const struct lines__round_trips *round_trips; /* NULL = none */
};

/* ---------------------------------------------------------------- plans */

/* A plan of a library. Zeros = none. */
struct lines__plan {
    const struct lines__library *library;
    void *data; /* NULL = the library has none */
};

/* Makes a plan of a library, as its `create`. The caller destroys it, after a failure too. */
static inline int lines__create(const struct lines__library *library,
                                const struct lines__problem *problem, void *in, void *out,
                                struct lines__plan *plan) {
    *plan = (struct lines__plan){library, NULL};
    return library->create(problem, in, out, &plan->data);
}

/* Executes a plan, as `execute` of its library. */
static inline int lines__execute(const struct lines__plan *plan, void *in, void *out) {
    return plan->library->execute(plan->data, in, out);
}

/* Bytes of scratch memory of a plan; none needs none. */
static inline size_t lines__area_bytes(const struct lines__plan *plan) {
    return plan->data != NULL && plan->library->area_bytes != NULL
               ? plan->library->area_bytes(plan->data)
               : 0;
}

/* Sets the scratch memory of a plan, as `set_area` of its library. */
static inline int lines__set_area(const struct lines__plan *plan, void *area) {
    return plan->data != NULL && plan->library->set_area != NULL
               ? plan->library->set_area(plan->data, area)
               : REDIST_OK;
}

/* Has a plan multiply its results, as `scale_results` of its library. */
static inline int lines__scale_results(const struct lines__plan *plan, long double factor) {
    return plan->data != NULL && plan->library->scale_results != NULL &&
           plan->library->scale_results(plan->data, factor);
}

/* Destroys a plan that nothing executes any more, and zeroes it; none is allowed. */
static inline void lines__destroy(struct lines__plan *plan) {
    if (plan->data != NULL)
        plan->library->destroy(plan->data);
    *plan = (struct lines__plan){NULL, NULL};
}

/* ---------------------------------------------------------------- the chooser */

/* The general library of a space, AUTO = host; NULL = this build has none. */
const struct lines__library *lines__library_for(enum redist_space space);

/* Why a space has no general library, or this machine no such memory; NULL = all is there. */
const char *lines__unavailable(enum redist_space space);

/* Library number i of this build; NULL behind the last one. */
const struct lines__library *lines__library_at(int i);

/* The library for a problem from array `in` to `out`: the one that expects the least time below that of the general
 * library, else problem->general, also for a problem that is filled in part. It may measure. */
const struct lines__library *lines__choose(const struct lines__problem *problem, const void *in,
                                           const void *out);

/* ---------------------------------------------------------------- columns of the host */

enum {
    /* Bytes of a row from which a call for each, with rows fetched ahead, costs less than FFTW's waits for memory
     * (docs/performance-notebook.md, "Short lines"). */
    LINES__SHORT_LINE = 1536,
    /* Bytes of neighbouring columns that are read at once from far rows: 512 bytes and 2 KiB were as fast or up to 10 %
     * slower (docs/performance-notebook.md, "Lines side by side"). */
    LINES__AT_ONCE_BYTES = 1 << 10
};

/* Nonzero if host kernels transform many neighbouring columns of n elements faster than the problem's general library:
 * measured once for each length and precision, or guessed with FFTND_ESTIMATE. `far` = the array is larger than a
 * second-level cache. */
int lines__columns_gain(const struct lines__problem *problem, redist_index n, int far);

/* Columns to transform of at least `columns`: rounded up to full groups if columns are faster. */
redist_index lines__columns_fill(const struct lines__problem *problem, redist_index n,
                                 redist_index columns);

#endif
