/* SPDX-License-Identifier: BSD-3-Clause */
/* redist_copy_box, redist_copy_box_in against plain loops: every length of row, alignment, stride and kind of store. */
#include <string.h>

#include "harness.h"
#include "redist_support.h"

enum { SPACE = 1 << 18, GUARD = 256 };

static unsigned char source[SPACE], destination[SPACE], expected[SPACE];

/* Both destinations get a byte that the case before did not leave there. */
static void fill(void) {
    static int byte;
    byte++;
    if (byte == 1)
        for (size_t i = 0; i < SPACE; i++)
            source[i] = (unsigned char)random_hash(i);
    memset(destination, byte & 0xff, SPACE);
    memset(expected, byte & 0xff, SPACE);
}

/* Byte by byte, along the first axis */
static void copy_plainly(int ndims, const redist_index count[], size_t item,
                         const unsigned char *from, const ptrdiff_t from_stride[],
                         unsigned char *to, const ptrdiff_t to_stride[]) {
    if (ndims == 0) {
        memcpy(to, from, item);
        return;
    }
    for (redist_index i = 0; i < count[0]; i++)
        copy_plainly(ndims - 1, count + 1, item, from + i * from_stride[0], from_stride + 1,
                     to + i * to_stride[0], to_stride + 1);
}

static void check_copy(int ndims, const redist_index count[], size_t item, size_t from,
                       const ptrdiff_t from_stride[], size_t to, const ptrdiff_t to_stride[],
                       int nontemporal) {
    static int turn;
    size_t first = 0;
    if (nontemporal == 0 && turn++ % 2 == 0) {
        check_ok(redist_copy_box_in(REDIST_SPACE_HOST, NULL, ndims, count, item, source + from,
                                    from_stride, destination + to, to_stride));
    } else {
        redist_copy_box(ndims, count, item, source + from, from_stride, destination + to, to_stride,
                        nontemporal ? REDIST_COPY_NONTEMPORAL
                                    : (random_chance(50) ? REDIST_COPY_LOAD : REDIST_COPY_STORE));
    }
    copy_plainly(ndims, count, item, source + from, from_stride, expected + to, to_stride);
    if (memcmp(destination, expected, SPACE) != 0)
        while (destination[first] == expected[first])
            first++;
    check_all(first == 0, "byte %zu of the destination at %zu is wrong", first, to);
}

static void try_row(redist_index bytes) {
    const ptrdiff_t stride[1] = {1};
    size_t from = (size_t)random_between(0, 130), to = GUARD + (size_t)random_between(0, 130);
    int nontemporal = random_chance(70);
    harness_case("%lld bytes from %zu to %zu, nontemporal %d", (long long)bytes, from, to,
                 nontemporal);
    fill();
    check_copy(1, &bytes, 1, from, stride, to, stride, nontemporal);
}

/* One row of every length, at random alignments */
START_TEST(rows) {
    for (int bytes = 0; bytes <= 9000; bytes += bytes < 600 ? 1 : 37)
        try_row(bytes);
    for (int bytes = 9000; bytes < SPACE - 4 * GUARD; bytes += random_between(1, 5000))
        try_row(bytes);
}
END_TEST

/* Rows whose destinations lie alike in their cache lines are copied side by side. */
START_TEST(aligned_rows) {
    for (int i = 0; harness_another(i, 12); i++) {
        const redist_index count[2] = {random_between(1, 20), random_between(200, 3000)};
        const ptrdiff_t from_stride[2] = {count[1] + random_between(0, 70), 1};
        const ptrdiff_t to_stride[2] = {(count[1] + random_between(0, 130) + 63) / 64 * 64, 1};
        size_t from = (size_t)random_between(0, 130), to = GUARD + (size_t)random_between(0, 130);
        harness_case("%lld rows of %lld bytes from %zu to %zu, stride %td", (long long)count[0],
                     (long long)count[1], from, to, to_stride[0]);
        fill();
        check_copy(2, count, 1, from, from_stride, to, to_stride, i % 4 != 0);
    }
}
END_TEST

/* Several rows with room between them */
START_TEST(boxes) {
    for (int i = 0; harness_another(i, 20); i++) {
        int ndims = random_between(1, 4);
        redist_index count[4];
        size_t item = (size_t)random_between(1, 24);
        ptrdiff_t from_stride[4], to_stride[4];
        ptrdiff_t from_extent = (ptrdiff_t)item, to_extent = (ptrdiff_t)item;
        fill();
        for (int axis = ndims - 1; axis >= 0; axis--) {
            count[axis] = random_between(0, axis == ndims - 1 ? 60 : 7);
            from_stride[axis] = from_extent;
            to_stride[axis] = to_extent;
            from_extent *= count[axis] ? count[axis] : 1;
            to_extent *= count[axis] ? count[axis] : 1;
            from_extent += random_chance(50) ? random_between(0, 20) : 0;
            to_extent += random_chance(50) ? random_between(0, 20) : 0;
        }
        int nontemporal = random_chance(70);
        harness_case("%d axes, %lld x ... x %lld items of %zu bytes, nontemporal %d", ndims,
                     (long long)count[0], (long long)count[ndims - 1], item, nontemporal);
        if (from_extent < SPACE - 2 * GUARD && to_extent < SPACE - 2 * GUARD)
            check_copy(ndims, count, item, (size_t)random_between(0, 99), from_stride,
                       GUARD + (size_t)random_between(0, 99), to_stride, nontemporal);
    }
}
END_TEST

/* A transposition: the last axis is contiguous on one side only. */
START_TEST(transpositions) {
    for (int i = 0; harness_another(i, 10); i++) {
        const redist_index count[3] = {random_between(1, 12), random_between(1, 12),
                                       random_between(1, 12)};
        const size_t item = (size_t)random_between(1, 17);
        const ptrdiff_t bytes = (ptrdiff_t)item;
        const ptrdiff_t from_stride[3] = {count[1] * count[2] * bytes, count[2] * bytes, bytes};
        const ptrdiff_t to_stride[3] = {bytes, count[0] * bytes, count[0] * count[1] * bytes};
        fill();
        harness_case("%lldx%lldx%lld items of %zu bytes", (long long)count[0], (long long)count[1],
                     (long long)count[2], item);
        check_copy(3, count, item, 5, from_stride, GUARD, to_stride, i % 2);
        check_copy(3, count, item, 5, to_stride, GUARD + 1, from_stride, i % 2);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {rows, aligned_rows, boxes, transpositions, NULL};
    return harness_run(argc, argv, "test_redist_copy", tests);
}
