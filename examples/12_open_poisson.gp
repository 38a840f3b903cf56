# SPDX-License-Identifier: BSD-3-Clause
# The picture of a run of 12_open_poisson, open_poisson.png:
#     gnuplot -e "folder='out/tutorial'" examples/12_open_poisson.gp

set terminal pngcairo size 720,640 font "sans,12"
set output folder."/open_poisson.png"
set title "Potential of a cloud of charge in free space, z = 1/2"
set border linecolor "#404048"
set pm3d map
# from dark to light, so that a print in grey still reads
set palette defined (0 "#15225c", 1 "#5a78c8", 2 "#f4f1e8")
set xlabel "x"
set ylabel "y" rotate by 0
set autoscale fix
set xtics 0.5
set ytics 0.5
set size ratio 1
unset key
splot folder."/open_poisson.dat" using 1:2:3
