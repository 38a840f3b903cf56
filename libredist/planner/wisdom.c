/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 of each communicator remembers, and reads and writes the file; the others get what it found. */
#include "wisdom.h"
#include "../comm/comm.h"
#include "wisdom_file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct memory {
    char key[REDIST_WISDOM_BYTES], name[REDIST_WISDOM_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct redist__table memories; /* by hashes of keys; of two with one hash the newer stays */

static uint64_t hash_of(const char *key) {
    return (uint64_t)redist_hash_text(key);
}

/* The memory for a key, a new one if there is none; NULL if memory is out. Called with the lock held. */
static struct memory *provide_memory(const char *key) {
    struct memory *memory = redist__table_find(&memories, hash_of(key));
    if (memory != NULL)
        return memory;
    memory = redist_calloc(1, sizeof *memory);
    if (memory != NULL && !redist__table_add(&memories, hash_of(key), memory)) {
        redist_release(memory);
        memory = NULL;
    }
    return memory;
}

static atomic_uint age;

unsigned redist__wisdom_age(void) {
    return atomic_load(&age);
}

/* Without memory for that, the next plan measures again. */
static void remember(const char *key, const char *name) {
    pthread_mutex_lock(&lock);
    struct memory *memory = provide_memory(key);
    if (memory != NULL) {
        snprintf(memory->key, sizeof memory->key, "%s", key);
        snprintf(memory->name, sizeof memory->name, "%s", name);
    }
    pthread_mutex_unlock(&lock);
}

static void recall(const char *key, char name[REDIST_WISDOM_BYTES]) {
    pthread_mutex_lock(&lock);
    const struct memory *memory = redist__table_find(&memories, hash_of(key));
    if (memory != NULL && strncmp(memory->key, key, sizeof memory->key - 1) == 0)
        snprintf(name, REDIST_WISDOM_BYTES, "%s", memory->name);
    pthread_mutex_unlock(&lock);
}

void redist_forget_wisdom(void) {
    struct memory *memory;
    atomic_fetch_add(&age, 1);
    pthread_mutex_lock(&lock);
    while ((memory = redist__table_take(&memories)) != NULL)
        redist_release(memory);
    pthread_mutex_unlock(&lock);
}

static const char *file_name(const char *file) {
    if (file == NULL)
        file = getenv("REDIST_WISDOM");
    return file != NULL && file[0] != '\0' ? file : NULL;
}

int redist_wisdom_find(MPI_Comm comm, const char *file, const char *key, size_t bytes,
                       char name[]) {
    char found[REDIST_WISDOM_BYTES] = "";
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        recall(key, found);
    file = file_name(file);
    if (rank == 0 && found[0] == '\0' && file != NULL)
        redist__wisdom_read(file, key, found);
    int code =
        redist_check_mpi(redist_insist(MPI_Bcast(found, REDIST_WISDOM_BYTES, MPI_CHAR, 0, comm)));
    snprintf(name, bytes, "%s", code == REDIST_OK ? found : "");
    return code;
}

int redist_wisdom_store(MPI_Comm comm, const char *file, const char *key, const char *name) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    file = file_name(file);
    atomic_fetch_add(&age, 1);
    if (rank == 0)
        remember(key, name);
    if (rank == 0 && file != NULL)
        redist__wisdom_append(file, key, name);
    return REDIST_OK;
}
