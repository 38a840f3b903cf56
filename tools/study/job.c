/* SPDX-License-Identifier: BSD-3-Clause */
#include "job.h"
#include <cjson/cJSON.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is being read, and what is wrong with it. */
struct reader {
    study_job *job;
    size_t bytes;
    char *fault;
};

static int refuse(const struct reader *reader, const char *format, ...) REDIST_PRINTF(2, 3);

static int refuse(const struct reader *reader, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(reader->fault, reader->bytes, format, values);
    va_end(values);
    return 0;
}

/* ---------------------------------------------------------------- values of keys */

typedef int read_value(const struct reader *reader, const cJSON *item, size_t offset);

static void *member(const struct reader *reader, size_t offset) {
    return (char *)reader->job + offset;
}

static int read_whole(const struct reader *reader, const cJSON *item, int least, int *value) {
    double number = cJSON_IsNumber(item) ? item->valuedouble : -1.0;
    if (!(number >= least) || number > INT_MAX || number != (double)(int)number)
        return refuse(reader, "\"%s\" needs whole numbers of at least %d",
                      item->string ? item->string : "a list", least);
    *value = (int)number;
    return 1;
}

static int read_count(const struct reader *reader, const cJSON *item, size_t offset) {
    return read_whole(reader, item, 1, member(reader, offset));
}

static int read_number(const struct reader *reader, const cJSON *item, size_t offset) {
    return read_whole(reader, item, 0, member(reader, offset));
}

static int read_switch(const struct reader *reader, const cJSON *item, size_t offset) {
    if (!cJSON_IsBool(item))
        return refuse(reader, "\"%s\" is true or false", item->string);
    *(int *)member(reader, offset) = cJSON_IsTrue(item);
    return 1;
}

/* Names become parts of file names and of comma separated rows. */
static int read_name(const struct reader *reader, const cJSON *item, size_t offset) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const char *text = cJSON_GetStringValue(item);
    if (!text || !*text || strspn(text, allowed) != strlen(text) ||
        strlen(text) >= sizeof reader->job->name)
        return refuse(reader, "\"%s\" is a short word of letters, digits, - and _", item->string);
    strcpy(member(reader, offset), text);
    return 1;
}

static int find_word(const char *const words[], const char *text) {
    for (int i = 0; text && words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    return -1;
}

static int read_words(const struct reader *reader, const cJSON *item, const char *const words[],
                      bench_list *list) {
    const cJSON *entry;
    list->count = 0;
    cJSON_ArrayForEach(entry, item) {
        int place = find_word(words, cJSON_GetStringValue(entry));
        if (place < 0 || list->count == REDIST_MAX_NDIMS)
            return refuse(reader, "\"%s\": %s is not one of its words", item->string,
                          cJSON_IsString(entry) ? entry->valuestring : "an entry");
        list->values[list->count++] = place;
    }
    return list->count > 0 || refuse(reader, "\"%s\" is a list of words", item->string);
}

/* Here `offset` is the number of the choice. */
static int read_choice(const struct reader *reader, const cJSON *item, size_t choice) {
    return read_words(reader, item, study_choice_words[choice], &reader->job->choices[choice]);
}

static int read_effort(const struct reader *reader, const cJSON *item, size_t offset) {
    static const char *const efforts[] = {"estimate", "measure", "patient", NULL};
    int place = find_word(efforts, cJSON_GetStringValue(item));
    *(int *)member(reader, offset) = place;
    return place >= 0 || refuse(reader, "\"effort\" is estimate, measure or patient");
}

static int read_methods(const struct reader *reader, const cJSON *item, size_t offset) {
    bench_methods *methods = member(reader, offset);
    char names[1024] = "";
    const cJSON *entry;
    cJSON_ArrayForEach(entry, item) {
        const char *name = cJSON_GetStringValue(entry);
        if (!name || (strcmp(name, "all") != 0 && !redist_method_exists(name)))
            return refuse(reader, "\"methods\": %s is not known", name ? name : "an entry");
        if (strlen(names) + strlen(name) + 2 > sizeof names)
            return refuse(reader, "\"methods\" is too long");
        strcat(strcat(names, *names ? "," : ""), name);
    }
    return bench_read_methods(names, methods) || refuse(reader, "\"methods\" is a list of names");
}

static int read_grids(const struct reader *reader, const cJSON *item, size_t offset) {
    study_job *job = reader->job;
    const cJSON *entry;
    (void)offset;
    job->ngrids = 0;
    cJSON_ArrayForEach(entry, item) {
        const char *word = cJSON_GetStringValue(entry);
        if (!word || strlen(word) >= STUDY_WORD_BYTES || job->ngrids == STUDY_MOST_GRID_WORDS)
            return refuse(reader, "\"grids\" is a list of words such as \"pencil\" or \"2x4\"");
        strcpy(job->grids[job->ngrids++], word);
    }
    return job->ngrids > 0 || refuse(reader, "\"grids\" is a list of words");
}

/* ---------------------------------------------------------------- sizes */

/* Adds the sizes from `first` on, doubling one extent at a time, the last axis first, as long as none
 * exceeds that of `last`. 0 = too many. */
static int double_sizes(study_job *job, const int first[], const int last[]) {
    int size[REDIST_MAX_NDIMS], axis = job->ndims - 1, grew = 1;
    memcpy(size, first, (size_t)job->ndims * sizeof *size);
    for (int idle = 0; idle < job->ndims; idle = grew ? 0 : idle + 1) {
        if (grew && job->nsizes == STUDY_MOST_SIZES)
            return 0;
        if (grew)
            memcpy(job->sizes[job->nsizes++], size, (size_t)job->ndims * sizeof *size);
        grew = size[axis] <= last[axis] / 2;
        size[axis] *= grew ? 2 : 1;
        axis = axis > 0 ? axis - 1 : job->ndims - 1;
    }
    return 1;
}

/* All sizes of a job have as many extents as the first one. */
static int read_size(const struct reader *reader, const cJSON *item, int size[]) {
    int n = 0;
    const cJSON *entry;
    cJSON_ArrayForEach(entry, item) {
        if (n == REDIST_MAX_NDIMS - 1 || !read_whole(reader, entry, 1, &size[n]))
            return refuse(reader, "\"sizes\": an extent is a whole number of at least 1");
        n++;
    }
    if (reader->job->ndims == 0)
        reader->job->ndims = n;
    return (n > 0 && n == reader->job->ndims) ||
           refuse(reader, "\"sizes\" need lists of extents, all of the same length");
}

static int read_sizes(const struct reader *reader, const cJSON *item, size_t offset) {
    study_job *job = reader->job;
    const cJSON *entry;
    int first[REDIST_MAX_NDIMS], last[REDIST_MAX_NDIMS];
    (void)offset;
    if (cJSON_IsObject(item))
        return (read_size(reader, cJSON_GetObjectItemCaseSensitive(item, "first"), first) &&
                read_size(reader, cJSON_GetObjectItemCaseSensitive(item, "last"), last) &&
                double_sizes(job, first, last)) ||
               refuse(reader,
                      "\"sizes\" is a list of sizes, or {\"first\": [...], \"last\": [...]}"
                      " with at most %d sizes in between",
                      STUDY_MOST_SIZES);
    cJSON_ArrayForEach(entry, item) {
        if (job->nsizes == STUDY_MOST_SIZES)
            return refuse(reader, "\"sizes\" has more than %d entries", STUDY_MOST_SIZES);
        if (!read_size(reader, entry, job->sizes[job->nsizes++]))
            return 0;
    }
    return job->nsizes > 0 || refuse(reader, "\"sizes\" is empty");
}

/* ---------------------------------------------------------------- the file */

static const struct key {
    const char *name;
    read_value *read;
    size_t offset;
} keys[] = {
    {"name", read_name, offsetof(study_job, name)},
    {"sizes", read_sizes, 0},
    {"grids", read_grids, 0},
    {"methods", read_methods, offsetof(study_job, methods)},
    {"spaces", read_choice, STUDY_SPACE},
    {"stagings", read_choice, STUDY_STAGING},
    {"layouts", read_choice, STUDY_LAYOUT},
    {"fusions", read_choice, STUDY_FUSION},
    {"kinds", read_choice, STUDY_KIND},
    {"precisions", read_choice, STUDY_PRECISION},
    {"directions", read_choice, STUDY_DIRECTION},
    {"threads", read_count, offsetof(study_job, threads)},
    {"warmup", read_number, offsetof(study_job, warmup)},
    {"runs", read_count, offsetof(study_job, runs)},
    {"model", read_switch, offsetof(study_job, model)},
    {"effort", read_effort, offsetof(study_job, effort)},
    {"plan_seconds", read_number, offsetof(study_job, plan_seconds)},
    {"most_seconds", read_number, offsetof(study_job, most_seconds)},
};

/* What the thesis does, where a job says nothing else. */
static void set_defaults(study_job *job) {
    *job = (study_job){.name = "study",
                       .ngrids = 1,
                       .grids = {"all"},
                       .threads = 1,
                       .warmup = 10,
                       .runs = 20,
                       .model = 1,
                       .effort = FFTND_MEASURE};
    bench_read_methods("all", &job->methods);
    for (int choice = 0; choice < STUDY_CHOICES; choice++)
        job->choices[choice].count = 1;
    job->choices[STUDY_KIND].values[0] = FFTND_R2C;
    job->choices[STUDY_FUSION].values[0] = FFTND_FUSION_NEVER;
    job->choices[STUDY_DIRECTION] = (bench_list){2, {REDIST_FORWARD, REDIST_BACKWARD}};
}

static int read_key(const struct reader *reader, const cJSON *item) {
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i].name, item->string) == 0)
            return keys[i].read(reader, item, keys[i].offset);
    return refuse(reader, "there is no key \"%s\"", item->string);
}

static int read_object(const struct reader *reader, const char *text) {
    cJSON *object = cJSON_Parse(text);
    const cJSON *item;
    int good = cJSON_IsObject(object) || refuse(reader, "it is not a JSON object");
    set_defaults(reader->job);
    cJSON_ArrayForEach(item, object) {
        good = good && read_key(reader, item);
    }
    cJSON_Delete(object);
    return good && (reader->job->nsizes > 0 || refuse(reader, "\"sizes\" is missing"));
}

/* The contents with a 0 at the end, or NULL. */
static char *read_text(const char *path, int *bytes) {
    FILE *file = fopen(path, "r");
    char *text = NULL;
    if (!file)
        return NULL;
    long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (length >= 0 && length < (1 << 20))
        text = calloc((size_t)length + 1, 1);
    rewind(file);
    if (text && fread(text, 1, (size_t)length, file) == (size_t)length)
        *bytes = (int)length + 1;
    fclose(file);
    return text;
}

int study_job_read(const char *path, study_job *job, size_t bytes, char fault[]) {
    const struct reader reader = {job, bytes, fault};
    int rank, length = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *text = rank == 0 ? read_text(path, &length) : NULL;
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank != 0)
        text = calloc((size_t)length + 1, 1);
    if (length == 0 || !text) {
        free(text);
        return refuse(&reader, "it cannot be read");
    }
    MPI_Bcast(text, length, MPI_CHAR, 0, MPI_COMM_WORLD);
    int good = read_object(&reader, text);
    free(text);
    return good;
}
