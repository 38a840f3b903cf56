/* SPDX-License-Identifier: BSD-3-Clause */
#include "rows.h"
#include "options.h"
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 2048 };

/* Copies the first columns of a line, without the comma behind them. */
static void find_key(const char *line, int key_columns, char key[STUDY_KEY_BYTES]) {
    size_t length = 0;
    for (int column = 0; column < key_columns && line[length]; column++)
        length += strcspn(line + length, ",\n") + 1;
    length = length > 0 ? length - 1 : 0;
    snprintf(key, STUDY_KEY_BYTES, "%.*s", (int)length, line);
}

int study_rows_have(const study_rows *rows, const char *key) {
    for (int i = rows->nkeys - 1; i >= 0; i--)
        if (strcmp(rows->keys[i], key) == 0)
            return 1;
    return 0;
}

static void add_key(study_rows *rows, const char *key) {
    if (rows->nkeys == rows->room) {
        rows->room = 2 * rows->room + 64;
        rows->keys = realloc(rows->keys, (size_t)rows->room * sizeof *rows->keys);
        if (!rows->keys)
            bench_abort("no memory for the names of %d configurations", rows->room);
    }
    strcpy(rows->keys[rows->nkeys++], key);
}

/* The rows of a configuration stand together. Those of the last one may be too few, and its last line too
 * short. */
struct block {
    char key[STUDY_KEY_BYTES];
    int count;
    char *text;
    size_t used, room;
};

static void add_line(struct block *block, const char *line) {
    size_t length = strlen(line);
    if (block->used + length + 1 > block->room) {
        block->room = 2 * block->room + LINE_BYTES;
        block->text = realloc(block->text, block->room);
        if (!block->text)
            bench_abort("no memory for the rows of a configuration");
    }
    memcpy(block->text + block->used, line, length + 1);
    block->used += length;
    block->count++;
}

static void end_block(study_rows *rows, struct block *block, int runs, FILE *to) {
    if (block->count >= runs && !study_rows_have(rows, block->key)) {
        fputs(block->text, to);
        add_key(rows, block->key);
    }
    block->count = 0;
    block->used = 0;
}

static void keep_complete(study_rows *rows, FILE *from, FILE *to, int key_columns, int runs) {
    struct block block = {.count = 0};
    char line[LINE_BYTES], key[STUDY_KEY_BYTES];
    while (fgets(line, sizeof line, from)) {
        if (!strchr(line, '\n'))
            continue;
        find_key(line, key_columns, key);
        if (block.count > 0 && strcmp(key, block.key) != 0)
            end_block(rows, &block, runs, to);
        strcpy(block.key, key);
        add_line(&block, line);
    }
    end_block(rows, &block, runs, to);
    free(block.text);
}

static int has_heading(FILE *file, const char *heading) {
    char line[LINE_BYTES];
    size_t length = strlen(heading);
    return fgets(line, sizeof line, file) && strncmp(line, heading, length) == 0 &&
           strcmp(line + length, "\n") == 0;
}

/* Writes the complete rows to a new file and replaces the old one. */
static int rewrite(study_rows *rows, FILE *old, const char *path, const char *heading,
                   int key_columns, int runs, size_t bytes, char fault[]) {
    char beside[LINE_BYTES];
    if (old && !has_heading(old, heading)) {
        snprintf(fault, bytes, "%s has other columns: move it away, or name another folder", path);
        return 0;
    }
    snprintf(beside, sizeof beside, "%s.new", path);
    FILE *file = fopen(beside, "w");
    int good = file && fprintf(file, "%s\n", heading) > 0;
    if (good && old)
        keep_complete(rows, old, file, key_columns, runs);
    good = file && fclose(file) == 0 && good && rename(beside, path) == 0;
    rows->file = good ? fopen(path, "a") : NULL;
    if (!rows->file)
        snprintf(fault, bytes, "%s cannot be written", path);
    return rows->file != NULL;
}

int study_rows_open(study_rows *rows, const char *path, const char *heading, int key_columns,
                    int runs, size_t bytes, char fault[]) {
    *rows = (study_rows){.file = NULL};
    FILE *old = fopen(path, "r");
    int good = rewrite(rows, old, path, heading, key_columns, runs, bytes, fault);
    if (old)
        fclose(old);
    return good;
}

int study_rows_close(study_rows *rows) {
    free(rows->keys);
    return !rows->file || fclose(rows->file) == 0;
}
