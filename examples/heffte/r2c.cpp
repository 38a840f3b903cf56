/* SPDX-License-Identifier: BSD-3-Clause */
/* A gradient of a periodic field as in particle-mesh programs: real bricks, dimension 0 halved, one workspace. */
#include "example.h"

namespace {

const std::array<int, 3> mode = {{4, 3, 5}};

double phase(const std::array<int, 3> &at) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; i++)
        sum += example::tau * mode[i] * at[i] / example::points[i];
    return sum;
}

/* Wavenumber of a mode along a dimension, the second half being the negative ones. */
int wavenumber(const std::array<int, 3> &at, std::size_t dimension) {
    const int n = example::points[dimension], k = at[dimension];
    return k < (n + 1) / 2 ? k : 2 * k == n ? 0 : k - n;
}

double differentiate() {
    const heffte::box3d<> world = example::world();
    const heffte::box3d<> inbox = example::brick(world), outbox = example::brick(world.r2c(0));
    heffte::fft3d_r2c<example::backend> fft(inbox, outbox, 0, MPI_COMM_WORLD);
    std::vector<double> field(fft.size_inbox());
    std::vector<std::complex<double>> modes(fft.size_outbox()), slope(fft.size_outbox()),
        workspace(fft.size_workspace());
    double error = 0;
    example::for_each(inbox, [&](const std::array<int, 3> &at, std::size_t i) {
        field[i] = std::cos(phase(at));
    });
    fft.forward(field.data(), modes.data(), workspace.data(), heffte::scale::full);
    for (std::size_t dimension = 0; dimension < 3; dimension++) {
        example::for_each(outbox, [&](const std::array<int, 3> &at, std::size_t i) {
            slope[i] = modes[i] * std::complex<double>(0, wavenumber(at, dimension));
        });
        fft.backward(slope.data(), field.data(), workspace.data());
        example::for_each(inbox, [&](const std::array<int, 3> &at, std::size_t i) {
            error = std::max(error, std::abs(field[i] + mode[dimension] * std::sin(phase(at))));
        });
    }
    return error;
}

} // namespace

int main(int argc, char **argv) {
    return example::run(argc, argv, "r2c", differentiate);
}
