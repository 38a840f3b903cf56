/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"

static void add_phases(const struct fftnd__program *program, redist_phases *sum) {
    for (int i = 1; i <= program->nsteps; i++) {
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

/* Seconds of transforms. Over whole arrays these are all seconds outside of exchanges: the clock of transforms may also
 * run while segments are handed over. */
static double transform_seconds(const struct fftnd__engine *engine, double no_exchange) {
    if (!engine->is_fused)
        return no_exchange;
    return engine->seconds[0] < no_exchange ? engine->seconds[0] : no_exchange;
}

void fftnd__engine_phases(const struct fftnd__engine *engine, fftnd_phases *phases) {
    *phases = FFTND_PHASES_DEFAULT;
    if (!engine->transform.options.phases)
        return;
    redist_phases exchanges = fftnd__engine_exchange_phases(engine);
    double no_exchange = engine->seconds[0] + engine->seconds[1] - exchanges.total;
    phases->executions = engine->executions;
    phases->total = engine->seconds[0] + engine->seconds[1];
    phases->transform = transform_seconds(engine, no_exchange);
    phases->pack = exchanges.pack;
    phases->first_message = exchanges.first_message;
    phases->communicate = exchanges.communicate;
    phases->unpack = exchanges.unpack;
    phases->own_part = exchanges.own_part;
    phases->rest = no_exchange - phases->transform;
}
