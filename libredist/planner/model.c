/* SPDX-License-Identifier: BSD-3-Clause */
/* The communication model (Egger, section 2.5.3): fit and prediction. Calls no MPI. */
#include "planner.h"

/* ---------------------------------------------------------------- fitting */

/* Weighted sums over all points: of 1, of bytes, of their squares, of seconds, of both multiplied. */
struct sums {
    double one, bytes, squares, seconds, products;
};

static struct sums add_up(int n, const double bytes[], const double seconds[]) {
    struct sums sums = {0, 0, 0, 0, 0};
    for (int i = 0; i < n; i++) {
        double weight = 1 / (seconds[i] * seconds[i]);
        sums.one += weight;
        sums.bytes += weight * bytes[i];
        sums.squares += weight * bytes[i] * bytes[i];
        sums.seconds += weight * seconds[i];
        sums.products += weight * bytes[i] * seconds[i];
    }
    return sums;
}

/* Fits a line. A negative coefficient becomes 0, and the other is fitted alone. Without time for a byte, which would be
 * infinite bandwidth, the longest message decides. */
redist_link redist__fit_link(int n, const double bytes[], const double seconds[]) {
    struct sums sums = add_up(n, bytes, seconds);
    double determinant = sums.one * sums.squares - sums.bytes * sums.bytes;
    double latency = (sums.seconds * sums.squares - sums.products * sums.bytes) / determinant;
    double per_byte = (sums.one * sums.products - sums.bytes * sums.seconds) / determinant;
    if (latency < 0) {
        latency = 0;
        per_byte = sums.products / sums.squares;
    }
    if (per_byte <= 0) {
        latency = sums.seconds / sums.one;
        per_byte = seconds[n - 1] / bytes[n - 1];
    }
    return (redist_link){0, latency, 1 / per_byte};
}

/* Solves for start and latency: with one peer the sum start + latency is known, with p peers start / p + latency. */
void redist__part_latency(redist_link *link, int peers, double bytes, double seconds) {
    if (peers < 2)
        return;
    double alone = seconds - bytes / link->bandwidth;
    double start = (alone - link->latency) * peers / (peers - 1), most = link->latency * peers;
    start = start > 0 ? start : 0;
    link->start = start < most ? start : most;
    double left = link->latency - link->start / peers;
    link->latency = left > 0 ? left : 0; /* below 0 by rounding only */
}

/* ---------------------------------------------------------------- time of an exchange */

/* Returns the time of messages over one link; if it was not measured, over the other. */
static double link_seconds(const redist_model *model, int same_node, int messages, double bytes) {
    const redist_link *link = same_node ? &model->node : &model->network;
    const redist_link *other = same_node ? &model->network : &model->node;
    link = link->bandwidth > 0 ? link : other;
    return link->bandwidth > 0 ? messages * (link->latency + bytes / link->bandwidth) : 0;
}

static double start_seconds(const redist_model *model, int near, int far) {
    double node = near > 0 ? model->node.start : 0, network = far > 0 ? model->network.start : 0;
    return node > network ? node : network;
}

/* Counts the ranks first, first + stride, ... (`nparts` of them) on a node. */
static int count_near(int first, int stride, int nparts, int ranks_per_node, int node) {
    int low = node * ranks_per_node - first, high = low + ranks_per_node - 1;
    int begin = low > 0 ? (low + stride - 1) / stride : 0;
    int end = high >= 0 ? high / stride + 1 : 0;
    end = end < nparts ? end : nparts;
    return end > begin ? end - begin : 0;
}

/* Returns the time of one rank's messages. */
static double rank_seconds(const redist_model *model, int rank, int nparts, int stride,
                           double bytes) {
    int first = rank - rank / stride % nparts * stride, per_node = model->ranks_per_node;
    int near = nparts - 1;
    if (per_node > 0)
        near = count_near(first, stride, nparts, per_node, rank / per_node) - 1;
    int far = nparts - 1 - near;
    return start_seconds(model, near, far) + link_seconds(model, 1, near, bytes) +
           link_seconds(model, 0, far, bytes);
}

double redist_model_seconds(const redist_model *model, int nranks, int nparts, int stride,
                            double bytes) {
    double slowest = 0;
    redist_model own = REDIST_MODEL_DEFAULT;
    if (redist_struct_read(__func__, "model", model, &own, sizeof own) != REDIST_OK || nparts < 1 ||
        stride < 1 || nranks < 1 || nranks / stride % nparts != 0)
        return 0;
    for (int rank = 0; rank < nranks; rank++) {
        double seconds = rank_seconds(&own, rank, nparts, stride, bytes / nparts);
        slowest = seconds > slowest ? seconds : slowest;
    }
    return slowest;
}
