/* SPDX-License-Identifier: BSD-3-Clause */
#include "configuration.h"

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
              {"transposed", FIELD(transposed), 1, 0, FFTND__TRANSPOSED_ARRIVALS},
              {"untiled", FIELD(untiled), 1, 0, 1},
              {"partitions", FIELD(partitions), 1, 1, MOST_CUTS},
              {"direct_stores", FIELD(direct_stores), 1, 0, FFTND__DIRECT_LOCAL}};

enum { NFIELDS = sizeof fields / sizeof *fields };

static const char unlimited[] = "unlimited"; /* SIZE_MAX */

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
    if (configuration->ranks != 0)
        fftnd__append(text, "ranks=%d ", configuration->ranks);
    for (int i = 0; i < configuration->grid_ndims; i++)
        fftnd__append(text, "%s%d", i > 0 ? "x" : "grid=", configuration->grid[i]);
    for (int i = 0; i < ndims && configuration->grid_ndims > 0; i++)
        fftnd__append(text, "%s%d", i > 0 ? "," : " order=", configuration->order[i]);
    for (int i = 0; i < NFIELDS; i++) {
        size_t number = get(configuration, i);
        fftnd__append(text, " %s=", fields[i].name);
        if (number == SIZE_MAX)
            fftnd__append(text, "%s", unlimited);
        else
            fftnd__append(text, "%zu", number);
    }
}

/* ---------------------------------------------------------------- reading it */

/* Reads numbers behind "name=", with `separator` between them; *text moves behind them. Returns how many
 * there are, 0 = the name does not stand there, -1 = more than `most`, or none that fits. */
static int scan_list(const char **text, const char *name, char separator, int most, int list[]) {
    const char *from = *text + strspn(*text, " ");
    size_t length = strlen(name);
    int n = 0;
    if (strncmp(from, name, length) != 0 || from[length] != '=')
        return 0;
    for (from += length; *from == (n > 0 ? separator : '='); n++) {
        char *end;
        long number = strtol(from + 1, &end, 10);
        if (n == most || end == from + 1 || number < 0 || number > INT_MAX)
            return -1;
        list[n] = (int)number;
        from = end;
    }
    *text = from;
    return n;
}

/* Reads "name=number"; *text moves behind it. Returns 0 if there is none. */
static int scan_number(const char **text, char name[32], size_t *number) {
    int length = 0;
    if (sscanf(*text, " %31[a-z_]=%n", name, &length) != 1 || length == 0)
        return 0;
    const char *from = *text + length;
    if (strncmp(from, unlimited, sizeof unlimited - 1) == 0) {
        *number = SIZE_MAX;
        length = (int)sizeof unlimited - 1;
    } else if (sscanf(from, "%zu%n", number, &length) != 1) {
        return 0;
    }
    *text = from + length;
    return 1;
}

/* Accepts the old name of direct stores too, until 0.4: files may have it. */
static int is_name(int field, const char *name) {
    return strcmp(name, fields[field].name) == 0 ||
           (fields[field].offset == FIELD(direct_stores) && strcmp(name, "stored") == 0);
}

/* Reads the numbers, as many as there are of them. Returns 0 if one is out of range, or text is left. */
static int scan_numbers(const char *text, struct fftnd__configuration *configuration) {
    char name[32];
    size_t number;
    int field = 0;
    for (; field < NFIELDS && scan_number(&text, name, &number); field++) {
        if (!is_name(field, name) || number < fields[field].least || number > fields[field].most)
            return 0;
        set(configuration, field, number);
    }
    return field >= NEEDED && text[strspn(text, " \t\r\n")] == '\0';
}

/* Nonzero if these are all processes of the grid. */
static int is_grid(int grid_ndims, const int grid[], int nranks) {
    long long product = 1;
    for (int i = 0; i < grid_ndims; i++)
        product *= grid[i] > 0 && grid[i] <= nranks && product <= nranks ? grid[i] : 0;
    return product == nranks;
}

static int is_order(const struct fftnd__shape *shape, const int order[], int grid_ndims) {
    int seen[REDIST_MAX_NDIMS] = {0};
    for (int i = 0; i < shape->ndims; i++) {
        if (order[i] < 0 || order[i] >= shape->ndims || seen[order[i]])
            return 0;
        seen[order[i]] = 1;
    }
    return grid_ndims <= fftnd__most_grid_ndims(shape, order);
}

int fftnd__configuration_ranks(const char *text) {
    int ranks;
    return scan_list(&text, "ranks", 'x', 1, &ranks) == 1 ? ranks : 0;
}

int fftnd__configuration_scan(const char *text, const struct fftnd__request *request,
                              struct fftnd__configuration *configuration) {
    int ndims = request->shape.ndims, ranks = 0;
    if (scan_list(&text, "ranks", 'x', 1, &ranks) < 0 || ranks != request->ranks)
        return 0;
    configuration->ranks = ranks;
    int n = scan_list(&text, "grid", 'x', REDIST_MAX_NDIMS, configuration->grid);
    if (n > 0)
        configuration->grid_ndims = n;
    int norder = scan_list(&text, "order", ',', ndims, configuration->order);
    return n >= 0 && (n == 0 || is_grid(n, configuration->grid, request->nranks)) &&
           (norder == 0 || norder == ndims) &&
           is_order(&request->shape, configuration->order, configuration->grid_ndims) &&
           scan_numbers(text, configuration);
}
