/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreements in the executions of a plan, and lives of plans of other libraries. */
#include "comm.h"

int redist__life_agree(struct redist__life *life, const char *function, int code, int nvalues,
                       const redist_shared_value values[]) {
    life->context->agreeing = life;
    code = redist_agree_values_in(function, life->context->comm, code, nvalues, values);
    life->context->agreeing = NULL;
    return code;
}

int redist__life_lowest(struct redist__life *life, int value, int *lowest) {
    life->context->agreeing = life;
    int code = redist_all_lowest(life->context->comm, value, lowest);
    life->context->agreeing = NULL;
    return code;
}

/* ---------------------------------------------------------------- other libraries */

struct redist_life {
    struct redist__life life;
    struct redist__failure failure;
    struct redist__members members;
};

int redist_life_create(MPI_Comm comm, redist_life **result) {
    struct redist__context *context = NULL;
    (void)redist__context_find(comm, &context); /* cannot fail for a private one */
    redist_life *life = redist_calloc(1, sizeof *life);
    int tag, code = redist__tags_take("libredist", context, &tag);
    if (code == REDIST_OK && life == NULL)
        code = redist__fail(REDIST_ERR_MEMORY, "no memory for a plan");
    code = redist_agree(comm, code);
    if (code == REDIST_OK) {
        redist__life_begin(&life->life, context, tag, &life->failure);
        life->life.members = &life->members;
        atomic_fetch_add(&context->references, 1);
        *result = life;
        return REDIST_OK;
    }
    redist__tags_give(context, tag);
    redist_release(life);
    return code;
}

static int fail_ended(const struct redist__end *end) {
    return redist__fail(REDIST_ERR_PEER,
                        "rank %d of the plan's communicator has freed the operator after a failure",
                        end->peer);
}

int redist_life_agree(redist_life *life, long long member, const char *function, int code,
                      int nvalues, const redist_shared_value values[]) {
    struct redist__members *members = &life->members;
    code = redist__take_refusal(code);
    for (const struct redist__end *end;;) {
        end = member != 0 ? redist__life_find_end(&life->life, (uint64_t)member) : NULL;
        if (end != NULL)
            return code != REDIST_OK ? code : fail_ended(end);
        members->changes = redist__life_changes(members);
        int agreed = redist__life_agree(&life->life, function, code, nvalues, values);
        if (agreed == REDIST_ERR_ARGUMENT && redist__life_is_over(&life->life))
            return redist__life_check(&life->life); /* after which no call succeeds */
        if (redist__life_is_over(&life->life) ||
            members->changes == redist__life_changes(members)) {
            members->agreements++;
            return agreed;
        }
    }
}

void redist_life_end_member(redist_life *life, long long member) {
    const struct redist__end end = {(uint64_t)member, life->members.agreements,
                                    life->life.context->rank};
    redist__life_end_member(&life->life, &end);
}

void redist_life_end(redist_life **life, int code) {
    if (*life == NULL)
        return;
    struct redist__context *context = (*life)->life.context;
    redist__failure_note(&(*life)->failure, code);
    redist__life_end(&(*life)->life);
    redist__failure_forget(&(*life)->failure);
    redist_release((*life)->members.ends);
    redist__tags_give(context, (*life)->life.tag);
    redist__context_release(context);
    redist_release(*life);
    *life = NULL;
}
