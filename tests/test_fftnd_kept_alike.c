/* SPDX-License-Identifier: BSD-3-Clause */
/* Which plans are the same: those of the same arguments and options, of which no other is taken for a kept one. */
#include <string.h>

#include "kept.h"

/* ---------------------------------------------------------------- options */

/* All members of fftnd_options in their order: another value than that of `usual`, or the same where plans do not
 * differ (also the stream, which is for devices). A member that is not in the list is a warning about `changed`. */
#define MEMBERS(ITEM)                                                                              \
    ITEM(size, sizeof(fftnd_options))                                                              \
    ITEM(grid_ndims, 2)                                                                            \
    ITEM(by_node, 1)                                                                               \
    ITEM(grid, (const int[]){0, 1})                                                                \
    ITEM(order, (const int[]){1, 0, 2})                                                            \
    ITEM(scaling, FFTND_SCALE_NONE)                                                                \
    ITEM(alignment, FFTND_ALIGN_INPUT)                                                             \
    ITEM(batch, 2)                                                                                 \
    ITEM(batch_position, FFTND_BATCH_LAST)                                                         \
    ITEM(r2r, (const enum fftnd_r2r[]){FFTND_DCT3, FFTND_DCT3, FFTND_DCT3})                        \
    ITEM(retained_modes, (const redist_index[]){4, 4, 6})                                          \
    ITEM(halved_axis, 0)                                                                           \
    ITEM(in_place, 1)                                                                              \
    ITEM(overwrite_input, 1)                                                                       \
    ITEM(mapped_arrays, 1)                                                                         \
    ITEM(user_workspace, 1)                                                                        \
    ITEM(space, REDIST_SPACE_HOST)                                                                 \
    ITEM(stream, NULL)                                                                             \
    ITEM(device, REDIST_SPACE_HOST)                                                                \
    ITEM(pin_arrays, 1)                                                                            \
    ITEM(device_bytes, 1 << 20)                                                                    \
    ITEM(effort, FFTND_MEASURE)                                                                    \
    ITEM(fusion, FFTND_FUSION_NEVER)                                                               \
    ITEM(local_transpose, FFTND_LOCAL_TRANSPOSE_NEVER)                                             \
    ITEM(staging, REDIST_STAGING_ALWAYS)                                                           \
    ITEM(method, "p2p")                                                                            \
    ITEM(wisdom_file, "/dev/null")                                                                 \
    ITEM(plan_seconds, 0.25)                                                                       \
    ITEM(tile_bytes, 4096)                                                                         \
    ITEM(threads, 2)                                                                               \
    ITEM(skip_agreement, 1)                                                                        \
    ITEM(verbose, 1)                                                                               \
    ITEM(phases, 1)                                                                                \
    ITEM(axes, (const enum fftnd_axis[]){FFTND_AXIS_R2R, FFTND_AXIS_R2R, FFTND_AXIS_R2R})          \
    ITEM(memory_order, {(const int[]){1, 0, 2}, NULL})                                             \
    ITEM(padding, {usual_padding, (const redist_index[]){1, 1, 2}})                                \
    ITEM(blocks, {FFTND_BLOCKS_BALANCED, FFTND_BLOCKS_CEILING})                                    \
    ITEM(bounds, {bounds, NULL})                                                                   \
    ITEM(split, {NULL, (const int[]){2}})                                                          \
    ITEM(box, {NULL, &box})                                                                        \
    ITEM(asynchronous, 1)                                                                          \
    ITEM(wait_seconds, 100)                                                                        \
    ITEM(ranks, 1)                                                                                 \
    ITEM(offset, {NULL, usual_padding})                                                            \
    ITEM(ghosts, &ghosts)                                                                          \
    ITEM(fill_ghosts, 0)                                                                           \
    ITEM(accumulate_ghosts, 1)                                                                     \
    ITEM(keep, 1)                                                                                  \
    ITEM(wire, REDIST_WIRE_FLOAT)                                                                  \
    ITEM(wire_scope, REDIST_WIRE_EVERYWHERE)                                                       \
    ITEM(tolerance, 1e-3)                                                                          \
    ITEM(filled, (const redist_index[]){4, 4, 6})

static const redist_index usual_sizes[3] = {4, 5, 6}, usual_padding[3] = {1, 1, 1};

static int plan_options(const fftnd_options *options, fftnd_plan **plan) {
    long before = counters_memory_asked();
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, usual_sizes, FFTND_MIXED, FFTND_DOUBLE, options,
                               plan));
    return counters_memory_asked() - before < FEW_ALLOCATIONS;
}

static int plan_options_and_free(const fftnd_options *options) {
    fftnd_plan *plan = NULL;
    int is_kept = plan_options(options, &plan);
    check_ok(fftnd_plan_free(&plan));
    return is_kept;
}

static fftnd_options make_usual(const int grid[]) {
    static const int order[3] = {0, 1, 2};
    static const enum fftnd_axis axes[3] = {FFTND_AXIS_COMPLEX, FFTND_AXIS_COMPLEX, FFTND_AXIS_R2R};
    static const enum fftnd_r2r r2r[3] = {FFTND_DCT2, FFTND_DCT2, FFTND_DCT2};
    fftnd_options usual = FFTND_OPTIONS_DEFAULT;
    usual.grid_ndims = 1;
    usual.grid = grid;
    usual.order = order;
    usual.axes = axes;
    usual.r2r = r2r;
    usual.padding[0] = usual.padding[1] = usual_padding;
    usual.effort = FFTND_ESTIMATE;
    usual.keep = 1;
    return usual;
}

START_TEST(options) {
    const int grid[2] = {harness_nranks, 1};
    redist_index blocks[64] = {0};
    const redist_index *const bounds[2] = {blocks, NULL};
    redist_box box = REDIST_BOX_DEFAULT; /* rank 0 has all of a side */
    redist_halo ghosts = REDIST_HALO_DEFAULT;
    for (int i = 0; i < 3; i++) {
        box.extent[i] = box.count[i] = harness_rank == 0 ? usual_sizes[i] : 0;
        ghosts.low[i] = ghosts.high[i] = 1;
    }
    for (int i = 1; i <= harness_nranks; i++)
        blocks[i] = usual_sizes[0];
#define VALUE(member, ...) __VA_ARGS__,
#define PLACE(member, ...)                                                                         \
    {#member, offsetof(fftnd_options, member), sizeof((fftnd_options *)0)->member},
    const fftnd_options usual = make_usual(grid), changed = {MEMBERS(VALUE)};
    static const struct {
        const char *name;
        size_t offset, bytes;
    } members[] = {MEMBERS(PLACE)};
    (void)plan_options_and_free(&usual);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        fftnd_options given = usual;
        char *place = (char *)&given + members[i].offset;
        const char *value = (const char *)&changed + members[i].offset;
        int is_same = memcmp(place, value, members[i].bytes) == 0;
        harness_case("%s", members[i].name);
        memcpy(place, value, members[i].bytes);
        check_all(plan_options_and_free(&given) == is_same, "a plan of other options");
        check_all(plan_options_and_free(&usual), "the usual plan is not kept");
    }
    fftnd_options boxed = usual;
    boxed.box[FFTND_SPECTRAL] = &box;
    (void)plan_options_and_free(&boxed);
    box.extent[0] += harness_rank == 0;
    harness_case("another box on one rank");
    check_all(!plan_options_and_free(&boxed), "a plan of other boxes");
    clear();
}
END_TEST

/* Options that one rank alone has make a new plan. */
START_TEST(own_phases) {
    fft_case given = FFT_CASE(FFTND_C2C, 4, 5, 6);
    given.options.keep = 1;
    (void)plan_and_free(MPI_COMM_WORLD, &given);
    given.options.phases = harness_rank == random_between(0, harness_nranks - 1);
    check_all(!plan_and_free(MPI_COMM_WORLD, &given), "a plan without phases");
    given.options.phases = 0;
    check_all(plan_and_free(MPI_COMM_WORLD, &given), "not kept");
    clear();
}
END_TEST

/* ---------------------------------------------------------------- other arguments */

static const char *change_size(fft_case *given) {
    given->sizes[random_between(0, given->ndims - 1)]++;
    return "sizes";
}

static const char *change_kind(fft_case *given) {
    given->kind = given->kind == FFTND_C2C ? FFTND_R2C : FFTND_C2C;
    return "kind";
}

static const char *change_r2r(fft_case *given) {
    int axis = random_between(0, given->ndims - 1);
    given->r2r[axis] = given->r2r[axis] == FFTND_DCT2 ? FFTND_DCT3 : FFTND_DCT2;
    return given->kind == FFTND_R2R ? "r2r" : NULL;
}

static const char *change_order(fft_case *given) {
    given->has_order = !given->has_order;
    for (int axis = 0; axis < given->ndims && given->has_order; axis++)
        given->order[axis] = given->ndims - 1 - axis;
    return "order";
}

static const char *change_modes(fft_case *given) {
    given->drops_modes = !given->drops_modes;
    for (int axis = 0; axis < given->ndims && given->drops_modes; axis++)
        given->retained[axis] = (given->sizes[axis] + 1) / 2;
    return "retained_modes";
}

static const char *change_padding(fft_case *given) {
    given->padding[random_between(0, 1)][random_between(0, given->ndims - 1)]++;
    return "padding";
}

static const char *change_blocks(fft_case *given) {
    int side = random_between(0, 1);
    given->blocks[side] =
        given->blocks[side] == FFTND_BLOCKS_BALANCED ? FFTND_BLOCKS_CEILING : FFTND_BLOCKS_BALANCED;
    return "blocks";
}

static const char *change_boxes(fft_case *given) {
    int side = random_between(0, 1);
    given->has_box[side] = !given->has_box[side];
    return "box";
}

typedef const char *change(fft_case *given);
static change *const changes[] = {change_size,    change_kind,  change_r2r,    change_order,
                                  change_padding, change_modes, change_blocks, change_boxes};

enum { CHANGES = sizeof changes / sizeof *changes };

/* Plans a case, and another one that differs in one argument; the library may refuse either. */
static void try_pair(const fft_case *one, const fft_case *two, const char *what) {
    fftnd_plan *plan = NULL;
    harness_case("%s of %s", what, fft_case_text(one));
    if (fft_case_plan(MPI_COMM_WORLD, one, &plan) != REDIST_OK)
        return;
    check_ok(fftnd_plan_free(&plan));
    if (fft_case_plan(MPI_COMM_WORLD, two, &plan) != REDIST_OK)
        return;
    check_ok(fftnd_plan_free(&plan));
    clear();
    (void)plan_and_free(MPI_COMM_WORLD, one);
    check_all(!plan_and_free(MPI_COMM_WORLD, two), "%s differs, but the plan is the same", what);
    check_all(plan_and_free(MPI_COMM_WORLD, one) == (is_keepable(one)), "the first is not kept");
}

START_TEST(differing_arguments) {
    for (int i = 0; harness_another(i, CHANGES); i++) {
        fft_case one = draw_case(), two;
        const char *what = NULL;
        one.options.effort = FFTND_ESTIMATE;
        two = one;
        what = changes[i % CHANGES](&two);
        if (what != NULL)
            try_pair(&one, &two, what);
    }
    clear();
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {options, own_phases, differing_arguments, NULL};
    MPI_Init(&argc, &argv);
    counters_begin();
    return harness_run(argc, argv, "test_fftnd_kept_alike", tests);
}
