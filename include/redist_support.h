/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Internal interface of libredist for libfftnd and the benchmarks: agreement between ranks, structures of other
 * versions, and the check of handles; redist_process.h is its part without MPI. This header is not installed, and may
 * change with any release.
 */
#ifndef REDIST_SUPPORT_H
#define REDIST_SUPPORT_H

#include "redist_file.h"
#include "redist_halo.h"
#include "redist_process.h"

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Turns the result of an MPI call into REDIST_OK or REDIST_ERR_MPI with MPI's own sentence. */
#define redist_check_mpi(result) redist_check_mpi_in(__func__, result)
REDIST_API int redist_check_mpi_in(const char *function, int result);

/** Repeats an MPI call that peers depend on once if it fails: else they would wait for this rank for ever. */
#define redist_insist(call) ((call) == MPI_SUCCESS ? MPI_SUCCESS : (call))

/**
 * Returns REDIST_OK when MPI is running and `comm` is an intracommunicator, else ERR_STATE or ERR_COMM.
 * Not collective.
 */
#define redist_check_comm(comm) redist_check_comm_in(__func__, comm)
REDIST_API int redist_check_comm_in(const char *function, MPI_Comm comm);

/** Returns REDIST_OK if options.method may be `request`, else ERR_METHOD: the message lists the methods. Not
 * collective. */
REDIST_API int redist_check_method_in(const char *function, const char *request);

/**
 * Makes all ranks return the same: REDIST_OK if every rank passes REDIST_OK, else the code and the
 * message of the lowest rank that failed.
 * Collective on comm.
 */
REDIST_API int redist_agree(MPI_Comm comm, int code);

/**
 * Collective operations on a communicator of the library (redist_private_comm, or its node's), consisting of messages:
 * when a rank has ended or given up they end on all others with ERR_PEER, where MPI's would wait for it. On another
 * communicator they are MPI's. All ranks pass the same sizes, types and roots. Received data are undefined after an
 * error. Errors: ERR_PEER, ERR_MPI, not the same on all ranks.
 *   redist_barrier      returns when all ranks have called it
 *   redist_broadcast    sends `bytes` bytes of rank `root` to all
 *   redist_all_lowest   the lowest value of all ranks
 *   redist_all_common   the bits that all ranks have
 *   redist_all_reduce   combines `count` elements of all ranks in place, by a commutative operation of MPI
 *   redist_all_gather   puts the `bytes` bytes of each rank into `all`, in the order of ranks
 */
REDIST_API int redist_barrier(MPI_Comm comm);
REDIST_API int redist_broadcast(MPI_Comm comm, void *data, size_t bytes, int root);
REDIST_API int redist_all_lowest(MPI_Comm comm, int value, int *lowest);
REDIST_API int redist_all_common(MPI_Comm comm, int bits, int *common);
REDIST_API int redist_all_reduce(MPI_Comm comm, void *data, int count, MPI_Datatype type,
                                 MPI_Op operation);
REDIST_API int redist_all_gather(MPI_Comm comm, const void *own, size_t bytes, void *all);

/** The name of a value of a public enumeration; NULL beyond its range, which begins with 0. Not collective. */
typedef const char *redist_name_of(int value);

/** Defines such a function, from REDIST_NAME(value) for each value. */
#define REDIST_NAME(value) [value] = #value
#define REDIST_NAMES(function, ...)                                                                \
    const char *function(int value) {                                                              \
        static const char *const names[] = {__VA_ARGS__};                                          \
        return value >= 0 && value < (int)(sizeof names / sizeof *names) ? names[value] : NULL;    \
    }

REDIST_API const char *redist_space_name(int value);
REDIST_API const char *redist_staging_name(int value);
REDIST_API const char *redist_wire_name(int value);
REDIST_API const char *redist_wire_scope_name(int value);
REDIST_API const char *redist_direction_name(int value);

/**
 * Returns REDIST_OK if `value` is one of an enumeration; the message names the argument, its value and the range. Not
 * collective. Errors: ERR_ARGUMENT.
 */
REDIST_API int redist_check_enum_in(const char *function, const char *argument,
                                    redist_name_of *name, long long value);

/** Type of a value that ranks compare; messages print it accordingly. */
enum redist_shared {
    REDIST_SHARED_NUMBER,
    REDIST_SHARED_TEXT,    /**< `data` is a string */
    REDIST_SHARED_INTS,    /**< `data` is a list, NULL = none; also of an enumeration */
    REDIST_SHARED_EXTENTS, /**< the same of redist_index */
    REDIST_SHARED_REALS    /**< the same of double */
};

/** A value that must be the same on all ranks, and the argument's name for the message. */
typedef struct redist_shared_value {
    const char *name;
    long long value;         /**< a number, or a hash of the data */
    redist_name_of *name_of; /**< of an enumeration's values; NULL = they are numbers */
    enum redist_shared type;
    const void *data; /**< unchanged until the ranks have agreed */
    size_t count;     /**< of a list; 1 is printed without braces */
} redist_shared_value;

/** Make such a value of a number, an enumeration, a text or a list. Not collective. */
REDIST_API redist_shared_value redist_share_number(const char *name, long long value);
REDIST_API redist_shared_value redist_share_enum(const char *name, int value,
                                                 redist_name_of *name_of);
REDIST_API redist_shared_value redist_share(const char *name, enum redist_shared type,
                                            const void *data, size_t count);

/**
 * Checks that all ranks pass the same values and that `code` is REDIST_OK on all of them. The message has the values of
 * rank 0 and of the lowest rank with another one.
 *   code    result of this rank's own checks; its message is kept if they failed
 *   nvalues number of values, <= 128; must be the same on all ranks
 *   values  the values; those of rank 0 are the ones compared with
 * Collective on comm. Errors: the lowest failing rank's code; ERR_DISAGREE.
 */
REDIST_API int redist_agree_values_in(const char *function, MPI_Comm comm, int code, int nvalues,
                                      const redist_shared_value values[]);

/**
 * The life of a plan that consists of others, for agreements in its executions. After a rank has freed it following a
 * failure, all that wait for that rank in an agreement, or enter one later, get ERR_PEER.
 *   redist_life_create  makes one; comm, one of redist_private_comm, lives at least as long. Collective on
 *                       comm. Errors: ERR_LIMIT (of tags), ERR_MEMORY, those of redist_agree
 *   redist_life_agree   redist_agree_values_in in an execution. Collective. `member`: number of the executed plan among
 *                       those that this one consists of, 0 = none of them alone. Errors: also ERR_PEER, once a rank
 *                       has ended the member
 *   redist_life_end_member  ends a member that failed on this rank, which takes no more part in agreements about it.
 *                       The 17th ends the plan, too. Not collective
 *   redist_life_end     frees it (NULL: nothing) and sets *life to NULL; `code`: of the plan's failure, REDIST_OK =
 *                       there was none. All ranks do so in the same order.
 */
typedef struct redist_life redist_life;
REDIST_API int redist_life_create(MPI_Comm comm, redist_life **life);
REDIST_API int redist_life_agree(redist_life *life, long long member, const char *function,
                                 int code, int nvalues, const redist_shared_value values[]);
REDIST_API void redist_life_end_member(redist_life *life, long long member);
REDIST_API void redist_life_end(redist_life **life, int code);

/** Returns a 63-bit hash of a string, to compare names across ranks; 0 only for NULL. */
REDIST_API long long redist_hash_text(const char *text);

/**
 * Returns a 63-bit hash of `bytes` bytes appended to the data of `hash` (0 = none), to compare lists across ranks. It
 * also depends on `bytes`, and on whether `data` is NULL, where `bytes` does not count: no list, an empty one and zeros
 * differ.
 * Not collective.
 */
REDIST_API long long redist_hash_bytes(long long hash, const void *data, size_t bytes);

/** Returns nonzero if options or the environment variable REDIST_VERBOSE request reports. Not collective. */
REDIST_API int redist_is_verbose(int asked);

/**
 * Returns the library's own communicator for the ranks of `comm`, which reports errors by return codes. It is made once
 * and lives until `comm` is freed or MPI is finalised.
 * Collective on comm the first time.
 */
REDIST_API int redist_private_comm(MPI_Comm comm, MPI_Comm *private_comm);

/** Finds it without making it: MPI_COMM_NULL if the library has none for `comm`. Not collective. Errors: ERR_MPI. */
REDIST_API int redist_private_comm_find(MPI_Comm comm, MPI_Comm *private_comm);

/**
 * Looks up an earlier choice for `key`, of this process or, with a file, of an earlier one.
 *   file    NULL = the environment variable REDIST_WISDOM, or none
 *   key     a word of everything that the choice depends on; longer ones are cut
 *   choice  out: room for `bytes` bytes; "" without a choice. It may be any text: a file can be edited
 * A file that cannot be read, or is not a wisdom file, counts as empty; rank 0 prints one warning about it to stderr in
 * each process. Incomplete lines, or longer ones than a key and a choice, are skipped; of a file of more than 16 MiB
 * only the last ones are read, after such a warning. Collective on comm; all ranks get rank 0's result. Errors:
 * ERR_MPI.
 */
REDIST_API int redist_wisdom_find(MPI_Comm comm, const char *file, const char *key, size_t bytes,
                                  char choice[]);

/**
 * Remembers a choice for `key`, for this process and, with a file, for later ones. A choice that is not a line of less
 * than REDIST_WISDOM_BYTES bytes is not remembered. If the file cannot be written or is locked by another process for
 * longer than some tenths of a second, the choice is remembered in this process only, after the same warning; a file
 * that is not a wisdom file is unchanged. Called on all ranks of comm, only rank 0 acts; it does not communicate and
 * does not fail: REDIST_OK.
 */
REDIST_API int redist_wisdom_store(MPI_Comm comm, const char *file, const char *key,
                                   const char *choice);

/**
 * Makes a pending execution of the plan, and all later ones, fail: on this rank with `code` and this thread's message,
 * on the others with REDIST_ERR_PEER. For users of tiles or of received data: a rank that cannot continue breaks its
 * plans, then makes the same collective calls as the others, so that none of them waits for it or takes incomplete data
 * for complete.
 *   code  not REDIST_OK
 * Not collective. Errors: ERR_STATE.
 */
REDIST_API int redist_plan_break(redist_plan *plan, int code);

/**
 * Ends this rank's part in the executions of an asynchronous plan, before it is freed. If any has failed, or the plan
 * was broken, no device waits for this rank any more, and the peers' executions fail. Freeing a plan does this too, but
 * waits for the ranks of the node then, which may wait for this rank in another plan of the same work: all of these are
 * left before the first of them is freed, joined ones always. Waits for the device. The plan is not executed any more.
 * Not collective. Errors: ERR_STATE.
 */
REDIST_API int redist_plan_leave(redist_plan *plan);

/**
 * Makes the executions of an asynchronous plan fail with those of another one, both parts of the same work: after a
 * failure of either on this rank's device no work of the other waits for a peer, and the ranks of the other learn of
 * it. No effect for methods that need their hosts. Neither plan may be executed after the other one is freed. Not
 * collective. Errors: ERR_STATE; ERR_METHOD if this plan uses NCCL and the other one does not: join that one with this
 * one.
 */
REDIST_API int redist_plan_join(redist_plan *plan, const redist_plan *other);

/**
 * Plans the exchange of redist_plan_boxes, which also fills the ghosts around the boxes in B: each becomes a copy of an
 * element of A. Backward, with REDIST_OVERLAP_ADD, each element of A becomes that of a box in B, to which the ghosts
 * that show it are added, in the order of ranks.
 *   halo     the ghosts of redist_plan_halo, not checked: all ranks pass the same, box_b has room for them, and the
 *            boxes in B do not overlap; backward those in A do neither, and the boxes in B cover them
 *   options  overlap is REDIST_OVERLAP_READ, for forward executions, or REDIST_OVERLAP_ADD; no tiles
 * The other arguments are those of redist_plan_boxes. Collective on comm. Errors: as redist_plan_boxes.
 */
REDIST_API int redist_plan_boxes_around(MPI_Comm comm, MPI_Datatype datatype, int ndims,
                                        const redist_index sizes[], const redist_box *box_a,
                                        void *a, const redist_box *box_b, void *b,
                                        const redist_halo *halo, const redist_options *options,
                                        redist_plan **plan);

/**
 * Finds an element of a global array that is in no box.
 *   sizes  global extents (ndims values)
 *   boxes  nboxes of them, each the `step`th one in the list; inside sizes, and disjoint
 *   hole   out: the element's index along each axis (ndims values), if there is one
 * Returns 1, or 0 if there is none. Not collective.
 */
REDIST_API int redist_find_hole(int ndims, const redist_index sizes[], int nboxes,
                                const redist_box boxes[], int step, redist_index hole[]);

/** Prints the place of an element in a global array, for messages. Not collective. */
enum { REDIST_PLACE_BYTES = 40 * REDIST_MAX_NDIMS };
REDIST_API void redist_print_place(int ndims, const redist_index index[],
                                   char text[REDIST_PLACE_BYTES]);

/**
 * Begins and ends, with `begins` 1 and 0, a time in which executions of an asynchronous plan are kept as a graph
 * instead of being done. Failures in between are not signalled to the peers, which do not wait yet, and are cleared at
 * the end: the execution can then be enqueued as if it had never begun.
 * Not collective. Errors: ERR_STATE.
 */
REDIST_API int redist_plan_rehearse(redist_plan *plan, int begins);

/** A box of array A, and its place in an array B: this rank's, or a peer's as mapped here. */
typedef struct redist_target {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS]; /**< of array A */
    char *memory;                                                  /**< of the element at `start` */
    ptrdiff_t stride[REDIST_MAX_NDIMS]; /**< bytes between neighbours in that array B */
} redist_target;

/** Stores a tile in its targets, or enqueues that in a stream of the plan's space. Returns REDIST_OK or an error's
 * code. */
typedef int redist_store(void *data, int ntargets, const redist_target targets[], void *stream);

/** Returns nonzero if redist_plan_store_directly works with the plan: one with REDIST_PUT, and a method that maps
 * the peers' arrays, for plans without partitions, or stores into the messages: each partition of each rank is a target
 * then. The same on all ranks. Not collective. */
REDIST_API int redist_plan_has_direct_stores(const redist_plan *plan);

/**
 * Puts a tile that the caller stores itself: `store` is called once, on targets that may be written, with a stream
 * ordered after the work in the user's stream. It is not called for a tile without elements, or after a failure. In one
 * execution a rank puts all its tiles in the same way; other ranks may use redist_plan_put.
 *   data  for `store`
 * Not collective. Errors: as redist_plan_put, and those of `store`.
 */
REDIST_API int redist_plan_store_directly(redist_plan *plan, const redist_index start[],
                                          const redist_index count[], redist_store *store,
                                          void *data);

/**
 * Begins an execution as redist_plan_put_begin, while the stream still has work that does not touch the destination:
 * peers may write there once the device has reached an event.
 *   event  of the space, recorded in the user's stream
 * Collective on the plan's communicator. Errors: as redist_plan_put_begin.
 */
REDIST_API int redist_plan_put_begin_behind(redist_plan *plan, void *destination, void *event);

/** Returns nonzero if redist_plan_local_target works with the plan: one with REDIST_PUT, in memory of a device, and a
 * method that copies this rank's part of a tile separately. The same on all ranks. Not collective. */
REDIST_API int redist_plan_has_local_stores(const redist_plan *plan);

/**
 * Finds the place of this rank's part of a tile in its own array B, for a caller that stores it there itself, in the
 * user's stream or synchronously, before it puts the rest by redist_plan_put_rest. Between redist_plan_put_begin and
 * _end.
 *   start, count  the tile, as for redist_plan_put
 *   target        out, if this rank has a part
 *   found         out: whether it has
 * Not collective. Errors: as redist_plan_put.
 */
REDIST_API int redist_plan_local_target(const redist_plan *plan, const redist_index start[],
                                        const redist_index count[], redist_target *target,
                                        int *found);

/** Puts a tile whose part for this rank is already in array B (redist_plan_local_target); as redist_plan_put. */
REDIST_API int redist_plan_put_rest(redist_plan *plan, const redist_index start[],
                                    const redist_index count[], const void *tile,
                                    const ptrdiff_t stride[]);

/**
 * Prepares a plan with REDIST_PUT and options.segments, in memory of a device, for tiles, one for each segment, whose
 * memory is used again within an execution, by redist_plan_put_release.
 * Called on all ranks, with the same result; it does not communicate. Errors: ERR_METHOD if the method needs the memory
 * of all tiles to the end.
 */
REDIST_API int redist_plan_reuse_tiles(redist_plan *plan);

/**
 * Waits until the tiles that were put with this address in the open execution are read no more; if the plan is
 * asynchronous, the user's stream waits. They are sent before others.
 *   tile  as for redist_plan_put. Without such a tile nothing happens
 * Not collective. Errors: as redist_plan_put; ERR_STATE without redist_plan_reuse_tiles.
 */
REDIST_API int redist_plan_put_release(redist_plan *plan, const void *tile);

/** Names this thread's work until redist_range_end for profilers; ranges nest. Not collective. */
REDIST_API void redist_range_begin(const char *name);
REDIST_API void redist_range_end(void);

/** Counts the ranks of `comm` on this rank's node. Collective on comm the first time. */
REDIST_API int redist_node_size(MPI_Comm comm, int *node_size);

/**
 * Makes a process grid of some ranks, as redist_grid_create and redist_grid_create_by_node.
 *   nranks   the first ones of `comm`, sorted by node if `by_node`; must agree, as all others
 * On the other ranks the grid has the same dimensions, coordinates of -1, null communicators, and empty boxes.
 * Collective on comm.
 */
REDIST_API int redist_grid_create_on(MPI_Comm comm, int nranks, int by_node, int ndims,
                                     const int dims[], redist_grid **grid);

/**
 * Finds the nodes of the ranks of `comm`, numbered by their lowest ranks.
 *   by_node  nonzero: for ranks arranged as by redist_grid_create_by_node
 *   nnodes   out: number of nodes
 *   node_of  out: the node of each rank; the array lives as long as the communicator
 * Collective on comm the first time. Errors: ERR_COMM, ERR_STATE, ERR_MEMORY, ERR_MPI.
 */
REDIST_API int redist_nodes(MPI_Comm comm, int by_node, int *nnodes, const int **node_of);

/**
 * Finds the fastest copy loops of this machine, unless that is done: remembered, or, if the effort is not
 * REDIST_ESTIMATE and arrays are larger than any second-level cache, measured in some tenths of a second.
 *   options            effort and wisdom_file; must agree
 *   largest_bytes      of the largest array of any rank; must agree
 *   nontemporal_bytes  out: size beyond which arrays are stored past the caches; the same on all ranks
 * Collective on comm. Errors: ERR_COMM, ERR_STATE, ERR_MEMORY, ERR_MPI.
 */
REDIST_API int redist_choose_loops(MPI_Comm comm, const redist_options *options,
                                   size_t largest_bytes, size_t *nontemporal_bytes);

/**
 * Finds the place of new plans: the current device, and a stream of it that is not captured.
 *   name   of the stream, for the message; NULL = no stream of the user
 *   place  out; all zero for a space without devices
 * Not collective. Errors: ERR_ARGUMENT (the stream's device), ERR_STATE (it is captured), ERR_DEVICE.
 */
REDIST_API int redist_place_find(const char *function, const redist__space *space, const char *name,
                                 void *stream, redist_place *place);

/**
 * Enter and leave the place of a plan, around each call with it; the thread's state is restored at the end. Calls nest;
 * a nested one in the same context costs nothing.
 *   place  lives until the end; zero = nothing is entered
 *   visit  out, of redist_enter
 * Not collective. Errors: ERR_DEVICE, if the device was reset or its work has failed; also then redist_leave has to be
 * called.
 */
REDIST_API int redist_enter(const redist_place *place, redist_visit *visit);
REDIST_API void redist_leave(const redist_visit *visit);

/**
 * Checks that asynchronous plans for arrays in a space can be made on a communicator: its ranks have a device each,
 * and are on one node or the library has NCCL. Call it in the place of these plans. Collective on comm. Errors:
 * ERR_METHOD, ERR_DEVICE, ERR_MEMORY, ERR_MPI.
 */
REDIST_API int redist_check_asynchronous(MPI_Comm comm, enum redist_space space);

/**
 * Checks that executions can use the stream of a place now: it is not captured, or they are `asynchronous`. Captures
 * stay valid.
 * Not collective. Errors: ERR_STATE.
 */
REDIST_API int redist_check_capture(const char *function, const redist_place *place,
                                    int asynchronous);

/**
 * Checks that a serial library can make plans on a device, in its default stream: no stream that this one waits for is
 * captured.
 * Not collective. Errors: ERR_STATE.
 */
REDIST_API int redist_check_default_stream(const char *function, const struct redist__space *space);

/** Result of an agreement: a plan for mapped arrays must use plain ones. Not an error. */
enum { REDIST_TAKES_PLAIN = -1 };

/**
 * Returns REDIST_OK for an array that peers map; REDIST_TAKES_PLAIN for plain memory of the library, if the plan's
 * ranks agree on that (`agrees`) or all detect it; else REDIST_ERR_ARGUMENT, whose message names the array and the
 * promise.
 * Not collective.
 */
REDIST_API int redist_check_mapped(const char *function, const char *name, const char *promise,
                                   enum redist_space space, const void *array, size_t bytes,
                                   int agrees);

/** Warns once, on rank 0, that plans for mapped arrays use plain ones. Not collective. */
REDIST_API void redist_warn_plain(MPI_Comm comm);

/**
 * Returns nonzero if peers on the node can map memory: of redist_alloc or, on a device, as of redist_alloc_in.
 *   space  of the memory
 *   array  `bytes` bytes of it
 * Not collective.
 */
REDIST_API int redist_is_mappable(enum redist_space space, const void *array, size_t bytes);

/**
 * Structures that callers pass begin with their size (size_t) in the caller's header. Only these functions read it.
 */

/**
 * Copies a caller's structure over the defaults of the library's: an older, smaller one leaves the defaults of missing
 * fields; a newer, larger one must be 0 beyond the library's.
 *   name   of the argument, for the message
 *   own    the library's structure of `bytes` bytes; own->size becomes `bytes`
 * Not collective. Errors: ERR_NULL, ERR_ARGUMENT.
 */
REDIST_API int redist_struct_read(const char *function, const char *name, const void *user,
                                  void *own, size_t bytes);

/**
 * Returns REDIST_OK if the member `reserved` of a structure is 0, as later versions may give it a meaning.
 *   name  of the argument, for the message
 * Not collective. Errors: ERR_ARGUMENT.
 */
REDIST_API int redist_check_reserved_in(const char *function, const char *name, int reserved);

/** Copies the library's structure to the caller's, up to user->size, which is unchanged. As redist_struct_read. */
REDIST_API int redist_struct_write(const char *function, const char *name, const void *own,
                                   size_t bytes, void *user);

/** Makes a caller's structure of `size` bytes the default one of `bytes` bytes, and 0 beyond. As redist_struct_read. */
REDIST_API int redist_struct_init(const char *function, void *user, size_t size,
                                  const void *defaults, size_t bytes);

/** Defines the function `type`_init, which makes a caller's structure the default one. */
#define REDIST_INITIALISER(type, DEFAULT)                                                          \
    int type##_init(type *user, size_t size) {                                                     \
        const type defaults = DEFAULT;                                                             \
        return redist_struct_init(__func__, user, size, &defaults, sizeof defaults);               \
    }

/** Times as long as an exact exchange, or transform, above which one in a format is declined. */
#define REDIST_SLOWEST_FORMAT 1.03

/** Keeps the shared object of the address `inside`, a library or a program's plugin, loaded until the process ends,
 * also after dlclose: MPI calls functions of it in MPI_Finalize, or threads run in it. */
REDIST_API void redist_stay_loaded(const void *inside);

/** Begins a thread without signals, which are for the program's threads; the caller's object stays loaded. Returns 0 or
 * the error number of pthread_create. Not collective. */
REDIST_API int redist_thread_begin(pthread_t *thread, void *(*run)(void *data), void *data);

/** A member of an object that uses MPI and that the program may forget to free. */
typedef struct redist_closer {
    /** Releases resources that need MPI. Collective, as freeing the object is; memory may remain for a later call */
    void (*close)(struct redist_closer *closer);
    unsigned long long number; /**< of the communicator: all ranks close in the same order */
    struct redist_closer *newer, *older;
} redist_closer;

/** Lets MPI_Finalize close an object of a communicator of the library (redist_private_comm), unless it is removed
 * before; removing an absent one does nothing. Not collective. */
REDIST_API void redist_closer_add(MPI_Comm comm, redist_closer *closer,
                                  void (*close)(redist_closer *closer));
REDIST_API void redist_closer_remove(redist_closer *closer);

/** Added to redist_options.wire_scope: the plan keeps its format, however slow it is, as the caller measures them. */
enum { REDIST_WIRE_KEPT = 1 << 8 };

/**
 * Data that another library keeps with a communicator of redist_private_comm, until the user frees the communicator, or
 * MPI is finalised. `dispose` frees what the data refer to, and identifies them; it is called on all ranks.
 *   redist_kept_find     returns the data, NULL without any. Not collective
 *   redist_kept_provide  finds the data, or makes them of `bytes` zero bytes: the same on all ranks. *data is NULL
 *                        after the user has freed the communicator, to which plans may still refer. Collective on
 *                        comm. Errors: ERR_MEMORY, those of redist_agree
 *   redist_kept_dispose  calls `dispose` for the data of all communicators, which stay. Collective on all of these
 */
REDIST_API void *redist_kept_find(MPI_Comm comm, void (*dispose)(void *data));
REDIST_API int redist_kept_provide(MPI_Comm comm, size_t bytes, void (*dispose)(void *data),
                                   void **data);
REDIST_API void redist_kept_dispose(void (*dispose)(void *data));

/** Kinds of handles that can be checked. */
enum redist_handle_kind {
    REDIST_HANDLE_GRID,
    REDIST_HANDLE_PLAN,
    REDIST_HANDLE_FFT,
    REDIST_HANDLE_OPERATOR,
    REDIST_HANDLE_FILE,
    REDIST_HANDLE_CHECKPOINT,
    REDIST_HANDLE_HDF5
};

/** This rank's part of a field: in the selected array, and in memory. */
typedef struct redist_field_part {
    const char *name;
    MPI_Datatype datatype;
    int ndims;
    redist_index sizes[REDIST_MAX_NDIMS]; /**< of the selected array */
    redist_index start[REDIST_MAX_NDIMS];
    redist_index count[REDIST_MAX_NDIMS]; /**< all 0 without elements */
    ptrdiff_t stride[REDIST_MAX_NDIMS];   /**< bytes between selected neighbours */
    char *first;                          /**< the first selected element */
    enum redist_space space;              /**< of the array on this rank */
} redist_field_part;

/**
 * Checks fields and agrees on them, as redist_write does if `writes`, else as redist_read.
 *   parts  out: one for each field
 * Collective on comm. Errors: those of redist_write, before it touches the file.
 */
REDIST_API int redist_check_fields_in(const char *function, MPI_Comm comm, int writes, int nfields,
                                      const redist_field fields[], redist_field_part parts[]);

/** Records a valid handle; 0 without memory. */
REDIST_API int redist_handle_add(const void *handle, int kind);

/** Removes a handle. */
REDIST_API void redist_handle_remove(const void *handle);

/** Returns nonzero if `handle` is valid and of that kind. */
REDIST_API int redist_handle_is(const void *handle, int kind);

#ifdef __cplusplus
}
#endif

#endif
