/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers that are narrower between ranks than in the arrays: all methods that pack, against the exact exchange, with
 * the bound of the format; what stays exact; ghosts, sums, and calls that fail.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "exchanges.h"
#include "fault_run.h"
#include "redist_halo.h"
#include "redist_support.h"
#include "wire_kinds.h"

static double read_number(const struct wire_kind *kind, const char *data, size_t element, int c) {
    const char *at = data + element * kind->extent + (size_t)c * kind->distance;
    float narrow;
    double number;
    memcpy(&narrow, at, sizeof narrow);
    memcpy(&number, at, kind->bytes == sizeof number ? sizeof number : sizeof narrow);
    return kind->bytes == sizeof number ? number : narrow;
}

static void write_number(const struct wire_kind *kind, char *data, size_t element, int c,
                         double value) {
    char *at = data + element * kind->extent + (size_t)c * kind->distance;
    float narrow = (float)value;
    if (kind->bytes == sizeof value)
        memcpy(at, &value, sizeof value);
    else
        memcpy(at, &narrow, sizeof narrow);
}

/* ---------------------------------------------------------------- a case */

struct trial {
    exchange given;
    const struct wire_kind *kind;
    enum redist_wire wire;
    enum redist_wire_scope scope;
    const char *method;
    int in_tiles; /* forward only */
    int nnodes;
    const int *node_of;
    test_array arrays[2];
};

static int is_exact(const struct trial *trial, int from) {
    int me = trial->given.rank;
    return from == me || trial->wire == REDIST_WIRE_SAME ||
           (trial->scope == REDIST_WIRE_BETWEEN_NODES &&
            trial->node_of[from] == trial->node_of[me]);
}

/* Whether any message is narrowed. */
static int narrows(const struct trial *trial) {
    return trial->wire != REDIST_WIRE_SAME &&
           (trial->scope == REDIST_WIRE_EVERYWHERE ? trial->given.nranks > 1 : trial->nnodes > 1);
}

static int begins(const char *method, const char *word) {
    return strncmp(method, word, strlen(word)) == 0;
}

/* Whether the method cannot do this. */
static int must_be_refused(const struct trial *trial) {
    static const char *const exact[] = {"direct", "alltoallw", "p2p-type"};
    int everywhere = trial->scope == REDIST_WIRE_EVERYWHERE;
    if (begins(trial->method, "direct") && trial->nnodes > 1)
        return 1;
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (begins(trial->method, exact[i]))
            return narrows(trial);
    if (strcmp(trial->method, "hier") == 0)
        return narrows(trial) && everywhere;
    if (begins(trial->method, "kway"))
        return narrows(trial) && !everywhere && trial->nnodes < trial->given.nranks;
    return 0;
}

static redist_plan *plan(struct trial *trial, const char *method, enum redist_wire wire,
                         enum redist_effort effort) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    const exchange *given = &trial->given;
    redist_plan *made = NULL;
    options.method = method;
    options.effort = effort;
    options.tune_seconds = 0.02;
    options.wire = wire;
    options.wire_scope = trial->scope;
    int in_tiles = trial->in_tiles && wire != REDIST_WIRE_SAME;
    options.tiles = in_tiles ? REDIST_PUT : REDIST_WHOLE;
    int code =
        redist_plan_boxes(given->comm, given->element->type, given->ndims, given->sizes,
                          &given->boxes[0][given->rank], in_tiles ? NULL : trial->arrays[0].data,
                          &given->boxes[1][given->rank], trial->arrays[1].data, &options, &made);
    if (wire != REDIST_WIRE_SAME && must_be_refused(trial)) {
        check_code(code, REDIST_ERR_METHOD);
        check_all(strstr(redist_error_message(), trial->method) != NULL ||
                      begins(trial->method, "kway"),
                  "%s", redist_error_message());
    } else
        check_ok(code);
    return made;
}

/* ---------------------------------------------------------------- contents */

static size_t count_of(const test_array *array, const struct wire_kind *kind) {
    return array->bytes / kind->extent;
}

/* Numbers of this rank are smaller than this, and by rank of other magnitudes, so that scales show. */
static double largest_of(int rank) {
    return pow(1000, rank % 5 - 2);
}

static uint64_t sequence;

static redist_index min(redist_index a, redist_index b) {
    return a < b ? a : b;
}

static double draw(double largest) {
    sequence = random_hash(sequence + 1);
    return ((double)(sequence >> 11) * 0x1p-52 - 1) * largest;
}

enum contents { VALUES, RANKS };

static void fill(const struct trial *trial, int side, enum contents contents) {
    const test_array *array = &trial->arrays[side];
    for (size_t i = 0; i < count_of(array, trial->kind); i++)
        for (int c = 0; c < trial->kind->components; c++)
            write_number(trial->kind, array->data, i, c,
                         contents == RANKS ? trial->given.rank
                                           : draw(largest_of(trial->given.rank)));
}

/* Puts slabs along two axes of array A, of sizes of this rank's own. */
static void put_tiles(const struct trial *trial, redist_plan *of) {
    const redist_box *box = &trial->given.boxes[0][trial->given.rank];
    redist_index start[3], count[3], most[2];
    ptrdiff_t stride[3], bytes = (ptrdiff_t)trial->kind->extent;
    int last = random_from(&sequence, 1, 2);
    for (int axis = 2; axis >= 0; axis--) {
        stride[axis] = bytes;
        bytes *= (ptrdiff_t)(box->extent[axis] != 0 ? box->extent[axis] : box->count[axis]);
    }
    for (int i = 0; i < 2; i++)
        most[i] = random_from(&sequence, 1, 9);
    int failed = redist_plan_put_begin(of, trial->arrays[1].data);
    for (redist_index i = 0; i < box->count[0]; i += most[0])
        for (redist_index k = 0; k < box->count[last]; k += most[1]) {
            const char *at = trial->arrays[0].data;
            memcpy(start, box->offset, sizeof start);
            memcpy(count, box->count, sizeof count);
            start[0] += i;
            start[last] += k;
            count[0] = min(most[0], box->count[0] - i);
            count[last] = min(most[1], box->count[last] - k);
            for (int axis = 0; axis < 3; axis++)
                at += stride[axis] * (ptrdiff_t)start[axis];
            failed |= redist_plan_put(of, start, count, at, stride);
        }
    failed |= redist_plan_put_end(of);
    check_all(!failed, "tiles: %s", redist_error_message());
}

/* Executes a plan, into an array whose bytes are known before, and returns a copy of that. */
static char *execute(const struct trial *trial, redist_plan *of, int direction, int in_tiles) {
    const test_array *to = &trial->arrays[!direction];
    char *copy = malloc(to->bytes + 1);
    memset(to->data, 0x40, to->bytes);
    if (in_tiles)
        put_tiles(trial, of);
    else
        check_ok(redist_plan_execute(of, direction));
    memcpy(copy, to->data, to->bytes);
    return copy;
}

static double bound_of(const struct trial *trial, double exact, int from) {
    return trial->wire == REDIST_WIRE_FLOAT ? fabs(exact) * 0x1p-24 : largest_of(from) * 0x1p-15;
}

/* Compares what arrived with what would have been exact, and where it came from. */
static void compare(const struct trial *trial, int direction, const char *got, const char *exact,
                    const char *ranks, long counts[2]) {
    const struct wire_kind *kind = trial->kind;
    char *rest = malloc(trial->arrays[!direction].bytes + 1);
    size_t n = count_of(&trial->arrays[!direction], kind), wrong = 0;
    double worst = 0;
    memcpy(rest, got, n * kind->extent);
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < kind->components; c++) {
            double from = read_number(kind, ranks, i, c);
            double x = read_number(kind, got, i, c), y = read_number(kind, exact, i, c);
            int rank =
                from >= 0 && from < trial->given.nranks && floor(from) == from ? (int)from : -1;
            int narrow = rank >= 0 && !is_exact(trial, rank);
            double limit = narrow ? bound_of(trial, y, rank) : 0;
            counts[0] += narrow;
            counts[1] += x != y;
            wrong += !(fabs(x - y) <= limit);
            worst = fabs(x - y) > worst ? fabs(x - y) : worst;
            write_number(kind, rest, i, c, y);
        }
    check_all(wrong == 0, "%zu numbers are wrong, by %g at most", wrong, worst);
    check_all(memcmp(rest, exact, n * kind->extent) == 0, "bytes between numbers were changed");
    free(rest);
}

static void run(const struct trial *trial, redist_plan *of, redist_plan *exact, int direction) {
    long counts[2] = {0, 0};
    fill(trial, direction, RANKS);
    char *ranks = execute(trial, exact, direction, 0);
    fill(trial, direction, VALUES);
    char *before = execute(trial, exact, direction, 0),
         *got = execute(trial, of, direction, trial->in_tiles);
    compare(trial, direction, got, before, ranks, counts);
    check_ok(redist_all_reduce(trial->given.comm, counts, 2, MPI_LONG, MPI_SUM));
    check_all(counts[0] < 20 || counts[1] > 0, "%ld numbers were narrowed, but none changed",
              counts[0]);
    free(ranks);
    free(before);
    free(got);
}

static void try_trial(struct trial *trial) {
    const enum test_memory memory[2] = {random_chance(50) ? MEMORY_SHARED : MEMORY_PLAIN,
                                        random_chance(50) ? MEMORY_SHARED : MEMORY_PLAIN};
    exchange_arrays(&trial->given, memory, trial->arrays);
    enum redist_effort effort = random_chance(90) ? REDIST_ESTIMATE : REDIST_MEASURE;
    redist_plan *exact = plan(trial, "alltoallw", REDIST_WIRE_SAME, REDIST_ESTIMATE);
    redist_plan *narrow = plan(trial, trial->method, trial->wire, effort);
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    if (narrow != NULL) {
        check_ok(redist_plan_get_info(narrow, &info));
        if (effort == REDIST_MEASURE && info.wire == REDIST_WIRE_SAME)
            trial->wire = REDIST_WIRE_SAME; /* declined, or none is narrowed */
        check_all(info.wire == (narrows(trial) ? trial->wire : REDIST_WIRE_SAME), "wire is %d",
                  (int)info.wire);
        for (int i = 0; i < 3; i++)
            run(trial, narrow, exact, trial->in_tiles ? REDIST_FORWARD : i % 2);
    }
    check_ok(redist_plan_free(&narrow));
    check_ok(redist_plan_free(&exact));
    exchange_free_arrays(trial->arrays);
}

/* ---------------------------------------------------------------- random exchanges */

static void try_random(int i) {
    static const char *const methods[] = {"p2p", "alltoallv", "kway:2", "hier", "auto", "kway:3"},
                             *const others[] = {"alltoallw", "direct", "p2p-type", "p2p-streams"};
    const char *method = i % 7 < 6 ? methods[i % 7] : others[random_between(0, 3)];
    struct trial trial = {.method = method,
                          .kind = &wire_kinds[random_between(0, WIRE_KINDS - 1)],
                          .scope = i % 3 == 0 ? REDIST_WIRE_EVERYWHERE : REDIST_WIRE_BETWEEN_NODES};
    trial.in_tiles = strcmp(method, "p2p") == 0 && random_chance(60);
    trial.wire = trial.kind->bytes == sizeof(double) ? (enum redist_wire)random_between(1, 2)
                                                     : REDIST_WIRE_16_BITS;
    int node = i % 2 ? 2 : random_between(0, 1);
    MPI_Comm comm = harness_begin_nodes(node);
    const test_element element = wire_element(trial.kind);
    trial.given = exchange_between_random_boxes(comm, &element, 3000);
    check_ok(redist_nodes(comm, 0, &trial.nnodes, &trial.node_of));
    harness_case("%s%s of %s, format %d, scope %d, nodes of %d, %lldx%lldx%lld", trial.method,
                 trial.in_tiles ? " in tiles" : "", trial.kind->name, (int)trial.wire,
                 (int)trial.scope, node, (long long)trial.given.sizes[0],
                 (long long)trial.given.sizes[1], (long long)trial.given.sizes[2]);
    sequence = random_bits() + (uint64_t)harness_rank;
    try_trial(&trial);
    harness_end_nodes(&comm);
}

START_TEST(exchanges) {
    wire_types_create();
    for (int i = 0; harness_another(i, 21); i++)
        try_random(i);
    wire_types_free();
}
END_TEST

/* ---------------------------------------------------------------- numbers that are not usual */

/* Sends one array of doubles around, and returns what came. */
static void pass_around(enum redist_wire wire, size_t n, const double from[], double to[]) {
    redist_index sizes[1] = {(redist_index)n * harness_nranks};
    redist_box box_a = REDIST_BOX_DEFAULT, box_b = REDIST_BOX_DEFAULT;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan *made;
    box_a.start[0] = (redist_index)n * harness_rank;
    box_b.start[0] = (redist_index)n * ((harness_rank + 1) % harness_nranks);
    box_a.count[0] = box_b.count[0] = (redist_index)n;
    options.method = "p2p";
    options.wire = wire;
    options.wire_scope = REDIST_WIRE_EVERYWHERE;
    options.effort = REDIST_ESTIMATE; /* declines no format */
    check_ok(redist_plan_boxes(MPI_COMM_WORLD, MPI_DOUBLE, 1, sizes, &box_a, (void *)(size_t)from,
                               &box_b, to, &options, &made));
    check_ok(redist_plan_execute(made, REDIST_FORWARD));
    check_ok(redist_plan_free(&made));
}

enum { ROW = 128, ROWS = 7, NUMBERS = ROW * ROWS };

/* Rows of zeros, of a number that is not finite, of the largest and of the least numbers. */
static void fill_rows(double from[NUMBERS]) {
    static const double largest[ROWS] = {0, 1, 1, DBL_MAX, 0x1p-1040, 1e-30, 1};
    for (int i = 0; i < NUMBERS; i++)
        from[i] = draw(largest[i / ROW]);
    from[1 * ROW + 5] = INFINITY;
    from[2 * ROW + 127] = (double)NAN;
    from[3 * ROW + 3] = DBL_MAX;
    from[3 * ROW + 4] = -DBL_MAX;
}

START_TEST(rows) {
    double from[NUMBERS], to[NUMBERS];
    sequence = 1; /* the same on all ranks */
    fill_rows(from);
    if (harness_nranks == 1)
        skip_test("messages between ranks");
    pass_around(REDIST_WIRE_16_BITS, NUMBERS, from, to);
    int wrong = 0;
    for (int i = 0; i < NUMBERS; i++) {
        double most = 0;
        for (int k = i / ROW * ROW; k < (i / ROW + 1) * ROW; k++)
            most = fabs(from[k]) > most ? fabs(from[k]) : most;
        int is_lost = i / ROW == 1 || i / ROW == 2;
        wrong += is_lost            ? !isnan(to[i])
                 : most < 0x1p-1007 ? to[i] != 0
                                    : !(fabs(to[i] - from[i]) <= most * 0x1p-15);
    }
    check_all(wrong == 0, "%d numbers are wrong", wrong);
    pass_around(REDIST_WIRE_16_BITS, NUMBERS, to, from); /* once narrowed, they stay */
    check_all(memcmp(from + 3 * ROW, to + 3 * ROW, (NUMBERS - 3 * ROW) * sizeof *to) == 0,
              "numbers changed again");
    fill_rows(from);
    pass_around(REDIST_WIRE_FLOAT, NUMBERS, from, to);
    for (int i = 0; i < NUMBERS; i++)
        wrong += isnan(from[i]) ? !isnan(to[i]) : to[i] != (double)(float)from[i];
    check_all(wrong == 0, "%d numbers are no floats", wrong);
}
END_TEST

/* ---------------------------------------------------------------- ghosts */

enum { SIDE = 6, GHOSTS = 1, EDGE = SIDE + 2 * GHOSTS, CELLS = EDGE * EDGE };

/* Fills, or adds, the ghosts of squares along one axis; returns how many numbers of their sums are too far away. */
static void ghosts(redist_options *options, int direction, double array[CELLS]) {
    redist_index sizes[2] = {SIDE * harness_nranks, SIDE};
    redist_box box = REDIST_BOX_DEFAULT;
    redist_halo halo = REDIST_HALO_DEFAULT;
    redist_plan *made;
    box.start[0] = SIDE * harness_rank;
    for (int i = 0; i < 2; i++) {
        box.count[i] = SIDE;
        box.extent[i] = EDGE;
        box.offset[i] = halo.low[i] = halo.high[i] = GHOSTS;
        halo.periodic[i] = 1;
    }
    halo.corners = 1;
    for (int i = 0; i < CELLS; i++)
        array[i] = 1.5 + draw(0.5);
    check_ok(
        redist_plan_halo(MPI_COMM_WORLD, MPI_DOUBLE, 2, sizes, &box, array, &halo, options, &made));
    check_ok(redist_plan_execute(made, direction));
    check_ok(redist_plan_free(&made));
}

START_TEST(of_ghosts) {
    static const char *const methods[] = {"p2p", "alltoallv", "axes:p2p"};
    for (int i = 0; i < 3 * 2 * 2; i++) {
        redist_options options = REDIST_OPTIONS_DEFAULT;
        double exact[CELLS], narrow[CELLS];
        int wrong = 0, direction = i / 3 % 2;
        enum redist_wire wire = (enum redist_wire)(i / 6 + 1);
        uint64_t begin = sequence = random_bits() + (uint64_t)harness_rank;
        harness_case("%s, format %d, direction %d", methods[i % 3], (int)wire, direction);
        options.method = "p2p";
        ghosts(&options, direction, exact);
        sequence = begin;
        options.method = methods[i % 3];
        options.wire = wire;
        options.wire_scope = REDIST_WIRE_EVERYWHERE;
        options.effort = REDIST_ESTIMATE;
        ghosts(&options, direction, narrow);
        /* a sum of four numbers below 2; along the axes each is sent twice at most */
        double bound = 8 * 2 * (wire == REDIST_WIRE_FLOAT ? 0x1p-24 : 0x1p-15);
        for (int k = 0; k < CELLS; k++)
            wrong += !(fabs(exact[k] - narrow[k]) <= bound);
        int differs = memcmp(exact, narrow, sizeof exact) != 0;
        check_all(wrong == 0, "%d numbers are wrong", wrong);
        check_all(differs == (harness_nranks > 1), "what arrived is exact");
    }
}
END_TEST

/* ---------------------------------------------------------------- calls that fail */

struct job {
    struct trial trial;
    redist_plan *plan;
};

static int plan_job(void *data) {
    struct job *job = data;
    const exchange *given = &job->trial.given;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = job->trial.method;
    options.wire = job->trial.wire;
    options.wire_scope = job->trial.scope;
    options.effort = REDIST_ESTIMATE;
    job->plan = NULL;
    return redist_plan_exchange(given->comm, given->element->type, given->ndims,
                                given->boxes[0][given->rank].count, job->trial.arrays[0].data,
                                given->axes[0], given->boxes[1][given->rank].count,
                                job->trial.arrays[1].data, given->axes[1], &options, &job->plan);
}

/* All ranks have the same number everywhere, of few bits. */
static int execute_job(void *data, int execution, char wrong[FAULT_TEXT_BYTES]) {
    struct job *job = data;
    const struct trial *trial = &job->trial;
    const test_array *from = &trial->arrays[0], *to = &trial->arrays[1];
    for (size_t i = 0; i < count_of(from, trial->kind); i++)
        write_number(trial->kind, from->data, i, 0, 1.5 + execution);
    memset(to->data, 0, to->bytes);
    int code = redist_plan_execute(job->plan, REDIST_FORWARD);
    wrong[0] = '\0';
    for (size_t i = 0; i < count_of(to, trial->kind) && code == REDIST_OK; i++)
        if (read_number(trial->kind, to->data, i, 0) != 1.5 + execution)
            snprintf(wrong, FAULT_TEXT_BYTES, "element %zu is wrong", i);
    return code;
}

static int release_job(void *data) {
    return redist_plan_free(&((struct job *)data)->plan);
}

START_TEST(faults) {
    static const char *const methods[] = {"p2p", "alltoallv", "kway:2", "hier"};
    const redist_index sizes[3] = {9, 10, 4};
    const enum test_memory memory[2] = {MEMORY_PLAIN, MEMORY_PLAIN};
    wire_types_create();
    const test_element element = wire_element(&wire_kinds[DOUBLE]);
    MPI_Comm comm = harness_begin_nodes(1), own;
    struct job job = {.trial = {.kind = &wire_kinds[DOUBLE]}};
    job.trial.given = exchange_between_axes(comm, &element, 3, sizes, 0, 1);
    exchange_arrays(&job.trial.given, memory, job.trial.arrays);
    check_ok(redist_private_comm(comm, &own));
    const fault_subject subject = {&job, 1, plan_job, execute_job, release_job, own};
    fault_begin(0.2);
    for (int i = 0; i < 8 && !fault_time_is_up(); i++) {
        job.trial.method = methods[i % 4];
        job.trial.wire = (enum redist_wire)(i / 4 + 1);
        harness_case("%s, format %d", job.trial.method, (int)job.trial.wire);
        fault_try_executions(&subject, harness_current_case());
    }
    fault_end();
    exchange_free_arrays(job.trial.arrays);
    harness_end_nodes(&comm);
    wire_types_free();
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {exchanges, rows, of_ghosts, faults, NULL};
    counters_begin();
    return harness_run(argc, argv, "test_redist_wire", tests);
}
