/* SPDX-License-Identifier: BSD-3-Clause */
#include "file_folder.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char test_folder[PATH_MAX - 32], test_path[PATH_MAX];

unsigned char junk_of(size_t place) {
    return (unsigned char)random_hash(place + 77);
}

file_image read_image(void) {
    file_image image = {NULL, 0};
    FILE *file = fopen(test_path, "rb");
    if (file == NULL)
        return image;
    fseek(file, 0, SEEK_END);
    image.length = (size_t)ftell(file);
    rewind(file);
    image.bytes = malloc(image.length + 1);
    image.length = fread(image.bytes, 1, image.length, file);
    fclose(file);
    return image;
}

void make_old_file(size_t length) {
    (void)unlink(test_path);
    if (length == 0)
        return;
    FILE *file = fopen(test_path, "wb");
    for (size_t i = 0; i < length; i++)
        fputc(junk_of(i + 5), file);
    fclose(file);
}

static void make_folder(void) {
    const char *parent = getenv("TMPDIR");
    if (harness_rank == 0) {
        (void)snprintf(test_folder, sizeof test_folder, "%s/redist-file-XXXXXX",
                       parent != NULL ? parent : "/tmp");
        if (mkdtemp(test_folder) == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Bcast(test_folder, sizeof test_folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    (void)snprintf(test_path, sizeof test_path, "%s/field.raw", test_folder);
}

static void remove_folder(void) {
    char fifo[PATH_MAX];
    (void)snprintf(fifo, sizeof fifo, "%s/fifo", test_folder);
    (void)unlink(test_path);
    (void)unlink(fifo);
    (void)rmdir(test_folder);
}

int file_tests_run(int argc, char **argv, const char *program, const TTest *const tests[]) {
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &harness_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int rank = harness_rank;
    make_folder();
    if (size > 4)
        (void)setenv("REDIST_NODE_SIZE", "3", 0);
    int result = harness_run(argc, argv, program, tests);
    if (rank == 0)
        remove_folder();
    return result;
}
