# SPDX-License-Identifier: BSD-3-Clause
# What doxygen is shown instead of a document: headings have the labels that links to them need, and no code, which
# doxygen would show as markup; code that has quotation marks has two backticks around it, as doxygen needs it then.
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
    gsub(/`/, "")
    $0 = $0 " {#" label(FILENAME, heading) "}"
}
!in_code {
    while (match($0, /\]\([A-Za-z0-9_\/-]*\.md#[a-z0-9_-]+\)/)) {
        split(substr($0, RSTART + 2, RLENGTH - 3), parts, "#")
        $0 = substr($0, 1, RSTART + 1) "#" label(parts[1], parts[2]) substr($0, RSTART + RLENGTH - 1)
    }
}
!in_code {
    number = split($0, parts, "`")
    $0 = parts[1]
    for (i = 2; i <= number; i++) {
        mark = i % 2 == 0 && i < number && parts[i] ~ /'/ || i % 2 == 1 && parts[i - 1] ~ /'/ ? "``" : "`"
        $0 = $0 mark parts[i]
    }
}
{ print }
