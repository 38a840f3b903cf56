/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names and arguments of Dalcin, Mortensen and Keyes: their exchanges between pencils of a 3-D
 * array (Appendix A) and between parts of a 4-D array on a 3-D process grid (Appendix B), in the
 * shapes of the paper, without transforms, with the paper's `int` extents.
 */
#include "redist_paper.h"

#include <complex.h>
#include <stdlib.h>

#include "harness.h"

enum { MOST_AXES = 4 };

/* A step of the chain: the extents of the local array, the first global index, the array */
struct stage {
    int sizes[MOST_AXES], start[MOST_AXES];
    int elements;
    double complex *array;
};

/* In stage s of a chain of d axes, axis d-1-s is whole; the axes before it are split by the
 * subgroup of their number, those behind it by the subgroup one lower. */
static struct stage make_stage(int ndims, const int global[], MPI_Comm groups[], int s) {
    struct stage stage = {.elements = 1};
    int whole = ndims - 1 - s;
    for (int axis = 0; axis < ndims; axis++) {
        stage.sizes[axis] = global[axis];
        if (axis != whole) {
            MPI_Comm group = groups[axis < whole ? axis : axis - 1];
            int size, rank;
            MPI_Comm_size(group, &size);
            MPI_Comm_rank(group, &rank);
            check_ok(decompose(global[axis], size, rank, &stage.sizes[axis], &stage.start[axis]));
        }
        stage.elements *= stage.sizes[axis];
    }
    stage.array = malloc(sizeof(double complex) * (size_t)(stage.elements + 1));
    return stage;
}

/* The value of an element tells its global place. */
static double complex value_of(int ndims, const int global[], const struct stage *stage, int n) {
    int index[MOST_AXES], place = 0;
    for (int axis = ndims - 1; axis >= 0; axis--) {
        index[axis] = n % stage->sizes[axis] + stage->start[axis];
        n /= stage->sizes[axis];
    }
    for (int axis = 0; axis < ndims; axis++)
        place = place * global[axis] + index[axis];
    return place - 0.5 * place * I;
}

static void fill(int ndims, const int global[], struct stage *stage) {
    for (int n = 0; n < stage->elements; n++)
        stage->array[n] = value_of(ndims, global, stage, n);
}

static void wipe(struct stage *stage) {
    for (int n = 0; n < stage->elements; n++)
        stage->array[n] = -1.0;
}

static void check_stage(int ndims, const int global[], const struct stage *stage) {
    int wrong = 0;
    for (int n = 0; n < stage->elements; n++)
        wrong += stage->array[n] != value_of(ndims, global, stage, n);
    check_all(wrong == 0, "%d of %d elements are wrong", wrong, stage->elements);
}

/* One exchange: from stage s to stage s+step, among the subgroup of the lower of the two whole
 * axes, as in exchange(P[1], T, 3, sizesA, arrayA, 2, sizesB, arrayB, 1). */
static void move(int ndims, const int global[], MPI_Comm groups[], struct stage stages[], int s,
                 int step) {
    struct stage *a = &stages[s], *b = &stages[s + step];
    int axis_a = ndims - 1 - s, axis_b = axis_a - step;
    MPI_Comm group = groups[axis_a < axis_b ? axis_a : axis_b];
    harness_case("%d axes, from axis %d to axis %d", ndims, axis_a, axis_b);
    wipe(b);
    check_ok(exchange(group, MPI_C_DOUBLE_COMPLEX, ndims, a->sizes, a->array, axis_a, b->sizes,
                      b->array, axis_b));
    check_stage(ndims, global, b);
    wipe(a);
}

static void run_chain(int ndims, const int global[]) {
    MPI_Comm groups[MOST_AXES];
    struct stage stages[MOST_AXES];
    check_ok(subcomm(MPI_COMM_WORLD, ndims - 1, groups));
    for (int s = 0; s < ndims; s++)
        stages[s] = make_stage(ndims, global, groups, s);
    fill(ndims, global, &stages[0]);
    for (int s = 0; s < ndims - 1; s++)
        move(ndims, global, groups, stages, s, 1);
    for (int s = ndims - 1; s > 0; s--)
        move(ndims, global, groups, stages, s, -1);
    for (int s = 0; s < ndims; s++)
        free(stages[s].array);
    for (int i = 0; i < ndims - 1; i++)
        MPI_Comm_free(&groups[i]);
}

START_TEST(appendix_a) {
    static const int global[] = {42, 127, 256};
    run_chain(3, global);
}
END_TEST

START_TEST(appendix_b) {
    static const int global[] = {16, 17, 18, 19};
    run_chain(4, global);
}
END_TEST

START_TEST(slab) {
    static const int global[] = {13, 11};
    run_chain(2, global);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {appendix_a, appendix_b, slab, NULL};
    return harness_run(argc, argv, "test_redist_paper", tests);
}
