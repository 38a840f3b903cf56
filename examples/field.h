/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What 4_poisson and 6_channel share: their options, and real fields in host or device memory. The host fills a field
 * and looks at it; what is on a device has a copy there.
 */
#ifndef FIELD_H
#define FIELD_H

#include "command_line.h"
#include "example.h"
#include <stdlib.h>
#include <string.h>

#ifdef EXAMPLE_CUDA
#include "choose_device.h"
#else
static inline const char *choose_device(void) {
    return "this program was built without CUDA";
}
#endif

/* ---------------------------------------------------------------- options */

struct setting {
    redist_index shape[3];
    enum redist_space space;
};

static inline int read_space(const char *text, enum redist_space *space) {
    *space = strcmp(text, "cuda") == 0 ? REDIST_SPACE_CUDA : REDIST_SPACE_HOST;
    return strcmp(text, "cuda") == 0 || strcmp(text, "host") == 0;
}

static inline int read_shape(const char *text, redist_index shape[3]) {
    int n[3];
    char rest;
    int is_shape = sscanf(text, "%d,%d,%d%c", &n[0], &n[1], &n[2], &rest) == 3;
    for (int axis = 0; axis < 3 && is_shape; axis++)
        shape[axis] = n[axis];
    return is_shape;
}

static inline int take_setting(void *data, int letter, const char *value) {
    struct setting *setting = data;
    return (letter == 's' && read_shape(value, setting->shape)) ||
           (letter == 'w' && read_space(value, &setting->space));
}

/* Reads options as read_options does. Before MPI_Init, since a device is chosen before it. */
static inline int read_setting(int argc, char *argv[], struct setting *setting) {
    static const struct option known[] = {{"shape", required_argument, NULL, 's'},
                                          {"space", required_argument, NULL, 'w'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    const char *refused;
    int status = read_options(argc, argv, known, take_setting, setting, &refused);
    if (setting->space == REDIST_SPACE_CUDA)
        (void)choose_device();
    return status;
}

/* Says why there is no device, on the first rank that has none; 1 = all have what they need. */
static inline int has_space(enum redist_space space) {
    int nranks, first, rank = my_rank();
    const char *reason = space == REDIST_SPACE_CUDA ? choose_device() : NULL;
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    int missing = reason != NULL ? rank : nranks;
    MPI_Allreduce(&missing, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == rank)
        fprintf(stderr, "--space cuda is not to be had on rank %d: %s\n", rank, reason);
    return first == nranks;
}

/* What main does: `run` with a shape of which `is_enough` says that the program can do something. */
static inline int run_example(int argc, char *argv[], struct setting setting, const char *usage,
                              int (*is_enough)(const redist_index shape[3]),
                              int (*run)(const struct setting *setting)) {
    int status = read_setting(argc, argv, &setting);
    MPI_Init(&argc, &argv);
    if (status == -1 && !is_enough(setting.shape))
        status = 2;
    if (status != -1 && my_rank() == 0)
        fputs(usage, status == 0 ? stdout : stderr);
    if (status == -1)
        status = has_space(setting.space) ? run(&setting) : 1;
    MPI_Finalize();
    return status;
}

/* ---------------------------------------------------------------- arrays */

/* An array of this rank in a space; all ranks call it together. */
static inline void *allocate_in(enum redist_space space, size_t bytes) {
    void *array = NULL;
    check(redist_alloc_in(MPI_COMM_WORLD, space, bytes, &array));
    return array;
}

struct field {
    double *array; /* what is transformed */
    double *host;  /* what the host reads and writes: the same in host memory */
    size_t bytes;
};

static inline struct field create_field(enum redist_space space, size_t bytes) {
    struct field field = {.array = allocate_in(space, bytes), .bytes = bytes};
    field.host = space == REDIST_SPACE_CUDA ? malloc(bytes + 1) : field.array;
    if (field.host == NULL && bytes > 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return field;
}

static inline void copy_field(const struct field *field, double *to, const double *from) {
#ifdef EXAMPLE_CUDA
    cudaError_t error = cudaMemcpy(to, from, field->bytes, cudaMemcpyDefault);
    if (error != cudaSuccess) {
        fprintf(stderr, "cudaMemcpy: %s\n", cudaGetErrorString(error));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
#else
    memcpy(to, from, field->bytes);
#endif
}

static inline void upload(const struct field *field) {
    if (field->host != field->array)
        copy_field(field, field->array, field->host);
}

static inline void download(const struct field *field) {
    if (field->host != field->array)
        copy_field(field, field->host, field->array);
}

static inline void free_field(struct field *field) {
    if (field->host != field->array)
        free(field->host);
    release(field->array);
}

#endif
