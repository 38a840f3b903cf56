# SPDX-License-Identifier: BSD-3-Clause
"""Writes what the site's search looks through: search_pages.py FOLDER makes FOLDER/search_pages.js of its HTML pages.

Each section of a document, and each function, constant and field of the reference, is an entry of its own:
{page, title, link, text}. A script that assigns a variable, not JSON: a browser reads it from a file system too.
"""
import html.parser
import json
import pathlib
import re
import sys

# Lists that doxygen makes of what other pages explain.
LISTS = re.compile(r"^(dir_|globals|functions|namespacemembers|annotated|classes|files|pages|namespaces|index_)")
HEADINGS = {"h1", "h2", "h3"}
WITHOUT_END = {"br", "hr", "img", "link", "meta", "input", "wbr", "col", "area"}


class Page(html.parser.HTMLParser):
    """The sections of one page: what stands in <div class="contents">, cut at its headings."""

    def __init__(self, name):
        super().__init__()
        self.name = name
        self.title = ""
        self.sections = []
        self.anchor = ""
        self.open = []  # the classes of the elements that are open
        self.heading = None

    def inside(self, words):
        return any(words in classes for classes in self.open)

    def begin_section(self, link):
        self.sections.append({"title": [], "link": self.name + link, "text": []})

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        classes = (attributes.get("class") or "").split()
        if tag not in WITHOUT_END:
            self.open.append(classes)
        if classes == ["contents"]:
            self.begin_section("")
        if tag == "a" and "id" in attributes:
            self.anchor = "#" + attributes["id"]
            if self.heading:
                self.sections[-1]["link"] = self.name + self.anchor
        if tag in HEADINGS and self.inside("contents") and "groupheader" not in classes:
            self.heading = tag
            self.begin_section(self.anchor if "memtitle" in classes else "")

    def handle_endtag(self, tag):
        if tag == self.heading:
            self.heading = None
        if tag not in WITHOUT_END and self.open:
            self.open.pop()

    def handle_data(self, data):
        if self.inside("title") and self.inside("headertitle"):
            self.title += data
        elif self.inside("permalink") or self.inside("ttc") or not self.inside("contents"):
            return
        elif self.heading:
            self.sections[-1]["title"].append(data)
        else:
            self.sections[-1]["text"].append(data)

    def entries(self):
        page = " ".join(self.title.split()) or "Overview"
        for section in self.sections:
            title, text = (" ".join("".join(section[key]).split()) for key in ("title", "text"))
            if title or text:
                yield {"page": page, "title": title or page, "link": section["link"], "text": text}


def entries_of(path):
    page = Page(path.name)
    page.feed(path.read_text(encoding="utf-8"))
    return page.entries()


def main(folder):
    paths = sorted(path for path in folder.glob("*.html") if not LISTS.match(path.name) and "_source" not in path.name)
    entries = [entry for path in paths for entry in entries_of(path)]
    text = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
    (folder / "search_pages.js").write_text(f"var searchPages = {text};\n", encoding="utf-8")
    print(f"{len(entries)} entries of {len(paths)} pages")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
