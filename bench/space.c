/* SPDX-License-Identifier: BSD-3-Clause */
#include "space.h"
#include "options.h"
#include <stdlib.h>
#include <string.h>

static void *host_allocate(MPI_Comm comm, size_t bytes, int mappable) {
    void *array = NULL;
    if (mappable) {
        if (redist_alloc(comm, bytes, &array) != REDIST_OK)
            bench_abort("%s", redist_error_message());
    } else if (posix_memalign(&array, 64, bytes ? bytes : 64) != 0) {
        bench_abort("no memory for an array of %zu bytes", bytes);
    }
    if (bytes > 0)
        memset(array, 0, bytes); /* so that every page is there before anything is timed */
    return array;
}

static void host_release(void *array, int mappable) {
    if (!mappable)
        free(array);
    else if (redist_free(&array) != REDIST_OK)
        bench_abort("%s", redist_error_message());
}

static void host_copy(void *to, const void *from, size_t bytes) {
    if (bytes > 0)
        memcpy(to, from, bytes);
}

static void host_synchronise(void) {
}

static const char *host_begin(void) {
    return NULL;
}

static const bench_space host = {.name = "host",
                                 .begin = host_begin,
                                 .allocate = host_allocate,
                                 .release = host_release,
                                 .copy = host_copy,
                                 .synchronise = host_synchronise};

static const bench_space *const spaces[] = {&host, &bench_space_cuda};

const char *const bench_spaces[] = {"host", "cuda", NULL};
const char *const bench_memories[] = {"alloc", "malloc", "alloc-a", "alloc-b", NULL};

const bench_space *bench_space_at(int index) {
    return spaces[index];
}

/* What follows an option, "" if it is not there. */
static const char *value_of(const char *option, int argc, char **argv) {
    const size_t length = strlen(option);
    const char *value = "";
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], option) == 0)
            value = i + 1 < argc ? argv[i + 1] : "";
        else if (strncmp(argv[i], option, length) == 0 && argv[i][length] == '=')
            value = argv[i] + length + 1;
    return value;
}

void bench_space_prepare(int argc, char **argv) {
    const char *names[] = {value_of("--space", argc, argv), value_of("--device", argc, argv)};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        for (size_t j = 0; j < sizeof names / sizeof *names; j++)
            if (strcmp(spaces[i]->name, names[j]) == 0 && spaces[i]->prepare != NULL)
                spaces[i]->prepare();
}

int bench_mappable(int memory, int array) {
    static const int mappable[][2] = {{1, 1}, {0, 0}, {1, 0}, {0, 1}};
    return mappable[memory][array];
}
