/* SPDX-License-Identifier: BSD-3-Clause */
#include "figures.h"

int figures_begin(struct figures *figures, const char *vorticity_path, const char *spectrum_path,
                  int size) {
    figures->vorticity = fopen(vorticity_path, "w");
    figures->spectrum = fopen(spectrum_path, "w");
    return figures->vorticity != NULL && figures->spectrum != NULL &&
           fprintf(figures->vorticity, "size = %d\ntimes = ''\n", size) > 0;
}

void figures_add(const struct figures *figures, double time, int size,
                 const struct spectrum *spectrum) {
    fprintf(figures->vorticity, "times = times.' %g'\n", time);
    fprintf(figures->spectrum, "\"t = %g\"\n", time);
    for (int k = 1; k <= flow_cutoff(size); k++)
        fprintf(figures->spectrum, "%d %.6g\n", k, spectrum->energy[k]);
    fputs("\n\n", figures->spectrum);
}

int figures_end(const struct figures *figures) {
    int plane_written = fclose(figures->vorticity) == 0;
    return fclose(figures->spectrum) == 0 && plane_written;
}
