/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints: what some ranks write others read, in another distribution; and what is wrong with a file is found. */
#include "checkpoint_parts.h"
#include "harness.h"
#include "needs_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FIELDS = 4, PATH_BYTES = 128 };

static char folder[PATH_BYTES / 2];

static const char *path_of(const char *name) {
    static char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* A build without checksums says so. */
static int can_write(void) {
    return redist_checkpoint_write(MPI_COMM_WORLD, path_of("probe"), 0, NULL, NULL, 0, NULL) !=
           REDIST_ERR_METHOD;
}

#define NEEDS_CHECKSUMS                                                                            \
    NEEDS_ARRAYS();                                                                                \
    if (!can_write())                                                                              \
    skip_test("no xxHash in this build")

struct fields {
    int count;
    part_array arrays[MOST_FIELDS];
    part_local parts[MOST_FIELDS];
    redist_field list[MOST_FIELDS];
};

static void distribute(MPI_Comm comm, struct fields *fields) {
    for (int i = 0; i < fields->count; i++) {
        fields->parts[i] = part_create(comm, &fields->arrays[i]);
        fields->list[i] = fields->parts[i].field;
    }
}

static struct fields fields_random(int least) {
    static const char *const names[MOST_FIELDS] = {"u velocity", "p", "Temperatur", "x"};
    struct fields fields = {.count = random_between(least, MOST_FIELDS)};
    for (int i = 0; i < fields.count; i++)
        fields.arrays[i] = part_array_random(names[i]);
    return fields;
}

static void fill_all(const struct fields *fields) {
    for (int i = 0; i < fields->count; i++)
        part_fill(&fields->parts[i]);
}

static int are_right(const struct fields *fields, int are_filled) {
    int right = 1;
    for (int i = 0; i < fields->count; i++)
        right = part_is_right(&fields->parts[i], are_filled) && right;
    return right;
}

static void free_all(struct fields *fields) {
    for (int i = 0; i < fields->count; i++)
        part_free(&fields->parts[i]);
}

/* The same arrays, or some of them, in another order, and in other precisions. */
static struct fields fields_again(const struct fields *written, int converts) {
    int order[MOST_FIELDS];
    struct fields again = {.count = random_between(0, written->count)};
    random_permutation(written->count, order);
    for (int i = 0; i < again.count; i++) {
        again.arrays[i] = written->arrays[order[i]];
        if (converts && random_chance(70))
            again.arrays[i].kind = part_other_precision(again.arrays[i].kind);
    }
    return again;
}

static redist_checkpoint_options options_random(void) {
    redist_checkpoint_options options = REDIST_CHECKPOINT_OPTIONS_DEFAULT;
    options.piece_bytes = random_chance(20) ? 0 : (size_t)random_between(1, 5000);
    options.writers_per_node = random_between(0, 3);
    return options;
}

static int write_or_start(const char *path, const struct fields *fields, const void *parameters,
                          size_t bytes, const redist_checkpoint_options *options) {
    redist_checkpoint_request *request;
    if (random_chance(50))
        return redist_checkpoint_write(MPI_COMM_WORLD, path, fields->count, fields->list,
                                       parameters, bytes, options);
    int code = redist_checkpoint_write_start(MPI_COMM_WORLD, path, fields->count, fields->list,
                                             parameters, bytes, options, &request);
    for (int i = 0; i < fields->count && code == REDIST_OK; i++)
        part_clear(&fields->parts[i]);
    return code == REDIST_OK ? redist_checkpoint_wait(&request) : code;
}

static int is_described(const redist_checkpoint_info *info, const struct fields *fields) {
    int right = info->nfields == fields->count;
    for (int i = 0; i < fields->count && right; i++) {
        const redist_checkpoint_field *field = info->fields[i];
        const part_array *array = &fields->arrays[i];
        right = strcmp(field->name, array->name) == 0 &&
                strcmp(field->type, part_type(array->kind)) == 0 && field->ndims == array->ndims &&
                memcmp(field->sizes, array->sizes, sizeof field->sizes) == 0;
    }
    return right;
}

START_TEST(reads_what_was_written) {
    NEEDS_CHECKSUMS;
    for (int i = 0; harness_another(i, 6); i++) {
        struct fields fields = fields_random(0);
        redist_checkpoint_options options = options_random();
        char parameters[50], back[50] = "";
        size_t bytes = (size_t)random_between(0, sizeof parameters);
        redist_checkpoint_info *info;
        int64_t begin = (int64_t)time(NULL);
        MPI_Comm some;
        for (size_t k = 0; k < sizeof parameters; k++)
            parameters[k] = (char)random_between(0, 255);
        harness_case("case %d: %d fields, pieces of %zu bytes", i, fields.count,
                     options.piece_bytes);
        distribute(MPI_COMM_WORLD, &fields);
        fill_all(&fields);
        check_ok(write_or_start(path_of("file"), &fields, parameters, bytes, &options));
        check_ok(redist_checkpoint_get_info(MPI_COMM_WORLD, path_of("file"), &info));
        check_all(info->seconds >= begin && info->seconds <= time(NULL) &&
                      info->version[0] == REDIST_VERSION_MAJOR &&
                      info->version[1] == REDIST_VERSION_MINOR,
                  "time or version is wrong");
        check_all(is_described(info, &fields) && info->parameter_bytes == bytes &&
                      memcmp(info->parameters, parameters, bytes) == 0,
                  "the description is wrong");
        redist_checkpoint_info_free(&info);
        MPI_Comm_split(MPI_COMM_WORLD, harness_rank < random_between(0, harness_nranks - 1), 0,
                       &some);
        options = options_random();
        options.convert = random_chance(60);
        struct fields again = fields_again(&fields, options.convert);
        distribute(some, &again);
        check_ok(redist_checkpoint_read(some, path_of("file"), again.count, again.list, back, bytes,
                                        &options));
        check_all(are_right(&again, 1), "the fields are wrong");
        check_all(memcmp(back, parameters, bytes) == 0, "the parameters are wrong");
        free_all(&fields);
        free_all(&again);
        MPI_Comm_free(&some);
    }
}
END_TEST

START_TEST(converts_precisions) {
    NEEDS_CHECKSUMS;
    for (int kind = PART_DOUBLE; kind <= PART_FLOAT_COMPLEX; kind++) {
        part_array array = {.name = "c", .kind = (enum part_kind)kind, .ndims = 2, .sizes = {9, 8}};
        redist_checkpoint_options options = REDIST_CHECKPOINT_OPTIONS_DEFAULT;
        options.convert = 1;
        part_local written = part_create(MPI_COMM_WORLD, &array);
        part_fill(&written);
        check_ok(redist_checkpoint_write(MPI_COMM_WORLD, path_of("file"), 1, &written.field, NULL,
                                         0, NULL));
        array.kind = part_other_precision(array.kind);
        part_local back = part_create(MPI_COMM_WORLD, &array);
        check_ok(redist_checkpoint_read(MPI_COMM_WORLD, path_of("file"), 1, &back.field, NULL, 0,
                                        &options));
        check_all(part_is_right(&back, 1), "to %s", part_type(array.kind));
        part_free(&written);
        part_free(&back);
    }
}
END_TEST

/* Every second element of an array in another precision. */
START_TEST(converts_selections) {
    NEEDS_CHECKSUMS;
    part_array small = {.name = "s", .kind = PART_FLOAT, .ndims = 2, .sizes = {5, 6}};
    part_local written = part_create(MPI_COMM_WORLD, &small);
    part_fill(&written);
    check_ok(
        redist_checkpoint_write(MPI_COMM_WORLD, path_of("file"), 1, &written.field, NULL, 0, NULL));
    double array[10][12];
    redist_field field = REDIST_FIELD_DEFAULT;
    redist_checkpoint_options options = REDIST_CHECKPOINT_OPTIONS_DEFAULT;
    options.convert = 1;
    field.name = "s";
    field.datatype = MPI_DOUBLE;
    field.ndims = 2;
    field.array = array;
    field.sizes[0] = field.count[0] = 10;
    field.sizes[1] = field.count[1] = 12;
    field.selected_step[0] = field.selected_step[1] = 2;
    for (int i = 0; i < 120; i++)
        array[i / 12][i % 12] = -7e7;
    check_ok(redist_checkpoint_read(MPI_COMM_WORLD, path_of("file"), 1, &field, NULL, 0, &options));
    int changed = 0;
    for (int i = 0; i < 120; i++)
        if (i / 12 % 2 == 0 && i % 2 == 0)
            changed += array[i / 12][i % 12] > -7e7;
        else
            changed += array[i / 12][i % 12] > -7e7 ? 1000 : 0;
    check_all(changed == 30, "%d elements", changed);
    part_free(&written);
}
END_TEST

/* ---------------------------------------------------------------- damage */

static char *load(const char *path, long *bytes) {
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    *bytes = ftell(file);
    rewind(file);
    char *data = malloc((size_t)*bytes + 1);
    if (fread(data, 1, (size_t)*bytes, file) != (size_t)*bytes)
        abort();
    fclose(file);
    return data;
}

static void store(const char *path, const char *data, long bytes) {
    FILE *file = fopen(path, "wb");
    if (fwrite(data, 1, (size_t)bytes, file) != (size_t)bytes)
        abort();
    fclose(file);
}

/* Stores a damaged copy: shorter, longer, or with other bytes in one place, which lies in `most` bytes. */
static void store_damaged(const char *path, const char *data, long bytes) {
    char *copy = malloc((size_t)bytes + 100);
    memcpy(copy, data, (size_t)bytes);
    memset(copy + bytes, 0, 100);
    int kind = random_between(0, 9), at = random_between(0, (int)bytes - 1);
    long left = kind == 0 ? at : kind == 1 ? bytes + random_between(1, 100) : bytes;
    if (kind > 1)
        copy[at] = (char)(copy[at] ^ (1 << random_between(0, 7)));
    if (harness_rank == 0)
        store(path, copy, left);
    harness_case("%s at byte %d of %ld",
                 kind == 0   ? "cut"
                 : kind == 1 ? "longer"
                             : "changed",
                 at, bytes);
    free(copy);
    MPI_Barrier(MPI_COMM_WORLD);
}

START_TEST(damage_is_found) {
    NEEDS_CHECKSUMS;
    int found = 0;
    part_array array = {.name = "u", .kind = PART_DOUBLE, .ndims = 3, .sizes = {7, 11, 9}};
    struct fields fields = {.count = 1, .arrays = {array}};
    redist_checkpoint_options options = REDIST_CHECKPOINT_OPTIONS_DEFAULT;
    long bytes;
    options.piece_bytes = 800;
    distribute(MPI_COMM_WORLD, &fields);
    fill_all(&fields);
    check_ok(redist_checkpoint_write(MPI_COMM_WORLD, path_of("file"), 1, fields.list, "some", 5,
                                     &options));
    free_all(&fields);
    char *data = load(path_of("file"), &bytes);
    for (int i = 0; harness_another(i, 10); i++) {
        char back[5];
        store_damaged(path_of("damaged"), data, bytes);
        distribute(MPI_COMM_WORLD, &fields);
        int code = redist_checkpoint_read(MPI_COMM_WORLD, path_of("damaged"), 1, fields.list, back,
                                          5, NULL);
        check_all(code == REDIST_ERR_FILE ||
                      (code == REDIST_OK && are_right(&fields, 1) && memcmp(back, "some", 5) == 0),
                  "%s", redist_error_name(code));
        found += code == REDIST_ERR_FILE;
        free_all(&fields);
    }
    check_all(found > 0, "nothing was found");
    free(data);
}
END_TEST

/* A piece that is damaged is named, by all ranks. */
START_TEST(damaged_pieces_are_named) {
    NEEDS_CHECKSUMS;
    part_array arrays[2] = {{.name = "u", .kind = PART_INT32, .ndims = 1, .sizes = {1000}},
                            {.name = "w", .kind = PART_INT32, .ndims = 1, .sizes = {1000}}};
    struct fields fields = {.count = 2, .arrays = {arrays[0], arrays[1]}};
    redist_checkpoint_options options = REDIST_CHECKPOINT_OPTIONS_DEFAULT;
    options.piece_bytes = 400;
    distribute(MPI_COMM_WORLD, &fields);
    fill_all(&fields);
    check_ok(redist_checkpoint_write(MPI_COMM_WORLD, path_of("file"), 2, fields.list, NULL, 0,
                                     &options));
    if (harness_rank == 0) {
        int descriptor = open(path_of("file"), O_WRONLY);
        if (pwrite(descriptor, "?", 1, 2 * 4096 + 402) !=
            1) /* of w, as u has a page of 4000 bytes */
            abort();
        close(descriptor);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_ok(
        redist_checkpoint_read(MPI_COMM_WORLD, path_of("file"), 1, fields.list, NULL, 0, NULL));
    check_code(
        redist_checkpoint_read(MPI_COMM_WORLD, path_of("file"), 2, fields.list, NULL, 0, NULL),
        REDIST_ERR_FILE);
    check_all(strstr(redist_error_message(), "piece 1 of field 'w'") != NULL, "%s",
              redist_error_message());
    free_all(&fields);
}
END_TEST

/* Each byte of the header counts: each rank changes some of them in a file of its own. */
START_TEST(headers_are_checked) {
    NEEDS_CHECKSUMS;
    part_array array = {.name = "u", .kind = PART_DOUBLE, .ndims = 1, .sizes = {10}};
    struct fields fields = {.count = 1, .arrays = {array}};
    char path[PATH_BYTES], name[20];
    int wrong = 0;
    const int all = 128 + 512 + 9, step = harness_cases(20) > 19 ? 1 : 3;
    redist_checkpoint_info *info;
    snprintf(name, sizeof name, "own.%d", harness_rank);
    snprintf(path, sizeof path, "%s", path_of(name));
    distribute(MPI_COMM_SELF, &fields);
    fill_all(&fields);
    check_ok(redist_checkpoint_write(MPI_COMM_SELF, path, 1, fields.list, "parameter", 9, NULL));
    int descriptor = open(path, O_RDWR);
    for (int at = harness_rank * step; at < all; at += harness_nranks * step) {
        char byte, other;
        wrong += pread(descriptor, &byte, 1, at) != 1;
        other = (char)(byte ^ (1 << at % 8));
        wrong += pwrite(descriptor, &other, 1, at) != 1;
        wrong += redist_checkpoint_get_info(MPI_COMM_SELF, path, &info) != REDIST_ERR_FILE;
        wrong += pwrite(descriptor, &byte, 1, at) != 1;
    }
    close(descriptor);
    check_all(wrong == 0, "%d changed bytes were not found", wrong);
    check_ok(redist_checkpoint_get_info(MPI_COMM_SELF, path, &info));
    check_ok(redist_checkpoint_info_free(&info));
    free_all(&fields);
}
END_TEST

/* ---------------------------------------------------------------- errors */

struct refusal {
    part_array array;
    size_t parameter_bytes;
    int code;
    const char *text;
};

START_TEST(other_arrays_are_refused) {
    NEEDS_CHECKSUMS;
    part_array array = {.name = "u", .kind = PART_DOUBLE, .ndims = 2, .sizes = {6, 5}};
    struct fields fields = {.count = 1, .arrays = {array}};
    const struct refusal refusals[] = {
        {{"v", PART_DOUBLE, 2, {6, 5}}, 4, REDIST_ERR_ARGUMENT, "'u'"},
        {{"u", PART_DOUBLE, 2, {5, 6}}, 4, REDIST_ERR_SIZE, "5 x 6"},
        {{"u", PART_DOUBLE, 3, {6, 5, 1}}, 4, REDIST_ERR_SIZE, "6 x 5"},
        {{"u", PART_FLOAT, 2, {6, 5}}, 4, REDIST_ERR_DATATYPE, "options->convert"},
        {{"u", PART_INT32, 2, {6, 5}}, 4, REDIST_ERR_DATATYPE, "int32"},
        {{"u", PART_VECTOR, 2, {6, 5}}, 4, REDIST_ERR_DATATYPE, "24 bytes"},
        {{"u", PART_DOUBLE, 2, {6, 5}}, 3, REDIST_ERR_SIZE, "parameter_bytes = 3"}};
    distribute(MPI_COMM_WORLD, &fields);
    fill_all(&fields);
    check_ok(
        redist_checkpoint_write(MPI_COMM_WORLD, path_of("file"), 1, fields.list, "abc", 4, NULL));
    free_all(&fields);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        char back[4] = "xyz";
        part_local other = part_create(MPI_COMM_WORLD, &refusals[i].array);
        harness_case("refusal %zu", i);
        check_code(redist_checkpoint_read(MPI_COMM_WORLD, path_of("file"), 1, &other.field, back,
                                          refusals[i].parameter_bytes, NULL),
                   refusals[i].code);
        check_all(strstr(redist_error_message(), refusals[i].text) != NULL, "%s",
                  redist_error_message());
        check_all(part_is_right(&other, 0) && strcmp(back, "xyz") == 0, "an array was changed");
        part_free(&other);
    }
}
END_TEST

static int write_named(const char *path, const char *first, const char *second) {
    double number[2] = {0, 0};
    redist_field fields[2] = {REDIST_FIELD_DEFAULT, REDIST_FIELD_DEFAULT};
    for (int i = 0; i < 2; i++) {
        fields[i].name = i == 0 ? first : second;
        fields[i].datatype = MPI_DOUBLE;
        fields[i].ndims = 1;
        fields[i].sizes[0] = 1;
        fields[i].count[0] = harness_rank == 0;
        fields[i].array = &number[i];
    }
    return redist_checkpoint_write(MPI_COMM_WORLD, path, 2, fields, NULL, 0, NULL);
}

START_TEST(errors_are_on_all_ranks) {
    NEEDS_CHECKSUMS;
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s", path_of("errors"));
    int is_last = harness_rank == harness_nranks - 1;
    char name[300];
    redist_checkpoint_info *info = NULL;
    redist_checkpoint_request *request = NULL;
    redist_checkpoint_options options = REDIST_CHECKPOINT_OPTIONS_DEFAULT;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    check_code(write_named(path, "a", NULL), REDIST_ERR_NULL);
    check_code(write_named(path, "a", ""), REDIST_ERR_ARGUMENT);
    check_code(write_named(path, "a", "a"), REDIST_ERR_ARGUMENT);
    check_code(write_named(path, "a", name), REDIST_ERR_ARGUMENT);
    name[255] = 0;
    check_ok(write_named(path, "a", name));
    check_code(redist_checkpoint_write(MPI_COMM_WORLD, path, 0, NULL, NULL, (size_t)is_last, NULL),
               REDIST_ERR_NULL);
    check_code(
        redist_checkpoint_write(MPI_COMM_WORLD, is_last ? NULL : path, 0, NULL, NULL, 0, NULL),
        REDIST_ERR_NULL);
    options.keep = is_last ? -1 : 0;
    check_code(redist_checkpoint_write(MPI_COMM_WORLD, path, 0, NULL, NULL, 0, &options),
               REDIST_ERR_ARGUMENT);
    options.keep = 0;
    options.reserved = is_last;
    check_code(redist_checkpoint_write(MPI_COMM_WORLD, path, 0, NULL, NULL, 0, &options),
               REDIST_ERR_ARGUMENT);
    options.reserved = 0;
    options.piece_bytes = (size_t)1 << 40;
    check_code(redist_checkpoint_write(MPI_COMM_WORLD, path, 0, NULL, NULL, 0, &options),
               REDIST_ERR_ARGUMENT);
    check_code(redist_checkpoint_write_start(MPI_COMM_WORLD, path, 0, NULL, NULL, 0, NULL, NULL),
               REDIST_ERR_NULL);
    check_code(redist_checkpoint_wait(&request), REDIST_ERR_NULL);
    request = (redist_checkpoint_request *)path;
    check_code(redist_checkpoint_wait(&request), REDIST_ERR_STATE);
    check_code(redist_checkpoint_get_info(MPI_COMM_WORLD, path_of("none"), &info), REDIST_ERR_FILE);
    check_all(strstr(redist_error_message(), "No such file") != NULL, "%s", redist_error_message());
    check_code(redist_checkpoint_get_info(MPI_COMM_WORLD, folder, &info), REDIST_ERR_FILE);
    check_code(redist_checkpoint_write(MPI_COMM_WORLD, folder, 0, NULL, NULL, 0, NULL),
               REDIST_ERR_FILE);
    check_code(redist_checkpoint_write(MPI_COMM_WORLD, path_of("no/such"), 0, NULL, NULL, 0, NULL),
               REDIST_ERR_FILE);
    check_ok(redist_checkpoint_get_info(MPI_COMM_WORLD, path, &info));
    check_all(info->nfields == 2, "the file has changed");
    check_ok(redist_checkpoint_info_free(&info));
    check_ok(redist_checkpoint_info_free(&info));
    if (harness_nranks > 1) {
        check_code(redist_checkpoint_write(MPI_COMM_WORLD, is_last ? "other" : path, 0, NULL, NULL,
                                           0, NULL),
                   REDIST_ERR_DISAGREE);
        check_code(
            redist_checkpoint_write(MPI_COMM_WORLD, path, 0, NULL, "xy", is_last ? 1 : 2, NULL),
            REDIST_ERR_DISAGREE);
        check_code(write_named(path, is_last ? "b" : "c", "a"), REDIST_ERR_DISAGREE);
        redist_field field = REDIST_FIELD_DEFAULT;
        field.name = "a";
        field.ndims = 1;
        field.datatype = is_last ? MPI_INT64_T : MPI_DOUBLE;
        check_code(redist_checkpoint_write(MPI_COMM_WORLD, path, 1, &field, NULL, 0, NULL),
                   REDIST_ERR_DISAGREE);
        check_all(strstr(redist_error_message(), "\"double\" on rank 0, \"int64\"") != NULL, "%s",
                  redist_error_message());
    }
}
END_TEST

/* ---------------------------------------------------------------- the files */

static int number_in(const char *name) {
    redist_checkpoint_info *info;
    int number = -1;
    if (redist_checkpoint_get_info(MPI_COMM_WORLD, path_of(name), &info) == REDIST_OK) {
        memcpy(&number, info->parameters, sizeof number);
        redist_checkpoint_info_free(&info);
    }
    return number;
}

START_TEST(earlier_ones_are_kept) {
    NEEDS_CHECKSUMS;
    redist_checkpoint_options options = REDIST_CHECKPOINT_OPTIONS_DEFAULT;
    options.keep = 2;
    for (int i = 1; i <= 4; i++) {
        check_ok(redist_checkpoint_write(MPI_COMM_WORLD, path_of("kept"), 0, NULL, &i, sizeof i,
                                         &options));
        check_all(number_in("kept") == i, "%d", number_in("kept"));
        check_all(number_in("kept.1") == (i > 1 ? i - 1 : -1), "%d", number_in("kept.1"));
        check_all(number_in("kept.2") == (i > 2 ? i - 2 : -1), "%d", number_in("kept.2"));
        check_all(number_in("kept.3") == -1, "%d", number_in("kept.3"));
    }
    /* A writer was killed between its last two steps */
    if (harness_rank == 0) {
        unlink(path_of("kept.1"));
        char newest[PATH_BYTES];
        snprintf(newest, sizeof newest, "%s", path_of("kept.1"));
        if (link(path_of("kept"), newest) != 0)
            abort();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int five = 5;
    check_ok(redist_checkpoint_write(MPI_COMM_WORLD, path_of("kept"), 0, NULL, &five, sizeof five,
                                     &options));
    check_all(number_in("kept") == 5 && number_in("kept.1") == 4 && number_in("kept.2") == 2,
              "%d %d %d", number_in("kept"), number_in("kept.1"), number_in("kept.2"));
    check_all(access(path_of("kept.part"), F_OK) != 0, "a part is left");
}
END_TEST

START_TEST(full_disks_change_nothing) {
    NEEDS_CHECKSUMS;
    int mounted = 1, one = 1;
    char disk[PATH_BYTES];
    snprintf(disk, sizeof disk, "%s", path_of("disk"));
    if (harness_rank == 0)
        mounted = mkdir(disk, 0777) == 0 && mount("none", disk, "tmpfs", 0, "size=256k") == 0;
    MPI_Bcast(&mounted, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!mounted)
        skip_test("a file system cannot be mounted here");
    part_array array = {.name = "u", .kind = PART_DOUBLE, .ndims = 2, .sizes = {300, 200}};
    part_local large = part_create(MPI_COMM_WORLD, &array);
    part_fill(&large);
    check_ok(redist_checkpoint_write(MPI_COMM_WORLD, path_of("disk/file"), 0, NULL, &one,
                                     sizeof one, NULL));
    check_code(redist_checkpoint_write(MPI_COMM_WORLD, path_of("disk/file"), 1, &large.field, &one,
                                       sizeof one, NULL),
               REDIST_ERR_FILE);
    check_all(strstr(redist_error_message(), "No space") != NULL, "%s", redist_error_message());
    check_all(number_in("disk/file") == 1, "the old file is gone");
    check_all(access(path_of("disk/file.part"), F_OK) != 0, "a part is left");
    part_free(&large);
    MPI_Barrier(MPI_COMM_WORLD);
    if (harness_rank == 0)
        umount(disk);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {reads_what_was_written,
                                  converts_precisions,
                                  converts_selections,
                                  damage_is_found,
                                  damaged_pieces_are_named,
                                  headers_are_checked,
                                  other_arrays_are_refused,
                                  errors_are_on_all_ranks,
                                  earlier_ones_are_kept,
                                  full_disks_change_nothing,
                                  NULL};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(folder, sizeof folder, "/tmp/redist-checkpoint-XXXXXX");
    if (rank == 0 && mkdtemp(folder) == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    int code = harness_run(argc, argv, "test_redist_checkpoint", tests);
    char command[PATH_BYTES];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return rank == 0 && system(command) != 0 ? 1 : code;
}
