/* SPDX-License-Identifier: BSD-3-Clause */
/* A program for PETSc's FFTW matrices alone: multiplies by the transform, scatters, and inverts it. */
#include <petscmat.h>

int main(int argc, char **argv) {
    const PetscInt n[2] = {20, 18}, all = 20 * 18;
    Mat transform;
    Vec x, y, z, input, output;
    PetscReal sums[3];
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(MatCreateFFT(PETSC_COMM_WORLD, 2, n, MATFFTW, &transform));
    PetscCall(MatCreateVecsFFTW(transform, &x, &y, &z));
    PetscCall(VecCreate(PETSC_COMM_WORLD, &input));
    PetscCall(VecSetSizes(input, PETSC_DECIDE, all));
    PetscCall(VecSetFromOptions(input));
    PetscCall(VecDuplicate(input, &output));
    PetscInt begin, end;
    PetscCall(VecGetOwnershipRange(input, &begin, &end));
    for (PetscInt i = begin; i < end; i++)
        PetscCall(VecSetValue(input, i, PetscSinReal(0.3 * (PetscReal)i), INSERT_VALUES));
    PetscCall(VecAssemblyBegin(input));
    PetscCall(VecAssemblyEnd(input));
    for (int i = 0; i < 2; i++) { /* the second time with plans that are there */
        PetscCall(VecScatterPetscToFFTW(transform, input, x));
        PetscCall(MatMult(transform, x, y));
        PetscCall(VecNorm(y, NORM_2, &sums[0]));
        PetscCall(MatMultTranspose(transform, y, z));
        PetscCall(VecScatterFFTWToPetsc(transform, z, output));
        PetscCall(VecScale(output, 1.0 / (PetscReal)all));
        PetscCall(VecNorm(output, NORM_2, &sums[1]));
        PetscCall(VecAXPY(output, -1.0, input));
        PetscCall(VecNorm(output, NORM_INFINITY, &sums[2]));
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.8e %.8e %d\n", (double)sums[0], (double)sums[1],
                              sums[2] < 1e-12));
    }
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&input));
    PetscCall(VecDestroy(&output));
    PetscCall(MatDestroy(&transform));
    PetscCall(PetscFinalize());
    return 0;
}
