/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel.h"

/* A part of the transform: from which side to which, over which axes. */
struct part {
    const struct fftnd__side *in, *out;
    struct fftnd__step before, step;
    int narrow_axis; /* with the modes that the array retains; -1 = none */
};

static int create_variant(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem,
                          const struct part *part, int is_shorter) {
    const struct fftnd__partition *partition = problem->partition;
    ptrdiff_t in[REDIST_MAX_NDIMS], out[REDIST_MAX_NDIMS];
    redist_index count[REDIST_MAX_NDIMS];
    struct fftnd__serial_problem serial;
    struct fftnd__piece piece;
    int narrow = part->narrow_axis;
    fftnd__find_piece(partition, is_shorter ? partition->n - 1 : 0, &piece);
    fftnd__widen(&problem->out->truncation, partition->ndims, piece.after, count);
    if (narrow >= 0)
        count[narrow] = kernel->is_forward ? partition->after[narrow] : partition->before[narrow];
    for (int i = 0; i < partition->ndims; i++) {
        in[i] = part->in->stride[i] / (ptrdiff_t)part->in->item;
        out[i] = part->out->stride[i] / (ptrdiff_t)part->out->item;
    }
    fftnd__describe_serial(problem->transform, &part->before, &part->step, problem->direction, in,
                           out, count, &serial);
    serial.stream = problem->stream;
    serial.pool = problem->pool;
    serial.keep_input = problem->keep_input;
    if (kernel->nplans == 1 && problem->prefetches && fftnd__rows_suit(&serial))
        return fftnd__rows_create(&kernel->rows[is_shorter], kernel->library, &serial,
                                  part->in->memory, part->out->memory);
    return kernel->library->create(&serial, part->in->memory, part->out->memory,
                                   &kernel->serial[kernel->nplans - 1][is_shorter]);
}

/* For pieces like the first one, and for shorter ones if there are some. */
static int create_both(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem,
                       const struct part *part) {
    struct fftnd__piece last;
    kernel->nplans++;
    fftnd__find_piece(problem->partition, problem->partition->n - 1, &last);
    int code = create_variant(kernel, problem, part, 0);
    return code == REDIST_OK && last.shorter ? create_variant(kernel, problem, part, 1) : code;
}

/* The halved axis by itself, and the others only for the modes of it that the array retains. */
static int create_apart(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem,
                        const struct part *together) {
    int forward = kernel->is_forward, halved = problem->transform->chain.halved;
    struct part alone = *together, others = *together;
    alone.step.naxes = 1;
    alone.step.axes[0] = halved;
    others.step.naxes--;
    others.in = others.out = forward ? together->out : together->in;
    others.before.real = others.step.real = 0;
    others.narrow_axis = halved + problem->transform->batch.shift;
    int code = create_both(kernel, problem, forward ? &alone : &others);
    return code == REDIST_OK ? create_both(kernel, problem, forward ? &others : &alone) : code;
}

int fftnd__kernel_create(struct fftnd__kernel *kernel,
                         const struct fftnd__kernel_problem *problem) {
    const struct fftnd__chain *chain = &problem->transform->chain;
    const struct fftnd__step *step = problem->step, *before = step - 1;
    const struct part part = {problem->in, problem->out, *before, *step, -1};
    *kernel = (struct fftnd__kernel){.library = problem->library,
                                     .precision = problem->transform->precision,
                                     .is_forward = problem->direction == REDIST_FORWARD};
    int apart = before->real != step->real && step->naxes > 1 &&
                chain->modes[chain->halved] < chain->points[chain->halved];
    return apart ? create_apart(kernel, problem, &part) : create_both(kernel, problem, &part);
}

void fftnd__kernel_free(struct fftnd__kernel *kernel) {
    for (int i = 0; i < 4; i++)
        if (kernel->serial[i / 2][i % 2] != NULL)
            kernel->library->destroy(kernel->serial[i / 2][i % 2]);
    for (int i = 0; i < 2; i++)
        fftnd__rows_free(&kernel->rows[i], kernel->library);
    *kernel = (struct fftnd__kernel){0};
}

/* A halved axis that is truncated has a plan of its own, forward the first, backward the last. */
int fftnd__kernel_run(const struct fftnd__kernel *kernel, int is_shorter,
                      const struct fftnd__truncation *truncation_in,
                      const struct fftnd__truncation *truncation_out, const struct fftnd__block *in,
                      const struct fftnd__block *out) {
    int apart = kernel->nplans > 1;
    const struct fftnd__block *between = apart && !kernel->is_forward ? in : out;
    const struct fftnd__rows *rows = &kernel->rows[is_shorter];
    fftnd__pad_modes(truncation_in, in);
    int code =
        rows->row != NULL
            ? fftnd__rows_run(rows, kernel->library, in->memory, between->memory)
            : kernel->library->execute(kernel->serial[0][is_shorter], in->memory, between->memory);
    fftnd__add_half_way(truncation_out, FFTND__NYQUIST_MIRROR, between);
    if (code == REDIST_OK && apart)
        code =
            kernel->library->execute(kernel->serial[1][is_shorter], between->memory, out->memory);
    fftnd__add_half_way(truncation_out, FFTND__NYQUIST_PAIR, out);
    return code;
}

size_t fftnd__kernel_area(const struct fftnd__kernel *kernel) {
    size_t most = 0;
    for (int i = 0; i < 2 && kernel->library->area_bytes != NULL; i++)
        if (kernel->serial[0][i] != NULL) {
            size_t bytes = kernel->library->area_bytes(kernel->serial[0][i]);
            most = bytes > most ? bytes : most;
        }
    return most;
}

int fftnd__kernel_set_area(const struct fftnd__kernel *kernel, void *area) {
    int code = REDIST_OK;
    for (int i = 0; i < 2 && kernel->library->set_area != NULL && code == REDIST_OK; i++)
        if (kernel->serial[0][i] != NULL)
            code = kernel->library->set_area(kernel->serial[0][i], area);
    return code;
}
