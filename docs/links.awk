# SPDX-License-Identifier: BSD-3-Clause
# What doxygen is shown instead of a document: headings have the labels that links to them need.
function label(file, heading) {
    sub(/.*\//, "", file)
    sub(/\.md$/, "", file)
    gsub(/[^a-z0-9 _-]/, "", heading)
    gsub(/ /, "-", heading)
    return file "-" heading
}
/^```/ { in_code = !in_code }
!in_code && /^##+ / {
    heading = tolower($0)
    sub(/^#+ /, "", heading)
    $0 = $0 " {#" label(FILENAME, heading) "}"
}
!in_code {
    while (match($0, /\]\([A-Za-z0-9_\/-]*\.md#[a-z0-9_-]+\)/)) {
        split(substr($0, RSTART + 2, RLENGTH - 3), parts, "#")
        $0 = substr($0, 1, RSTART + 1) "#" label(parts[1], parts[2]) substr($0, RSTART + RLENGTH - 1)
    }
}
{ print }
