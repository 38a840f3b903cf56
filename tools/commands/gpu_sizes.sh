# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# ./dev gpu-bench --sizes: cubes of many lengths beside cuFFT; ./dev gpu-bench --ratios: what an operator, boxes, retained
# modes and cosine transforms take of a pair of transforms. Sourced by gpu.sh, whose variables and functions it uses.

prepare_ratios() {
    mkdir -p out/gpu
    build_gpu
    [ -z "${OPENMPI_CUDA:-}" ] || mpi=aware
    n=${ranks:-$(count_devices)}
    bind_ranks "$n"
    # Rates of lengths are measured once; a file that the user names has them from one call to the next.
    export REDIST_WISDOM=${REDIST_WISDOM:-$PWD/out/gpu/wisdom.txt}
}

# Columns 8 to 10 are times over those of cuFFTXt, of cuFFT's parts, and over the bound.
sum_up() { # table
    awk '$1 ~ /^[0-9]+$/ && $4 > 0 {
             n++
             for (i = 8; i <= 10; i++)
                 if ($i ~ /^[0-9]/ && $i > 0) { logs[i] += log($i); m[i]++; if ($i + 0 > most[i]) { most[i] = $i + 0; at[i] = $1 } }
         }
         END {
             names[8] = "cufftxt"; names[9] = "serial"; names[10] = "bound"
             printf "%d sizes;", n
             for (i = 8; i <= 10; i++)
                 if (m[i] > 0) printf " of %s %.2f, most %.2f (%d);", names[i], exp(logs[i] / m[i]), most[i], at[i]
             print ""
         }' "$1"
}

# A size at which the program dies is left out, and the next one begins in another process; two that die at once are enough.
bench_kind() { # kind, precision
    local table=out/gpu/sizes-$1-$2.txt skip=0 rows empty=0 code=0
    : >"$table"
    until run_on "$mpi" "$n" timeout 400 "$build/bench/fftnd-bench" --space cuda --shape 8,8,8 --sizes "$sizes" \
        --skip $skip --kind "$1" --precision "$2" --grid 0 --method direct --plan-seconds 1 --warmup 1 --row-ms 300 \
        --unchecked ${peers:+"$peers"} >out/gpu/rows.txt 2>>out/gpu/bench-errors.txt; do
        code=1
        rows=$(grep -acE '^[0-9]' out/gpu/rows.txt)
        tee -a "$table" <out/gpu/rows.txt
        echo "one size failed (out/gpu/bench-errors.txt)"
        skip=$((skip + rows + 1)) empty=$((rows > 0 ? 0 : empty + 1))
        [ $empty -lt 2 ] || return $code
    done
    tee -a "$table" <out/gpu/rows.txt
    sum_up "$table"
    ! command -v gnuplot >/dev/null ||
        gnuplot -e "data='$table'; image='${table%.txt}'" tools/bench/plot-sizes.gp
    return $code
}

# Lines of many sizes, and what they look like over the bound, where there is gnuplot.
bench_sizes() {
    local kind precision n mpi=usual code=0
    prepare_ratios
    for precision in ${precisions//,/ }; do
        for kind in $(tr ',' ' ' <<<"${kinds:-c2c,r2c}"); do
            bench_kind "$kind" "$precision" || code=1
        done
    done
    return $code
}

# ---------------------------------------------------------------- ratios

# The median of a pair of transforms, in ms.
time_pair() { # arguments of fftnd-bench
    run_on "$mpi" "$n" timeout 200 "$build/bench/fftnd-bench" --space cuda --grid 0 --plan-seconds 2 --iters 10 \
        --warmup 2 --unchecked --skip-peers --json "$@" 2>>out/gpu/bench-errors.txt |
        sed -n 's/.*"pair_ms_median": *\([0-9.e+-]*\).*/\1/p' | head -n 1
}

# The same where the host waits for each direction.
time_waited() { # arguments of fftnd-stream-bench
    run_on "$mpi" "$n" timeout 200 "$build/bench/fftnd-stream-bench" --plan-seconds 2 --iters 10 --json "$@" \
        2>>out/gpu/bench-errors.txt | grep '"sync"' | sed -n 's/.*"ms": *\([0-9.e+-]*\).*/\1/p'
}

print_ratio() { # what, ms, of what, ms
    awk -v a="$2" -v b="$4" "BEGIN { printf \"$1 %.3f ms, $3 %.3f ms: %.3f\\n\", a, b, b > 0 ? a / b : 0; exit !(a * b > 0) }"
}

bench_ratios() {
    local n mpi=usual edge=512 large=768 code=0
    [ "$quick" = no ] || edge=64 large=96
    prepare_ratios
    run_on "$mpi" "$n" timeout 200 "$build/bench/operator-bench" --space cuda --shape $edge,$edge,$edge --iters 10 ||
        code=1
    run_on "$mpi" "$n" timeout 200 "$build/bench/operator-bench" --space cuda --shape $edge,$edge,$edge --iters 10 \
        --overwrite || code=1
    run_on "$mpi" "$n" timeout 200 "$build/bench/boxes-bench" --space cuda --shape $edge,$edge,$edge --iters 10 \
        --plan-seconds 2 --method direct || code=1
    local shape=$large,$large,$large
    print_ratio "$large^3 r2c, $edge modes of each axis" "$(time_pair --shape $shape --retained $edge,$edge,$edge)" \
        "all modes" "$(time_pair --shape $shape)" || code=1
    shape=$edge,$edge,$edge
    print_ratio "$edge^3 DCT" "$(time_waited --shape $shape --kind r2r)" \
        "r2c" "$(time_waited --shape $shape --kind r2c)" || code=1
    return $code
}
