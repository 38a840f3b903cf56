/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Distributed arrays in files: raw files in C order. A file is an exchange whose other side is the disk: ranks exchange
 * their parts into contiguous stripes on a few writers of each node, which write them. The conventions are those of
 * redist.h.
 */
#ifndef REDIST_FILE_H
#define REDIST_FILE_H

#include "redist.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One distributed array: what the file has of it, and where this rank's part is in memory. */
typedef struct redist_field {
    size_t size;      /**< sizeof(redist_field) */
    const char *name; /**< in a checkpoint or an HDF5 file; raw files have none: NULL; must agree */
    /** one element, any committed type of non-zero size; the file has its extent, gaps included, and what it has in the
     * gaps is unchanged; must agree */
    MPI_Datatype datatype;
    int ndims;                            /**< array axes, 1..REDIST_MAX_NDIMS; must agree */
    redist_index sizes[REDIST_MAX_NDIMS]; /**< global extents, each >= 0; must agree */
    redist_index start[REDIST_MAX_NDIMS]; /**< first global index of this rank's part */
    /** its elements along each axis; any 0 = none. Written parts cover the selected elements without overlaps; parts
     * that are read may overlap, and leave holes */
    redist_index count[REDIST_MAX_NDIMS];
    /** elements from one element of the local array to its neighbour along each axis: any order of the axes, and any
     * padding, which need not agree; all 0 = C order, no padding */
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    ptrdiff_t offset; /**< elements of the local array before the first one of this rank */
    /** the part of the global array that the file has, in elements of the global array; a count of 0 = from the start
     * to the end; must agree. A plane has the count 1 along its axis */
    redist_index selected_start[REDIST_MAX_NDIMS];
    redist_index selected_count[REDIST_MAX_NDIMS];
    redist_index selected_step[REDIST_MAX_NDIMS]; /**< every n-th of these; 0 = 1 */
    enum redist_space space;                      /**< of the array; must agree */
    int reserved;                                 /**< 0 */
    void *array;                                  /**< may be NULL without elements */
} redist_field;

/** No array; whole arrays in C order as soon as the members without a default are set. */
#define REDIST_FIELD_DEFAULT                                                                       \
    REDIST_VALUE(redist_field) {                                                                   \
        .size = sizeof(redist_field), .name = NULL, .datatype = MPI_DATATYPE_NULL, .ndims = 0,     \
        .sizes = {0}, .start = {0}, .count = {0}, .stride = {0}, .offset = 0,                      \
        .selected_start = {0}, .selected_count = {0}, .selected_step = {0},                        \
        .space = REDIST_SPACE_AUTO, .reserved = 0, .array = NULL                                   \
    }

/** REDIST_FIELD_DEFAULT as a function; as redist_box_init. Not collective. Errors: ERR_NULL, ERR_ARGUMENT (size). */
REDIST_API int redist_field_init(redist_field *field, size_t size);

/**
 * Sets what a field has of a box: ndims, sizes, start, count, stride and offset.
 *   field  in: size; the other members are unchanged
 *   ndims  array axes
 *   sizes  global extents (ndims values)
 *   box    such as that of redist_grid_box; ghosts are left out by its extent and offset
 * Not collective. Errors: ERR_NULL, ERR_ARGUMENT, ERR_SIZE.
 */
REDIST_API int redist_field_set_box(redist_field *field, int ndims, const redist_index sizes[],
                                    const redist_box *box);

/** Options of files. "Must agree" = the same on all ranks. */
typedef struct redist_file_options {
    size_t size; /**< sizeof(redist_file_options) */
    /** NULL or "auto"; "stripes": by messages to a few writers of each node; "mpi": by MPI's collective functions on a
     * view of the file, the reference, for arrays in host memory, and elements that MPI has in files (no predefined
     * pairs with MPICH, data in the order of their addresses); must agree */
    const char *method;
    redist_index offset;  /**< bytes of the file before the first field; must agree */
    int writers_per_node; /**< 0 = choose; must agree */
    /** nonzero, the default: the file ends behind the last field; 0: it keeps what it has behind that; must agree */
    int truncate;
    int flush; /**< nonzero: the data have reached the disk on return (fsync of file and folder); must agree */
    int reserved; /**< 0 */
    /** memory of each writer beyond the arrays: four times the bytes of a piece, which is written at once; 0 = 2 MiB;
     * must agree. A rank has up to one piece more for each writer with whom it exchanges parts that are not contiguous
     * in its memory; an element that is larger than a piece is one */
    size_t buffer_bytes;
} redist_file_options;

/** Stripes from the beginning of the file, which ends behind the last field. */
#define REDIST_FILE_OPTIONS_DEFAULT                                                                \
    REDIST_VALUE(redist_file_options) {                                                            \
        .size = sizeof(redist_file_options), .method = NULL, .offset = 0, .writers_per_node = 0,   \
        .truncate = 1, .flush = 0, .reserved = 0, .buffer_bytes = 0                                \
    }

/** REDIST_FILE_OPTIONS_DEFAULT as a function; as redist_box_init. */
REDIST_API int redist_file_options_init(redist_file_options *options, size_t size);

/**
 * Writes distributed arrays to a raw file, one behind the other, each in C order of its global array, in the byte order
 * of this machine. The file is made if it does not exist.
 *   comm     the ranks; must agree
 *   path     of the file, on a file system that all nodes see; must agree
 *   nfields  number of fields, >= 0; must agree
 *   fields   the arrays, which are read only
 *   options  NULL = defaults
 * Collective on comm. Errors: ERR_COMM, ERR_NULL, ERR_ARGUMENT, ERR_SIZE, ERR_OVERLAP, ERR_DATATYPE, ERR_DISAGREE,
 * ERR_METHOD (unknown, or not for these arrays), ERR_LIMIT, ERR_STATE, ERR_MEMORY, ERR_MPI, ERR_DEVICE, ERR_PEER, and
 * ERR_FILE (the file system refuses; the message has its reason), on all ranks. What the file has is undefined after
 * the last five.
 */
REDIST_API int redist_write(MPI_Comm comm, const char *path, int nfields,
                            const redist_field fields[], const redist_file_options *options);

/**
 * Reads distributed arrays from a raw file, as redist_write writes them, on any number of ranks.
 *   fields  the arrays, of which each rank's part is overwritten
 * The other arguments are those of redist_write.
 * Collective on comm. Errors: those of redist_write; ERR_FILE also for a file that is too short, before an array is
 * touched. After a later error the arrays are undefined.
 */
REDIST_API int redist_read(MPI_Comm comm, const char *path, int nfields,
                           const redist_field fields[], const redist_file_options *options);

/** A write that has started. */
typedef struct redist_file_request redist_file_request;

/**
 * Starts a write, which redist_file_wait completes. On return the arrays may be changed: the writers have copies of all
 * stripes, whatever options.buffer_bytes says, and write them in a thread that calls no MPI function. With method "mpi"
 * all is written on return. A write that is not completed before is completed by MPI_Finalize.
 *   request  out: freed by redist_file_wait
 * Collective on comm. Errors: those of redist_write, also later ones from redist_file_wait.
 */
REDIST_API int redist_write_start(MPI_Comm comm, const char *path, int nfields,
                                  const redist_field fields[], const redist_file_options *options,
                                  redist_file_request **request);

/**
 * Completes a write and sets *request to NULL, also after an error on all ranks.
 * Collective on the communicator of the write. Errors: ERR_NULL, ERR_STATE, on this rank only; ERR_FILE, ERR_MPI,
 * ERR_MEMORY, ERR_PEER, on all ranks.
 */
REDIST_API int redist_file_wait(redist_file_request **request);

#ifdef __cplusplus
}
#endif

#endif
