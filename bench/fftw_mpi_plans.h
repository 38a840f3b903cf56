/* SPDX-License-Identifier: BSD-3-Clause */
/* Included once for each precision, with FFTW(name) as the name of FFTW's function or type. */

static void *FFTW(bench_mpi_plan)(const struct request *request, void *physical, void *spectral,
                                  unsigned flags) {
    int ndims = request->ndims;
    const ptrdiff_t *sizes = request->sizes;
    ptrdiff_t batch = request->batch;
    FFTW(r2r_kind) kinds[REDIST_MAX_NDIMS];
    for (int axis = 0; axis < ndims; axis++)
        kinds[axis] = request->backward ? FFTW_REDFT01 : FFTW_REDFT10;
    void *in = request->backward ? spectral : physical;
    void *out = request->backward ? physical : spectral;
    if (request->kind == FFTND_R2R)
        return FFTW(mpi_plan_many_r2r)(ndims, sizes, batch, 0, 0, in, out, MPI_COMM_WORLD, kinds,
                                       flags);
    if (request->ndims == 1)
        return FFTW(mpi_plan_dft_1d)(sizes[0], in, out, MPI_COMM_WORLD,
                                     request->backward ? FFTW_BACKWARD : FFTW_FORWARD, flags);
    if (request->kind == FFTND_C2C)
        return FFTW(mpi_plan_many_dft)(ndims, sizes, batch, 0, 0, in, out, MPI_COMM_WORLD,
                                       request->backward ? FFTW_BACKWARD : FFTW_FORWARD, flags);
    if (request->backward)
        return FFTW(mpi_plan_many_dft_c2r)(ndims, sizes, batch, 0, 0, in, out, MPI_COMM_WORLD,
                                           flags);
    return FFTW(mpi_plan_many_dft_r2c)(ndims, sizes, batch, 0, 0, in, out, MPI_COMM_WORLD, flags);
}

/* Rank 0 reads the file, if there is one, and broadcasts it. */
static void FFTW(bench_mpi_remember)(int rank, const char *wisdom) {
    if (rank == 0)
        FFTW(import_wisdom_from_filename)(wisdom);
    FFTW(mpi_broadcast_wisdom)(MPI_COMM_WORLD);
}

/* Rank 0 collects what all have learnt and writes the file; nonzero if it can. */
static int FFTW(bench_mpi_keep)(int rank, const char *wisdom) {
    FFTW(mpi_gather_wisdom)(MPI_COMM_WORLD);
    return rank != 0 || FFTW(export_wisdom_to_filename)(wisdom);
}

static void FFTW(bench_mpi_execute)(void *plan) {
    FFTW(execute)(plan);
}

static void FFTW(bench_mpi_destroy)(void *plan) {
    FFTW(destroy_plan)(plan);
}
