/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 of each communicator remembers and reads; the others are told. The file is text: a
 * heading, then one line "key name" for each exchange; lines are only appended, the last one
 * counts.
 */
#include "error.h"
#include "table.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 2 * REDIST_WISDOM_BYTES + 2 };

static const char heading[] = "redist-wisdom 1\n";

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

static int remember(const char *key, const char *name) {
    pthread_mutex_lock(&lock);
    struct memory *memory = provide_memory(key);
    if (memory != NULL) {
        snprintf(memory->key, sizeof memory->key, "%s", key);
        snprintf(memory->name, sizeof memory->name, "%s", name);
    }
    pthread_mutex_unlock(&lock);
    return memory != NULL ? REDIST_OK
                          : redist__fail(REDIST_ERR_MEMORY, "no memory to remember a measurement");
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
    pthread_mutex_lock(&lock);
    while ((memory = redist__table_take(&memories)) != NULL)
        redist_release(memory);
    pthread_mutex_unlock(&lock);
}

/* ---------------------------------------------------------------- the file */

static const char *file_name(const char *file) {
    if (file == NULL)
        file = getenv("REDIST_WISDOM");
    return file != NULL && file[0] != '\0' ? file : NULL;
}

static int refuse(const char *file, const char *why) {
    return redist__fail(REDIST_ERR_FILE, "wisdom_file = \"%s\": %s", file, why);
}

/* A file that is not there yet holds nothing. */
static int read_file(const char *file, const char *key, char name[REDIST_WISDOM_BYTES]) {
    FILE *stream = fopen(file, "r");
    if (stream == NULL)
        return errno == ENOENT ? REDIST_OK : refuse(file, strerror(errno));
    char line[LINE_BYTES];
    int code = REDIST_OK, any = fgets(line, sizeof line, stream) != NULL;
    if (any && strcmp(line, heading) != 0)
        code = refuse(file, "it is not a wisdom file (its first line is not \"redist-wisdom 1\")");
    size_t length = strlen(key);
    while (code == REDIST_OK && fgets(line, sizeof line, stream) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, key, length) == 0 && line[length] == ' ')
            snprintf(name, REDIST_WISDOM_BYTES, "%.*s", REDIST_WISDOM_BYTES - 1, line + length + 1);
    }
    fclose(stream);
    return code;
}

static int append_line(int descriptor, const char *file, const char *key, const char *name) {
    char line[sizeof heading + LINE_BYTES];
    int empty = lseek(descriptor, 0, SEEK_END) == 0;
    int length = snprintf(line, sizeof line, "%s%s %s\n", empty ? heading : "", key, name);
    ssize_t written = write(descriptor, line, (size_t)length); /* at once: others append too */
    return written == length ? REDIST_OK : refuse(file, "it could not be written");
}

static int write_file(const char *file, const char *key, const char *name) {
    int descriptor = open(file, O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (descriptor < 0)
        return refuse(file, strerror(errno));
    int code = lockf(descriptor, F_LOCK, 0) == 0 ? append_line(descriptor, file, key, name)
                                                 : refuse(file, strerror(errno));
    close(descriptor);
    return code;
}

/* ---------------------------------------------------------------- for all ranks */

static int find_here(const char *file, const char *key, char name[REDIST_WISDOM_BYTES]) {
    name[0] = '\0';
    recall(key, name);
    file = file_name(file);
    return name[0] == '\0' && file != NULL ? read_file(file, key, name) : REDIST_OK;
}

int redist_wisdom_find(MPI_Comm comm, const char *file, const char *key, size_t bytes,
                       char name[]) {
    char found[REDIST_WISDOM_BYTES] = "";
    int rank, code = REDIST_OK;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        code = find_here(file, key, found);
    code = redist_agree(comm, code);
    if (code == REDIST_OK)
        code = redist_check_mpi(MPI_Bcast(found, REDIST_WISDOM_BYTES, MPI_CHAR, 0, comm));
    snprintf(name, bytes, "%s", found);
    return code;
}

int redist_wisdom_store(MPI_Comm comm, const char *file, const char *key, const char *name) {
    int rank, code = REDIST_OK;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) {
        file = file_name(file);
        code = remember(key, name);
        if (code == REDIST_OK && file != NULL)
            code = write_file(file, key, name);
    }
    return redist_agree(comm, code);
}
