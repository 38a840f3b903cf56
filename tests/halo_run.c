/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halo_run.h"

/* ---------------------------------------------------------------- arrays */

char *on_host(const test_array *array) {
    return (char *)array->allocation + array->before;
}

void copy_to_device(const test_array *array) {
    if (array->on_device != NULL)
        arrays_device()->copy(array->on_device, array->allocation, array->allocation_bytes);
}

void copy_from_device(const test_array *array) {
    if (array->on_device != NULL)
        arrays_device()->copy(array->allocation, array->on_device, array->allocation_bytes);
}

static long own_value(size_t global, int component) {
    return (long)(random_hash(global * 8 + (size_t)component) % 50);
}

/* Values differ from 0, which would hide other factors. */
static long ghost_value(int rank, size_t element, int component) {
    return (long)(random_hash(((size_t)rank << 40) + element * 8 + (size_t)component + 1) % 4) + 1;
}

static const long untouched = 77;

void set_element(const halo_case *given, int rank, enum place place, size_t element, size_t global,
                 void *data) {
    for (int c = 0; c < given->kind.components; c++)
        write_number(&given->kind,
                     (char *)data + element * given->kind.extent + (size_t)c * given->kind.bytes,
                     place == OWN     ? own_value(global, c)
                     : place == GHOST ? ghost_value(rank, element, c)
                                      : untouched);
}

/* Adds a ghost to the sum that accumulation has to leave in the element of the global array. */
static void add_ghost(const halo_case *given, int rank, enum place place, size_t element,
                      size_t global, void *data) {
    for (int c = 0; c < given->kind.components && place == GHOST; c++)
        ((long *)data)[global * (size_t)given->kind.components + (size_t)c] +=
            ghost_value(rank, element, c);
}

/* ---------------------------------------------------------------- what operations leave */

/* The global array that accumulation by an operation has to leave, and the slab of ghosts that is next. */
typedef struct combination {
    MPI_Datatype type;
    char *elements;
    int slab;
} combination;

/* Returns the slab of a ghost: before the box or behind it, along the last axis along which it is outside. */
static int slab_of(const halo_case *given, const redist_box *box, size_t element) {
    for (int i = given->given.ndims - 1; i >= 0; i--) {
        redist_index at = (redist_index)(element % (size_t)extent_of(box, i)) - box->offset[i];
        if (at < 0 || at >= box->count[i])
            return 2 * i + (at >= 0);
        element /= (size_t)extent_of(box, i);
    }
    return -1;
}

static void write_own(const halo_case *given, int rank, enum place place, size_t element,
                      size_t global, void *data) {
    const combination *of = data;
    (void)rank;
    (void)element;
    for (int c = 0; c < given->kind.components && place == OWN; c++)
        write_number(&given->kind,
                     of->elements + global * given->kind.extent + (size_t)c * given->kind.bytes,
                     own_value(global, c));
}

static void combine_ghost(const halo_case *given, int rank, enum place place, size_t element,
                          size_t global, void *data) {
    const combination *of = data;
    const kind *numbers = &given->kind;
    char ghost[64], *own = of->elements + global * numbers->extent;
    int size, bytes = (int)numbers->bytes * numbers->components;
    if (place != GHOST || slab_of(given, &given->given.boxes[0][rank], element) != of->slab)
        return;
    for (int c = 0; c < numbers->components; c++)
        write_number(numbers, ghost + (size_t)c * numbers->bytes, ghost_value(rank, element, c));
    MPI_Type_size(numbers->base, &size);
    if (given->by->on_elements)
        MPI_Reduce_local(ghost, own, 1, of->type, given->by->op);
    else
        MPI_Reduce_local(ghost, own, bytes / size, numbers->base, given->by->op);
}

/* Combines the ghosts of all ranks in their order, and those of each in the order of slabs and of memory. */
static void combine_all(const halo_case *given, combination *of) {
    for (int rank = 0; rank < given->given.nranks; rank++)
        visit_all(given, rank, write_own, of);
    for (int rank = 0; rank < given->given.nranks; rank++)
        for (of->slab = 0; of->slab < 2 * given->given.ndims; of->slab++)
            visit_all(given, rank, combine_ghost, of);
}

/* ---------------------------------------------------------------- checks */

typedef struct check {
    const char *array;
    const long *sums;     /* NULL: ghosts were filled, or combined with */
    const char *combined; /* elements; NULL: filled or added */
    size_t wrong;
    char text[128];
} check;

static void check_element(const halo_case *given, int rank, enum place place, size_t element,
                          size_t global, void *data) {
    check *found = data;
    int components = given->kind.components;
    for (int c = 0; c < components; c++) {
        size_t byte = element * given->kind.extent + (size_t)c * given->kind.bytes;
        char expected[sizeof(long double)];
        int adds = found->sums != NULL || found->combined != NULL;
        long filled = place == GHOST && !adds ? own_value(global, c)
                      : place == GHOST        ? ghost_value(rank, element, c)
                      : place == OWN          ? own_value(global, c)
                                              : untouched;
        if (place == OWN && found->combined != NULL) {
            const char *result = found->combined + global * given->kind.extent;
            size_t bytes = given->kind.number == 'l' ? 10 : given->kind.bytes; /* of them numbers */
            if (memcmp(found->array + byte, result + (size_t)c * given->kind.bytes, bytes) != 0 &&
                found->wrong++ == 0)
                snprintf(found->text, sizeof(found->text), "element %zu (own) differs", element);
            continue;
        }
        if (place == OWN && found->sums != NULL)
            filled += found->sums[global * (size_t)components + (size_t)c];
        write_number(&given->kind, expected, filled);
        long is = read_number(&given->kind, found->array + byte),
             should = read_number(&given->kind, expected);
        if (is != should && found->wrong++ == 0)
            snprintf(found->text, sizeof(found->text), "element %zu (%s) is %ld, not %ld", element,
                     place == OWN     ? "own"
                     : place == GHOST ? "ghost"
                                      : "neither",
                     is, should);
    }
}

redist_options options_of(const halo_case *given, const char *method, enum redist_overlap overlap) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = method;
    options.overlap = overlap;
    options.operation = given->by != NULL ? &given->by->op : NULL;
    options.tune_seconds = 0.02;
    options.space = arrays_device() != NULL ? arrays_device()->space : REDIST_SPACE_AUTO;
    options.staging = given->staging;
    options.asynchronous = given->enqueued;
    options.wait_seconds = given->wait_seconds;
    options.stream = given->stream;
    return options;
}

int plan_of(const halo_case *given, MPI_Datatype type, const test_array *array, const char *method,
            enum redist_overlap overlap, int later, redist_plan **plan) {
    const exchange *of = &given->given;
    redist_options options = options_of(given, method, overlap);
    options.bind_a = later ? REDIST_BIND_AT_EXECUTION : REDIST_BIND_AT_PLAN;
    return redist_plan_halo(MPI_COMM_WORLD, type, of->ndims, of->sizes, &of->boxes[0][of->rank],
                            later ? NULL : array->data, &given->halo, &options, plan);
}

/* Replays a graph; what can be repeated more than once. */
static void replay(const halo_case *given, redist_plan *plan, int direction,
                   const test_array *array) {
    stream_device_capture(given->stream);
    int code = redist_plan_execute_arrays(plan, direction, array->data, array->data);
    void *graph = stream_device_captured(given->stream);
    check_all(code == REDIST_OK && graph != NULL, "%s", redist_error_message());
    for (int i = 0; i < (direction == REDIST_FILL ? 3 : 1); i++)
        stream_device_replay(graph, given->stream);
    stream_device_wait(given->stream);
    stream_device_free(graph);
}

void run_plan(const halo_case *given, redist_plan *plan, int direction, int later,
              const test_array *array) {
    copy_to_device(array);
    if (given->replayed)
        replay(given, plan, direction, array);
    else if (later) {
        check_ok(redist_plan_start_arrays(plan, direction, array->data, array->data));
        check_ok(redist_plan_wait(plan));
    } else
        check_ok(redist_plan_execute(plan, direction));
    if (given->enqueued)
        stream_device_wait(given->stream);
    copy_from_device(array);
}

static size_t global_elements(const halo_case *given) {
    size_t elements = 1;
    for (int i = 0; i < given->given.ndims; i++)
        elements *= (size_t)given->given.sizes[i];
    return elements;
}

/* Accumulates, and compares the whole array with what `expected` has. */
static void check_accumulated(const halo_case *given, redist_plan *plan, int later,
                              const test_array *array, check expected) {
    expected.array = on_host(array);
    visit_all(given, given->given.rank, set_element, on_host(array));
    run_plan(given, plan, REDIST_ACCUMULATE, later, array);
    visit_all(given, given->given.rank, check_element, &expected);
    check_all(expected.wrong == 0, "accumulate: %s", expected.text);
}

static void check_sums(const halo_case *given, redist_plan *plan, int later,
                       const test_array *array) {
    long *sums = calloc(global_elements(given) * (size_t)given->kind.components + 1, sizeof(long));
    for (int rank = 0; rank < given->given.nranks; rank++)
        visit_all(given, rank, add_ghost, sums);
    check_accumulated(given, plan, later, array, (check){.sums = sums});
    free(sums);
}

static void check_combined(const halo_case *given, MPI_Datatype type, redist_plan *plan, int later,
                           const test_array *array) {
    combination of = {.type = type,
                      .elements = calloc(global_elements(given) + 1, given->kind.extent)};
    combine_all(given, &of);
    check_accumulated(given, plan, later, array, (check){.combined = of.elements});
    free(of.elements);
}

void check_plan(const halo_case *given, MPI_Datatype type, redist_plan *plan, int later,
                const test_array *array) {
    check filled = {.array = on_host(array)};
    visit_all(given, given->given.rank, set_element, on_host(array));
    run_plan(given, plan, REDIST_FILL, later, array);
    visit_all(given, given->given.rank, check_element, &filled);
    check_all(filled.wrong == 0, "fill: %s", filled.text);
    if (given->by != NULL)
        check_combined(given, type, plan, later, array);
    else if (given->kind.number != 'x' && (given->kind.number != 'l' || arrays_device() == NULL))
        check_sums(given, plan, later, array);
}

/* ---------------------------------------------------------------- all methods */

static void try_method(const halo_case *given, MPI_Datatype type, const char *method,
                       enum test_memory memory, int later) {
    const exchange *of = &given->given;
    test_array array = array_create(
        MPI_COMM_WORLD, memory, elements_of(given, &of->boxes[0][of->rank]) * given->kind.extent);
    redist_plan *plan = NULL;
    int code = plan_of(given, type, &array, method, REDIST_OVERLAP_REFUSED, later, &plan);
    int must = strcmp(method, "auto") == 0 || strcmp(method, "p2p") == 0 ||
               (strcmp(method, "direct") == 0 && arrays_device() == NULL) ||
               (strcmp(method, "axes:p2p") == 0 && has_axes(given));
    if (code != REDIST_ERR_METHOD || must) {
        check_ok(code);
        check_plan(given, type, plan, later, &array);
        check_ok(redist_plan_free(&plan));
    }
    array_free(&array);
}

void say_case(const halo_case *given, const char *method, enum test_memory memory, int later) {
    char text[600];
    int n = 0;
    for (int i = 0; i < given->given.ndims; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, " %lld(%lld,%lld%s)",
                      (long long)given->given.sizes[i], (long long)given->halo.low[i],
                      (long long)given->halo.high[i], given->halo.periodic[i] ? ",periodic" : "");
    harness_case("%s,%s%s%s%s, method %s, %s%s%s", given->kind.name, text,
                 given->halo.corners ? ", corners" : "", given->by != NULL ? ", " : "",
                 given->by != NULL ? given->by->name : "", method, memory_name(memory),
                 later ? ", later" : "",
                 given->staging == REDIST_STAGING_NEVER ? ", not staged" : "");
}

static const char *const axes_requests[] = {"axes", "axes:p2p", "axes:direct"};
enum { AXES_REQUESTS = sizeof(axes_requests) / sizeof(axes_requests[0]) };

int ghost_request_count(void) {
    return request_count() + AXES_REQUESTS;
}

const char *ghost_request_name(int index) {
    return index < AXES_REQUESTS ? axes_requests[index] : request_name(index - AXES_REQUESTS);
}

const char *const enqueuing[ENQUEUING] = {"signals:kernel", "signals:engines", "nccl",
                                          "nccl:plain",     "axes:signals",    "axes:nccl"};

void try_methods(halo_case *given) {
    MPI_Datatype type = make_type(&given->kind);
    set_room(given);
    for (int i = 0; i < ghost_request_count(); i++) {
        if (!harness_draws_case())
            continue;
        const char *method = ghost_request_name(i);
        enum test_memory memory = (enum test_memory)random_between(0, MEMORY_KINDS - 1);
        int later = random_chance(30);
        int never = random_chance(30) && (arrays_device() == NULL || stream_device_is_for_mpi());
        given->staging = never ? REDIST_STAGING_NEVER : REDIST_STAGING_AUTO;
        say_case(given, method, memory, later);
        try_method(given, type, method, memory, later);
    }
    MPI_Type_free(&type);
}

int halo_tests_run(int argc, char **argv, const char *program, const TTest *const tests[]) {
    if (stream_device_memory != NULL)
        arrays_use(stream_device_memory());
    return harness_run(argc, argv, program, tests);
}
