/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program written for FFTW's MPI functions, once on libfftnd and once on FFTW's own library. Included once for each
 * precision, with FFTW(name) as FFTW's name and REAL as its numbers.
 */

/* This project's function, or the one of FFTW's library. */
#define CALL(name)                                                                                 \
    ((__typeof__(&FFTW(name)))(size_t)find(run, (void *)(size_t)FFTW(name), TEXT(FFTW(name))))

static void FFTW(bench_allocate)(struct run *run, size_t reals) {
    for (int side = 0; side < (run->request->in_place ? 1 : 2); side++) {
        run->arrays[side] = CALL(malloc)(reals * sizeof(REAL));
        memset(run->arrays[side], 0, reals * sizeof(REAL));
    }
    if (run->request->in_place)
        run->arrays[1] = run->arrays[0];
}

static void FFTW(bench_plan)(struct run *run) {
    const struct request *request = run->request;
    const ptrdiff_t *n = request->n;
    const unsigned flags = efforts[request->effort];
    const int line = request->ndims == 1, other = request->transposed;
    const unsigned out = !other ? 0 : line ? FFTW_MPI_SCRAMBLED_OUT : FFTW_MPI_TRANSPOSED_OUT;
    const unsigned in = !other ? 0 : line ? FFTW_MPI_SCRAMBLED_IN : FFTW_MPI_TRANSPOSED_IN;
    MPI_Comm comm = MPI_COMM_WORLD;
    void *a = run->arrays[0], *b = run->arrays[1];
    /* Not the shorter functions: FFTW's call these by name, and would get this project's. */
    switch (request->kind) {
    case C2C:
        run->plans[0] = CALL(mpi_plan_many_dft)(request->ndims, n, 1, 0, 0, a, b, comm,
                                                FFTW_FORWARD, flags | out);
        run->plans[1] = CALL(mpi_plan_many_dft)(request->ndims, n, 1, 0, 0, b, a, comm,
                                                FFTW_BACKWARD, flags | in);
        break;
    case R2C:
        run->plans[0] =
            CALL(mpi_plan_many_dft_r2c)(request->ndims, n, 1, 0, 0, a, b, comm, flags | out);
        run->plans[1] =
            CALL(mpi_plan_many_dft_c2r)(request->ndims, n, 1, 0, 0, b, a, comm, flags | in);
        break;
    default:
        run->plans[0] = CALL(mpi_plan_many_transpose)(n[0], n[1], 1, 0, 0, a, b, comm, flags);
        run->plans[1] = CALL(mpi_plan_many_transpose)(n[1], n[0], 1, 0, 0, b, a, comm, flags);
    }
}

static void FFTW(bench_execute)(struct run *run, int direction) {
    CALL(execute)(run->plans[direction]);
}

static void FFTW(bench_release)(struct run *run) {
    CALL(destroy_plan)(run->plans[0]);
    CALL(destroy_plan)(run->plans[1]);
    CALL(free)(run->arrays[0]);
    if (!run->request->in_place)
        CALL(free)(run->arrays[1]);
}

static int FFTW(bench_is_here)(const struct run *run) {
    char *text = FFTW(sprint_plan)(run->plans[0]);
    int here = text != NULL && strncmp(text, "(fftnd-", 7) == 0;
    free(text);
    return here;
}

#undef CALL
