/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous transforms: results as of FFTW, whole and in segments and partitions. On a device that stands in for
 * CUDA, or on CUDA's.
 *     test_fftnd_asynchronous [RANKS_PER_NODE [short]]
 * With an argument nodes are imitated by REDIST_NODE_SIZE, and exchanges between them are NCCL's, or by both links;
 * with "short" only the tests in which it matters how many ranks and nodes there are.
 */
#include <stdlib.h>
#include <string.h>

#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"
#include "stream_device.h"

static int has_nodes;

static void configure(int segments, int partitions, int transposed) {
    fft_use_chunks(segments, transposed, partitions, random_between(0, 2));
}

static fft_case asynchronous(fft_case given) {
    given.options.space = REDIST_SPACE_CUDA;
    given.options.asynchronous = 1;
    return given;
}

START_TEST(slabs_and_pencils) {
    static const int cuts[][2] = {{1, 1}, {2, 1}, {3, 4}, {2, 2}};
    NEEDS_FFT_STREAMS();
    for (int kind = FFTND_C2C; kind <= FFTND_R2C; kind++)
        for (int grid_ndims = 1; grid_ndims < 3; grid_ndims++)
            for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
                fft_case given = asynchronous(FFT_CASE((enum fftnd_kind)kind, 9, 12, 10));
                given.options.grid_ndims = grid_ndims;
                configure(cuts[i][0], cuts[i][1], 0);
                fft_check_once(MPI_COMM_WORLD, &given);
                given.options.method =
                    "nccl:plain"; /* which sends whole arrays, however they are cut */
                fft_check_once(MPI_COMM_WORLD, &given);
                given.options.method = "hier:nccl";
                fft_check_once(MPI_COMM_WORLD, &given);
            }
}
END_TEST

/* The transform behind an exchange begins with what has arrived by both links. */
START_TEST(by_partitions) {
    NEEDS_FFT_STREAMS();
    fft_case given = asynchronous(FFT_CASE(FFTND_C2C, 16, 16, 16));
    given.options.grid_ndims = 1;
    given.options.method = has_nodes ? "hier:nccl" : NULL;
    for (int stores = 0; stores < 3; stores++) {
        fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
        fftnd_plan *plan;
        fft_use_chunks(2, 0, 2, stores);
        check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
        check_ok(fftnd_plan_get_info(plan, &info));
        check_all(harness_nranks == 1 || info.partitions == 2 || stores == 1, "%d partitions",
                  info.partitions);
        check_ok(fftnd_plan_free(&plan));
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* The last transform before an exchange stores into the peers' arrays, or what stays on its rank into its own one,
 * asynchronously or not, of whole arrays and of segments; some ranks cannot. */
START_TEST(stored) {
    NEEDS_FFT_STREAMS();
    for (int i = 0; harness_another(i, 24); i++) {
        fft_case given = asynchronous(fft_random_device_case(harness_nranks));
        given.options.asynchronous = random_chance(60);
        if (has_nodes && random_chance(70)) { /* which needs arrays that peers can map */
            given.options.method = "hier:nccl";
            given.options.mapped_arrays = 1;
            given.memory[0] = given.memory[1] = given.workspace = FFT_MEMORY_SHARED;
        }
        fft_use_chunks(random_chance(50) ? 1 : random_between(2, 4), random_between(0, 2),
                       random_between(1, 3), random_between(1, 2));
        if (random_chance(25))
            fft_random_format(&given);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

/* Segments are sent, and arrays whole, by messages over MPI, from memory of the device or through the host's. */
START_TEST(by_messages) {
    static const char *const methods[] = {"p2p", "p2p:1m", "p2p-streams", "alltoallv"};
    NEEDS_FFT_STREAMS();
    for (int i = 0; i < harness_cases(12); i++) {
        fft_case given = asynchronous(fft_random_device_case(harness_nranks));
        given.options.asynchronous = 0;
        given.options.method = methods[i % 4];
        given.options.staging = stream_device_is_for_mpi() && random_chance(50)
                                    ? REDIST_STAGING_NEVER
                                    : REDIST_STAGING_ALWAYS;
        configure(random_between(1, 5), random_between(1, 4), 0);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

/* The chain runs on some of the ranks. */
START_TEST(on_some_ranks) {
    NEEDS_FFT_STREAMS();
    for (int i = 0; harness_another(i, 12); i++) {
        fft_case given = fft_random_device_case(harness_nranks);
        unsetenv("FFTND_CONFIGURATION");
        if (given.ndims == 1)
            continue;
        given.options.asynchronous = random_chance(50);
        given.options.ranks = random_between(1, harness_nranks);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

/* Each real-to-real transform along each axis, of odd and even numbers of points, of one and two. */
START_TEST(real_to_real) {
    static const int shapes[][3] = {{7, 8, 5}, {4, 9, 2}, {1, 6, 3}};
    NEEDS_FFT_STREAMS();
    for (int i = 0; i < 22; i++) {
        const int *shape = shapes[i % 3];
        fft_case given =
            asynchronous(FFT_CASE(i % 2 ? FFTND_MIXED : FFTND_R2R, shape[0], shape[1], shape[2]));
        given.options.asynchronous = i % 4 < 2;
        for (int axis = 0; axis < 3; axis++) {
            given.axes[axis] = axis == 1 ? FFTND_AXIS_COMPLEX : FFTND_AXIS_R2R;
            given.r2r[axis] = (enum fftnd_r2r)((i / 2 + 4 * axis) % 11);
            if (shape[axis] == 1 && given.r2r[axis] == FFTND_DCT1)
                given.r2r[axis] = FFTND_DST1;
        }
        configure(1 + i % 3, 1 + i % 2, 0);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

/* Modes that are dropped are neither stored nor sent: the spectral side is as small on a device. */
START_TEST(retained_modes) {
    static const int kept[][3] = {{9, 12, 10}, {6, 8, 6}, {5, 1, 7}, {9, 7, 10}};
    NEEDS_FFT_STREAMS();
    for (int kind = FFTND_C2C; kind <= FFTND_R2C; kind++)
        for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
            fft_case given = asynchronous(FFT_CASE((enum fftnd_kind)kind, 9, 12, 10));
            given.options.asynchronous = i % 2 == 0;
            given.options.tile_bytes = i < 2 ? 2000 : 0;
            given.drops_modes = 1;
            memcpy(given.retained, kept[i], sizeof(kept[i]));
            configure(2, 2, 0);
            fft_check_once(MPI_COMM_WORLD, &given);
        }
}
END_TEST

/* By the serial library, and in scratch memory where it cannot. */
START_TEST(random_retained_modes) {
    NEEDS_FFT_STREAMS();
    for (int i = 0; i < harness_cases(12); i++) {
        fft_case given = asynchronous(fft_random_device_case(harness_nranks));
        given.options.asynchronous = random_chance(50);
        if (given.kind == FFTND_R2R) {
            given.kind = FFTND_C2C; /* any order of the axes is one of complex axes too */
        }
        fft_random_kept(&given);
        configure(random_between(1, 5), random_between(1, 5), 0);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

START_TEST(random_cases) {
    NEEDS_FFT_STREAMS();
    for (int i = 0; harness_another(i, 6); i++) {
        fft_case given = asynchronous(fft_random_device_case(harness_nranks));
        if (random_chance(15)) {
            given.options.effort = FFTND_MEASURE;
            given.options.plan_seconds = 0.02;
            unsetenv("FFTND_CONFIGURATION");
        } else {
            configure(random_between(1, 5), random_between(1, 5), random_between(0, 2));
        }
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

/* Where the axis that is whole at first is not transformed, a direction ends with an exchange of the chain. */
START_TEST(ends_with_an_exchange) {
    NEEDS_FFT_STREAMS();
    for (int first = FFTND_AXIS_COMPLEX; first <= FFTND_AXIS_HALVED; first++) {
        fft_case given = asynchronous(FFT_CASE(FFTND_MIXED, 13, 8));
        given.axes[0] = FFTND_AXIS_NONE;
        given.axes[1] = (enum fftnd_axis)first;
        given.has_order = 1;
        given.order[0] = 1;
        configure(first, 1, 0);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

/* Behind the last transform, which may store directly, are two exchanges. It scales, or, where the stand-in cannot, the
 * array behind the first one is scaled. */
START_TEST(stored_and_scaled_before_exchanges) {
    static const enum fftnd_axis axes[] = {FFTND_AXIS_COMPLEX, FFTND_AXIS_COMPLEX, FFTND_AXIS_NONE,
                                           FFTND_AXIS_NONE};
    static const int order[] = {0, 1, 2, 3};
    NEEDS_FFT_STREAMS();
    for (int i = 0; i < 8; i++) {
        fft_case given = asynchronous(FFT_CASE(FFTND_MIXED, 4 + i / 4, 24 + i / 4, 2, 7));
        memcpy(given.axes, axes, sizeof(axes));
        given.options.asynchronous = i % 4 < 2;
        given.options.scaling = FFTND_SCALE_UNITARY;
        given.has_box[0] = given.has_box[1] = given.has_order = 1;
        memcpy(given.order, order, sizeof(order));
        FFT_GRID(&given, 1, 0, 1);
        fft_use_chunks(3, 0, 1, 1 + i % 2);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Results are scaled in registers, whatever the last step is, unless the serial library cannot: the stand-in's cannot
 * in lines of 4 n + 1 elements. */
START_TEST(scaled_in_registers) {
    NEEDS_FFT_STREAMS();
    if (stream_device_scalings() < 0)
        skip_test("scalings are not counted");
    for (int kind = FFTND_C2C; kind <= FFTND_R2C; kind++)
        for (int stores = 0; stores < 3; stores++) {
            fft_case given = asynchronous(FFT_CASE((enum fftnd_kind)kind, 40, 40, 4));
            fft_case odd = asynchronous(FFT_CASE((enum fftnd_kind)kind, 9, 13, 5));
            given.options.scaling = odd.options.scaling = FFTND_SCALE_UNITARY;
            fft_use_chunks(1, 0, 1, stores);
            long before = stream_device_scalings();
            fft_check_once(MPI_COMM_WORLD, &given);
            long between = stream_device_scalings();
            fft_check_once(MPI_COMM_WORLD, &odd);
            check_all(between == before && stream_device_scalings() > between,
                      "%ld scalings of their own, and %ld", between - before,
                      stream_device_scalings() - between);
        }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Bytes that are copied beside the transforms and messages of a pair. */
static long copied_bytes(enum fftnd_kind kind, int grid_ndims, int transposed) {
    /* on four ranks in two segments the stand-in can store all of them */
    fft_case given = asynchronous(FFT_CASE(kind, 120, 120, 4));
    given.options.grid_ndims = grid_ndims;
    given.options.method = "nccl";
    fft_use_chunks(random_between(1, 2), transposed, 1, 1);
    long before = stream_device_copied();
    fft_check_once(MPI_COMM_WORLD, &given);
    return stream_device_copied() - before;
}

/* Counts copies: contiguous arrivals are not unpacked, and direct stores not packed, but the results of real transforms
 * along the axis that is split next are. */
START_TEST(contiguous_arrivals) {
    NEEDS_FFT_STREAMS();
    if (harness_nranks == 1 || stream_device_copied() < 0)
        skip_test("nothing is copied, or copies are not counted");
    for (int kind = FFTND_C2C; kind <= FFTND_R2C; kind++)
        for (int grid_ndims = 1; grid_ndims < 3; grid_ndims++) {
            long usual = copied_bytes((enum fftnd_kind)kind, grid_ndims, 0);
            long least = copied_bytes((enum fftnd_kind)kind, grid_ndims, 2);
            int is_slab = grid_ndims == 1 || harness_nranks < 4 || harness_nranks == 5;
            int packs = kind == FFTND_R2C && !is_slab;
            check_all(least < usual && (least > 0) == packs, "%ld bytes and %ld", usual, least);
        }
}
END_TEST

START_TEST(refusals) {
    NEEDS_FFT_STREAMS();
    fft_case given = asynchronous(FFT_CASE(FFTND_C2C, 8, 8, 8));
    fftnd_plan *plan = NULL;
    given.options.method = "direct";
    int code = fft_case_plan(MPI_COMM_WORLD, &given, &plan);
    check_all(harness_nranks == 1 || (code == REDIST_ERR_METHOD && plan == NULL), "it said %d",
              code);
    check_ok(fftnd_plan_free(&plan));
    given.options.method = NULL;
    given.options.space = REDIST_SPACE_HOST;
    fft_array_use(NULL);
    fft_check_once(MPI_COMM_WORLD, &given);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {slabs_and_pencils,
                                  by_partitions,
                                  stored,
                                  by_messages,
                                  real_to_real,
                                  retained_modes,
                                  random_retained_modes,
                                  random_cases,
                                  ends_with_an_exchange,
                                  stored_and_scaled_before_exchanges,
                                  scaled_in_registers,
                                  contiguous_arrivals,
                                  refusals,
                                  on_some_ranks,
                                  NULL};
    const TTest *const both_links[] = {slabs_and_pencils, by_partitions, stored, on_some_ranks,
                                       NULL};
    has_nodes = argc > 1;
    if (has_nodes)
        setenv("REDIST_NODE_SIZE", argv[1], 1);
    return harness_run(argc, argv, "test_fftnd_asynchronous", argc > 2 ? both_links : tests);
}
