/* SPDX-License-Identifier: BSD-3-Clause */
/* A unit of test_heffte.cpp that is compiled with CUDA's header, which the other one has not. */
#define Heffte_ENABLE_CUDA
#include <heffte.h>

using fft = heffte::fft3d<heffte::backend::cufft>;

bool unit_is_enabled();
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
