/* SPDX-License-Identifier: BSD-3-Clause */
#include "panels_r2r.h"
#include "../r2r_lines.h"

#include <math.h>

/* Orders of elements: as they are, and backward; those at even places, then the others backward; an even extension, an
 * odd one, and its first half; those at even places, and every second one from the end; modes. */
enum order { PLAIN, REVERSED, EVEN_FIRST, EVEN, ODD, ODD_HALF, PLACES, PLACES_REVERSED, MODES };

static struct lines__panel_map make_map(enum order order, int n, unsigned points, int negates) {
    const struct lines__panel_map maps[] = {
        [PLAIN] = {points, {0, (int)points}, {1, -1}, 0, 0},
        [REVERSED] = {points, {n - 1, -1}, {-1, 1}, 0, 0},
        [EVEN_FIRST] = {points - 1, {0, 1}, {2, 2}, negates, 0},
        [EVEN] = {points, {0, 0}, {1, 1}, 0, 0},
        [ODD] = {points, {-1, -1}, {1, 1}, 1, 0},
        [ODD_HALF] = {points, {-1, (int)points - 1}, {1, -1}, 0, 0},
        [PLACES] = {points - 1, {0, n - 2}, {2, -2}, 0, 0},
        [PLACES_REVERSED] = {points - 1, {n - 1, 1}, {-2, 2}, 0, 0},
        [MODES] = {points, {0, 0}, {1, 1}, 0, 1},
    };
    return maps[order];
}

enum { BEFORE = LINES__BEFORE, AFTER = LINES__AFTER };

static const struct {
    int changes, combines, folds, conjugates;
    enum order in, out;
    int is_sine; /* numbers at odd places are negated */
} kinds[] = {
    [LINES__DCT1] = {0, 0, 0, 0, EVEN, PLAIN, 0},
    [LINES__DCT2] = {AFTER, AFTER, 0, 0, EVEN_FIRST, PLAIN, 0},
    [LINES__DCT3] = {BEFORE, BEFORE, 0, 0, PLAIN, EVEN_FIRST, 0},
    [LINES__DCT4] = {BEFORE | AFTER, 0, 1, 1, PLACES, PLACES, 0},
    [LINES__DST1] = {BEFORE, 0, 0, 0, ODD, ODD_HALF, 0},
    [LINES__DST2] = {AFTER, AFTER, 0, 0, EVEN_FIRST, REVERSED, 1},
    [LINES__DST3] = {BEFORE, BEFORE, 0, 0, REVERSED, EVEN_FIRST, 1},
    [LINES__DST4] = {BEFORE | AFTER, 0, 1, 0, PLACES_REVERSED, PLACES, 0},
    [LINES__R2HC] = {AFTER, AFTER, 0, 0, PLAIN, PLAIN, 0},
    [LINES__HC2R] = {BEFORE, BEFORE, 0, 0, PLAIN, PLAIN, 0},
    [LINES__DHT] = {AFTER, AFTER, 0, 0, PLAIN, PLAIN, 0},
    [LINES__HALVED] = {AFTER, AFTER, 0, 0, PLAIN, MODES, 0},
    [LINES__UNHALVED] = {BEFORE, BEFORE, 0, 0, MODES, PLAIN, 0},
};

long long lines__r2r_points(int r2r, long long n) {
    switch (r2r) {
    case LINES__DCT1:
        return 2 * (n - 1);
    case LINES__DST1:
        return 2 * (n + 1);
    case LINES__DCT4:
    case LINES__DST4:
        return n % 2 == 0 ? n / 2 : 0;
    default:
        return n;
    }
}

struct lines__panel_r2r lines__r2r_describe(int r2r, unsigned n) {
    const unsigned points = (unsigned)lines__r2r_points(r2r, n);
    return (struct lines__panel_r2r){
        .r2r = r2r,
        .n = n,
        .count = {n, n},
        .changes = kinds[r2r].changes,
        .combines = kinds[r2r].combines,
        .folds = kinds[r2r].folds,
        .conjugates = kinds[r2r].conjugates,
        .in = make_map(kinds[r2r].in, (int)n, points, kinds[r2r].is_sine),
        .out = make_map(kinds[r2r].out, (int)n, points, kinds[r2r].is_sine)};
}

static void set_root(double angle, double size, double factor[2]) {
    factor[0] = size * cos(angle);
    factor[1] = -size * sin(angle);
}

void lines__r2r_factor(const struct lines__panel_r2r *r2r, unsigned i, double factor[2]) {
    const double half_circle = 3.14159265358979323846, n = r2r->n, at = i;
    const int is_low = 2 * at <= n, is_alone = i == 0 || 2 * at == n;
    switch (r2r->r2r) {
    case LINES__DCT2:
    case LINES__DST2:
    case LINES__DCT3:
    case LINES__DST3:
        set_root(half_circle * at / (2 * n), i == 0 && r2r->combines == LINES__BEFORE ? 0.5 : 1,
                 factor);
        break;
    case LINES__DCT4:
    case LINES__DST4:
        set_root(half_circle * (8 * at + 1) / (8 * n), sqrt(2), factor);
        break;
    case LINES__R2HC:
    case LINES__HALVED:
        factor[0] = is_low ? 0.5 : 0;
        factor[1] = is_low ? 0 : 0.5;
        break;
    case LINES__HC2R:
    case LINES__UNHALVED:
        factor[0] = is_alone ? 0.5 : is_low ? 1 : 0;
        factor[1] = is_low ? 0 : 1;
        break;
    case LINES__DHT:
        factor[0] = factor[1] = 0.5;
        break;
    default: /* the ends of an odd extension are zero */
        factor[0] = 0;
        factor[1] = i == 0 || i == r2r->n + 1 ? 0 : 1;
        break;
    }
}
