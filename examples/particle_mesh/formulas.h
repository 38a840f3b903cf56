/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens to one particle or one mode: the same on the host and on a device. The box is periodic, and its edges
 * have length 1.
 */
#ifndef FORMULAS_H
#define FORMULAS_H

#include <math.h>
#include <stddef.h>

#ifdef __CUDACC__
#define FORMULA static __device__ inline

/* Several particles add to one point at the same time. */
FORMULA void add_to(double *sum, double value) {
    atomicAdd(sum, value);
}
#else
#define FORMULA static inline

FORMULA void add_to(double *sum, double value) {
    *sum += value;
}
#endif

/* Points along each axis on which a B-spline of order 4 is not zero. */
enum { SUPPORT = 4 };

struct particle {
    double position[3]; /* 0 <= coordinate < 1 */
    double charge;
};

/* The potential and its gradient at a particle. */
struct sample {
    double potential, gradient[3];
};

/* This rank's points of the mesh, with SUPPORT - 1 ghosts behind them along each axis. */
struct brick {
    int points[3]; /* of the whole mesh */
    int start[3], count[3];
    ptrdiff_t stride[3];
};

/* The splines of one particle along each axis, and the first point that they reach, in the array of a brick. */
struct splines {
    ptrdiff_t first;
    double value[3][SUPPORT], slope[3][SUPPORT];
};

/* The cell of a particle; rounding may lead from just below 1 to the end of the mesh. */
FORMULA int cell_of(const struct brick *brick, int axis, const double position[3]) {
    int cell = (int)(position[axis] * brick->points[axis]);
    return cell < brick->points[axis] ? cell : brick->points[axis] - 1;
}

/* The cubic B-spline, and its slope, at the four points around a particle, which is f cells behind the second one. */
FORMULA void set_spline(double f, double value[SUPPORT], double slope[SUPPORT]) {
    const double g = 1 - f;
    value[0] = g * g * g / 6;
    value[1] = (f * f * (3 * f - 6) + 4) / 6;
    value[2] = (g * g * (3 * g - 6) + 4) / 6;
    value[3] = f * f * f / 6;
    slope[0] = -g * g / 2;
    slope[1] = f * (3 * f - 4) / 2;
    slope[2] = -g * (3 * g - 4) / 2;
    slope[3] = f * f / 2;
}

/* Shifted by one point: the four points begin with that of the particle's cell, so that all ghosts are behind the
 * brick. Gathering shifts back what spreading has shifted. */
FORMULA struct splines splines_at(const struct brick *brick, const double position[3]) {
    struct splines splines;
    splines.first = 0;
    for (int axis = 0; axis < 3; axis++) {
        int cell = cell_of(brick, axis, position);
        set_spline(position[axis] * brick->points[axis] - cell, splines.value[axis],
                   splines.slope[axis]);
        splines.first += (cell - brick->start[axis]) * brick->stride[axis];
    }
    return splines;
}

FORMULA void spread_one(const struct brick *brick, double *mesh, const struct particle *particle) {
    const struct splines at = splines_at(brick, particle->position);
    for (int i = 0; i < SUPPORT; i++)
        for (int j = 0; j < SUPPORT; j++) {
            double *row = mesh + at.first + i * brick->stride[0] + j * brick->stride[1];
            double weight = particle->charge * at.value[0][i] * at.value[1][j];
            for (int k = 0; k < SUPPORT; k++)
                add_to(&row[k * brick->stride[2]], weight * at.value[2][k]);
        }
}

FORMULA void gather_one(const struct brick *brick, const double *mesh,
                        const struct particle *particle, struct sample *sample) {
    const struct splines at = splines_at(brick, particle->position);
    double sum[4] = {0, 0, 0, 0};
    for (int i = 0; i < SUPPORT; i++)
        for (int j = 0; j < SUPPORT; j++) {
            const double *row = mesh + at.first + i * brick->stride[0] + j * brick->stride[1];
            double value = 0, slope = 0;
            for (int k = 0; k < SUPPORT; k++) {
                value += at.value[2][k] * row[k * brick->stride[2]];
                slope += at.slope[2][k] * row[k * brick->stride[2]];
            }
            sum[0] += at.slope[0][i] * at.value[1][j] * value;
            sum[1] += at.value[0][i] * at.slope[1][j] * value;
            sum[2] += at.value[0][i] * at.value[1][j] * slope;
            sum[3] += at.value[0][i] * at.value[1][j] * value;
        }
    for (int axis = 0; axis < 3; axis++)
        sample->gradient[axis] = brick->points[axis] * sum[axis];
    sample->potential = sum[3];
}

/* The factors of the influence function along each axis, for wavenumbers from 0 on. */
struct influence {
    const double *factor[3];
};

/* The potential of a mode of charge 1, whose wavenumbers count periods in the box; the mean of the potential is 0. */
FORMULA double influence_of(const struct influence *influence, double kx, double ky, double kz) {
    double k_squared = kx * kx + ky * ky + kz * kz;
    if (k_squared == 0)
        return 0;
    return influence->factor[0][(int)fabs(kx)] * influence->factor[1][(int)fabs(ky)] *
           influence->factor[2][(int)fabs(kz)] / (3.14159265358979323846 * k_squared);
}

#endif
