/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that narrow boxes while they pack them and widen them while they unpack, to and from the bytes of
 * copy/format.c. A warp has a row of the format, and each of its threads four numbers. */
#include "cuda_copy.cuh"
#include "redist_early_launch.cuh"

namespace {

const int lanes = 32, each = REDIST__FORMAT_ROW / lanes, warps = threads / lanes;

/* ---------------------------------------------------------------- formats */

/* A format has the numbers of arrays and those of messages, the bytes before a row, and what all numbers of a row are
 * multiplied by: 0 for a row of zeros. */

struct doubles_as_floats {
    using number = double;
    using narrow = float;
    static const int head = 0;
    static __device__ double begin(const double *, char *, int) {
        return 1;
    }
    static __device__ float narrowed(double number, double) {
        return static_cast<float>(number);
    }
    static __device__ double quantum_of(const char *, int) {
        return 1;
    }
    static __device__ double widened(float narrow, double) {
        return static_cast<double>(narrow);
    }
};

__device__ inline int exponent_of(double number) {
    return __double2hiint(number) >> 20 & REDIST__NOT_FINITE;
}

__device__ inline double power_of_two(int exponent) {
    return __hiloint2double((exponent + REDIST__BIAS) << 20, 0);
}

template <class type> struct sixteen_bits {
    using number = type;
    using narrow = int16_t;
    static const int head = sizeof(int16_t);

    /* Finds the exponent of a row, and stores it. */
    static __device__ double begin(const type *held, char *row, int aligned) {
        int exponent = 0;
        for (int i = 0; i < each; i++)
            exponent = max(exponent, exponent_of(static_cast<double>(held[i])));
        for (int other = lanes / 2; other > 0; other /= 2)
            exponent = max(exponent, __shfl_xor_sync(~0u, exponent, other));
        exponent = exponent >= REDIST__LEAST_EXPONENT ? exponent : 0;
        if (threadIdx.x % lanes == 0)
            store(static_cast<int16_t>(exponent), row, aligned);
        return exponent == 0 || exponent == REDIST__NOT_FINITE
                   ? 0
                   : power_of_two(REDIST__INTEGER_BITS - 1 - (exponent - REDIST__BIAS));
    }

    static __device__ int16_t narrowed(type number, double scale) {
        double scaled = static_cast<double>(number) * scale;
        scaled = scaled < REDIST__LARGEST ? scaled : REDIST__LARGEST;
        scaled = scaled > -REDIST__LARGEST ? scaled : -REDIST__LARGEST;
        return static_cast<int16_t>(scale == 0 ? 0 : __double2int_rn(scaled));
    }

    static __device__ double quantum_of(const char *row, int aligned) {
        int exponent = load<int16_t>(row, aligned);
        return exponent == 0 ? 0
               : exponent == REDIST__NOT_FINITE
                   ? __longlong_as_double(0x7ff8000000000000)
                   : power_of_two(exponent - REDIST__BIAS - (REDIST__INTEGER_BITS - 1));
    }

    static __device__ type widened(int16_t narrow, double quantum) {
        return static_cast<type>(narrow * quantum);
    }
};

/* ---------------------------------------------------------------- rows */

/* Numbers that a thread loads or stores at once, or one by one where their numbers alone are aligned. */
template <class type, int n> struct __align__(n * sizeof(type)) unit {
    using number = type;
    number numbers[n];
};

template <class unit> __device__ bool is_aligned(const char *at, int numbers_are) {
    return numbers_are && reinterpret_cast<uintptr_t>(at) % sizeof(unit) == 0;
}

template <class unit> __device__ unit load_unit(const char *from, int aligned) {
    using number = typename unit::number;
    unit loaded;
    if (is_aligned<unit>(from, aligned))
        return *reinterpret_cast<const unit *>(from);
    for (size_t i = 0; i < sizeof(unit) / sizeof(number); i++)
        loaded.numbers[i] = load<number>(from + i * sizeof(number), aligned);
    return loaded;
}

template <class unit> __device__ void store_unit(const unit &stored, char *to, int aligned) {
    using number = typename unit::number;
    if (is_aligned<unit>(to, aligned))
        *reinterpret_cast<unit *>(to) = stored;
    else
        for (size_t i = 0; i < sizeof(unit) / sizeof(number); i++)
            store(stored.numbers[i], to + i * sizeof(number), aligned);
}

/* The units of a thread in a row, one in as many as the warp has threads: in the array, and in the message. */
template <class format, int n> struct row {
    using wide = unit<typename format::number, n>;
    using narrow = unit<typename format::narrow, n>;
    static const int units = each / n;
    uint64_t first; /* of the thread's units in the part */
    int64_t head;   /* bytes before the row in the message, */
    int64_t begin;  /* and before the thread's first unit */

    __device__ explicit row(uint64_t which) {
        const uint64_t lane = threadIdx.x % lanes;
        first = which * (REDIST__FORMAT_ROW / n) + lane;
        head = static_cast<int64_t>(
            which * (format::head + REDIST__FORMAT_ROW * sizeof(typename format::narrow)));
        begin = head + format::head + static_cast<int64_t>(lane * sizeof(narrow));
    }
    __device__ uint64_t at(int i) const {
        return first + static_cast<uint64_t>(i * lanes);
    }
    __device__ int64_t position(int i) const {
        return begin + static_cast<int64_t>(i * lanes * sizeof(narrow));
    }
};

template <class format, int n>
__device__ void narrow_row(const redist__cuda_part &part, const row<format, n> &mine) {
    using wide = typename row<format, n>::wide;
    typename format::number held[each] = {};
#pragma unroll
    for (int i = 0; i < mine.units; i++)
        if (mine.at(i) < part.units) {
            const char *from = part.source + find_unit<wide>(part, mine.at(i)).source;
            const auto loaded = load_unit<wide>(from, part.aligned);
            for (int j = 0; j < n; j++)
                held[i * n + j] = loaded.numbers[j];
        }
    const double scale = format::begin(held, part.destination + mine.head, part.aligned);
#pragma unroll
    for (int i = 0; i < mine.units; i++) {
        typename row<format, n>::narrow stored;
        for (int j = 0; j < n; j++)
            stored.numbers[j] = format::narrowed(held[i * n + j], scale);
        if (mine.at(i) < part.units)
            store_unit(stored, part.destination + mine.position(i), part.aligned);
    }
}

template <class format, int n>
__device__ void widen_row(const redist__cuda_part &part, const row<format, n> &mine) {
    using wide = typename row<format, n>::wide;
    using narrow = typename row<format, n>::narrow;
    const double quantum = format::quantum_of(part.source + mine.head, part.aligned);
#pragma unroll
    for (int i = 0; i < mine.units; i++) {
        if (mine.at(i) >= part.units)
            break;
        char *to = part.destination + find_unit<wide>(part, mine.at(i)).destination;
        const auto loaded = load_unit<narrow>(part.source + mine.position(i), part.aligned);
        wide result = {};
        if (part.adds != REDIST__NO_NUMBER)
            result = load_unit<wide>(to, part.aligned);
        for (int j = 0; j < n; j++) {
            const auto number = format::widened(loaded.numbers[j], quantum);
            result.numbers[j] =
                part.adds != REDIST__NO_NUMBER ? result.numbers[j] + number : number;
        }
        store_unit(result, to, part.aligned);
    }
}

template <class format, bool widens, int n>
__device__ void change_rows(const redist__cuda_part &part) {
    const uint64_t rows = (part.units * n + REDIST__FORMAT_ROW - 1) / REDIST__FORMAT_ROW;
    for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * warps + threadIdx.x / lanes; i < rows;
         i += static_cast<uint64_t>(gridDim.x) * warps) {
        const row<format, n> which(i);
        if (widens)
            widen_row(part, which);
        else
            narrow_row(part, which);
    }
}

template <class format, bool widens, int most>
__global__ void __launch_bounds__(threads) change_parts(const __grid_constant__ list<most> list) {
    __shared__ redist__cuda_part part;
    await_stream();
    fetch_part(&list.parts[blockIdx.y], &part);
    if (part.width == sizeof(typename format::number))
        change_rows<format, widens, 1>(part);
    else
        change_rows<format, widens, 2>(part);
}

/* ---------------------------------------------------------------- launches */

template <class format, bool widens, int most>
cudaError_t launch(const redist__cuda_part parts[], int count, cudaStream_t stream) {
    list<most> list;
    uint64_t numbers = 0;
    for (int i = 0; i < count; i++) {
        uint64_t own = parts[i].units * static_cast<uint64_t>(parts[i].width) /
                       sizeof(typename format::number);
        list.parts[i] = parts[i];
        numbers = own > numbers ? own : numbers;
    }
    dim3 grid(blocks_for(count, numbers), static_cast<unsigned>(count));
    return numbers == 0
               ? cudaSuccess
               : launch_early(change_parts<format, widens, most>, grid, threads, 0, stream, list);
}

template <class format, bool widens>
cudaError_t launch_list(const redist__cuda_part parts[], int count, cudaStream_t stream) {
    return count <= 3 ? launch<format, widens, 3>(parts, count, stream)
                      : launch<format, widens, REDIST__CUDA_PARTS>(parts, count, stream);
}

/* The kernels of a format, by its numbers in arrays and the bytes of those in messages. */
struct kernels {
    redist__number number;
    size_t bytes;
    cudaError_t (*launch[2])(const redist__cuda_part[], int, cudaStream_t); /* narrow, widen */
};

const kernels table[] = {
    {REDIST__DOUBLE,
     sizeof(float),
     {launch_list<doubles_as_floats, false>, launch_list<doubles_as_floats, true>}},
    {REDIST__FLOAT,
     sizeof(int16_t),
     {launch_list<sixteen_bits<float>, false>, launch_list<sixteen_bits<float>, true>}},
    {REDIST__DOUBLE,
     sizeof(int16_t),
     {launch_list<sixteen_bits<double>, false>, launch_list<sixteen_bits<double>, true>}}};

} // namespace

cudaError_t redist__cuda_format_parts(const redist__format *format, int widens,
                                      const redist__cuda_part parts[], int count,
                                      cudaStream_t stream) {
    for (const kernels &row : table)
        if (row.number == format->number && row.bytes == format->each)
            return row.launch[widens != 0](parts, count, stream);
    return cudaErrorInvalidValue;
}
