/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to a piece: serial transforms along its whole axes, and truncation. */
#ifndef FFTND__KERNEL_H
#define FFTND__KERNEL_H

#include "../geometry/cut.h"
#include "prefetch.h"
#include "twiddle.h"

/* How pieces lie on one side of a kernel. */
struct fftnd__side {
    int in_array;      /* each where it is in the array of this rank, no piece apart */
    char *memory;      /* to plan on: of the first piece, or an array */
    size_t place;      /* bytes from the beginning of the memory of a piece, if it has that */
    size_t item;       /* bytes of an element */
    ptrdiff_t *stride; /* bytes */
    size_t bytes;      /* of a piece */
    redist_index
        padded; /* on a device: elements of a line of the last axis with its padding; 0 = none */
    const struct fftnd__truncation
        *truncation; /* where a piece has more modes than the array; NULL = nowhere */
};

/* Never NULL. */
static inline const struct fftnd__truncation *fftnd__truncated(const struct fftnd__side *side) {
    static const struct fftnd__truncation none;
    return side->truncation != NULL ? side->truncation : &none;
}

/* Two plans of a library: for pieces like the first one and for shorter ones. */
struct fftnd__kernel_plan {
    int from_out, to_in; /* not from the block before to the one after */
    const struct lines__library *library[2];
    void *serial[2]; /* of these */
};

struct fftnd__kernel {
    const struct lines__library *library;
    enum fftnd_precision precision;
    int is_forward;
    int halves; /* forward, an axis of real elements */
    int nplans; /* one after the other */
    struct fftnd__kernel_plan *plans;
    struct fftnd__rows *rows[2];      /* instead of the first one's; NULL = none */
    struct fftnd__twiddles *twiddles; /* behind forward plans, before backward ones; NULL = none */
};

/* What a kernel is made for. */
struct fftnd__kernel_problem {
    const struct fftnd__transform *transform;
    const struct fftnd__step *step; /* after the step of the array before */
    int direction;
    const struct fftnd__cut *cut;
    const struct fftnd__side *in, *out;
    const struct lines__library *library;
    void *stream;             /* of the library */
    struct fftnd__pool *pool; /* NULL = each thread that executes it does so alone */
    int keep_input;
    int may_ruin;   /* the input, where it is in an array */
    int prefetches; /* rows of the input are fetched ahead */
};

/* What the library has to do along one array axis alone, of complex lines from one side to the other, in pieces like
 * the first one or shorter ones. */
struct lines__problem fftnd__kernel_lines(const struct fftnd__kernel_problem *problem,
                                          const struct fftnd__side *in,
                                          const struct fftnd__side *out, int axis, int is_shorter);

/* Not collective. REDIST_ERR_SERIAL, REDIST_ERR_MEMORY; then it is freed all the same. */
int fftnd__kernel_create(struct fftnd__kernel *kernel, const struct fftnd__kernel_problem *problem);
void fftnd__kernel_free(struct fftnd__kernel *kernel);

/* Transforms a piece, or begins to. The blocks are the piece before and after. Results may be multiplied by *factor on
 * the way, which is 1 then; NULL = they are not. */
int fftnd__kernel_run(const struct fftnd__kernel *kernel, int is_shorter,
                      const struct fftnd__truncation *truncation_in,
                      const struct fftnd__truncation *truncation_out, const struct fftnd__block *in,
                      const struct fftnd__block *out, long double *factor);

/* Scratch memory that the library's plans need, and one for all of them to share. */
size_t fftnd__kernel_area(const struct fftnd__kernel *kernel);
int fftnd__kernel_set_area(const struct fftnd__kernel *kernel, void *area);

#endif
