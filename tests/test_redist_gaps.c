/* SPDX-License-Identifier: BSD-3-Clause */
/* Random datatypes with gaps, negative bounds and interleaved elements: every byte, those that the type does not
 * contain among them, against MPI_Alltoallw called here. */
#include <stdlib.h>
#include <string.h>

#include "exchanges.h"
#include "harness.h"
#include "methods.h"

enum { MOST_AXES = 3, MOST_FIELDS = 4, GUARD = 64, MOST_ELEMENTS = 700 };

/* A datatype, and whether methods that copy bytes have to take it */
struct type {
    const char *name;
    MPI_Datatype type;
    int is_box;
};

/* ---------------------------------------------------------------- types */

static MPI_Datatype random_basic(void) {
    const MPI_Datatype types[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_DOUBLE_INT};
    return types[random_between(0, 4)];
}

static MPI_Aint extent_of(MPI_Datatype type) {
    MPI_Aint low, extent;
    MPI_Type_get_extent(type, &low, &extent);
    return extent;
}

/* Frees the first one. */
static MPI_Datatype resize(MPI_Datatype type, MPI_Aint low, MPI_Aint extent) {
    MPI_Datatype resized;
    MPI_Type_create_resized(type, low, extent, &resized);
    MPI_Type_free(&type);
    return resized;
}

/* One field of a structure */
static void make_component(struct type *made) {
    MPI_Datatype basic = random_chance(50) ? MPI_DOUBLE : MPI_C_FLOAT_COMPLEX, field;
    const MPI_Aint extent = 8 + random_between(0, 40), place = random_between(0, (int)extent - 8);
    MPI_Type_create_hindexed_block(1, 1, &place, basic, &field);
    *made = (struct type){"component", resize(field, 0, extent), 1};
}

static void make_vector(struct type *made) {
    MPI_Datatype basic = random_chance(50) ? MPI_SHORT : MPI_DOUBLE, vector;
    int length = random_between(1, 3), step = length + random_between(0, 3);
    MPI_Type_vector(random_between(1, 4), length, step, basic, &vector);
    *made = (struct type){"vector", vector, 1};
    if (random_chance(50))
        made->type = resize(vector, 0, extent_of(vector) + random_between(0, 20));
}

/* Vectors of vectors: two axes */
static void make_vectors(struct type *made) {
    MPI_Datatype inner, outer;
    MPI_Type_vector(random_between(2, 3), 1, random_between(2, 3), MPI_INT, &inner);
    MPI_Type_create_hvector(random_between(2, 3), 1, extent_of(inner) + 4 * random_between(1, 5),
                            inner, &outer);
    MPI_Type_free(&inner);
    *made = (struct type){"vectors", outer, 1};
}

/* Blocks of any lengths, in any order */
static void make_indexed(struct type *made) {
    MPI_Datatype indexed;
    int lengths[MOST_FIELDS], places[MOST_FIELDS], order[MOST_FIELDS], at = random_between(0, 3);
    int n = random_between(1, MOST_FIELDS);
    random_permutation(n, order);
    for (int i = 0; i < n; i++) {
        lengths[order[i]] = random_between(1, 3);
        places[order[i]] = at;
        at += lengths[order[i]] + random_between(0, 3);
    }
    MPI_Type_indexed(n, lengths, places, random_chance(50) ? MPI_CHAR : MPI_INT, &indexed);
    *made = (struct type){"indexed", resize(indexed, 0, at * 4), 0};
}

/* Fields from `low` on, which may be negative, in an extent that begins there or at 0 */
static MPI_Datatype random_fields(MPI_Aint low) {
    MPI_Datatype types[MOST_FIELDS], fields;
    int lengths[MOST_FIELDS], n = random_between(1, MOST_FIELDS);
    MPI_Aint places[MOST_FIELDS], at = low;
    for (int i = 0; i < n; i++) {
        types[i] = random_basic();
        lengths[i] = random_between(1, 2);
        places[i] = at + random_between(0, 9);
        at = places[i] + lengths[i] * extent_of(types[i]);
    }
    MPI_Type_create_struct(n, lengths, places, types, &fields);
    return resize(fields, random_chance(50) ? low : 0, at - low + random_between(0, 9));
}

static void make_structure(struct type *made) {
    *made = (struct type){"structure", random_fields(0), 0};
}

static void make_negative(struct type *made) {
    *made = (struct type){"negative bound", random_fields(-random_between(1, 40)), 0};
}

static void make_pair(struct type *made) {
    MPI_Datatype pair;
    int has_padding_within = random_chance(50);
    MPI_Type_contiguous(1, has_padding_within ? MPI_SHORT_INT : MPI_DOUBLE_INT, &pair);
    *made = (struct type){"pair", pair, !has_padding_within};
}

/* The second half of each element lies behind the first halves of all. */
static void make_interleaved(struct type *made) {
    MPI_Datatype halves;
    MPI_Type_create_hvector(2, 1, 4 * MOST_ELEMENTS, MPI_INT, &halves);
    *made = (struct type){"interleaved", resize(halves, 0, 4), 0};
}

static struct type random_type(int i) {
    static void (*const make[])(struct type * made) = {
        make_component, make_vector,   make_vectors, make_indexed,
        make_structure, make_negative, make_pair,    make_interleaved};
    enum { KINDS = sizeof make / sizeof make[0] };
    struct type made;
    make[i % KINDS](&made);
    MPI_Type_commit(&made.type);
    return made;
}

/* ---------------------------------------------------------------- arrays */

/* An array, and what is expected in its memory */
struct memory {
    size_t bytes, before;
    int shared;
    void *all, *expected;
};

/* The elements of an array, and what of them lies outside of it */
static struct memory create(MPI_Datatype type, size_t elements, int shared) {
    MPI_Aint low, extent;
    MPI_Type_get_true_extent(type, &low, &extent);
    struct memory made = {.shared = shared, .before = GUARD + (low < 0 ? (size_t)-low : 0)};
    made.before = (made.before + 63) / 64 * 64;
    made.bytes = made.before + elements * (size_t)extent_of(type) + GUARD +
                 (size_t)(low + extent > 0 ? low + extent : 0);
    made.expected = malloc(made.bytes);
    made.all = shared ? NULL : malloc(made.bytes);
    if (shared)
        check_ok(redist_alloc(MPI_COMM_WORLD, made.bytes, &made.all));
    return made;
}

static void release(struct memory *memory) {
    free(memory->expected);
    if (memory->shared)
        check_ok(redist_free(&memory->all));
    else
        free(memory->all);
}

static void fill(const struct memory *memory, uint64_t *sequence) {
    for (size_t i = 0; i < memory->bytes; i++)
        ((unsigned char *)memory->all)[i] = (unsigned char)random_from(sequence, 0, 255);
    memcpy(memory->expected, memory->all, memory->bytes);
}

/* ---------------------------------------------------------------- what is right */

struct job {
    const exchange *given;
    struct type type;
    struct memory memory[2];
    uint64_t sequence;
};

static char *array_of(const struct job *job, int side) {
    return (char *)job->memory[side].all + job->memory[side].before;
}

/* The part of a side's array that is exchanged with each rank, for the axis along which it is whole */
static void make_parts(const struct job *job, int side, MPI_Datatype parts[], int counts[]) {
    const exchange *given = job->given;
    const redist_box *box = &given->boxes[side][given->rank];
    for (int peer = 0; peer < given->nranks; peer++) {
        int sizes[MOST_AXES], part[MOST_AXES], start[MOST_AXES] = {0}, axis = given->axes[side];
        int elements = 1;
        for (int i = 0; i < given->ndims; i++)
            sizes[i] = part[i] = (int)box->count[i];
        part[axis] = (int)given->boxes[!side][peer].count[axis];
        start[axis] = (int)given->boxes[!side][peer].start[axis];
        for (int i = 0; i < given->ndims; i++)
            elements *= part[i];
        counts[peer] = elements != 0;
        parts[peer] = MPI_BYTE;
        if (elements == 0)
            continue;
        MPI_Type_create_subarray(given->ndims, sizes, part, start, MPI_ORDER_C, job->type.type,
                                 &parts[peer]);
        MPI_Type_commit(&parts[peer]);
    }
}

static void expect(const struct job *job, int direction) {
    MPI_Datatype parts[2][EXCHANGE_MOST_RANKS];
    int counts[2][EXCHANGE_MOST_RANKS], nowhere[EXCHANGE_MOST_RANKS] = {0};
    for (int side = 0; side < 2; side++)
        make_parts(job, side, parts[side], counts[side]);
    const struct memory *from = &job->memory[direction], *to = &job->memory[!direction];
    PMPI_Alltoallw((char *)from->expected + from->before, counts[direction], nowhere,
                   parts[direction], (char *)to->expected + to->before, counts[!direction], nowhere,
                   parts[!direction], job->given->comm);
    for (int i = 0; i < 2 * job->given->nranks; i++)
        if (counts[i % 2][i / 2])
            MPI_Type_free(&parts[i % 2][i / 2]);
}

static void compare(const struct job *job, int code, const char *what) {
    size_t wrong[2] = {0};
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < job->memory[side].bytes; i++)
            wrong[side] += ((unsigned char *)job->memory[side].all)[i] !=
                           ((unsigned char *)job->memory[side].expected)[i];
    check_all(code == REDIST_OK, "%s: %s", what, redist_error_message());
    check_all(wrong[0] + wrong[1] == 0, "%s: %zu bytes of A and %zu of B are wrong", what, wrong[0],
              wrong[1]);
}

static void prepare(struct job *job, int direction) {
    fill(&job->memory[0], &job->sequence);
    fill(&job->memory[1], &job->sequence);
    expect(job, direction);
}

/* ---------------------------------------------------------------- the library */

/* Whether a method has to take boxes of bytes, whatever their memory is */
static int serves_boxes(const char *method) {
    return strncmp(method, "direct:p", 8) && strcmp(method, "direct:lockstep");
}

static int plan(const struct job *job, const char *method, enum redist_tiles tiles,
                redist_plan **made) {
    const exchange *given = job->given;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = method;
    options.tiles = tiles;
    options.tune_seconds = 1e-4;
    return redist_plan_exchange(given->comm, job->type.type, given->ndims,
                                given->boxes[0][given->rank].count, array_of(job, 0),
                                given->axes[0], given->boxes[1][given->rank].count,
                                array_of(job, 1), given->axes[1], &options, made);
}

static void try_method(struct job *job, const char *method) {
    redist_plan *made = NULL;
    int code = plan(job, method, REDIST_WHOLE, &made);
    int is_right = !strcmp(method, "alltoallw") || !strcmp(method, "p2p-type");
    int refused = code == REDIST_ERR_METHOD && !is_right && strcmp(method, "auto") &&
                  (!job->type.is_box || !serves_boxes(method));
    check_all(refused || code == REDIST_OK, "%s", redist_error_message());
    for (int direction = 0; direction < 2 && !refused; direction++) {
        prepare(job, direction);
        compare(job, redist_plan_execute(made, direction), direction ? "backward" : "forward");
    }
    check_ok(redist_plan_free(&made));
}

static int move_tiles(const struct job *job, redist_plan *made, enum redist_tiles tiles) {
    const exchange *given = job->given;
    int side = tiles == REDIST_GET, code = REDIST_OK;
    redist_index start[MOST_AXES] = {0}, count[MOST_AXES];
    ptrdiff_t stride[MOST_AXES], step = (ptrdiff_t)extent_of(job->type.type);
    for (int i = given->ndims - 1; i >= 0; i--) {
        count[i] = given->boxes[side][given->rank].count[i];
        stride[i] = step;
        step *= count[i];
    }
    redist_index rows = count[0];
    count[0] = 1;
    for (start[0] = 0; start[0] < rows && code == REDIST_OK; start[0]++) {
        char *tile = array_of(job, side) + start[0] * stride[0];
        code = side ? redist_plan_get(made, start, count, tile, stride)
                    : redist_plan_put(made, start, count, tile, stride);
    }
    return code;
}

/* What tiles are needs elements that lie apart from others. */
static void try_tiles(struct job *job, const char *method, enum redist_tiles tiles) {
    redist_plan *made = NULL;
    int code = plan(job, method, tiles, &made);
    check_all(code == REDIST_OK || (code == REDIST_ERR_METHOD && !job->type.is_box), "%s",
              redist_error_message());
    if (code == REDIST_OK) {
        prepare(job, REDIST_FORWARD);
        if (tiles == REDIST_PUT)
            check_ok(redist_plan_put_begin(made, array_of(job, 1)));
        else
            check_ok(redist_plan_get_begin(made, array_of(job, 0)));
        int moved = move_tiles(job, made, tiles);
        code = tiles == REDIST_PUT ? redist_plan_put_end(made) : redist_plan_get_end(made);
        compare(job, moved == REDIST_OK ? code : moved, tiles == REDIST_PUT ? "put" : "get");
    }
    check_ok(redist_plan_free(&made));
}

static void try_once(struct job *job) {
    const exchange *given = job->given;
    for (int i = 0; i < 2; i++) {
        prepare(job, i);
        int code = redist_exchange(given->comm, job->type.type, given->ndims,
                                   given->boxes[i][given->rank].count, array_of(job, i),
                                   given->axes[i], given->boxes[!i][given->rank].count,
                                   array_of(job, !i), given->axes[!i]);
        compare(job, code, "redist_exchange");
    }
}

static size_t elements_of(const exchange *given, int side) {
    size_t elements = 1;
    for (int i = 0; i < given->ndims; i++)
        elements *= (size_t)given->boxes[side][given->rank].count[i];
    return elements;
}

static void say(const struct job *job, const char *method) {
    const exchange *given = job->given;
    const redist_box *a = &given->boxes[0][given->rank];
    harness_case("%s of extent %ld, %d axes, %d:%d, %lld x %lld .. of A, %s memory, %s",
                 job->type.name, (long)extent_of(job->type.type), given->ndims, given->axes[0],
                 given->axes[1], (long long)a->count[0], (long long)a->count[1],
                 job->memory[1].shared ? "shared" : "plain", method);
}

static void try_exchange(const exchange *given, struct type type, int shared) {
    struct job job = {.given = given, .type = type};
    job.sequence = random_bits() ^ random_hash((uint64_t)given->rank);
    for (int side = 0; side < 2; side++)
        job.memory[side] = create(type.type, elements_of(given, side), shared);
    for (int i = 0; i < request_count(); i++) {
        say(&job, request_name(i));
        try_method(&job, request_name(i));
    }
    const char *methods[] = {"p2p", shared ? "direct" : "p2p"};
    for (int i = 0; i < 4; i++) {
        say(&job, methods[i / 2]);
        try_tiles(&job, methods[i / 2], i % 2 ? REDIST_PUT : REDIST_GET);
    }
    say(&job, "no plan");
    try_once(&job);
    release(&job.memory[0]);
    release(&job.memory[1]);
}

START_TEST(random_types) {
    for (int i = 0; harness_another(i, 16); i++) {
        struct type type = random_type(i);
        redist_index sizes[MOST_AXES];
        const test_element unused = {.name = type.name};
        int ndims = random_between(2, MOST_AXES), axis = random_between(0, ndims - 1);
        random_sizes(ndims, 1, 12, MOST_ELEMENTS / 2, sizes);
        const exchange given = exchange_between_axes(MPI_COMM_WORLD, &unused, ndims, sizes, axis,
                                                     (axis + random_between(1, ndims - 1)) % ndims);
        try_exchange(&given, type, random_chance(50));
        MPI_Type_free(&type.type);
    }
}
END_TEST

/* The component of an array of structures that the other side holds elsewhere, and in blocks of other lengths: what
 * only MPI can match */
START_TEST(other_places_on_other_ranks) {
    const redist_index sizes[] = {8, 9};
    const test_element unused = {.name = "ints"};
    const exchange given = exchange_between_axes(MPI_COMM_WORLD, &unused, 2, sizes, 0, 1);
    for (int i = 0; i < 2; i++) {
        struct type type = {i ? "other blocks" : "other places", MPI_DATATYPE_NULL, 0};
        const int odd = given.rank % 2, blocks[] = {odd, odd + 1 + (i && odd)};
        MPI_Type_create_indexed_block(2, 1, blocks, MPI_INT, &type.type);
        type.type = resize(type.type, 0, 32);
        MPI_Type_commit(&type.type);
        try_exchange(&given, type, 1);
        MPI_Type_free(&type.type);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_types, other_places_on_other_ranks, NULL};
    return harness_run(argc, argv, "test_redist_gaps", tests);
}
