/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int append(char text[FFTND__CHOICE_BYTES], const char *format, ...) REDIST_PRINTF(2, 3);

static int append(char text[FFTND__CHOICE_BYTES], const char *format, ...) {
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(text + length, FFTND__CHOICE_BYTES - length, format, arguments);
    va_end(arguments);
    return written;
}

void fftnd__choice_print(const struct fftnd__choice *choice, int ndims,
                         char text[FFTND__CHOICE_BYTES]) {
    text[0] = '\0';
    for (int i = 0; i < choice->grid_ndims; i++)
        append(text, "%s%d", i > 0 ? "x" : "grid=", choice->grid[i]);
    for (int i = 0; i < ndims && choice->grid_ndims > 0; i++)
        append(text, "%s%d", i > 0 ? "," : " order=", choice->order[i]);
    append(text,
           " fused=%d tiled=%d tile=%zu group=%zu stream=%zu chunks=%d early=%d realigned=%d "
           "whole=%d pieces=%d",
           choice->fused, choice->tiled, choice->tile_bytes, choice->group_bytes,
           choice->nontemporal_bytes, choice->chunks, choice->early, choice->realigned,
           choice->whole, choice->pieces);
}

/* Reads numbers after "name=", with `separator` between them; *text moves behind them. Returns how many
 * there are, 0 = the name does not stand there, -1 = more than `most`. */
static int scan_list(const char **text, const char *name, char separator, int most, int list[]) {
    const char *from = *text + strspn(*text, " ");
    size_t length = strlen(name);
    int n = 0;
    if (strncmp(from, name, length) != 0 || from[length] != '=')
        return 0;
    for (from += length; *from == (n > 0 ? separator : '='); n++) {
        char *end;
        if (n == most)
            return -1;
        long number = strtol(from + 1, &end, 10);
        if (number < 0 || number > INT_MAX)
            return -1;
        list[n] = (int)number;
        from = end;
    }
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

static int is_flag(int value) {
    return value == 0 || value == 1;
}

/* Numbers that a plan can work with: a file may hold anything. */
static int is_usable(const struct fftnd__choice *choice) {
    enum { MOST_CUTS = 1 << 16 };
    return is_flag(choice->fused) && is_flag(choice->tiled) && is_flag(choice->early) &&
           is_flag(choice->realigned) && is_flag(choice->whole) && choice->chunks >= 1 &&
           choice->chunks <= MOST_CUTS && choice->pieces >= 1 && choice->pieces <= MOST_CUTS;
}

int fftnd__choice_scan(const char *text, const struct fftnd__request *request,
                       struct fftnd__choice *choice) {
    int nranks, ndims = request->ndims;
    MPI_Comm_size(request->comm, &nranks);
    int n = scan_list(&text, "grid", 'x', REDIST_MAX_NDIMS, choice->grid);
    if (n > 0)
        choice->grid_ndims = n;
    int norder = scan_list(&text, "order", ',', ndims, choice->order);
    if (n < 0 || (n > 0 && !is_grid(n, choice->grid, nranks)) || (norder != 0 && norder != ndims) ||
        !is_order(ndims, choice->order, fftnd__halved_axis(request), choice->grid_ndims))
        return 0;
    int numbers = sscanf(text,
                         " fused=%d tiled=%d tile=%zu group=%zu stream=%zu chunks=%d early=%d "
                         "realigned=%d whole=%d pieces=%d",
                         &choice->fused, &choice->tiled, &choice->tile_bytes, &choice->group_bytes,
                         &choice->nontemporal_bytes, &choice->chunks, &choice->early,
                         &choice->realigned, &choice->whole, &choice->pieces);
    return numbers >= 5 && is_usable(choice);
}

int fftnd__choice_key(MPI_Comm comm, const struct fftnd__request *request,
                      char key[FFTND__CHOICE_BYTES]) {
    const fftnd_options *options = &request->options;
    int nranks, node_size;
    int code = redist_node_size(request->comm, &node_size);
    if (code != REDIST_OK)
        return code;
    MPI_Comm_size(comm, &nranks);
    key[0] = '\0';
    append(key, "fft/ranks=%d/node=%d/kind=%d/precision=%d/sizes=", nranks, node_size,
           (int)request->kind, (int)request->precision);
    for (int i = 0; i < request->ndims; i++)
        append(key, "%s%d", i > 0 ? "x" : "", request->sizes[i]);
    for (int i = 0; i < request->ndims && options->retained_modes != NULL; i++)
        append(key, "%s%d", i > 0 ? "x" : "/retained=", options->retained_modes[i]);
    append(key, "/grid=%d", options->grid_ndims);
    for (int i = 0; i < options->grid_ndims && options->grid != NULL; i++)
        append(key, "x%d", options->grid[i]);
    for (int i = 0; i < request->ndims && options->order != NULL; i++)
        append(key, "%s%d", i > 0 ? "," : "/order=", options->order[i]);
    if (fftnd__serial_for(options->space)->space != REDIST_SPACE_HOST)
        append(key, "/cuda");
    append(key, "%s/threads=%d", options->by_node ? "/by-node" : "", options->threads);
    append(key, "/batch=%d%c/halved=%d/lean=%d%d%d/align=%d/fusion=%d/local_transpose=%d/method=%s",
           options->batch, "fl"[options->batch_position], options -> halved_axis,
           options -> in_place, options -> overwrite_input, options -> mapped_arrays,
           (int)options -> alignment, (int)options -> fusion, (int)options -> local_transpose,
           options -> method != NULL ? options -> method : "auto");
    return REDIST_OK;
}
