/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of one execution, for all methods that send and receive them.
 *
 * Every message that the description promises is sent and received, whatever fails: a rank that failed
 * sends empty ones. No rank waits for a message that does not come, none is left over for a later execution, and
 * a rank that receives an empty message knows of the failure. Only messages with elements may be posted here.
 */
#ifndef REDIST__MESSAGES_H
#define REDIST__MESSAGES_H

#include "method.h"

/* A send that waits for its event. */
struct redist__later_send {
    void *event; /* NULL = there is none */
    void *buffer;
    int count, peer, tag;
    MPI_Datatype type;
};

struct redist__messages {
    const struct redist__problem *problem;
    int count; /* of sends, and of receives; those not under way are MPI_REQUEST_NULL */
    MPI_Request *sends, *receives;
    struct redist__later_send *later; /* for each send */
    int nlater;
    int lost; /* MPI or a peer does not complete them: they are waited for no more */
};

/* Room for `count` sends and as many receives; to be freed also if it fails. REDIST_ERR_MEMORY. */
int redist__messages_create(struct redist__messages *messages,
                            const struct redist__problem *problem, int count);

/* Returns nonzero if MPI may still use the buffers of a message: they have to stay until the process ends. */
int redist__messages_free(struct redist__messages *messages);

/* Posts message i, `count` elements. Failures are noted. A send waits for an event of the problem's space that fills
 * its buffer, in the functions below; NULL = it is filled. */
void redist__messages_receive(struct redist__messages *messages, int i, void *buffer, int count,
                              MPI_Datatype type, int peer, int tag);
void redist__messages_send(struct redist__messages *messages, int i, void *event, void *buffer,
                           int count, MPI_Datatype type, int peer, int tag);

/* Begins a collective call of MPI in the place of the first send; `begin` gets `data`. */
void redist__messages_collect(struct redist__messages *messages,
                              int (*begin)(const void *data, MPI_Comm comm, MPI_Request *request),
                              const void *data);

/* A receive that is complete, without waiting; -1 = there is none now. *left is 0 when there will be
 * none any more, and all has been sent. */
int redist__messages_test(struct redist__messages *messages, int *left);

/* Waits for the next one; -1 = there is none any more. */
int redist__messages_next(struct redist__messages *messages);

/* Waits for receive i, which is complete at once if it is not under way. */
void redist__messages_wait(struct redist__messages *messages, int i);

/* Waits for all that is under way. Receives that are given up are called off. */
void redist__messages_end(struct redist__messages *messages);

/* MPI refuses what the peers wait for: nobody waits for anybody any more. */
void redist__messages_give_up(struct redist__messages *messages);

/* One step of a loop that waits for messages, the poll-th: gives them up when a peer is gone. */
void redist__messages_pause(struct redist__messages *messages, unsigned poll);

#endif
