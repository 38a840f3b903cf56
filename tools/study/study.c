/* SPDX-License-Identifier: BSD-3-Clause */
/* fftnd-study: the study of a job; each configuration is validated, warmed up and timed (Egger, chapter 5). */
#include "job.h"
#include "laplacian.h"
#include "placement.h"
#include "predictions.h"
#include "progress.h"
#include "redist_support.h"
#include "rows.h"
#include "sweep.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 512, KEY_COLUMNS = 15 };

/* The first are the key of a configuration; docs/study.md explains all. */
static const char heading[] =
    "job,ranks,nodes,size,decomposition,grid,layout,space,staging,fusion,method,direction,kind,"
    "precision,threads,run,chosen_method,chosen_grid,total_ms,transform_ms,pack_ms,"
    "first_message_ms,communicate_ms,unpack_ms,own_part_ms,rest_ms,validation_error,predicted_ms";

/* Times of a run, in the order of the columns. */
enum { TOTAL, TRANSFORM, PACK, FIRST_MESSAGE, COMMUNICATE, UNPACK, OWN_PART, REST, TIMES };

struct study {
    const study_job *job;
    study_sweep sweep;
    study_rows rows;
    study_progress progress;
    study_predictions predictions;
    int rank, nranks, nodes, failures;
    double end; /* no configuration begins after that time of MPI_Wtime; 0 = it does */
    int stopped;
};

/* One configuration at work. */
struct trial {
    const struct study *study;
    const study_config *config;
    fftnd_plan *plan;
    const bench_space *space;
    study_laplacian laplacian;
    void *arrays[2], *host;
    double error, predicted;
};

/* ---------------------------------------------------------------- words of a configuration */

static const char *word(const study_config *config, enum study_choice choice) {
    return study_choice_words[choice][config->choice[choice]];
}

static void format_key(const struct study *study, const study_config *config, int direction,
                       char key[STUDY_KEY_BYTES]) {
    char size[TEXT_BYTES], grid[TEXT_BYTES];
    snprintf(key, STUDY_KEY_BYTES, "%s,%d,%d,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%d", study->job->name,
             study->nranks, study->nodes,
             study_times(study->job->ndims, config->sizes, sizeof size, size),
             study_decomposition(config),
             study_times(config->grid.count, config->grid.values, sizeof grid, grid),
             word(config, STUDY_LAYOUT), word(config, STUDY_SPACE),
             config->without_mpi ? "none" : word(config, STUDY_STAGING), word(config, STUDY_FUSION),
             config->method, study_choice_words[STUDY_DIRECTION][direction],
             word(config, STUDY_KIND), word(config, STUDY_PRECISION), study->job->threads);
}

/* Points: how long a configuration takes, about. */
static double work(const struct study *study, const study_config *config) {
    double points = 1.0;
    for (int axis = 0; axis < study->job->ndims; axis++)
        points *= config->sizes[axis];
    return points;
}

/* ---------------------------------------------------------------- plan and arrays */

/* The one place where a layout becomes an option of the library. */
static void set_layout(int layout, fftnd_options *options) {
    static const enum fftnd_local_transpose local_transpose[] = {
        FFTND_LOCAL_TRANSPOSE_NEVER, FFTND_LOCAL_TRANSPOSE_ALWAYS, FFTND_LOCAL_TRANSPOSE_AUTO};
    options->local_transpose = local_transpose[layout];
}

static fftnd_options plan_options(const struct study *study, const study_config *config) {
    static const enum fftnd_r2r r2r[REDIST_MAX_NDIMS] = {
        FFTND_DCT2, FFTND_DCT2, FFTND_DCT2, FFTND_DCT2, FFTND_DCT2, FFTND_DCT2,
        FFTND_DCT2, FFTND_DCT2, FFTND_DCT2, FFTND_DCT2, FFTND_DCT2, FFTND_DCT2,
        FFTND_DCT2, FFTND_DCT2, FFTND_DCT2, FFTND_DCT2};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.grid_ndims = config->grid.count;
    options.grid = config->grid.values;
    options.order = config->order;
    options.effort = (enum fftnd_effort)study->job->effort;
    options.plan_seconds = study->job->plan_seconds;
    options.scaling = FFTND_SCALE_NONE;
    options.threads = study->job->threads;
    options.method = config->method;
    options.fusion = (enum fftnd_fusion)config->choice[STUDY_FUSION];
    options.space = config->choice[STUDY_SPACE] ? REDIST_SPACE_CUDA : REDIST_SPACE_HOST;
    options.staging = (enum redist_staging)config->choice[STUDY_STAGING];
    options.r2r = r2r;
    options.phases = 1;
    set_layout(config->choice[STUDY_LAYOUT], &options);
    return options;
}

static int create_plan(struct trial *trial) {
    const struct study *study = trial->study;
    const study_config *config = trial->config;
    fftnd_options options = plan_options(study, config);
    return fftnd_plan_create(MPI_COMM_WORLD, study->job->ndims, config->extents,
                             (enum fftnd_kind)config->choice[STUDY_KIND],
                             (enum fftnd_precision)config->choice[STUDY_PRECISION], &options,
                             &trial->plan);
}

/* A size that does not fit in memory is passed over on all ranks; returns redist's code. */
static int create_arrays(struct trial *trial) {
    enum redist_space space =
        trial->config->choice[STUDY_SPACE] ? REDIST_SPACE_CUDA : REDIST_SPACE_HOST;
    study_laplacian *laplacian = &trial->laplacian;
    size_t most = 1;
    int code = REDIST_OK;
    *laplacian = (study_laplacian){
        .kind = (enum fftnd_kind)trial->config->choice[STUDY_KIND],
        .precision = (enum fftnd_precision)trial->config->choice[STUDY_PRECISION]};
    for (int side = 0; side < 2 && code == REDIST_OK; side++) {
        fftnd_layout *layout = &laplacian->layout[side];
        bench_must(fftnd_layout_init(layout, sizeof *layout));
        bench_must(fftnd_plan_layout(trial->plan, (enum fftnd_side)side, layout));
        code = redist_alloc_in(MPI_COMM_WORLD, space, layout->bytes, &trial->arrays[side]);
        most = layout->bytes > most ? layout->bytes : most;
    }
    if (code != REDIST_OK)
        return code;
    trial->host = calloc(1, most);
    if (!trial->host)
        code = redist_fail_in("fftnd-study", REDIST_ERR_MEMORY, "no memory for %zu bytes", most);
    code = redist_agree(MPI_COMM_WORLD, code);
    if (code == REDIST_OK)
        study_laplacian_begin(laplacian);
    return code;
}

static void release(struct trial *trial) {
    study_laplacian_end(&trial->laplacian);
    free(trial->host);
    for (int side = 0; side < 2; side++)
        bench_must(redist_free(&trial->arrays[side]));
    bench_must(fftnd_plan_free(&trial->plan));
}

static void execute(const struct trial *trial, int direction) {
    if (direction == REDIST_FORWARD)
        bench_must(fftnd_forward(trial->plan, trial->arrays[0], trial->arrays[1]));
    else
        bench_must(fftnd_backward(trial->plan, trial->arrays[1], trial->arrays[0]));
    trial->space->synchronise();
}

static void copy(const struct trial *trial, int side, int to_host) {
    void *array = trial->arrays[side];
    trial->space->copy(to_host ? trial->host : array, to_host ? array : trial->host,
                       trial->laplacian.layout[side].bytes);
    trial->space->synchronise();
}

static double growth(const struct trial *trial) {
    double product = 1.0;
    for (int axis = 0; axis < trial->study->job->ndims; axis++)
        product *= (trial->laplacian.kind == FFTND_R2R ? 2.0 : 1.0) * trial->config->sizes[axis];
    return product;
}

/* Forward, times -|k|^2, backward; both arrays hold usual values afterwards. */
static void validate(struct trial *trial) {
    const study_laplacian *laplacian = &trial->laplacian;
    study_laplacian_fill(laplacian, trial->host);
    copy(trial, 0, 0);
    execute(trial, REDIST_FORWARD);
    copy(trial, 1, 1);
    study_laplacian_apply(laplacian, trial->host);
    copy(trial, 1, 0);
    execute(trial, REDIST_BACKWARD);
    copy(trial, 0, 1);
    trial->error = study_laplacian_error(MPI_COMM_WORLD, laplacian, trial->host, growth(trial));
    study_laplacian_fill(laplacian, trial->host);
    copy(trial, 0, 0);
    execute(trial, REDIST_FORWARD); /* the field in one array, its transform in the other */
}

/* ---------------------------------------------------------------- timing */

static void read_phases(const struct trial *trial, double phases[TIMES]) {
    fftnd_phases read = FFTND_PHASES_DEFAULT;
    bench_must(fftnd_plan_get_phases(trial->plan, &read));
    const double values[TIMES] = {[TRANSFORM] = read.transform,
                                  [PACK] = read.pack,
                                  [FIRST_MESSAGE] = read.first_message,
                                  [COMMUNICATE] = read.communicate,
                                  [UNPACK] = read.unpack,
                                  [OWN_PART] = read.own_part};
    memcpy(phases, values, sizeof values);
}

/* The times of the slowest rank, on all ranks, so that they add up. */
static void take_slowest(double times[TIMES]) {
    struct {
        double total;
        int rank;
    } mine = {times[TOTAL], 0}, slowest;
    MPI_Comm_rank(MPI_COMM_WORLD, &mine.rank);
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    MPI_Bcast(times, TIMES, MPI_DOUBLE, slowest.rank, MPI_COMM_WORLD);
}

static void time_run(const struct trial *trial, int direction, double times[TIMES]) {
    double before[TIMES];
    read_phases(trial, before);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    execute(trial, direction);
    double total = MPI_Wtime() - begin;
    read_phases(trial, times);
    times[TOTAL] = times[REST] = total;
    for (int i = TRANSFORM; i < REST; i++) {
        times[i] -= before[i];
        times[REST] -= times[i];
    }
    take_slowest(times);
}

static void write_row(const struct trial *trial, FILE *file, const char *key, int run,
                      const double times[TIMES]) {
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    char grid[TEXT_BYTES];
    bench_must(fftnd_plan_get_info(trial->plan, &info));
    fprintf(file, "%s,%d,%s,%s", key, run, info.method,
            study_times(info.grid_ndims, info.grid, sizeof grid, grid));
    for (int i = 0; i < TIMES; i++)
        fprintf(file, ",%.6g", 1e3 * times[i]);
    fprintf(file, ",%.3g,%.6g\n", trial->error, 1e3 * trial->predicted);
}

/* Warming up has taken longer than its share of the time that the job allows for all runs. */
static int takes_too_long(const study_job *job, double warming) {
    return job->most_seconds > 0 &&
           warming * (job->warmup + job->runs) > (double)job->most_seconds * job->warmup;
}

/* Returns the mean of the totals; negative if that would take too long. */
static double time_direction(const struct trial *trial, int direction, const char *key) {
    const study_job *job = trial->study->job;
    FILE *file = trial->study->rows.file;
    double mean = 0.0, warming = 0.0;
    for (int run = -job->warmup; run < job->runs; run++) {
        double times[TIMES];
        time_run(trial, direction, times);
        warming += run < 0 ? times[TOTAL] : 0.0;
        if (run < 0 && takes_too_long(job, warming))
            return -times[TOTAL];
        if (run < 0)
            continue;
        mean += times[TOTAL] / job->runs;
        if (file)
            write_row(trial, file, key, run, times);
    }
    if (file)
        fflush(file);
    return mean;
}

/* ---------------------------------------------------------------- the sweep */

/* Which directions have to be measured, by the file of rank 0. Returns how many. */
static int find_missing(const struct study *study, const study_config *config, int missing[2]) {
    const bench_list *directions = &study->job->choices[STUDY_DIRECTION];
    char key[STUDY_KEY_BYTES];
    missing[0] = missing[1] = 0;
    for (int i = 0; i < directions->count && study->rank == 0; i++) {
        format_key(study, config, directions->values[i], key);
        missing[directions->values[i]] = !study_rows_have(&study->rows, key);
    }
    MPI_Bcast(missing, 2, MPI_INT, 0, MPI_COMM_WORLD);
    return missing[0] + missing[1];
}

static void say(struct study *study, const char *key, const char *text) {
    char line[4 * STUDY_KEY_BYTES];
    snprintf(line, sizeof line, "%s: %s", key, text);
    study_progress_say(&study->progress, line);
}

static void time_trial(struct study *study, const struct trial *trial, const int missing[2],
                       int count) {
    for (int direction = 0; direction < 2; direction++) {
        char key[STUDY_KEY_BYTES], text[2 * STUDY_KEY_BYTES];
        if (!missing[direction])
            continue;
        format_key(study, trial->config, direction, key);
        double mean = time_direction(trial, direction, key);
        if (mean < 0)
            say(study, key, "passed over, since its runs would take longer than most_seconds");
        snprintf(text, sizeof text, "%s: %.3f ms", key, 1e3 * fabs(mean));
        study_progress_add(&study->progress, work(study, trial->config) / count, 0, text);
    }
}

/* Rank 0's clock counts. */
static int is_over(struct study *study) {
    study->stopped = study->rank == 0 && study->end > 0 && MPI_Wtime() > study->end;
    MPI_Bcast(&study->stopped, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return study->stopped;
}

/* A method that does not apply is no failure if the job lists all. */
static void run_trial(struct study *study, const study_config *config, const int missing[2],
                      int count) {
    struct trial trial = {
        .study = study, .config = config, .space = bench_space_at(config->choice[STUDY_SPACE])};
    char key[STUDY_KEY_BYTES];
    format_key(study, config, missing[0] ? 0 : 1, key);
    int code = create_plan(&trial);
    if (code == REDIST_OK)
        code = create_arrays(&trial);
    if (code != REDIST_OK) {
        study->failures += code != REDIST_ERR_METHOD || !study->job->methods.all;
        say(study, key, redist_error_message());
        study_progress_add(&study->progress, work(study, config), 1, key);
        release(&trial);
        return;
    }
    validate(&trial);
    if (!(trial.error <= study_laplacian_tolerance(&trial.laplacian))) {
        char text[TEXT_BYTES];
        snprintf(text, sizeof text, "WRONG: the Laplacian is off by %.3g", trial.error);
        say(study, key, text);
        study->failures++;
    }
    trial.predicted = study_predict(&study->predictions, study->job, config, trial.plan);
    time_trial(study, &trial, missing, count);
    release(&trial);
}

static void run_sweep(struct study *study) {
    int n = study_sweep_count(&study->sweep), missing[2];
    double all = 0.0;
    study_config config;
    for (int i = 0; i < n; i++)
        all += study_sweep_config(&study->sweep, i, &config) ? work(study, &config) : 0.0;
    study_progress_begin(&study->progress, study->rank == 0, all);
    for (int i = 0; i < n; i++) {
        if (!study_sweep_config(&study->sweep, i, &config))
            continue;
        int count = find_missing(study, &config, missing);
        if (count == 0)
            study_progress_add(&study->progress, work(study, &config), 1, "");
        else if (is_over(study))
            break;
        else
            run_trial(study, &config, missing, count);
    }
    study_progress_end(&study->progress);
}

/* ---------------------------------------------------------------- the job */

static int count_nodes(void) {
    int node_size = 1;
    bench_must(redist_node_size(MPI_COMM_WORLD, &node_size));
    double nodes = 1.0 / node_size;
    MPI_Allreduce(MPI_IN_PLACE, &nodes, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return (int)lround(nodes);
}

/* Rank 0 opens the file for all; 0 with a reason. */
static int open_rows(struct study *study, const char *path, size_t bytes, char fault[]) {
    int good = 1;
    if (study->rank == 0)
        good = study_rows_open(&study->rows, path, heading, KEY_COLUMNS, study->job->runs, bytes,
                               fault);
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return good;
}

static const char *absent_space(const study_job *job) {
    const char *absent = NULL;
    for (int i = 0; i < job->choices[STUDY_SPACE].count && !absent; i++)
        absent = bench_space_at(job->choices[STUDY_SPACE].values[i])->begin();
    return absent;
}

static int uses_devices(const study_job *job) {
    const bench_list *list = &job->choices[STUDY_SPACE];
    int found = 0;
    for (int i = 0; i < list->count; i++)
        found = found || list->values[i] != 0;
    return found;
}

static int run_job(const bench_program *program, struct study *study, const char *folder) {
    char fault[TEXT_BYTES] = "", path[TEXT_BYTES], models[TEXT_BYTES], placement[TEXT_BYTES];
    const char *absent = absent_space(study->job);
    if (absent)
        return bench_refuse(program, "\"spaces\": %s", absent);
    if (!study_sweep_create(study->job, study->nranks, &study->sweep, sizeof fault, fault))
        return bench_refuse(program, "%s", fault);
    snprintf(path, sizeof path, "%s/%s-%d.csv", folder, study->job->name, study->nranks);
    snprintf(models, sizeof models, "%s/%s-%d.model.csv", folder, study->job->name, study->nranks);
    snprintf(placement, sizeof placement, "%s/%s-%d.placement.csv", folder, study->job->name,
             study->nranks);
    if (!open_rows(study, path, sizeof fault, fault))
        return bench_refuse(program, "%s", fault);
    study_placement_write(placement,
                          uses_devices(study->job) ? &bench_space_cuda : bench_space_at(0));
    study_predictions_begin(&study->predictions, study->rank == 0 ? models : NULL);
    run_sweep(study);
    study_predictions_end(&study->predictions);
    if (study->rank == 0 && !study_rows_close(&study->rows))
        bench_abort("%s could not be written", path);
    if (study->rank == 0)
        printf("%s%s%s\n", path, study->failures ? ": some configurations failed" : "",
               study->stopped ? ": stopped by --seconds, start again to go on" : "");
    return study->failures ? 1 : 0;
}

/* What the command line says. */
struct request {
    const char *job, *folder;
    int seconds;
};

static const char notes[] =
    "Rows go to FOLDER/NAME-RANKS.csv, where NAME is that of the job; docs/study.md explains "
    "them.\n"
    "\n"
    "exit code: 0; 1 if a configuration failed; 2 for a bad command line or job\n";

static int run_study(const bench_program *program, const struct request *request) {
    char fault[TEXT_BYTES] = "";
    study_job *job = calloc(1, sizeof *job);
    struct study *study = calloc(1, sizeof *study);
    if (!job || !study)
        bench_abort("fftnd-study: no memory for a job");
    study->job = job;
    study->end = request->seconds > 0 ? MPI_Wtime() + request->seconds : 0.0;
    MPI_Comm_rank(MPI_COMM_WORLD, &study->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &study->nranks);
    study->nodes = count_nodes();
    int code = study_job_read(request->job, job, sizeof fault, fault)
                   ? run_job(program, study, request->folder)
                   : bench_refuse(program, "--job %s: %s", request->job, fault);
    free(study);
    free(job);
    return code;
}

static struct request request = {NULL, ".", 0};

/* clang-format off */
static const bench_option options[] = {
    {.name = "job", .kind = BENCH_TEXT, .value = &request.job, .argument = "FILE",
     .help = "the study, a JSON file"},
    {.name = "out", .kind = BENCH_TEXT, .value = &request.folder, .argument = "FOLDER",
     .help = "where the rows go (.)"},
    {.name = "seconds", .kind = BENCH_NUMBER, .value = &request.seconds, .argument = "N",
     .help = "begin no configuration after N seconds; start it again "
             "to go on; 0 = end when all is measured (0)"}};
/* clang-format on */

static int run(const bench_program *program) {
    return request.job ? run_study(program, &request) : bench_refuse(program, "--job is missing");
}

/* Devices of a job's spaces are chosen before MPI begins. */
BENCH_MAIN("fftnd-study", "times the transforms of a job, configuration by configuration", notes,
           NULL, run)
