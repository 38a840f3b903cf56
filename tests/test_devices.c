/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device, the streams, the captures and the contexts are the user's: plans work on the device that they were made
 * on, whichever is current; arrays and streams of another one are refused; captures stay whole; a device that was reset
 * is noticed. On a device that stands in for CUDA, or on CUDA's (see stream_device.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fftnd.h"
#include "fftnd_operators.h"
#include "harness.h"
#include "stream_device.h"

enum { SIZE_0 = 16, SIZE_1 = 12, SIZE_2 = 10, NUMBERS = 2 * SIZE_0 * SIZE_1 * SIZE_2 };
enum { BYTES = NUMBERS * (int)sizeof(double), ROUNDS = 4, WAIT_SECONDS = 2 };

static const redist_index sizes[3] = {SIZE_0, SIZE_1, SIZE_2};

/* ---------------------------------------------------------------- plans and their arrays */

enum work { EXCHANGE, TRANSFORM, OPERATOR, TILES, WORKS };

static const char *const names[] = {"exchange", "transform", "operator",
                                    "transform in tiles of a device"};

struct job {
    enum work work;
    const char *method;
    int asynchronous, device, user_workspace;
    void *stream;
    redist_plan *exchange;
    fftnd_plan *plan;
    fftnd_operator *op;
    double *arrays[2];
    size_t bytes[2];
};

static double original[NUMBERS], found[NUMBERS];

/* Those of tiles are in host memory. */
static double *allocate(const struct job *job) {
    return job->work == TILES ? calloc(NUMBERS, sizeof(double))
                              : stream_device_memory()->allocate(MPI_COMM_WORLD, BYTES, 1);
}

static void release(const struct job *job, double *array) {
    if (job->work == TILES)
        free(array);
    else
        stream_device_memory()->release(array, 1);
}

static void copy(const struct job *job, void *to, const void *from) {
    if (job->work == TILES)
        memcpy(to, from, BYTES);
    else
        stream_device_memory()->copy(to, from, BYTES);
}

/* Arrays and a stream on the device that is current. */
static struct job begin_job(enum work work, int asynchronous) {
    struct job job = {
        .work = work, .asynchronous = asynchronous, .device = stream_device_current()};
    harness_case("%s%s, device %d", names[work], asynchronous ? ", asynchronous" : "", job.device);
    job.stream = stream_device_create();
    for (int i = 0; i < 2; i++)
        job.arrays[i] = allocate(&job);
    for (int i = 0; i < NUMBERS; i++)
        original[i] = sin(i + 17.0 * harness_rank);
    copy(&job, job.arrays[0], original);
    return job;
}

/* Sets the shapes of both arrays of an exchange: all of axis 0, then of axis 1. */
static void set_shapes(redist_index a[3], redist_index b[3]) {
    redist_index start;
    memcpy(a, sizes, sizeof sizes);
    memcpy(b, sizes, sizeof sizes);
    redist_decompose(SIZE_1, harness_nranks, harness_rank, &a[1], &start);
    redist_decompose(SIZE_0, harness_nranks, harness_rank, &b[0], &start);
}

static int plan_exchange(struct job *job) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_index a[3], b[3];
    options.space = REDIST_SPACE_CUDA;
    options.method = job->method;
    options.stream = job->stream;
    options.asynchronous = job->asynchronous;
    options.wait_seconds = WAIT_SECONDS;
    options.effort = REDIST_ESTIMATE;
    set_shapes(a, b);
    job->bytes[0] = (size_t)(a[0] * a[1] * a[2]) * sizeof(double);
    job->bytes[1] = (size_t)(b[0] * b[1] * b[2]) * sizeof(double);
    return redist_plan_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 3, a, job->arrays[0], 0, b,
                                job->arrays[1], 1, &options, &job->exchange);
}

/* Twice half a period is none. */
static int create_operator(struct job *job) {
    static const double half[3] = {3.14159265358979323846, 3.14159265358979323846,
                                   3.14159265358979323846};
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    options.shift = half;
    return fftnd_operator_create(job->plan, FFTND_SHIFT, &options, &job->op);
}

static int plan_transform(struct job *job) {
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    options.space = job->work == TILES ? REDIST_SPACE_HOST : REDIST_SPACE_CUDA;
    options.device = job->work == TILES ? REDIST_SPACE_CUDA : REDIST_SPACE_AUTO;
    options.method = job->method;
    options.stream = job->stream;
    options.asynchronous = job->asynchronous;
    options.wait_seconds = WAIT_SECONDS;
    options.user_workspace = job->user_workspace;
    options.scaling = FFTND_SCALE_BACKWARD;
    options.effort = FFTND_ESTIMATE;
    int code =
        fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_C2C, FFTND_DOUBLE, &options, &job->plan);
    for (int side = 0; side < 2 && code == REDIST_OK; side++) {
        code = fftnd_plan_layout(job->plan, (enum fftnd_side)side, &layout);
        job->bytes[side] = layout.bytes;
    }
    if (code == REDIST_OK && job->work == OPERATOR)
        code = create_operator(job);
    return code;
}

static int make_plan(struct job *job) {
    return job->work == EXCHANGE ? plan_exchange(job) : plan_transform(job);
}

static struct job begin_planned(enum work work, int asynchronous) {
    struct job job = begin_job(work, asynchronous);
    check_ok(make_plan(&job));
    return job;
}

/* There, or back, between these arrays. */
static int run_on(const struct job *job, int back, double *from, double *to) {
    if (job->work == EXCHANGE)
        return redist_plan_execute_arrays(job->exchange, back, back ? to : from, back ? from : to);
    if (job->work == OPERATOR)
        return fftnd_apply(job->plan, job->op, from, to);
    return back ? fftnd_backward(job->plan, from, to) : fftnd_forward(job->plan, from, to);
}

static int run(const struct job *job, int back) {
    return run_on(job, back, job->arrays[back], job->arrays[!back]);
}

static int query(const struct job *job) {
    return job->work == EXCHANGE ? redist_plan_query(job->exchange) : fftnd_plan_query(job->plan);
}

static int free_plan(struct job *job) {
    const int code = fftnd_operator_free(&job->op);
    const int other =
        job->work == EXCHANGE ? redist_plan_free(&job->exchange) : fftnd_plan_free(&job->plan);
    return code == REDIST_OK ? other : code;
}

/* Ends a job whose device was reset: what is left of it is on the host. */
static void end_gone(struct job *job) {
    for (int i = 0; i < 2; i++)
        release(job, job->arrays[i]);
}

static void end_job(struct job *job) {
    end_gone(job);
    stream_device_destroy(job->stream);
}

/* What the device has to do for a job is done, with that device as the current one. */
static void wait_for(const struct job *job) {
    stream_device_use(job->device);
    stream_device_wait(job->stream);
}

/* Array A, which there and back have made anew. */
static void check_result(const struct job *job) {
    double worst = 0;
    wait_for(job);
    copy(job, found, job->arrays[0]);
    for (size_t i = 0; i < job->bytes[0] / sizeof(double); i++)
        worst = fmax(worst, fabs(found[i] - original[i]));
    check_all(worst < 1e-12, "the largest error is %g", worst);
}

static void poison(const struct job *job) {
    wait_for(job);
    for (int i = 0; i < NUMBERS; i++)
        found[i] = 1e9;
    copy(job, job->arrays[0], found);
}

/* There and back while another device is the current one, which it stays. */
static void check_pair(const struct job *job, int current) {
    for (int back = 0; back < 2; back++) {
        stream_device_use(current);
        check_ok(run(job, back));
        check_all(stream_device_current() == current, "device %d is current, not %d",
                  stream_device_current(), current);
        if (!back)
            poison(job);
    }
    check_result(job);
    stream_device_use(current);
    check_ok(query(job));
}

/* All kinds of work on the device of this rank, and what is done with each. */
static void try_all(void (*try)(enum work work, int asynchronous)) {
    const int home = stream_device_current();
    for (int work = 0; work < WORKS; work++)
        for (int asynchronous = 0; asynchronous < (work == TILES ? 1 : 2); asynchronous++) {
            try((enum work)work, asynchronous);
            stream_device_use(home);
        }
}

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
    double *wrong = allocate(&job);
    for (int round = 0; round < 2; round++) {
        stream_device_use(round == 0 ? job.device : other);
        check_code(run_on(&job, 0, wrong, job.arrays[1]), REDIST_ERR_ARGUMENT);
        check_all(says("on device"), "%s", redist_error_message());
        check_pair(&job, job.device);
    }
    check_ok(free_plan(&job));
    release(&job, wrong);
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
        double *wrong = allocate(&job);
        stream_device_use(job.device);
        const int is_guilty = harness_rank == harness_nranks - 1;
        check_code(run_on(&job, 0, is_guilty ? wrong : job.arrays[0], job.arrays[1]),
                   REDIST_ERR_ARGUMENT);
        check_pair(&job, job.device);
        check_ok(free_plan(&job));
        release(&job, wrong);
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
        const int code = run(&job, 0), names_option = says("asynchronous");
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
        harness_case("%s%s, captures in mode %d%s", names[work],
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
            code = run(&job, back);
            is_whole = stream_device_watched(beside);
            check_ok(code);
            check_all(is_whole, "executing spoilt the capture");
        }
        check_result(&job);
        stream_device_watch(beside, (enum stream_capture)mode);
        code = query(&job);
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
    const int code = run(&job, 0), is_named = says("cudaDeviceReset");
    check_code(code, REDIST_ERR_DEVICE);
    check_all(is_named, "%s", redist_error_message());
    check_code(query(&job), REDIST_ERR_DEVICE);
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
    int code = run(&job, 0);
    check_all(is_guilty || asynchronous ? 1 : code == REDIST_ERR_DEVICE, "%s",
              redist_error_name(code));
    if (!is_guilty)
        stream_device_wait(job.stream);
    code = query(&job);
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
                                  NULL};
    return harness_run(argc, argv, "test_devices", tests);
}
