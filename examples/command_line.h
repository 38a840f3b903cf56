/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines of programs with several options: numbers, and the loop over all options. */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include <getopt.h>
#include <stdio.h>

static inline int read_integer(const char *text, int *value) {
    char rest;
    return sscanf(text, "%d%c", value, &rest) == 1;
}

/* Passes each option to `take`, which returns 0 if its value makes no sense; the letter of --help is 'h'. Returns the
 * program's exit status if it ends here, with the argument that it refuses, or -1 to go on. MPI need not run. */
static inline int read_options(int argc, char *argv[], const struct option known[],
                               int (*take)(void *options, int letter, const char *value),
                               void *options, const char **refused) {
    int letter;
    opterr = 0; /* rank 0 alone prints errors, later */
    while ((letter = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (letter == 'h')
            return 0;
        if (!take(options, letter, optarg)) {
            *refused = argv[optind - 1];
            return 2;
        }
    }
    *refused = argv[optind];
    return optind == argc ? -1 : 2;
}

#endif
