/* SPDX-License-Identifier: BSD-3-Clause */
/* Scratch memory of stages over arrays: one run at a time, so that all share it. */
#include "stage.h"

size_t fftnd__stage_area(const struct fftnd__stage *stage) {
    return stage->applied != NULL ? fftnd__applied_area(stage->applied)
                                  : fftnd__kernel_area(&stage->kernel);
}

int fftnd__stage_set_area(const struct fftnd__stage *stage, void *area) {
    return stage->applied != NULL ? fftnd__applied_set_area(stage->applied, area)
                                  : fftnd__kernel_set_area(&stage->kernel, area);
}

/* Scratch memory of the library, then that of chunks. */
static size_t library_area(const struct fftnd__stage *stage) {
    size_t bytes = fftnd__stage_area(stage);
    return (bytes + FFTND__DEVICE_ALIGNMENT - 1) / FFTND__DEVICE_ALIGNMENT *
           FFTND__DEVICE_ALIGNMENT;
}

static struct fftnd__side *side_in_area(struct fftnd__stage *stage) {
    return stage->tile_bytes != 0 || stage->offload != NULL ? NULL
           : !stage->in.in_array                            ? &stage->in
           : !stage->out.in_array                           ? &stage->out
                                                            : NULL;
}

static int has_chunks_applied(const struct fftnd__stage *stage) {
    return stage->applied != NULL && stage->tile_bytes == 0;
}

/* Where scratch memory of the library ends, that of two kernels if pieces have two streams. */
static size_t library_end(const struct fftnd__stage *stage) {
    return library_area(stage) * (stage->second != NULL ? 2 : 1);
}

static size_t area_of(struct fftnd__stage *stage) {
    if (has_chunks_applied(stage))
        return library_area(stage) + stage->applied->places.bytes;
    const struct fftnd__side *side = side_in_area(stage);
    return library_end(stage) + (side != NULL ? side->bytes : 0);
}

static int set_area(struct fftnd__stage *stage, char *area) {
    struct fftnd__side *side = side_in_area(stage);
    if (has_chunks_applied(stage)) {
        stage->in.memory = area + library_area(stage) + stage->applied->places.in;
        stage->out.memory = area + library_area(stage) + stage->applied->places.out;
    } else if (side != NULL) {
        side->memory = area + library_end(stage);
    }
    if (stage->second != NULL)
        REDIST_TRY(fftnd__kernel_set_area(stage->second, area + library_area(stage)));
    return fftnd__stage_set_area(stage, area);
}

size_t fftnd__stages_tiles(const struct fftnd__program *program) {
    size_t most = 0;
    for (int i = 1; i <= program->nsteps; i++) {
        const struct fftnd__stage *stage = program->steps[i].stage;
        if (stage != NULL && stage->tile_bytes > most)
            most = stage->tile_bytes;
    }
    return most;
}

/* Of sides that lie in an array only the other one has memory. */
void fftnd__set_stages_tiles(const struct fftnd__program *program, char *memory) {
    for (int i = 1; i <= program->nsteps; i++) {
        struct fftnd__stage *stage = program->steps[i].stage;
        if (stage == NULL || stage->tile_bytes == 0)
            continue;
        if (stage->applied != NULL) {
            stage->in.memory = memory + stage->applied->places.in;
            stage->out.memory = memory + stage->applied->places.out;
        } else {
            size_t before =
                stage->in.in_array || stage->share == stage->in.bytes ? 0 : stage->in.bytes;
            stage->in.memory = memory;
            stage->out.memory = memory + before;
        }
    }
}

size_t fftnd__stages_area(const struct fftnd__program *program) {
    size_t most = 0;
    for (int i = 1; i <= program->nsteps; i++) {
        struct fftnd__stage *stage = program->steps[i].stage;
        size_t bytes = stage != NULL && stage->offload == NULL ? area_of(stage) : 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

int fftnd__set_stages_area(const struct fftnd__program *program, void *area) {
    for (int i = 1; i <= program->nsteps; i++) {
        struct fftnd__stage *stage = program->steps[i].stage;
        if (stage != NULL && stage->offload == NULL)
            REDIST_TRY(set_area(stage, area));
    }
    return REDIST_OK;
}
