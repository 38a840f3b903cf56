/* SPDX-License-Identifier: BSD-3-Clause */
/* Which library a problem gets, and what plans do where a library lacks an ability. */
#include "../harness.h"

#include "../../liblines/lines.h"

#include <string.h>

/* ---------------------------------------------------------------- libraries that expect what the test says */

static int expected[2];
static const char *called;

static int percent_first(const struct lines__problem *problem, const void *in, const void *out) {
    (void)problem, (void)in, (void)out;
    return expected[0];
}

static int percent_second(const struct lines__problem *problem, const void *in, const void *out) {
    (void)problem, (void)in, (void)out;
    return expected[1];
}

static int create(const struct lines__problem *problem, void *in, void *out, void **plan) {
    (void)problem, (void)out;
    *plan = in;
    return REDIST_OK;
}

static int execute(void *plan, void *in, void *out) {
    (void)plan, (void)in, (void)out;
    called = "execute";
    return REDIST_OK;
}

static size_t area_bytes(const void *plan) {
    (void)plan;
    return 99;
}

static int set_area(void *plan, void *area) {
    (void)plan, (void)area;
    called = "set_area";
    return REDIST_OK;
}

static void destroy(void *plan) {
    (void)plan;
    called = "destroy";
}

const struct lines__library lines__library_first = {
    .name = "first", .space = REDIST_SPACE_HOST, .percent = percent_first};
const struct lines__library lines__library_second = {
    .name = "second", .space = REDIST_SPACE_HOST, .percent = percent_second};
const struct lines__library lines__library_general = {.name = "general",
                                                      .space = REDIST_SPACE_HOST,
                                                      .create = create,
                                                      .execute = execute,
                                                      .destroy = destroy};
const struct lines__library lines__library_able = {.name = "able",
                                                   .space = REDIST_SPACE_CUDA,
                                                   .create = create,
                                                   .execute = execute,
                                                   .area_bytes = area_bytes,
                                                   .set_area = set_area,
                                                   .destroy = destroy};

/* ---------------------------------------------------------------- the chooser */

START_TEST(least_percent) {
    static const struct {
        int expected[2];
        const struct lines__library *chosen;
    } cases[] = {{{0, 0}, &lines__library_general},  {{60, 0}, &lines__library_first},
                 {{60, 40}, &lines__library_second}, {{40, 60}, &lines__library_first},
                 {{99, 1}, &lines__library_second},  {{100, 150}, &lines__library_general}};
    const struct lines__problem problem = {.general = lines__library_for(REDIST_SPACE_AUTO)};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expected[0] = cases[i].expected[0];
        expected[1] = cases[i].expected[1];
        const struct lines__library *chosen = lines__choose(&problem, NULL, NULL);
        check_all(chosen == cases[i].chosen, "case %zu: %s", i, chosen->name);
    }
}
END_TEST

START_TEST(libraries_of_the_build) {
    static const struct lines__library *const all[] = {
        &lines__library_first, &lines__library_second, &lines__library_general,
        &lines__library_able, NULL};
    for (int i = 0; i < 5; i++)
        check_all(lines__library_at(i) == all[i], "library %d", i);
    check_all(lines__library_for(REDIST_SPACE_AUTO) == &lines__library_general, "host");
    check_all(lines__library_for(REDIST_SPACE_HOST) == &lines__library_general, "host");
    check_all(lines__library_for(REDIST_SPACE_CUDA) == &lines__library_able, "device");
}
END_TEST

/* ---------------------------------------------------------------- plans */

START_TEST(plans_without_abilities) {
    const struct lines__problem problem = {.naxes = 0};
    char array = 0;
    struct lines__plan plan = {0};
    check_all(lines__area_bytes(&plan) == 0 && lines__set_area(&plan, &array) == REDIST_OK, "none");
    check_code(lines__create(&lines__library_general, &problem, &array, &array, &plan), REDIST_OK);
    check_code(lines__execute(&plan, &array, &array), REDIST_OK);
    check_all(strcmp(called, "execute") == 0, "%s", called);
    check_all(lines__area_bytes(&plan) == 0 && lines__set_area(&plan, &array) == REDIST_OK, "area");
    lines__destroy(&plan);
    check_all(strcmp(called, "destroy") == 0, "%s", called);
    called = "nothing";
    lines__destroy(&plan);
    check_all(strcmp(called, "nothing") == 0, "%s", called);
}
END_TEST

START_TEST(plans_with_abilities) {
    const struct lines__problem problem = {.naxes = 0};
    char array = 0;
    struct lines__plan plan = {0};
    check_code(lines__create(&lines__library_able, &problem, &array, &array, &plan), REDIST_OK);
    check_all(lines__area_bytes(&plan) == 99, "area");
    check_code(lines__set_area(&plan, &array), REDIST_OK);
    check_all(strcmp(called, "set_area") == 0, "%s", called);
    lines__destroy(&plan);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {least_percent, libraries_of_the_build, plans_without_abilities,
                                  plans_with_abilities, NULL};
    return harness_run(argc, argv, "test_lines_choose", tests);
}
