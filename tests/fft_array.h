/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * One rank's array as a user hands it to the library, with guards that show writes beyond its end.
 */
#ifndef FFT_ARRAY_H
#define FFT_ARRAY_H

#include "arrays.h"
#include "fft_case.h"

typedef struct fft_array {
    void *data;   /**< the array on the host, which the library gets if there is no other */
    size_t bytes; /**< how many it may use */
    unsigned char *memory; /**< what is freed */
    size_t before;         /**< guard bytes in front of the data */
    size_t number_bytes;   /**< of the numbers in it */
    enum fft_memory kind;
    unsigned char *on_device; /**< the same memory on a device, or NULL */
    unsigned char *kept;      /**< copy made by fft_array_keep */
} fft_array;

/** Allocates, for numbers of so many bytes; unaligned memory begins that much behind an aligned address. Collective on
 * comm. */
int fft_array_create(MPI_Comm comm, size_t bytes, enum fft_memory kind, size_t number_bytes,
                     fft_array *array);

/** Puts the arrays that are created from now on a device; NULL = in host memory. */
void fft_array_use(const test_device *device);

/** Begins a test of transforms in streams (stream_device.h), without a configuration that an earlier one has left. */
#define NEEDS_FFT_STREAMS()                                                                        \
    NEEDS_STREAM_DEVICE();                                                                         \
    fft_array_use(stream_device_memory());                                                         \
    unsetenv("FFTND_CONFIGURATION")

/** What the library gets. */
void *fft_array_address(const fft_array *array);

/** Copy all bytes to the device and back, if there is one. */
void fft_array_upload(const fft_array *array);
void fft_array_download(const fft_array *array);

/** Collective on the array's communicator. */
int fft_array_free(fft_array *array);

/** Fills the array with signalling NaNs (poison.h). */
void fft_array_poison(fft_array *array);

/** The number of bytes that differ from these since, those apart for which `used` is not 0. */
size_t fft_array_changed(const fft_array *array, const unsigned char used[]);

/** Remembers the bytes of the array. */
void fft_array_keep(fft_array *array);

/** Nonzero if the bytes are those that were remembered. */
int fft_array_is_as_kept(const fft_array *array);

/** Nonzero if nothing was written next to the array. */
int fft_array_is_guarded(const fft_array *array);

/** One rank's elements of a side, to go through one by one. */
typedef struct fft_walk {
    const fftnd_layout *layout;
    int nfields;
    size_t nelements; /**< elements of one field on this rank */
} fft_walk;

fft_walk fft_walk_make(const fftnd_layout *layout, int nfields);

/** Where an element of the walk stands: global indices, C order position, bytes into the array. */
typedef struct fft_place {
    int field;
    int index[REDIST_MAX_NDIMS];
    size_t global;
    ptrdiff_t offset;
} fft_place;

/** Element number `which`, 0 <= which < nfields * nelements. */
fft_place fft_walk_place(const fft_walk *walk, size_t which);

/** Reads and writes numbers of a case's precision at any address. */
long double fft_number_get(const fft_case *given, const void *address);
void fft_number_set(const fft_case *given, void *address, long double value);

#endif
