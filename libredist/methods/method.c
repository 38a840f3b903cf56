/* SPDX-License-Identifier: BSD-3-Clause */
/* The register of methods. */
#include "method.h"

#include <stdio.h>
#include <string.h>

/* REDIST__METHODS is what the build registers. */
#define DECLARE(name) extern const struct redist__method redist__method_##name;
REDIST__METHODS(DECLARE)
#define POINTER_TO(name) &redist__method_##name,
static const struct redist__method *const methods[] = {REDIST__METHODS(POINTER_TO)};

enum { METHODS = sizeof methods / sizeof methods[0] };

int redist_method_count(void) {
    return METHODS;
}

const char *redist_method_name(int index) {
    return index >= 0 && index < METHODS ? methods[index]->name : NULL;
}

const char *redist_method_summary(int index) {
    return index >= 0 && index < METHODS ? methods[index]->summary : NULL;
}

void redist__candidate_name(const struct redist__candidate *candidate, size_t bytes, char name[]) {
    const char *const *variants = candidate->method->variants;
    if (variants != NULL && variants[candidate->variant][0] != '\0')
        snprintf(name, bytes, "%s:%s", candidate->method->name, variants[candidate->variant]);
    else
        snprintf(name, bytes, "%s", candidate->method->name);
}

static int is_requested(const char *request, const struct redist__candidate *candidate) {
    if (request == NULL || strcmp(request, "auto") == 0 ||
        strcmp(request, candidate->method->name) == 0)
        return 1;
    char name[REDIST__NAME_BYTES];
    redist__candidate_name(candidate, sizeof name, name);
    return strcmp(request, name) == 0;
}

int redist__candidates(const char *request, int most, struct redist__candidate candidates[]) {
    int count = 0;
    for (int m = 0; m < METHODS; m++) {
        struct redist__candidate candidate = {methods[m], 0};
        do {
            if (count < most && is_requested(request, &candidate))
                candidates[count++] = candidate;
            candidate.variant++;
        } while (candidate.method->variants != NULL &&
                 candidate.method->variants[candidate.variant] != NULL);
    }
    return count;
}

int redist_check_asynchronous(MPI_Comm comm, enum redist_space space) {
    struct redist__problem problem = {.space = redist_space_at(space)};
    REDIST_TRY(redist__context_get(comm, &problem.context));
    int code = REDIST_ERR_METHOD;
    for (int i = METHODS - 1; i >= 0 && code != REDIST_OK; i--)
        if (methods[i]->check_ranks != NULL)
            code = methods[i]->check_ranks(&problem);
    redist__context_release(problem.context);
    return code;
}

int redist_method_exists(const char *request) {
    struct redist__candidate candidate;
    return redist__candidates(request, 1, &candidate) > 0;
}

int redist_check_method_in(const char *function, const char *request) {
    char names[256] = "auto";
    if (redist_method_exists(request))
        return REDIST_OK;
    for (size_t m = 0, end = strlen(names); m < METHODS && end < sizeof names; m++)
        end += (size_t)snprintf(names + end, sizeof names - end, ", %s", methods[m]->name);
    return redist_fail_in(function, REDIST_ERR_METHOD,
                          "options->method = \"%.40s\" is not known; there are: %s", request,
                          names);
}

const struct redist__method *redist__serving(const struct redist__problem *problem,
                                             const struct redist__method *method) {
    const struct redist__method *other = method->serving != NULL ? method->serving(problem) : NULL;
    return other != NULL ? other : method;
}

static int check_format(const struct redist__problem *problem,
                        const struct redist__method *method) {
    if (problem->format == NULL)
        return REDIST_OK;
    int is_device = problem->space->asynchronous;
    if (problem->tiles == REDIST_GET ||
        (problem->tiles == REDIST_PUT && is_device && !method->formats_tiles))
        return redist__fail(
            REDIST_ERR_METHOD,
            "method %s gets tiles in the format of the arrays only, but options->wire = %s",
            method->name, redist_wire_name(problem->format->wire));
    if (!method->formats)
        return redist__fail(REDIST_ERR_METHOD,
                            "method %s packs no messages, which %s needs: use method p2p, "
                            "alltoallv, kway, on devices nccl, or, between nodes, hier",
                            method->name, redist_wire_name(problem->format->wire));
    return REDIST_OK;
}

static int check_tiles(const struct redist__problem *problem, const struct redist__method *method) {
    const struct redist__method *serving = redist__serving(problem, method);
    if (problem->partitions > 1 && serving->arrived == NULL && serving->await == NULL)
        return redist__fail(REDIST_ERR_METHOD,
                            "method %s does not know which partitions have arrived", method->name);
    if (problem->tiles == REDIST_WHOLE ||
        (problem->tiles == REDIST_PUT ? serving->put : serving->get))
        return REDIST_OK;
    return redist__fail(REDIST_ERR_METHOD, "method %s does not work in tiles", method->name);
}

int redist__check_mode(const struct redist__problem *problem, const struct redist__method *method) {
    if (problem->asynchronous && method->modes == REDIST__COMPLETES)
        return redist__fail(REDIST_ERR_METHOD,
                            "method %s needs the host while it moves data, which "
                            "options.asynchronous excludes",
                            method->name);
    if (!problem->asynchronous && method->modes == REDIST__ENQUEUES)
        return redist__fail(REDIST_ERR_METHOD, "method %s is for options.asynchronous, on devices",
                            method->name);
    REDIST_TRY(check_format(problem, method));
    return check_tiles(problem, method);
}

int redist__preference(const struct redist__problem *problem,
                       const struct redist__candidate *candidate) {
    return candidate->method->preference != NULL ? candidate->method->preference(problem, candidate)
                                                 : 0;
}

int redist__find_best(const struct redist__problem *problem, const char *request,
                      int (*applies)(const struct redist__problem *problem,
                                     const struct redist__candidate *candidate),
                      struct redist__candidate *best) {
    struct redist__candidate candidates[REDIST__MOST_CANDIDATES];
    int n = redist__candidates(request, REDIST__MOST_CANDIDATES, candidates), code = REDIST_OK;
    best->method = NULL;
    for (int i = n - 1; i >= 0; i--) {
        int refused = applies(problem, &candidates[i]);
        if (refused != REDIST_OK)
            code = refused;
        else if (best->method == NULL ||
                 redist__preference(problem, &candidates[i]) >= redist__preference(problem, best))
            *best = candidates[i];
    }
    return best->method != NULL ? REDIST_OK : code;
}

int redist__transport_create(const struct redist__problem *problem,
                             const struct redist__candidate *candidate,
                             struct redist__transport *transport) {
    MPI_Comm comm = problem->context->comm;
    const struct redist__method *method = redist__serving(problem, candidate->method);
    *transport = (struct redist__transport){*candidate, method, NULL};
    int code = candidate->method->applies(problem, candidate);
    if (code == REDIST_OK)
        code = candidate->method->create(problem, candidate, &transport->state);
    code = redist_agree(comm, code);
    if (code == REDIST_OK && method->connect != NULL)
        code = method->connect(transport->state);
    if (code != REDIST_OK)
        redist__transport_destroy(transport);
    return code;
}

void redist__transport_execute(struct redist__transport *transport, int direction,
                               const void *source, void *destination) {
    if (transport->method->execute != NULL) {
        transport->method->execute(transport->state, direction, source, destination);
        return;
    }
    redist__transport_start(transport, direction, source, destination);
    redist__transport_wait(transport);
}

void redist__transport_destroy(struct redist__transport *transport) {
    if (transport->state != NULL)
        transport->method->destroy(transport->state);
    *transport = (struct redist__transport){0};
}
