/* SPDX-License-Identifier: BSD-3-Clause */
/* What a plan says about itself: communicator, grid, method, and the wavenumbers of the spectral side. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "fft_case.h"
#include "harness.h"

static const double pi = 3.14159265358979323846;

enum { MOST = 16 };

/* ---------------------------------------------------------------- communicator, grid and method */

START_TEST(accessors) {
    for (int grid_ndims = 1; grid_ndims <= 2; grid_ndims++) {
        fft_case given = FFT_CASE(FFTND_R2C, 8, 9, 10);
        fftnd_plan *plan = NULL;
        fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
        const redist_grid *grid = NULL;
        const char *method = NULL;
        MPI_Comm comm = MPI_COMM_NULL;
        int ndims, dims[REDIST_MAX_NDIMS], compared;
        given.options.grid_ndims = grid_ndims;
        check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
        check_ok(fftnd_plan_get_info(plan, &info));
        check_ok(fftnd_plan_get_comm(plan, &comm));
        MPI_Comm_compare(comm, MPI_COMM_WORLD, &compared);
        check_all(compared == MPI_CONGRUENT, "the communicator is another one: %d", compared);
        check_ok(fftnd_plan_get_grid(plan, &grid));
        check_ok(redist_grid_get(grid, &ndims, dims, NULL));
        check_all(ndims == info.grid_ndims && ndims == grid_ndims &&
                      memcmp(dims, info.grid, sizeof(int) * (size_t)ndims) == 0,
                  "the grid is another one");
        check_ok(fftnd_plan_get_method(plan, &method));
        check_all(strcmp(method, info.method) == 0, "the method is %s", method);
        check_all(info.halved_axis == 2, "axis %d is halved", info.halved_axis);
        check_code(fftnd_plan_get_comm(plan, NULL), REDIST_ERR_NULL);
        check_code(fftnd_plan_get_grid(plan, NULL), REDIST_ERR_NULL);
        check_code(fftnd_plan_get_method(plan, NULL), REDIST_ERR_NULL);
        check_ok(fftnd_plan_free(&plan));
        check_code(fftnd_plan_get_comm(plan, &comm), REDIST_ERR_STATE);
        check_code(fftnd_plan_get_grid(plan, &grid), REDIST_ERR_STATE);
        check_code(fftnd_plan_get_method(plan, &method), REDIST_ERR_STATE);
    }
}
END_TEST

START_TEST(of_an_exchange) {
    redist_plan *plan = NULL;
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    const char *method = NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    int compared;
    redist_index sizes_a[2] = {harness_nranks, 1}, sizes_b[2] = {1, harness_nranks};
    double a[64] = {0}, b[64] = {0};
    check_ok(redist_plan_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 2, sizes_a, a, 0, sizes_b, b, 1, NULL,
                                  &plan));
    check_ok(redist_plan_get_info(plan, &info));
    check_all(info.space == REDIST_SPACE_HOST, "the arrays are in space %d", (int)info.space);
    check_ok(redist_plan_get_comm(plan, &comm));
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &compared);
    check_all(compared == MPI_CONGRUENT, "the communicator is another one: %d", compared);
    check_ok(redist_plan_get_method(plan, &method));
    check_all(strcmp(method, info.method) == 0, "the method is %s", method);
    check_code(redist_plan_get_comm(plan, NULL), REDIST_ERR_NULL);
    check_code(redist_plan_get_method(plan, NULL), REDIST_ERR_NULL);
    check_ok(redist_plan_free(&plan));
    check_code(redist_plan_get_comm(plan, &comm), REDIST_ERR_STATE);
    check_code(redist_plan_get_method(plan, &method), REDIST_ERR_STATE);
}
END_TEST

/* ---------------------------------------------------------------- wavenumbers */

/* The mode of wavenumber k at point j of n, as fftnd.h describes it: a sampled exponential, cosine or sine. */
static double complex mode(const fft_case *given, double k, int j) {
    double n = given->sizes[0];
    if (given->kind == FFTND_C2C)
        return cexp(2 * pi * I * k * j / n);
    if (given->kind == FFTND_R2C)
        return cos(2 * pi * k * j / n);
    switch (given->r2r[0]) {
    case FFTND_DCT1:
        return cos(pi * k * j / (n - 1));
    case FFTND_DCT2:
    case FFTND_DCT4:
        return cos(pi * k * (j + 0.5) / n);
    case FFTND_DCT3:
        return cos(pi * k * j / n);
    case FFTND_DST1:
        return sin(pi * k * (j + 1) / (n + 1));
    case FFTND_DST2:
    case FFTND_DST4:
        return sin(pi * k * (j + 0.5) / n);
    default:
        return sin(pi * k * (j + 1) / n);
    }
}

/* Writes one number of the physical side, or reads the size of one of the spectral side. */
static void set_point(const fft_case *given, double *field, int j, double complex value) {
    int ncomponents = given->kind == FFTND_C2C ? 2 : 1;
    field[ncomponents * j] = creal(value);
    if (ncomponents == 2)
        field[2 * j + 1] = cimag(value);
}

static double get_size(const fft_case *given, const double *modes, int i) {
    return given->kind == FFTND_R2R ? fabs(modes[i]) : hypot(modes[2 * i], modes[2 * i + 1]);
}

/* The transform of each mode has one element, the one that has its wavenumber. */
static void check_modes(const fft_case *given) {
    fftnd_plan *plan = NULL;
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    double k[MOST], field[2 * MOST], modes[2 * MOST + 4];
    harness_case("%s", fft_case_text(given));
    check_ok(fft_case_plan(MPI_COMM_SELF, given, &plan));
    check_ok(fftnd_plan_layout(plan, FFTND_SPECTRAL, &layout));
    check_ok(fftnd_plan_wavenumbers(plan, 0, k));
    for (int i = 0; i < (int)layout.count[0]; i++) {
        int wrong = 0;
        for (int j = 0; j < given->sizes[0]; j++)
            set_point(given, field, j, mode(given, k[i], j));
        check_ok(fftnd_forward(plan, field, modes));
        for (int other = 0; other < (int)layout.count[0]; other++)
            wrong += (get_size(given, modes, other) > 1e-10) != (other == i);
        check_all(wrong == 0, "%d elements are wrong for k[%d] = %g", wrong, i, k[i]);
    }
    check_ok(fftnd_plan_free(&plan));
}

START_TEST(modes_of_one_axis) {
    for (int n = 2; n <= MOST; n++) {
        fft_case given = FFT_CASE(FFTND_C2C, n);
        check_modes(&given);
        given.kind = FFTND_R2C;
        check_modes(&given);
        given.kind = FFTND_R2R;
        for (int type = FFTND_DCT1; type <= FFTND_DST4; type++) {
            given.r2r[0] = (enum fftnd_r2r)type;
            check_modes(&given);
        }
    }
}
END_TEST

START_TEST(retained_modes_of_one_axis) {
    for (int retained = 1; retained <= 12; retained++) {
        fft_case given = FFT_CASE(FFTND_C2C, 12);
        given.drops_modes = 1;
        given.retained[0] = retained;
        check_modes(&given);
        given.kind = FFTND_R2C;
        check_modes(&given);
        given.kind = FFTND_R2R;
        given.r2r[0] = FFTND_DST2;
        check_modes(&given);
    }
}
END_TEST

/* Each rank's wavenumbers are its part of those of the whole axis. */
START_TEST(parts) {
    for (int i = 0; i < 12; i++) {
        static const enum fftnd_kind kinds[] = {FFTND_C2C, FFTND_R2C, FFTND_R2R};
        fft_case given = FFT_CASE(kinds[i % 3], 6, 7, 8);
        fftnd_plan *plan = NULL, *whole = NULL;
        fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
        int wrong = 0;
        given.drops_modes = i / 3 % 2;
        given.retained[0] = 5;
        given.retained[1] = 4;
        given.retained[2] = 6;
        given.options.alignment = i / 6 ? FFTND_ALIGN_INPUT : FFTND_ALIGN_CHAIN;
        for (int axis = 0; axis < 3; axis++)
            given.r2r[axis] = (enum fftnd_r2r)((i + axis) % 8);
        harness_case("%s", fft_case_text(&given));
        check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
        check_ok(fft_case_plan(MPI_COMM_SELF, &given, &whole));
        check_ok(fftnd_plan_layout(plan, FFTND_SPECTRAL, &layout));
        for (int axis = 0; axis < 3; axis++) {
            double mine[MOST], all[MOST];
            check_ok(fftnd_plan_wavenumbers(plan, axis, mine));
            check_ok(fftnd_plan_wavenumbers(whole, axis, all));
            for (int n = 0; n < (int)layout.count[axis]; n++)
                wrong += mine[n] != all[layout.start[axis] + n];
        }
        check_all(wrong == 0, "%d wavenumbers are wrong", wrong);
        check_ok(fftnd_plan_free(&plan));
        check_ok(fftnd_plan_free(&whole));
    }
}
END_TEST

/* ---------------------------------------------------------------- from global indices to addresses */

/* Each element is at one address of one rank, which agrees with the strides; what is outside has none. */
static void check_addresses(const fftnd_layout *layout) {
    enum { MOST_PLACES = 4096 };
    static char memory[MOST_PLACES * 16], seen[MOST_PLACES];
    long long found = 0, wanted = layout->batch, twice = 0, wrong = 0;
    redist_index at[3] = {0};
    memset(seen, 0, sizeof seen);
    for (int axis = 0; axis < 3; axis++)
        wanted *= layout->sizes[axis];
    for (redist_index field = 0; field < layout->batch; field++)
        for (at[0] = 0; at[0] < layout->sizes[0]; at[0]++)
            for (at[1] = 0; at[1] < layout->sizes[1]; at[1]++)
                for (at[2] = 0; at[2] < layout->sizes[2]; at[2]++) {
                    char *place = fftnd_layout_at(layout, memory, at, field);
                    if (place == NULL)
                        continue;
                    size_t element = (size_t)(place - memory) / layout->element_bytes;
                    wrong += (size_t)(place - memory) >= layout->bytes;
                    twice += seen[element]++;
                    found++;
                }
    MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    check_all(found == wanted && twice == 0 && wrong == 0,
              "%lld of %lld elements are somewhere, %lld twice, %lld outside", found, wanted, twice,
              wrong);
    if (layout->count[0] * layout->count[1] * layout->count[2] > 0)
        wrong += fftnd_layout_at(layout, memory, layout->start, 0) != memory ||
                 fftnd_layout_at(layout, memory, layout->start, layout->batch) != NULL ||
                 fftnd_layout_at(layout, memory, layout->start, -1) != NULL ||
                 fftnd_layout_at(layout, NULL, layout->start, 0) != NULL;
    wrong += fftnd_layout_at(layout, memory, layout->sizes, 0) != NULL ||
             fftnd_layout_at(layout, memory, NULL, 0) != NULL ||
             fftnd_layout_at(NULL, memory, layout->start, 0) != NULL;
    check_all(wrong == 0, "an address of what is not there");
}

START_TEST(addresses) {
    for (int i = 0; i < 8; i++) {
        fft_case given = FFT_CASE(i % 2 ? FFTND_R2C : FFTND_C2C, 6, 5, 7);
        fftnd_plan *plan = NULL;
        given.options.batch = i / 2 % 2 ? 3 : 1;
        given.options.batch_position = i / 4 ? FFTND_BATCH_LAST : FFTND_BATCH_FIRST;
        harness_case("%s", fft_case_text(&given));
        check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
        for (int side = 0; side < 2; side++) {
            fftnd_layout layout;
            layout = FFTND_LAYOUT_DEFAULT;
            check_ok(fftnd_plan_layout(plan, (enum fftnd_side)side, &layout));
            check_addresses(&layout);
        }
        check_ok(fftnd_plan_free(&plan));
    }
}
END_TEST

START_TEST(refused) {
    fft_case given = FFT_CASE(FFTND_C2C, 8, 8);
    fftnd_plan *plan = NULL;
    double k[8] = {0};
    check_ok(fft_case_plan(MPI_COMM_SELF, &given, &plan));
    check_code(fftnd_plan_wavenumbers(plan, -1, k), REDIST_ERR_AXIS);
    check_code(fftnd_plan_wavenumbers(plan, 2, k), REDIST_ERR_AXIS);
    check_all(strstr(redist_error_message(), "axis = 2") != NULL, "%s", redist_error_message());
    check_code(fftnd_plan_wavenumbers(plan, 1, NULL), REDIST_ERR_NULL);
    check_ok(fftnd_plan_free(&plan));
    check_code(fftnd_plan_wavenumbers(plan, 0, k), REDIST_ERR_STATE);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {
        accessors, of_an_exchange, modes_of_one_axis, retained_modes_of_one_axis,
        parts,     addresses,      refused,           NULL};
    return harness_run(argc, argv, "test_fftnd_questions", tests);
}
