/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What getopt_long returns for --help and the first option of a table, above all characters. */
enum { HELP = 256, FIRST, MOST_OPTIONS = 48, OPTION_BYTES = 96 };

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

int bench_refuse_grid(const bench_program *program, const bench_list *grid, int ndims) {
    int blocks = 1, fixed = grid->count == ndims, nranks;
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    for (int i = 0; i < grid->count; i++) {
        blocks *= grid->values[i] > 0 ? grid->values[i] : 1;
        fixed &= grid->values[i] > 0;
    }
    if (grid->count <= ndims && nranks % blocks == 0 && (!fixed || blocks == nranks))
        return 0;
    return bench_refuse(program, "--grid does not fit %d ranks", nranks);
}

void bench_sizes(const bench_settings *settings, redist_index sizes[]) {
    for (int axis = 0; axis < settings->shape.count; axis++)
        sizes[axis] = settings->shape.values[axis];
}

/* "--name VALUE", where a choice shows its words. */
static const char *describe(const bench_option *option, size_t bytes, char text[]) {
    size_t used = (size_t)snprintf(text, bytes, "--%s %s", option->name,
                                   option->argument ? option->argument : "");
    for (int place = 0; option->kind == BENCH_CHOICE && option->words[place]; place++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", place > 0 ? "|" : "",
                                 option->words[place]);
    return text;
}

static void print_help(const bench_program *program) {
    char text[OPTION_BYTES];
    printf("%s: %s\n\nusage: mpirun -n RANKS %s [options]\n\n", program->name, program->summary,
           program->name);
    for (int i = 0; i < program->noptions; i++)
        printf("  %-30s %s\n", describe(&program->options[i], sizeof text, text),
               program->options[i].help);
    printf("  %-30s %s\n\n%s", "--help", "this text", program->notes);
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
        *(int *)option->value = 1;
    }
    return 1;
}

enum parsed { RUN, HELPED, BAD };

static enum parsed refuse_value(const bench_program *program, const bench_option *option,
                                const char *text) {
    char expected[OPTION_BYTES];
    bench_refuse(program, "--%s does not take '%s'; expected: %s", option->name, text,
                 describe(option, sizeof expected, expected));
    return BAD;
}

static enum parsed parse(const bench_program *program, int argc, char **argv) {
    const bench_option *options = program->options;
    struct option known[MOST_OPTIONS + 2] = {{"help", no_argument, NULL, HELP}};
    int key;
    for (int i = 0; i < program->noptions; i++)
        known[i + 1] = (struct option){
            options[i].name, options[i].kind == BENCH_FLAG ? no_argument : required_argument, NULL,
            FIRST + i};
    opterr = 0; /* rank 0 alone says what is wrong */
    while ((key = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (key == HELP && is_first_rank())
            print_help(program);
        if (key == HELP)
            return HELPED;
        if (key < HELP)
            break;
        if (!read_value(&options[key - FIRST], optarg))
            return refuse_value(program, &options[key - FIRST], optarg);
    }
    if (key == -1 && optind == argc)
        return RUN;
    bench_refuse(program, key == -1 ? "unexpected word %s" : "%s is unknown, or lacks its value",
                 argv[key == -1 ? optind : optind - 1]);
    return BAD;
}

int bench_main(const bench_program *program, int argc, char **argv) {
    bench_program_name = program->name;
    bench_space_prepare(argc, argv);
    MPI_Init(&argc, &argv);
    enum parsed parsed = parse(program, argc, argv);
    const bench_space *space =
        parsed == RUN && program->space != NULL ? bench_space_at(*program->space) : NULL;
    const char *absent = space != NULL ? space->begin() : NULL;
    if (absent != NULL)
        bench_abort("--space %s: %s", space->name, absent);
    int code = parsed == RUN ? program->run(program) : parsed == BAD ? 2 : 0;
    MPI_Finalize();
    return code;
}
