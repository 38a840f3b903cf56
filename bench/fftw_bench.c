/* SPDX-License-Identifier: BSD-3-Clause */
/* fftw-bench: pairs of plans of FFTW's MPI interface, on this project's libraries and on FFTW's own, in one run. */
#include "json.h"
#include "options.h"
#include "timing.h"

#include <dlfcn.h>
#include <fftw3-mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { C2C, R2C, TRANSPOSE };

struct request {
    bench_settings settings;
    int ndims;
    ptrdiff_t n[REDIST_MAX_NDIMS];
    int kind, precision, effort, transposed, in_place;
};

/* One library at work. */
struct run {
    const struct request *request;
    void *library; /* FFTW's own; NULL = this project's */
    void *arrays[2];
    void *plans[2];
    double plan_ms;
};

static const char *const kinds[] = {"c2c", "r2c", "transpose", NULL};
static const char *const planners[] = {"estimate", "measure", "patient", NULL};
static const unsigned efforts[] = {FFTW_ESTIMATE, FFTW_MEASURE, FFTW_PATIENT};

static void *find(const struct run *run, void *own, const char *name) {
    return run->library != NULL ? dlsym(run->library, name) : own;
}

#define TEXT_OF(name) #name
#define TEXT(name)    TEXT_OF(name)

#define FFTW(name) fftw_##name
#define REAL       double
#include "fftw_interface.h"
#undef FFTW
#undef REAL
#define FFTW(name) fftwf_##name
#define REAL       float
#include "fftw_interface.h"
#undef FFTW
#undef REAL

static const struct functions {
    const char *library;
    void (*allocate)(struct run *run, size_t reals);
    void (*plan)(struct run *run);
    void (*execute)(struct run *run, int direction);
    void (*release)(struct run *run);
    int (*is_here)(const struct run *run);
} functions[] = {{"libfftw3_mpi.so.3", fftw_bench_allocate, fftw_bench_plan, fftw_bench_execute,
                  fftw_bench_release, fftw_bench_is_here},
                 {"libfftw3f_mpi.so.3", fftwf_bench_allocate, fftwf_bench_plan, fftwf_bench_execute,
                  fftwf_bench_release, fftwf_bench_is_here}};

static const struct functions *functions_of(const struct run *run) {
    return &functions[run->request->precision];
}

/* ---------------------------------------------------------------- runs */

static size_t count_reals(const struct request *request) {
    ptrdiff_t n[REDIST_MAX_NDIMS], count[2], start[2];
    if (request->ndims == 1)
        return 2 * (size_t)fftw_mpi_local_size_1d(request->n[0], MPI_COMM_WORLD, FFTW_FORWARD,
                                                  request->transposed ? FFTW_MPI_SCRAMBLED_OUT : 0,
                                                  &count[0], &start[0], &count[1], &start[1]);
    memcpy(n, request->n, sizeof n);
    if (request->kind == R2C)
        n[request->ndims - 1] = n[request->ndims - 1] / 2 + 1;
    ptrdiff_t all = fftw_mpi_local_size_transposed(request->ndims, n, MPI_COMM_WORLD, &count[0],
                                                   &start[0], &count[1], &start[1]);
    return (size_t)all * (request->kind == TRANSPOSE ? 1 : 2);
}

static void begin(struct run *run, const struct request *request, int fftw) {
    *run = (struct run){.request = request};
    run->library = fftw ? dlopen(functions_of(run)->library, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (fftw && run->library == NULL)
        bench_abort("%s", dlerror());
    functions_of(run)->allocate(run, count_reals(request));
    double before = MPI_Wtime();
    functions_of(run)->plan(run);
    run->plan_ms = 1e3 * (MPI_Wtime() - before);
    if (run->plans[0] == NULL || run->plans[1] == NULL)
        bench_abort("there is no such plan");
}

static void forward(void *context) {
    functions_of(context)->execute(context, 0);
}

static void backward(void *context) {
    functions_of(context)->execute(context, 1);
}

static void print_json(const struct run *run, const bench_candidate *candidate) {
    const struct request *request = run->request;
    bench_json_begin();
    bench_json_text("bench", "fftw-interface");
    bench_json_text("library", run->library != NULL ? "fftw-mpi" : "fftnd");
    bench_json_text("kind", kinds[request->kind]);
    bench_json_text("precision", request->precision ? "float" : "double");
    bench_json_text("ordering", !request->transposed ? "natural"
                                : request->ndims > 1 ? "transposed"
                                                     : "scrambled");
    bench_json_integer("in_place", request->in_place);
    bench_json_text("effort", planners[request->effort]);
    bench_json_integer("here", functions_of(run)->is_here(run));
    bench_json_number("plan_ms", run->plan_ms);
    bench_json_number("median_ms", bench_median_ms(candidate, BENCH_WHOLE));
    bench_json_integers("shape", request->settings.shape.values, request->ndims);
    if (request->settings.samples)
        bench_json_samples("pair_ms", candidate, BENCH_WHOLE);
    bench_json_end();
}

static void print(const struct run runs[2], bench_candidate candidates[2]) {
    static const char *const names[] = {"here", "FFTW-MPI"};
    for (int i = 0; i < 2; i++)
        if (runs[i].request->settings.json)
            print_json(&runs[i], &candidates[i]);
        else
            printf("%-9s pair %9.3f ms, least %9.3f ms, planned in %9.1f ms%s\n", names[i],
                   bench_median_ms(&candidates[i], BENCH_WHOLE),
                   bench_min_ms(&candidates[i], BENCH_WHOLE), runs[i].plan_ms,
                   i == 0 && !functions_of(&runs[i])->is_here(&runs[i]) ? " (plans of FFTW)" : "");
    if (!runs[0].request->settings.json)
        printf("ratio     %.3f\n", bench_median_ms(&candidates[0], BENCH_WHOLE) /
                                       bench_median_ms(&candidates[1], BENCH_WHOLE));
}

static void measure(const struct request *request) {
    struct run runs[2];
    bench_candidate candidates[2];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fftw_mpi_init();
    fftwf_mpi_init();
    for (int i = 0; i < 2; i++) {
        begin(&runs[i], request, i);
        candidates[i] =
            (bench_candidate){.context = &runs[i], .nsteps = 2, .steps = {forward, backward}};
    }
    bench_rounds(MPI_COMM_WORLD, candidates, 2, request->settings.warmup,
                 request->settings.iterations);
    if (rank == 0)
        print(runs, candidates);
    bench_forget(candidates, 2);
    for (int i = 0; i < 2; i++)
        functions_of(&runs[i])->release(&runs[i]);
}

/* ---------------------------------------------------------------- command line */

static struct request request = {BENCH_SETTINGS_DEFAULT, .kind = R2C, .effort = 1};
static const char *const precisions[] = {"double", "float", NULL};

/* clang-format off */
static const bench_option options[] = {
    BENCH_SHAPE_OPTION(&request.settings),
    {.name = "kind", .kind = BENCH_CHOICE, .value = &request.kind, .words = kinds,
     .help = "transforms, or transpositions of a matrix (r2c)"},
    {.name = "precision", .kind = BENCH_CHOICE, .value = &request.precision, .words = precisions,
     .help = "of the numbers (double)"},
    {.name = "effort", .kind = BENCH_CHOICE, .value = &request.effort, .words = planners,
     .help = "of planning (measure)"},
    {.name = "transposed", .kind = BENCH_FLAG, .value = &request.transposed,
     .help = "FFTW_MPI_TRANSPOSED_OUT, and _IN on the way back; of one axis FFTW_MPI_SCRAMBLED_OUT and _IN"},
    {.name = "in-place", .kind = BENCH_FLAG, .value = &request.in_place, .help = "one array"},
    BENCH_ROUNDS_OPTIONS(&request.settings),
    BENCH_JSON_OPTIONS(&request.settings)};
/* clang-format on */

static int run(const bench_program *program) {
    (void)program;
    request.ndims = request.settings.shape.count;
    for (int axis = 0; axis < request.ndims; axis++)
        request.n[axis] = request.settings.shape.values[axis];
    if (request.kind == TRANSPOSE && request.ndims != 2)
        bench_abort("a matrix has two axes: --shape N,N");
    if (request.kind != C2C && request.ndims == 1)
        bench_abort("one axis is for --kind c2c");
    measure(&request);
    return 0;
}

BENCH_MAIN("fftw-bench",
           "Times pairs of plans made through FFTW's MPI interface: on libfftnd, and on FFTW's own "
           "library.",
           "", NULL, run)
