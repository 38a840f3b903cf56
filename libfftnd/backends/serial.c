/* SPDX-License-Identifier: BSD-3-Clause */
/* The serial FFT libraries of this build. The build lists them: FFTND__SERIALS(X) is X(name) for each. */
#include "serial.h"

#define DECLARE(name) extern const struct fftnd__serial fftnd__serial_##name;
FFTND__SERIALS(DECLARE)

#define ADDRESS(name) &fftnd__serial_##name,
static const struct fftnd__serial *const libraries[] = {FFTND__SERIALS(ADDRESS)};

const struct fftnd__serial *fftnd__serial_for(enum redist_space space) {
    enum redist_space wanted = space == REDIST_SPACE_AUTO ? REDIST_SPACE_HOST : space;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (libraries[i]->space == wanted)
            return libraries[i];
    return NULL;
}

const char *fftnd__serial_unavailable(enum redist_space space) {
    const struct fftnd__serial *library = fftnd__serial_for(space);
    if (library == NULL)
        return "this build has no serial FFT library for it (for CUDA devices: build with "
               "-Dcuda=enabled)";
    return redist_space_at(library->space)->absent();
}
