/* SPDX-License-Identifier: BSD-3-Clause */
#include "green.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* ---------------------------------------------------------------- modified Bessel functions */

/* Returns K_order(x), the integral of exp(-x cosh t) cosh(order t) over t > 0, by the trapezoidal rule, whose error
 * decreases exponentially with the step. Beyond x = 50 it vanishes beside 1. */
static double bessel_k(int order, double x) {
    const double step = 0.5 / sqrt(x + 6);
    double sum = 0.5 * exp(-x), term = x < 50 ? 1 : 0;
    for (int i = 1; term > 1e-18 * sum; i++) {
        term = exp(-x * cosh(i * step)) * cosh(order * i * step);
        sum += term;
    }
    return x < 50 ? step * sum : 0;
}

/* ---------------------------------------------------------------- inside a ball */

/* The part of a transform for kappa > 0 that is due to the ball; each tends to 0 as the radius grows. */
typedef double rest_of_ball(double kappa, double s, double reach);

static double rest_1d(double kappa, double s, double reach) {
    return exp(-kappa * reach) * (s / kappa * sin(s * reach) - cos(s * reach));
}

static double rest_2d(double kappa, double s, double reach) {
    const double x = kappa * reach, y = s * reach;
    return y * j1(y) * bessel_k(0, x) - x * j0(y) * bessel_k(1, x);
}

static double rest_3d(double kappa, double s, double reach) {
    const double y = s * reach, quotient = y > 0 ? sin(y) / y : 1;
    return -exp(-kappa * reach) * (cos(y) + kappa * reach * quotient);
}

/* The whole transform for kappa = 0. */
typedef double transform_of_ball(double s, double reach);

static double ball_1d(double s, double reach) {
    const double half = sin(s * reach / 2);
    return s > 0 ? 2 * half * half / (s * s) - reach * sin(s * reach) / s : -reach * reach / 2;
}

static double ball_2d(double s, double reach) {
    const double y = s * reach;
    return s > 0 ? (1 - j0(y)) / (s * s) - reach * log(reach) * j1(y) / s
                 : reach * reach * (1 - 2 * log(reach)) / 4;
}

static double ball_3d(double s, double reach) {
    const double half = sin(s * reach / 2);
    return s > 0 ? 2 * half * half / (s * s) : reach * reach / 2;
}

double fftnd__green_transform(int ndims, double kappa, double s, double reach) {
    static rest_of_ball *const rest[] = {rest_1d, rest_2d, rest_3d};
    static transform_of_ball *const ball[] = {ball_1d, ball_2d, ball_3d};
    return kappa > 0 ? (1 + rest[ndims - 1](kappa, s, reach)) / (kappa * kappa + s * s)
                     : ball[ndims - 1](s, reach);
}

/* ---------------------------------------------------------------- at points and in cells */

typedef double function_of_point(const double x[]);

static double value_1d(const double x[]) {
    return -fabs(x[0]) / 2;
}

double fftnd__length(double x, double y) {
    const double most = fmax(fabs(x), fabs(y));
    return most > 0 ? most * sqrt(x / most * (x / most) + y / most * (y / most)) : 0;
}

static double value_2d(const double x[]) {
    return -log(fftnd__length(x[0], x[1])) / (2 * pi);
}

static double value_3d(const double x[]) {
    return 1 / (4 * pi * sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]));
}

/* Functions whose mixed derivative, once along each axis, is the value. */
static double primitive_1d(const double x[]) {
    return -x[0] * fabs(x[0]) / 4;
}

static double primitive_2d(const double at[]) {
    const double x = at[0], y = at[1];
    return -(x * y * (log(x * x + y * y) - 3) + x * x * atan(y / x) + y * y * atan(x / y)) /
           (4 * pi);
}

/* The terms of y z log(x + r) - x^2 / 2 atan(y z / (x r)), with each coordinate as x. */
static double primitive_3d(const double at[]) {
    const double r = sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const double x = at[i], y = at[(i + 1) % 3], z = at[(i + 2) % 3];
        sum += y * z * log(x + r) - x * x / 2 * atan(y * z / (x * r));
    }
    return sum / (4 * pi);
}

static function_of_point *const values[] = {value_1d, value_2d, value_3d};
static function_of_point *const primitives[] = {primitive_1d, primitive_2d, primitive_3d};

/* Sums a primitive over the corners of a cell, those below with a negative sign. */
static double sum_of_corners(int ndims, const double x[], const double h[]) {
    double sum = 0, corner[3];
    for (int i = 0; i < 1 << ndims; i++) {
        int sign = 1;
        for (int d = 0; d < ndims; d++) {
            int is_above = i >> d & 1;
            corner[d] = x[d] + (is_above ? h[d] : -h[d]) / 2;
            sign = is_above ? sign : -sign;
        }
        sum += sign * primitives[ndims - 1](corner);
    }
    return sum;
}

/* Integrates over a cell by three points of Gauss and Legendre along each axis. */
static double sum_of_points(int ndims, const double x[], const double h[]) {
    static const double places[] = {-0.38729833462074169, 0, 0.38729833462074169};
    static const double weights[] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
    const int n[] = {3, 9, 27};
    double sum = 0, at[3];
    for (int i = 0; i < n[ndims - 1]; i++) {
        double weight = 1;
        for (int d = 0, rest = i; d < ndims; d++, rest /= 3) {
            at[d] = x[d] + places[rest % 3] * h[d];
            weight *= h[d] * weights[rest % 3];
        }
        sum += weight * values[ndims - 1](at);
    }
    return sum;
}

/* The sum of corners loses digits far from 0, where the other one has all: beyond 16 cells its error is below
 * (1/16)^6 / 2800 of the integral, as the error term of the rule says. */
double fftnd__green_cell(int ndims, const double x[], const double h[]) {
    double square = 0, largest = 0;
    for (int d = 0; d < ndims; d++) {
        square += x[d] * x[d];
        largest = fmax(largest, h[d]);
    }
    return ndims == 1 || square < 256 * largest * largest ? sum_of_corners(ndims, x, h)
                                                          : sum_of_points(ndims, x, h);
}

double fftnd__green_point(int ndims, const double x[], const double h[]) {
    double volume = 1, largest = 0;
    for (int d = 0; d < ndims; d++) {
        volume *= h[d];
        largest = fmax(largest, fabs(x[d]));
    }
    return largest > 0 ? volume * values[ndims - 1](x) : fftnd__green_cell(ndims, x, h);
}
