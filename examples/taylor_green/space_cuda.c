/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields on CUDA devices, which the ranks of a node take in turn. */
#include "../check_cuda.h"
#include "../choose_device.h"
#include "kernels.h"
#include "space.h"

/* What fails here fails again in `absent`, which can say so. */
static void prepare(void) {
    (void)choose_device();
}

static void clear(void *array, size_t bytes) {
    CHECK(cudaMemset(array, 0, bytes));
}

static void copy(void *to, const void *from, size_t bytes) {
    CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
}

static void start(const struct work *work) {
    CHECK(kernel_set_vortex(work));
}

static void advance(const struct work *work) {
    CHECK(kernel_advance(work));
}

static void measure(const struct work *work) {
    CHECK(kernel_measure(work));
}

static int multiply_box(void *data, const fftnd_box *box) {
    struct products products;
    (void)data;
    for (int axis = 0; axis < 3; axis++) {
        products.count[axis] = box->count[axis];
        products.in[axis] = box->input_stride[axis];
        products.out[axis] = box->output_stride[axis];
    }
    for (int field = 0; field < COMPONENTS; field++)
        products.inputs[field] = box->inputs[field];
    for (int field = 0; field < PRODUCTS; field++)
        products.outputs[field] = box->outputs[field];
    CHECK(kernel_multiply(&products, box->stream));
    return 0;
}

static void set_products(fftnd_operator_options *options) {
    options->box_function = multiply_box;
}

static double largest_speed(ptrdiff_t n, const double *velocity) {
    double largest = 0;
    CHECK(kernel_largest_speed(n, velocity, &largest));
    return largest;
}

const struct space space_cuda = {.name = "cuda",
                                 .redist = REDIST_SPACE_CUDA,
                                 .prepare = prepare,
                                 .absent = choose_device,
                                 .clear = clear,
                                 .copy = copy,
                                 .set_vortex = start,
                                 .advance = advance,
                                 .measure = measure,
                                 .set_products = set_products,
                                 .largest_speed = largest_speed};
