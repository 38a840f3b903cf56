/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that measure serial transforms at the same time disturb each other, and the slowest of them decides when the
 * plan is complete. Their problems are the same, or nearly so. Larger arrays are measured by all at once, since they
 * share the memory's bandwidth in the transform, too.
 */
#include "teach.h"

#include <stdlib.h>
#include <string.h>

/* Second-level caches of today's processors have 1 MiB and more for each core. */
static const size_t most_bytes = 1 << 20;

/* Other threads of the program may plan with FFTW, which does not protect its wisdom from them. */
static int has_other_threads(void) {
    int level = MPI_THREAD_MULTIPLE;
    return MPI_Query_thread(&level) != MPI_SUCCESS || level != MPI_THREAD_SINGLE;
}

int fftnd__has_teacher(const struct fftnd__transform *transform, size_t largest_bytes) {
    int nranks = 1;
    MPI_Comm_size(transform->comm, &nranks);
    if (nranks == 1 || transform->library->tell_found == NULL ||
        transform->settings.effort == FFTND_ESTIMATE)
        return 0;
    int teaches = largest_bytes <= most_bytes && !has_other_threads();
    int code = redist_agree(transform->comm, redist_all_lowest(transform->comm, teaches, &teaches));
    return code == REDIST_OK && teaches;
}

/* Sends a text of rank 0 to the others, which allocate memory for it. Collective. */
static int send_text(MPI_Comm comm, int rank, char **text) {
    size_t bytes = rank == 0 && *text != NULL ? strlen(*text) + 1 : 0;
    int code = redist_agree(comm, redist_broadcast(comm, &bytes, sizeof bytes, 0));
    if (code != REDIST_OK || bytes == 0)
        return code;
    if (rank != 0)
        *text = redist_calloc(bytes, 1);
    REDIST_TRY(redist_agree(comm, *text != NULL ? REDIST_OK : REDIST_ERR_MEMORY));
    return redist_agree(comm, redist_broadcast(comm, *text, bytes, 0));
}

void fftnd__teach(const struct fftnd__transform *transform) {
    int rank;
    MPI_Comm_rank(transform->comm, &rank);
    char *text = rank == 0 ? transform->library->tell_found(transform->precision) : NULL;
    int code = send_text(transform->comm, rank, &text);
    if (rank == 0) {
        free(text);
        return;
    }
    if (code == REDIST_OK && text != NULL)
        transform->library->take_found(transform->precision, text);
    redist_release(text);
}
