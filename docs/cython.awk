# SPDX-License-Identifier: BSD-3-Clause
# What doxygen is shown instead of a Cython file: what Python does not see is left out.
/[^ ]/ {
    indent = match($0, /[^ ]/)
    if (indent <= depth)
        depth = 0
    if (depth == 0 && (/^ *cdef / && !/^ *cdef class .*:/ || /^ *def __dealloc__/))
        depth = indent
}
/^ *def / {
    gsub(/\(int /, "(")
    gsub(/, int /, ", ")
}
depth == 0 { print }
