/* SPDX-License-Identifier: BSD-3-Clause */
#include "colours.h"
#include <math.h>

/* The lightness (CIE L*) rises evenly by 11.5 from entry to entry, so that equal steps in value
 * look alike and a print in grey still reads; the hue turns from blue over red to yellow. */
static const struct colour table[] = {
    {9, 13, 31},    {21, 34, 92},   {78, 47, 138},  {164, 39, 141},  {225, 56, 117},
    {247, 110, 80}, {247, 164, 63}, {243, 210, 90}, {249, 245, 202},
};
enum { LAST = sizeof(table) / sizeof(table[0]) - 1 };

struct colour colour_of(double value) {
    double position = LAST * fmin(1, fmax(0, value));
    int entry = position < LAST ? (int)position : LAST - 1;
    return colour_mix(table[entry], table[entry + 1], position - entry);
}
