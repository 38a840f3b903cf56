/* SPDX-License-Identifier: BSD-3-Clause */
/* Method hier: one message for each pair of nodes. */
#ifndef REDIST__HIER_NODES_H
#define REDIST__HIER_NODES_H

#include "method.h"

struct redist__node_messages;

/* Sets *messages also if it fails, so that they can be freed. Collective, the same result on all
 * ranks. */
int redist__node_messages_create(const struct redist__problem *problem,
                                 struct redist__node_messages **messages);
/* Collective; NULL is allowed. */
void redist__node_messages_free(struct redist__node_messages *messages);

void redist__node_messages_start(struct redist__node_messages *messages, int direction,
                                 const void *source, void *destination);

/* Does what can be done without waiting, and returns whether anything is left. */
int redist__node_messages_advance(struct redist__node_messages *messages);

/* Waits for the rest. */
void redist__node_messages_wait(struct redist__node_messages *messages);

size_t redist__node_messages_bytes(const struct redist__node_messages *messages);

#endif
