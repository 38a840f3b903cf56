/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device, the streams, the captures and the contexts are the user's: plans work on the device that they were made
 * on, whichever is current; arrays and streams of another one are refused; captures stay whole; a device that was reset
 * is noticed. On a device that stands in for CUDA, or on CUDA's (see stream_device.h).
 */
#include <stdlib.h>
#include <string.h>

#include "device_job.h"
#include "fft_random.h"

enum { ROUNDS = 4 };

static int other_device(void) {
    return (stream_device_current() + 1) % stream_device_count();
}

static int says(const char *words) {
    return strstr(redist_error_message(), words) != NULL;
}

#define NEEDS_TWO_DEVICES()                                                                        \
    NEEDS_STREAM_DEVICE();                                                                         \
    if (stream_device_count() < 2)                                                                 \
    skip_test("one device")

/* ---------------------------------------------------------------- another device is current */

static void change_devices(enum work work, int asynchronous) {
    const int other = other_device();
    struct job job = begin_planned(work, asynchronous);
    for (int round = 0; round < ROUNDS; round++)
        check_pair(&job, round % 2 == 0 ? other : job.device);
    stream_device_use(other);
    check_ok(free_plan(&job));
    check_all(stream_device_current() == other, "freeing changed the device");
    stream_device_use(job.device);
    end_job(&job);
}

START_TEST(devices_change) {
    NEEDS_TWO_DEVICES();
    try_all(change_devices);
}
END_TEST

/* Plans on both devices take turns. */
static void use_both(enum work work, int asynchronous) {
    const int devices[2] = {stream_device_current(), other_device()};
    struct job jobs[2];
    for (int i = 0; i < 2; i++) {
        stream_device_use(devices[i]);
        jobs[i] = begin_planned(work, asynchronous);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 2; i++)
            check_pair(&jobs[i], devices[(round + i) % 2]);
    for (int i = 0; i < 2; i++) {
        stream_device_use(devices[!i]);
        check_ok(free_plan(&jobs[i]));
        stream_device_use(devices[i]);
        end_job(&jobs[i]);
    }
}

START_TEST(two_devices) {
    NEEDS_TWO_DEVICES();
    try_all(use_both);
}
END_TEST

static int seen_device;

/* Its results are its input. */
static int change_device(void *data, const fftnd_box *box) {
    (void)box;
    seen_device = stream_device_current();
    stream_device_use(*(const int *)data);
    return 0;
}

/* A function of the user finds the plan's device, and may leave another one. */
START_TEST(function_changes_devices) {
    NEEDS_TWO_DEVICES();
    int other = other_device();
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    options.inputs = options.outputs = 1;
    options.box_function = change_device;
    options.data = &other;
    for (int asynchronous = 0; asynchronous < 2; asynchronous++) {
        struct job job = begin_planned(TRANSFORM, asynchronous);
        job.work = OPERATOR;
        check_ok(fftnd_operator_create(job.plan, FFTND_MODES, &options, &job.op));
        for (int round = 0; round < ROUNDS; round++) {
            seen_device = -1;
            check_pair(&job, round % 2 == 0 ? other : job.device);
            check_all(seen_device == job.device, "the function saw device %d", seen_device);
        }
        check_ok(free_plan(&job));
        stream_device_use(job.device);
        end_job(&job);
    }
}
END_TEST

/* An exchange without a plan finds the device that is current. */
START_TEST(once_on_each_device) {
    NEEDS_TWO_DEVICES();
    const int devices[2] = {stream_device_current(), other_device()};
    redist_index a[3], b[3];
    set_shapes(a, b);
    for (int round = 0; round < ROUNDS; round++) {
        stream_device_use(devices[round / 2 % 2]);
        struct job job = begin_job(EXCHANGE, 0);
        job.bytes[0] = (size_t)(a[0] * a[1] * a[2]) * sizeof(double);
        check_ok(redist_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 3, a, job.arrays[0], 0, b,
                                 job.arrays[1], 1));
        poison(&job);
        check_ok(redist_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 3, b, job.arrays[1], 1, a,
                                 job.arrays[0], 0));
        check_result(&job);
        stream_device_use(devices[(round + 1) % 2]);
        end_job(&job);
        stream_device_use(devices[0]);
    }
}
END_TEST

/* ---------------------------------------------------------------- arrays and streams of another device */

/* The message names both devices, and the plan stays whole. */
static void refuse_arrays(enum work work, int asynchronous) {
    const int other = other_device();
    if (work == TILES)
        return;
    struct job job = begin_planned(work, asynchronous);
    stream_device_use(other);
    double *wrong = allocate_array(&job);
    for (int round = 0; round < 2; round++) {
        stream_device_use(round == 0 ? job.device : other);
        check_code(run_job_on(&job, 0, wrong, job.arrays[1]), REDIST_ERR_ARGUMENT);
        check_all(says("on device"), "%s", redist_error_message());
        check_pair(&job, job.device);
    }
    check_ok(free_plan(&job));
    release_array(&job, wrong);
    stream_device_use(job.device);
    end_job(&job);
}

START_TEST(arrays_of_another_device) {
    NEEDS_TWO_DEVICES();
    try_all(refuse_arrays);
}
END_TEST

/* One rank's array; the others get its error. */
START_TEST(one_array_of_another_device) {
    NEEDS_TWO_DEVICES();
    const int other = other_device();
    for (int work = 0; work < TILES; work++) {
        struct job job = begin_planned((enum work)work, 0);
        stream_device_use(other);
        double *wrong = allocate_array(&job);
        stream_device_use(job.device);
        const int is_guilty = harness_rank == harness_nranks - 1;
        check_code(run_job_on(&job, 0, is_guilty ? wrong : job.arrays[0], job.arrays[1]),
                   REDIST_ERR_ARGUMENT);
        check_pair(&job, job.device);
        check_ok(free_plan(&job));
        release_array(&job, wrong);
        end_job(&job);
    }
}
END_TEST

static void refuse_streams(enum work work, int asynchronous) {
    if (work == TILES)
        return;
    struct job job = begin_job(work, asynchronous);
    void *own = job.stream, *wrong;
    stream_device_use(other_device());
    wrong = stream_device_create_own(0);
    stream_device_use(job.device);
    job.stream = wrong;
    check_code(make_plan(&job), REDIST_ERR_ARGUMENT);
    check_all(says("of device"), "%s", redist_error_message());
    job.stream = own;
    check_ok(make_plan(&job));
    check_pair(&job, job.device);
    check_ok(free_plan(&job));
    stream_device_use(other_device());
    stream_device_destroy(wrong);
    stream_device_use(job.device);
    end_job(&job);
}

START_TEST(streams_of_another_device) {
    NEEDS_TWO_DEVICES();
    try_all(refuse_streams);
}
END_TEST

/* What makes a plan impossible is said when it is made, whoever has its work space. */
START_TEST(shared_device) {
    NEEDS_STREAM_DEVICE();
    if (harness_nranks == 1 || !stream_device_share(1))
        skip_test("ranks share no device");
    struct job job = begin_job(TRANSFORM, 1);
    for (job.user_workspace = 0; job.user_workspace < 2; job.user_workspace++) {
        check_code(make_plan(&job), REDIST_ERR_METHOD);
        check_all(says("share one"), "%s", redist_error_message());
    }
    (void)stream_device_share(0);
    end_job(&job);
}
END_TEST

/* ---------------------------------------------------------------- captures */

/* In the stream of a plan that waits for the device. */
static void capture_own(enum work work, int asynchronous) {
    if (work == TILES || asynchronous)
        return;
    struct job job = begin_planned(work, asynchronous);
    for (int mode = 0; mode < CAPTURES; mode++) {
        stream_device_watch(job.stream, (enum stream_capture)mode);
        const int code = run_job(&job, 0), names_option = says("asynchronous");
        const int is_whole = stream_device_watched(job.stream);
        check_code(code, REDIST_ERR_STATE);
        check_all(names_option, "%s", redist_error_message());
        check_all(is_whole, "the capture was spoilt (mode %d)", mode);
        check_pair(&job, job.device);
    }
    check_ok(free_plan(&job));
    end_job(&job);
}

START_TEST(own_stream_is_captured) {
    NEEDS_STREAM_DEVICE();
    try_all(capture_own);
}
END_TEST

/* Plans are made, executed and freed while another stream is captured; what the test does itself is not allowed
 * meanwhile. */
static void capture_beside(enum work work, int asynchronous) {
    for (int i = 0; i < 2 * CAPTURES; i++) {
        const int mode = i / 2, waits = i % 2, refuses = waits && work != EXCHANGE;
        struct job job = begin_job(work, asynchronous);
        void *beside = stream_device_create_own(waits);
        harness_case("%s%s, captures in mode %d%s", work_names[work],
                     asynchronous ? ", asynchronous" : "", mode,
                     waits ? ", of a stream that the default stream waits for" : "");
        stream_device_watch(beside, (enum stream_capture)mode);
        int code = make_plan(&job), is_whole = stream_device_watched(beside);
        check_code(code, refuses ? REDIST_ERR_STATE : REDIST_OK);
        check_all(!refuses || says("cudaStreamNonBlocking"), "%s", redist_error_message());
        check_all(is_whole, "making a plan spoilt the capture");
        if (refuses)
            check_ok(make_plan(&job));
        check_pair(&job, job.device);
        for (int back = 0; back < 2; back++) {
            stream_device_watch(beside, (enum stream_capture)mode);
            code = run_job(&job, back);
            is_whole = stream_device_watched(beside);
            check_ok(code);
            check_all(is_whole, "executing spoilt the capture");
        }
        check_result(&job);
        stream_device_watch(beside, (enum stream_capture)mode);
        code = query_job(&job);
        const int freed = free_plan(&job);
        is_whole = stream_device_watched(beside);
        check_ok(code);
        check_ok(freed);
        check_all(is_whole, "freeing spoilt the capture");
        stream_device_destroy(beside);
        end_job(&job);
    }
}

START_TEST(another_stream_is_captured) {
    NEEDS_STREAM_DEVICE();
    try_all(capture_beside);
}
END_TEST

START_TEST(arrays_beside_a_capture) {
    NEEDS_STREAM_DEVICE();
    for (int mode = 0; mode < CAPTURES; mode++) {
        void *beside = stream_device_create_own(mode % 2), *array = NULL;
        int mappable = -1;
        stream_device_watch(beside, (enum stream_capture)mode);
        int codes[3] = {redist_alloc_in(MPI_COMM_WORLD, REDIST_SPACE_CUDA, BYTES, &array)};
        codes[1] = redist_alloc_info(array, &mappable);
        codes[2] = redist_free(&array);
        const int is_whole = stream_device_watched(beside);
        for (int i = 0; i < 3; i++)
            check_ok(codes[i]);
        check_all(is_whole, "the capture was spoilt (mode %d)", mode);
        stream_device_destroy(beside);
    }
}
END_TEST

/* ---------------------------------------------------------------- devices that are reset */

static void reset_all(enum work work, int asynchronous) {
    struct job job = begin_planned(work, asynchronous), next;
    for (int round = 0; round < ROUNDS; round++)
        check_pair(&job, job.device);
    MPI_Barrier(MPI_COMM_WORLD);
    stream_device_reset();
    const int code = run_job(&job, 0), is_named = says("cudaDeviceReset");
    check_code(code, REDIST_ERR_DEVICE);
    check_all(is_named, "%s", redist_error_message());
    check_code(query_job(&job), REDIST_ERR_DEVICE);
    check_ok(free_plan(&job));
    end_gone(&job);
    next = begin_planned(work, asynchronous);
    for (int round = 0; round < ROUNDS; round++)
        check_pair(&next, next.device);
    check_ok(free_plan(&next));
    end_job(&next);
}

START_TEST(reset_before_freeing) {
    NEEDS_STREAM_DEVICE();
    try_all(reset_all);
}
END_TEST

/* Nothing but freeing behind it, also of arrays that the plan does not know. */
static void reset_and_free(enum work work, int asynchronous) {
    struct job job = begin_planned(work, asynchronous);
    check_pair(&job, job.device);
    MPI_Barrier(MPI_COMM_WORLD);
    stream_device_reset();
    check_ok(free_plan(&job));
    end_gone(&job);
}

START_TEST(reset_and_freed) {
    NEEDS_STREAM_DEVICE();
    try_all(reset_and_free);
}
END_TEST

/* The others find out: at once where ranks agree, else when the device has waited for long enough. */
static void reset_one(enum work work, int asynchronous) {
    struct job job = begin_planned(work, asynchronous);
    check_pair(&job, job.device);
    MPI_Barrier(MPI_COMM_WORLD);
    const int is_guilty = harness_rank == 0;
    if (is_guilty)
        stream_device_reset();
    int code = run_job(&job, 0);
    check_all(is_guilty || asynchronous ? 1 : code == REDIST_ERR_DEVICE, "%s",
              redist_error_name(code));
    if (!is_guilty)
        stream_device_wait(job.stream);
    code = query_job(&job);
    check_all(code != REDIST_OK || !(is_guilty || asynchronous), "the query found nothing");
    code = free_plan(&job);
    check_all(code == REDIST_OK, "%s", redist_error_message());
    (is_guilty ? end_gone : end_job)(&job);
}

START_TEST(reset_on_one_rank) {
    NEEDS_STREAM_DEVICE();
    if (harness_nranks == 1)
        skip_test("one rank");
    try_all(reset_one);
}
END_TEST

/* ---------------------------------------------------------------- arrays that peers cannot map */

static redist_box make_slab(const redist_index sizes[3]) {
    redist_box box = REDIST_BOX_DEFAULT;
    memcpy(box.count, sizes, 3 * sizeof *sizes);
    check_ok(
        redist_decompose(sizes[0], harness_nranks, harness_rank, &box.count[0], &box.start[0]));
    memcpy(box.extent, box.count, sizeof box.count);
    return box;
}

/* Each exchange begins or ends in work space, which peers map, as direct copies need it. */
START_TEST(boxes_without_messages) {
    NEEDS_STREAM_DEVICE();
    for (int halves = 0; halves < 2; halves++) {
        const redist_index sizes[2][3] = {{2 * harness_nranks, 2 * harness_nranks, 8},
                                          {2 * harness_nranks, 2 * harness_nranks, halves ? 5 : 8}};
        const redist_box boxes[2] = {make_slab(sizes[0]), make_slab(sizes[1])};
        fftnd_options options = FFTND_OPTIONS_DEFAULT;
        fftnd_plan *plan = NULL;
        options.box[0] = &boxes[0];
        options.box[1] = &boxes[1];
        options.space = REDIST_SPACE_CUDA;
        options.method = "direct";
        options.effort = FFTND_ESTIMATE;
        fft_use_chunks(2, 0, 1, 0); /* two segments, put in work space */
        check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes[0], halves ? FFTND_R2C : FFTND_C2C,
                                   FFTND_DOUBLE, &options, &plan));
        check_ok(fftnd_plan_free(&plan));
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {devices_change,
                                  two_devices,
                                  function_changes_devices,
                                  once_on_each_device,
                                  arrays_of_another_device,
                                  one_array_of_another_device,
                                  streams_of_another_device,
                                  shared_device,
                                  own_stream_is_captured,
                                  another_stream_is_captured,
                                  arrays_beside_a_capture,
                                  reset_before_freeing,
                                  reset_and_freed,
                                  reset_on_one_rank,
                                  boxes_without_messages,
                                  NULL};
    return harness_run(argc, argv, "test_devices", tests);
}
