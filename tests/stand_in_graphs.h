/* SPDX-License-Identifier: BSD-3-Clause */
/** Graphs of the stand-in: what its streams keep while all of them are captured, and replay. */
#ifndef TESTS_STAND_IN_GRAPHS_H
#define TESTS_STAND_IN_GRAPHS_H

#include <stddef.h>

int stand_in_is_capturing(void);

/** Keeps work of a stream, or an event that a stream sets (`sets`) or waits for. REDIST_ERR_DEVICE if the capture is
 * spoilt; what is kept after that is never done. */
int stand_in_keep(void *stream, void (*run)(void *data), const void *data, size_t bytes);
int stand_in_keep_event(void *stream, void *event, int sets);

/** As those of struct redist__space; stream_device_free frees a graph. */
int stand_in_stream_can_keep(void *stream);
int stand_in_graph_begin(void *stream);
int stand_in_graph_end(void *stream, void **graph);
int stand_in_graph_replay(void *graph, void *stream);

#endif
