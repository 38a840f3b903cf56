/* SPDX-License-Identifier: BSD-3-Clause */
/* FFTW as the serial library of the device that stands in for CUDA (stand_in_space.c): transforms are enqueued. */
#include <stdlib.h>
#include <string.h>

#include "../libfftnd/backends/r2r.h"
#include "../libfftnd/operators/symbol.h"
#include "redist_support.h"
#include "stand_in_space.h"

extern const struct fftnd__serial fftnd__serial_fftw;

enum { AREA_BYTES = 256 };

struct plan {
    void *inner, *stream;
    char *area;
};

struct transform {
    void *plan, *in, *out;
    char *area;
};

/* What else is in its scratch memory is lost, as with cuFFT. */
static void run_transform(void *data) {
    const struct transform *given = data;
    memset(given->area, 0xff, AREA_BYTES);
    (void)fftnd__serial_fftw.execute(given->plan, given->in, given->out);
    memset(given->area, 0xff, AREA_BYTES);
}

struct factor {
    void *array;
    size_t bytes;
    enum fftnd_precision precision;
    long double factor;
};

static void run_scale(void *data) {
    const struct factor *given = data;
    (void)fftnd__serial_fftw.scale(given->array, given->bytes, given->precision, given->factor,
                                   NULL);
}

/* FFTW estimates on addresses that are no arrays. */
static int create(const struct fftnd__serial_problem *problem, void *in, void *out, void **result) {
    static _Alignas(64) char nowhere[2][64];
    struct plan *plan = *result = calloc(1, sizeof(*plan));
    struct fftnd__serial_problem own = *problem;
    own.effort = FFTND_ESTIMATE;
    own.stream = own.pool = NULL;
    plan->stream = problem->stream;
    return fftnd__serial_fftw.create(&own, nowhere[0], nowhere[in != out], &plan->inner);
}

static size_t area_bytes(const void *data) {
    (void)data;
    return AREA_BYTES;
}

static int set_area(void *data, void *area) {
    struct plan *plan = data;
    plan->area = area;
    return REDIST_OK;
}

/* cuFFT fails without its scratch memory, and with data there. */
static int execute(void *data, void *in, void *out) {
    const struct plan *plan = data;
    const struct transform given = {plan->inner, in, out, plan->area};
    if (plan->area == NULL || plan->area == (char *)in || plan->area == (char *)out)
        return redist_fail_in("libfftnd", REDIST_ERR_SERIAL, "the scratch memory is %p",
                              (void *)plan->area);
    stand_in_give(plan->stream, run_transform, &given, sizeof(given));
    return REDIST_OK;
}

static int scale(void *array, size_t bytes, enum fftnd_precision precision, long double factor,
                 void *stream) {
    const struct factor given = {array, bytes, precision, factor};
    stand_in_give(stream, run_scale, &given, sizeof(given));
    return REDIST_OK;
}

static void run_change(void *data) {
    fftnd__change_modes(data);
}

static int change(const struct fftnd__modes *modes, void *stream) {
    stand_in_give(stream, run_change, modes, sizeof(*modes));
    return REDIST_OK;
}

static void run_operate(void *data) {
    fftnd__operate(data);
}

static int operate(const struct fftnd__operation *operation, void *stream) {
    stand_in_give(stream, run_operate, operation, sizeof(*operation));
    return REDIST_OK;
}

struct rows {
    struct fftnd__r2r_lines lines;
    int after;
};

static void run_r2r(void *data) {
    const struct rows *given = data;
    fftnd__move_r2r_lines(&given->lines, given->after);
}

static int r2r(const struct fftnd__r2r_lines *lines, int after, void *stream) {
    const struct rows given = {*lines, after};
    stand_in_give(stream, run_r2r, &given, sizeof(given));
    return REDIST_OK;
}

static void destroy(void *data) {
    struct plan *plan = data;
    redist_space_at(REDIST_SPACE_CUDA)->drain();
    if (plan->inner != NULL)
        fftnd__serial_fftw.destroy(plan->inner);
    free(plan);
}

const struct fftnd__serial fftnd__serial_stand_in = {
    .name = "stand-in",
    .space = REDIST_SPACE_CUDA,
    .create = create,
    .area_bytes = area_bytes,
    .set_area = set_area,
    .execute = execute,
    .scale = scale,
    .destroy = destroy,
    .change = change,
    .operate = operate,
    .r2r = r2r,
};
