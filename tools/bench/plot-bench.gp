# SPDX-License-Identifier: BSD-3-Clause
# Draws the benchmarks, as SVG and as PNG: gnuplot -e "data='out/bench'" tools/bench/plot-bench.gp
# Reads what bench_report.py wrote there: redist.dat and fft.dat, whose last column is what cannot be avoided (a
# memcpy of the same bytes, or the serial transforms alone).

set style data histogram
set style histogram clustered gap 1.5
set style fill solid 0.9 noborder
set xtics scale 0
set ytics nomirror
set grid ytics linecolor "#d0d0d0"
set border 3 linecolor "#606060"
set key outside top center horizontal autotitle columnhead maxcols 3
set datafile missing "NaN"
array colours[9] = ["#1b5e9e", "#e08214", "#fdb863", "#9e9e9e", "#c7c7c7", "#74add1", "#5aae61", \
    "#a6dba0", "#9970ab"]
colour(i) = colours[(i - 2) % 9 + 1]

# Where the label of column i stands over a group of n bars.
place(row, i, n) = row + (i - 2.1 - (n - 1) / 2.0) / (n + 1.5)

is_there(file) = int(system(sprintf("test -s '%s' && echo 1 || echo 0", file)))
rows_of(file) = int(system(sprintf("wc -l <'%s'", file))) - 1
columns_of(file) = int(system(sprintf("tail -n 1 '%s' | sed 's/\"[^\"]*\"/x/' | wc -w", file)))

exchanges = data."/redist.dat"
transforms = data."/fft.dat"

do for [format in "svg png"] {
    if (format eq "svg") {
        set terminal svg size 900,420 font "sans,13" background "white"
    } else {
        set terminal pngcairo size 1800,840 fontscale 1.6 linewidth 2
    }

    if (is_there(exchanges)) {
        last = columns_of(exchanges)
        set output data."/redist-bench.".format
        set ylabel "time of one exchange, ms (median)"
        set xlabel "axes: whole along the first before, along the second after"
        set xrange [-0.6:rows_of(exchanges) - 0.4]
        set yrange [0:*]
        plot for [i = 2:last - 1] exchanges using i:xtic(1) linecolor rgb colour(i) \
                 title columnheader(i), \
             exchanges using ($0 - 0.47):last:(0.94):(0) with vectors nohead linewidth 2.5 \
                 linecolor "black" title "memcpy of the same bytes"
        unset output
    }

    if (is_there(transforms)) {
        last = columns_of(transforms)
        set output data."/fftnd-bench.".format
        set ylabel "time of a pair over its serial transforms alone"
        set xlabel "labels: forward and backward together, ms (median)" offset 0, -1
        set xrange [-0.6:rows_of(transforms) - 0.4]
        set yrange [0:*]
        set offsets 0, 0, 0.3, 0
        plot for [i = 2:last - 1] transforms using (column(i) / column(last)):xtic(1) \
                 linecolor rgb colour(i) title columnheader(i), \
             for [i = 2:last - 1] transforms using (place($0, i, last - 2)): \
                 (column(i) / column(last)):(sprintf(" %.3g", column(i))) \
                 with labels rotate left font ",9" notitle, \
             1 linewidth 2.5 linecolor "black" title "serial transforms, no communication"
        unset output
        set offsets
    }
}
