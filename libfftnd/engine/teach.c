/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that measure serial transforms at the same time disturb each other, and the slowest of them decides when the
 * plan is complete. Their arrays have a few shapes: for all that have the same one, one rank measures forward
 * transforms and another one backward transforms. Larger arrays are measured by all at once, since they share the
 * memory's bandwidth in the transform, too.
 */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

/* The most ranks that measure at once for all: for a grid of three dimensions whose blocks have two sizes. */
enum { MOST_TEACHERS = 16 };

/* A rank that measures first, while others wait. */
struct teacher {
    int rank;
    int is_own; /* its arrays have the shape of this rank's */
};

/* The teachers: of each shape of the ranks' arrays one for each direction, or one for both. */
struct teachers {
    int count; /* 0 = all ranks measure */
    struct teacher list[MOST_TEACHERS];
    int has_own;     /* some have this rank's shape */
    int measures[2]; /* this rank measures forward, backward transforms */
};

/* Second-level caches of today's processors have 1 MiB and more for each core. */
static const size_t most_bytes = 1 << 20;

/* Other threads of the program may plan with FFTW, which does not protect its wisdom from them. */
static int has_other_threads(void) {
    int level = MPI_THREAD_MULTIPLE;
    return MPI_Query_thread(&level) != MPI_SUCCESS || level != MPI_THREAD_SINGLE;
}

static int has_teachers(const struct fftnd__transform *transform, size_t largest_bytes) {
    int nranks = 1;
    MPI_Comm_size(transform->comm, &nranks);
    if (nranks == 1 || transform->library->tell_found == NULL ||
        transform->settings.effort == FFTND_ESTIMATE)
        return 0;
    int teaches = largest_bytes <= most_bytes && !has_other_threads();
    int code = redist_agree(transform->comm, redist_all_lowest(transform->comm, teaches, &teaches));
    return code == REDIST_OK && teaches;
}

/* Returns a number for the shape of this rank's arrays at all alignments. */
static long long hash_shape(const struct fftnd__chain *chain) {
    size_t bytes = (size_t)chain->ndims * sizeof(redist_index);
    long long hash = 0;
    for (int i = 0; i < chain->nlinks; i++) {
        hash = redist_hash_bytes(hash, chain->links[i].physical.count, bytes);
        hash = redist_hash_bytes(hash, chain->links[i].spectral.count, bytes);
    }
    return hash;
}

/* Lists the first two ranks of each shape, as far as there is room. A shape's only rank measures both directions. */
static void list_first(int nranks, const long long shapes[], int own, struct teachers *teachers) {
    for (int rank = 0; rank < nranks && teachers->count < MOST_TEACHERS; rank++) {
        int same = 0, is_own = shapes[rank] == shapes[own];
        for (int i = 0; i < teachers->count; i++)
            same += shapes[teachers->list[i].rank] == shapes[rank];
        if (same == 2)
            continue;
        teachers->list[teachers->count++] = (struct teacher){rank, is_own};
        teachers->has_own |= is_own;
        if (rank == own)
            teachers->measures[REDIST_FORWARD] = same == 0;
        if (is_own && (rank == own || same == 1))
            teachers->measures[REDIST_BACKWARD] = rank == own;
    }
}

static void find_teachers(const struct fftnd__transform *transform, size_t largest_bytes,
                          struct teachers *teachers) {
    int nranks, rank;
    long long shape = hash_shape(&transform->chain);
    *teachers = (struct teachers){.measures = {1, 1}};
    if (!has_teachers(transform, largest_bytes))
        return;
    MPI_Comm_size(transform->comm, &nranks);
    MPI_Comm_rank(transform->comm, &rank);
    long long *shapes = redist_calloc((size_t)nranks, sizeof *shapes);
    int code = redist_agree(transform->comm, shapes != NULL ? REDIST_OK : REDIST_ERR_MEMORY);
    if (code == REDIST_OK)
        code = redist_agree(transform->comm,
                            redist_all_gather(transform->comm, &shape, sizeof shape, shapes));
    if (code == REDIST_OK) {
        memset(teachers->measures, 0, sizeof teachers->measures);
        list_first(nranks, shapes, rank, teachers);
    }
    redist_release(shapes);
}

/* Sends a text of one rank to the others, which allocate memory for it. Collective. */
static int send_text(MPI_Comm comm, int is_sender, int sender, char **text) {
    size_t bytes = is_sender && *text != NULL ? strlen(*text) + 1 : 0;
    int code = redist_agree(comm, redist_broadcast(comm, &bytes, sizeof bytes, sender));
    if (code != REDIST_OK || bytes == 0)
        return code;
    if (!is_sender)
        *text = redist_calloc(bytes, 1);
    REDIST_TRY(redist_agree(comm, *text != NULL ? REDIST_OK : REDIST_ERR_MEMORY));
    return redist_agree(comm, redist_broadcast(comm, *text, bytes, sender));
}

/* Passes on what one serial library of a teacher has found. */
static void teach(const struct fftnd__transform *transform, const struct lines__library *library,
                  int teacher, int takes) {
    int rank;
    MPI_Comm_rank(transform->comm, &rank);
    int tells = rank == teacher;
    char *text = tells ? library->tell_found(transform->precision) : NULL;
    int code = send_text(transform->comm, tells, teacher, &text);
    if (tells) {
        free(text);
        return;
    }
    if (code == REDIST_OK && text != NULL && takes)
        library->take_found(transform->precision, text);
    redist_release(text);
}

/* Passes on what the teachers have found: to the ranks of their shape, and to those whose shape has none. Where it
 * fails, ranks measure for themselves. Passes on the choice of the library for each problem, too: a rank that chose
 * another one would measure for it. So would one that took the choice of another shape's teacher: where two libraries
 * are as fast, teachers choose differently. */
static void teach_all(const struct fftnd__transform *transform, const struct teachers *teachers) {
    const struct lines__library *library;
    for (int i = 0; (library = lines__library_at(i)) != NULL; i++)
        for (int k = 0; k < teachers->count && library->tell_found != NULL; k++)
            if (library->space == transform->library->space)
                teach(transform, library, teachers->list[k].rank,
                      !teachers->has_own || teachers->list[k].is_own);
}

int fftnd__plan_taught(struct fftnd__engine *engine, fftnd__plan_directions *plan) {
    struct teachers teachers;
    find_teachers(&engine->transform, engine->largest_bytes, &teachers);
    int code = plan(engine, teachers.measures);
    teach_all(&engine->transform, &teachers);
    const int taught[2] = {!teachers.measures[0], !teachers.measures[1]};
    return code == REDIST_OK && (taught[0] || taught[1]) ? plan(engine, taught) : code;
}
