/* SPDX-License-Identifier: BSD-3-Clause */
/* VkFFT for complex lines that lie side by side in the memory of a CUDA device, where cuFFT is slow. */
#ifndef FFTND__VKFFT_H
#define FFTND__VKFFT_H

#include "serial.h"

/* Lines side by side, in several groups. */
struct fftnd__strided_lines {
    struct fftnd__loop axis;   /* of a line */
    struct fftnd__loop side;   /* the lines of a group, which are neighbours */
    struct fftnd__loop groups; /* at most FFTND__VKFFT_GROUPS */
    int is_double, direction, in_place;
};

struct fftnd__vkfft;

/* Times of a copy that it takes, at most, for the lengths that it has kernels for (H100, up to 1080). */
#ifndef FFTND__VKFFT_RATIO
#define FFTND__VKFFT_RATIO 1.6
#endif

/* Groups of lines in one launch, at most: VkFFT would change constants between several. */
enum { FFTND__VKFFT_GROUPS = 65535 };

#ifdef FFTND__HAS_VKFFT

/* Whether VkFFT can be used here, and has kernels for lines of this length. */
int fftnd__vkfft_takes(long long n);

/* Plans such transforms, without scaling. *plan is NULL where VkFFT cannot make them in one pass over memory:
 * the lines are too long, or have large prime factors, or there is no compiler for kernels. */
int fftnd__vkfft_create(const struct fftnd__strided_lines *lines, struct fftnd__vkfft **plan);

/* Enqueues the transforms in a stream (cudaStream_t). */
int fftnd__vkfft_execute(struct fftnd__vkfft *plan, void *in, void *out, void *stream);

/* Nothing of the plan may be under way. NULL is allowed. */
void fftnd__vkfft_destroy(struct fftnd__vkfft *plan);

#else

static inline int fftnd__vkfft_takes(long long n) {
    (void)n;
    return 0;
}

static inline int fftnd__vkfft_create(const struct fftnd__strided_lines *lines,
                                      struct fftnd__vkfft **plan) {
    (void)lines;
    *plan = NULL;
    return REDIST_OK;
}

static inline int fftnd__vkfft_execute(struct fftnd__vkfft *plan, void *in, void *out,
                                       void *stream) {
    (void)plan, (void)in, (void)out, (void)stream;
    return REDIST_ERR_STATE;
}

static inline void fftnd__vkfft_destroy(struct fftnd__vkfft *plan) {
    (void)plan;
}

#endif

#endif
