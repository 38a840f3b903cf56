/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans made before, for FFTW_WISDOM_ONLY: kept with libfftnd's wisdom, from which such a plan is made. Plans without
 * measurements are remembered in this process only.
 */
#include "redist_support.h"
#include "request.h"

/* Makes a key of the program's request, without the effort. */
static void make_key(const struct fftnd_fftw__request *request, char key[REDIST_WISDOM_BYTES]) {
    const struct fftnd_fftw__flags *flags = &request->flags;
    const int room = REDIST_WISDOM_BYTES;
    int nranks;
    MPI_Comm_size(request->comm, &nranks);
    int length = snprintf(
        key, REDIST_WISDOM_BYTES,
        "fftw/%s/precision=%d/ranks=%d/sign=%d/in_place=%d/threads=%d/flags=%d%d%d%d%d/many=%td/"
        "blocks=%td,%td/n=",
        request->function, (int)request->precision, nranks, request->backward, request->in_place,
        request->threads, flags->transposed[0], flags->transposed[1], flags->scrambled[0],
        flags->scrambled[1], flags->may_destroy_input, request->howmany, request->blocks[0],
        request->blocks[1]);
    for (int axis = 0; axis < request->rank && axis < REDIST_MAX_NDIMS && length < room; axis++)
        length += snprintf(key + length, (size_t)(room - length), "%td:%d,", request->n[axis],
                           request->r2r != NULL ? request->r2r[axis] : 0);
}

int fftnd_fftw__plan_create(const struct fftnd_fftw__request *request,
                            struct fftnd_fftw__plan **plan) {
    char key[REDIST_WISDOM_BYTES], known[2], effort[2] = {(char)('0' + request->flags.effort), 0};
    make_key(request, key);
    int code = redist_wisdom_find(request->comm, NULL, key, sizeof known, known);
    if (code == REDIST_OK && request->flags.wisdom_only && known[0] < effort[0])
        code =
            redist_fail(REDIST_ERR_METHOD, "FFTW_WISDOM_ONLY of a plan that was not made before");
    code = redist_agree(request->comm,
                        code); /* time limits, on which efforts depend, are each rank's */
    if (code == REDIST_OK)
        code = request->create(request, plan);
    if (code == REDIST_OK && known[0] < effort[0])
        code = redist_wisdom_store(request->comm, effort[0] == '0' ? "" : NULL, key, effort);
    return code;
}
