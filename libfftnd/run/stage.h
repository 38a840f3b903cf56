/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stage: one serial transform of a program on its way through memory, source -> kernel -> sink, cut in pieces of
 * which some are in flight. Its kind says how it is cut, where the memory of its pieces is, and what happens when a
 * piece begins and ends: a file (kind_*.c) and a row of the table below.
 */
#ifndef FFTND__STAGE_H
#define FFTND__STAGE_H

#include "../kernels/applied.h"
#include "../kernels/direct_stores.h"
#include "../workers/offload.h"

/* The kinds, X(name) of fftnd__kind_NAME, in the order in which they are tried; the last one suits all steps. */
#define FFTND__STAGE_KINDS(X)                                                                      \
    X(device_tiles)                                                                                \
    X(chunks_with_operator)                                                                        \
    X(chunks)                                                                                      \
    X(segments)                                                                                    \
    X(columns_with_operator)                                                                       \
    X(tiles_with_operator)                                                                         \
    X(columns)                                                                                     \
    X(tiles)                                                                                       \
    X(whole_array)

/* ---------------------------------------------------------------- stage_cut.c: how arrays are cut */

/* The cut of tiles, and what is known of their source and sink. */
struct fftnd__tiling {
    size_t bytes;   /* of a tile, at most, if the transformed axes allow */
    int local_load; /* tiles come from an array of this rank */
    int local_store; /* and go to one; when both are local, neighbouring axes that are not transformed
                         can be cut as if they were one, so that cuts fall on cache lines */
    int on_device;   /* one tile after the other, with all fields, of axes as they are */
};

/* Cuts a serial step in tiles. Not collective. */
void fftnd__cut_tiles(struct fftnd__cut *cut, const struct fftnd__transform *transform,
                      const struct fftnd__step *step, const struct fftnd__tiling *tiling);

/* The extents of the arrays around a step, which is not cut yet. */
void fftnd__set_extents(struct fftnd__cut *cut, const struct fftnd__transform *transform,
                        const struct fftnd__step *step);

/* Lists how far each axis of a serial step can be cut in segments, 0 = not at all. */
void fftnd__list_cuttable(const struct fftnd__transform *transform, const struct fftnd__step *step,
                          redist_index extents[]);

/* Cuts the array of a step in segments; arrays that arrive in partitions are cut as these are. */
void fftnd__cut_segments(struct fftnd__cut *cut, const struct fftnd__transform *transform,
                         const struct fftnd__step *step);

/* Cuts it in chunks on a device, such that each takes a few of `bytes`: `most`, unless the user says how many. */
void fftnd__cut_chunks(struct fftnd__cut *cut, const struct fftnd__transform *transform,
                       const struct fftnd__step *step, size_t bytes, size_t most);

/* Whether stores into the array after a step bypass the caches. */
int fftnd__is_nontemporal(const struct fftnd__transform *transform, const struct fftnd__step *step);

/* ---------------------------------------------------------------- a stage and its kind */

/* The step that a stage is planned for. */
struct fftnd__stage_problem {
    const struct fftnd__program *program;
    const struct fftnd__transform *transform;
    const struct fftnd__step *step;
    void *const *scratch; /* two arrays to plan on, or their addresses alone */
};

struct fftnd__stage;
struct fftnd__execution;
struct fftnd__flight;

/* Memory of pieces, which all stages share, since one runs at a time. */
enum fftnd__stage_memory {
    FFTND__IN_ARRAYS, /* none: pieces are where the arrays are */
    FFTND__IN_CACHES, /* tiles of each thread */
    FFTND__IN_AREA,   /* scratch memory where the arrays are, behind that of the serial library */
    FFTND__ELSEWHERE  /* of the kind itself, as is that of the serial library */
};

/* Work on a piece while a stage runs. */
typedef int fftnd__piece_work(struct fftnd__execution *execution,
                              const struct fftnd__flight *flight);

/* A row of the table. Functions return a code; those of an execution are NULL where there is nothing to do. */
struct fftnd__stage_kind {
    const char *name; /* for profilers */
    enum fftnd__stage_memory memory;
    int plans_on_arrays; /* the serial library, on the scratch arrays of the problem */
    int (*is_suited)(const struct fftnd__stage_problem *problem);
    int (*plan)(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem);
    int (*open)(struct fftnd__execution *execution); /* before the first piece */
    /* Ends a run, after the last piece or a failure, whose code it returns. */
    int (*close)(struct fftnd__execution *execution, int code);
    fftnd__piece_work *load;    /* has a piece where the kernel takes it from */
    fftnd__piece_work *pass_on; /* after the kernel */
    fftnd__piece_work *end;     /* when as many pieces have begun after it as are in flight */
};

#define FFTND__DECLARE_KIND(NAME) extern const struct fftnd__stage_kind fftnd__kind_##NAME;
FFTND__STAGE_KINDS(FFTND__DECLARE_KIND)

struct fftnd__stage {
    const struct fftnd__stage_kind *kind;
    struct fftnd__cut cut;
    struct fftnd__side in, out;           /* the same memory when the kernel may run in place */
    struct fftnd__truncation *truncation; /* of both sides; NULL = they have none */
    const struct lines__library *library; /* which changes the pieces, */
    int nstreams;
    void *streams[2];                /* in these by turns */
    struct fftnd__kernel kernels[2]; /* in each of them; without plans where an operator is */
    struct fftnd__applied *applied;  /* instead of them, with an operator; else NULL */
    struct fftnd__direct_stores direct_stores; /* after the kernel, perhaps into the array itself */
    struct fftnd__pool *pool;                  /* threads that share out the pieces */
    int window;   /* pieces in flight, which one thread begins and ends; 1 = each thread has one */
    size_t bytes; /* of the memory of all pieces, */
    char *memory; /* where it is, */
    size_t piece_bytes; /* and bytes between the pieces of one thread, or slot, and of the next */
    void **events;      /* of pieces that are sent when they are done; NULL = done when begun */
};

/* ---------------------------------------------------------------- the stages of a program */

/* Has the serial library multiply all results of a step on this rank, where it does that in its transforms; 1 = not.
 * Returns 0 if it cannot. A step without elements here can. */
int fftnd__step_scale(const struct fftnd__step *step, long double factor);

/* Whether some stages are planned on arrays; `scratch` of fftnd__plan_stages has room for every step then. */
int fftnd__needs_scratch(const struct fftnd__program *program,
                         const struct fftnd__transform *transform);

/* Plans the stages of all serial steps. Not collective. */
int fftnd__plan_stages(struct fftnd__program *program, const struct fftnd__transform *transform,
                       void *const scratch[2]);
void fftnd__free_stages(struct fftnd__program *program, const struct fftnd__transform *transform);

/* Bytes that any of the stages needs in the caches, or in the area with what serial libraries need there, and such
 * memory for all of them to share. */
size_t fftnd__stages_bytes(const struct fftnd__program *program, enum fftnd__stage_memory where);
int fftnd__set_stages_memory(const struct fftnd__program *program, enum fftnd__stage_memory where,
                             char *memory);

/* ---------------------------------------------------------------- what kinds share when they plan */

/* How a stage is cut in tiles. */
struct fftnd__tiling fftnd__stage_tiling(const struct fftnd__stage_problem *problem);

/* Lays out the pieces of a side, of which the first is a box of its array: where they are in the array, if they may be
 * there and it has all their modes, else in memory of their own. A tile in the caches is only where it is if it has the
 * same layout there. */
void fftnd__lay_out_side(struct fftnd__side *side, const struct fftnd__transform *transform,
                         const struct fftnd__step *array, const redist_index box[],
                         int may_be_in_array);

/* Returns nonzero for a transform of a single axis between arrays of this rank, which may do without tiles. */
int fftnd__is_untiled(const struct fftnd__transform *transform, const struct fftnd__step *step);

/* Cuts tiles for the caches of each thread, and lays out both sides: that before the kernel in the array only if the
 * kernel leaves its elements as they are, both in arrays only if the caller allows that. */
void fftnd__lay_out_tiles(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem,
                          int ruins_source, int may_both_be_in_arrays);

/* Allocates memory to plan in, of one tile. Tiles that run share theirs with other stages: each has so many bytes for
 * each thread. */
int fftnd__borrow_tile(struct fftnd__stage *stage, size_t bytes, size_t piece_bytes,
                       void **borrowed, char **memory);

/* Has the pieces where they are in both arrays, whose extents the cut gets, and plans on the scratch arrays. The
 * kernel's problem is returned. */
struct fftnd__kernel_problem fftnd__stage_in_arrays(struct fftnd__stage *stage,
                                                    const struct fftnd__stage_problem *problem);

/* The problem of the kernel, whose pieces are in host memory unless the kind says more. */
struct fftnd__kernel_problem fftnd__stage_kernel(const struct fftnd__stage *stage,
                                                 const struct fftnd__stage_problem *problem);

/* Frees the kernels, so that others can be planned. */
void fftnd__free_kernels(struct fftnd__stage *stage);

/* The memory behind so many bytes of an area, which is NULL where nothing is needed. */
static inline char *fftnd__behind(char *area, size_t bytes) {
    return bytes > 0 ? area + bytes : area;
}

/* Scratch memory that the serial library wants for a stage, a multiple of FFTND__DEVICE_ALIGNMENT for each stream, and
 * one to use. */
size_t fftnd__stage_area(const struct fftnd__stage *stage);
int fftnd__stage_set_area(const struct fftnd__stage *stage, char *area);

/* ---------------------------------------------------------------- executor.c: a run of all steps */

/* Notes failures that the exchanges of a program know of by now. */
void fftnd__query(const struct fftnd__program *program, struct fftnd__failure *failure);

/* The first failure of a transform's executions on this rank stays: a transform that failed is broken. A rank that has
 * failed breaks the exchanges of the transform, and goes through all of them without transforming anything, so that no
 * rank waits for it in vain and all get to know.
 *
 * Runs all steps; `buffers` are the arrays, and the times spent are added to seconds: serial transforms, exchanges.
 * Collective. */
void fftnd__execute(const struct fftnd__program *program, const struct fftnd__transform *transform,
                    void *const buffers[], double seconds[2], struct fftnd__failure *failure);

#endif
