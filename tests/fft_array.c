/* SPDX-License-Identifier: BSD-3-Clause */
/* Guarded arrays and the way through their elements: see fft_array.h. */
#include "fft_array.h"

#include <stdlib.h>
#include <string.h>

#include "poison.h"

enum { DEVICE_ALIGNMENT = 256, GUARD_BYTES = 128, GUARD_VALUE = 0xa5 };

/* ---------------------------------------------------------------- memory */

static const test_device *device;

/* A guard in front of shared memory is left out: the library must know the address. */
static size_t bytes_before(enum fft_memory kind, size_t number_bytes) {
    switch (kind) {
    case FFT_MEMORY_HEAP:
        return device != NULL ? DEVICE_ALIGNMENT : GUARD_BYTES;
    case FFT_MEMORY_UNALIGNED:
        return GUARD_BYTES + number_bytes;
    case FFT_MEMORY_SHARED:
    case FFT_MEMORY_LOCAL:
        return 0;
    }
    return 0;
}

static int is_shared(enum fft_memory kind) {
    return kind >= FFT_MEMORY_SHARED;
}

void fft_array_use(const test_device *used) {
    device = used;
}

void *fft_array_address(const fft_array *array) {
    return array->on_device != NULL && array->data != NULL ? array->on_device + array->before
                                                           : array->data;
}

void fft_array_upload(const fft_array *array) {
    if (array->on_device != NULL) {
        device->copy(array->on_device, array->memory, array->before + array->bytes + GUARD_BYTES);
    }
}

void fft_array_download(const fft_array *array) {
    if (array->on_device != NULL) {
        device->copy(array->memory, array->on_device, array->before + array->bytes + GUARD_BYTES);
    }
}

int fft_array_create(MPI_Comm comm, size_t bytes, enum fft_memory kind, size_t number_bytes,
                     fft_array *array) {
    const size_t before = bytes_before(kind, number_bytes);
    const size_t rounded = (before + bytes + GUARD_BYTES + 63) / 64 * 64;
    void *memory = NULL;
    int code = REDIST_OK;
    void *on_device = NULL;
    if (device != NULL) {
        on_device = device->allocate(comm, rounded, is_shared(kind));
    }
    if (is_shared(kind) && device == NULL) {
        code = kind == FFT_MEMORY_LOCAL ? redist_alloc_local(rounded, &memory)
                                        : redist_alloc(comm, rounded, &memory);
    } else {
        memory = aligned_alloc(64, rounded);
    }
    *array = (fft_array){.bytes = bytes,
                         .memory = memory,
                         .before = before,
                         .kind = kind,
                         .on_device = on_device,
                         .number_bytes = number_bytes};
    if (code != REDIST_OK) {
        return code;
    }
    memset(memory, GUARD_VALUE, before + bytes + GUARD_BYTES);
    const int is_null = bytes == 0 && kind == FFT_MEMORY_HEAP;
    array->data = is_null ? NULL : array->memory + before;
    fft_array_poison(array);
    return REDIST_OK;
}

int fft_array_free(fft_array *array) {
    int code = REDIST_OK;
    void *memory = array->memory;
    free(array->kept);
    if (array->on_device != NULL) {
        device->release(array->on_device, is_shared(array->kind));
    }
    if (is_shared(array->kind) && array->on_device == NULL) {
        code = redist_free(&memory);
    } else {
        free(memory);
    }
    *array = (fft_array){.data = NULL};
    return code;
}

void fft_array_poison(fft_array *array) {
    if (array->bytes > 0) {
        poison_fill(array->data, array->bytes, array->number_bytes);
    }
}

size_t fft_array_changed(const fft_array *array, const unsigned char used[]) {
    return array->bytes > 0 ? poison_changed(array->data, array->bytes, array->number_bytes, used)
                            : 0;
}

void fft_array_keep(fft_array *array) {
    if (array->bytes > 0) {
        array->kept = array->kept == NULL ? malloc(array->bytes) : array->kept;
        memcpy(array->kept, array->data, array->bytes);
    }
}

int fft_array_is_as_kept(const fft_array *array) {
    return array->bytes == 0 || memcmp(array->kept, array->data, array->bytes) == 0;
}

int fft_array_is_guarded(const fft_array *array) {
    const unsigned char *after = array->memory + array->before + array->bytes;
    int holds = 1;
    for (size_t i = 0; i < array->before; i++) {
        holds = holds && array->memory[i] == GUARD_VALUE;
    }
    for (size_t i = 0; i < GUARD_BYTES; i++) {
        holds = holds && after[i] == GUARD_VALUE;
    }
    return holds;
}

/* ---------------------------------------------------------------- elements */

fft_walk fft_walk_make(const fftnd_layout *layout, int nfields) {
    fft_walk walk = {.layout = layout, .nfields = nfields, .nelements = 1};
    for (int axis = 0; axis < layout->ndims; axis++) {
        walk.nelements *= (size_t)layout->count[axis];
    }
    return walk;
}

fft_place fft_walk_place(const fft_walk *walk, size_t which) {
    const fftnd_layout *layout = walk->layout;
    fft_place place = {.field = (int)(which / walk->nelements)};
    size_t rest = which % walk->nelements;
    size_t step = 1;
    ptrdiff_t offset = layout->offset + place.field * layout->batch_stride;
    for (int axis = layout->ndims - 1; axis >= 0; axis--) {
        const int local = (int)(rest % (size_t)layout->count[axis]);
        rest /= (size_t)layout->count[axis];
        place.index[axis] = (int)layout->start[axis] + local;
        place.global += (size_t)place.index[axis] * step;
        step *= (size_t)layout->sizes[axis];
        offset += local * layout->stride[axis];
    }
    place.offset = offset * (ptrdiff_t)layout->element_bytes;
    return place;
}

/* How numbers of each precision are read and written. */
#define NUMBER(name, T)                                                                            \
    static long double get_##name(const void *address) {                                           \
        T value;                                                                                   \
        memcpy(&value, address, sizeof(value));                                                    \
        return (long double)value;                                                                 \
    }                                                                                              \
    static void set_##name(void *address, long double value) {                                     \
        const T rounded = (T)value;                                                                \
        memcpy(address, &rounded, sizeof(rounded));                                                \
    }
NUMBER(double, double)
NUMBER(float, float)
NUMBER(long_double, long double)

static const struct {
    long double (*get)(const void *address);
    void (*set)(void *address, long double value);
} numbers[] = {[FFTND_DOUBLE] = {get_double, set_double},
               [FFTND_FLOAT] = {get_float, set_float},
               [FFTND_LONG_DOUBLE] = {get_long_double, set_long_double}};

long double fft_number_get(const fft_case *given, const void *address) {
    return numbers[given->precision].get(address);
}

void fft_number_set(const fft_case *given, void *address, long double value) {
    numbers[given->precision].set(address, value);
}
