/* SPDX-License-Identifier: BSD-3-Clause */
/* redist_decompose, and the error table: what needs one rank only. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

START_TEST(balanced_blocks) {
    for (int n = 0; n <= 40; n++)
        for (int nparts = 1; nparts <= 17; nparts++) {
            redist_index next = 0, previous = INT_MAX;
            harness_case("n = %d, nparts = %d", n, nparts);
            for (int part = 0; part < nparts; part++) {
                redist_index count = -1, start = -1;
                check_ok(redist_decompose(n, nparts, part, &count, &start));
                check_all(start == next, "part %d starts at %lld, not %lld", part, (long long)start,
                          (long long)next);
                check_all(count == n / nparts || count == n / nparts + 1, "part %d has %lld", part,
                          (long long)count);
                check_all(count <= previous, "part %d is larger than the one before", part);
                next = start + count;
                previous = count;
            }
            check_all(next == n, "the parts end at %lld", (long long)next);
        }
}
END_TEST

START_TEST(largest_numbers) {
    redist_index count, start;
    check_ok(redist_decompose(INT_MAX, 2, 1, &count, &start));
    check_all(start == INT_MAX / 2 + 1 && count == INT_MAX / 2, "%lld from %lld", (long long)count,
              (long long)start);
    check_ok(redist_decompose(INT_MAX, INT_MAX, INT_MAX - 1, &count, &start));
    check_all(start == INT_MAX - 1 && count == 1, "%lld from %lld", (long long)count,
              (long long)start);
    check_ok(redist_decompose(3, INT_MAX, INT_MAX - 1, &count, &start));
    check_all(start == 3 && count == 0, "%lld from %lld", (long long)count, (long long)start);
}
END_TEST

START_TEST(bad_arguments) {
    static const struct {
        int n, nparts, part;
        const char *argument, *value;
    } bad[] = {{-1, 2, 0, "n", "-1"},
               {5, 0, 0, "nparts", "0"},
               {5, -3, 0, "nparts", "-3"},
               {5, 2, -7, "part", "-7"},
               {5, 2, 2, "part", "2"},
               {5, 2, 99, "part", "99"},
               {INT_MIN, 1, 0, "n", "-2147483648"}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        redist_index count = 77, start = 78;
        char argument[64];
        harness_case("n = %d, nparts = %d, part = %d", bad[i].n, bad[i].nparts, bad[i].part);
        check_code(redist_decompose(bad[i].n, bad[i].nparts, bad[i].part, &count, &start),
                   REDIST_ERR_ARGUMENT);
        snprintf(argument, sizeof(argument), "%s = %s", bad[i].argument, bad[i].value);
        check_all(strstr(redist_error_message(), argument) != NULL, "no \"%s\" in: %s", argument,
                  redist_error_message());
        check_all(count == 77 && start == 78, "a refused call wrote its results");
    }
}
END_TEST

START_TEST(null_results) {
    redist_index number = 5;
    check_code(redist_decompose(4, 2, 0, NULL, &number), REDIST_ERR_NULL);
    check_all(strstr(redist_error_message(), "count") != NULL, "%s", redist_error_message());
    check_code(redist_decompose(4, 2, 0, &number, NULL), REDIST_ERR_NULL);
    check_all(strstr(redist_error_message(), "start") != NULL, "%s", redist_error_message());
    check_all(number == 5, "a refused call wrote a result");
}
END_TEST

/* ---------------------------------------------------------------- the error table */

START_TEST(error_table) {
    static const struct {
        int code;
        const char *name, *sentence;
    } table[] = {
#define ROW(name, number, sentence) {REDIST_##name, "REDIST_" #name, sentence},
        REDIST_ERRORS(ROW)
#undef ROW
    };
    int count = (int)(sizeof(table) / sizeof(table[0]));
    check_all(REDIST_OK == 0, "REDIST_OK is not 0");
    for (int i = 0; i < count; i++) {
        check_all(table[i].code == i, "%s is %d", table[i].name, table[i].code);
        check_all(!strcmp(redist_error_name(i), table[i].name), "%d is %s", i,
                  redist_error_name(i));
        check_all(!strcmp(redist_error_string(i), table[i].sentence), "%d: %s", i,
                  redist_error_string(i));
    }
}
END_TEST

START_TEST(unknown_codes) {
    static const int unknown[] = {-1, REDIST_ERR_PEER + 1, 1000, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        const char *sentence = redist_error_string(unknown[i]);
        check_all(!strcmp(redist_error_name(unknown[i]), "unknown"), "%d is %s", unknown[i],
                  redist_error_name(unknown[i]));
        check_all(sentence != NULL && *sentence, "no sentence for %d", unknown[i]);
        for (int code = 0; code <= REDIST_ERR_PEER; code++)
            check_all(strcmp(sentence, redist_error_string(code)) != 0, "%d has the sentence of %d",
                      unknown[i], code);
    }
}
END_TEST

static void *fail_otherwise(void *nothing) {
    redist_index count, start;
    redist_decompose(5, -8, 0, &count, &start);
    return strstr(redist_error_message(), "-8") ? nothing : NULL;
}

/* Each thread has its own message. */
START_TEST(message_of_thread) {
    redist_index count, start;
    pthread_t thread;
    void *seen = NULL;
    check_code(redist_decompose(-31, 2, 0, &count, &start), REDIST_ERR_ARGUMENT);
    pthread_create(&thread, NULL, fail_otherwise, &count);
    pthread_join(thread, &seen);
    check_all(seen == &count, "the other thread did not see its own message");
    check_all(strstr(redist_error_message(), "-31") != NULL, "the message became: %s",
              redist_error_message());
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {balanced_blocks, largest_numbers, bad_arguments,     null_results,
                                  error_table,     unknown_codes,   message_of_thread, NULL};
    return harness_run(argc, argv, "test_redist_decompose", tests);
}
