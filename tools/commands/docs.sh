#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev docs: HTML pages of the public headers and the documents; any warning is an error.
set -eu
. tools/shell/build.sh

mkdir -p out/docs
quietly out/log/docs.txt doxygen docs/Doxyfile
echo "The pages begin at out/docs/html/index.html"
