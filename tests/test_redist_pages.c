/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that peers map on systems with pages of 16 and 64 KiB, as far as the library sees them. */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "exchanges.h"
#include "harness.h"

static long page; /* 0 = the system's */

/* In the place of the C library's. */
long sysconf(int name) {
    static long (*real)(int);
    if (real == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "sysconf");
        memcpy(&real, &symbol, sizeof(real));
    }
    return name == _SC_PAGESIZE && page != 0 ? page : real(name);
}

START_TEST(arrays_begin_on_pages) {
    const long pages[] = {0, 16384, 65536};
    for (int i = 0; i < 3; i++) {
        void *arrays[8];
        for (int n = 0; n < 8; n++) {
            page = pages[i];
            int code = redist_alloc(MPI_COMM_WORLD, (size_t)(n * 3000 + harness_rank), &arrays[n]);
            long size = sysconf(_SC_PAGESIZE);
            page = 0;
            check_ok(code);
            check_all((uintptr_t)arrays[n] % (uintptr_t)size == 0, "%p with pages of %ld bytes",
                      arrays[n], size);
            memset(arrays[n], n, (size_t)(n * 3000 + harness_rank));
        }
        for (int n = 0; n < 8; n++) {
            check_ok(redist_free(&arrays[n]));
        }
    }
}
END_TEST

/* Each rank finds the others' parts where these have them. */
START_TEST(peers_map_them) {
    const redist_index sizes[] = {9, 10, 11};
    const exchange_way way = {"direct", {MEMORY_SHARED, MEMORY_SHARED}, USE_EXECUTE};
    test_element element = element_create(2);
    exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 0, 2);
    for (long size = 4096; size <= 65536; size *= 4) {
        page = size;
        exchange_try(&given, 1, &way);
        page = 0;
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {arrays_begin_on_pages, peers_map_them, NULL};
    return harness_run(argc, argv, "test_redist_pages", tests);
}
