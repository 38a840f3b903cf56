/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transforms whose physical side has some of the points, the others being zero: compared with serial FFTW on the whole
 * array with its zeros, whose points behind the filled ones are dropped after the transform back.
 */
#include <complex.h>
#include <dlfcn.h>
#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"
#include "random.h"

static const enum fftnd_kind kinds[] = {FFTND_C2C, FFTND_R2C, FFTND_R2R};
enum { NKINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* ---------------------------------------------------------------- values */

/* Of all kinds of axes, half of the cases with retained modes, too. */
static void check_random_cases(MPI_Comm comm, int nranks) {
    for (int i = 0; harness_another(i, 6); i++) {
        fft_case given =
            random_chance(50) ? fft_random_case(nranks, 0) : fft_random_mixed_case(nranks, 0);
        fft_random_filled(&given);
        if (random_chance(50)) {
            fft_random_kept(&given);
        }
        fft_check_once(comm, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}

START_TEST(random_cases) {
    check_random_cases(MPI_COMM_WORLD, harness_nranks);
}
END_TEST

START_TEST(random_cases_on_one_rank_each) {
    check_random_cases(MPI_COMM_SELF, 1);
}
END_TEST

/* Some with fewer rows than ranks. */
START_TEST(every_grid) {
    static const int filled[][3] = {{4, 3, 5}, {7, 2, 9}, {1, 6, 1}, {2, 1, 4}};
    for (int i = 0; i < NKINDS * 4; i++) {
        fft_case given = FFT_CASE(kinds[i % NKINDS], 7, 6, 9);
        fft_case_fill(&given, filled[i / NKINDS]);
        if (i % 2) {
            fft_case_retain(&given, (const int[]){5, 3, 6});
        }
        fft_check_all_grids(given);
    }
}
END_TEST

/* Every real-to-real transform, each with all numbers of points of a short axis. */
START_TEST(every_number_of_points) {
    int step = harness_cases(100) < 10 ? 3 : 1;
    for (int n = 2; n <= 6; n += step) {
        for (int points = 1; points <= n; points++) {
            for (int i = 0; i < NKINDS; i++) {
                fft_case given = FFT_CASE(kinds[i], n, 4, n);
                given.r2r[0] = (enum fftnd_r2r)random_between(FFTND_DCT1, FFTND_DHT);
                given.r2r[2] = (enum fftnd_r2r)random_between(FFTND_DCT1, FFTND_DHT);
                fft_case_fill(&given, (const int[]){points, 3, points});
                fft_check_once(MPI_COMM_WORLD, &given);
            }
        }
    }
}
END_TEST

START_TEST(in_place_and_on_other_arrays) {
    for (int i = 0; i < NKINDS * 8; i++) {
        fft_case given = FFT_CASE(kinds[i % NKINDS], 8, 9, 10);
        fft_case_fill(&given, (const int[]){4, 5, i / NKINDS % 2 == 0 ? 5 : 10});
        given.options.in_place = i / NKINDS / 2 % 2;
        given.options.overwrite_input = !given.options.in_place;
        given.options.alignment = (enum fftnd_alignment)(i / NKINDS / 4);
        for (int n = 1; n < 3; n++) {
            given.options.grid_ndims = n;
            fft_check(MPI_COMM_WORLD, &given);
        }
    }
}
END_TEST

/* Axes that are transformed in the array, a few columns at once, some beside columns of zeros. */
START_TEST(columns_of_arrays) {
    setenv("FFTND_CONFIGURATION",
           " fused=0 tiled=1 tile=100000 group=100 nontemporal=1073741824 segments=1 transposed=0 "
           "untiled=1 partitions=1",
           1);
    for (int i = 0; i < 6; i++) {
        fft_case given = FFT_CASE(kinds[i % 2], 24, 20, i < 4 ? 22 : 5);
        given.precision = fft_case_precision((enum fftnd_precision)(i / 2 % 2));
        fft_case_fill(&given, (const int[]){13, 20 - i, 5});
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

static const char all_at_once[] =
    " fused=0 tiled=1 tile=1000000 group=1000000 nontemporal=1073741824 segments=1 transposed=0 "
    "untiled=0 partitions=1";

/* Tiles of several axes, which are transformed one after the other as each gets its zeros or loses its points; of all
 * axes of a rank at once, and of two. */
START_TEST(axes_one_after_the_other) {
    static const enum fftnd_kind four[] = {FFTND_C2C, FFTND_R2C, FFTND_R2R, FFTND_MIXED};
    for (int i = 0; i < 16; i++) {
        fft_case given = FFT_CASE(four[i % 4], 18, 20, 24);
        fft_case_fill(&given, (const int[]){9, random_between(1, 20), i % 3 == 0 ? 24 : 12});
        if (random_chance(30)) {
            fft_case_retain(&given, (const int[]){18, 13, 16});
        }
        given.axes[0] = random_chance(50) ? FFTND_AXIS_COMPLEX : FFTND_AXIS_R2R;
        given.axes[1] = FFTND_AXIS_R2R;
        given.axes[2] = random_chance(50) ? FFTND_AXIS_HALVED : FFTND_AXIS_COMPLEX;
        given.precision = fft_case_precision((enum fftnd_precision)(i / 2 % 2));
        given.options.in_place = i / 4 % 2;
        given.options.batch = random_between(1, 2);
        given.options.grid_ndims = random_between(1, 2);
        setenv("FFTND_CONFIGURATION",
               i / 2 % 2
                   ? " fused=1 tiled=1 tile=5000 group=10000 nontemporal=1073741824 segments=1 "
                     "transposed=0 untiled=0 partitions=1"
                   : all_at_once,
               1);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

static long long lines;

/* Counts the lines of plans. */
fftw_plan fftw_plan_guru64_r2r(int rank, const fftw_iodim64 *axes, int nloops,
                               const fftw_iodim64 *loops, double *in, double *out,
                               const fftw_r2r_kind *r2r, unsigned flags) {
    static fftw_plan (*make)(int, const fftw_iodim64 *, int, const fftw_iodim64 *, double *,
                             double *, const fftw_r2r_kind *, unsigned);
    long long count = 1;
    for (int i = 0; i < rank + nloops; i++)
        count *= i < rank ? axes[i].n : loops[i - rank].n;
    for (int i = 0; i < rank; i++)
        lines += count / axes[i].n;
    if (make == NULL)
        *(void **)&make = dlsym(RTLD_NEXT, "fftw_plan_guru64_r2r");
    return make(rank, axes, nloops, loops, in, out, r2r, flags);
}

static long long count_lines(const fft_case *given) {
    fftnd_plan *plan = NULL;
    lines = 0;
    check_ok(fft_case_plan(MPI_COMM_SELF, given, &plan));
    check_ok(fftnd_plan_free(&plan));
    return lines;
}

/* Axes that are filled to a half have, one after the other, a quarter of the lines, a half, and all. */
START_TEST(no_lines_of_zeros) {
    fft_case given = FFT_CASE(FFTND_R2R, 16, 16, 16);
    setenv("FFTND_CONFIGURATION", all_at_once, 1);
    const long long all = count_lines(&given);
    fft_case_fill(&given, (const int[]){8, 8, 8});
    const long long some = count_lines(&given);
    unsetenv("FFTND_CONFIGURATION");
    check_all(all > 0 && 12 * some == 7 * all, "%lld lines of %lld", some, all);
}
END_TEST

/* Both sides in boxes of any shape, in all precisions. */
START_TEST(boxes) {
    for (int i = 0; i < NKINDS * 3; i++) {
        fft_case given = fft_random_filled_boxes(kinds[i % NKINDS]);
        given.precision = fft_case_precision((enum fftnd_precision)(i / NKINDS));
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

/* ---------------------------------------------------------------- joined */

/* An error if transforms and exchanges are not joined, and tiles of few elements. */
START_TEST(joined_with_exchanges) {
    static const char *const methods[] = {"auto", "direct", "p2p"};
    if (harness_nranks == 1) {
        skip_test("one rank");
    }
    for (int i = 0; i < NKINDS * 3; i++) {
        fft_case given = FFT_CASE(kinds[i % NKINDS], 16, 18, 20);
        fft_case_fill(&given, (const int[]){8, 9, 11});
        given.options.fusion = FFTND_FUSION_ALWAYS;
        given.options.method = methods[i / NKINDS];
        given.options.tile_bytes = 3000;
        given.options.grid_ndims = 1 + i % 2;
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

START_TEST(all_points_are_the_same_as_no_choice) {
    for (int i = 0; i < NKINDS; i++) {
        fft_case given = FFT_CASE(kinds[i], 6, 8, 10), all = given;
        fft_case_fill(&all, given.sizes);
        fft_check_same(&given, &all);
    }
}
END_TEST

/* ---------------------------------------------------------------- a convolution */

enum { N0 = 5, N1 = 4, N2 = 6 };

static double noise_at(int field, redist_index i, redist_index j, redist_index k) {
    const uint64_t at = (uint64_t)(((field * N0 + i) * N1 + j) * N2 + k);
    return ldexp((double)(random_hash(at) >> 12), -51) - 1;
}

static double direct_sum(const redist_index at[]) {
    double sum = 0;
    for (redist_index i = 0; i <= at[0]; i++)
        for (redist_index j = 0; j <= at[1]; j++)
            for (redist_index k = 0; k <= at[2]; k++)
                sum += noise_at(0, i, j, k) * noise_at(1, at[0] - i, at[1] - j, at[2] - k);
    return sum;
}

/* Returns the largest difference of the physical array, times a factor, and `values` of each point. */
static double visit_points(const fftnd_layout *layout, double *array, int is_written) {
    double worst = 0;
    for (redist_index i = 0; i < layout->sizes[0] * layout->sizes[1] * layout->sizes[2]; i++) {
        const redist_index at[] = {i / layout->sizes[2] / layout->sizes[1],
                                   i / layout->sizes[2] % layout->sizes[1], i % layout->sizes[2]};
        for (int field = 0; field < layout->batch; field++) {
            double *point = fftnd_layout_at(layout, array, at, field);
            if (point != NULL && is_written)
                *point = noise_at(field, at[0], at[1], at[2]);
            else if (point != NULL && field == 0)
                worst = fmax(worst, fabs(*point - direct_sum(at)));
        }
    }
    return worst;
}

/* Two fields of half the sizes, the product of whose modes is their convolution. */
START_TEST(convolution) {
    const redist_index sizes[] = {2 * N0, 2 * N1 - 1, 2 * N2 - 1}, filled[] = {N0, N1, N2};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_layout side[2] = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT};
    fftnd_plan *plan = NULL;
    options.filled = filled;
    options.batch = 2;
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &options, &plan));
    for (int i = 0; i < 2; i++)
        check_ok(fftnd_plan_layout(plan, (enum fftnd_side)i, &side[i]));
    check_all(side[0].sizes[0] == N0 && side[0].sizes[1] == N1 && side[0].sizes[2] == N2,
              "the physical side has other extents");
    double *physical = calloc(side[0].bytes + 1, 1);
    double complex *spectral = calloc(side[1].bytes + 1, 1);
    visit_points(&side[0], physical, 1);
    check_ok(fftnd_forward(plan, physical, spectral));
    for (redist_index i = 0; i < side[1].count[0] * side[1].count[1] * side[1].count[2]; i++)
        spectral[i] *= spectral[i + side[1].batch_stride];
    check_ok(fftnd_backward(plan, spectral, physical));
    const double worst = visit_points(&side[0], physical, 0);
    check_all(worst < 1e-12, "the convolution is off by %g", worst);
    check_ok(fftnd_plan_free(&plan));
    free(physical);
    free(spectral);
}
END_TEST

/* ---------------------------------------------------------------- bytes */

static long long sent;

/* Counts what goes to other ranks. */
int MPI_Ialltoallv(const void *send, const int send_counts[], const int send_places[],
                   MPI_Datatype send_type, void *receive, const int receive_counts[],
                   const int receive_places[], MPI_Datatype receive_type, MPI_Comm comm,
                   MPI_Request *request) {
    int rank, nranks, bytes;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &nranks);
    MPI_Type_size(send_type, &bytes);
    for (int i = 0; i < nranks; i++)
        sent += i != rank ? (long long)bytes * send_counts[i] : 0;
    return PMPI_Ialltoallv(send, send_counts, send_places, send_type, receive, receive_counts,
                           receive_places, receive_type, comm, request);
}

/* Elements that change ranks when an exchange along one of `nparts` blocks splits axis `to` in the place of axis
 * `from`, among as many other elements: all without those that stay. */
static long long moved(long long from, long long to, long long others, int nparts) {
    long long stay = 0;
    for (int part = 0; part < nparts; part++) {
        redist_index counts[2], start;
        (void)redist_decompose(from, nparts, part, &counts[0], &start);
        (void)redist_decompose(to, nparts, part, &counts[1], &start);
        stay += counts[0] * counts[1];
    }
    return others * (from * to - stay);
}

/* The least bytes of a chain in an order of axes: before the exchange that makes an axis whole, that axis and those
 * that become whole later have their filled points. So has an axis that is never split and has more modes, except the
 * halved one, which is transformed first. The others have their modes. */
static long long least_bytes(const fft_case *given, const fftnd_plan_info *info) {
    const int *order = info->order;
    int points[3], modes[3];
    long long bytes = 0;
    fft_case_sizes(given, FFTND_PHYSICAL, points);
    fft_case_sizes(given, FFTND_SPECTRAL, modes);
    for (int dim = 0; dim < info->grid_ndims; dim++) {
        long long others = 2 * (long long)sizeof(double) * given->options.batch;
        for (int place = 0; place < 3; place++) {
            const int axis = order[place];
            const int is_late = place > info->grid_ndims && axis != fft_case_halved_axis(given) &&
                                points[axis] < modes[axis];
            if (place != dim && place != dim + 1)
                others *= place < dim || is_late ? points[axis] : modes[axis];
        }
        bytes += moved(points[order[dim]], modes[order[dim + 1]], others, info->grid[dim]);
    }
    return bytes;
}

/* Formats are narrower. The order is the plan's, or a random one. */
START_TEST(sent_bytes_are_the_least) {
    const int grids[][2] = {{harness_nranks, 1}, {1, harness_nranks}, {2, harness_nranks / 2}};
    for (int i = 0; i < 4 * 3; i++) {
        fft_case given = FFT_CASE(i % 2 ? FFTND_R2C : FFTND_C2C, 12, 14, 16);
        const int *grid = grids[i / 2 % 3], grid_ndims = i / 2 % 3 == 0 ? 1 : 2;
        if (grid == grids[2] && harness_nranks % 2 != 0)
            continue;
        fft_case_fill(&given, (const int[]){6, 8, 7});
        fft_case_retain(&given, (const int[]){11, 9, 12});
        given.options.method = "alltoallv";
        given.options.fusion = FFTND_FUSION_NEVER;
        given.options.wire = (enum redist_wire)(i % 3);
        given.options.wire_scope = REDIST_WIRE_EVERYWHERE;
        fft_case_grid(&given, grid_ndims, grid);
        if (i >= 2 * 3)
            fft_random_order(&given);
        fft_run run;
        fft_run_create(MPI_COMM_WORLD, &given, &run);
        for (enum fftnd_side side = FFTND_PHYSICAL; side <= FFTND_SPECTRAL; side++) {
            fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
            sent = 0;
            check_ok(fft_run_execute(&run, side));
            check_ok(fftnd_plan_get_info(run.plan, &info));
            check_all(side == FFTND_SPECTRAL || (long long)info.sent_bytes == sent,
                      "case %d: %zu bytes are said to be sent, not %lld", i, info.sent_bytes, sent);
            long long all = sent, least = least_bytes(&given, &info);
            MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
            least /= 1 + (given.options.wire == REDIST_WIRE_FLOAT);
            check_all(given.options.wire == REDIST_WIRE_16_BITS ? 2 * all <= least : all == least,
                      "case %d: %lld bytes are sent, not %lld", i, all, least);
        }
        fft_run_free(&run);
    }
}
END_TEST

/* Axes that are filled to a half: an exchange that splits the halved axis sends half of what one that splits a full
 * axis does. Between nodes the plan takes the former. */
START_TEST(order_that_sends_half) {
    const int orders[][3] = {{0, 2, 1}, {0, 1, 2}};
    MPI_Comm comm = harness_begin_nodes(1);
    size_t bytes[3];
    for (int i = 0; i < 3; i++) {
        fft_case given = FFT_CASE(FFTND_R2C, 16, 16, 30);
        fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
        fftnd_plan *plan;
        fft_case_fill(&given, (const int[]){8, 8, 15});
        fft_case_grid(&given, 1, &(int){harness_nranks});
        given.has_order = i > 0;
        memcpy(given.order, orders[i > 1], sizeof(orders[0]));
        check_ok(fft_case_plan(comm, &given, &plan));
        check_ok(fftnd_plan_get_info(plan, &info));
        check_all(harness_nranks == 1 || i > 0 ||
                      memcmp(info.order, orders[0], sizeof(orders[0])) == 0,
                  "the order is %d, %d, %d", info.order[0], info.order[1], info.order[2]);
        bytes[i] = info.sent_bytes;
        check_ok(fftnd_plan_free(&plan));
    }
    harness_end_nodes(&comm);
    check_all(bytes[0] == bytes[1] && bytes[2] == 2 * bytes[1], "%zu, %zu and %zu bytes are sent",
              bytes[0], bytes[1], bytes[2]);
}
END_TEST

/* ---------------------------------------------------------------- refused */

static void check_refusal(fft_case given, const int filled[], int code, const char *words,
                          int rank) {
    fftnd_plan *plan = NULL;
    char where[32];
    snprintf(where, sizeof(where), "(rank %d)", rank);
    fft_case_fill(&given, filled);
    given.options.grid_ndims = 0;
    check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), code);
    check_all(plan == NULL, "a plan was made");
    const char *message = redist_error_message();
    check_all(strstr(message, words) != NULL && strstr(message, where) != NULL,
              "no '%s' or '%s' in: %s", words, where, message);
}

START_TEST(numbers_of_points_that_do_not_fit) {
    const fft_case given = FFT_CASE(FFTND_R2C, 6, 7, 8);
    const int last = harness_nranks - 1, is_last = harness_rank == last;
    check_refusal(given, (const int[]){6, 7, 0}, REDIST_ERR_SIZE, "options->filled[2] = 0", 0);
    check_refusal(given, (const int[]){7, 7, 8}, REDIST_ERR_SIZE,
                  "options->filled[0] = 7 is not in 1..6 (sizes[0])", 0);
    check_refusal(given, (const int[]){6, -2, 8}, REDIST_ERR_SIZE, "options->filled[1] = -2", 0);
    check_refusal(given, (const int[]){6, is_last ? 9 : 7, 8}, REDIST_ERR_SIZE,
                  "options->filled[1] = 9", last);
    if (harness_nranks > 1) {
        check_refusal(given, (const int[]){6, 7, is_last ? 5 : 4}, REDIST_ERR_DISAGREE,
                      "options->filled: {6, 7, 4} on rank 0, {6, 7, 5} on rank", last);
    }
}
END_TEST

START_TEST(what_goes_without_zeros) {
    redist_halo ghosts = REDIST_HALO_DEFAULT;
    fft_case given = FFT_CASE(FFTND_C2C, 6, 7, 8);
    given.options.ghosts = &ghosts;
    ghosts.high[1] = 1;
    ghosts.periodic[1] = 1;
    check_refusal(given, (const int[]){6, 5, 8}, REDIST_ERR_SIZE, "set periodic[1] = 0", 0);
    ghosts.periodic[1] = 0;
    ghosts.high[1] = 6;
    check_refusal(given, (const int[]){6, 5, 8}, REDIST_ERR_SIZE, "options->filled[1] = 5", 0);
    given = FFT_CASE(FFTND_MIXED, 6, 7);
    given.axes[1] = FFTND_AXIS_COMPLEX;
    check_refusal(given, (const int[]){5, 7}, REDIST_ERR_SIZE, "options->filled[0] = 5", 0);
    given = FFT_CASE(FFTND_C2C, 6, 7);
    given.options.local_transpose = FFTND_LOCAL_TRANSPOSE_ALWAYS;
    check_refusal(given, (const int[]){5, 7}, REDIST_ERR_ARGUMENT, "options->filled", 0);
    given = FFT_CASE(FFTND_C2C, 36);
    if (harness_nranks > 1) {
        check_refusal(given, (const int[]){30}, REDIST_ERR_SIZE, "options->filled[0] = 30", 0);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_cases,
                                  random_cases_on_one_rank_each,
                                  every_grid,
                                  every_number_of_points,
                                  in_place_and_on_other_arrays,
                                  columns_of_arrays,
                                  axes_one_after_the_other,
                                  no_lines_of_zeros,
                                  boxes,
                                  joined_with_exchanges,
                                  all_points_are_the_same_as_no_choice,
                                  convolution,
                                  sent_bytes_are_the_least,
                                  order_that_sends_half,
                                  numbers_of_points_that_do_not_fit,
                                  what_goes_without_zeros,
                                  NULL};
    return harness_run(argc, argv, "test_fftnd_filled", tests);
}
