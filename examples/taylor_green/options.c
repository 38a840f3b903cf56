/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"
#include "../command_line.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: 5_taylor_green [options]\n"
    "Follows a Taylor-Green vortex at Reynolds number 1600 from order to turbulence and compares "
    "it\n"
    "with a published reference run. Run it under mpirun on any number of ranks.\n"
    "  --size N         grid points along each axis, at least 16 (64)\n"
    "  --time T         where the run ends (10)\n"
    "  --courant C      grid spacings that the flow may cross in one step, up to 1.3 (1)\n"
    "  --grid GRID      slab, pencil, or processes as in 4 or 2x3 (the library chooses)\n"
    "  --method NAME    how the exchanges move data (auto: the library tries what is best)\n"
    "  --output FOLDER  for taylor_green.csv, and the data that draw.gp draws "
    "(taylor_green_output)\n"
    "  --volume NAME    the whole vorticity in NAME.h5 (HDF5), and NAME.xdmf for ParaView\n"
    "  --checkpoint FILE  where the state is written, so that --restart continues from it\n"
    "  --every N        after how many time units of 0.5 that is (1)\n"
    "  --restart FILE   begin with that state, on any number of ranks\n"
    "  --repeatable     plan without measuring: equal runs, from equal states, have equal bits\n"
    "  --progress HOW   bar or lines (a bar on a terminal)\n"
    "  --space SPACE    host, or cuda: fields live on devices, which ranks take in turn (host)\n"
    "  --help           print this and stop\n"
    "The exit status is 1 if the run strays from the reference although the grid resolves it.\n";

static int read_number(const char *text, double *value) {
    char rest;
    return sscanf(text, "%lf%c", value, &rest) == 1;
}

static int read_grid(const char *text, struct options *options) {
    char rest;
    options->grid[0] = options->grid[1] = 0;
    if (strcmp(text, "slab") == 0)
        return options->grid_ndims = 1;
    if (strcmp(text, "pencil") == 0)
        return options->grid_ndims = 2;
    options->grid_ndims = sscanf(text, "%dx%d%c", &options->grid[0], &options->grid[1], &rest);
    return options->grid_ndims == 2 ||
           (options->grid_ndims == 1 && read_integer(text, &options->grid[0]));
}

static int read_progress(const char *text, enum progress_style *style) {
    *style = strcmp(text, "bar") == 0 ? PROGRESS_BAR : PROGRESS_LINES;
    return *style == PROGRESS_BAR || strcmp(text, "lines") == 0;
}

/* Takes one option; returns 0 if its value makes no sense. */
static int take(void *data, int letter, const char *value) {
    struct options *options = data;
    switch (letter) {
    case 's':
        return read_integer(value, &options->size) && options->size >= 16;
    case 't':
        return read_number(value, &options->time) && options->time > 0;
    case 'c':
        return read_number(value, &options->courant) && options->courant > 0 &&
               options->courant <= 1.3;
    case 'g':
        return read_grid(value, options);
    case 'm':
        options->method = value;
        return 1;
    case 'o':
        options->output = value;
        return 1;
    case 'v':
        options->volume = value;
        return 1;
    case 'k':
        options->checkpoint = value;
        return 1;
    case 'e':
        return read_integer(value, &options->every) && options->every > 0;
    case 'b':
        return options->repeatable = 1;
    case 'r':
        options->restart = value;
        return 1;
    case 'p':
        return read_progress(value, &options->progress);
    case 'w':
        return (options->space = space_named(value)) != NULL;
    default:
        return 0;
    }
}

void options_explain(const struct options *options) {
    if (options->refused == NULL)
        fputs(usage, stdout);
    else
        fprintf(stderr, "5_taylor_green: cannot use '%s'; --help lists the options\n",
                options->refused);
}

int options_read(struct options *options, int argc, char *argv[]) {
    static const struct option known[] = {{"size", required_argument, NULL, 's'},
                                          {"time", required_argument, NULL, 't'},
                                          {"courant", required_argument, NULL, 'c'},
                                          {"grid", required_argument, NULL, 'g'},
                                          {"method", required_argument, NULL, 'm'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"progress", required_argument, NULL, 'p'},
                                          {"space", required_argument, NULL, 'w'},
                                          {"volume", required_argument, NULL, 'v'},
                                          {"checkpoint", required_argument, NULL, 'k'},
                                          {"every", required_argument, NULL, 'e'},
                                          {"restart", required_argument, NULL, 'r'},
                                          {"repeatable", no_argument, NULL, 'b'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    *options = (struct options){.size = 64,
                                .time = 10,
                                .courant = 1,
                                .every = 1,
                                .output = "taylor_green_output",
                                .space = space_named("host")};
    return read_options(argc, argv, known, take, options, &options->refused);
}
