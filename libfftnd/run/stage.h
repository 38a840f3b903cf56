/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stage: one serial transform of a program on its way through memory, source -> kernel -> sink, cut in pieces of
 * which some are in flight. Whole arrays, segments that are sent as they are done, tiles of the size of a cache, and
 * tiles of a device's memory differ in how it is cut, in the memory of the pieces, and in who works on them.
 */
#ifndef FFTND__STAGE_H
#define FFTND__STAGE_H

#include "../kernels/applied.h"
#include "../kernels/stores.h"
#include "../workers/offload.h"
#include "stage_cut.h"

/* Of what lies in scratch memory of a device. */
enum { FFTND__DEVICE_ALIGNMENT = 256 };

struct fftnd__stage {
    struct fftnd__cut cut;
    struct fftnd__kernel kernel;
    struct fftnd__kernel *second;   /* every other piece's, in a second stream; NULL = none */
    struct fftnd__applied *applied; /* instead of the kernel, where an operator is; else NULL */
    struct fftnd__direct_stores
        stores; /* after the kernel, where the pieces go, all or this rank's part, or into the array before that */
    struct fftnd__truncation *truncation; /* of its sides; NULL = they have none */
    struct fftnd__side in, out;           /* the same memory when the kernel may run in place */
    struct fftnd__pool *pool;       /* threads that share out the pieces, or move each of them */
    struct fftnd__offload *offload; /* where pieces are transformed; NULL = where the arrays are */
    int window; /* pieces in flight, which one thread begins and ends; 1 = each thread has one */
    size_t tile_bytes; /* of pieces in the caches, of all threads; 0 = they have other memory */
    size_t share;      /* bytes between the pieces of one thread, or slot, and of the next */
    void **events;     /* of pieces that are sent when they are done; NULL = done when begun */
};

/* Tiles of a device: what follows them in its memory and is there once, for a step with an operator. */
char *fftnd__stage_shared(const struct fftnd__stage *stage);

/* How it is cut into tiles, and what its kernel, or the operator's, is made for. */
struct fftnd__tiling fftnd__stage_tiling(const struct fftnd__program *program,
                                         const struct fftnd__transform *transform,
                                         const struct fftnd__step *step);
struct fftnd__kernel_problem fftnd__stage_problem(const struct fftnd__stage *stage,
                                                  const struct fftnd__transform *transform,
                                                  const struct fftnd__step *step);
struct fftnd__applied_problem fftnd__stage_applied_problem(const struct fftnd__stage *stage,
                                                           const struct fftnd__transform *transform,
                                                           const struct fftnd__step *step);
void fftnd__stage_free_kernels(struct fftnd__stage *stage);

/* Scratch memory that the library wants for a stage, and one to use. */
size_t fftnd__stage_area(const struct fftnd__stage *stage);
int fftnd__stage_set_area(const struct fftnd__stage *stage, void *area);

/* Memory of tiles in the caches that any of the stages needs, and some for all of them to share. */
size_t fftnd__stages_tiles(const struct fftnd__program *program);
void fftnd__set_stages_tiles(const struct fftnd__program *program, char *memory);

/* Scratch memory that any of the stages over arrays needs, and one for all of them to share. */
size_t fftnd__stages_area(const struct fftnd__program *program);
int fftnd__set_stages_area(const struct fftnd__program *program, void *area);

#endif
