/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user of the Taylor-Green program may choose. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "space.h"

enum progress_style { PROGRESS_AUTO, PROGRESS_BAR, PROGRESS_LINES };

struct options {
    int size;               /* grid points along each axis */
    double time;            /* where the run ends */
    double courant;         /* grid spacings that the flow may cross in one step */
    int grid_ndims;         /* 1 = slabs, 2 = pencils, 0 = as the library chooses */
    int grid[2];            /* processes along each grid dimension, 0 = as the library chooses */
    const char *method;     /* how the exchanges move data; NULL = the library tries what is best */
    const char *output;     /* folder for the results */
    const char *volume;     /* files with the whole vorticity, or NULL */
    const char *checkpoint; /* file that the state is written to, or NULL, */
    int every;              /* and after how many sampling intervals */
    int repeatable;         /* plans are not measured, so that equal runs have equal bits */
    const char *restart;    /* file that the run begins with, or NULL */
    enum progress_style progress;
    const struct space *space; /* where the fields live */
    const char *refused;       /* what makes no sense in the command line */
};

/* Reads the command line. Returns the program's exit status if it ends here, or -1 to go on. MPI need
 * not run. */
int options_read(struct options *options, int argc, char *argv[]);

/* Prints why the program ends. */
void options_explain(const struct options *options);

#endif
