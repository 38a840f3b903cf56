/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stages of method kway. Where P is a product of as many factors up to k as there must be stages,
 * ranks are numbers with a digit for each factor, and each stage sets one digit: every stage splits the
 * ranks in groups that go on among themselves, as AccFFT's hypercube does. Else, for primes say, the
 * distance from source to destination modulo P is written to the base k, and each stage goes as far as
 * one digit says (Bruck et al.). Both are rings on which blocks travel by the digits of a distance.
 */
#include "kway.h"

static int stages_needed(int nranks, int k) {
    int stages = 0;
    for (long long reached = 1; reached < nranks; reached *= k)
        stages++;
    return stages;
}

static int largest_divisor(int n, int most) {
    int divisor = most < n ? most : n;
    while (n % divisor != 0)
        divisor--;
    return divisor;
}

/* Factors up to k, the largest first; 0 if there are none or more than `most`. */
static int factorise(int nranks, int k, int most, int factors[]) {
    int count = 0;
    for (int rest = nranks; rest > 1; rest /= factors[count++])
        if (count == most || (factors[count] = largest_divisor(rest, k)) == 1)
            return 0;
    return count;
}

int redist__kway_stages(int nranks, int k, struct redist__stage stages[]) {
    int factors[REDIST__MOST_STAGES], needed = stages_needed(nranks, k);
    int groups = factorise(nranks, k, needed, factors);
    /* the smallest factor is for the ranks that are farthest apart, and comes first */
    for (int i = 0, stride = 1; i < groups; stride *= factors[i++])
        stages[groups - 1 - i] = (struct redist__stage){stride, factors[i], 1, factors[i]};
    for (int i = 0, weight = 1; i < needed && groups == 0; i++) {
        stages[needed - 1 - i] = (struct redist__stage){1, nranks, weight, k};
        weight *= i + 1 < needed ? k : 1;
    }
    return needed;
}

int redist__kway_digit(const struct redist__stage *stage, int distance) {
    return distance / stage->stride % stage->extent / stage->weight % stage->radix;
}

int redist__kway_most(const struct redist__stage *stage) {
    int most = (stage->extent - 1) / stage->weight;
    return most < stage->radix ? most : stage->radix - 1;
}

int redist__kway_neighbour(const struct redist__stage *stage, int rank, int digit) {
    int here = rank / stage->stride % stage->extent;
    int steps = digit < 0 ? stage->extent - -digit * stage->weight : digit * stage->weight;
    int there = (int)(((long long)here + steps) % stage->extent);
    return rank + (there - here) * stage->stride;
}

int redist__kway_rank(int nstages, const struct redist__stage stages[], int rank, int distance,
                      int sign) {
    for (int i = 0; i < nstages; i++)
        rank = redist__kway_neighbour(&stages[i], rank,
                                      sign * redist__kway_digit(&stages[i], distance));
    return rank;
}
