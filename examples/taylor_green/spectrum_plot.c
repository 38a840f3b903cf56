/* SPDX-License-Identifier: BSD-3-Clause */
#include "spectrum_plot.h"
#include "colours.h"
#include <math.h>
#include <stdio.h>

/* All lengths in pixels. */
enum { WIDTH = 900, HEIGHT = 640, LEFT = 110, RIGHT = 870, TOP = 70, BOTTOM = 560 };

static const struct colour ink = {40, 40, 48}, pale = {226, 226, 232}, grey = {120, 120, 130};

/* A plot with logarithmic axes. */
struct plot {
    struct canvas canvas;
    double most_k;          /* k runs from 1 to this */
    double least_e, most_e; /* powers of ten */
};

static double across(const struct plot *plot, double k) {
    return LEFT + (RIGHT - LEFT) * log(k) / log(plot->most_k);
}

static double down(const struct plot *plot, double e) {
    return BOTTOM - (BOTTOM - TOP) * log(e / plot->least_e) / log(plot->most_e / plot->least_e);
}

/* Axes that hold all values but those that symmetry keeps at zero, give or take rounding. */
static void choose_axes(struct plot *plot, const struct figures *figures) {
    int cutoff = flow_cutoff(figures->size);
    double least = 1, most = 1e-30;
    for (int i = 0; i < figures->nmoments; i++)
        for (int k = 1; k <= cutoff; k++)
            most = fmax(most, figures->energy[i][k]);
    for (int i = 0; i < figures->nmoments; i++)
        for (int k = 1; k <= cutoff; k++)
            if (figures->energy[i][k] > 1e-10 * most)
                least = fmin(least, figures->energy[i][k]);
    plot->most_k = 1.15 * cutoff;
    plot->most_e = pow(10, ceil(log10(most)));
    plot->least_e = pow(10, floor(log10(least)));
}

static void draw_energy_axis(struct plot *plot) {
    for (double e = plot->least_e; e < plot->most_e * 1.1; e *= 10) {
        double y = down(plot, e);
        canvas_line(&plot->canvas, (struct point){LEFT, y}, (struct point){RIGHT, y}, 1, pale);
        char label[32];
        snprintf(label, sizeof(label), "10^%d", (int)lround(log10(e)));
        canvas_text(&plot->canvas, (struct point){LEFT - 12, y + 6}, 13, TEXT_RIGHT, ink, label);
    }
    canvas_text(&plot->canvas, (struct point){LEFT, TOP - 18}, 15, TEXT_LEFT, ink,
                "energy E(k) in the shell of wavenumber k");
}

/* Lines at 1..10, 20..100, ...; numbers at 1, 2, 5, 10, ... */
static void draw_wavenumber_axis(struct plot *plot) {
    int step = 1;
    for (int k = 1; k <= plot->most_k; k += step) {
        step = k == 10 * step ? k : step;
        double x = across(plot, k);
        canvas_line(&plot->canvas, (struct point){x, TOP}, (struct point){x, BOTTOM}, 1, pale);
        if (k != step && k != 2 * step && k != 5 * step)
            continue;
        char label[32];
        snprintf(label, sizeof(label), "%d", k);
        canvas_text(&plot->canvas, (struct point){x, BOTTOM + 26}, 13, TEXT_CENTRE, ink, label);
    }
    canvas_text(&plot->canvas, (struct point){(LEFT + RIGHT) / 2.0, BOTTOM + 58}, 15, TEXT_CENTRE,
                ink, "wavenumber k");
}

/* Draws between two values; what lies below the axis is left out. */
static void draw_piece(struct plot *plot, double k, double e, double next_k, double next_e,
                       double width, struct colour colour) {
    if (e < plot->least_e || next_e < plot->least_e || e > plot->most_e)
        return;
    canvas_line(&plot->canvas, (struct point){across(plot, k), down(plot, e)},
                (struct point){across(plot, next_k), down(plot, next_e)}, width, colour);
}

static void draw_spectrum(struct plot *plot, const struct figures *figures, int moment) {
    struct colour colour = colour_of(0.15 + 0.5 * moment / (MOMENTS - 1));
    const double *e = figures->energy[moment];
    for (int k = 1; k < flow_cutoff(figures->size); k++)
        draw_piece(plot, k, e[k], k + 1, e[k + 1], 2.5, colour);
    char label[32];
    snprintf(label, sizeof(label), "t = %g", figures->time[moment]);
    double y = BOTTOM - 30 - 28 * (figures->nmoments - 1 - moment);
    canvas_line(&plot->canvas, (struct point){LEFT + 30, y - 7}, (struct point){LEFT + 70, y - 7},
                2.5, colour);
    canvas_text(&plot->canvas, (struct point){LEFT + 84, y}, 15, TEXT_LEFT, ink, label);
}

/* The slope of Kolmogorov's inertial range, dashed, above the last spectrum. */
static void draw_slope(struct plot *plot, const struct figures *figures) {
    const double *last = figures->energy[figures->nmoments - 1];
    double factor = 0;
    for (int k = 1; k <= flow_cutoff(figures->size); k++)
        factor = fmax(factor, 1.5 * last[k] * pow(k, 5.0 / 3));
    int dashes = 60;
    for (int i = 0; i < dashes; i += 2) {
        double k = pow(plot->most_k, (double)i / dashes);
        double next = pow(plot->most_k, (i + 1.0) / dashes);
        draw_piece(plot, k, factor * pow(k, -5.0 / 3), next, factor * pow(next, -5.0 / 3), 1.5,
                   grey);
    }
    double k = pow(plot->most_k, 0.7), e = factor * pow(k, -5.0 / 3);
    canvas_text(&plot->canvas, (struct point){across(plot, k) + 6, down(plot, e) - 14}, 15,
                TEXT_LEFT, grey, "k^-5/3");
}

struct canvas spectrum_plot(const struct figures *figures) {
    struct plot plot = {.canvas = canvas_create(WIDTH, HEIGHT)};
    choose_axes(&plot, figures);
    draw_energy_axis(&plot);
    draw_wavenumber_axis(&plot);
    canvas_frame(&plot.canvas, (struct point){LEFT, TOP}, (struct point){RIGHT, BOTTOM}, ink);
    if (figures->nmoments > 0)
        draw_slope(&plot, figures);
    for (int i = 0; i < figures->nmoments; i++)
        draw_spectrum(&plot, figures, i);
    return plot.canvas;
}
