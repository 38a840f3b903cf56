/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that fail in the middle of exchanges: by every method, whole and in tiles, in both directions; and while a
 * model is fitted.
 *     test_redist_faults [WORD]    only exchanges with this word in their names ("p2p-type, start")
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "exchanges.h"
#include "fault_run.h"
#include "methods.h"
#include "redist_model.h"
#include "redist_support.h"

/* How a plan is used */
enum use { EXECUTE, START, LATER, SKIP_AGREEMENT, PUT, GET, PARTITIONS, ONCE };

static const char *const use_names[] = {"execute",        "start", "arrays bound at execution",
                                        "skip_agreement", "put",   "get",
                                        "partitions",     "once"};

enum { SLABS = 3, NPARTITIONS = 3, MOST_WAYS = 32, PAIRS = 4 };

/* Where the arrays lie: methods that map memory tell all pairs apart */
static const enum test_memory pairs[PAIRS][2] = {{MEMORY_PLAIN, MEMORY_PLAIN},
                                                 {MEMORY_SHARED, MEMORY_SHARED},
                                                 {MEMORY_SHARED, MEMORY_PLAIN},
                                                 {MEMORY_PLAIN, MEMORY_SHARED}};

/* An exchange and its arrays, of both kinds of memory */
struct field {
    exchange given;
    test_array arrays[2][2]; /* side; plain, shared */
};

struct job {
    const struct field *field;
    const char *method;
    enum use use;
    int pair, direction;
    int turns;   /* the second execution goes the other way */
    int goes_on; /* after a tile that failed come the others */
    test_array arrays[2];
    redist_plan *plan;
};

static const char *only_word = "";

/* ---------------------------------------------------------------- plans */

static redist_options choose_options(const struct job *job) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    int later = job->use == LATER || job->use == SKIP_AGREEMENT;
    options.method = job->method;
    options.skip_agreement = job->use == SKIP_AGREEMENT;
    options.tiles = job->use == PUT || job->use == PARTITIONS ? REDIST_PUT
                    : job->use == GET                         ? REDIST_GET
                                                              : REDIST_WHOLE;
    options.partitions = job->use == PARTITIONS ? NPARTITIONS : 1;
    options.partition_axis = 2;
    if (later) {
        options.bind_a = memory_is_shared(pairs[job->pair][0]) ? REDIST_BIND_AT_EXECUTION_MAPPED
                                                               : REDIST_BIND_AT_EXECUTION;
        options.bind_b = memory_is_shared(pairs[job->pair][1]) ? REDIST_BIND_AT_EXECUTION_MAPPED
                                                               : REDIST_BIND_AT_EXECUTION;
    }
    return options;
}

static void *data_of(const test_array *array) {
    return array->bytes > 0 ? array->data : NULL;
}

static int plan(void *data) {
    struct job *job = data;
    const exchange *given = &job->field->given;
    redist_options options = choose_options(job);
    int later = options.bind_a != REDIST_BIND_AT_PLAN;
    void *a = later || options.tiles == REDIST_PUT ? NULL : data_of(&job->arrays[0]);
    void *b = later || options.tiles == REDIST_GET ? NULL : data_of(&job->arrays[1]);
    const redist_box *box_a = &given->boxes[0][given->rank], *box_b = &given->boxes[1][given->rank];
    job->plan = NULL;
    if (job->use == ONCE)
        return REDIST_OK;
    return redist_plan_exchange(given->comm, given->element->type, given->ndims, box_a->count, a,
                                given->axes[0], box_b->count, b, given->axes[1], &options,
                                &job->plan);
}

static int release(void *data) {
    struct job *job = data;
    int code = redist_plan_free(&job->plan);
    if (job->plan != NULL)
        fault_note("redist_plan_free left the pointer");
    return code;
}

/* ---------------------------------------------------------------- executions */

/* Moves slab number i of array A (put) or B (get) between the plan and the array itself. */
static int move_slab(const struct job *job, int i) {
    int side = job->use == GET;
    exchange_tile tile = exchange_slab(&job->field->given, side, &job->arrays[side], SLABS, i);
    return side ? redist_plan_get(job->plan, tile.start, tile.count, tile.data, tile.stride)
                : redist_plan_put(job->plan, tile.start, tile.count, tile.data, tile.stride);
}

static int wait_for_partitions(const struct job *job) {
    int arrived = 0, code = REDIST_OK;
    while (code == REDIST_OK && arrived < NPARTITIONS)
        code = redist_plan_put_arrived(job->plan, &arrived);
    return code;
}

static int first_error(int first, int second) {
    return first != REDIST_OK ? first : second;
}

/* After an error the rest of the tiles is moved or left out. */
static int execute_tiles(const struct job *job) {
    int is_get = job->use == GET;
    int code = is_get ? redist_plan_get_begin(job->plan, job->arrays[0].data)
                      : redist_plan_put_begin(job->plan, job->arrays[1].data);
    if (code != REDIST_OK)
        return code;
    for (int i = 0; i < SLABS && (code == REDIST_OK || job->goes_on); i++) {
        code = first_error(code, move_slab(job, i));
        if (!is_get && i == 1)
            code = first_error(code, redist_plan_put_progress(job->plan));
    }
    if (job->use == PARTITIONS && code == REDIST_OK)
        code = wait_for_partitions(job);
    int ended = is_get ? redist_plan_get_end(job->plan) : redist_plan_put_end(job->plan);
    if (code != REDIST_OK && ended == REDIST_OK)
        fault_note("a tile failed, but its execution ended well");
    return first_error(code, ended);
}

static int exchange_once(const struct job *job, int direction) {
    const exchange *given = &job->field->given;
    int from = direction, to = !direction;
    return redist_exchange(given->comm, given->element->type, given->ndims,
                           given->boxes[from][given->rank].count, data_of(&job->arrays[from]),
                           given->axes[from], given->boxes[to][given->rank].count,
                           data_of(&job->arrays[to]), given->axes[to]);
}

static int move_arrays(const struct job *job, int direction) {
    int code;
    switch (job->use) {
    case EXECUTE:
        return redist_plan_execute(job->plan, direction);
    case START:
        code = redist_plan_start(job->plan, direction);
        return code == REDIST_OK ? redist_plan_wait(job->plan) : code;
    case LATER:
    case SKIP_AGREEMENT:
        return redist_plan_execute_arrays(job->plan, direction, data_of(&job->arrays[0]),
                                          data_of(&job->arrays[1]));
    case ONCE:
        return exchange_once(job, direction);
    default:
        return execute_tiles(job);
    }
}

static int execute(void *data, int execution, char wrong[FAULT_TEXT_BYTES]) {
    struct job *job = data;
    int direction = execution == 1 && job->turns ? !job->direction : job->direction;
    uint64_t salt = random_bits();
    exchange_prepare(&job->field->given, job->arrays, direction, salt);
    int code = move_arrays(job, direction);
    wrong[0] = '\0';
    if (code == REDIST_OK)
        exchange_wrong(&job->field->given, job->arrays, direction, salt, wrong);
    return code;
}

/* ---------------------------------------------------------------- fields */

static test_element element;

static struct field create_field(MPI_Comm comm, const redist_index sizes[3]) {
    struct field field;
    element = element_create(4);
    field.given = exchange_between_axes(comm, &element, 3, sizes, 0, 1);
    for (int kind = 0; kind < 2; kind++) {
        enum test_memory memory[2] = {pairs[kind][0], pairs[kind][1]};
        test_array arrays[2];
        exchange_arrays(&field.given, memory, arrays);
        field.arrays[0][kind] = arrays[0];
        field.arrays[1][kind] = arrays[1];
    }
    return field;
}

static void free_field(struct field *field) {
    for (int kind = 0; kind < 2; kind++) {
        array_free(&field->arrays[0][kind]);
        array_free(&field->arrays[1][kind]);
    }
}

/* Messages that MPI sends at once, and such as it only sends when they are received */
static const redist_index small[3] = {9, 10, 4}, large[3] = {24, 24, 32}, few[3] = {2, 3, 4};

/* ---------------------------------------------------------------- what is tried */

/* Methods, and those of their variants that differ in what they wait for */
static int list_ways(const char *ways[MOST_WAYS]) {
    int n = 0;
    for (int i = 0; i < request_count(); i++)
        if (strcmp(request_name(i), "auto") != 0)
            ways[n++] = strcmp(request_name(i), "kway") != 0 ? request_name(i) : "kway:2";
    return n;
}

static int maps_memory(const char *method) {
    return strncmp(method, "direct", 6) == 0;
}

/* Nonzero if a plan of this kind exists. */
static int is_refused(struct job *job) {
    int code = plan(job);
    check_all(code == REDIST_OK || code == REDIST_ERR_METHOD, "%s", redist_error_message());
    check_ok(redist_plan_free(&job->plan));
    return code != REDIST_OK;
}

/* Makes the job of these numbers; 0 = there is no such plan. */
static int make_job(const struct field *field, const char *method, enum use use, int pair,
                    int direction, struct job *job) {
    int is_tiled = use == PUT || use == GET || use == PARTITIONS;
    *job = (struct job){field,          method, use, pair, direction, 0, random_chance(50),
                        {{.bytes = 0}}, NULL};
    job->turns = !is_tiled && random_chance(50);
    for (int side = 0; side < 2; side++)
        job->arrays[side] = field->arrays[side][memory_is_shared(pairs[pair][side])];
    harness_case("%s, %s, %s to %s, direction %d", method, use_names[use],
                 memory_name(pairs[pair][0]), memory_name(pairs[pair][1]), direction);
    if ((is_tiled && direction != REDIST_FORWARD) || (pair > 0 && !maps_memory(method)) ||
        (use == ONCE && strcmp(method, "auto") != 0) ||
        strstr(harness_current_case(), only_word) == NULL)
        return 0;
    return !is_refused(job);
}

typedef void try_subject(const fault_subject *subject, const char *name);

static MPI_Comm library_comm(MPI_Comm comm) {
    MPI_Comm found;
    check_ok(redist_private_comm(comm, &found));
    return found;
}

/* Tries the methods in all of the uses from `first` to `last`, in a random order. */
static void try_ways(const struct field *field, int nways, const char *const ways[], enum use first,
                     enum use last, try_subject *run) {
    int nuses = (int)last - (int)first + 1, n = nways * nuses * PAIRS * 2, order[2048];
    random_permutation(n, order);
    for (int i = 0; i < n && !fault_time_is_up(); i++) {
        struct job job;
        int way = order[i] % nways, rest = order[i] / nways;
        int use = (int)first + rest % nuses;
        if (!make_job(field, ways[way], (enum use)use, rest / nuses % PAIRS, rest / nuses / PAIRS,
                      &job))
            continue;
        const fault_subject subject = {&job,    field->given.sizes[0] != few[0], plan, execute,
                                       release, library_comm(field->given.comm)};
        char name[256];
        snprintf(name, sizeof name, "%lldx%lldx%lld, %s%s", (long long)field->given.sizes[0],
                 (long long)field->given.sizes[1], (long long)field->given.sizes[2],
                 harness_current_case(), job.turns ? " and back" : "");
        run(&subject, name);
    }
}

/* All ways, in messages of two sizes; uses from `first` to `last`. */
static void try_uses(enum use first, enum use last, double share) {
    const char *ways[MOST_WAYS];
    int nways = list_ways(ways);
    for (int size = 0; size < 2; size++) {
        struct field field = create_field(MPI_COMM_WORLD, size == 0 ? small : large);
        fault_begin(share / 2);
        try_ways(&field, nways, ways, first, last, fault_try_executions);
        fault_end();
        free_field(&field);
    }
}

START_TEST(whole_arrays) {
    try_uses(EXECUTE, START, 0.3);
}
END_TEST

START_TEST(arrays_given_later) {
    try_uses(LATER, SKIP_AGREEMENT, 0.15);
}
END_TEST

START_TEST(tiles) {
    try_uses(PUT, PARTITIONS, 0.2);
}
END_TEST

/* Ranks that exchange nothing with the one that fails may never learn of it. */
START_TEST(empty_parts) {
    const char *ways[MOST_WAYS];
    int nways = list_ways(ways);
    struct field field = create_field(MPI_COMM_WORLD, few);
    fault_begin(0.1);
    try_ways(&field, nways, ways, EXECUTE, PARTITIONS, fault_try_executions);
    fault_end();
    free_field(&field);
}
END_TEST

START_TEST(between_nodes) {
    static const char *const ways[] = {"hier"};
    MPI_Comm comm;
    if (harness_nranks < 3)
        skip_test("more than one node of two ranks");
    setenv("REDIST_NODE_SIZE", "2", 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    struct field field = create_field(comm, small);
    fault_begin(0.1);
    try_ways(&field, 1, ways, EXECUTE, SKIP_AGREEMENT, fault_try_executions);
    try_ways(&field, 1, ways, EXECUTE, EXECUTE, fault_try_planning);
    fault_end();
    free_field(&field);
    MPI_Comm_free(&comm);
    unsetenv("REDIST_NODE_SIZE");
}
END_TEST

START_TEST(without_a_plan) {
    static const char *const ways[] = {"auto"};
    struct field field = create_field(MPI_COMM_WORLD, small);
    fault_begin(0.05);
    try_ways(&field, 1, ways, ONCE, ONCE, fault_try_executions);
    fault_end();
    free_field(&field);
}
END_TEST

START_TEST(planning) {
    const char *ways[MOST_WAYS];
    int nways = list_ways(ways);
    struct field field = create_field(MPI_COMM_WORLD, small);
    fault_begin(0.1);
    try_ways(&field, nways, ways, EXECUTE, EXECUTE, fault_try_planning);
    try_ways(&field, nways, ways, PUT, GET, fault_try_planning);
    fault_end();
    free_field(&field);
}
END_TEST

/* A model is fitted in the place of making a plan; there is nothing to execute. */
static int fit_model(void *data) {
    redist_model model = REDIST_MODEL_DEFAULT;
    (void)data;
    return redist_model_fit(MPI_COMM_WORLD, NULL, &model);
}

static int do_nothing(void *data, int execution, char wrong[FAULT_TEXT_BYTES]) {
    (void)data, (void)execution;
    wrong[0] = '\0';
    return REDIST_OK;
}

static int release_nothing(void *data) {
    (void)data;
    return REDIST_OK;
}

START_TEST(fitting_a_model) {
    const fault_subject subject = {
        NULL, 1, fit_model, do_nothing, release_nothing, library_comm(MPI_COMM_WORLD)};
    fault_begin(0.05);
    fault_try_planning(&subject, "redist_model_fit");
    fault_end();
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {whole_arrays, arrays_given_later, tiles,
                                  empty_parts,  between_nodes,      without_a_plan,
                                  planning,     fitting_a_model,    NULL};
    if (argc > 1)
        only_word = argv[1];
    counters_begin();
    return harness_run(argc, argv, "test_redist_faults", tests);
}
