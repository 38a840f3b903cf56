/* SPDX-License-Identifier: BSD-3-Clause */
/** Backends of heffte.h: tags, their memory and streams, and the types of elements. */
#ifndef HEFFTE_BACKENDS_H
#define HEFFTE_BACKENDS_H

#include <fftnd.h>

#ifdef Heffte_ENABLE_CUDA
#include <cuda_runtime_api.h>
#endif

#include <complex>
#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

struct CUstream_st; /* what a cudaStream_t points to: CUDA's headers are not needed here */

namespace heffte {

namespace tag {
struct cpu {};
struct gpu {};
} // namespace tag

namespace backend {

/* Libraries by which a program chooses where arrays are; fftnd chooses the serial transforms. */
struct stock {};
struct fftw {};
struct mkl {};
struct cufft {};
struct rocfft {};
struct onemkl {};

/* Real-to-real transforms. */
struct stock_cos {};
struct stock_sin {};
struct stock_cos1 {};
struct fftw_cos {};
struct fftw_sin {};
struct fftw_cos1 {};
struct fftw_sin1 {};
struct mkl_cos {};
struct mkl_sin {};
struct cufft_cos {};
struct cufft_sin {};
struct cufft_cos1 {};
struct rocfft_cos {};
struct rocfft_sin {};
struct rocfft_cos1 {};
struct onemkl_cos {};
struct onemkl_sin {};

} // namespace backend

namespace gpu {

/** An array on the current device of this rank, with undefined contents, not copied with the object. */
template <class T> class vector {
  public:
    using value_type = T;
    vector() noexcept = default;
    explicit vector(std::size_t size) : size_(size) {
        void *memory = nullptr;
        if (redist_alloc_in(MPI_COMM_SELF, REDIST_SPACE_CUDA, size * sizeof(T), &memory) !=
            REDIST_OK)
            throw std::runtime_error(redist_error_message());
        data_ = static_cast<T *>(memory);
    }
    vector(vector &&other) noexcept : data_(other.data_), size_(other.size_) {
        other.data_ = nullptr;
        other.size_ = 0;
    }
    vector &operator=(vector &&other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    vector(const vector &) = delete;
    vector &operator=(const vector &) = delete;
    ~vector() {
        void *memory = data_;
        (void)redist_free(&memory);
    }
    T *data() noexcept {
        return data_;
    }
    const T *data() const noexcept {
        return data_;
    }
    std::size_t size() const noexcept {
        return size_;
    }
    bool empty() const noexcept {
        return size_ == 0;
    }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace gpu

namespace detail {

/* Properties of a tag. */
template <class Location, bool Served> struct fourier {
    using location = Location;
    static constexpr bool is_served = Served, is_real = false;
    static constexpr fftnd_r2r type = FFTND_DCT2; /* unused */
};
template <class Location, fftnd_r2r Type, bool Served = true> struct real_to_real {
    using location = Location;
    static constexpr bool is_served = Served, is_real = true;
    static constexpr fftnd_r2r type = Type;
};

template <class Tag> struct traits;
template <> struct traits<backend::stock> : fourier<tag::cpu, true> {};
template <> struct traits<backend::fftw> : fourier<tag::cpu, true> {};
template <> struct traits<backend::mkl> : fourier<tag::cpu, true> {};
template <> struct traits<backend::cufft> : fourier<tag::gpu, true> {};
template <> struct traits<backend::rocfft> : fourier<tag::gpu, false> {};
template <> struct traits<backend::onemkl> : fourier<tag::gpu, false> {};
template <> struct traits<backend::stock_cos> : real_to_real<tag::cpu, FFTND_DCT2> {};
template <> struct traits<backend::stock_sin> : real_to_real<tag::cpu, FFTND_DST2> {};
template <> struct traits<backend::stock_cos1> : real_to_real<tag::cpu, FFTND_DCT1> {};
template <> struct traits<backend::fftw_cos> : real_to_real<tag::cpu, FFTND_DCT2> {};
template <> struct traits<backend::fftw_sin> : real_to_real<tag::cpu, FFTND_DST2> {};
template <> struct traits<backend::fftw_cos1> : real_to_real<tag::cpu, FFTND_DCT1> {};
template <> struct traits<backend::fftw_sin1> : real_to_real<tag::cpu, FFTND_DST1> {};
template <> struct traits<backend::mkl_cos> : real_to_real<tag::cpu, FFTND_DCT2> {};
template <> struct traits<backend::mkl_sin> : real_to_real<tag::cpu, FFTND_DST2> {};
template <> struct traits<backend::cufft_cos> : real_to_real<tag::gpu, FFTND_DCT2> {};
template <> struct traits<backend::cufft_sin> : real_to_real<tag::gpu, FFTND_DST2> {};
template <> struct traits<backend::cufft_cos1> : real_to_real<tag::gpu, FFTND_DCT1> {};
template <> struct traits<backend::rocfft_cos> : real_to_real<tag::gpu, FFTND_DCT2, false> {};
template <> struct traits<backend::rocfft_sin> : real_to_real<tag::gpu, FFTND_DST2, false> {};
template <> struct traits<backend::rocfft_cos1> : real_to_real<tag::gpu, FFTND_DCT1, false> {};
template <> struct traits<backend::onemkl_cos> : real_to_real<tag::gpu, FFTND_DCT2, false> {};
template <> struct traits<backend::onemkl_sin> : real_to_real<tag::gpu, FFTND_DST2, false> {};

template <class Location> struct memory;
template <> struct memory<tag::cpu> {
    template <class T> using container = std::vector<T>;
    using stream = void *;
    static constexpr redist_space space = REDIST_SPACE_HOST;
};
template <> struct memory<tag::gpu> {
    template <class T> using container = gpu::vector<T>;
    using stream = CUstream_st *;
    static constexpr redist_space space = REDIST_SPACE_CUDA;
};

} // namespace detail

namespace backend {

/* All that depends on CUDA's header. Units of a program with and without it have the same types and functions else. */
#ifdef CUDART_VERSION
inline namespace with_devices {
constexpr bool has_devices = true;
#else
inline namespace without_devices {
constexpr bool has_devices = false;
#endif
/** Whether programs can use a backend: those of devices where CUDA's header came first, or with Heffte_ENABLE_CUDA. */
template <class Tag>
struct is_enabled
    : std::integral_constant<
          bool, detail::traits<Tag>::is_served &&
                    (has_devices ||
                     std::is_same<typename detail::traits<Tag>::location, tag::cpu>::value)> {};
} // namespace

template <class Tag> struct buffer_traits {
    using location = typename detail::traits<Tag>::location;
    template <class T> using container = typename detail::memory<location>::template container<T>;
};

template <class Location> struct default_backend { using type = fftw; };
template <> struct default_backend<tag::gpu> { using type = cufft; };

/** The device of a plan: its stream, in which transforms begin after all earlier work. */
template <class Location> struct device_instance {
    using stream_type = typename detail::memory<Location>::stream;
    device_instance(stream_type stream = nullptr) noexcept : stream_(stream) {
    }
    stream_type stream() const noexcept {
        return stream_;
    }

  private:
    stream_type stream_;
};

namespace names {
inline const char *of(stock) {
    return "stock";
}
inline const char *of(fftw) {
    return "fftw";
}
inline const char *of(mkl) {
    return "mkl";
}
inline const char *of(cufft) {
    return "cufft";
}
inline const char *of(rocfft) {
    return "rocfft";
}
inline const char *of(onemkl) {
    return "onemkl";
}
inline const char *of(stock_cos) {
    return "stock-cos-type-II";
}
inline const char *of(stock_sin) {
    return "stock-sin-type-II";
}
inline const char *of(stock_cos1) {
    return "stock-cos-type-I";
}
inline const char *of(fftw_cos) {
    return "fftw-cos-type-II";
}
inline const char *of(fftw_sin) {
    return "fftw-sin-type-II";
}
inline const char *of(fftw_cos1) {
    return "fftw-cos-type-I";
}
inline const char *of(fftw_sin1) {
    return "fftw-sin-type-I";
}
inline const char *of(mkl_cos) {
    return "mkl-cos-type-II";
}
inline const char *of(mkl_sin) {
    return "mkl-sin-type-II";
}
inline const char *of(cufft_cos) {
    return "cufft-cos-type-II";
}
inline const char *of(cufft_sin) {
    return "cufft-sin-type-II";
}
inline const char *of(cufft_cos1) {
    return "cufft-cos-type-I";
}
inline const char *of(rocfft_cos) {
    return "rocfft-cos-type-II";
}
inline const char *of(rocfft_sin) {
    return "rocfft-sin-type-II";
}
inline const char *of(rocfft_cos1) {
    return "rocfft-cos-type-I";
}
inline const char *of(onemkl_cos) {
    return "onemkl-cos-type-II";
}
inline const char *of(onemkl_sin) {
    return "onemkl-sin-type-II";
}
} // namespace names

template <class Tag> std::string name() {
    return names::of(Tag());
}

} // namespace backend

/** A container of elements on the host, or on the current device. */
template <class T> std::vector<T> make_buffer_container(void *, std::size_t size) {
    return std::vector<T>(size);
}
template <class T> gpu::vector<T> make_buffer_container(CUstream_st *, std::size_t size) {
    return gpu::vector<T>(size);
}

namespace detail {

/* Whether a type is of two numbers x and y, as cufftComplex (float) and cufftDoubleComplex (double). */
template <class T, class R, class = R, class = R> struct is_pair : std::false_type {};
template <class T, class R>
struct is_pair<T, R, decltype(T::x), decltype(T::y)>
    : std::integral_constant<bool, sizeof(T) == 2 * sizeof(R)> {};

} // namespace detail

/** Whether a type is a complex number of float, or of double. Programs may add their own types. */
template <class T> struct is_ccomplex : detail::is_pair<T, float> {};
template <class T> struct is_zcomplex : detail::is_pair<T, double> {};
template <> struct is_ccomplex<std::complex<float>> : std::true_type {};
template <> struct is_zcomplex<std::complex<double>> : std::true_type {};
template <> struct is_ccomplex<float[2]> : std::true_type {};  /* fftwf_complex */
template <> struct is_zcomplex<double[2]> : std::true_type {}; /* fftw_complex */

namespace detail {

/* An element of a call. */
template <class T> struct element {
    static constexpr bool is_complex = is_ccomplex<T>::value || is_zcomplex<T>::value;
    static constexpr bool is_float = is_ccomplex<T>::value || std::is_same<T, float>::value;
    static_assert(is_complex || is_float || std::is_same<T, double>::value,
                  "elements are float, double or complex numbers of these");
    using real = typename std::conditional<is_float, float, double>::type;
    static constexpr fftnd_precision precision = is_float ? FFTND_FLOAT : FFTND_DOUBLE;
};

} // namespace detail

/** The type of the results of forward transforms. */
template <class T> struct fft_output {
    using type = typename std::conditional<detail::element<T>::is_complex, T,
                                           std::complex<typename detail::element<T>::real>>::type;
};
template <class T, class Tag> struct transform_output {
    using type = typename std::conditional<detail::traits<Tag>::is_real, T,
                                           typename fft_output<T>::type>::type;
};

} // namespace heffte

#endif
