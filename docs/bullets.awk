# SPDX-License-Identifier: BSD-3-Clause
# What doxygen is shown instead of a header: the first comment is that of the file, and the indented lines that explain
# arguments, "name  text", which may go on more deeply indented, become bullets, with a paragraph of its own behind them.
!in_file && /^\/\*\*/ {
    in_file = 1
    sub(/^\/\*\*/, "/** @file\n *")
}
/^ \*   [a-z_]+  +/ {
    sub(/^ \*   /, "")
    name = $1
    sub(/^[a-z_]+ +/, "")
    print " * - **" name "** " $0
    in_list = 1
    next
}
in_list && /^ \* [^ ]/ { print " *" }
!/^ \*    / { in_list = 0 }
{ print }
