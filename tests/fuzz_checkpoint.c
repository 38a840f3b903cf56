/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer's target for headers of checkpoints: whatever passes the checks names places inside of the file. An input
 * is a header, or, behind an even first byte, what is changed in a valid one. Checksums are 0 here, as no fuzzer finds
 * true ones.
 */
#include "../libredist/checkpoint/format.h"
#include "redist_pieces.h"

#include "redist_process.h"

#include <stdlib.h>
#include <string.h>

uint64_t redist__checksum(const void *data, size_t bytes) {
    (void)data;
    return bytes == SIZE_MAX;
}

static void check(int holds) {
    if (!holds)
        abort();
}

static void check_pieces(const struct redist__checkpoint_head *head,
                         const struct redist__checkpoint_entry *entry, redist_index which) {
    struct redist_pieces pieces;
    check(redist_pieces_cut(&pieces, (int)entry->ndims, entry->sizes, entry->element_bytes,
                            head->piece_bytes) == REDIST_OK);
    const redist_index places[] = {0, pieces.count - 1, which % (pieces.count + 1)};
    for (size_t i = 0; i < 3; i++) {
        if (places[i] < 0 || places[i] >= pieces.count)
            continue;
        struct redist_piece piece = redist_piece_at(&pieces, places[i]);
        check(piece.offset >= 0 && piece.bytes > 0 && piece.bytes <= entry->bytes &&
              (uint64_t)piece.offset <= entry->bytes - piece.bytes);
        check(entry->offset + (uint64_t)piece.offset + piece.bytes <= head->file_bytes);
        check(entry->checksums + 8 * (uint64_t)places[i] + 8 <= head->file_bytes);
    }
}

/* Two fields and some parameters. */
static struct redist__checkpoint_header make_valid(char *memory) {
    struct redist__checkpoint_head *head = (void *)memory;
    head->nfields = 2;
    head->parameter_bytes = 24;
    head->piece_bytes = 1000;
    struct redist__checkpoint_header header = redist__checkpoint_header_in(memory);
    for (uint32_t i = 0; i < 2; i++) {
        struct redist__checkpoint_entry *entry = &header.entries[i];
        strcpy(entry->name, i == 0 ? "velocity" : "pressure");
        strcpy(entry->type, i == 0 ? "double" : "bytes");
        entry->element_bytes = 8;
        entry->ndims = 3 + i;
        for (uint32_t axis = 0; axis < entry->ndims; axis++)
            entry->sizes[axis] = 5 + axis;
    }
    check(redist__checkpoint_complete("fuzz", &header) == REDIST_OK);
    return header;
}

static void change(char *memory, size_t bytes, const uint8_t *data, size_t size) {
    for (size_t i = 0; i + 2 < size; i += 3) {
        size_t at = (size_t)(data[i] << 8 | data[i + 1]) % bytes;
        memory[at] = (char)(memory[at] ^ data[i + 2]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { VALID_BYTES = 128 + 2 * 512 + 24 };
    if (size < 1)
        return 0;
    int is_whole = data[0] % 2 == 1 && size >= VALID_BYTES;
    size_t bytes = is_whole ? size : VALID_BYTES;
    char *memory = calloc(1, bytes); /* of this size, so that sanitizers see what is behind it */
    struct redist__checkpoint_head *head = (void *)memory;
    check(memory != NULL);
    if (is_whole) {
        memcpy(memory, data, size);
    } else {
        make_valid(memory);
        change(memory, bytes, data + 1, size - 1);
    }
    uint64_t file_bytes = head->file_bytes < INT64_MAX ? head->file_bytes : bytes;
    if (redist__checkpoint_check_head("fuzz", "file", head, file_bytes) == REDIST_OK &&
        redist__checkpoint_header_bytes(head->nfields, head->parameter_bytes) <= bytes) {
        struct redist__checkpoint_header header = redist__checkpoint_header_in(memory);
        if (redist__checkpoint_check("fuzz", "file", &header) == REDIST_OK)
            for (uint32_t i = 0; i < head->nfields; i++)
                check_pieces(head, &header.entries[i], data[size - 1]);
    }
    free(memory);
    return 0;
}
