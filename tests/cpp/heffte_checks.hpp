/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of heffte.h share: conditions that are counted, random numbers and boxes alike on all ranks. C++11. */
#ifndef HEFFTE_CHECKS_HPP
#define HEFFTE_CHECKS_HPP

#include <heffte.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>

namespace checks {

struct state {
    int rank = 0, nranks = 0, conditions = 0, failures = 0;
    std::mt19937 generator; /* the same numbers on all ranks */
};
inline state &self() {
    static state one;
    return one;
}

inline bool expect(bool condition, const std::string &what) {
    self().conditions++;
    if (condition)
        return true;
    if (self().failures++ < 20)
        std::fprintf(stderr, "rank %d: wrong: %s\n", self().rank, what.c_str());
    return false;
}

/* Expects an exception on all ranks, with a message that contains a text. */
template <class Error>
void expect_throw(const std::function<void()> &call, const std::string &text) {
    bool is_thrown = false;
    try {
        call();
    } catch (const Error &error) {
        is_thrown = true;
        expect(std::string(error.what()).find(text) != std::string::npos,
               "message \"" + std::string(error.what()) + "\" without \"" + text + "\"");
    }
    expect(is_thrown, "no exception with \"" + text + "\"");
}

inline int random_between(int low, int high) {
    return low + static_cast<int>(self().generator() % static_cast<unsigned>(high - low + 1));
}
inline bool random_one_of(int n) {
    return random_between(1, n) == 1;
}

template <class T> void shuffle(T &list) {
    for (std::size_t i = list.size(); i > 1; i--)
        std::swap(list[i - 1],
                  list[static_cast<std::size_t>(random_between(0, static_cast<int>(i) - 1))]);
}

inline std::array<int, 3> random_order() {
    std::array<int, 3> order{{0, 1, 2}};
    if (!random_one_of(3))
        shuffle(order);
    return order;
}

/* Cuts 0..n-1 at random places into parts, some of which may be empty. */
inline std::vector<int> random_cuts(int n, int parts) {
    std::vector<int> cuts{0, n};
    for (int i = 1; i < parts; i++)
        cuts.push_back(random_one_of(2) ? n * i / parts : random_between(0, n));
    std::sort(cuts.begin(), cuts.end());
    return cuts;
}

/* Splits a world among some of the ranks, in any order. */
template <class index>
std::vector<heffte::box3d<index>> random_boxes(const heffte::box3d<index> &world,
                                               std::array<int, 3> order) {
    const int nranks = self().nranks, used = random_one_of(4) ? random_between(1, nranks) : nranks;
    std::array<int, 3> grid{{1, 1, 1}};
    for (int left = used, f = 2; left > 1; f++)
        for (; left % f == 0; left /= f)
            grid[static_cast<std::size_t>(random_between(0, 2))] *= f;
    std::vector<int> cuts[3];
    for (std::size_t d = 0; d < 3; d++)
        cuts[d] = random_cuts(static_cast<int>(world.size[d]), grid[d]);
    std::vector<heffte::box3d<index>> boxes;
    for (std::size_t n = 0; n < static_cast<std::size_t>(nranks); n++) {
        std::array<index, 3> low{{0, 0, 0}}, high{{-1, -1, -1}};
        std::size_t rest = n;
        for (std::size_t d = 0; d < 3 && n < static_cast<std::size_t>(used); d++) {
            const std::size_t at = rest % static_cast<std::size_t>(grid[d]);
            rest /= static_cast<std::size_t>(grid[d]);
            low[d] = cuts[d][at];
            high[d] = static_cast<index>(cuts[d][at + 1] - 1);
        }
        boxes.push_back(heffte::box3d<index>(low, high, order));
    }
    shuffle(boxes);
    return boxes;
}

template <class index> heffte::box3d<index> world_of(std::array<int, 3> size) {
    return heffte::box3d<index>({{0, 0, 0}}, {{size[0] - 1, size[1] - 1, size[2] - 1}});
}

/* Calls function(place in the world, dimension 0 fastest; place in the local array of `room`, in the box's order) for a
 * box's elements. */
template <class index, class Function>
void for_each(const heffte::box3d<index> &box, const heffte::box3d<index> &room,
              std::array<int, 3> world, Function function) {
    if (box.empty())
        return;
    std::array<std::size_t, 3> stride;
    std::size_t step = 1;
    for (std::size_t place = 0; place < 3; place++) {
        const std::size_t d = static_cast<std::size_t>(box.order[place]);
        stride[d] = step;
        step *= static_cast<std::size_t>(room.size[d]);
    }
    for (index k = box.low[2]; k <= box.high[2]; k++)
        for (index j = box.low[1]; j <= box.high[1]; j++)
            for (index i = box.low[0]; i <= box.high[0]; i++)
                function(static_cast<std::size_t>(i + world[0] * (j + world[1] * k)),
                         static_cast<std::size_t>(i - room.low[0]) * stride[0] +
                             static_cast<std::size_t>(j - room.low[1]) * stride[1] +
                             static_cast<std::size_t>(k - room.low[2]) * stride[2]);
}

inline void start(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &self().rank);
    MPI_Comm_size(MPI_COMM_WORLD, &self().nranks);
    const char *given = std::getenv("REDIST_TEST_SEED");
    unsigned seed = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                                     : std::random_device()();
    MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    if (self().rank == 0)
        std::printf("REDIST_TEST_SEED=%u\n", seed);
    self().generator.seed(seed);
}

/* Ends MPI; returns the exit status of the program. */
inline int finish() {
    MPI_Allreduce(MPI_IN_PLACE, &self().failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (self().rank == 0)
        std::printf("conditions on %d ranks: %d passed, %d failed, 0 skipped\n", self().nranks,
                    self().conditions, self().failures);
    MPI_Finalize();
    return self().failures == 0 && self().conditions > 0 ? 0 : 1;
}

/* Whether to run on this number of ranks: with the argument "drawn" and REDIST_TEST_SHARE (0 to 1) that fraction of the
 * programs runs. Collective. */
inline bool is_drawn(int argc, char **argv) {
    const char *share = std::getenv("REDIST_TEST_SHARE");
    int drawn = argc < 2 || std::strcmp(argv[1], "drawn") != 0 || share == nullptr ||
                random_between(0, 99) < 100 * std::atof(share);
    MPI_Bcast(&drawn, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return drawn;
}

/* Ends a program that does not run here. */
inline int skip(const char *reason) {
    if (self().rank == 0)
        std::printf("0 passed, 0 failed, 1 skipped (%s)\n", reason);
    MPI_Finalize();
    return 0;
}

/* Repeats cases for REDIST_TEST_SECONDS. Collective. */
inline void repeat(double seconds, const std::function<void(int)> &run_case) {
    const char *given = std::getenv("REDIST_TEST_SECONDS");
    if (given != nullptr)
        seconds = std::atof(given);
    const double start = MPI_Wtime();
    const int least = self().nranks > 6 ? 1 : 2; /* and one more */
    int goes_on = 1, n = 0;
    for (; goes_on; n++) {
        run_case(n);
        goes_on = self().failures == 0 && (n < least || MPI_Wtime() - start < seconds);
        MPI_Allreduce(MPI_IN_PLACE, &goes_on, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    }
    if (self().rank == 0)
        std::printf("%d random cases\n", n);
}

} // namespace checks

#endif
