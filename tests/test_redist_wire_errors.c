/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats on the wire that a plan refuses: for other elements and operations, in tiles, and different ones on ranks. */
#include <string.h>

#include "harness.h"

struct mistake {
    MPI_Datatype type;
    enum redist_wire wire;
    int scope, tiles, code;
    const char *method, *words;
};

static int plan_mistake(const struct mistake *mistake, redist_plan **made) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_index sizes[2] = {harness_nranks, 1}, turned[2] = {1, harness_nranks};
    static double a[64], b[64];
    options.method = mistake->method;
    options.wire = mistake->wire;
    options.wire_scope = (enum redist_wire_scope)mistake->scope;
    options.tiles = (enum redist_tiles)mistake->tiles;
    return redist_plan_exchange(MPI_COMM_WORLD, mistake->type, 2, sizes, a, 0, turned, b, 1,
                                &options, made);
}

START_TEST(errors) {
    const struct mistake table[] = {
        {MPI_INT, REDIST_WIRE_16_BITS, 1, 0, REDIST_ERR_DATATYPE, NULL,
         "options->wire = REDIST_WIRE_16_BITS is for elements of floats or doubles"},
        {MPI_FLOAT, REDIST_WIRE_FLOAT, 1, 0, REDIST_ERR_DATATYPE, NULL,
         "options->wire = REDIST_WIRE_FLOAT is for elements of doubles"},
        {MPI_LONG_DOUBLE, REDIST_WIRE_FLOAT, 1, 0, REDIST_ERR_DATATYPE, NULL,
         "datatype (16 bytes)"},
        {MPI_DOUBLE, (enum redist_wire)3, 0, 0, REDIST_ERR_ARGUMENT, NULL,
         "options->wire = 3 is not in REDIST_WIRE_SAME..REDIST_WIRE_16_BITS"},
        {MPI_DOUBLE, REDIST_WIRE_FLOAT, 2, 0, REDIST_ERR_ARGUMENT, NULL,
         "options->wire_scope = 2 is not in"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (int culprit = -1; culprit < harness_nranks; culprit += harness_nranks) {
            /* all ranks, then the last one alone */
            int mine = culprit < 0 || harness_rank == harness_nranks - 1;
            const struct mistake right = {.type = table[i].type, .scope = table[i].scope};
            redist_plan *made = NULL;
            harness_case("mistake %zu, of rank %d", i, culprit);
            check_code(plan_mistake(mine ? &table[i] : &right, &made), table[i].code);
            check_all(strstr(redist_error_message(), table[i].words) != NULL && made == NULL, "%s",
                      redist_error_message());
        }
}
END_TEST

static void add_all(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < 3 * *n; i++)
        ((double *)inout)[i] += ((double *)in)[i];
}

/* Elements of an operation that lie across rows, and such as do not */
START_TEST(operations) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_index sizes[1] = {harness_nranks};
    redist_box own = REDIST_BOX_DEFAULT, all = REDIST_BOX_DEFAULT;
    double a[3] = {1, 2, 3}, b[3 * 16];
    redist_plan *made = NULL;
    MPI_Datatype triple;
    MPI_Op op, sum = MPI_SUM;
    MPI_Type_contiguous(3, MPI_DOUBLE, &triple);
    MPI_Type_commit(&triple);
    MPI_Op_create(add_all, 1, &op);
    own.start[0] = harness_rank;
    own.count[0] = 1;
    all.count[0] = harness_nranks;
    for (int i = 0; i < 3 * 16; i++)
        b[i] = 0.5;
    options.overlap = REDIST_OVERLAP_ADD;
    options.effort = REDIST_ESTIMATE;
    options.wire = REDIST_WIRE_FLOAT;
    options.wire_scope = REDIST_WIRE_EVERYWHERE;
    options.operation = &op;
    check_code(
        redist_plan_boxes(MPI_COMM_WORLD, triple, 1, sizes, &own, a, &all, b, &options, &made),
        REDIST_ERR_ARGUMENT);
    check_all(strstr(redist_error_message(), "options->operation is for elements of 24 bytes") !=
                  NULL,
              "%s", redist_error_message());
    options.operation = &sum;
    check_ok(
        redist_plan_boxes(MPI_COMM_WORLD, triple, 1, sizes, &own, a, &all, b, &options, &made));
    check_ok(redist_plan_execute(made, REDIST_BACKWARD));
    check_all(a[0] == 1 + 0.5 * harness_nranks && a[2] == 3 + 0.5 * harness_nranks,
              "the sums are %g, .., %g", a[0], a[2]);
    check_ok(redist_plan_free(&made));
    MPI_Op_free(&op);
    MPI_Type_free(&triple);
}
END_TEST

START_TEST(tiles) {
    const struct mistake get = {MPI_DOUBLE,
                                REDIST_WIRE_FLOAT,
                                1,
                                REDIST_GET,
                                REDIST_ERR_METHOD,
                                "p2p",
                                "method p2p gets tiles in the format of the arrays only"};
    redist_plan *made = NULL;
    if (harness_nranks == 1)
        skip_test("messages between ranks");
    check_code(plan_mistake(&get, &made), get.code);
    check_all(strstr(redist_error_message(), get.words) != NULL, "%s", redist_error_message());
}
END_TEST

START_TEST(ranks_differ) {
    const struct mistake formats = {.type = MPI_DOUBLE,
                                    .wire = harness_rank == 0 ? REDIST_WIRE_FLOAT
                                                              : REDIST_WIRE_16_BITS},
                         scopes = {.type = MPI_DOUBLE,
                                   .wire = REDIST_WIRE_FLOAT,
                                   .scope = harness_rank == 0};
    redist_plan *made = NULL;
    if (harness_nranks == 1)
        skip_test("several ranks");
    check_code(plan_mistake(&formats, &made), REDIST_ERR_DISAGREE);
    check_all(strstr(redist_error_message(), "options->wire") != NULL &&
                  strstr(redist_error_message(), "REDIST_WIRE_16_BITS") != NULL,
              "%s", redist_error_message());
    check_code(plan_mistake(&scopes, &made), REDIST_ERR_DISAGREE);
    check_all(strstr(redist_error_message(), "options->wire_scope") != NULL, "%s",
              redist_error_message());
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {errors, operations, tiles, ranks_differ, NULL};
    return harness_run(argc, argv, "test_redist_wire_errors", tests);
}
