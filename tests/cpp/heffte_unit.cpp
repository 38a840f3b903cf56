/* SPDX-License-Identifier: BSD-3-Clause */
/* A unit of test_heffte.cpp that is compiled with CUDA's header, which the other one has not. */
#define Heffte_ENABLE_CUDA
#include <heffte.h>

using fft = heffte::fft3d<heffte::backend::cufft>;

bool unit_is_enabled();
bool unit_copies(int device);
void unit_forward(const fft &plan, const double *in, std::complex<double> *out);

static_assert(heffte::is_ccomplex<float2>::value && !heffte::is_zcomplex<float2>::value &&
                  heffte::is_zcomplex<double2>::value,
              "CUDA's complex numbers");

bool unit_is_enabled() {
    return heffte::backend::is_enabled<heffte::backend::cufft>::value;
}

void unit_forward(const fft &plan, const double *in, std::complex<double> *out) {
    plan.forward(in, reinterpret_cast<double2 *>(out));
}

/* Whether an array is the same after a device has had it. */
bool unit_copies(int device) {
    if (heffte::gpu::device_count() <= device)
        return false;
    heffte::gpu::device_set(device);
    const std::vector<float> points{1, 2, 3, 4, 5};
    const heffte::gpu::vector<float> there = heffte::gpu::transfer().load(points);
    heffte::gpu::synchronize_default_stream();
    CUstream_st *const stream = nullptr;
    return heffte::gpu::transfer::unload(there) == points &&
           heffte::gpu::transfer::unload(there.data() + 3, 2) == std::vector<float>{4, 5} &&
           heffte::make_buffer_container<float>(stream, 7).size() == 7;
}
