/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files of the public functions. */
#ifndef REDIST__API_H
#define REDIST__API_H

#include "../methods/method.h"
#include "../planner/planner.h"
#include "redist_halo.h"

/* ---------------------------------------------------------------- the arguments of a plan (request.c) */

/* A user's operation in the place of sums. */
struct redist__operation {
    struct redist__sum sum;
    MPI_Op operation;
    MPI_Datatype type; /* of an element, or of the numbers of which it consists */
    int owns_type;
    struct redist__failure *failure; /* of the plan */
};

/* Arguments common to both kinds of plans. */
struct redist__request {
    const char *function; /* for messages */
    struct redist__context *context;
    int tag; /* first of REDIST__TAGS tags of the context */
    int ndims;
    MPI_Datatype datatype;
    const char *const *names; /* of both arrays: "a" and "b" */
    void *arrays[2];
    redist_options options;
    struct redist__element element;      /* redist__check_datatype sets this, */
    int item_size;                       /* and the bytes of data in an element */
    const struct redist__sum *adds;      /* how backward adds, or NULL */
    struct redist__operation operation;  /* by which it does, if the user gave one */
    const struct redist__format *format; /* of messages, NULL = as in the arrays */
    int keeps_format;                    /* even if it is slow */
    const redist_box *boxes; /* of this rank in both arrays, the plan's; NULL = all of them */
    const redist_halo
        *halo; /* of redist_plan_halo, whose arrays are one; empty once the plan is made */
    const redist_halo *around; /* of redist_plan_boxes_around, while the plan is made */
};

/* Copies the fields that the user's structure has; the others keep their defaults. */
int redist__check_options(struct redist__request *request, const redist_options *options);

/* Check the partitions of array B and the segments of array A, after ndims. */
int redist__check_partitions(const struct redist__request *request);
int redist__check_segments(const struct redist__request *request);

/* Checks the datatype, after ndims. */
int redist__check_datatype(struct redist__request *request);
/* Finds how a plan adds: the numbers of the datatype, or by a user's operation, after redist__check_datatype. */
int redist__find_numbers(struct redist__request *request);
/* Finds the format of messages, after redist__check_datatype. */
int redist__find_format(struct redist__request *request);
/* Finds the predefined datatype of which a datatype consists, MPI_DATATYPE_NULL = several, and the kind of its numbers.
 * REDIST_ERR_MPI, REDIST_ERR_MEMORY. */
int redist__find_predefined(MPI_Datatype type, enum redist__number *kind, MPI_Datatype *predefined);
/* Returns whether the user gave an operation; and prepares it for elements that consist of `base`, a predefined
 * datatype, or of several (MPI_DATATYPE_NULL). What it holds is freed also after a failure. */
int redist__operation_is_given(const struct redist__request *request);
int redist__operation_prepare(struct redist__request *request, MPI_Datatype base);
void redist__operation_free(struct redist__operation *operation);
int redist__check_ndims(const struct redist__request *request, int least);

/* Refuses null and overlapping arrays; arrays bound at execution are not checked. */
int redist__check_arrays(const struct redist__request *request, void *const arrays[2],
                         const size_t bytes[2]);

int redist__check_exchange(const struct redist__request *request, const redist_index sizes_a[],
                           int axis_a, const redist_index sizes_b[], int axis_b);
int redist__check_box(const struct redist__request *request, const redist_index sizes[],
                      const char *name, const redist_box *box);

/* Compares this rank's box of a side with those of higher ranks; `all` has both boxes of each rank. */
int redist__check_disjoint(const struct redist__request *request, const char *name, int side,
                           const redist_box all[]);

/* Check the halo of this rank's box; that all ranks have the same one (collective, after redist__agree_request); and
 * that the boxes of all ranks leave no hole. */
int redist__check_halo(const struct redist__request *request, const redist_index sizes[],
                       const redist_box *box);
int redist__agree_halo(const struct redist__request *request);
int redist__check_cover(const struct redist__request *request, const redist_index sizes[],
                        const redist_box all[]);

/* Compares the arguments that must agree on all ranks; `sizes` are the global extents. Collective. */
int redist__agree_request(const struct redist__request *request, int code, int axis_a, int axis_b,
                          const redist_index sizes[]);

/* ---------------------------------------------------------------- the arrays of a plan (arrays.c) */

/* Completes a problem with a transfer description by the properties of the arrays of all ranks: first their space and
 * place; then, in that place, the rest, and whether elements are boxes of equally many bytes on all ranks. Collective,
 * the same result on all ranks. */
int redist__find_space(const struct redist__request *request, struct redist__problem *problem);
int redist__find_arrays(const struct redist__request *request, struct redist__problem *problem,
                        int *alike);

/* Closes the plan's mappings of its peers' arrays, on all ranks before any of them returns. Collective on the node if
 * arrays of the problem's space are mapped for a plan. */
void redist__expect_mappings(const struct redist__problem *problem);
void redist__close_mappings(const struct redist__problem *problem);

/* ---------------------------------------------------------------- plans (plan.c) */

struct redist_plan {
    redist_closer closer; /* if the plan is the user's */
    struct redist__context *context;
    struct redist__transfer transfer;
    struct redist__transfer *axes; /* the problem's, or NULL */
    struct redist__problem problem;
    struct redist__transport transport;
    struct redist__request request;   /* for the checks of later arrays */
    struct redist__mappings mappings; /* of the peers' arrays */
    struct redist__phase_timer timer; /* used by the problem, if timed */
    struct redist__failure failure;   /* of the executions */
    struct redist__life life;
    int closed;             /* in MPI_Finalize: only this structure remains */
    int started, opened;    /* a pending execution: whole, in tiles */
    int has_left;           /* the last one: the plan is only freed now */
    _Atomic unsigned polls; /* calls of redist_plan_put_progress and the like since the last tile */
    char method_name[REDIST__NAME_BYTES];
};

/* redist_plan_exchange for `function`, named in messages. The plan keeps a reference to the context. */
int redist__plan_exchange_in(const char *function, MPI_Comm comm, MPI_Datatype datatype, int ndims,
                             const redist_index sizes_a[], void *a, int axis_a,
                             const redist_index sizes_b[], void *b, int axis_b,
                             const redist_options *options, redist_plan **plan);

/* redist_plan_boxes for `function`, whose own checks had the result `code`. With a halo, and one box on both sides,
 * there is one array. */
int redist__plan_boxes_in(const char *function, int code, MPI_Comm comm, MPI_Datatype datatype,
                          int ndims, const redist_index sizes[], const redist_box *const boxes[2],
                          void *const arrays[2], const redist_halo *halo,
                          const redist_options *options, redist_plan **plan);

/* Frees a plan (NULL: nothing), not the context. Collective if the plan has a transport. */
void redist__plan_destroy(redist_plan *plan);

/* ---------------------------------------------------------------- executions (execute.c, tiles.c) */

/* REDIST_OK if it is a plan that has not been freed, and MPI runs. Not collective; REDIST_ERR_STATE. */
int redist__check_plan(const char *function, const redist_plan *plan);

/* Enters the plan's place, to be left by redist_leave. A destroyed context is a failure of the plan. */
void redist__enter_plan(redist_plan *plan, redist_visit *visit);

/* Leaves a plan in any state, as redist_plan_leave. */
void redist__plan_leave(redist_plan *plan);

/* Checks that an execution of this kind can begin in a direction. Not collective; REDIST_ERR_STATE,
 * REDIST_ERR_ARGUMENT. */
int redist__check_start(const char *function, const redist_plan *plan, int direction,
                        enum redist_tiles tiles);

/* Checks that peers know the array that they use, bound when the plan was made; else no rank has this direction. Not
 * collective; REDIST_ERR_ARGUMENT, REDIST_ERR_STATE. */
int redist__check_peers_array(const char *function, const redist_plan *plan, int direction,
                              void *const arrays[2]);

/* Refuses an array that peers have to map but cannot. After REDIST_TAKES_PLAIN all ranks change the plan to one without
 * mapped arrays, by redist__take_plain: collective; a failure leaves the plan unchanged. */
int redist__check_mapped(const char *function, const redist_plan *plan, const char *name, int side,
                         const void *array);
int redist__take_plain(redist_plan *plan);

/* Ends the pending execution by a function of its method, and returns the plan's failure. */
int redist__end_execution(redist_plan *plan, void (*end)(void *state));

/* Ends an execution in tiles. Collective on the plan's ranks. */
int redist__close_tiles(const char *function, redist_plan *plan, enum redist_tiles tiles);

#endif
