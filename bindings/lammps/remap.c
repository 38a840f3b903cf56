/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remaps: an exchange of libredist into a buffer that peers map, in the order of the input, from which this rank copies
 * the output. LAMMPS remaps in place, where the exchange could not write to the array anyway.
 */
#include "lammps.h"

#include <stdlib.h>
#include <string.h>

#define AXES FFTND_LAMMPS_AXES

struct remap_plan_3d {
    MPI_Comm comm;
    redist_box boxes[2]; /* of the input and the output */
    const int *order;    /* of the output's axes in memory */
    int nqty;
    redist_plan *plan; /* NULL until the first execution */
    void *buffer;      /* the output in the order of the input */
    size_t item_bytes; /* of a point */
    int keeps;         /* nonzero: the input lacks points of the grid */
};

struct remap_plan_3d *remap_3d_create_plan(MPI_Comm comm, int in_ilo, int in_ihi, int in_jlo,
                                           int in_jhi, int in_klo, int in_khi, int out_ilo,
                                           int out_ihi, int out_jlo, int out_jhi, int out_klo,
                                           int out_khi, int nqty, int permute, int memory,
                                           int precision, int usecollective) {
    const int in[2 * AXES] = {in_ilo, in_ihi, in_jlo, in_jhi, in_klo, in_khi};
    const int out[2 * AXES] = {out_ilo, out_ihi, out_jlo, out_jhi, out_klo, out_khi};
    struct remap_plan_3d *plan = malloc(sizeof *plan);
    (void)memory, (void)precision, (void)usecollective;
    if (nqty < 1)
        fftnd_lammps__refuse(comm, "remap_3d_create_plan", "nqty = %d has to be positive", nqty);
    if (plan == NULL)
        fftnd_lammps__refuse(comm, "remap_3d_create_plan", "no memory for a plan");
    *plan = (struct remap_plan_3d){
        .comm = comm,
        .boxes = {fftnd_lammps__box(in), fftnd_lammps__box(out)},
        .order = fftnd_lammps__order(comm, "remap_3d_create_plan", permute),
        .nqty = nqty,
    };
    return plan;
}

void remap_3d_destroy_plan(struct remap_plan_3d *plan) {
    if (plan == NULL)
        return;
    (void)redist_plan_free(&plan->plan);
    (void)redist_free(&plan->buffer);
    free(plan);
}

/* ---------------------------------------------------------------- the exchange */

/* Finds the negative lowest start along an axis, and the highest end, of this rank's boxes. */
static void find_ends(const struct remap_plan_3d *plan, int axis, redist_index ends[2]) {
    ends[0] = ends[1] = INT32_MIN;
    for (int array = 0; array < 2; array++) {
        redist_index start = plan->boxes[array].start[axis];
        redist_index end = start + plan->boxes[array].count[axis];
        if (end > start && -start > ends[0])
            ends[0] = -start;
        if (end > start && end > ends[1])
            ends[1] = end;
    }
}

/* Finds the grid around all ranks' boxes, moves its origin to 0, and sees whether the input has all of it. */
static void find_grid(struct remap_plan_3d *plan, redist_index sizes[]) {
    redist_index ends[AXES][2], points = fftnd_lammps__volume(&plan->boxes[0]);
    for (int axis = 0; axis < AXES; axis++)
        find_ends(plan, axis, ends[axis]);
    MPI_Allreduce(MPI_IN_PLACE, ends, 2 * AXES, MPI_INT64_T, MPI_MAX, plan->comm);
    MPI_Allreduce(MPI_IN_PLACE, &points, 1, MPI_INT64_T, MPI_SUM, plan->comm);
    for (int axis = 0; axis < AXES; axis++) {
        redist_index extent = ends[axis][0] + ends[axis][1];
        sizes[axis] = extent > 0 ? extent : 0; /* no box has a point */
        for (int array = 0; array < 2; array++)
            if (plan->boxes[array].count[axis] > 0)
                plan->boxes[array].start[axis] += ends[axis][0];
    }
    plan->keeps = points != sizes[0] * sizes[1] * sizes[2];
}

static void report(const struct remap_plan_3d *plan, const redist_index sizes[], double seconds) {
    const char *method = "none";
    (void)redist_plan_get_method(plan->plan, &method);
    fftnd_lammps__report(plan->comm, "remap_3d: %lld x %lld x %lld, method %s, planned in %.3f s",
                         (long long)sizes[2], (long long)sizes[1], (long long)sizes[0], method,
                         seconds);
}

/* Makes the plan of libredist. The numbers of a point are an axis. */
static int provide(struct remap_plan_3d *plan, MPI_Datatype datatype, size_t number_bytes) {
    double begin = MPI_Wtime();
    redist_index sizes[AXES + 1];
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.effort =
        fftnd_lammps__effort(plan->comm) == FFTND_ESTIMATE ? REDIST_ESTIMATE : REDIST_MEASURE;
    options.bind_a = REDIST_BIND_AT_EXECUTION;
    options.overlap = REDIST_OVERLAP_READ;
    options.skip_agreement = 1; /* a failure ends all ranks */
    find_grid(plan, sizes);
    sizes[AXES] = plan->nqty;
    for (int array = 0; array < 2; array++)
        plan->boxes[array].count[AXES] = plan->nqty;
    plan->item_bytes = (size_t)plan->nqty * number_bytes;
    size_t bytes = (size_t)fftnd_lammps__volume(&plan->boxes[1]) * plan->item_bytes;
    int code = redist_alloc(plan->comm, bytes, &plan->buffer);
    if (code == REDIST_OK)
        code = redist_plan_boxes(plan->comm, datatype, AXES + 1, sizes, &plan->boxes[0], NULL,
                                 &plan->boxes[1], plan->buffer, &options, &plan->plan);
    if (code == REDIST_OK)
        report(plan, sizes, MPI_Wtime() - begin);
    return code;
}

/* Copies the buffer to the output, or back. */
static void copy_points(const struct remap_plan_3d *plan, char *output, int back) {
    const redist_index *count = plan->boxes[1].count;
    size_t stride[AXES], next = plan->item_bytes;
    char *buffer = plan->buffer;
    for (int i = AXES - 1; i >= 0; i--) {
        stride[plan->order[i]] = next;
        next *= (size_t)count[plan->order[i]];
    }
    size_t run = plan->order[AXES - 1] == AXES - 1 ? (size_t)count[2] : 1; /* points at once */
    for (size_t k = 0; k < (size_t)count[0]; k++)
        for (size_t j = 0; j < (size_t)count[1]; j++)
            for (size_t i = 0; i < (size_t)count[2]; i += run) {
                char *point = output + k * stride[0] + j * stride[1] + i * stride[2];
                memcpy(back ? buffer : point, back ? point : buffer, run * plan->item_bytes);
                buffer += run * plan->item_bytes;
            }
}

static void remap(struct remap_plan_3d *plan, void *in, void *out, MPI_Datatype datatype,
                  size_t number_bytes) {
    int code = plan->plan == NULL ? provide(plan, datatype, number_bytes) : REDIST_OK;
    if (code == REDIST_OK && plan->keeps)
        copy_points(plan, out, 1);
    if (code == REDIST_OK)
        code = redist_plan_execute_arrays(plan->plan, REDIST_FORWARD, in, plan->buffer);
    fftnd_lammps__insist(plan->comm, "remap_3d", code);
    copy_points(plan, out, 0);
}

void remap_3d_double(double *in, double *out, double *buffer, struct remap_plan_3d *plan) {
    (void)buffer;
    remap(plan, in, out, MPI_DOUBLE, sizeof(double));
}

void remap_3d_float(float *in, float *out, float *buffer, struct remap_plan_3d *plan) {
    (void)buffer;
    remap(plan, in, out, MPI_FLOAT, sizeof(float));
}
