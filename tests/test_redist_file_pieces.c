/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of arrays in the order of a file, against a walk through the elements. */
#include "harness.h"
#include "redist_pieces.h"

enum { MOST_NDIMS = 5 };

/* Draws an array of few elements. */
static int draw_array(redist_index extent[]) {
    int ndims = random_between(1, MOST_NDIMS);
    for (int i = 0; i < ndims; i++)
        extent[i] = random_chance(10) ? 0 : random_chance(30) ? 1 : random_between(2, 7);
    return ndims;
}

/* Returns the place of an index in C order. */
static redist_index place_of(int ndims, const redist_index extent[], const redist_index index[]) {
    redist_index place = 0;
    for (int i = 0; i < ndims; i++)
        place = place * extent[i] + index[i];
    return place;
}

/* Returns whether a piece is contiguous at its offset, with the elements that its bytes have room for. */
static int is_contiguous(const struct redist_pieces *pieces, const struct redist_piece *piece) {
    redist_index last[REDIST_MAX_NDIMS], elements = 1;
    for (int i = 0; i < pieces->ndims; i++) {
        last[i] = piece->start[i] + piece->count[i] - 1;
        elements *= piece->count[i];
    }
    redist_index low = place_of(pieces->ndims, pieces->extent, piece->start);
    redist_index high = place_of(pieces->ndims, pieces->extent, last);
    return high - low + 1 == elements && piece->offset == low * (redist_index)pieces->item &&
           piece->bytes == (size_t)elements * pieces->item;
}

START_TEST(cover_the_array) {
    for (int i = 0; harness_another(i, 200); i++) {
        struct redist_pieces pieces;
        redist_index extent[REDIST_MAX_NDIMS], next = 0;
        int ndims = draw_array(extent), item = random_between(1, 24);
        size_t most = (size_t)random_between(1, 2000), largest = 0;
        check_ok(redist_pieces_cut(&pieces, ndims, extent, (size_t)item, most));
        harness_case("%d axes, items of %d bytes, pieces of at most %zu", ndims, item, most);
        int right = 1;
        for (redist_index p = 0; p < pieces.count; p++) {
            struct redist_piece piece = redist_piece_at(&pieces, p);
            right &= is_contiguous(&pieces, &piece) && piece.offset == next && piece.bytes > 0;
            right &= piece.bytes <= most || piece.bytes == (size_t)item;
            largest = piece.bytes > largest ? piece.bytes : largest;
            next += (redist_index)piece.bytes;
        }
        check_all(right, "pieces have holes, or are not contiguous");
        check_all(next == redist_pieces_bytes(&pieces), "%lld bytes in pieces of %lld",
                  (long long)next, (long long)redist_pieces_bytes(&pieces));
        check_all(largest == redist_pieces_largest(&pieces), "the largest piece has %zu bytes",
                  largest);
    }
}
END_TEST

START_TEST(are_large) {
    struct redist_pieces pieces;
    const redist_index rows = ((redist_index)1 << 33) + 5;
    const redist_index extent[3] = {rows, 3, 1000}, beyond[2] = {(redist_index)1 << 60, 8};
    check_ok(redist_pieces_cut(&pieces, 3, extent, 16, 1 << 20));
    struct redist_piece last = redist_piece_at(&pieces, pieces.count - 1);
    check_all(pieces.rows == (1 << 20) / 48000, "%lld rows", (long long)pieces.rows);
    check_all(last.offset + (redist_index)last.bytes == rows * 48000, "the last piece ends at %lld",
              (long long)last.offset + (long long)last.bytes);
    check_all(last.start[0] + last.count[0] == rows, "the last piece begins with row %lld",
              (long long)last.start[0]);
    check_all(redist_pieces_cut(&pieces, 2, beyond, 1, 1 << 20) == REDIST_ERR_LIMIT,
              "2^63 bytes are accepted");
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {cover_the_array, are_large, NULL};
    return harness_run(argc, argv, "test_redist_file_pieces", tests);
}
