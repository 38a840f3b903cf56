/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The format of checkpoints, and the checks of what a file says of itself: no communication, no file. All numbers are
 * in the byte order of the machine that wrote them.
 *
 *     head                 128 bytes
 *     table                512 bytes for each field
 *     parameters           head.parameter_bytes
 *     data of each field   at a multiple of 4096 bytes: the array in C order
 *     checksums            8 bytes for each piece of each field, one field behind the other
 *
 * The pieces of a field are those of redist_pieces.h with head.piece_bytes: they depend on the array only, not on the
 * ranks that wrote it. Checksums are XXH3 of 64 bits, of the head and the table together (with 0 in their own
 * place), of the parameters, and of each piece.
 */
#ifndef REDIST__CHECKPOINT_FORMAT_H
#define REDIST__CHECKPOINT_FORMAT_H

#include "redist_checkpoint.h"

enum {
    REDIST__CHECKPOINT_VERSION = 1,
    REDIST__CHECKPOINT_ORDER = 0x01020304,
    REDIST__CHECKPOINT_ALIGNMENT = 4096,
    REDIST__CHECKPOINT_PIECE_BYTES = 64 << 20 /* the most that is allowed */
};

struct redist__checkpoint_head {
    char magic[8];
    uint32_t order, version;
    uint64_t file_bytes;
    uint64_t checksum; /* of head and table */
    uint64_t parameter_bytes, parameter_checksum;
    uint64_t piece_bytes; /* of all pieces at most, except for larger elements */
    int64_t seconds;
    uint32_t nfields;
    uint32_t library[3];
    uint8_t reserved[48];
};

struct redist__checkpoint_entry {
    char name[REDIST_CHECKPOINT_NAME_BYTES];
    char type[32];
    uint64_t element_bytes;
    uint64_t offset, bytes;      /* of its data */
    uint64_t npieces, checksums; /* number of them, and where they begin */
    uint32_t ndims, reserved;
    int64_t sizes[REDIST_MAX_NDIMS];
    uint8_t rest[48];
};

_Static_assert(sizeof(struct redist__checkpoint_head) == 128, "no padding");
_Static_assert(sizeof(struct redist__checkpoint_entry) == 512, "no padding");

/* The beginning of a checkpoint in memory: of `bytes` bytes, up to the end of the parameters. */
struct redist__checkpoint_header {
    struct redist__checkpoint_head *head;
    struct redist__checkpoint_entry *entries;
    char *parameters;
    size_t bytes;
};

/* Makes a header around memory of as many bytes, in which head->nfields and head->parameter_bytes are set. */
struct redist__checkpoint_header redist__checkpoint_header_in(void *memory);

/* Returns the bytes of a header. */
size_t redist__checkpoint_header_bytes(size_t nfields, size_t parameter_bytes);

/* Completes a header that has piece_bytes, seconds, parameters, and of each field name, type, element_bytes, ndims and
 * sizes: by the places of data and checksums, and its own checksums. Errors: ERR_LIMIT, beyond 2^63 bytes. */
int redist__checkpoint_complete(const char *function, struct redist__checkpoint_header *header);

/*
 * Check the beginning of a file, in messages that name `path`: its head, after which memory for the rest may be
 * allocated (16 MiB of parameters and 2 MiB of table at most), and all of it. Any bytes are safe. Errors: ERR_FILE.
 *   file_bytes  of the file
 *   header      filled by redist__checkpoint_header_in, of a head that was checked
 */
int redist__checkpoint_check_head(const char *function, const char *path,
                                  const struct redist__checkpoint_head *head, uint64_t file_bytes);
int redist__checkpoint_check(const char *function, const char *path,
                             struct redist__checkpoint_header *header);

/* Returns a checksum (checksum_xxhash.c), or why this build has none; NULL = it has. */
uint64_t redist__checksum(const void *data, size_t bytes);
const char *redist__checksum_absent(void);

#endif
