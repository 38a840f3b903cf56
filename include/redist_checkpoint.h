/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Checkpoints: several distributed arrays and a block of parameters in one file, which any number of ranks reads again.
 * A program that is killed while it writes a checkpoint leaves the last complete one under its name. Checksums cover
 * all data.
 * The conventions are those of redist.h; docs/files.md has an example and the format.
 */
#ifndef REDIST_CHECKPOINT_H
#define REDIST_CHECKPOINT_H

#include "redist_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The most bytes of a field's name with the 0 at its end, fields of a checkpoint, and bytes of parameters. */
#define REDIST_CHECKPOINT_NAME_BYTES      256
#define REDIST_CHECKPOINT_FIELDS          4096
#define REDIST_CHECKPOINT_PARAMETER_BYTES (16 << 20)

/** Options of checkpoints. All must agree. */
typedef struct redist_checkpoint_options {
    size_t size; /**< sizeof(redist_checkpoint_options) */
    /** writing: how many earlier checkpoints remain, as `path`.1 (the newest), `path`.2 ...; 0 = none. The file system
     * must have links then */
    int keep;
    /** reading: nonzero: a field in single precision is read into an array in double precision, and the other way
     * round, both real or both complex. A rank has a copy of its part of the field meanwhile */
    int convert;
    int writers_per_node; /**< ranks of a node that write or read; 0 = choose */
    int reserved;         /**< 0 */
    /** writing: most bytes that a checksum covers, unless an element has more, <= 64 MiB; 0 = 2 MiB. A writer has up to
     * four such pieces in memory beyond the arrays, and so has a rank that reads the file */
    size_t piece_bytes;
} redist_checkpoint_options;

/** No earlier checkpoints, no conversion, writers and pieces by choice. */
#define REDIST_CHECKPOINT_OPTIONS_DEFAULT                                                          \
    REDIST_VALUE(redist_checkpoint_options) {                                                      \
        .size = sizeof(redist_checkpoint_options), .keep = 0, .convert = 0, .writers_per_node = 0, \
        .reserved = 0, .piece_bytes = 0                                                            \
    }

/** REDIST_CHECKPOINT_OPTIONS_DEFAULT as a function; as redist_box_init. */
REDIST_API int redist_checkpoint_options_init(redist_checkpoint_options *options, size_t size);

/**
 * Writes a checkpoint: to the file `path`.part, which gets the name `path` once the disk has all of it. At any moment
 * `path` is a complete checkpoint, if it was one before.
 *   comm             the ranks; must agree
 *   path             of the file, on a file system that all nodes see; must agree
 *   nfields          number of fields, 0..REDIST_CHECKPOINT_FIELDS; must agree
 *   fields           the arrays, which are read only, each with a name of its own; a field with a selection becomes one
 *                    of the selected elements
 *   parameters       the program's own data, such as time and step, in the byte order of this machine; must agree
 *   parameter_bytes  bytes of these, 0..REDIST_CHECKPOINT_PARAMETER_BYTES; must agree
 *   options          NULL = defaults
 * Collective on comm. Errors: those of redist_write, on all ranks; ERR_METHOD if this build has no checksums (xxHash).
 * `path` and the earlier checkpoints are unchanged then, unless the message says that the rename failed, or the flush
 * of the folder after it.
 */
REDIST_API int redist_checkpoint_write(MPI_Comm comm, const char *path, int nfields,
                                       const redist_field fields[], const void *parameters,
                                       size_t parameter_bytes,
                                       const redist_checkpoint_options *options);

/** A checkpoint whose writing has started. */
typedef struct redist_checkpoint_request redist_checkpoint_request;

/**
 * Starts to write a checkpoint, which redist_checkpoint_wait completes. On return the arrays may be changed: the
 * writers have copies of all stripes.
 *   request  out: freed by redist_checkpoint_wait
 * The other arguments are those of redist_checkpoint_write. No other checkpoint of this path is written before it is
 * complete. Collective on comm. Errors: those of redist_checkpoint_write, also later ones from redist_checkpoint_wait.
 */
REDIST_API int redist_checkpoint_write_start(MPI_Comm comm, const char *path, int nfields,
                                             const redist_field fields[], const void *parameters,
                                             size_t parameter_bytes,
                                             const redist_checkpoint_options *options,
                                             redist_checkpoint_request **request);

/**
 * Completes a checkpoint, which has its name then, and sets *request to NULL, also after an error on all ranks.
 * Collective on the communicator of the write. Errors: ERR_NULL, ERR_STATE, on this rank only; those of
 * redist_file_wait on all ranks.
 */
REDIST_API int redist_checkpoint_wait(redist_checkpoint_request **request);

/**
 * Reads fields of a checkpoint by their names, on any number of ranks, in any distribution and memory order.
 *   comm             the ranks; must agree
 *   path             of the file; must agree
 *   nfields          number of fields to read, which may be fewer than the file has; must agree
 *   fields           the arrays, with the names, extents (those of the selection, if there is one) and elements that
 *                    the file has, except for options.convert
 *   parameters       out, on all ranks: the parameters; NULL = none
 *   parameter_bytes  bytes that the file has of these; ignored with NULL; must agree
 *   options          NULL = defaults
 * Collective on comm. Errors: those of redist_read, ERR_METHOD as redist_checkpoint_write, on all ranks. ERR_FILE also
 * for a file that is no checkpoint, damaged, of another length than it was written, or of a machine with another byte
 * order; ERR_ARGUMENT for a field that it does not have, ERR_SIZE for one with other extents and for other
 * parameter_bytes, ERR_DATATYPE for other elements. Arrays and parameters are unchanged after these; but after damage
 * in the data of a field, which the message names, the arrays are undefined.
 */
REDIST_API int redist_checkpoint_read(MPI_Comm comm, const char *path, int nfields,
                                      const redist_field fields[], void *parameters,
                                      size_t parameter_bytes,
                                      const redist_checkpoint_options *options);

/** A field of a checkpoint. */
typedef struct redist_checkpoint_field {
    const char *name; /**< that of redist_field; no two fields have the same */
    /** the numbers of which its elements consist: "int8" .. "int64", "uint8" .. "uint64", "float", "double", "long
     * double", "float complex", "double complex", "long double complex"; "bytes" for other elements */
    const char *type;
    size_t element_bytes;                 /**< of one element, which may be several numbers */
    int ndims;                            /**< array axes */
    redist_index sizes[REDIST_MAX_NDIMS]; /**< extents */
} redist_checkpoint_field;

/** Contents of a checkpoint; the library owns all of it. */
typedef struct redist_checkpoint_info {
    int nfields;                                  /**< number of fields */
    const redist_checkpoint_field *const *fields; /**< nfields of them, in the order of the file */
    size_t parameter_bytes;                       /**< of the parameters */
    const void *parameters;                       /**< as redist_checkpoint_write got them */
    int64_t seconds; /**< when it was written, since the beginning of 1970 (UTC) */
    int version[3];  /**< of the library that wrote it: major, minor, patch */
} redist_checkpoint_info;

/**
 * Reads what a checkpoint has, except for the data of its fields, on all ranks.
 *   comm  the ranks, such as MPI_COMM_SELF; must agree
 *   path  of the file; must agree
 *   info  out: freed by redist_checkpoint_info_free
 * Collective on comm. Errors: ERR_COMM, ERR_NULL, ERR_ARGUMENT, ERR_DISAGREE, ERR_STATE, ERR_MEMORY, ERR_MPI, ERR_PEER,
 * ERR_METHOD; ERR_FILE as redist_checkpoint_read; on all ranks.
 */
REDIST_API int redist_checkpoint_get_info(MPI_Comm comm, const char *path,
                                          redist_checkpoint_info **info);

/** Frees it and sets *info to NULL; does nothing when *info is NULL. Not collective. Errors: ERR_NULL. */
REDIST_API int redist_checkpoint_info_free(redist_checkpoint_info **info);

#ifdef __cplusplus
}
#endif

#endif
