/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of checkpoints: a header is completed by its writer, and checked by its readers. */
#include "format.h"
#include "redist_pieces.h"
#include "redist_process.h"

#include <string.h>

static const char magic[8] = "\x89RDCP\r\n\x1a"; /* transfers as text change it */

size_t redist__checkpoint_header_bytes(size_t nfields, size_t parameter_bytes) {
    return sizeof(struct redist__checkpoint_head) +
           nfields * sizeof(struct redist__checkpoint_entry) + parameter_bytes;
}

struct redist__checkpoint_header redist__checkpoint_header_in(void *memory) {
    struct redist__checkpoint_head *head = memory;
    struct redist__checkpoint_entry *entries = (void *)(head + 1);
    return (struct redist__checkpoint_header){
        head, entries, (char *)(entries + head->nfields),
        redist__checkpoint_header_bytes(head->nfields, (size_t)head->parameter_bytes)};
}

/* Returns the checksum of head and table, which does not count itself. */
static uint64_t checksum_of(const struct redist__checkpoint_header *header) {
    uint64_t own = header->head->checksum;
    header->head->checksum = 0;
    uint64_t sum =
        redist__checksum(header->head, redist__checkpoint_header_bytes(header->head->nfields, 0));
    header->head->checksum = own;
    return sum;
}

/* Cuts a field into its pieces. REDIST_ERR_LIMIT beyond 2^63 - 1 bytes. */
static int cut(const struct redist__checkpoint_head *head,
               const struct redist__checkpoint_entry *entry, struct redist_pieces *pieces) {
    return redist_pieces_cut(pieces, (int)entry->ndims, entry->sizes, (size_t)entry->element_bytes,
                             (size_t)head->piece_bytes);
}

static uint64_t align(uint64_t offset) {
    const uint64_t unit = REDIST__CHECKPOINT_ALIGNMENT;
    return offset > INT64_MAX ? offset : (offset + unit - 1) / unit * unit;
}

/* Returns where an area of a file ends that the next one follows; more than 2^63 = nowhere. */
static uint64_t behind(uint64_t offset, uint64_t bytes) {
    return offset > INT64_MAX || bytes > INT64_MAX ? UINT64_MAX : offset + bytes;
}

/* Places data and checksums, and finds the bytes of the file; more than 2^63 = they do not fit. */
static void place(struct redist__checkpoint_header *header) {
    uint64_t end = header->bytes;
    for (uint32_t i = 0; i < header->head->nfields; i++) {
        header->entries[i].offset = align(end);
        end = behind(header->entries[i].offset, header->entries[i].bytes);
    }
    end = align(end);
    for (uint32_t i = 0; i < header->head->nfields; i++) {
        header->entries[i].checksums = end;
        end = behind(end, header->entries[i].npieces * sizeof(uint64_t));
    }
    header->head->file_bytes = end;
}

int redist__checkpoint_complete(const char *function, struct redist__checkpoint_header *header) {
    struct redist__checkpoint_head *head = header->head;
    for (uint32_t i = 0; i < head->nfields; i++) {
        struct redist__checkpoint_entry *entry = &header->entries[i];
        struct redist_pieces pieces;
        if (cut(head, entry, &pieces) != REDIST_OK)
            return redist_fail_in(function, REDIST_ERR_LIMIT, "field '%s' has 2^63 bytes or more",
                                  entry->name);
        entry->bytes = (uint64_t)redist_pieces_bytes(&pieces);
        entry->npieces = (uint64_t)pieces.count;
    }
    place(header);
    if (head->file_bytes > INT64_MAX)
        return redist_fail_in(function, REDIST_ERR_LIMIT, "the fields have 2^63 bytes or more");
    memcpy(head->magic, magic, sizeof magic);
    head->order = REDIST__CHECKPOINT_ORDER;
    head->version = REDIST__CHECKPOINT_VERSION;
    head->parameter_checksum = redist__checksum(header->parameters, (size_t)head->parameter_bytes);
    head->checksum = checksum_of(header);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- checks of a file */

#define BAD(...) redist_fail_in(function, REDIST_ERR_FILE, __VA_ARGS__)

int redist__checkpoint_check_head(const char *function, const char *path,
                                  const struct redist__checkpoint_head *head, uint64_t file_bytes) {
    if (file_bytes < sizeof *head || memcmp(head->magic, magic, sizeof magic) != 0)
        return BAD("%.200s is no checkpoint, or its beginning is damaged", path);
    if (head->order != REDIST__CHECKPOINT_ORDER)
        return BAD("%.200s was written on a machine with another byte order, or its beginning is "
                   "damaged",
                   path);
    if (head->version != REDIST__CHECKPOINT_VERSION)
        return BAD(
            "%.200s has version %u of the format, and this library reads version %d: use the "
            "one that wrote it",
            path, head->version, REDIST__CHECKPOINT_VERSION);
    if (head->file_bytes != file_bytes)
        return BAD("%.200s has %llu bytes, but %llu were written: it is incomplete, or damaged",
                   path, (unsigned long long)file_bytes, (unsigned long long)head->file_bytes);
    if (head->nfields > REDIST_CHECKPOINT_FIELDS ||
        head->parameter_bytes > REDIST_CHECKPOINT_PARAMETER_BYTES ||
        redist__checkpoint_header_bytes(head->nfields, (size_t)head->parameter_bytes) > file_bytes)
        return BAD("%.200s is damaged: %u fields and %llu bytes of parameters in its header", path,
                   head->nfields, (unsigned long long)head->parameter_bytes);
    return REDIST_OK;
}

static int has_end(const char text[], size_t bytes) {
    return memchr(text, 0, bytes) != NULL;
}

/* Returns what is wrong with an entry by itself, NULL = nothing. */
static const char *flaw_of_field(const struct redist__checkpoint_entry *entry) {
    if (!has_end(entry->name, sizeof entry->name) || !has_end(entry->type, sizeof entry->type))
        return "a name without an end";
    if (entry->ndims < 1 || entry->ndims > REDIST_MAX_NDIMS)
        return "the number of axes";
    for (uint32_t i = 0; i < entry->ndims; i++)
        if (entry->sizes[i] < 0)
            return "an extent";
    if (entry->element_bytes == 0 || entry->element_bytes > INT64_MAX)
        return "the bytes of an element";
    return NULL;
}

/* Returns what is wrong with the places that an entry names, NULL = nothing. */
static const char *flaw_of_places(const struct redist__checkpoint_head *head,
                                  const struct redist__checkpoint_entry *entry, uint64_t least) {
    uint64_t file_bytes = head->file_bytes;
    struct redist_pieces pieces;
    if (cut(head, entry, &pieces) != REDIST_OK ||
        (uint64_t)redist_pieces_bytes(&pieces) != entry->bytes)
        return "the bytes of a field";
    if (entry->offset < least || behind(entry->offset, entry->bytes) > file_bytes)
        return "the place of a field";
    if (entry->npieces != (uint64_t)pieces.count)
        return "the number of pieces";
    if (entry->checksums < least || entry->npieces > file_bytes / sizeof(uint64_t) ||
        behind(entry->checksums, entry->npieces * sizeof(uint64_t)) > file_bytes)
        return "the place of checksums";
    return NULL;
}

int redist__checkpoint_check(const char *function, const char *path,
                             struct redist__checkpoint_header *header) {
    const struct redist__checkpoint_head *head = header->head;
    if (checksum_of(header) != head->checksum)
        return BAD("%.200s is damaged: its header does not match its checksum", path);
    if (head->piece_bytes == 0 || head->piece_bytes > REDIST__CHECKPOINT_PIECE_BYTES)
        return BAD("%.200s is damaged: pieces of %llu bytes in its header", path,
                   (unsigned long long)head->piece_bytes);
    for (uint32_t i = 0; i < head->nfields; i++) {
        const char *flaw = flaw_of_field(&header->entries[i]);
        if (flaw == NULL)
            flaw = flaw_of_places(head, &header->entries[i], header->bytes);
        if (flaw != NULL)
            return BAD("%.200s is damaged: %s, in entry %u of its header", path, flaw, i);
    }
    if (redist__checksum(header->parameters, (size_t)head->parameter_bytes) !=
        head->parameter_checksum)
        return BAD("%.200s is damaged: its parameters do not match their checksum", path);
    return REDIST_OK;
}
