/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases.h"

void redist__watch_turn(struct redist__watch *watch, enum redist__phase phase) {
    double now = MPI_Wtime();
    watch->seconds[watch->phase] += now - watch->since;
    watch->since = now;
    watch->phase = phase == REDIST__FIRST_MESSAGE && watch->arrived ? REDIST__COMMUNICATE : phase;
}

void redist__watch_begin(struct redist__watch *watch, int is_first) {
    if (watch == NULL)
        return;
    watch->runs = 1;
    watch->phase = REDIST__COMMUNICATE;
    watch->since = MPI_Wtime();
    if (is_first) {
        watch->arrived = 0;
        watch->executions++;
    }
}

void redist__watch_end(struct redist__watch *watch) {
    if (watch == NULL)
        return;
    redist__watch_turn(watch, REDIST__COMMUNICATE);
    watch->runs = 0;
}

void redist__watch_read(const struct redist__watch *watch, redist_phases *phases) {
    const double *seconds = watch->seconds;
    *phases = (redist_phases){.size = sizeof *phases,
                              .executions = watch->executions,
                              .pack = seconds[REDIST__PACK],
                              .first_message = seconds[REDIST__FIRST_MESSAGE],
                              .communicate = seconds[REDIST__COMMUNICATE],
                              .unpack = seconds[REDIST__UNPACK],
                              .own_part = seconds[REDIST__OWN_PART]};
    for (int i = 0; i < REDIST__PHASES; i++)
        phases->total += seconds[i];
}
