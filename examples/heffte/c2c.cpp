/* SPDX-License-Identifier: BSD-3-Clause */
/* The transform of a wave has one mode: complex numbers, from bricks to bricks, there and back. */
#include "example.h"

namespace {

const std::array<int, 3> mode = {{3, 17, 2}};

std::complex<double> wave(const std::array<int, 3> &at) {
    double phase = 0;
    for (std::size_t i = 0; i < 3; i++)
        phase += example::tau * mode[i] * at[i] / example::points[i];
    return std::polar(1.0, phase);
}

double transform() {
    const heffte::box3d<> box = example::brick(example::world());
    heffte::fft3d<example::backend> fft(box, box, MPI_COMM_WORLD);
    std::vector<std::complex<double>> points(fft.size_inbox()), modes(fft.size_outbox()),
        workspace(fft.size_workspace());
    double error = 0;
    example::for_each(box,
                      [&](const std::array<int, 3> &at, std::size_t i) { points[i] = wave(at); });
    fft.forward(points.data(), modes.data(), workspace.data(), heffte::scale::full);
    example::for_each(box, [&](const std::array<int, 3> &at, std::size_t i) {
        error = std::max(error, std::abs(modes[i] - (at == mode ? 1.0 : 0.0)));
    });
    fft.backward(modes.data(), points.data(), workspace.data());
    example::for_each(box, [&](const std::array<int, 3> &at, std::size_t i) {
        error = std::max(error, std::abs(points[i] - wave(at)));
    });
    return error;
}

} // namespace

int main(int argc, char **argv) {
    return example::run(argc, argv, "c2c", transform);
}
