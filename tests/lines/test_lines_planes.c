/* SPDX-License-Identifier: BSD-3-Clause */
/* Planes and long lines among the threads and blocks of a device, checked without one. */
#include "../../liblines/cuda/panels_planes.h"
#include "../harness.h"
#include "../random.h"

enum { SHARED_BYTES = 227 << 10 };

/* Nonzero if the kernel of planes has a radix. */
static int is_plane_radix(unsigned radix) {
    return radix >= 4 && radix <= LINES__PANEL_MOST_RADIX && radix != 11 && radix != 13;
}

/* Checks that each element of a block has a place of its own in shared memory. */
static void check_places(const struct lines__planes *planes, const long long n[2]) {
    unsigned char taken[SHARED_BYTES / 8] = {0};
    const unsigned item = planes->is_double ? 16 : 8, second = planes->radix[1][1].n;
    for (unsigned line = 0; line < (unsigned)n[0] >> planes->log_cluster; line++)
        for (unsigned i = 0; i < planes->wide.n * n[1]; i++) {
            const unsigned side = i % planes->wide.n, j = i / planes->wide.n,
                           place = line * planes->pitch + j / second * planes->group + j % second,
                           at = place * planes->wide.n + side;
            check_all((at + 1) * item <= planes->shared_bytes && taken[at]++ == 0,
                      "%u of line %u of planes of %lld x %lld", j, line, n[0], n[1]);
        }
}

START_TEST(shapes_of_planes) {
    struct lines__planes planes;
    for (int i = 0; i < 3000; i++) {
        const long long n[2] = {random_between(1, 300), random_between(1, 300)};
        const int variant = random_between(LINES__PANEL_GUESS, LINES__PLANES_VARIANTS - 1),
                  is_double = random_between(0, 1), kind = random_between(0, 1);
        if (!lines__planes_shape(&planes, variant, n, is_double, kind, (size_t)SHARED_BYTES))
            continue;
        for (int j = 0; j < 2; j++) {
            const unsigned first = planes.radix[j][0].n, second = planes.radix[j][1].n;
            check_all(first * second == n[j] && is_plane_radix(first) && is_plane_radix(second),
                      "radices of %lld", n[j]);
        }
        check_all((variant == LINES__PANEL_GUESS || (int)planes.log_cluster == variant) &&
                      planes.per_block.n << planes.log_cluster == planes.radix[0][1].n &&
                      planes.shared_bytes <= SHARED_BYTES,
                  "%u blocks, %zu bytes", 1U << planes.log_cluster, planes.shared_bytes);
        check_places(&planes, n);
    }
    const long long n[2] = {128, 128};
    check_all(
        !lines__planes_shape(&planes, 0, n, 1, LINES__PLANES_CONTIGUOUS, (size_t)SHARED_BYTES) &&
            lines__planes_shape(&planes, 1, n, 1, LINES__PLANES_CONTIGUOUS, (size_t)SHARED_BYTES),
        "128 x 128");
    const struct lines__panel_loop axis[2] = {{128, 1, 1}, {128, 1, 1}}, side = {100, 1, 1};
    check_all(lines__planes_repeat(&planes, axis, &side, 0, NULL) && planes.nplanes == 100, "100");
}
END_TEST

/* Lines too long for a panel are cut for the blocks of a cluster. */
START_TEST(shapes_of_long_lines) {
    struct lines__planes planes;
    int found = 0;
    for (int i = 0; i < 2000; i++) {
        const int sides_of[2] = {random_between(4, 16) * random_between(4, 16),
                                 random_between(4, 16) * random_between(4, 16)};
        const long long n = i == 0 ? 8192 : i == 1 ? 16384 : sides_of[0] * sides_of[1];
        const int variant = i < 2 ? LINES__PANEL_GUESS
                                  : random_between(LINES__PANEL_GUESS, LINES__PLANES_VARIANTS - 1);
        if (!lines__planes_shape_lines(&planes, variant, n, random_between(0, 1),
                                       (size_t)SHARED_BYTES)) {
            check_all(i > 1, "no planes for %lld", n);
            continue;
        }
        const struct lines__panel_loop axis[2] = {{0, 0, 0}, {(unsigned)n, 7, 11}},
                                       side = {7, 1, 1};
        check_all(lines__planes_repeat(&planes, axis, &side, 0, NULL) &&
                      planes.nplanes == 2 - (planes.wide.n == 8),
                  "%u planes", planes.nplanes);
        const long long sides[2] = {planes.axis[0].n, planes.axis[1].n};
        check_all(planes.is_line && sides[0] * sides[1] == n && planes.axis[0].in == 7 &&
                      planes.axis[1].in == 7 * sides[0] && planes.axis[1].out == 11 &&
                      planes.axis[0].out == 11 * sides[1],
                  "%lld is cut into %lld x %lld", n, sides[0], sides[1]);
        check_all(lines__planes_roots_bytes(&planes) ==
                      (size_t)(sides[0] + sides[1] + n) * (planes.is_double ? 16 : 8),
                  "roots of %lld", n);
        check_places(&planes, sides);
        found++;
    }
    check_all(found > 100, "%d lengths", found);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {shapes_of_planes, shapes_of_long_lines, NULL};
    return harness_run(argc, argv, "test_lines_planes", tests);
}
