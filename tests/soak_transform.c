/* SPDX-License-Identifier: BSD-3-Clause */
#include "soak.h"

#include <stdlib.h>

#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"

enum { MOST_TRANSFORMS = 12 };

/* Tiles go to a device with less memory than the arrays: as much as there has to be, or some more. */
static void limit_memory(MPI_Comm comm, fft_case *given) {
    given->options.pin_arrays = random_chance(50);
    given->options.effort = FFTND_ESTIMATE;
    given->options.local_transpose = FFTND_LOCAL_TRANSPOSE_AUTO;
    unsetenv("FFTND_CONFIGURATION");
    fft_run_limit(comm, given, (size_t)random_between(64, 4000));
    given->options.device_bytes *= (size_t)random_between(1, 20);
}

static fft_case random_transform(MPI_Comm comm) {
    const int nranks = comm == MPI_COMM_WORLD ? harness_nranks : 1;
    fft_case given =
        random_chance(50) ? fft_random_case(nranks, 0) : fft_random_mixed_case(nranks, 0);
    if (given.options.plan_seconds > 0.02)
        given.options.plan_seconds = 0.02;
    if (random_chance(30))
        given.options.threads = random_between(2, 3);
    if (random_chance(15))
        fft_random_kept(&given);
    else if (random_chance(15))
        limit_memory(comm, &given);
    return given;
}

void soak_transform(void) {
    MPI_Comm comm = random_chance(85) ? MPI_COMM_WORLD : MPI_COMM_SELF;
    const fft_case given = random_transform(comm);
    fft_run run;
    int n = random_between(1, MOST_TRANSFORMS);
    fft_run_create(comm, &given, &run);
    soak_counts.plans++;
    fft_run_transform(&run, FFTND_PHYSICAL);
    if (given.drops_modes)
        fft_reference_use_returned(&run.reference);
    for (int i = 0; i < n; i++)
        fft_run_transform(&run, fft_case_repeats(&given) && random_chance(50) ? FFTND_PHYSICAL
                                                                              : FFTND_SPECTRAL);
    if (fft_case_repeats(&given))
        fft_run_round_trips(&run);
    soak_counts.transforms += n + 3;
    fft_run_free(&run);
    unsetenv("FFTND_CONFIGURATION");
}
