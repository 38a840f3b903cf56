/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work space: memory of a plan, in which its operators have arrays too, as only one of them runs at a time. An operator
 * allocates what has no room there, and later ones have arrays in that as well.
 */
#include "parts.h"

#include <strings.h>

enum { MOST_LENT = 30 }; /* bits of a reduction */

static struct fftnd__engine *lender_of(struct fftnd__engine *engine) {
    return engine->lender != NULL ? engine->lender : engine;
}

/* Bytes that arrays of the engine have in an allocation. */
static size_t bytes_in(const struct fftnd__engine *engine, const struct fftnd__work *work) {
    size_t bytes = 0;
    for (int i = 0; i < FFTND__WORK_ARRAYS; i++)
        if (engine->held[i] == work)
            bytes += engine->work_bytes[i];
    return bytes;
}

/* Puts an array behind those that the engine has in the allocation. */
static void hold(struct fftnd__engine *engine, int i, struct fftnd__work *work) {
    char *memory = work->memory;
    engine->work[i] = memory != NULL ? memory + bytes_in(engine, work) : NULL;
    engine->held[i] = work;
    work->users++;
}

/* Provides the description of an allocation: the first one is part of the engine, so that making a plan has no failure
 * of its own to agree on here. Collective. */
static int describe(struct fftnd__engine *engine, struct fftnd__work **work) {
    struct fftnd__engine *lender = lender_of(engine);
    if (lender->works == NULL) {
        lender->own_work = (struct fftnd__work){.memory = NULL};
        *work = &lender->own_work;
        return REDIST_OK;
    }
    *work = redist_calloc(1, sizeof **work);
    return redist_agree(engine->transform.comm,
                        *work != NULL
                            ? REDIST_OK
                            : redist_fail_in("libfftnd", REDIST_ERR_MEMORY,
                                             "no memory for an allocation's description"));
}

static void forget(struct fftnd__engine *engine, struct fftnd__work *work) {
    if (work != &lender_of(engine)->own_work)
        redist_release(work);
}

static void release(struct fftnd__engine *engine, int i) {
    struct fftnd__work *work = engine->held[i], **link = &lender_of(engine)->works;
    engine->work[i] = NULL;
    engine->held[i] = NULL;
    if (work == NULL || --work->users > 0)
        return;
    while (*link != work)
        link = &(*link)->next;
    *link = work->next;
    fftnd__offload_unpin_work(engine->transform.offload, work->memory);
    fftnd__spare_put(engine, work);
    forget(engine, work);
}

/* Puts an array into the first allocation that has room for it on all ranks, if any. Collective. */
static int borrow(struct fftnd__engine *engine, int i) {
    const struct fftnd__engine *lender = lender_of(engine);
    struct fftnd__work *work = lender->works;
    int fits = 0, common = 0;
    for (int bit = 0; work != NULL && bit < MOST_LENT; bit++, work = work->next)
        fits |= (bytes_in(engine, work) + engine->work_bytes[i] <= work->bytes) << bit;
    REDIST_TRY(redist_all_common(engine->transform.comm, lender->works_differ ? 0 : fits, &common));
    work = lender->works;
    for (int bit = 1; bit < ffs(common); bit++)
        work = work->next;
    if (common != 0)
        hold(engine, i, work);
    return REDIST_OK;
}

/* Allocates memory for the arrays that have none, the last one of the list. Collective. */
static int allocate(struct fftnd__engine *engine, size_t bytes) {
    struct fftnd__work *work, **link = &lender_of(engine)->works;
    int code = describe(engine, &work);
    if (code == REDIST_OK)
        code = fftnd__spare_take(engine, bytes, work);
    if (code != REDIST_OK) {
        forget(engine, work);
        return code;
    }
    while (*link != NULL)
        link = &(*link)->next;
    *link = work;
    for (int i = 0; i < FFTND__WORK_ARRAYS; i++)
        if (engine->held[i] == NULL)
            hold(engine, i, work);
    fftnd__offload_pin(engine->transform.offload, FFTND__PIN_WORK, work->memory, work->bytes);
    return REDIST_OK;
}

int fftnd__work_take(struct fftnd__engine *engine) {
    size_t bytes = 0;
    int is_missing = 0;
    for (int i = 0; i < FFTND__WORK_ARRAYS; i++) {
        if (lender_of(engine)->works != NULL)
            REDIST_TRY(borrow(engine, i));
        is_missing |= engine->held[i] == NULL;
        bytes += engine->held[i] == NULL ? engine->work_bytes[i] : 0;
    }
    if (is_missing)
        REDIST_TRY(allocate(engine, bytes));
    engine->has_workspace = 1;
    return REDIST_OK;
}

void fftnd__work_take_from_user(struct fftnd__engine *engine, char *memory) {
    struct fftnd__offload *offload = engine->transform.offload;
    engine->workspace = memory;
    for (int i = 0; i < FFTND__WORK_ARRAYS; i++) {
        engine->work[i] = memory;
        memory = memory != NULL ? memory + engine->work_bytes[i] : NULL;
    }
    engine->has_workspace = 1;
    if (engine->transform.settings.pin_arrays)
        fftnd__offload_pin(offload, FFTND__PIN_WORK, engine->workspace, fftnd__engine_work(engine));
}

/* A rank frees an operator that has failed before others know. */
void fftnd__work_give(struct fftnd__engine *engine) {
    fftnd__offload_unpin_work(engine->transform.offload, engine->workspace);
    engine->workspace = NULL;
    for (int i = 0; i < FFTND__WORK_ARRAYS; i++)
        release(engine, i);
    engine->has_workspace = 0;
    lender_of(engine)->works_differ |= engine->failure.code != REDIST_OK;
}

size_t fftnd__engine_work(const struct fftnd__engine *engine) {
    size_t bytes = 0;
    for (int i = 0; i < FFTND__WORK_ARRAYS; i++)
        bytes += engine->work_bytes[i];
    return bytes;
}

size_t fftnd__work_allocated(const struct fftnd__engine *engine, int is_held) {
    size_t bytes = 0;
    for (const struct fftnd__work *work = engine->works; work != NULL; work = work->next) {
        int holds = 0;
        for (int i = 0; i < FFTND__WORK_ARRAYS; i++)
            holds |= engine->held[i] == work;
        bytes += holds == is_held ? work->bytes : 0;
    }
    return bytes;
}
