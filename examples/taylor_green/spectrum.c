/* SPDX-License-Identifier: BSD-3-Clause */
#include "spectrum.h"
#include "example.h"
#include <math.h>
#include <stdlib.h>

/* Energy and enstrophy stand side by side, so that one reduction adds both over the ranks. */
static size_t bytes_of(const struct spectrum *spectrum) {
    return 2 * (size_t)spectrum->nshells * sizeof(double);
}

void spectrum_create(struct spectrum *spectrum, const struct flow *flow) {
    spectrum->nshells = (int)(sqrt(3) * flow->size / 2) + 2; /* up to the corner of the cube */
    spectrum->energy = malloc(bytes_of(spectrum));
    if (spectrum->energy == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    spectrum->enstrophy = spectrum->energy + spectrum->nshells;
    spectrum->sums = space_allocate(flow->space, bytes_of(spectrum));
}

void spectrum_free(struct spectrum *spectrum) {
    free(spectrum->energy);
    release(spectrum->sums);
}

void spectrum_measure(struct spectrum *spectrum, const struct flow *flow) {
    flow->space->clear(spectrum->sums, bytes_of(spectrum));
    flow->space->measure(&(struct work){.block = flow->waves,
                                        .velocity = flow->velocity,
                                        .nshells = spectrum->nshells,
                                        .sums = spectrum->sums});
    flow->space->copy(spectrum->energy, spectrum->sums, bytes_of(spectrum));
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
