/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow.h"
#include "example.h"
#include <math.h>

/* ---------------------------------------------------------------- beginning and end */

static void plan_transforms(struct flow *flow, const struct options *options) {
    fftnd_options choice = FFTND_OPTIONS_DEFAULT;
    choice.grid_ndims = options->grid_ndims;
    choice.grid = options->grid_ndims > 0 ? options->grid : NULL;
    choice.effort = options->repeatable ? FFTND_ESTIMATE : FFTND_MEASURE;
    choice.scaling = FFTND_SCALE_FORWARD; /* spectral values are amplitudes */
    choice.batch = COMPONENTS;            /* the components travel together */
    choice.method = options->method;
    choice.space = flow->space->redist;
    redist_index sizes[3] = {flow->size, flow->size, flow->size};
    int modes = 2 * flow_cutoff(flow->size) + 1; /* -cutoff .. cutoff */
    redist_index retained[3] = {modes, modes, modes};
    choice.retained_modes = retained;
    check(
        fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &choice, &flow->plan));
    fftnd_layout_init(&flow->physical, sizeof flow->physical);
    fftnd_layout_init(&flow->spectral, sizeof flow->spectral);
    check(fftnd_plan_layout(flow->plan, FFTND_PHYSICAL, &flow->physical));
    check(fftnd_plan_layout(flow->plan, FFTND_SPECTRAL, &flow->spectral));
}

/* On the grid that the transforms of three components have. */
static void plan_operators(struct flow *flow, const struct options *options) {
    fftnd_operator_options products = FFTND_OPERATOR_OPTIONS_DEFAULT;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    fftnd_options choice = FFTND_OPTIONS_DEFAULT;
    int modes = 2 * flow_cutoff(flow->size) + 1;
    redist_index sizes[3] = {flow->size, flow->size, flow->size},
                 retained[3] = {modes, modes, modes};
    check(fftnd_plan_get_info(flow->plan, &info));
    choice.grid_ndims = info.grid_ndims;
    choice.grid = info.grid;
    choice.order = info.order;
    choice.effort = options->repeatable ? FFTND_ESTIMATE : FFTND_MEASURE;
    choice.scaling = FFTND_SCALE_FORWARD;
    choice.method = options->method;
    choice.retained_modes = retained;
    choice.space = flow->space->redist;
    choice.mapped_arrays = choice.space == REDIST_SPACE_HOST; /* all are from redist_alloc */
    check(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &choice,
                            &flow->component));
    products.inputs = COMPONENTS;
    products.outputs = PRODUCTS;
    flow->space->set_products(&products);
    check(fftnd_operator_create(flow->component, FFTND_POINTS, &products, &flow->multiply));
    check(fftnd_operator_create(flow->component, FFTND_CURL, NULL, &flow->curl));
}

/* The first axis is not the halved one: its extent is the number of points or waves. No extent is larger than
 * flow->size, an int. */
static struct block block_of(const fftnd_layout *layout) {
    struct block block = {.next = layout->batch_stride, .period = (int)layout->sizes[0]};
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
}

void flow_create(struct flow *flow, const struct options *options, double viscosity) {
    flow->space = options->space;
    flow->size = options->size;
    flow->viscosity = viscosity;
    plan_transforms(flow, options);
    plan_operators(flow, options);
    flow->points = block_of(&flow->physical);
    flow->waves = block_of(&flow->spectral);
    flow->velocity = flow_allocate(flow, COMPONENTS);
    flow->products = flow_allocate(flow, PRODUCTS);
    flow->velocity_at_points = space_allocate(flow->space, flow->physical.bytes);
    flow->vorticity_at_points = space_allocate(flow->space, flow->physical.bytes);
    start_vortex(flow);
}

void flow_free(struct flow *flow) {
    check(fftnd_operator_free(&flow->multiply));
    check(fftnd_operator_free(&flow->curl));
    check(fftnd_plan_free(&flow->component));
    check(fftnd_plan_free(&flow->plan));
    release(flow->velocity);
    release(flow->products);
    release(flow->velocity_at_points);
    release(flow->vorticity_at_points);
}

struct amplitude *flow_allocate(const struct flow *flow, int fields) {
    return space_allocate(flow->space, flow->spectral.bytes / COMPONENTS * (size_t)fields);
}

/* ---------------------------------------------------------------- the equation of motion */

void flow_advance(struct flow *flow, const struct stage *stage, struct amplitude *memory) {
    check(fftnd_apply_physical(flow->component, flow->multiply, flow->velocity, flow->products));
    flow->space->advance(&(struct work){.block = flow->waves,
                                        .velocity = flow->velocity,
                                        .memory = memory,
                                        .products = flow->products,
                                        .stage = *stage,
                                        .viscosity = flow->viscosity});
}

void flow_vorticity(struct flow *flow) {
    check(fftnd_backward(flow->plan, flow->velocity, flow->velocity_at_points));
    check(fftnd_apply(flow->component, flow->curl, flow->velocity_at_points,
                      flow->vorticity_at_points));
}

double flow_largest_speed(struct flow *flow) {
    check(fftnd_backward(flow->plan, flow->velocity, flow->velocity_at_points));
    return largest_of_all(flow->space->largest_speed(flow->points.next, flow->velocity_at_points));
}
