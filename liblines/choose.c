/* SPDX-License-Identifier: BSD-3-Clause */
/* The serial libraries of this build, which lists them: LINES__LIBRARIES(X) is X(name) for each. */
#include "lines.h"

#define DECLARE(name) extern const struct lines__library lines__library_##name;
LINES__LIBRARIES(DECLARE)

#define ADDRESS(name) &lines__library_##name,
static const struct lines__library *const libraries[] = {LINES__LIBRARIES(ADDRESS) NULL};

const struct lines__library *lines__library_at(int i) {
    return libraries[i];
}

const struct lines__library *lines__library_for(enum redist_space space) {
    enum redist_space wanted = space == REDIST_SPACE_AUTO ? REDIST_SPACE_HOST : space;
    int i = 0;
    while (libraries[i] != NULL && (libraries[i]->percent != NULL || libraries[i]->space != wanted))
        i++;
    return libraries[i];
}

const struct lines__library *lines__choose(const struct lines__problem *problem, const void *in,
                                           const void *out) {
    const struct lines__library *best = problem->general;
    int least = 100;
    for (int i = 0; libraries[i] != NULL; i++) {
        int may = libraries[i]->percent != NULL && (problem->filled[0] == 0 || libraries[i]->fills);
        int percent = may ? libraries[i]->percent(problem, in, out) : 0;
        if (percent > 0 && percent < least) {
            best = libraries[i];
            least = percent;
        }
    }
    return best;
}

const char *lines__unavailable(enum redist_space space) {
    const struct lines__library *library = lines__library_for(space);
    if (library == NULL)
        return "this build has no serial FFT library for it (for CUDA devices: build with "
               "-Dcuda=enabled)";
    return redist_space_at(library->space)->absent();
}
