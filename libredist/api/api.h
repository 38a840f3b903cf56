/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the public functions share. */
#ifndef REDIST__API_H
#define REDIST__API_H

#include "../methods/method.h"
#include "../planner/planner.h"

/* ---------------------------------------------------------------- the arguments of a plan (request.c) */

/* The arguments that both ways to make a plan have. */
struct redist__request {
    const char *function; /* for messages */
    struct redist__context *context;
    int tag; /* first of REDIST__TAGS tags of the context */
    MPI_Datatype datatype;
    int ndims;
    const char *names[2]; /* of the arrays: "a" and "b" */
    void *arrays[2];
    redist_options options;
    int item_size;                  /* of datatype, in bytes; and where its data are, */
    struct redist__element element; /* both set by redist__check_datatype */
};

/* Copies the options that the user's structure has; the others keep their default. */
int redist__check_options(struct redist__request *request, const redist_options *options);

/* In how many partitions array B is completed; ndims is checked already. */
int redist__check_partitions(const struct redist__request *request);

/* ndims is checked already. */
int redist__check_datatype(struct redist__request *request);
int redist__check_ndims(const struct redist__request *request, int least);

/* Null and overlapping arrays; later ones are not looked at. */
int redist__check_arrays(const struct redist__request *request, void *const arrays[2],
                         const size_t bytes[2]);

int redist__check_exchange(const struct redist__request *request, const redist_index sizes_a[],
                           int axis_a, const redist_index sizes_b[], int axis_b);
int redist__check_box(const struct redist__request *request, const redist_index sizes[],
                      const char *name, const redist_box *box);

/* This rank's box of a side against those of later ranks, in the boxes of both sides of all ranks. */
int redist__check_disjoint(const struct redist__request *request, const char *name, int side,
                           const redist_box all[]);

/* Compares with the other ranks what must agree; `sizes` are the global extents. Collective. */
int redist__agree_request(const struct redist__request *request, int code, int axis_a, int axis_b,
                          const redist_index sizes[]);

/* ---------------------------------------------------------------- the arrays of a plan (arrays.c) */

/* Completes a problem, whose transfer description is there, by what is known of the arrays on all ranks: the space and
 * the place that they are in; then, in that place, the rest, and whether elements are boxes of as many bytes on all of
 * them. Collective, the same result on all ranks. */
int redist__find_space(const struct redist__request *request, struct redist__problem *problem);
int redist__find_arrays(const struct redist__request *request, struct redist__problem *problem,
                        int *alike);

/* Closes what the plan has mapped of its peers' arrays, on all ranks before any of them returns. Collective on
 * the node if arrays of the problem's space are mapped for a plan. */
void redist__expect_mappings(const struct redist__problem *problem);
void redist__close_mappings(const struct redist__problem *problem);

/* ---------------------------------------------------------------- plans (plan.c, execute.c) */

struct redist_plan {
    redist_closer closer; /* of a plan of the user */
    int closed;           /* in MPI_Finalize: there is nothing but this structure */
    struct redist__context *context;
    struct redist__transfer transfer;
    struct redist__problem problem;
    struct redist__transport transport;
    struct redist__request request;   /* for the checks of later arrays */
    struct redist__mappings mappings; /* of the peers' arrays */
    struct redist__phase_timer timer; /* of the problem, if it has one */
    struct redist__failure failure;   /* of the executions */
    struct redist__life life;
    int started, opened;    /* an execution is under way: whole, in tiles */
    _Atomic unsigned polls; /* calls of redist_plan_put_progress and the like since the last tile */
    char method_name[REDIST__NAME_BYTES];
};

/* REDIST_OK if it is a plan that has not been freed, and MPI runs. Not collective; REDIST_ERR_STATE. */
int redist__check_plan(const char *function, const redist_plan *plan);

/* Enters the plan's place: that its context is gone is a failure of the plan. To be left by redist_leave. */
void redist__enter_plan(redist_plan *plan, redist_visit *visit);

/* redist_plan_exchange for `function`, which messages name. The plan keeps a reference to the context. */
int redist__plan_exchange_in(const char *function, MPI_Comm comm, MPI_Datatype datatype, int ndims,
                             const redist_index sizes_a[], void *a, int axis_a,
                             const redist_index sizes_b[], void *b, int axis_b,
                             const redist_options *options, redist_plan **plan);

/* Frees what a plan has (NULL: nothing); the context stays. Collective if the plan has a transport. */
void redist__plan_destroy(redist_plan *plan);

/* Ends an execution in tiles. Collective on the plan's ranks. */
int redist__close_tiles(const char *function, redist_plan *plan, enum redist_tiles tiles);

#endif
