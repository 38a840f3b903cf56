/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several threads in each rank: the same results, and no thread that outlives its plan.
 *     test_fftnd_threads [single|funneled|serialized|multiple]
 * With an argument MPI is initialised for that level of threads, else by MPI_Init.
 */
#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../libfftnd/workers/thread_pool.h"
#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"
#include "methods.h"

/* Threads of this process. One that has ended may be listed for a moment longer. */
static int count_threads(void) {
    int n = 0;
    DIR *folder = opendir("/proc/self/task");
    while (readdir(folder) != NULL) {
        n++;
    }
    closedir(folder);
    return n - 2;
}

static int returns_to(int threads) {
    for (int i = 0; i < 1000 && count_threads() != threads; i++) {
        const struct timespec moment = {0, 1000000};
        nanosleep(&moment, NULL);
    }
    return count_threads() == threads;
}

/* ---------------------------------------------------------------- the pool */

enum { MOST_THREADS = 5 };

struct tally {
    _Atomic int visits[MOST_THREADS];
    int failing; /* the first thread that fails, and all after it */
};

static int visit(void *data, int thread) {
    struct tally *tally = data;
    atomic_fetch_add(&tally->visits[thread], 1);
    if (thread < tally->failing) {
        return REDIST_OK;
    }
    return redist_fail_in("visit", REDIST_ERR_LIMIT, "thread %d gives up", thread);
}

START_TEST(pool_runs_every_thread_once) {
    for (int n = 1; n <= MOST_THREADS; n++) {
        struct fftnd__pool *pool;
        struct tally tally = {.failing = MOST_THREADS};
        check_ok(fftnd__pool_create(n, &pool));
        for (int round = 0; round < 200; round++) {
            check_ok(fftnd__pool_run(pool, visit, &tally));
        }
        for (int i = 0; i < MOST_THREADS; i++) {
            check_all(tally.visits[i] == (i < n ? 200 : 0), "thread %d of %d came %d times", i, n,
                      tally.visits[i]);
        }
        fftnd__pool_free(pool);
    }
}
END_TEST

START_TEST(pool_hands_errors_over) {
    for (int failing = 0; failing < MOST_THREADS; failing++) {
        struct fftnd__pool *pool;
        struct tally tally = {.failing = failing};
        char expected[64];
        check_ok(fftnd__pool_create(MOST_THREADS, &pool));
        for (int round = 0; round < 20; round++) {
            redist_set_message("another message");
            check_code(fftnd__pool_run(pool, visit, &tally), REDIST_ERR_LIMIT);
            snprintf(expected, sizeof(expected), "visit: thread %d gives up (rank %d)", failing,
                     harness_rank);
            check_all(strcmp(redist_error_message(), expected) == 0, "'%s' instead of '%s'",
                      redist_error_message(), expected);
        }
        tally.failing = MOST_THREADS;
        check_ok(fftnd__pool_run(pool, visit, &tally));
        fftnd__pool_free(pool);
    }
}
END_TEST

/* ---------------------------------------------------------------- results */

/* Random cases dictate how plans work; what they left must not count for others. */
static void let_library_choose(void) {
    unsetenv("FFTND_CONFIGURATION");
}

static void choose_threads(fft_case *given) {
    given->options.threads = random_between(1, 4);
    if (random_chance(20)) {
        fft_random_kept(given);
    }
}

START_TEST(random_cases) {
    for (int i = 0; harness_another(i, 4); i++) {
        fft_case given = random_chance(50) ? fft_random_case(harness_nranks, 0)
                                           : fft_random_mixed_case(harness_nranks, 0);
        choose_threads(&given);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

START_TEST(random_cases_on_one_rank_each) {
    for (int i = 0; harness_another(i, 3); i++) {
        fft_case given = fft_random_case(1, 0);
        choose_threads(&given);
        fft_check_once(MPI_COMM_SELF, &given);
    }
}
END_TEST

/* Nonzero if all elements of a side have the same bits in both. */
static int is_same(const fft_run *a, const fft_run *b, enum fftnd_side side) {
    const fft_walk walk = fft_walk_make(&a->layout[side], a->given->options.batch);
    const char *data[2] = {fft_run_data(a, side), fft_run_data(b, side)};
    for (size_t i = 0; i < walk.nelements * (size_t)walk.nfields; i++) {
        const ptrdiff_t offset = fft_walk_place(&walk, i).offset;
        if (memcmp(data[0] + offset, data[1] + offset, a->layout[side].element_bytes) != 0) {
            return 0;
        }
    }
    return 1;
}

static void copy_side(const fft_run *from, const fft_run *to, enum fftnd_side side) {
    if (from->array[side]->bytes > 0) {
        memcpy(to->array[side]->data, from->array[side]->data, from->array[side]->bytes);
    }
}

/* Nonzero if the case is one that works in the same tiles with any number of threads. */
static int check_bits(const fft_case *several) {
    fft_case one = *several;
    fft_run runs[2];
    one.options.threads = 1;
    fft_run_create(MPI_COMM_WORLD, several, &runs[0]);
    fft_run_create(MPI_COMM_WORLD, &one, &runs[1]);
    const int comparable = runs[0].info.fused && runs[1].info.fused;
    for (enum fftnd_side side = FFTND_PHYSICAL; side <= FFTND_SPECTRAL && comparable; side++) {
        const enum fftnd_side target = fft_case_opposite(side);
        fft_run_load(&runs[0], side, 1);
        copy_side(&runs[0], &runs[1], side);
        check_ok(fft_run_execute(&runs[0], side));
        check_ok(fft_run_execute(&runs[1], side));
        check_all(is_same(&runs[0], &runs[1], target), "%d threads give other bits than one",
                  several->options.threads);
    }
    fft_run_free(&runs[0]);
    fft_run_free(&runs[1]);
    return comparable;
}

START_TEST(same_bits_as_one_thread) {
    if (harness_nranks == 1) {
        skip_test("one rank alone joins nothing in tiles");
    }
    fft_case sure = FFT_CASE(FFTND_R2C, 16, 15, 17);
    let_library_choose();
    sure.options.tile_bytes = 2000;
    for (sure.options.threads = 2; sure.options.threads <= 4; sure.options.threads++) {
        check_all(check_bits(&sure), "nothing was compared");
    }
    for (int i = 0; harness_another(i, 6); i++) {
        fft_case given = fft_random_case(harness_nranks, 0);
        let_library_choose();
        given.options.effort = FFTND_ESTIMATE; /* FFTW may find another plan when it measures */
        given.options.fusion = FFTND_FUSION_AUTO;
        given.options.threads = random_between(2, 4);
        given.options.user_workspace = 0;
        given.options.tile_bytes = (size_t)random_between(200, 3000);
        check_bits(&given);
    }
}
END_TEST

static void check_ways(MPI_Comm comm, fft_case *given) {
    for (int fused = 0; fused < 2; fused++) {
        given->options.fusion = fused ? FFTND_FUSION_AUTO : FFTND_FUSION_NEVER;
        fft_check_once(comm, given);
    }
}

START_TEST(every_method) {
    let_library_choose();
    for (int method = -1; method < host_method_count(); method++) {
        for (int kind = FFTND_C2C; kind <= FFTND_R2R; kind++) {
            fft_case given = FFT_CASE((enum fftnd_kind)kind, 13, 12, 14);
            given.options.method = host_method_name(method);
            given.options.tile_bytes = 2000;
            given.options.threads = 2 + kind;
            check_ways(MPI_COMM_WORLD, &given);
        }
    }
}
END_TEST

START_TEST(one_rank_with_two_threads) {
    let_library_choose();
    for (int kind = FFTND_C2C; kind <= FFTND_R2R; kind++) {
        for (int ndims = 1; ndims <= 4; ndims++) {
            static const int sizes[] = {20, 18, 16, 6};
            fft_case given = fft_case_make(ndims, sizes, (enum fftnd_kind)kind);
            given.options.threads = 2;
            check_ways(MPI_COMM_SELF, &given);
            given.options.tile_bytes = 1000;
            check_ways(MPI_COMM_SELF, &given);
        }
    }
}
END_TEST

/* Arrays at any address: plans for those are made when first needed, by whichever thread. */
START_TEST(unaligned_arrays) {
    let_library_choose();
    for (int i = 0; harness_another(i, 3); i++) {
        fft_case given = FFT_CASE((enum fftnd_kind)(i % 3), 11, 12, 13);
        given.memory[0] = given.memory[1] = FFT_MEMORY_UNALIGNED;
        given.options.threads = 4;
        given.options.tile_bytes = 1500;
        check_ways(MPI_COMM_WORLD, &given);
        check_ways(MPI_COMM_SELF, &given);
    }
}
END_TEST

START_TEST(measured_plans) {
    let_library_choose();
    fft_case given = FFT_CASE(FFTND_R2C, 24, 20, 22);
    given.options.effort = FFTND_MEASURE;
    given.options.plan_seconds = 0.05;
    for (given.options.threads = 1; given.options.threads <= 3; given.options.threads++) {
        check_ways(MPI_COMM_WORLD, &given);
        check_ways(MPI_COMM_SELF, &given);
    }
}
END_TEST

START_TEST(interleaved_plans) {
    const fft_case given[] = {FFT_CASE(FFTND_C2C, 15, 16, 7), FFT_CASE(FFTND_R2C, 15, 6, 17),
                              FFT_CASE(FFTND_R2R, 19, 14), FFT_CASE(FFTND_C2C, 5, 6, 7, 4)};
    fft_case cases[4];
    fft_run runs[4];
    let_library_choose();
    for (int i = 0; i < 4; i++) {
        cases[i] = given[i];
        cases[i].options.threads = 1 + i;
        cases[i].options.tile_bytes = 800;
        fft_run_create(MPI_COMM_WORLD, &cases[i], &runs[i]);
    }
    for (int i = 0; i < 40; i++) {
        fft_run_transform(&runs[i * 3 % 4], i % 2 == 0 ? FFTND_PHYSICAL : FFTND_SPECTRAL);
    }
    for (int i = 0; i < 4; i++) {
        fft_run_free(&runs[(i + 2) % 4]);
    }
}
END_TEST

/* ---------------------------------------------------------------- threads come and go */

/* FFTW has no threads of its own either, whatever was transformed. */
START_TEST(plans_have_their_threads_only) {
    const int before = count_threads();
    fft_case given = FFT_CASE(FFTND_C2C, 32, 33, 34);
    let_library_choose();
    for (int i = 0; i < 8; i++) {
        fft_run run;
        given.options.threads = 1 + i / 2;
        given.options.fusion = i % 2 == 0 ? FFTND_FUSION_AUTO : FFTND_FUSION_NEVER;
        fft_run_create(MPI_COMM_WORLD, &given, &run);
        fft_run_round_trips(&run);
        check_all(count_threads() == before + i / 2, "%d threads became %d with %d in the plan",
                  before, count_threads(), 1 + i / 2);
        check_all(run.info.threads == 1 + i / 2, "fftnd_plan_info.threads is %d", run.info.threads);
        fft_run_free(&run);
        check_all(returns_to(before), "%d threads became %d", before, count_threads());
    }
}
END_TEST

START_TEST(many_plans_leave_no_threads) {
    let_library_choose();
    static const redist_index sizes[] = {8, 6, 10};
    const int before = count_threads();
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.effort = FFTND_ESTIMATE;
    for (int i = 0; i < 200; i++) {
        fftnd_plan *plan = NULL;
        options.threads = 2 + i % 3;
        options.fusion = i % 2 == 0 ? FFTND_FUSION_AUTO : FFTND_FUSION_NEVER;
        check_ok(
            fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_C2C, FFTND_DOUBLE, &options, &plan));
        check_ok(fftnd_plan_free(&plan));
    }
    check_all(returns_to(before), "%d threads became %d", before, count_threads());
}
END_TEST

/* ---------------------------------------------------------------- what methods allow */

static int is_concurrent(const char *method, enum redist_tiles tiles, int wanted) {
    redist_index sizes_a[2] = {8, 0};
    redist_index sizes_b[2] = {0, 8};
    redist_index start;
    redist_plan *plan = NULL;
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    void *arrays[2];
    options.method = method;
    options.tiles = tiles;
    options.concurrent = wanted;
    check_ok(redist_decompose(8, harness_nranks, harness_rank, &sizes_a[1], &start));
    check_ok(redist_decompose(8, harness_nranks, harness_rank, &sizes_b[0], &start));
    for (int i = 0; i < 2; i++) {
        check_ok(redist_alloc(MPI_COMM_WORLD, 64 * sizeof(double), &arrays[i]));
    }
    check_ok(redist_plan_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 2, sizes_a, arrays[0], 0, sizes_b,
                                  arrays[1], 1, &options, &plan));
    check_ok(redist_plan_get_info(plan, &info));
    check_ok(redist_plan_free(&plan));
    for (int i = 0; i < 2; i++) {
        check_ok(redist_free(&arrays[i]));
    }
    return info.concurrent != 0;
}

START_TEST(methods_say_what_threads_may_do) {
    int level;
    MPI_Query_thread(&level);
    for (enum redist_tiles tiles = REDIST_PUT; tiles <= REDIST_GET; tiles++) {
        check_all(is_concurrent("direct", tiles, 1), "direct may be used by one thread only");
        check_all(is_concurrent("p2p", tiles, 1) == (level >= MPI_THREAD_SERIALIZED),
                  "p2p and level %d of threads", level);
        check_all(!is_concurrent("direct", tiles, 0), "direct does what was not asked for");
        check_all(!is_concurrent("p2p", tiles, 0), "p2p does what was not asked for");
    }
}
END_TEST

static void initialise(int *argc, char ***argv, const char *level) {
    static const struct {
        const char *name;
        int level;
    } levels[] = {{"single", MPI_THREAD_SINGLE},
                  {"funneled", MPI_THREAD_FUNNELED},
                  {"serialized", MPI_THREAD_SERIALIZED},
                  {"multiple", MPI_THREAD_MULTIPLE}};
    for (int i = 0; i < 4; i++) {
        int provided;
        if (strcmp(level, levels[i].name) == 0) {
            MPI_Init_thread(argc, argv, levels[i].level, &provided);
        }
    }
}

int main(int argc, char **argv) {
    const TTest *const tests[] = {pool_runs_every_thread_once,
                                  pool_hands_errors_over,
                                  random_cases,
                                  random_cases_on_one_rank_each,
                                  same_bits_as_one_thread,
                                  every_method,
                                  one_rank_with_two_threads,
                                  unaligned_arrays,
                                  measured_plans,
                                  interleaved_plans,
                                  plans_have_their_threads_only,
                                  many_plans_leave_no_threads,
                                  methods_say_what_threads_may_do,
                                  NULL};
    if (argc > 1) {
        initialise(&argc, &argv, argv[1]);
    }
    return harness_run(argc, argv, "test_fftnd_threads", tests);
}
