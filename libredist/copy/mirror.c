/* SPDX-License-Identifier: BSD-3-Clause */
#include "mirror.h"

static const struct redist__side *side_of(const struct redist__mirror *mirror) {
    return &mirror->problem->schedule->side[mirror->side];
}

static void prepare(struct redist__mirror *mirror) {
    const struct redist__schedule *schedule = mirror->problem->schedule;
    const struct redist__side *side = side_of(mirror);
    for (int peer = 0; peer < schedule->context->size; peer++) {
        if (peer == schedule->context->rank)
            continue;
        redist__copy_prepare(&mirror->fetch.copies[peer], schedule->ndims, side->parts[peer].count,
                             schedule->item, side->stride, side->stride);
        mirror->store.copies[peer] = mirror->fetch.copies[peer];
    }
}

int redist__mirror_create(struct redist__mirror *mirror, const struct redist__problem *problem,
                          int side) {
    *mirror = (struct redist__mirror){.problem = problem, .side = side};
    if (!problem->staged)
        return REDIST_OK;
    int size = problem->schedule->context->size;
    int code = redist__batch_create(&mirror->fetch, problem->space, size);
    if (code == REDIST_OK)
        code = redist__batch_create(&mirror->store, problem->space, size);
    if (code != REDIST_OK)
        return code;
    prepare(mirror);
    return problem->space->allocate_pinned(side_of(mirror)->bytes, (void **)&mirror->memory);
}

void redist__mirror_free(struct redist__mirror *mirror) {
    redist__batch_free(&mirror->fetch);
    redist__batch_free(&mirror->store);
    if (mirror->memory != NULL)
        mirror->problem->space->release_pinned(mirror->memory);
    mirror->memory = NULL;
}

void *redist__mirror_of(const struct redist__mirror *mirror, const void *array) {
    return mirror->memory != NULL ? mirror->memory : (void *)(size_t)array;
}

int redist__mirror_fetch(struct redist__mirror *mirror, const void *array, int lane) {
    if (mirror->memory == NULL)
        return REDIST_OK;
    const struct redist__side *side = side_of(mirror);
    for (int peer = 0; peer < mirror->fetch.count; peer++) {
        mirror->fetch.sources[peer] = (const char *)array + side->parts[peer].offset;
        mirror->fetch.destinations[peer] = mirror->memory + side->parts[peer].offset;
    }
    return mirror->problem->space->batch_run(&mirror->fetch, 0, mirror->fetch.count,
                                             mirror->problem->space->stream(lane));
}

int redist__mirror_store(struct redist__mirror *mirror, void *array, int lane) {
    if (mirror->memory == NULL)
        return REDIST_OK;
    const struct redist__side *side = side_of(mirror);
    for (int peer = 0; peer < mirror->store.count; peer++) {
        mirror->store.sources[peer] = mirror->memory + side->parts[peer].offset;
        mirror->store.destinations[peer] = (char *)array + side->parts[peer].offset;
    }
    return mirror->problem->space->batch_run(&mirror->store, 0, mirror->store.count,
                                             mirror->problem->space->stream(lane));
}

size_t redist__mirrors_bytes(const struct redist__mirror mirrors[2]) {
    size_t bytes = 0;
    for (int side = 0; side < 2; side++)
        bytes += mirrors[side].memory != NULL ? side_of(&mirrors[side])->bytes : 0;
    return bytes;
}

int redist__types_preference(const struct redist__problem *problem, int variant) {
    (void)variant;
    return problem->space->asynchronous && !problem->staged ? REDIST__BY_NAME : 0;
}
