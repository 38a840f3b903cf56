/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases.h"

void redist__timer_switch(struct redist__phase_timer *timer, enum redist__phase phase) {
    double now = MPI_Wtime();
    timer->seconds[timer->phase] += now - timer->since;
    timer->since = now;
    timer->phase = phase == REDIST__FIRST_MESSAGE && timer->arrived ? REDIST__COMMUNICATE : phase;
}

void redist__timer_begin(struct redist__phase_timer *timer, int is_first) {
    if (timer == NULL)
        return;
    timer->runs = 1;
    timer->phase = REDIST__COMMUNICATE;
    timer->since = MPI_Wtime();
    if (is_first) {
        timer->arrived = 0;
        timer->executions++;
    }
}

void redist__timer_end(struct redist__phase_timer *timer) {
    if (timer == NULL)
        return;
    redist__timer_switch(timer, REDIST__COMMUNICATE);
    timer->runs = 0;
}

void redist__timer_read(const struct redist__phase_timer *timer, redist_phases *phases) {
    const double *seconds = timer->seconds;
    *phases = (redist_phases){.size = sizeof *phases,
                              .executions = timer->executions,
                              .pack = seconds[REDIST__PACK],
                              .first_message = seconds[REDIST__FIRST_MESSAGE],
                              .communicate = seconds[REDIST__COMMUNICATE],
                              .unpack = seconds[REDIST__UNPACK],
                              .own_part = seconds[REDIST__OWN_PART]};
    for (int i = 0; i < REDIST__PHASES; i++)
        phases->total += seconds[i];
}
