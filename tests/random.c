/* SPDX-License-Identifier: BSD-3-Clause */
#include "random.h"

static uint64_t state;

/* Marsaglia's xorshift steps between odd multiplications, so that each bit depends on all */
uint64_t random_hash(uint64_t value) {
    value += 0x9e3779b97f4a7c15u;
    for (int round = 0; round < 2; round++) {
        value ^= value >> 29;
        value *= 0xd6e8feb86659fd93u;
    }
    return value ^ (value >> 32);
}

void random_seed(uint64_t seed) {
    state = seed;
}

uint64_t random_bits(void) {
    return random_hash(++state);
}

int random_from(uint64_t *sequence, int low, int high) {
    uint64_t width = (uint64_t)((int64_t)high - low + 1);
    return (int)(low + (int64_t)(random_hash(++*sequence) % width));
}

int random_between(int low, int high) {
    return random_from(&state, low, high);
}

int random_chance(int percent) {
    return random_between(0, 99) < percent;
}

void random_permutation(int count, int order[]) {
    for (int i = 0; i < count; i++) {
        int other = random_between(0, i);
        order[i] = order[other];
        order[other] = i;
    }
}
