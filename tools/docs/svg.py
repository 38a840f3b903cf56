# SPDX-License-Identifier: BSD-3-Clause
"""Pictures as SVG text, the same on every machine, so that a test can compare them."""
import html

COLOURS = ["#3b76af", "#ef8536", "#519e3e", "#8d69b8"]  # of ranks, or of series
INK, FAINT = "#303038", "#d4d4da"


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def shade(colour, factor):
    """A darker colour (factor below 1), or one nearer to white (above 1)."""
    parts = [int(colour[i:i + 2], 16) for i in (1, 3, 5)]
    parts = [part * factor if factor <= 1 else 255 - (255 - part) * (2 - factor) for part in parts]
    return "#" + "".join(f"{round(part):02x}" for part in parts)


class Picture:
    def __init__(self, width, height):
        self.width, self.height = width, height
        self.elements = []

    def add(self, kind, content=None, **attributes):
        words = " ".join(f'{name.replace("_", "-")}="{number(value) if isinstance(value, float) else value}"'
                         for name, value in attributes.items())
        end = "/>" if content is None else f">{html.escape(content)}</{kind}>"
        self.elements.append(f"<{kind} {words}{end}")

    def polygon(self, points, **attributes):
        self.add("polygon", points=" ".join(f"{number(x)},{number(y)}" for x, y in points), **attributes)

    def polyline(self, points, **attributes):
        self.add("polyline", points=" ".join(f"{number(x)},{number(y)}" for x, y in points), fill="none", **attributes)

    def line(self, x1, y1, x2, y2, **attributes):
        self.add("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), **{"stroke": INK, **attributes})

    def text(self, x, y, content, **attributes):
        self.add("text", content, x=float(x), y=float(y), **{"fill": INK, **attributes})

    def write(self, path):
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
                f'viewBox="0 0 {self.width} {self.height}" font-family="sans-serif" font-size="14">')
        background = f'<rect width="{self.width}" height="{self.height}" fill="white"/>'
        path.write_text("\n".join([head, background, *self.elements, "</svg>"]) + "\n", encoding="utf-8")
