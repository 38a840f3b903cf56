/* SPDX-License-Identifier: BSD-3-Clause */
/* Spectra in a plot with logarithmic axes. */
#ifndef SPECTRUM_PLOT_H
#define SPECTRUM_PLOT_H

#include "figures.h"

struct canvas spectrum_plot(const struct figures *figures);

#endif
