/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where an element of a line in parts is. Who compiles this names its functions' kind, FFTND__PANEL_INLINE: a device does
 * it, and so do tests without one.
 */
#ifndef FFTND__PANELS_PARTS_H
#define FFTND__PANELS_PARTS_H

#include "panels.h"

/* What a thread works on: a line by its numbers along the side and the outer loops. */
struct fftnd__panel_line {
    unsigned side, outer[FFTND__PANEL_LOOPS];
};

/* The address of an element of `bytes` bytes, NULL if its part is nowhere. */
FFTND__PANEL_INLINE char *fftnd__panel_find(const struct fftnd__panel_part *part,
                                            const struct fftnd__panel_line *line, unsigned element,
                                            unsigned bytes) {
    while (element >= part->end)
        part++;
    if (part->base == NULL)
        return NULL;
    long long at = (element - part->begin) * part->axis + line->side * part->side;
    for (int i = 0; i < FFTND__PANEL_LOOPS; i++)
        at += line->outer[i] * part->outer[i];
    return (char *)part->base + at * bytes;
}

#endif
