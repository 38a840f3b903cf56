/* SPDX-License-Identifier: BSD-3-Clause */
/* What method "auto" remembers, in the process and in a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchanges.h"
#include "harness.h"

enum { NAME_BYTES = 256 };

static exchange given;
static test_element element;
static test_array arrays[2];
static char directory[NAME_BYTES], file[NAME_BYTES];

/* A directory that all ranks know, and an exchange between the ranks of `comm` */
static void begin_on(MPI_Comm comm) {
    static const redist_index sizes[] = {6, 7, 8};
    const enum test_memory memory[2] = {MEMORY_SHARED, MEMORY_SHARED};
    element = element_create(2);
    given = exchange_between_axes(comm, &element, 3, sizes, 0, 1);
    exchange_arrays(&given, memory, arrays);
    snprintf(directory, sizeof(directory), "/tmp/redist-wisdom-XXXXXX");
    if (harness_rank == 0 && !mkdtemp(directory))
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    MPI_Bcast(directory, NAME_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(file, sizeof(file), "%.200s/wisdom", directory);
    redist_forget_wisdom();
}

static void begin(void) {
    begin_on(MPI_COMM_WORLD);
}

static void end(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (harness_rank == 0) {
        unlink(file);
        rmdir(directory);
    }
    exchange_free_arrays(arrays);
}

/* A plan of method "auto"; writes its method to `name`. */
static int plan_auto(const char *wisdom_file, enum redist_effort effort, char name[NAME_BYTES]) {
    const redist_box *a = &given.boxes[0][given.rank], *b = &given.boxes[1][given.rank];
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    redist_plan *plan = NULL;
    options.wisdom_file = wisdom_file;
    options.effort = effort;
    options.tune_seconds = 0.02;
    int code = redist_plan_exchange(given.comm, element.type, 3, a->count, arrays[0].data, 0,
                                    b->count, arrays[1].data, 1, &options, &plan);
    if (code != REDIST_OK)
        return code;
    code = redist_plan_get_info(plan, &info);
    if (code == REDIST_OK)
        snprintf(name, NAME_BYTES, "%s", info.method);
    redist_plan_free(&plan);
    return code;
}

static long file_bytes(void) {
    struct stat status;
    long bytes = -1;
    if (harness_rank == 0 && stat(file, &status) == 0)
        bytes = (long)status.st_size;
    MPI_Bcast(&bytes, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    return bytes;
}

static void write_file(const char *text) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (harness_rank == 0) {
        FILE *stream = fopen(file, "w");
        fputs(text, stream);
        fclose(stream);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All lines with the method's name replaced, to see whether the file is obeyed */
static void replace_in_file(const char *from, const char *to) {
    char old[4096] = "", new[8192] = "";
    if (harness_rank == 0) {
        FILE *stream = fopen(file, "r");
        size_t length = fread(old, 1, sizeof(old) - 1, stream);
        fclose(stream);
        old[length] = '\0';
        char *place = strstr(old, from);
        if (place)
            snprintf(new, sizeof(new), "%.*s%s%s", (int)(place - old), old, to,
                     place + strlen(from));
    }
    write_file(new);
}

static void check_same_everywhere(const char *name) {
    char root[NAME_BYTES];
    snprintf(root, sizeof(root), "%s", name);
    MPI_Bcast(root, NAME_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
    check_all(strcmp(root, name) == 0, "%s here, %s on rank 0", name, root);
}

START_TEST(remembered_in_the_process) {
    begin();
    char first[NAME_BYTES], second[NAME_BYTES];
    check_ok(plan_auto(NULL, REDIST_MEASURE, first));
    check_same_everywhere(first);
    for (int i = 0; i < 5; i++) {
        check_ok(plan_auto(NULL, i % 2 ? REDIST_MEASURE : REDIST_ESTIMATE, second));
        check_all(strcmp(first, second) == 0, "%s at first, then %s", first, second);
    }
    end();
}
END_TEST

START_TEST(written_and_read) {
    begin();
    char first[NAME_BYTES], second[NAME_BYTES];
    check_ok(plan_auto(file, REDIST_MEASURE, first));
    check_same_everywhere(first);
    long bytes = file_bytes();
    check_all(bytes > 0, "no wisdom was written");
    redist_forget_wisdom();
    check_ok(plan_auto(file, REDIST_MEASURE, second));
    check_all(strcmp(first, second) == 0, "%s written, %s read", first, second);
    check_all(file_bytes() == bytes, "what was read was measured again");
    end();
}
END_TEST

/* The file decides, not the clock. */
START_TEST(obeyed) {
    begin();
    char first[NAME_BYTES], second[NAME_BYTES];
    check_ok(plan_auto(file, REDIST_MEASURE, first));
    const char *other = strcmp(first, "p2p") == 0 ? "alltoallw" : "p2p";
    replace_in_file(first, other);
    redist_forget_wisdom();
    check_ok(plan_auto(file, REDIST_ESTIMATE, second));
    check_all(strcmp(second, other) == 0, "the file says %s, the plan takes %s", other, second);
    end();
}
END_TEST

START_TEST(named_by_the_environment) {
    begin();
    char first[NAME_BYTES], second[NAME_BYTES];
    setenv("REDIST_WISDOM", file, 1);
    check_ok(plan_auto(NULL, REDIST_MEASURE, first));
    check_all(file_bytes() > 0, "no wisdom was written");
    redist_forget_wisdom();
    check_ok(plan_auto(NULL, REDIST_MEASURE, second));
    check_all(strcmp(first, second) == 0, "%s written, %s read", first, second);
    unsetenv("REDIST_WISDOM");
    end();
}
END_TEST

/* A method that this library has not, as a later version may have written, is measured anew. */
START_TEST(unknown_method) {
    begin();
    char first[NAME_BYTES], second[NAME_BYTES] = "";
    check_ok(plan_auto(file, REDIST_MEASURE, first));
    replace_in_file(first, "carrier-pigeon");
    redist_forget_wisdom();
    check_ok(plan_auto(file, REDIST_MEASURE, second));
    check_all(strcmp(second, "carrier-pigeon") != 0, "the plan's method is %s", second);
    end();
}
END_TEST

/* Variants that an earlier version had, and may have remembered between nodes */
START_TEST(removed_variants) {
    static const char *const removed[] = {"hier:nodes", "hier:ranks"};
    MPI_Comm comm;
    setenv("REDIST_NODE_SIZE", "1", 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 2; i++) {
        begin_on(comm);
        char first[NAME_BYTES], second[NAME_BYTES] = "";
        check_ok(plan_auto(file, REDIST_MEASURE, first));
        replace_in_file(first, removed[i]);
        redist_forget_wisdom();
        long bytes = file_bytes();
        check_ok(plan_auto(file, REDIST_MEASURE, second));
        check_all(strcmp(second, removed[i]) != 0, "the plan's method is %s", second);
        check_all(file_bytes() > bytes, "nothing was measured");
        end();
    }
    MPI_Comm_free(&comm);
    unsetenv("REDIST_NODE_SIZE");
}
END_TEST

/* A file cut in the middle of a line, or with a line that is too long */
START_TEST(damaged_files) {
    begin();
    char name[NAME_BYTES], text[4096] = "redist-wisdom 1\n";
    check_ok(plan_auto(file, REDIST_MEASURE, name));
    replace_in_file("\n", "");
    redist_forget_wisdom();
    check_ok(plan_auto(file, REDIST_MEASURE, name));
    memset(text + strlen(text), 'x', 4000);
    write_file(text);
    redist_forget_wisdom();
    check_ok(plan_auto(file, REDIST_MEASURE, name));
    write_file("");
    redist_forget_wisdom();
    check_ok(plan_auto(file, REDIST_MEASURE, name));
    end();
}
END_TEST

/* Returns the format that a plan has of floats for doubles, which it takes or declines when it measures. */
static enum redist_wire plan_floats(void) {
    static const redist_index sizes[] = {6, 7, 8};
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    redist_plan *plan = NULL;
    redist_index a[3], b[3];
    options.wisdom_file = file;
    options.wire = REDIST_WIRE_FLOAT;
    options.wire_scope = REDIST_WIRE_EVERYWHERE;
    options.tune_seconds = 0.02;
    check_ok(redist_exchange_sizes(given.comm, 3, sizes, 0, 1, a, b));
    check_ok(redist_plan_exchange(given.comm, MPI_DOUBLE, 3, a, arrays[0].data, 0, b,
                                  arrays[1].data, 1, &options, &plan));
    check_ok(redist_plan_get_info(plan, &info));
    check_ok(redist_plan_free(&plan));
    return info.wire;
}

/* Whether a format is declined is remembered, too. */
START_TEST(formats) {
    if (harness_nranks == 1)
        skip_test("messages between ranks");
    begin();
    for (int i = 0; i < 2; i++) {
        int declines = plan_floats() == REDIST_WIRE_SAME;
        const char *const words[] = {" chosen", " declined"};
        long bytes = file_bytes();
        for (int changes = 0; changes < 2; changes++) {
            declines ^= changes;
            if (changes)
                replace_in_file(words[!declines], words[declines]);
            redist_forget_wisdom();
            check_all((plan_floats() == REDIST_WIRE_SAME) == declines, "the file has%s",
                      words[declines]);
            check_all(changes || file_bytes() == bytes, "a format was measured again");
        }
    }
    end();
}
END_TEST

/* Only rank 0 reads and writes: what the others name does not matter. */
START_TEST(file_of_rank_0) {
    begin();
    char name[NAME_BYTES];
    check_ok(plan_auto(harness_rank == 0 ? file : "/nonexistent/wisdom", REDIST_MEASURE, name));
    check_same_everywhere(name);
    check_all(file_bytes() > 0, "no wisdom was written");
    end();
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {remembered_in_the_process,
                                  written_and_read,
                                  obeyed,
                                  named_by_the_environment,
                                  unknown_method,
                                  removed_variants,
                                  damaged_files,
                                  formats,
                                  file_of_rank_0,
                                  NULL};
    unsetenv("REDIST_WISDOM");
    return harness_run(argc, argv, "test_redist_wisdom", tests);
}
