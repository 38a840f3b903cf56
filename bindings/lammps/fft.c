/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transforms. The forward transform of libfftnd has the sign -1. LAMMPS uses most plans with one sign only, and that
 * leads from the input's boxes to the output's for both; so each sign has a plan of its own, made when it is needed, of
 * which the input is the physical side for -1 and the spectral one for +1.
 */
#include "lammps.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define AXES FFTND_LAMMPS_AXES

struct fft_plan_3d {
    MPI_Comm comm;
    enum fftnd_precision precision;
    redist_index sizes[AXES]; /* slow, mid, fast */
    redist_box boxes[2];      /* of the input and the output */
    const int *order;         /* of the output's axes in memory */
    int scaled;
    fftnd_plan *plans[2];    /* of the signs -1 and +1; NULL until needed */
    void *copy;              /* of an input that is the output, too; NULL until needed */
    fftnd_plan *lines[AXES]; /* along each axis, for fft_1d_only; NULL until needed */
};

/* ---------------------------------------------------------------- making plans */

/* What the names that a library itself defines tell about it. */
struct caller {
    enum fftnd_precision precision;
    int is_old; /* LAMMPS with other signs */
};

static int defines(void *library, const Dl_info *at, const char *name) {
    Dl_info found;
    void *symbol = dlsym(library, name);
    return symbol != NULL && dladdr(symbol, &found) && found.dli_fbase == at->dli_fbase;
}

/* Returns what is known of the library with an address: one in single precision has another remap_3d, but the same
 * names of transforms; one without plugins may be older than the signs that transforms have here. A program that is no
 * shared library has to use double and these signs. */
static struct caller caller_at(void *address) {
    struct caller caller = {.precision = FFTND_DOUBLE};
    Dl_info at;
    void *library = dladdr(address, &at) ? dlopen(at.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (library == NULL)
        return caller;
    if (defines(library, &at, FFTND_LAMMPS_FLOAT))
        caller.precision = FFTND_FLOAT;
    caller.is_old =
        defines(library, &at, "lammps_open") && !defines(library, &at, "lammps_plugin_count");
    dlclose(library);
    return caller;
}

static void check_bounds(MPI_Comm comm, const int n[], const int bounds[], const char *side) {
    static const char *const sizes[] = {"nfast", "nmid", "nslow"};
    for (int i = 0; i < AXES; i++) {
        int low = bounds[2 * i], high = bounds[2 * i + 1];
        if (n[i] < 1)
            fftnd_lammps__refuse(comm, "fft_3d_create_plan", "%s = %d has to be positive", sizes[i],
                                 n[i]);
        if (high >= low && (low < 0 || high >= n[i]))
            fftnd_lammps__refuse(
                comm, "fft_3d_create_plan",
                "%s_%clo = %d and %s_%chi = %d have to be within 0 and %s - 1 = %d", side, 'i' + i,
                low, side, 'i' + i, high, sizes[i], n[i] - 1);
    }
}

struct fft_plan_3d *fft_3d_create_plan(MPI_Comm comm, int nfast, int nmid, int nslow, int in_ilo,
                                       int in_ihi, int in_jlo, int in_jhi, int in_klo, int in_khi,
                                       int out_ilo, int out_ihi, int out_jlo, int out_jhi,
                                       int out_klo, int out_khi, int scaled, int permute, int *nbuf,
                                       int usecollective) {
    const int n[AXES] = {nfast, nmid, nslow};
    const int in[2 * AXES] = {in_ilo, in_ihi, in_jlo, in_jhi, in_klo, in_khi};
    const int out[2 * AXES] = {out_ilo, out_ihi, out_jlo, out_jhi, out_klo, out_khi};
    const struct caller caller = caller_at(__builtin_return_address(0));
    (void)usecollective;
    if (caller.is_old)
        fftnd_lammps__refuse(comm, "fft_3d_create_plan",
                             "this LAMMPS is older than 10 Mar 2021, and may transform with "
                             "other signs: run it without libfftnd-lammps");
    check_bounds(comm, n, in, "in");
    check_bounds(comm, n, out, "out");
    struct fft_plan_3d *plan = malloc(sizeof *plan);
    if (plan == NULL)
        fftnd_lammps__refuse(comm, "fft_3d_create_plan", "no memory for a plan");
    *plan = (struct fft_plan_3d){
        .comm = comm,
        .precision = caller.precision,
        .sizes = {nslow, nmid, nfast},
        .boxes = {fftnd_lammps__box(in), fftnd_lammps__box(out)},
        .order = fftnd_lammps__order(comm, "fft_3d_create_plan", permute),
        .scaled = scaled,
    };
    if (nbuf != NULL)
        *nbuf = (int)fftnd_lammps__volume(&plan->boxes[0]);
    return plan;
}

void fft_3d_destroy_plan(struct fft_plan_3d *plan) {
    if (plan == NULL)
        return;
    for (int i = 0; i < 2; i++)
        (void)fftnd_plan_free(&plan->plans[i]);
    for (int axis = 0; axis < AXES; axis++)
        (void)fftnd_plan_free(&plan->lines[axis]);
    (void)redist_free(&plan->copy);
    free(plan);
}

/* ---------------------------------------------------------------- transforms */

static void report(const struct fft_plan_3d *plan, int backward, double seconds) {
    const char *method = "none";
    (void)fftnd_plan_get_method(plan->plans[backward], &method);
    fftnd_lammps__report(
        plan->comm, "fft_3d: %lld x %lld x %lld, %s, sign %+d, method %s, planned in %.3f s",
        (long long)plan->sizes[2], (long long)plan->sizes[1], (long long)plan->sizes[0],
        plan->precision == FFTND_FLOAT ? "float" : "double", backward ? 1 : -1, method, seconds);
}

/* Makes the plan of a sign. */
static int provide(struct fft_plan_3d *plan, int backward) {
    double begin = MPI_Wtime();
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.scaling = plan->scaled ? FFTND_SCALE_BACKWARD : FFTND_SCALE_NONE;
    options.effort = fftnd_lammps__effort(plan->comm);
    options.skip_agreement = 1; /* a failure ends all ranks */
    for (int array = 0; array < 2; array++)
        options.box[array ^ backward] = &plan->boxes[array];
    options.memory_order[1 ^ backward] = plan->order;
    int code = fftnd_plan_create(plan->comm, AXES, plan->sizes, FFTND_C2C, plan->precision,
                                 &options, &plan->plans[backward]);
    if (code == REDIST_OK)
        report(plan, backward, MPI_Wtime() - begin);
    return code;
}

/* Copies an input that is the output, too. A plan of libfftnd in place would need larger arrays where sizes do not
 * divide, and all ranks would have to agree on it in each transform. */
static int copy_input(struct fft_plan_3d *plan, void **in) {
    size_t number = plan->precision == FFTND_FLOAT ? sizeof(float) : sizeof(double);
    size_t bytes = (size_t)fftnd_lammps__volume(&plan->boxes[0]) * 2 * number;
    int code = plan->copy == NULL ? redist_alloc_local(bytes, &plan->copy) : REDIST_OK;
    if (code == REDIST_OK && bytes > 0)
        memcpy(plan->copy, *in, bytes);
    *in = plan->copy;
    return code;
}

static int run(fftnd_plan *plan, int backward, void *in, void *out) {
    return backward ? fftnd_backward(plan, in, out) : fftnd_forward(plan, in, out);
}

/* Returns whether the sign is +1. */
static int is_backward(const struct fft_plan_3d *plan, const char *function, int flag) {
    if (flag != 1 && flag != -1)
        fftnd_lammps__refuse(plan->comm, function, "flag = %d has to be 1 or -1", flag);
    return flag < 0;
}

void fft_3d(void *in, void *out, int flag, struct fft_plan_3d *plan) {
    int backward = is_backward(plan, "fft_3d", flag);
    int code = plan->plans[backward] == NULL ? provide(plan, backward) : REDIST_OK;
    if (code == REDIST_OK && in == out)
        code = copy_input(plan, &in);
    if (code == REDIST_OK)
        code = run(plan->plans[backward], backward, in, out);
    fftnd_lammps__insist(plan->comm, "fft_3d", code);
}

/* ---------------------------------------------------------------- lines */

static int provide_lines(struct fft_plan_3d *plan, int axis, redist_index count) {
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.batch = (int)count;
    options.in_place = 1;
    options.effort = FFTND_ESTIMATE; /* the first call is timed, too */
    options.scaling = plan->scaled ? FFTND_SCALE_BACKWARD : FFTND_SCALE_NONE;
    return fftnd_plan_create(MPI_COMM_SELF, 1, &plan->sizes[axis], FFTND_C2C, plan->precision,
                             &options, &plan->lines[axis]);
}

static int transform_lines(struct fft_plan_3d *plan, int axis, int backward, void *data) {
    redist_index count = fftnd_lammps__volume(&plan->boxes[0]) / plan->sizes[axis];
    if (count == 0)
        return REDIST_OK;
    int code = plan->lines[axis] == NULL ? provide_lines(plan, axis, count) : REDIST_OK;
    return code == REDIST_OK ? run(plan->lines[axis], backward, data, data) : code;
}

void fft_1d_only(void *data, int nsize, int flag, struct fft_plan_3d *plan) {
    int backward = is_backward(plan, "fft_1d_only", flag);
    if (nsize < fftnd_lammps__volume(&plan->boxes[0]))
        return;
    for (int axis = AXES - 1; axis >= 0; axis--)
        fftnd_lammps__insist(plan->comm, "fft_1d_only",
                             transform_lines(plan, axis, backward, data));
}

void fft_3d_1d_only(void *data, int nsize, int flag, struct fft_plan_3d *plan) {
    fft_1d_only(data, nsize, flag, plan);
}
