/* SPDX-License-Identifier: BSD-3-Clause */
/* Public copies: one, transposing or not; several together; a box of an array. */
#include "copy.h"

#include <stdint.h>

void redist__copy_run(const struct redist__copy *copy, const void *source, void *destination,
                      enum redist__copy_use use) {
    if (copy->format != NULL)
        redist__copy_format(copy, source, destination);
    else if (copy->adds != NULL)
        redist__copy_add(copy, source, destination);
    else if (copy->run != 0 && !redist__copy_transposed(copy, source, destination, use))
        redist__copy_run_with(copy, source, destination, redist__copy_choose(copy, use));
}

/* ---------------------------------------------------------------- several copies */

/* Returns whether copies are interleaved with runs shorter than a page, the limit of hardware prefetch. Those that add
 * keep their order, and a format has rows of its own. */
static int are_interleaved(int n, const struct redist__copy copies[]) {
    enum { LONG_RUN = 4096 };
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (copies[i].run == 0)
            continue;
        if (copies[i].ndims == 0 || copies[i].run >= LONG_RUN || copies[i].adds || copies[i].format)
            return 0;
        count++;
    }
    return count > 1;
}

/* Counts bands whose sources and destinations fit half the second-level cache. */
static size_t count_bands(int n, const struct redist__copy copies[]) {
    size_t bytes = 0, most = 1;
    for (int i = 0; i < n; i++) {
        bytes += 2 * redist__copy_bytes(&copies[i]);
        if (copies[i].run != 0 && copies[i].count[0] > most)
            most = copies[i].count[0];
    }
    size_t bands = 1 + 2 * bytes / redist_find_caches()->second;
    return bands < most ? bands : most;
}

/* Runs a band with the loop for the whole copy, most of which is not in the caches. */
static void run_band(const struct redist__copy *copy, const char *from, char *to,
                     enum redist__copy_use use, size_t band, size_t nbands) {
    struct redist__copy part = *copy;
    size_t begin = copy->count[0] * band / nbands;
    part.count[0] = copy->count[0] * (band + 1) / nbands - begin;
    from += (ptrdiff_t)begin * copy->source[0];
    to += (ptrdiff_t)begin * copy->destination[0];
    if (part.count[0] > 0 && !redist__copy_transposed(&part, from, to, use))
        redist__copy_run_with(&part, from, to, redist__copy_choose(copy, use));
}

void redist__copy_run_together(int n, const struct redist__copy copies[],
                               const char *const sources[], char *const destinations[],
                               enum redist__copy_use use) {
    if (!are_interleaved(n, copies)) {
        for (int i = 0; i < n; i++)
            redist__copy_run(&copies[i], sources[i], destinations[i], use);
        return;
    }
    size_t nbands = count_bands(n, copies);
    for (size_t band = 0; band < nbands; band++)
        for (int i = 0; i < n; i++)
            if (copies[i].run != 0)
                run_band(&copies[i], sources[i], destinations[i], use, band, nbands);
}

void redist_copy_box(int ndims, const redist_index count[], size_t item, const void *source,
                     const ptrdiff_t source_stride[], void *destination,
                     const ptrdiff_t destination_stride[], int use) {
    static const enum redist__copy_use uses[] = {[REDIST_COPY_LOAD] = REDIST__COPY_LOAD,
                                                 [REDIST_COPY_NONTEMPORAL] =
                                                     REDIST__COPY_STORE_NONTEMPORAL,
                                                 [REDIST_COPY_STORE] = REDIST__COPY_STORE};
    struct redist__copy copy;
    redist__copy_prepare(&copy, ndims, count, item, source_stride, destination_stride);
    redist__copy_run(&copy, source, destination, uses[use]);
    if (use == REDIST_COPY_NONTEMPORAL)
        redist__copy_fence();
}
