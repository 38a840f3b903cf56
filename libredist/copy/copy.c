/* SPDX-License-Identifier: BSD-3-Clause */
#include "copy.h"

#include <stdatomic.h>
#include <string.h>

/* Shorter runs gain nothing from nontemporal stores (their ends are partial cache lines), nor from
 * prefetching. */
enum { SHORTEST_LONG_RUN = 256 };

static void plain_rows(char *destination, ptrdiff_t destination_stride, const char *source,
                       ptrdiff_t source_stride, size_t rows, size_t run) {
    for (size_t row = 0; row < rows; row++)
        memcpy(destination + (ptrdiff_t)row * destination_stride,
               source + (ptrdiff_t)row * source_stride, run);
}

/* A fixed length lets the compiler copy through registers. */
#define ROWS_OF(bytes)                                                                             \
    static void rows_of_##bytes(char *destination, ptrdiff_t destination_stride,                   \
                                const char *source, ptrdiff_t source_stride, size_t rows,          \
                                size_t run) {                                                      \
        (void)run;                                                                                 \
        for (size_t row = 0; row < rows; row++)                                                    \
            memcpy(destination + (ptrdiff_t)row * destination_stride,                              \
                   source + (ptrdiff_t)row * source_stride, bytes);                                \
    }
ROWS_OF(1)
ROWS_OF(2)
ROWS_OF(4)
ROWS_OF(8)
ROWS_OF(16)
ROWS_OF(32)
ROWS_OF(64)

static int runs_everywhere(void) {
    return 1;
}

static void no_fence(void) {
}

static const struct redist__copy_loops plain = {runs_everywhere, plain_rows, plain_rows, no_fence};

/* The first that runs here is taken. */
#ifdef REDIST__X86_LOOPS
static const struct redist__copy_loops *const all[] = {&redist__copy_avx512, &redist__copy_sse2,
                                                       &plain};
#else
static const struct redist__copy_loops *const all[] = {&plain};
#endif

static const struct redist__copy_loops *loops(void) {
    static const struct redist__copy_loops *_Atomic chosen;
    const struct redist__copy_loops *found = atomic_load_explicit(&chosen, memory_order_relaxed);
    for (int i = 0; found == NULL; i++)
        if (all[i]->runs_here()) {
            found = all[i];
            atomic_store_explicit(&chosen, found, memory_order_relaxed);
        }
    return found;
}

void redist__copy_fence(void) {
    loops()->fence();
}

static redist__copy_rows *choose_rows(size_t run, int nontemporal) {
    switch (run) {
    case 1:
        return rows_of_1;
    case 2:
        return rows_of_2;
    case 4:
        return rows_of_4;
    case 8:
        return rows_of_8;
    case 16:
        return rows_of_16;
    case 32:
        return rows_of_32;
    case 64:
        return rows_of_64;
    default:
        if (run < SHORTEST_LONG_RUN)
            return plain_rows;
        return nontemporal ? loops()->nontemporal : loops()->cached;
    }
}

void redist__copy_run(const struct redist__copy *copy, const void *source, void *destination,
                      int nontemporal) {
    if (copy->run == 0 || redist__copy_transposed(copy, source, destination, nontemporal))
        return;
    redist__copy_rows *rows = choose_rows(copy->run, nontemporal);
    const char *from = source;
    char *to = destination;
    int inner = copy->ndims - 1; /* the loop that `rows` does */
    if (inner < 0) {
        rows(to, 0, from, 0, 1, copy->run);
        return;
    }
    size_t index[REDIST_MAX_NDIMS] = {0};
    for (;;) {
        rows(to, copy->destination[inner], from, copy->source[inner], copy->count[inner],
             copy->run);
        int axis = inner - 1; /* an odometer over the outer loops */
        while (axis >= 0 && ++index[axis] == copy->count[axis]) {
            ptrdiff_t back = (ptrdiff_t)(copy->count[axis] - 1);
            from -= back * copy->source[axis];
            to -= back * copy->destination[axis];
            index[axis--] = 0;
        }
        if (axis < 0)
            return;
        from += copy->source[axis];
        to += copy->destination[axis];
    }
}

void redist_copy_box(int ndims, const redist_index count[], size_t item, const void *source,
                     const ptrdiff_t source_stride[], void *destination,
                     const ptrdiff_t destination_stride[], int nontemporal) {
    struct redist__copy copy;
    redist__copy_prepare(&copy, ndims, count, item, source_stride, destination_stride);
    redist__copy_run(&copy, source, destination, nontemporal);
    if (nontemporal)
        redist__copy_fence();
}
