/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a study: a file of comma separated values that a later start continues. */
#ifndef STUDY_ROWS_H
#define STUDY_ROWS_H

#include <stddef.h>
#include <stdio.h>

enum { STUDY_KEY_BYTES = 512 };

/* The rows of one configuration begin with the same words, its key. Only rank 0 has the file. */
typedef struct study_rows {
    FILE *file;
    int nkeys, room;
    char (*keys)[STUDY_KEY_BYTES]; /* of what was complete when the file was opened */
} study_rows;

/*
 * Opens the file for more rows, or makes it with its heading. Of what is there, configurations with fewer
 * than `runs` rows are dropped.
 *   key_columns  how many columns, from the first on, are the key
 * 0 with a reason in `fault` if the file has another heading, or cannot be read or written.
 */
int study_rows_open(study_rows *rows, const char *path, const char *heading, int key_columns,
                    int runs, size_t bytes, char fault[]);

/* Whether a configuration was complete when the file was opened. */
int study_rows_have(const study_rows *rows, const char *key);

/* Closes the file; 0 if something could not be written. */
int study_rows_close(study_rows *rows);

#endif
