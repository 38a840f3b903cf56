/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared flags of the direct method. */
#include "direct_control.h"
#include "../comm/error.h"
#include "../runtime/space.h"

enum { SLOTS = 64 };

struct redist__control {
    void *memory;                /* this rank's lines */
    struct redist__line **lines; /* first line of each rank of the node */
    char taken[SLOTS];
    uint64_t executions[SLOTS];
    struct redist__control *next;
};

static struct redist__control *allocate(const struct redist__context *context) {
    struct redist__control *control = redist_calloc(1, sizeof *control);
    if (control == NULL)
        return NULL;
    control->lines = redist_calloc((size_t)context->node_size, sizeof *control->lines);
    if (control->lines == NULL) {
        redist_release(control);
        return NULL;
    }
    return control;
}

static void destroy(struct redist__control *control) {
    if (control == NULL)
        return;
    if (control->memory != NULL)
        redist__space_host.remove(control->memory);
    redist_release(control->lines);
    redist_release(control);
}

static int map_lines(const struct redist__context *context, struct redist__control *control,
                     size_t bytes) {
    struct redist__line *mine = control->memory;
    for (int i = 0; i < SLOTS; i++) {
        atomic_store(&mine[i].ready, 0);
        atomic_store(&mine[i].done, 0);
        atomic_store(&mine[i].turns, 0);
        atomic_store(&mine[i].pieces, 0);
        atomic_store(&mine[i].failed, 0);
    }
    struct redist__memory_handle place = redist__space_host.export_memory(control->memory, bytes);
    for (place.rank = 0; place.rank < context->node_size; place.rank++)
        control->lines[place.rank] = (void *)redist__space_host.map(&place, NULL);
    if (place.key == 0)
        return redist__fail(REDIST_ERR_METHOD,
                            "the ranks of this node share no memory through this MPI");
    return REDIST_OK;
}

/* The closing agreement also tells that every rank has cleared its lines. */
static int create(struct redist__context *context) {
    size_t bytes = SLOTS * sizeof(struct redist__line);
    struct redist__control *control = allocate(context);
    int code =
        control != NULL ? REDIST_OK : redist__fail(REDIST_ERR_MEMORY, "no memory for shared flags");
    code = redist_agree(context->comm, code);
    if (code == REDIST_OK)
        code = redist__space_host.create(context, bytes, &control->memory);
    if (code == REDIST_OK)
        code = redist_agree(context->comm, map_lines(context, control, bytes));
    if (code != REDIST_OK) {
        destroy(control);
        return code;
    }
    control->next = context->controls;
    context->controls = control;
    return REDIST_OK;
}

static int find_free(struct redist__context *context, struct redist__slot *slot) {
    for (struct redist__control *control = context->controls; control != NULL;
         control = control->next)
        for (int i = 0; i < SLOTS; i++)
            if (!control->taken[i]) {
                *slot = (struct redist__slot){control, i, control->executions[i]};
                control->taken[i] = 1;
                return 1;
            }
    return 0;
}

int redist__slot_take(struct redist__context *context, struct redist__slot *slot) {
    if (find_free(context, slot))
        return REDIST_OK;
    int code = create(context);
    if (code == REDIST_OK)
        find_free(context, slot);
    return code;
}

void redist__slot_give(struct redist__slot *slot) {
    if (slot->control != NULL)
        slot->control->taken[slot->index] = 0;
    slot->control = NULL;
}

uint64_t redist__slot_next(struct redist__slot *slot) {
    return ++slot->control->executions[slot->index];
}

struct redist__line *redist__slot_line(const struct redist__slot *slot, int node_rank) {
    return &slot->control->lines[node_rank][slot->index];
}

void redist__control_free(struct redist__context *context) {
    while (context->controls != NULL) {
        struct redist__control *control = context->controls;
        context->controls = control->next;
        destroy(control);
    }
}
