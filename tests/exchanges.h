/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * One exchange to be tested: which rank has which box of the global array before and after, and the
 * ways to carry it out and compare every byte. What is expected is computed here, without
 * libredist.
 */
#ifndef TESTS_EXCHANGES_H
#define TESTS_EXCHANGES_H

#include "arrays.h"

/** More ranks than any test runs on. */
enum { EXCHANGE_MOST_RANKS = 16 };

typedef struct exchange {
    MPI_Comm comm;
    int nranks, rank;
    const test_element *element;
    int ndims;
    redist_index sizes[REDIST_MAX_NDIMS]; /**< global extents */
    int axes[2];     /**< the axes that are whole in A and B, or -1 for a plan between boxes */
    int is_complete; /**< every element is in a box on both sides */
    enum redist_overlap overlap; /**< of the options; REDIST_OVERLAP_READ goes forward only */
    redist_box boxes[2][EXCHANGE_MOST_RANKS];
} exchange;

/** The exchange of redist_plan_exchange on the ranks of comm. */
exchange exchange_between_axes(MPI_Comm comm, const test_element *element, int ndims,
                               const redist_index sizes[], int axis_a, int axis_b);

/** An exchange of redist_plan_boxes; the caller sets the boxes (all empty at first). */
exchange exchange_between_boxes(MPI_Comm comm, const test_element *element, int ndims,
                                const redist_index sizes[]);

/** The same from slabs of a random array of three dimensions along one axis to slabs along another. */
exchange exchange_between_slabs(MPI_Comm comm, const test_element *element, int axis_a, int axis_b);

/** The same between random bricks or blocks of at most `elements` in three dimensions, many with padding. */
exchange exchange_between_random_boxes(MPI_Comm comm, const test_element *element, int elements);

/** Gives each rank a brick of a side, in random order. */
void exchange_set_bricks(exchange *given, int side);

/** Gives each rank a block of a process grid of `grid_ndims` dimensions over random axes. */
void exchange_set_blocks(exchange *given, int side, int grid_ndims);

/** Puts a box of three dimensions somewhere into a larger local array. */
void exchange_pad(redist_box *box);

/** Makes all boxes of a side empty. */
void exchange_empty(exchange *given, int side);

/** Random global extents between low and high, but not more than `most` elements in all. */
void random_sizes(int ndims, int low, int high, int most, redist_index sizes[]);

/** Where the array of one side (0: A, 1: B) lies, for array_fill and array_wrong. */
test_place exchange_place(const exchange *given, int side);

/** Allocates the arrays of both sides. Collective on the exchange's communicator. */
void exchange_arrays(const exchange *given, const enum test_memory memory[2], test_array arrays[2]);

/** What a call takes for such an array: NULL if nothing of it is here and its memory is plain. */
void *exchange_pointer(const test_array *array);

/** Frees them. */
void exchange_free_arrays(test_array arrays[2]);

/** A box of an array of this rank, as redist_plan_put and redist_plan_get take it. */
typedef struct exchange_tile {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    char *data;
} exchange_tile;

/** Slab number `slab` of `nslabs` along the first axis of the array of one side. */
exchange_tile exchange_slab(const exchange *given, int side, const test_array *array, int nslabs,
                            int slab);

/** How a plan is used. */
enum exchange_use {
    USE_EXECUTE,      /**< redist_plan_execute on the arrays of the plan */
    USE_START,        /**< redist_plan_start and redist_plan_wait */
    USE_OTHER_ARRAYS, /**< redist_plan_execute_arrays on other arrays of the same kind */
    USE_LATER,        /**< arrays only given to redist_plan_execute_arrays */
    USE_LATER_START,  /**< arrays only given to redist_plan_start_arrays */
    USES
};

/** How plans made from now on hand arrays of a device to MPI. */
void exchange_use_staging(enum redist_staging staging);

/** One way to carry out an exchange. */
typedef struct exchange_way {
    const char *method; /**< of redist_options */
    enum test_memory memory[2];
    enum exchange_use use;
} exchange_way;

/** Random memory and use. */
exchange_way random_way(const char *method);

/** Describes the exchange and the way to the harness. */
void exchange_say(const exchange *given, const exchange_way *way);

/** Makes a plan for `way` on the arrays. Returns what the library returns. */
int exchange_plan(const exchange *given, const exchange_way *way, const test_array arrays[2],
                  redist_plan **plan);

/** Moves the arrays in one direction. Returns what the library returns. */
int exchange_run(const exchange_way *way, const test_array arrays[2], redist_plan *plan,
                 int direction);

/** Calls redist_exchange in one direction. Returns what the library returns. */
int exchange_call(const exchange *given, const test_array arrays[2], int direction);

/** Moves the arrays in one direction and checks every byte of both on all ranks. */
void exchange_execute(const exchange *given, const exchange_way *way, const test_array arrays[2],
                      redist_plan *plan, int direction);

/** Fills the source of a direction with values, and its destination with something else. */
void exchange_prepare(const exchange *given, const test_array arrays[2], int direction,
                      uint64_t salt);

/** The number of wrong bytes in both arrays after an execution; `text` (512 bytes) says where. */
size_t exchange_wrong(const exchange *given, const test_array arrays[2], int direction,
                      uint64_t salt, char text[512]);

/** Checks on all ranks that no byte is wrong. */
void exchange_check(const exchange *given, const test_array arrays[2], int direction,
                    uint64_t salt);

/** Tries the ways in both directions: arrays, plans, executions, checks; frees all. */
void exchange_try(const exchange *given, int nways, const exchange_way ways[]);

/** Tries all methods, and "auto", each with random memory and use. */
void exchange_try_methods(const exchange *given);

/** The number of ways that options.method can name: methods, variants, "auto"; and their names. */
int request_count(void);
const char *request_name(int index);

/** Nonzero if the library may refuse this way, since the method does not apply by its nature. */
int may_be_refused(const exchange *given, const exchange_way *way);

#endif
