/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file-bench: an array of complex doubles in blocks is written to a raw file and read again, by each method; beside it
 * the same bytes, written and read by one process with plain calls.
 */
#include "json.h"
#include "methods.h"
#include "options.h"
#include "redist_file.h"
#include "redist_process.h"
#include "timing.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_NDIMS = 4, NUMBERS = 2, PLAIN_BYTES = 1 << 20 };

struct problem {
    bench_settings settings;
    bench_list grid, order;
    bench_methods methods;
    const char *path;
    int flush, writers, buffer_mib;
    int ndims, rank, nranks;
    redist_field field;
    double *array;
    size_t elements;
    long long bytes; /* of the file */
};

/* One row of the table. */
struct entry {
    const char *name;
    struct problem *problem;
    int is_plain;
    long long wrong; /* numbers read */
};

/* ---------------------------------------------------------------- the array */

/* Places this rank's block, with the axes in memory as --order says. */
static void place_block(struct problem *problem) {
    int dims[MOST_NDIMS] = {0};
    redist_field *field = &problem->field;
    *field = REDIST_FIELD_DEFAULT;
    field->datatype = MPI_C_DOUBLE_COMPLEX;
    field->ndims = problem->ndims;
    for (int i = 0; i < problem->ndims; i++)
        dims[i] = i < problem->grid.count ? problem->grid.values[i] : 0;
    MPI_Dims_create(problem->nranks, problem->ndims, dims);
    problem->bytes = NUMBERS * (long long)sizeof(double);
    for (int i = problem->ndims - 1, rest = problem->rank; i >= 0; rest /= dims[i], i--) {
        field->sizes[i] = problem->settings.shape.values[i];
        bench_must(redist_decompose(field->sizes[i], dims[i], rest % dims[i], &field->count[i],
                                    &field->start[i]));
        problem->bytes *= field->sizes[i];
    }
    ptrdiff_t stride = 1;
    for (int i = problem->ndims - 1; i >= 0; i--) {
        int axis = problem->order.count > 0 ? problem->order.values[i] : i;
        field->stride[axis] = stride;
        stride *= field->count[axis];
    }
    problem->elements = (size_t)stride;
    problem->array = malloc(problem->elements * NUMBERS * sizeof(double) + 1);
    if (problem->array == NULL)
        bench_abort("file-bench: no memory for the array");
    field->array = problem->array;
}

static double value_of(const struct problem *problem, size_t i) {
    return (double)((i * 7 + (size_t)problem->rank * 1000003) % 1048573);
}

static void fill(const struct problem *problem) {
    for (size_t i = 0; i < problem->elements * NUMBERS; i++)
        problem->array[i] = value_of(problem, i);
}

static long long count_wrong(const struct problem *problem) {
    long long wrong = 0, all = 0;
    for (size_t i = 0; i < problem->elements * NUMBERS; i++)
        wrong += problem->array[i] != value_of(problem, i);
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* ---------------------------------------------------------------- plain calls of one process */

/* Writes or reads the bytes of the file, as dd does with blocks of a mebibyte. */
static void move_plain(struct problem *problem, int writes) {
    static char block[PLAIN_BYTES];
    if (problem->rank != 0)
        return;
    int file = open(problem->path, writes ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0666);
    int failed = file < 0;
    for (long long left = problem->bytes; left > 0 && !failed;) {
        size_t now = left < PLAIN_BYTES ? (size_t)left : PLAIN_BYTES;
        ssize_t moved = writes ? write(file, block, now) : read(file, block, now);
        failed = moved <= 0;
        left -= moved;
    }
    if (writes && problem->flush)
        failed |= fsync(file) != 0;
    if (failed || close(file) != 0)
        bench_abort("file-bench: %s cannot be %s", problem->path, writes ? "written" : "read");
}

/* Has the system forget the file's bytes, as far as they are on the disk. */
static void drop_cache(const struct problem *problem) {
    MPI_Barrier(MPI_COMM_WORLD);
    int file = problem->rank == 0 ? open(problem->path, O_RDONLY) : -1;
    if (file >= 0) {
        (void)posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        (void)close(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void prepare(void *context) {
    const struct entry *entry = context;
    if (entry->problem->rank == 0)
        (void)unlink(entry->problem->path);
}

/* ---------------------------------------------------------------- rows */

static redist_file_options options_of(const struct entry *entry) {
    redist_file_options options = REDIST_FILE_OPTIONS_DEFAULT;
    options.method = entry->name;
    options.flush = entry->problem->flush;
    options.writers_per_node = entry->problem->writers;
    options.buffer_bytes = (size_t)entry->problem->buffer_mib << 20;
    return options;
}

static void write_file(void *context) {
    struct entry *entry = context;
    const redist_file_options options = options_of(entry);
    if (entry->is_plain)
        move_plain(entry->problem, 1);
    else
        bench_must(redist_write(MPI_COMM_WORLD, entry->problem->path, 1, &entry->problem->field,
                                &options));
}

static void read_file(void *context) {
    struct entry *entry = context;
    const redist_file_options options = options_of(entry);
    drop_cache(entry->problem);
    if (entry->is_plain)
        move_plain(entry->problem, 0);
    else
        bench_must(
            redist_read(MPI_COMM_WORLD, entry->problem->path, 1, &entry->problem->field, &options));
}

/* Writes and reads once, and counts wrong numbers. */
static void check(struct entry *entry) {
    struct problem *problem = entry->problem;
    if (entry->is_plain)
        return;
    fill(problem);
    prepare(entry);
    write_file(entry);
    memset(problem->array, 0, problem->elements * NUMBERS * sizeof(double));
    read_file(entry);
    entry->wrong = count_wrong(problem);
}

static void print_json(const struct entry *entry, const bench_candidate *candidate) {
    const struct problem *problem = entry->problem;
    bench_json_begin();
    bench_json_text("benchmark", "file-bench");
    bench_json_machine();
    bench_json_text("method", entry->name);
    bench_json_integers("shape", problem->settings.shape.values, problem->ndims);
    bench_json_integer("ranks", problem->nranks);
    bench_json_integer("flush", problem->flush);
    bench_json_integer("bytes", problem->bytes);
    bench_json_number("write_ms_median", bench_median_ms(candidate, BENCH_FIRST_STEP));
    bench_json_number("read_ms_median", bench_median_ms(candidate, BENCH_SECOND_STEP));
    bench_json_integer("wrong", entry->wrong);
    if (problem->settings.samples)
        bench_json_samples("write_ms_samples", candidate, BENCH_FIRST_STEP);
    bench_json_end();
}

static double rate_of(const struct problem *problem, double ms) {
    return (double)problem->bytes / 1e6 / ms;
}

/* Prints the table; the row of plain calls is the first one. */
static void report(const struct problem *problem, const struct entry entries[],
                   const bench_candidate candidates[], int n) {
    if (problem->rank != 0)
        return;
    if (!problem->settings.json)
        printf("%lld bytes on %d ranks%s; GB/s are of the median\n"
               "method       write ms    GB/s  of plain     read ms    GB/s  of plain  wrong\n",
               problem->bytes, problem->nranks, problem->flush ? ", flushed" : "");
    double plain[2] = {bench_median_ms(&candidates[0], BENCH_FIRST_STEP),
                       bench_median_ms(&candidates[0], BENCH_SECOND_STEP)};
    for (int i = 0; i < n; i++) {
        double ms[2] = {bench_median_ms(&candidates[i], BENCH_FIRST_STEP),
                        bench_median_ms(&candidates[i], BENCH_SECOND_STEP)};
        if (problem->settings.json)
            print_json(&entries[i], &candidates[i]);
        else
            printf("%-10s %10.2f %7.3f %9.2f  %10.2f %7.3f %9.2f %6lld\n", entries[i].name, ms[0],
                   rate_of(problem, ms[0]), plain[0] / ms[0], ms[1], rate_of(problem, ms[1]),
                   plain[1] / ms[1], entries[i].wrong);
    }
}

/* Returns the exit code. */
static int measure(struct problem *problem) {
    static struct entry entries[BENCH_MAX_METHODS + 1];
    bench_candidate candidates[BENCH_MAX_METHODS + 1];
    long long wrong = 0;
    int n = 0;
    entries[n++] = (struct entry){.name = "plain", .problem = problem, .is_plain = 1};
    for (int i = 0; i < problem->methods.count; i++)
        entries[n++] = (struct entry){.name = problem->methods.names[i], .problem = problem};
    for (int i = 0; i < n; i++) {
        check(&entries[i]);
        wrong += entries[i].wrong;
        candidates[i] = (bench_candidate){.context = &entries[i],
                                          .prepare = prepare,
                                          .nsteps = 2,
                                          .steps = {write_file, read_file}};
    }
    bench_rounds(MPI_COMM_WORLD, candidates, n, problem->settings.warmup,
                 problem->settings.iterations);
    report(problem, entries, candidates, n);
    bench_forget(candidates, n);
    if (problem->rank == 0)
        (void)unlink(problem->path);
    return wrong != 0;
}

/* ---------------------------------------------------------------- command line */

static const char notes[] =
    "The rows: one process that writes and reads the same bytes, a mebibyte at a time; and each\n"
    "method. The file is new in each round, and read after the system was told to forget it,\n"
    "which it does for bytes that are on the disk: with --flush.\n"
    "\n"
    "exit code: 0; 1 if a number is wrong; 2 for a bad command line\n";

/* Checks what the command line gives; 0, or the exit code. */
static int refuse(const bench_program *program, const struct problem *problem) {
    int seen = 0;
    for (int i = 0; i < problem->order.count; i++)
        seen |= problem->order.values[i] < problem->ndims ? 1 << problem->order.values[i] : 0;
    if (problem->order.count > 0 && seen != (1 << problem->ndims) - 1)
        return bench_refuse(program, "--order is no order of %d axes", problem->ndims);
    return problem->methods.count > 0
               ? 0
               : bench_refuse(program, "--method %s is no list of names", problem->settings.method);
}

static int run_problem(const bench_program *program, struct problem *problem) {
    MPI_Comm_rank(MPI_COMM_WORLD, &problem->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &problem->nranks);
    problem->ndims = problem->settings.shape.count;
    if (!bench_read_methods(problem->settings.method, &problem->methods))
        problem->methods.count = 0;
    int code = bench_refuse_grid(program, &problem->grid, problem->ndims);
    if (code == 0)
        code = refuse(program, problem);
    if (code != 0)
        return code;
    place_block(problem);
    code = measure(problem);
    free(problem->array);
    return code;
}

static struct problem problem = {BENCH_SETTINGS_DEFAULT, .grid = {1, {0}},
                                 .path = "file-bench.raw"};

/* clang-format off */
static const bench_option options[] = {
    BENCH_SHAPE_UP_TO(&problem.settings, MOST_NDIMS),
    BENCH_GRID_UP_TO(&problem.grid, MOST_NDIMS, "blocks along each axis, 0 = chosen (0)"),
    {.name = "order", .kind = BENCH_LIST, .value = &problem.order, .argument = "A,A,...",
     .help = "axes in memory, the contiguous one last (0,1,2)", .least = 1, .most = MOST_NDIMS,
     .separators = ","},
    {.name = "method", .kind = BENCH_TEXT, .value = &problem.settings.method,
     .argument = "METHOD", .help = "names separated by commas: auto, stripes, mpi (auto)"},
    {.name = "path", .kind = BENCH_TEXT, .value = &problem.path, .argument = "FILE",
     .help = "the file, which is removed (file-bench.raw)"},
    {.name = "flush", .kind = BENCH_FLAG, .value = &problem.flush,
     .help = "writes end when the data are on the disk"},
    {.name = "writers", .kind = BENCH_NUMBER, .value = &problem.writers, .argument = "N",
     .help = "of each node, 0 = chosen (0)"},
    {.name = "buffer-mib", .kind = BENCH_NUMBER, .value = &problem.buffer_mib,
     .argument = "N", .help = "of each writer, 0 = the default (0)"},
    BENCH_ROUNDS_OPTIONS(&problem.settings),
    BENCH_JSON_OPTIONS(&problem.settings)};
/* clang-format on */

static int run(const bench_program *program) {
    return run_problem(program, &problem);
}

BENCH_MAIN("file-bench", "times an array written to a file and read", notes, NULL, run)
