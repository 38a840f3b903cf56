/* SPDX-License-Identifier: BSD-3-Clause */
/* FFTW as the serial library of the device that stands in for CUDA (stand_in_space.c): transforms are enqueued. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../libfftnd/kernels/truncation.h"
#include "../liblines/operation.h"
#include "r2r_rows.h"
#include "redist_support.h"
#include "stand_in_places.h"
#include "stand_in_streams.h"
#include "stream_device.h"

extern const struct lines__library lines__library_fftw;

enum { AREA_BYTES = 256 };

struct plan {
    void *inner, *stream;
    unsigned long long context; /* in which it was made */
    char *area;
    struct lines__problem problem; /* of one truncated axis, and its lines */
    long double factor;            /* of results */
    struct fftnd__truncation truncation;
    char *line[2];
};

struct transform {
    const struct plan *plan;
    void *in, *out;
    char *area;
};

/* Bytes of an element of a side, and how many a line of it has. */
static size_t item_of(const struct plan *plan, int side) {
    const struct lines__problem *problem = &plan->problem;
    const int is_real =
        problem->kind == FFTND_R2R || (problem->kind == FFTND_R2C && side == problem->direction);
    return lines__item_bytes(problem->precision, is_real);
}

/* Points that the physical side has along the only axis. */
static redist_index count_points(const struct lines__problem *problem) {
    return problem->filled[0] > 0 ? problem->filled[0] : problem->axes[0].n;
}

static redist_index count_modes(const struct lines__problem *problem) {
    const struct lines__retained *retained = &problem->retained[0];
    const redist_index n = problem->axes[0].n;
    return retained->modes > 0          ? retained->low + retained->high
           : problem->kind == FFTND_R2C ? n / 2 + 1
                                        : n;
}

/* Between an array and a line that has all modes, or all points. */
static void copy_line(const struct plan *plan, int side, char *array) {
    const struct lines__problem *problem = &plan->problem;
    const struct lines__retained *retained = &problem->retained[0];
    const int is_spectral = side != problem->direction && retained->modes > 0;
    const redist_index gap = retained->modes - retained->high - retained->low;
    const redist_index n =
        side != problem->direction ? count_modes(problem) : count_points(problem);
    const ptrdiff_t stride = side ? problem->axes[0].out : problem->axes[0].in;
    const size_t item = item_of(plan, side);
    for (redist_index i = 0; i < n; i++) {
        const redist_index at = is_spectral && i >= retained->low ? i + gap : i;
        char *one = array + (ptrdiff_t)i * stride * (ptrdiff_t)item;
        char *other = plan->line[side] + (size_t)at * item;
        memcpy(side ? one : other, side ? other : one, item);
    }
}

static size_t line_bytes(const struct lines__problem *problem) {
    return lines__item_bytes(problem->precision, 0) * (size_t)(problem->axes[0].n + 2);
}

static void run_line(const struct plan *plan, char *in, char *out) {
    const struct lines__problem *problem = &plan->problem;
    const int spectral = problem->direction == REDIST_FORWARD;
    const ptrdiff_t stride[] = {(ptrdiff_t)item_of(plan, spectral)};
    const struct fftnd__block modes = {.precision = problem->precision,
                                       .ndims = 1,
                                       .count = {problem->retained[0].modes},
                                       .stride = stride,
                                       .item = item_of(plan, spectral),
                                       .memory = plan->line[spectral],
                                       .truncation = &plan->truncation};
    memset(plan->line[0], 0, line_bytes(problem));
    copy_line(plan, 0, in);
    if (!spectral) {
        fftnd__pad(&modes);
    }
    (void)lines__library_fftw.execute(plan->inner, plan->line[0], plan->line[1]);
    (void)lines__library_fftw.scale(plan->line[1], line_bytes(problem), problem->precision,
                                    plan->factor, NULL);
    if (spectral && problem->retained[0].nyquist != LINES__NYQUIST_NONE) {
        fftnd__add_half_way(problem->retained[0].nyquist, &modes);
    }
    copy_line(plan, 1, out);
}

static void run_lines(const struct plan *plan, int loop, char *in, char *out) {
    const struct lines__loop *at = &plan->problem.loops[loop];
    if (loop == plan->problem.nloops) {
        run_line(plan, in, out);
        return;
    }
    for (redist_index i = 0; i < at->n; i++) {
        run_lines(plan, loop + 1, in + (ptrdiff_t)i * at->in * (ptrdiff_t)item_of(plan, 0),
                  out + (ptrdiff_t)i * at->out * (ptrdiff_t)item_of(plan, 1));
    }
}

/* Multiplies the results one by one; the halved axis is the last one. */
static void scale_elements(const struct plan *plan, int loop, char *out) {
    const struct lines__problem *problem = &plan->problem;
    const ptrdiff_t item = (ptrdiff_t)item_of(plan, 1);
    if (loop == problem->naxes + problem->nloops) {
        (void)lines__library_fftw.scale(out, (size_t)item, problem->precision, plan->factor, NULL);
        return;
    }
    const struct lines__loop *at = lines__loop_at(problem, loop);
    const int is_halved = loop == problem->naxes - 1 && problem->kind == FFTND_R2C &&
                          problem->direction == REDIST_FORWARD;
    const redist_index count = is_halved ? at->n / 2 + 1 : at->n;
    for (redist_index i = 0; i < count; i++)
        scale_elements(plan, loop + 1, out + (ptrdiff_t)i * at->out * item);
}

/* What else is in its scratch memory is lost, as with cuFFT. */
static void run_transform(void *data) {
    const struct transform *given = data;
    memset(given->area, 0xff, AREA_BYTES);
    if (given->plan->line[0] != NULL) {
        run_lines(given->plan, 0, given->in, given->out);
    } else {
        (void)lines__library_fftw.execute(given->plan->inner, given->in, given->out);
        if (given->plan->factor != 1) {
            scale_elements(given->plan, 0, given->out);
        }
    }
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
    (void)lines__library_fftw.scale(given->array, given->bytes, given->precision, given->factor,
                                    NULL);
}

static atomic_int until_failure = -1;

int stream_device_fail_transform(int transforms) {
    atomic_store(&until_failure, transforms);
    return 1;
}

static int count_down(void) {
    int left = atomic_load(&until_failure);
    if (left == 0)
        return redist_fail_in("libfftnd", REDIST_ERR_SERIAL, "a transform that is to fail");
    atomic_store(&until_failure, left - (left > 0));
    return REDIST_OK;
}

/* Lines of some lengths only. */
static int truncates(redist_index n, int is_halved, enum fftnd_precision precision) {
    (void)precision;
    return n % 7 != 0 && !(is_halved && n % 2 != 0);
}

/* One line after the other, which has all modes. */
static int create_line(struct plan *plan, const struct lines__problem *problem) {
    const struct lines__retained *retained = &problem->retained[0];
    struct lines__problem own = *problem;
    plan->problem = *problem;
    plan->truncation = (struct fftnd__truncation){retained->modes > 0, {*retained}};
    plan->truncation.axes[0].axis = 0;
    own.nloops = 0;
    own.axes[0].in = own.axes[0].out = 1;
    own.effort = FFTND_ESTIMATE;
    for (int side = 0; side < 2; side++) {
        plan->line[side] = calloc(1, line_bytes(problem));
    }
    return lines__library_fftw.create(&own, plan->line[0], plan->line[1], &plan->inner);
}

static int check(const char *function, const char *name, const void *array, size_t bytes) {
    (void)bytes;
    return redist_space_at(REDIST_SPACE_CUDA)->check_array(function, name, array);
}

/* FFTW estimates on addresses that are no arrays. As with cuFFT there are lengths whose real-to-real transforms are
 * done by rows. */
static int create(const struct lines__problem *problem, void *in, void *out, void **result) {
    static _Alignas(64) char nowhere[2][64];
    if (problem->kind == FFTND_R2R && problem->naxes > 0 && problem->axes[0].n % 3 == 0)
        return REDIST_OK;
    struct plan *plan = *result = calloc(1, sizeof(*plan));
    struct lines__problem own = *problem;
    own.effort = FFTND_ESTIMATE;
    own.stream = NULL;
    own.threads = NULL;
    plan->stream = problem->stream;
    plan->context = stand_in_context();
    plan->problem = own;
    plan->factor = 1;
    if (lines__truncates(problem, 0)) {
        return create_line(plan, &own);
    }
    return lines__library_fftw.create(&own, nowhere[0], nowhere[in != out], &plan->inner);
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

/* Whether a loop continues another one, so that both are one loop. */
static int continues(const struct lines__problem *problem, const struct lines__loop *loop) {
    for (int i = 0; i < problem->nloops; i++) {
        const struct lines__loop *inner = &problem->loops[i];
        if (inner != loop && inner->n > 1 && loop->in == inner->n * inner->in &&
            loop->out == inner->n * inner->out) {
            return 1;
        }
    }
    return 0;
}

/* Whether cuFFT takes lines there: real ones at odd distances along several loops, or that may begin anywhere, are
 * gathered in a list. */
static int is_aligned(const struct plan *plan, int side, const void *array) {
    const struct lines__problem *problem = &plan->problem;
    const int is_odd = problem->is_odd && side == (problem->direction == REDIST_BACKWARD);
    int odd = 0;
    for (int i = 0; i < problem->nloops; i++) {
        const struct lines__loop *loop = &problem->loops[i];
        odd += loop->n > 1 && (side ? loop->out : loop->in) % 2 != 0 && !continues(problem, loop);
    }
    return problem->kind == FFTND_R2R || is_odd || odd > 1 || plan->line[0] != NULL ||
           (uintptr_t)array % lines__item_bytes(problem->precision, 0) == 0;
}

/* cuFFT fails without its scratch memory, with data there, and with data between two complex elements. */
static int execute(void *data, void *in, void *out) {
    const struct plan *plan = data;
    const struct transform given = {plan, in, out, plan->area};
    if (plan->area == NULL || plan->area == (char *)in || plan->area == (char *)out)
        return redist_fail_in("libfftnd", REDIST_ERR_SERIAL, "the scratch memory is %p",
                              (void *)plan->area);
    REDIST_TRY(count_down());
    if (!is_aligned(plan, 0, in) || !is_aligned(plan, 1, out))
        return redist_fail_in("libfftnd", REDIST_ERR_SERIAL, "%p or %p is not aligned", in, out);
    if (plan->context != stand_in_context())
        return redist_fail_in("libfftnd", REDIST_ERR_SERIAL, "another device is current");
    return stand_in_give(plan->stream, run_transform, &given, sizeof(given));
}

static _Atomic long scalings;

long stream_device_scalings(void) {
    return atomic_load(&scalings);
}

static int scale(void *array, size_t bytes, enum fftnd_precision precision, long double factor,
                 void *stream) {
    const struct factor given = {array, bytes, precision, factor};
    atomic_fetch_add(&scalings, 1);
    return stand_in_give(stream, run_scale, &given, sizeof(given));
}

/* Whether a plan scales: with some loops only, so that not all ranks can, and with some axes. */
static int scales(const struct lines__problem *problem) {
    const redist_index loop = problem->nloops > 0 ? problem->loops[0].n : 0;
    return problem->naxes > 0 && loop % 5 != 2 && problem->axes[0].n % 4 != 1;
}

/* Sets the factor of a plan, if that scales. */
static int take_factor(const struct lines__problem *problem, long double factor, long double *its) {
    if (!scales(problem))
        return 0;
    *its = factor;
    return 1;
}

static int scale_results(void *data, long double factor) {
    struct plan *plan = data;
    return take_factor(&plan->problem, factor, &plan->factor);
}

static void run_change(void *data) {
    lines__change_modes(data);
}

static int change(const struct lines__modes *modes, void *stream) {
    atomic_fetch_add(&scalings, modes->change == LINES__MULTIPLY);
    return stand_in_give(stream, run_change, modes, sizeof(*modes));
}

static void run_operate(void *data) {
    lines__operate(data);
}

static int operate(const struct lines__operation *operation, void *stream) {
    return stand_in_give(stream, run_operate, operation, sizeof(*operation));
}

struct rows {
    struct lines__r2r_lines lines;
    int after;
};

static void run_r2r(void *data) {
    const struct rows *given = data;
    r2r_move_lines(&given->lines, given->after);
}

static int r2r(const struct lines__r2r_lines *lines, int after, void *stream) {
    const struct rows given = {*lines, after};
    return stand_in_give(stream, run_r2r, &given, sizeof(given));
}

static void destroy(void *data) {
    struct plan *plan = data;
    redist_space_at(REDIST_SPACE_CUDA)->drain();
    if (!redist_place_is_gone())
        stand_in_use(plan->context, "a plan of the serial library");
    if (plan->inner != NULL)
        lines__library_fftw.destroy(plan->inner);
    free(plan->line[0]);
    free(plan->line[1]);
    free(plan);
}

/* ---------------------------------------------------------------- lines in an order of their own */

/* Lays out complex lines in C order, the transformed axis last, on one side. Returns their elements. */
static ptrdiff_t lay_out_lines(struct lines__problem *own, int side) {
    ptrdiff_t elements = own->axes[0].n;
    *(side ? &own->axes[0].out : &own->axes[0].in) = 1;
    for (int i = own->nloops - 1; i >= 0; i--) {
        *(side ? &own->loops[i].out : &own->loops[i].in) = elements;
        elements *= own->loops[i].n;
    }
    return elements;
}

/* Copies the points that an array has, the input or the output of a problem, to such lines or back. Returns the line
 * behind them. */
static char *copy_points(const struct lines__problem *problem, int side, int loop, char *array,
                         char *line) {
    const ptrdiff_t item = (ptrdiff_t)lines__item_bytes(problem->precision, 0);
    const struct lines__loop *at =
        loop < problem->nloops ? &problem->loops[loop] : &problem->axes[0];
    const ptrdiff_t stride = (side ? at->out : at->in) * item;
    if (loop < problem->nloops) {
        for (redist_index i = 0; i < at->n; i++)
            line = copy_points(problem, side, loop + 1, array + i * stride, line);
        return line;
    }
    for (redist_index i = 0; i < count_points(problem); i++) {
        char *one = array + i * stride, *other = line + i * item;
        memcpy(side ? one : other, side ? other : one, (size_t)item);
    }
    return line + at->n * item;
}

static char *make_lines(const struct lines__problem *problem, ptrdiff_t elements) {
    const size_t bytes = (size_t)elements * lines__item_bytes(problem->precision, 0);
    char *lines = aligned_alloc(64, (bytes + 64) / 64 * 64);
    memset(lines, 0, bytes);
    return lines;
}

/* ---------------------------------------------------------------- results in parts */

struct stores {
    struct lines__problem problem;
    long double factor;
    ptrdiff_t elements;
    void *inner; /* from the array, or from lines where some points are missing before */
};

struct storing {
    const struct stores *stores;
    void *in;
    int nparts;
    struct lines__target parts[LINES__MOST_TARGETS];
};

static int fills_before(const struct lines__problem *problem) {
    return problem->direction == REDIST_FORWARD && problem->filled[0] > 0;
}

/* Without some loops, so that not all ranks can do it. */
static int create_stores(const struct lines__problem *problem, int is_near, void **result) {
    static _Alignas(64) char nowhere[2][64];
    struct lines__problem own = *problem;
    *result = NULL;
    (void)is_near;
    if (own.nloops > 0 && own.loops[0].n % 5 == 3)
        return REDIST_OK;
    struct stores *stores = *result = calloc(1, sizeof(*stores));
    stores->factor = 1;
    stores->elements = lay_out_lines(&own, 1);
    own.effort = FFTND_ESTIMATE;
    own.keep_input = 1;
    own.stream = NULL;
    own.threads = NULL;
    stores->problem = own;
    if (fills_before(&own))
        lay_out_lines(&own, 0);
    return lines__library_fftw.create(&own, nowhere[0], nowhere[1], &stores->inner);
}

/* The lines of a loop and of those in it. */
static void store_lines(const struct storing *given, int loop, const char *line,
                        const ptrdiff_t offsets[]) {
    const struct lines__problem *problem = &given->stores->problem;
    const ptrdiff_t item = (ptrdiff_t)lines__item_bytes(problem->precision, 0);
    ptrdiff_t next[LINES__MOST_TARGETS];
    for (redist_index i = 0; loop < problem->nloops && i < problem->loops[loop].n; i++) {
        for (int part = 0; part < given->nparts; part++)
            next[part] = offsets[part] + i * given->parts[part].loops[loop];
        store_lines(given, loop + 1, line + i * problem->loops[loop].out * item, next);
    }
    redist_index i = 0, begin = 0;
    for (int part = 0; loop == problem->nloops && part < given->nparts; part++, begin = i)
        for (; i < given->parts[part].end; i++)
            memcpy(given->parts[part].memory +
                       (offsets[part] + (i - begin) * given->parts[part].axis) * item,
                   line + i * item, (size_t)item);
}

static void run_stores(void *data) {
    const struct storing *given = data;
    const struct lines__problem *problem = &given->stores->problem;
    const ptrdiff_t offsets[LINES__MOST_TARGETS] = {0};
    char *lines = make_lines(problem, given->stores->elements), *before = given->in;
    if (fills_before(problem)) {
        before = make_lines(problem, given->stores->elements);
        copy_points(problem, 0, 0, given->in, before);
    }
    (void)lines__library_fftw.execute(given->stores->inner, before, lines);
    (void)lines__library_fftw.scale(
        lines, (size_t)given->stores->elements * lines__item_bytes(problem->precision, 0),
        problem->precision, given->stores->factor, NULL);
    store_lines(given, 0, lines, offsets);
    if (before != given->in)
        free(before);
    free(lines);
}

static int execute_stores(void *data, const void *in, int nparts,
                          const struct lines__target parts[], void *stream) {
    struct storing given = {data, (void *)(size_t)in, nparts, {{0}}};
    REDIST_TRY(count_down());
    memcpy(given.parts, parts, (size_t)nparts * sizeof(*parts));
    return stand_in_give(stream, run_stores, &given, sizeof(given));
}

static int scale_stores(void *data, long double factor) {
    struct stores *stores = data;
    return take_factor(&stores->problem, factor, &stores->factor);
}

static void destroy_stores(void *data) {
    struct stores *stores = data;
    redist_space_at(REDIST_SPACE_CUDA)->drain();
    if (stores->inner != NULL)
        lines__library_fftw.destroy(stores->inner);
    free(stores);
}

static const struct lines__stores stores_in_parts = {
    .create = create_stores,
    .execute = execute_stores,
    .scale_results = scale_stores,
    .destroy = destroy_stores,
};

/* ---------------------------------------------------------------- there and back */

struct round_trip {
    struct lines__problem problem;
    ptrdiff_t elements;
    void *inner[2]; /* in place */
};

struct trip {
    const struct round_trip *plan;
    void *in, *out;
    struct lines__operation operation;
};

/* Without some loops too. The modes are in memory of their own, in C order, the transformed axis last. */
static int create_round_trip(const struct lines__problem *problem, void **result) {
    static _Alignas(64) char nowhere[64];
    *result = NULL;
    if (problem->kind != FFTND_C2C || (problem->nloops > 0 && problem->loops[0].n % 5 == 3))
        return REDIST_OK;
    struct round_trip *plan = *result = calloc(1, sizeof(*plan));
    plan->problem = *problem;
    for (int back = 0; back < 2; back++) {
        struct lines__problem own = *problem;
        plan->elements = lay_out_lines(&own, 0);
        lay_out_lines(&own, 1);
        own.direction = back ? REDIST_BACKWARD : REDIST_FORWARD;
        own.effort = FFTND_ESTIMATE;
        own.stream = NULL;
        own.threads = NULL;
        REDIST_TRY(lines__library_fftw.create(&own, nowhere, nowhere, &plan->inner[back]));
    }
    return REDIST_OK;
}

static void run_round_trip(void *data) {
    struct trip *given = data;
    const struct lines__problem *problem = &given->plan->problem;
    char *lines = make_lines(problem, given->plan->elements);
    given->operation.in = given->operation.out = lines;
    copy_points(problem, 0, 0, given->in, lines);
    (void)lines__library_fftw.execute(given->plan->inner[0], lines, lines);
    lines__operate(&given->operation);
    (void)lines__library_fftw.execute(given->plan->inner[1], lines, lines);
    copy_points(problem, 1, 0, given->out, lines);
    free(lines);
}

static int execute_round_trip(void *data, const void *in, void *out,
                              const struct lines__operation *operation, int axis, void *stream) {
    struct trip given = {data, (void *)(size_t)in, out, *operation};
    const struct lines__problem *problem = &given.plan->problem;
    ptrdiff_t bytes = (ptrdiff_t)lines__item_bytes(problem->precision, 0);
    struct lines__operation_axis *axes = given.operation.axes;
    axes[axis].in = axes[axis].out = bytes;
    bytes *= (ptrdiff_t)problem->axes[0].n;
    for (int i = problem->nloops - 1; i >= 0; i--) {
        struct lines__operation_axis *other = &axes[i + (i >= axis)];
        other->in = other->out = bytes;
        bytes *= (ptrdiff_t)problem->loops[i].n;
    }
    return stand_in_give(stream, run_round_trip, &given, sizeof(given));
}

static void destroy_round_trip(void *data) {
    struct round_trip *plan = data;
    redist_space_at(REDIST_SPACE_CUDA)->drain();
    for (int i = 0; i < 2; i++)
        if (plan->inner[i] != NULL)
            lines__library_fftw.destroy(plan->inner[i]);
    free(plan);
}

static const struct lines__round_trips there_and_back = {
    .create = create_round_trip, .execute = execute_round_trip, .destroy = destroy_round_trip};

/* ---------------------------------------------------------------- the library */

/* One way or the other. */
static int prefers_copy(int naxes, const redist_index lengths[], enum fftnd_precision precision) {
    return (naxes + lengths[0]) % 2 == 0 || precision == FFTND_FLOAT;
}

const struct lines__library lines__library_stand_in = {
    .name = "stand-in",
    .space = REDIST_SPACE_CUDA,
    .check = check,
    .prefers_copy = prefers_copy,
    .truncates = truncates,
    .create = create,
    .area_bytes = area_bytes,
    .set_area = set_area,
    .execute = execute,
    .scale = scale,
    .scale_results = scale_results,
    .destroy = destroy,
    .change = change,
    .operate = operate,
    .r2r = r2r,
    .stores = &stores_in_parts,
    .round_trips = &there_and_back,
};
