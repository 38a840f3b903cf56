/* SPDX-License-Identifier: BSD-3-Clause */
/* A picture to draw on: pixels, lines and letters with smooth edges, saved as PNG. */
#ifndef CANVAS_H
#define CANVAS_H

struct colour {
    unsigned char red, green, blue;
};

/* The colour that lies this share of the way from one to another. */
struct colour colour_mix(struct colour from, struct colour to, double share);

struct canvas {
    int width, height;
    struct colour *pixels; /* row by row from the top */
};

struct point {
    double x, y; /* in pixels from the left and from the top */
};

/* Where a text stands relative to the point given for it. */
enum text_place { TEXT_LEFT, TEXT_CENTRE, TEXT_RIGHT };

/* A white picture; ends the program if memory is out. */
struct canvas canvas_create(int width, int height);
void canvas_free(struct canvas *canvas);

/* Returns 0 if the file cannot be written. */
int canvas_save(const struct canvas *canvas, const char *path);

void canvas_pixel(struct canvas *canvas, int x, int y, struct colour colour);
void canvas_line(struct canvas *canvas, struct point from, struct point to, double width,
                 struct colour colour);
void canvas_frame(struct canvas *canvas, struct point corner, struct point opposite,
                  struct colour colour);

/* Writes digits, small letters and a few capitals, `height` pixels tall, on a base line at `at`.
 * What follows a '^' up to the next space is an exponent. */
void canvas_text(struct canvas *canvas, struct point at, double height, enum text_place place,
                 struct colour colour, const char *text);

#endif
