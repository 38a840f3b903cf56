/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints which part of an array each rank has, for the drawings of docs/parts.md and docs/files.md: lines
 *     NAME SIDE RANK SIZES START COUNT    of a transform, three numbers each; SIDE is physical or spectral
 *     NAME modes RANK AXIS K ...          the wavenumbers of this rank's part of the spectral side
 *     slabs physical RANK ...             of an array in slabs on three ranks, which read a file of the four
 * Four ranks. */
#include <fftnd.h>
#include <stdio.h>

enum { NDIMS = 3, RANKS = 4, READERS = 3, MOST_MODES = 64, LINE = 1024 };

struct transform {
    const char *name;
    redist_index sizes[NDIMS];
    enum fftnd_kind kind;
    int grid_ndims, grid[2];
};

static const struct transform transforms[] = {
    {"slab", {8, 8, 8}, FFTND_C2C, 1, {4}},
    {"pencil", {8, 8, 8}, FFTND_C2C, 2, {2, 2}},
    {"r2c", {6, 7, 10}, FFTND_R2C, 2, {2, 2}},
};

static void check(int code) {
    if (code != REDIST_OK) {
        fprintf(stderr, "%s\n", redist_error_message());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Rank 0 prints the lines of all ranks, in their order: output of several processes has none. */
static void print_in_order(const char *line) {
    char lines[RANKS][LINE];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Gather(line, LINE, MPI_CHAR, lines, LINE, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < RANKS && rank == 0; i++)
        fputs(lines[i], stdout);
}

static int append_indices(char *line, int length, const redist_index indices[]) {
    for (int i = 0; i < NDIMS; i++)
        length += snprintf(line + length, (size_t)(LINE - length), " %lld", (long long)indices[i]);
    return length;
}

static int append_box(char *line, int length, const redist_index sizes[],
                      const redist_index start[], const redist_index count[]) {
    length = append_indices(line, length, sizes);
    length = append_indices(line, length, start);
    return append_indices(line, length, count);
}

static void print_side(const struct transform *transform, const fftnd_plan *plan, int rank,
                       enum fftnd_side side) {
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    char line[LINE] = "";
    check(fftnd_plan_layout(plan, side, &layout));
    int length = snprintf(line, LINE, "%s %s %d", transform->name,
                          side == FFTND_PHYSICAL ? "physical" : "spectral", rank);
    length = append_box(line, length, layout.sizes, layout.start, layout.count);
    snprintf(line + length, (size_t)(LINE - length), "\n");
    print_in_order(line);
}

static void print_modes(const struct transform *transform, const fftnd_plan *plan, int rank,
                        int axis) {
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    double k[MOST_MODES];
    char line[LINE] = "";
    check(fftnd_plan_layout(plan, FFTND_SPECTRAL, &layout));
    check(fftnd_plan_wavenumbers(plan, axis, k));
    int length = snprintf(line, LINE, "%s modes %d %d", transform->name, rank, axis);
    for (redist_index i = 0; i < layout.count[axis]; i++)
        length += snprintf(line + length, (size_t)(LINE - length), " %g", k[i]);
    snprintf(line + length, (size_t)(LINE - length), "\n");
    print_in_order(line);
}

static void print_transform(const struct transform *transform, int rank) {
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_plan *plan;
    options.grid_ndims = transform->grid_ndims;
    options.grid = transform->grid;
    options.effort = FFTND_ESTIMATE;
    check(fftnd_plan_create(MPI_COMM_WORLD, NDIMS, transform->sizes, transform->kind, FFTND_DOUBLE,
                            &options, &plan));
    print_side(transform, plan, rank, FFTND_PHYSICAL);
    print_side(transform, plan, rank, FFTND_SPECTRAL);
    for (int axis = 0; axis < NDIMS; axis++)
        print_modes(transform, plan, rank, axis);
    check(fftnd_plan_free(&plan));
}

static void print_slabs(void) {
    redist_index sizes[NDIMS] = {8, 8, 8}, start[NDIMS] = {0}, count[NDIMS] = {8, 8, 8};
    for (int rank = 0; rank < READERS; rank++) {
        char line[LINE];
        redist_decompose(sizes[0], READERS, rank, &count[0], &start[0]);
        int length = snprintf(line, LINE, "slabs physical %d", rank);
        append_box(line, length, sizes, start, count);
        puts(line);
    }
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != RANKS) {
        fprintf(stderr, "layouts: four ranks, not %d\n", size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (size_t i = 0; i < sizeof(transforms) / sizeof(transforms[0]); i++)
        print_transform(&transforms[i], rank);
    if (rank == 0)
        print_slabs();
    return MPI_Finalize();
}
