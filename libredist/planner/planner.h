/* SPDX-License-Identifier: BSD-3-Clause */
/* Choice of a method for an exchange; the communication model; wisdom. */
#ifndef REDIST__PLANNER_H
#define REDIST__PLANNER_H

#include "../comm/comm.h"
#include "redist_model.h"

struct redist__problem;
struct redist__transport;

/* Chooses among the methods that options->method names and sets one up. Collective, the same candidate and result on
 * all ranks; measurements are remembered. */
int redist__tune(const struct redist__problem *problem, const redist_options *options,
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

#endif
