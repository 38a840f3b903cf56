/* SPDX-License-Identifier: BSD-3-Clause */
/* A flow whose numbers are narrower between ranks than in the arrays, beside the exact one. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "fftnd.h"
#include "harness.h"

/* The Taylor-Green vortex, by a pseudospectral method and two steps of Runge and Kutta. */
enum { N = 16, FIELDS = 3 };

struct flow {
    fftnd_plan *plan;
    fftnd_layout real, modes;
    double *k[3];
    double *u, *w; /* physical: velocity, vorticity; FIELDS fields each */
    double complex *velocity, *middle, *change, *scratch;
};

static const double viscosity = 0.02, step = 0.1, two_pi = 6.283185307179586;

static size_t points(const fftnd_layout *layout) {
    return (size_t)(layout->count[0] * layout->count[1] * layout->count[2]);
}

static void begin_flow(struct flow *flow, enum redist_wire wire) {
    const redist_index sizes[3] = {N, N, N};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    *flow = (struct flow){.real = FFTND_LAYOUT_DEFAULT, .modes = FFTND_LAYOUT_DEFAULT};
    options.batch = FIELDS;
    options.wire = wire;
    options.wire_scope = REDIST_WIRE_EVERYWHERE;
    options.effort = FFTND_ESTIMATE;
    options.local_transpose = FFTND_LOCAL_TRANSPOSE_NEVER;
    options.scaling = FFTND_SCALE_FORWARD;
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &options,
                               &flow->plan));
    check_ok(fftnd_plan_layout(flow->plan, FFTND_PHYSICAL, &flow->real));
    check_ok(fftnd_plan_layout(flow->plan, FFTND_SPECTRAL, &flow->modes));
    for (int axis = 0; axis < 3; axis++) {
        flow->k[axis] = calloc((size_t)flow->modes.count[axis] + 1, sizeof(double));
        check_ok(fftnd_plan_wavenumbers(flow->plan, axis, flow->k[axis]));
    }
    flow->u = calloc(flow->real.bytes + 1, 1);
    flow->w = calloc(flow->real.bytes + 1, 1);
    double complex **const all[] = {&flow->velocity, &flow->middle, &flow->change, &flow->scratch};
    for (int i = 0; i < 4; i++)
        *all[i] = calloc(flow->modes.bytes + 1, 1);
}

static void end_flow(struct flow *flow) {
    check_ok(fftnd_plan_free(&flow->plan));
    for (int axis = 0; axis < 3; axis++)
        free(flow->k[axis]);
    free(flow->u);
    free(flow->w);
    free(flow->velocity);
    free(flow->middle);
    free(flow->change);
    free(flow->scratch);
}

/* Finds the local index of element i along each axis, in the order of the axes, and its place in the array. */
static size_t place_of(const fftnd_layout *layout, size_t i, redist_index index[3]) {
    size_t at = (size_t)layout->offset;
    for (int axis = 2; axis >= 0; axis--) {
        index[axis] = (redist_index)(i % (size_t)layout->count[axis]);
        i /= (size_t)layout->count[axis];
        at += (size_t)(index[axis] * layout->stride[axis]);
    }
    return at;
}

static void start_flow(struct flow *flow) {
    redist_index index[3];
    for (size_t i = 0; i < points(&flow->real); i++) {
        size_t at = place_of(&flow->real, i, index), next = (size_t)flow->real.batch_stride;
        double x[3];
        for (int axis = 0; axis < 3; axis++)
            x[axis] = two_pi * (double)(flow->real.start[axis] + index[axis]) / N;
        flow->u[at] = sin(x[0]) * cos(x[1]) * cos(x[2]);
        flow->u[at + next] = -cos(x[0]) * sin(x[1]) * cos(x[2]);
        flow->u[at + 2 * next] = 0;
    }
    check_ok(fftnd_forward(flow->plan, flow->u, flow->velocity));
}

static double energy_of(const struct flow *flow) {
    double sum = 0;
    redist_index index[3];
    for (size_t i = 0; i < points(&flow->modes); i++) {
        size_t at = place_of(&flow->modes, i, index), next = (size_t)flow->modes.batch_stride;
        double kz = flow->k[2][index[2]], weight = kz > 0 && kz < N / 2 ? 1 : 0.5;
        for (int field = 0; field < FIELDS; field++) {
            double complex u = flow->velocity[at + (size_t)field * next];
            sum += weight * creal(u * conj(u));
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* Finds the change of the velocity in time: u x w, without the part of the pressure and the dropped third of the modes,
 * and the friction. */
static void find_change(struct flow *flow, const double complex *velocity) {
    redist_index index[3];
    size_t next = (size_t)flow->modes.batch_stride, step_real = (size_t)flow->real.batch_stride;
    for (size_t i = 0; i < points(&flow->modes); i++) {
        size_t at = place_of(&flow->modes, i, index);
        double k[3] = {flow->k[0][index[0]], flow->k[1][index[1]], flow->k[2][index[2]]};
        for (int c = 0; c < 3; c++) {
            int d = (c + 1) % 3, e = (c + 2) % 3;
            flow->scratch[at + (size_t)c * next] = I * (k[d] * velocity[at + (size_t)e * next] -
                                                        k[e] * velocity[at + (size_t)d * next]);
        }
    }
    check_ok(fftnd_backward(flow->plan, flow->scratch, flow->w));
    memcpy(flow->scratch, velocity, flow->modes.bytes);
    check_ok(fftnd_backward(flow->plan, flow->scratch, flow->u));
    for (size_t i = 0; i < points(&flow->real); i++) {
        size_t at = place_of(&flow->real, i, index);
        double u[3], w[3];
        for (int c = 0; c < 3; c++) {
            u[c] = flow->u[at + (size_t)c * step_real];
            w[c] = flow->w[at + (size_t)c * step_real];
        }
        for (int c = 0; c < 3; c++)
            flow->u[at + (size_t)c * step_real] =
                u[(c + 1) % 3] * w[(c + 2) % 3] - u[(c + 2) % 3] * w[(c + 1) % 3];
    }
    check_ok(fftnd_forward(flow->plan, flow->u, flow->change));
    for (size_t i = 0; i < points(&flow->modes); i++) {
        size_t at = place_of(&flow->modes, i, index);
        double k[3] = {flow->k[0][index[0]], flow->k[1][index[1]], flow->k[2][index[2]]};
        double square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
        int is_dropped = fmax(fabs(k[0]), fmax(fabs(k[1]), fabs(k[2]))) > N / 3;
        double complex along = 0;
        for (int c = 0; c < 3; c++)
            along += square > 0 ? k[c] * flow->change[at + (size_t)c * next] / square : 0;
        for (int c = 0; c < 3; c++) {
            size_t here = at + (size_t)c * next;
            flow->change[here] = is_dropped ? 0
                                            : flow->change[here] - k[c] * along -
                                                  viscosity * square * velocity[here];
        }
    }
}

static void advance(struct flow *flow) {
    size_t n = flow->modes.bytes / sizeof *flow->velocity;
    find_change(flow, flow->velocity);
    for (size_t i = 0; i < n; i++)
        flow->middle[i] = flow->velocity[i] + step / 2 * flow->change[i];
    find_change(flow, flow->middle);
    for (size_t i = 0; i < n; i++)
        flow->velocity[i] += step * flow->change[i];
}

/* To t = 10 on one and two ranks, with numbers as floats between ranks */
START_TEST(taylor_green) {
    enum { STEPS = 100 };
    struct flow exact, narrow;
    int steps = harness_cases(harness_nranks <= 2 ? STEPS : STEPS / 5);
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    double worst = 0;
    begin_flow(&exact, REDIST_WIRE_SAME);
    begin_flow(&narrow, REDIST_WIRE_FLOAT);
    check_ok(fftnd_plan_get_info(narrow.plan, &info));
    check_all((info.wire == REDIST_WIRE_FLOAT) == (harness_nranks > 1), "the format is %d",
              (int)info.wire);
    start_flow(&exact);
    start_flow(&narrow);
    double first = energy_of(&exact), last = first, other = 0;
    check_all(fabs(first - 0.125) < 1e-12, "the energy begins with %g", first);
    for (int i = 0; i < steps; i++) {
        advance(&exact);
        advance(&narrow);
        last = energy_of(&exact);
        other = energy_of(&narrow);
        worst = fmax(worst, fabs(last - other) / last);
    }
    check_all(last > 0.01 * first && (steps < STEPS || last < 0.7 * first),
              "the energy ends with %g", last);
    check_all(worst <= 1e-6, "energies differ by %g", worst);
    end_flow(&exact);
    end_flow(&narrow);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {taylor_green, NULL};
    return harness_run(argc, argv, "test_fftnd_wire_flow", tests);
}
