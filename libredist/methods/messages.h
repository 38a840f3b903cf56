/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of one execution, for all methods that send and receive them.
 *
 * Every message that the description promises is sent and received, also after a failure: a failed rank sends empty
 * ones. So no rank waits in vain, no message is left over for a later execution, and a rank that receives an empty
 * message learns of the failure. Only messages with elements may be posted here.
 */
#ifndef REDIST__MESSAGES_H
#define REDIST__MESSAGES_H

#include "method.h"

/* A send that waits for its event. */
struct redist__later_send {
    void *event; /* or NULL */
    void *buffer;
    int count, peer, tag;
    MPI_Datatype type;
};

struct redist__messages {
    const struct redist__problem *problem;
    int count; /* of sends, and of receives; MPI_REQUEST_NULL unless pending */
    MPI_Request *sends, *receives;
    struct redist__later_send *later; /* for each send */
    int nlater;
    int lost; /* MPI or a peer does not complete them: no longer waited for */
};

/* Allocates `count` sends and as many receives; to be freed also after a failure. REDIST_ERR_MEMORY. */
int redist__messages_create(struct redist__messages *messages,
                            const struct redist__problem *problem, int count);

/* Returns nonzero if MPI may still use the buffers of a message: they have to stay until the process ends. */
int redist__messages_free(struct redist__messages *messages);

/* Post message i, `count` elements; failures are recorded. A send waits for the event that fills its buffer, if any. */
void redist__messages_receive(struct redist__messages *messages, int i, void *buffer, int count,
                              MPI_Datatype type, int peer, int tag);
void redist__messages_send(struct redist__messages *messages, int i, void *event, void *buffer,
                           int count, MPI_Datatype type, int peer, int tag);

/* Begins a collective call of MPI in place of the first send; `begin` gets `data`. */
void redist__messages_collect(struct redist__messages *messages,
                              int (*begin)(const void *data, MPI_Comm comm, MPI_Request *request),
                              const void *data);

/* Returns a completed receive without waiting; -1 = none now. *left is 0 when all messages are received and sent. */
int redist__messages_test(struct redist__messages *messages, int *left);

/* Waits for the next receive; -1 after the last one. */
int redist__messages_next(struct redist__messages *messages);

/* Waits for receive i; returns at once if it is not pending. */
void redist__messages_wait(struct redist__messages *messages, int i);

/* Waits for all pending messages. Abandoned receives are cancelled. */
void redist__messages_end(struct redist__messages *messages);

/* Pauses a loop that waits for messages, in iteration `poll`; gives up when a peer is gone. */
void redist__messages_pause(struct redist__messages *messages, unsigned poll);

#endif
