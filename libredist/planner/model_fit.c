/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

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

/* Where the best line has a negative coefficient, that one is 0 and the other is the best without it. No
 * time for a byte would be a link of endless bandwidth: then the longest message tells. */
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

/* With one peer start + latency is known, with p peers start / p + latency. */
void redist__part_latency(redist_link *link, int peers, double bytes, double seconds) {
    if (peers < 2)
        return;
    double alone = seconds - bytes / link->bandwidth;
    double start = (alone - link->latency) * peers / (peers - 1), most = link->latency * peers;
    start = start > 0 ? start : 0;
    link->start = start < most ? start : most;
    double left = link->latency - link->start / peers;
    link->latency = left > 0 ? left : 0; /* where all of it is start, rounding may leave less */
}
