# SPDX-License-Identifier: BSD-3-Clause
# Draws what fftnd-bench --sizes printed, over the bound: gnuplot -e "data='out/gpu/sizes-c2c-double.txt'; image='out/gpu/sizes-c2c-double'"
# tools/bench/plot-sizes.gp. Columns: size, kind, precision, then ms of libfftnd, cuFFTXt, the serial parts, and the bound.

set grid ytics linecolor "#d0d0d0"
set border 3 linecolor "#606060"
set tics nomirror
set key outside top center horizontal
set datafile missing "nan"
set logscale xy
set xrange [60:1200]
set xtics (64, 96, 128, 192, 256, 384, 512, 768, 1024)
set ytics (1, 1.5, 2, 3, 4, 6, 8, 12, 16)
set xlabel "elements along each axis"
set ylabel "time of a pair over the bound"

do for [format in "svg png"] {
    if (format eq "svg") {
        set terminal svg size 900,420 font "sans,13" background "white"
    } else {
        set terminal pngcairo size 1800,840 fontscale 1.6 linewidth 2
    }
    set output image.".".format
    plot data using 1:($5 / $7) with points pointtype 9 linecolor "#e08214" title "cuFFTXt", \
         data using 1:($6 / $7) with points pointtype 6 linecolor "#9e9e9e" \
             title "cuFFT's parts, no exchange", \
         data using 1:($4 / $7) with points pointtype 7 linecolor "#1b5e9e" title "libfftnd"
    unset output
}
