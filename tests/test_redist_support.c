/* SPDX-License-Identifier: BSD-3-Clause */
/* What libredist shares with libraries built on it (redist_support.h). */
#include "redist_support.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

#define agree_values(...) redist_agree_values_in(__func__, __VA_ARGS__)

static int last(void) {
    return harness_rank == harness_nranks - 1;
}

static void check_message(const char *word) {
    check_all(strstr(redist_error_message(), word) != NULL, "no \"%s\" in: %s", word,
              redist_error_message());
}

/* ---------------------------------------------------------------- reports */

START_TEST(reports) {
    char word[64];
    snprintf(word, sizeof(word), "(rank %d)", harness_rank);
    check_code(redist_fail(REDIST_ERR_GRID, "%d apples and %s", 7, "pears"), REDIST_ERR_GRID);
    check_message("7 apples and pears");
    check_message("reports_fn");
    check_message(word);
    check_ok(redist_check_mpi(MPI_SUCCESS));
    check_code(redist_check_mpi(MPI_ERR_TYPE), REDIST_ERR_MPI);
    check_all(strstr(redist_error_message(), "MPI:  (") == NULL, "%s", redist_error_message());
    check_ok(redist_check_comm(MPI_COMM_WORLD));
    check_code(redist_check_comm(MPI_COMM_NULL), REDIST_ERR_COMM);
}
END_TEST

/* A code of MPI that has no text of its own has that of its class, or its number. */
START_TEST(codes_without_text) {
    int class, code;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(MPI_ERR_TYPE, &code);
    check_code(redist_check_mpi(class), REDIST_ERR_MPI);
    check_all(strstr(redist_error_message(), "MPI:  (") == NULL, "%s", redist_error_message());
    check_code(redist_check_mpi(code), REDIST_ERR_MPI);
    check_all(strstr(redist_error_message(), "MPI:  (") == NULL, "%s", redist_error_message());
}
END_TEST

/* A message longer than there is room for is cut, not written over the end. */
START_TEST(long_report) {
    static char text[5000];
    memset(text, 'x', sizeof(text) - 1);
    check_code(redist_fail(REDIST_ERR_FILE, "%s", text), REDIST_ERR_FILE);
    check_message("long_report_fn: xxxxxxxx");
    check_all(strlen(redist_error_message()) < sizeof(text) - 1, "the message was not cut");
}
END_TEST

/* ---------------------------------------------------------------- agreement */

START_TEST(agreement) {
    for (int culprit = 0; culprit < harness_nranks; culprit++) {
        char word[64];
        int code = REDIST_OK;
        check_ok(redist_agree(MPI_COMM_WORLD, REDIST_OK));
        if (harness_rank >= culprit) /* the lowest one speaks for all */
            code = redist_fail(harness_rank == culprit ? REDIST_ERR_AXIS : REDIST_ERR_SIZE,
                               "culprit %d", harness_rank);
        check_code(redist_agree(MPI_COMM_WORLD, code), REDIST_ERR_AXIS);
        snprintf(word, sizeof(word), "culprit %d (rank %d)", culprit, culprit);
        check_message(word);
    }
}
END_TEST

START_TEST(agreement_on_values) {
    redist_shared_value values[3] = {redist_share_number("apples", 5),
                                     redist_share_number("pears", INT64_MIN),
                                     redist_share_number("plums", INT64_MAX)};
    check_ok(agree_values(MPI_COMM_WORLD, REDIST_OK, 3, values));
    check_ok(agree_values(MPI_COMM_WORLD, REDIST_OK, 0, NULL));
    check_code(agree_values(MPI_COMM_WORLD, last() ? REDIST_ERR_SIZE : REDIST_OK, 3, values),
               REDIST_ERR_SIZE);
    if (harness_nranks == 1)
        return;
    values[2].value -= last();
    check_code(agree_values(MPI_COMM_WORLD, REDIST_OK, 3, values), REDIST_ERR_DISAGREE);
    check_message("plums: 9223372036854775807 on rank 0, 9223372036854775806 on rank");
    check_ok(agree_values(MPI_COMM_WORLD, REDIST_OK, 2, values));
}
END_TEST

/* The message has what both ranks passed, as text. */
START_TEST(values_as_text) {
    static const int few[] = {1, -2}, other[] = {1, 2};
    static const redist_index extents[] = {1, INT64_MAX}, none[] = {0};
    static const double reals[] = {0.1, 1.0 / 3.0, 1e300}, zero[] = {0};
    static double many[2][100];
    const struct {
        redist_shared_value values[2];
        const char *words[2];
    } cases[] = {{{redist_share("p", REDIST_SHARED_TEXT, "p2p", 0),
                   redist_share("p", REDIST_SHARED_TEXT, "direct", 0)},
                  {"\"p2p\"", "\"direct\""}},
                 {{redist_share("p", REDIST_SHARED_TEXT, NULL, 0),
                   redist_share("p", REDIST_SHARED_TEXT, "", 0)},
                  {"NULL", "\"\""}},
                 {{redist_share_enum("p", REDIST_SPACE_HOST, redist_space_name),
                   redist_share_enum("p", REDIST_SPACE_CUDA, redist_space_name)},
                  {"REDIST_SPACE_HOST", "REDIST_SPACE_CUDA"}},
                 {{redist_share_enum("p", 0, redist_direction_name),
                   redist_share_enum("p", 7, redist_direction_name)},
                  {"REDIST_FORWARD", "7"}},
                 {{redist_share("p", REDIST_SHARED_INTS, few, 2),
                   redist_share("p", REDIST_SHARED_INTS, other, 2)},
                  {"{1, -2}", "{1, 2}"}},
                 {{redist_share("p", REDIST_SHARED_EXTENTS, extents, 2),
                   redist_share("p", REDIST_SHARED_EXTENTS, none, 1)},
                  {"{1, 9223372036854775807}", "0"}},
                 {{redist_share("p", REDIST_SHARED_EXTENTS, none, 0),
                   redist_share("p", REDIST_SHARED_EXTENTS, NULL, 0)},
                  {"{}", "NULL"}},
                 {{redist_share("p", REDIST_SHARED_REALS, reals, 3),
                   redist_share("p", REDIST_SHARED_REALS, zero, 1)},
                  {"{0.1, 0.3333333333333333, 1e+300}", "0"}},
                 {{redist_share("p", REDIST_SHARED_REALS, many[0], 100),
                   (many[1][99] = 1, redist_share("p", REDIST_SHARED_REALS, many[1], 100))},
                  {"{0, 0, 0, 0", "the same at first ({0, 0, 0, 0"}}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases && harness_nranks > 1; i++) {
        char text[128];
        const int root = i % 2 == 1; /* whose value rank 0 has */
        harness_case("case %d, %d", (int)i / 2, root);
        check_code(
            agree_values(MPI_COMM_WORLD, REDIST_OK, 1, &cases[i / 2].values[last() ? !root : root]),
            REDIST_ERR_DISAGREE);
        snprintf(text, sizeof text, "p: %s on rank 0, %s on rank", cases[i / 2].words[root],
                 cases[i / 2].words[!root]);
        check_message(i / 2 + 1 < sizeof cases / sizeof *cases ? text : cases[i / 2].words[1]);
        check_ok(agree_values(MPI_COMM_WORLD, REDIST_OK, 1, &cases[i / 2].values[root]));
    }
}
END_TEST

START_TEST(most_values) {
    redist_shared_value values[128];
    for (int i = 0; i < 128; i++)
        values[i] = redist_share_number("value", i);
    check_ok(agree_values(MPI_COMM_WORLD, REDIST_OK, 128, values));
    values[127].value += last() && harness_nranks > 1;
    check_code(agree_values(MPI_COMM_WORLD, REDIST_OK, 128, values),
               harness_nranks > 1 ? REDIST_ERR_DISAGREE : REDIST_OK);
}
END_TEST

START_TEST(hashes) {
    static const char *const texts[] = {"", "a", "b", "ab", "ba", "direct", "direct:nontemporal"};
    enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };
    check_all(redist_hash_text(NULL) == 0, "the hash of NULL");
    for (int i = 0; i < TEXTS; i++) {
        check_all(redist_hash_text(texts[i]) > 0, "the hash of \"%s\" is not positive", texts[i]);
        for (int j = 0; j < i; j++)
            check_all(redist_hash_text(texts[i]) != redist_hash_text(texts[j]),
                      "\"%s\" and \"%s\" have one hash", texts[i], texts[j]);
    }
}
END_TEST

/* Of lists that are alike in some way: no list, and 0, 4 and 8 bytes of some. */
START_TEST(hashes_of_lists) {
    static const int lists[][2] = {{0, 0}, {1, 0}, {0, 1}, {256, 0}};
    enum { LISTS = 3 * 4 + 1 };
    long long found[LISTS];
    for (int i = 0; i < LISTS; i++)
        found[i] = redist_hash_bytes(0, i > 0 ? lists[(i - 1) / 3] : NULL, (size_t)(i % 3) * 4);
    for (int i = 0; i < LISTS; i++)
        for (int j = 0; j < i; j++) {
            const int m = (i - 1) / 3, n = (j - 1) / 3;
            int same =
                j > 0 && i % 3 == j % 3 && memcmp(lists[m], lists[n], (size_t)(i % 3) * 4) == 0;
            check_all((found[i] == found[j]) == same, "lists %d and %d", i, j);
        }
    for (int i = 0; i < LISTS; i++)
        check_all(found[i] >= 0, "a hash is negative");
    check_all(redist_hash_bytes(0, NULL, 8) == redist_hash_bytes(0, NULL, 0), "bytes of NULL");
}
END_TEST

/* ---------------------------------------------------------------- communicators */

START_TEST(private_comms) {
    MPI_Comm comm, first, second;
    int relation, size, rank;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -harness_rank, &comm);
    check_ok(redist_private_comm(comm, &first));
    check_ok(redist_private_comm(comm, &second));
    MPI_Comm_compare(first, second, &relation);
    check_all(relation == MPI_IDENT, "two private communicators for one");
    MPI_Comm_compare(first, comm, &relation);
    check_all(relation == MPI_CONGRUENT, "the private communicator has other ranks");
    MPI_Comm_size(first, &size);
    MPI_Comm_rank(first, &rank);
    check_all(size == harness_nranks && rank == size - 1 - harness_rank, "rank %d of %d", rank,
              size);
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(first, &handler);
    check_all(handler == MPI_ERRORS_RETURN, "errors in it end the program");
    MPI_Errhandler_free(&handler);
    check_code(redist_private_comm(MPI_COMM_NULL, &first), REDIST_ERR_COMM);
    MPI_Comm_free(&comm);
}
END_TEST

/* ---------------------------------------------------------------- memory and handles */

START_TEST(memory) {
    unsigned char *bytes = redist_calloc(100, 7);
    int zero = bytes != NULL;
    for (int i = 0; i < 700 && zero; i++)
        zero = bytes[i] == 0;
    check_all(zero, "the memory is not zero");
    redist_release(bytes);
    redist_release(NULL);
    check_all(redist_calloc(SIZE_MAX / 2 + 2, 2) == NULL, "2 in 64 bits is what was allocated");
    check_all(redist_calloc(SIZE_MAX / 8, 9) == NULL, "the product is larger than any memory");
    void *nothing = redist_calloc(0, 8);
    check_all(nothing != NULL, "no items are out of memory");
    redist_release(nothing);
}
END_TEST

START_TEST(handles) {
    char things[50];
    for (int i = 0; i < 50; i++) {
        check_all(!redist_handle_is(&things[i], REDIST_HANDLE_FFT), "alive too early");
        check_all(redist_handle_add(&things[i], i % 2 ? REDIST_HANDLE_FFT : REDIST_HANDLE_GRID),
                  "no memory");
    }
    for (int i = 0; i < 50; i += 3)
        redist_handle_remove(&things[i]);
    for (int i = 0; i < 50; i++) {
        int alive = i % 3 != 0;
        check_all(redist_handle_is(&things[i], REDIST_HANDLE_FFT) == (alive && i % 2), "%d", i);
        check_all(redist_handle_is(&things[i], REDIST_HANDLE_GRID) == (alive && !(i % 2)), "%d", i);
        check_all(!redist_handle_is(&things[i], REDIST_HANDLE_PLAN), "%d", i);
        redist_handle_remove(&things[i]);
        check_all(!redist_handle_is(&things[i], REDIST_HANDLE_FFT), "alive too long");
    }
    check_all(!redist_handle_is(NULL, REDIST_HANDLE_FFT), "NULL is alive");
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {reports,
                                  long_report,
                                  codes_without_text,
                                  agreement,
                                  agreement_on_values,
                                  values_as_text,
                                  most_values,
                                  hashes,
                                  hashes_of_lists,
                                  private_comms,
                                  memory,
                                  handles,
                                  NULL};
    return harness_run(argc, argv, "test_redist_support", tests);
}
