/* SPDX-License-Identifier: BSD-3-Clause */
/* FFTW's blocks: all of one size except the last, then ranks without data. */
#include "request.h"

static ptrdiff_t size_of(ptrdiff_t n, ptrdiff_t block, int nranks) {
    return block > 0 ? block : (n + nranks - 1) / nranks;
}

void fftnd_fftw__block(ptrdiff_t n, ptrdiff_t block, int nranks, int rank, redist_index *start,
                       redist_index *count) {
    ptrdiff_t size = size_of(n, block, nranks), begin = size * rank;
    ptrdiff_t left = n - begin;
    *count = left <= 0 ? 0 : left < size ? left : size;
    *start = *count > 0 ? begin : 0;
}

int fftnd_fftw__blocks_fit(ptrdiff_t n, ptrdiff_t block, int nranks) {
    return block >= 0 && size_of(n, block, nranks) >= (n + nranks - 1) / nranks;
}
