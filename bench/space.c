/* SPDX-License-Identifier: BSD-3-Clause */
#include "space.h"
#include "failure.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *host_allocate(MPI_Comm comm, size_t bytes, int mappable) {
    void *array = NULL;
    if (mappable) {
        bench_must(redist_alloc(comm, bytes, &array));
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

/* The last value of an option of the command line, or "". */
static const char *find_value(int argc, char **argv, const char *option) {
    const size_t length = strlen(option);
    const char *value = "";
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], option) == 0)
            value = i + 1 < argc ? argv[i + 1] : "";
        else if (strncmp(argv[i], option, length) == 0 && argv[i][length] == '=')
            value = argv[i] + length + 1;
    return value;
}

/* Whether a line of a job's file has the name in quotes. */
static int is_in_job(const char *path, const char *name) {
    char line[1024], quoted[64];
    int found = 0;
    FILE *file = fopen(path, "r");
    snprintf(quoted, sizeof quoted, "\"%s\"", name);
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, quoted) != NULL;
    if (file)
        fclose(file);
    return found;
}

void bench_space_prepare(int argc, char **argv) {
    const char *arrays = find_value(argc, argv, "--space");
    const char *device = find_value(argc, argv, "--device");
    const char *job = find_value(argc, argv, "--job");
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        const char *name = spaces[i]->name;
        int named = strcmp(name, arrays) == 0 || strcmp(name, device) == 0 || is_in_job(job, name);
        if (named && spaces[i]->prepare != NULL)
            spaces[i]->prepare();
    }
}

int bench_mappable(int memory, int array) {
    static const int mappable[][2] = {{1, 1}, {0, 0}, {1, 0}, {0, 1}};
    return mappable[memory][array];
}
