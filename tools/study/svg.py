# SPDX-License-Identifier: BSD-3-Clause
"""Plots as SVG text: lines with bands over named places or over numbers, and stacked bars."""
import html
import math

COLOURS = ["#1b6ca8", "#d1495b", "#2e8b57", "#e0a030", "#7b4fa3", "#4aa5a5", "#8c564b", "#555555"]
DASHES = ["", "6,3", "2,2", "8,3,2,3"]
LEFT, RIGHT, TOP, BOTTOM = 62, 12, 26, 52
LINE = 15


def style(index):
    dash = DASHES[index // len(COLOURS) % len(DASHES)]
    return COLOURS[index % len(COLOURS)], f' stroke-dasharray="{dash}"' if dash else ""


def text(x, y, words, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{html.escape(words)}</text>'


def number(value):
    """Three digits, no exponent where it can be helped."""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e5:
        digits = max(0, 2 - math.floor(math.log10(abs(value))))
        shown = f"{value:.{digits}f}"
        return shown.rstrip("0").rstrip(".") if "." in shown else shown
    return f"{value:.2g}"


def linear_ticks(low, high):
    span = high - low or abs(high) or 1.0
    step = 10 ** math.floor(math.log10(span / 4))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= 6)
    first = math.ceil(low / step - 1e-9)
    return [step * i for i in range(first, math.floor(high / step + 1e-9) + 1)]


def logarithmic_ticks(low, high):
    factors = (1, 2, 5) if high / low < 1e3 else (1,)
    ticks = [factor * 10.0 ** power
             for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
             for factor in factors]
    return [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001] or [low, high]


class Scale:
    """From values to places on the page."""

    def __init__(self, values, start, end, logarithmic):
        self.logarithmic = logarithmic
        low, high = min(values), max(values)
        if low == high:
            low, high = low * 0.9, high * 1.1 or 1.0
        self.low, self.high, self.start, self.end = low, high, start, end

    def ticks(self):
        """Pairs of a value and its words, with as many digits as tell linear ticks apart."""
        if self.logarithmic:
            return [(tick, number(tick)) for tick in logarithmic_ticks(self.low, self.high)]
        ticks = linear_ticks(self.low, self.high)
        step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        return [(tick, f"{tick:.{digits}f}") for tick in ticks]

    def __call__(self, value):
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(max(value, self.low))
        return self.start + (value - low) / (high - low) * (self.end - self.start)


def legend(names, width, top):
    """Lines of the legend and their height."""
    parts, x, y = [], LEFT, top
    for index, name in enumerate(names):
        needed = 34 + 6.6 * len(name)
        if x > LEFT and x + needed > width:
            x, y = LEFT, y + LINE
        colour, dash = style(index)
        parts.append(f'<line x1="{x:.0f}" y1="{y - 4:.0f}" x2="{x + 20:.0f}" y2="{y - 4:.0f}" '
                     f'stroke="{colour}" stroke-width="3"{dash}/>')
        parts.append(text(x + 25, y, name, "start"))
        x += needed
    return parts, y + LINE - top


def page(width, height, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" '
            f'width="{width}" height="{height:.0f}" font-family="sans-serif" font-size="11">'
            + "".join(parts) + "</svg>")


def draw_series(index, points, horizontal, vertical):
    """A band, a line and its points; a point is x, y and half the band's width."""
    colour, dash = style(index)
    places = [(horizontal(x), vertical(y)) for x, y, _ in points]
    above = [f"{horizontal(x):.1f},{vertical(y + half):.1f}" for x, y, half in points]
    below = [f"{horizontal(x):.1f},{vertical(max(y - half, 0)):.1f}" for x, y, half in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    parts = [f'<polygon points="{" ".join(above + below[::-1])}" fill="{colour}" opacity="0.2"/>',
             f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.6"{dash}/>']
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.4" fill="{colour}"/>' for x, y in places]
    return parts


def axes(vertical, horizontal, labels, width, height, title, unit):
    """`labels` are pairs of a place along the horizontal axis and its words."""
    parts = [text(LEFT, 14, title, "start", ' font-weight="bold"'),
             text(LEFT - 4, TOP - 1, unit, "end", ' fill="#555"')]
    for tick, words in vertical.ticks():
        y = vertical(tick)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{width - RIGHT}" y2="{y:.1f}" '
                     'stroke="#ddd"/>')
        parts.append(text(LEFT - 5, y + 4, words, "end"))
    floor = height - BOTTOM
    parts.append(f'<line x1="{LEFT}" y1="{floor}" x2="{width - RIGHT}" y2="{floor}" stroke="#333"/>')
    step = math.ceil(len(labels) * 62 / (width - LEFT - RIGHT))
    for index, (place, words) in enumerate(labels):
        x = horizontal(place)
        parts.append(f'<line x1="{x:.1f}" y1="{floor}" x2="{x:.1f}" y2="{floor + 4}" stroke="#333"/>')
        if index % step == 0 or index == len(labels) - 1:
            parts.append(text(x, floor + 16, words))
    return parts


def lines(title, series, unit, places=None, names=None, logarithmic=True, across="", width=620):
    """Series are pairs of a name and points (x, y, half band).

    With `names`, x counts these names from 0; else x is a number on a logarithmic axis.
    """
    series = [(name, points) for name, points in series if points]
    if not series:
        return ""
    height = 300
    ys = [y for _, points in series for _, y, _ in points]
    tops = [y + half for _, points in series for _, y, half in points]
    vertical = Scale(ys + tops + ([] if logarithmic else [1.0]), height - BOTTOM, TOP + 4, logarithmic)
    if names:
        horizontal = Scale([-0.3, len(names) - 0.7], LEFT, width - RIGHT, False)
        labels = list(enumerate(names))
    else:
        horizontal = Scale(places, LEFT + 12, width - RIGHT - 12, True)
        labels = [(place, number(place)) for place in places]
    parts = axes(vertical, horizontal, labels, width, height, title, unit)
    parts.append(text((LEFT + width) / 2, height - BOTTOM + 31, across, more=' fill="#555"'))
    for index, (_, points) in enumerate(series):
        parts += draw_series(index, points, horizontal, vertical)
    shown, added = legend([name for name, _ in series], width, height - 4)
    return page(width, height + added, parts + shown)


def bars(title, rows, names, unit, width=620):
    """Stacked bars lying on their side: rows are pairs of a name and a value for each of `names`."""
    if not rows:
        return ""
    left = 12 + 6.4 * max(len(name) for name, _ in rows)
    longest = max(sum(max(value, 0) for value in values) for _, values in rows) or 1.0
    scale = (width - left - 70) / longest
    parts = [text(4, 14, title, "start", ' font-weight="bold"')]
    y = TOP
    for name, values in rows:
        x = left
        parts.append(text(left - 6, y + 12, name, "end"))
        for index, value in enumerate(values):
            length = max(value, 0) * scale
            parts.append(f'<rect x="{x:.1f}" y="{y}" width="{length:.1f}" height="15" '
                         f'fill="{COLOURS[index % len(COLOURS)]}">'
                         f'<title>{html.escape(names[index])}: {number(value)} {unit}</title></rect>')
            x += length
        parts.append(text(x + 5, y + 12, f"{number(sum(values))} {unit}", "start"))
        y += 20
    shown, added = legend(names, width, y + 14)
    return page(width, y + 14 + added, parts + shown)
