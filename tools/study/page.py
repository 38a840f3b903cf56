# SPDX-License-Identifier: BSD-3-Clause
"""The parts of an HTML page that opens from disk: no script, no other file."""
import html

STYLE = """
body { font-family: sans-serif; margin: 2em auto; max-width: 1290px; color: #222; line-height: 1.4 }
table { border-collapse: collapse; margin: 0.6em 0 }
th, td { border: 1px solid #ccc; padding: 2px 8px; text-align: right; font-size: 90% }
th:first-child, td:first-child { text-align: left }
th { background: #f1f1f1 }
.plots { display: flex; flex-wrap: wrap; gap: 12px }
summary { cursor: pointer; margin: 0.5em 0 }
p { max-width: 62em }
"""


def escape(words):
    return html.escape(str(words))


def heading(level, words):
    return f"<h{level}>{escape(words)}</h{level}>\n"


def paragraph(words):
    return f"<p>{escape(words)}</p>\n"


def table(names, rows):
    if not rows:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n"
                   for row in rows)
    return f"<table><tr>{head}</tr>\n{body}</table>\n"


def plots(drawings):
    drawings = [drawing for drawing in drawings if drawing]
    return '<div class="plots">' + "\n".join(drawings) + "</div>\n" if drawings else ""


def folded(title, contents):
    return f"<details><summary>{escape(title)}</summary>\n{contents}</details>\n" if contents else ""


def document(title, contents):
    return ("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n"
            f"{contents}</body></html>\n")
