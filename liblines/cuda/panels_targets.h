/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places of elements in targets of direct stores. LINES__PANEL_INLINE, which whoever includes it defines, is the
 * functions' kind: of a device, or of tests without one.
 */
#ifndef LINES__PANELS_TARGETS_H
#define LINES__PANELS_TARGETS_H

#include "panels.h"

/* A line of a thread: its numbers along the side and the outer loops. */
struct lines__panel_line {
    unsigned side, outer[LINES__PANEL_LOOPS];
};

/* The target of an element. */
LINES__PANEL_INLINE const struct lines__panel_target *
lines__panel_target_of(const struct lines__panel_targets *targets, unsigned element) {
    const struct lines__panel_target *target = targets->target;
    while (element >= target->end)
        target++;
    return target;
}

/* Complex elements from the begin of a target to an element. */
LINES__PANEL_INLINE long long lines__panel_place(const struct lines__panel_target *target,
                                                 const struct lines__panel_line *line,
                                                 unsigned element) {
    long long at = (element - target->begin) * target->axis + line->side * target->side;
    for (int i = 0; i < LINES__PANEL_LOOPS; i++)
        at += line->outer[i] * target->outer[i];
    return at;
}

#endif
