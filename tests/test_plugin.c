/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that does not know the libraries closes plugins that use them, which are named by its arguments. In
 * MPI_Finalize and after it nobody may call what is gone. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int use(const char *file, int nranks) {
    void *plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    int (*run)(int) = NULL;
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&run = dlsym(plugin, "run_plugin");
    int code = run != NULL ? run(nranks) : 1;
    dlclose(plugin);
    return code;
}

int main(int argc, char **argv) {
    int rank, nranks, failed = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    for (int i = 1; i < argc; i++)
        failed += use(argv[i], nranks) != 0;
    MPI_Finalize();
    if (rank == 0)
        printf("on %d ranks: %d passed, %d failed, 0 skipped\n", nranks, argc - 1 - failed, failed);
    return failed != 0;
}
