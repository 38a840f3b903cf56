/* SPDX-License-Identifier: BSD-3-Clause */
/* Choice of a method for an exchange; the communication model; wisdom. */
#ifndef REDIST__PLANNER_H
#define REDIST__PLANNER_H

#include "../comm/comm.h"
#include "redist_model.h"

struct redist__problem;
struct redist__transport;

/* Chooses among the methods of options->method, and sets one up; clears the problem's format if that is measured to be
 * slower than none. Collective, the same on all ranks. */
int redist__tune(struct redist__problem *problem, const redist_options *options,
                 struct redist__transport *transport);

/* Returns whether the largest array is large enough for loops to differ. */
int redist__loops_matter(size_t largest_bytes);

/* redist_choose_loops for a context. */
int redist__loops_choose(struct redist__context *context, const redist_options *options,
                         size_t largest_bytes, size_t *nontemporal_bytes);

/* Returns a number that changes with the wisdom of this process. */
unsigned redist__wisdom_age(void);

/* Fits the link without a start: least squares of the relative errors of latency + bytes[i] / bandwidth to seconds[i];
 * neither is negative. n >= 2, seconds above 0, bytes different. */
redist_link redist__fit_link(int n, const double bytes[], const double seconds[]);

/* Splits the latency of a fit to seconds per message, with `peers` peers, into that of each message and a start of the
 * exchange, given that an exchange of one message of `bytes` takes `seconds`. */
void redist__part_latency(redist_link *link, int peers, double bytes, double seconds);

/* Limit of candidates in redist__take_turns. */
enum { REDIST__MOST_TURNS = 6 };

/* Factor over the fastest time, each alone, beyond which a candidate has no turns without other data (guess). */
#define REDIST__TURNS_BEHIND 1.25

/* Candidates to be timed in turns. The functions are collective and return the same on all ranks. */
struct redist__turns {
    MPI_Comm comm;
    int count; /* <= REDIST__MOST_TURNS, the most promising ones first; must agree */
    /* of the arrays of one candidate, on this rank */
    size_t array_bytes;
    /* nonzero: arrays in memory of a device, not in the caches of the host; must agree */
    int on_device;
    /* time for all turns, approximately, and its limit for some more rounds; rank 0's count */
    double seconds, most_seconds;
    /* seconds of each alone, for REDIST__TURNS_BEHIND; NULL = all have turns */
    const double *alone;
    void *context;                                      /* of the functions: */
    int (*open)(void *context, int i, size_t *buffers); /* out: its bytes on this rank */
    int (*time)(void *context, int i, double *seconds); /* of one run */
    void (*close)(void *context, int i);                /* after an `open` that failed, too */
};

/*
 * Finds the fastest candidate in a program with other data: between the runs each rank writes four times the bytes of
 * the arrays, at most its part of the last-level cache. Larger arrays are evicted before the next run anyway.
 * Candidates other than the first whose buffers would exceed the arrays and 64 MiB have no turns.
 *   medians  out: seconds of a run of each; -1 = unknown, as it failed or was far behind
 * Returns the winner; -1 = none, without time for some runs of two candidates, or without memory. Collective on comm,
 * the same on all ranks.
 */
int redist__take_turns(const struct redist__turns *turns, double medians[]);

#endif
