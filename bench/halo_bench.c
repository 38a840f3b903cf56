/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * halo-bench: ghosts of blocks of doubles, filled and accumulated by each method; beside them MPI_Neighbor_alltoallw
 * over subarrays written by hand, and the copy of as many bytes within each rank by the library's loops.
 */
#include "json.h"
#include "methods.h"
#include "options.h"
#include "redist_halo.h"
#include "redist_process.h"
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_NDIMS = 4, MOST_REGIONS = 81 };

/* The blocks, and the array of this rank. */
struct problem {
    bench_settings settings;
    bench_list grid;
    bench_methods methods;
    int width, corners, open, calls, enqueued;
    int ndims, rank, nranks;
    const bench_space *space;
    redist_index sizes[MOST_NDIMS];
    redist_box box;
    redist_halo halo;
    MPI_Comm cartesian;
    double *array;
    size_t elements; /* of the array, */
    long long bytes; /* and of the ghosts, on the rank that has most of them */
};

/* Ghosts beside the block in one direction, -1, 0 or 1 along each axis, and the elements that the opposite neighbour
 * shows in its own. */
struct region {
    int neighbour, opposite; /* ranks, MPI_PROC_NULL beyond the end */
    int count[MOST_NDIMS];
    int ghosts[MOST_NDIMS], own[MOST_NDIMS]; /* the first one in the array */
};

/* One row of the table. */
struct entry {
    const char *name;
    const struct problem *problem;
    redist_plan *plan;
    MPI_Comm graph;
    int nsends, nreceives, ones[MOST_REGIONS]; /* weights, and counts, of the messages */
    MPI_Datatype sends[MOST_REGIONS], receives[MOST_REGIONS];
    int nregions;
    struct region regions[MOST_REGIONS];
    long long wrong; /* ghosts, after one execution */
};

/* ---------------------------------------------------------------- the blocks */

static void place_block(struct problem *problem) {
    int dims[MOST_NDIMS] = {0}, periods[MOST_NDIMS], at[MOST_NDIMS];
    for (int i = 0; i < problem->ndims; i++) {
        dims[i] = i < problem->grid.count ? problem->grid.values[i] : 0;
        periods[i] = !problem->open;
    }
    MPI_Dims_create(problem->nranks, problem->ndims, dims);
    MPI_Cart_create(MPI_COMM_WORLD, problem->ndims, dims, periods, 0, &problem->cartesian);
    MPI_Cart_coords(problem->cartesian, problem->rank, problem->ndims, at);
    problem->box = REDIST_BOX_DEFAULT;
    problem->halo = REDIST_HALO_DEFAULT;
    problem->halo.corners = problem->corners;
    problem->elements = 1;
    for (int i = 0; i < problem->ndims; i++) {
        redist_box *box = &problem->box;
        problem->sizes[i] = problem->settings.shape.values[i];
        bench_must(
            redist_decompose(problem->sizes[i], dims[i], at[i], &box->count[i], &box->start[i]));
        problem->halo.low[i] = problem->halo.high[i] = problem->width;
        problem->halo.periodic[i] = !problem->open;
        box->offset[i] = problem->width;
        box->extent[i] = box->count[i] + 2 * problem->width;
        problem->elements *= (size_t)box->extent[i];
    }
}

/* Returns the rank in a direction from this one. */
static int neighbour_at(const struct problem *problem, const int direction[], int sign) {
    int dims[MOST_NDIMS], periods[MOST_NDIMS], at[MOST_NDIMS], rank;
    MPI_Cart_get(problem->cartesian, problem->ndims, dims, periods, at);
    for (int i = 0; i < problem->ndims; i++) {
        at[i] += sign * direction[i];
        if (!periods[i] && (at[i] < 0 || at[i] >= dims[i]))
            return MPI_PROC_NULL;
    }
    MPI_Cart_rank(problem->cartesian, at, &rank);
    return rank;
}

static struct region region_at(const struct problem *problem, const int direction[]) {
    struct region region = {.neighbour = neighbour_at(problem, direction, 1),
                            .opposite = neighbour_at(problem, direction, -1)};
    for (int i = 0; i < problem->ndims; i++) {
        int width = problem->width, count = (int)problem->box.count[i];
        region.count[i] = direction[i] == 0 ? count : width;
        region.ghosts[i] = direction[i] < 0 ? 0 : direction[i] > 0 ? width + count : width;
        region.own[i] = direction[i] < 0 ? count : width;
    }
    return region;
}

/* Lists the directions of faces, and of corners if there are some. */
static int list_regions(const struct problem *problem, struct region regions[]) {
    int all = 1, n = 0;
    for (int i = 0; i < problem->ndims; i++)
        all *= 3;
    for (int number = 0; number < all; number++) {
        int direction[MOST_NDIMS], axes = 0, rest = number;
        for (int i = problem->ndims - 1; i >= 0; i--, rest /= 3) {
            direction[i] = rest % 3 - 1;
            axes += direction[i] != 0;
        }
        if (axes == 1 || (axes > 1 && problem->corners))
            regions[n++] = region_at(problem, direction);
    }
    return n;
}

static long long ghost_bytes(const struct problem *problem) {
    struct region regions[MOST_REGIONS];
    long long bytes = 0;
    for (int k = list_regions(problem, regions) - 1; k >= 0; k--) {
        long long elements = regions[k].neighbour != MPI_PROC_NULL;
        for (int i = 0; i < problem->ndims; i++)
            elements *= regions[k].count[i];
        bytes += elements * (long long)sizeof(double);
    }
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    return bytes;
}

/* ---------------------------------------------------------------- MPI by hand, and copies */

static MPI_Datatype subarray(const struct problem *problem, const struct region *region,
                             const int start[]) {
    MPI_Datatype type;
    int extent[MOST_NDIMS];
    for (int i = 0; i < problem->ndims; i++)
        extent[i] = (int)problem->box.extent[i];
    MPI_Type_create_subarray(problem->ndims, extent, region->count, start, MPI_ORDER_C, MPI_DOUBLE,
                             &type);
    MPI_Type_commit(&type);
    return type;
}

/* Makes a graph of the neighbours: several messages between the same two ranks match in the order of the regions, which
 * a Cartesian communicator with two ranks along an axis leaves to the MPI library. */
static void open_graph(struct entry *entry) {
    int from[MOST_REGIONS], to[MOST_REGIONS];
    for (int i = 0; i < entry->nregions; i++) {
        const struct region *region = &entry->regions[i];
        entry->ones[i] = 1;
        if (region->neighbour != MPI_PROC_NULL) {
            from[entry->nreceives] = region->neighbour;
            entry->receives[entry->nreceives++] = subarray(entry->problem, region, region->ghosts);
        }
        if (region->opposite != MPI_PROC_NULL) {
            to[entry->nsends] = region->opposite;
            entry->sends[entry->nsends++] = subarray(entry->problem, region, region->own);
        }
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, entry->nreceives, from, entry->ones,
                                   entry->nsends, to, entry->ones, MPI_INFO_NULL, 0, &entry->graph);
}

static void exchange_by_hand(void *context) {
    const struct entry *entry = context;
    static const MPI_Aint zeros[MOST_REGIONS];
    double *array = entry->problem->array;
    for (int call = 0; call < entry->problem->calls; call++)
        MPI_Neighbor_alltoallw(array, entry->ones, zeros, entry->sends, array, entry->ones, zeros,
                               entry->receives, entry->graph);
}

static void copy_region(const struct problem *problem, const struct region *region) {
    redist_index count[MOST_NDIMS];
    ptrdiff_t stride[MOST_NDIMS], step = sizeof(double), from = 0, to = 0;
    for (int i = problem->ndims - 1; i >= 0; i--) {
        count[i] = region->count[i];
        stride[i] = step;
        from += region->own[i] * step;
        to += region->ghosts[i] * step;
        step *= (ptrdiff_t)problem->box.extent[i];
    }
    bench_must(redist_copy_box_in(problem->settings.space ? REDIST_SPACE_CUDA : REDIST_SPACE_HOST,
                                  NULL, problem->ndims, count, sizeof(double),
                                  (char *)problem->array + from, stride,
                                  (char *)problem->array + to, stride));
}

static void copy_all(void *context) {
    const struct entry *entry = context;
    for (int call = 0; call < entry->problem->calls; call++)
        for (int i = 0; i < entry->nregions; i++)
            if (entry->regions[i].neighbour != MPI_PROC_NULL)
                copy_region(entry->problem, &entry->regions[i]);
    entry->problem->space->synchronise();
}

/* ---------------------------------------------------------------- plans */

static void execute(void *context, int direction) {
    const struct entry *entry = context;
    for (int call = 0; call < entry->problem->calls; call++)
        bench_must(redist_plan_execute(entry->plan, direction));
    if (entry->problem->enqueued)
        entry->problem->space->synchronise();
}

static void fill(void *context) {
    execute(context, REDIST_FILL);
}

static void accumulate(void *context) {
    execute(context, REDIST_ACCUMULATE);
}

/* Returns whether the method serves the ghosts; one that was named has to. */
static int open_plan(struct entry *entry) {
    const struct problem *problem = entry->problem;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = entry->name;
    options.space = problem->settings.space ? REDIST_SPACE_CUDA : REDIST_SPACE_HOST;
    options.asynchronous = problem->enqueued;
    options.overlap = REDIST_OVERLAP_ADD;
    int code =
        redist_plan_halo(MPI_COMM_WORLD, MPI_DOUBLE, problem->ndims, problem->sizes, &problem->box,
                         problem->array, &problem->halo, &options, &entry->plan);
    if (code != REDIST_OK && !(problem->methods.all && code == REDIST_ERR_METHOD))
        bench_must(code);
    return code == REDIST_OK;
}

static const char *chosen(const struct entry *entry) {
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    if (entry->plan == NULL)
        return "";
    bench_must(redist_plan_get_info(entry->plan, &info));
    return info.method;
}

/* ---------------------------------------------------------------- the check */

/* Returns an element's value in the global array; -1 = nobody's. */
static double value_at(const struct problem *problem, const redist_index index[]) {
    double value = 0;
    int outside = 0;
    for (int i = 0; i < problem->ndims; i++) {
        redist_index size = problem->sizes[i], at = problem->box.start[i] + index[i];
        redist_index local = index[i];
        outside += local < 0 || local >= problem->box.count[i];
        if (problem->open && (at < 0 || at >= size))
            return -1;
        value = value * (double)size + (double)((at + size) % size);
    }
    return outside < 2 || problem->corners ? value : -1;
}

/* Sets the own elements, and spoils the ghosts; or counts the elements that are not as they should be. */
static long long visit(const struct problem *problem, double values[], int sets) {
    long long wrong = 0;
    for (size_t k = 0; k < problem->elements; k++) {
        redist_index index[MOST_NDIMS];
        size_t rest = k;
        int own = 1;
        for (int i = problem->ndims - 1; i >= 0; i--) {
            size_t extent = (size_t)problem->box.extent[i];
            index[i] = (redist_index)(rest % extent) - problem->width;
            rest /= extent;
            own &= index[i] >= 0 && index[i] < problem->box.count[i];
        }
        if (sets)
            values[k] = own ? value_at(problem, index) : -1;
        else
            wrong += values[k] != value_at(problem, index);
    }
    return wrong;
}

static void check(struct entry *entry, void (*run)(void *context)) {
    const struct problem *problem = entry->problem;
    double *values = malloc(problem->elements * sizeof *values + 1);
    if (values == NULL)
        bench_abort("halo-bench: no memory for the check");
    (void)visit(problem, values, 1);
    problem->space->copy(problem->array, values, problem->elements * sizeof *values);
    run(entry);
    problem->space->copy(values, problem->array, problem->elements * sizeof *values);
    entry->wrong = visit(problem, values, 0);
    MPI_Allreduce(MPI_IN_PLACE, &entry->wrong, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    free(values);
}

/* Sums of zeros remain zeros, however many rounds there are. */
static void clear(const struct problem *problem) {
    double *zeros = calloc(problem->elements + 1, sizeof *zeros);
    if (zeros == NULL)
        bench_abort("halo-bench: no memory for zeros");
    problem->space->copy(problem->array, zeros, problem->elements * sizeof *zeros);
    free(zeros);
}

/* ---------------------------------------------------------------- measuring */

static double median_ms(const struct problem *problem, const bench_candidate *candidate,
                        enum bench_series series) {
    return bench_median_ms(candidate, series) / problem->calls;
}

static void print_heading(const struct problem *problem) {
    int dims[MOST_NDIMS], periods[MOST_NDIMS], at[MOST_NDIMS];
    const bench_settings *settings = &problem->settings;
    MPI_Cart_get(problem->cartesian, problem->ndims, dims, periods, at);
    for (int i = 0; i < problem->ndims; i++)
        printf("%s%d", i > 0 ? " x " : "", settings->shape.values[i]);
    printf(" doubles in blocks of");
    for (int i = 0; i < problem->ndims; i++)
        printf("%s%d", i > 0 ? " x " : " ", dims[i]);
    printf(" ranks, %d ghosts on each side, %s, %s, %s memory (%s), %d rounds after %d to warm up, "
           "%d a round%s\n%.3f MB of ghosts on the rank with most\n\n",
           problem->width, problem->corners ? "with corners" : "faces",
           problem->open ? "not periodic" : "periodic", problem->space->name,
           bench_memories[settings->memory], settings->iterations, settings->warmup, problem->calls,
           problem->enqueued ? ", enqueued" : "", 1e-6 * (double)problem->bytes);
    printf("%-22s %10s %10s %10s %10s %10s %7s  %s\n", "", "fill ms", "of copies", "of MPI",
           "add ms", "of copies", "wrong", "chosen");
}

/* The fill of the copies, then that of MPI by hand, if there is one. */
struct beside {
    double copies, mpi;
};

static void print_row(const struct entry *entry, const bench_candidate *candidate,
                      const struct beside *beside) {
    double filled = median_ms(entry->problem, candidate, BENCH_FIRST_STEP);
    printf("%-22s %10.4f %10.2f", entry->name, filled, filled / beside->copies);
    if (beside->mpi > 0)
        printf(" %10.2f", filled / beside->mpi);
    else
        printf(" %10s", "");
    if (candidate->nsteps > 1) {
        double added = median_ms(entry->problem, candidate, BENCH_SECOND_STEP);
        printf(" %10.4f %10.2f", added, added / beside->copies);
    } else
        printf(" %10s %10s", "", "");
    printf(" %7lld  %s\n", entry->wrong, chosen(entry));
}

static void print_json(const struct entry *entry, const bench_candidate *candidate,
                       const struct beside *beside) {
    const struct problem *problem = entry->problem;
    bench_json_begin();
    bench_json_text("benchmark", "halo-bench");
    bench_json_machine();
    bench_json_text("method", entry->name);
    bench_json_text("chosen", chosen(entry));
    bench_json_integers("shape", problem->settings.shape.values, problem->ndims);
    bench_json_integer("width", problem->width);
    bench_json_integer("corners", problem->corners);
    bench_json_integer("periodic", !problem->open);
    bench_json_text("space", problem->space->name);
    bench_json_text("memory", bench_memories[problem->settings.memory]);
    bench_json_integer("ranks", problem->nranks);
    bench_json_integer("iters", problem->settings.iterations);
    bench_json_integer("calls", problem->calls);
    bench_json_integer("enqueued", problem->enqueued);
    bench_json_integer("bytes", problem->bytes);
    bench_json_number("fill_ms_median", median_ms(problem, candidate, BENCH_FIRST_STEP));
    if (candidate->nsteps > 1)
        bench_json_number("add_ms_median", median_ms(problem, candidate, BENCH_SECOND_STEP));
    bench_json_number("copies_ms_median", beside->copies);
    if (beside->mpi > 0)
        bench_json_number("mpi_ms_median", beside->mpi);
    bench_json_integer("wrong", entry->wrong);
    if (problem->settings.samples)
        bench_json_samples("fill_ms_samples", candidate, BENCH_FIRST_STEP);
    bench_json_end();
}

/* Copies are the first entry; MPI by hand, in host memory only, is the second one. */
static void report(const struct problem *problem, const struct entry entries[],
                   const bench_candidate candidates[], int n) {
    const struct beside beside = {
        median_ms(problem, &candidates[0], BENCH_FIRST_STEP),
        entries[1].nregions > 0 ? median_ms(problem, &candidates[1], BENCH_FIRST_STEP) : 0};
    if (problem->rank != 0)
        return;
    if (!problem->settings.json)
        print_heading(problem);
    for (int i = 0; i < n; i++)
        (problem->settings.json ? print_json : print_row)(&entries[i], &candidates[i], &beside);
}

static void close_entry(struct entry *entry) {
    for (int i = 0; i < entry->nsends; i++)
        MPI_Type_free(&entry->sends[i]);
    for (int i = 0; i < entry->nreceives; i++)
        MPI_Type_free(&entry->receives[i]);
    if (entry->graph != MPI_COMM_NULL)
        MPI_Comm_free(&entry->graph);
    bench_must(redist_plan_free(&entry->plan));
}

/* Makes the rows; returns their number. */
static int open_entries(const struct problem *problem, struct entry entries[]) {
    int n = 0;
    const struct entry empty = {.problem = problem, .graph = MPI_COMM_NULL};
    entries[n] = empty;
    entries[n].name = "copies";
    entries[n].nregions = list_regions(problem, entries[n].regions);
    n++;
    if (problem->settings.space == 0) {
        entries[n] = entries[0];
        entries[n].name = "MPI_Neighbor_alltoallw";
        open_graph(&entries[n]);
        check(&entries[n], exchange_by_hand);
        n++;
    }
    for (int i = 0; i < problem->methods.count; i++) {
        entries[n] = empty;
        entries[n].name = problem->methods.names[i];
        if (!open_plan(&entries[n]))
            continue;
        check(&entries[n], fill);
        n++;
    }
    return n;
}

/* Returns the exit code. */
static int measure(struct problem *problem) {
    static struct entry entries[BENCH_MAX_METHODS + 2];
    bench_candidate candidates[BENCH_MAX_METHODS + 2];
    long long wrong = 0;
    int n = open_entries(problem, entries);
    clear(problem);
    for (int i = 0; i < n; i++) {
        candidates[i] = (bench_candidate){.context = &entries[i], .nsteps = 1, .steps = {copy_all}};
        if (entries[i].plan != NULL)
            candidates[i] =
                (bench_candidate){.context = &entries[i], .nsteps = 2, .steps = {fill, accumulate}};
        else if (entries[i].graph != MPI_COMM_NULL)
            candidates[i].steps[0] = exchange_by_hand;
        wrong += entries[i].wrong;
    }
    bench_rounds(MPI_COMM_WORLD, candidates, n, problem->settings.warmup,
                 problem->settings.iterations);
    report(problem, entries, candidates, n);
    bench_forget(candidates, n);
    while (n > 0)
        close_entry(&entries[--n]);
    return wrong != 0;
}

/* ---------------------------------------------------------------- command line */

static const char notes[] =
    "The rows: copies of as many bytes within each rank, by the library's loops, all ranks at "
    "once;\n"
    "MPI_Neighbor_alltoallw over subarrays, on a graph of the neighbours, in host memory; and "
    "each\n"
    "method, by a plan that fills and accumulates. Times are medians; `wrong` counts ghosts after\n"
    "one execution that is not timed.\n"
    "\n"
    "exit code: 0; 1 if a ghost is wrong; 2 for a bad command line\n";

/* Checks what the command line gives; 0, or the exit code. */
static int refuse(const bench_program *program, const struct problem *problem) {
    if (problem->methods.count == 0)
        return bench_refuse(program, "--method %s is no list of names", problem->settings.method);
    for (int i = 0; i < problem->methods.count; i++)
        if (!redist_method_exists(problem->methods.names[i]))
            return bench_refuse(program, "--method %s is not known", problem->methods.names[i]);
    return 0;
}

/* The same for the width, once the blocks are known. */
static int refuse_width(const bench_program *program, const struct problem *problem) {
    int thin = 0;
    for (int i = 0; i < problem->ndims; i++)
        thin |= problem->box.count[i] < problem->width;
    MPI_Allreduce(MPI_IN_PLACE, &thin, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return thin ? bench_refuse(program, "--width %d is wider than a block", problem->width) : 0;
}

static int run_problem(const bench_program *program, struct problem *problem) {
    MPI_Comm_rank(MPI_COMM_WORLD, &problem->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &problem->nranks);
    problem->space = bench_space_at(problem->settings.space);
    problem->ndims = problem->settings.shape.count;
    if (!bench_read_methods(problem->settings.method, &problem->methods))
        problem->methods.count = 0;
    int code = bench_refuse_grid(program, &problem->grid, problem->ndims);
    if (code == 0)
        code = refuse(program, problem);
    if (code != 0)
        return code;
    place_block(problem);
    code = refuse_width(program, problem);
    if (code == 0) {
        int mappable = bench_mappable(problem->settings.memory, 0);
        size_t bytes = problem->elements * sizeof(double);
        problem->array = problem->space->allocate(MPI_COMM_WORLD, bytes, mappable);
        problem->bytes = ghost_bytes(problem);
        code = measure(problem);
        problem->space->release(problem->array, mappable);
    }
    MPI_Comm_free(&problem->cartesian);
    return code;
}

static struct problem problem = {BENCH_SETTINGS_DEFAULT, .grid = {1, {0}}, .width = 2, .calls = 1};

/* clang-format off */
static const bench_option options[] = {
    BENCH_SHAPE_UP_TO(&problem.settings, MOST_NDIMS),
    BENCH_GRID_UP_TO(&problem.grid, MOST_NDIMS, "blocks along each axis, 0 = chosen (0)"),
    {.name = "width", .kind = BENCH_NUMBER, .value = &problem.width, .argument = "N",
     .help = "ghosts on each side of each axis (2)", .minimum = 1},
    {.name = "corners", .kind = BENCH_FLAG, .value = &problem.corners,
     .help = "with edges and corners, not only faces"},
    {.name = "open", .kind = BENCH_FLAG, .value = &problem.open, .help = "axes are not periodic"},
    {.name = "calls", .kind = BENCH_NUMBER, .value = &problem.calls, .argument = "N",
     .help = "executions a round (1)", .minimum = 1},
    {.name = "enqueued", .kind = BENCH_FLAG, .value = &problem.enqueued,
     .help = "on devices: options.asynchronous, waited for once a round"},
    BENCH_METHOD_OPTION(&problem.settings),
    BENCH_COMMON_OPTIONS(&problem.settings)};
/* clang-format on */

static int run(const bench_program *program) {
    return run_problem(program, &problem);
}

BENCH_MAIN("halo-bench", "times ghosts filled and accumulated", notes, &problem.settings.space, run)
