/* SPDX-License-Identifier: BSD-3-Clause */
/* heffte.h without its numbers: boxes, tags, options, reshapes, all forms of constructors and calls, errors on all
 * ranks, memory of calls, reports. */
#include "heffte_checks.hpp"

#include <fstream>
#include <memory>
#include <new>
#include <unistd.h>

namespace {
const std::size_t no_limit = static_cast<std::size_t>(-1);
long allocations;             /* of C++ on this rank */
std::size_t limit = no_limit; /* of the bytes of one */
} // namespace

[[gnu::noinline]] void *operator new(std::size_t bytes) {
    allocations++;
    if (void *memory = bytes < limit ? std::malloc(bytes != 0 ? bytes : 1) : nullptr)
        return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void *memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept {
    std::free(memory);
}

namespace {

using namespace checks;
using heffte::box3d;
using tag = heffte::backend::fftw;
using complex = std::complex<double>;

const box3d<> world({{0, 0, 0}}, {{5, 6, 3}});

/* Parts of a world, of slabs along a dimension. */
template <class index> std::vector<box3d<index>> slabs(const box3d<index> &of, int dimension) {
    std::array<int, 3> grid{{1, 1, 1}};
    grid[static_cast<std::size_t>(dimension)] = self().nranks;
    return heffte::split_world(of, grid);
}
/* The last rank has elements in all slabs of any number of ranks: it is the one that does something wrong. */
bool is_last() {
    return self().rank == self().nranks - 1;
}
template <class T> const T &own(const std::vector<T> &list) {
    return list[static_cast<std::size_t>(self().rank)];
}

void test_boxes() {
    const box3d<> box({{1, 0, 2}}, {{4, 2, 2}}, {{2, 0, 1}}), empty({{0, 0, 0}}, {{-1, 3, 3}});
    expect(box.size == std::array<int, 3>{{4, 3, 1}} && box.count() == 12, "size");
    expect(empty.empty() && empty.count() == 0 && !box.empty(), "empty");
    expect(box.osize(0) == 1 && box.osize(1) == 4 && box.find_order(1) == 2, "order");
    expect(box.collide(world).low == box.low && box.collide(empty).empty(), "collide");
    expect(box.r2c(0).size == std::array<int, 3>{{3, 3, 1}} && box.r2c(2).count() == 12, "r2c");
    expect(box == box3d<>({{1, 0, 2}}, {{4, 2, 2}}) && box != world, "comparison");
    std::ostringstream text;
    text << box;
    expect(text.str().find("1") != std::string::npos, "printed");
    heffte::box2d<> plane({{0, 1}}, {{4, 5}});
    expect(plane.count() == 25 && plane.size[2] == 1, "a box of two dimensions");
    const long long n = 1LL << 20;
    expect(box3d<long long>({{0, 0, 0}}, {{n - 1, n - 1, 7}}).count() == n * n * 8, "a large box");
    const box3d<> braces = {{0, 0, 0}, {1, 2, 3}};
    expect(braces.count() == 24, "braces");
}

void test_helpers() {
    for (int p = 1; p <= 12; p++) {
        const std::array<int, 3> grid = heffte::proc_setup_min_surface(world, p);
        expect(grid[0] * grid[1] * grid[2] == p, "a grid of all processes");
        const std::vector<box3d<>> boxes = heffte::split_world(world, grid);
        expect(boxes.size() == static_cast<std::size_t>(p) && heffte::find_world(boxes) == world &&
                   heffte::world_complete(boxes, world),
               "parts of a world");
        const std::array<int, 2> plane = heffte::make_procgrid(p);
        expect(plane[0] * plane[1] == p && plane[0] <= plane[1], "a grid of two dimensions");
    }
    expect(heffte::proc_setup_min_surface(box3d<>({{0, 0, 0}}, {{63, 7, 7}}), 8)[0] == 8,
           "surface");
    const auto all =
        heffte::mpi::gather_boxes(own(slabs(world, 0)), own(slabs(world, 1)), MPI_COMM_WORLD);
    expect(all.in == slabs(world, 0) && all.out == slabs(world, 1), "boxes of all ranks");
    expect(heffte::mpi::world_rank() == self().rank && heffte::mpi::world_rank(self().rank) &&
               heffte::mpi::comm_rank(MPI_COMM_WORLD) == self().rank &&
               heffte::mpi::comm_size(MPI_COMM_WORLD) == self().nranks,
           "ranks");
}

void test_tags() {
    namespace backend = heffte::backend;
    static_assert(backend::is_enabled<backend::stock>::value &&
                      backend::is_enabled<backend::fftw>::value,
                  "tags of the host");
    static_assert(!backend::is_enabled<backend::rocfft>::value, "a device that is not served");
    static_assert(
        std::is_same<backend::buffer_traits<tag>::container<float>, std::vector<float>>::value &&
            std::is_same<backend::buffer_traits<backend::cufft>::container<float>,
                         heffte::gpu::vector<float>>::value,
        "containers");
    static_assert(
        std::is_same<backend::default_backend<heffte::tag::gpu>::type, backend::cufft>::value,
        "the backend of devices");
    static_assert(heffte::is_zcomplex<double[2]>::value && !heffte::is_ccomplex<complex>::value,
                  "types");
    static_assert(
        std::is_same<heffte::fft_output<float>::type, std::complex<float>>::value &&
            std::is_same<heffte::transform_output<float, backend::fftw_cos>::type, float>::value,
        "types of results");
    using heffte::detail::is_workspace;
    static_assert(is_workspace<tag, double, complex>::value &&
                      !is_workspace<tag, complex, double>::value &&
                      !is_workspace<tag, complex, std::complex<float>>::value &&
                      is_workspace<backend::fftw_cos, float, float>::value &&
                      !is_workspace<backend::fftw_cos, double, float>::value,
                  "elements of a workspace");
    expect(backend::name<tag>() == "fftw" && !backend::name<backend::cufft_cos1>().empty(),
           "names");
    expect(backend::device_instance<heffte::tag::cpu>().stream() == nullptr, "the host's stream");
    heffte::plan_options options = heffte::default_options<tag>();
    options.algorithm = heffte::reshape_algorithm::p2p_plined;
    options.use_num_subranks(2);
    std::ostringstream text;
    text << options;
    expect(text.str().find("p2p_plined") != std::string::npos && options.get_subranks() == 2,
           "options");
    options.use_subcomm(MPI_COMM_SELF);
    expect(options.get_subranks() == 1, "a communicator of the ranks that transform");
}

/* Compiled only: devices need one at run time. */
void compile_devices(const box3d<> &box, CUstream_st *stream) {
    using device = heffte::backend::cufft;
    const heffte::fft3d<device>::stream_type given = stream;
    const heffte::fft3d<device> fft(given, box, box, MPI_COMM_WORLD);
    heffte::gpu::vector<complex> in(fft.size_inbox()), out(fft.size_outbox());
    fft.forward(in.data(), out.data(), heffte::scale::full);
    heffte::gpu::vector<complex> third = fft.backward(fft.forward(in));
    const heffte::fft3d_r2c<device> real(stream, box, box.r2c(0), 0, MPI_COMM_WORLD);
    heffte::gpu::vector<double> points = real.backward(out);
    const heffte::rtransform<heffte::backend::cufft_cos> cosine(stream, box, box, MPI_COMM_WORLD);
    cosine.forward(points.data(), points.data());
    const auto reshape = heffte::make_reshape3d<device>(stream, std::vector<box3d<>>{box},
                                                        std::vector<box3d<>>{box}, MPI_COMM_WORLD);
    reshape->apply(1, in.data(), out.data(), third.data());
    expect(fft.stream() == stream && cosine.stream() == stream, "streams");
}

void test_no_device() {
    if (self().nranks > 64) /* never */
        compile_devices(world, nullptr);
    try {
        const heffte::fft3d<heffte::backend::cufft> fft(own(slabs(world, 0)), own(slabs(world, 0)),
                                                        MPI_COMM_WORLD);
        fftnd_heffte::prepare<double>(fft);
    } catch (const std::exception &error) {
        expect(std::string(error.what()).size() > 10, "the reason why there is no device");
    }
}

/* ---------------------------------------------------------------- calls */

double difference(const std::vector<complex> &a, const complex *b) {
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); i++)
        worst = std::max(worst, std::abs(a[i] - b[i]));
    return worst;
}

template <class Plan> std::vector<complex> some(const Plan &fft) {
    std::vector<complex> result(fft.size_inbox());
    for (std::size_t i = 0; i < result.size(); i++)
        result[i] =
            complex(static_cast<double>(i * i % 19), self().rank - static_cast<double>(i % 7));
    return result;
}

/* The forms of constructors and calls give the same. */
void test_forms() {
    const box3d<> in = own(slabs(world, 1)), out = own(slabs(world, 0));
    const heffte::fft3d<tag> fft(in, out, MPI_COMM_WORLD);
    const heffte::fft3d<tag> by_numbers(in.low[0], in.low[1], in.low[2], in.high[0], in.high[1],
                                        in.high[2], out.low[0], out.low[1], out.low[2], out.high[0],
                                        out.high[1], out.high[2], MPI_COMM_WORLD);
    const heffte::fft3d<tag> by_orders(
        in.low[0], in.low[1], in.low[2], in.high[0], in.high[1], in.high[2], 0, 1, 2, out.low[0],
        out.low[1], out.low[2], out.high[0], out.high[1], out.high[2], 0, 1, 2, MPI_COMM_WORLD);
    const heffte::fft3d<tag> with_stream(nullptr, in, out, MPI_COMM_WORLD);
    std::vector<complex> points = some(fft);
    points.reserve(
        1); /* NULL may be no array of a rank without elements, but is none of FFTW's types */
    const std::vector<complex> modes = fft.forward(points);
    std::vector<complex> other(fft.size_outbox());
    by_numbers.forward(points.data(), other.data());
    expect(difference(modes, other.data()) < 1e-12, "a plan by 12 numbers");
    by_orders.forward(points.data(), other.data());
    expect(difference(modes, other.data()) < 1e-12, "a plan by 18 numbers");
    expect(with_stream.stream() == nullptr && fft.stream() == nullptr, "the stream of a plan");
    with_stream.forward(points.data(), other.data());
    expect(difference(modes, other.data()) < 1e-12, "a plan with a stream");
    double(*const a)[2] = reinterpret_cast<double(*)[2]>(points.data());
    double(*const b)[2] = reinterpret_cast<double(*)[2]>(other.data());
    fft.forward(a, b);
    expect(difference(modes, other.data()) < 1e-12, "FFTW's complex numbers");
    std::vector<std::complex<float>> narrow(points.begin(), points.end());
    const std::vector<std::complex<float>> narrow_modes = fft.forward(narrow);
    for (std::size_t i = 0; i < modes.size(); i++)
        other[i] = complex(narrow_modes[i].real(), narrow_modes[i].imag());
    expect(difference(modes, other.data()) < 1e-2, "float and double on one plan");
    const std::vector<complex> back = fft.backward(modes, heffte::scale::full);
    expect(difference(points, back.data()) < 1e-12, "containers there and back");
    const std::vector<double> real = fft.backward_real(modes, heffte::scale::full);
    for (std::size_t i = 0; i < real.size(); i++)
        expect(std::abs(real[i] - points[i].real()) < 1e-12, "the real part");
    expect(fft.inbox() == in && fft.outbox() == out && fft.size_comm_buffers() == 0,
           "about a plan");
    expect(std::abs(fft.get_scale_factor(heffte::scale::full) * 168 - 1) < 1e-12, "factor");
}

/* An allocated box says no order: the array is in that of the box. */
void test_rooms() {
    const box3d<> part = own(slabs(world, 1));
    const box3d<> box(part.low, part.high, {{2, 1, 0}}),
        room({{-1, part.low[1] - 2, 0}}, {{part.high[0], part.high[1], part.high[2] + 1}});
    const heffte::fft3d<tag> fft(box, box, room, box, MPI_COMM_WORLD);
    std::vector<complex> points(fft.size_inbox()), modes(fft.size_outbox()), other(modes);
    std::vector<double> real(points.size());
    for (std::size_t i = 0; i < real.size(); i++)
        points[i] = real[i] = static_cast<double>(i * i % 17);
    fft.forward(points.data(), modes.data());
    fft.forward(real.data(), other.data());
    expect(difference(modes, other.data()) < 1e-12, "real numbers in an array with room");
}

void test_planes() {
    const heffte::box2d<> whole({{0, 0}}, {{8, 5}});
    const auto boxes = slabs<int>(whole, 1), modes = slabs<int>(whole.r2c(0), 1);
    const heffte::fft2d_r2c<tag> fft(own(boxes), own(modes), 0, MPI_COMM_WORLD);
    std::vector<double> points(fft.size_inbox(), 1.0);
    const auto spectrum = fft.forward(points, heffte::scale::full);
    double sum = 0, expected = own(modes).low[1] == 0 && !own(modes).empty() ? 1 : 0;
    for (const complex &x : spectrum)
        sum += std::abs(x);
    expect(std::abs(sum - expected) < 1e-12, "the mean of a plane");
    expect(fft.backward(spectrum).size() == points.size(), "a plane back");
}

/* After the first call of a kind the header allocates nothing; `prepare` makes the first call like the others. */
void test_memory() {
    const box3d<> box = own(slabs(world, 1));
    const heffte::fft3d<tag> fft(box, box, MPI_COMM_WORLD);
    std::vector<complex> a = some(fft), b(a), work(fft.size_workspace());
    std::vector<double> real(fft.size_inbox());
    fftnd_heffte::prepare<double>(fft);
    fftnd_heffte::prepare<double>(fft, heffte::scale::none, heffte::scale::full);
    fftnd_heffte::prepare<double>(fft, heffte::scale::none, heffte::scale::full, true);
    const long before = allocations;
    for (int i = 0; i < 3; i++) {
        fft.forward(a.data(), b.data(), work.data());
        fft.backward(b.data(), a.data(), work.data(), heffte::scale::full);
        fft.forward(real.data(), b.data(), work.data());
        fft.backward(b.data(), real.data(), work.data(), heffte::scale::full);
        fft.backward(b.data(), a.data());
    }
    const long after = allocations;
    expect(after == before, "memory for calls");
    for (int i = 0; i < 2; i++)
        fft.forward(a.data(), a.data()); /* the first one learns that it is in place */
    const long in_place = allocations;
    for (int i = 0; i < 3; i++)
        fft.backward(a.data(), a.data(), heffte::scale::full);
    const long end = allocations;
    expect(end == in_place, "memory for calls in place");
}

/* ---------------------------------------------------------------- reshapes */

template <class T, class index> void run_reshape() {
    const std::array<int, 3> n{{random_between(1, 9), random_between(1, 9), random_between(1, 9)}};
    const box3d<index> all = world_of<index>(n);
    const std::array<int, 3> first = random_order(),
                             second = random_one_of(2) ? first : random_order();
    const auto in = random_boxes(all, first), out = random_boxes(all, second);
    const auto reshape = heffte::make_reshape3d<tag>(in, out, MPI_COMM_WORLD);
    const int batch = random_between(1, 3);
    const std::size_t fields = static_cast<std::size_t>(batch);
    std::vector<T> a(fields * reshape->size_intput()), b(fields * reshape->size_output()),
        work(fields * reshape->size_workspace());
    const auto value = [](std::size_t f, std::size_t place) {
        return T(static_cast<float>(1 + 1000 * f + place));
    };
    for (std::size_t f = 0; f < fields; f++)
        for_each(own(in), own(in), n, [&](std::size_t place, std::size_t at) {
            a[f * reshape->size_intput() + at] = value(f, place);
        });
    for (int again = 0; again < 2; again++) {
        std::fill(b.begin(), b.end(), T(0));
        reshape->apply(batch, a.data(), b.data(), again ? work.data() : nullptr);
        bool is_right = true;
        for (std::size_t f = 0; f < fields; f++)
            for_each(own(out), own(out), n, [&](std::size_t place, std::size_t at) {
                is_right = is_right && b[f * reshape->size_output() + at] == value(f, place);
            });
        std::ostringstream text;
        text << "reshape of " << all << ", batch " << batch << ", orders " << first[0] << first[1]
             << first[2] << " " << second[0] << second[1] << second[2];
        expect(is_right, text.str());
    }
}

void test_reshapes() {
    for (int i = 0; i < 3; i++) {
        run_reshape<double, int>();
        run_reshape<std::complex<double>, long long>();
        run_reshape<float, int>();
        run_reshape<std::complex<float>, int>();
    }
    auto boxes = slabs(world, 0);
    const auto turned = slabs(box3d<>(world.low, world.high, {{2, 1, 0}}), 1);
    const auto reshape = heffte::make_reshape3d<tag>(boxes, turned, MPI_COMM_WORLD);
    std::vector<float> a(reshape->size_intput()), b(reshape->size_output());
    expect_throw<std::invalid_argument>(
        [&] { reshape->apply<float>(1, is_last() ? nullptr : a.data(), b.data()); }, "NULL");
    expect_throw<std::invalid_argument>(
        [&] { reshape->apply<float>(1, a.data(), is_last() ? nullptr : b.data()); }, "NULL");
    reshape->apply(1, a.data(), b.data());
    expect_throw<std::invalid_argument>(
        [&] { heffte::make_reshape3d<tag>(boxes, slabs(world.r2c(0), 1), MPI_COMM_WORLD); },
        "same world");
    expect_throw<std::invalid_argument>(
        [&] { heffte::make_reshape3d<heffte::backend::cufft>(boxes, turned, MPI_COMM_WORLD); },
        "another order");
    boxes.push_back(boxes[0]);
    expect_throw<std::invalid_argument>(
        [&] { heffte::make_reshape3d<tag>(boxes, slabs(world, 1), MPI_COMM_WORLD); },
        "list of boxes");
}

/* ---------------------------------------------------------------- errors */

/* Boxes of which the last rank's is wrong. */
void expect_wrong(const box3d<> &in, const box3d<> &out, const char *text) {
    expect_throw<std::invalid_argument>([&] { heffte::fft3d<tag>(in, out, MPI_COMM_WORLD); }, text);
}

void test_wrong_boxes() {
    const box3d<> right = own(slabs(world, 2)), none({{0, 0, 0}}, {{-1, -1, -1}});
    box3d<> wrong = right;
    if (is_last())
        wrong = box3d<>(right.low, {{right.high[0], right.high[1] - 1, right.high[2]}});
    if (self().nranks > 1)
        expect_wrong(wrong, wrong, "holes");
    if (is_last())
        wrong = world;
    if (self().nranks > 1)
        expect_wrong(wrong, right, "overlap");
    expect_wrong(right, own(slabs(world.r2c(0), 2)), "outbox");
    expect_wrong(box3d<>({{right.low[0] + 1, right.low[1], right.low[2]}},
                         {{right.high[0] + 1, right.high[1], right.high[2]}}),
                 right, "begin at 0");
    expect_wrong(none, none, "begin at 0");
    wrong = right;
    if (is_last())
        wrong.order = {{0, 0, 2}};
    expect_wrong(right, wrong, "permutation");
    if (self().nranks > 1 && is_last())
        wrong.order = {{1, 0, 2}};
    if (self().nranks > 1)
        expect_wrong(wrong, right, "another order");
    setenv("FFTND_HEFFTE_EFFORT", is_last() ? "much" : "measure", 1);
    expect_wrong(right, right, "is not estimate");
    unsetenv("FFTND_HEFFTE_EFFORT");
    for (int direction : {-1, 3})
        expect_throw<std::invalid_argument>(
            [&] { heffte::fft3d_r2c<tag>(right, right, direction, MPI_COMM_WORLD); },
            "r2c_direction");
    wrong = is_last() ? box3d<>(right.low, {{right.low[0], 0, 0}}) : right;
    expect_throw<std::invalid_argument>(
        [&] { heffte::fft3d<tag>(right, right, wrong, right, MPI_COMM_WORLD); }, "allocated box");
    expect_throw<std::invalid_argument>([&] { heffte::fft3d<tag>(right, right, MPI_COMM_NULL); },
                                        "comm");
}

void test_wrong_calls() {
    const box3d<> box = own(slabs(world, 1));
    const heffte::fft3d<tag> fft(box, box, MPI_COMM_WORLD);
    std::vector<complex> points = some(fft), modes(fft.size_outbox()), kept = points;
    std::vector<complex> wrong(is_last() ? points.size() - 1 : points.size());
    std::vector<double> real(points.size()), few(is_last() ? 1 : points.size());
    for (int again = 0; again < 2; again++) {
        expect_throw<std::invalid_argument>([&] { fft.forward(wrong); },
                                            "(rank " + std::to_string(self().nranks - 1) + ")");
        expect_throw<std::invalid_argument>([&] { fft.forward(few); }, "shorter");
        expect_throw<std::invalid_argument>([&] { fft.backward(wrong); }, "shorter");
        expect_throw<std::invalid_argument>([&] { fft.backward_real(wrong); }, "shorter");
        expect_throw<std::invalid_argument>(
            [&] { fft.forward(points.data(), is_last() ? nullptr : modes.data()); }, "NULL");
        expect_throw<std::invalid_argument>(
            [&] { fft.forward(is_last() ? nullptr : real.data(), modes.data()); }, "NULL");
        expect_throw<std::invalid_argument>(
            [&] { fft.backward(modes.data(), is_last() ? nullptr : real.data()); }, "NULL");
        expect_throw<std::invalid_argument>([&] { fft.forward(0, points.data(), modes.data()); },
                                            "batch_size = 0");
    }
    limit =
        is_last() ? modes.size() * sizeof(complex) : no_limit; /* a smaller message finds room */
    expect_throw<std::invalid_argument>([&] { (void)fft.backward(modes); }, "memory for the cont");
    limit = no_limit;
    expect(points == kept, "nothing was touched");
    fft.forward(points.data(), modes.data());
    fft.backward(modes.data(), points.data(), heffte::scale::full);
    expect(difference(kept, points.data()) < 1e-12, "calls after errors");
    const heffte::fft3d_r2c<tag> halved(box, own(slabs(world.r2c(0), 1)), 0, MPI_COMM_WORLD);
    expect_throw<std::invalid_argument>([&] { halved.forward(modes.data(), real.data()); },
                                        "real numbers");
}

/* ---------------------------------------------------------------- the report */

void test_report() {
    char name[] = "/tmp/heffte_report_XXXXXX";
    const int file = self().rank == 0 ? mkstemp(name) : -1;
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    const std::string wisdom = std::string(name) + ".wisdom";
    setenv("FFTND_HEFFTE_REPORT", name, 1);
    setenv("FFTND_HEFFTE_EFFORT", "measure", 1);
    {
        const box3d<> box = own(slabs(world, 1));
        heffte::plan_options options = heffte::default_options<tag>();
        options.wisdom_file = wisdom;
        const heffte::fft3d<tag> fft(box, box, MPI_COMM_WORLD, options);
        const std::vector<complex> points = some(fft);
        (void)fft.forward(points);
        (void)fft.forward(points);
    }
    unsetenv("FFTND_HEFFTE_REPORT");
    unsetenv("FFTND_HEFFTE_EFFORT");
    MPI_Barrier(MPI_COMM_WORLD);
    if (self().rank != 0)
        return;
    std::ifstream report(name);
    std::string line;
    std::getline(report, line);
    expect(line.find("c2c 6 x 7 x 4, double, batch 1, host") != std::string::npos &&
               line.find("; 2 calls, ") != std::string::npos,
           "report: " + line);
    expect(!std::getline(report, line), "one line for each plan");
    expect(self().nranks == 1 || std::ifstream(wisdom).good(), "what a plan has measured");
    unlink(wisdom.c_str());
    close(file);
    unlink(name);
}

} // namespace

int main(int argc, char **argv) {
    checks::start(&argc, &argv);
    if (!checks::is_drawn(argc, argv))
        return checks::skip("this number of ranks is not drawn");
    test_boxes();
    test_helpers();
    test_tags();
    test_no_device();
    test_forms();
    test_rooms();
    test_planes();
    test_memory();
    test_reshapes();
    test_wrong_boxes();
    test_wrong_calls();
    test_report();
    return checks::finish();
}
