/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * redist_exchange: the exchange without a plan. Each communicator keeps the plans of its last calls. Every rank finds
 * the plans that match its own arguments, and one reduction those that match on all ranks; without one, the ranks make
 * a new plan, with all checks, which replaces the least recently used. All ranks keep the same plans in the same order,
 * since they agree on each step.
 */
#include "api.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { KEPT = 8 };

/* Bits that ranks agree on by a bitwise and: the matching plans, and the result of the last execution. */
enum { MATCHES_ALL = (1 << KEPT) - 1, NOBODY_FAILED = 1 << KEPT, ALL_FAILED = 2 << KEPT };

/* The arguments of this rank, and the properties on which its method depends. */
struct key {
    int axes[2];
    redist_index sizes[2][REDIST_MAX_NDIMS];
    struct redist__memory_handle memory[2]; /* the allocations that peers can map */
    uint64_t type; /* number of a datatype that can be freed; 0 = it cannot */
    unsigned wisdom;
};

struct kept {
    redist_plan *plan; /* NULL = this slot is free */
    struct key key;
    unsigned used; /* time of the last use, in calls */
};

struct redist__exchanges {
    struct redist__kept kept_by_context;
    struct kept kept[KEPT];
    unsigned calls;
    int failed;                 /* the code of the last execution on this rank */
    int latest;                 /* the slot that it used */
    int has_type_key, type_key; /* of the attribute that numbers datatypes */
    uintptr_t types_numbered;
};

struct call {
    MPI_Datatype datatype;
    int ndims, axes[2];
    const redist_index *sizes[2];
    void *arrays[2];
};

/* ---------------------------------------------------------------- datatypes */

/* A datatype may be freed and its handle given to another one: an attribute, deleted with the datatype, holds a number
 * that is unique in this communicator. */

/* A number that no datatype has. */
static const uint64_t no_type = UINT64_MAX;

static uint64_t read_type(const struct redist__exchanges *exchanges, MPI_Datatype datatype) {
    void *number = NULL;
    int found = 0;
    if (exchanges->has_type_key &&
        MPI_Type_get_attr(datatype, exchanges->type_key, &number, &found) != MPI_SUCCESS)
        found = 0;
    return found ? (uint64_t)(uintptr_t)number : no_type;
}

static uint64_t number_type(struct redist__exchanges *exchanges, MPI_Datatype datatype) {
    int integers, addresses, types, combiner;
    int result = MPI_Type_get_envelope(datatype, &integers, &addresses, &types, &combiner);
    if (result == MPI_SUCCESS && combiner == MPI_COMBINER_NAMED)
        return 0;
    uint64_t number = read_type(exchanges, datatype);
    if (result != MPI_SUCCESS || number != no_type)
        return number;
    if (!exchanges->has_type_key)
        exchanges->has_type_key =
            MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN,
                                   &exchanges->type_key, NULL) == MPI_SUCCESS;
    uintptr_t next = ++exchanges->types_numbered;
    return exchanges->has_type_key &&
                   MPI_Type_set_attr(datatype, exchanges->type_key, (void *)next) == MPI_SUCCESS
               ? next
               : no_type;
}

/* ---------------------------------------------------------------- plans that match on this rank */

static int is_same_type(const struct redist__exchanges *exchanges, const struct kept *kept,
                        MPI_Datatype datatype) {
    return kept->plan->request.datatype == datatype &&
           (kept->key.type == 0 ||
            (kept->key.type != no_type && read_type(exchanges, datatype) == kept->key.type));
}

static int is_same_shape(const struct kept *kept, const struct call *call) {
    const size_t bytes = (size_t)call->ndims * sizeof(redist_index);
    return kept->plan->request.ndims == call->ndims && kept->key.axes[0] == call->axes[0] &&
           kept->key.axes[1] == call->axes[1] &&
           memcmp(kept->key.sizes[0], call->sizes[0], bytes) == 0 &&
           memcmp(kept->key.sizes[1], call->sizes[1], bytes) == 0;
}

/* Compares space and mappability: an allocation that some peers cannot map does not match. */
static int is_same_memory(const struct kept *kept, const struct call *call, int side) {
    const struct redist__space *space = kept->plan->problem.space;
    size_t bytes = kept->plan->transfer.side[side].bytes;
    const void *array = call->arrays[side];
    if (bytes == 0)
        return 1;
    if (array == NULL || redist_space_at(redist__space_of(array)) != space ||
        space->check_array("redist_exchange", side == 0 ? "a" : "b", array) != REDIST_OK)
        return 0;
    struct redist__memory_handle handle = space->export_memory(array, bytes);
    return handle.key == kept->key.memory[side].key && handle.base == kept->key.memory[side].base;
}

static int are_separate(const struct kept *kept, const struct call *call) {
    const struct redist__side *side = kept->plan->transfer.side;
    uintptr_t a = (uintptr_t)call->arrays[0], b = (uintptr_t)call->arrays[1];
    return side[0].bytes == 0 || side[1].bytes == 0 || a >= b + side[1].bytes ||
           b >= a + side[0].bytes;
}

/* Compares with the current device, on which a new plan would work. */
static int is_same_place(const struct kept *kept) {
    const redist_place *own = &kept->plan->problem.place;
    redist_place now = {.context = 0};
    return own->space == NULL ||
           (own->space->find_place(&now) == REDIST_OK && now.context == own->context);
}

static int matches(const struct redist__exchanges *exchanges, const struct kept *kept,
                   const struct call *call) {
    return kept->plan != NULL && kept->key.wisdom == redist__wisdom_age() &&
           is_same_shape(kept, call) && is_same_type(exchanges, kept, call->datatype) &&
           is_same_place(kept) && is_same_memory(kept, call, 0) && is_same_memory(kept, call, 1) &&
           are_separate(kept, call);
}

/* Returns the bits of matching plans; wrong arguments are found when a plan is made. */
static int find_matching(const struct redist__exchanges *exchanges, const struct call *call) {
    int bits = 0;
    if (call->sizes[0] == NULL || call->sizes[1] == NULL || call->ndims < 2 ||
        call->ndims > REDIST_MAX_NDIMS)
        return 0;
    for (int i = 0; i < KEPT; i++)
        bits |= matches(exchanges, &exchanges->kept[i], call) << i;
    return bits;
}

/* ---------------------------------------------------------------- keeping plans */

static void free_kept(struct redist__context *context, struct kept *kept) {
    if (kept->plan == NULL)
        return;
    int tag = kept->plan->request.tag;
    redist__plan_destroy(kept->plan);
    redist__tags_give(context, tag);
    kept->plan = NULL;
}

static void free_exchanges(struct redist__context *context, struct redist__kept *kept) {
    struct redist__exchanges *exchanges = (struct redist__exchanges *)kept;
    for (int i = 0; i < KEPT; i++)
        free_kept(context, &exchanges->kept[i]);
    if (exchanges->has_type_key)
        MPI_Type_free_keyval(&exchanges->type_key);
    redist_release(exchanges);
}

static struct redist__exchanges *find_exchanges(const struct redist__context *context) {
    return (struct redist__exchanges *)redist__kept(context, REDIST__KEPT_PLANS, free_exchanges,
                                                    NULL);
}

/* The least recently used slot, the same on all ranks. */
static struct kept *oldest(struct redist__exchanges *exchanges) {
    struct kept *oldest = &exchanges->kept[0];
    for (int i = 1; i < KEPT && oldest->plan != NULL; i++) {
        struct kept *kept = &exchanges->kept[i];
        if (kept->plan == NULL || exchanges->calls - kept->used > exchanges->calls - oldest->used)
            oldest = kept;
    }
    return oldest;
}

static struct key describe(struct redist__exchanges *exchanges, const redist_plan *plan,
                           const struct call *call) {
    struct key key = {.axes = {call->axes[0], call->axes[1]},
                      .type = number_type(exchanges, call->datatype),
                      .wisdom = redist__wisdom_age()};
    for (int side = 0; side < 2; side++) {
        key.memory[side] =
            plan->problem.space->export_memory(call->arrays[side], plan->transfer.side[side].bytes);
        memcpy(key.sizes[side], call->sizes[side], (size_t)call->ndims * sizeof(redist_index));
    }
    return key;
}

/* Keeps a new plan. The communicator owns it: the plan holds no reference, and is no handle of the user. */
static int keep_new(struct redist__context *context, MPI_Comm comm, const struct call *call,
                    int *slot) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan *plan = NULL;
    struct redist__kept *provided;
    options.effort = REDIST_ESTIMATE;
    REDIST_TRY(redist__provide(context, REDIST__KEPT_PLANS, sizeof(struct redist__exchanges),
                               free_exchanges, &provided));
    REDIST_TRY(redist__plan_exchange_in(
        "redist_exchange", comm, call->datatype, call->ndims, call->sizes[0], call->arrays[0],
        call->axes[0], call->sizes[1], call->arrays[1], call->axes[1], &options, &plan));
    redist_handle_remove(plan);
    redist__context_release(context);
    struct redist__exchanges *exchanges = (struct redist__exchanges *)provided;
    struct kept *kept = oldest(exchanges);
    free_kept(context, kept);
    *kept = (struct kept){.plan = plan, .key = describe(exchanges, plan, call)};
    *slot = (int)(kept - exchanges->kept);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- agreement */

/* Reports a failure of the last execution that some ranks do not know yet, and frees the plan. */
static int settle_failure(struct redist__context *context, int common, int *matching) {
    struct redist__exchanges *exchanges = find_exchanges(context);
    int code = REDIST_OK;
    *matching = common & ~(1 << exchanges->latest);
    if (!(common & ALL_FAILED)) {
        if (exchanges->failed != REDIST_OK)
            redist_fail_in("redist_exchange", exchanges->failed,
                           "the last exchange on this communicator failed on this rank");
        code = redist_agree(context->comm, exchanges->failed);
    }
    free_kept(context, &exchanges->kept[exchanges->latest]);
    exchanges->failed = REDIST_OK;
    return code;
}

/* The slot of the plan for this call; *slot = -1 if there is none. */
static int find_kept(struct redist__context *context, const struct call *call, int *slot) {
    struct redist__exchanges *exchanges = find_exchanges(context);
    int own = 0, common = 0;
    *slot = -1;
    if (exchanges == NULL) /* on all ranks */
        return REDIST_OK;
    own = find_matching(exchanges, call);
    own |= exchanges->failed == REDIST_OK ? NOBODY_FAILED : ALL_FAILED;
    REDIST_TRY(redist__find_common(context, own, &common));
    if (!(common & NOBODY_FAILED))
        REDIST_TRY(settle_failure(context, common, &common));
    *slot = ffs(common & MATCHES_ALL) - 1;
    return REDIST_OK;
}

/* ---------------------------------------------------------------- the exchange */

static int execute(struct redist__exchanges *exchanges, int slot, const struct call *call) {
    struct kept *kept = &exchanges->kept[slot];
    redist_visit visit;
    kept->used = ++exchanges->calls;
    exchanges->latest = slot;
    redist__enter_plan(kept->plan, &visit);
    redist__expect_mappings(&kept->plan->problem);
    redist__transport_execute(&kept->plan->transport, REDIST_FORWARD, call->arrays[0],
                              call->arrays[1]);
    exchanges->failed = redist__failure_report(&kept->plan->failure);
    redist__close_mappings(&kept->plan->problem); /* the user may free arrays of a device now */
    redist_leave(&visit);
    return exchanges->failed;
}

static int run(MPI_Comm comm, struct redist__context *context, const struct call *call) {
    int slot, code = find_kept(context, call, &slot);
    if (code == REDIST_OK && slot < 0)
        code = keep_new(context, comm, call, &slot);
    return code == REDIST_OK ? execute(find_exchanges(context), slot, call) : code;
}

int redist_exchange(MPI_Comm comm, MPI_Datatype datatype, int ndims, const redist_index sizes_a[],
                    const void *a, int axis_a, const redist_index sizes_b[], void *b, int axis_b) {
    const struct call call = {
        datatype, ndims, {axis_a, axis_b}, {sizes_a, sizes_b}, {(void *)(size_t)a, b}};
    struct redist__context *context;
    REDIST_TRY(redist_check_comm(comm));
    REDIST_TRY(redist__context_get(comm, &context));
    int code = run(comm, context, &call);
    redist__context_release(context);
    return code;
}
