/* SPDX-License-Identifier: BSD-3-Clause */
/* A field is convolved with a kernel of two points: both are transformed in one call, to pencils in another order. */
#include "example.h"

namespace {

double field(int i, int j, int k) {
    const std::array<int, 3> &n = example::points;
    return (i + n[0]) % n[0] * 0.1 + (j + n[1]) % n[1] * ((k + n[2]) % n[2]) * 0.003;
}

double kernel(int i, int j, int k) {
    return i == 1 && j == 0 && k == 0 ? 0.75 : i == 0 && j == 2 && k == 3 ? 0.25 : 0;
}

double convolve() {
    typedef std::complex<double> complex;
    const int ranks = heffte::mpi::comm_size(MPI_COMM_WORLD),
              rank = heffte::mpi::comm_rank(MPI_COMM_WORLD);
    const heffte::box3d<> world = example::world(), inbox = example::brick(world);
    const std::array<int, 2> grid = heffte::make_procgrid(ranks);
    const heffte::box3d<> whole =
        heffte::split_world(world, {{grid[0], grid[1], 1}})[std::size_t(rank)];
    const heffte::box3d<> outbox(whole.low, whole.high, {{2, 0, 1}});
    heffte::fft3d<example::backend> fft(inbox, outbox, MPI_COMM_WORLD);
    std::vector<complex> points(2 * std::size_t(fft.size_inbox())),
        modes(2 * std::size_t(fft.size_outbox())), workspace(2 * std::size_t(fft.size_workspace()));
    double error = 0;
    example::for_each(inbox, [&](const std::array<int, 3> &at, std::size_t i) {
        points[i] = field(at[0], at[1], at[2]);
        points[std::size_t(fft.size_inbox()) + i] = kernel(at[0], at[1], at[2]);
    });
    fft.forward(2, points.data(), modes.data(), workspace.data());
    for (std::size_t i = 0; i < std::size_t(fft.size_outbox()); i++)
        modes[i] *= modes[std::size_t(fft.size_outbox()) + i];
    fft.backward(modes.data(), points.data(), workspace.data(), heffte::scale::full);
    example::for_each(inbox, [&](const std::array<int, 3> &at, std::size_t i) {
        const double expected =
            0.75 * field(at[0] - 1, at[1], at[2]) + 0.25 * field(at[0], at[1] - 2, at[2] - 3);
        error = std::max(error, std::abs(points[i] - expected));
    });
    return error;
}

} // namespace

int main(int argc, char **argv) {
    return example::run(argc, argv, "convolution", convolve);
}
