#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A tiny job of fftnd-study: run, cut off in the middle, gone on with, reported; and bad jobs refused.
#     test_study.sh SOURCE_ROOT FFTND_STUDY RUN_RANKS_ARGUMENT...
set -eu
source_root=$1
study=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "$1"
    cat "$folder/log"
    exit 1
}

run() { # job; sets the exit code
    code=0
    "$run_ranks" "$@" >"$folder/log" 2>&1 || code=$?
}

# Keeps the launcher's arguments out of the way of those of functions.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
run_ranks=$folder/run
printf '#!/bin/sh\nexec' >"$run_ranks"
for argument in "$@" 2 "$study" --out "$folder" --job; do
    printf " '%s'" "$argument" >>"$run_ranks"
done
# shellcheck disable=SC2016 # for the script that is written
printf ' "$@"\n' >>"$run_ranks"
chmod +x "$run_ranks"

rows=$folder/tiny-2.csv
run "$source_root/tools/study/jobs/tiny.json"
[ $code -eq 0 ] || fail "the job ended with exit code $code"
# 4 sizes x 3 slabs x 2 methods x 2 kinds x 2 directions x 3 runs, and the heading
[ "$(wc -l <"$rows")" -eq 289 ] || fail "$(wc -l <"$rows") lines instead of 289"
awk -F, 'NR == 1 { n = NF; for (i = 1; i <= NF; i++) column[$i] = i }
    NF != n { print "line " NR " has " NF " columns"; bad = 1 }
    NR > 1 { sum = 0
        for (i = column["transform_ms"]; i <= column["rest_ms"]; i++) sum += $i
        total = $column["total_ms"]
        if (sum > 1.001 * total || sum < 0.999 * total) { print "line " NR ": " sum ", " total; bad = 1 }
        if ($column["validation_error"] > 1e-10) { print "line " NR ": " $0; bad = 1 } }
    END { exit bad }' "$rows" >>"$folder/log" || fail "the rows are wrong"

# Cut off in a row: complete configurations stay as they are, the others are measured again
cp "$rows" "$folder/all"
head -n 103 "$folder/all" | head -c -9 >"$rows"
run "$source_root/tools/study/jobs/tiny.json"
[ $code -eq 0 ] || fail "the second start ended with exit code $code"
[ "$(wc -l <"$rows")" -eq 289 ] || fail "$(wc -l <"$rows") lines after the second start"
[ "$(head -n 100 "$rows" | cksum)" = "$(head -n 100 "$folder/all" | cksum)" ] ||
    fail "rows that were complete have changed"
[ "$(cut -d, -f1-16 "$rows" | sort | cksum)" = "$(cut -d, -f1-16 "$folder/all" | sort | cksum)" ] ||
    fail "not the same configurations"
cp "$rows" "$folder/all"
run "$source_root/tools/study/jobs/tiny.json"
cmp -s "$rows" "$folder/all" || fail "a study that is complete was measured again"
[ "$(grep -c node "$folder/tiny-2.model.csv")" -ge 2 ] || fail "the model is gone"

# Where the ranks ran
[ "$(sed -n 1p "$folder/tiny-2.placement.csv")" = "rank,host,processors,device,next_to_device" ] ||
    fail "the placement have another heading"
grep -qE '^1,[^,]+,"[0-9,-]+",,""$' "$folder/tiny-2.placement.csv" || fail "no placement of rank 1"

# The first of two configurations takes longer than is allowed to begin anything, unless this machine is
# very fast
echo '{"name": "long", "sizes": [[64, 64, 64]], "methods": ["direct", "p2p"], "effort": "estimate",
       "model": false, "warmup": 0, "runs": 1600, "directions": ["forward"]}' >"$folder/long.json"
code=0
"$study" --out "$folder" --job "$folder/long.json" --seconds 1 >"$folder/log" 2>&1 || code=$?
[ $code -eq 0 ] || fail "exit code $code with --seconds"
if awk -F, 'NR > 1 && NR < 1602 { sum += $19 } END { exit sum < 1000 }' "$folder/long-1.csv"; then
    grep -q 'stopped by --seconds' "$folder/log" || fail "it was not stopped"
    [ "$(wc -l <"$folder/long-1.csv")" -eq 1601 ] || fail "$(wc -l <"$folder/long-1.csv") lines"
fi
rm "$folder"/long*

# A report of it
python3 "$source_root/tools/study/report.py" "$folder" >"$folder/log" 2>&1 || fail "no report"
for words in '2 ranks, backward' '16^3' '8^2 x 16' 'slab-1d-2d' 'first message in' '</html>'; do
    grep -qF "$words" "$folder/report.html" || fail "the report does not say '$words'"
done

# What is refused, and why
refuse() { # job, words of the message; one rank needs no launcher
    echo "$1" >"$folder/bad.json"
    code=0
    "$study" --out "$folder" --job "$folder/bad.json" >"$folder/log" 2>&1 || code=$?
    [ $code -eq 2 ] || fail "exit code $code for $1"
    grep -qF -e "$2" "$folder/log" || fail "no '$2' in the message for $1"
}
refuse '{"sizes": [[4, 4]], "colour": 1}' 'there is no key "colour"'
refuse '{"sizes": [[4, 4], [4]]}' 'all of the same length'
refuse '{"sizes": [[4, 4.5]]}' 'whole number'
refuse '{"name": "x"}' '"sizes" is missing'
refuse '[1' 'not a JSON object'
refuse '{"sizes": [[4, 4]], "grids": ["cube"]}' '"cube" is not known'
refuse '{"sizes": [[4, 4]], "grids": ["3"]}' 'none of them'
refuse '{"sizes": [[4, 4]], "methods": ["pigeon"]}' 'pigeon is not known'
refuse '{"sizes": [[4, 4]], "kinds": ["d2d"]}' 'd2d is not one of its words'
refuse '{"sizes": [[4, 4]], "name": "a/b"}' '"name" is a short word'
echo 'a,b' >"$folder/study-1.csv"
refuse '{"sizes": [[4, 4]]}' 'has other columns'
echo "on 2 ranks: 1 passed, 0 failed, 0 skipped"
