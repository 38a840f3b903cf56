/* SPDX-License-Identifier: BSD-3-Clause */
#include "rates.h"
#include "redist_process.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Rates are kept up to this number, then measured again. */
enum { MOST_KEPT = 512 };

static struct {
    int device;
    struct lines__rates rates;
} kept[MOST_KEPT];
static struct {
    int device;
    struct lines__group_rate rate;
} groups[MOST_KEPT];
static int nkept, ngroups;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---------------------------------------------------------------- text */

void lines__rates_print(const struct lines__rates *rates, const char *device, size_t bytes,
                        char text[]) {
    size_t length = 0;
    for (int i = 0; i < LINES__RATES && length < bytes; i++)
        length += (size_t)redist_text_print(text + length, bytes - length,
                                            "cufft %.4g panels %.4g like %d ", rates->cufft[i],
                                            rates->panels[i], rates->variant[i]);
    if (length < bytes)
        (void)snprintf(text + length, bytes - length, "on %s", device);
}

static int are_sound(const struct lines__rates *rates) {
    int sound = 1;
    for (int i = 0; i < LINES__RATES; i++)
        sound = sound && rates->cufft[i] >= 0.0 && rates->panels[i] >= 0.0 &&
                isfinite(rates->cufft[i] + rates->panels[i]) &&
                rates->variant[i] >= LINES__PANEL_GUESS && rates->variant[i] < LINES__LINE_VARIANTS;
    return sound;
}

int lines__rates_scan(const char *text, const char *device, struct lines__rates *rates) {
    struct lines__rates found = *rates;
    for (int i = 0; i < LINES__RATES; i++) {
        int length = 0;
        if (redist_text_scan(text, "cufft %lf panels %lf like %d %n", &found.cufft[i],
                             &found.panels[i], &found.variant[i], &length) != 3 ||
            length == 0)
            return 0;
        text += length;
    }
    if (strncmp(text, "on ", 3) != 0 || strcmp(text + 3, device) != 0 || !are_sound(&found))
        return 0;
    *rates = found;
    return 1;
}

/* ---------------------------------------------------------------- rates of the process */

static int find(int device, const struct lines__rates *rates) {
    int i = 0;
    while (i < nkept && (kept[i].device != device || kept[i].rates.n != rates->n ||
                         kept[i].rates.is_double != rates->is_double))
        i++;
    return i;
}

int lines__rates_find(int device, struct lines__rates *rates) {
    pthread_mutex_lock(&lock);
    int i = find(device, rates), is_found = i < nkept;
    if (is_found)
        *rates = kept[i].rates;
    pthread_mutex_unlock(&lock);
    return is_found;
}

void lines__rates_keep(int device, const struct lines__rates *rates) {
    pthread_mutex_lock(&lock);
    int i = find(device, rates);
    if (i < MOST_KEPT) {
        kept[i].device = device;
        kept[i].rates = *rates;
        nkept += i == nkept;
    }
    pthread_mutex_unlock(&lock);
}

static int find_group(int device, const struct lines__group_rate *rate) {
    int i = 0;
    while (i < ngroups &&
           (groups[i].device != device || memcmp(groups[i].rate.n, rate->n, sizeof rate->n) != 0 ||
            groups[i].rate.is_double != rate->is_double ||
            groups[i].rate.is_real != rate->is_real ||
            groups[i].rate.is_strided != rate->is_strided))
        i++;
    return i;
}

int lines__rates_find_group(int device, struct lines__group_rate *rate) {
    pthread_mutex_lock(&lock);
    int i = find_group(device, rate), is_found = i < ngroups;
    if (is_found)
        *rate = groups[i].rate;
    pthread_mutex_unlock(&lock);
    return is_found;
}

void lines__rates_keep_group(int device, const struct lines__group_rate *rate) {
    pthread_mutex_lock(&lock);
    int i = find_group(device, rate);
    if (i < MOST_KEPT) {
        groups[i].device = device;
        groups[i].rate = *rate;
        ngroups += i == ngroups;
    }
    pthread_mutex_unlock(&lock);
}
