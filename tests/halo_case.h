/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Cases of ghosts: elements, operations in the place of sums, boxes with room, widths; and what each element of the
 * local arrays is.
 */
#ifndef TESTS_HALO_CASE_H
#define TESTS_HALO_CASE_H

#include "exchanges.h"
#include "redist_halo.h"

/* ---------------------------------------------------------------- elements */

typedef struct kind {
    const char *name;
    char
        number; /**< d, f, l (long double), b (1 byte), i (4), q (8); x = bytes that are no numbers */
    int components;
    size_t bytes, extent; /**< of a number, of an element */
    MPI_Datatype base;
} kind;

enum { LONG_DOUBLE = 7, KINDS = 9 };

/** Returns a kind of element by its number, modulo KINDS. */
kind kind_at(int index);

/** Makes the datatype of an element, which the caller frees. */
MPI_Datatype make_type(const kind *of);

/** Writes or reads one number of an element. */
void write_number(const kind *of, char *at, long value);
long read_number(const kind *of, const char *at);

/* ---------------------------------------------------------------- operations */

/** Operations in the place of the sum. */
typedef struct operation {
    const char *name;
    MPI_Op op;
    int on_elements; /**< of the user: on whole elements, in the order of ranks; else on their numbers */
} operation;

enum { OPERATIONS = 4 };

/** Makes all operations; the caller frees the last one. */
void make_operations(operation made[OPERATIONS]);

/** Returns the number of a random kind that an operation is for. */
int kind_for(const operation *by);

/* ---------------------------------------------------------------- cases */

typedef struct halo_case {
    kind kind;
    const operation *by; /**< NULL: sums */
    exchange given;      /**< its boxes of side 0 */
    redist_halo halo;
    enum redist_staging staging;
    int enqueued; /**< executions are asynchronous, */
    int replayed; /**< and captured in a graph, which is replayed */
    double wait_seconds;
    void *stream;
} halo_case;

/** Returns a case without boxes and widths, of a kind of element. */
halo_case case_of(int ndims, const redist_index sizes[], int index);

/** Returns a case in which each rank has a row, and shows those before and behind it. */
halo_case ring_of_rows(redist_index row, int index);

/** Returns a case in which each rank shows all elements, so that each waits for all others. */
halo_case case_of_all(void);

/** Gives a case random widths. */
void set_halo(halo_case *given);

/** Gives boxes room for the ghosts, and on some sides for more. */
void set_room(halo_case *given);

/** Returns whether ghosts have corners along several axes. */
int has_axes(const halo_case *given);

/** Returns the number of elements of a local array, and along one of its axes. */
size_t elements_of(const halo_case *given, const redist_box *box);
redist_index extent_of(const redist_box *box, int axis);

/** Role of an element of a local array. */
enum place { OWN, GHOST, NEITHER };

/** Calls `visit` for each element of the local array of a rank, with the number of what it holds or shows in the global
 * array. */
typedef void visitor(const halo_case *given, int rank, enum place place, size_t element,
                     size_t global, void *data);
void visit_all(const halo_case *given, int rank, visitor *visit, void *data);

#endif
