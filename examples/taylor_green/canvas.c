/* SPDX-License-Identifier: BSD-3-Clause */
#include "canvas.h"
#include <math.h>
#include <mpi.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

struct canvas canvas_create(int width, int height) {
    size_t bytes = (size_t)width * (size_t)height * sizeof(struct colour);
    struct canvas canvas = {width, height, malloc(bytes)};
    if (canvas.pixels == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(canvas.pixels, 255, bytes);
    return canvas;
}

void canvas_free(struct canvas *canvas) {
    free(canvas->pixels);
}

int canvas_save(const struct canvas *canvas, const char *path) {
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)canvas->width,
                       .height = (png_uint_32)canvas->height,
                       .format = PNG_FORMAT_RGB};
    return png_image_write_to_file(&image, path, 0, canvas->pixels, 0, NULL);
}

void canvas_pixel(struct canvas *canvas, int x, int y, struct colour colour) {
    if (x >= 0 && x < canvas->width && y >= 0 && y < canvas->height)
        canvas->pixels[y * canvas->width + x] = colour;
}

static unsigned char mix(unsigned char from, unsigned char to, double share) {
    return (unsigned char)(from + share * (to - from) + 0.5);
}

struct colour colour_mix(struct colour from, struct colour to, double share) {
    return (struct colour){mix(from.red, to.red, share), mix(from.green, to.green, share),
                           mix(from.blue, to.blue, share)};
}

/* Covers a share of one pixel. */
static void blend(struct canvas *canvas, int x, int y, double share, struct colour colour) {
    if (share <= 0 || x < 0 || x >= canvas->width || y < 0 || y >= canvas->height)
        return;
    struct colour *pixel = &canvas->pixels[y * canvas->width + x];
    *pixel = colour_mix(*pixel, colour, share);
}

/* The distance of a point from the line between two others. */
static double distance(struct point p, struct point from, struct point to) {
    double dx = to.x - from.x, dy = to.y - from.y;
    double length_squared = dx * dx + dy * dy;
    double along = 0;
    if (length_squared > 0)
        along = ((p.x - from.x) * dx + (p.y - from.y) * dy) / length_squared;
    along = fmin(1, fmax(0, along));
    return hypot(p.x - from.x - along * dx, p.y - from.y - along * dy);
}

void canvas_line(struct canvas *canvas, struct point from, struct point to, double width,
                 struct colour colour) {
    double reach = width / 2 + 1;
    int left = (int)floor(fmin(from.x, to.x) - reach), right = (int)(fmax(from.x, to.x) + reach);
    int top = (int)floor(fmin(from.y, to.y) - reach), bottom = (int)(fmax(from.y, to.y) + reach);
    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++) {
            struct point centre = {x + 0.5, y + 0.5};
            double inside = width / 2 + 0.5 - distance(centre, from, to);
            blend(canvas, x, y, fmin(1, inside), colour);
        }
}

void canvas_frame(struct canvas *canvas, struct point corner, struct point opposite,
                  struct colour colour) {
    struct point corners[5] = {
        corner, {opposite.x, corner.y}, opposite, {corner.x, opposite.y}, corner};
    for (int i = 0; i < 4; i++)
        canvas_line(canvas, corners[i], corners[i + 1], 1, colour);
}
