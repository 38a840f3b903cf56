/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of heffte.h against serial FFTW: random worlds, boxes, orders, types, scales, batches, workspaces, arrays
 * with room, ranks that transform, one array or two. */
#include "heffte_checks.hpp"

#include <fftw3.h>

#include <cstring>
#include <limits>
#include <memory>

#ifdef HEFFTE_ON_DEVICE
extern "C" {
#include "../stream_device.h"
}
/* The unit of the program that has CUDA's header: heffte_unit.cpp. */
bool unit_is_enabled();
bool unit_copies(int device);
void unit_forward(const heffte::fft3d<heffte::backend::cufft> &fft, const double *in,
                  std::complex<double> *out);
#endif

namespace {

using namespace checks;
using complex = std::complex<double>;

/* A number of an element that looks random, and is the same on all ranks. */
double value(unsigned long long seed, std::size_t place) {
    unsigned long long x = seed * 0x9E3779B97F4A7C15ull + place + 1;
    for (int i = 0; i < 3; i++)
        x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9ull;
    return static_cast<double>(x >> 11) / 4503599627370496.0 - 1;
}

template <class T> void assign(T &to, const complex &from) {
    to = static_cast<T>(from.real());
}
template <class R> void assign(std::complex<R> &to, const complex &from) {
    to = std::complex<R>(static_cast<R>(from.real()), static_cast<R>(from.imag()));
}
template <class T> complex widened(const T &x) {
    return complex(static_cast<double>(x), 0);
}
template <class R> complex widened(const std::complex<R> &x) {
    return complex(static_cast<double>(x.real()), static_cast<double>(x.imag()));
}

/* A stream, and the wait for what is enqueued in it; on the host there is none. */
struct one_stream {
    one_stream() = default;
    one_stream(const one_stream &) = delete;
    one_stream &operator=(const one_stream &) = delete;
#ifdef HEFFTE_ON_DEVICE
    static constexpr bool on_device = true;
    CUstream_st *handle = static_cast<CUstream_st *>(stream_device_create());
    ~one_stream() {
        stream_device_destroy(handle);
    }
    void wait() const {
        stream_device_wait(handle);
    }
    static void copy(void *to, const void *from, std::size_t bytes) {
        if (bytes != 0)
            stream_device_memory()->copy(to, from, bytes);
    }
#else
    static constexpr bool on_device = false;
    void *handle = nullptr;
    void wait() const {
    }
    static void copy(void *to, const void *from, std::size_t bytes) {
        if (bytes != 0)
            std::memcpy(to, from, bytes);
    }
#endif
};

/* What a case draws. */
struct drawn {
    std::array<int, 3> size;
    std::array<int, 3> order_in, order_out;
    int batch, direction; /* of r2c, or -1 */
    bool has_room, in_place, is_mixed, has_workspace, in_containers;
    heffte::scale forward, backward;
    unsigned long long seed;
    std::string text;
};

template <class index>
heffte::box3d<index> with_room(const heffte::box3d<index> &box, bool has_room, std::size_t rank) {
    heffte::box3d<index> result = box;
    for (std::size_t d = 0; d < 3 && has_room && !box.empty(); d++) {
        result.low[d] -= static_cast<index>((rank + d) % 3);
        result.high[d] += static_cast<index>((rank + 2 * d) % 2);
    }
    return heffte::box3d<index>(result.low, result.high); /* the array is in the order of the box */
}

/* The whole spectrum by FFTW, dimension 0 fastest; for real-to-real transforms the coefficients. */
std::vector<complex> reference(const std::vector<complex> &points, std::array<int, 3> n,
                               bool is_real, fftnd_r2r type) {
    std::vector<complex> result(points.size());
    if (!is_real) {
        std::vector<complex> copy = points;
        fftw_plan plan = fftw_plan_dft_3d(
            n[2], n[1], n[0], reinterpret_cast<fftw_complex *>(copy.data()),
            reinterpret_cast<fftw_complex *>(result.data()), FFTW_FORWARD, FFTW_ESTIMATE);
        fftw_execute(plan);
        fftw_destroy_plan(plan);
        return result;
    }
    const fftw_r2r_kind kind = type == FFTND_DCT1   ? FFTW_REDFT00
                               : type == FFTND_DCT2 ? FFTW_REDFT10
                               : type == FFTND_DST1 ? FFTW_RODFT00
                                                    : FFTW_RODFT10;
    std::vector<double> in(points.size()), out(points.size());
    for (std::size_t i = 0; i < in.size(); i++)
        in[i] = points[i].real();
    fftw_plan plan =
        fftw_plan_r2r_3d(n[2], n[1], n[0], in.data(), out.data(), kind, kind, kind, FFTW_ESTIMATE);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    for (std::size_t i = 0; i < in.size(); i++)
        result[i] = out[i];
    return result;
}

/* Local arrays of one side. */
template <class T, class index> struct local {
    heffte::box3d<index> box, room;
    std::array<int, 3> world;
    std::size_t length;

    void fill(T *array, int field, const std::vector<complex> &global) const {
        for_each(box, room, world, [&](std::size_t place, std::size_t at) {
            assign(array[static_cast<std::size_t>(field) * length + at], global[place]);
        });
    }
    /* The largest error of the elements; those in the room around must be what they were. */
    double error(const T *array, int field, const std::vector<complex> &global, double factor,
                 const T *before) const {
        double worst = 0;
        std::vector<bool> is_mine(length, false);
        const T *own = array + static_cast<std::size_t>(field) * length;
        for_each(box, room, world, [&](std::size_t place, std::size_t at) {
            worst = std::max(worst, std::abs(widened(own[at]) - global[place] * factor));
            is_mine[at] = true;
        });
        for (std::size_t i = 0; i < length && before != nullptr; i++)
            if (!is_mine[i] && own[i] != before[static_cast<std::size_t>(field) * length + i])
                worst = 1e30;
        return worst;
    }
};

/* Copies to and from arrays of a transform, which may be on a device. */
template <class T> void put(T *to, const std::vector<T> &from) {
    one_stream::copy(to, from.data(), from.size() * sizeof(T));
}
template <class T> std::vector<T> got(const T *from, std::size_t n) {
    std::vector<T> result(n);
    one_stream::copy(result.data(), from, n * sizeof(T));
    return result;
}
template <class Array, class T> Array copied(const std::vector<T> &from) {
    Array result(from.size());
    put(result.data(), from);
    return result;
}
template <class T> std::vector<T> sentinels(std::size_t n) {
    std::vector<T> result(n);
    for (std::size_t i = 0; i < n; i++)
        assign(result[i], complex(1000 + static_cast<double>(i % 7), 3));
    return result;
}

/* Runs both directions with arrays of elements In and Out, and compares. */
template <class In, class Out, class Plan, class index>
void run(const Plan &fft, const drawn &c, const one_stream &stream, const local<In, index> &in,
         const local<Out, index> &out, const std::vector<std::vector<complex>> &points,
         const std::vector<std::vector<complex>> &modes) {
    const std::size_t fields = static_cast<std::size_t>(c.batch);
    expect(fft.size_inbox() == in.length && fft.size_outbox() == out.length, "sizes " + c.text);
    const bool is_one = c.in_place && (!c.is_mixed || self().rank % 2 == 0);
    using points_array = typename Plan::template buffer_container<In>;
    using modes_array = typename Plan::template buffer_container<Out>;
    const std::size_t bytes =
        std::max(fields * in.length * sizeof(In), fields * out.length * sizeof(Out));
    typename Plan::template buffer_container<complex> shared(bytes / sizeof(complex) + 2);
    const std::vector<In> before_in = sentinels<In>(fields * in.length);
    const std::vector<Out> before_out = sentinels<Out>(fields * out.length);
    points_array first = copied<points_array>(before_in), back = copied<points_array>(before_in);
    modes_array second = copied<modes_array>(before_out);
    In *a = is_one ? reinterpret_cast<In *>(shared.data()) : first.data();
    In *b = is_one ? a : back.data();
    Out *s = is_one ? reinterpret_cast<Out *>(shared.data()) : second.data();
    std::vector<In> kept = before_in;
    for (int f = 0; f < c.batch; f++)
        in.fill(kept.data(), f, points[static_cast<std::size_t>(f)]);
    put(a, kept);
    modes_array work(c.has_workspace ? fields * fft.size_workspace() : 0);
    const double f_forward = fft.get_scale_factor(c.forward);
    const double f_backward = fft.get_scale_factor(c.backward);

    if (c.in_containers) {
        const modes_array result = fft.forward(first, c.forward);
        stream.wait();
        put(s, got(result.data(), out.length));
    } else if (c.has_workspace)
        fft.forward(c.batch, a, s, work.data(), c.forward);
    else if (c.batch > 1)
        fft.forward(c.batch, a, s, c.forward);
    else
        fft.forward(a, s, c.forward);
    stream.wait();
    const double size = static_cast<double>(points[0].size());
    const double unit = /* both sides have numbers of about 1 in the input */
        400 * std::numeric_limits<typename heffte::detail::element<In>::real>::epsilon();
    const std::vector<Out> found = got(s, fields * out.length);
    for (int f = 0; f < c.batch; f++) {
        const std::size_t at = static_cast<std::size_t>(f);
        const bool is_checked = !is_one && !c.in_containers;
        expect(out.error(found.data(), f, modes[at], f_forward,
                         is_checked ? before_out.data() : nullptr) <=
                   8 * unit * std::sqrt(size) * f_forward,
               "forward " + c.text);
    }
    expect(is_one || kept == got(a, kept.size()), "the input has changed: " + c.text);

    if (c.has_workspace)
        fft.backward(c.batch, s, b, work.data(), c.backward);
    else if (c.batch > 1)
        fft.backward(c.batch, s, b, c.backward);
    else
        fft.backward(s, b, c.backward);
    stream.wait();
    const double factor = f_forward * f_backward / fft.get_scale_factor(heffte::scale::full);
    const std::vector<In> returned = got(b, fields * in.length);
    for (int f = 0; f < c.batch; f++)
        expect(in.error(returned.data(), f, points[static_cast<std::size_t>(f)], factor,
                        is_one ? nullptr : before_in.data()) <= unit * factor,
               "backward " + c.text);
}

/* The plans of one combination, and the reference. */
template <class Tag, class R, class index> class one_case {
    static constexpr bool is_r2r = heffte::detail::traits<Tag>::is_real;

  public:
    explicit one_case(drawn &c)
        : c_(c), world_(world_of<index>(c.size)),
          world_out_(c.direction < 0 ? world_ : world_.r2c(c.direction)),
          in_boxes_(random_boxes(world_, c.order_in)),
          out_boxes_(random_boxes(world_out_, c.order_out)),
          options_(heffte::default_options<Tag>()) {
        const std::size_t rank = static_cast<std::size_t>(self().rank);
        in_ = in_boxes_[rank], out_ = out_boxes_[rank];
        room_in_ = with_room(in_, c.has_room, rank),
        room_out_ = with_room(out_, c.has_room, rank + 1);
        choose_ranks();
    }
    ~one_case() {
        if (subcomm_ != MPI_COMM_NULL)
            MPI_Comm_free(&subcomm_);
    }

    void run_r2c() {
        fill(true);
        const auto fft =
            c_.has_room || one_stream::on_device
                ? heffte::fft3d_r2c<Tag, index>(stream_.handle, in_, out_, room_in_, room_out_,
                                                c_.direction, MPI_COMM_WORLD, options_)
                : heffte::make_fft3d_r2c<Tag>(in_, out_, c_.direction, MPI_COMM_WORLD, options_);
        run<R, std::complex<R>>(fft, c_, stream_, side<R>(in_, room_in_, c_.size),
                                side<std::complex<R>>(out_, room_out_, size_out()), points_,
                                modes_);
    }
    template <class In, class Out> void run_fft3d() {
        fill(std::is_same<In, R>::value);
        const bool has_room = c_.has_room || one_stream::on_device;
        const auto fft = has_room ? heffte::fft3d<Tag, index>(stream_.handle, in_, out_, room_in_,
                                                              room_out_, MPI_COMM_WORLD, options_)
                                  : heffte::make_fft3d<Tag>(in_, out_, MPI_COMM_WORLD, options_);
        run<In, Out>(fft, c_, stream_, side<In>(in_, room_in_, c_.size),
                     side<Out>(out_, room_out_, c_.size), points_, modes_);
    }

  private:
    std::array<int, 3> size_out() const {
        return {{static_cast<int>(world_out_.size[0]), static_cast<int>(world_out_.size[1]),
                 static_cast<int>(world_out_.size[2])}};
    }
    template <class T>
    local<T, index> side(const heffte::box3d<index> &box, const heffte::box3d<index> &room,
                         std::array<int, 3> world) const {
        return {box, room, world, box.empty() ? 0 : static_cast<std::size_t>(room.count())};
    }

    void choose_ranks() {
        options_.asynchronous = one_stream::on_device && !c_.is_mixed && random_one_of(2);
        const int how = random_between(0, 5), n = random_between(1, self().nranks);
        if (how == 0)
            options_.use_num_subranks(n);
        if (how != 1)
            return;
        std::vector<int> members(static_cast<std::size_t>(self().nranks));
        std::iota(members.begin(), members.end(), 0);
        shuffle(members);
        const std::ptrdiff_t place =
            std::find(members.begin(), members.end(), self().rank) - members.begin();
        MPI_Comm_split(MPI_COMM_WORLD, place < n ? 0 : MPI_UNDEFINED, static_cast<int>(place),
                       &subcomm_);
        options_.use_subcomm(subcomm_);
    }

    void fill(bool is_real) {
        const std::size_t n = static_cast<std::size_t>(c_.size[0]) *
                              static_cast<std::size_t>(c_.size[1] * c_.size[2]);
        for (int f = 0; f < c_.batch; f++) {
            std::vector<complex> field(n);
            for (std::size_t i = 0; i < n; i++) {
                const std::size_t at = 2 * (i + n * static_cast<std::size_t>(f));
                field[i] = complex(value(c_.seed, at), is_real ? 0 : value(c_.seed, at + 1));
            }
            std::vector<complex> all =
                reference(field, c_.size, is_r2r, heffte::detail::traits<Tag>::type);
            std::vector<complex> part;
            heffte::box3d<index> whole = world_out_;
            whole.order = {{0, 1, 2}};
            for_each(whole, whole, c_.size,
                     [&](std::size_t place, std::size_t) { part.push_back(all[place]); });
            points_.push_back(field);
            modes_.push_back(part);
        }
    }

    drawn &c_;
    one_stream stream_;
    heffte::box3d<index> world_, world_out_;
    std::vector<heffte::box3d<index>> in_boxes_, out_boxes_;
    heffte::plan_options options_;
    heffte::box3d<index> in_ = world_, out_ = world_, room_in_ = world_, room_out_ = world_;
    MPI_Comm subcomm_ = MPI_COMM_NULL;
    std::vector<std::vector<complex>> points_, modes_;
};

template <class Tag, class R, class index> void run_fourier(drawn &c) {
    one_case<Tag, R, index> one(c);
    if (c.direction >= 0)
        one.run_r2c();
    else if (random_one_of(3))
        one.template run_fft3d<R, std::complex<R>>();
    else
        one.template run_fft3d<std::complex<R>, std::complex<R>>();
}
template <class Tag, class R, class index> void run_real(drawn &c) {
    c.direction = -1;
    if (heffte::detail::traits<Tag>::type == FFTND_DCT1)
        for (int &n : c.size)
            n = std::max(n, 2);
    one_case<Tag, R, index>(c).template run_fft3d<R, R>();
}

struct combination {
    const char *name;
    void (*run)(drawn &);
};
namespace tags = heffte::backend;
#ifdef HEFFTE_ON_DEVICE
const combination combinations[] = {
    {"device double", run_fourier<tags::cufft, double, int>},
    {"device float", run_fourier<tags::cufft, float, long long>},
    {"device cos1 double", run_real<tags::cufft_cos1, double, int>},
};
#else
const combination combinations[] = {
    {"double", run_fourier<tags::fftw, double, int>},
    {"float", run_fourier<tags::stock, float, int>},
    {"double, long long", run_fourier<tags::mkl, double, long long>},
    {"double", run_fourier<tags::fftw, double, int>},
    {"float, long long", run_fourier<tags::fftw, float, long long>},
    {"cos double", run_real<tags::fftw_cos, double, int>},
    {"sin float", run_real<tags::stock_sin, float, int>},
    {"cos1 double", run_real<tags::fftw_cos1, double, long long>},
    {"sin1 double", run_real<tags::fftw_sin1, double, int>},
};
#endif
const int ncombinations = sizeof combinations / sizeof *combinations;

const char *const scales[] = {"none", "full", "symmetric"};

void run_case(int number) {
    drawn c;
    for (int &n : c.size)
        n = random_one_of(6) ? 1 : random_between(1, self().nranks > 6 ? 24 : 13);
    c.order_in = random_order();
    c.order_out = random_one_of(2) ? c.order_in : random_order();
    c.batch = random_one_of(3) ? random_between(2, 3) : 1;
    c.direction = random_between(-1, 2);
    c.has_room = random_one_of(4);
    c.in_containers = c.batch == 1 && !c.has_room && random_one_of(5);
    c.in_place = !c.in_containers && random_one_of(3);
    c.is_mixed = c.batch == 1 && random_one_of(4);
    c.has_workspace = !c.in_containers && random_one_of(2);
    c.forward = static_cast<heffte::scale>(random_between(0, 2));
    c.backward = static_cast<heffte::scale>(random_between(0, 2));
    c.seed = self().generator();
    const combination &with =
        combinations[static_cast<std::size_t>(random_between(0, ncombinations - 1))];
    std::ostringstream text;
    text << "case " << number << ": " << with.name << ", " << c.size[0] << " x " << c.size[1]
         << " x " << c.size[2] << ", orders " << c.order_in[0] << c.order_in[1] << c.order_in[2]
         << " " << c.order_out[0] << c.order_out[1] << c.order_out[2] << ", r2c " << c.direction
         << ", batch " << c.batch << (c.has_room ? ", room" : "")
         << (c.in_place ? ", in place" : "") << (c.is_mixed ? ", mixed" : "")
         << (c.has_workspace ? ", workspace" : "") << (c.in_containers ? ", containers" : "")
         << ", scale " << scales[static_cast<int>(c.forward)] << " "
         << scales[static_cast<int>(c.backward)];
    c.text = text.str();
    try {
        with.run(c);
    } catch (const std::exception &error) {
        expect(false, c.text + ": " + error.what());
    }
}

#ifdef HEFFTE_ON_DEVICE
/* One rank's wrong arrays in calls that agree on nothing: it throws, and its next call is the one that others wait for.
 */
void test_alone() {
    using tag = tags::cufft;
    const heffte::box3d<> world({{0, 0, 0}}, {{5, 4, 7}});
    const std::array<int, 3> grid{{1, 1, self().nranks}};
    const heffte::box3d<> box =
        heffte::split_world(world, grid)[static_cast<std::size_t>(self().rank)];
    heffte::plan_options options = heffte::default_options<tag>();
    options.asynchronous = true;
    const one_stream stream;
    const heffte::fft3d<tag> fft(stream.handle, box, box, MPI_COMM_WORLD, options);
    const std::size_t n = fft.size_inbox();
    const heffte::gpu::vector<complex> few(n - 1);
    complex *const none = nullptr;
    const std::vector<complex> ones(n, complex(1, 0));
    heffte::gpu::vector<complex> points = copied<heffte::gpu::vector<complex>>(ones), modes(n);
    for (int call = 0; call < 2; call++) {
        if (self().rank == 0) {
            expect_throw<std::invalid_argument>([&] { (void)fft.forward(few); }, "shorter");
            expect_throw<std::invalid_argument>([&] { fft.forward(points.data(), none); }, "NULL");
        }
        fft.forward(points.data(), modes.data());
        stream.wait();
    }
    expect(self().rank != 0 || std::abs(got(modes.data(), 1)[0] - 240.0) < 1e-9,
           "calls after errors");
}

/* Whether a call throws. */
bool throws(const heffte::fft3d<tags::cufft> &fft, bool is_float) {
    heffte::gpu::vector<complex> in(fft.size_inbox()), out(fft.size_outbox());
    using narrow = std::complex<float>;
    try {
        if (is_float)
            fft.forward(reinterpret_cast<narrow *>(in.data()),
                        reinterpret_cast<narrow *>(out.data()));
        else
            fft.forward(in.data(), out.data());
    } catch (const std::exception &) {
        return true;
    }
    return false;
}

/* The device of the last rank fails in the middle of a call, and that rank ends its object while others go on with
 * another plan: no one waits for it. The device stays lost, so this is the last test. */
void test_lost_device() {
    const heffte::box3d<> box({{0, 0, self().rank}}, {{7, 6, self().rank}});
    const one_stream stream;
    const bool is_last = self().rank == self().nranks - 1;
    std::unique_ptr<heffte::fft3d<tags::cufft>> fft(
        new heffte::fft3d<tags::cufft>(stream.handle, box, box, MPI_COMM_WORLD));
    expect(!throws(*fft, self().nranks % 2 == 0) && !throws(*fft, false), "calls before a failure");
    if (is_last)
        stream_device_fault(stream.handle);
    const bool is_known = throws(*fft, false);
    expect(is_known || !is_last, "a call with a device that is lost");
    if (!is_last)
        for (int call = 0; call < 2; call++)
            expect(throws(*fft, true), "another plan after a failure");
    fft.reset();
}

/* Units with and without CUDA's header are one program: copies of one serve both. */
void test_units() {
    using tag = tags::cufft;
    expect(unit_copies(stream_device_current()), "copies of a device");
    expect(unit_is_enabled() && !heffte::backend::is_enabled<tag>::value, "an enabled backend");
    const heffte::box3d<> box({{0, 0, self().rank}}, {{3, 4, self().rank}});
    const heffte::fft3d<tag> fft(box, box, MPI_COMM_WORLD);
    const std::vector<double> ones(fft.size_inbox(), 1);
    heffte::gpu::vector<double> points = copied<heffte::gpu::vector<double>>(ones);
    heffte::gpu::vector<complex> modes(fft.size_outbox());
    unit_forward(fft, points.data(), modes.data());
    const double sum = self().rank == 0 ? 20 * self().nranks : 0;
    expect(std::abs(got(modes.data(), 1)[0] - sum) < 1e-9, "a call of another unit");
}
#endif

} // namespace

int main(int argc, char **argv) {
    checks::start(&argc, &argv);
    if (!checks::is_drawn(argc, argv))
        return checks::skip("this number of ranks is not drawn");
#ifdef HEFFTE_ON_DEVICE
    if (!stream_device_begin())
        return checks::skip("fewer CUDA devices than ranks");
    test_alone();
    test_units();
#endif
    checks::repeat(0.5, run_case);
#ifdef HEFFTE_ON_DEVICE
    if (self().nranks > 1 && stream_device_replays() >= 0) /* the stand-in: its calls go on */
        test_lost_device();
#endif
    return checks::finish();
}
