/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Letters as pen strokes. A stroke is a word of points, each two hexadecimal digits: x to the
 * right, y downwards, in twelfths of the height of a capital ('g' stands for 16, the foot of a y).
 * A '~' makes the stroke round: the pen then turns within the corners instead of reaching them.
 */
#include "canvas.h"
#include <math.h>
#include <string.h>

struct letter {
    char sign;
    int width;
    const char *strokes;
};

static const struct letter letters[] = {
    {'0', 8, "~00808c0c00"},
    {'1', 4, "03404c"},
    {'2', 8, "~030080850c 0c8c"},
    {'3', 8, "~0200707636 ~36868c0c09"},
    {'4', 8, "6c600888"},
    {'5', 8, "701006 ~0614848c0c0a"},
    {'6', 8, "~06868c0c06 ~600209"},
    {'7', 8, "00802c"},
    {'8', 8, "~1070761610 ~06868c0c06"},
    {'9', 8, "~0080860600 ~838a2c"},
    {'.', 1, "0b0c"},
    {',', 1, "1b0e"},
    {':', 1, "0505 0b0c"},
    {'-', 8, "1777"},
    {'=', 8, "0575 0979"},
    {'/', 7, "700c"},
    {'(', 3, "~30030a3d"},
    {')', 3, "~00333a0d"},
    {' ', 4, ""},
    {'a', 7, "~04747c0c04 747c"},
    {'b', 7, "000c ~04747c0c04"},
    {'c', 7, "~7674040c7c7a"},
    {'d', 7, "707c ~04747c0c04"},
    {'e', 7, "0878 ~7874040c7c7b"},
    {'f', 5, "~502023 232c 0454"},
    {'g', 7, "~04747c0c04 ~747g0g0e"},
    {'h', 7, "000c ~07147478 787c"},
    {'i', 0, "040c 0101"},
    {'j', 3, "~343g0g0f 3131"},
    {'k', 6, "000c 6409 286c"},
    {'l', 0, "000c"},
    {'m', 10, "040c ~07145458 585c ~5764a4a8 a8ac"},
    {'n', 7, "040c ~07147478 787c"},
    {'o', 7, "~04747c0c04"},
    {'p', 7, "040g ~04747c0c04"},
    {'q', 7, "747g ~04747c0c04"},
    {'r', 5, "040c ~071454"},
    {'s', 6, "~65640408686c0c0b"},
    {'t', 5, "2028 ~282c5c 0454"},
    {'u', 7, "0408 ~080c7c79 747c"},
    {'v', 6, "043c64"},
    {'w', 10, "042c558ca4"},
    {'x', 6, "046c 640c"},
    {'y', 6, "043b 641g"},
    {'z', 6, "04640c6c"},
    {'E', 8, "80000c8c 0666"},
    {'G', 8, "~8280000c8c87 8747"},
    {'R', 8, "0c0040 ~40808646 4606 468c"},
    {'T', 8, "0080 404c"},
};

enum { MAX_POINTS = 16, GAP = 4 /* between letters */ };

static const struct letter *find_letter(char sign) {
    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
        if (letters[i].sign == sign)
            return &letters[i];
    return find_letter('-');
}

/* A pen that writes on a canvas. */
struct pen {
    struct canvas *canvas;
    struct colour colour;
    struct point at; /* where the letter's upper left corner is */
    double unit;     /* a twelfth of a capital's height, in pixels */
};

static void draw(const struct pen *pen, struct point from, struct point to) {
    struct point a = {pen->at.x + from.x * pen->unit, pen->at.y + from.y * pen->unit};
    struct point b = {pen->at.x + to.x * pen->unit, pen->at.y + to.y * pen->unit};
    canvas_line(pen->canvas, a, b, 0.6 + pen->unit, pen->colour);
}

static struct point between(struct point a, struct point b, double share) {
    return (struct point){a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
}

/* A parabola from a to c that heads for b. */
static void draw_arc(const struct pen *pen, struct point a, struct point b, struct point c) {
    enum { PIECES = 8 };
    struct point last = a;
    for (int i = 1; i <= PIECES; i++) {
        double share = (double)i / PIECES;
        struct point next = between(between(a, b, share), between(b, c, share), share);
        draw(pen, last, next);
        last = next;
    }
}

/* Arcs that meet in the middles between the points; at the ends they reach the points. */
static void draw_round(const struct pen *pen, const struct point *p, int n) {
    int closed = p[0].x == p[n - 1].x && p[0].y == p[n - 1].y;
    struct point from = closed ? between(p[0], p[1], 0.5) : p[0];
    for (int i = 1; i < n - 1; i++) {
        struct point to = i < n - 2 || closed ? between(p[i], p[i + 1], 0.5) : p[n - 1];
        draw_arc(pen, from, p[i], to);
        from = to;
    }
    if (closed)
        draw_arc(pen, from, p[0], between(p[0], p[1], 0.5));
}

static double digit(char c) {
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Draws one stroke; returns what follows it. */
static const char *draw_stroke(const struct pen *pen, const char *stroke) {
    int is_round = *stroke == '~', n = 0;
    struct point points[MAX_POINTS] = {{0, 0}};
    for (stroke += is_round; *stroke != '\0' && *stroke != ' ' && n < MAX_POINTS; stroke += 2)
        points[n++] = (struct point){digit(stroke[0]), digit(stroke[1])};
    if (is_round)
        draw_round(pen, points, n);
    else
        for (int i = 0; i + 1 < n; i++)
            draw(pen, points[i], points[i + 1]);
    return stroke + (*stroke == ' ');
}

/* Writes a text from the left, or only measures it if there is no canvas; returns its width. */
static double write_text(struct pen pen, const char *text) {
    double left = pen.at.x, capital = 12 * pen.unit;
    double base_unit = pen.unit, top = pen.at.y;
    for (; *text != '\0'; text++) {
        int is_exponent = pen.unit != base_unit;
        if (*text == '^' || (*text == ' ' && is_exponent)) {
            pen.unit = *text == '^' ? 0.7 * base_unit : base_unit;
            pen.at.y = *text == '^' ? top - 0.3 * capital : top;
            if (*text == '^')
                continue;
        }
        const struct letter *letter = find_letter(*text);
        for (const char *stroke = letter->strokes; pen.canvas != NULL && *stroke != '\0';)
            stroke = draw_stroke(&pen, stroke);
        pen.at.x += (letter->width + GAP) * pen.unit;
    }
    return pen.at.x - left - GAP * pen.unit;
}

void canvas_text(struct canvas *canvas, struct point at, double height, enum text_place place,
                 struct colour colour, const char *text) {
    struct pen pen = {NULL, colour, {at.x, at.y - height}, height / 12};
    double width = write_text(pen, text);
    pen.canvas = canvas;
    pen.at.x -= place == TEXT_LEFT ? 0 : place == TEXT_CENTRE ? width / 2 : width;
    write_text(pen, text);
}
