/* SPDX-License-Identifier: BSD-3-Clause */
/** A folder for tests of files, and a file in it as plain functions see it. */
#ifndef TESTS_FILE_FOLDER_H
#define TESTS_FILE_FOLDER_H

#include "harness.h"

#include <limits.h>

/** The folder, and the path of a file in it; the same on all ranks. */
extern char test_folder[PATH_MAX - 32], test_path[PATH_MAX];

/** The bytes of a file. */
typedef struct file_image {
    unsigned char *bytes;
    size_t length;
} file_image;

/** Reads the file; without one the image is empty. The caller frees the bytes. */
file_image read_image(void);

/** Returns what is in a byte of memory, or of a file, before a test. */
unsigned char junk_of(size_t place);

/** Replaces the file by one with junk of some length, or removes it. */
void make_old_file(size_t length);

/** MPI_Init and harness_run, with the folder; more than four ranks are nodes of three. */
int file_tests_run(int argc, char **argv, const char *program, const TTest *const tests[]);

#endif
