# SPDX-License-Identifier: BSD-3-Clause
# The picture of a run of 10_particle_mesh, potential.png:
#     gnuplot -e "folder='out/particles'" examples/particle_mesh/draw.gp

stats folder."/potential.dat" using 3 nooutput
largest = STATS_max > -STATS_min ? STATS_max : -STATS_min

set terminal pngcairo size 720,640 font "sans,12"
set output folder."/potential.png"
set title "Long-range potential of charged particles in the plane z = 1/2"
set border linecolor "#404048"
set pm3d map
# negative, zero and positive differ in brightness too, so that a print in grey still reads
set palette defined (-1 "#15225c", -0.5 "#5a78c8", 0 "#f4f1e8", 0.5 "#f08a5a", 1 "#7a1226")
set xlabel "x"
set ylabel "y" rotate by 0
set xrange [0:1]
set yrange [0:1]
set xtics 0.5
set ytics 0.5
set size ratio 1
set cbrange [-largest:largest]
unset key
splot folder."/potential.dat" using 1:2:3
