/* SPDX-License-Identifier: BSD-3-Clause */
#include "figures.h"
#include <math.h>

int figures_begin(struct figures *figures, const char *vorticity_path, const char *spectrum_path) {
    figures->vorticity = fopen(vorticity_path, "w");
    figures->spectrum = fopen(spectrum_path, "w");
    return figures->vorticity != NULL && figures->spectrum != NULL;
}

/* The point that follows the last one is the first one: with it the picture reaches its right and upper edge. */
static void write_plane(FILE *file, int size, const double *plane) {
    size_t points = (size_t)size * (size_t)size;
    for (int y = 0; y <= size; y++) {
        for (int z = 0; z <= size; z++) {
            const double *at = plane + y % size * size + z % size;
            double magnitude =
                sqrt(at[0] * at[0] + at[points] * at[points] + at[2 * points] * at[2 * points]);
            fprintf(file, "%.5f %.5f %.6g\n", 2 * M_PI * y / size, 2 * M_PI * z / size, magnitude);
        }
        fputc('\n', file);
    }
}

void figures_add(const struct figures *figures, double time, int size, const double *plane,
                 const struct spectrum *spectrum) {
    fprintf(figures->vorticity, "\"t = %g\"\n", time);
    write_plane(figures->vorticity, size, plane);
    fputc('\n', figures->vorticity);
    fprintf(figures->spectrum, "\"t = %g\"\n", time);
    for (int k = 1; k <= flow_cutoff(size); k++)
        fprintf(figures->spectrum, "%d %.6g\n", k, spectrum->energy[k]);
    fputs("\n\n", figures->spectrum);
}

int figures_end(const struct figures *figures) {
    int plane_written = fclose(figures->vorticity) == 0;
    return fclose(figures->spectrum) == 0 && plane_written;
}
