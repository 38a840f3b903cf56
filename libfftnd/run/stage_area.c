/* SPDX-License-Identifier: BSD-3-Clause */
/* Scratch memory of passes over arrays: one run at a time, so that all share it. */
#include "stage.h"

size_t fftnd__pass_area(const struct fftnd__pass *pass) {
    return pass->applied != NULL ? fftnd__applied_area(pass->applied)
                                 : fftnd__kernel_area(&pass->kernel);
}

int fftnd__pass_set_area(const struct fftnd__pass *pass, void *area) {
    return pass->applied != NULL ? fftnd__applied_set_area(pass->applied, area)
                                 : fftnd__kernel_set_area(&pass->kernel, area);
}

/* Scratch memory of the library, then that of chunks. */
static size_t library_area(const struct fftnd__pass *pass) {
    size_t bytes = fftnd__pass_area(pass);
    return (bytes + FFTND__DEVICE_ALIGNMENT - 1) / FFTND__DEVICE_ALIGNMENT *
           FFTND__DEVICE_ALIGNMENT;
}

static struct fftnd__side *side_in_area(struct fftnd__pass *pass) {
    return pass->tile_bytes != 0 || pass->offload != NULL ? NULL
           : !pass->in.in_array                           ? &pass->in
           : !pass->out.in_array                          ? &pass->out
                                                          : NULL;
}

static int has_chunks_applied(const struct fftnd__pass *pass) {
    return pass->applied != NULL && pass->tile_bytes == 0;
}

/* Where scratch memory of the library ends, that of two kernels if pieces have two streams. */
static size_t library_end(const struct fftnd__pass *pass) {
    return library_area(pass) * (pass->second != NULL ? 2 : 1);
}

static size_t area_of(struct fftnd__pass *pass) {
    if (has_chunks_applied(pass))
        return library_area(pass) + pass->applied->places.bytes;
    const struct fftnd__side *side = side_in_area(pass);
    return library_end(pass) + (side != NULL ? side->bytes : 0);
}

static int set_area(struct fftnd__pass *pass, char *area) {
    struct fftnd__side *side = side_in_area(pass);
    if (has_chunks_applied(pass)) {
        pass->in.memory = area + library_area(pass) + pass->applied->places.in;
        pass->out.memory = area + library_area(pass) + pass->applied->places.out;
    } else if (side != NULL) {
        side->memory = area + library_end(pass);
    }
    if (pass->second != NULL)
        REDIST_TRY(fftnd__kernel_set_area(pass->second, area + library_area(pass)));
    return fftnd__pass_set_area(pass, area);
}

size_t fftnd__passes_tiles(const struct fftnd__program *program) {
    size_t most = 0;
    for (int i = 1; i <= program->nsteps; i++) {
        const struct fftnd__pass *pass = program->steps[i].pass;
        if (pass != NULL && pass->tile_bytes > most)
            most = pass->tile_bytes;
    }
    return most;
}

/* Of sides that lie in an array only the other one has memory. */
void fftnd__set_passes_tiles(const struct fftnd__program *program, char *memory) {
    for (int i = 1; i <= program->nsteps; i++) {
        struct fftnd__pass *pass = program->steps[i].pass;
        if (pass == NULL || pass->tile_bytes == 0)
            continue;
        if (pass->applied != NULL) {
            pass->in.memory = memory + pass->applied->places.in;
            pass->out.memory = memory + pass->applied->places.out;
        } else {
            size_t before = pass->in.in_array || pass->share == pass->in.bytes ? 0 : pass->in.bytes;
            pass->in.memory = memory;
            pass->out.memory = memory + before;
        }
    }
}

size_t fftnd__passes_area(const struct fftnd__program *program) {
    size_t most = 0;
    for (int i = 1; i <= program->nsteps; i++) {
        struct fftnd__pass *pass = program->steps[i].pass;
        size_t bytes = pass != NULL && pass->offload == NULL ? area_of(pass) : 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

int fftnd__set_passes_area(const struct fftnd__program *program, void *area) {
    for (int i = 1; i <= program->nsteps; i++) {
        struct fftnd__pass *pass = program->steps[i].pass;
        if (pass != NULL && pass->offload == NULL)
            REDIST_TRY(set_area(pass, area));
    }
    return REDIST_OK;
}
