/* SPDX-License-Identifier: BSD-3-Clause */
#include "stand_in_graphs.h"

#include <stdlib.h>
#include <string.h>

#include "../libredist/runtime/space.h"
#include "stand_in_streams.h"
#include "stream_device.h"

/* What was captured, in the order of the calls. */
struct graph {
    struct captured {
        void *stream, *event; /* the one that is set or waited for; NULL = work */
        int sets;
        void (*run)(void *data);
        void *data;
        size_t bytes;
    } * list;
    int count, room;
};

static struct graph *capture;
static int spoils = -1; /* which call of a capture fails, and what comes after it; -1 = none */
static int replays;

/* ---------------------------------------------------------------- capturing */

int stand_in_is_capturing(void) {
    return capture != NULL;
}

static int is_spoilt(int calls) {
    return spoils >= 0 && calls >= spoils
               ? redist_fail_in("stand-in", REDIST_ERR_DEVICE, "the capture is spoilt")
               : REDIST_OK;
}

static int keep(struct captured call) {
    if (capture->count == capture->room) {
        capture->room = 2 * capture->room + 16;
        capture->list = realloc(capture->list, (size_t)capture->room * sizeof(*capture->list));
    }
    capture->list[capture->count++] = call;
    return is_spoilt(capture->count);
}

int stand_in_keep(void *stream, void (*run)(void *data), const void *data, size_t bytes) {
    struct captured call = {
        .stream = stream, .run = run, .data = malloc(bytes + 1), .bytes = bytes};
    memcpy(call.data, data, bytes);
    return keep(call);
}

int stand_in_keep_event(void *stream, void *event, int sets) {
    return keep((struct captured){.stream = stream, .event = event, .sets = sets});
}

/* All streams are captured at once, by whoever began. */
int stand_in_stream_can_keep(void *stream) {
    (void)stream;
    return capture == NULL;
}

int stand_in_graph_begin(void *stream) {
    (void)stream;
    int code = is_spoilt(0);
    if (code == REDIST_OK)
        capture = calloc(1, sizeof(*capture));
    return code;
}

int stand_in_graph_end(void *stream, void **graph) {
    (void)stream;
    int code = is_spoilt(spoils);
    *graph = code == REDIST_OK ? capture : NULL;
    if (code != REDIST_OK)
        stream_device_free(capture);
    capture = NULL;
    stand_in_settle();
    return code;
}

/* ---------------------------------------------------------------- replaying */

/* Like the call it was. */
static void repeat(const struct captured *call, void *stream) {
    if (call->event == NULL)
        (void)stand_in_give(stream, call->run, call->data, call->bytes);
    else if (call->sets)
        (void)redist__space_cuda.event_record(call->event, stream);
    else
        (void)redist__space_cuda.stream_follow(stream, call->event);
}

/* Whether what an event stands for is done, where a stream waits for one. */
static int may_begin(const struct graph *graph, int at, const char done[]) {
    const struct captured *call = &graph->list[at];
    for (int i = at - 1; call->event != NULL && !call->sets && i >= 0; i--)
        if (graph->list[i].sets && graph->list[i].event == call->event)
            return done[i];
    return 1;
}

/* The next call of a stream; -1 = there is none, or it has to wait. */
static int next_of(const struct graph *graph, const void *stream, const char done[]) {
    int at = 0;
    while (at < graph->count && (done[at] || graph->list[at].stream != stream))
        at++;
    return at < graph->count && may_begin(graph, at, done) ? at : -1;
}

/* All in one stream, in any order that events allow, as a device may do it: each rank in one of its own, and often what
 * one stream has as soon as it can begin. */
static void replay_in_turn(const struct graph *graph, void *stream) {
    const struct captured *list = graph->list;
    char *done = calloc((size_t)graph->count + 1, 1);
    const void *often = NULL;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    unsigned state = (unsigned)(1009 * replays + rank);
    for (int count = 0; count < graph->count;) {
        state = state * 1664525U + 1013904223U;
        const void *any = list[(state >> 8) % (unsigned)graph->count].stream;
        often = often != NULL ? often : any;
        int at = (state >> 30) == 0 ? -1 : next_of(graph, often, done);
        at = at < 0 ? next_of(graph, any, done) : at;
        if (at < 0)
            continue;
        repeat(&list[at], stream);
        done[at] = 1;
        count++;
    }
    free(done);
}

int stand_in_graph_replay(void *data, void *stream) {
    const struct graph *graph = data;
    REDIST_TRY(stand_in_check());
    if (++replays % 2 == 0)
        replay_in_turn(graph, stream);
    else
        for (int i = 0; i < graph->count; i++)
            repeat(&graph->list[i], graph->list[i].stream);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- for tests */

int stream_device_replays(void) {
    return replays;
}

int stream_device_spoil(int calls) {
    spoils = calls;
    return 1;
}

void stream_device_free(void *data) {
    struct graph *graph = data;
    if (graph == NULL)
        return;
    for (int i = 0; i < graph->count; i++)
        free(graph->list[i].data);
    free(graph->list);
    free(graph);
}
