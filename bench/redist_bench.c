/* SPDX-License-Identifier: BSD-3-Clause */
/* redist-bench: how long each method takes for one exchange, beside a plain memcpy. */
#include "json.h"
#include "methods.h"
#include "once.h"
#include "options.h"
#include "pattern.h"
#include "redist_model.h"
#include <stdio.h>
#include <string.h>

static const char *const types[] = {"f32", "f64", "c64", "c128", NULL};

static const char notes[] =
    "Before the exchange the array is whole along axis A and distributed along axis B, after it\n"
    "the reverse; all ranks take part. Every round runs each method and the memcpy once, each\n"
    "behind a barrier; the time of a round is that of the slowest rank.\n"
    "\n"
    "The columns (keys with --json), one line for each method:\n"
    "  ms_min, ms_median   time of one exchange, from the first array to the second\n"
    "  gb_per_s            bytes that a rank holds, its own part included, over the median;\n"
    "                      of the rank that holds most; 1 GB = 10^9 bytes\n"
    "  memcpy_ms_median    a plain memcpy of the same bytes, all ranks at once, in the same\n"
    "                      rounds; the table shows the ratio to it (of memcpy)\n"
    "  gb_per_s_out        bytes that the rank sends to others over the median\n"
    "  copy_rate_gb_per_s  for devices: what the copy engines send in large contiguous pieces, "
    "all\n"
    "                      ranks to all others at once, in the same run\n"
    "  host_rate_gb_per_s  for devices: what they send to the host and get from it, both "
    "together,\n"
    "                      all ranks at once, in the same run\n"
    "  plan_ms             time to make the plan; auto measures in it\n"
    "  workspace_bytes     buffers that the plan holds, on the rank that holds most\n"
    "  wrong               elements, on all ranks, that differ from the expected ones after one\n"
    "                      more exchange forward and one backward, into arrays that were spoilt\n"
    "                      before; not timed\n"
    "  chosen              the method, with its variant, that the plan uses\n"
    "\n"
    "Methods one-shot and listing have no plan: redist_exchange itself, called again and again, "
    "and\n"
    "the same by hand, with MPI_Alltoallw and datatypes made and freed in each call. Method copy "
    "moves\n"
    "as many bytes within each rank, in one run, by the loops of direct: name it behind direct, "
    "whose\n"
    "plan chooses these. Method messages sends the messages of p2p by MPI alone, from contiguous "
    "memory\n"
    "of the host, pinned for devices; messages-in-pieces those of at most 4 MiB of p2p on a "
    "device.\n"
    "\n"
    "exit code: 0; 1 if an element is wrong or an exchange fails; 2 for a bad command line\n";

/* The exchange that is measured: the same for all methods. */
struct exchange {
    bench_settings settings;
    bench_list axes;
    int type;
    int unchecked, model, calls;
    bench_once once;
    int nranks;
    const bench_space *space;
    bench_block block_a, block_b;
    void *a, *b;
    size_t most_bytes; /* of A, on the rank that holds most */
    size_t most_out;   /* of A, for other ranks, on the rank that sends most */
    double copy_rate;  /* of the space, 0 = it has none, */
    double host_rate;  /* and to the host and back */
};

/* One method and what was found out about it. */
struct entry {
    const char *name;
    const struct exchange *exchange;
    redist_plan *plan;
    bench_once_run *run; /* instead of a plan */
    double plan_ms, model_ms;
    long long workspace_bytes;
    long long wrong;
};

/* The memcpy beside which the methods are measured. */
struct baseline {
    const bench_space *space;
    void *from, *to;
    size_t bytes;
    int calls;
};

static MPI_Datatype datatype(const struct exchange *exchange) {
    const MPI_Datatype datatypes[] = {MPI_FLOAT, MPI_DOUBLE, MPI_C_FLOAT_COMPLEX,
                                      MPI_C_DOUBLE_COMPLEX};
    return datatypes[exchange->type];
}

/* What this rank holds when `axis` is distributed. */
static bench_block block_along(const struct exchange *exchange, int axis) {
    static const size_t element_bytes[] = {4, 8, 8, 16};
    bench_block block = {.ndims = exchange->settings.shape.count,
                         .element_bytes = element_bytes[exchange->type],
                         .seed = exchange->settings.seed};
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < block.ndims; i++)
        block.size[i] = block.count[i] = exchange->settings.shape.values[i];
    bench_must(redist_decompose(block.size[axis], exchange->nranks, rank, &block.count[axis],
                                &block.start[axis]));
    return block;
}

static size_t block_bytes(const bench_block *block) {
    return bench_block_elements(block) * block->element_bytes;
}

static long long most_of_ranks(long long value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    return value;
}

static void *allocate(const struct exchange *exchange, const bench_block *block, int array) {
    return exchange->space->allocate(MPI_COMM_WORLD, block_bytes(block),
                                     bench_mappable(exchange->settings.memory, array));
}

/* The bytes of this rank's A that others get. */
static size_t bytes_out(const struct exchange *exchange) {
    int axis = exchange->axes.values[0], rank;
    redist_index own, start;
    const bench_block *block = &exchange->block_a;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (block->size[axis] == 0 ||
        redist_decompose(block->size[axis], exchange->nranks, rank, &own, &start) != REDIST_OK)
        return 0;
    size_t across = block_bytes(block) / (size_t)block->size[axis];
    return across * (size_t)(block->size[axis] - own);
}

static void prepare_arrays(struct exchange *exchange) {
    exchange->block_a = block_along(exchange, exchange->axes.values[1]);
    exchange->block_b = block_along(exchange, exchange->axes.values[0]);
    exchange->a = allocate(exchange, &exchange->block_a, 0);
    exchange->b = allocate(exchange, &exchange->block_b, 1);
    exchange->most_bytes = (size_t)most_of_ranks((long long)block_bytes(&exchange->block_a));
    exchange->most_out = (size_t)most_of_ranks((long long)bytes_out(exchange));
    exchange->copy_rate =
        exchange->space->copy_rate != NULL ? exchange->space->copy_rate(MPI_COMM_WORLD) : 0.0;
    exchange->host_rate =
        exchange->space->host_rate != NULL ? exchange->space->host_rate(MPI_COMM_WORLD) : 0.0;
    bench_pattern_fill(exchange->space, &exchange->block_a, exchange->a);
    exchange->once = (bench_once){.type = datatype(exchange),
                                  .space = exchange->space,
                                  .axes = {exchange->axes.values[0], exchange->axes.values[1]},
                                  .blocks = {&exchange->block_a, &exchange->block_b},
                                  .arrays = {exchange->a, exchange->b}};
    bench_once_begin(&exchange->once);
}

static void release_arrays(struct exchange *exchange) {
    int memory = exchange->settings.memory;
    bench_once_end(&exchange->once);
    exchange->space->release(exchange->a, bench_mappable(memory, 0));
    exchange->space->release(exchange->b, bench_mappable(memory, 1));
}

/* Milliseconds that the communication model, fitted for the method, predicts; 0 = there is none. */
static double predict(const struct exchange *exchange, const char *method) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_model model = REDIST_MODEL_DEFAULT;
    options.method = method;
    options.space = exchange->settings.space ? REDIST_SPACE_CUDA : REDIST_SPACE_HOST;
    if (!exchange->model || redist_model_fit(MPI_COMM_WORLD, &options, &model) != REDIST_OK)
        return 0;
    return 1e3 * redist_model_seconds(&model, exchange->nranks, exchange->nranks, 1,
                                      (double)exchange->most_bytes);
}

/* What no exchange can be faster than: each rank alone, where an exchange is one contiguous copy. */
static int is_copy(const struct entry *entry) {
    return strcmp(entry->name, "copy") == 0;
}

static int is_bound(const struct entry *entry) {
    return is_copy(entry) || bench_once_is_bound(entry->name);
}

static int same_bytes(const struct exchange *exchange) {
    int same = block_bytes(&exchange->block_a) == block_bytes(&exchange->block_b);
    MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return same;
}

/* Makes the plan of one method; returns redist's code. */
static int make_plan(struct exchange *exchange, struct entry *entry) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    int copy = is_copy(entry);
    const bench_block *a = &exchange->block_a, *b = copy ? a : &exchange->block_b;
    options.method = copy ? "direct" : entry->name;
    entry->exchange = exchange;
    entry->run = bench_once_named(entry->name);
    bench_once_prepare(&exchange->once, entry->name);
    if (entry->run != NULL)
        return REDIST_OK;
    if (copy && !same_bytes(exchange))
        bench_abort("redist-bench: copy needs as many bytes before the exchange as after it");
    double begin = MPI_Wtime();
    int code =
        redist_plan_exchange(copy ? MPI_COMM_SELF : MPI_COMM_WORLD, datatype(exchange), a->ndims,
                             a->count, exchange->a, exchange->axes.values[0], b->count, exchange->b,
                             exchange->axes.values[1], &options, &entry->plan);
    entry->plan_ms = 1e3 * (MPI_Wtime() - begin);
    if (code != REDIST_OK)
        return code;
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    bench_must(redist_plan_get_info(entry->plan, &info));
    entry->workspace_bytes = most_of_ranks((long long)info.workspace_bytes);
    entry->model_ms = predict(exchange, entry->name);
    return REDIST_OK;
}

/* Makes the plans of all methods that apply; returns the exit code. */
static int make_plans(struct exchange *exchange, const bench_methods *methods,
                      struct entry entries[], int *nentries) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *nentries = 0;
    for (int i = 0; i < methods->count; i++) {
        struct entry made = {.name = methods->names[i]};
        int code = make_plan(exchange, &made);
        if (code == REDIST_OK)
            entries[(*nentries)++] = made;
        else if (rank == 0)
            fprintf(stderr, "redist-bench: %s: %s\n", made.name, redist_error_message());
        if (code != REDIST_OK && !(methods->all && code == REDIST_ERR_METHOD))
            return 2;
    }
    return 0;
}

static void run_entry(struct entry *entry, int direction) {
    if (entry->run != NULL)
        entry->run(&entry->exchange->once, direction);
    else if (redist_plan_execute(entry->plan, direction) != REDIST_OK)
        bench_abort("redist-bench: %s: %s", entry->name, redist_error_message());
    entry->exchange->space->synchronise();
}

static void run_forward(void *context) {
    struct entry *entry = context;
    for (int i = 0; i < entry->exchange->calls; i++)
        run_entry(entry, REDIST_FORWARD);
}

static void run_memcpy(void *context) {
    struct baseline *baseline = context;
    for (int i = 0; i < baseline->calls; i++) {
        baseline->space->copy(baseline->to, baseline->from, baseline->bytes);
        baseline->space->synchronise();
    }
}

/* Spoils the destination, executes, and counts what is wrong in it. */
static long long check_direction(const struct exchange *exchange, struct entry *entry,
                                 int direction) {
    const bench_block *block =
        direction == REDIST_FORWARD ? &exchange->block_b : &exchange->block_a;
    void *to = direction == REDIST_FORWARD ? exchange->b : exchange->a;
    bench_pattern_poison(exchange->space, block, to);
    MPI_Barrier(MPI_COMM_WORLD);
    run_entry(entry, direction);
    return bench_pattern_wrong(exchange->space, block, to);
}

static void check(const struct exchange *exchange, struct entry *entry) {
    if (exchange->unchecked || is_bound(entry)) {
        entry->wrong = -1;
        return;
    }
    entry->wrong = check_direction(exchange, entry, REDIST_FORWARD);
    entry->wrong += check_direction(exchange, entry, REDIST_BACKWARD);
    MPI_Allreduce(MPI_IN_PLACE, &entry->wrong, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    bench_pattern_fill(exchange->space, &exchange->block_a, exchange->a);
}

static const char *chosen(const struct entry *entry) {
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    if (entry->run != NULL)
        return "-";
    return redist_plan_get_info(entry->plan, &info) == REDIST_OK ? info.method : "unknown";
}

/* Of one exchange or memcpy. */
static double median_ms(const struct exchange *exchange, const bench_candidate *candidate) {
    return bench_median_ms(candidate, BENCH_WHOLE) / exchange->calls;
}

static double min_ms(const struct exchange *exchange, const bench_candidate *candidate) {
    return bench_min_ms(candidate, BENCH_WHOLE) / exchange->calls;
}

static double gb_per_s(const struct exchange *exchange, const bench_candidate *candidate) {
    return (double)exchange->most_bytes / (1e6 * median_ms(exchange, candidate));
}

static double gb_per_s_out(const struct exchange *exchange, const bench_candidate *candidate) {
    return (double)exchange->most_out / (1e6 * median_ms(exchange, candidate));
}

static void print_json(const struct exchange *exchange, const struct entry *entry,
                       const bench_candidate *candidate, const bench_candidate *copy) {
    const bench_settings *settings = &exchange->settings;
    bench_json_begin();
    bench_json_text("benchmark", "redist-bench");
    bench_json_machine();
    bench_json_text("method", entry->name);
    bench_json_text("chosen", chosen(entry));
    bench_json_integers("shape", settings->shape.values, settings->shape.count);
    bench_json_integers("axes", exchange->axes.values, 2);
    bench_json_text("type", types[exchange->type]);
    bench_json_text("space", exchange->space->name);
    bench_json_text("memory", bench_memories[settings->memory]);
    bench_json_integer("ranks", exchange->nranks);
    bench_json_integer("iters", settings->iterations);
    bench_json_integer("calls", exchange->calls);
    bench_json_integer("bytes", (long long)exchange->most_bytes);
    bench_json_number("ms_min", min_ms(exchange, candidate));
    bench_json_number("ms_median", median_ms(exchange, candidate));
    bench_json_number("gb_per_s", gb_per_s(exchange, candidate));
    bench_json_number("gb_per_s_out", gb_per_s_out(exchange, candidate));
    if (exchange->copy_rate > 0)
        bench_json_number("copy_rate_gb_per_s", exchange->copy_rate);
    if (exchange->host_rate > 0)
        bench_json_number("host_rate_gb_per_s", exchange->host_rate);
    bench_json_number("memcpy_ms_median", median_ms(exchange, copy));
    if (entry->model_ms > 0)
        bench_json_number("model_ms", entry->model_ms);
    bench_json_number("plan_ms", entry->plan_ms);
    bench_json_integer("workspace_bytes", entry->workspace_bytes);
    bench_json_integer("wrong", entry->wrong);
    if (settings->samples) {
        bench_json_samples("ms_samples", candidate, BENCH_WHOLE);
        bench_json_samples("memcpy_ms_samples", copy, BENCH_WHOLE);
    }
    bench_json_end();
}

static void print_heading(const struct exchange *exchange, const bench_candidate *copy) {
    const bench_settings *settings = &exchange->settings;
    for (int i = 0; i < settings->shape.count; i++)
        printf("%s%d", i > 0 ? " x " : "", settings->shape.values[i]);
    printf(" %s, axes %d:%d, %d ranks, %s memory (%s), %d rounds after %d to warm up, %d a round\n",
           types[exchange->type], exchange->axes.values[0], exchange->axes.values[1],
           exchange->nranks, exchange->space->name, bench_memories[settings->memory],
           settings->iterations, settings->warmup, exchange->calls);
    printf("%.3f MB on the largest rank; memcpy of the same bytes, all ranks at once: min %.4f, "
           "median %.4f ms\n\n",
           1e-6 * (double)exchange->most_bytes, min_ms(exchange, copy), median_ms(exchange, copy));
    if (exchange->copy_rate > 0)
        printf("copy engines, all ranks to all others at once: %.1f GB/s out of each\n\n",
               exchange->copy_rate);
    if (exchange->host_rate > 0)
        printf("to the host and back, both together, all ranks at once: %.1f GB/s of each\n\n",
               exchange->host_rate);
    printf("%-18s %10s %10s %8s %10s", "method", "min ms", "median ms", "GB/s", "of memcpy");
    if (exchange->model)
        printf(" %9s", "model ms");
    printf(" %9s %12s %7s  %s\n", "plan ms", "workspace MB", "wrong", "chosen");
}

static void print_row(const struct exchange *exchange, const struct entry *entry,
                      const bench_candidate *candidate, const bench_candidate *copy) {
    double median = median_ms(exchange, candidate);
    printf("%-18s %10.4f %10.4f %8.2f %10.2f", entry->name, min_ms(exchange, candidate), median,
           gb_per_s(exchange, candidate), median / median_ms(exchange, copy));
    if (exchange->model)
        printf(" %9.3f", entry->model_ms);
    printf(" %9.1f %12.1f %7lld  %s\n", entry->plan_ms, 1e-6 * (double)entry->workspace_bytes,
           entry->wrong, chosen(entry));
}

/* The candidate of the memcpy stands behind those of the methods. */
static void report(const struct exchange *exchange, const struct entry entries[],
                   const bench_candidate candidates[], int nentries) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0)
        return;
    const bench_candidate *copy = &candidates[nentries];
    if (!exchange->settings.json)
        print_heading(exchange, copy);
    for (int i = 0; i < nentries; i++)
        (exchange->settings.json ? print_json : print_row)(exchange, &entries[i], &candidates[i],
                                                           copy);
}

/* Measures and checks; returns the exit code. */
static int measure(const struct exchange *exchange, struct entry entries[], int nentries) {
    bench_candidate candidates[BENCH_MAX_METHODS + 1];
    size_t bytes = block_bytes(&exchange->block_a);
    struct baseline copy = {exchange->space, exchange->space->allocate(MPI_COMM_WORLD, bytes, 0),
                            exchange->space->allocate(MPI_COMM_WORLD, bytes, 0), bytes,
                            exchange->calls};
    for (int i = 0; i < nentries; i++)
        candidates[i] =
            (bench_candidate){.context = &entries[i], .nsteps = 1, .steps = {run_forward}};
    candidates[nentries] = (bench_candidate){.context = &copy, .nsteps = 1, .steps = {run_memcpy}};
    bench_rounds(MPI_COMM_WORLD, candidates, nentries + 1, exchange->settings.warmup,
                 exchange->settings.iterations);
    long long wrong = 0;
    for (int i = 0; i < nentries; i++) {
        check(exchange, &entries[i]);
        wrong += entries[i].wrong > 0;
    }
    report(exchange, entries, candidates, nentries);
    bench_forget(candidates, nentries + 1);
    exchange->space->release(copy.from, 0);
    exchange->space->release(copy.to, 0);
    return wrong > 0;
}

/* What the library would refuse later, and in words that do not name the options. */
static int check_settings(const bench_program *program, struct exchange *exchange,
                          bench_methods *methods) {
    const bench_settings *settings = &exchange->settings;
    const int *axes = exchange->axes.values;
    exchange->space = bench_space_at(settings->space);
    const char *refusal = exchange->space->begin();
    if (refusal)
        return bench_refuse(program, "--space %s: %s", exchange->space->name, refusal);
    if (settings->shape.count < 2)
        return bench_refuse(program, "--shape needs at least 2 extents");
    if (axes[0] == axes[1] || axes[0] >= settings->shape.count || axes[1] >= settings->shape.count)
        return bench_refuse(program, "--axes %d:%d must be two different axes of 0..%d", axes[0],
                            axes[1], settings->shape.count - 1);
    if (!bench_read_methods(settings->method, methods))
        return bench_refuse(program, "--method '%s' is not a list of names", settings->method);
    return 0;
}

static struct exchange exchange = {BENCH_SETTINGS_DEFAULT, .axes = {2, {1, 0}}, .type = 3,
                                   .calls = 1};

/* clang-format off */
static const bench_option options[] = {
    BENCH_SHAPE_OPTION(&exchange.settings),
    {.name = "axes", .kind = BENCH_LIST, .value = &exchange.axes, .argument = "A:B",
     .help = "from whole along A to whole along B (1:0)", .least = 2, .most = 2, .separators = ":"},
    {.name = "type", .kind = BENCH_CHOICE, .value = &exchange.type, .words = types,
     .help = "of one element (c128)"},
    BENCH_METHOD_OPTION(&exchange.settings),
    {.name = "unchecked", .kind = BENCH_FLAG, .value = &exchange.unchecked,
     .help = "do not check the contents, which takes long for large arrays; wrong is -1"},
    {.name = "model", .kind = BENCH_FLAG, .value = &exchange.model,
     .help = "fit the communication model to each method and print what it predicts"},
    {.name = "calls", .kind = BENCH_NUMBER, .value = &exchange.calls, .argument = "N",
     .help = "exchanges in a row in each round; times are those of one (1)", .minimum = 1},
    BENCH_COMMON_OPTIONS(&exchange.settings)};
/* clang-format on */

static int run(const bench_program *program) {
    bench_methods methods;
    struct entry entries[BENCH_MAX_METHODS];
    int nentries, code = check_settings(program, &exchange, &methods);
    if (code != 0)
        return code;
    MPI_Comm_size(MPI_COMM_WORLD, &exchange.nranks);
    prepare_arrays(&exchange);
    code = make_plans(&exchange, &methods, entries, &nentries);
    if (code == 0)
        code = measure(&exchange, entries, nentries);
    for (int i = 0; i < nentries; i++)
        redist_plan_free(&entries[i].plan);
    release_arrays(&exchange);
    return code;
}

BENCH_MAIN("redist-bench", "times the exchange of a distributed array between two alignments",
           notes, NULL, run)
