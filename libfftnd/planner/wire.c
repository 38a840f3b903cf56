/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The format of the exchanges' numbers. A round trip with it is compared with the exact one, on random numbers of the
 * user's shape: by its result, as truncation and mixtures do not give back what they get, and by its time.
 */
#include "../program/program.h"
#include "planner.h"
#include "trial.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Round trips on the same numbers: first the exact one, whose result is kept, then those that are compared with it. */
struct trips {
    struct fftnd__search search;
    const struct fftnd__configuration
        *configuration;       /* of all trips: others may have other grids */
    char *exact;              /* the physical array after the exact trip, */
    char *copy;               /* and on the host that of a device after the last one */
    double seconds, error[2]; /* of the last trip */
    int is_narrow;            /* it had a format on any rank */
    int lacked_memory;        /* for a format, which another plan may have */
};

/* ---------------------------------------------------------------- arrays on the host */

static const struct redist__space *space_of(const struct trips *trips) {
    return redist_space_at(trips->search.space);
}

/* Returns the array on the host: itself, or what `move` copies it from and to. */
static char *on_host(const struct trips *trips, char *array) {
    return space_of(trips)->asynchronous ? trips->copy : array;
}

/* Copies an array of a device between there and the host. Collective. */
static int move(const struct trips *trips, const char *from, char *to, size_t bytes) {
    const struct redist__space *space = space_of(trips);
    void *stream = trips->search.request->settings.stream;
    const redist_index count = (redist_index)bytes;
    const ptrdiff_t stride = 1;
    if (from == to)
        return REDIST_OK;
    int code = redist_copy_box_in(space->id, stream, 1, &count, 1, from, &stride, to, &stride);
    return redist_agree(trips->search.comm, code == REDIST_OK ? space->stream_wait(stream) : code);
}

static int allocate(const struct trips *trips, size_t bytes, char **array) {
    *array = redist_calloc(bytes, 1);
    int code = *array != NULL ? REDIST_OK
                              : redist_fail_in("fftnd_plan_create", REDIST_ERR_MEMORY,
                                               "no memory to measure options->wire in");
    return redist_agree(trips->search.comm, code);
}

/* ---------------------------------------------------------------- numbers */

static void fill(const struct fftnd__transform *transform, char *array, size_t bytes) {
    int is_float = transform->precision == FFTND_FLOAT, rank;
    size_t item = is_float ? sizeof(float) : sizeof(double);
    MPI_Comm_rank(transform->comm, &rank);
    uint64_t state = (uint64_t)rank + 1;
    for (size_t i = 0; i < bytes / item; i++) {
        state =
            state * 0x5851f42d4c957f2d + 0x14057b7ef767814f; /* a linear congruential generator */
        double number = (double)(state >> 11) * 0x1p-52 - 1;
        float narrow = (float)number;
        memcpy(array + i * item, is_float ? (const void *)&narrow : &number, item);
    }
}

static double read_number(int is_float, const char *array, int i) {
    float narrow = 0;
    double number = 0;
    if (is_float)
        memcpy(&narrow, array + (size_t)i * sizeof narrow, sizeof narrow);
    else
        memcpy(&number, array + (size_t)i * sizeof number, sizeof number);
    return is_float ? (double)narrow : number;
}

/* Adds what two arrays differ by at an element: sums of squares of the difference and of the exact one; and the
 * largest of both. */
static void compare_numbers(int is_float, int n, const char *exact, const char *narrow,
                            double sums[2], double largest[2]) {
    for (int i = 0; i < n; i++) {
        double x = read_number(is_float, exact, i), y = read_number(is_float, narrow, i);
        sums[0] += (y - x) * (y - x);
        sums[1] += x * x;
        largest[0] = fmax(largest[0], fabs(y - x));
        largest[1] = fmax(largest[1], fabs(x));
    }
}

/* Compares the elements of the array of a step, and not what is between them. */
static void compare_arrays(const struct fftnd__transform *transform, const struct fftnd__step *step,
                           const char *exact, const char *narrow, double sums[2],
                           double largest[2]) {
    const struct fftnd__local *local = &step->layout->local;
    int is_float = transform->precision == FFTND_FLOAT, n = step->real ? 1 : 2;
    size_t item = fftnd__element_bytes(transform, step->real);
    redist_index index[REDIST_MAX_NDIMS] = {0};
    ptrdiff_t at = local->offset;
    int axis = fftnd__is_empty(transform, step) ? -1 : 0;
    while (axis >= 0) {
        compare_numbers(is_float, n, exact + (size_t)at * item, narrow + (size_t)at * item, sums,
                        largest);
        for (axis = local->ndims - 1; axis >= 0; axis--) {
            at += local->stride[axis];
            if (++index[axis] < fftnd__count_of(transform, step, axis))
                break;
            at -= local->stride[axis] * (ptrdiff_t)index[axis];
            index[axis] = 0;
        }
    }
}

/* Finds the relative L2 error, and the largest one relative to the largest number. Collective. */
static int find_error(struct trips *trips, const struct fftnd__engine *engine, const char *array) {
    double sums[2] = {0, 0}, largest[2] = {0, 0};
    const struct fftnd__step *step = fftnd__engine_input(engine, FFTND_PHYSICAL);
    compare_arrays(&engine->transform, step, trips->exact, array, sums, largest);
    int code = redist_all_reduce(trips->search.comm, sums, 2, MPI_DOUBLE, MPI_SUM);
    int next = redist_all_reduce(trips->search.comm, largest, 2, MPI_DOUBLE, MPI_MAX);
    trips->error[0] = sums[1] > 0 ? sqrt(sums[0] / sums[1]) : 0;
    trips->error[1] = largest[1] > 0 ? largest[0] / largest[1] : 0;
    return redist_agree(trips->search.comm, code != REDIST_OK ? code : next);
}

/* Keeps the result of the exact trip. Collective. */
static int keep(struct trips *trips, const char *array, size_t bytes) {
    REDIST_TRY(allocate(trips, bytes, &trips->exact));
    memcpy(trips->exact, array, bytes);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- trips */

static int measures(const struct fftnd__settings *settings) {
    return settings->effort != FFTND_ESTIMATE;
}

/* Times round trips for as long as a plan may measure: what came before, such as making random numbers, is not part of
 * it. *seconds: the least time so far, or -1. Collective, as all that follow. */
static int time_trips(struct trips *trips, struct fftnd__trial *trial, double *seconds) {
    trips->search.begin = MPI_Wtime();
    return fftnd__trial_sweep(&trips->search, trial, seconds);
}

static int run_trip(struct trips *trips, struct fftnd__trial *trial, const size_t bytes[2]) {
    const struct fftnd__search *search = &trips->search;
    const struct fftnd__engine *engine = trial->engine;
    char *array = trial->arrays[0];
    if (space_of(trips)->asynchronous && trips->copy == NULL)
        REDIST_TRY(allocate(trips, bytes[FFTND_PHYSICAL], &trips->copy));
    char *host = on_host(trips, array);
    fill(&engine->transform, host, bytes[FFTND_PHYSICAL]);
    REDIST_TRY(move(trips, host, array, bytes[FFTND_PHYSICAL]));
    REDIST_TRY(fftnd__trial_run(search, trial, &trips->seconds));
    REDIST_TRY(move(trips, array, host, bytes[FFTND_PHYSICAL]));
    REDIST_TRY(trips->exact == NULL ? keep(trips, host, bytes[FFTND_PHYSICAL])
                                    : find_error(trips, engine, host));
    trips->seconds = -1;
    return measures(&search->request->settings) ? time_trips(trips, trial, &trips->seconds)
                                                : REDIST_OK;
}

static int run_on_arrays(struct trips *trips, struct fftnd__trial *trial) {
    const struct fftnd__search *search = &trips->search;
    size_t bytes[2];
    for (int i = 0; i < 2; i++)
        bytes[i] = fftnd__engine_bytes(trial->engine, i);
    trips->is_narrow = fftnd__engine_is_narrow(trial->engine);
    REDIST_TRY(redist_all_reduce(search->comm, &trips->is_narrow, 1, MPI_INT, MPI_MAX));
    if (trips->exact != NULL && !trips->is_narrow)
        return REDIST_OK;
    int code = fftnd__trial_allocate(search, bytes, trial->arrays);
    if (code == REDIST_OK)
        code = run_trip(trips, trial, bytes);
    fftnd__trial_release(search, trial->arrays);
    return code;
}

static int make_trip(struct trips *trips, const struct fftnd__request *wanted,
                     enum redist_wire wire) {
    struct fftnd__request request = *wanted;
    struct fftnd__trial trial;
    request.settings.wire = wire;
    request.settings.scaling = FFTND_SCALE_BACKWARD; /* else numbers grow with each trip */
    trips->search.request = &request;
    int code = fftnd__trial_open(&trips->search, trips->configuration, &trial);
    if (code == REDIST_OK)
        code = run_on_arrays(trips, &trial);
    fftnd__trial_close(&trial);
    return code;
}

/* ---------------------------------------------------------------- choosing */

/* Returns whether this rank prints what becomes of a format. */
static int speaks(const struct fftnd__search *search) {
    int rank;
    MPI_Comm_rank(search->comm, &rank);
    return rank == 0 && search->verbose;
}

/* Says why a format was not tried. */
static void report_untried(const struct fftnd__search *search, enum redist_wire wire,
                           const char *reason) {
    if (speaks(search))
        fprintf(stderr, "fftnd: %s  <- declined: %s\n", redist_wire_name((int)wire), reason);
}

static void report(const struct trips *trips, enum redist_wire wire, double exact,
                   const char *remark) {
    if (!speaks(&trips->search))
        return;
    fprintf(stderr, "fftnd: %s: relative L2 error %.2g, largest %.2g", redist_wire_name((int)wire),
            trips->error[0], trips->error[1]);
    if (exact >= 0)
        fprintf(stderr, "; %.3f ms a round trip, exact %.3f ms", 1e3 * trips->seconds, 1e3 * exact);
    fprintf(stderr, "%s\n", remark);
}

static const char no_message[] = "no message is for it";

/* Returns whether the last trip is to be the plan's; the same on all ranks. */
static int is_accepted(const struct trips *trips, const struct fftnd__settings *settings,
                       enum redist_wire wire, double exact) {
    int is_slow = exact >= 0 && trips->seconds > REDIST_SLOWEST_FORMAT * exact;
    int is_far = settings->tolerance > 0 && !(trips->error[0] <= settings->tolerance);
    if (!trips->is_narrow) {
        report_untried(&trips->search, wire, no_message);
        return 0;
    }
    report(trips, wire, exact,
           is_far    ? "  <- declined, beyond the tolerance"
           : is_slow ? "  <- declined, slower by more than 3 %"
                     : "  <- chosen");
    return !is_slow && !is_far;
}

/* Lists the formats to be tried, the narrowest first; returns their number. */
static int list_formats(const struct fftnd__request *request, enum redist_wire formats[2]) {
    formats[0] = request->settings.tolerance > 0 ? REDIST_WIRE_16_BITS : request->settings.wire;
    formats[1] = REDIST_WIRE_FLOAT;
    return request->settings.tolerance > 0 && request->precision == FFTND_DOUBLE ? 2 : 1;
}

/* Returns whether a format that is chosen by its error may be left out: exchanges cannot use it, or there is no
 * memory. */
static int may_decline(const struct fftnd__settings *settings, int code) {
    return settings->tolerance > 0 &&
           (code == REDIST_ERR_METHOD || code == REDIST_ERR_LIMIT || code == REDIST_ERR_MEMORY);
}

/* Times a round trip of a plan without a format, if that is measured; *seconds becomes the least of all times. */
static int time_exact(struct trips *trips, const struct fftnd__request *request,
                      const struct fftnd__configuration *configuration, double *seconds) {
    struct fftnd__trial trial;
    if (!measures(&request->settings))
        return REDIST_OK;
    trips->search.request = request;
    trips->search.begin = MPI_Wtime();
    int code = fftnd__trial_open(&trips->search, configuration, &trial);
    if (code == REDIST_OK)
        code = fftnd__trial_time(&trips->search, &trial, seconds);
    fftnd__trial_close(&trial);
    return code;
}

static int try_formats(struct trips *trips, struct fftnd__request *request,
                       const struct fftnd__configuration *exact_configuration, double error[2]) {
    const struct fftnd__request wanted = *request;
    enum redist_wire formats[2];
    int n = list_formats(request, formats);
    request->settings.wire = REDIST_WIRE_SAME;
    REDIST_TRY(make_trip(trips, &wanted, REDIST_WIRE_SAME));
    double exact = trips->seconds;
    if (exact_configuration != trips->configuration)
        REDIST_TRY(time_exact(trips, request, exact_configuration, &exact));
    for (int i = 0; i < n; i++) {
        int code = make_trip(trips, &wanted, formats[i]);
        trips->lacked_memory |= code == REDIST_ERR_MEMORY;
        if (may_decline(&wanted.settings, code)) {
            report_untried(&trips->search, formats[i], redist_error_message());
            continue;
        }
        REDIST_TRY(code);
        /* Once more: devices and links are often slow in the first trips */
        REDIST_TRY(time_exact(trips, request, exact_configuration, &exact));
        if (!is_accepted(trips, &wanted.settings, formats[i], exact))
            continue;
        request->settings.wire = formats[i];
        memcpy(error, trips->error, sizeof trips->error);
        break;
    }
    return REDIST_OK;
}

/* Finds whether messages may be narrowed: there are other nodes, or ranks. */
static int find_messages(const struct fftnd__request *request, int *are_some) {
    const int *node_of;
    int nnodes, size;
    MPI_Comm_size(request->comm, &size);
    REDIST_TRY(redist_nodes(request->comm, 0, &nnodes, &node_of));
    *are_some = request->settings.wire_scope == REDIST_WIRE_EVERYWHERE ? size > 1 : nnodes > 1;
    return REDIST_OK;
}

/* Returns whether a plan without the format may have another configuration: another grid may be faster there.
 * A chain on some of the ranks stays as it is, as the request is made for these. */
static int has_exact_configuration(const struct fftnd__request *request) {
    return request->settings.wire != REDIST_WIRE_SAME && request->ranks == 0;
}

static int choose_exact(const struct fftnd__request *wanted, int recalls,
                        struct fftnd__configuration *exact) {
    struct fftnd__request request = *wanted;
    request.settings.wire = REDIST_WIRE_SAME;
    return fftnd__planner_choose(&request, exact, &recalls);
}

/* ---------------------------------------------------------------- what is remembered */

/* Writes the key of a choice: the formats that were compared, where and how, for a configuration. */
static int make_key(const struct fftnd__request *request,
                    const struct fftnd__configuration *configuration,
                    char key[FFTND__CONFIGURATION_BYTES]) {
    const struct fftnd__settings *settings = &request->settings;
    const int choices[] = {(int)settings->wire, (int)settings->wire_scope, measures(settings)};
    char text[FFTND__CONFIGURATION_BYTES];
    REDIST_TRY(fftnd__planner_key(request, key));
    fftnd__configuration_print(configuration, request->shape.ndims, text);
    long long hash = redist_hash_bytes(0, key, strlen(key));
    hash = redist_hash_bytes(hash, text, strlen(text));
    hash = redist_hash_bytes(hash, choices, sizeof choices);
    hash = redist_hash_bytes(hash, &settings->tolerance, sizeof settings->tolerance);
    snprintf(key, FFTND__CONFIGURATION_BYTES, "wire/%llx", hash);
    return REDIST_OK;
}

/* Reads a choice that the request allows; returns whether there is one. */
static int scan(const char *text, struct fftnd__request *request, double error[2]) {
    const struct fftnd__settings *settings = &request->settings;
    enum redist_wire formats[2];
    double found[2];
    int wire, end = 0, n = list_formats(request, formats);
    if (redist_text_scan(text, "%d %lf %lf%n", &wire, &found[0], &found[1], &end) != 3 ||
        text[end] != '\0' || !(found[0] >= 0 && found[1] >= 0))
        return 0;
    int is_listed =
        wire == REDIST_WIRE_SAME || wire == (int)formats[0] || wire == (int)formats[n - 1];
    if (!is_listed || (settings->tolerance > 0 && !(found[0] <= settings->tolerance)))
        return 0;
    request->settings.wire = (enum redist_wire)wire;
    memcpy(error, found, sizeof found);
    return 1;
}

static int recall(struct fftnd__request *request, const char *key, double error[2], int *found) {
    char text[FFTND__CONFIGURATION_BYTES];
    REDIST_TRY(
        redist_wisdom_find(request->comm, request->settings.wisdom_file, key, sizeof text, text));
    *found = scan(text, request, error);
    return REDIST_OK;
}

static void store(const struct fftnd__request *request, const char *key, const double error[2]) {
    char text[FFTND__CONFIGURATION_BYTES];
    redist_text_print(text, sizeof text, "%d %.17g %.17g", (int)request->settings.wire, error[0],
                      error[1]);
    redist_wisdom_store(request->comm, request->settings.wisdom_file, key, text);
}

/* Takes the format that is remembered, or tries all and remembers the best, if messages may have one. `exact`: of plans
 * without one. */
static int recall_or_try(struct fftnd__request *request,
                         const struct fftnd__configuration *configuration,
                         const struct fftnd__configuration *exact, int recalls, double error[2],
                         int *remembered) {
    const struct fftnd__settings *settings = &request->settings;
    struct trips trips = {.search = {.comm = request->comm,
                                     .space = settings->space,
                                     .begin = MPI_Wtime(),
                                     .verbose = redist_is_verbose(settings->verbose)},
                          .configuration = configuration};
    enum redist_wire formats[2];
    char key[FFTND__CONFIGURATION_BYTES];
    int are_some = 0, found = 0;
    REDIST_TRY(find_messages(request, &are_some));
    if (!are_some) {
        list_formats(request, formats);
        report_untried(&trips.search, formats[0], no_message);
        request->settings.wire = REDIST_WIRE_SAME;
        return REDIST_OK;
    }
    REDIST_TRY(make_key(request, configuration, key));
    if (recalls)
        REDIST_TRY(recall(request, key, error, &found));
    *remembered |= found;
    if (found) {
        memcpy(trips.error, error, sizeof trips.error);
        report(&trips, settings->wire, -1, "  <- remembered");
        return REDIST_OK;
    }
    int code = try_formats(&trips, request, exact, error);
    redist_release(trips.exact);
    redist_release(trips.copy);
    if (code == REDIST_OK && !trips.lacked_memory)
        store(request, key, error);
    return code;
}

int fftnd__wire_choose(struct fftnd__request *request, struct fftnd__configuration *configuration,
                       int recalls, double error[2], int *remembered) {
    const struct fftnd__settings *settings = &request->settings;
    struct fftnd__configuration other;
    const struct fftnd__configuration *exact = configuration;
    error[0] = error[1] = 0;
    if (settings->wire == REDIST_WIRE_SAME && settings->tolerance == 0)
        return REDIST_OK;
    if (has_exact_configuration(request)) {
        REDIST_TRY(choose_exact(request, recalls, &other));
        exact = &other;
    }
    int code = recall_or_try(request, configuration, exact, recalls, error, remembered);
    if (request->settings.wire == REDIST_WIRE_SAME)
        *configuration = *exact;
    return code;
}
