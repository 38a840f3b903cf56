/* SPDX-License-Identifier: BSD-3-Clause */
/* Green's functions of -Laplacian + kappa^2 in free space of 1 to 3 dimensions. */
#ifndef FFTND__GREEN_H
#define FFTND__GREEN_H

/* Returns the Fourier transform, at wavenumbers of norm `s`, of the Green's function inside a ball of radius `reach`
 * (Vico, Greengard and Ferrando, "Fast convolution with free-space Green's functions", J. Comput. Phys. 323, 2016). */
double fftnd__green_transform(int ndims, double kappa, double s, double reach);

/* Returns its integral over the cell h around x for kappa = 0 (Qiang, Lidia, Ryne and Limborg-Deprey,
 * "Three-dimensional quasistatic model for high brightness beam dynamics simulation", Phys. Rev. ST Accel. Beams 9,
 * 2006). */
double fftnd__green_cell(int ndims, const double x[], const double h[]);

/* Returns the length of a vector without overflow. hypot of glibc 2.35 would bind wheels to that version. */
double fftnd__length(double x, double y);

/* Returns the value at x times the cell's volume for kappa = 0; at 0 the integral. */
double fftnd__green_point(int ndims, const double x[], const double h[]);

#endif
