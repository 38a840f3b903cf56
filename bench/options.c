/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_first_rank(void) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0;
}

int bench_refuse(const bench_program *program, const char *format, ...) {
    if (is_first_rank()) {
        va_list values;
        va_start(values, format);
        fprintf(stderr, "%s: ", program->name);
        vfprintf(stderr, format, values);
        fprintf(stderr, " (%s --help explains)\n", program->name);
        va_end(values);
    }
    return 2;
}

_Noreturn void bench_abort(const char *format, ...) {
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* What the help shows as the value of an option. */
static const char *describe_value(const bench_option *option, char text[], size_t bytes) {
    snprintf(text, bytes, "%s", option->argument ? option->argument : "");
    for (int place = 0; option->kind == BENCH_CHOICE && option->words[place]; place++) {
        size_t used = strlen(text);
        snprintf(text + used, bytes - used, "%s%s", place > 0 ? "|" : "", option->words[place]);
    }
    return text;
}

static void print_option(const bench_option *option) {
    const int indent = 26;
    char value[80];
    int width = printf("  %s %s", option->name, describe_value(option, value, sizeof value));
    const char *line = option->help;
    while (*line) {
        int length = (int)strcspn(line, "\n");
        if (width >= indent)
            printf("\n%*s", indent, "");
        else
            printf("%*s", indent - width, "");
        printf("%.*s", length, line);
        width = indent;
        line += length + (line[length] == '\n');
    }
    putchar('\n');
}

static void print_help(const bench_program *program) {
    printf("%s: %s\n\nusage: mpirun -n RANKS %s [options]\n\n", program->name, program->summary,
           program->name);
    for (int i = 0; i < program->noptions; i++)
        print_option(&program->options[i]);
    printf("  %-24s%s\n\n%s", "--help", "this text", program->notes);
}

/* One whole number at *text; moves *text behind it. */
static int read_number(const char **text, int minimum, int *number) {
    char *end;
    errno = 0;
    long value = strtol(*text, &end, 10);
    if (end == *text || errno || value < minimum || value > INT_MAX)
        return 0;
    *text = end;
    *number = (int)value;
    return 1;
}

static int read_list(const bench_option *option, const char *text) {
    bench_list list = {0, {0}};
    while (list.count < option->most &&
           read_number(&text, option->minimum, &list.values[list.count])) {
        list.count++;
        if (*text == '\0' || !strchr(option->separators, *text))
            break;
        text++;
        if (*text == '\0')
            return 0;
    }
    *(bench_list *)option->value = list;
    return *text == '\0' && list.count >= option->least;
}

static int read_choice(const bench_option *option, const char *text) {
    for (int place = 0; option->words[place]; place++)
        if (strcmp(option->words[place], text) == 0) {
            *(int *)option->value = place;
            return 1;
        }
    return 0;
}

static int read_value(const bench_option *option, const char *text) {
    switch (option->kind) {
    case BENCH_NUMBER:
        return read_number(&text, option->minimum, option->value) && *text == '\0';
    case BENCH_LIST:
        return read_list(option, text);
    case BENCH_CHOICE:
        return read_choice(option, text);
    case BENCH_TEXT:
        *(const char **)option->value = text;
        return *text != '\0';
    case BENCH_FLAG:
        break;
    }
    return 0;
}

static const bench_option *find_option(const bench_program *program, const char *name,
                                       size_t length) {
    for (int i = 0; i < program->noptions; i++) {
        const bench_option *option = &program->options[i];
        if (strlen(option->name) == length && memcmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}

/* Reads argv[*place] and its value; moves *place behind them. */
static enum bench_parsed read_option(const bench_program *program, int argc, char **argv,
                                     int *place) {
    char *word = argv[(*place)++];
    size_t length = strcspn(word, "=");
    const bench_option *option = find_option(program, word, length);
    if (!option) {
        bench_refuse(program, "unknown option %s", word);
        return BENCH_BAD;
    }
    if (option->kind == BENCH_FLAG && word[length] == '\0') {
        *(int *)option->value = 1;
        return BENCH_RUN;
    }
    const char *text = word[length] ? word + length + 1 : *place < argc ? argv[(*place)++] : "";
    if (read_value(option, text))
        return BENCH_RUN;
    char value[80];
    describe_value(option, value, sizeof value);
    bench_refuse(program, "%s does not take '%s'; expected: %s", option->name, text,
                 value[0] ? value : "no value");
    return BENCH_BAD;
}

enum bench_parsed bench_parse(const bench_program *program, int argc, char **argv) {
    for (int place = 1; place < argc;) {
        if (strcmp(argv[place], "--help") == 0) {
            if (is_first_rank())
                print_help(program);
            return BENCH_HELPED;
        }
        enum bench_parsed parsed = read_option(program, argc, argv, &place);
        if (parsed != BENCH_RUN)
            return parsed;
    }
    return BENCH_RUN;
}
