/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers of 16 bytes, which every aarch64 has. */
#include <arm_neon.h>
#include <stdatomic.h>

#define NAME(name) name##_neon
#define TARGET

static inline void through_neon(char *to, const char *from) {
    for (int part = 0; part < 64; part += 16)
        vst1q_u8((uint8_t *)(to + part), vld1q_u8((const uint8_t *)(from + part)));
}

/* Stores pairs past the caches, for which no intrinsic exists. */
static inline void past_neon(char *to, const char *from) {
    for (int part = 0; part < 64; part += 32) {
        uint8x16_t first = vld1q_u8((const uint8_t *)(from + part)),
                   second = vld1q_u8((const uint8_t *)(from + part + 16));
        __asm__ volatile("stnp %q1, %q2, [%0]"
                         :
                         : "r"(to + part), "w"(first), "w"(second)
                         : "memory");
    }
}

#include "vector_rows.h"

static int runs_here(void) {
    return 1;
}

/* Does nothing: these stores are ordered like others. */
static void fence(void) {
    atomic_thread_fence(memory_order_release);
}

const struct redist__registers redist__registers_neon = {"neon", runs_here, rows_neon, fence, 16};
