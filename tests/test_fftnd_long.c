/* SPDX-License-Identifier: BSD-3-Clause */
/* One axis over all ranks: any length, in natural order and in the chain's; compared with serial FFTW. */
#include <fftw3.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "../libfftnd/kernels/kernel.h"
#include "fft_array.h"
#include "harness.h"
#include "random.h"

typedef struct long_case {
    int n;
    enum fftnd_precision precision;
    fftnd_options options;
} long_case;

/* The field and its transform, for each field of the batch, on every rank. */
static void make_reference(const long_case *given, long double *field, long double *modes) {
    const int n = given->n;
    for (int i = 0; i < 2 * n * given->options.batch; i++) {
        field[i] = ldexpl((long double)(random_bits() >> 44), -19) - 1;
    }
    for (int i = 0; i < given->options.batch; i++) {
        fftwl_plan plan =
            fftwl_plan_dft_1d(n, (fftwl_complex *)field + i * n, (fftwl_complex *)modes + i * n,
                              FFTW_FORWARD, FFTW_ESTIMATE | FFTW_UNALIGNED);
        fftwl_execute(plan);
        fftwl_destroy_plan(plan);
    }
}

/* By precision; `unit` is what results of two elements may be off. */
static const struct {
    const char *name;
    double unit;
} precisions[] = {[FFTND_DOUBLE] = {"double", 1e-14},
                  [FFTND_FLOAT] = {"float", 1e-6},
                  [FFTND_LONG_DOUBLE] = {"long double", 50 * LDBL_EPSILON}};

static fft_case numbers_of(const long_case *given) {
    return (fft_case){.precision = given->precision};
}

/* The global index of each element of a side: that of a point, or of a mode. */
static void find_indices(const fftnd_plan *plan, const long_case *given, enum fftnd_side side,
                         const fftnd_layout *layout, int index[]) {
    double *k = malloc(sizeof(double) * (size_t)(layout->count[0] + 1));
    check_ok(fftnd_plan_wavenumbers(plan, 0, k));
    for (int i = 0; i < layout->count[0]; i++) {
        const int mode = (int)k[i] < 0 ? (int)k[i] + given->n : (int)k[i];
        index[i] = side == FFTND_PHYSICAL ? (int)layout->start[0] + i : mode;
    }
    free(k);
}

/* Writes a side, or returns its largest difference. */
static long double walk_side(const fftnd_plan *plan, const long_case *given, enum fftnd_side side,
                             const long double *values, void *array, int writes) {
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT, other = FFTND_LAYOUT_DEFAULT;
    const fft_case numbers = numbers_of(given);
    const size_t bytes = fft_case_number_bytes(&numbers);
    long double worst = 0;
    check_ok(fftnd_plan_layout(plan, side, &layout));
    check_ok(fftnd_plan_layout(plan, FFTND_SPECTRAL, &other));
    const redist_index most = layout.count[0] > other.count[0] ? layout.count[0] : other.count[0];
    int *index = malloc(sizeof(int) * (size_t)(most + 1));
    find_indices(plan, given, side, side == FFTND_SPECTRAL ? &layout : &other, index);
    for (int i = 0; i < layout.count[0]; i++) {
        index[i] = side == FFTND_PHYSICAL ? (int)layout.start[0] + i : index[i];
        for (int field = 0; field < given->options.batch; field++) {
            const ptrdiff_t at = 2 * (i * layout.stride[0] + field * layout.batch_stride);
            const long double *value = values + 2 * (index[i] + field * given->n);
            for (int part = 0; part < 2; part++) {
                unsigned char *number = (unsigned char *)array + (size_t)(at + part) * bytes;
                if (writes) {
                    fft_number_set(&numbers, number, value[part]);
                } else {
                    worst = fmaxl(worst, fabsl(fft_number_get(&numbers, number) - value[part]));
                }
            }
        }
    }
    free(index);
    return worst;
}

static void check_cover(const fftnd_plan *plan, const long_case *given, enum fftnd_side side) {
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    check_ok(fftnd_plan_layout(plan, side, &layout));
    long long sum = layout.count[0];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    check_all(layout.ndims == 1 && layout.sizes[0] == given->n && sum == given->n,
              "side %d has %lld elements", (int)side, sum);
}

static void check_transforms(fftnd_plan *plan, const long_case *given, void *const arrays[2]) {
    const size_t numbers = 2 * (size_t)given->n * (size_t)given->options.batch;
    const double unit = precisions[given->precision].unit;
    const double tolerance = unit * sqrt(given->n) * fmax(1, log2(given->n));
    long double *field = fftwl_malloc(sizeof(long double) * numbers);
    long double *modes = fftwl_malloc(sizeof(long double) * numbers);
    make_reference(given, field, modes);
    walk_side(plan, given, FFTND_PHYSICAL, field, arrays[0], 1);
    check_ok(fftnd_forward(plan, arrays[0], arrays[1]));
    double error = (double)walk_side(plan, given, FFTND_SPECTRAL, modes, arrays[1], 0);
    check_all(error <= tolerance, "forward is off by %.3g, more than %.3g", error, tolerance);
    check_ok(fftnd_backward(plan, arrays[1], arrays[0]));
    error = (double)walk_side(plan, given, FFTND_PHYSICAL, field, arrays[0], 0);
    check_all(error <= tolerance, "the round trip is off by %.3g", error);
    walk_side(plan, given, FFTND_SPECTRAL, modes, arrays[1], 1);
    check_ok(fftnd_backward(plan, arrays[1], arrays[0]));
    error = (double)walk_side(plan, given, FFTND_PHYSICAL, field, arrays[0], 0);
    check_all(error <= tolerance, "backward is off by %.3g", error);
    fftwl_free(field);
    fftwl_free(modes);
}

static void check_case(const long_case *given) {
    fftnd_plan *plan = NULL;
    const redist_index n = given->n;
    harness_case("%d %s%s%s batch %d %s fusion %d tile %zu", given->n,
                 precisions[given->precision].name,
                 given->options.alignment == FFTND_ALIGN_INPUT ? " natural" : " as the chain ends",
                 given->options.in_place ? " in place" : "", given->options.batch,
                 given->options.batch_position == FFTND_BATCH_FIRST ? "first" : "last",
                 (int)given->options.fusion, given->options.tile_bytes);
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 1, &n, FFTND_C2C, given->precision, &given->options,
                               &plan));
    fftnd_layout layouts[2] = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT};
    void *arrays[2] = {NULL, NULL};
    for (int side = 0; side < 2; side++) {
        check_cover(plan, given, (enum fftnd_side)side);
        check_ok(fftnd_plan_layout(plan, (enum fftnd_side)side, &layouts[side]));
    }
    const size_t bytes = layouts[0].bytes > layouts[1].bytes ? layouts[0].bytes : layouts[1].bytes;
    arrays[0] = aligned_alloc(64, (bytes + 127) / 64 * 64);
    arrays[1] = given->options.in_place ? arrays[0] : aligned_alloc(64, (bytes + 127) / 64 * 64);
    check_transforms(plan, given, arrays);
    check_ok(fftnd_plan_free(&plan));
    free(arrays[0]);
    if (!given->options.in_place) {
        free(arrays[1]);
    }
}

static long_case make_case(int n) {
    const fftnd_options defaults = FFTND_OPTIONS_DEFAULT;
    long_case made = {.n = n, .precision = FFTND_DOUBLE, .options = defaults};
    made.options.effort = FFTND_ESTIMATE;
    return made;
}

/* Primes have one row; fewer rows and columns than ranks leave some without any. */
START_TEST(lengths) {
    static const int all[] = {1, 2, 3, 4, 6, 7, 12, 36, 61, 64, 97, 120, 210, 1024, 2310, 4099};
    for (int i = 0; i < (int)(sizeof(all) / sizeof(all[0])); i++) {
        long_case given = make_case(all[i]);
        for (int align = 0; align < 2; align++) {
            given.options.alignment = align ? FFTND_ALIGN_INPUT : FFTND_ALIGN_CHAIN;
            check_case(&given);
        }
    }
}
END_TEST

START_TEST(random_lengths) {
    for (int i = 0; harness_another(i, 8); i++) {
        long_case given = make_case(random_between(1, 3000));
        given.precision =
            fft_case_precision((enum fftnd_precision)random_between(0, FFTND_LONG_DOUBLE));
        given.options.alignment = random_chance(50) ? FFTND_ALIGN_INPUT : FFTND_ALIGN_CHAIN;
        given.options.batch = random_chance(50) ? 1 : random_between(2, 4);
        given.options.batch_position = (enum fftnd_batch_position)random_between(0, 1);
        given.options.in_place = random_chance(40);
        given.options.overwrite_input = !given.options.in_place && random_chance(40);
        given.options.fusion = random_chance(50) ? FFTND_FUSION_AUTO : FFTND_FUSION_NEVER;
        given.options.tile_bytes = random_chance(50) ? (size_t)random_between(100, 4000) : 0;
        check_case(&given);
    }
}
END_TEST

/* Fields of n points that are split along these, each element told apart from all others. */
static double *make_fields(int fields, redist_index n, const fftnd_layout *layout) {
    double *array = aligned_alloc(64, (layout->bytes + 127) / 64 * 64);
    for (int field = 0; field < fields; field++) {
        for (redist_index i = 0; i < layout->count[layout->ndims - 1]; i++) {
            double *value = array + 2 * (field * layout->count[layout->ndims - 1] + i);
            const double at = (double)(field * n + layout->start[layout->ndims - 1] + i);
            value[0] = sin(1.1 * at * at);
            value[1] = cos(0.7 * at * at);
        }
    }
    return array;
}

/* The modes of this rank, in natural order; *nexchanges: of the plan. Ends the plan. */
static double *transform_fields(fftnd_plan *plan, int fields, redist_index n, fftnd_layout *layout,
                                int *nexchanges) {
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    check_ok(fftnd_plan_layout(plan, FFTND_PHYSICAL, layout));
    double *points = make_fields(fields, n, layout);
    check_ok(fftnd_plan_layout(plan, FFTND_SPECTRAL, layout));
    double *modes = aligned_alloc(64, (layout->bytes + 127) / 64 * 64);
    check_ok(fftnd_forward(plan, points, modes));
    check_ok(fftnd_plan_get_info(plan, &info));
    *nexchanges = info.nexchanges;
    check_ok(fftnd_plan_free(&plan));
    free(points);
    return modes;
}

/* The only transformed axis of an array is split: the chain splits another one for a while, two exchanges instead of
 * the three of rows and columns in natural order, and as many as these in the chain's. */
START_TEST(among_other_axes) {
    enum fftnd_axis axes[2] = {FFTND_AXIS_NONE, FFTND_AXIS_COMPLEX};
    const int split[1] = {1};
    for (int fields = 2; fields <= 5; fields += 3) {
        const redist_index n = 144 * harness_nranks * harness_nranks, sizes[2] = {fields, n};
        fftnd_options options = FFTND_OPTIONS_DEFAULT;
        fftnd_plan *among = NULL, *alone = NULL;
        fftnd_layout layouts[2] = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT};
        int nexchanges[2];
        harness_case("%d x %lld", fields, (long long)n);
        options.effort = FFTND_ESTIMATE;
        options.alignment = FFTND_ALIGN_INPUT;
        options.batch = fields;
        options.batch_position = FFTND_BATCH_FIRST;
        check_ok(
            fftnd_plan_create(MPI_COMM_WORLD, 1, &n, FFTND_C2C, FFTND_DOUBLE, &options, &alone));
        options.alignment = FFTND_ALIGN_CHAIN;
        options.batch = 1;
        options.axes = axes;
        options.grid_ndims = 1;
        options.split[0] = options.split[1] = split;
        check_ok(fftnd_plan_create(MPI_COMM_WORLD, 2, sizes, FFTND_MIXED, FFTND_DOUBLE, &options,
                                   &among));
        double *expected = transform_fields(alone, fields, n, &layouts[0], &nexchanges[0]);
        double *found = transform_fields(among, fields, n, &layouts[1], &nexchanges[1]);
        double worst = 0;
        check_all(layouts[0].count[0] == layouts[1].count[1], "other parts of the axis");
        for (redist_index i = 0; i < 2 * fields * layouts[0].count[0]; i++) {
            worst = fmax(worst, fabs(found[i] - expected[i]));
        }
        check_all(worst < 1e-10, "differs by %.3g", worst);
        check_all(harness_nranks == 1 || (nexchanges[0] == 3 && nexchanges[1] == 2),
                  "%d and %d exchanges", nexchanges[0], nexchanges[1]);
        free(expected);
        free(found);
    }
}
END_TEST

/* Only complex axes can be long, and what lies otherwise than in rows cannot. */
START_TEST(what_is_refused) {
    const redist_index n = 12, kept = 10, padding = 1;
    fftnd_plan *plan = NULL;
    const int code = harness_nranks > 1 ? REDIST_ERR_GRID : REDIST_OK;
    check_code(fftnd_plan_create(MPI_COMM_WORLD, 1, &n, FFTND_R2C, FFTND_DOUBLE, NULL, &plan),
               code);
    check_ok(fftnd_plan_free(&plan));
    for (int i = 0; i < 3; i++) {
        static const int codes[] = {REDIST_ERR_SIZE, REDIST_ERR_ARGUMENT, REDIST_ERR_ARGUMENT};
        long_case given = make_case(12);
        harness_case("mistake %d", i);
        given.options.retained_modes = i == 0 ? &kept : NULL;
        given.options.padding[0] = i == 1 ? &padding : NULL;
        given.options.blocks[1] = i == 2 ? FFTND_BLOCKS_CEILING : FFTND_BLOCKS_BALANCED;
        check_code(fftnd_plan_create(MPI_COMM_WORLD, 1, &n, FFTND_C2C, FFTND_DOUBLE, &given.options,
                                     &plan),
                   harness_nranks > 1 ? codes[i] : REDIST_OK);
        check_ok(fftnd_plan_free(&plan));
    }
}
END_TEST

/* ---------------------------------------------------------------- beyond 32 bits */

/* Plans that have not got any memory yet. */
START_TEST(long_layouts) {
    const redist_index large[] = {(redist_index)3 << 32, 2147483648 + 2, 4294967296 + 4};
    for (int i = 0; i < 6; i++) {
        long_case given = make_case(0);
        fftnd_plan *plan = NULL;
        harness_case("%lld elements", (long long)large[i % 3]);
        given.options.alignment = i < 3 ? FFTND_ALIGN_CHAIN : FFTND_ALIGN_INPUT;
        given.options.user_workspace = given.options.overwrite_input = 1;
        given.options.tile_bytes = 1 << 20;
        check_ok(fftnd_plan_create(MPI_COMM_WORLD, 1, &large[i % 3], FFTND_C2C, FFTND_FLOAT,
                                   &given.options, &plan));
        for (int side = 0; side < 2; side++) {
            fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
            check_ok(fftnd_plan_layout(plan, (enum fftnd_side)side, &layout));
            long long end = layout.start[0] + layout.count[0], before = 0;
            MPI_Scan(&layout.count[0], &before, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
            check_all(end == before && layout.sizes[0] == large[i % 3] &&
                          layout.bytes >= 8 * (size_t)layout.count[0],
                      "side %d ends at %lld instead of %lld", side, end, before);
        }
        check_ok(fftnd_plan_free(&plan));
    }
}
END_TEST

/* The last columns of an array of 2^33 elements. */
START_TEST(large_twiddle_factors) {
    enum { ROWS = 65536, COLUMNS = 131072, WIDTH = 3 };
    static double values[ROWS][WIDTH][2];
    const ptrdiff_t stride[2] = {sizeof(values[0]), sizeof(values[0][0])};
    const redist_index start[2] = {0, 0}, n = (redist_index)ROWS * COLUMNS;
    const struct fftnd__transform transform = {
        .batch = {1, -1, 0}, .chain = {.points = {ROWS, COLUMNS}}, .precision = FFTND_DOUBLE};
    const struct fftnd__block block = {.ndims = 2,
                                       .start = start,
                                       .count = {ROWS, WIDTH},
                                       .stride = stride,
                                       .item = 16,
                                       .memory = (char *)values};
    struct fftnd__twiddles *twiddles;
    double worst = 0;
    for (int i = 0; i < ROWS * WIDTH; i++) {
        values[i / WIDTH][i % WIDTH][0] = 1;
        values[i / WIDTH][i % WIDTH][1] = 0;
    }
    check_ok(fftnd__twiddles_create(&transform, REDIST_FORWARD, COLUMNS - WIDTH, WIDTH, &twiddles));
    fftnd__twiddles_apply(twiddles, &block);
    redist_release(twiddles);
    for (int i = 0; i < ROWS * WIDTH; i++) {
        const redist_index k = (redist_index)(i / WIDTH) * (COLUMNS - WIDTH + i % WIDTH);
        const long double angle = -8 * atanl(1) * (long double)k / (long double)n;
        const double *value = values[i / WIDTH][i % WIDTH];
        worst = fmax(worst, hypot(value[0] - (double)cosl(angle), value[1] - (double)sinl(angle)));
    }
    check_all(worst < 1e-15, "a factor is off by %.3g", worst);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {lengths,
                                  random_lengths,
                                  among_other_axes,
                                  what_is_refused,
                                  long_layouts,
                                  large_twiddle_factors,
                                  NULL};
    return harness_run(argc, argv, "test_fftnd_long", tests);
}
