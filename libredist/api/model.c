/* SPDX-License-Identifier: BSD-3-Clause */
/* redist_model_fit: measures the communication model with the library's own exchanges. */
#include "../planner/planner.h"

enum { POINTS = 6, ROUNDS = 7, LEAST_ELEMENTS = 8, GROWTH = 8 };

/* Limits of a local array, and of the time of one size's rounds; both guessed. */
static const double most_bytes = 8 << 20;
static const double most_seconds = 0.01;

/* The shortest time, in seconds, that a clock can tell from zero (guess). */
static const double shortest = 1e-9;

/* A group of ranks that exchange with each other. */
struct group {
    MPI_Comm comm, all; /* this group; all ranks that measure together */
    int size, largest;  /* ranks of this group, and of the largest */
    const redist_options *options;
    void *arrays[2];
    redist_plan *plan;
};

/* ---------------------------------------------------------------- one size */

/* Rows of `elements` for each rank: contiguous messages. */
static int create_plan(struct group *group, int elements) {
    redist_index all = (redist_index)group->size * elements;
    redist_index sizes_a[2] = {1, all}, sizes_b[2] = {group->size, elements};
    redist_options options = *group->options;
    options.effort = REDIST_ESTIMATE;
    return redist_plan_exchange(group->comm, MPI_DOUBLE, 2, sizes_a, group->arrays[0], 1, sizes_b,
                                group->arrays[1], 0, &options, &group->plan);
}

/* Times one round of the slowest rank of all groups. */
static int time_round(const struct group *group, double *seconds) {
    int begun = redist_barrier(group->all);
    double begin = MPI_Wtime();
    int code = group->size > 1 ? redist_plan_execute(group->plan, REDIST_FORWARD) : REDIST_OK;
    *seconds = group->size > 1 ? (MPI_Wtime() - begin) / (group->size - 1) : 0;
    redist__keep_first(&code, begun);
    redist__keep_first(&code, redist_all_reduce(group->all, seconds, 1, MPI_DOUBLE, MPI_MAX));
    *seconds = *seconds > shortest ? *seconds : shortest;
    return redist_agree(group->all, code);
}

static void insert(int n, double sorted[], double value) {
    for (; n > 0 && sorted[n - 1] > value; n--)
        sorted[n] = sorted[n - 1];
    sorted[n] = value;
}

/* The median of some rounds after one to warm up. */
static int time_rounds(const struct group *group, double *median) {
    double seconds, spent = 0, sorted[ROUNDS];
    int n = 0;
    REDIST_TRY(time_round(group, &seconds));
    while (n < ROUNDS && spent < most_seconds) {
        REDIST_TRY(time_round(group, &seconds));
        insert(n++, sorted, seconds);
        spent += seconds * group->largest; /* the same on all ranks */
    }
    *median = sorted[n / 2];
    return REDIST_OK;
}

static int measure_size(struct group *group, int elements, double *seconds) {
    int code = group->size > 1 ? create_plan(group, elements) : REDIST_OK;
    code = redist_agree(group->all, code);
    if (code == REDIST_OK)
        code = time_rounds(group, seconds);
    if (group->plan != NULL) {
        int freed = redist_plan_free(&group->plan);
        code = code == REDIST_OK ? freed : code;
    }
    return code;
}

/* ---------------------------------------------------------------- a link */

static int allocate(struct group *group, size_t bytes) {
    for (int i = 0; i < 2; i++) {
        int code = group->size == 1 ? REDIST_OK
                                    : redist_alloc_in(group->comm, group->options->space, bytes,
                                                      &group->arrays[i]);
        REDIST_TRY(redist_agree(group->all, code));
    }
    return REDIST_OK;
}

static void release(struct group *group) {
    for (int i = 0; i < 2; i++)
        if (group->arrays[i] != NULL)
            redist_free(&group->arrays[i]);
}

/* The ranks of a communicator with the same color. Groups measure together: if one cannot be made, none is. */
static int create_group(MPI_Comm comm, int color, int rank, struct group *group) {
    int result = redist_insist(MPI_Comm_split(comm, color, rank, &group->comm));
    if (result != MPI_SUCCESS)
        group->comm = MPI_COMM_NULL;
    else
        MPI_Comm_size(group->comm, &group->size);
    return redist_agree(group->all, redist_check_mpi(result));
}

static void free_group(struct group *group) {
    if (group->comm != MPI_COMM_NULL)
        MPI_Comm_free(&group->comm);
}

/* One message each, between neighbours. */
static int measure_pairs(const struct group *whole, double *seconds) {
    struct group pair = {.all = whole->all, .largest = 2, .options = whole->options};
    int rank;
    MPI_Comm_rank(whole->comm, &rank);
    int code = create_group(whole->comm, rank / 2, rank, &pair);
    if (code == REDIST_OK)
        code = allocate(&pair, 2 * LEAST_ELEMENTS * sizeof(double));
    if (code == REDIST_OK)
        code = measure_size(&pair, LEAST_ELEMENTS, seconds);
    release(&pair);
    free_group(&pair);
    return code;
}

/* Measures growing sizes, up to the memory limit of the largest group. */
static int measure_sizes(struct group *group, redist_link *link) {
    double bytes[POINTS], seconds[POINTS];
    int n = 0, code = allocate(group, (size_t)most_bytes);
    for (int elements = LEAST_ELEMENTS; n < POINTS && code == REDIST_OK; elements *= GROWTH) {
        bytes[n] = (double)elements * sizeof(double);
        if (n >= 2 && bytes[n] * group->largest > most_bytes)
            break;
        code = measure_size(group, elements, &seconds[n++]);
    }
    release(group);
    if (code == REDIST_OK)
        *link = redist__fit_link(n, bytes, seconds);
    return code;
}

static int measure_link(struct group *group, redist_link *link) {
    double pair = 0;
    int *largest = &group->largest;
    *largest = group->size;
    int code = redist_all_reduce(group->all, largest, 1, MPI_INT, MPI_MAX);
    *link = (redist_link){0, 0, 0};
    REDIST_TRY(redist_agree(group->all, code));
    if (*largest == 1)
        return REDIST_OK;
    REDIST_TRY(measure_sizes(group, link));
    if (*largest > 2)
        REDIST_TRY(measure_pairs(group, &pair));
    redist__part_latency(link, *largest - 1, LEAST_ELEMENTS * sizeof(double), pair);
    return REDIST_OK;
}

static int measure_both(const struct redist__context *context, const redist_options *options,
                        redist_model *model) {
    redist_link *const links[2] = {&model->node, &model->network};
    const int colors[2] = {context->node_of[context->rank], context->node_rank};
    int code = REDIST_OK;
    for (int i = 0; i < 2 && code == REDIST_OK; i++) {
        struct group group = {.all = context->comm, .options = options};
        code = create_group(context->comm, colors[i], context->rank, &group);
        if (code == REDIST_OK)
            code = measure_link(&group, links[i]);
        free_group(&group);
        if (code == REDIST_ERR_METHOD && i == 1 && model->node.bandwidth > 0)
            code = REDIST_OK; /* a method for nodes only */
    }
    model->ranks_per_node = context->node_size;
    redist__keep_first(
        &code, redist_all_reduce(context->comm, &model->ranks_per_node, 1, MPI_INT, MPI_MAX));
    return redist_agree(context->comm, code);
}

/* ---------------------------------------------------------------- the public function */

static int read_arguments(const redist_options *options, redist_options *own_options,
                          const redist_model *model, redist_model *own) {
    const char *function = "redist_model_fit";
    REDIST_TRY(redist_struct_read(function, "model", model, own, sizeof *own));
    if (options != NULL)
        REDIST_TRY(
            redist_struct_read(function, "options", options, own_options, sizeof *own_options));
    return REDIST_OK;
}

int redist_model_fit(MPI_Comm comm, const redist_options *options, redist_model *model) {
    struct redist__context *context;
    redist_options own = REDIST_OPTIONS_DEFAULT;
    redist_model fitted = REDIST_MODEL_DEFAULT;
    REDIST_TRY(redist_check_comm(comm));
    REDIST_TRY(redist__context_get(comm, &context));
    int code = redist_agree(context->comm, read_arguments(options, &own, model, &fitted));
    if (code == REDIST_OK) {
        own.bind_a = own.bind_b = REDIST_BIND_AT_PLAN;
        own.phases = 0;
        own.tiles = REDIST_WHOLE;
        code = measure_both(context, &own, &fitted);
    }
    if (code == REDIST_OK)
        code = redist_struct_write(__func__, "model", &fitted, sizeof fitted, model);
    redist__context_release(context);
    return code;
}
