/* SPDX-License-Identifier: BSD-3-Clause */
/* How energy and enstrophy are spread over the wavenumbers. */
#ifndef SPECTRUM_H
#define SPECTRUM_H

#include "flow.h"

struct spectrum {
    int nshells;            /* shell s holds the waves with s - 1/2 <= |k| < s + 1/2 */
    double *energy;         /* of each shell */
    double *enstrophy;      /* of each shell */
    double total_energy;    /* per volume: the mean of |velocity|^2 / 2 */
    double total_enstrophy; /* the mean of |vorticity|^2 / 2 */
    double *sums;           /* of this rank alone, in the flow's space */
};

void spectrum_create(struct spectrum *spectrum, const struct flow *flow);
void spectrum_free(struct spectrum *spectrum);

/* Measures the flow; every rank gets the whole result. */
void spectrum_measure(struct spectrum *spectrum, const struct flow *flow);

/* The share of the enstrophy in the shells of the last third below the cutoff: small as long as
 * the grid resolves the flow. */
double spectrum_tail_share(const struct spectrum *spectrum, int size);

#endif
