/* SPDX-License-Identifier: BSD-3-Clause */
/* A description of a file in XDMF 3 or 2: uniform grids, in collections along time. */
#include "contents.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_BYTES = 32, LIST_BYTES = 200, LEAST_NDIMS = 2, MOST_NDIMS = 3 };

/* A description that is written, for redist__hdf5_act. */
struct description {
    const char *function, *path;
    int is_xdmf2;
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

/* Numbers of the axes, with that of a plane's third axis before them. */
static void print_numbers(FILE *text, int n, const double values[], double third) {
    fprintf(text,
            "<DataItem Dimensions=\"%d\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">",
            MOST_NDIMS);
    for (int i = n - MOST_NDIMS; i < n; i++) {
        print_number(text, i < 0 ? third : values[i]);
        fputs(i < n - 1 ? " " : "</DataItem>\n", text);
    }
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

/* The place of a step in its dataset: first indices, distances and extents, with `between` between these. */
static void print_place(FILE *text, const struct redist__hdf5_entry *entry, redist_index step,
                        const char *extents, const char *between) {
    fprintf(text, "%lld", (long long)step);
    print_repeated(text, entry->dataset.ndims, "0");
    fprintf(text, "%s1", between);
    print_repeated(text, entry->dataset.ndims, "1");
    fprintf(text, "%s1 %s", between, extents);
}

/* An item of a dataset with `steps` before its extents, -1 = without; the caller prints its end. */
static void open_item(const struct description *description, const struct redist__hdf5_entry *entry,
                      redist_index steps, const char *extents) {
    static const char *const types[] = {['f'] = "Float", ['i'] = "Int", ['u'] = "UInt"};
    FILE *text = description->text;
    fputs("<DataItem Dimensions=\"", text);
    if (steps >= 0)
        fprintf(text, "%lld ", (long long)steps);
    fprintf(text, "%s\" NumberType=\"%s\" Precision=\"%zu\" Format=\"HDF\">", extents,
            types[(unsigned char)entry->type.kind], entry->type.bytes);
    print_escaped(text, description->file);
    fputs(":/", text);
    print_escaped(text, entry->dataset.name);
}

/* One step of a dataset with steps, as readers of XDMF 3 take it. */
static void print_step(const struct description *description,
                       const struct redist__hdf5_entry *entry, redist_index step,
                       const char *extents) {
    open_item(description, entry, -1, extents);
    putc('|', description->text);
    print_place(description->text, entry, step, extents, ":");
    fprintf(description->text, ":%lld %s</DataItem>\n", (long long)entry->dataset.steps, extents);
}

/* The same for readers of XDMF 2, which find no dataset in the item above, as those of XDMF 3 find no type in this. */
static void print_step_of_xdmf2(const struct description *description,
                                const struct redist__hdf5_entry *entry, redist_index step,
                                const char *extents) {
    FILE *text = description->text;
    fprintf(text, "<DataItem ItemType=\"HyperSlab\" Dimensions=\"%s\" Type=\"HyperSlab\">\n",
            extents);
    fprintf(text, "<DataItem Dimensions=\"3 %d\" Format=\"XML\">", entry->dataset.ndims + 1);
    print_place(text, entry, step, extents, " ");
    fputs("</DataItem>\n", text);
    open_item(description, entry, entry->dataset.steps, extents);
    fputs("</DataItem>\n</DataItem>\n", text);
}

static void print_whole(const struct description *description,
                        const struct redist__hdf5_entry *entry, redist_index step,
                        const char *extents) {
    (void)step;
    open_item(description, entry, -1, extents);
    fputs("</DataItem>\n", description->text);
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
    /* ParaView 5.11 shows planes of two axes across x */
    fprintf(text, "\"/>\n<Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"%s%s\"/>\n",
            ndims < MOST_NDIMS ? "1 " : "", extents);
    fputs("<Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n", text);
    print_numbers(text, ndims, entry->origin, 0);
    print_numbers(text, ndims, entry->spacing, 1);
    fputs("</Geometry>\n<Attribute Name=\"", text);
    print_escaped(text, entry->dataset.name);
    fputs("\" AttributeType=\"Scalar\" Center=\"Node\">\n", text);
    (entry->dataset.steps < 0 ? print_whole
     : description->is_xdmf2  ? print_step_of_xdmf2
                              : print_step)(description, entry, step, extents);
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

static int ends_in(const char *path, const char *end) {
    size_t length = strlen(path), of_end = strlen(end);
    return length >= of_end && strcmp(path + length - of_end, end) == 0;
}

int redist_hdf5_xdmf(redist_hdf5 *file, const char *path) {
    REDIST_TRY(redist__hdf5_check(__func__, file));
    const redist_shared_value value = redist_share("path", REDIST_SHARED_TEXT, path, 1);
    int code = path != NULL ? REDIST_OK : redist_fail(REDIST_ERR_NULL, "path = NULL");
    if (path != NULL && strcmp(path, file->path) == 0)
        code =
            redist_fail(REDIST_ERR_ARGUMENT, "path = '%s' is that of the HDF5 file itself", path);
    REDIST_TRY(redist_agree_values_in(__func__, file->comm, code, 1, &value));
    struct description description = {.function = __func__,
                                      .path = path,
                                      .is_xdmf2 =
                                          ends_in(path, ".xdmf2") || ends_in(path, ".xmf2")};
    description.file = shorten(file->path, path);
    return redist__hdf5_act(__func__, file, "list the datasets", describe, &description);
}
