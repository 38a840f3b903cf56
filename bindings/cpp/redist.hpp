/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * redist.h and redist_halo.h for C++17: owning handles, typed arrays and views, exceptions. Functions are those of the
 * C headers, which explain their arguments; other functions are called as in C, with `get()` of a handle.
 *
 *   - A failure throws redist::error, on all ranks where the C function returns an error on all ranks.
 *   - Handles (grid, plan, array, communicator) can be moved, not copied. Destructors of grids, plans and arrays are
 *     collective: they run in the same order on all ranks, as local variables do. When MPI is no longer
 *     running, those of plans free their memory, others leave it to the end of the process.
 */
#ifndef REDIST_HPP
#define REDIST_HPP

#include <redist.h>
#include <redist_halo.h>
#include <redist_model.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace redist {

using index = redist_index;

/** A failure: the message of redist_error_message, and the code. */
class error : public std::runtime_error {
  public:
    explicit error(int code) : std::runtime_error(redist_error_message()), code_(code) {
    }
    int code() const noexcept {
        return code_;
    }

  private:
    int code_;
};

/** Throws unless `code` is REDIST_OK. */
inline void check(int code) {
    if (code != REDIST_OK)
        throw error(code);
}

namespace detail {

inline bool mpi_runs() noexcept {
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    return begun && !ended;
}

/** A handle that Free releases. */
template <class Handle, int (*Free)(Handle *)> class owner {
  public:
    owner() noexcept = default;
    explicit owner(Handle handle) noexcept : handle_(handle) {
    }
    owner(owner &&other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {
    }
    owner &operator=(owner &&other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    owner(const owner &) = delete;
    owner &operator=(const owner &) = delete;
    ~owner() {
        free();
    }

    Handle get() const noexcept {
        return handle_;
    }
    Handle *out() noexcept {
        return &handle_;
    }
    void free() noexcept {
        if (handle_ != Handle{})
            Free(&handle_);
        handle_ = Handle{};
    }

  private:
    Handle handle_{};
};

/** The number of which elements consist, and how many of them an element has. */
template <class T> struct numbers {
    using type = T;
    static constexpr std::size_t count = 1;
};
template <class T, std::size_t N> struct numbers<std::array<T, N>> {
    using type = typename numbers<T>::type;
    static constexpr std::size_t count = N * numbers<T>::count;
};

/** Returns the MPI datatype of a number, MPI_BYTE for other types. Signed and unsigned integers have the same sums. */
template <class T> MPI_Datatype number_type() {
    if constexpr (std::is_same<T, float>::value)
        return MPI_FLOAT;
    else if constexpr (std::is_same<T, double>::value)
        return MPI_DOUBLE;
    else if constexpr (std::is_same<T, long double>::value)
        return MPI_LONG_DOUBLE;
    else if constexpr (std::is_same<T, std::complex<float>>::value)
        return MPI_C_FLOAT_COMPLEX;
    else if constexpr (std::is_same<T, std::complex<double>>::value)
        return MPI_C_DOUBLE_COMPLEX;
    else if constexpr (std::is_same<T, std::complex<long double>>::value)
        return MPI_C_LONG_DOUBLE_COMPLEX;
    else if constexpr (std::is_integral<T>::value && !std::is_same<T, bool>::value &&
                       sizeof(T) <= 8)
        return sizeof(T) == 1   ? MPI_INT8_T
               : sizeof(T) == 2 ? MPI_INT16_T
               : sizeof(T) == 4 ? MPI_INT32_T
                                : MPI_INT64_T;
    else
        return MPI_BYTE;
}

/** The MPI datatype of elements: numbers, std::array of numbers, or bytes. */
template <class T> class datatype {
    static_assert(std::is_trivially_copyable<T>::value, "elements are moved byte by byte");

  public:
    datatype() : handle_(number_type<typename numbers<T>::type>()) {
        const std::size_t count = handle_ == MPI_BYTE ? sizeof(T) : numbers<T>::count;
        if (count != 1 && !MPI_Type_contiguous(static_cast<int>(count), handle_, &handle_)) {
            MPI_Type_commit(&handle_);
            own_ = true;
        }
    }
    datatype(const datatype &) = delete;
    datatype &operator=(const datatype &) = delete;
    ~datatype() {
        if (own_ && mpi_runs())
            MPI_Type_free(&handle_);
    }
    MPI_Datatype get() const noexcept {
        return handle_;
    }

  private:
    MPI_Datatype handle_;
    bool own_ = false;
};

} // namespace detail

/** The part of n elements of one of nparts. */
struct block {
    index count, start;
};

inline block decompose(index n, int nparts, int part) {
    block result{};
    check(redist_decompose(n, nparts, part, &result.count, &result.start));
    return result;
}

/** The local extents of both arrays of an exchange, A and B. */
inline std::pair<std::vector<index>, std::vector<index>>
exchange_sizes(MPI_Comm comm, const std::vector<index> &sizes, int axis_a, int axis_b) {
    std::vector<index> a(sizes.size()), b(sizes.size());
    check(redist_exchange_sizes(comm, static_cast<int>(sizes.size()), sizes.data(), axis_a, axis_b,
                                a.data(), b.data()));
    return {std::move(a), std::move(b)};
}

/** A communicator that is freed with MPI_Comm_free. */
class communicator {
  public:
    communicator() noexcept = default;
    explicit communicator(MPI_Comm comm) noexcept : comm_(comm) {
    }
    communicator(communicator &&other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {
    }
    communicator &operator=(communicator &&other) noexcept {
        std::swap(comm_, other.comm_);
        return *this;
    }
    communicator(const communicator &) = delete;
    communicator &operator=(const communicator &) = delete;
    ~communicator() {
        if (comm_ != MPI_COMM_NULL && detail::mpi_runs())
            MPI_Comm_free(&comm_);
    }
    MPI_Comm get() const noexcept {
        return comm_;
    }
    operator MPI_Comm() const noexcept {
        return comm_;
    }
    int rank() const {
        int rank = 0;
        MPI_Comm_rank(comm_, &rank);
        return rank;
    }
    int size() const {
        int size = 0;
        MPI_Comm_size(comm_, &size);
        return size;
    }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/** The one-dimensional subgroups of a balanced grid. */
inline std::vector<communicator> subcomm(MPI_Comm comm, int ndims) {
    MPI_Comm made[REDIST_MAX_NDIMS];
    check(redist_subcomm(comm, ndims, made));
    std::vector<communicator> result;
    for (int i = 0; i < ndims; i++)
        result.emplace_back(made[i]);
    return result;
}

/** Structures with their defaults. */
struct box : redist_box {
    box() {
        check(redist_box_init(this, sizeof(redist_box)));
    }
};
struct options : redist_options {
    options() {
        check(redist_options_init(this, sizeof(redist_options)));
    }
};
struct halo : redist_halo {
    halo() {
        check(redist_halo_init(this, sizeof(redist_halo)));
    }
};

/** Returns a box whose local array has room for ghosts: offset is halo.low, extent is count + low + high. */
inline redist::box with_ghosts(redist::box box, const redist_halo &halo) {
    for (int i = 0; i < REDIST_MAX_NDIMS; i++) {
        box.offset[i] = halo.low[i];
        box.extent[i] = halo.low[i] + box.count[i] + halo.high[i];
    }
    return box;
}

/** A Cartesian process grid. */
class grid {
  public:
    /** dims: processes along each dimension, 0 = choose */
    grid(MPI_Comm comm, const std::vector<int> &dims, bool by_node = false) {
        check((by_node ? redist_grid_create_by_node : redist_grid_create)(
            comm, static_cast<int>(dims.size()), dims.data(), handle_.out()));
    }
    redist_grid *get() const noexcept {
        return handle_.get();
    }
    std::vector<int> dims() const {
        return read().first;
    }
    std::vector<int> coords() const {
        return read().second;
    }
    /** The grid owns these communicators. */
    MPI_Comm comm() const {
        MPI_Comm found;
        check(redist_grid_comm(get(), &found));
        return found;
    }
    MPI_Comm subcomm(int dim) const {
        MPI_Comm found;
        check(redist_grid_subcomm(get(), dim, &found));
        return found;
    }
    redist::box box(const std::vector<index> &sizes, const std::vector<int> &axes) const {
        if (axes.size() != dims().size())
            throw std::invalid_argument(
                "redist::grid::box: axes must have one value for each grid dimension");
        redist::box result;
        check(redist_grid_box(get(), static_cast<int>(sizes.size()), sizes.data(), axes.data(),
                              &result));
        return result;
    }

  private:
    std::pair<std::vector<int>, std::vector<int>> read() const {
        int n = 0, dims[REDIST_MAX_NDIMS], coords[REDIST_MAX_NDIMS];
        check(redist_grid_get(get(), &n, dims, coords));
        return {{dims, dims + n}, {coords, coords + n}};
    }
    detail::owner<redist_grid *, redist_grid_free> handle_;
};

/** A view of elements in memory, like std::span of C++20. */
template <class T> class span {
  public:
    span() noexcept = default;
    span(T *data, std::size_t size) noexcept : data_(data), size_(size) {
    }
    template <class C, class = decltype(static_cast<T *>(std::declval<C &>().data()))>
    span(C &&container) noexcept : data_(container.data()), size_(container.size()) {
    }
    T *data() const noexcept {
        return data_;
    }
    std::size_t size() const noexcept {
        return size_;
    }
    T *begin() const noexcept {
        return data_;
    }
    T *end() const noexcept {
        return data_ + size_;
    }
    T &operator[](std::size_t i) const noexcept {
        return data_[i];
    }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

/** A view of an N-dimensional array; by default in C order: the last axis is contiguous. Indices count from 0. */
template <class T, std::size_t N> class view {
  public:
    view() noexcept = default;
    view(T *data, const std::array<index, N> &sizes) noexcept : data_(data), sizes_(sizes) {
        index stride = 1;
        for (std::size_t i = N; i-- > 0;) {
            strides_[i] = stride;
            stride *= sizes[i];
        }
    }
    view(T *data, const std::array<index, N> &sizes, const std::array<index, N> &strides) noexcept
        : data_(data), sizes_(sizes), strides_(strides) {
    }

    T *data() const noexcept {
        return data_;
    }
    const std::array<index, N> &sizes() const noexcept {
        return sizes_;
    }
    const std::array<index, N> &strides() const noexcept {
        return strides_;
    }
    index size(std::size_t axis) const noexcept {
        return sizes_[axis];
    }
    /** Returns whether the elements are contiguous, in C order. */
    bool is_contiguous() const noexcept {
        return strides_ == view(data_, sizes_).strides_;
    }
    template <class... I> T &operator()(I... i) const noexcept {
        static_assert(sizeof...(I) == N, "one index for each axis");
        const index at[] = {static_cast<index>(i)...};
        index place = 0;
        for (std::size_t axis = 0; axis < N; axis++)
            place += at[axis] * strides_[axis];
        return data_[place];
    }

  private:
    T *data_ = nullptr;
    std::array<index, N> sizes_{}, strides_{};
};

/**
 * Returns a view of this rank's box in its local array: index 0 along each axis is the first element of the box, and
 * negative indices and those from count on are ghosts.
 *   array  the first element of the local array
 */
template <std::size_t N, class T> view<T, N> interior(T *array, const redist_box &box) noexcept {
    std::array<index, N> count{}, strides{};
    index stride = 1, first = 0;
    for (std::size_t i = N; i-- > 0;) {
        count[i] = box.count[i];
        strides[i] = stride;
        first += box.offset[i] * stride;
        stride *= box.extent[i] != 0 ? box.extent[i] : box.count[i];
    }
    return {array + first, count, strides};
}

/** Memory that the ranks of a node can map (redist_alloc_in). Construction and destruction are collective. */
template <class T> class array {
  public:
    array() noexcept = default;
    array(MPI_Comm comm, std::size_t size, redist_space space = REDIST_SPACE_HOST) : size_(size) {
        check(redist_alloc_in(
            comm, space, size > SIZE_MAX / sizeof(T) ? SIZE_MAX : size * sizeof(T), memory_.out()));
    }
    T *data() const noexcept {
        return static_cast<T *>(memory_.get());
    }
    std::size_t size() const noexcept {
        return size_;
    }
    T *begin() const noexcept {
        return data();
    }
    T *end() const noexcept {
        return data() + size_;
    }
    T &operator[](std::size_t i) const noexcept {
        return data()[i];
    }

  private:
    std::size_t size_ = 0;
    detail::owner<void *, redist_free> memory_;
};

namespace detail {

/** Returns the address of a contiguous view, else a null pointer, which the library refuses on all ranks. */
template <class T, std::size_t N> void *address(const view<T, N> &v) {
    return v.is_contiguous() ? const_cast<std::remove_const_t<T> *>(v.data()) : nullptr;
}

} // namespace detail

/** Moves a distributed array from one alignment to another, once: a is whole along axis_a, b along axis_b. */
template <class A, class B, std::size_t N>
void exchange(MPI_Comm comm, const view<A, N> &a, int axis_a, const view<B, N> &b, int axis_b) {
    static_assert(std::is_same<std::remove_const_t<A>, B>::value,
                  "both arrays have elements of one type");
    detail::datatype<B> type;
    check(redist_exchange(comm, type.get(), static_cast<int>(N), a.sizes().data(),
                          detail::address(a), axis_a, b.sizes().data(), detail::address(b),
                          axis_b));
}

/** A reusable exchange between two distributed arrays of elements T. */
template <class T> class plan {
  public:
    template <std::size_t N>
    plan(MPI_Comm comm, const view<T, N> &a, int axis_a, const view<T, N> &b, int axis_b,
         const redist_options &options = redist::options()) {
        detail::datatype<T> type;
        check(redist_plan_exchange(comm, type.get(), static_cast<int>(N), a.sizes().data(),
                                   detail::address(a), axis_a, b.sizes().data(), detail::address(b),
                                   axis_b, &options, handle_.out()));
    }
    /** A plan between any two distributions in boxes of an array with extents `sizes`. */
    plan(MPI_Comm comm, const std::vector<index> &sizes, const redist_box &box_a, T *a,
         const redist_box &box_b, T *b, const redist_options &options = redist::options()) {
        detail::datatype<T> type;
        check(redist_plan_boxes(comm, type.get(), static_cast<int>(sizes.size()), sizes.data(),
                                &box_a, a, &box_b, b, &options, handle_.out()));
    }
    /** A plan of the ghosts around each rank's box (redist_plan_halo), for fill and accumulate. */
    plan(MPI_Comm comm, const std::vector<index> &sizes, const redist_box &box, T *array,
         const redist_halo &halo, const redist_options &options = redist::options()) {
        detail::datatype<T> type;
        check(redist_plan_halo(comm, type.get(), static_cast<int>(sizes.size()), sizes.data(), &box,
                               array, &halo, &options, handle_.out()));
    }
    redist_plan *get() const noexcept {
        return handle_.get();
    }

    /** Copies elements to the ghosts that show them. */
    void fill() const {
        check(redist_plan_execute(get(), REDIST_FILL));
    }
    void fill(T *array) const {
        check(redist_plan_execute_arrays(get(), REDIST_FILL, array, array));
    }
    /** Adds ghosts to the elements that they show. */
    void accumulate() const {
        check(redist_plan_execute(get(), REDIST_ACCUMULATE));
    }
    void accumulate(T *array) const {
        check(redist_plan_execute_arrays(get(), REDIST_ACCUMULATE, array, array));
    }
    void start(redist_halo_direction direction) const {
        check(redist_plan_start(get(), direction));
    }
    void start(redist_halo_direction direction, T *array) const {
        check(redist_plan_start_arrays(get(), direction, array, array));
    }

    void forward() const {
        check(redist_plan_execute(get(), REDIST_FORWARD));
    }
    void backward() const {
        check(redist_plan_execute(get(), REDIST_BACKWARD));
    }
    void forward(T *a, T *b) const {
        check(redist_plan_execute_arrays(get(), REDIST_FORWARD, a, b));
    }
    void backward(T *b, T *a) const {
        check(redist_plan_execute_arrays(get(), REDIST_BACKWARD, a, b));
    }
    void start(redist_direction direction) const {
        check(redist_plan_start(get(), direction));
    }
    void start(redist_direction direction, T *a, T *b) const {
        check(redist_plan_start_arrays(get(), direction, a, b));
    }
    void wait() const {
        check(redist_plan_wait(get()));
    }

    redist_plan_info info() const {
        redist_plan_info result;
        check(redist_plan_info_init(&result, sizeof(result)));
        check(redist_plan_get_info(get(), &result));
        return result;
    }
    redist_phases phases() const {
        redist_phases result;
        check(redist_phases_init(&result, sizeof(result)));
        check(redist_plan_get_phases(get(), &result));
        return result;
    }
    std::string method() const {
        const char *name = nullptr;
        check(redist_plan_get_method(get(), &name));
        return name;
    }

  private:
    detail::owner<redist_plan *, redist_plan_free> handle_;
};

} // namespace redist

#endif
