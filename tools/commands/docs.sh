#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev docs: the site: HTML pages of the documents, the headers and the modules, and
# a search through all of their text. Any warning is an error.
set -eu
. tools/shell/build.sh

rm -rf out/docs
mkdir -p out/docs
python3 docs/python_pages.py out/docs/python
quietly out/log/docs.txt doxygen docs/Doxyfile
if grep -o '"@ref [^"]*"' out/docs/html/navtreedata.js; then
    echo "docs/layout.xml names these pages, which do not exist" >&2
    exit 1
fi
if grep -o 'href="[^":]*\.md[#"][^ ]*' out/docs/html/*.html; then
    echo "these links of documents lead nowhere" >&2
    exit 1
fi
if grep -n '^[^<]*&lt;[a-z]*&gt;[^<]*&lt;/[a-z]*&gt;</h[1-4]>' out/docs/html/*.html; then
    echo "these headings show markup" >&2
    exit 1
fi
python3 tools/docs/search_pages.py out/docs/html
sed -i 's,</head>,<script src="search.js"></script>\n</head>,' out/docs/html/*.html
echo "The pages begin at out/docs/html/index.html"
