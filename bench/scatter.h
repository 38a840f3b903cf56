/* SPDX-License-Identifier: BSD-3-Clause */
/* Reproducible contents for arrays: a number made from an index. */
#ifndef BENCH_SCATTER_H
#define BENCH_SCATTER_H

#include <stdint.h>

/* Mixes the bits of a number; different numbers give different results. */
static inline uint64_t bench_scatter(uint64_t bits) {
    bits += 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

#endif
