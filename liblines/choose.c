/* SPDX-License-Identifier: BSD-3-Clause */
/* The serial libraries of this build, which lists them: LINES__LIBRARIES(X) is X(name) for each. */
#include "lines.h"

#define DECLARE(name) extern const struct lines__library lines__library_##name;
LINES__LIBRARIES(DECLARE)

#define ADDRESS(name) &lines__library_##name,
static const struct lines__library *const libraries[] = {LINES__LIBRARIES(ADDRESS)};

const struct lines__library *lines__library_for(enum redist_space space) {
    enum redist_space wanted = space == REDIST_SPACE_AUTO ? REDIST_SPACE_HOST : space;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (libraries[i]->is_suited == NULL && libraries[i]->space == wanted)
            return libraries[i];
    return NULL;
}

const struct lines__library *lines__choose(const struct lines__problem *problem, const void *in,
                                           const void *out) {
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (libraries[i]->is_suited != NULL && libraries[i]->is_suited(problem, in, out))
            return libraries[i];
    return problem->library;
}

const char *lines__unavailable(enum redist_space space) {
    const struct lines__library *library = lines__library_for(space);
    if (library == NULL)
        return "this build has no serial FFT library for it (for CUDA devices: build with "
               "-Dcuda=enabled)";
    return redist_space_at(library->space)->absent();
}
