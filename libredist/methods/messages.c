/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages.h"

/* ---------------------------------------------------------------- making */

static MPI_Request *create_requests(int n) {
    MPI_Request *requests = redist_calloc((size_t)n, sizeof *requests);
    for (int i = 0; i < n && requests != NULL; i++)
        requests[i] = MPI_REQUEST_NULL;
    return requests;
}

int redist__messages_create(struct redist__messages *messages,
                            const struct redist__problem *problem, int count) {
    *messages = (struct redist__messages){.problem = problem, .count = count};
    messages->sends = create_requests(count);
    messages->receives = create_requests(count);
    messages->later = redist_calloc((size_t)count, sizeof *messages->later);
    if (messages->sends == NULL || messages->receives == NULL || messages->later == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for %d messages", count);
    return REDIST_OK;
}

/* Returns whether a request is pending; cancels a receive without a message if told to. */
static int is_active(MPI_Request *request, int cancels) {
    int done = 1;
    if (*request == MPI_REQUEST_NULL)
        return 0;
    if (cancels)
        (void)MPI_Cancel(request);
    (void)MPI_Test(request, &done, MPI_STATUS_IGNORE);
    return *request != MPI_REQUEST_NULL;
}

int redist__messages_free(struct redist__messages *messages) {
    int active = 0;
    for (int i = 0; i < messages->count; i++) {
        if (messages->receives != NULL)
            active |= is_active(&messages->receives[i], 1);
        if (messages->sends != NULL)
            active |= is_active(&messages->sends[i], 0);
    }
    redist_release(messages->sends);
    redist_release(messages->receives);
    redist_release(messages->later);
    *messages = (struct redist__messages){0};
    return active;
}

/* ---------------------------------------------------------------- posting */

/* Gives up, since MPI refuses messages that the peers wait for. */
static void give_up(struct redist__messages *messages) {
    messages->lost = 1;
    redist__give_up(messages->problem->context);
}

/* Returns whether a peer has freed the plan, after which no message is waited for. */
static int is_lost(struct redist__messages *messages) {
    messages->lost |= redist__life_is_over(messages->problem->life);
    return messages->lost;
}

/* Returns whether MPI has begun no message: a call that returns an error may still have begun it. */
static int is_refused(struct redist__messages *messages, int result, const MPI_Request *request) {
    redist__failure_note_mpi(messages->problem->failure, result);
    return result != MPI_SUCCESS && *request == MPI_REQUEST_NULL;
}

/* Posts a message, empty after a failure. */
static void post(struct redist__messages *messages, int i, int sends, void *buffer, int count,
                 MPI_Datatype type, int peer, int tag) {
    MPI_Request *request = sends ? &messages->sends[i] : &messages->receives[i];
    MPI_Comm comm = messages->problem->context->comm;
    int refused = !is_lost(messages);
    for (int attempt = 0; attempt < 2 && refused; attempt++) {
        int sent = redist__has_failed(messages->problem) ? 0 : count;
        int result = sends ? MPI_Isend(buffer, sent, type, peer, tag, comm, request)
                           : MPI_Irecv(buffer, count, type, peer, tag, comm, request);
        refused = is_refused(messages, result, request);
    }
    if (refused)
        give_up(messages);
}

void redist__messages_receive(struct redist__messages *messages, int i, void *buffer, int count,
                              MPI_Datatype type, int peer, int tag) {
    post(messages, i, 0, buffer, count, type, peer, tag);
}

void redist__messages_collect(struct redist__messages *messages,
                              int (*begin)(const void *data, MPI_Comm comm, MPI_Request *request),
                              const void *data) {
    MPI_Comm comm = messages->problem->context->comm;
    MPI_Request *request = &messages->sends[0];
    int refused = !is_lost(messages);
    for (int attempt = 0; attempt < 2 && refused; attempt++)
        refused = is_refused(messages, begin(data, comm, request), request);
    if (refused)
        give_up(messages);
}

/* Sends a message once it is filled, after a failure at once. */
static void send_if_filled(struct redist__messages *messages, int i) {
    struct redist__later_send *later = &messages->later[i];
    int reached = 1;
    redist__attempt(messages->problem,
                    messages->problem->space->event_is_reached(later->event, &reached));
    if (!reached && !redist__has_failed(messages->problem))
        return;
    later->event = NULL;
    messages->nlater--;
    post(messages, i, 1, later->buffer, later->count, later->type, later->peer, later->tag);
}

void redist__messages_send(struct redist__messages *messages, int i, void *event, void *buffer,
                           int count, MPI_Datatype type, int peer, int tag) {
    if (event == NULL) {
        post(messages, i, 1, buffer, count, type, peer, tag);
        return;
    }
    messages->later[i] = (struct redist__later_send){event, buffer, count, peer, tag, type};
    messages->nlater++;
    send_if_filled(messages, i);
}

/* Sends filled messages, in their order, in which they are filled: a query of each event would take too long. */
static void send_filled(struct redist__messages *messages) {
    int waits = 0;
    for (int i = 0; i < messages->count && messages->nlater != 0 && !waits; i++)
        if (messages->later[i].event != NULL) {
            send_if_filled(messages, i);
            waits = messages->later[i].event != NULL;
        }
}

/* ---------------------------------------------------------------- completing */

static void note_empty(struct redist__messages *messages, MPI_Status *status) {
    int bytes = 0;
    int result = redist__try(messages->problem->failure, MPI_Get_count(status, MPI_BYTE, &bytes));
    if (result != MPI_SUCCESS)
        give_up(messages);
    if (result == MPI_SUCCESS && bytes == 0)
        redist__failure_note_peer(messages->problem->failure, status->MPI_SOURCE, REDIST_OK);
}

int redist__messages_test(struct redist__messages *messages, int *left) {
    int i = MPI_UNDEFINED, done = 0;
    MPI_Status status;
    send_filled(messages);
    int result = redist__try(messages->problem->failure,
                             MPI_Testany(messages->count, messages->receives, &i, &done, &status));
    *left = result == MPI_SUCCESS && (!done || i != MPI_UNDEFINED || messages->nlater != 0);
    if (result != MPI_SUCCESS)
        give_up(messages);
    if (result != MPI_SUCCESS || !done || i == MPI_UNDEFINED)
        return -1;
    note_empty(messages, &status);
    return i;
}

void redist__messages_pause(struct redist__messages *messages, unsigned poll) {
    int code = redist__pause(messages->problem->context, poll);
    redist__failure_note(messages->problem->failure, code);
    if (code != REDIST_OK)
        give_up(messages);
    else
        (void)is_lost(messages);
}

int redist__messages_next(struct redist__messages *messages) {
    int left = 1;
    for (unsigned poll = 0; !messages->lost; poll++) {
        int i = redist__messages_test(messages, &left);
        if (i >= 0 || !left)
            return i;
        redist__messages_pause(messages, poll);
    }
    return -1;
}

void redist__messages_wait(struct redist__messages *messages, int i) {
    MPI_Status status;
    int done = messages->receives[i] == MPI_REQUEST_NULL, awaited = !done;
    for (unsigned poll = 0; !done && !messages->lost; poll++) {
        int result = redist__try(messages->problem->failure,
                                 MPI_Test(&messages->receives[i], &done, &status));
        if (result != MPI_SUCCESS)
            give_up(messages);
        if (!done)
            redist__messages_pause(messages, poll);
    }
    if (awaited && done)
        note_empty(messages, &status);
}

void redist__messages_end(struct redist__messages *messages) {
    while (redist__messages_next(messages) >= 0)
        ;
    int done = 0;
    for (int i = 0; i < messages->count && messages->lost; i++)
        (void)is_active(&messages->receives[i], 1);
    for (unsigned poll = 0; !done && !messages->lost; poll++) {
        int result =
            redist__try(messages->problem->failure,
                        MPI_Testall(messages->count, messages->sends, &done, MPI_STATUSES_IGNORE));
        if (result != MPI_SUCCESS)
            give_up(messages);
        if (!done)
            redist__messages_pause(messages, poll);
    }
}
