/* SPDX-License-Identifier: BSD-3-Clause */
#include "pattern.h"
#include "options.h"
#include "scatter.h"
#include <stdlib.h>
#include <string.h>

size_t bench_block_elements(const bench_block *block) {
    size_t elements = 1;
    for (int axis = 0; axis < block->ndims; axis++)
        elements *= (size_t)block->count[axis];
    return elements;
}

/* The global index, in C order, of the first element of a row (a line along the last axis). */
static uint64_t row_index(const bench_block *block, size_t row) {
    uint64_t index = (uint64_t)block->start[block->ndims - 1];
    uint64_t weight = (uint64_t)block->size[block->ndims - 1];
    for (int axis = block->ndims - 2; axis >= 0; axis--) {
        size_t count = (size_t)block->count[axis];
        index += weight * ((uint64_t)block->start[axis] + row % count);
        weight *= (uint64_t)block->size[axis];
        row /= count;
    }
    return index;
}

static void expect_row(const bench_block *block, size_t row, unsigned char *to) {
    uint64_t index = row_index(block, row);
    size_t bytes = block->element_bytes;
    for (redist_index i = 0; i < block->count[block->ndims - 1]; i++, index++, to += bytes)
        for (size_t done = 0; done < bytes; done += 8) {
            uint64_t word = bench_scatter((2 * index + done / 8) ^ ((uint64_t)block->seed << 48));
            memcpy(to + done, &word, bytes - done < 8 ? bytes - done : 8);
        }
}

/* The elements of some rows of the array, and what belongs there. */
typedef struct bench_piece {
    const bench_space *space;
    unsigned char *array;
    size_t elements;
    size_t element_bytes;
    unsigned char *expected;
    unsigned char *scratch; /* room for as many bytes */
} bench_piece;

static long long write_piece(const bench_piece *piece) {
    piece->space->copy(piece->array, piece->expected, piece->elements * piece->element_bytes);
    return 0;
}

static long long poison_piece(const bench_piece *piece) {
    size_t bytes = piece->elements * piece->element_bytes;
    for (size_t i = 0; i < bytes; i++)
        piece->scratch[i] = (unsigned char)~piece->expected[i];
    piece->space->copy(piece->array, piece->scratch, bytes);
    return 0;
}

static long long count_wrong(const bench_piece *piece) {
    size_t bytes = piece->element_bytes;
    piece->space->copy(piece->scratch, piece->array, piece->elements * bytes);
    if (memcmp(piece->scratch, piece->expected, piece->elements * bytes) == 0)
        return 0;
    long long wrong = 0;
    for (size_t i = 0; i < piece->elements; i++)
        wrong += memcmp(piece->scratch + i * bytes, piece->expected + i * bytes, bytes) != 0;
    return wrong;
}

/* Calls `function` on pieces of whole rows, about a megabyte each; returns the sum. */
static long long for_pieces(const bench_space *space, const bench_block *block, void *array,
                            long long (*function)(const bench_piece *piece)) {
    size_t row_elements = (size_t)block->count[block->ndims - 1];
    size_t row_bytes = row_elements * block->element_bytes;
    if (bench_block_elements(block) == 0)
        return 0;
    size_t nrows = bench_block_elements(block) / row_elements;
    size_t most = row_bytes < ((size_t)1 << 20) ? ((size_t)1 << 20) / row_bytes : 1;
    unsigned char *room = malloc(2 * most * row_bytes);
    if (!room)
        bench_abort("no memory to check %zu bytes", most * row_bytes);
    bench_piece piece = {space, array, 0, block->element_bytes, room, room + most * row_bytes};
    long long sum = 0;
    for (size_t row = 0; row < nrows; row += most) {
        size_t rows = nrows - row < most ? nrows - row : most;
        for (size_t i = 0; i < rows; i++)
            expect_row(block, row + i, room + i * row_bytes);
        piece.elements = rows * row_elements;
        sum += function(&piece);
        piece.array += rows * row_bytes;
    }
    free(room);
    return sum;
}

void bench_pattern_fill(const bench_space *space, const bench_block *block, void *array) {
    for_pieces(space, block, array, write_piece);
}

void bench_pattern_poison(const bench_space *space, const bench_block *block, void *array) {
    for_pieces(space, block, array, poison_piece);
}

long long bench_pattern_wrong(const bench_space *space, const bench_block *block, void *array) {
    return for_pieces(space, block, array, count_wrong);
}
