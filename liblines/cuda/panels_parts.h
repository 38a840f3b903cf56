/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where an element of a line in parts is. Who compiles this names its functions' kind, LINES__PANEL_INLINE: a device
 * does it, and so do tests without one.
 */
#ifndef LINES__PANELS_PARTS_H
#define LINES__PANELS_PARTS_H

#include "panels.h"

/* What a thread works on: a line by its numbers along the side and the outer loops. */
struct lines__panel_line {
    unsigned side, outer[LINES__PANEL_LOOPS];
};

/* The part that has an element. */
LINES__PANEL_INLINE const struct lines__panel_part *
lines__panel_part_of(const struct lines__panel_parts *parts, unsigned element) {
    const struct lines__panel_part *part = parts->part;
    while (element >= part->end)
        part++;
    return part;
}

/* How far an element is from where the part begins, in complex elements. */
LINES__PANEL_INLINE long long lines__panel_place(const struct lines__panel_part *part,
                                                 const struct lines__panel_line *line,
                                                 unsigned element) {
    long long at = (element - part->begin) * part->axis + line->side * part->side;
    for (int i = 0; i < LINES__PANEL_LOOPS; i++)
        at += line->outer[i] * part->outer[i];
    return at;
}

#endif
