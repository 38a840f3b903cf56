/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fields in stripes: some ranks of each node, the writers, have a run of consecutive pieces each. In rounds, each
 * writer's next piece is put together from the parts of all ranks, by messages, while a thread of the writer writes the
 * piece before; reading is the reverse.
 */
#ifndef REDIST__STRIPES_H
#define REDIST__STRIPES_H

#include "file.h"

/* Calls for the pieces of a writer, in its thread, which calls no MPI function. Each returns REDIST_OK or a code, with
 * a message by redist_fail_in; then the transfer fails on all ranks. NULL = nothing to do. */
struct redist__piece_hook {
    /* With each complete piece, in the order of the file: before it is written, or after it has been read, when `data`
     * may be changed. `piece` counts from 0 in each field */
    int (*piece)(void *context, int field, redist_index piece, void *data, size_t bytes);
    /* After the last piece, also on writers without any; not after a failure */
    int (*end)(void *context);
    void *context;
};

/* Returns whether this rank is a writer, which needs a descriptor. Rank 0 is one. Not collective. */
int redist__stripes_is_writer(const struct redist__file *file);

/* A transfer that has started. */
struct redist__stripes;

/*
 * Starts a transfer between arrays and a file that the writers have opened: for reading and writing if it is written
 * and elements have gaps.
 *   descriptor  of a writer; -1 elsewhere. The caller closes it after redist__stripes_finish
 *   keeps       the arrays may be changed on return, and the writers keep their whole stripes until the end
 *   hook        NULL = none; lives until redist__stripes_finish, as `file` does
 *   stripes     out: the transfer, to be ended by redist__stripes_finish unless this fails
 * Collective on the file's communicator, the same result on all ranks.
 */
int redist__stripes_start(const struct redist__file *file, int descriptor, int keeps,
                          const struct redist__piece_hook *hook, struct redist__stripes **stripes);

/* Waits for the end of the writers' threads, and frees the transfer. Collective, the same result on all ranks. */
int redist__stripes_finish(struct redist__stripes *stripes);

/* redist__stripes_start and _finish. */
int redist__stripes_run(const struct redist__file *file, int descriptor,
                        const struct redist__piece_hook *hook);

/* Cuts a field into its pieces. */
void redist__field_cut(const struct redist__file *file, int field, struct redist_pieces *pieces);

#endif
