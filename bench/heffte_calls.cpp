/* SPDX-License-Identifier: BSD-3-Clause */
#include "heffte_calls.h"
#include <heffte.h>

#include <complex>
#include <cstdio>
#include <exception>
#include <memory>

typedef std::complex<double> complex;

struct bench_heffte {
    virtual ~bench_heffte() {
    }
    virtual std::size_t workspace() const = 0;
    virtual void call(int direction, void *input, void *output, void *workspace) = 0;
};

namespace {

template <class Transform, class Point> struct transforms : bench_heffte {
    Transform fft;

    template <class... Arguments>
    explicit transforms(const Arguments &...arguments) : fft(arguments...) {
    }
    std::size_t workspace() const override {
        return sizeof(complex) * std::size_t(fft.size_workspace());
    }
    void call(int direction, void *input, void *output, void *workspace) override {
        if (direction == REDIST_FORWARD)
            fft.forward(static_cast<const Point *>(input), static_cast<complex *>(output),
                        static_cast<complex *>(workspace));
        else
            fft.backward(static_cast<const complex *>(input), static_cast<Point *>(output),
                         static_cast<complex *>(workspace));
    }
};

/* Dimension 0 is the last axis. */
heffte::box3d<> box_of(const redist_box &box) {
    std::array<int, 3> low, high;
    for (std::size_t i = 0; i < 3; i++) {
        low[i] = static_cast<int>(box.start[2 - i]);
        high[i] = static_cast<int>(box.start[2 - i] + box.count[2 - i] - 1);
    }
    return heffte::box3d<>(low, high);
}

template <class Backend>
bench_heffte *open(int is_real, fftnd_effort effort, const heffte::box3d<> &in,
                   const heffte::box3d<> &out) {
    heffte::plan_options options = heffte::default_options<Backend>();
    options.effort = effort;
    if (is_real)
        return new transforms<heffte::fft3d_r2c<Backend>, double>(in, out, 0, MPI_COMM_WORLD,
                                                                  options);
    return new transforms<heffte::fft3d<Backend>, complex>(in, out, MPI_COMM_WORLD, options);
}

template <class Function> auto must(Function function) -> decltype(function()) {
    try {
        return function();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "heffte-bench: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
        throw;
    }
}

} // namespace

bench_heffte *bench_heffte_open(int is_real, int on_device, fftnd_effort effort,
                                const redist_box *physical, const redist_box *spectral) {
    return must([&] {
        return (on_device ? open<heffte::backend::cufft>
                          : open<heffte::backend::fftw>)(is_real, effort, box_of(*physical),
                                                         box_of(*spectral));
    });
}

std::size_t bench_heffte_workspace(const bench_heffte *transform) {
    return transform->workspace();
}

void bench_heffte_call(bench_heffte *transform, int direction, void *input, void *output,
                       void *workspace) {
    must([&] { transform->call(direction, input, output, workspace); });
}

void bench_heffte_close(bench_heffte *transform) {
    delete transform;
}
