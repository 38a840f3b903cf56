/* SPDX-License-Identifier: BSD-3-Clause */
/* A method that is registered beside those of the library (naive_method.c), and the library's own that pack on streams,
 * on a device that stands in for CUDA. */
#include <stdlib.h>
#include <string.h>

#include "../libredist/methods/method.h"
#include "exchanges.h"
#include "harness.h"
#include "stream_device.h"

extern const struct redist__method redist__method_direct;

static void try_random(MPI_Comm comm, const char *method) {
    redist_index sizes[4];
    int axis = random_between(0, 3);
    test_element element = element_create(random_between(0, copyable_element_count() - 1));
    random_sizes(4, 0, 14, 1500, sizes);
    exchange given =
        exchange_between_axes(comm, &element, 4, sizes, axis, (axis + random_between(1, 3)) % 4);
    exchange_way way = random_way(method);
    exchange_try(&given, 1, &way);
    element_free(&element);
}

START_TEST(registered) {
    arrays_use(NULL);
    check_all(redist_method_exists("naive"), "the method is not registered");
    for (int i = 0; harness_another(i, 8); i++)
        try_random(MPI_COMM_WORLD, "naive");
}
END_TEST

START_TEST(on_streams) {
    static const char *const methods[] = {"p2p-streams", "kway:2", "p2p", "kway:3", "alltoallv"};
    NEEDS_STREAM_DEVICE();
    for (int i = 0; harness_another(i, 10); i++)
        try_random(MPI_COMM_WORLD, methods[i % 5]);
}
END_TEST

/* Nodes of one to three ranks, the last of which may have fewer. */
START_TEST(both_links) {
    static const char *const methods[] = {"hier:nccl", "auto", "hier:nccl", "hier", "nccl"};
    static const char *const sizes[] = {"1", "2", "3"};
    NEEDS_STREAM_DEVICE();
    for (int i = 0; harness_another(i, 10); i++) {
        MPI_Comm comm;
        setenv("REDIST_NODE_SIZE", sizes[random_between(0, 2)], 1);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        try_random(comm, methods[i % 5]);
        unsetenv("REDIST_NODE_SIZE");
        MPI_Comm_free(&comm);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {on_streams, both_links, registered, NULL};
    return harness_run(argc, argv, "test_redist_method", tests);
}
