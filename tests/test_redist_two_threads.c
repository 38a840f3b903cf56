/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two and three threads of each rank under MPI_THREAD_MULTIPLE, each with a communicator of its own: they
 * make, use and free plans, arrays, grids, transforms and communicators at the same time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fftnd.h"
#include "harness.h"
#include "methods.h"
#include "redist_support.h"

enum { MOST_THREADS = 3, NDIMS = 3, MESSAGE_BYTES = 600, LAPS = 40 };

/* One thread of each rank; those of the same number share a communicator. */
struct worker {
    pthread_t thread;
    MPI_Comm comm;
    int nranks, rank, laps;
    uint64_t sequence; /* of random numbers, alike on all ranks */
    int failed;
    char message[MESSAGE_BYTES];
};

static int draw(struct worker *worker, int low, int high) {
    return random_from(&worker->sequence, low, high);
}

/* The same thread on another communicator. */
static struct worker on_comm(struct worker *worker, MPI_Comm comm) {
    struct worker other = *worker;
    other.sequence = (uint64_t)draw(worker, 0, 1 << 30) << 32;
    other.comm = comm;
    MPI_Comm_size(comm, &other.nranks);
    MPI_Comm_rank(comm, &other.rank);
    return other;
}

/* Keeps the first failure. */
static int expect(struct worker *worker, int holds, const char *what, const char *why) {
    if (!holds && !worker->failed) {
        worker->failed = 1;
        snprintf(worker->message, sizeof(worker->message), "%.80s: %.500s", what, why);
    }
    return holds;
}

static int succeeds(struct worker *worker, const char *what, int code) {
    return expect(worker, code == REDIST_OK, what, code == REDIST_OK ? "" : redist_error_message());
}

/* ---------------------------------------------------------------- exchanges */

struct slab {
    redist_index count[NDIMS], start[NDIMS];
    size_t elements;
};

static struct slab slab_of(const struct worker *worker, const redist_index sizes[], int split) {
    struct slab slab = {.elements = 1};
    for (int i = 0; i < NDIMS; i++) {
        redist_decompose(sizes[i], i == split ? worker->nranks : 1, i == split ? worker->rank : 0,
                         &slab.count[i], &slab.start[i]);
        slab.elements *= (size_t)slab.count[i];
    }
    return slab;
}

/* The value that belongs to the n-th element of a slab. */
static double value_of(const struct slab *slab, const redist_index sizes[], uint64_t salt,
                       size_t n) {
    uint64_t place[NDIMS];
    for (int i = NDIMS - 1; i >= 0; i--) {
        place[i] = n % (size_t)slab->count[i] + (uint64_t)slab->start[i];
        n /= (size_t)slab->count[i];
    }
    uint64_t global = (place[0] * (uint64_t)sizes[1] + place[1]) * (uint64_t)sizes[2] + place[2];
    return (double)(random_hash(global ^ salt << 32) >> 12);
}

static void fill(const struct slab *slab, const redist_index sizes[], uint64_t salt,
                 double *array) {
    for (size_t n = 0; n < slab->elements; n++)
        array[n] = value_of(slab, sizes, salt, n);
}

static int holds(const struct slab *slab, const redist_index sizes[], uint64_t salt,
                 const double *array) {
    for (size_t n = 0; n < slab->elements; n++)
        if (array[n] != value_of(slab, sizes, salt, n))
            return 0;
    return 1;
}

static void *take_array(struct worker *worker, int shared, size_t elements) {
    void *array = NULL;
    if (!shared)
        return malloc((elements + 1) * sizeof(double));
    succeeds(worker, "redist_alloc", redist_alloc(worker->comm, elements * sizeof(double), &array));
    return array;
}

static void give_array(struct worker *worker, int shared, void *array) {
    if (!shared)
        free(array);
    else
        succeeds(worker, "redist_free", redist_free(&array));
}

static int run(struct worker *worker, redist_plan *plan, int direction) {
    if (draw(worker, 0, 1))
        return redist_plan_execute(plan, direction);
    int code = redist_plan_start(plan, direction);
    return code == REDIST_OK ? redist_plan_wait(plan) : code;
}

/* There and back, a few times, each with other values. */
static void use_plan(struct worker *worker, redist_plan *plan, const char *method,
                     const struct slab slabs[2], const redist_index sizes[],
                     double *const arrays[2]) {
    for (uint64_t salt = 1; salt <= 4; salt++) {
        int from = (int)salt % 2;
        fill(&slabs[from], sizes, salt, arrays[from]);
        memset(arrays[!from], 0, slabs[!from].elements * sizeof(double));
        succeeds(worker, method, run(worker, plan, from));
        expect(worker, holds(&slabs[!from], sizes, salt, arrays[!from]), method,
               "the exchange has moved something else");
    }
}

static void exchange(struct worker *worker) {
    redist_index sizes[NDIMS];
    int axis_a = draw(worker, 0, NDIMS - 1), axis_b = (axis_a + 1) % NDIMS;
    for (int i = 0; i < NDIMS; i++)
        sizes[i] = draw(worker, 1, 9);
    struct slab slabs[2] = {slab_of(worker, sizes, axis_b), slab_of(worker, sizes, axis_a)};
    int shared[2] = {draw(worker, 0, 1), draw(worker, 0, 1)};
    double *arrays[2];
    for (int side = 0; side < 2; side++)
        arrays[side] = take_array(worker, shared[side], slabs[side].elements);
    redist_options options = REDIST_OPTIONS_DEFAULT;
    int number = draw(worker, 0, host_method_count());
    options.method = number < host_method_count() ? host_method_name(number) : "auto";
    options.tune_seconds = 0.001;
    redist_plan *plan = NULL;
    int code = redist_plan_exchange(worker->comm, MPI_DOUBLE, NDIMS, slabs[0].count, arrays[0],
                                    axis_a, slabs[1].count, arrays[1], axis_b, &options, &plan);
    if (code != REDIST_ERR_METHOD && succeeds(worker, options.method, code)) {
        use_plan(worker, plan, options.method, slabs, sizes, arrays);
        succeeds(worker, "redist_plan_free", redist_plan_free(&plan));
    }
    for (int side = 0; side < 2; side++)
        give_array(worker, shared[side], arrays[side]);
}

/* ---------------------------------------------------------------- grids, communicators, errors */

static void make_grid(struct worker *worker) {
    int ndims = draw(worker, 1, 4), dims[4] = {0};
    dims[draw(worker, 0, ndims - 1)] = ndims > 1 ? 1 : 0;
    redist_grid *grid;
    MPI_Comm subcomm;
    if (!succeeds(worker, "redist_grid_create",
                  redist_grid_create(worker->comm, ndims, dims, &grid)))
        return;
    succeeds(worker, "redist_grid_subcomm",
             redist_grid_subcomm(grid, draw(worker, 0, ndims - 1), &subcomm));
    struct worker part = on_comm(worker, subcomm);
    exchange(&part);
    expect(worker, !part.failed, "on a subgroup", part.message);
    succeeds(worker, "redist_grid_free", redist_grid_free(&grid));
}

static void use_duplicate(struct worker *worker) {
    MPI_Comm comm;
    MPI_Comm_dup(worker->comm, &comm);
    struct worker other = on_comm(worker, comm);
    exchange(&other);
    MPI_Comm_free(&comm);
    expect(worker, !other.failed, "on a duplicate", other.message);
}

static void be_refused(struct worker *worker) {
    redist_index sizes[2] = {2, -draw(worker, 1, 1000)};
    char number[32];
    redist_plan *plan;
    int code = redist_plan_exchange(worker->comm, MPI_DOUBLE, 2, sizes, NULL, 0, sizes, NULL, 1,
                                    NULL, &plan);
    snprintf(number, sizeof(number), "%lld is negative", (long long)sizes[1]);
    expect(worker, code == REDIST_ERR_SIZE && strstr(redist_error_message(), number) != NULL,
           "a message of another thread", redist_error_message());
}

/* What one thread remembers is there for it again, whatever others add. */
static void remember(struct worker *worker) {
    for (int i = 0; i < 100; i++) {
        char key[64], choice[16], found[16] = "";
        snprintf(key, sizeof(key), "two-threads/%llu/%d", (unsigned long long)worker->sequence, i);
        snprintf(choice, sizeof(choice), "choice-%d", i);
        succeeds(worker, "redist_wisdom_store",
                 redist_wisdom_store(worker->comm, NULL, key, choice));
        succeeds(worker, "redist_wisdom_find",
                 redist_wisdom_find(worker->comm, NULL, key, sizeof(found), found));
        expect(worker, strcmp(found, choice) == 0, "wisdom", found);
    }
}

/* ---------------------------------------------------------------- transforms */

/* There and back again, from random values. */
static void use_transform(struct worker *worker, fftnd_plan *plan) {
    fftnd_layout layouts[2] = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT};
    double *arrays[2], worst = 0;
    for (int side = 0; side < 2; side++) {
        succeeds(worker, "fftnd_plan_layout",
                 fftnd_plan_layout(plan, (enum fftnd_side)side, &layouts[side]));
        arrays[side] = calloc(1, layouts[side].bytes + 1);
    }
    size_t n = layouts[0].bytes / sizeof(double);
    for (size_t i = 0; i < n; i++)
        arrays[0][i] = (double)(random_hash(i) >> 40);
    for (int lap = 0; lap < 10; lap++) {
        succeeds(worker, "fftnd_forward", fftnd_forward(plan, arrays[0], arrays[1]));
        memset(arrays[0], 0, layouts[0].bytes);
        succeeds(worker, "fftnd_backward", fftnd_backward(plan, arrays[1], arrays[0]));
    }
    for (size_t i = 0; i < n; i++) {
        double difference = arrays[0][i] - (double)(random_hash(i) >> 40);
        worst = difference * difference > worst ? difference * difference : worst;
    }
    expect(worker, worst < 1e-6, "a transform", "there and back is not the same");
    for (int side = 0; side < 2; side++)
        free(arrays[side]);
}

static void transform(struct worker *worker) {
    redist_index sizes[NDIMS];
    for (int i = 0; i < NDIMS; i++)
        sizes[i] = draw(worker, 2, 12);
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.effort = draw(worker, 0, 3) != 0 ? FFTND_ESTIMATE : FFTND_MEASURE;
    options.plan_seconds = 0.01;
    options.threads = draw(worker, 1, 2);
    options.fusion = draw(worker, 0, 1) ? FFTND_FUSION_AUTO : FFTND_FUSION_NEVER;
    fftnd_plan *plan;
    if (!succeeds(worker, "fftnd_plan_create",
                  fftnd_plan_create(worker->comm, NDIMS, sizes, FFTND_C2C, FFTND_DOUBLE, &options,
                                    &plan)))
        return;
    use_transform(worker, plan);
    succeeds(worker, "fftnd_plan_free", fftnd_plan_free(&plan));
}

/* ---------------------------------------------------------------- the threads */

static void *work(void *data) {
    static void (*const tasks[])(struct worker *) = {
        exchange, exchange, exchange, make_grid, use_duplicate, be_refused, transform, remember};
    struct worker *worker = data;
    for (int lap = 0; lap < worker->laps; lap++)
        tasks[draw(worker, 0, (int)(sizeof(tasks) / sizeof(tasks[0])) - 1)](worker);
    return NULL;
}

static void begin(struct worker *worker) {
    MPI_Comm_dup(MPI_COMM_WORLD, &worker->comm);
    MPI_Comm_size(worker->comm, &worker->nranks);
    MPI_Comm_rank(worker->comm, &worker->rank);
    worker->sequence = random_bits();
    worker->laps = harness_cases(LAPS);
}

static int allows_threads(void) {
    int level;
    MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
}

/* All begin with nothing made yet: the first calls of the libraries meet. */
static void run_threads(int count, int is_freed) {
    struct worker workers[MOST_THREADS] = {{0}};
    int started = 0;
    for (int i = 0; i < count; i++)
        begin(&workers[i]);
    for (; started < count; started++)
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started]) != 0)
            break;
    for (int i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    check_all(started == count, "only %d threads could be started", started);
    for (int i = 0; i < count; i++)
        check_all(!workers[i].failed, "thread %d: %s", i, workers[i].message);
    for (int i = 0; i < count && is_freed; i++)
        MPI_Comm_free(&workers[i].comm);
}

START_TEST(two_threads) {
    if (!allows_threads())
        skip_test("this MPI has no MPI_THREAD_MULTIPLE");
    run_threads(2, 1);
}
END_TEST

/* Whose communicators are left to MPI_Finalize. */
START_TEST(three_threads) {
    if (!allows_threads())
        skip_test("this MPI has no MPI_THREAD_MULTIPLE");
    run_threads(3, 0);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {two_threads, three_threads, NULL};
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    return harness_run(argc, argv, "test_redist_two_threads", tests);
}
