/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transforms whose numbers are narrower between ranks than in the arrays: against the exact plan, with the bounds of
 * the formats; formats chosen by a tolerance; errors in arguments. With a device that the program is
 * linked with: arrays there, by its methods, in its streams.
 */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fftnd.h"
#include "harness.h"
#include "stream_device.h"

/* NULL where there is none. */
const test_device *stream_device_memory(void) __attribute__((weak));
int stream_device_begin(void) __attribute__((weak));
void *stream_device_create_own(int waits) __attribute__((weak));
void stream_device_wait(void *stream) __attribute__((weak));
void stream_device_destroy(void *stream) __attribute__((weak));

static int is_on_device(void) {
    return stream_device_memory != NULL;
}

#define NEEDS_MEMORY()                                                                             \
    do {                                                                                           \
        if (is_on_device() && !stream_device_begin())                                              \
            skip_test("fewer CUDA devices than ranks");                                            \
    } while (0)

/* ---------------------------------------------------------------- against the exact plan */

struct trial {
    redist_index sizes[3];
    enum fftnd_kind kind;
    enum fftnd_precision precision;
    fftnd_options options;
};

static size_t bytes_of(const struct trial *trial) {
    return trial->precision == FFTND_FLOAT ? sizeof(float) : sizeof(double);
}

static double read_number(const struct trial *trial, const char *array, size_t i) {
    float narrow;
    double number;
    memcpy(&narrow, array + i * bytes_of(trial), sizeof narrow);
    if (trial->precision == FFTND_FLOAT)
        return narrow;
    memcpy(&number, array + i * sizeof number, sizeof number);
    return number;
}

static uint64_t sequence;

static void fill(const struct trial *trial, char *array, size_t bytes) {
    for (size_t i = 0; i < bytes / bytes_of(trial); i++) {
        double number = (double)(random_hash(sequence++) >> 11) * 0x1p-52 - 1;
        float narrow = (float)number;
        memcpy(array + i * bytes_of(trial),
               trial->precision == FFTND_FLOAT ? (const void *)&narrow : &number, bytes_of(trial));
    }
}

/* Other arrays are on the host, where a device may transform them. */
static int has_device_arrays(const struct trial *trial) {
    return trial->options.space == REDIST_SPACE_CUDA;
}

static void *allocate(const struct trial *trial, size_t bytes) {
    return has_device_arrays(trial) ? stream_device_memory()->allocate(MPI_COMM_WORLD, bytes, 0)
                                    : calloc(bytes, 1);
}

static void release(const struct trial *trial, void *array) {
    if (has_device_arrays(trial))
        stream_device_memory()->release(array, 0);
    else
        free(array);
}

/* Between the host and where arrays are. */
static void copy(const struct trial *trial, void *to, const void *from, size_t bytes) {
    if (has_device_arrays(trial))
        stream_device_memory()->copy(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

/* Returns the array of a side after a transform of random numbers, and back again for the physical side. */
static char *transform(const struct trial *trial, fftnd_plan *plan, int side, size_t *bytes) {
    fftnd_layout layouts[2] = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT};
    char *arrays[2], *host;
    for (int i = 0; i < 2; i++) {
        check_ok(fftnd_plan_layout(plan, (enum fftnd_side)i, &layouts[i]));
        arrays[i] = allocate(trial, layouts[i].bytes + 1);
    }
    host = calloc(layouts[0].bytes + 1, 1);
    fill(trial, host, layouts[0].bytes);
    copy(trial, arrays[0], host, layouts[0].bytes);
    free(host);
    check_ok(fftnd_forward(plan, arrays[0], arrays[1]));
    if (side == FFTND_PHYSICAL)
        check_ok(fftnd_backward(plan, arrays[1], arrays[0]));
    if (trial->options.asynchronous) {
        stream_device_wait(trial->options.stream);
        check_ok(fftnd_plan_query(plan));
    }
    *bytes = layouts[side].bytes;
    host = calloc(*bytes + 1, 1);
    copy(trial, host, arrays[side], *bytes);
    release(trial, arrays[0]);
    release(trial, arrays[1]);
    return host;
}

/* Returns the relative L2 distance of the result of one plan from that of another one. */
static double distance(const struct trial *trial, fftnd_plan *exact, fftnd_plan *narrow, int side) {
    double sums[2] = {0, 0};
    size_t bytes;
    uint64_t begin = sequence = random_bits() + (uint64_t)harness_rank;
    char *x = transform(trial, exact, side, &bytes);
    sequence = begin;
    char *y = transform(trial, narrow, side, &bytes);
    for (size_t i = 0; i < bytes / bytes_of(trial); i++) {
        double a = read_number(trial, x, i), b = read_number(trial, y, i);
        sums[0] += (a - b) * (a - b);
        sums[1] += a * a;
    }
    free(x);
    free(y);
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sums[1] > 0 ? sqrt(sums[0] / sums[1]) : 0;
}

static fftnd_plan *plan_of(const struct trial *trial, MPI_Comm comm, fftnd_plan_info *info) {
    fftnd_plan *plan;
    check_ok(fftnd_plan_info_init(info, sizeof *info));
    check_ok(fftnd_plan_create(comm, 3, trial->sizes, trial->kind, trial->precision,
                               &trial->options, &plan));
    check_ok(fftnd_plan_get_info(plan, info));
    return plan;
}

/* What an exchange may change a row by at most: 2^-24 of each number, or 2^-15 of the largest of 128. */
static double bound_of(enum redist_wire wire) {
    return wire == REDIST_WIRE_FLOAT ? 0x1p-24 : wire == REDIST_WIRE_SAME ? 0 : sqrt(128) * 0x1p-15;
}

/* Transforms keep the L2 norm up to a factor: halved and real-to-real axes have modes that weigh twice. */
static double most_distance(const struct trial *trial, const fftnd_plan_info *info, int side) {
    double rounding = trial->precision == FFTND_FLOAT ? 1e-6 : 1e-14;
    double factor = trial->kind == FFTND_C2C ? 1 : 4;
    return factor * info->nexchanges * (side == FFTND_PHYSICAL ? 2 : 1) * bound_of(info->wire) +
           rounding;
}

static void check_trial(struct trial *trial, MPI_Comm comm, int may_decline, int crosses) {
    fftnd_plan_info infos[2];
    enum redist_wire wire = trial->options.wire;
    fftnd_plan *narrow = plan_of(trial, comm, &infos[1]);
    trial->options.wire = REDIST_WIRE_SAME;
    trial->options.grid_ndims = infos[1].grid_ndims; /* a measured one may differ */
    trial->options.grid = infos[1].grid;
    fftnd_plan *exact = plan_of(trial, comm, &infos[0]);
    enum redist_wire expected = crosses && infos[1].nexchanges > 0 ? wire : REDIST_WIRE_SAME;
    check_all(infos[1].wire == expected || (may_decline && infos[1].wire == REDIST_WIRE_SAME),
              "the format is %d", (int)infos[1].wire);
    check_all(trial->options.device == REDIST_SPACE_AUTO || infos[1].device_bytes > 0,
              "no device transforms");
    check_all((infos[1].wire != REDIST_WIRE_SAME) == (infos[1].wire_error[0] > 0) &&
                  infos[1].wire_error[0] <= most_distance(trial, &infos[1], FFTND_PHYSICAL),
              "the plan has an error of %g", infos[1].wire_error[0]);
    for (int side = 0; side < 2; side++) {
        double found = distance(trial, exact, narrow, side);
        double most = most_distance(trial, &infos[1], side);
        check_all(found <= most, "the distance is %g, not at most %g", found, most);
        check_all(infos[1].wire == REDIST_WIRE_SAME || found > most * 1e-3,
                  "the distance is %g: nothing was narrowed", found);
    }
    check_ok(fftnd_plan_free(&narrow));
    check_ok(fftnd_plan_free(&exact));
}

/* Exchanges on devices: of segments, by partitions, behind direct stores. */
static const char *const configurations[] = {
    " fused=0 tiled=0 tile=1 group=1 nontemporal=1 segments=3 transposed=0 untiled=0 partitions=1 "
    "direct_stores=0",
    " fused=0 tiled=0 tile=1 group=1 nontemporal=1 segments=2 transposed=0 untiled=0 partitions=2 "
    "direct_stores=1",
    " fused=0 tiled=0 tile=1 group=1 nontemporal=1 segments=2 transposed=1 untiled=0 partitions=2 "
    "direct_stores=2",
    " fused=0 tiled=0 tile=1 group=1 nontemporal=1 segments=1 transposed=0 untiled=0 partitions=1 "
    "direct_stores=1"};

static void try_random(int i) {
    static const char *const on_host[] = {NULL, "p2p", "alltoallv", "kway:2", "hier", NULL},
                             *const there[] = {NULL, "p2p", "alltoallv", "hier:nccl", "nccl", NULL};
    struct trial trial = {.kind = (enum fftnd_kind)random_between(FFTND_C2C, FFTND_R2C),
                          .precision = random_chance(70) ? FFTND_DOUBLE : FFTND_FLOAT,
                          .options = FFTND_OPTIONS_DEFAULT};
    int is_there = is_on_device() && random_chance(75);
    int node = random_between(0, 2), nnodes = node == 0 ? 1 : (harness_nranks + node - 1) / node;
    for (int axis = 0; axis < 3; axis++)
        trial.sizes[axis] = random_between(8, 20);
    trial.options.method = (is_there ? there : on_host)[i % 6];
    trial.options.wire = trial.precision == FFTND_DOUBLE ? (enum redist_wire)random_between(1, 2)
                                                         : REDIST_WIRE_16_BITS;
    trial.options.wire_scope = (enum redist_wire_scope)random_between(0, 1);
    trial.options.effort = i % 6 == 5 ? FFTND_MEASURE : FFTND_ESTIMATE;
    trial.options.grid_ndims = random_between(1, 2);
    trial.options.plan_seconds = 0.05;
    trial.options.fusion = random_chance(30) ? FFTND_FUSION_NEVER : FFTND_FUSION_AUTO;
    trial.options.tile_bytes = random_chance(50) ? 3000 : 0;
    int everywhere = trial.options.wire_scope == REDIST_WIRE_EVERYWHERE;
    trial.options.device = is_on_device() && !is_there ? REDIST_SPACE_CUDA : REDIST_SPACE_AUTO;
    if (is_there) {
        trial.options.space = REDIST_SPACE_CUDA;
        trial.options.asynchronous = i % 6 > 2 || (i % 6 == 0 && random_chance(50));
        trial.options.stream = trial.options.asynchronous ? stream_device_create_own(0) : NULL;
    }
    if (trial.options.method != NULL && strncmp(trial.options.method, "hier", 4) == 0)
        trial.options.wire_scope = REDIST_WIRE_BETWEEN_NODES, everywhere = 0;
    if (trial.options.method != NULL && strcmp(trial.options.method, "kway:2") == 0 && node != 1)
        trial.options.wire_scope = REDIST_WIRE_EVERYWHERE, everywhere = 1;
    unsetenv("FFTND_CONFIGURATION");
    if (is_there && random_chance(60))
        setenv("FFTND_CONFIGURATION", configurations[random_between(0, 3)], 1);
    harness_case("kind %d of %lldx%lldx%lld, precision %d, %s, format %d, scope %d, nodes of %d, "
                 "%d grid dimensions, device %d",
                 (int)trial.kind, (long long)trial.sizes[0], (long long)trial.sizes[1],
                 (long long)trial.sizes[2], (int)trial.precision,
                 trial.options.method != NULL ? trial.options.method : "auto",
                 (int)trial.options.wire, (int)trial.options.wire_scope, node,
                 trial.options.grid_ndims, (int)trial.options.device);
    MPI_Comm comm = harness_begin_nodes(node);
    check_trial(&trial, comm, trial.options.effort == FFTND_MEASURE,
                everywhere ? harness_nranks > 1 : nnodes > 1);
    if (trial.options.stream != NULL)
        stream_device_destroy(trial.options.stream);
    harness_end_nodes(&comm);
}

START_TEST(formats) {
    NEEDS_MEMORY();
    for (int i = 0; harness_another(i, 6); i++)
        try_random(i);
}
END_TEST

/* Joined with transforms, whose tiles end anywhere in the rows of a message. */
START_TEST(in_tiles) {
    if (harness_nranks == 1)
        skip_test("messages between ranks");
    for (int i = 0; i < 8; i++) {
        struct trial trial = {.sizes = {16, 18, 20},
                              .kind = i & 1 ? FFTND_R2C : FFTND_C2C,
                              .precision = i & 2 ? FFTND_FLOAT : FFTND_DOUBLE,
                              .options = FFTND_OPTIONS_DEFAULT};
        trial.options.fusion = FFTND_FUSION_ALWAYS;
        trial.options.method = "p2p";
        trial.options.tile_bytes = 3000;
        trial.options.effort = FFTND_ESTIMATE;
        trial.options.wire = i & 2 || i & 4 ? REDIST_WIRE_16_BITS : REDIST_WIRE_FLOAT;
        trial.options.wire_scope = REDIST_WIRE_EVERYWHERE;
        trial.options.batch = 1 + i / 4;
        harness_case("kind %d, precision %d, format %d", (int)trial.kind, (int)trial.precision,
                     (int)trial.options.wire);
        check_trial(&trial, MPI_COMM_WORLD, 0, 1);
    }
}
END_TEST

static int nsends;

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    nsends++;
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

/* Messages are cut where tiles end: backward, where axis 0 is whole in a tile, along axis 1. There they have three
 * pieces of at most 1 MiB; axis 0 has two elements. */
START_TEST(cut_as_tiles) {
    if (harness_nranks != 2)
        skip_test("two ranks, as arrays are large");
    const redist_index sizes[3] = {2 * harness_nranks, 16 * harness_nranks, 4608};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    fftnd_plan *plan;
    options.fusion = FFTND_FUSION_ALWAYS;
    options.method = "p2p";
    options.grid_ndims = 1;
    options.effort = FFTND_ESTIMATE;
    options.wire = REDIST_WIRE_FLOAT;
    options.wire_scope = REDIST_WIRE_EVERYWHERE;
    options.in_place = options.skip_agreement = 1;
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_C2C, FFTND_DOUBLE, &options, &plan));
    check_ok(fftnd_plan_layout(plan, FFTND_PHYSICAL, &layout));
    void *array = calloc(layout.bytes, 1);
    check_ok(fftnd_forward(plan, array, array));
    nsends = 0;
    check_ok(fftnd_backward(plan, array, array));
    check_all(nsends == 3 * (harness_nranks - 1), "%d messages", nsends);
    check_ok(fftnd_plan_free(&plan));
    free(array);
}
END_TEST

/* ---------------------------------------------------------------- tolerances */

START_TEST(tolerances) {
    static const struct {
        double tolerance;
        enum fftnd_precision precision;
        enum redist_wire wire; /* as chosen; REDIST_WIRE_SAME: any that is near enough */
        const char *method;
    } table[] = {{1e-2, FFTND_DOUBLE, REDIST_WIRE_16_BITS, NULL},
                 {3e-7, FFTND_DOUBLE, REDIST_WIRE_FLOAT, NULL},
                 {8e-9, FFTND_DOUBLE, REDIST_WIRE_SAME, NULL},
                 {1e-2, FFTND_FLOAT, REDIST_WIRE_16_BITS, NULL},
                 {2e-6, FFTND_FLOAT, REDIST_WIRE_SAME, NULL},
                 {1e-2, FFTND_DOUBLE, REDIST_WIRE_SAME, "direct"}}; /* has no formats */
    NEEDS_MEMORY();
    if (harness_nranks == 1)
        skip_test("messages between ranks");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct trial trial = {.sizes = {12, 10, 14},
                              .kind = FFTND_C2C,
                              .precision = table[i].precision,
                              .options = FFTND_OPTIONS_DEFAULT};
        fftnd_plan_info info;
        trial.options.tolerance = table[i].tolerance;
        trial.options.method = table[i].method;
        trial.options.wire_scope = REDIST_WIRE_EVERYWHERE;
        trial.options.effort = FFTND_ESTIMATE;
        trial.options.space = is_on_device() ? REDIST_SPACE_CUDA : REDIST_SPACE_AUTO;
        harness_case("tolerance %g", table[i].tolerance);
        fftnd_plan *plan = plan_of(&trial, MPI_COMM_WORLD, &info);
        int is_widest = info.wire == table[i].wire || table[i].wire == REDIST_WIRE_SAME;
        check_all(is_widest && info.wire_error[0] <= table[i].tolerance,
                  "format %d with an error of %g", (int)info.wire, info.wire_error[0]);
        check_all(table[i].method == NULL || info.wire == REDIST_WIRE_SAME, "direct has a format");
        trial.options.tolerance = 0;
        fftnd_plan *exact = plan_of(&trial, MPI_COMM_WORLD, &info);
        double found = distance(&trial, exact, plan, FFTND_PHYSICAL);
        check_all(found <= table[i].tolerance, "a round trip is off by %g", found);
        check_ok(fftnd_plan_free(&exact));
        check_ok(fftnd_plan_free(&plan));
    }
}
END_TEST

/* ---------------------------------------------------------------- what a plan says */

/* Makes a plan and returns what this rank has printed meanwhile, for the caller to free. */
static char *listen_to(const struct trial *trial, fftnd_plan_info *info) {
    enum { BYTES = 1 << 16 };
    char *text = calloc(1, BYTES);
    FILE *file = tmpfile();
    int before = dup(2);
    dup2(fileno(file), 2);
    fftnd_plan *plan = plan_of(trial, MPI_COMM_WORLD, info);
    check_ok(fftnd_plan_free(&plan));
    dup2(before, 2);
    close(before);
    rewind(file);
    text[fread(text, 1, BYTES - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* Whether a plan has a format or declines it, it says so, and its structure agrees. */
START_TEST(told) {
    static const struct {
        enum redist_wire wire;
        enum redist_wire_scope scope;
        double tolerance;
        const char *method, *words; /* words NULL: chosen or declined, by the times */
    } table[] = {
        {REDIST_WIRE_16_BITS, REDIST_WIRE_EVERYWHERE, 0, "p2p", NULL},
        {REDIST_WIRE_FLOAT, REDIST_WIRE_EVERYWHERE, 0, NULL, NULL},
        {REDIST_WIRE_FLOAT, REDIST_WIRE_BETWEEN_NODES, 0, "p2p", "declined: no message is for it"},
        {REDIST_WIRE_SAME, REDIST_WIRE_EVERYWHERE, 1e-2, "direct", "packs no messages"}};
    if (harness_nranks == 1 || harness_nranks > 3)
        skip_test("two or three ranks");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct trial trial = {.sizes = {16, 16, 16}, .options = FFTND_OPTIONS_DEFAULT};
        fftnd_plan_info info;
        trial.options.wire = table[i].wire;
        trial.options.wire_scope = table[i].scope;
        trial.options.tolerance = table[i].tolerance;
        trial.options.method = table[i].method;
        trial.options.verbose = 1;
        trial.options.plan_seconds = 0.05;
        harness_case("case %zu", i);
        char *text = listen_to(&trial, &info);
        int declined = info.wire == REDIST_WIRE_SAME;
        const char *words = table[i].words != NULL ? table[i].words
                            : declined             ? "<- declined, slower by more than 3 %"
                                                   : "<- chosen";
        check_all(harness_rank != 0 || strstr(text, words) != NULL, "\"%s\" is not in: %s", words,
                  text);
        check_all(declined == (info.wire_error[0] <= 0) && (table[i].words == NULL || declined),
                  "the format is %d with an error of %g", (int)info.wire, info.wire_error[0]);
        free(text);
    }
}
END_TEST

/* ---------------------------------------------------------------- wisdom */

/* Appends a line with this choice for the format in the file, under the key that a plan has written. */
static void add_choice(const char *file, const char *choice) {
    char line[600], key[600] = "";
    FILE *stream = harness_rank == 0 ? fopen(file, "r+") : NULL;
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL)
        if (strncmp(line, "wire/", 5) == 0)
            sscanf(line, "%599s", key);
    if (stream != NULL) {
        fprintf(stream, "%s %s\n", key, choice);
        fclose(stream);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    redist_forget_wisdom();
}

/* The choice in a file is taken if the tolerance allows it; else formats are measured again. */
START_TEST(remembered) {
    static const struct {
        const char *choice;
        enum redist_wire wire;
        double error; /* 0 = measured */
    } table[] = {
        {"1 0.0005 0.002", REDIST_WIRE_FLOAT, 0.0005}, {"0 0 0", REDIST_WIRE_SAME, 0},
        {"1 0.5 0.5", REDIST_WIRE_16_BITS, 0},         {"3 0 0", REDIST_WIRE_16_BITS, 0},
        {"1 nan 0", REDIST_WIRE_16_BITS, 0},           {"1 0.0005", REDIST_WIRE_16_BITS, 0},
        {"1 0.0005 0 0", REDIST_WIRE_16_BITS, 0}};
    char file[64];
    fftnd_plan_info info;
    if (harness_nranks == 1)
        skip_test("messages between ranks");
    snprintf(file, sizeof file, "wire-wisdom-%d", (int)getpid());
    MPI_Bcast(file, sizeof file, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct trial trial = {.sizes = {12, 10, 14}, .options = FFTND_OPTIONS_DEFAULT};
        trial.precision = FFTND_DOUBLE;
        trial.options.tolerance = 1e-2;
        trial.options.wire_scope = REDIST_WIRE_EVERYWHERE;
        trial.options.effort = FFTND_ESTIMATE;
        trial.options.wisdom_file = file;
        redist_forget_wisdom();
        harness_case("\"%s\"", table[i].choice);
        for (int again = 0; again < 2; again++) {
            fftnd_plan *plan = plan_of(&trial, MPI_COMM_WORLD, &info);
            enum redist_wire wire = again ? table[i].wire : REDIST_WIRE_16_BITS;
            int is_same = !again || table[i].error == 0 || info.wire_error[0] == table[i].error;
            check_all(info.wire == wire && is_same && info.wire_error[0] <= 1e-2,
                      "format %d with an error of %g", (int)info.wire, info.wire_error[0]);
            check_ok(fftnd_plan_free(&plan));
            if (!again)
                add_choice(file, table[i].choice);
        }
        if (harness_rank == 0)
            remove(file);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}
END_TEST

/* ---------------------------------------------------------------- errors */

START_TEST(errors) {
    static const struct {
        enum fftnd_precision precision;
        int wire, scope;
        double tolerance;
        const char *words;
    } table[] = {{FFTND_DOUBLE, 3, 0, 0,
                  "options->wire = 3 is not in REDIST_WIRE_SAME..REDIST_WIRE_16_BITS (0..2)"},
                 {FFTND_DOUBLE, 1, -1, 0, "options->wire_scope = -1 is not in"},
                 {FFTND_FLOAT, 1, 0, 0,
                  "options->wire: REDIST_WIRE_FLOAT is not supported with precision = FFTND_FLOAT"},
                 {FFTND_LONG_DOUBLE, 2, 0, 0, "precision = FFTND_LONG_DOUBLE"},
                 {FFTND_DOUBLE, 0, 0, -1, "options->tolerance = -1 is not 0 or more"},
                 {FFTND_DOUBLE, 0, 0, (double)NAN, "options->tolerance = nan"},
                 {FFTND_DOUBLE, 0, 0, 1e-9, "options->tolerance = 1e-09 is below 7.45058e-09"},
                 {FFTND_FLOAT, 0, 0, 1e-6, "options->tolerance = 1e-06 is below 1.90735e-06"},
                 {FFTND_DOUBLE, 1, 0, 1e-3, "with options->wire = REDIST_WIRE_FLOAT"}};
    const redist_index sizes[3] = {8, 8, 8};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (int alone = 0; alone < 2; alone++) { /* all ranks, then the last one alone */
            fftnd_options options = FFTND_OPTIONS_DEFAULT;
            fftnd_plan *plan = NULL;
            if (!alone || harness_rank == harness_nranks - 1) {
                options.wire = (enum redist_wire)table[i].wire;
                options.wire_scope = (enum redist_wire_scope)table[i].scope;
                options.tolerance = table[i].tolerance;
            }
            harness_case("%s, %d", table[i].words, alone);
            check_code(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_C2C, table[i].precision,
                                         &options, &plan),
                       REDIST_ERR_ARGUMENT);
            check_all(strstr(redist_error_message(), table[i].words) != NULL && plan == NULL, "%s",
                      redist_error_message());
        }
}
END_TEST

START_TEST(ranks_differ) {
    const redist_index sizes[3] = {8, 8, 8};
    fftnd_plan *plan = NULL;
    if (harness_nranks == 1)
        skip_test("several ranks");
    for (int i = 0; i < 3; i++) {
        static const char *const words[] = {"options->wire", "options->wire_scope",
                                            "options->tolerance"};
        fftnd_options options = FFTND_OPTIONS_DEFAULT;
        int first = harness_rank == 0;
        options.wire = i == 0 ? (enum redist_wire)(1 + first) : REDIST_WIRE_SAME;
        options.wire_scope = i == 1 && first ? REDIST_WIRE_EVERYWHERE : REDIST_WIRE_BETWEEN_NODES;
        options.tolerance = i == 2 ? 1e-3 * (1 + first) : 0;
        check_code(
            fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_C2C, FFTND_DOUBLE, &options, &plan),
            REDIST_ERR_DISAGREE);
        check_all(strstr(redist_error_message(), words[i]) != NULL, "%s", redist_error_message());
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {formats,    in_tiles, cut_as_tiles, tolerances, told,
                                  remembered, errors,   ranks_differ, NULL},
                       *const there[] = {formats, tolerances, told, NULL};
    return harness_run(argc, argv, "test_fftnd_wire", is_on_device() ? there : tests);
}
