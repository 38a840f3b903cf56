/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where an element of a line in targets is. Who compiles this names its functions' kind, LINES__PANEL_INLINE: a device
 * does it, and so do tests without one.
 */
#ifndef LINES__PANELS_TARGETS_H
#define LINES__PANELS_TARGETS_H

#include "panels.h"

/* What a thread works on: a line by its numbers along the side and the outer loops. */
struct lines__panel_line {
    unsigned side, outer[LINES__PANEL_LOOPS];
};

/* The target that has an element. */
LINES__PANEL_INLINE const struct lines__panel_target *
lines__panel_target_of(const struct lines__panel_targets *targets, unsigned element) {
    const struct lines__panel_target *target = targets->target;
    while (element >= target->end)
        target++;
    return target;
}

/* How far an element is from where the target begins, in complex elements. */
LINES__PANEL_INLINE long long lines__panel_place(const struct lines__panel_target *target,
                                                 const struct lines__panel_line *line,
                                                 unsigned element) {
    long long at = (element - target->begin) * target->axis + line->side * target->side;
    for (int i = 0; i < LINES__PANEL_LOOPS; i++)
        at += line->outer[i] * target->outer[i];
    return at;
}

#endif
