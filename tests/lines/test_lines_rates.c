/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates of lines on a device, without one: alignment of rows, real lines, text for wisdom, what is kept. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../liblines/cuda/rates.h"
#include "../../liblines/cuda/tasks.h"
#include "../comma_locale.h"
#include "../harness.h"
#include "../mutations.h"

/* ---------------------------------------------------------------- rows of neighbours */

/* Alignment of lines along one axis of an array of `planes` x `rows` x `n`. */
static int are_aligned(int is_double, int axis, redist_index planes, redist_index rows,
                       redist_index n, ptrdiff_t shift) {
    struct lines__loop loops[3] = {{planes, (ptrdiff_t)(rows * n), (ptrdiff_t)(rows * n)},
                                   {rows, (ptrdiff_t)n, (ptrdiff_t)n},
                                   {n, 1, 1}};
    loops[axis].out += shift;
    return lines__rows_are_aligned(is_double, 3, loops);
}

START_TEST(rows_of_neighbours) {
    for (int axis = 0; axis < 2; axis++) {
        check_all(are_aligned(1, axis, 600, 300, 600, 0), "600 complex doubles are 75 lines");
        check_all(!are_aligned(1, axis, 600, 300, 301, 0), "301 complex doubles");
        check_all(!are_aligned(1, axis, 500, 250, 500, 0), "500 complex doubles are 62.5 lines");
        check_all(are_aligned(0, axis, 256, 128, 256, 0), "256 complex floats");
        check_all(are_aligned(0, axis, 600, 300, 592, 0), "592 complex floats are 37 lines");
        check_all(!are_aligned(0, axis, 600, 300, 600, 0), "600 complex floats are 37.5 lines");
        check_all(!are_aligned(1, axis, 600, 300, 600, 4), "a side on which they are not");
    }
    check_all(are_aligned(1, 0, 1, 1, 301, 0), "one row, whose neighbours are none");
}
END_TEST

/* ---------------------------------------------------------------- real lines */

/* The last `rank` axes of 5 x 8 x 12 real points, backward: rows of `row` points, of numbers that are `apart`. */
static struct lines__task real_lines(int rank, ptrdiff_t row, ptrdiff_t apart, int is_odd) {
    const struct lines__problem problem = {.kind = FFTND_R2C,
                                           .direction = REDIST_BACKWARD,
                                           .is_odd = is_odd,
                                           .naxes = 2,
                                           .axes = {{8, 7, row * apart}, {12, 1, apart}},
                                           .nloops = 1,
                                           .loops = {{5, 8 * 7, 10 * row * apart}}};
    struct lines__loop axes[REDIST_MAX_NDIMS];
    const int n = lines__task_list_axes(&problem, axes);
    return lines__task_make(&problem, n, axes, n - rank, n, -1);
}

/* Two real lines are one complex line of panels where cuFFT takes none, or they pass through a list. */
START_TEST(odd_lines) {
    struct lines__panel_lines lines;
    for (ptrdiff_t row = 12; row < 18; row++)
        for (int is_odd = 0; is_odd < 2; is_odd++) {
            const struct lines__task task = real_lines(1, row, 1, is_odd);
            const int in_pairs = row % 2 == 0 && !is_odd;
            check_all(lines__task_lines(&task, &lines), "no panels for rows of %td", row);
            check_all(lines.is_r2r == !in_pairs, "rows of %td, odd: %d", row, is_odd);
            check_all(lines__task_misaligns(&task) == is_odd, "rows of %td, odd: %d", row, is_odd);
        }
}
END_TEST

/* Rates are of rows that follow each other, with room for the modes at most. */
START_TEST(rows_apart) {
    for (ptrdiff_t row = 12; row < 18; row++)
        for (ptrdiff_t apart = 1; apart < 4; apart++) {
            const struct lines__task both = real_lines(2, row, apart, 0),
                                     last = real_lines(1, row, apart, 0);
            check_all(lines__task_is_apart(&both) == (row > 14), "rows of %td", row);
            check_all(!lines__task_is_apart(&last), "one axis is not nested in another one");
        }
}
END_TEST

/* ---------------------------------------------------------------- rates */

static int are_same(const struct lines__rates *a, const struct lines__rates *b) {
    return a->n == b->n && a->is_double == b->is_double &&
           memcmp(a->cufft, b->cufft, sizeof a->cufft) == 0 &&
           memcmp(a->panels, b->panels, sizeof a->panels) == 0 &&
           memcmp(a->variant, b->variant, sizeof a->variant) == 0;
}

/* A process with a decimal comma writes what one with a point reads, and the other way round. */
START_TEST(text_with_comma) {
    const struct lines__rates rates = {.n = 600,
                                       .is_double = 1,
                                       .cufft = {8.125, 1.5, 0.25, 7.5, 0.5},
                                       .panels = {1.25, 0, 3, 2.5, 4},
                                       .variant = {2, LINES__PANEL_GUESS, 5, 9, 0}};
    for (int writes = 0; writes < 2; writes++) {
        struct lines__rates found = {.n = 600, .is_double = 1};
        char line[256];
        if (!comma_locale_set(writes))
            skip_test("no locale to make one with a comma from");
        lines__rates_print(&rates, "A_100", sizeof line, line);
        comma_locale_reset();
        comma_locale_set(!writes);
        check_all(lines__rates_scan(line, "A_100", &found) && are_same(&rates, &found), "%s", line);
        comma_locale_reset();
    }
}
END_TEST

/* Scanned rates are finite, and variants exist, whatever a file contains. */
START_TEST(mutated_text) {
    const struct lines__rates rates = {
        .n = 600, .cufft = {8.125, 1.5, 0.25, 7.5, 0.5}, .panels = {1.25, 0, 3, 2.5, 4}};
    for (int i = 0; harness_another(i, 100); i++) {
        struct lines__rates found = {.n = 600};
        char line[256];
        lines__rates_print(&rates, "A_100", sizeof line, line);
        line[mutate(line, strlen(line), sizeof line - 1, 5)] = '\0';
        harness_case("%s", line);
        int taken = lines__rates_scan(line, "A_100", &found);
        for (int kind = 0; kind < LINES__RATES && taken; kind++)
            check_all(found.cufft[kind] >= 0 && isfinite(found.cufft[kind]) &&
                          found.panels[kind] >= 0 && isfinite(found.panels[kind]) &&
                          found.variant[kind] >= LINES__PANEL_GUESS &&
                          found.variant[kind] < LINES__LINE_VARIANTS,
                      "kind %d", kind);
    }
}
END_TEST

START_TEST(text) {
    const struct lines__rates rates = {.n = 600,
                                       .is_double = 1,
                                       .cufft = {8.125, 1.5, 0.25, 7.5, 0.5},
                                       .panels = {1.25, 0, 3, 2.5, 4},
                                       .variant = {2, LINES__PANEL_GUESS, 5, 9, 0}};
    struct lines__rates found = {.n = 600, .is_double = 1};
    char line[256];
    lines__rates_print(&rates, "A_100", sizeof line, line);
    check_all(lines__rates_scan(line, "A_100", &found), "%s", line);
    check_all(are_same(&rates, &found), "%s", line);
    static const char *const first = "cufft 1 panels 2 like 3 cufft 1 panels 2 like 3 "
                                     "cufft 1 panels 2 like 3 cufft 1 panels 2 like 3 ",
                             *const damaged[] = {"",
                                                 "on A_100",
                                                 "cufft 1 panels 2 like 3",
                                                 "cufft 1 panels 2 on A_100",
                                                 "cufft 1 panels -2 like 3 on A_100",
                                                 "cufft 1 panels nan like 3 on A_100",
                                                 "cufft 1 panels 2 like 10 on A_100",
                                                 "cufft 1 panels 2 like 3 on A_1000",
                                                 "cufft 1 panels 2 like 3 on "};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        (void)snprintf(line, sizeof line, "%s%s", first, damaged[i]);
        check_all(!lines__rates_scan(line, "A_100", &found), "\"%s\" is taken", line);
    }
    check_all(are_same(&rates, &found), "damage changed the rates");
}
END_TEST

/* More rates than are kept: the last ones are forgotten, and no others. */
START_TEST(kept) {
    for (int i = 0; i < 600; i++) {
        struct lines__rates rates = {.n = 100 + i / 2, .is_double = i % 2, .cufft = {i, 1}};
        check_all(!lines__rates_find(3, &rates), "%d is known", i);
        lines__rates_keep(3, &rates);
        rates.cufft[1] = 2;
        lines__rates_keep(3, &rates);
    }
    for (int i = 0; i < 600; i++) {
        struct lines__rates rates = {.n = 100 + i / 2, .is_double = i % 2};
        const int found = lines__rates_find(3, &rates);
        check_all(found ? rates.cufft[0] == i && rates.cufft[1] == 2 : i >= 512, "%d: %g", i,
                  rates.cufft[0]);
        check_all(!lines__rates_find(2, &rates), "another device");
    }
}
END_TEST

/* The order of the axes counts. */
START_TEST(groups) {
    for (int i = 0; i < 600; i++) {
        struct lines__group_rate rate = {
            .n = {1 + i % 7, 2, 3 + i}, .is_double = i % 2, .is_real = i % 3 == 0, .cufft = i};
        check_all(!lines__rates_find_group(1, &rate), "%d is known", i);
        lines__rates_keep_group(1, &rate);
        rate.cufft = -1;
        check_all(lines__rates_find_group(1, &rate) ? rate.cufft == i : i >= 512, "%d", i);
        rate.is_real = !rate.is_real;
        check_all(!lines__rates_find_group(1, &rate), "%d is real and complex", i);
        rate.is_real = !rate.is_real;
        rate.to_real = 1;
        check_all(!lines__rates_find_group(1, &rate), "%d is of the other direction", i);
        rate.to_real = 0;
        rate.is_strided = 1;
        check_all(!lines__rates_find_group(1, &rate), "%d is strided", i);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {rows_of_neighbours, odd_lines, rows_apart, text, text_with_comma,
                                  mutated_text,       kept,      groups,     NULL};
    return harness_run(argc, argv, "test_lines_rates", tests);
}
