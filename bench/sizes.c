/* SPDX-License-Identifier: BSD-3-Clause */
#include "sizes.h"
#include "options.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAST = 64, MOST = 1152 };

static int *numbers(int count) {
    int *values = calloc((size_t)count, sizeof *values);
    if (values == NULL)
        bench_abort("no memory for %d sizes", count);
    return values;
}

static int is_smooth(int n) {
    static const int primes[] = {2, 3, 5, 7};
    for (int i = 0; i < 4; i++)
        while (n % primes[i] == 0)
            n /= primes[i];
    return n == 1;
}

/* Each number is taken as likely as any other: as many as are wanted of those that are left. */
static int *draw(int wanted, unsigned state, int *count) {
    int *values = numbers(MOST), left = 0;
    for (int n = LEAST; n <= MOST; n++)
        left += is_smooth(n);
    *count = 0;
    for (int n = LEAST; n <= MOST; n++) {
        if (!is_smooth(n))
            continue;
        state = 1664525U * state + 1013904223U;
        if ((int)((state >> 8) % (unsigned)left) < wanted - *count)
            values[(*count)++] = n;
        left--;
    }
    return values;
}

int *bench_read_sizes(const char *text, int *count) {
    int wanted, seed, end = 0;
    if (sscanf(text, "random:%d:%d%n", &wanted, &seed, &end) == 2 && text[end] == '\0')
        return wanted > 0 ? draw(wanted, (unsigned)seed, count) : NULL;
    int most = 1;
    for (const char *at = text; *at != '\0'; at++)
        most += *at == ',';
    int *values = numbers(most);
    for (*count = 0; *count < most; text++) {
        char *behind;
        long n = strtol(text, &behind, 10);
        if (behind == text || n < 1 || n > INT_MAX)
            break;
        values[(*count)++] = (int)n;
        text = behind;
        if (*text != ',')
            break;
    }
    if (*count == most && *text == '\0')
        return values;
    free(values);
    return NULL;
}
