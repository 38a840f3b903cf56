/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Elements and local arrays with known contents.
 *
 * Every element of a global array has a value that follows from its global index and a salt; the
 * tests compare each byte of a destination with it, and all bytes around with what was there.
 */
#ifndef TESTS_ARRAYS_H
#define TESTS_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

#include "redist.h"

/** Largest extent of an element in bytes. */
enum { ELEMENT_BYTES = 32 };

/** What a byte of an element may hold: nothing that the type describes, data, or what numbers do not use. */
enum test_holds { HOLDS_NOTHING, HOLDS_DATA, HOLDS_FILLING };

/** A kind of element. */
typedef struct test_element {
    const char *name;
    MPI_Datatype type;
    size_t extent;
    int copyable; /**< a box of bytes within its extent, so that all methods apply, */
    int axes;     /**< with so many axes */
    size_t shift; /**< bytes from where an element is to where its data begin */
    unsigned char holds[ELEMENT_BYTES]; /**< what each byte of the extent holds: enum test_holds */
} test_element;

/** The number of kinds: predefined types, odd sizes, with gaps; at last those not copyable. */
int element_count(void);

/** The number of kinds that are copyable. */
int copyable_element_count(void);

/** Makes the type of kind `index`, 0 <= index < element_count(). */
test_element element_create(int index);

/** Frees the type. */
void element_free(test_element *element);

/** Where an array comes from. */
enum test_memory {
    MEMORY_PLAIN,     /**< malloc, aligned to 64 bytes */
    MEMORY_UNALIGNED, /**< malloc, aligned to one byte only */
    MEMORY_SHARED,    /**< redist_alloc */
    MEMORY_INSIDE,    /**< behind the beginning of an array of redist_alloc */
    MEMORY_LOCAL,     /**< redist_alloc_local; on a device as MEMORY_SHARED */
    MEMORY_KINDS
};

const char *memory_name(enum test_memory memory);

/** Nonzero if peers can map the array. */
int memory_is_shared(enum test_memory memory);

/** Where arrays live instead of host memory, for the tests of a device. */
typedef struct test_device {
    enum redist_space space;
    /** Collective on comm; `shared`: from redist_alloc_in. Ends the test when memory is out. */
    void *(*allocate)(MPI_Comm comm, size_t bytes, int shared);
    void (*release)(void *memory, int shared);
    void (*copy)(void *to, const void *from, size_t bytes); /**< between device and host */
} test_device;

/** Puts the arrays that are created from now on a device; NULL = in host memory. */
void arrays_use(const test_device *device);
const test_device *arrays_device(void);

/** A local array between guard bytes. */
typedef struct test_array {
    enum test_memory memory;
    void *allocation; /**< array and guards; of an array on a device their copy on the host */
    void *on_device;  /**< the same on the device, or NULL */
    size_t allocation_bytes;
    size_t before; /**< bytes from the allocation to the array */
    char *data;    /**< the array */
    size_t bytes;
} test_array;

/** Allocates an array and its guards; `bytes` may differ between ranks. Collective on comm. */
test_array array_create(MPI_Comm comm, enum test_memory memory, size_t bytes);

/** Frees the array. Collective on its communicator. */
void array_free(test_array *array);

/** How a local array is filled, or what is expected in it. */
enum test_contents {
    CONTENTS_VALUES, /**< the box holds the values of the global array */
    CONTENTS_BLANK,  /**< the box holds something else everywhere */
    CONTENTS_MIXED   /**< values where a source box has the element, else blank */
};

/** A local array's place in the global one. */
typedef struct test_place {
    const test_element *element;
    int ndims;
    const redist_index *sizes; /**< global extents */
    const redist_box *box;     /**< what the array holds, and its padding */
    int nsources;              /**< for CONTENTS_MIXED: number of source boxes, */
    const redist_box *sources; /**< and the boxes */
} test_place;

/** Elements of the local array, padding included. */
size_t place_elements(const test_place *place);

/** Fills the array: its box as `contents` says, all else with bytes that depend on the position. */
void array_fill(const test_array *array, const test_place *place, enum test_contents contents,
                uint64_t salt);

/**
 * The number of bytes that differ from those of array_fill: guards, padding and what the element's type does not
 * describe included, but for bytes of values that numbers do not use. `text` then says which one is the first.
 */
size_t array_wrong(const test_array *array, const test_place *place, enum test_contents contents,
                   uint64_t salt, size_t text_bytes, char text[]);

/** Writes a box as "[start+count/extent@offset, ...]". */
void box_text(int ndims, const redist_box *box, size_t text_bytes, char text[]);

#endif
