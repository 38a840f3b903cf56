/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that are handed over or fetched in tiles: any tiling, in any order, of any layout. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchanges.h"
#include "harness.h"

enum { MOST_AXES = 5, MOST_PIECES = 3, UNUSED = 0xee };

/* How a local array is cut: each axis in pieces */
struct tiling {
    int ndims;
    int npieces[MOST_AXES];
    redist_index start[MOST_AXES][MOST_PIECES + 1]; /* of each piece, and the end */
};

/* A box of a local array and a buffer for it, in which the axes may lie in another order */
struct tile {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    size_t bytes;
    char *data;
};

/* ---------------------------------------------------------------- tilings, different on each rank */

static struct tiling random_tiling(uint64_t *sequence, int ndims, const redist_box *box) {
    struct tiling tiling = {.ndims = ndims};
    for (int axis = 0; axis < ndims; axis++) {
        redist_index *start = tiling.start[axis], extent = box->extent[axis];
        extent = extent ? extent : box->count[axis];
        tiling.npieces[axis] = random_from(sequence, 1, MOST_PIECES);
        for (int piece = 1; piece < tiling.npieces[axis]; piece++)
            start[piece] = random_from(sequence, (int)start[piece - 1], (int)extent);
        start[tiling.npieces[axis]] = extent;
    }
    return tiling;
}

static int tiling_count(const struct tiling *tiling) {
    int count = 1;
    for (int axis = 0; axis < tiling->ndims; axis++)
        count *= tiling->npieces[axis];
    return count;
}

/* Tile number n, in a buffer of its own of a random layout */
static struct tile make_tile(uint64_t *sequence, const struct tiling *tiling, int n, size_t item) {
    struct tile tile = {.bytes = item};
    int first = random_from(sequence, 0, tiling->ndims - 1);
    for (int axis = 0; axis < tiling->ndims; axis++) {
        const redist_index *start = &tiling->start[axis][n % tiling->npieces[axis]];
        n /= tiling->npieces[axis];
        tile.start[axis] = start[0];
        tile.count[axis] = start[1] - start[0];
    }
    for (int i = tiling->ndims - 1; i >= 0; i--) {
        int axis = (first + i) % tiling->ndims;
        size_t room = (size_t)random_from(sequence, 0, 2);
        tile.stride[axis] = (ptrdiff_t)tile.bytes;
        tile.bytes *= (size_t)tile.count[axis] + room;
    }
    tile.data = malloc(tile.bytes + 1);
    memset(tile.data, UNUSED, tile.bytes + 1);
    return tile;
}

/* The data of one element to its place in the array. */
static void take_element(const test_element *element, char *in_array, char *in_tile) {
    for (size_t i = 0; i < element->extent; i++)
        if (element->holds[i] != HOLDS_NOTHING) {
            in_array[i] = in_tile[i];
            in_tile[i] = (char)UNUSED;
        }
}

/* Copies between a tile and the place in the local array, element by element. */
static void copy_tile(const struct tile *tile, int to_tile, int ndims, const redist_box *box,
                      const test_array *array, const test_element *element) {
    size_t item = element->extent;
    int total = 1;
    for (int i = 0; i < ndims; i++)
        total *= (int)tile->count[i];
    for (int n = 0; n < total; n++) {
        size_t place = 0;
        char *in_tile = tile->data;
        int rest = n, weight = total;
        for (int i = 0; i < ndims; i++) {
            redist_index extent = box->extent[i] ? box->extent[i] : box->count[i];
            weight /= (int)tile->count[i];
            place = place * (size_t)extent + (size_t)(tile->start[i] + rest / weight);
            in_tile += rest / weight * tile->stride[i];
            rest %= weight;
        }
        char *in_array = array->data + place * item;
        if (to_tile)
            memcpy(in_tile, in_array, item);
        else
            take_element(element, in_array, in_tile);
    }
}

static size_t count_used(const struct tile *tile) {
    size_t used = 0;
    for (size_t i = 0; i <= tile->bytes; i++)
        used += (unsigned char)tile->data[i] != UNUSED;
    return used;
}

/* ---------------------------------------------------------------- executions */

/* One exchange in tiles and what it needs */
struct job {
    const exchange *given;
    enum redist_tiles tiles;
    test_array arrays[2];
    redist_plan *plan;
    uint64_t sequence; /* of this rank's own choices */
    size_t stray;      /* bytes that a fetched tile should not have */
};

static int move_tile(struct job *job, const struct tiling *tiling, int n) {
    const exchange *given = job->given;
    int put = job->tiles == REDIST_PUT, side = put ? 0 : 1, code;
    const redist_box *box = &given->boxes[side][given->rank];
    struct tile tile = make_tile(&job->sequence, tiling, n, given->element->extent);
    if (put) {
        copy_tile(&tile, 1, given->ndims, box, &job->arrays[0], given->element);
        code = redist_plan_put(job->plan, tile.start, tile.count, tile.data, tile.stride);
        memset(tile.data, 0, tile.bytes); /* may be overwritten at once */
    } else {
        code = redist_plan_get(job->plan, tile.start, tile.count, tile.data, tile.stride);
        copy_tile(&tile, 0, given->ndims, box, &job->arrays[1], given->element);
        job->stray += count_used(&tile);
    }
    free(tile.data);
    return code;
}

static int move_all(struct job *job) {
    const exchange *given = job->given;
    int side = job->tiles == REDIST_PUT ? 0 : 1, failed = 0;
    struct tiling tiling =
        random_tiling(&job->sequence, given->ndims, &given->boxes[side][given->rank]);
    int count = tiling_count(&tiling), shift = random_from(&job->sequence, 0, count);
    int step = random_from(&job->sequence, 0, 1) ? 1 : count - 1;
    for (int i = 0; i < count; i++) {
        failed |= move_tile(job, &tiling, (int)((shift + (long)i * step) % count));
        if (job->tiles == REDIST_PUT && random_from(&job->sequence, 0, 2) == 0)
            failed |= redist_plan_put_progress(job->plan);
    }
    if (random_from(&job->sequence, 0, 9) == 0)
        usleep(200);
    return failed;
}

static void open_job(struct job *job, uint64_t salt, int *failed) {
    exchange_prepare(job->given, job->arrays, REDIST_FORWARD, salt);
    if (job->tiles == REDIST_PUT)
        *failed |= redist_plan_put_begin(job->plan, exchange_pointer(&job->arrays[1]));
    else
        *failed |= redist_plan_get_begin(job->plan, exchange_pointer(&job->arrays[0]));
}

static void close_job(struct job *job, int *failed) {
    if (job->tiles == REDIST_PUT)
        *failed |= redist_plan_put_end(job->plan);
    else
        *failed |= redist_plan_get_end(job->plan);
}

static void execute(struct job *job, uint64_t salt, char text[512], size_t *wrong, int *failed) {
    open_job(job, salt, failed);
    *failed |= move_all(job);
    close_job(job, failed);
    *wrong += exchange_wrong(job->given, job->arrays, REDIST_FORWARD, salt, text);
}

static redist_options tile_options(const char *method, enum redist_tiles tiles) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = method;
    options.tiles = tiles;
    options.tune_seconds = 1e-4;
    return options;
}

static int plan_tiles(struct job *job, const char *method) {
    const exchange *given = job->given;
    const redist_box *a = &given->boxes[0][given->rank], *b = &given->boxes[1][given->rank];
    void *array_a = job->tiles == REDIST_PUT ? NULL : exchange_pointer(&job->arrays[0]);
    void *array_b = job->tiles == REDIST_GET ? NULL : exchange_pointer(&job->arrays[1]);
    redist_options options = tile_options(method, job->tiles);
    if (given->axes[0] < 0)
        return redist_plan_boxes(given->comm, given->element->type, given->ndims, given->sizes, a,
                                 array_a, b, array_b, &options, &job->plan);
    return redist_plan_exchange(given->comm, given->element->type, given->ndims, a->count, array_a,
                                given->axes[0], b->count, array_b, given->axes[1], &options,
                                &job->plan);
}

/* Messages and mapped memory carry tiles; MPI's collective calls and single messages do not. */
static int may_refuse(const struct job *job, const exchange_way *way) {
    if (strcmp(way->method, "p2p") == 0 || strcmp(way->method, "auto") == 0)
        return !job->given->element->copyable;
    int paced =
        strcmp(way->method, "direct:paced") == 0 || strcmp(way->method, "direct:lockstep") == 0;
    int direct = strcmp(way->method, "direct") == 0 || (paced && job->tiles == REDIST_PUT);
    return !(direct && job->given->element->copyable && memory_is_shared(way->memory[1]) &&
             memory_is_shared(way->memory[0]));
}

static void try_tiles(const exchange *given, const exchange_way *way, enum redist_tiles tiles,
                      int rounds) {
    struct job job = {.given = given, .tiles = tiles};
    char text[512] = "";
    size_t wrong = 0;
    int failed = 0;
    job.sequence = random_bits() ^ random_hash((uint64_t)given->rank);
    exchange_say(given, way);
    exchange_arrays(given, way->memory, job.arrays);
    int code = plan_tiles(&job, way->method);
    int refused = code == REDIST_ERR_METHOD && may_refuse(&job, way);
    check_all(refused || code == REDIST_OK, "tiles %d: %s", tiles, redist_error_message());
    for (int round = 0; round < rounds && !refused; round++)
        execute(&job, random_bits(), text, &wrong, &failed);
    check_all(!failed, "tiles %d: %s", tiles, redist_error_message());
    check_all(wrong == 0, "tiles %d: %s", tiles, text);
    check_all(job.stray == 0, "tiles %d: %zu bytes between a tile's elements", tiles, job.stray);
    check_ok(redist_plan_free(&job.plan));
    exchange_free_arrays(job.arrays);
}

static void try_all(const exchange *given) {
    for (int i = 0; i < request_count(); i++) {
        exchange_way way = random_way(request_name(i));
        try_tiles(given, &way, i % 2 ? REDIST_PUT : REDIST_GET, 2);
        way.memory[0] = way.memory[1] = MEMORY_SHARED;
        try_tiles(given, &way, i % 2 ? REDIST_GET : REDIST_PUT, 2);
    }
}

START_TEST(between_axes) {
    for (int i = 0; harness_another(i, 2); i++) {
        int ndims = random_between(2, MOST_AXES);
        redist_index sizes[MOST_AXES];
        int axis_a = random_between(0, ndims - 1);
        int axis_b = (axis_a + random_between(1, ndims - 1)) % ndims;
        test_element element = element_create(random_between(0, copyable_element_count() - 1));
        random_sizes(ndims, 1, 13, 800, sizes);
        exchange given =
            exchange_between_axes(MPI_COMM_WORLD, &element, ndims, sizes, axis_a, axis_b);
        try_all(&given);
        element_free(&element);
    }
}
END_TEST

/* Slabs of the ranks along one axis before and another one after, in padded local arrays */
START_TEST(between_boxes) {
    for (int i = 0; harness_another(i, 2); i++) {
        test_element element = element_create(random_between(0, copyable_element_count() - 1));
        exchange given = exchange_between_slabs(MPI_COMM_WORLD, &element, i % 3, (i + 1) % 3);
        for (int rank = 0; rank < given.nranks && i % 2; rank++) /* A only: all of B is compared */
            exchange_pad(&given.boxes[0][rank]);
        try_all(&given);
        element_free(&element);
    }
}
END_TEST

/* Many executions of one plan, ranks early and late */
START_TEST(repeated) {
    static const char *const methods[] = {"direct", "p2p", "auto"};
    for (int i = 0; harness_another(i, 6); i++) {
        const redist_index sizes[] = {6, 7, 8};
        test_element element = element_create(2);
        exchange_way way = {methods[i % 3], {MEMORY_SHARED, MEMORY_SHARED}, USE_EXECUTE};
        exchange given =
            exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, i % 2, 1 + i % 2);
        try_tiles(&given, &way, i / 3 % 2 ? REDIST_PUT : REDIST_GET, 10);
    }
}
END_TEST

/* One row, so that only rank 0 has an array on one side, and tiles that are empty on the others */
START_TEST(one_row) {
    static const redist_index sizes[][2] = {{1, 9}, {9, 1}, {1, 1}};
    static const exchange_way way = {"p2p", {MEMORY_PLAIN, MEMORY_PLAIN}, USE_EXECUTE};
    test_element element = element_create(2);
    for (int i = 0; i < 6; i++) {
        exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 2, sizes[i / 2], 0, 1);
        try_tiles(&given, &way, i % 2 ? REDIST_PUT : REDIST_GET, 2);
    }
}
END_TEST

/* ---------------------------------------------------------------- two plans at once */

/* Each rank takes the tiles of both plans in an order of its own. */
static void move_both(struct job jobs[2], int *failed) {
    struct tiling tilings[2];
    int count[2], next[2] = {0, 0};
    for (int j = 0; j < 2; j++) {
        const exchange *given = jobs[j].given;
        int side = jobs[j].tiles == REDIST_PUT ? 0 : 1;
        tilings[j] =
            random_tiling(&jobs[j].sequence, given->ndims, &given->boxes[side][given->rank]);
        count[j] = tiling_count(&tilings[j]);
    }
    while (next[0] < count[0] || next[1] < count[1]) {
        int j = random_from(&jobs[0].sequence, 0, 1);
        if (next[j] < count[j])
            *failed |= move_tile(&jobs[j], &tilings[j], next[j]++);
    }
}

static void fly_both(struct job jobs[2]) {
    char text[512] = "";
    size_t wrong = 0;
    int failed = 0, last = random_chance(50);
    for (int round = 0; round < 3; round++) {
        uint64_t salt = random_bits();
        open_job(&jobs[0], salt, &failed);
        open_job(&jobs[1], salt, &failed);
        move_both(jobs, &failed);
        close_job(&jobs[!last], &failed);
        close_job(&jobs[last], &failed);
        for (int j = 0; j < 2; j++)
            wrong += exchange_wrong(jobs[j].given, jobs[j].arrays, REDIST_FORWARD, salt, text);
    }
    check_all(!failed, "%s", redist_error_message());
    check_all(wrong == 0, "%s", text);
}

START_TEST(two_at_once) {
    static const char *const methods[] = {"p2p", "direct:paced", "direct", "auto"};
    for (int i = 0; harness_another(i, 4); i++) {
        const redist_index sizes[] = {8, 9, 10};
        test_element element = element_create(2);
        exchange_way way = {methods[i % 4], {MEMORY_SHARED, MEMORY_SHARED}, USE_EXECUTE};
        exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 0, 1);
        struct job jobs[2];
        exchange_say(&given, &way);
        for (int j = 0; j < 2; j++) {
            int puts = random_chance(70) || strcmp(way.method, "direct:paced") == 0;
            jobs[j] = (struct job){.given = &given, .tiles = puts ? REDIST_PUT : REDIST_GET};
            jobs[j].sequence = random_bits() ^ random_hash((uint64_t)harness_rank);
            exchange_arrays(&given, way.memory, jobs[j].arrays);
            check_ok(plan_tiles(&jobs[j], way.method));
        }
        fly_both(jobs);
        for (int j = 0; j < 2; j++) {
            check_ok(redist_plan_free(&jobs[j].plan));
            exchange_free_arrays(jobs[j].arrays);
        }
    }
}
END_TEST

/* ---------------------------------------------------------------- wrong use */

static test_element wrong_element;
static exchange wrong_given;

static struct job begin_wrong(enum redist_tiles tiles, const char *method) {
    static const redist_index sizes[] = {9, 10, 4};
    static const enum test_memory memory[2] = {MEMORY_SHARED, MEMORY_SHARED};
    struct job job = {.given = &wrong_given, .tiles = tiles, .sequence = 1};
    wrong_element = element_create(2);
    wrong_given = exchange_between_axes(MPI_COMM_WORLD, &wrong_element, 3, sizes, 0, 1);
    exchange_arrays(&wrong_given, memory, job.arrays);
    check_ok(plan_tiles(&job, method));
    return job;
}

static void end_wrong(struct job *job) {
    check_ok(redist_plan_free(&job->plan));
    exchange_free_arrays(job->arrays);
}

START_TEST(out_of_order) {
    const redist_index start[3] = {0}, count[3] = {1, 1, 1};
    const ptrdiff_t stride[3] = {8, 8, 8};
    double value = 0;
    for (int i = 0; i < 4; i++) {
        struct job job = begin_wrong(i % 2 ? REDIST_PUT : REDIST_GET, i / 2 ? "p2p" : "direct");
        void *a = job.arrays[0].data, *b = job.arrays[1].data;
        char text[512] = "";
        size_t wrong = 0;
        int failed = 0;
        harness_case("tiles %d, method %s", job.tiles, i / 2 ? "p2p" : "direct");
        check_code(redist_plan_put(job.plan, start, count, &value, stride), REDIST_ERR_STATE);
        check_code(redist_plan_get(job.plan, start, count, &value, stride), REDIST_ERR_STATE);
        check_code(redist_plan_put_end(job.plan), REDIST_ERR_STATE);
        check_code(redist_plan_get_end(job.plan), REDIST_ERR_STATE);
        check_code(redist_plan_put_progress(job.plan), REDIST_ERR_STATE);
        check_code(i % 2 ? redist_plan_get_begin(job.plan, a) : redist_plan_put_begin(job.plan, b),
                   REDIST_ERR_STATE);
        check_code(redist_plan_execute(job.plan, REDIST_FORWARD), REDIST_ERR_STATE);
        check_all(strstr(redist_error_message(), i % 2 ? "options->tiles = REDIST_PUT"
                                                       : "options->tiles = REDIST_GET") != NULL,
                  "%s", redist_error_message());
        check_code(redist_plan_execute_arrays(job.plan, REDIST_FORWARD, a, b), REDIST_ERR_STATE);
        check_code(redist_plan_start_arrays(job.plan, REDIST_FORWARD, a, b), REDIST_ERR_STATE);
        check_code(i % 2 ? redist_plan_put_begin(job.plan, NULL)
                         : redist_plan_get_begin(job.plan, NULL),
                   REDIST_ERR_NULL);
        execute(&job, 3, text, &wrong, &failed);
        check_all(!failed && wrong == 0, "%s: %s", redist_error_message(), text);
        end_wrong(&job);
    }
}
END_TEST

START_TEST(bad_tiles) {
    static const struct {
        int start, count;
    } bad[] = {{-1, 1}, {0, -1}, {0, 5}, {4, 1}, {3, 2}, {2147483647, 1}, {1, 2147483647}};
    for (int i = 0; i < 4; i++) {
        struct job job = begin_wrong(i % 2 ? REDIST_PUT : REDIST_GET, i / 2 ? "p2p" : "direct");
        const ptrdiff_t stride[3] = {8, 8, 8};
        double values[8] = {0};
        char text[512];
        int failed = 0;
        exchange_prepare(&wrong_given, job.arrays, REDIST_FORWARD, 3);
        check_ok(i % 2 ? redist_plan_put_begin(job.plan, job.arrays[1].data)
                       : redist_plan_get_begin(job.plan, job.arrays[0].data));
        check_code(i % 2 ? redist_plan_put_begin(job.plan, job.arrays[1].data)
                         : redist_plan_get_begin(job.plan, job.arrays[0].data),
                   REDIST_ERR_STATE);
        for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
            const redist_index start[3] = {0, 0, bad[n].start}, count[3] = {1, 1, bad[n].count};
            harness_case("tiles %d, start %d, count %d", job.tiles, bad[n].start, bad[n].count);
            check_code(i % 2 ? redist_plan_put(job.plan, start, count, values, stride)
                             : redist_plan_get(job.plan, start, count, values, stride),
                       REDIST_ERR_SIZE);
        }
        failed |= move_all(&job); /* the refused ones left nothing behind */
        check_ok(i % 2 ? redist_plan_put_end(job.plan) : redist_plan_get_end(job.plan));
        size_t wrong = exchange_wrong(&wrong_given, job.arrays, REDIST_FORWARD, 3, text);
        check_all(!failed && wrong == 0, "%s", text);
        end_wrong(&job);
    }
}
END_TEST

START_TEST(bad_option) {
    struct job job = begin_wrong(REDIST_PUT, "p2p");
    redist_plan *plan = job.plan;
    job.tiles = (enum redist_tiles)7;
    check_code(plan_tiles(&job, "p2p"), REDIST_ERR_ARGUMENT);
    check_all(strstr(redist_error_message(), "7") != NULL, "%s", redist_error_message());
    if (harness_nranks > 1) {
        job.tiles = harness_rank == 0 ? REDIST_PUT : REDIST_GET;
        check_code(plan_tiles(&job, "p2p"), REDIST_ERR_DISAGREE);
    }
    job.tiles = REDIST_WHOLE;
    job.plan = NULL;
    check_ok(plan_tiles(&job, "p2p"));
    check_code(redist_plan_put_begin(job.plan, job.arrays[1].data), REDIST_ERR_STATE);
    check_code(redist_plan_get_begin(job.plan, job.arrays[0].data), REDIST_ERR_STATE);
    check_ok(redist_plan_free(&plan));
    end_wrong(&job);
}
END_TEST

/* A plan made for arrays of redist_alloc wants such arrays. */
START_TEST(other_memory) {
    if (harness_nranks == 1)
        skip_test("one rank");
    for (int i = 0; i < 2; i++) {
        struct job job = begin_wrong(i ? REDIST_PUT : REDIST_GET, "direct");
        char *plain = calloc(1, job.arrays[i].bytes);
        check_code(i ? redist_plan_put_begin(job.plan, plain)
                     : redist_plan_get_begin(job.plan, plain),
                   REDIST_ERR_ARGUMENT);
        free(plain);
        end_wrong(&job);
    }
}
END_TEST

/* A plan that is freed before its execution is closed is closed first. */
START_TEST(freed_while_open) {
    for (int i = 0; i < 4; i++) {
        struct job job = begin_wrong(i % 2 ? REDIST_PUT : REDIST_GET, i / 2 ? "p2p" : "direct");
        char text[512];
        exchange_prepare(&wrong_given, job.arrays, REDIST_FORWARD, 3);
        check_ok(i % 2 ? redist_plan_put_begin(job.plan, job.arrays[1].data)
                       : redist_plan_get_begin(job.plan, job.arrays[0].data));
        int failed = move_all(&job);
        if (harness_rank == harness_nranks - 1)
            usleep(1000);
        check_ok(redist_plan_free(&job.plan));
        size_t wrong = exchange_wrong(&wrong_given, job.arrays, REDIST_FORWARD, 3, text);
        check_all(!failed && wrong == 0, "%s", text);
        exchange_free_arrays(job.arrays);
    }
}
END_TEST

/* ---------------------------------------------------------------- when messages leave */

static int nsends;

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    nsends++;
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

/* In a format messages are cut along the axis of the segments, so that they leave while the columns behind them are
 * put. They have pieces of 1 MiB. */
START_TEST(leave_early) {
    enum { ROWS = 100000, COLUMNS = 4 };
    const int peers = harness_nranks - 1, rows = ROWS * harness_nranks;
    const redist_index sizes[2][2] = {{rows, COLUMNS}, {ROWS, COLUMNS * harness_nranks}};
    const redist_index count[2] = {rows, 1};
    const ptrdiff_t stride[2] = {COLUMNS * sizeof(double), sizeof(double)};
    if (harness_nranks > 3)
        skip_test("few ranks, as arrays are large");
    double *a = calloc((size_t)rows * COLUMNS, sizeof *a),
           *b = calloc((size_t)rows * COLUMNS, sizeof *b);
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan *plan;
    options.method = "p2p";
    options.tiles = REDIST_PUT;
    options.segments = 2;
    options.segment_axis = 1;
    options.wire = REDIST_WIRE_FLOAT;
    options.wire_scope = REDIST_WIRE_EVERYWHERE;
    options.effort = REDIST_ESTIMATE;
    for (int i = 0; i < rows * COLUMNS; i++)
        a[i] = harness_rank * COLUMNS + i % COLUMNS;
    check_ok(redist_plan_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 2, sizes[0], a, 0, sizes[1], b, 1,
                                  &options, &plan));
    check_ok(redist_plan_put_begin(plan, b));
    nsends = 0;
    for (redist_index i = 0; i < COLUMNS; i++) {
        const redist_index start[2] = {0, i};
        check_ok(redist_plan_put(plan, start, count, a + i, stride));
        check_all(nsends >= peers * (int)(i + 1), "%d messages behind column %d", nsends, (int)i);
    }
    check_ok(redist_plan_put_end(plan));
    int wrong = 0;
    for (int i = 0; i < rows * COLUMNS; i++)
        wrong += b[i] != i % (COLUMNS * harness_nranks);
    check_all(wrong == 0, "%d elements are wrong", wrong);
    check_ok(redist_plan_free(&plan));
    free(a);
    free(b);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {between_axes, between_boxes,    repeated,    one_row,
                                  two_at_once,  out_of_order,     bad_tiles,   bad_option,
                                  other_memory, freed_while_open, leave_early, NULL};
    return harness_run(argc, argv, "test_redist_tiles", tests);
}
