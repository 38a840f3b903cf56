/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that peers can map, in any space; the space of a plan's arrays, and whether peers can map them. */
#include "../copy/copy.h"
#include "../runtime/local.h"
#include "api.h"

#include <limits.h>
#include <string.h>

/* ---------------------------------------------------------------- redist_alloc */

enum { LIMIT_BITS = 47 };

static int check_alloc(const char *function, size_t bytes, void *const *array) {
    REDIST_TRY(redist__check_pointer(function, "array", array));
    if (bytes >> LIMIT_BITS != 0)
        return redist_fail_in(function, REDIST_ERR_LIMIT,
                              "bytes = %zu is more than any machine maps", bytes);
    return REDIST_OK;
}

static int alloc_in(const char *function, MPI_Comm comm, enum redist_space space, size_t bytes,
                    void **array) {
    const redist_shared_value shared = redist_share_enum("space", (int)space, redist_space_name);
    struct redist__context *context;
    REDIST_TRY(redist_check_comm_in(function, comm));
    int code = check_alloc(function, bytes, array);
    if (code == REDIST_OK)
        code = redist__space_check(function, "space", space);
    REDIST_TRY(redist_agree_values_in(function, comm, code, 1, &shared));
    REDIST_TRY(redist__context_get(comm, &context));
    code = redist_space_at((enum redist_space)space)->create(context, bytes, array);
    if (code != REDIST_OK)
        redist__context_release(context);
    return code;
}

int redist_alloc(MPI_Comm comm, size_t bytes, void **array) {
    return alloc_in(__func__, comm, REDIST_SPACE_HOST, bytes, array);
}

int redist_alloc_in(MPI_Comm comm, enum redist_space space, size_t bytes, void **array) {
    return alloc_in(__func__, comm, space, bytes, array);
}

int redist_alloc_local(size_t bytes, void **array) {
    REDIST_TRY(check_alloc(__func__, bytes, array));
    return redist__local_create(bytes, array);
}

/* Enters the array's place: the query may export an array of a device, which a capture could forbid. */
static enum redist__mappability find_mappability(const void *array) {
    enum redist_space id = redist__space_of(array);
    const struct redist__space *space = redist_space_at(id);
    redist_place place = {.space = NULL};
    redist_visit visit;
    if (space->find_place != NULL && space->find_place(&place) == REDIST_OK)
        place.space = space;
    (void)redist_enter(&place, &visit);
    enum redist__mappability found = redist__mappability(id, array, 1);
    redist_leave(&visit);
    return found;
}

int redist_alloc_info(const void *array, int *mappable) {
    REDIST_TRY(redist__check_pointer(__func__, "array", array));
    REDIST_TRY(redist__check_pointer(__func__, "mappable", mappable));
    enum redist__mappability found = find_mappability(array);
    if (found == REDIST__FOREIGN)
        return redist_fail(REDIST_ERR_STATE, "array is not from redist_alloc, or already freed");
    *mappable = found == REDIST__MAPPABLE;
    return REDIST_OK;
}

/* The context of the array's allocation; NULL if no space has such an array. */
static struct redist__context *remove_array(const void *array) {
    struct redist__context *context = NULL;
    for (int id = REDIST_SPACE_HOST; context == NULL && id < redist__space_count(); id++)
        if (redist_space_at((enum redist_space)id) != NULL)
            context = redist_space_at((enum redist_space)id)->remove(array);
    return context;
}

int redist_free(void **array) {
    REDIST_TRY(redist__check_pointer(__func__, "array", array));
    if (*array == NULL)
        return REDIST_OK;
    if (redist__local_remove(*array)) {
        *array = NULL;
        return REDIST_OK;
    }
    if (!redist__mpi_is_running())
        return redist_fail(REDIST_ERR_STATE, "MPI is not running: free arrays before MPI_Finalize");
    struct redist__context *context = remove_array(*array);
    if (context == NULL)
        return redist_fail(REDIST_ERR_STATE, "array is not from redist_alloc, or already freed");
    redist__context_release(context);
    *array = NULL;
    return REDIST_OK;
}

/* ---------------------------------------------------------------- the arrays of a plan */

/* Finds the space of this rank's arrays, REDIST_SPACE_AUTO if unknown. */
static int find_own_space(const struct redist__request *request,
                          const struct redist__problem *problem, int *own) {
    *own = (int)request->options.space;
    for (int side = 0; side < 2; side++) {
        const void *array = request->arrays[side];
        if (array == NULL || problem->transfer->side[side].bytes == 0)
            continue;
        int space = (int)redist__space_of(array);
        if (*own == REDIST_SPACE_AUTO)
            *own = space;
        if (space != *own)
            return redist_fail_in(request->function, REDIST_ERR_ARGUMENT,
                                  "array %s = %p is in %s memory, but %s memory was expected",
                                  request->names[side], array,
                                  redist_space_at((enum redist_space)space)->name,
                                  redist_space_at((enum redist_space) * own)->name);
    }
    return REDIST_OK;
}

static int check_own_arrays(const struct redist__request *request,
                            const struct redist__problem *problem) {
    const struct redist__space *space = problem->space;
    for (int side = 0; side < 2; side++)
        if (request->arrays[side] != NULL && problem->transfer->side[side].bytes != 0)
            REDIST_TRY(
                space->check_array(request->function, request->names[side], request->arrays[side]));
    if (space->asynchronous && problem->tiles == REDIST_GET)
        return redist_fail_in(request->function, REDIST_ERR_METHOD,
                              "options->tiles = REDIST_GET is for arrays in host memory");
    return REDIST_OK;
}

/* Sets the place: arrays and stream belong to the current device. */
static int find_place(const struct redist__request *request, struct redist__problem *problem) {
    redist_visit visit;
    REDIST_TRY(redist_place_find(request->function, problem->space, "options->stream",
                                 problem->stream, &problem->place));
    int code = redist_enter(&problem->place, &visit);
    if (code == REDIST_OK)
        code = check_own_arrays(request, problem);
    redist_leave(&visit);
    return code;
}

/* Ranks without elements adopt the space of the others. */
int redist__find_space(const struct redist__request *request, struct redist__problem *problem) {
    const struct redist__context *context = problem->context;
    int own, code = find_own_space(request, problem, &own);
    const int unknown = REDIST_SPACE_AUTO;
    int vote[4] = {own, own != unknown ? -own : -redist__space_count(), code != REDIST_OK,
                   !redist__mpi_takes_cuda()};
    int voted = redist_all_reduce(context->comm, vote, 4, MPI_INT, MPI_MAX);
    if (voted != REDIST_OK || vote[2])
        return redist_agree(context->comm, code == REDIST_OK ? voted : code);
    if (vote[0] != unknown && vote[0] != -vote[1])
        return redist_fail_in(
            request->function, REDIST_ERR_DISAGREE,
            "arrays %s and %s are in %s memory on some ranks, in %s memory on others",
            request->names[0], request->names[1], redist_space_at((enum redist_space)vote[0])->name,
            redist_space_at((enum redist_space) - vote[1])->name);
    problem->space = redist_space_at((enum redist_space)vote[0]);
    if (!problem->space->asynchronous)
        return REDIST_OK;
    enum redist_staging staging = request->options.staging;
    problem->staged = staging == REDIST_STAGING_AUTO ? vote[3] : staging == REDIST_STAGING_ALWAYS;
    return redist_agree(context->comm, find_place(request, problem));
}

/* Handles that each rank of the node publishes, for the others to map: of both arrays, and of redist_alloc_local. */
enum { HANDLES = 3, LOCAL = 2 };

static void export_arrays(const struct redist__request *request,
                          const struct redist__problem *problem,
                          struct redist__memory_handle handles[HANDLES]) {
    const struct redist__space *space = problem->space;
    const redist_options *options = &request->options;
    for (int side = 0; side < 2; side++)
        handles[side] =
            space->export_memory(request->arrays[side], problem->transfer->side[side].bytes);
    int later = options->bind_a == REDIST_BIND_AT_EXECUTION_MAPPED ||
                options->bind_b == REDIST_BIND_AT_EXECUTION_MAPPED;
    handles[LOCAL] = (struct redist__memory_handle){0};
    if (later && !space->asynchronous)
        handles[LOCAL] = redist__local_probe();
}

static int find_reachable(const struct redist__request *request,
                          const struct redist__problem *problem, long long reachable[HANDLES]) {
    const struct redist__context *context = problem->context;
    const struct redist__space *space = problem->space;
    struct redist__memory_handle *handles =
        redist_calloc(HANDLES * (size_t)context->node_size, sizeof *handles);
    int code = redist__agree_memory(context->comm, handles, "for handles of the peers' arrays");
    if (code == REDIST_OK) {
        struct redist__memory_handle mine[HANDLES];
        export_arrays(request, problem, mine);
        code = redist_all_gather(context->node, mine, sizeof mine, handles);
    }
    for (int i = 0; i < HANDLES * context->node_size && code == REDIST_OK; i++)
        if (i % HANDLES == LOCAL)
            reachable[LOCAL] &= redist__local_reaches(&handles[i]);
        else if (handles[i].key != 0 && space->map(&handles[i], problem->mappings) == NULL)
            reachable[i % HANDLES] = 0;
    redist_release(handles);
    return code;
}

/* Values reduced after those of find_reachable: whether MPI finds device memory that it can map; whether nothing
 * failed; whether the best loops are known. Then, negated for a maximum, the size of the largest array, and that from
 * which stores bypass the caches. At last the runs of an element, each number also negated. */
enum { DEVICE = HANDLES, DONE, LOOPS, LARGEST, NONTEMPORAL, RUNS };
enum { RUN_NUMBERS = 1 + REDIST__ELEMENT_AXES, ANSWERS = RUNS + 2 * RUN_NUMBERS };

static long long as_answer(size_t bytes) {
    return bytes < LLONG_MAX ? -(long long)bytes : -LLONG_MAX;
}

static void answer_runs(const struct redist__element *element, long long mine[2 * RUN_NUMBERS]) {
    for (int i = 0; i < RUN_NUMBERS; i++) {
        int axis = i - 1;
        long long number = axis < 0 ? (long long)element->run : 0;
        if (axis >= 0 && axis < element->naxes)
            number = element->count[axis];
        mine[2 * i] = number;
        mine[2 * i + 1] = -number;
    }
}

static int are_alike(const long long agreed[2 * RUN_NUMBERS]) {
    int alike = 1;
    for (int i = 0; i < RUN_NUMBERS; i++)
        alike &= agreed[2 * i] == -agreed[2 * i + 1];
    return alike;
}

static void answer(const struct redist__request *request, const struct redist__problem *problem,
                   long long mine[ANSWERS]) {
    const redist_options *options = &request->options;
    const enum redist_binding later[2] = {options->bind_a, options->bind_b};
    mine[LOCAL] = mine[DEVICE] = 1;
    for (int side = 0; side < 2; side++) {
        size_t own = problem->transfer->side[side].bytes;
        struct redist__memory_handle handle =
            problem->space->export_memory(request->arrays[side], own);
        mine[side] = later[side] == REDIST_BIND_AT_EXECUTION_MAPPED ||
                     (later[side] == REDIST_BIND_AT_PLAN && (own == 0 || handle.key != 0));
        mine[DEVICE] &= later[side] == REDIST_BIND_AT_EXECUTION || mine[side];
        mine[LARGEST] = as_answer(own) < mine[LARGEST] ? as_answer(own) : mine[LARGEST];
    }
    answer_runs(&problem->transfer->element, &mine[RUNS]);
    mine[LOOPS] = redist__copy_is_set();
    mine[NONTEMPORAL] = as_answer(redist__copy_table()->nontemporal_bytes);
}

/* Finds the properties that methods may assume on all ranks. All ranks take part even if one fails. */
int redist__find_arrays(const struct redist__request *request, struct redist__problem *problem,
                        int *alike) {
    const struct redist__context *context = problem->context;
    long long mine[ANSWERS] = {0}, agreed[ANSWERS];
    redist__expect_mappings(problem);
    answer(request, problem, mine);
    int code = find_reachable(request, problem, mine);
    mine[DONE] = code == REDIST_OK;
    memcpy(agreed, mine, sizeof agreed);
    redist__keep_first(&code,
                       redist_all_reduce(context->comm, agreed, ANSWERS, MPI_LONG_LONG, MPI_MIN));
    if (code != REDIST_OK || !agreed[DONE])
        return redist_agree(context->comm, code);
    if (!agreed[LOCAL])
        redist__local_note_unreachable();
    *alike = are_alike(&agreed[RUNS]);
    problem->reaches_local = agreed[LOCAL] != 0;
    for (int side = 0; side < 2; side++)
        problem->mapped[side] = agreed[side] != 0;
    problem->largest_bytes = (size_t)-agreed[LARGEST];
    problem->knows_loops = agreed[LOOPS] != 0;
    if (problem->nontemporal_bytes == 0)
        problem->nontemporal_bytes = (size_t)-agreed[NONTEMPORAL];
    /* MPI libraries map device memory by the same means, with slower fallbacks */
    if (problem->space->asynchronous && request->options.staging == REDIST_STAGING_AUTO &&
        !agreed[DEVICE])
        problem->staged = 1;
    return REDIST_OK;
}

void redist__expect_mappings(const struct redist__problem *problem) {
    if (problem->space->expect != NULL)
        problem->space->expect(problem->mappings);
}

/* The barrier orders every rank's closing before any rank's return, after which an array may be freed:
 * CUDA leaves undefined what happens if an exporter frees memory that is still open elsewhere. */
void redist__close_mappings(const struct redist__problem *problem) {
    const struct redist__space *space = problem->space;
    if (space == NULL)
        return;
    space->unmap(problem->mappings);
    if (space->asynchronous)
        (void)redist_barrier(problem->context->node); /* ends when a peer is gone */
}
