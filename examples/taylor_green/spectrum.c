/* SPDX-License-Identifier: BSD-3-Clause */
#include "spectrum.h"
#include "example.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void spectrum_create(struct spectrum *spectrum, int size) {
    /* Energy and enstrophy stand side by side, so that one reduction adds both over the ranks. */
    spectrum->nshells = (int)(sqrt(3) * size / 2) + 2; /* up to the corner of the cube */
    spectrum->energy = calloc(2 * (size_t)spectrum->nshells, sizeof(double));
    if (spectrum->energy == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    spectrum->enstrophy = spectrum->energy + spectrum->nshells;
}

void spectrum_free(struct spectrum *spectrum) {
    free(spectrum->energy);
}

struct measurement {
    struct spectrum *spectrum;
    const struct flow *flow;
};

static inline void measure_wave(const struct wave *wave, void *context) {
    const struct measurement *measurement = context;
    ptrdiff_t next = measurement->flow->spectral.batch_stride;
    const double complex *u = measurement->flow->velocity + wave->place;
    double energy = 0;
    for (int c = 0; c < 3; c++)
        energy += wave->weight * 0.5 * creal(u[c * next] * conj(u[c * next]));
    int shell = (int)(sqrt(wave->k_squared) + 0.5);
    measurement->spectrum->energy[shell] += energy;
    measurement->spectrum->enstrophy[shell] += wave->k_squared * energy;
}

void spectrum_measure(struct spectrum *spectrum, const struct flow *flow) {
    memset(spectrum->energy, 0, 2 * (size_t)spectrum->nshells * sizeof(double));
    flow_each_wave(flow, measure_wave, &(struct measurement){spectrum, flow});
    MPI_Allreduce(MPI_IN_PLACE, spectrum->energy, 2 * spectrum->nshells, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    spectrum->total_energy = spectrum->total_enstrophy = 0;
    for (int s = 0; s < spectrum->nshells; s++) {
        spectrum->total_energy += spectrum->energy[s];
        spectrum->total_enstrophy += spectrum->enstrophy[s];
    }
}

double spectrum_tail_share(const struct spectrum *spectrum, int size) {
    double tail = 0;
    for (int s = 2 * flow_cutoff(size) / 3 + 1; s < spectrum->nshells; s++)
        tail += spectrum->enstrophy[s];
    return tail / spectrum->total_enstrophy;
}
