/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow.h"
#include "example.h"
#include <math.h>

/* ---------------------------------------------------------------- beginning and end */

static void plan_transforms(struct flow *flow, const struct options *options) {
    fftnd_options choice = FFTND_OPTIONS_DEFAULT;
    choice.grid_ndims = options->grid_ndims;
    choice.grid = options->grid_ndims > 0 ? options->grid : NULL;
    choice.scaling = FFTND_SCALE_FORWARD; /* spectral values are amplitudes */
    choice.batch = 3;                     /* the components travel together */
    choice.method = options->method;
    choice.space = flow->space->redist;
    redist_index sizes[3] = {flow->size, flow->size, flow->size};
    int modes = 2 * flow_cutoff(flow->size) + 1; /* -cutoff .. cutoff */
    redist_index retained[3] = {modes, modes, modes};
    choice.retained_modes = flow->space->drops_waves ? retained : NULL;
    check(
        fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &choice, &flow->plan));
    fftnd_layout_init(&flow->physical, sizeof flow->physical);
    fftnd_layout_init(&flow->spectral, sizeof flow->spectral);
    check(fftnd_plan_layout(flow->plan, FFTND_PHYSICAL, &flow->physical));
    check(fftnd_plan_layout(flow->plan, FFTND_SPECTRAL, &flow->spectral));
}

/* The first axis is not the halved one: its extent is the number of points or waves. No extent is larger than
 * flow->size, an int. */
static struct block block_of(const struct flow *flow, const fftnd_layout *layout) {
    struct block block = {.next = layout->batch_stride,
                          .period = (int)layout->sizes[0],
                          .cutoff = flow_cutoff(flow->size)};
    for (int axis = 0; axis < 3; axis++) {
        block.start[axis] = (int)layout->start[axis];
        block.count[axis] = (int)layout->count[axis];
        block.stride[axis] = layout->stride[axis];
    }
    return block;
}

static void start_vortex(struct flow *flow) {
    flow->space->set_vortex(
        &(struct work){.block = flow->points, .points = flow->velocity_at_points});
    check(fftnd_forward(flow->plan, flow->velocity_at_points, flow->velocity));
    flow->space->cut(&(struct work){.block = flow->waves, .result = flow->velocity});
}

void flow_create(struct flow *flow, const struct options *options, double viscosity) {
    flow->space = options->space;
    flow->size = options->size;
    flow->viscosity = viscosity;
    plan_transforms(flow, options);
    flow->points = block_of(flow, &flow->physical);
    flow->waves = block_of(flow, &flow->spectral);
    flow->velocity = flow_allocate(flow);
    flow->velocity_at_points = space_allocate(flow->space, flow->physical.bytes);
    flow->vorticity_at_points = space_allocate(flow->space, flow->physical.bytes);
    start_vortex(flow);
}

void flow_free(struct flow *flow) {
    check(fftnd_plan_free(&flow->plan));
    release(flow->velocity);
    release(flow->velocity_at_points);
    release(flow->vorticity_at_points);
}

struct amplitude *flow_allocate(const struct flow *flow) {
    return space_allocate(flow->space, flow->spectral.bytes);
}

/* ---------------------------------------------------------------- the equation of motion */

static void curl_at_points(struct flow *flow, const struct amplitude *velocity,
                           struct amplitude *work) {
    flow->space->curl(&(struct work){.block = flow->waves, .velocity = velocity, .result = work});
    check(fftnd_backward(flow->plan, work, flow->vorticity_at_points));
}

void flow_slope(struct flow *flow, struct amplitude *velocity, struct amplitude *slope) {
    check(fftnd_backward(flow->plan, velocity, flow->velocity_at_points));
    curl_at_points(flow, velocity, slope);
    flow->space->cross(flow->points.next, flow->velocity_at_points, flow->vorticity_at_points);
    check(fftnd_forward(flow->plan, flow->velocity_at_points, slope));
    flow->space->finish_slope(&(struct work){
        .block = flow->waves, .velocity = velocity, .result = slope, .viscosity = flow->viscosity});
}

void flow_vorticity(struct flow *flow, struct amplitude *work) {
    curl_at_points(flow, flow->velocity, work);
}

double flow_largest_speed(struct flow *flow) {
    check(fftnd_backward(flow->plan, flow->velocity, flow->velocity_at_points));
    return largest_of_all(flow->space->largest_speed(flow->points.next, flow->velocity_at_points));
}
