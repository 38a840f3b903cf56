/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Internal interface of libredist within a process, without MPI, for the libraries and the benchmarks: error reports,
 * heap memory, numbers as text, caches, and memory spaces with their streams, events and copies. This header is not
 * installed, and may change with any release.
 */
#ifndef REDIST_PROCESS_H
#define REDIST_PROCESS_H

#include "redist_place.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define REDIST_SCANF(text_index, first) __attribute__((format(scanf, text_index, first)))
#else
#define REDIST_SCANF(text_index, first)
#endif

/**
 * Sets this thread's error message and returns `code`. The message is "function: text (rank N)"
 * when MPI is running.
 * Not collective.
 */
#define redist_fail(code, ...) redist_fail_in(__func__, code, __VA_ARGS__)
REDIST_API int redist_fail_in(const char *function, int code, const char *format, ...)
    REDIST_PRINTF(3, 4);

/** Makes `text`, the message of another thread, this thread's error message. Not collective. */
REDIST_API void redist_set_message(const char *text);

/** Makes the calling function return the code of a call that fails. */
#define REDIST_TRY(call)                                                                           \
    do {                                                                                           \
        int redist_code_ = (call);                                                                 \
        if (redist_code_ != REDIST_OK)                                                             \
            return redist_code_;                                                                   \
    } while (0)

/** Returns nonzero if `text` is exactly a whole number in a range; else *number is unchanged. Not collective. */
REDIST_API int redist_read_number(const char *text, long long least, long long most,
                                  long long *number);

/**
 * Replace snprintf and sscanf, with a decimal point in every locale: for text that other ranks or later processes read.
 * Not collective.
 */
REDIST_API int redist_text_print(char text[], size_t bytes, const char *format, ...)
    REDIST_PRINTF(3, 4);
REDIST_API int redist_text_scan(const char *text, const char *format, ...) REDIST_SCANF(2, 3);

/**
 * Sets the functions behind the libraries' own heap memory (plans, work buffers; not redist_alloc on shared memory).
 * Both NULL = malloc and free. Call it before any other function of the libraries, and before threads that use them
 * exist; later only if `release` can free memory of the earlier functions, and while no other thread is in the
 * libraries.
 * Not collective.
 */
REDIST_API void redist_set_allocator(void *(*allocate)(size_t bytes),
                                     void (*release)(void *memory));

/** Allocates zeroed memory of `count` items of `bytes` each from the allocator; NULL without memory. */
REDIST_API void *redist_calloc(size_t count, size_t bytes);

/** Allocates `bytes` bytes from the allocator, whose contents are undefined; NULL without memory. */
REDIST_API void *redist_malloc(size_t bytes);

/** Frees memory of redist_calloc and redist_malloc; NULL is allowed. */
REDIST_API void redist_release(void *memory);

/** Bytes of a key and of a choice in wisdom, at most, with the 0 at the end. */
enum { REDIST_WISDOM_BYTES = 256 };

/** The caches of this machine, in bytes: those of one core where cores differ. */
typedef struct redist_caches {
    char processor[96]; /**< its name and numbers */
    size_t second;      /**< the second-level cache of a core */
    size_t last;        /**< a core's part of the last-level cache; at least `second` */
    size_t last_whole;  /**< all of it, which a core may fill if the others do not use it */
} redist_caches;

/** Returns the caches by hwloc, or else by the operating system; they do not change. Not collective. */
REDIST_API const redist_caches *redist_find_caches(void);

/** Use of the caches by a copy of a box. */
enum redist_copy_use {
    REDIST_COPY_LOAD, /**< from an array into a tile that stays in the caches */
    REDIST_COPY_NONTEMPORAL, /**< from such a tile into an array, past the caches: for one larger than these and not
                              * read soon */
    REDIST_COPY_STORE /**< from such a tile into an array, through the caches */
};

/**
 * Copies a box between two arrays of this process.
 *   ndims               axes, 1..REDIST_MAX_NDIMS
 *   count               elements along each axis; any 0 = nothing
 *   item                bytes of one element
 *   source_stride       bytes between neighbours along each axis; the same for the destination
 *   use                 of enum redist_copy_use
 * Not collective.
 */
REDIST_API void redist_copy_box(int ndims, const redist_index count[], size_t item,
                                const void *source, const ptrdiff_t source_stride[],
                                void *destination, const ptrdiff_t destination_stride[], int use);

/* ---------------------------------------------------------------- memory spaces */

struct redist__context;
struct redist__copy;
struct redist__batch;
struct redist__mappings;
struct redist__memory_handle;

/** Kinds of copies: in host memory stores through the caches or past them, on a device a kernel or its copy engines;
 * these also between host and device. */
enum redist__copier {
    REDIST__KERNEL,
    REDIST__NONTEMPORAL,
    REDIST__ENGINES,
    REDIST__LINK,
    REDIST__CACHED = REDIST__KERNEL
};

/**
 * A memory space: one const table, with every function unless stated otherwise. Streams and events are those of the
 * space's library (cudaStream_t, cudaEvent_t); NULL is its default stream. Work in a stream runs in order, concurrently
 * with the host and other streams. Host memory has one stream and one event, NULL, and all work is complete on return.
 * Functions that return int return REDIST_OK, or REDIST_ERR_MEMORY or REDIST_ERR_DEVICE with a message that names the
 * call. After a failure no work of the call is pending in its stream. None is collective, except those of shared
 * memory.
 */
typedef struct redist__space {
    const char *name;
    enum redist_space id;
    int asynchronous;

    /** Finds the current context of this thread, without `space` and the stream of the place. All five NULL = the space
     * has no devices. */
    int (*find_place)(redist_place *place);
    /** Makes the device of a place current for this thread, and permits calls that captures of other streams would
     * forbid; REDIST_ERR_DEVICE if the context is destroyed. In either case `leave` restores the thread's state. In the
     * place of a destroyed context the other functions touch nothing of the device: those that release do nothing,
     * others fail. */
    int (*enter)(const redist_place *place, redist_visit *visit);
    void (*leave)(const redist_visit *visit);
    /** Checks that a stream is of the current device, else REDIST_ERR_ARGUMENT with a message that names the function
     * and its argument. */
    int (*check_stream)(const char *function, const char *name, void *stream);
    enum redist_capture (*find_capture)(void *stream);

    /** Returns why this machine has no such memory; NULL = it has. */
    const char *(*absent)(void);
    /** Return whether an address is of this space; and check that this rank may use it now, else REDIST_ERR_ARGUMENT
     * with a message that names the function and its argument. */
    int (*recognises)(const void *array);
    int (*check_array)(const char *function, const char *name, const void *array);
    /** Translates an error of the space's library, in a message that names `what`, and clears it. NULL = no library. */
    int (*check_call)(int error, const char *what);

    /** Finds the free bytes, and a number that identifies their device on all ranks; 0 and 0 = unknown. */
    int (*find_free)(size_t *bytes, unsigned long long *identity);
    /** Finds the PCI address of a device (-1 = the current one) in Linux's notation; 0 = no such device. NULL = no
     * devices. */
    int (*find_address)(int device, size_t bytes, char text[]);
    /** Allocate memory of this rank alone, and pinned host memory. */
    int (*allocate)(size_t bytes, void **memory);
    void (*release)(void *memory);
    int (*allocate_pinned)(size_t bytes, void **memory);
    void (*release_pinned)(void *memory);
    int (*clear)(void *memory, size_t bytes);
    /** Raises a word to another one in a stream, if that is higher; the word may be in pinned memory, where the host
     * writes at any time, too. NULL = no streams. */
    int (*raise)(uint64_t *word, const uint64_t *to, void *stream);
    /** Pins an array of the host, 0 = failure; and returns whether it is pinned already. */
    int (*pin)(void *array, size_t bytes);
    void (*unpin)(void *array);
    int (*is_pinned)(const void *array, size_t bytes);

    /** Returns a shared stream of the library on the current device, for any index. */
    void *(*stream)(int index);
    int (*stream_create)(void **stream);
    int (*stream_create_urgent)(void **stream); /**< of higher priority */
    void (*stream_destroy)(void *stream);
    int (*stream_is_idle)(void *stream, int *idle);
    /** Reports failures so far in a stream, which may be captured, or on its device. NULL = none are possible. */
    int (*stream_check)(void *stream);
    int (*stream_wait)(void *stream);                /**< the host waits for the stream */
    int (*stream_follow)(void *stream, void *event); /**< its next work waits for an event */
    /** Waits for all work of the library on the device of this thread's place, and for the stream of that place unless
     * it is captured; outside of a place for all work on the current device. */
    void (*drain)(void);

    int (*event_create)(void **event);
    void (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_is_reached)(void *event, int *reached);
    int (*event_wait)(void *event);

    /** Memory that peers map (redist_alloc_in; collective), as libredist's runtime/space.h describes it. */
    int (*create)(struct redist__context *context, size_t bytes, void **array);
    struct redist__context *(*remove)(const void *array);
    int (*has)(const void *array); /**< is it such memory, mapped or not? NULL = all is mapped */
    void (*expect)(struct redist__mappings *mappings); /**< before mappings; or NULL */
    struct redist__memory_handle (*export_memory)(const void *array, size_t bytes);
    char *(*map)(const struct redist__memory_handle *handle, struct redist__mappings *mappings);
    void (*unmap)(struct redist__mappings *mappings);

    /** Copies of boxes: one, and several at once (runtime/space.h). */
    int (*copy)(const struct redist__copy *copy, const void *source, void *destination,
                enum redist__copier copier, void *stream);
    int (*batch_run)(struct redist__batch *batch, int first, int count, void *stream);

    /** Begin and end the capture of this thread's work in a stream, and in those that follow it, as a graph for replay.
     * Both NULL = no graphs; a stream may be unable to at the moment. */
    int (*stream_can_keep)(void *stream);
    int (*graph_begin)(void *stream);
    int (*graph_end)(void *stream, void **graph); /**< NULL after a failure */
    int (*graph_replay)(void *graph, void *stream);
    void (*graph_free)(void *graph); /**< may be running */
} redist__space;

/** Returns nonzero (enum redist_loss) if this thread is in the place of a destroyed context: nothing of the device may
 * be touched. Not collective. */
REDIST_API int redist_place_is_gone(void);

/** Returns the table of a space (REDIST_SPACE_AUTO = host); NULL if this build has none. Not collective. */
REDIST_API const redist__space *redist_space_at(enum redist_space space);

/**
 * Begins to copy a box in a stream of a space, between its memory and the host's or within either.
 *   space   REDIST_SPACE_HOST: the copy is complete on return
 *   stream  of the space; without pinned host memory the copy is not asynchronous
 * The other arguments are those of redist_copy_box.
 * Not collective. Errors: ERR_ARGUMENT (no such space), ERR_DEVICE.
 */
REDIST_API int redist_copy_box_in(enum redist_space space, void *stream, int ndims,
                                  const redist_index count[], size_t item, const void *source,
                                  const ptrdiff_t source_stride[], void *destination,
                                  const ptrdiff_t destination_stride[]);

#ifdef __cplusplus
}
#endif

#endif
