/* SPDX-License-Identifier: BSD-3-Clause */
/* What method kway plans: its stages, the messages of each, and what is copied for them. */
#ifndef REDIST__KWAY_PLAN_H
#define REDIST__KWAY_PLAN_H

#include "method.h"

/* log2 of the most ranks that there can be */
enum { REDIST__MOST_STAGES = 32 };

/* In a stage, ranks of a ring send to each other. A block that has to go a certain distance goes as far
 * as one digit of that distance says. */
struct redist__stage {
    int stride; /* from one rank of the ring to the next */
    int extent; /* ranks of the ring */
    int weight; /* steps along the ring for each unit of the digit */
    int radix;  /* the digit is below that */
};

/* The stages for k; returns how many, the least m with k^m >= nranks. */
int redist__kway_stages(int nranks, int k, struct redist__stage stages[]);

/* The largest digit of a stage: it has as many messages. */
int redist__kway_most(const struct redist__stage *stage);

/* What is copied for the messages: a block is packed from the array for the first stage that moves it, is
 * forwarded from one stage's buffer to that of another, kept while stages pass it by, and unpacked after the last. */
enum redist__moving {
    REDIST__PACK_BLOCKS,
    REDIST__FORWARD_BLOCKS,
    REDIST__KEEP_BLOCKS,
    REDIST__UNPACK_BLOCKS,
    REDIST__MOVINGS
};

/* Bytes that go from one place to another: offsets in arrays or buffers. */
struct redist__move {
    size_t from, to, bytes;
    int peer; /* whose part of the array it is; -1 = from buffer to buffer */
};

struct redist__moves {
    int count;
    int *first; /* of each message, and the end */
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
    size_t bytes[2][2]; /* of the buffers for what goes out and comes in, of even and odd stages */
};

enum { REDIST__OUT, REDIST__IN };

struct redist__kway_shape {
    const struct redist__problem *problem;
    const struct redist__space *wire; /* of the buffers */
    int nstages, width;               /* messages of a stage, at most */
    struct redist__stage stages[REDIST__MOST_STAGES];
};

/* Finds the sizes of the blocks in transit from the peers: elements[stage * ranks + distance] is that of
 * the block at this rank before a stage that began with that distance to go; `nstages` + 1 rows, the
 * first of which this fills too. Collective, with all its calls whatever fails: *code keeps the first failure.
 * `scratch` has room for 2 * ranks. */
void redist__kway_find_sizes(const struct redist__kway_shape *shape, int direction,
                             uint64_t elements[], uint64_t scratch[], int *code);

/* Makes a plan of that; to be freed also if it fails. Not collective. */
int redist__kway_plan_create(struct redist__kway_plan *plan, const struct redist__kway_shape *shape,
                             int direction, const uint64_t elements[]);
void redist__kway_plan_free(struct redist__kway_plan *plan);

#endif
