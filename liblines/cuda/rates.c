/* SPDX-License-Identifier: BSD-3-Clause */
#include "rates.h"
#include "redist_process.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

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

/* ---------------------------------------------------------------- values of the process */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t lines__mix(uint64_t key, long long value) {
    key = (key ^ (uint64_t)value) * 0x9e3779b97f4a7c15ULL;
    return key ^ key >> 29;
}

static int place_of(const struct lines__kept *kept, uint64_t key) {
    int i = 0;
    while (i < kept->count && kept->keys[i] != key)
        i++;
    return i;
}

int lines__kept_find(const struct lines__kept *kept, uint64_t key, void *value) {
    pthread_mutex_lock(&lock);
    int i = place_of(kept, key), is_found = i < kept->count;
    if (is_found)
        memcpy(value, (const char *)kept->values + (size_t)i * kept->bytes, kept->bytes);
    pthread_mutex_unlock(&lock);
    return is_found;
}

void lines__kept_put(struct lines__kept *kept, uint64_t key, const void *value) {
    pthread_mutex_lock(&lock);
    int i = place_of(kept, key);
    if (i < LINES__MOST_KEPT) {
        kept->keys[i] = key;
        memcpy((char *)kept->values + (size_t)i * kept->bytes, value, kept->bytes);
        kept->count += i == kept->count;
    }
    pthread_mutex_unlock(&lock);
}

/* ---------------------------------------------------------------- rates of the process */

static struct lines__rates rates_of_lines[LINES__MOST_KEPT];
static struct lines__group_rate rates_of_groups[LINES__MOST_KEPT];
static struct lines__kept lines = {sizeof *rates_of_lines, rates_of_lines, 0, {0}},
                          groups = {sizeof *rates_of_groups, rates_of_groups, 0, {0}};

static uint64_t key_of(int device, const struct lines__rates *rates) {
    return lines__mix(lines__mix(lines__mix(1, device), rates->n), rates->is_double);
}

int lines__rates_find(int device, struct lines__rates *rates) {
    return lines__kept_find(&lines, key_of(device, rates), rates);
}

void lines__rates_keep(int device, const struct lines__rates *rates) {
    lines__kept_put(&lines, key_of(device, rates), rates);
}

static uint64_t key_of_group(int device, const struct lines__group_rate *rate) {
    uint64_t key = lines__mix(1, device);
    for (int i = 0; i < 3; i++)
        key = lines__mix(key, rate->n[i]);
    key = lines__mix(lines__mix(key, rate->is_double), rate->is_real);
    return lines__mix(lines__mix(key, rate->to_real), rate->is_strided);
}

int lines__rates_find_group(int device, struct lines__group_rate *rate) {
    return lines__kept_find(&groups, key_of_group(device, rate), rate);
}

void lines__rates_keep_group(int device, const struct lines__group_rate *rate) {
    lines__kept_put(&groups, key_of_group(device, rate), rate);
}
