# SPDX-License-Identifier: BSD-3-Clause
# Draws the simulated exchanges, as SVG and as PNG: gnuplot -e "data='out/simulate';
# images='docs/images'" tools/simulate/plot-simulate.gp. Reads what simulate_report.py wrote.

set style data linespoints
set datafile missing "NaN"
set logscale xy
set grid linecolor "#d0d0d0"
set border 3 linecolor "#606060"
set tics nomirror
set format x "%g"
set ylabel "one exchange, simulated µs"
# alltoallv, alltoallw, p2p, p2p-streams, p2p-type, then kway by k
array colours[10] = ["#74add1", "#9e9e9e", "#1b5e9e", "#66a61e", "#5a5a5a", "#fee08b", "#fdb863", "#e08214", \
    "#b35806", "#7f3b08"]
# alltoallv, hier, p2p, kway:8
array node_colours[4] = ["#74add1", "#4d9221", "#1b5e9e", "#e08214"]
columns_of(file) = int(system(sprintf("tail -n 1 '%s' | wc -w", file)))
platforms = "fat-tree dragonfly"

do for [format in "svg png"] {
    if (format eq "svg") {
        set terminal svg size 1000,1180 font "sans,13" background "white"
    } else {
        set terminal pngcairo size 1600,1890 fontscale 1.3 linewidth 1.6
    }
    set output images."/simulate.".format
    set multiplot layout 3,2
    do for [i = 1:2] {
        platform = word(platforms, i)
        last = columns_of(data."/".platform."-64.dat")
        if (i == 1) {
            set key top left autotitle columnhead maxrows 5 samplen 2
        } else {
            unset key
        }
        set title platform.", 64 ranks"
        set xlabel "bytes for each peer"
        set xtics (16, 256, 4096, 65536)
        set xrange [10:130000]
        plot for [c = 2:last] data."/".platform."-64.dat" using 1:c \
            linecolor rgb colours[c - 1] pointtype 7 pointsize 0.6 title columnheader(c)
        unset key
        set title platform.", 16 bytes for each peer"
        set xlabel "ranks"
        set xtics (64, 128, 256, 512)
        set xrange [50:650]
        plot for [c = 2:last] data."/".platform."-16-bytes.dat" using 1:c \
            linecolor rgb colours[c - 1] pointtype 7 pointsize 0.6 title columnheader(c)
    }
    do for [bytes in "16 256"] {
        file = data."/nodes-".bytes."-bytes.dat"
        if (bytes eq "16") {
            set key top left autotitle columnhead maxrows 3 samplen 2
        } else {
            unset key
        }
        set title "fat-tree, eight ranks on each node, ".bytes." bytes for each peer"
        plot for [c = 2:columns_of(file)] file using 1:c linecolor rgb node_colours[c - 1] \
            pointtype 7 pointsize 0.6 title columnheader(c)
    }
    unset multiplot
    unset output
}
