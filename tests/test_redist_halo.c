/* SPDX-License-Identifier: BSD-3-Clause */
/* Ghosts: filled from their owners and added to them, against what the global array says; and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchanges.h"
#include "harness.h"
#include "redist_halo.h"
#include "redist_support.h"
#include "stream_device.h"

/* NULL unless the library has a device: CUDA's, or, in a copy, one that stands in for it. */
const test_device *stream_device_memory(void) __attribute__((weak));
int stream_device_begin(void) __attribute__((weak));
int stream_device_is_for_mpi(void) __attribute__((weak));
void *stream_device_create(void) __attribute__((weak));
void stream_device_destroy(void *stream) __attribute__((weak));
void stream_device_wait(void *stream) __attribute__((weak));
void stream_device_capture(void *stream) __attribute__((weak));
void *stream_device_captured(void *stream) __attribute__((weak));
void stream_device_replay(void *graph, void *stream) __attribute__((weak));
void stream_device_free(void *graph) __attribute__((weak));
int device_begin(void) __attribute__((weak)); /* of CUDA only */

/* Ends a test without the device that its arrays are for. */
#define NEEDS_ARRAYS()                                                                             \
    do {                                                                                           \
        if (device_begin != NULL && !device_begin())                                               \
            skip_test("no CUDA device");                                                           \
    } while (0)

/* ---------------------------------------------------------------- elements */

typedef struct kind {
    const char *name;
    char
        number; /* d, f, l (long double), b (1 byte), i (4), q (8); x = bytes that are no numbers */
    int components;
    size_t bytes, extent; /* of a number, of an element */
    MPI_Datatype base;
} kind;

enum { LONG_DOUBLE = 7, KINDS = 9 };

static kind kind_at(int index) {
    const kind kinds[KINDS] = {
        {"double", 'd', 1, 8, 8, MPI_DOUBLE},
        {"float", 'f', 1, 4, 4, MPI_FLOAT},
        {"complex", 'd', 2, 8, 16, MPI_C_DOUBLE_COMPLEX},
        {"3 floats", 'f', 3, 4, 12, MPI_FLOAT},
        {"int8", 'b', 1, 1, 1, MPI_SIGNED_CHAR},
        {"int", 'i', 1, 4, 4, MPI_INT},
        {"2 int64 in 24 bytes", 'q', 2, 8, 24, MPI_INT64_T},
        {"long double", 'l', 1, sizeof(long double), sizeof(long double), MPI_LONG_DOUBLE},
        {"5 bytes", 'x', 5, 1, 5, MPI_BYTE}};
    return kinds[index % KINDS];
}

static MPI_Datatype make_type(const kind *of) {
    MPI_Datatype fields, type;
    int size;
    MPI_Type_size(of->base, &size);
    MPI_Type_contiguous((int)(of->bytes * (size_t)of->components) / size, of->base, &fields);
    MPI_Type_create_resized(fields, 0, (MPI_Aint)of->extent, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&fields);
    return type;
}

static void write_number(const kind *of, char *at, long value) {
    const double d = (double)value;
    const float f = (float)value;
    const long double l = (long double)value;
    const int32_t i = (int32_t)value;
    const int64_t q = value;
    const int8_t b = (int8_t)value;
    memcpy(at,
           of->number == 'd'   ? (const void *)&d
           : of->number == 'f' ? (const void *)&f
           : of->number == 'l' ? (const void *)&l
           : of->number == 'i' ? (const void *)&i
           : of->number == 'q' ? (const void *)&q
                               : (const void *)&b,
           of->bytes);
}

static long read_number(const kind *of, const char *at) {
    char bytes[sizeof(long double)];
    memcpy(bytes, at, of->bytes);
    switch (of->number) {
    case 'd':
        return (long)*(double *)(void *)bytes;
    case 'f':
        return (long)*(float *)(void *)bytes;
    case 'l':
        return (long)*(long double *)(void *)bytes;
    case 'i':
        return *(int32_t *)(void *)bytes;
    case 'q':
        return *(int64_t *)(void *)bytes;
    default:
        return *(int8_t *)(void *)bytes;
    }
}

/* ---------------------------------------------------------------- operations */

/* Operations in the place of the sum. */
typedef struct operation {
    const char *name;
    MPI_Op op;
    int on_elements; /* of the user: on whole elements, in the order of ranks; else on their numbers */
} operation;

/* An element becomes that which arrives, plus three times itself, byte by byte. */
static void multiply_and_add(void *arriving, void *element, int *count, MPI_Datatype *type) {
    const unsigned char *from = arriving;
    unsigned char *to = element;
    int bytes;
    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *count * bytes; i++)
        to[i] = (unsigned char)(from[i] + 3 * to[i]);
}

enum { OPERATIONS = 4 };

/* The last one is to be freed. */
static void make_operations(operation made[OPERATIONS]) {
    made[0] = (operation){"max", MPI_MAX, 0};
    made[1] = (operation){"min", MPI_MIN, 0};
    made[2] = (operation){"prod", MPI_PROD, 0};
    made[3] = (operation){.name = "multiply and add", .on_elements = 1};
    MPI_Op_create(multiply_and_add, 0, &made[3].op);
}

/* Returns whether an operation is for elements of a kind; long doubles have bytes that are not defined. */
static int is_for(const operation *by, kind of) {
    int is_complex = of.base == MPI_C_DOUBLE_COMPLEX;
    return by->on_elements ? of.number != 'l' && of.extent == of.bytes * (size_t)of.components
                           : of.number != 'x' && (by->op == MPI_PROD || !is_complex);
}

static int kind_for(const operation *by) {
    int index = random_between(0, KINDS - 1);
    while (!is_for(by, kind_at(index)))
        index++;
    return index;
}

/* ---------------------------------------------------------------- cases */

typedef struct halo_case {
    kind kind;
    const operation *by; /* NULL: sums */
    exchange given;      /* its boxes of side 0 */
    redist_halo halo;
    enum redist_staging staging;
    int enqueued; /* executions are asynchronous, */
    int replayed; /* and captured in a graph, which is replayed */
    double wait_seconds;
    void *stream;
} halo_case;

static redist_index extent_of(const redist_box *box, int axis) {
    return box->extent[axis] != 0 ? box->extent[axis] : box->count[axis];
}

static int is_empty(const halo_case *given, const redist_box *box) {
    int empty = 0;
    for (int i = 0; i < given->given.ndims; i++)
        empty |= box->count[i] == 0;
    return empty;
}

/* Role of an element of a local array. */
enum place { OWN, GHOST, NEITHER };

/* Finds the place of an element, and the number of what it holds or shows in the global array. */
static enum place find_place(const halo_case *given, const redist_box *box,
                             const redist_index index[], size_t *global) {
    const exchange *of = &given->given;
    int outside = 0, beyond = 0;
    *global = 0;
    if (is_empty(given, box))
        return NEITHER;
    for (int i = 0; i < of->ndims; i++) {
        redist_index size = of->sizes[i], at = index[i] - box->offset[i];
        outside += at < 0 || at >= box->count[i];
        beyond |= at < -given->halo.low[i] || at >= box->count[i] + given->halo.high[i];
        at += box->start[i];
        beyond |= !given->halo.periodic[i] && (at < 0 || at >= size);
        *global = *global * (size_t)size + (size_t)(((at % size) + size) % size);
    }
    if (beyond || (outside > 1 && !given->halo.corners))
        return NEITHER;
    return outside ? GHOST : OWN;
}

/* Advances an index in a local array; 0 after the last one. */
static int advance(const halo_case *given, const redist_box *box, redist_index index[]) {
    for (int i = given->given.ndims - 1; i >= 0; i--) {
        if (++index[i] < extent_of(box, i))
            return 1;
        index[i] = 0;
    }
    return 0;
}

static size_t elements_of(const halo_case *given, const redist_box *box) {
    size_t elements = 1;
    for (int i = 0; i < given->given.ndims; i++)
        elements *= (size_t)extent_of(box, i);
    return elements;
}

static long own_value(size_t global, int component) {
    return (long)(random_hash(global * 8 + (size_t)component) % 50);
}

/* Values differ from 0, which would hide other factors. */
static long ghost_value(int rank, size_t element, int component) {
    return (long)(random_hash(((size_t)rank << 40) + element * 8 + (size_t)component + 1) % 4) + 1;
}

static const long untouched = 77;

/* Calls `visit` for each element of the local array of a rank. */
typedef void visitor(const halo_case *given, int rank, enum place place, size_t element,
                     size_t global, void *data);

static void visit_all(const halo_case *given, int rank, visitor *visit, void *data) {
    const redist_box *box = &given->given.boxes[0][rank];
    redist_index index[REDIST_MAX_NDIMS] = {0};
    size_t global, element = 0;
    if (elements_of(given, box) == 0)
        return;
    do {
        enum place place = find_place(given, box, index, &global);
        visit(given, rank, place, element++, global, data);
    } while (advance(given, box, index));
}

/* The array in host memory: itself, or the copy of one on a device. */
static char *on_host(const test_array *array) {
    return (char *)array->allocation + array->before;
}

static void copy_to_device(const test_array *array) {
    if (array->on_device != NULL)
        arrays_device()->copy(array->on_device, array->allocation, array->allocation_bytes);
}

static void copy_from_device(const test_array *array) {
    if (array->on_device != NULL)
        arrays_device()->copy(array->allocation, array->on_device, array->allocation_bytes);
}

/* Sets an element before an execution. */
static void set_element(const halo_case *given, int rank, enum place place, size_t element,
                        size_t global, void *data) {
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

static redist_options options_of(const halo_case *given, const char *method,
                                 enum redist_overlap overlap) {
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

static int plan_of(const halo_case *given, MPI_Datatype type, const test_array *array,
                   const char *method, enum redist_overlap overlap, int later, redist_plan **plan) {
    const exchange *of = &given->given;
    redist_options options = options_of(given, method, overlap);
    options.bind_a = later ? REDIST_BIND_AT_EXECUTION : REDIST_BIND_AT_PLAN;
    return redist_plan_halo(MPI_COMM_WORLD, type, of->ndims, of->sizes, &of->boxes[0][of->rank],
                            later ? NULL : array->data, &given->halo, &options, plan);
}

/* Replays a graph; what can be repeated more than once. */
static void replay(const halo_case *given, redist_plan *plan, int direction) {
    stream_device_capture(given->stream);
    int code = redist_plan_execute(plan, direction);
    void *graph = stream_device_captured(given->stream);
    check_all(code == REDIST_OK && graph != NULL, "%s", redist_error_message());
    for (int i = 0; i < (direction == REDIST_FILL ? 3 : 1); i++)
        stream_device_replay(graph, given->stream);
    stream_device_wait(given->stream);
    stream_device_free(graph);
}

static void run(const halo_case *given, redist_plan *plan, int direction, int later,
                const test_array *array) {
    copy_to_device(array);
    if (given->replayed)
        replay(given, plan, direction);
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
    run(given, plan, REDIST_ACCUMULATE, later, array);
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

/* Executes in both directions and compares the whole array. */
static void check_plan(const halo_case *given, MPI_Datatype type, redist_plan *plan, int later,
                       const test_array *array) {
    check filled = {.array = on_host(array)};
    visit_all(given, given->given.rank, set_element, on_host(array));
    run(given, plan, REDIST_FILL, later, array);
    visit_all(given, given->given.rank, check_element, &filled);
    check_all(filled.wrong == 0, "fill: %s", filled.text);
    if (given->by != NULL)
        check_combined(given, type, plan, later, array);
    else if (given->kind.number != 'x' && (given->kind.number != 'l' || arrays_device() == NULL))
        check_sums(given, plan, later, array);
}

/* Returns whether ghosts have corners along several axes. */
static int has_axes(const halo_case *given) {
    int axes = 0;
    for (int i = 0; i < given->given.ndims; i++)
        axes += given->halo.low[i] + given->halo.high[i] > 0;
    return given->halo.corners && axes > 1;
}

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

static void say(const halo_case *given, const char *method, enum test_memory memory, int later) {
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

/* Room for the ghosts, and on some sides for more. */
static void set_room(halo_case *given) {
    for (int rank = 0; rank < given->given.nranks; rank++) {
        redist_box *box = &given->given.boxes[0][rank];
        for (int i = 0; i < given->given.ndims; i++) {
            redist_index end = given->given.sizes[i] - box->start[i] - box->count[i];
            int periodic = given->halo.periodic[i], exact = random_chance(30);
            redist_index low = given->halo.low[i], high = given->halo.high[i];
            if (exact && !periodic) {
                low = low < box->start[i] ? low : box->start[i];
                high = high < end ? high : end;
            }
            box->offset[i] = low + (exact ? 0 : random_between(0, 1));
            box->extent[i] =
                box->offset[i] + box->count[i] + high + (exact ? 0 : random_between(0, 1));
        }
    }
}

/* The methods of all exchanges, and those of ghosts alone. */
static const char *const axes_requests[] = {"axes", "axes:p2p", "axes:direct"};
enum { AXES_REQUESTS = sizeof(axes_requests) / sizeof(axes_requests[0]) };

static int ghost_request_count(void) {
    return request_count() + AXES_REQUESTS;
}

static const char *ghost_request_name(int index) {
    return index < AXES_REQUESTS ? axes_requests[index] : request_name(index - AXES_REQUESTS);
}

static void try_methods(halo_case *given) {
    MPI_Datatype type = make_type(&given->kind);
    set_room(given);
    for (int i = 0; i < ghost_request_count(); i++) {
        const char *method = ghost_request_name(i);
        enum test_memory memory = (enum test_memory)random_between(0, MEMORY_KINDS - 1);
        int later = random_chance(30);
        int never = random_chance(30) && (arrays_device() == NULL || stream_device_is_for_mpi());
        given->staging = never ? REDIST_STAGING_NEVER : REDIST_STAGING_AUTO;
        say(given, method, memory, later);
        try_method(given, type, method, memory, later);
    }
    MPI_Type_free(&type);
}

static halo_case case_of(int ndims, const redist_index sizes[], int index) {
    halo_case made = {.kind = kind_at(index), .halo = REDIST_HALO_DEFAULT};
    made.given = exchange_between_boxes(MPI_COMM_WORLD, NULL, ndims, sizes);
    return made;
}

/* ---------------------------------------------------------------- random cases */

static void set_halo(halo_case *given) {
    given->halo.corners = random_chance(60);
    for (int i = 0; i < given->given.ndims; i++) {
        int periodic = random_chance(50), size = (int)given->given.sizes[i];
        int most = random_chance(30) ? 6 : 2;
        most = periodic || most < size ? most : size;
        given->halo.periodic[i] = periodic;
        given->halo.low[i] = random_between(0, most);
        given->halo.high[i] = random_between(0, most);
    }
}

static void try_random(int blocks, int i) {
    int ndims = i % 4 + 1;
    redist_index sizes[REDIST_MAX_NDIMS];
    random_sizes(ndims, 1, ndims == 1 ? 40 : 24 / ndims, 400, sizes);
    halo_case given = case_of(ndims, sizes, random_between(0, KINDS - 1));
    if (blocks)
        exchange_set_blocks(&given.given, 0, random_between(1, ndims));
    else
        exchange_set_bricks(&given.given, 0);
    set_halo(&given);
    try_methods(&given);
}

START_TEST(blocks) {
    NEEDS_ARRAYS();
    for (int i = 0; harness_another(i, 4); i++)
        try_random(1, i);
}
END_TEST

START_TEST(bricks) {
    NEEDS_ARRAYS();
    for (int i = 0; harness_another(i, 4); i++)
        try_random(0, i);
}
END_TEST

/* Operations in the place of sums, one of which depends on the order of ghosts. */
START_TEST(operations) {
    NEEDS_ARRAYS();
    if (arrays_device() != NULL)
        skip_test("in host memory");
    operation all[OPERATIONS];
    make_operations(all);
    for (int i = 0; harness_another(i, 4 * OPERATIONS); i++) {
        int ndims = i / OPERATIONS % 3 + 1;
        const operation *by = &all[i % OPERATIONS];
        redist_index sizes[REDIST_MAX_NDIMS];
        random_sizes(ndims, 1, ndims == 1 ? 40 : 24 / ndims, 400, sizes);
        halo_case given = case_of(ndims, sizes, kind_for(by));
        given.by = by;
        exchange_set_bricks(&given.given, 0);
        set_halo(&given);
        try_methods(&given);
    }
    MPI_Op_free(&all[OPERATIONS - 1].op);
}
END_TEST

/* ---------------------------------------------------------------- named cases */

static void try_named(int ndims, int size, int low, int high, int periodic, int corners,
                      int index) {
    redist_index sizes[REDIST_MAX_NDIMS] = {0};
    for (int i = 0; i < ndims; i++)
        sizes[i] = i == 0 ? size : size > 4 ? 4 : size;
    halo_case given = case_of(ndims, sizes, index);
    exchange_set_blocks(&given.given, 0, ndims > 2 ? 2 : 1);
    given.halo.corners = corners;
    for (int i = 0; i < ndims; i++) {
        given.halo.low[i] = low;
        given.halo.high[i] = high;
        given.halo.periodic[i] = periodic;
    }
    try_methods(&given);
}

/* One rank has all elements: its ghosts are its own elements. */
START_TEST(periodic_on_one_rank) {
    NEEDS_ARRAYS();
    const redist_index sizes[2] = {5, 3};
    halo_case given = case_of(2, sizes, 0);
    exchange_empty(&given.given, 0);
    memcpy(given.given.boxes[0][harness_nranks - 1].count, sizes, sizeof(sizes));
    given.halo.low[0] = given.halo.high[1] = 2;
    given.halo.periodic[0] = given.halo.periodic[1] = given.halo.corners = 1;
    try_methods(&given);
}
END_TEST

START_TEST(wider_than_blocks) {
    NEEDS_ARRAYS();
    try_named(1, 2 * harness_nranks, 5, 3, 1, 0, 0);
    try_named(2, 9, 4, 4, 0, 1, 2);
}
END_TEST

/* Each rank has a row, and shows those before and behind it. */
static halo_case ring_of_rows(redist_index row, int index) {
    const redist_index sizes[2] = {harness_nranks, row};
    halo_case given = case_of(2, sizes, index);
    for (int rank = 0; rank < harness_nranks; rank++) {
        redist_box *box = &given.given.boxes[0][rank];
        box->start[0] = rank;
        box->count[0] = 1;
        box->count[1] = row;
    }
    given.halo.low[0] = given.halo.high[0] = given.halo.periodic[0] = 1;
    return given;
}

/* Messages that copy engines stage on a device, of numbers and of bytes without sums: those between two ranks are a
 * list of two boxes, of three one box. */
START_TEST(long_messages) {
    NEEDS_ARRAYS();
    enum { BYTES = 1 << 18 };
    for (int index = 0; index < KINDS; index += KINDS - 1) {
        redist_index row = 1 + (redist_index)(BYTES / kind_at(index).extent);
        halo_case given = ring_of_rows(row, index);
        try_methods(&given);
    }
}
END_TEST

START_TEST(several_times_around) {
    NEEDS_ARRAYS();
    try_named(1, 3, 7, 8, 1, 0, 5);
    try_named(2, 2, 5, 3, 1, 1, 1);
}
END_TEST

START_TEST(extents_of_one) {
    NEEDS_ARRAYS();
    try_named(3, 1, 1, 1, 1, 1, 0);
    try_named(2, 1, 1, 1, 0, 0, 3);
}
END_TEST

START_TEST(no_ghosts) {
    NEEDS_ARRAYS();
    try_named(2, 6, 0, 0, 1, 1, 0);
}
END_TEST

START_TEST(no_elements) {
    NEEDS_ARRAYS();
    try_named(2, 0, 0, 0, 0, 0, 0);
}
END_TEST

START_TEST(all_dimensions) {
    NEEDS_ARRAYS();
    for (int ndims = 1; ndims <= 6; ndims++)
        try_named(ndims, ndims > 4 ? 2 : 5, 1, 1, 1, ndims < 6, ndims);
}
END_TEST

/* Fields are an axis that each rank has whole, in front or behind. */
START_TEST(fields) {
    NEEDS_ARRAYS();
    for (int batch = 0; batch < 3; batch += 2) {
        redist_index sizes[3] = {6, 5, 4};
        halo_case given = case_of(3, sizes, 0);
        exchange_set_bricks(&given.given, 0);
        sizes[batch] = 3;
        given.given.sizes[batch] = 3;
        for (int rank = 0; rank < harness_nranks; rank++) {
            redist_box *box = &given.given.boxes[0][rank];
            *box = (redist_box){.size = sizeof(*box), .count = {sizes[0], sizes[1], sizes[2]}};
            redist_decompose(sizes[1], harness_nranks, rank, &box->count[1], &box->start[1]);
        }
        given.halo.low[1] = 2;
        given.halo.high[1] = 1;
        given.halo.periodic[1] = given.halo.periodic[2 - batch] = given.halo.corners = 1;
        given.halo.low[2 - batch] = 1;
        try_methods(&given);
    }
}
END_TEST

/* ---------------------------------------------------------------- messages */

static int messages; /* sent by this rank */

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    messages++;
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

static int messages_of(redist_plan *plan) {
    messages = 0;
    check_ok(redist_plan_execute(plan, REDIST_FILL));
    return messages;
}

/* Along one axis after the other there are no messages to ranks that are neighbours across corners only. */
START_TEST(messages_along_axes) {
    NEEDS_ARRAYS();
    if (harness_nranks != 4 || arrays_device() != NULL)
        skip_test("for four ranks, in host memory");
    static const char *const names[] = {"p2p", "axes:p2p"};
    const redist_index sizes[2] = {8, 6};
    halo_case given = case_of(2, sizes, 0);
    exchange_set_blocks(&given.given, 0, 2);
    for (int i = 0; i < 2; i++)
        given.halo.low[i] = given.halo.high[i] = given.halo.periodic[i] = 1;
    given.halo.corners = 1;
    set_room(&given);
    test_array array =
        array_create(MPI_COMM_WORLD, MEMORY_PLAIN,
                     elements_of(&given, &given.given.boxes[0][harness_rank]) * sizeof(double));
    for (int i = 0; i < 2; i++) {
        redist_plan *plan = NULL;
        check_ok(plan_of(&given, MPI_DOUBLE, &array, names[i], REDIST_OVERLAP_REFUSED, 0, &plan));
        check_all(messages_of(plan) == 3 - i, "%s sends %d messages", names[i], messages);
        check_ok(redist_plan_free(&plan));
    }
    array_free(&array);
}
END_TEST

/* ---------------------------------------------------------------- in streams */

/* The methods that the host need not wait for; "axes" only where there are corners along several axes. */
static const char *const enqueuing[] = {"signals:kernel", "signals:engines", "nccl",
                                        "nccl:plain",     "axes:signals",    "axes:nccl"};
enum { ENQUEUING = sizeof(enqueuing) / sizeof(enqueuing[0]) };

static void try_enqueued(halo_case *given, const char *method) {
    MPI_Datatype type = make_type(&given->kind);
    size_t elements = elements_of(given, &given->given.boxes[0][given->given.rank]);
    test_array array = array_create(MPI_COMM_WORLD, MEMORY_SHARED, elements * given->kind.extent);
    redist_plan *plan = NULL;
    given->enqueued = 1;
    given->stream = stream_device_create();
    say(given, method, MEMORY_SHARED, 0);
    int code = plan_of(given, type, &array, method, REDIST_OVERLAP_REFUSED, 0, &plan);
    if (strncmp(method, "axes", 4) != 0 || has_axes(given))
        check_ok(code);
    else
        check_code(code, REDIST_ERR_METHOD);
    for (int i = 0; i < 2 && plan != NULL; i++) {
        given->replayed = i;
        check_plan(given, type, plan, 0, &array);
        check_ok(redist_plan_query(plan));
    }
    check_ok(redist_plan_free(&plan));
    stream_device_destroy(given->stream);
    array_free(&array);
    MPI_Type_free(&type);
}

#define NEEDS_STREAMS()                                                                            \
    do {                                                                                           \
        if (arrays_device() == NULL)                                                               \
            skip_test("for a device");                                                             \
        if (!stream_device_begin())                                                                \
            skip_test("fewer devices than ranks");                                                 \
    } while (0)

/* On a device, without the host: lists of boxes, sums, graphs. */
START_TEST(enqueued) {
    NEEDS_ARRAYS();
    NEEDS_STREAMS();
    for (int i = 0; harness_another(i, 2 * ENQUEUING); i++) {
        int ndims = i % 3 + 1;
        redist_index sizes[REDIST_MAX_NDIMS];
        random_sizes(ndims, 1, ndims == 1 ? 40 : 24 / ndims, 400, sizes);
        halo_case given = case_of(ndims, sizes, random_between(0, KINDS - 1));
        exchange_set_bricks(&given.given, 0);
        set_halo(&given);
        set_room(&given);
        try_enqueued(&given, enqueuing[i % ENQUEUING]);
    }
}
END_TEST

/* Messages of half a megabyte; and, between two ranks, lists of 32, which NCCL sends in several waves, of numbers that
 * devices do not add. */
START_TEST(enqueued_long) {
    NEEDS_ARRAYS();
    NEEDS_STREAMS();
    for (int i = 0; i <= ENQUEUING - (harness_nranks > 2); i++) {
        int in_waves = i == ENQUEUING;
        int index = in_waves ? LONG_DOUBLE : 0, bytes = 1 << (in_waves ? 25 : 19);
        halo_case given = ring_of_rows(bytes / (int)kind_at(index).extent, index);
        set_room(&given);
        try_enqueued(&given, in_waves ? "nccl" : enqueuing[i]);
    }
}
END_TEST

/* Each rank shows all elements, so that each waits for all others. */
static halo_case case_of_all(void) {
    const redist_index sizes[2] = {2 * (redist_index)harness_nranks, 3};
    halo_case given = case_of(2, sizes, 0);
    for (int rank = 0; rank < harness_nranks; rank++) {
        redist_box *box = &given.given.boxes[0][rank];
        *box = (redist_box){.size = sizeof(*box), .start = {2 * rank}, .count = {2, 3}};
    }
    given.halo.low[0] = given.halo.high[0] = sizes[0];
    given.halo.low[1] = given.halo.high[1] = 1;
    given.halo.periodic[0] = given.halo.periodic[1] = given.halo.corners = 1;
    set_room(&given);
    return given;
}

static int execute_and_query(const halo_case *given, redist_plan *plan, int direction) {
    (void)redist_plan_execute(plan, direction);
    stream_device_wait(given->stream);
    return redist_plan_query(plan);
}

/* Rank 0 comes after the others have given up. */
static void come_late(const halo_case *given, redist_plan *plan, int direction) {
    int code = harness_rank != 0 ? execute_and_query(given, plan, direction) : REDIST_ERR_PEER;
    check_code(code, REDIST_ERR_PEER);
    check_code(execute_and_query(given, plan, direction), REDIST_ERR_PEER);
}

/* The last rank fails before it enqueues anything. */
static void fail_first(const halo_case *given, redist_plan *plan, int direction) {
    if (harness_rank == harness_nranks - 1)
        (void)redist_plan_break(plan, REDIST_ERR_DEVICE);
    int code = execute_and_query(given, plan, direction);
    check_all(code != REDIST_OK, "the failure of rank %d is not known", harness_nranks - 1);
}

static void try_failure(halo_case *given, const char *method, int is_late, int direction) {
    test_array array = array_create(MPI_COMM_WORLD, MEMORY_SHARED,
                                    elements_of(given, &given->given.boxes[0][given->given.rank]) *
                                        sizeof(double));
    redist_plan *plan = NULL;
    given->enqueued = 1;
    given->wait_seconds = is_late ? 0.05 : 0;
    given->stream = stream_device_create();
    harness_case("method %s, direction %d, %s", method, direction, is_late ? "late" : "failed");
    check_ok(plan_of(given, MPI_DOUBLE, &array, method, REDIST_OVERLAP_REFUSED, 0, &plan));
    (is_late ? come_late : fail_first)(given, plan, direction);
    check_ok(redist_plan_free(&plan));
    stream_device_destroy(given->stream);
    array_free(&array);
}

/* NCCL's kernels wait for a late rank without limit. */
START_TEST(enqueued_failures) {
    NEEDS_ARRAYS();
    NEEDS_STREAMS();
    if (harness_nranks == 1)
        skip_test("for several ranks");
    halo_case given = case_of_all();
    for (int i = 0; i < 4 * ENQUEUING; i++) {
        const char *method = enqueuing[i / 4];
        int is_late = i % 2, direction = i / 2 % 2;
        if (!is_late || strstr(method, "nccl") == NULL)
            try_failure(&given, method, is_late, direction);
    }
}
END_TEST

/* Both links at once move one box between two ranks, in a stream too. */
START_TEST(enqueued_by_both_links) {
    NEEDS_ARRAYS();
    NEEDS_STREAMS();
    if (harness_nranks == 1)
        skip_test("for several ranks");
    halo_case given = case_of_all();
    test_array array =
        array_create(MPI_COMM_WORLD, MEMORY_SHARED,
                     elements_of(&given, &given.given.boxes[0][harness_rank]) * sizeof(double));
    redist_plan *plan = NULL;
    given.enqueued = 1;
    for (int overlap = REDIST_OVERLAP_REFUSED; overlap <= REDIST_OVERLAP_ADD; overlap++)
        check_code(plan_of(&given, MPI_DOUBLE, &array, "hier:nccl", (enum redist_overlap)overlap, 0,
                           &plan),
                   REDIST_ERR_METHOD);
    array_free(&array);
}
END_TEST

/* ---------------------------------------------------------------- sums */

static halo_case case_of_sums(void) {
    const redist_index sizes[2] = {12, 7};
    halo_case given = case_of(2, sizes, 0);
    exchange_set_blocks(&given.given, 0, 2);
    given.halo.low[0] = given.halo.high[0] = 5;
    given.halo.low[1] = given.halo.high[1] = 3;
    given.halo.periodic[0] = given.halo.periodic[1] = given.halo.corners = 1;
    set_room(&given);
    return given;
}

/* Fills an array with numbers whose sums are rounded. */
static void fill_with_fractions(const test_array *array) {
    double *values = (double *)(void *)on_host(array);
    for (size_t k = 0; k < array->bytes / sizeof(double); k++)
        values[k] = 1.0 / (double)(1 + random_hash(k * 64 + (size_t)harness_rank) % 1000000);
    copy_to_device(array);
}

/* The bits of sums do not depend on the method, nor on which message is first. */
START_TEST(sums_are_the_same_bits) {
    NEEDS_ARRAYS();
    halo_case given = case_of_sums();
    size_t elements = elements_of(&given, &given.given.boxes[0][harness_rank]);
    test_array array = array_create(MPI_COMM_WORLD, MEMORY_SHARED, elements * sizeof(double));
    double *values = (double *)(void *)on_host(&array),
           *first = calloc(elements + 1, sizeof(double));
    for (int i = 0, compared = 0; i < 2 * ghost_request_count(); i++) {
        redist_plan *plan = NULL;
        const char *method = ghost_request_name(i / 2);
        harness_case("method %s", method);
        int code = plan_of(&given, MPI_DOUBLE, &array, method, REDIST_OVERLAP_ADD, 0, &plan);
        if (code == REDIST_ERR_METHOD)
            continue;
        check_ok(code);
        fill_with_fractions(&array);
        run(&given, plan, REDIST_ACCUMULATE, 0, &array);
        if (compared++ == 0)
            memcpy(first, values, elements * sizeof(double));
        check_all(memcmp(first, values, elements * sizeof(double)) == 0, "the sums differ");
        check_ok(redist_plan_free(&plan));
    }
    free(first);
    array_free(&array);
}
END_TEST

/* Arrays of boxes with ghosts, and of slabs along the other axis. */
struct moved {
    halo_case given;
    redist_box slab;
    test_array from, to;
};

static int plan_moved(struct moved *moved, const char *method, redist_plan **plan) {
    const exchange *of = &moved->given.given;
    const redist_options options = options_of(&moved->given, method, REDIST_OVERLAP_ADD);
    return redist_plan_boxes_around(MPI_COMM_WORLD, MPI_DOUBLE, 2, of->sizes, &moved->slab,
                                    moved->to.data, &of->boxes[0][of->rank], moved->from.data,
                                    &moved->given.halo, &options, plan);
}

/* The sums that an exchange of the ghosts alone makes, moved by another one. */
static void move_sums(struct moved *moved, const char *method) {
    const exchange *of = &moved->given.given;
    const redist_options options = options_of(&moved->given, method, REDIST_OVERLAP_REFUSED);
    redist_plan *sums = NULL, *move = NULL;
    check_ok(
        plan_of(&moved->given, MPI_DOUBLE, &moved->from, method, REDIST_OVERLAP_ADD, 0, &sums));
    check_ok(redist_plan_boxes(MPI_COMM_WORLD, MPI_DOUBLE, 2, of->sizes, &of->boxes[0][of->rank],
                               moved->from.data, &moved->slab, moved->to.data, &options, &move));
    fill_with_fractions(&moved->from);
    check_ok(redist_plan_execute(sums, REDIST_ACCUMULATE));
    check_ok(redist_plan_execute(move, REDIST_FORWARD));
    copy_from_device(&moved->to);
    check_ok(redist_plan_free(&sums));
    check_ok(redist_plan_free(&move));
}

/* Returns nonzero if the method does it, in one exchange: with the same bits, whatever was there before. */
static int compare_moved(struct moved *moved, const char *method, const char *expected) {
    redist_plan *plan = NULL;
    harness_case("method %s%s", method, moved->given.enqueued ? ", enqueued" : "");
    int code = plan_moved(moved, method, &plan);
    if (code == REDIST_ERR_METHOD)
        return 0;
    check_ok(code);
    for (int again = 0; again < 2; again++) {
        fill_with_fractions(&moved->from);
        fill_with_fractions(&moved->to);
        check_ok(redist_plan_execute(plan, REDIST_BACKWARD));
        if (moved->given.enqueued)
            stream_device_wait(moved->given.stream);
        copy_from_device(&moved->to);
        check_all(memcmp(expected, on_host(&moved->to), moved->to.bytes) == 0, "the sums differ");
    }
    check_ok(redist_plan_free(&plan));
    return 1;
}

/* Makes the slabs, without the array of the boxes. */
static struct moved begin_moved(void) {
    struct moved moved = {.given = case_of_sums(), .slab = REDIST_BOX_DEFAULT};
    redist_decompose(moved.given.given.sizes[1], harness_nranks, harness_rank, &moved.slab.count[1],
                     &moved.slab.start[1]);
    moved.slab.count[0] = moved.given.given.sizes[0];
    moved.to = array_create(MPI_COMM_WORLD, MEMORY_SHARED,
                            (size_t)(moved.slab.count[0] * moved.slab.count[1]) * sizeof(double));
    return moved;
}

/* Ghosts are added on the way from boxes to others. */
START_TEST(sums_on_the_way) {
    NEEDS_ARRAYS();
    struct moved moved = begin_moved();
    const exchange *of = &moved.given.given;
    int compared = 0;
    moved.from = array_create(MPI_COMM_WORLD, MEMORY_SHARED,
                              elements_of(&moved.given, &of->boxes[0][of->rank]) * sizeof(double));
    char *expected = malloc(moved.to.bytes + 1);
    move_sums(&moved, "p2p");
    memcpy(expected, on_host(&moved.to), moved.to.bytes);
    for (int i = 0; i < ghost_request_count(); i++)
        compared += compare_moved(&moved, ghost_request_name(i), expected);
    check_all(compared >= 3, "by %d methods", compared);
    moved.given.enqueued = arrays_device() != NULL && stream_device_begin();
    for (int i = 0; i < ENQUEUING && moved.given.enqueued; i++) {
        moved.given.stream = stream_device_create();
        const int done = compare_moved(&moved, enqueuing[i], expected);
        check_all(done || strncmp(enqueuing[i], "axes", 4) == 0, "%s does not", enqueuing[i]);
        stream_device_destroy(moved.given.stream);
    }
    free(expected);
    array_free(&moved.from);
    array_free(&moved.to);
}
END_TEST

/* Fills the ghosts around the boxes on the way from the slabs. */
static void fill_moved(const struct moved *moved, const char *method) {
    const exchange *of = &moved->given.given;
    redist_options options = options_of(&moved->given, method, REDIST_OVERLAP_READ);
    redist_plan *plan = NULL;
    options.bind_b = REDIST_BIND_AT_EXECUTION;
    harness_case("method %s", method);
    check_ok(redist_plan_boxes_around(MPI_COMM_WORLD, MPI_DOUBLE, 2, of->sizes, &moved->slab,
                                      moved->to.data, &of->boxes[0][of->rank], NULL,
                                      &moved->given.halo, &options, &plan));
    memset(on_host(&moved->from), 0x7f, moved->from.bytes);
    copy_to_device(&moved->from);
    check_ok(redist_plan_execute_arrays(plan, REDIST_FORWARD, moved->to.data, moved->from.data));
    if (moved->given.enqueued)
        stream_device_wait(moved->given.stream);
    copy_from_device(&moved->from);
    check_ok(redist_plan_free(&plan));
}

/* In a stream they are read out of the array that peers know, into any. */
START_TEST(ghosts_on_the_way) {
    NEEDS_ARRAYS();
    if (arrays_device() == NULL || !stream_device_begin())
        skip_test("for a device of each rank");
    struct moved moved = begin_moved();
    moved.from = array_create(MPI_COMM_WORLD, MEMORY_PLAIN,
                              elements_of(&moved.given, &moved.given.given.boxes[0][harness_rank]) *
                                  sizeof(double));
    char *expected = malloc(moved.from.bytes + 1);
    fill_with_fractions(&moved.to);
    fill_moved(&moved, "p2p");
    memcpy(expected, on_host(&moved.from), moved.from.bytes);
    moved.given.enqueued = 1;
    moved.given.stream = stream_device_create();
    for (int i = 0; i < ENQUEUING; i++) {
        if (strncmp(enqueuing[i], "axes", 4) == 0)
            continue;
        fill_moved(&moved, enqueuing[i]);
        check_all(memcmp(expected, on_host(&moved.from), moved.from.bytes) == 0,
                  "boxes or ghosts differ");
    }
    stream_device_destroy(moved.given.stream);
    free(expected);
    array_free(&moved.from);
    array_free(&moved.to);
}
END_TEST

/* ---------------------------------------------------------------- operations that fail */

static int reduction_fails;

int MPI_Reduce_local(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op) {
    return reduction_fails ? MPI_ERR_OTHER : PMPI_Reduce_local(from, to, count, type, op);
}

/* MPI refuses an operation on the last rank: it knows at once, the others at the end of the next execution. */
START_TEST(failing_operations) {
    NEEDS_ARRAYS();
    if (arrays_device() != NULL)
        skip_test("in host memory");
    static const char *const names[] = {"direct", "p2p", "alltoallv"};
    const operation by = {"max", MPI_MAX, 0};
    halo_case given = case_of_all();
    size_t elements = elements_of(&given, &given.given.boxes[0][harness_rank]);
    given.by = &by;
    for (int i = 0; i < 3; i++) {
        test_array array = array_create(MPI_COMM_WORLD, MEMORY_SHARED, elements * sizeof(double));
        redist_plan *plan = NULL;
        harness_case("method %s", names[i]);
        check_ok(plan_of(&given, MPI_DOUBLE, &array, names[i], REDIST_OVERLAP_REFUSED, 0, &plan));
        visit_all(&given, harness_rank, set_element, array.data);
        reduction_fails = harness_rank == harness_nranks - 1;
        int first = redist_plan_execute(plan, REDIST_ACCUMULATE);
        check_all(first == REDIST_ERR_MPI || !reduction_fails, "the failure has code %d", first);
        reduction_fails = 0;
        int second = redist_plan_execute(plan, REDIST_ACCUMULATE);
        check_all(second != REDIST_OK, "the failure of rank %d is not known", harness_nranks - 1);
        check_ok(redist_plan_free(&plan));
        array_free(&array);
    }
}
END_TEST

/* ---------------------------------------------------------------- refused */

static void check_refused(const halo_case *given, MPI_Datatype type, enum redist_overlap overlap,
                          int expected, const char *text) {
    static char room[100000];
    const test_array array = {.data = room};
    redist_plan *plan = NULL;
    check_code(plan_of(given, type, &array, "auto", overlap, 0, &plan), expected);
    check_all(strstr(redist_error_message(), text) != NULL, "the message lacks \"%s\": %s", text,
              redist_error_message());
    check_all(plan == NULL, "there is a plan");
}

static halo_case simple_case(void) {
    const redist_index sizes[2] = {8, 6};
    halo_case given = case_of(2, sizes, 0);
    exchange_set_blocks(&given.given, 0, 1);
    for (int rank = 0; rank < harness_nranks; rank++) {
        redist_box *box = &given.given.boxes[0][rank];
        for (int i = 0; i < 2; i++) {
            box->offset[i] = 3;
            box->extent[i] = box->count[i] + 6;
        }
    }
    for (int i = 0; i < 2; i++)
        given.halo.low[i] = given.halo.high[i] = given.halo.periodic[i] = 1;
    return given;
}

START_TEST(bad_widths) {
    NEEDS_ARRAYS();
    int culprit = random_between(0, harness_nranks - 1);
    halo_case given = simple_case();
    if (harness_rank == culprit)
        given.halo.low[1] = -2;
    check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_REFUSED, REDIST_ERR_SIZE,
                  "halo->low[1] = -2 is negative");
    given = simple_case();
    given.halo.periodic[0] = 0;
    given.halo.high[0] = 9;
    check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_REFUSED, REDIST_ERR_SIZE,
                  "halo->high[0] = 9 is wider than sizes[0] = 8");
    given = simple_case();
    given.halo.low[1] = 4;
    check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_REFUSED, REDIST_ERR_SIZE,
                  "halo->low[1] = 4, but the array has room for 3");
    given = simple_case();
    redist_plan *plan = NULL;
    check_code(redist_plan_halo(MPI_COMM_WORLD, MPI_DOUBLE, 2, given.given.sizes,
                                &given.given.boxes[0][harness_rank], NULL,
                                harness_rank == culprit ? NULL : &given.halo, NULL, &plan),
               REDIST_ERR_NULL);
}
END_TEST

START_TEST(tiles) {
    NEEDS_ARRAYS();
    halo_case given = simple_case();
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan *plan = NULL;
    options.tiles = REDIST_PUT;
    check_code(redist_plan_halo(MPI_COMM_WORLD, MPI_DOUBLE, 2, given.given.sizes,
                                &given.given.boxes[0][harness_rank], NULL, &given.halo, &options,
                                &plan),
               REDIST_ERR_ARGUMENT);
}
END_TEST

START_TEST(widths_that_differ) {
    NEEDS_ARRAYS();
    if (harness_nranks < 2)
        skip_test("one rank");
    halo_case given = simple_case();
    given.halo.high[1] = harness_rank == harness_nranks - 1 ? 2 : 1;
    check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_REFUSED, REDIST_ERR_DISAGREE, "halo->high[1]");
    given = simple_case();
    given.halo.periodic[0] = harness_rank == 0;
    check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_REFUSED, REDIST_ERR_DISAGREE,
                  "halo->periodic[0]");
}
END_TEST

START_TEST(holes_and_overlaps) {
    NEEDS_ARRAYS();
    halo_case given = simple_case();
    for (int rank = 0; rank < harness_nranks; rank++) {
        redist_box *box = &given.given.boxes[0][rank];
        for (int i = 0; i < 2; i++)
            if (box->start[i] + box->count[i] == given.given.sizes[i])
                box->count[i] -= i == 1 && box->count[0] * box->count[1] > 0;
    }
    check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_REFUSED, REDIST_ERR_SIZE, "5 along axis 1");
    if (harness_nranks < 2)
        return;
    given = simple_case();
    for (int rank = 0; rank < 2; rank++) {
        redist_box *box = &given.given.boxes[0][rank];
        *box = (redist_box){
            .size = sizeof(*box), .count = {8, 6}, .extent = {14, 12}, .offset = {3, 3}};
    }
    check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_REFUSED, REDIST_ERR_OVERLAP,
                  "box overlaps the box of rank 1");
}
END_TEST

START_TEST(elements_without_sums) {
    NEEDS_ARRAYS();
    halo_case given = simple_case();
    MPI_Datatype mixed;
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {0, 4};
    const MPI_Datatype types[2] = {MPI_INT, MPI_FLOAT};
    test_array array = array_create(MPI_COMM_WORLD, MEMORY_SHARED, 200 * sizeof(double));
    redist_plan *plan = NULL;
    MPI_Type_create_struct(2, lengths, places, types, &mixed);
    MPI_Type_commit(&mixed);
    check_refused(&given, mixed, REDIST_OVERLAP_ADD, REDIST_ERR_DATATYPE, "REDIST_OVERLAP_ADD");
    check_ok(plan_of(&given, mixed, &array, "auto", REDIST_OVERLAP_REFUSED, 0, &plan));
    check_ok(redist_plan_execute(plan, REDIST_FILL));
    check_code(redist_plan_execute(plan, REDIST_ACCUMULATE), REDIST_ERR_ARGUMENT);
    check_ok(redist_plan_free(&plan));
    MPI_Type_free(&mixed);
    check_ok(plan_of(&given, MPI_DOUBLE, &array, "alltoallw", REDIST_OVERLAP_READ, 0, &plan));
    check_ok(redist_plan_execute(plan, REDIST_FILL));
    check_code(redist_plan_start(plan, REDIST_ACCUMULATE), REDIST_ERR_ARGUMENT);
    check_ok(redist_plan_free(&plan));
    array_free(&array);
}
END_TEST

START_TEST(operations_refused) {
    NEEDS_ARRAYS();
    operation all[OPERATIONS];
    make_operations(all);
    const operation *max = &all[0], *own = &all[OPERATIONS - 1];
    halo_case given = simple_case();
    given.by = max;
    check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_READ, REDIST_ERR_ARGUMENT,
                  "options->overlap = REDIST_OVERLAP_READ");
    check_refused(&given, MPI_DOUBLE_INT, REDIST_OVERLAP_ADD, REDIST_ERR_DATATYPE, "without gaps");
    kind with_gaps = kind_at(6), bytes = kind_at(KINDS - 1);
    MPI_Datatype type = make_type(&with_gaps), mixed;
    given.by = own;
    check_refused(&given, type, REDIST_OVERLAP_ADD, REDIST_ERR_DATATYPE, "without gaps");
    MPI_Type_free(&type);
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {0, 4};
    const MPI_Datatype types[2] = {MPI_INT, MPI_FLOAT};
    MPI_Type_create_struct(2, lengths, places, types, &mixed);
    MPI_Type_commit(&mixed);
    given.by = max;
    check_refused(&given, mixed, REDIST_OVERLAP_REFUSED, REDIST_ERR_DATATYPE, "MPI_Op_create");
    MPI_Type_free(&mixed);
    MPI_Errhandler usual;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &usual);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    check_refused(&given, MPI_C_DOUBLE_COMPLEX, REDIST_OVERLAP_REFUSED, REDIST_ERR_MPI, "MPI");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, usual);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, usual);
    MPI_Errhandler_free(&usual);
    given.by = harness_rank == harness_nranks - 1 ? own : NULL;
    if (harness_nranks > 1)
        check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_ADD, REDIST_ERR_DISAGREE,
                      "whether options->operation is given");
    type = make_type(&bytes);
    given.by = own;
    test_array array = array_create(MPI_COMM_WORLD, MEMORY_SHARED, 200 * sizeof(double));
    redist_plan *plan = NULL;
    check_code(plan_of(&given, type, &array, "auto", REDIST_OVERLAP_REFUSED, 0, &plan),
               arrays_device() != NULL ? REDIST_ERR_ARGUMENT : REDIST_OK);
    check_all(arrays_device() == NULL || strstr(redist_error_message(), "host memory") != NULL,
              "the message is %s", redist_error_message());
    check_ok(redist_plan_free(&plan));
    array_free(&array);
    MPI_Type_free(&type);
    MPI_Op_free(&all[OPERATIONS - 1].op);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {blocks,
                                  bricks,
                                  operations,
                                  periodic_on_one_rank,
                                  wider_than_blocks,
                                  long_messages,
                                  several_times_around,
                                  extents_of_one,
                                  no_ghosts,
                                  no_elements,
                                  all_dimensions,
                                  fields,
                                  messages_along_axes,
                                  enqueued,
                                  enqueued_long,
                                  enqueued_failures,
                                  enqueued_by_both_links,
                                  sums_are_the_same_bits,
                                  sums_on_the_way,
                                  ghosts_on_the_way,
                                  failing_operations,
                                  bad_widths,
                                  tiles,
                                  widths_that_differ,
                                  holes_and_overlaps,
                                  elements_without_sums,
                                  operations_refused,
                                  NULL};
    if (stream_device_memory != NULL)
        arrays_use(stream_device_memory());
    return harness_run(argc, argv, "test_redist_halo", tests);
}
