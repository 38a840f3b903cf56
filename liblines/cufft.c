/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cuFFT as the general library of CUDA devices. A plan of cuFFT transforms up to three axes whose strides nest,
 * repeated over one loop. More axes take several sweeps, more loops several launches. cuFFT refuses addresses that are
 * not aligned to complex elements: real lines at other addresses are gathered in a list.
 */
#include "cuda/arrays.h"
#include "cuda/groups.h"
#include "cuda/rates.h"

#include <cufftXt.h>
#include <stdint.h>
#include <stdio.h>

enum { ALIGNMENT = 256 };

/* Transforms of some axes over all loops, from the input or the output to the input or the output. */
struct sweep {
    int has_handle;
    cufftHandle handle;
    int from_output, to_output;
    int nouter;
    struct lines__loop outer[REDIST_MAX_NDIMS]; /* strides in bytes; one launch each */
    int gathers, scatters;                      /* the real side is copied to or from a list */
    struct lines__loop lines[2];                /* of that copy */
    struct lines__panel_plan *panels;           /* instead of the handle; NULL = none */
};

struct plan {
    struct lines__problem problem;
    enum lines__way way;
    int npanels;                           /* sweeps that have them */
    struct lines__retained_plan *retained; /* instead of sweeps, for a truncated axis */
    int nsweeps;
    struct sweep sweeps[REDIST_MAX_NDIMS];
    size_t area_bytes, list_bytes;
    char *area; /* cuFFT's own, then the list */
};

extern const struct lines__library lines__library_cufft;

/* ---------------------------------------------------------------- errors */

static int check_kernel(cudaError_t error) {
    return redist_space_at(REDIST_SPACE_CUDA)->check_call((int)error, "a kernel");
}

/* Words for an error: cuFFT has no function for them, and older versions lack some of the names. */
static const char *describe(cufftResult result) {
    static const struct {
        int result;
        const char *words;
    } known[] = {{CUFFT_INVALID_PLAN, "its plan is no valid one"},
                 {CUFFT_ALLOC_FAILED, "there is no memory for its plan"},
                 {CUFFT_INVALID_TYPE, "the type of elements is not supported"},
                 {CUFFT_INVALID_VALUE, "an argument is not valid"},
                 {CUFFT_INTERNAL_ERROR, "an internal error, or one of the driver"},
                 {CUFFT_EXEC_FAILED, "the device refused the transform"},
                 {CUFFT_SETUP_FAILED, "it could not be initialised"},
                 {CUFFT_INVALID_SIZE, "the size of a transform is not supported"},
                 {CUFFT_UNALIGNED_DATA, "data are not aligned"},
                 {CUFFT_INVALID_DEVICE, "another device is current than the one of its plan"},
                 {CUFFT_NO_WORKSPACE, "its plan has no work space"},
                 {CUFFT_NOT_IMPLEMENTED, "this is not implemented"},
                 {CUFFT_NOT_SUPPORTED, "this is not supported"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].result == (int)result)
            return known[i].words;
    return "an error without a name";
}

static int check_cufft(cufftResult result, const char *what) {
    if (result == CUFFT_SUCCESS)
        return REDIST_OK;
    cudaError_t error =
        cudaGetLastError(); /* clears the error, which the user's own checks must not find */
    int code = result == CUFFT_ALLOC_FAILED ? REDIST_ERR_MEMORY : REDIST_ERR_SERIAL;
    return redist_fail_in("libfftnd", code,
                          "%s: cuFFT says that %s (error %d; CUDA's last error: %s)", what,
                          describe(result), (int)result, cudaGetErrorString(error));
}

static int check(const char *function, const char *name, const void *array, size_t bytes) {
    if ((uintptr_t)array % bytes != 0)
        return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                              "%s = %p is not aligned to %zu bytes, a complex element", name, array,
                              bytes);
    return redist_space_at(REDIST_SPACE_CUDA)->check_array(function, name, array);
}

/* ---------------------------------------------------------------- plans of cuFFT */

static size_t element_bytes(const struct plan *plan, int is_real) {
    return lines__item_bytes(plan->problem.precision, is_real);
}

static cudaDataType data_type(const struct plan *plan, int is_real) {
    if (plan->problem.precision == FFTND_DOUBLE)
        return is_real ? CUDA_R_64F : CUDA_C_64F;
    return is_real ? CUDA_R_32F : CUDA_C_32F;
}

static size_t round_up(size_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int make_handle(const struct plan *plan, const struct lines__task *task,
                       const struct lines__loop *batch, cufftHandle handle, size_t *bytes) {
    long long n[LINES__CUFFT_AXES], in[LINES__CUFFT_AXES], out[LINES__CUFFT_AXES];
    const struct lines__loop *axes = task->axes, *last = &axes[task->rank - 1];
    for (int i = 0; i < task->rank; i++) {
        n[i] = axes[i].n;
        in[i] = i > 0 ? axes[i - 1].in / axes[i].in : axes[i].n;
        out[i] = i > 0 ? axes[i - 1].out / axes[i].out : axes[i].n;
    }
    cudaDataType types[2] = {data_type(plan, task->is_real[0]), data_type(plan, task->is_real[1])};
    REDIST_TRY(check_cufft(cufftSetAutoAllocation(handle, 0), "cufftSetAutoAllocation"));
    return check_cufft(cufftXtMakePlanMany(handle, task->rank, n, in, last->in, batch->in, types[0],
                                           out, last->out, batch->out, types[1], batch->n, bytes,
                                           data_type(plan, 0)),
                       "cufftXtMakePlanMany");
}

static int add_handle(struct plan *plan, struct sweep *sweep, const struct lines__task *task,
                      const struct lines__loop *batch) {
    size_t bytes = 0;
    REDIST_TRY(check_cufft(cufftCreate(&sweep->handle), "cufftCreate"));
    sweep->has_handle = 1;
    REDIST_TRY(make_handle(plan, task, batch, sweep->handle, &bytes));
    /* cuFFT refuses data at the address of its scratch memory, even if it needs none */
    bytes = round_up(bytes > 0 ? bytes : 1);
    plan->area_bytes = bytes > plan->area_bytes ? bytes : plan->area_bytes;
    return check_cufft(cufftSetStream(sweep->handle, plan->problem.stream), "cufftSetStream");
}

/* ---------------------------------------------------------------- panels */

static void add_outer(const struct plan *plan, struct sweep *sweep, const struct lines__task *task,
                      int loop) {
    sweep->outer[sweep->nouter++] = (struct lines__loop){
        task->loops[loop].n,
        task->loops[loop].in * (ptrdiff_t)element_bytes(plan, task->is_real[0]),
        task->loops[loop].out * (ptrdiff_t)element_bytes(plan, task->is_real[1])};
}

/* Loops that a launch of panels lacks are several launches. */
static int use_panels(struct plan *plan, struct sweep *sweep, const struct lines__task *task) {
    struct lines__panel_lines lines;
    if (!lines__groups_prefer_panels(task, &plan->problem, plan->way, &lines))
        return REDIST_OK;
    int code = lines__panel_plan_create(&lines, &sweep->panels);
    plan->npanels += sweep->panels != NULL;
    for (int i = 0; i < task->nloops - 1 - lines.nouter && sweep->panels != NULL; i++)
        add_outer(plan, sweep, task, i);
    return code;
}

/* Lines of the real side are contiguous in the list. */
static void use_list(struct plan *plan, struct sweep *sweep, struct lines__task *task,
                     struct lines__loop *batch) {
    struct lines__loop *loops[2] = {batch, &task->axes[0]};
    const ptrdiff_t in_list[2] = {task->axes[0].n, 1};
    sweep->gathers = task->is_real[0];
    sweep->scatters = task->is_real[1];
    for (int i = 0; i < 2; i++) {
        ptrdiff_t *real = sweep->gathers ? &loops[i]->in : &loops[i]->out;
        sweep->lines[i] = (struct lines__loop){loops[i]->n, in_list[i], in_list[i]};
        *(sweep->gathers ? &sweep->lines[i].in : &sweep->lines[i].out) = *real;
        *real = in_list[i];
    }
    plan->list_bytes = (size_t)batch->n * (size_t)task->axes[0].n * element_bytes(plan, 1);
}

static int add_sweep(struct plan *plan, struct lines__task *task, int from_output, int to_output) {
    struct sweep *sweep = &plan->sweeps[plan->nsweeps++];
    struct lines__loop batch = {1, 1, 1};
    int chosen = lines__task_batch(task);
    sweep->from_output = from_output;
    sweep->to_output = to_output;
    REDIST_TRY(use_panels(plan, sweep, task));
    if (sweep->panels != NULL)
        return REDIST_OK;
    for (int i = 0; i < task->nloops; i++)
        if (i != chosen)
            add_outer(plan, sweep, task, i);
    if (chosen >= 0)
        batch = task->loops[chosen];
    if (lines__task_misaligns(task))
        use_list(plan, sweep, task, &batch);
    return add_handle(plan, sweep, task, &batch);
}

/* ---------------------------------------------------------------- sweeps */

/* The last axes are transformed from the input to the output, the others behind them in the output, or before them in
 * the input where the output is real. */
static int make_sweeps(struct plan *plan) {
    const struct lines__problem *problem = &plan->problem;
    int to_real = problem->kind == FFTND_R2C && problem->direction == REDIST_BACKWARD;
    struct lines__loop axes[REDIST_MAX_NDIMS];
    int sizes[REDIST_MAX_NDIMS], n = lines__task_list_axes(problem, axes), last = n;
    int ngroups = lines__cufft_groups(problem, plan->way, n, axes, sizes);
    struct lines__task main_task = lines__task_make(problem, n, axes, n - sizes[0], n, -1);
    if (!to_real)
        REDIST_TRY(add_sweep(plan, &main_task, 0, 1));
    for (int i = 1; i < ngroups; i++) {
        last -= sizes[i - 1];
        struct lines__task task =
            lines__task_make(problem, n, axes, last - sizes[i], last, !to_real);
        REDIST_TRY(add_sweep(plan, &task, !to_real, !to_real));
    }
    return to_real ? add_sweep(plan, &main_task, 0, 1) : REDIST_OK;
}

/* Copies elements of `item` bytes. */
static int copy(const struct plan *plan, int nloops, const struct lines__loop loops[], size_t item,
                const void *in, void *out) {
    redist_index count[REDIST_MAX_NDIMS];
    ptrdiff_t from[REDIST_MAX_NDIMS], to[REDIST_MAX_NDIMS];
    for (int i = 0; i < nloops; i++) {
        count[i] = loops[i].n;
        from[i] = loops[i].in * (ptrdiff_t)item;
        to[i] = loops[i].out * (ptrdiff_t)item;
    }
    return redist_copy_box_in(REDIST_SPACE_CUDA, plan->problem.stream, nloops, count, item, in,
                              from, out, to);
}

/* Waits for all work of the library on the device: CUDA does not document that freeing a handle does, and after a
 * failure nothing may be under way. */
static void finish(void) {
    redist_space_at(REDIST_SPACE_CUDA)->drain();
}

static void destroy(void *data) {
    struct plan *plan = data;
    finish();
    for (int i = 0; i < plan->nsweeps; i++) {
        if (plan->sweeps[i].has_handle && !redist_place_is_gone())
            (void)cufftDestroy(plan->sweeps[i].handle);
        lines__panel_plan_destroy(plan->sweeps[i].panels);
    }
    lines__retained_destroy(plan->retained);
    redist_release(plan);
}

static int make_retained(struct plan *plan) {
    REDIST_TRY(lines__retained_create(&plan->problem, &plan->retained));
    plan->area_bytes = lines__retained_area(plan->retained);
    return REDIST_OK;
}

/* Makes one sweep, or none where panels cannot. */
static int make_r2r(struct plan *plan) {
    struct lines__panel_lines lines;
    struct sweep *sweep = &plan->sweeps[0];
    if (!lines__groups_have_r2r(&plan->problem, &lines))
        return REDIST_OK;
    REDIST_TRY(lines__panel_plan_create(&lines, &sweep->panels));
    sweep->to_output = 1;
    plan->nsweeps = sweep->panels != NULL;
    return REDIST_OK;
}

/* Makes a plan; *result stays as it is if panels cannot do a real-to-real one. */
static int make_plan(const struct lines__problem *problem, enum lines__way way,
                     struct plan **result) {
    int is_r2r = problem->kind == FFTND_R2R && problem->naxes > 0;
    struct plan *plan = redist_calloc(1, sizeof *plan);
    if (plan == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
    plan->problem = *problem;
    plan->way = way;
    int code = is_r2r                         ? make_r2r(plan)
               : lines__truncates(problem, 0) ? make_retained(plan)
               : problem->naxes > 0           ? make_sweeps(plan)
                                              : REDIST_OK;
    if (code == REDIST_OK && (!is_r2r || plan->nsweeps > 0))
        *result = plan;
    else
        destroy(plan);
    return code;
}

/* Nonzero if a plan is timed against a rival: one with panels against cuFFT alone, unless the array is so large that
 * rates of its lines predict its time; one without them against panels, if its group of all axes of a large array was
 * guessed to be faster. */
static int find_rival(const struct plan *plan, enum lines__way *rival) {
    int is_large = lines__trial_is_large(&plan->problem);
    *rival = plan->npanels > 0 ? LINES__CUFFT_ALONE : LINES__PANELS;
    return plan->npanels > 0 ? !is_large : is_large && lines__groups_guess(&plan->problem);
}

/* Panels where rates, or a trial of the whole problem, show them faster. */
static int create(const struct lines__problem *problem, void *in, void *out, void **result) {
    (void)in, (void)out;
    if (problem->kind == FFTND_R2R && problem->naxes > 0)
        return make_plan(problem, LINES__PANELS, (struct plan **)result);
    int known = lines__truncates(problem, 0) ? LINES__FASTEST : lines__trial_find(problem);
    enum lines__way ways[2] = {known == LINES__UNTRIED ? LINES__FASTEST : (enum lines__way)known};
    struct plan *plans[2] = {NULL, NULL};
    REDIST_TRY(make_plan(problem, ways[0], &plans[0]));
    *result = plans[0];
    if (known != LINES__UNTRIED || !find_rival(plans[0], &ways[1]) ||
        make_plan(problem, ways[1], &plans[1]) != REDIST_OK)
        return REDIST_OK;
    int choice =
        lines__trial_run(&lines__library_cufft, problem, (void *const[]){plans[0], plans[1]}, ways);
    *result = plans[choice];
    destroy(plans[!choice]);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- running */

static size_t area_bytes(const void *data) {
    const struct plan *plan = data;
    return plan->area_bytes + plan->list_bytes;
}

static int set_area(void *data, void *area) {
    struct plan *plan = data;
    plan->area = area;
    for (int i = 0; i < plan->nsweeps; i++)
        if (plan->sweeps[i].has_handle)
            REDIST_TRY(check_cufft(cufftSetWorkArea(plan->sweeps[i].handle, plan->area),
                                   "cufftSetWorkArea"));
    return REDIST_OK;
}

static int execute_handle(const struct plan *plan, const struct sweep *sweep, char *from,
                          char *to) {
    int direction = plan->problem.direction == REDIST_FORWARD ? CUFFT_FORWARD : CUFFT_INVERSE;
    cufftResult result = cufftXtExec(sweep->handle, from, to, direction);
    if (result == CUFFT_SUCCESS)
        return REDIST_OK;
    char what[80];
    (void)snprintf(what, sizeof what, "cufftXtExec from %p to %p", (void *)from, (void *)to);
    return check_cufft(result, what);
}

static int launch(const struct plan *plan, const struct sweep *sweep, char *from, char *to) {
    char *list = plan->area + plan->area_bytes;
    if (sweep->panels != NULL)
        return lines__panel_plan_execute(sweep->panels, &(struct lines__panel_work){.gap = NULL},
                                         from, to, plan->problem.stream);
    if (sweep->gathers)
        REDIST_TRY(copy(plan, 2, sweep->lines, element_bytes(plan, 1), from, list));
    REDIST_TRY(
        execute_handle(plan, sweep, sweep->gathers ? list : from, sweep->scatters ? list : to));
    if (sweep->scatters)
        return copy(plan, 2, sweep->lines, element_bytes(plan, 1), list, to);
    return REDIST_OK;
}

static int run_sweep(const struct plan *plan, const struct sweep *sweep, char *from, char *to) {
    struct lines__position position = {{0}, 0, 0};
    redist_index count = 1;
    for (int i = 0; i < sweep->nouter; i++)
        count *= sweep->outer[i].n;
    for (redist_index i = 0; i < count; i++) {
        REDIST_TRY(launch(plan, sweep, from + position.in, to + position.out));
        lines__next_line(sweep->nouter, sweep->outer, &position);
    }
    return REDIST_OK;
}

/* Ends a call that enqueues work. */
static int settle(int code) {
    if (code != REDIST_OK)
        finish();
    return code;
}

static int execute(void *data, void *in, void *out) {
    const struct plan *plan = data;
    const struct lines__problem *problem = &plan->problem;
    int code = REDIST_OK;
    if (plan->retained != NULL)
        return settle(lines__retained_execute(plan->retained, in, out, plan->area));
    if (plan->nsweeps == 0 && in != out) /* a problem without axes */
        code = copy(plan, problem->nloops, problem->loops,
                    element_bytes(plan, problem->kind == FFTND_R2R), in, out);
    for (int i = 0; i < plan->nsweeps && code == REDIST_OK; i++) {
        const struct sweep *sweep = &plan->sweeps[i];
        code = run_sweep(plan, sweep, sweep->from_output ? out : in, sweep->to_output ? out : in);
    }
    return settle(code);
}

static int scale(void *array, size_t bytes, enum fftnd_precision precision, long double factor,
                 void *stream) {
    int is_double = precision == FFTND_DOUBLE;
    size_t count = bytes / (is_double ? sizeof(double) : sizeof(float));
    return settle(check_kernel(lines__cuda_scale(array, count, is_double, (double)factor, stream)));
}

/* Leaves it to the last kernel of panels; cuFFT has no factor. */
static int scale_results(void *data, long double factor) {
    const struct plan *plan = data;
    int i = plan->nsweeps - 1;
    if (plan->retained != NULL) {
        lines__retained_scale(plan->retained, (double)factor);
        return 1;
    }
    while (i >= 0 && plan->sweeps[i].panels == NULL)
        i--;
    if (i >= 0)
        lines__panel_plan_scale(plan->sweeps[i].panels, (double)factor);
    return i >= 0;
}

static int change(const struct lines__modes *modes, void *stream) {
    return settle(check_kernel(lines__cuda_change(modes, stream)));
}

static int operate(const struct lines__operation *operation, void *stream) {
    return settle(check_kernel(lines__cuda_operate(operation, stream)));
}

static int r2r(const struct lines__r2r_lines *lines, int after, void *stream) {
    return settle(check_kernel(lines__cuda_r2r(lines, after, stream)));
}

const struct lines__library lines__library_cufft = {
    .name = "cufft",
    .space = REDIST_SPACE_CUDA,
    .check = check,
    .check_environment = lines__rates_check,
    .learn = lines__rates_learn,
    .prefers_copy = lines__panels_prefer_copy,
    .truncates = lines__panels_truncate,
    .create = create,
    .area_bytes = area_bytes,
    .set_area = set_area,
    .execute = execute,
    .scale = scale,
    .scale_results = scale_results,
    .destroy = destroy,
    .change = change,
    .operate = operate,
    .r2r = r2r,
    .stores = &lines__cufft_stores,
    .round_trips = &lines__cufft_round_trips,
};
