/* SPDX-License-Identifier: BSD-3-Clause */
/** The cost of exchanges: a model of the links between ranks, measured, fitted and evaluated. */
#ifndef REDIST_MODEL_H
#define REDIST_MODEL_H

#include "redist.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * An exchange takes `start`, and for each message of d bytes latency + d / bandwidth (Egger, section 2.5.3, where
 * start is 0). This structure never grows.
 */
typedef struct redist_link {
    /** seconds independent of the messages, such as waiting for a core */
    double start;
    double latency; /**< seconds */
    /** bytes per second; 0 = no such link, or not measured */
    double bandwidth;
} redist_link;

/** The cost of messages between ranks while all ranks exchange. */
typedef struct redist_model {
    size_t size;         /**< sizeof(redist_model) */
    int ranks_per_node;  /**< this many neighbouring ranks share a node */
    redist_link node;    /**< between ranks of one node */
    redist_link network; /**< between ranks of different nodes */
} redist_model;

/** No link known; sets the size for redist_model_fit. */
#define REDIST_MODEL_DEFAULT                                                                       \
    REDIST_VALUE(redist_model) {                                                                   \
        .size = sizeof(redist_model), .ranks_per_node = 1, .node = {0.0, 0.0, 0.0}, .network = {   \
            0.0,                                                                                   \
            0.0,                                                                                   \
            0.0                                                                                    \
        }                                                                                          \
    }

/** REDIST_MODEL_DEFAULT as a function; as redist_box_init. */
REDIST_API int redist_model_init(redist_model *model, size_t size);

/**
 * Measures and fits the model: exchanges of contiguous messages of several sizes, first among the ranks of each
 * node, then among those with the same number in different nodes, everywhere at the same time; and in pairs of
 * these. Takes some hundredths of a second.
 *   comm     the ranks; must agree
 *   options  method, space and staging of the exchanges; "auto" is estimated, not measured; NULL = defaults;
 *            must agree
 *   model    in: size; out: the rest, the same on all ranks
 * Collective on comm. Errors: those of redist_plan_exchange and redist_alloc_in.
 */
REDIST_API int redist_model_fit(MPI_Comm comm, const redist_options *options, redist_model *model);

/**
 * Returns the time of an exchange by the model, in seconds: each rank of a subgroup sends one message to each of the
 * others; the rank with the most expensive peers counts.
 *   nranks  ranks in all
 *   nparts  ranks of a subgroup, those that are `stride` apart; a divisor of nranks / stride
 *   bytes   of the local array; each message has bytes / nparts
 * A link that was not measured counts as the other one. Not collective; 0 for bad arguments.
 */
REDIST_API double redist_model_seconds(const redist_model *model, int nranks, int nparts,
                                       int stride, double bytes);

#ifdef __cplusplus
}
#endif

#endif
