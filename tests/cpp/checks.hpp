/* SPDX-License-Identifier: BSD-3-Clause */
/* What the C++ tests share: conditions that are counted, codes of exceptions, random numbers that all ranks have. */
#ifndef CHECKS_HPP
#define CHECKS_HPP

#include <fftnd.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

namespace checks {

inline int rank, nranks, conditions, failures;

inline void expect(bool condition, const char *what) {
    conditions++;
    if (condition)
        return;
    failures++;
    std::fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
}

template <class Function> int code_of(Function function) {
    try {
        function();
    } catch (const redist::error &error) {
        expect(std::strlen(error.what()) > 0, "an error has a message");
        return error.code();
    }
    return REDIST_OK;
}

inline std::mt19937 generator; /* the same numbers on all ranks */

inline void start_random() {
    const char *given = std::getenv("REDIST_TEST_SEED");
    unsigned seed =
        given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device()();
    MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("REDIST_TEST_SEED=%u\n", seed);
    generator.seed(seed);
}

inline int random_between(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(generator);
}

inline void start(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    start_random();
}

/* Ends MPI; returns the exit status of the program. */
inline int finish() {
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%d conditions on rank 0, %d failed on all ranks\n", conditions, failures);
    MPI_Finalize();
    return failures == 0 && conditions > 0 ? 0 : 1;
}

} // namespace checks

#endif
