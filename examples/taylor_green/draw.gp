# SPDX-License-Identifier: BSD-3-Clause
# The pictures of a run of 5_taylor_green, vorticity.png and spectrum.png:
#     gnuplot -e "folder='out/demo'" examples/taylor_green/draw.gp

vorticity = folder."/vorticity.raw"
spectrum = folder."/spectrum.dat"
load folder."/vorticity.gp" # size, and the times of the planes
last = words(times) - 1
set border linecolor "#404048"

set terminal pngcairo size 1600,640 font "sans,12"
set output folder."/vorticity.png"
set multiplot layout 1,3 margins 0.05,0.97,0.17,0.87 spacing 0.06 title "Taylor-Green vortex, Re = 1600: vorticity magnitude in the plane x = {/Symbol p}/4"
set pm3d map interpolate 4,4
# dark to light, evenly, so that a print in grey still reads
set palette defined (0 "#090d1f", 1 "#15225c", 2 "#4e2f8a", 3 "#a4278d", 4 "#e13875", 5 "#f76e50", \
    6 "#f7a43f", 7 "#f3d25a", 8 "#f9f5ca")
set xlabel "y"
set ylabel "z" rotate by 0
set xrange [0:2 * pi]
set yrange [0:2 * pi]
set xtics ("0" 0, "{/Symbol p}" pi, "2{/Symbol p}" 2 * pi)
set ytics ("0" 0, "{/Symbol p}" pi, "2{/Symbol p}" 2 * pi)
set size ratio 1
set cbtics 1000
set cblabel "to the mean and three standard deviations" offset 0, 1
# the point that follows the last one is the first one: with it the picture reaches its right and upper edge
set samples size + 1
set isosamples size + 1
set urange [0:size]
set vrange [0:size]
array square[size ** 2]
magnitude(y, z) = sqrt(square[int(y) % size * size + int(z) % size + 1])
add(p, value) = square[p] = square[p] + value ** 2
do for [i = 0:last] {
    do for [p = 1:size ** 2] { square[p] = 0 }
    # numbers in C order: moment, component, y, z
    stats vorticity binary array=(3 * size ** 2) skip=(24 * i * size ** 2) format="%double" \
        using (add(int($0) % size ** 2 + 1, $1)) nooutput
    stats square using (sqrt($2)) nooutput
    set cbrange [0:STATS_mean + 3 * STATS_stddev]
    set key at graph 0.67, 1.08
    if (i == 1) {
        set colorbox horizontal user origin screen 0.36, 0.055 size screen 0.3, 0.02
    } else {
        unset colorbox
    }
    splot '++' using (2 * pi * $1 / size):(2 * pi * $2 / size):(magnitude($1, $2)) \
        title "t = ".word(times, i + 1)
}
unset multiplot
unset output

reset
set terminal pngcairo size 900,640 font "sans,12"
set output folder."/spectrum.png"
set title "Taylor-Green vortex, Re = 1600"
set logscale xy
set grid linecolor "#d8d8e0"
set format y "10^{%L}"
set xlabel "wavenumber k"
set autoscale xfixmax
set ylabel "energy E(k) in the shell of wavenumber k"
set key bottom left
stats spectrum index last using ($2 * $1 ** (5.0 / 3)) nooutput
slope = 1.5 * STATS_max
# what symmetry keeps at zero, give or take rounding, is left out
above(value) = value > 1e-10 * slope ? value : NaN
plot for [i = 0:last] spectrum index i using 1:(above($2)) with lines linewidth 2.5 \
         linecolor rgb word("#4e2f8a #e13875 #f7a43f", i + 1) title columnheader(1), \
     slope * x ** (-5.0 / 3) with lines dashtype 2 linecolor "#787882" title "k^{-5/3}"
