/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans that are kept after fftnd_plan_free (fftnd_options.keep): made again, they are right. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "fftnd_operators.h"
#include "kept.h"

enum { SLOTS = 8 };

/* ---------------------------------------------------------------- made again */

/* The cases in the order of their last use, the latest first. */
struct model {
    int ncases, order[2 * SLOTS];
};

static int find_place(const struct model *model, int which) {
    int place = 0;
    while (place < model->ncases && model->order[place] != which)
        place++;
    return place;
}

static void use(struct model *model, int which) {
    int place = find_place(model, which);
    if (place == model->ncases)
        model->ncases++;
    memmove(&model->order[1], &model->order[0], (size_t)place * sizeof model->order[0]);
    model->order[0] = which;
}

/* Uses cases in random order, of which the last ones are kept. */
static void use_cases(const fft_case cases[], int ncases) {
    struct model model = {0};
    for (int i = 0; i < 2 * ncases; i++) {
        int which = random_between(0, ncases - 1);
        const fft_case *given = &cases[which];
        int place = find_place(&model, which);
        harness_case("use %d, case %d: %s", i, which, fft_case_text(given));
        int is_kept = plan_and_free(MPI_COMM_WORLD, given);
        check_all(is_kept ? place < model.ncases && place < SLOTS
                          : place == model.ncases || place >= SLOTS || given->options.mapped_arrays,
                  "%s, though it is number %d of %d", is_kept ? "kept" : "not kept", place,
                  model.ncases);
        use(&model, which);
        fft_check_once(MPI_COMM_WORLD, given);
    }
}

START_TEST(random_cases) {
    enum { CASES = 10 };
    fft_case *cases = calloc(CASES, sizeof *cases);
    for (int i = 0; harness_another(i, 1); i++) {
        int ncases = random_between(2, CASES);
        for (int k = 0; k < ncases; k++)
            do
                cases[k] = draw_case();
            while (!is_keepable(&cases[k]));
        use_cases(cases, ncases);
        clear();
    }
    free(cases);
}
END_TEST

START_TEST(last_eight) {
    for (int count = SLOTS; count <= SLOTS + 1; count++)
        for (int round = 0; round < 3; round++)
            for (int i = 0; i < count; i++) {
                fft_case given = FFT_CASE(FFTND_C2C, 4, 5, 6);
                given.options.batch = 1 + i;
                given.options.keep = 1;
                harness_case("%d plans, round %d, plan %d", count, round, i);
                int is_kept = plan_and_free(MPI_COMM_WORLD, &given);
                check_all(count > SLOTS || is_kept == (round > 0), "kept: %d", is_kept);
                check_all(count == SLOTS || round == 0 || !is_kept, "kept though it is the ninth");
            }
    clear();
}
END_TEST

/* Two plans of the same arguments at the same time are two plans. */
START_TEST(twins) {
    fft_case given = FFT_CASE(FFTND_R2C, 6, 5, 8);
    fftnd_plan *one = NULL, *two = NULL;
    given.options.keep = 1;
    for (int round = 0; round < 3; round++) {
        int is_kept = plan_again(MPI_COMM_WORLD, &given, &one);
        is_kept += plan_again(MPI_COMM_WORLD, &given, &two);
        check_all(one != two, "one plan for two");
        check_all(is_kept == 2 * (round > 0), "%d of 2 kept", is_kept);
        check_ok(fftnd_plan_free(&one));
        check_ok(fftnd_plan_free(&two));
    }
    clear();
}
END_TEST

/* ---------------------------------------------------------------- what is not kept */

START_TEST(not_kept) {
    fft_case given[4];
    for (int i = 0; i < 4; i++) {
        given[i] = FFT_CASE(FFTND_C2C, 4, 5, 6);
        given[i].options.keep = 1;
    }
    given[0].options.keep = 0;
    given[1].options.user_workspace = 1;
    given[2].options.phases = 1;
    given[3].options.device = REDIST_SPACE_HOST;
    given[3].options.device_bytes = 1 << 20;
    for (int i = 0; i < 8; i++)
        check_all(!plan_and_free(MPI_COMM_WORLD, &given[i / 2]), "case %d is kept", i / 2);
}
END_TEST

/* Arrays that turn out not to be mapped change the plan. */
START_TEST(made_plain) {
    fft_case given = FFT_CASE(FFTND_C2C, 4, 5, 6);
    given.options.keep = given.options.mapped_arrays = 1;
    given.memory[0] = given.memory[1] = FFT_MEMORY_SHARED;
    (void)plan_and_free(MPI_COMM_WORLD, &given);
    fft_check_once(MPI_COMM_WORLD, &given);
    check_all(plan_and_free(MPI_COMM_WORLD, &given), "not kept");
    clear();
}
END_TEST

static void fill_slots(int are_kept) {
    fft_case given = FFT_CASE(FFTND_C2C, 4, 5, 6);
    given.options.keep = 1;
    for (given.options.batch = 1; given.options.batch <= SLOTS; given.options.batch++)
        check_all(plan_and_free(MPI_COMM_WORLD, &given) == are_kept, "kept plan %d: %d",
                  given.options.batch, !are_kept);
}

/* Lets files have no bytes, so that redist_alloc finds no shared memory. */
static void refuse_files(int is_refused) {
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = is_refused ? 0 : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, is_refused ? SIG_IGN : SIG_DFL);
}

/* A plan that is not kept takes no place: that of mapped arrays, which gets others. */
START_TEST(others_stay) {
    fft_case given = FFT_CASE(FFTND_C2C, 4, 5, 6);
    fftnd_plan *plan = NULL;
    void *arrays[2] = {NULL, NULL};
    if (harness_nranks == 1)
        skip_test("more than one rank, which share memory");
    fill_slots(0);
    given.options.keep = given.options.mapped_arrays = 1;
    check_all(!plan_again(MPI_COMM_WORLD, &given, &plan), "a plan of other arrays");
    refuse_files(1);
    for (int side = 0; side < 2; side++) {
        fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
        check_ok(fftnd_plan_layout(plan, (enum fftnd_side)side, &layout));
        check_ok(redist_alloc(MPI_COMM_WORLD, layout.bytes, &arrays[side]));
    }
    refuse_files(0);
    check_ok(fftnd_forward(plan, arrays[0], arrays[1]));
    check_ok(fftnd_plan_free(&plan));
    for (int side = 0; side < 2; side++)
        check_ok(redist_free(&arrays[side]));
    fill_slots(1);
    clear();
}
END_TEST

START_TEST(environment) {
    fft_case given = FFT_CASE(FFTND_C2C, 4, 5, 6);
    setenv("FFTND_KEEP", "0", 1);
    given.options.keep = 1;
    (void)plan_and_free(MPI_COMM_WORLD, &given);
    check_all(!plan_and_free(MPI_COMM_WORLD, &given), "kept with FFTND_KEEP=0");
    setenv("FFTND_KEEP", "1", 1);
    given.options.keep = 0;
    (void)plan_and_free(MPI_COMM_WORLD, &given);
    check_all(plan_and_free(MPI_COMM_WORLD, &given), "not kept with FFTND_KEEP=1");
    unsetenv("FFTND_KEEP");
    clear();
}
END_TEST

/* ---------------------------------------------------------------- errors */

static void check_refused(const fft_case *given, const char *name) {
    fftnd_plan *plan = NULL;
    check_code(fft_case_plan(MPI_COMM_WORLD, given, &plan), REDIST_ERR_DISAGREE);
    check_all(plan == NULL, "a plan after an error");
    check_all(strstr(redist_error_message(), name) != NULL, "%s", redist_error_message());
}

/* Ranks whose arguments differ get an error, though some of them have a kept plan that matches. */
START_TEST(disagreement) {
    fft_case given = FFT_CASE(FFTND_C2C, 4, 5, 6);
    if (harness_nranks == 1)
        skip_test("more than one rank");
    given.options.keep = 1;
    (void)plan_and_free(MPI_COMM_WORLD, &given);
    int differs = harness_rank == random_between(0, harness_nranks - 1);
    given.options.keep = !differs;
    check_refused(&given, "options->keep");
    given.options.keep = 1;
    given.sizes[1] += differs;
    check_refused(&given, "sizes");
    given.sizes[1] -= differs;
    check_all(plan_and_free(MPI_COMM_WORLD, &given), "not kept after errors");
    clear();
}
END_TEST

/* Without memory for its key, or for the agreement about keeping it, a plan is not kept, and not taken for another one.
 * Of the allocations of a plan these are the last ones, and those of the key the first ones, too. */
START_TEST(memory_of_keys) {
    fft_case one = FFT_CASE(FFTND_C2C, 4, 5, 6), two = FFT_CASE(FFTND_C2C, 5, 4, 6);
    one.options.keep = two.options.keep = 1;
    one.options.skip_agreement = two.options.skip_agreement = 1;
    (void)plan_and_free(MPI_COMM_WORLD, &one);
    clear();
    long begin = counters_memory_asked();
    (void)plan_and_free(MPI_COMM_WORLD, &one);
    int all = (int)(counters_memory_asked() - begin);
    (void)plan_and_free(MPI_COMM_WORLD, &one);
    int own = (int)(counters_memory_asked() - begin) - all;
    for (int i = 1; i <= own + 1; i++) {
        clear();
        counters_fail_memory(all - 1 - own + i);
        (void)plan_and_free(MPI_COMM_WORLD, &one);
        counters_fail_memory(i <= own ? i : 0);
        check_all(!plan_and_free(MPI_COMM_WORLD, &two), "allocation %d: a plan of another size", i);
        counters_fail_memory(0);
    }
    clear();
}
END_TEST

START_TEST(freed_handles) {
    fft_case given = FFT_CASE(FFTND_C2C, 4, 5, 6);
    fftnd_plan *plan = NULL, *stale;
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    given.options.keep = 1;
    check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
    stale = plan;
    check_ok(fftnd_plan_free(&plan));
    check_code(fftnd_plan_layout(stale, FFTND_PHYSICAL, &layout), REDIST_ERR_STATE);
    check_code(fftnd_plan_free(&stale), REDIST_ERR_STATE);
    check_ok(fftnd_cache_clear(MPI_COMM_NULL)); /* all communicators */
    clear();
}
END_TEST

/* ---------------------------------------------------------------- the end */

/* Memory and mappings are given back by fftnd_cache_clear, and with the communicator. */
START_TEST(given_back) {
    fft_case given = FFT_CASE(FFTND_R2C, 6, 5, 8);
    fftnd_plan *plan = NULL;
    MPI_Comm comm;
    given.options.keep = 1;
    (void)plan_and_free(MPI_COMM_WORLD, &given);
    clear();
    const struct counters before = counters_taken();
    check_all(!plan_and_free(MPI_COMM_WORLD, &given), "kept after fftnd_cache_clear");
    clear();
    counters_check(&before, "fftnd_cache_clear");
    for (int round = 0; round < 2; round++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        long comms = counters.comms;
        check_ok(fftnd_cache_clear(comm));
        check_all(counters.comms == comms, "a communicator without plans got others");
        for (given.options.batch = 1; given.options.batch <= 10; given.options.batch++)
            (void)plan_and_free(comm, &given);
        (void)plan_again(comm, &given, &plan);
        MPI_Comm_free(&comm);
        check_ok(fftnd_plan_free(&plan));
        counters_check(&before, "a communicator");
    }
}
END_TEST

/* Plans on a grid, and returns the mappings that remain after it is freed. */
static long count_mappings_after(int dim0, int dim1) {
    fft_case given = FFT_CASE(FFTND_C2C, 8, 8, 8);
    FFT_GRID(&given, dim0, dim1);
    (void)plan_and_free(MPI_COMM_WORLD, &given);
    return counters_taken().mappings;
}

/* Work space of freed plans waits once for a communicator, whatever the grids, until fftnd_cache_clear. */
START_TEST(spare_work_space) {
    (void)count_mappings_after(1, harness_nranks); /* grids keep what they need */
    (void)count_mappings_after(harness_nranks, 1);
    clear();
    long before = counters_taken().mappings, one = count_mappings_after(1, harness_nranks);
    long two = count_mappings_after(harness_nranks, 1);
    check_all(one == two, "%ld mappings after one grid, %ld after two", one, two);
    check_all(harness_nranks == 1 || one > before, "no spare work space");
    clear();
    check_all(counters_taken().mappings == before, "mappings after fftnd_cache_clear");
}
END_TEST

/* Tiles of a freed plan, too: an allocation for the work space remains, and one for tiles, once. */
START_TEST(spare_tiles) {
    const fft_case given = FFT_CASE(FFTND_C2C, 24, 20, 22);
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    fftnd_plan *plan = NULL;
    (void)plan_and_free(MPI_COMM_WORLD, &given); /* grids keep what they need */
    clear();
    long before = counters.memory;
    for (int round = 0; round < 2; round++) {
        (void)plan_again(MPI_COMM_WORLD, &given, &plan);
        check_ok(fftnd_plan_get_info(plan, &info));
        check_ok(fftnd_plan_free(&plan));
        long wait = counters.memory - before, wanted = 1 + (info.scratch_bytes != 0);
        check_all(wait == wanted, "%ld allocations wait after round %d", wait, round);
    }
    check_all(harness_nranks == 1 || info.scratch_bytes != 0, "the plan has no tiles");
    clear();
    check_all(counters.memory == before, "tiles after fftnd_cache_clear");
}
END_TEST

/* Makes an operator whose factors take plans inside of the library. */
static void make_operator(fftnd_plan *plan, double length) {
    const double lengths[2] = {length, 1};
    fftnd_operator_options given = FFTND_OPERATOR_OPTIONS_DEFAULT;
    fftnd_operator *op = NULL;
    given.lengths = lengths;
    check_ok(fftnd_operator_create(plan, FFTND_OPEN_POISSON, &given, &op));
    check_ok(fftnd_operator_free(&op));
}

/* Plans inside of the library are not kept, and have no configuration from the environment. */
START_TEST(inner_plans) {
    const fft_case given = FFT_CASE(FFTND_C2C, 8, 8);
    fftnd_plan *plan = NULL;
    check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
    make_operator(plan, 1);
    long before = counters.memory;
    setenv("FFTND_KEEP", "1", 1);
    setenv("FFTND_CONFIGURATION", "of no plan", 1);
    make_operator(plan, 1);
    unsetenv("FFTND_CONFIGURATION");
    unsetenv("FFTND_KEEP");
    check_all(counters.memory == before, "%ld allocations are kept", counters.memory - before);
    check_ok(fftnd_plan_free(&plan));
}
END_TEST

/* Kept plans that are left to MPI_Finalize, which other tests would clear. */
START_TEST(left) {
    fft_case given = FFT_CASE(FFTND_R2C, 6, 5, 8);
    given.options.keep = 1;
    (void)plan_and_free(MPI_COMM_WORLD, &given);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_cases,   last_eight,    twins,       not_kept,
                                  made_plain,     others_stay,   environment, disagreement,
                                  memory_of_keys, freed_handles, given_back,  spare_work_space,
                                  spare_tiles,    inner_plans,   left,        NULL};
    MPI_Init(&argc, &argv);
    counters_begin();
    return harness_run(argc, argv, "test_fftnd_kept", tests);
}
