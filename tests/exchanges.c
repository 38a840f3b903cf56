/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchanges.h"

#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "methods.h"

enum { TEXT_BYTES = 512 };

/* ---------------------------------------------------------------- description */

void exchange_empty(exchange *given, int side) {
    for (int rank = 0; rank < given->nranks; rank++)
        given->boxes[side][rank] = REDIST_BOX_DEFAULT;
}

exchange exchange_between_boxes(MPI_Comm comm, const test_element *element, int ndims,
                                const redist_index sizes[]) {
    exchange made = {.comm = comm, .element = element, .ndims = ndims, .axes = {-1, -1}};
    MPI_Comm_size(comm, &made.nranks);
    MPI_Comm_rank(comm, &made.rank);
    for (int i = 0; i < ndims; i++)
        made.sizes[i] = sizes[i];
    for (int side = 0; side < 2; side++)
        exchange_empty(&made, side);
    return made;
}

exchange exchange_between_slabs(MPI_Comm comm, const test_element *element, int axis_a,
                                int axis_b) {
    redist_index sizes[3];
    random_sizes(3, 1, 13, 800, sizes);
    exchange given = exchange_between_axes(comm, element, 3, sizes, axis_a, axis_b);
    given.axes[0] = given.axes[1] = -1;
    return given;
}

/* Cuts a box in `nparts` bricks: at a random place along a random axis, then each piece again. */
static void cut(int ndims, const redist_box *whole, int nparts, redist_box parts[]) {
    if (nparts == 1) {
        parts[0] = *whole;
        return;
    }
    int axis = random_between(0, ndims - 1), first = random_between(1, nparts - 1);
    int count = random_between(0, (int)whole->count[axis]);
    redist_box low = *whole, high = *whole;
    low.count[axis] = count;
    high.start[axis] += count;
    high.count[axis] -= count;
    cut(ndims, &low, first, parts);
    cut(ndims, &high, nparts - first, parts + first);
}

void exchange_set_bricks(exchange *given, int side) {
    redist_box whole = REDIST_BOX_DEFAULT, parts[EXCHANGE_MOST_RANKS];
    int order[EXCHANGE_MOST_RANKS];
    memcpy(whole.count, given->sizes, sizeof(whole.count));
    cut(given->ndims, &whole, given->nranks, parts);
    random_permutation(given->nranks, order);
    for (int rank = 0; rank < given->nranks; rank++)
        given->boxes[side][rank] = parts[order[rank]];
}

void exchange_set_blocks(exchange *given, int side, int grid_ndims) {
    int dims[REDIST_MAX_NDIMS] = {0}, axes[REDIST_MAX_NDIMS];
    MPI_Dims_create(given->nranks, grid_ndims, dims);
    random_permutation(given->ndims, axes);
    for (int rank = 0; rank < given->nranks; rank++) {
        redist_box *box = &given->boxes[side][rank];
        int rest = rank;
        memcpy(box->count, given->sizes, sizeof(box->count));
        for (int i = grid_ndims - 1; i >= 0; i--) {
            int part = rest % dims[i], size = (int)given->sizes[axes[i]];
            int start = size * part / dims[i], end = size * (part + 1) / dims[i];
            rest /= dims[i];
            box->start[axes[i]] = start;
            box->count[axes[i]] = end - start;
        }
    }
}

exchange exchange_between_random_boxes(MPI_Comm comm, const test_element *element, int elements) {
    redist_index sizes[3];
    random_sizes(3, 1, random_chance(20) ? 300 : 20, elements, sizes);
    exchange made = exchange_between_boxes(comm, element, 3, sizes);
    for (int side = 0; side < 2; side++) {
        if (random_chance(50))
            exchange_set_bricks(&made, side);
        else
            exchange_set_blocks(&made, side, random_between(1, 3));
        for (int rank = 0; rank < made.nranks && random_chance(50); rank++)
            exchange_pad(&made.boxes[side][rank]);
    }
    return made;
}

void exchange_pad(redist_box *box) {
    for (int axis = 0; axis < 3; axis++) {
        box->offset[axis] = random_between(0, 2);
        box->extent[axis] = box->offset[axis] + box->count[axis] + random_between(0, 2);
    }
}

/* Balanced blocks, computed another way than the library does: element i belongs to the first part
 * whose end is behind it. */
static void split_axis(redist_box *box, int axis, int size, int nparts, int part) {
    int start = 0;
    for (int i = 0; i <= part; i++) {
        int count = (size - start + nparts - i - 1) / (nparts - i);
        box->start[axis] = start;
        box->count[axis] = count;
        start += count;
    }
}

exchange exchange_between_axes(MPI_Comm comm, const test_element *element, int ndims,
                               const redist_index sizes[], int axis_a, int axis_b) {
    exchange made = exchange_between_boxes(comm, element, ndims, sizes);
    made.axes[0] = axis_a;
    made.axes[1] = axis_b;
    made.is_complete = 1;
    for (int side = 0; side < 2; side++)
        for (int rank = 0; rank < made.nranks; rank++) {
            redist_box *box = &made.boxes[side][rank];
            int split = made.axes[!side];
            memcpy(box->count, made.sizes, sizeof(box->count));
            split_axis(box, split, (int)sizes[split], made.nranks, rank);
        }
    return made;
}

void random_sizes(int ndims, int low, int high, int most, redist_index sizes[]) {
    int elements = 1;
    for (int i = 0; i < ndims; i++) {
        int room = most / elements;
        sizes[i] = random_between(low, high < room ? high : room < low ? low : room);
        elements *= sizes[i] > 0 ? (int)sizes[i] : 1;
    }
    for (int i = ndims - 1; i > 0; i--) { /* so that no axis is always the small one */
        int other = random_between(0, i);
        redist_index size = sizes[i];
        sizes[i] = sizes[other];
        sizes[other] = size;
    }
}

test_place exchange_place(const exchange *given, int side) {
    test_place place = {given->element, given->ndims,
                        given->sizes,   &given->boxes[side][given->rank],
                        given->nranks,  given->boxes[!side]};
    return place;
}

static size_t side_bytes(const exchange *given, int side) {
    test_place place = exchange_place(given, side);
    return place_elements(&place) * given->element->extent;
}

/* ---------------------------------------------------------------- ways */

/* What options.method can name besides the methods: on the host, and on a device. */
static const char *const more_requests[][8] = {
    {"auto", "direct:nontemporal", "direct:cached", "direct:push-nontemporal", "direct:push-cached",
     "direct:paced", "direct:lockstep"},
    {"auto", "nccl", "nccl:plain", "hier:nccl", "direct:engines", "direct:kernel", "direct:paced",
     "direct:lockstep"}};

static int on_device(void) {
    return arrays_device() != NULL;
}

int request_count(void) {
    return host_method_count() + (on_device() ? 8 : 7);
}

const char *request_name(int index) {
    if (index < host_method_count())
        return host_method_name(index);
    return more_requests[on_device()][index - host_method_count()];
}

exchange_way random_way(const char *method) {
    exchange_way way = {.method = method};
    way.memory[0] = (enum test_memory)random_between(0, MEMORY_KINDS - 1);
    way.memory[1] = (enum test_memory)random_between(0, MEMORY_KINDS - 1);
    way.use = (enum exchange_use)random_between(0, USES - 1);
    return way;
}

static int is_type_based(const char *method) {
    return !strcmp(method, "alltoallw") || !strcmp(method, "p2p-type") || !strcmp(method, "auto");
}

static int is_later(const exchange_way *way) {
    return way->use == USE_LATER || way->use == USE_LATER_START;
}

static int is_copyable(const exchange *given) {
    return given->element->copyable && given->ndims + given->element->axes <= REDIST_MAX_NDIMS;
}

/* On a device: ranks that share one have no NCCL, plain and later arrays are not mapped, and what cannot be copied
 * cannot be staged. */
static int may_be_refused_on_device(const exchange *given, const exchange_way *way) {
    int is_mapped = memory_is_shared(way->memory[0]) && memory_is_shared(way->memory[1]);
    return !is_copyable(given) || strstr(way->method, "nccl") ||
           ((!strncmp(way->method, "direct", 6) || !strncmp(way->method, "hier", 4)) &&
            (is_later(way) || !is_mapped));
}

int may_be_refused(const exchange *given, const exchange_way *way) {
    if (on_device())
        return may_be_refused_on_device(given, way);
    if (!is_copyable(given) && !is_type_based(way->method))
        return 1;
    int both_shared = memory_is_shared(way->memory[0]) && memory_is_shared(way->memory[1]);
    int pushes = !strncmp(way->method, "direct:p", 8) || !strcmp(way->method, "direct:lockstep");
    return pushes && (!both_shared || way->use == USE_LATER);
}

void exchange_say(const exchange *given, const exchange_way *way) {
    static const char *const uses[] = {"execute", "start and wait", "execute other arrays",
                                       "arrays bound at execution", "arrays later, start and wait"};
    char sizes[TEXT_BYTES] = "", boxes[2][TEXT_BYTES];
    for (int i = 0, used = 0; i < given->ndims; i++)
        used += snprintf(sizes + used, sizeof(sizes) - (size_t)used, "%s%lld", i ? "x" : "",
                         (long long)given->sizes[i]);
    for (int side = 0; side < 2; side++)
        box_text(given->ndims, &given->boxes[side][given->rank], TEXT_BYTES, boxes[side]);
    harness_case("%s of %s, axes %d:%d, rank %d of %d, A = %s (%s), B = %s (%s), method %s, %s",
                 sizes, given->element->name, given->axes[0], given->axes[1], given->rank,
                 given->nranks, boxes[0], memory_name(way->memory[0]), boxes[1],
                 memory_name(way->memory[1]), way->method, uses[way->use]);
}

/* ---------------------------------------------------------------- arrays */

void exchange_arrays(const exchange *given, const enum test_memory memory[2],
                     test_array arrays[2]) {
    for (int side = 0; side < 2; side++)
        arrays[side] = array_create(given->comm, memory[side], side_bytes(given, side));
}

exchange_tile exchange_slab(const exchange *given, int side, const test_array *array, int nslabs,
                            int slab) {
    const redist_box *box = &given->boxes[side][given->rank];
    exchange_tile tile = {{0}, {0}, {0}, NULL};
    ptrdiff_t stride = (ptrdiff_t)given->element->extent;
    for (int axis = given->ndims - 1; axis >= 0; axis--) {
        tile.count[axis] = box->count[axis];
        tile.stride[axis] = stride;
        stride *= box->count[axis];
    }
    redist_decompose(box->count[0], nslabs, slab, &tile.count[0], &tile.start[0]);
    tile.data = array->data + tile.start[0] * tile.stride[0];
    return tile;
}

void exchange_free_arrays(test_array arrays[2]) {
    array_free(&arrays[0]);
    array_free(&arrays[1]);
}

void *exchange_pointer(const test_array *array) {
    return array->bytes == 0 && array->memory == MEMORY_PLAIN ? NULL : array->data;
}

void exchange_prepare(const exchange *given, const test_array arrays[2], int direction,
                      uint64_t salt) {
    test_place source = exchange_place(given, direction);
    test_place destination = exchange_place(given, !direction);
    array_fill(&arrays[direction], &source, CONTENTS_VALUES, salt);
    array_fill(&arrays[!direction], &destination, CONTENTS_BLANK, salt);
}

size_t exchange_wrong(const exchange *given, const test_array arrays[2], int direction,
                      uint64_t salt, char text[TEXT_BYTES]) {
    test_place source = exchange_place(given, direction);
    test_place destination = exchange_place(given, !direction);
    char place[TEXT_BYTES / 2] = "";
    enum test_contents contents = given->is_complete ? CONTENTS_VALUES : CONTENTS_MIXED;
    size_t in_source =
        array_wrong(&arrays[direction], &source, CONTENTS_VALUES, salt, sizeof(place), place);
    if (in_source == 0 &&
        array_wrong(&arrays[!direction], &destination, contents, salt, sizeof(place), place) == 0)
        return 0;
    size_t wrong = in_source;
    if (in_source == 0)
        wrong =
            array_wrong(&arrays[!direction], &destination, contents, salt, sizeof(place), place);
    snprintf(text, TEXT_BYTES, "%zu wrong bytes in the %s, the first in %s", wrong,
             in_source ? "source" : "destination", place);
    return wrong;
}

/* ---------------------------------------------------------------- plans */

static int plan_between(const exchange *given, void *const arrays[2], const redist_options *options,
                        redist_plan **plan) {
    const redist_box *a = &given->boxes[0][given->rank], *b = &given->boxes[1][given->rank];
    if (given->axes[0] < 0)
        return redist_plan_boxes(given->comm, given->element->type, given->ndims, given->sizes, a,
                                 arrays[0], b, arrays[1], options, plan);
    return redist_plan_exchange(given->comm, given->element->type, given->ndims, a->count,
                                arrays[0], given->axes[0], b->count, arrays[1], given->axes[1],
                                options, plan);
}

static enum redist_staging used_staging = REDIST_STAGING_AUTO;

void exchange_use_staging(enum redist_staging staging) {
    used_staging = staging;
}

/* Arrays that are given later are promised to be mapped in one of the two uses, if they are. */
static enum redist_binding choose_later(const exchange_way *way, int side) {
    if (!is_later(way))
        return REDIST_BIND_AT_PLAN;
    int promised =
        way->use == USE_LATER_START && memory_is_shared(way->memory[side]) && !on_device();
    return promised ? REDIST_BIND_AT_EXECUTION_MAPPED : REDIST_BIND_AT_EXECUTION;
}

int exchange_plan(const exchange *given, const exchange_way *way, const test_array arrays[2],
                  redist_plan **plan) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    void *pointers[2] = {exchange_pointer(&arrays[0]), exchange_pointer(&arrays[1])};
    options.method = way->method;
    options.tune_seconds = 1e-4;
    options.bind_a = choose_later(way, 0);
    options.bind_b = choose_later(way, 1);
    options.skip_agreement = way->use == USE_LATER_START;
    options.space = on_device() ? arrays_device()->space : REDIST_SPACE_AUTO;
    options.staging = used_staging;
    options.overlap = given->overlap;
    if (is_later(way))
        pointers[0] = pointers[1] = NULL;
    return plan_between(given, pointers, &options, plan);
}

int exchange_run(const exchange_way *way, const test_array arrays[2], redist_plan *plan,
                 int direction) {
    void *a = exchange_pointer(&arrays[0]), *b = exchange_pointer(&arrays[1]);
    int code;
    switch (way->use) {
    case USE_EXECUTE:
        return redist_plan_execute(plan, direction);
    case USE_START:
        code = redist_plan_start(plan, direction);
        break;
    case USE_LATER_START:
        code = redist_plan_start_arrays(plan, direction, a, b);
        break;
    default:
        return redist_plan_execute_arrays(plan, direction, a, b);
    }
    return code == REDIST_OK ? redist_plan_wait(plan) : code;
}

int exchange_call(const exchange *given, const test_array arrays[2], int direction) {
    const redist_box *a = &given->boxes[direction][given->rank];
    const redist_box *b = &given->boxes[!direction][given->rank];
    return redist_exchange(given->comm, given->element->type, given->ndims, a->count,
                           arrays[direction].data, given->axes[direction], b->count,
                           arrays[!direction].data, given->axes[!direction]);
}

void exchange_check(const exchange *given, const test_array arrays[2], int direction,
                    uint64_t salt) {
    char text[TEXT_BYTES];
    size_t wrong = exchange_wrong(given, arrays, direction, salt, text);
    check_all(wrong == 0, "direction %d: %s", direction, text);
}

void exchange_execute(const exchange *given, const exchange_way *way, const test_array arrays[2],
                      redist_plan *plan, int direction) {
    uint64_t salt = random_bits();
    exchange_prepare(given, arrays, direction, salt);
    check_ok(exchange_run(way, arrays, plan, direction));
    exchange_check(given, arrays, direction, salt);
}

/* Arrays of all kinds for one exchange, allocated when first used */
struct pool {
    test_array arrays[2][MEMORY_KINDS];
};

static test_array pool_take(struct pool *pool, const exchange *given, int side,
                            enum test_memory memory) {
    test_array *array = &pool->arrays[side][memory];
    if (!array->allocation)
        *array = array_create(given->comm, memory, side_bytes(given, side));
    return *array;
}

static void pool_free(struct pool *pool) {
    for (int i = 0; i < 2 * MEMORY_KINDS; i++)
        if (pool->arrays[i / MEMORY_KINDS][i % MEMORY_KINDS].allocation)
            array_free(&pool->arrays[i / MEMORY_KINDS][i % MEMORY_KINDS]);
}

/* Another array that peers can map if they can map this one */
static enum test_memory sibling(enum test_memory memory) {
    static const enum test_memory siblings[] = {MEMORY_UNALIGNED, MEMORY_PLAIN, MEMORY_LOCAL,
                                                MEMORY_SHARED, MEMORY_INSIDE};
    return siblings[memory];
}

static void check_plan(const exchange *given, const exchange_way *way, const test_array arrays[2],
                       const test_array planned[2]) {
    redist_plan *plan = NULL;
    int code = exchange_plan(given, way, planned, &plan);
    int refused = code == REDIST_ERR_METHOD && may_be_refused(given, way);
    check_all(refused || code == REDIST_OK, "%s", redist_error_message());
    if (refused)
        return;
    exchange_execute(given, way, arrays, plan, REDIST_FORWARD);
    if (given->overlap != REDIST_OVERLAP_READ)
        exchange_execute(given, way, arrays, plan, REDIST_BACKWARD);
    code = redist_plan_free(&plan);
    check_all(code == REDIST_OK && !plan, "plan_free: %s", redist_error_message());
}

static void try_with(struct pool *pool, const exchange *given, const exchange_way *way) {
    test_array arrays[2], others[2];
    exchange_say(given, way);
    for (int side = 0; side < 2; side++) {
        arrays[side] = pool_take(pool, given, side, way->memory[side]);
        others[side] = arrays[side];
        if (way->use == USE_OTHER_ARRAYS)
            others[side] = pool_take(pool, given, side, sibling(way->memory[side]));
    }
    check_plan(given, way, arrays, others);
}

void exchange_try(const exchange *given, int nways, const exchange_way ways[]) {
    struct pool pool = {.arrays = {{{.allocation = NULL}}}};
    for (int i = 0; i < nways; i++)
        if (harness_draws_case())
            try_with(&pool, given, &ways[i]);
    pool_free(&pool);
}

void exchange_try_methods(const exchange *given) {
    struct pool pool = {.arrays = {{{.allocation = NULL}}}};
    for (int i = 0; i < request_count(); i++) {
        exchange_way way = random_way(request_name(i));
        try_with(&pool, given, &way);
    }
    pool_free(&pool);
}
