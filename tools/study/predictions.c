/* SPDX-License-Identifier: BSD-3-Clause */
#include "predictions.h"
#include <math.h>

void study_predictions_begin(study_predictions *predictions, const char *path) {
    *predictions = (study_predictions){.file = path ? fopen(path, "a") : NULL};
    if (path && !predictions->file)
        bench_abort("%s cannot be written", path);
    if (predictions->file && fseek(predictions->file, 0, SEEK_END) == 0 &&
        ftell(predictions->file) == 0)
        fputs("space,staging,method,link,start_s,latency_s,bytes_per_second\n", predictions->file);
}

void study_predictions_end(study_predictions *predictions) {
    if (predictions->file && fclose(predictions->file) != 0)
        bench_abort("the model could not be written");
}

static void write_link(const study_predictions *predictions, const struct study_fit *fit,
                       const char *name, const redist_link *link) {
    if (link->bandwidth > 0)
        fprintf(predictions->file, "%s,%s,%s,%s,%.4g,%.4g,%.4g\n", bench_spaces[fit->space],
                study_choice_words[STUDY_STAGING][fit->staging], fit->method, name, link->start,
                link->latency, link->bandwidth);
}

/* Methods that cannot exchange plain messages have no model. */
static void fit_model(study_predictions *predictions, struct study_fit *fit) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = fit->method;
    options.space = fit->space ? REDIST_SPACE_CUDA : REDIST_SPACE_HOST;
    options.staging = (enum redist_staging)fit->staging;
    fit->model = REDIST_MODEL_DEFAULT;
    fit->good = redist_model_fit(MPI_COMM_WORLD, &options, &fit->model) == REDIST_OK;
    if (!fit->good || !predictions->file)
        return;
    write_link(predictions, fit, "node", &fit->model.node);
    write_link(predictions, fit, "network", &fit->model.network);
    fflush(predictions->file);
}

static const struct study_fit *find_fit(study_predictions *predictions,
                                        const study_config *config) {
    int space = config->choice[STUDY_SPACE], staging = config->choice[STUDY_STAGING];
    for (int i = 0; i < predictions->count; i++) {
        const struct study_fit *fit = &predictions->fits[i];
        if (fit->method == config->method && fit->space == space && fit->staging == staging)
            return fit;
    }
    if (predictions->count == STUDY_MOST_FITS)
        return NULL;
    struct study_fit *fit = &predictions->fits[predictions->count++];
    *fit = (struct study_fit){.method = config->method, .space = space, .staging = staging};
    fit_model(predictions, fit);
    return fit;
}

double study_predict(study_predictions *predictions, const study_job *job,
                     const study_config *config, const fftnd_plan *plan) {
    const struct study_fit *fit = job->model ? find_fit(predictions, config) : NULL;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    int nranks;
    double seconds;
    if (!fit || !fit->good || fftnd_plan_get_info(plan, &info) != REDIST_OK)
        return NAN;
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.grid_ndims = info.grid_ndims;
    options.grid = info.grid;
    options.order = info.order;
    int code =
        fftnd_predict(&fit->model, nranks, job->ndims, config->extents,
                      (enum fftnd_kind)config->choice[STUDY_KIND],
                      (enum fftnd_precision)config->choice[STUDY_PRECISION], &options, &seconds);
    return code == REDIST_OK ? seconds : NAN;
}
