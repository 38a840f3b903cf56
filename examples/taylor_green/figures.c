/* SPDX-License-Identifier: BSD-3-Clause */
#include "figures.h"
#include "colours.h"
#include "plane.h"
#include "spectrum_plot.h"
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The vorticity picture: panels side by side, each with a bar that explains its colours. All
 * lengths in pixels. */
enum { PANEL = 480, GUTTER = 40, TITLE = 70, FOOT = 130, BAR_HEIGHT = 14 };

static const struct colour ink = {40, 40, 48};

void figures_create(struct figures *figures, int size) {
    memset(figures, 0, sizeof(*figures));
    figures->size = size;
    figures->vorticity = canvas_create(MOMENTS * (PANEL + GUTTER) + GUTTER, TITLE + PANEL + FOOT);
    char title[160];
    snprintf(title, sizeof(title),
             "Taylor-Green vortex, Re = 1600, %d^3 points: vorticity magnitude "
             "in the plane x = %.2f (y to the right, z up)",
             size, 2 * M_PI * plane_index(size) / size);
    canvas_text(&figures->vorticity, (struct point){figures->vorticity.width / 2.0, 42}, 17,
                TEXT_CENTRE, ink, title);
}

void figures_free(struct figures *figures) {
    canvas_free(&figures->vorticity);
    for (int i = 0; i < figures->nmoments; i++)
        free(figures->energy[i]);
}

/* The colours and the values that they begin and end with. */
static void draw_colour_bar(struct canvas *canvas, int left, double brightest) {
    int top = TITLE + PANEL + 52;
    for (int x = 0; x < PANEL; x++)
        for (int y = 0; y < BAR_HEIGHT; y++)
            canvas_pixel(canvas, left + x, top + y, colour_of((x + 0.5) / PANEL));
    char number[32];
    snprintf(number, sizeof(number), "%.1f and more", brightest);
    double base = top + BAR_HEIGHT + 24;
    canvas_text(canvas, (struct point){left, base}, 13, TEXT_LEFT, ink, "0");
    canvas_text(canvas, (struct point){left + PANEL, base}, 13, TEXT_RIGHT, ink, number);
}

static int compare(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* What 199 of 200 values stay below: a few bright spots shall not leave the rest in the dark. */
static float bright_value(const float *magnitude) {
    enum { PIXELS = PANEL * PANEL };
    float *sorted = malloc(PIXELS * sizeof(float));
    if (sorted == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memcpy(sorted, magnitude, PIXELS * sizeof(float));
    qsort(sorted, PIXELS, sizeof(float), compare);
    float value = sorted[PIXELS - PIXELS / 200];
    free(sorted);
    return fmaxf(value, 1e-30F);
}

static void draw_panel(struct canvas *canvas, int left, double time, const float *magnitude) {
    float brightest = bright_value(magnitude);
    for (int y = 0; y < PANEL; y++)
        for (int x = 0; x < PANEL; x++)
            canvas_pixel(canvas, left + x, TITLE + y,
                         colour_of(magnitude[y * PANEL + x] / brightest));
    char label[32];
    snprintf(label, sizeof(label), "t = %g", time);
    double base = TITLE + PANEL + 28;
    canvas_text(canvas, (struct point){left + PANEL / 2.0, base}, 16, TEXT_CENTRE, ink, label);
    draw_colour_bar(canvas, left, brightest);
}

static void add_panel(struct figures *figures, double time, const double *plane) {
    float *magnitude = plane_magnitude(plane, figures->size, PANEL);
    if (magnitude == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    int left = GUTTER + figures->nmoments * (PANEL + GUTTER);
    draw_panel(&figures->vorticity, left, time, magnitude);
    free(magnitude);
}

void figures_add(struct figures *figures, double time, const double *plane,
                 const struct spectrum *spectrum) {
    add_panel(figures, time, plane);
    size_t bytes = (size_t)(flow_cutoff(figures->size) + 1) * sizeof(double);
    double *energy = malloc(bytes);
    if (energy == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memcpy(energy, spectrum->energy, bytes);
    figures->time[figures->nmoments] = time;
    figures->energy[figures->nmoments] = energy;
    figures->nmoments++;
}

int figures_write(struct figures *figures, const char *vorticity_path, const char *spectrum_path) {
    struct canvas plot = spectrum_plot(figures);
    int written =
        canvas_save(&plot, spectrum_path) && canvas_save(&figures->vorticity, vorticity_path);
    canvas_free(&plot);
    return written;
}
