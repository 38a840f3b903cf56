/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness.h"
#include "redist_support.h"

struct counters counters;

/* An n-th taking that is to fail; 0 = none, negative once it has failed */
static int memory_until_failure, type_until_failure, call_until_failure;

static int fails_now(int *until_failure) {
    if (*until_failure <= 0 || --*until_failure > 0)
        return 0;
    *until_failure = -1;
    return 1;
}

/* ---------------------------------------------------------------- memory */

static long memory_asked;

/* The threads of a plan allocate too. */
static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;

static void *allocate(size_t bytes) {
    pthread_mutex_lock(&memory_lock);
    memory_asked++;
    void *memory = fails_now(&memory_until_failure) ? NULL : malloc(bytes);
    counters.memory += memory != NULL;
    pthread_mutex_unlock(&memory_lock);
    return memory;
}

static void release(void *memory) {
    pthread_mutex_lock(&memory_lock);
    counters.memory -= memory != NULL;
    pthread_mutex_unlock(&memory_lock);
    free(memory);
}

void counters_begin(void) {
    redist_set_allocator(allocate, release);
}

void counters_end(void) {
    redist_set_allocator(NULL, NULL);
}

void counters_fail_memory(int n) {
    memory_until_failure = n;
}

int counters_memory_failed(void) {
    return memory_until_failure < 0;
}

long counters_memory_asked(void) {
    return memory_asked;
}

void counters_fail_type(int n) {
    type_until_failure = n;
}

int counters_type_failed(void) {
    return type_until_failure < 0;
}

void counters_fail_call(int n) {
    call_until_failure = n;
}

int counters_call_fails(void) {
    return fails_now(&call_until_failure);
}

int counters_call_failed(void) {
    return call_until_failure < 0;
}

static void check_balance(const char *what, const char *name, long before, long now) {
    check_all(now == before, "%s: %ld %s not given back", what, now - before, name);
}

void counters_check(const struct counters *before, const char *what) {
    check_balance(what, "blocks of memory", before->memory, counters.memory);
    check_balance(what, "communicators", before->comms, counters.comms);
    check_balance(what, "datatypes", before->types, counters.types);
    check_balance(what, "mappings", before->mappings, counters_taken().mappings);
}

/* ---------------------------------------------------------------- communicators */

static void note_most(void) {
    if (counters.comms > counters.most_comms)
        counters.most_comms = counters.comms;
}

static int taken(int result, long *count) {
    *count += result == MPI_SUCCESS;
    note_most();
    return result;
}

static int given(int result, long *count) {
    *count -= result == MPI_SUCCESS;
    return result;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made) {
    return taken(PMPI_Comm_dup(comm, made), &counters.comms);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made) {
    if (fails_now(&call_until_failure))
        return MPI_ERR_OTHER;
    int result = PMPI_Comm_split(comm, color, key, made);
    counters.comms += result == MPI_SUCCESS && *made != MPI_COMM_NULL;
    note_most();
    return result;
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made) {
    if (fails_now(&call_until_failure))
        return MPI_ERR_OTHER;
    return taken(PMPI_Comm_split_type(comm, type, key, info, made), &counters.comms);
}

int MPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder,
                    MPI_Comm *made) {
    if (fails_now(&call_until_failure))
        return MPI_ERR_OTHER;
    return taken(PMPI_Cart_create(comm, ndims, dims, periods, reorder, made), &counters.comms);
}

int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm *made) {
    if (fails_now(&call_until_failure))
        return MPI_ERR_OTHER;
    return taken(PMPI_Cart_sub(comm, remain, made), &counters.comms);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made) {
    int result = PMPI_Comm_create(comm, group, made);
    counters.comms += result == MPI_SUCCESS && *made != MPI_COMM_NULL;
    return result;
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made) {
    int result = PMPI_Comm_create_group(comm, group, tag, made);
    counters.comms += result == MPI_SUCCESS && *made != MPI_COMM_NULL;
    return result;
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made) {
    return taken(PMPI_Comm_dup_with_info(comm, info, made), &counters.comms);
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request) {
    return taken(PMPI_Comm_idup(comm, made, request), &counters.comms);
}

int MPI_Comm_free(MPI_Comm *comm) {
    return given(PMPI_Comm_free(comm), &counters.comms);
}

/* ---------------------------------------------------------------- datatypes */

static int type_fails(MPI_Datatype *made) {
    if (!fails_now(&type_until_failure))
        return 0;
    *made = MPI_DATATYPE_NULL;
    return 1;
}

int MPI_Type_create_subarray(int ndims, const int sizes[], const int subsizes[], const int starts[],
                             int order, MPI_Datatype type, MPI_Datatype *made) {
    if (type_fails(made))
        return MPI_ERR_OTHER;
    return taken(PMPI_Type_create_subarray(ndims, sizes, subsizes, starts, order, type, made),
                 &counters.types);
}

int MPI_Type_contiguous(int count, MPI_Datatype type, MPI_Datatype *made) {
    if (type_fails(made))
        return MPI_ERR_OTHER;
    return taken(PMPI_Type_contiguous(count, type, made), &counters.types);
}

int MPI_Type_vector(int count, int length, int stride, MPI_Datatype type, MPI_Datatype *made) {
    if (type_fails(made))
        return MPI_ERR_OTHER;
    return taken(PMPI_Type_vector(count, length, stride, type, made), &counters.types);
}

int MPI_Type_create_hvector(int count, int length, MPI_Aint stride, MPI_Datatype type,
                            MPI_Datatype *made) {
    if (type_fails(made))
        return MPI_ERR_OTHER;
    return taken(PMPI_Type_create_hvector(count, length, stride, type, made), &counters.types);
}

int MPI_Type_create_struct(int count, const int lengths[], const MPI_Aint places[],
                           const MPI_Datatype types[], MPI_Datatype *made) {
    if (type_fails(made))
        return MPI_ERR_OTHER;
    return taken(PMPI_Type_create_struct(count, lengths, places, types, made), &counters.types);
}

int MPI_Type_create_resized(MPI_Datatype type, MPI_Aint low, MPI_Aint extent, MPI_Datatype *made) {
    if (type_fails(made))
        return MPI_ERR_OTHER;
    return taken(PMPI_Type_create_resized(type, low, extent, made), &counters.types);
}

int MPI_Type_dup(MPI_Datatype type, MPI_Datatype *made) {
    if (type_fails(made))
        return MPI_ERR_OTHER;
    return taken(PMPI_Type_dup(type, made), &counters.types);
}

int MPI_Type_free(MPI_Datatype *type) {
    return given(PMPI_Type_free(type), &counters.types);
}

/* ---------------------------------------------------------------- shared memory */

/* In the place of the C library's. */
int memfd_create(const char *name, unsigned flags) {
    return fails_now(&call_until_failure) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

static long count_mappings(void) {
    char line[4096];
    long count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
        count += strstr(line, "memfd:redist_alloc ") != NULL;
    if (maps != NULL)
        fclose(maps);
    return count;
}

struct counters counters_taken(void) {
    struct counters taken = counters;
    taken.mappings = count_mappings();
    return taken;
}
