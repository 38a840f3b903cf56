/* SPDX-License-Identifier: BSD-3-Clause */
/* Sides of plans as fields of files: what the ranks write of their arrays is the whole array in C order. */
#include "fftnd_file.h"
#include "harness.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/fftnd-field-XXXXXX";

static fftnd_plan *make_plan(void) {
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    redist_index sizes[4];
    int ndims = random_between(2, 4);
    fftnd_plan *plan;
    for (int i = 0; i < ndims; i++)
        sizes[i] = random_between(1, 9);
    enum fftnd_kind kind = random_chance(50) ? FFTND_R2C : FFTND_C2C;
    options.batch = random_between(1, 3);
    options.batch_position = random_chance(50) ? FFTND_BATCH_FIRST : FFTND_BATCH_LAST;
    options.grid_ndims = random_between(1, ndims - 1);
    options.effort = FFTND_ESTIMATE;
    options.in_place = random_chance(30);
    harness_case("%d axes, batch of %lld, kind %d", ndims, (long long)options.batch, (int)kind);
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, ndims, sizes, kind, FFTND_DOUBLE, &options, &plan));
    return plan;
}

static double value_at(redist_index place) {
    return (double)(random_hash((uint64_t)place) % 1000003);
}

/* Fills this rank's part, whose elements have their place in the whole array as values. */
static void fill(const fftnd_layout *layout, int is_real, char *array) {
    redist_index index[REDIST_MAX_NDIMS], elements = layout->batch;
    for (int i = 0; i < layout->ndims; i++)
        elements *= layout->sizes[i];
    for (redist_index place = 0; place < elements; place++) {
        redist_index rest = place;
        for (int i = layout->ndims - 1; i >= 0; rest /= layout->sizes[i], i--)
            index[i] = rest % layout->sizes[i];
        void *at = fftnd_layout_at(layout, array, index, rest);
        const double numbers[2] = {value_at(place), -value_at(place)};
        if (at != NULL)
            memcpy(at, numbers, is_real ? sizeof(double) : 2 * sizeof(double));
    }
}

/* Reads the whole array on this rank. */
static redist_field whole_field(const redist_field *part, void *array) {
    redist_field field = *part;
    for (int i = 0; i < field.ndims; i++) {
        field.start[i] = field.stride[i] = 0;
        field.count[i] = field.sizes[i];
    }
    field.offset = 0;
    field.array = array;
    return field;
}

static int is_right(const fftnd_layout *layout, int is_real, const double numbers[]) {
    redist_index elements = layout->batch, wrong = 0;
    for (int i = 0; i < layout->ndims; i++)
        elements *= layout->sizes[i];
    for (redist_index place = 0; place < elements; place++)
        wrong += is_real ? numbers[place] != value_at(place)
                         : numbers[2 * place] != value_at(place) ||
                               numbers[2 * place + 1] != -value_at(place);
    return wrong == 0;
}

START_TEST(sides_are_fields) {
    for (int i = 0; harness_another(i, 6); i++) {
        fftnd_plan *plan = make_plan();
        for (int side = FFTND_PHYSICAL; side <= FFTND_SPECTRAL; side++) {
            fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
            redist_field field = REDIST_FIELD_DEFAULT;
            field.name = "side";
            check_ok(fftnd_plan_layout(plan, (enum fftnd_side)side, &layout));
            int is_real = layout.element_bytes == sizeof(double);
            char *array = calloc(layout.bytes + 1, 1);
            fill(&layout, is_real, array);
            check_ok(fftnd_plan_field(plan, (enum fftnd_side)side, array, &field));
            check_all(field.ndims == layout.ndims + (layout.batch > 1), "%d axes", field.ndims);
            check_ok(redist_write(MPI_COMM_WORLD, path, 1, &field, NULL));
            double *numbers = calloc((size_t)(9 * 9 * 9 * 9 * 3 * 2), sizeof *numbers);
            redist_field whole = whole_field(&field, numbers);
            check_ok(redist_read(MPI_COMM_SELF, path, 1, &whole, NULL));
            check_all(is_right(&layout, is_real, numbers), "side %d is wrong", side);
            free(numbers);
            free(array);
        }
        check_ok(fftnd_plan_free(&plan));
    }
}
END_TEST

START_TEST(errors) {
    redist_field field = REDIST_FIELD_DEFAULT;
    fftnd_plan *plan = make_plan();
    check_code(fftnd_plan_field(NULL, FFTND_PHYSICAL, NULL, &field), REDIST_ERR_STATE);
    check_code(fftnd_plan_field(plan, (enum fftnd_side)2, NULL, &field), REDIST_ERR_ARGUMENT);
    check_code(fftnd_plan_field(plan, FFTND_PHYSICAL, NULL, NULL), REDIST_ERR_NULL);
    check_ok(fftnd_plan_free(&plan));
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {sides_are_fields, errors, NULL};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && mkstemp(path) < 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    int code = harness_run(argc, argv, "test_fftnd_field", tests);
    if (rank == 0)
        unlink(path);
    return code;
}
