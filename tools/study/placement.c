/* SPDX-License-Identifier: BSD-3-Clause */
#include "placement.h"
#include "options.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 64, LIST_BYTES = 512 };

struct place {
    char host[MPI_MAX_PROCESSOR_NAME], address[WORD_BYTES];
    char processors[LIST_BYTES], near[LIST_BYTES];
};

static int is_in(const cpu_set_t *set, int processor) {
    return processor < CPU_SETSIZE && CPU_ISSET((size_t)processor, set);
}

/* "0-3,8" */
static void format_set(const cpu_set_t *set, size_t bytes, char text[]) {
    size_t used = 0;
    for (int first = 0; first < CPU_SETSIZE && used < bytes; first++) {
        int last = first;
        if (!is_in(set, first))
            continue;
        while (is_in(set, last + 1))
            last++;
        used += (size_t)snprintf(text + used, bytes - used, used > 0 ? ",%d" : "%d", first);
        if (last > first && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "-%d", last);
        first = last;
    }
}

/* Linux says which processors are next to a device. */
static void read_near(const char *address, char near[LIST_BYTES]) {
    char path[WORD_BYTES + 64];
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/local_cpulist", address);
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    if (!fgets(near, LIST_BYTES, file))
        near[0] = '\0';
    near[strcspn(near, "\n")] = '\0';
    fclose(file);
}

static void find_place(const bench_space *space, struct place *place) {
    cpu_set_t set;
    int length;
    MPI_Get_processor_name(place->host, &length);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        format_set(&set, sizeof place->processors, place->processors);
    if (space->address)
        space->address(sizeof place->address, place->address);
    if (place->address[0])
        read_near(place->address, place->near);
}

void study_placement_write(const char *path, const bench_space *space) {
    struct place mine = {"", "", "", ""}, *places = NULL;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    find_place(space, &mine);
    FILE *file = rank == 0 ? fopen(path, "w") : NULL;
    places = rank == 0 ? calloc((size_t)size, sizeof *places) : NULL;
    if (rank == 0 && (!file || !places))
        bench_abort("%s cannot be written", path);
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, places, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    fputs("rank,host,processors,device,next_to_device\n", file);
    for (int i = 0; i < size; i++)
        fprintf(file, "%d,%s,\"%s\",%s,\"%s\"\n", i, places[i].host, places[i].processors,
                places[i].address, places[i].near);
    free(places);
    if (fclose(file) != 0)
        bench_abort("%s cannot be written", path);
}
