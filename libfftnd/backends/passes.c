/* SPDX-License-Identifier: BSD-3-Clause */
/* The passes of a length for the loops of columns and lines, and their factors. */
#include "columns.h"
#include "redist_support.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static const int radices[] = {2, 3, 4, 5, 6, 7, 8, 10, 12};
enum {
    RADICES = sizeof radices / sizeof *radices,
    EVERYWHERE = 8 /* the largest that all loops have */
};

struct factors {
    int npasses, sum, radix[FFTND__MOST_PASSES];
};

/* Of the passes for what is left of a length, behind those of `now`: as few as possible, since each one reads and
 * writes all elements, and of these the ones that are most alike. No pass is smaller than the one before it. */
static void find_fewest(int left, int first, int largest, struct factors *now,
                        struct factors *best) {
    if (left == 1 && now->npasses > 1 &&
        (best->npasses == 0 || now->npasses < best->npasses || now->sum < best->sum))
        *best = *now;
    if (left == 1 || now->npasses == FFTND__MOST_PASSES ||
        (best->npasses > 0 && now->npasses >= best->npasses))
        return;
    for (int i = first; i < RADICES && radices[i] <= largest; i++)
        if (left % radices[i] == 0) {
            now->radix[now->npasses++] = radices[i];
            now->sum += radices[i];
            find_fewest(left / radices[i], i, largest, now, best);
            now->sum -= radices[i];
            now->npasses--;
        }
}

const struct fftnd__column_loops *fftnd__column_loops_here(void) {
    int i = 0;
    while (!fftnd__column_loops[i]->runs_here())
        i++;
    return fftnd__column_loops[i];
}

/* The first pass multiplies by most factors, the last one by none, so that small ones come first; but the last one also
 * fetches rows, for which 10 or 12 elements leave no registers. */
static struct factors factors_of(redist_index n, int largest) {
    struct factors now = {0}, best = {0};
    if (n > 1 && n <= FFTND__LONGEST)
        find_fewest((int)n, 0, largest, &now, &best);
    if (best.npasses == 2 && best.radix[1] > EVERYWHERE) {
        int radix = best.radix[0];
        best.radix[0] = best.radix[1];
        best.radix[1] = radix;
    }
    return best;
}

int fftnd__passes_exist(redist_index n) {
    return factors_of(n, EVERYWHERE).npasses > 0;
}

void fftnd__store_factor(char *to, size_t item, long double angle) {
    if (item == 2 * sizeof(float))
        memcpy(to, (float[]){(float)cosl(angle), (float)sinl(angle)}, item);
    else
        memcpy(to, (double[]){(double)cosl(angle), (double)sinl(angle)}, item);
}

/* Those of a pass; returns where they end. */
static char *set_factors(const struct fftnd__column_pass *pass, size_t item, char *to) {
    const long double turn = 2 * 3.141592653589793238462643383279502884L;
    for (int j = 0; j < pass->left / pass->radix; j++)
        for (int i = 1; i < pass->radix; i++, to += item)
            fftnd__store_factor(to, item, turn * j * i / pass->left);
    return to;
}

static void *make_scratch(const struct fftnd__passes *passes) {
    return redist_calloc(1, 2 * passes->scratch_bytes + FFTND__SCRATCH_ALIGNMENT - 1);
}

int fftnd__passes_create(const struct fftnd__column_loops *loops, redist_index n, size_t item,
                         int groups, struct fftnd__passes *passes) {
    const struct factors factors = factors_of(n, loops->largest_radix);
    int left = (int)n, done = groups;
    if (factors.npasses == 0)
        return redist_fail_in("libfftnd", REDIST_ERR_SERIAL, "no columns of %lld elements",
                              (long long)n);
    passes->scratch_bytes = 2 * (size_t)((n + 1) * groups * loops->register_bytes);
    void *scratch = make_scratch(passes);
    atomic_init(&passes->spare[0], scratch);
    char *to = passes->factors = redist_calloc((size_t)(factors.npasses * n), item);
    if (to == NULL || scratch == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
    passes->n = factors.npasses;
    for (int i = 0; i < factors.npasses; i++) {
        int radix = factors.radix[i];
        passes->pass[i] = (struct fftnd__column_pass){radix, left, done, to};
        to = set_factors(&passes->pass[i], item, to);
        left /= radix;
        done *= radix;
    }
    return REDIST_OK;
}

void fftnd__passes_destroy(struct fftnd__passes *passes) {
    redist_release(passes->factors);
    for (int i = 0; i < FFTND__SPARES; i++)
        redist_release(atomic_load(&passes->spare[i]));
}

/* ---------------------------------------------------------------- scratch memory */

int fftnd__scratch_take(struct fftnd__passes *passes, void **memory, void *scratch[2]) {
    *memory = NULL;
    for (int i = 0; i < FFTND__SPARES && *memory == NULL; i++)
        *memory = atomic_exchange(&passes->spare[i], NULL);
    if (*memory == NULL)
        *memory = make_scratch(passes);
    if (*memory == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY,
                              "no memory for one more thread in a serial transform");
    uintptr_t rest = (uintptr_t)*memory % FFTND__SCRATCH_ALIGNMENT;
    scratch[0] = (char *)*memory + (rest > 0 ? FFTND__SCRATCH_ALIGNMENT - rest : 0);
    scratch[1] = (char *)scratch[0] + passes->scratch_bytes;
    return REDIST_OK;
}

void fftnd__scratch_give_back(struct fftnd__passes *passes, void *memory) {
    for (int i = 0; i < FFTND__SPARES; i++) {
        void *none = NULL;
        if (atomic_compare_exchange_strong(&passes->spare[i], &none, memory))
            return;
    }
    redist_release(memory);
}
