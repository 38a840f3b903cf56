/* SPDX-License-Identifier: BSD-3-Clause */
/* Method hier: one message for each pair of nodes, as an unregistered method. It moves no parts of this rank's node;
 * `progress` continues while the node's ranks exchange theirs. */
#ifndef REDIST__HIER_NODES_H
#define REDIST__HIER_NODES_H

#include "method.h"

extern const struct redist__method redist__node_messages;

#endif
