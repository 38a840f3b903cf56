/* SPDX-License-Identifier: BSD-3-Clause */
/* A description of a file in XDMF 3: uniform grids, in collections along time. */
#include "contents.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_BYTES = 32, LIST_BYTES = 200, LEAST_NDIMS = 2, MOST_NDIMS = 3 };

/* A description that is written, for redist__hdf5_act. */
struct description {
    const char *function, *path;
    FILE *text;
    const char *file; /* as the description names the HDF5 file */
    double *times;    /* of all steps */
};

/* ---------------------------------------------------------------- parts of text */

static void print_escaped(FILE *text, const char *from) {
    static const char *const escapes[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;"};
    for (; *from != 0; from++) {
        unsigned char byte = (unsigned char)*from;
        const char *escape = byte < sizeof escapes / sizeof *escapes ? escapes[byte] : NULL;
        if (escape != NULL)
            fputs(escape, text);
        else
            putc(byte, text);
    }
}

static void print_number(FILE *text, double value) {
    char number[NUMBER_BYTES];
    redist_text_print(number, sizeof number, "%.17g", value);
    fputs(number, text);
}

static void print_numbers(FILE *text, int n, const double values[]) {
    fprintf(text,
            "<DataItem Dimensions=\"%d\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">", n);
    for (int i = 0; i < n; i++) {
        fputs(i > 0 ? " " : "", text);
        print_number(text, values[i]);
    }
    fputs("</DataItem>\n", text);
}

static void list_extents(char list[LIST_BYTES], int n, const redist_index extent[]) {
    list[0] = 0;
    for (int i = 0, end = 0; i < n; i++)
        end += snprintf(list + end, LIST_BYTES - (size_t)end, "%s%lld", i > 0 ? " " : "",
                        (long long)extent[i]);
}

static void print_repeated(FILE *text, int n, const char *number) {
    for (int i = 0; i < n; i++)
        fprintf(text, " %s", number);
}

/* ---------------------------------------------------------------- grids */

static void print_data(const struct description *description,
                       const struct redist__hdf5_entry *entry, const char *extents) {
    static const char *const types[] = {['f'] = "Float", ['i'] = "Int", ['u'] = "UInt"};
    FILE *text = description->text;
    if (entry->dataset.steps >= 0)
        fprintf(text, "<DataItem Dimensions=\"%lld %s\"", (long long)entry->dataset.steps, extents);
    else
        fprintf(text, "<DataItem Dimensions=\"%s\"", extents);
    fprintf(text, " NumberType=\"%s\" Precision=\"%zu\" Format=\"HDF\">",
            types[(unsigned char)entry->type.kind], entry->type.bytes);
    print_escaped(text, description->file);
    fputs(":/", text);
    print_escaped(text, entry->dataset.name);
    fputs("</DataItem>\n", text);
}

/* One step of a dataset with steps. */
static void print_slab(const struct description *description,
                       const struct redist__hdf5_entry *entry, redist_index step,
                       const char *extents) {
    FILE *text = description->text;
    int ndims = entry->dataset.ndims;
    fprintf(text, "<DataItem ItemType=\"HyperSlab\" Dimensions=\"%s\" Type=\"HyperSlab\">\n",
            extents);
    fprintf(text, "<DataItem Dimensions=\"3 %d\" Format=\"XML\">%lld", ndims + 1, (long long)step);
    print_repeated(text, ndims, "0");
    print_repeated(text, ndims + 1, "1");
    fprintf(text, " 1 %s</DataItem>\n", extents);
    print_data(description, entry, extents);
    fputs("</DataItem>\n", text);
}

static void print_grid(const struct description *description,
                       const struct redist__hdf5_entry *entry, redist_index step, double time) {
    FILE *text = description->text;
    int ndims = entry->dataset.ndims;
    char extents[LIST_BYTES];
    list_extents(extents, ndims, entry->dataset.sizes);
    fputs("<Grid Name=\"", text);
    print_escaped(text, entry->dataset.name);
    fputs("\" GridType=\"Uniform\">\n<Time Value=\"", text);
    print_number(text, isnan(time) ? (double)step : time);
    fprintf(text, "\"/>\n<Topology TopologyType=\"%dDCoRectMesh\" Dimensions=\"%s\"/>\n", ndims,
            extents);
    fprintf(text, "<Geometry GeometryType=\"%s\">\n", ndims == 2 ? "ORIGIN_DXDY" : "ORIGIN_DXDYDZ");
    print_numbers(text, ndims, entry->origin);
    print_numbers(text, ndims, entry->spacing);
    fputs("</Geometry>\n<Attribute Name=\"", text);
    print_escaped(text, entry->dataset.name);
    fputs("\" AttributeType=\"Scalar\" Center=\"Node\">\n", text);
    if (entry->dataset.steps >= 0)
        print_slab(description, entry, step, extents);
    else
        print_data(description, entry, extents);
    fputs("</Attribute>\n</Grid>\n", text);
}

static int is_plottable(const struct redist__hdf5_entry *entry) {
    return entry->dataset.ndims >= LEAST_NDIMS && entry->dataset.ndims <= MOST_NDIMS &&
           entry->type.items == 1 && strchr("fiu", entry->type.kind) != NULL &&
           entry->type.kind != 0 && entry->type.bytes <= 8 &&
           redist__hdf5_number(&entry->type) != MPI_DATATYPE_NULL;
}

static void print_collection(const struct description *description,
                             const struct redist__hdf5_entry *entry) {
    redist_index steps = entry->dataset.steps;
    fputs("<Grid Name=\"", description->text);
    print_escaped(description->text, entry->dataset.name);
    fputs("\" GridType=\"Collection\" CollectionType=\"Temporal\">\n", description->text);
    for (redist_index step = 0; step < (steps >= 0 ? steps : 1); step++)
        print_grid(description, entry, step, steps >= 0 ? description->times[step] : 0.0);
    fputs("</Grid>\n", description->text);
}

static void print_all(const struct description *description,
                      const struct redist__hdf5_contents *contents) {
    fputs("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Xdmf Version=\"3.0\">\n<Domain>\n",
          description->text);
    for (int i = 0; i < contents->count; i++)
        if (is_plottable(&contents->entries[i]))
            print_collection(description, &contents->entries[i]);
    fputs("</Domain>\n</Xdmf>\n", description->text);
}

/* ---------------------------------------------------------------- the text file */

static int fail_to_write(const struct description *description) {
    return redist_fail_in(description->function, REDIST_ERR_FILE, "cannot write '%s': %s",
                          description->path, strerror(errno));
}

static int write_text(struct description *description,
                      const struct redist__hdf5_contents *contents) {
    description->text = fopen(description->path, "w");
    if (description->text == NULL)
        return fail_to_write(description);
    print_all(description, contents);
    int is_bad = ferror(description->text);
    is_bad |= fclose(description->text) != 0;
    return is_bad ? fail_to_write(description) : REDIST_OK;
}

/* The file's name without its folder, if the description is in the same one. */
static const char *shorten(const char *file, const char *path) {
    const char *name = strrchr(file, '/'), *other = strrchr(path, '/');
    size_t length = name != NULL ? (size_t)(name - file) : 0;
    size_t other_length = other != NULL ? (size_t)(other - path) : 0;
    if (length != other_length || strncmp(file, path, length) != 0)
        return file;
    return name != NULL ? name + 1 : file;
}

static int read_times(struct redist_hdf5 *file, struct description *description,
                      const struct redist__hdf5_contents *contents) {
    redist_index most = 0;
    for (int i = 0; i < contents->count; i++)
        if (contents->entries[i].dataset.steps > most)
            most = contents->entries[i].dataset.steps;
    description->times = redist_calloc((size_t)most + 1, sizeof *description->times);
    if (description->times == NULL)
        return redist_fail_in(description->function, REDIST_ERR_MEMORY, "no memory for %lld times",
                              (long long)most);
    redist__hdf5_read_times(file, most, description->times);
    return REDIST_OK;
}

/* Ranks that act read together, as that is collective; rank 0 writes. */
static int describe(struct redist_hdf5 *file, void *data) {
    struct description *description = data;
    struct redist__hdf5_contents contents = {.function = description->function};
    int code = redist__hdf5_list(file, &contents);
    if (code == REDIST_OK)
        code = read_times(file, description, &contents);
    if (code == REDIST_OK && file->rank == 0)
        code = write_text(description, &contents);
    redist_release(description->times);
    redist_release(contents.entries);
    return code;
}

int redist_hdf5_xdmf(redist_hdf5 *file, const char *path) {
    REDIST_TRY(redist__hdf5_check(__func__, file));
    const redist_shared_value value = redist_share("path", REDIST_SHARED_TEXT, path, 1);
    int code = path != NULL ? REDIST_OK : redist_fail(REDIST_ERR_NULL, "path = NULL");
    if (path != NULL && strcmp(path, file->path) == 0)
        code =
            redist_fail(REDIST_ERR_ARGUMENT, "path = '%s' is that of the HDF5 file itself", path);
    REDIST_TRY(redist_agree_values_in(__func__, file->comm, code, 1, &value));
    struct description description = {__func__, path, NULL, NULL, NULL};
    description.file = shorten(file->path, path);
    return redist__hdf5_act(__func__, file, "list the datasets", describe, &description);
}
