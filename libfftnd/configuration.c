/* SPDX-License-Identifier: BSD-3-Clause */
#include "configuration.h"
#include "layout.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CUTS = 1 << 16, NEEDED = 5 };

#define FIELD(member) offsetof(struct fftnd__configuration, member)

/* The numbers in the order of their text; those behind the first NEEDED may be left out. A file may hold
 * anything, so each has a range that plans can work with. */
static const struct {
    const char *name;
    size_t offset;
    int is_int;
    size_t least, most;
} fields[] = {{"fused", FIELD(fused), 1, 0, 1},
              {"tiled", FIELD(tiled), 1, 0, 1},
              {"tile", FIELD(tile_bytes), 0, 0, SIZE_MAX},
              {"group", FIELD(group_bytes), 0, 0, SIZE_MAX},
              {"nontemporal", FIELD(nontemporal_bytes), 0, 0, SIZE_MAX},
              {"segments", FIELD(segments), 1, 1, MOST_CUTS},
              {"before_exchange", FIELD(before_exchange), 1, 0, 1},
              {"transposed", FIELD(transposed), 1, 0, 1},
              {"untiled", FIELD(untiled), 1, 0, 1},
              {"partitions", FIELD(partitions), 1, 1, MOST_CUTS}};

enum { NFIELDS = sizeof fields / sizeof *fields };

static size_t get(const struct fftnd__configuration *configuration, int field) {
    const char *from = (const char *)configuration + fields[field].offset;
    return fields[field].is_int ? (size_t) * (const int *)(const void *)from
                                : *(const size_t *)(const void *)from;
}

static void set(struct fftnd__configuration *configuration, int field, size_t value) {
    char *to = (char *)configuration + fields[field].offset;
    if (fields[field].is_int)
        *(int *)(void *)to = (int)value;
    else
        *(size_t *)(void *)to = value;
}

void fftnd__append(char text[FFTND__CONFIGURATION_BYTES], const char *format, ...) {
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, FFTND__CONFIGURATION_BYTES - length, format, arguments);
    va_end(arguments);
}

void fftnd__configuration_print(const struct fftnd__configuration *configuration, int ndims,
                                char text[FFTND__CONFIGURATION_BYTES]) {
    text[0] = '\0';
    for (int i = 0; i < configuration->grid_ndims; i++)
        fftnd__append(text, "%s%d", i > 0 ? "x" : "grid=", configuration->grid[i]);
    for (int i = 0; i < ndims && configuration->grid_ndims > 0; i++)
        fftnd__append(text, "%s%d", i > 0 ? "," : " order=", configuration->order[i]);
    for (int i = 0; i < NFIELDS; i++)
        fftnd__append(text, " %s=%zu", fields[i].name, get(configuration, i));
}

/* ---------------------------------------------------------------- reading it */

/* Behind "name=", which *text begins with; NULL if it does not. */
static const char *skip_name(const char *text, const char *name) {
    size_t length = strlen(name);
    text += strspn(text, " ");
    return strncmp(text, name, length) == 0 && text[length] == '=' ? text + length + 1 : NULL;
}

/* Moves *text behind a number of digits; 0 = there is none, or it is out of range. */
static int scan_number(const char **text, size_t least, size_t most, size_t *number) {
    char *end;
    if (**text < '0' || **text > '9')
        return 0;
    errno = 0;
    unsigned long long value = strtoull(*text, &end, 10);
    *text = end;
    *number = (size_t)value;
    return errno == 0 && value >= least && value <= most;
}

/* Numbers with `separator` between them. Returns how many there are, 0 = the name does not stand there,
 * -1 = more than `most`, or none that fits. */
static int scan_list(const char **text, const char *name, char separator, int most, int list[]) {
    const char *from = skip_name(*text, name);
    size_t number;
    int n = 0;
    if (from == NULL)
        return 0;
    do {
        if (n == most || !scan_number(&from, 0, INT_MAX, &number))
            return -1;
        list[n++] = (int)number;
    } while (*from == separator && from++ != NULL);
    *text = from;
    return n;
}

/* Nonzero if these are all processes of the grid. */
static int is_grid(int grid_ndims, const int grid[], int nranks) {
    long long product = 1;
    for (int i = 0; i < grid_ndims; i++)
        product *= grid[i] > 0 && grid[i] <= nranks && product <= nranks ? grid[i] : 0;
    return product == nranks;
}

static int is_order(int ndims, const int order[], int halved, int grid_ndims) {
    int seen[REDIST_MAX_NDIMS] = {0};
    for (int i = 0; i < ndims; i++) {
        if (order[i] < 0 || order[i] >= ndims || seen[order[i]])
            return 0;
        seen[order[i]] = 1;
    }
    return grid_ndims <= fftnd__most_grid_ndims(ndims, halved, order);
}

int fftnd__configuration_scan(const char *text, const struct fftnd__request *request,
                              struct fftnd__configuration *configuration) {
    int ndims = request->ndims, field = 0;
    int n = scan_list(&text, "grid", 'x', REDIST_MAX_NDIMS, configuration->grid);
    if (n > 0)
        configuration->grid_ndims = n;
    int norder = scan_list(&text, "order", ',', ndims, configuration->order);
    if (n < 0 || (n > 0 && !is_grid(n, configuration->grid, request->nranks)) ||
        (norder != 0 && norder != ndims) ||
        !is_order(ndims, configuration->order, request->halved, configuration->grid_ndims))
        return 0;
    for (; field < NFIELDS; field++) {
        size_t number;
        const char *from = skip_name(text, fields[field].name);
        if (from == NULL)
            break;
        if (!scan_number(&from, fields[field].least, fields[field].most, &number))
            return 0;
        set(configuration, field, number);
        text = from;
    }
    return field >= NEEDED && text[strspn(text, " \t\r\n")] == '\0';
}
