/* SPDX-License-Identifier: BSD-3-Clause */
#include "serial.h"

size_t fftnd__item_bytes(enum fftnd_precision precision, int real) {
    size_t bytes = precision == FFTND_DOUBLE ? sizeof(double) : sizeof(float);
    return real ? bytes : 2 * bytes;
}

const struct fftnd__serial *fftnd__serial_for(enum redist_space space) {
#define FFTND__LINE(id, name)                                                                      \
    if (space == REDIST_SPACE_##id)                                                                \
        return &fftnd__serial_##name;
    FFTND__SERIALS(FFTND__LINE)
#undef FFTND__LINE
    return &fftnd__serial_fftw;
}
