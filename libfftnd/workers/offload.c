/* SPDX-License-Identifier: BSD-3-Clause */
#include "offload.h"

const struct fftnd__workplace *fftnd__workplace_of(const redist__space *space,
                                                   const struct fftnd__offload *offload) {
    static const struct fftnd__workplace
        host = {.alignment = FFTND__ALIGNMENT, .in_caches = 1, .fuses = 1},
        beside_host = {.alignment = FFTND__ALIGNMENT, .copies_tiles = 1, .fuses = 1},
        device = {.alignment = FFTND__DEVICE_ALIGNMENT, .sends_segments = 1, .scratch_in_work = 1};
    return space->id != REDIST_SPACE_HOST ? &device : offload != NULL ? &beside_host : &host;
}

/* ---------------------------------------------------------------- the device */

/* Finds the default limit: four fifths of the free memory, a guess, divided among the ranks of a device. Collective. */
static int find_limit(struct fftnd__offload *offload, MPI_Comm comm) {
    int nranks, code;
    size_t bytes = 0, ranks = 0;
    unsigned long long mine[2] = {0, 0}, *all;
    MPI_Comm_size(comm, &nranks);
    all = redist_calloc((size_t)nranks, sizeof mine);
    code = all != NULL
               ? offload->device->find_free(&bytes, &mine[0])
               : redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for %d ranks", nranks);
    mine[1] = bytes;
    code = redist_agree(comm, code);
    if (code == REDIST_OK)
        code = redist_all_gather(comm, mine, sizeof mine, all);
    for (int rank = 0; rank < nranks && code == REDIST_OK; rank++)
        if (all[2 * rank] == mine[0]) {
            ranks++;
            bytes = all[2 * rank + 1] < bytes ? (size_t)all[2 * rank + 1] : bytes;
        }
    if (code == REDIST_OK)
        offload->limit = bytes / 5 * 4 / ranks;
    redist_release(all);
    return code;
}

/* Finds the least limit of all ranks. Collective, after find_limit has failed, too. */
static int find_least_limit(struct fftnd__offload *offload, MPI_Comm comm, int code) {
    unsigned long long least = offload->limit;
    int reduced = redist_all_reduce(comm, &least, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN);
    offload->least_limit = (size_t)least;
    return code == REDIST_OK ? reduced : code;
}

static int create_streams(struct fftnd__offload *offload) {
    for (int i = 0; i < FFTND__ACTIVITIES; i++) {
        REDIST_TRY(offload->device->stream_create(&offload->streams[i]));
        for (int slot = 0; slot < FFTND__SLOTS; slot++)
            REDIST_TRY(offload->device->event_create(&offload->events[slot][i]));
    }
    return REDIST_OK;
}

int fftnd__offload_create(MPI_Comm comm, enum redist_space device, size_t limit,
                          struct fftnd__offload **result) {
    struct fftnd__offload *offload = *result = redist_calloc(1, sizeof *offload);
    int code = REDIST_OK;
    if (offload == NULL)
        code = redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a device");
    else
        *offload = (struct fftnd__offload){.device = redist_space_at(device),
                                           .library = lines__library_for(device),
                                           .limit = limit,
                                           .is_given = limit != 0};
    REDIST_TRY(redist_agree(comm, code));
    offload->least_limit = offload->limit;
    if (!offload->is_given)
        code = find_least_limit(offload, comm, find_limit(offload, comm));
    return redist_agree(comm, code == REDIST_OK ? create_streams(offload) : code);
}

static void unpin(struct fftnd__offload *offload, enum fftnd__pinned which) {
    if (offload->pinned[which].done)
        offload->device->unpin(offload->pinned[which].array);
    offload->pinned[which].done = 0;
    offload->pinned[which].array = NULL;
}

void fftnd__offload_free(struct fftnd__offload *offload) {
    if (offload == NULL)
        return;
    for (enum fftnd__pinned i = FFTND__PIN_PHYSICAL; i < FFTND__PINS; i++)
        unpin(offload, i);
    for (int i = 0; i < FFTND__ACTIVITIES; i++) {
        for (int slot = 0; slot < FFTND__SLOTS; slot++)
            offload->device->event_destroy(offload->events[slot][i]);
        offload->device->stream_destroy(offload->streams[i]);
    }
    offload->device->release(offload->memory);
    offload->device->release_pinned(offload->staging);
    redist_release(offload);
}

/* ---------------------------------------------------------------- arrays of the host */

void fftnd__offload_unpin_work(struct fftnd__offload *offload, const void *array) {
    if (offload != NULL && offload->pinned[FFTND__PIN_WORK].array == array)
        unpin(offload, FFTND__PIN_WORK);
}

void fftnd__offload_pin(struct fftnd__offload *offload, enum fftnd__pinned which, void *array,
                        size_t bytes) {
    if (offload == NULL ||
        (offload->pinned[which].array == array && offload->pinned[which].bytes == bytes) ||
        (which == FFTND__PIN_WORK && offload->pinned[which].array != NULL))
        return;
    unpin(offload, which);
    offload->pinned[which].array = array;
    offload->pinned[which].bytes = bytes;
    offload->pinned[which].done = bytes != 0 && offload->device->pin(array, bytes);
}

int fftnd__offload_reaches(const struct fftnd__offload *offload, const char *array, size_t bytes) {
    for (int i = 0; i < FFTND__PINS; i++) {
        const char *first = offload->pinned[i].array;
        if (offload->pinned[i].done && array >= first &&
            array + bytes <= first + offload->pinned[i].bytes)
            return 1;
    }
    return offload->device->is_pinned(array, bytes);
}

/* ---------------------------------------------------------------- memory */

typedef int allocate_memory(size_t bytes, void **memory);
typedef void release_memory(void *memory);

/* Grows memory, or keeps its size, which plans use, after a failure. */
static int grow(allocate_memory *allocate, release_memory *release, size_t wanted, void **memory,
                size_t *bytes) {
    if (wanted <= *bytes)
        return REDIST_OK;
    release(*memory);
    *memory = NULL;
    int code = allocate(wanted, memory);
    if (code == REDIST_OK)
        *bytes = wanted;
    else if (*bytes > 0 && allocate(*bytes, memory) != REDIST_OK)
        *bytes = 0;
    return code;
}

int fftnd__offload_reserve(struct fftnd__offload *offload, size_t bytes, size_t staging_bytes) {
    const redist__space *device = offload->device;
    REDIST_TRY(grow(device->allocate, device->release, bytes, &offload->memory, &offload->bytes));
    return grow(device->allocate_pinned, device->release_pinned, staging_bytes, &offload->staging,
                &offload->staging_bytes);
}
