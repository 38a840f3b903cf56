# SPDX-License-Identifier: BSD-3-Clause
# The picture of a run of 9_finite_differences, finite_differences.png:
#     gnuplot -e "folder='out/tutorial'" examples/finite_differences/draw.gp

errors = folder."/finite_differences.dat"
set border linecolor "#404048"
set terminal pngcairo size 900,640 font "sans,12"
set output folder."/finite_differences.png"
set title "Laplacian of exp(sin x + sin y + sin z) in a periodic box"
set logscale y
set format y "10^{%L}"
set grid linecolor "#d8d8e0"
set xrange [-0.5:4.5]
set xlabel "order of the differences"
set ylabel "largest error, in fractions of the largest value"
set key bottom left title "points"
plot for [i = 2:4] errors using 0:i:xtic(1) with linespoints linewidth 2.5 pointtype 7 pointsize 1.4 \
     linecolor rgb word("#4e2f8a #e13875 #f7a43f", i - 1) title columnheader(i)
