/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow.h"
#include "example.h"
#include <math.h>
#include <string.h>

/* Sets the components at one grid point. */
static void set_initial(const struct flow *flow, int i, int j, int k) {
    const fftnd_layout *p = &flow->physical;
    double x = box_coordinate(p, 0, i), y = box_coordinate(p, 1, j), z = box_coordinate(p, 2, k);
    double *u = flow->velocity_at_points + box_place(p, i, j, k);
    u[0] = sin(x) * cos(y) * cos(z);
    u[p->batch_stride] = -cos(x) * sin(y) * cos(z);
    u[2 * p->batch_stride] = 0;
}

static void start_vortex(struct flow *flow) {
    const int *count = flow->physical.count;
    for (int i = 0; i < count[0]; i++)
        for (int j = 0; j < count[1]; j++)
            for (int k = 0; k < count[2]; k++)
                set_initial(flow, i, j, k);
    check(fftnd_forward(flow->plan, flow->velocity_at_points, flow->velocity));
}

static void plan_transforms(struct flow *flow, const struct options *options) {
    fftnd_options choice = FFTND_OPTIONS_DEFAULT;
    choice.grid_ndims = options->grid_ndims;
    choice.grid = options->grid_ndims > 0 ? options->grid : NULL;
    choice.scaling = FFTND_SCALE_FORWARD; /* spectral values are amplitudes */
    choice.batch = 3;                     /* the components travel together */
    choice.method = options->method;
    int sizes[3] = {flow->size, flow->size, flow->size};
    choice.kept = (int[3]){flow->modes, flow->modes, flow->modes};
    check(
        fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &choice, &flow->plan));
    check(fftnd_plan_layout(flow->plan, FFTND_PHYSICAL, &flow->physical));
    check(fftnd_plan_layout(flow->plan, FFTND_SPECTRAL, &flow->spectral));
}

void flow_create(struct flow *flow, const struct options *options, double viscosity) {
    flow->size = options->size;
    flow->modes = 2 * flow_cutoff(flow->size) + 1; /* -cutoff .. cutoff */
    flow->viscosity = viscosity;
    plan_transforms(flow, options);
    flow->nspectral = flow->spectral.bytes / sizeof(double complex);
    flow->velocity = flow_allocate(flow);
    flow->velocity_at_points = allocate(flow->physical.bytes);
    flow->vorticity_at_points = allocate(flow->physical.bytes);
    start_vortex(flow);
}

void flow_free(struct flow *flow) {
    check(fftnd_plan_free(&flow->plan));
    release(flow->velocity);
    release(flow->velocity_at_points);
    release(flow->vorticity_at_points);
}

double complex *flow_allocate(const struct flow *flow) {
    void *array = allocate(flow->spectral.bytes);
    memset(array, 0, flow->spectral.bytes);
    return array;
}

/* What visitors of waves work on. */
struct fields {
    const struct flow *flow;
    const double complex *velocity;
    double complex *result;
};

/* result = curl of velocity: i k x velocity */
static inline void curl_of_wave(const struct wave *wave, void *context) {
    const struct fields *fields = context;
    ptrdiff_t next = fields->flow->spectral.batch_stride;
    const double complex *u = fields->velocity + wave->place;
    double complex *curl = fields->result + wave->place;
    const double *k = wave->k;
    curl[0] = I * (k[1] * u[2 * next] - k[2] * u[next]);
    curl[next] = I * (k[2] * u[0] - k[0] * u[2 * next]);
    curl[2 * next] = I * (k[0] * u[next] - k[1] * u[0]);
}

/* Turns the transformed cross product into the rate of change: the pressure takes away the part
 * along k, which keeps the flow free of divergence, and viscosity damps. */
static inline void finish_slope_of_wave(const struct wave *wave, void *context) {
    const struct fields *fields = context;
    const struct flow *flow = fields->flow;
    ptrdiff_t next = flow->spectral.batch_stride;
    const double complex *u = fields->velocity + wave->place;
    double complex *slope = fields->result + wave->place;
    const double *k = wave->k;
    double complex along_k = k[0] * slope[0] + k[1] * slope[next] + k[2] * slope[2 * next];
    along_k /= wave->k_squared > 0 ? wave->k_squared : 1;
    for (int c = 0; c < 3; c++)
        slope[c * next] -= k[c] * along_k + flow->viscosity * wave->k_squared * u[c * next];
}

/* velocity_at_points = velocity x vorticity, point by point */
static void cross_with_vorticity(struct flow *flow) {
    ptrdiff_t n = flow->physical.batch_stride;
    double *u = flow->velocity_at_points, *v = u + n, *w = v + n;
    const double *x = flow->vorticity_at_points, *y = x + n, *z = y + n;
    for (ptrdiff_t p = 0; p < n; p++) {
        double first = v[p] * z[p] - w[p] * y[p];
        double second = w[p] * x[p] - u[p] * z[p];
        w[p] = u[p] * y[p] - v[p] * x[p];
        u[p] = first;
        v[p] = second;
    }
}

static void curl_at_points(struct flow *flow, const double complex *velocity,
                           double complex *work) {
    flow_each_wave(flow, curl_of_wave, &(struct fields){flow, velocity, work});
    check(fftnd_backward(flow->plan, work, flow->vorticity_at_points));
}

void flow_slope(struct flow *flow, double complex *velocity, double complex *slope) {
    check(fftnd_backward(flow->plan, velocity, flow->velocity_at_points));
    curl_at_points(flow, velocity, slope);
    cross_with_vorticity(flow);
    check(fftnd_forward(flow->plan, flow->velocity_at_points, slope));
    flow_each_wave(flow, finish_slope_of_wave, &(struct fields){flow, velocity, slope});
}

void flow_vorticity(struct flow *flow, double complex *work) {
    curl_at_points(flow, flow->velocity, work);
}

double flow_largest_speed(struct flow *flow) {
    check(fftnd_backward(flow->plan, flow->velocity, flow->velocity_at_points));
    ptrdiff_t n = flow->physical.batch_stride;
    const double *u = flow->velocity_at_points, *v = u + n, *w = v + n;
    double largest = 0;
    for (ptrdiff_t p = 0; p < n; p++)
        largest = fmax(largest, fabs(u[p]) + fabs(v[p]) + fabs(w[p]));
    return largest_of_all(largest);
}
