/* SPDX-License-Identifier: BSD-3-Clause */
/* Radix passes of a length for columns and lines: radices, factors, scratch memory. */
#include "columns.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static const int all[] = {2, 3, 4, 5, 6, 7, 8, 10, 12, 16};
enum { RADICES = sizeof all / sizeof *all };

/* Finds radices for what is left of a length behind those of `now`: as few as possible, since each radix pass reads and
 * writes all elements, and of these the least sum. None is smaller than the one before it. */
static void find_fewest(int left, int first, int largest, struct lines__radices *now,
                        struct lines__radices *best) {
    int fewer = best->n == 0 || now->n < best->n;
    if (left == 1 && now->n > 1 && (fewer || now->sum < best->sum))
        *best = *now;
    if (left == 1 || now->n == LINES__MOST_PASSES || !fewer)
        return;
    for (int i = first; i < RADICES && all[i] <= largest; i++)
        if (left % all[i] == 0) {
            now->radix[now->n++] = all[i];
            now->sum += all[i];
            find_fewest(left / all[i], i, largest, now, best);
            now->sum -= all[i];
            now->radix[--now->n] = 0;
        }
}

static void reverse(struct lines__radices *radices) {
    for (int i = 0, j = radices->n - 1; i < j; i++, j--) {
        int radix = radices->radix[i];
        radices->radix[i] = radices->radix[j];
        radices->radix[j] = radix;
    }
}

/* Nonzero if the largest radix comes first. The first radix pass multiplies by most factors and the last one by none,
 * which is for small ones first; but the last one also fetches rows, for which 10 elements and more leave no registers
 * (docs/performance-notebook.md, "Ways through a line"). */
static int is_large_first(const struct lines__radices *radices) {
    return radices->n == 2 && radices->radix[1] > 8;
}

/* Way number i through n elements, if there is one. 32 registers hold 12 elements and their temporaries; 16 save some
 * lengths a radix pass, and 8 are enough for others. */
static struct lines__radices way_at(const struct lines__column_loops *loops, redist_index n,
                                    int i) {
    static const int most[LINES__WAYS / 2] = {12, 8, 16};
    struct lines__radices now = {0}, way = {0};
    int largest = most[i / 2] < loops->largest_radix ? most[i / 2] : loops->largest_radix;
    if (n > 1 && n <= LINES__LONGEST)
        find_fewest((int)n, 0, largest, &now, &way);
    if (is_large_first(&way) != i % 2)
        reverse(&way);
    return way;
}

int lines__radices_at(const struct lines__column_loops *loops, redist_index n, int which,
                      struct lines__radices *radices) {
    struct lines__radices found[LINES__WAYS];
    int nfound = 0;
    for (int i = 0; i < LINES__WAYS && nfound <= which; i++) {
        int same = 0;
        found[nfound] = way_at(loops, n, i);
        while (memcmp(&found[same], &found[nfound], sizeof *found) != 0)
            same++;
        nfound += same == nfound;
    }
    if (which >= nfound)
        return 0;
    *radices = found[which];
    return radices->n > 0;
}

const struct lines__column_loops *lines__column_loops_here(void) {
    int i = 0;
    while (!lines__column_loops[i]->runs_here())
        i++;
    return lines__column_loops[i];
}

int lines__passes_exist(redist_index n) {
    struct lines__radices radices;
    return lines__radices_at(lines__column_loops_here(), n, 0, &radices);
}

void lines__store(void *element, enum fftnd_precision precision, long double re, long double im) {
    if (precision == FFTND_FLOAT)
        memcpy(element, (float[]){(float)re, (float)im}, 2 * sizeof(float));
    else if (precision == FFTND_DOUBLE)
        memcpy(element, (double[]){(double)re, (double)im}, 2 * sizeof(double));
    else
        memcpy(element, (long double[]){re, im}, 2 * sizeof(long double));
}

static void set_root(long double root[2], long double real, long double imaginary) {
    root[0] = real;
    root[1] = imaginary;
}

/* Lists the n-th roots of unity. Sines and cosines of long doubles take much of the time of a small plan: symmetries
 * give all but those of an eighth of a turn, or of more if n is no multiple of four. */
static void list_roots(int n, long double roots[][2]) {
    const long double turn = 2 * 3.141592653589793238462643383279502884L;
    for (int k = 0; k < n; k++)
        if (2 * k > n)
            set_root(roots[k], roots[n - k][0], -roots[n - k][1]);
        else if (n % 2 == 0 && 4 * k > n)
            set_root(roots[k], -roots[n / 2 - k][0], roots[n / 2 - k][1]);
        else if (n % 4 == 0 && 8 * k > n)
            set_root(roots[k], roots[n / 4 - k][1], roots[n / 4 - k][0]);
        else
            set_root(roots[k], cosl(turn * k / n), sinl(turn * k / n));
}

/* Sets the factors of a radix pass from the roots of the whole length; returns their end. */
static char *set_factors(const struct lines__column_pass *pass, int n, long double roots[][2],
                         enum fftnd_precision precision, char *to) {
    for (int j = 0; j < pass->left / pass->radix; j++)
        for (int i = 1; i < pass->radix; i++, to += lines__item_bytes(precision, 0)) {
            const long double *root = roots[j * i * (n / pass->left)];
            lines__store(to, precision, root[0], root[1]);
        }
    return to;
}

static void *make_scratch(const struct lines__passes *passes) {
    return redist_malloc(2 * passes->scratch_bytes + LINES__SCRATCH_ALIGNMENT - 1);
}

int lines__passes_create(const struct lines__column_loops *loops, redist_index n,
                         enum fftnd_precision precision, int groups,
                         const struct lines__radices *radices, struct lines__passes *passes) {
    int left = (int)n, done = groups;
    if (radices->n == 0)
        return redist_fail_in("libfftnd", REDIST_ERR_SERIAL, "no columns of %lld elements",
                              (long long)n);
    passes->scratch_bytes = 2 * (size_t)((n + 1) * groups * loops->register_bytes);
    void *scratch = make_scratch(passes);
    atomic_init(&passes->spare[0], scratch);
    char *to = passes->factors =
        redist_calloc((size_t)(radices->n * n), lines__item_bytes(precision, 0));
    if (to == NULL || scratch == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
    passes->n = radices->n;
    list_roots((int)n, scratch); /* has four registers for each element */
    for (int i = 0; i < radices->n; i++) {
        int radix = radices->radix[i];
        passes->pass[i] = (struct lines__column_pass){radix, left, done, to};
        to = set_factors(&passes->pass[i], (int)n, scratch, precision, to);
        left /= radix;
        done *= radix;
    }
    return REDIST_OK;
}

void lines__passes_destroy(struct lines__passes *passes) {
    redist_release(passes->factors);
    for (int i = 0; i < LINES__SPARES; i++)
        redist_release(atomic_load(&passes->spare[i]));
}

/* ---------------------------------------------------------------- scratch memory */

int lines__scratch_take(struct lines__passes *passes, void **memory, void *scratch[2]) {
    *memory = NULL;
    for (int i = 0; i < LINES__SPARES && *memory == NULL; i++)
        *memory = atomic_exchange(&passes->spare[i], NULL);
    if (*memory == NULL)
        *memory = make_scratch(passes);
    if (*memory == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY,
                              "no memory for one more thread in a serial transform");
    uintptr_t rest = (uintptr_t)*memory % LINES__SCRATCH_ALIGNMENT;
    scratch[0] = (char *)*memory + (rest > 0 ? LINES__SCRATCH_ALIGNMENT - rest : 0);
    scratch[1] = (char *)scratch[0] + passes->scratch_bytes;
    return REDIST_OK;
}

void lines__scratch_give_back(struct lines__passes *passes, void *memory) {
    for (int i = 0; i < LINES__SPARES; i++) {
        void *none = NULL;
        if (atomic_compare_exchange_strong(&passes->spare[i], &none, memory))
            return;
    }
    redist_release(memory);
}
