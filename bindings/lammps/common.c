/* SPDX-License-Identifier: BSD-3-Clause */
/* What plans of transforms and remaps share. */
#include "lammps.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- failures and reports */

static void end_program(MPI_Comm comm, const char *function, const char *text) {
    fprintf(stderr, "libfftnd-lammps: %s: %s\n", function, text);
    MPI_Abort(comm, EXIT_FAILURE);
}

void fftnd_lammps__refuse(MPI_Comm comm, const char *function, const char *format, ...) {
    char text[512];
    va_list arguments;
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text / 2, format, arguments);
    va_end(arguments);
    length = length < (int)sizeof text / 2 ? length : (int)sizeof text / 2 - 1;
    snprintf(text + length, sizeof text / 2, " (rank %d)", rank);
    end_program(comm, function, text);
}

void fftnd_lammps__insist(MPI_Comm comm, const char *function, int code) {
    if (code != REDIST_OK)
        end_program(comm, function, redist_error_message());
}

void fftnd_lammps__report(MPI_Comm comm, const char *format, ...) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (getenv("FFTND_LAMMPS_REPORT") == NULL || rank != 0)
        return;
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "libfftnd-lammps: %s\n", text);
}

static enum fftnd_effort own_effort(MPI_Comm comm) {
    static const char *const names[] = {"estimate", "measure", "patient"};
    const char *name = getenv("FFTND_LAMMPS_EFFORT");
    for (int effort = FFTND_ESTIMATE; name != NULL && effort <= FFTND_PATIENT; effort++)
        if (strcmp(name, names[effort]) == 0)
            return (enum fftnd_effort)effort;
    if (name != NULL)
        fftnd_lammps__refuse(
            comm, "planning",
            "FFTND_LAMMPS_EFFORT = \"%s\", but it has to be estimate, measure or patient", name);
    return FFTND_MEASURE;
}

enum fftnd_effort fftnd_lammps__effort(MPI_Comm comm) {
    int effort = FFTND_MEASURE, rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        effort = (int)own_effort(comm);
    MPI_Bcast(&effort, 1, MPI_INT, 0, comm);
    return (enum fftnd_effort)effort;
}

/* ---------------------------------------------------------------- boxes */

const int *fftnd_lammps__order(MPI_Comm comm, const char *function, int permute) {
    static const int orders[][FFTND_LAMMPS_AXES] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}};
    if (permute < 0 || permute > 2)
        fftnd_lammps__refuse(comm, function, "permute = %d has to be 0, 1 or 2", permute);
    return orders[permute];
}

redist_box fftnd_lammps__box(const int bounds[2 * FFTND_LAMMPS_AXES]) {
    redist_box box = REDIST_BOX_DEFAULT;
    for (int axis = 0; axis < FFTND_LAMMPS_AXES; axis++) {
        const int *of = bounds + 2 * (FFTND_LAMMPS_AXES - 1 - axis);
        if (of[1] < of[0])
            return REDIST_BOX_DEFAULT;
        box.start[axis] = of[0];
        box.count[axis] = (redist_index)of[1] - of[0] + 1;
    }
    return box;
}

redist_index fftnd_lammps__volume(const redist_box *box) {
    redist_index volume = 1;
    for (int axis = 0; axis < FFTND_LAMMPS_AXES; axis++)
        volume *= box->count[axis];
    return volume;
}
