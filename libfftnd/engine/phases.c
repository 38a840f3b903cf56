/* SPDX-License-Identifier: BSD-3-Clause */
/* The times of a transform's exchanges by phase. */
#include "engine.h"

static void add_phases(const struct fftnd__program *program, redist_phases *sum) {
    for (int i = 0; i < fftnd__end_of_exchanges(program); i++) {
        redist_phases phases = REDIST_PHASES_DEFAULT;
        redist_plan *exchange = program->steps[i].exchange;
        if (exchange == NULL || redist_plan_get_phases(exchange, &phases) != REDIST_OK)
            continue;
        sum->total += phases.total;
        sum->pack += phases.pack;
        sum->first_message += phases.first_message;
        sum->communicate += phases.communicate;
        sum->unpack += phases.unpack;
        sum->own_part += phases.own_part;
    }
}

redist_phases fftnd__engine_exchange_phases(const struct fftnd__engine *engine) {
    redist_phases sum = engine->past;
    for (int direction = 0; direction < 2; direction++)
        add_phases(&engine->programs[direction], &sum);
    return sum;
}
