/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls and serial transforms that fail in the middle of distributed transforms of every kind.
 *     test_fftnd_faults [WORD]    only plans with this word in their names ("fused, p2p")
 * Arrays and devices are named as those of the host, which gives them the serial library that can fail.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "fault_run.h"
#include "fft_run.h"
#include "fftnd_operators.h"

/* How a plan works */
struct form {
    const char *name;
    enum fftnd_fusion fusion;
    int threads;
    int on_device;      /* tiles go to a device with less memory than the arrays */
    const char *choice; /* FFTND_CONFIGURATION, or NULL */
};

#define REST " group=100 nontemporal=100000000 "

static const struct form whole_forms[] = {
    {"stepwise", FFTND_FUSION_NEVER, 1, 0,
     " fused=0 tiled=0 tile=1000" REST "segments=1 transposed=0 untiled=0 partitions=1"},
    {"turned", FFTND_FUSION_NEVER, 1, 0,
     " fused=0 tiled=0 tile=1000" REST "segments=1 transposed=1 untiled=0 partitions=1"},
    {"stepwise in tiles", FFTND_FUSION_NEVER, 2, 0,
     " fused=0 tiled=1 tile=2000" REST "segments=1 transposed=0 untiled=0 partitions=1"},
    {NULL, FFTND_FUSION_AUTO, 0, 0, NULL}};

static const struct form fused_forms[] = {
    {"fused", FFTND_FUSION_ALWAYS, 1, 0,
     " fused=1 tiled=1 tile=2000" REST "segments=1 transposed=0 untiled=0 partitions=1"},
    {"fused, some whole", FFTND_FUSION_ALWAYS, 1, 0,
     " fused=1 tiled=1 tile=2000" REST "segments=1 transposed=0 untiled=1 partitions=1"},
    {"fused by threads", FFTND_FUSION_ALWAYS, 3, 0,
     " fused=1 tiled=1 tile=1000" REST "segments=1 transposed=0 untiled=0 partitions=1"},
    {NULL, FFTND_FUSION_AUTO, 0, 0, NULL}};

static const struct form chunk_forms[] = {
    {"chunks", FFTND_FUSION_NEVER, 1, 0,
     " fused=0 tiled=0 tile=1000" REST "segments=4 transposed=0 untiled=0 partitions=1"},
    {"chunks and pieces", FFTND_FUSION_NEVER, 1, 0,
     " fused=0 tiled=0 tile=1000" REST "segments=4 transposed=0 untiled=0 partitions=3"},
    {NULL, FFTND_FUSION_AUTO, 0, 0, NULL}};

static const struct form device_forms[] = {
    {"on a device", FFTND_FUSION_NEVER, 1, 1, NULL},
    {"on a device, fused", FFTND_FUSION_AUTO, 1, 1, NULL},
    {"on a device, by threads", FFTND_FUSION_AUTO, 2, 1, NULL},
    {NULL, FFTND_FUSION_AUTO, 0, 0, NULL}};

static const char *const methods[] = {"direct",      "p2p",      "alltoallw",    "kway:2",
                                      "p2p-streams", "p2p-type", "direct:paced", "direct:lockstep",
                                      "alltoallv"};

enum { NMETHODS = sizeof methods / sizeof methods[0], GRIDS = 2, SIDES = 2 };

struct job {
    fft_case given;
    fft_run run;
    enum fftnd_side first; /* of the first execution */
};

static const char *only_word = "";

/* ---------------------------------------------------------------- what is tried with faults */

static int plan(void *data) {
    struct job *job = data;
    return fft_case_plan(MPI_COMM_WORLD, &job->given, &job->run.plan);
}

static int release(void *data) {
    struct job *job = data;
    int code = fftnd_plan_free(&job->run.plan);
    if (job->run.plan != NULL)
        fault_note("fftnd_plan_free left the pointer");
    return code;
}

static void check_result(const struct job *job, enum fftnd_side target,
                         char wrong[FAULT_TEXT_BYTES]) {
    const double error = fft_run_error(&job->run, target, 1);
    if (!(error <= fft_case_tolerance(&job->given)))
        snprintf(wrong, FAULT_TEXT_BYTES, "a result that is off by %g", error);
    if (!fft_array_is_guarded(job->run.array[0]) || !fft_array_is_guarded(job->run.array[1]))
        snprintf(wrong, FAULT_TEXT_BYTES, "bytes outside of an array overwritten");
}

/* Loads a side; ghosts are zero before they are added. */
static void load(struct job *job, enum fftnd_side side) {
    const fft_array *array = job->run.array[side];
    double *numbers = array->data;
    fft_run_load(&job->run, side, 1);
    if (job->given.options.ghosts == NULL || side != FFTND_PHYSICAL)
        return;
    for (size_t i = 0; i < array->bytes / sizeof *numbers; i++)
        numbers[i] = isnan(numbers[i]) ? 0 : numbers[i];
}

static int execute(void *data, int execution, char wrong[FAULT_TEXT_BYTES]) {
    struct job *job = data;
    const enum fftnd_side side = execution == 0 ? job->first : fft_case_opposite(job->first);
    const enum fftnd_side target = fft_case_opposite(side);
    wrong[0] = '\0';
    fft_array_poison(job->run.array[target]);
    load(job, side);
    const int code = fft_run_execute(&job->run, side);
    if (code == REDIST_OK)
        check_result(job, target, wrong);
    return code;
}

/* ---------------------------------------------------------------- kinds of plans */

static fft_case make_case(const struct form *form, const char *method, int grid_ndims) {
    static const enum fftnd_kind kinds[] = {FFTND_C2C, FFTND_R2C};
    fft_case given = FFT_CASE(kinds[random_between(0, 1)], 8, 9, 16);
    given.options.grid_ndims = grid_ndims;
    given.options.method = method;
    given.options.fusion =
        harness_nranks > 1 ? form->fusion : FFTND_FUSION_AUTO; /* nothing to fuse */
    given.options.threads = form->threads;
    given.options.scaling = FFTND_SCALE_BACKWARD;
    given.options.in_place = random_chance(25);
    given.options.skip_agreement = random_chance(50);
    given.options.space = REDIST_SPACE_HOST;
    given.options.local_transpose = FFTND_LOCAL_TRANSPOSE_AUTO;
    given.drops_points = !form->on_device && random_chance(25);
    for (int axis = 0; axis < given.ndims; axis++)
        given.filled[axis] = (given.sizes[axis] + 1) / 2;
    return given;
}

/* A plan that there is not, such as fused ones by a method without tiles. A device gets the least memory of
 * 5000, 10000 ... bytes that is enough. */
static int is_refused(fft_case *given, int on_device) {
    fftnd_plan *made = NULL;
    int code = REDIST_ERR_ARGUMENT;
    given->options.device = on_device ? REDIST_SPACE_HOST : REDIST_SPACE_AUTO;
    given->options.device_bytes = on_device ? 5000 : 0;
    for (; code == REDIST_ERR_ARGUMENT; given->options.device_bytes *= 2) {
        code = fft_case_plan(MPI_COMM_WORLD, given, &made);
        if (code == REDIST_OK || !on_device)
            break;
    }
    check_all(code == REDIST_OK || code == REDIST_ERR_METHOD, "%s", redist_error_message());
    check_ok(fftnd_plan_free(&made));
    return code != REDIST_OK;
}

typedef void try_subject(const fault_subject *subject, const char *name);

static void try_job(struct job *job, const char *name, try_subject *run) {
    const fault_subject subject = {job, 1, plan, execute, release, MPI_COMM_NULL};
    fft_run_create(MPI_COMM_WORLD, &job->given, &job->run);
    check_ok(fftnd_plan_free(&job->run.plan));
    run(&subject, name);
    fft_run_free(&job->run);
}

static void try_form(const struct form *form, const char *method, int grid_ndims,
                     enum fftnd_side first, try_subject *run) {
    struct job job = {.given = make_case(form, method, grid_ndims), .first = first};
    char name[256];
    snprintf(name, sizeof name, "%s, %s, grid of %d, %s", form->name, method, grid_ndims,
             first == FFTND_PHYSICAL ? "forward" : "backward");
    harness_case("%s", name);
    if (strstr(name, only_word) == NULL)
        return;
    if (form->choice != NULL)
        setenv("FFTND_CONFIGURATION", form->choice, 1);
    if (!is_refused(&job.given, form->on_device))
        try_job(&job, name, run);
    unsetenv("FFTND_CONFIGURATION");
}

static void try_forms(const struct form forms[], double share, try_subject *run) {
    int nforms = 0, order[256];
    while (forms[nforms].name != NULL)
        nforms++;
    int n = nforms * NMETHODS * GRIDS * SIDES;
    random_permutation(n, order);
    fault_begin(share);
    for (int i = 0; i < n && !fault_time_is_up(); i++) {
        int rest = order[i] / nforms;
        try_form(&forms[order[i] % nforms], methods[rest % NMETHODS], 1 + rest / NMETHODS % GRIDS,
                 (enum fftnd_side)(rest / NMETHODS / GRIDS), run);
    }
    fault_end();
}

/* ---------------------------------------------------------------- operators in parts */

/* A gradient is one derivative after the other, some of which exchange and some not. Operators with a factor for each
 * mode move these when they are made. */
enum applied { GRADIENT, CONVOLUTION, OPEN_POISSON, APPLIED };

static const char *const applied_names[APPLIED] = {"gradient", "convolution", "open Poisson"};

struct gradient {
    struct job job;
    enum applied applied;
    fftnd_operator *op;
    double *output, *expected;
    size_t bytes;
};

static int make_operator(struct gradient *gradient) {
    static const int free_axes[3] = {1, 0, 1};
    fft_run *run = &gradient->job.run;
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    options.free_axes = free_axes;
    fft_run_load(run, FFTND_PHYSICAL, 1);
    return gradient->applied == CONVOLUTION
               ? fftnd_operator_from_kernel(run->plan, fft_run_data(run, FFTND_PHYSICAL), NULL,
                                            &gradient->op)
               : fftnd_operator_create(
                     run->plan, gradient->applied == GRADIENT ? FFTND_GRADIENT : FFTND_OPEN_POISSON,
                     &options, &gradient->op);
}

static int plan_gradient(void *data) {
    struct gradient *gradient = data;
    int code = plan(&gradient->job);
    if (code != REDIST_OK)
        return code;
    code = make_operator(gradient);
    if (code != REDIST_OK)
        (void)fftnd_plan_free(&gradient->job.run.plan);
    return code;
}

static int release_gradient(void *data) {
    struct gradient *gradient = data;
    int code = fftnd_operator_free(&gradient->op);
    int last = release(&gradient->job);
    return code != REDIST_OK ? code : last;
}

static int execute_gradient(void *data, int execution, char wrong[FAULT_TEXT_BYTES]) {
    struct gradient *gradient = data;
    double error = 0;
    (void)execution;
    wrong[0] = '\0';
    memset(gradient->output, 0xff, gradient->bytes);
    fft_run_load(&gradient->job.run, FFTND_PHYSICAL, 1);
    const int code =
        fftnd_apply(gradient->job.run.plan, gradient->op,
                    fft_run_data(&gradient->job.run, FFTND_PHYSICAL), gradient->output);
    for (size_t i = 0; i < gradient->bytes / sizeof(double) && code == REDIST_OK; i++) {
        const double off = fabs(gradient->output[i] - gradient->expected[i]);
        error = off <= error ? error : off;
    }
    if (!(error <= 1e-9))
        snprintf(wrong, FAULT_TEXT_BYTES, "a result that is off by %g", error);
    return code;
}

static void try_gradient(const fft_case *given, enum applied applied, const char *name,
                         try_subject *run) {
    struct gradient gradient = {.job = {.given = *given}, .applied = applied};
    const fault_subject subject = {
        &gradient, 1, plan_gradient, execute_gradient, release_gradient, MPI_COMM_NULL};
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    fft_run *fft = &gradient.job.run;
    void *output = NULL;
    harness_case("%s", name);
    fft_run_create(MPI_COMM_WORLD, &gradient.job.given, fft);
    check_ok(make_operator(&gradient));
    check_ok(fftnd_operator_layout(gradient.op, 1, &layout));
    gradient.bytes = layout.bytes;
    check_ok(redist_alloc(MPI_COMM_WORLD, layout.bytes, &output));
    gradient.output = output;
    gradient.expected = calloc(layout.bytes + 1, 1);
    fft_run_load(fft, FFTND_PHYSICAL, 1);
    check_ok(fftnd_apply(fft->plan, gradient.op, fft_run_data(fft, FFTND_PHYSICAL), output));
    memcpy(gradient.expected, output, layout.bytes);
    check_ok(release_gradient(&gradient));
    run(&subject, name);
    free(gradient.expected);
    check_ok(redist_free(&output));
    fft_run_free(fft);
}

static void try_gradients(double share, try_subject *run) {
    fault_begin(share);
    for (int i = 0; i < 4 * APPLIED && !fault_time_is_up(); i++) {
        const enum applied applied = (enum applied)((i + i / APPLIED) % APPLIED);
        const struct form *form = i % 2 ? &whole_forms[0] : &fused_forms[0];
        fft_case given = make_case(form, i % 2 ? "p2p" : "direct", 1 + i / 2 % 2);
        char name[64];
        given.options.fusion = FFTND_FUSION_AUTO;
        given.options.in_place = 0;
        snprintf(name, sizeof name, "%s, %s, grid of %d", applied_names[applied],
                 given.options.method, 1 + i / 2 % 2);
        setenv("FFTND_CONFIGURATION", form->choice, 1);
        if (strstr(name, only_word) != NULL)
            try_gradient(&given, applied, name, run);
        unsetenv("FFTND_CONFIGURATION");
    }
    fault_end();
}

START_TEST(operators) {
    try_gradients(0.08, fault_try_executions);
    try_gradients(0.06, fault_try_planning);
}
END_TEST

/* ---------------------------------------------------------------- ghosts */

/* A transform that fills ghosts, and adds them. */
struct haunted {
    struct job job;
    redist_halo halo;
    void *expected; /* the physical array after a backward transform */
};

static int plan_haunted(void *data) {
    struct haunted *haunted = data;
    return plan(&haunted->job);
}

static int release_haunted(void *data) {
    struct haunted *haunted = data;
    return release(&haunted->job);
}

/* Compares what is filled with the array before. */
static int execute_haunted(void *data, int execution, char wrong[FAULT_TEXT_BYTES]) {
    struct haunted *haunted = data;
    const fft_array *points = haunted->job.run.array[FFTND_PHYSICAL];
    const int fills = (execution == 0) == (haunted->job.first == FFTND_SPECTRAL);
    const double *found = points->data, *expected = haunted->expected;
    const int code = execute(&haunted->job, execution, wrong);
    for (size_t i = 0; i < points->bytes / sizeof(double) && fills && code == REDIST_OK; i++)
        if (!(fabs(found[i] - expected[i]) <= 1e-9) &&
            memcmp(&found[i], &expected[i], sizeof *found) != 0)
            snprintf(wrong, FAULT_TEXT_BYTES, "ghosts or points that are off by %g",
                     found[i] - expected[i]);
    return code;
}

static void try_haunted(struct haunted *haunted, const char *name, try_subject *run) {
    struct job *job = &haunted->job;
    const fault_subject subject = {haunted,      1, plan_haunted, execute_haunted, release_haunted,
                                   MPI_COMM_NULL};
    harness_case("%s", name);
    fft_run_create(MPI_COMM_WORLD, &job->given, &job->run);
    const fft_array *points = job->run.array[FFTND_PHYSICAL];
    fft_array_poison(job->run.array[FFTND_PHYSICAL]);
    fft_run_load(&job->run, FFTND_SPECTRAL, 1);
    check_ok(fft_run_execute(&job->run, FFTND_SPECTRAL));
    haunted->expected = malloc(points->bytes + 1);
    memcpy(haunted->expected, points->data, points->bytes);
    check_ok(fftnd_plan_free(&job->run.plan));
    run(&subject, name);
    free(haunted->expected);
    fft_run_free(&job->run);
}

/* In parts of the grid, whose ghosts are exchanged alone, and in boxes. */
static void try_ghosts(double share, try_subject *run) {
    static const char *const adding[] = {"p2p", "direct", "alltoallv", "p2p-streams"};
    fault_begin(share);
    for (int i = 0; i < 16 && !fault_time_is_up(); i++) {
        const int has_box = i / 4 % 2;
        struct haunted haunted = {.job = {.given = make_case(&whole_forms[0], adding[i % 4], 1),
                                          .first = i / 8 ? FFTND_PHYSICAL : FFTND_SPECTRAL},
                                  .halo = REDIST_HALO_DEFAULT};
        fft_case *given = &haunted.job.given;
        char name[64];
        haunted.halo.corners = 1;
        given->has_box[FFTND_PHYSICAL] = has_box;
        given->box_seed = random_bits();
        for (int axis = 0; axis < given->ndims; axis++) {
            haunted.halo.low[axis] = haunted.halo.high[axis] = haunted.halo.periodic[axis] = 1;
            given->offset[FFTND_PHYSICAL][axis] = has_box;
            given->padding[FFTND_PHYSICAL][axis] = 2 * has_box;
        }
        given->options.in_place = 0;
        given->drops_points = 0; /* whose ghosts would not be periodic */
        given->options.ghosts = &haunted.halo;
        given->options.accumulate_ghosts = 1;
        snprintf(name, sizeof name, "ghosts, %s, %s, %s", adding[i % 4],
                 has_box ? "boxes" : "parts", i / 8 ? "forward" : "backward");
        setenv("FFTND_CONFIGURATION", whole_forms[0].choice, 1);
        if (strstr(name, only_word) != NULL)
            try_haunted(&haunted, name, run);
        unsetenv("FFTND_CONFIGURATION");
    }
    fault_end();
}

START_TEST(ghosts) {
    try_ghosts(0.12, fault_try_executions);
    try_ghosts(0.06, fault_try_planning);
}
END_TEST

START_TEST(stepwise) {
    try_forms(whole_forms, 0.2, fault_try_executions);
}
END_TEST

START_TEST(fused) {
    try_forms(fused_forms, 0.26, fault_try_executions);
}
END_TEST

START_TEST(chunks) {
    try_forms(chunk_forms, 0.1, fault_try_executions);
}
END_TEST

START_TEST(device) {
    try_forms(device_forms, 0.2, fault_try_executions);
}
END_TEST

START_TEST(planning) {
    try_forms(whole_forms, 0.05, fault_try_planning);
    try_forms(fused_forms, 0.05, fault_try_planning);
}
END_TEST

/* The last serial transform of a rank fails, behind all exchanges, and the rank frees its plan, while the others
 * transform once more. */
static void free_alone(const fft_case *given, int victim) {
    int code = REDIST_OK, is_victim = harness_rank == victim;
    fft_run run;
    fft_run_create(MPI_COMM_WORLD, given, &run);
    fft_run_load(&run, FFTND_PHYSICAL, 1);
    faults_arm(FAULT_NONE, 1);
    check_ok(fft_run_execute(&run, FFTND_PHYSICAL));
    faults_disarm();
    if (is_victim)
        faults_arm(FAULT_SERIAL, faults_count(FAULT_SERIAL));
    for (int i = 0; i < 2 && (i == 0 || !is_victim); i++)
        code = fft_run_execute(&run, FFTND_PHYSICAL);
    faults_disarm();
    int freed = fftnd_plan_free(&run.plan);
    int planned = fft_case_plan(MPI_COMM_WORLD, given, &run.plan);
    check_all(code != REDIST_OK, "an execution that a rank does not make succeeds");
    check_ok(freed);
    check_ok(planned);
    fft_run_transform(&run, FFTND_PHYSICAL);
    fft_run_free(&run);
}

START_TEST(freed_alone) {
    if (harness_nranks == 1)
        skip_test("more than one rank");
    for (int i = 0; i < NMETHODS * GRIDS * 2; i++) {
        fft_case given =
            make_case(&whole_forms[0], methods[i % NMETHODS], i / NMETHODS % GRIDS + 1);
        given.options.skip_agreement = i / NMETHODS / GRIDS;
        harness_case("%s", fft_case_text(&given));
        if (!is_refused(&given, 0))
            free_alone(&given, random_between(0, harness_nranks - 1));
    }
}
END_TEST

/* How many operators of a plan may fail alone */
enum { MOST_ENDS = 16 };

/* The last serial transform of an operator fails on one rank, behind all exchanges. The rank frees the operator and
 * goes on with the plan, while the others apply it `again` times, of which the first waits for that rank. */
static void end_alone(fft_run *run, double *output, int victim, int again, int expected) {
    fftnd_operator *op = NULL;
    void *input = fft_run_data(run, FFTND_PHYSICAL);
    int is_victim = harness_rank == victim, code;
    check_ok(fftnd_operator_create(run->plan, FFTND_INVERSE_LAPLACIAN, NULL, &op));
    fft_run_load(run, FFTND_PHYSICAL, 1);
    faults_arm(FAULT_NONE, 1);
    check_ok(fftnd_apply(run->plan, op, input, output));
    faults_disarm();
    if (is_victim)
        faults_arm(FAULT_SERIAL, faults_count(FAULT_SERIAL));
    code = fftnd_apply(run->plan, op, input, output);
    faults_disarm();
    for (int i = 0; i < again && !is_victim; i++)
        code = fftnd_apply(run->plan, op, input, output);
    int freed = fftnd_operator_free(&op);
    int next = fft_run_execute(run, FFTND_PHYSICAL);
    check_all(!is_victim || code != REDIST_OK, "no transform of the operator failed");
    check_all(is_victim || code == REDIST_ERR_PEER || (!again && code == REDIST_OK),
              "the others return %s: %s", redist_error_name(code), redist_error_message());
    check_ok(freed);
    check_code(next, expected);
}

static void end_many(const fft_case *given) {
    fft_run run;
    fft_run_create(MPI_COMM_WORLD, given, &run);
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    check_ok(fftnd_plan_layout(run.plan, FFTND_PHYSICAL, &layout));
    double *output = calloc(layout.bytes + 1, 1);
    for (int i = 0; i <= MOST_ENDS; i++)
        end_alone(&run, output, random_between(0, harness_nranks - 1), i % 3,
                  i < MOST_ENDS ? REDIST_OK : REDIST_ERR_PEER);
    free(output);
    fft_run_free(&run);
}

START_TEST(operators_freed_alone) {
    if (harness_nranks == 1)
        skip_test("more than one rank");
    for (int i = 0; i < 3; i++) {
        fft_case given = make_case(&whole_forms[0], methods[i], 1);
        given.options.in_place = given.options.skip_agreement = 0;
        harness_case("%s", fft_case_text(&given));
        end_many(&given);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {stepwise, fused,       chunks,
                                  device,   operators,   ghosts,
                                  planning, freed_alone, operators_freed_alone,
                                  NULL};
    int provided;
    if (argc > 1)
        only_word = argv[1];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    counters_begin();
    return harness_run(argc, argv, "test_fftnd_faults", tests);
}
