/* SPDX-License-Identifier: BSD-3-Clause */
#include "rates.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* What is not kept is measured again. */
enum { MOST_KEPT = 512 };

static struct {
    int device;
    struct fftnd__rates rates;
} kept[MOST_KEPT];
static int nkept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const double worthwhile = 0.97;

int fftnd__rates_prefer_panels(const struct fftnd__rates *rates, int layout) {
    double cufft = rates->cufft[layout], panels = rates->panels[layout];
    return panels > 0.0 && (cufft <= 0.0 || panels < worthwhile * cufft);
}

void fftnd__rates_print(const struct fftnd__rates *rates, const char *device, size_t bytes,
                        char text[]) {
    (void)snprintf(text, bytes, "cufft %.4g %.4g panels %.4g %.4g on %s",
                   rates->cufft[FFTND__STRIDED], rates->cufft[FFTND__CONTIGUOUS],
                   rates->panels[FFTND__STRIDED], rates->panels[FFTND__CONTIGUOUS], device);
}

int fftnd__rates_scan(const char *text, const char *device, struct fftnd__rates *rates) {
    struct fftnd__rates found = *rates;
    int length = 0;
    int n = sscanf(text, "cufft %lf %lf panels %lf %lf on %n", &found.cufft[FFTND__STRIDED],
                   &found.cufft[FFTND__CONTIGUOUS], &found.panels[FFTND__STRIDED],
                   &found.panels[FFTND__CONTIGUOUS], &length);
    if (n != 4 || length == 0 || strcmp(text + length, device) != 0)
        return 0;
    for (int i = 0; i < FFTND__LAYOUTS; i++)
        if (!(found.cufft[i] >= 0.0 && found.panels[i] >= 0.0))
            return 0;
    *rates = found;
    return 1;
}

static int find(int device, const struct fftnd__rates *rates) {
    int i = 0;
    while (i < nkept && (kept[i].device != device || kept[i].rates.n != rates->n ||
                         kept[i].rates.is_double != rates->is_double))
        i++;
    return i;
}

int fftnd__rates_find(int device, struct fftnd__rates *rates) {
    pthread_mutex_lock(&lock);
    int i = find(device, rates), is_found = i < nkept;
    if (is_found)
        *rates = kept[i].rates;
    pthread_mutex_unlock(&lock);
    return is_found;
}

void fftnd__rates_keep(int device, const struct fftnd__rates *rates) {
    pthread_mutex_lock(&lock);
    int i = find(device, rates);
    if (i < MOST_KEPT) {
        kept[i].device = device;
        kept[i].rates = *rates;
        nkept += i == nkept;
    }
    pthread_mutex_unlock(&lock);
}
