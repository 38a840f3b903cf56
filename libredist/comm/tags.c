/* SPDX-License-Identifier: BSD-3-Clause */
#include "tags.h"
#include "../methods/method.h"
#include "redist_support.h"

/* More than anybody needs: MPI libraries that allow 2^31 tags would cost 16 MiB a communicator. */
enum { MOST_BLOCKS = 1 << 16, WORD = 64, LEAST_TAG_UB = 32767 };

static int count_blocks(void) {
    int *largest = NULL, found = 0;
    int result = MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, (void *)&largest, &found);
    int tags = result == MPI_SUCCESS && found ? *largest : LEAST_TAG_UB;
    int blocks = tags / REDIST__TAGS;
    return blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS;
}

int redist__tags_create(struct redist__tags *tags) {
    *tags = (struct redist__tags){.nblocks = count_blocks()};
    tags->taken = redist_calloc((size_t)tags->nblocks / WORD + 1, sizeof *tags->taken);
    if (tags->taken == NULL)
        return 0;
    tags->taken[0] = 1;
    tags->next = tags->living = 1;
    return 1;
}

void redist__tags_free(struct redist__tags *tags) {
    redist_release(tags->taken);
    tags->taken = NULL;
}

static uint64_t bit_of(int block) {
    return (uint64_t)1 << block % WORD;
}

int redist__tags_take(struct redist__tags *tags) {
    if (tags->living == tags->nblocks)
        return -1;
    while (tags->taken[tags->next / WORD] & bit_of(tags->next))
        tags->next = (tags->next + 1) % tags->nblocks;
    int block = tags->next;
    tags->taken[block / WORD] |= bit_of(block);
    tags->living++;
    tags->next = (block + 1) % tags->nblocks;
    return block * REDIST__TAGS;
}

void redist__tags_give(struct redist__tags *tags, int tag) {
    if (tag < 0)
        return;
    tags->taken[tag / REDIST__TAGS / WORD] &= ~bit_of(tag / REDIST__TAGS);
    tags->living--;
}
