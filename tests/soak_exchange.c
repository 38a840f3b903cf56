/* SPDX-License-Identifier: BSD-3-Clause */
#include "soak.h"

#include "exchanges.h"
#include "harness.h"

enum { MOST_EXECUTIONS = 60, MOST_AXES = 5, TEXT_BYTES = 512 };

/* What is wrong on this rank after some executions; all ranks compare it once. */
struct findings {
    int code;
    size_t wrong;
    char text[TEXT_BYTES];
};

/* ---------------------------------------------------------------- what is exchanged */

static exchange random_axes(MPI_Comm comm, const test_element *element) {
    int ndims = random_between(2, MOST_AXES);
    redist_index sizes[MOST_AXES];
    int axis_a = random_between(0, ndims - 1);
    int axis_b = (axis_a + random_between(1, ndims - 1)) % ndims;
    int is_large = random_chance(3);
    random_sizes(ndims, 0, is_large ? 40 : 12, is_large ? 30000 : 800, sizes);
    return exchange_between_axes(comm, element, ndims, sizes, axis_a, axis_b);
}

static exchange random_slabs(MPI_Comm comm, const test_element *element) {
    int axis = random_between(0, 2);
    exchange given = exchange_between_slabs(comm, element, axis, (axis + random_between(0, 2)) % 3);
    for (int side = 0; side < 2; side++)
        for (int rank = 0; rank < given.nranks && random_chance(80); rank++)
            exchange_pad(&given.boxes[side][rank]);
    return given;
}

/* Mostly all ranks; sometimes two communicators at the same time */
static MPI_Comm random_comm(void) {
    MPI_Comm comm = MPI_COMM_WORLD;
    if (random_chance(8))
        MPI_Comm_split(MPI_COMM_WORLD, harness_rank % 2, harness_rank, &comm);
    return comm;
}

/* ---------------------------------------------------------------- executions */

static void look_at(const exchange *given, const test_array arrays[2], int direction, uint64_t salt,
                    int code, struct findings *found) {
    soak_counts.exchanges++;
    if (code != REDIST_OK)
        found->code = code;
    else if (found->wrong == 0)
        found->wrong = exchange_wrong(given, arrays, direction, salt, found->text);
}

static void report(const struct findings *found) {
    check_all(found->code == REDIST_OK && found->wrong == 0, "%s",
              found->code != REDIST_OK ? redist_error_message() : found->text);
}

static void execute(const exchange *given, const exchange_way *way, const test_array arrays[2],
                    redist_plan *plan) {
    struct findings found = {REDIST_OK, 0, ""};
    int n = random_between(1, MOST_EXECUTIONS);
    for (int i = 0; i < n && found.code == REDIST_OK; i++) {
        int direction = random_between(0, 1);
        uint64_t salt = random_bits();
        exchange_prepare(given, arrays, direction, salt);
        int code = exchange_run(way, arrays, plan, direction);
        look_at(given, arrays, direction, salt, code, &found);
    }
    report(&found);
}

/* Of two communicators one may have a plan and the other not: all ranks make the same checks. */
static int is_planned(int code) {
    int planned = code == REDIST_OK;
    MPI_Allreduce(MPI_IN_PLACE, &planned, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return planned;
}

static void exchange_whole(const exchange *given, const exchange_way *way) {
    test_array arrays[2];
    redist_plan *plan = NULL;
    exchange_say(given, way);
    exchange_arrays(given, way->memory, arrays);
    int code = exchange_plan(given, way, arrays, &plan);
    int refused = code == REDIST_ERR_METHOD && may_be_refused(given, way);
    check_all(refused || code == REDIST_OK, "%s", redist_error_message());
    if (is_planned(code)) {
        soak_counts.plans++;
        execute(given, way, arrays, plan);
    }
    check_ok(redist_plan_free(&plan));
    exchange_free_arrays(arrays);
}

static void exchange_without_plan(const exchange *given, const exchange_way *way) {
    struct findings found = {REDIST_OK, 0, ""};
    test_array arrays[2];
    int n = random_between(1, 10);
    exchange_say(given, way);
    exchange_arrays(given, way->memory, arrays);
    for (int i = 0; i < n && found.code == REDIST_OK; i++) {
        int from = random_between(0, 1);
        uint64_t salt = random_bits();
        exchange_prepare(given, arrays, from, salt);
        look_at(given, arrays, from, salt, exchange_call(given, arrays, from), &found);
    }
    report(&found);
    exchange_free_arrays(arrays);
}

/* ---------------------------------------------------------------- tiles */

/* An execution in tiles: slabs of the array of this rank along one axis */
struct tiled {
    const exchange *given;
    redist_plan *plan;
    test_array arrays[2];
    int puts, partitions;
};

static int move_slab(const struct tiled *tiled, int axis, int nslabs, int which) {
    const exchange *given = tiled->given;
    int side = !tiled->puts;
    redist_index start[REDIST_MAX_NDIMS] = {0}, count[REDIST_MAX_NDIMS] = {0};
    const redist_box *box = &given->boxes[side][given->rank];
    ptrdiff_t stride[REDIST_MAX_NDIMS], step = (ptrdiff_t)given->element->extent;
    for (int i = given->ndims - 1; i >= 0; i--) {
        count[i] = box->count[i];
        stride[i] = step;
        step *= box->count[i];
    }
    redist_decompose(box->count[axis], nslabs, which, &count[axis], &start[axis]);
    char *data = tiled->arrays[side].data + start[axis] * stride[axis];
    return tiled->puts ? redist_plan_put(tiled->plan, start, count, data, stride)
                       : redist_plan_get(tiled->plan, start, count, data, stride);
}

static int end_tiles(const struct tiled *tiled, int code) {
    int arrived = 0;
    while (code == REDIST_OK && tiled->partitions > 1 && arrived < tiled->partitions)
        code = redist_plan_put_arrived(tiled->plan, &arrived);
    int ended = tiled->puts ? redist_plan_put_end(tiled->plan) : redist_plan_get_end(tiled->plan);
    return code == REDIST_OK ? ended : code;
}

/* Ranks cut their arrays in different numbers of slabs. */
static int move_tiles(const struct tiled *tiled, int axis, int nslabs) {
    nslabs = (nslabs + harness_rank) % 4 + 1;
    int code = tiled->puts ? redist_plan_put_begin(tiled->plan, tiled->arrays[1].data)
                           : redist_plan_get_begin(tiled->plan, tiled->arrays[0].data);
    for (int i = 0; i < nslabs && code == REDIST_OK; i++) {
        code = move_slab(tiled, axis, nslabs, i);
        if (code == REDIST_OK && tiled->puts && i % 2 == 0)
            code = redist_plan_put_progress(tiled->plan);
    }
    return end_tiles(tiled, code);
}

static void execute_tiles(const struct tiled *tiled) {
    struct findings found = {REDIST_OK, 0, ""};
    int n = random_between(1, MOST_EXECUTIONS / 2);
    for (int i = 0; i < n && found.code == REDIST_OK; i++) {
        uint64_t salt = random_bits();
        int axis = random_between(0, tiled->given->ndims - 1), nslabs = random_between(0, 3);
        exchange_prepare(tiled->given, tiled->arrays, REDIST_FORWARD, salt);
        int code = move_tiles(tiled, axis, nslabs);
        look_at(tiled->given, tiled->arrays, REDIST_FORWARD, salt, code, &found);
    }
    report(&found);
}

static int plan_tiles(struct tiled *tiled, const char *method) {
    const exchange *given = tiled->given;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = method;
    options.tiles = tiled->puts ? REDIST_PUT : REDIST_GET;
    options.partitions = tiled->partitions;
    options.partition_axis = given->ndims - 1;
    options.tune_seconds = 1e-4;
    return redist_plan_exchange(
        given->comm, given->element->type, given->ndims, given->boxes[0][given->rank].count,
        tiled->puts ? NULL : tiled->arrays[0].data, given->axes[0],
        given->boxes[1][given->rank].count, tiled->puts ? tiled->arrays[1].data : NULL,
        given->axes[1], &options, &tiled->plan);
}

/* Which methods have tiles is tested elsewhere. */
static void exchange_in_tiles(const exchange *given, const exchange_way *way) {
    struct tiled tiled = {.given = given, .puts = random_chance(70)};
    tiled.partitions = tiled.puts && random_chance(50) ? random_between(2, 5) : 1;
    exchange_say(given, way);
    exchange_arrays(given, way->memory, tiled.arrays);
    int code = plan_tiles(&tiled, way->method);
    check_all(code == REDIST_OK || code == REDIST_ERR_METHOD, "tiles: %s", redist_error_message());
    if (is_planned(code)) {
        soak_counts.plans++;
        execute_tiles(&tiled);
    }
    check_ok(redist_plan_free(&tiled.plan));
    exchange_free_arrays(tiled.arrays);
}

/* ---------------------------------------------------------------- any of them */

void soak_exchange(void) {
    MPI_Comm comm = random_comm();
    test_element element = element_create(random_between(0, element_count() - 1));
    exchange_way way = random_way(request_name(random_between(0, request_count() - 1)));
    int kind = random_between(0, 99);
    exchange given = kind < 30 ? random_slabs(comm, &element) : random_axes(comm, &element);
    if (random_chance(50))
        way.memory[0] = way.memory[1] = MEMORY_SHARED;
    if (kind < 60)
        exchange_whole(&given, &way);
    else if (kind < 95)
        exchange_in_tiles(&given, &way);
    else
        exchange_without_plan(&given, &way);
    element_free(&element);
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
}
