/* SPDX-License-Identifier: BSD-3-Clause */
/* What making a plan and executing it share. */
#ifndef REDIST__PLAN_H
#define REDIST__PLAN_H

#include "../planner/tune.h"
#include "request.h"

struct redist_plan {
    struct redist__context *context;
    struct redist__transfer transfer;
    struct redist__problem problem;
    struct redist__transport transport;
    struct redist__request request;   /* for the checks of later arrays */
    struct redist__mappings mappings; /* of the peers' arrays */
    struct redist__watch watch;       /* of the problem, if it has one */
    struct redist__failure failure;   /* of the executions */
    int started, opened;              /* an execution is under way: whole, in tiles */
    unsigned polls;                   /* how often it was asked to go on since the last tile */
    char method_name[REDIST__NAME_BYTES];
};

/* REDIST_OK if it is a plan that has not been freed, and MPI runs. Not collective; REDIST_ERR_STATE. */
int redist__check_plan(const char *function, const redist_plan *plan);

/* redist_plan_exchange for `function`, which messages name. The plan keeps a reference to the context. */
int redist__plan_exchange_in(const char *function, MPI_Comm comm, MPI_Datatype datatype, int ndims,
                             const int sizes_a[], void *a, int axis_a, const int sizes_b[], void *b,
                             int axis_b, const redist_options *options, redist_plan **plan);

/* Frees what a plan has (NULL: nothing); the context stays. Collective if the plan has a transport. */
void redist__plan_destroy(redist_plan *plan);

/* Ends an execution in tiles. Collective on the plan's ranks. */
int redist__close_tiles(const char *function, redist_plan *plan, enum redist_tiles tiles);

#endif
