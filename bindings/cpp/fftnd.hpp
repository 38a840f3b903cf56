/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * fftnd.h for C++17: plans with types of elements, and fields with local extents. Functions are those of fftnd.h;
 * failures, handles and destructors are those of redist.hpp.
 */
#ifndef FFTND_HPP
#define FFTND_HPP

#include <fftnd_operators.h>
#include <redist_file.hpp>

#include <functional>
#include <memory>

namespace fftnd {

using redist::index;

/** fftnd_options with its defaults. Its pointers have to be valid until the plan is made. */
struct options : fftnd_options {
    options() {
        redist::check(fftnd_options_init(this, sizeof(fftnd_options)));
    }
};

/** fftnd_operator_options with its defaults. Its pointers have to be valid until the operator is made. */
struct operator_options : fftnd_operator_options {
    operator_options() {
        redist::check(fftnd_operator_options_init(this, sizeof(fftnd_operator_options)));
    }
};

/** A row of modes or points for a function of the user; T is std::complex<double>, or double for points of a real
 * side. */
template <class T> class row {
  public:
    explicit row(const fftnd_row &of) noexcept : of_(of) {
    }
    int size() const noexcept {
        return of_.n;
    }
    const T *input(int field) const noexcept {
        return reinterpret_cast<const T *>(of_.inputs[field]);
    }
    T *output(int field) const noexcept {
        return reinterpret_cast<T *>(of_.outputs[field]);
    }
    /** Wavenumbers of modes along an axis that takes part; `odd` for derivatives of odd order. */
    const double *k(int axis) const noexcept {
        return of_.k[axis];
    }
    const double *odd(int axis) const noexcept {
        return of_.odd[axis];
    }
    /** The C structure, with the place of the row in the global array. */
    const fftnd_row &get() const noexcept {
        return of_;
    }

  private:
    const fftnd_row &of_;
};

namespace detail {

/** fftnd_row.numbers for elements T of a side: modes are always complex. */
template <class T>
using row_element =
    typename std::conditional<std::is_floating_point<T>::value, double, std::complex<double>>::type;

/** Wrapper of the user's function for C; an exception fails the call. */
template <class T> int call_row(void *data, const fftnd_row *given) noexcept {
    try {
        (*static_cast<std::function<void(const row<T> &)> *>(data))(row<T>(*given));
        return 0;
    } catch (...) {
        return 1;
    }
}

template <class T> struct real_of {
    using type = T;
    static constexpr bool is_complex = false;
};
template <class T> struct real_of<std::complex<T>> {
    using type = T;
    static constexpr bool is_complex = true;
};

} // namespace detail

/** One rank's part of one side: an owning array, and its place in the global array. With options.ghosts the local
 * indices below 0 and from count on are ghosts. Collective. */
template <class T> class field {
  public:
    field(MPI_Comm comm, redist_space space, const fftnd_layout &layout)
        : layout_(layout), space_(space),
          memory_(comm, (layout.bytes + sizeof(T) - 1) / sizeof(T), space) {
    }

    const fftnd_layout &layout() const noexcept {
        return layout_;
    }
    redist_space space() const noexcept {
        return space_;
    }
    T *data() const noexcept {
        return memory_.data();
    }
    /** Elements in memory, padding included. */
    std::size_t size() const noexcept {
        return memory_.size();
    }
    T *begin() const noexcept {
        return data();
    }
    T *end() const noexcept {
        return data() + size();
    }
    index start(int axis) const noexcept {
        return layout_.start[axis];
    }
    index count(int axis) const noexcept {
        return layout_.count[axis];
    }
    /** The element with these local indices, in the first field of a batch. */
    template <class... I> T &operator()(I... i) const noexcept {
        const index at[] = {static_cast<index>(i)...};
        index place = layout_.offset;
        for (std::size_t axis = 0; axis < sizeof...(I); axis++)
            place += at[axis] * layout_.stride[axis];
        return data()[place];
    }
    /** The element with these global indices, in a field of a batch; nullptr if another rank has it. */
    T *at(const std::vector<index> &global, index batch = 0) const {
        if (static_cast<int>(global.size()) != layout_.ndims)
            throw std::invalid_argument("fftnd::field::at: another number of indices than axes");
        return static_cast<T *>(fftnd_layout_at(&layout_, data(), global.data(), batch));
    }
    /** The local array of one field of a batch. */
    template <std::size_t N> redist::view<T, N> view(int batch = 0) const {
        if (static_cast<int>(N) != layout_.ndims)
            throw std::invalid_argument("fftnd::field::view: N is not the number of axes");
        std::array<index, N> counts{}, strides{};
        for (std::size_t axis = 0; axis < N; axis++) {
            counts[axis] = layout_.count[axis];
            strides[axis] = layout_.stride[axis];
        }
        return {data() + layout_.offset + batch * layout_.batch_stride, counts, strides};
    }

  private:
    fftnd_layout layout_;
    redist_space space_;
    redist::array<T> memory_;
};

/**
 * Describes an array with a layout, of a side or of an operator, as a field of a file, for redist::write and others: a
 * batch of more than one field is an axis before the others. Scratch memory, padding and ghosts are left out.
 *   array  elements of the layout's size
 *   name   in a checkpoint
 */
template <class T>
redist::field file_field(const fftnd_layout &layout, T *array, const std::string &name = {},
                         redist_space space = REDIST_SPACE_AUTO) {
    const int has_batch = layout.batch > 1;
    if (sizeof(T) != layout.element_bytes || layout.ndims + has_batch > REDIST_MAX_NDIMS)
        throw std::invalid_argument(
            "fftnd::file_field: elements of another size than the layout's, or too many axes");
    redist::field result(array, name);
    result.ndims = layout.ndims + has_batch;
    result.offset = layout.offset;
    result.space = space;
    result.sizes[0] = result.count[0] = layout.batch;
    result.stride[0] = layout.batch_stride;
    for (int i = 0; i < layout.ndims; i++) {
        result.sizes[i + has_batch] = layout.sizes[i];
        result.start[i + has_batch] = layout.start[i];
        result.count[i + has_batch] = layout.count[i];
        result.stride[i + has_batch] = layout.stride[i];
    }
    return result;
}
template <class T> redist::field file_field(const field<T> &array, const std::string &name = {}) {
    return file_field(array.layout(), array.data(), name, array.space());
}

/** An operator between a transform and the one back, on fields of T; plan makes it, and outlives it. */
template <class T> class field_operator {
  public:
    /** Arrays of this rank, with all fields in the place of the batch. In place one array is both. Collective. */
    field<T> input() const {
        return {comm_, space_, layout(0)};
    }
    field<T> output() const {
        return {comm_, space_, layout(1)};
    }
    fftnd_layout layout(int is_output) const {
        fftnd_layout result, other;
        redist::check(fftnd_layout_init(&result, sizeof(result)));
        redist::check(fftnd_layout_init(&other, sizeof(other)));
        redist::check(fftnd_operator_layout(get(), is_output, &result));
        redist::check(fftnd_operator_layout(get(), !is_output, &other));
        if (in_place_ && result.bytes < other.bytes)
            result.bytes = other.bytes;
        return result;
    }
    void apply(T *input, T *output) const {
        redist::check((points_ ? fftnd_apply_physical : fftnd_apply)(plan_, get(), input, output));
    }
    void apply(const field<T> &input, const field<T> &output) const {
        apply(input.data(), output.data());
    }
    fftnd_operator *get() const noexcept {
        return handle_.get();
    }

  private:
    template <class Physical, class Spectral> friend class plan;
    using function = std::shared_ptr<void>;

    field_operator(MPI_Comm comm, redist_space space, bool in_place, fftnd_plan *plan,
                   fftnd_operator_kind kind, const fftnd_operator_options &options, function kept)
        : comm_(comm), space_(space), in_place_(in_place), points_(kind == FFTND_POINTS),
          plan_(plan), kept_(std::move(kept)) {
        redist::check(fftnd_operator_create(plan, kind, &options, handle_.out()));
    }
    field_operator(MPI_Comm comm, redist_space space, bool in_place, fftnd_plan *plan,
                   const T *kernel, const fftnd_operator_options &options)
        : comm_(comm), space_(space), in_place_(in_place), points_(false), plan_(plan) {
        redist::check(fftnd_operator_from_kernel(plan, kernel, &options, handle_.out()));
    }

    MPI_Comm comm_;
    redist_space space_;
    bool in_place_, points_;
    fftnd_plan *plan_;
    function kept_;
    redist::detail::owner<fftnd_operator *, fftnd_operator_free> handle_;
};

/**
 * A distributed transform from elements Physical to elements Spectral, forward and backward: plan<double,
 * std::complex<double>> is real to complex, both complex is complex to complex, both real a DCT or DST (options.r2r).
 */
template <class Physical, class Spectral> class plan {
    using real = typename detail::real_of<Physical>::type;
    static constexpr bool from_complex = detail::real_of<Physical>::is_complex;
    static constexpr bool to_complex = detail::real_of<Spectral>::is_complex;
    static_assert(std::is_same<real, typename detail::real_of<Spectral>::type>::value,
                  "both sides have one precision");
    static_assert(std::is_same<real, double>::value || std::is_same<real, float>::value,
                  "float or double");
    static_assert(to_complex || !from_complex, "forward transforms do not go from complex to real");

  public:
    static constexpr fftnd_kind kind = from_complex ? FFTND_C2C
                                       : to_complex ? FFTND_R2C
                                                    : FFTND_R2R;

    plan(MPI_Comm comm, const std::vector<index> &sizes,
         const fftnd_options &options = fftnd::options())
        : plan(comm, sizes, kind, options) {
    }
    /** A plan of another kind with these types of elements. */
    plan(MPI_Comm comm, const std::vector<index> &sizes, fftnd_kind other_kind,
         const fftnd_options &options)
        : comm_(comm),
          space_(options.space == REDIST_SPACE_AUTO ? REDIST_SPACE_HOST : options.space),
          in_place_(options.in_place != 0) {
        redist::check(
            fftnd_plan_create(comm, static_cast<int>(sizes.size()), sizes.data(), other_kind,
                              std::is_same<real, double>::value ? FFTND_DOUBLE : FFTND_FLOAT,
                              &options, handle_.out()));
    }
    fftnd_plan *get() const noexcept {
        return handle_.get();
    }

    fftnd_layout layout(fftnd_side side) const {
        fftnd_layout result;
        redist::check(fftnd_layout_init(&result, sizeof(result)));
        redist::check(fftnd_plan_layout(get(), side, &result));
        return result;
    }
    /** Arrays of this rank, with undefined contents, in memory that peers can map. Collective. */
    field<Physical> physical() const {
        return {comm_, space_, layout(FFTND_PHYSICAL)};
    }
    field<Spectral> spectral() const {
        return {comm_, space_, layout(FFTND_SPECTRAL)};
    }
    /** The wavenumbers of this rank's modes along an axis. */
    std::vector<double> wavenumbers(int axis) const {
        fftnd_layout modes = layout(FFTND_SPECTRAL);
        std::size_t count =
            axis >= 0 && axis < modes.ndims ? static_cast<std::size_t>(modes.count[axis]) : 0;
        std::vector<double> k(count);
        redist::check(fftnd_plan_wavenumbers(get(), axis, k.data()));
        return k;
    }

    void forward(Physical *physical, Spectral *spectral) const {
        redist::check(fftnd_forward(get(), physical, spectral));
    }
    void backward(Spectral *spectral, Physical *physical) const {
        redist::check(fftnd_backward(get(), spectral, physical));
    }
    void forward(const field<Physical> &physical, const field<Spectral> &spectral) const {
        forward(physical.data(), spectral.data());
    }
    void backward(const field<Spectral> &spectral, const field<Physical> &physical) const {
        backward(spectral.data(), physical.data());
    }
    void start_forward(Physical *physical, Spectral *spectral) const {
        redist::check(fftnd_start(get(), REDIST_FORWARD, physical, spectral));
    }
    void start_backward(Spectral *spectral, Physical *physical) const {
        redist::check(fftnd_start(get(), REDIST_BACKWARD, spectral, physical));
    }
    void wait() const {
        redist::check(fftnd_wait(get()));
    }

    /** An operator between forward and backward, without functions of the user. Collective. */
    field_operator<Physical>
    make_operator(fftnd_operator_kind what,
                  const fftnd_operator_options &options = operator_options()) const {
        return {comm_, space_, in_place_, get(), what, options, nullptr};
    }
    /** The convolution with a kernel, an array of the physical side; with options.conjugated the correlation.
     * Collective. */
    field_operator<Physical>
    make_convolution(const field<Physical> &kernel,
                     const fftnd_operator_options &options = operator_options()) const {
        return {comm_, space_, in_place_, get(), kernel.data(), options};
    }
    /** An operator of a function of rows of modes, void(const row<std::complex<double>> &); several threads of the plan
     * call it at once. */
    template <class Function>
    field_operator<Physical> make_modes(Function function, operator_options options = {}) const {
        return make<Physical, std::complex<double>>(FFTND_MODES, std::move(function), options);
    }
    /** An operator of a function of rows of points, void(const row<T> &), from spectra to spectra: T is double, or
     * std::complex<double>. */
    template <class Function>
    field_operator<Spectral> make_points(Function function, operator_options options = {}) const {
        return make<Spectral, detail::row_element<Physical>>(FFTND_POINTS, std::move(function),
                                                             options);
    }

    void set_workspace(void *workspace, std::size_t bytes) const {
        redist::check(fftnd_plan_set_workspace(get(), workspace, bytes));
    }
    fftnd_plan_info info() const {
        fftnd_plan_info result;
        redist::check(fftnd_plan_info_init(&result, sizeof(result)));
        redist::check(fftnd_plan_get_info(get(), &result));
        return result;
    }
    fftnd_phases phases() const {
        fftnd_phases result;
        redist::check(fftnd_phases_init(&result, sizeof(result)));
        redist::check(fftnd_plan_get_phases(get(), &result));
        return result;
    }
    std::string method() const {
        const char *name = nullptr;
        redist::check(fftnd_plan_get_method(get(), &name));
        return name;
    }
    /** The ranks in the order of the grid; the library owns it. */
    MPI_Comm comm() const {
        MPI_Comm found;
        redist::check(fftnd_plan_get_comm(get(), &found));
        return found;
    }

  private:
    template <class T, class Element, class Function>
    field_operator<T> make(fftnd_operator_kind what, Function function,
                           operator_options &options) const {
        auto kept =
            std::make_shared<std::function<void(const row<Element> &)>>(std::move(function));
        options.function = detail::call_row<Element>;
        options.data = kept.get();
        return {comm_, space_, in_place_, get(), what, options, kept};
    }

    MPI_Comm comm_;
    redist_space space_;
    bool in_place_;
    redist::detail::owner<fftnd_plan *, fftnd_plan_free> handle_;
};

} // namespace fftnd

#endif
