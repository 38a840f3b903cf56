/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops that wait for peers: MPI makes progress, other processes run, and a peer's end ends the loop. */
#include "comm.h"

#include <sched.h>

/* Iterations of each phase of waiting; on oversubscribed cores a poll may take milliseconds. */
static const unsigned spins = 20000, crowded_spins = 20, polls_per_look = 64;

/* Spins for a short time, then calls MPI and yields, as a peer may need this rank's progress in MPI, or its core. */
int redist__pause(struct redist__context *context, unsigned poll) {
    unsigned first = context->crowded ? crowded_spins : spins;
    if (poll <= first)
        return REDIST_OK;
    int code = redist_check_mpi(redist__peers_hear(context));
    if (context->crowded)
        redist__give_way(poll);
    else
        sched_yield();
    if (code == REDIST_OK && poll % polls_per_look == polls_per_look - 1)
        code = redist__peers_look_around(context, poll <= first + polls_per_look);
    return code;
}

int redist__pause_beside(struct redist__context *context, unsigned poll) {
    const unsigned polls_without_time = 512 * polls_per_look;
    if (poll > spins)
        sched_yield();
    int looks = poll % polls_without_time == polls_without_time - 1;
    return looks ? redist__peers_see(context) : REDIST_OK;
}

/* Reads the announcement after the count: a process that gives up reads its own count after its announcement. */
int redist__pause_for(struct redist__context *context, int rank, const _Atomic uint64_t *begun,
                      uint64_t value, unsigned poll) {
    int code = redist__pause(context, poll);
    if (code == REDIST_OK)
        return REDIST_OK;
    const struct redist__process *process = redist__peers_process(context, rank);
    int gone = redist__process_is_gone(process);
    if (gone && atomic_load(begun) >= value)
        gone = redist__process_has_ended(process);
    return gone ? code : REDIST_OK;
}
