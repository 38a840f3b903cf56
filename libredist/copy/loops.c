/* SPDX-License-Identifier: BSD-3-Clause */
#include "loops.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- plain C */

static int runs_everywhere(void) {
    return 1;
}

/* Copies rows of a fixed length, so that the compiler uses registers. */
#define ROWS_OF(bytes)                                                                             \
    case bytes:                                                                                    \
        for (size_t row = 0; row < rows; row++, to += to_stride, from += from_stride)              \
            memcpy(to, from, bytes);                                                               \
        break;

static void copy_plainly(const struct redist__loop *loop, char *to, ptrdiff_t to_stride,
                         const char *from, ptrdiff_t from_stride, size_t rows, size_t run) {
    (void)loop;
    switch (run) {
        ROWS_OF(1)
        ROWS_OF(2)
        ROWS_OF(4)
        ROWS_OF(8)
        ROWS_OF(16)
        ROWS_OF(32)
        ROWS_OF(64)
    default:
        for (size_t row = 0; row < rows; row++, to += to_stride, from += from_stride)
            memcpy(to, from, run);
    }
}

const struct redist__registers redist__registers_plain = {"plain", runs_everywhere, copy_plainly,
                                                          NULL, 1};

/* ---------------------------------------------------------------- all of them */

static const struct redist__registers *const all[] = {
#if defined REDIST__X86_LOOPS
    &redist__registers_avx512, &redist__registers_avx2, &redist__registers_sse2,
    &redist__registers_movsb,
#elif defined REDIST__ARM_LOOPS
    &redist__registers_neon,
#endif
    &redist__registers_plain};

enum { ALL = sizeof all / sizeof *all };

const struct redist__registers *redist__registers_at(int i) {
    for (int j = 0; j < ALL; j++)
        if (all[j]->runs_here() && i-- == 0)
            return all[j];
    return NULL;
}

/* Calls the fence of the widest registers, which all kinds of one processor share. */
void redist__copy_fence(void) {
    const struct redist__registers *widest = redist__registers_at(0);
    if (widest->fence != NULL)
        widest->fence();
}

/* ---------------------------------------------------------------- as text */

void redist__loop_print(const struct redist__loop *loop, char text[REDIST__LOOP_BYTES]) {
    snprintf(text, REDIST__LOOP_BYTES, "%s/%d/%zu%s", loop->registers->name, loop->abreast,
             loop->ahead, loop->nontemporal ? "/past" : "");
}

int redist__loop_scan(const char *text, struct redist__loop *loop) {
    enum { FARTHEST = 1 << 20 };
    char name[REDIST__LOOP_BYTES], past[REDIST__LOOP_BYTES] = "";
    if (sscanf(text, "%15[a-z0-9]/%1d/%7zu/%15s", name, &loop->abreast, &loop->ahead, past) < 3 ||
        loop->ahead > FARTHEST || (past[0] != '\0' && strcmp(past, "past") != 0) ||
        strchr("1248", '0' + loop->abreast) == NULL)
        return 0;
    loop->nontemporal = past[0] != '\0';
    for (int i = 0; (loop->registers = redist__registers_at(i)) != NULL; i++)
        if (strcmp(loop->registers->name, name) == 0)
            return !loop->nontemporal || loop->registers->fence != NULL;
    return 0;
}
