/* SPDX-License-Identifier: BSD-3-Clause */
/* Message tags of the plans of one communicator: no two living plans share any. */
#ifndef REDIST__TAGS_H
#define REDIST__TAGS_H

#include <stdint.h>

/* The first block of tags is for what is no plan's. */
enum { REDIST__VOTE_TAG = 0 };

/* Blocks of REDIST__TAGS tags. A plan takes the first free one behind the block taken last, so that
 * messages of a plan that is gone meet no other for long; all ranks do so in the same order. */
struct redist__tags {
    int nblocks;     /* that MPI's largest tag allows */
    int next;        /* where the search begins */
    int living;      /* blocks that are taken */
    uint64_t *taken; /* a bit for each block */
};

/* As many blocks as MPI allows; 0 if memory is out. */
int redist__tags_create(struct redist__tags *tags);
void redist__tags_free(struct redist__tags *tags);

/* The first tag of a block; -1 if all are taken. */
int redist__tags_take(struct redist__tags *tags);
void redist__tags_give(struct redist__tags *tags, int tag);

#endif
