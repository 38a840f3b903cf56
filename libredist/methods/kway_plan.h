/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of method kway: stages, their messages, and copies. */
#ifndef REDIST__KWAY_PLAN_H
#define REDIST__KWAY_PLAN_H

#include "method.h"

/* log2 of the largest number of ranks */
enum { REDIST__MOST_STAGES = 32 };

/* A stage, in which ranks of a ring send to each other. A block moves by one digit of its distance. */
struct redist__stage {
    int stride; /* from one rank of the ring to the next */
    int extent; /* ranks of the ring */
    int weight; /* steps along the ring for each unit of the digit */
    int radix;  /* bound of the digit */
};

/* Finds the stages for k; returns their number, the least m with k^m >= nranks. */
int redist__kway_stages(int nranks, int k, struct redist__stage stages[]);

/* Returns the largest digit of a stage, the number of its messages. */
int redist__kway_most(const struct redist__stage *stage);

/* Copies for the messages: a block is packed from the array for the first stage that moves it, forwarded from one
 * stage's buffer to another's, kept while stages skip it, and unpacked after the last. */
enum redist__moving {
    REDIST__PACK_BLOCKS,
    REDIST__FORWARD_BLOCKS,
    REDIST__KEEP_BLOCKS,
    REDIST__UNPACK_BLOCKS,
    REDIST__MOVINGS
};

/* A copy of bytes: offsets in arrays or buffers. */
struct redist__move {
    size_t from, to, bytes;
    int peer; /* owner of the part of the array; -1 = from buffer to buffer */
};

struct redist__moves {
    int count;
    int *first; /* first move of each message, and the end */
    struct redist__move *list;
    struct redist__batch batch; /* the same for the space */
};

/* The digit-th message of a stage, out and in. */
struct redist__message {
    int to, from;
    int sent, received; /* elements */
    size_t send_at, receive_at;
};

/* One direction of an exchange. */
struct redist__kway_plan {
    struct redist__message *messages; /* `width` for each stage */
    struct redist__moves moves[REDIST__MOVINGS];
    size_t bytes[2][2]; /* of the outgoing and incoming buffers, of even and odd stages */
};

enum { REDIST__OUT, REDIST__IN };

struct redist__kway_shape {
    const struct redist__problem *problem;
    const struct redist__space *wire; /* of the buffers */
    int nstages, width;               /* messages of a stage, at most */
    struct redist__stage stages[REDIST__MOST_STAGES];
};

/* Finds the sizes of the blocks in transit from the peers: elements[stage * ranks + distance] is that of the block with
 * this initial distance at this rank before a stage; `nstages` + 1 rows, including the first. Collective, with all its
 * calls after a failure too: *code keeps the first one. `scratch` has room for 2 * ranks. */
void redist__kway_find_sizes(const struct redist__kway_shape *shape, int direction,
                             uint64_t elements[], uint64_t scratch[], int *code);

/* Makes a plan from these sizes; to be freed also after a failure. Not collective. */
int redist__kway_plan_create(struct redist__kway_plan *plan, const struct redist__kway_shape *shape,
                             int direction, const uint64_t elements[]);
void redist__kway_plan_free(struct redist__kway_plan *plan);

#endif
