/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Distributed arrays in HDF5 files: datasets with global extents in C order, as h5py, ParaView and readers of NetCDF-4
 * expect them, in a library of its own (redist-hdf5). The conventions are those of redist.h, the arrays are the fields
 * of redist_file.h. All functions but the *_init ones are collective on the communicator of the file. HDF5 is called by
 * one thread of a process at a time. A failure of HDF5 on any rank is an error on all of them, with HDF5's own words,
 * and HDF5 prints nothing. Where all ranks call it, HDF5 1.10 itself waits for ever if some of them, but not all,
 * cannot write the file's structure or compressed data, also in a file that is opened after one whose disk was full;
 * with REDIST_HDF5_ROOT nothing waits.
 */
#ifndef REDIST_HDF5_H
#define REDIST_HDF5_H

#include "redist_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Ways to open a file. */
enum redist_hdf5_mode {
    REDIST_HDF5_READ = 0,   /**< the file exists and stays as it is */
    REDIST_HDF5_CREATE = 1, /**< a new file, in the place of one of the same name */
    REDIST_HDF5_APPEND = 2  /**< reads and writes a file, which is made if it does not exist */
};

/** Ranks that call HDF5. */
enum redist_hdf5_access {
    REDIST_HDF5_AUTO = 0, /**< all, where HDF5 and its MPI allow it; else rank 0 */
    REDIST_HDF5_ALL = 1,  /**< all, each for some rows of a piece of a dataset (MPI-IO) */
    REDIST_HDF5_ROOT = 2  /**< rank 0 alone */
};

/** Options of a file. */
typedef struct redist_hdf5_file_options {
    size_t size;                    /**< sizeof(redist_hdf5_file_options) */
    enum redist_hdf5_access access; /**< must agree */
    int reserved;                   /**< 0 */
    /** bytes of a piece of a dataset, of which each rank has its elements in memory, and again the rows with which it
     * calls HDF5: at most twice as much, and at least one element; 0 = 64 MiB; must agree */
    size_t buffer_bytes;
} redist_hdf5_file_options;

/** All ranks call HDF5, where it allows that. */
#define REDIST_HDF5_FILE_OPTIONS_DEFAULT                                                           \
    REDIST_VALUE(redist_hdf5_file_options) {                                                       \
        .size = sizeof(redist_hdf5_file_options), .access = REDIST_HDF5_AUTO, .reserved = 0,       \
        .buffer_bytes = 0                                                                          \
    }

/** REDIST_HDF5_FILE_OPTIONS_DEFAULT as a function; as redist_box_init. */
REDIST_API int redist_hdf5_file_options_init(redist_hdf5_file_options *options, size_t size);

/** An open file. */
typedef struct redist_hdf5 redist_hdf5;

/**
 * Opens an HDF5 file.
 *   comm     the ranks; freed after the file is closed; must agree
 *   path     of the file, on a file system that all ranks see (with REDIST_HDF5_ROOT rank 0 alone); must agree
 *   mode     must agree
 *   options  NULL = defaults
 *   file     out: the file, closed by redist_hdf5_close before MPI_Finalize
 * Collective on comm. Errors, on all ranks: ERR_COMM, ERR_NULL, ERR_ARGUMENT, ERR_METHOD (REDIST_HDF5_ALL where HDF5
 * is not parallel), ERR_DISAGREE, ERR_STATE, ERR_MEMORY, ERR_MPI, ERR_PEER, and ERR_FILE with HDF5's reason.
 */
REDIST_API int redist_hdf5_open(MPI_Comm comm, const char *path, enum redist_hdf5_mode mode,
                                const redist_hdf5_file_options *options, redist_hdf5 **file);

/**
 * Closes a file and sets *file to NULL, also after an error.
 * Errors: ERR_NULL, ERR_STATE, on this rank only; ERR_FILE, ERR_MPI, on all ranks.
 */
REDIST_API int redist_hdf5_close(redist_hdf5 **file);

/** Values of redist_hdf5_options.step that are no numbers of steps. */
enum {
    REDIST_HDF5_NO_STEP = -1,   /**< the dataset has the axes of the field alone */
    REDIST_HDF5_NEXT_STEP = -2, /**< of a write: behind the last step */
    REDIST_HDF5_LAST_STEP = -3  /**< of a read */
};

/** Options of datasets. "Must agree" = the same on all ranks. Those from chunk on are for datasets that a write
 * makes. */
typedef struct redist_hdf5_options {
    size_t size; /**< sizeof(redist_hdf5_options) */
    /** REDIST_HDF5_NO_STEP, the default; else the datasets have an axis of steps before the others, without an end, and
     * this is the step's number, from 0, or one of the values above; must agree */
    redist_index step;
    double time; /**< of the written step, for the dataset "time" of the file; must agree */
    /** extents of a chunk, without steps; all 0 = choose with steps or compression, else the dataset is contiguous;
     * must agree */
    redist_index chunk[REDIST_MAX_NDIMS];
    int compression; /**< 0 = none; 1..9: of zlib, after HDF5's shuffle of bytes; must agree */
    int reserved;    /**< 0 */
    /** names of the axes; NULL = axis0, axis1, ...; must agree. Each is a dimension scale of the file, a dimension for
     * readers of NetCDF. Where one of another extent has the name, the extent is appended */
    const char *axes[REDIST_MAX_NDIMS];
    /** distance of neighbours along each axis of the dataset and coordinate of its first element, which become the
     * attributes "spacing" and "origin" and the values of the dimension scales; all spacings 0 = none; must agree */
    double spacing[REDIST_MAX_NDIMS];
    double origin[REDIST_MAX_NDIMS];
} redist_hdf5_options;

/** No steps, no compression, no coordinates. */
#define REDIST_HDF5_OPTIONS_DEFAULT                                                                \
    REDIST_VALUE(redist_hdf5_options) {                                                            \
        .size = sizeof(redist_hdf5_options), .step = REDIST_HDF5_NO_STEP, .time = 0.0,             \
        .chunk = {0}, .compression = 0, .reserved = 0, .axes = {0}, .spacing = {0}, .origin = {    \
            0                                                                                      \
        }                                                                                          \
    }

/** REDIST_HDF5_OPTIONS_DEFAULT as a function; as redist_box_init. */
REDIST_API int redist_hdf5_options_init(redist_hdf5_options *options, size_t size);

/**
 * Writes distributed arrays to the datasets of their names, which are made where they do not exist, with the groups of
 * their paths ("flow/velocity").
 *   nfields  number of fields, >= 0; must agree
 *   fields   the arrays, which are read only, each with a name of its own. The dataset has the selected elements.
 *            The elements are numbers of MPI, complex ones among them (a compound of r and i, as h5py has it), or a
 *            fixed number of these (MPI_Type_contiguous)
 *   options  NULL = defaults
 * An existing dataset has to have the extents and the type of its field. On return HDF5 has given all data to the
 * system. Errors, on all ranks: ERR_NULL, ERR_ARGUMENT, ERR_SIZE, ERR_OVERLAP (the parts), ERR_DATATYPE, ERR_DISAGREE,
 * ERR_LIMIT, ERR_STATE (the file is open for reading), before anything is written; ERR_MEMORY, ERR_MPI, ERR_DEVICE,
 * ERR_PEER and ERR_FILE (HDF5 refuses, with its reason), after which the written elements are undefined. An invalid
 * file is ERR_STATE on this rank only.
 */
REDIST_API int redist_hdf5_write(redist_hdf5 *file, int nfields, const redist_field fields[],
                                 const redist_hdf5_options *options);

/**
 * Reads distributed arrays from the datasets of their names, on any number of ranks, as other programs may have written
 * them. HDF5 converts between integers and reals of different lengths and byte orders.
 *   nfields  number of fields, >= 0; must agree
 *   fields   the arrays, of which each rank's part is overwritten, with names and elements as in redist_hdf5_write
 *   options  NULL = defaults; of them only `step` counts
 * A dataset has the extents of the selected elements; one of several axes, the first of which has no end, is one with
 * steps. Errors: those of redist_hdf5_write but ERR_OVERLAP; ERR_FILE also for a dataset that is missing, has other
 * extents, or elements that HDF5 does not convert, before an array is touched.
 */
REDIST_API int redist_hdf5_read(redist_hdf5 *file, int nfields, const redist_field fields[],
                                const redist_hdf5_options *options);

/**
 * Set an attribute, in the place of one of the same name.
 *   object  path of a dataset or group that exists; NULL = the file; must agree
 *   key     name of the attribute; must agree
 *   n       number of values, >= 1; one becomes a scalar; must agree
 *   values  must agree, as `text`, which is UTF-8
 * Errors, on all ranks: ERR_NULL, ERR_ARGUMENT, ERR_DISAGREE, ERR_STATE, ERR_MPI, ERR_FILE. An invalid file is
 * ERR_STATE on this rank only.
 */
REDIST_API int redist_hdf5_set_numbers(redist_hdf5 *file, const char *object, const char *key,
                                       int n, const double values[]);
REDIST_API int redist_hdf5_set_integers(redist_hdf5 *file, const char *object, const char *key,
                                        int n, const int64_t values[]);
REDIST_API int redist_hdf5_set_text(redist_hdf5 *file, const char *object, const char *key,
                                    const char *text);

/**
 * Get an attribute.
 *   most    room for values, >= 0; must agree
 *   values  out: the first `most` values, the same on all ranks; unchanged after an error
 *   n       out: number of values of the attribute; may be NULL
 *   bytes   room for the text with the 0 at its end, >= 1; a longer text is cut; must agree
 * Errors: as redist_hdf5_set_numbers; ERR_FILE also for an attribute that is missing or is no number or text.
 */
REDIST_API int redist_hdf5_get_numbers(redist_hdf5 *file, const char *object, const char *key,
                                       int most, double values[], int *n);
REDIST_API int redist_hdf5_get_integers(redist_hdf5 *file, const char *object, const char *key,
                                        int most, int64_t values[], int *n);
REDIST_API int redist_hdf5_get_text(redist_hdf5 *file, const char *object, const char *key,
                                    int bytes, char text[]);

/** Longest name of a dataset that redist_hdf5_info returns, with the 0 at the end. */
#define REDIST_HDF5_NAME_BYTES 256

/** A dataset. */
typedef struct redist_hdf5_dataset {
    size_t size;                       /**< sizeof(redist_hdf5_dataset) */
    char name[REDIST_HDF5_NAME_BYTES]; /**< its path in the file, without the first slash */
    int ndims;                         /**< axes, without steps; more than REDIST_MAX_NDIMS = 0 */
    int items;                         /**< numbers in an element */
    redist_index sizes[REDIST_MAX_NDIMS]; /**< global extents */
    redist_index steps;  /**< number of steps; -1 = the dataset has no axis of steps */
    MPI_Datatype number; /**< MPI_DATATYPE_NULL if MPI has no such number */
} redist_hdf5_dataset;

/** Nothing known; sets the size for redist_hdf5_info. */
#define REDIST_HDF5_DATASET_DEFAULT                                                                \
    REDIST_VALUE(redist_hdf5_dataset) {                                                            \
        .size = sizeof(redist_hdf5_dataset), .name = {0}, .ndims = 0, .items = 0, .sizes = {0},    \
        .steps = -1, .number = MPI_DATATYPE_NULL                                                   \
    }

/** REDIST_HDF5_DATASET_DEFAULT as a function; as redist_box_init. */
REDIST_API int redist_hdf5_dataset_init(redist_hdf5_dataset *dataset, size_t size);

/**
 * Describe the datasets of a file and its groups, without those that are dimension scales, in the order of their names.
 *   count    out: their number
 *   index    0 <= index < count; must agree
 *   dataset  in: size; out: the others
 * Errors, on all ranks: ERR_NULL, ERR_ARGUMENT, ERR_DISAGREE, ERR_MEMORY, ERR_MPI, ERR_FILE. An invalid file is
 * ERR_STATE on this rank only.
 */
REDIST_API int redist_hdf5_count(redist_hdf5 *file, int *count);
REDIST_API int redist_hdf5_info(redist_hdf5 *file, int index, redist_hdf5_dataset *dataset);

/**
 * Writes a description of the file for ParaView and other readers of XDMF: each dataset of two or three axes whose
 * elements are single real numbers is a field on a uniform grid, with the spacing and origin of its attributes (else 1
 * and 0) and the times of its steps. The last axis is x.
 *   path  of the text file, which rank 0 writes, for readers of XDMF 3, but for those of XDMF 2, such as vtkXdmfReader,
 *         if it ends in ".xdmf2" or ".xmf2": either kind of reader finds no data in steps of the other. It names the
 *         HDF5 file without a folder if both are in the same one, else by the path with which that was opened; must
 *         agree
 * Call it again after later steps. Errors: as redist_hdf5_count; ERR_ARGUMENT for the path of the HDF5 file itself,
 * ERR_FILE also if the text cannot be written.
 */
REDIST_API int redist_hdf5_xdmf(redist_hdf5 *file, const char *path);

#ifdef __cplusplus
}
#endif

#endif
