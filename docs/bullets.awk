# SPDX-License-Identifier: BSD-3-Clause
# The headers explain arguments in indented lines, "name  text", which may go on more deeply indented.
# For the HTML pages these become bullets, and the text behind them a paragraph of its own.
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
