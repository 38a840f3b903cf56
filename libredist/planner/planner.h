/* SPDX-License-Identifier: BSD-3-Clause */
/* Which method for an exchange; the communication model; what is remembered. */
#ifndef REDIST__PLANNER_H
#define REDIST__PLANNER_H

#include "../comm/comm.h"
#include "redist_model.h"

struct redist__problem;
struct redist__transport;

/* Chooses among the methods that options->method names and sets one up. Collective, the same candidate
 * and result on all ranks; what was measured is remembered. */
int redist__tune(const struct redist__problem *problem, const redist_options *options,
                 struct redist__transport *transport);

/* Whether arrays, of which this is the largest, are large enough for loops to differ. */
int redist__loops_matter(size_t largest_bytes);

/* redist_choose_loops for a context. */
int redist__loops_choose(struct redist__context *context, const redist_options *options,
                         size_t largest_bytes, size_t *nontemporal_bytes);

/* Changes whenever something is remembered or forgotten in this process. */
unsigned redist__wisdom_age(void);

/* The link without a start for which the relative errors of latency + bytes[i] / bandwidth, beside seconds[i], have the
 * least sum of squares; neither is negative. n >= 2, seconds above 0, bytes different. */
redist_link redist__fit_link(int n, const double bytes[], const double seconds[]);

/* Parts the latency of a fit to seconds per message, with so many peers, in what each message takes and
 * what an exchange takes besides, when an exchange of one message of `bytes` takes `seconds`. */
void redist__part_latency(redist_link *link, int peers, double bytes, double seconds);

#endif
