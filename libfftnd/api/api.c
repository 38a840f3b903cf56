/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans: making, their work space, and freeing. */
#include "../planner/planner.h"
#include "plan.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ALIGNMENT = 64, DEVICE_ALIGNMENT = 256 };

/* ---------------------------------------------------------------- versions */

void fftnd_version(int *major, int *minor, int *patch) {
    const int version[3] = {FFTND_VERSION_MAJOR, FFTND_VERSION_MINOR, FFTND_VERSION_PATCH};
    int *const wanted[3] = {major, minor, patch};
    for (int i = 0; i < 3; i++)
        if (wanted[i] != NULL)
            *wanted[i] = version[i];
}

REDIST_INITIALISER(fftnd_options, FFTND_OPTIONS_DEFAULT)
REDIST_INITIALISER(fftnd_layout, FFTND_LAYOUT_DEFAULT)
REDIST_INITIALISER(fftnd_plan_info, FFTND_PLAN_INFO_DEFAULT)
REDIST_INITIALISER(fftnd_phases, FFTND_PHASES_DEFAULT)

/* ---------------------------------------------------------------- making a plan */

/* Copies a text of the user's options: exchanges may be planned later. */
static int keep_text(const char **text, char **copy) {
    if (*text == NULL)
        return 1;
    *copy = redist_calloc(strlen(*text) + 1, 1);
    if (*copy != NULL)
        strcpy(*copy, *text);
    *text = *copy;
    return *copy != NULL;
}

static fftnd_plan *allocate_plan(struct fftnd__request *request) {
    fftnd_plan *plan = redist_calloc(1, sizeof *plan);
    if (plan == NULL)
        return NULL;
    int is_copied = keep_text(&request->settings.method, &plan->method) &&
                    keep_text(&request->settings.wisdom_file, &plan->wisdom_file);
    if (is_copied && redist_handle_add(plan, REDIST_HANDLE_FFT))
        return plan;
    fftnd__plan_destroy(plan);
    return NULL;
}

/* Wisdom of libredist, for one communicator and file. */
struct remembered {
    struct lines__wisdom wisdom;
    MPI_Comm comm;
    const char *file;
};

static int find_text(const struct lines__wisdom *wisdom, const char *key, size_t bytes,
                     char text[]) {
    const struct remembered *remembered = (const struct remembered *)wisdom;
    return redist_wisdom_find(remembered->comm, remembered->file, key, bytes, text);
}

static int store_text(const struct lines__wisdom *wisdom, const char *key, const char *text) {
    const struct remembered *remembered = (const struct remembered *)wisdom;
    return redist_wisdom_store(remembered->comm, remembered->file, key, text);
}

/* Lets the serial library measure itself. Collective. */
static int learn_lines(const struct fftnd__arguments *arguments) {
    const struct lines__library *library = lines__library_for(arguments->options.space);
    const struct remembered remembered = {
        {find_text, store_text}, arguments->comm, arguments->options.wisdom_file};
    return library->learn == NULL ? REDIST_OK
                                  : library->learn(&remembered.wisdom, arguments->ndims,
                                                   arguments->sizes, arguments->precision);
}

/* Makes the engine; wisdom that does not work any more, for lack of memory or so, is measured anew. Collective. */
static int complete_plan(fftnd_plan *plan, const struct fftnd__request *wanted) {
    struct fftnd__configuration configuration;
    for (int remembered = 1;; remembered = 0) {
        struct fftnd__request request = *wanted;
        double begin = MPI_Wtime();
        int recalls = remembered;
        int code = fftnd__planner_choose(&request, &configuration, &remembered);
        if (code == REDIST_OK)
            code = fftnd__wire_choose(&request, &configuration, recalls, plan->wire_error,
                                      &remembered);
        double chosen = MPI_Wtime();
        plan->choice_seconds += chosen - begin;
        if (code == REDIST_OK)
            code = fftnd__engine_create(&plan->engine, &request, &configuration);
        plan->engine_seconds = MPI_Wtime() - chosen;
        if (code == REDIST_OK || !remembered)
            return code;
        fftnd__engine_destroy(&plan->engine);
        plan->engine = (struct fftnd__engine){0};
    }
}

/* Finds the place of the arrays, or of the device that tiles are sent to. */
static int find_place(const struct fftnd__settings *settings, redist_place *place) {
    const char *function = "fftnd_plan_create";
    int offloads = settings->offloads;
    const redist__space *space = redist_space_at(offloads ? settings->device : settings->space);
    REDIST_TRY(redist_check_default_stream(function, space));
    return redist_place_find(function, space, offloads ? NULL : "options->stream",
                             offloads ? NULL : settings->stream, place);
}

/* Closes a plan in MPI_Finalize, unless a transform is under way, for which its peers may not wait. */
static void close_plan(redist_closer *closer) {
    fftnd_plan *plan = (fftnd_plan *)(void *)((char *)closer - offsetof(fftnd_plan, closer));
    if (plan->started.is_started)
        return;
    const redist_place place = fftnd__place_of_rest(plan);
    redist_visit visit;
    (void)redist_enter(&place, &visit);
    fftnd__plan_empty(plan);
    redist_leave(&visit);
    plan->closed = 1;
}

/* Has MPI_Finalize close the plan, with this library still loaded. */
static void close_at_the_end(MPI_Comm comm, fftnd_plan *plan) {
    static atomic_flag stays = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&stays))
        redist_stay_loaded(__func__);
    redist_closer_add(comm, &plan->closer, close_plan);
}

/* Prints where the time of planning went. */
static void report(const fftnd_plan *plan, const struct fftnd__request *request) {
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    int rank;
    MPI_Comm_rank(request->comm, &rank);
    if (rank == 0 && redist_is_verbose(request->settings.verbose) &&
        fftnd_plan_get_info(plan, &info) == REDIST_OK)
        fprintf(stderr,
                "fftnd: planned in %.3f ms: configuration %.3f, steps %.3f, work space %.3f, "
                "exchanges %.3f\n",
                1e3 * info.planning_seconds, 1e3 * info.choice_seconds, 1e3 * info.steps_seconds,
                1e3 * info.allocation_seconds, 1e3 * info.connection_seconds);
}

/* Makes a plan of checked arguments. Collective. */
static int make_plan(const struct fftnd__arguments *arguments, fftnd_plan **result) {
    double begin = MPI_Wtime();
    struct fftnd__request request = fftnd__resolve(arguments);
    fftnd_plan *plan = allocate_plan(&request);
    redist_place place = {.space = NULL};
    redist_visit visit;
    int code = plan != NULL
                   ? find_place(&request.settings, &place)
                   : redist_fail_in(arguments->function, REDIST_ERR_MEMORY, "no memory for a plan");
    code = redist_agree(request.comm, code);
    (void)redist_enter(&place, &visit); /* cannot fail: it is current */
    if (code == REDIST_OK)
        code = learn_lines(arguments);
    if (code == REDIST_OK)
        code = complete_plan(plan, &request);
    if (code == REDIST_OK && !arguments->options.skip_agreement && !request.settings.asynchronous)
        code = redist_life_create(request.comm, &plan->engine.life);
    if (code == REDIST_OK)
        code = fftnd__kept_prepare(plan, arguments);
    if (code != REDIST_OK)
        fftnd__plan_destroy(plan);
    redist_leave(&visit);
    REDIST_TRY(code);
    plan->place = place;
    close_at_the_end(request.comm, plan);
    plan->planning_seconds = MPI_Wtime() - begin;
    report(plan, &request);
    *result = plan;
    return REDIST_OK;
}

int fftnd__plan_create(struct fftnd__arguments *arguments, const fftnd_options *options,
                       fftnd_plan **result) {
    fftnd_plan *kept;
    REDIST_TRY(redist_check_comm_in("fftnd_plan_create", arguments->user_comm));
    REDIST_TRY(redist_private_comm(arguments->user_comm, &arguments->comm));
    int code = fftnd__check_own(arguments, options, result);
    REDIST_TRY(fftnd__kept_take(arguments, code, &kept));
    if (kept != NULL) {
        *result = kept;
        return REDIST_OK;
    }
    REDIST_TRY(fftnd__agree_on_plan(arguments, code));
    return make_plan(arguments, result);
}

int fftnd_plan_create(MPI_Comm comm, int ndims, const redist_index sizes[], enum fftnd_kind kind,
                      enum fftnd_precision precision, const fftnd_options *options,
                      fftnd_plan **result) {
    struct fftnd__arguments arguments = {
        .user_comm = comm, .ndims = ndims, .sizes = sizes, .kind = kind, .precision = precision};
    return fftnd__plan_create(&arguments, options, result);
}

/* ---------------------------------------------------------------- work space */

static int check_workspace(const fftnd_plan *plan, const void *workspace, size_t bytes) {
    const char *function = "fftnd_plan_set_workspace";
    size_t needed = fftnd__engine_work(&plan->engine);
    const struct lines__library *library = plan->engine.transform.library;
    uintptr_t alignment = library->space == REDIST_SPACE_HOST ? ALIGNMENT : DEVICE_ALIGNMENT;
    if (!plan->engine.transform.settings.user_workspace)
        return redist_fail_in(function, REDIST_ERR_STATE,
                              "the plan has its own work space: options.user_workspace was 0");
    if (bytes < needed)
        return redist_fail_in(function, REDIST_ERR_SIZE, "bytes = %zu is below the %zu needed",
                              bytes, needed);
    if (workspace == NULL && needed != 0)
        return redist_fail_in(function, REDIST_ERR_NULL, "workspace = NULL");
    if ((uintptr_t)workspace % alignment != 0)
        return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                              "workspace = %p is not aligned to %d bytes", workspace,
                              (int)alignment);
    return needed != 0 && library->check != NULL
               ? library->check(function, "workspace", workspace, 1)
               : REDIST_OK;
}

int fftnd_plan_set_workspace(fftnd_plan *plan, void *workspace, size_t bytes) {
    redist_visit visit;
    REDIST_TRY(fftnd__check_idle(__func__, plan));
    int code = fftnd__enter(plan, &visit);
    if (code == REDIST_OK)
        code = check_workspace(plan, workspace, bytes);
    code = redist_agree(plan->engine.transform.comm, code);
    if (code == REDIST_OK)
        code = fftnd__engine_set_workspace(&plan->engine, workspace);
    redist_leave(&visit);
    return code;
}

/* ---------------------------------------------------------------- the end */

static int is_closed(const fftnd_plan *plan) {
    return redist_handle_is(plan, REDIST_HANDLE_FFT) && plan->closed && !plan->keeping.is_kept;
}

int fftnd_plan_free(fftnd_plan **plan) {
    if (plan == NULL)
        return redist_fail(REDIST_ERR_NULL, "plan = NULL");
    if (*plan == NULL)
        return REDIST_OK;
    if (!is_closed(*plan))
        REDIST_TRY(fftnd__check_alive(__func__, *plan));
    if ((*plan)->operators > 0) /* on all ranks */
        return redist_fail(REDIST_ERR_STATE, "plan has %d operators: free these first",
                           (*plan)->operators);
    int code = (*plan)->started.is_started ? fftnd__complete(*plan) : REDIST_OK;
    fftnd__failure_note(&(*plan)->engine.failure, code);
    const redist_place place = fftnd__place_of_rest(*plan);
    redist_visit visit;
    (void)redist_enter(&place, &visit);
    if ((*plan)->closed || !fftnd__kept_put(*plan, code))
        fftnd__plan_destroy(*plan);
    redist_leave(&visit);
    *plan = NULL;
    return code;
}
