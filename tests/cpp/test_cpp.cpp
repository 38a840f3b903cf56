/* SPDX-License-Identifier: BSD-3-Clause */
/* redist.hpp and fftnd.hpp: exchanges, plans, grids, boxes, ghosts, transforms of all types, errors. */
#include "checks.hpp"

#include <cmath>
#include <numeric>

namespace {

using namespace checks;

struct particle {
    double place;
    int number;
    char kind;
};

double value_of(double, redist::index place) {
    return static_cast<double>(place);
}
float value_of(float, redist::index place) {
    return static_cast<float>(place);
}
char value_of(char, redist::index place) {
    return static_cast<char>(place);
}
int value_of(int, redist::index place) {
    return static_cast<int>(place);
}
std::complex<float> value_of(std::complex<float>, redist::index place) {
    return {static_cast<float>(place), 1};
}
std::array<double, 3> value_of(std::array<double, 3>, redist::index place) {
    return {static_cast<double>(place), 1, 2};
}
particle value_of(particle, redist::index place) {
    return {0.5, static_cast<int>(place), 'p'};
}

bool is_equal(double a, double b) {
    return std::abs(a - b) <= 0;
}
bool is_equal(const particle &a, const particle &b) {
    return a.number == b.number && a.kind == b.kind;
}

/* Planes of an array of 6 x 5 x 4, split along axis 0 in A and along axis 1 in B. */
template <class T> struct planes {
    redist::block part_a = redist::decompose(6, nranks, rank),
                  part_b = redist::decompose(5, nranks, rank);
    redist::array<T> memory_a{MPI_COMM_WORLD, static_cast<std::size_t>(part_a.count * 5 * 4)};
    std::vector<T> memory_b = std::vector<T>(static_cast<std::size_t>(6 * part_b.count * 4));
    redist::view<T, 3> a{memory_a.data(), {part_a.count, 5, 4}},
        b{memory_b.data(), {6, part_b.count, 4}};

    void fill_a() {
        for (redist::index i = 0; i < part_a.count; i++)
            for (redist::index j = 0; j < 5; j++)
                for (redist::index k = 0; k < 4; k++)
                    a(i, j, k) = value_of(T{}, ((part_a.start + i) * 5 + j) * 4 + k);
    }
    bool holds_b() const {
        bool right = true;
        for (redist::index i = 0; i < 6; i++)
            for (redist::index j = 0; j < part_b.count; j++)
                for (redist::index k = 0; k < 4; k++)
                    right = right &&
                            is_equal(b(i, j, k), value_of(T{}, (i * 5 + part_b.start + j) * 4 + k));
        return right;
    }
};

template <class T> void test_exchange(const char *what) {
    planes<T> p;
    p.fill_a();
    redist::view<const T, 3> a(p.a.data(), p.a.sizes());
    redist::exchange(MPI_COMM_WORLD, a, 1, p.b, 0);
    expect(p.holds_b(), what);
}

void test_sizes() {
    planes<double> p;
    const auto both = redist::exchange_sizes(MPI_COMM_WORLD, {6, 5, 4}, 1, 0);
    expect(both.first == std::vector<redist::index>{p.part_a.count, 5, 4} &&
               both.second == std::vector<redist::index>{6, p.part_b.count, 4},
           "extents of an exchange");
    expect(code_of([&] {
               redist::exchange_sizes(MPI_COMM_WORLD, {6, 5}, 1, 1);
           }) == REDIST_ERR_AXIS,
           "an exchange of an axis with itself");
}

void test_plan() {
    planes<double> p;
    redist::options options;
    options.method = "p2p";
    options.phases = 1;
    redist::plan<double> first(MPI_COMM_WORLD, p.a, 1, p.b, 0, options);
    redist::plan<double> plan = std::move(first);
    expect(first.get() == nullptr, "what was moved is empty");
    p.fill_a();
    plan.forward();
    expect(p.holds_b(), "plan forward");
    std::fill(p.memory_a.begin(), p.memory_a.end(), -1.0);
    plan.start(REDIST_BACKWARD);
    plan.wait();
    std::fill(p.memory_b.begin(), p.memory_b.end(), -1.0);
    plan.forward();
    expect(p.holds_b(), "plan backward in two steps");
    expect(plan.method() == "p2p" && plan.info().moved_bytes == p.memory_a.size() * sizeof(double),
           "about a plan");
    expect(plan.phases().executions == 3, "phases");
    options.bind_a = options.bind_b = REDIST_BIND_AT_EXECUTION;
    redist::plan<double> later(MPI_COMM_WORLD, p.a, 1, p.b, 0, options);
    std::fill(p.memory_b.begin(), p.memory_b.end(), -1.0);
    later.forward(p.a.data(), p.b.data());
    expect(p.holds_b(), "arrays that are bound at execution");
    later.backward(p.b.data(), p.a.data());
}

void test_boxes() {
    redist::grid rows(MPI_COMM_WORLD, {0}), bricks(MPI_COMM_WORLD, {0, 0});
    const std::vector<redist::index> sizes = {7, 6};
    redist::box box_a = rows.box(sizes, {0}), box_b = bricks.box(sizes, {0, 1});
    std::vector<int> a(static_cast<std::size_t>(box_a.count[0] * box_a.count[1]));
    std::vector<int> b(static_cast<std::size_t>(box_b.count[0] * box_b.count[1]));
    std::iota(a.begin(), a.end(), static_cast<int>(box_a.start[0] * 6));
    redist::plan<int> plan(MPI_COMM_WORLD, sizes, box_a, a.data(), box_b, b.data());
    plan.forward();
    redist::view<int, 2> brick(b.data(), {box_b.count[0], box_b.count[1]});
    bool right = true;
    for (redist::index i = 0; i < box_b.count[0]; i++)
        for (redist::index j = 0; j < box_b.count[1]; j++)
            right = right && brick(i, j) == (box_b.start[0] + i) * 6 + box_b.start[1] + j;
    expect(right, "a brick");
    int n = 0;
    MPI_Comm_size(bricks.subcomm(1), &n);
    expect(n == bricks.dims()[1] && bricks.coords()[1] < n, "subgroups of a grid");
    int result = MPI_UNEQUAL;
    MPI_Comm_compare(bricks.comm(), MPI_COMM_WORLD, &result);
    expect(result == MPI_CONGRUENT, "communicator of a grid");
    std::vector<redist::communicator> groups = redist::subcomm(MPI_COMM_WORLD, 2);
    expect(groups[0].size() * groups[1].size() == nranks && groups[0].rank() < groups[0].size(),
           "subgroups");
}

/* ---------------------------------------------------------------- ghosts */

double first_number(double value) {
    return value;
}
double first_number(std::complex<float> value) {
    return static_cast<double>(value.real());
}
double first_number(const std::array<double, 3> &value) {
    return value[0];
}
double first_number(const particle &value) {
    return value.number;
}

/* A field in blocks of a grid with random extents and ghosts. */
template <class T> struct ghosted {
    redist::halo halo;
    std::vector<redist::index> sizes = {random_between(1, 9), random_between(1, 9)};
    redist::grid grid{MPI_COMM_WORLD, {0, 0}};
    redist::box box;
    std::vector<T> memory;
    redist::view<T, 2> field;

    ghosted() {
        for (std::size_t i = 0; i < 2; i++) {
            halo.periodic[i] = random_between(0, 1);
            const int most =
                halo.periodic[i] ? 4 : static_cast<int>(std::min<redist::index>(4, sizes[i]));
            halo.low[i] = random_between(0, most);
            halo.high[i] = random_between(0, most);
        }
        halo.corners = random_between(0, 1);
        box = redist::with_ghosts(grid.box(sizes, {0, 1}), halo);
        memory.resize(static_cast<std::size_t>(box.extent[0] * box.extent[1]));
        field = redist::interior<2>(memory.data(), box);
    }
    bool is_empty() const {
        return field.size(0) * field.size(1) == 0;
    }
    /* Calls visit(i, j, place, is_ghost) for each element of the box and each ghost. */
    template <class Visit> void each(Visit visit) const {
        for (redist::index i = -halo.low[0]; i < box.count[0] + halo.high[0] && !is_empty(); i++)
            for (redist::index j = -halo.low[1]; j < box.count[1] + halo.high[1]; j++) {
                const redist::index at[2] = {box.start[0] + i, box.start[1] + j};
                const bool out_0 = i < 0 || i >= box.count[0], out_1 = j < 0 || j >= box.count[1];
                bool exists = halo.corners || !(out_0 && out_1);
                for (std::size_t k = 0; k < 2; k++)
                    exists = exists && (halo.periodic[k] || (at[k] >= 0 && at[k] < sizes[k]));
                if (exists)
                    visit(i, j,
                          (at[0] + 8 * sizes[0]) % sizes[0] * sizes[1] +
                              (at[1] + 8 * sizes[1]) % sizes[1],
                          out_0 || out_1);
            }
    }
    void set() const {
        each([&](redist::index i, redist::index j, redist::index place, bool ghost) {
            field(i, j) = value_of(T{}, ghost ? 1 + (place + rank) % 3 : place);
        });
    }
    /* The sums of all ranks' ghosts in the global array. */
    std::vector<double> sums() const {
        std::vector<double> result(static_cast<std::size_t>(sizes[0] * sizes[1]));
        each([&](redist::index i, redist::index j, redist::index place, bool ghost) {
            if (ghost)
                result[static_cast<std::size_t>(place)] += first_number(field(i, j));
        });
        MPI_Allreduce(MPI_IN_PLACE, result.data(), static_cast<int>(result.size()), MPI_DOUBLE,
                      MPI_SUM, MPI_COMM_WORLD);
        return result;
    }
    /* Whether each element is what it was, with `added` at its place, and ghosts show those of their owners. */
    bool holds(const std::vector<double> &added, bool filled) const {
        bool right = true;
        each([&](redist::index i, redist::index j, redist::index place, bool ghost) {
            const double before =
                first_number(value_of(T{}, ghost && !filled ? 1 + (place + rank) % 3 : place));
            const double sum = ghost || filled ? 0 : added[static_cast<std::size_t>(place)];
            right = right && is_equal(first_number(field(i, j)), before + sum);
        });
        return right;
    }
};

template <class T> void test_ghosts(const char *what, bool adds) {
    for (int round = 0; round < 4; round++) {
        ghosted<T> g;
        redist::options options;
        options.effort = REDIST_ESTIMATE;
        options.bind_a = round % 2 ? REDIST_BIND_AT_EXECUTION : REDIST_BIND_AT_PLAN;
        T *array = g.memory.data();
        redist::plan<T> plan(MPI_COMM_WORLD, g.sizes, g.box, array, g.halo, options);
        g.set();
        if (round % 2)
            plan.start(REDIST_FILL, array);
        else
            plan.start(REDIST_FILL);
        plan.wait();
        expect(g.holds({}, true), what);
        g.set();
        const std::vector<double> added = g.sums();
        const int code = code_of([&] {
            if (round % 2)
                plan.accumulate(array);
            else
                plan.accumulate();
        });
        expect(code == (adds ? REDIST_OK : REDIST_ERR_ARGUMENT) && (!adds || g.holds(added, false)),
               what);
        if (round % 2)
            plan.fill(array);
        else
            plan.fill();
    }
}

/* What the face adds to the refusals of C: elements of other kinds than numbers have no sums. */
void test_refused_ghosts() {
    ghosted<particle> g;
    redist::options options;
    options.overlap = REDIST_OVERLAP_ADD;
    expect(code_of([&] {
               redist::plan<particle>(MPI_COMM_WORLD, g.sizes, g.box, g.memory.data(), g.halo,
                                      options);
           }) == REDIST_ERR_DATATYPE,
           "sums of structures");
    ghosted<double> h;
    h.halo.low[1] = h.box.offset[1] + 1;
    h.halo.periodic[1] = 1;
    expect(code_of([&] {
               redist::plan<double>(MPI_COMM_WORLD, h.sizes, h.box, h.memory.data(), h.halo);
           }) == REDIST_ERR_SIZE,
           "a halo without room");
}

/* Rows that several ranks read, and that receive the sum of what these have. */
void test_overlap() {
    const std::vector<redist::index> sizes = {nranks, 3};
    redist::box row, all;
    row.start[0] = rank;
    row.count[0] = 1;
    all.count[0] = nranks;
    row.count[1] = all.count[1] = 3;
    std::vector<int> a = {rank, 10 * rank, 1}, b(static_cast<std::size_t>(3 * nranks));
    redist::options options;
    options.overlap = REDIST_OVERLAP_ADD;
    redist::plan<int> plan(MPI_COMM_WORLD, sizes, row, a.data(), all, b.data(), options);
    plan.forward();
    bool right = true;
    for (int i = 0; i < nranks; i++)
        right = right && b[static_cast<std::size_t>(3 * i)] == i &&
                b[static_cast<std::size_t>(3 * i + 1)] == 10 * i;
    expect(right, "elements that all ranks read");
    std::fill(b.begin(), b.end(), 1 << 24 | 1); /* not a float */
    plan.backward();
    expect(a[0] == rank + nranks * (1 << 24 | 1) && a[2] == 1 + nranks * (1 << 24 | 1),
           "sums of integers");
}

/* Rows that receive the highest value that a rank has of them. */
void test_operation() {
    redist::box row, all;
    row.start[0] = rank;
    row.count[0] = 1;
    all.count[0] = nranks;
    int own = 1;
    std::vector<int> shown(static_cast<std::size_t>(nranks), rank + 7);
    const MPI_Op highest = MPI_MAX;
    redist::options options;
    options.overlap = REDIST_OVERLAP_ADD;
    options.operation = &highest;
    redist::plan<int> plan(MPI_COMM_WORLD, {nranks}, row, &own, all, shown.data(), options);
    plan.backward();
    expect(own == nranks + 6, "the highest value");
}

/* The first wave along each axis has one mode (two for real fields). Around each rank's part are `ghosts`. */
template <class P, class S>
void test_transform(const char *what, double bound, redist::index ghosts = 0) {
    const redist::index padding[] = {2 * ghosts, 2 * ghosts, 2 * ghosts},
                        offset[] = {ghosts, ghosts, ghosts};
    fftnd::options options;
    options.scaling = FFTND_SCALE_FORWARD;
    options.effort = FFTND_ESTIMATE;
    for (int side = 0; side < 2; side++) {
        options.padding[side] = padding;
        options.offset[side] = offset;
    }
    fftnd::plan<P, S> plan(MPI_COMM_WORLD, {8, 9, 10}, options);
    auto u = plan.physical();
    auto v = plan.spectral();
    const double pi = std::acos(-1.0);
    using real = typename fftnd::detail::real_of<P>::type;
    for (redist::index i = 0; i < u.count(0); i++)
        for (redist::index j = 0; j < u.count(1); j++)
            for (redist::index k = 0; k < u.count(2); k++)
                u(i, j, k) =
                    static_cast<real>(std::cos(2 * pi * static_cast<double>(u.start(1) + j) / 9));
    if (u.count(0) * u.count(1) * u.count(2) > 0)
        expect(u.at({u.start(0), u.start(1), u.start(2)}) == u.data() + u.layout().offset &&
                   u.at({0, 9, 0}) == nullptr,
               "from global indices to an element");
    plan.forward(u, v);
    std::vector<double> k0 = plan.wavenumbers(0), k1 = plan.wavenumbers(1),
                        k2 = plan.wavenumbers(2);
    double worst = 0;
    for (redist::index i = 0; i < v.count(0); i++)
        for (redist::index j = 0; j < v.count(1); j++)
            for (redist::index k = 0; k < v.count(2); k++) {
                bool wave = std::abs(k0[static_cast<std::size_t>(i)]) < 0.5 &&
                            std::abs(std::abs(k1[static_cast<std::size_t>(j)]) - 1) < 0.5 &&
                            std::abs(k2[static_cast<std::size_t>(k)]) < 0.5;
                worst = std::max(worst, static_cast<double>(
                                            std::abs(v(i, j, k) - S(wave ? real(0.5) : real(0)))));
            }
    expect(worst < bound, what);
    auto again = plan.physical();
    plan.start_backward(v.data(), again.data());
    plan.wait();
    worst = 0;
    redist::view<P, 3> before = u.template view<3>(), after = again.template view<3>();
    for (redist::index i = 0; i < u.count(0); i++)
        for (redist::index j = 0; j < u.count(1); j++)
            for (redist::index k = 0; k < u.count(2); k++)
                worst = std::max(worst,
                                 static_cast<double>(std::abs(before(i, j, k) - after(i, j, k))));
    expect(worst < bound, what);
    expect(plan.info().grid_ndims >= 1 && !plan.method().empty() && plan.phases().executions == 0,
           "about a transform");
}

/* Forward adds ghosts and backward fills them, in parts of the library and in boxes. */
void test_ghosts_of_transforms() {
    for (int round = 0; round < 8; round++) {
        ghosted<double> g;
        fftnd::options options;
        options.effort = FFTND_ESTIMATE;
        options.ghosts = &g.halo;
        options.accumulate_ghosts = random_between(0, 1);
        if (round % 2)
            options.box[FFTND_PHYSICAL] = &g.box;
        fftnd::plan<double, std::complex<double>> plan(MPI_COMM_WORLD, g.sizes, options);
        auto u = plan.physical();
        auto v = plan.spectral();
        for (int axis = 0; axis < 2; axis++) {
            g.box.start[axis] = u.start(axis);
            g.box.count[axis] = u.count(axis);
        }
        g.field = u.view<2>();
        g.set();
        std::vector<double> sums = g.sums();
        if (!options.accumulate_ghosts)
            std::fill(sums.begin(), sums.end(), 0.0);
        plan.forward(u, v);
        plan.backward(v, u);
        double worst = 0;
        g.each([&](redist::index i, redist::index j, redist::index place, bool) {
            const double expected =
                static_cast<double>(place) + sums[static_cast<std::size_t>(place)];
            worst =
                std::max(worst, std::abs(u(i, j) - expected) + std::abs(g.field(i, j) - u(i, j)));
        });
        expect(worst < 1e-11, "ghosts of a transform");
    }
}

void test_cosines() {
    fftnd::options options;
    const fftnd_r2r kinds[] = {FFTND_DCT2, FFTND_DCT2};
    options.r2r = kinds;
    options.effort = FFTND_ESTIMATE;
    fftnd::plan<double, double> plan(MPI_COMM_WORLD, {4, 6}, options);
    auto u = plan.physical(), v = plan.spectral();
    std::fill(u.begin(), u.end(), 1.0);
    plan.forward(u, v);
    for (redist::index i = 0; i < v.count(0); i++)
        for (redist::index j = 0; j < v.count(1); j++)
            expect(std::abs(v(i, j) - (v.start(0) + i + v.start(1) + j == 0 ? 96.0 : 0.0)) < 1e-12,
                   "cosines");
}

/* A field of ones, filled in part, and its transform back. */
void test_filled() {
    fftnd::options options;
    const redist::index filled[] = {4, 3};
    options.filled = filled;
    options.effort = FFTND_ESTIMATE;
    fftnd::plan<double, std::complex<double>> plan(MPI_COMM_WORLD, {8, 6}, options);
    auto u = plan.physical();
    auto v = plan.spectral();
    std::fill(u.begin(), u.end(), 1.0);
    plan.forward(u, v);
    for (redist::index i = 0; i < v.count(0); i++)
        for (redist::index j = 0; j < v.count(1); j++)
            if (v.start(0) + i + v.start(1) + j == 0)
                expect(std::abs(v(i, j) - 12.0) < 1e-12, "the sum of the points");
    plan.backward(v, u);
    for (redist::index i = 0; i < u.count(0); i++)
        for (redist::index j = 0; j < u.count(1); j++)
            expect(std::abs(u(i, j) - 1.0) < 1e-12, "a field that is filled in part");
}

/* Numbers that are narrower between ranks: floats have 2^-24 of each. */
void test_wire() {
    fftnd::options options;
    options.wire = REDIST_WIRE_FLOAT;
    options.wire_scope = REDIST_WIRE_EVERYWHERE;
    options.effort = FFTND_ESTIMATE;
    options.scaling = FFTND_SCALE_BACKWARD;
    fftnd::plan<double, std::complex<double>> plan(MPI_COMM_WORLD, {8, 6}, options);
    auto u = plan.physical();
    auto v = plan.spectral();
    expect((plan.info().wire == REDIST_WIRE_FLOAT) == (plan.info().wire_error[0] > 0), "a format");
    for (redist::index i = 0; i < u.count(0); i++)
        for (redist::index j = 0; j < u.count(1); j++)
            u(i, j) = 1.0 / static_cast<double>(1 + u.start(0) + i + u.start(1) + j);
    plan.forward(u, v);
    plan.backward(v, u);
    for (redist::index i = 0; i < u.count(0); i++)
        for (redist::index j = 0; j < u.count(1); j++)
            expect(std::abs(u(i, j) -
                            1.0 / static_cast<double>(1 + u.start(0) + i + u.start(1) + j)) < 1e-6,
                   "doubles that travel as floats");
    expect(code_of([&] {
               fftnd::plan<float, std::complex<float>> other(MPI_COMM_WORLD, {8, 6}, options);
           }) == REDIST_ERR_ARGUMENT,
           "a format of doubles for floats");
}

/* Laplacian and a product of cosines, by each kind of operator. */
void test_operators() {
    fftnd::options options;
    options.effort = FFTND_ESTIMATE;
    options.threads = 2;
    fftnd::plan<double, std::complex<double>> plan(MPI_COMM_WORLD, {8, 6}, options);
    auto laplacian = plan.make_operator(FFTND_LAPLACIAN);
    auto moved = std::move(laplacian);
    auto smooth = plan.make_modes([](const fftnd::row<std::complex<double>> &row) {
        for (int i = 0; i < row.size(); i++)
            row.output(0)[i] =
                -row.input(0)[i] * (row.k(0)[i] * row.k(0)[i] + row.k(1)[i] * row.k(1)[i]);
    });
    auto u = moved.input(), v = moved.output(), w = smooth.output();
    const double step = 2 * std::acos(-1.0) / 8;
    for (redist::index i = 0; i < u.count(0); i++)
        for (redist::index j = 0; j < u.count(1); j++)
            u(i, j) = std::cos(2 * step * static_cast<double>(u.start(0) + i));
    moved.apply(u, v);
    smooth.apply(u, w);
    fftnd::operator_options two;
    two.inputs = 2;
    auto product = plan.make_points(
        [](const fftnd::row<double> &row) {
            for (int i = 0; i < row.size(); i++)
                row.output(0)[i] = row.input(0)[i] * row.input(1)[i];
        },
        two);
    auto spectra = product.input(), spectrum = product.output();
    for (redist::index i = 0; i < spectra.count(0); i++)
        for (redist::index j = 0; j < spectra.count(1); j++)
            for (int f = 0; f < 2; f++) /* cos(2 x) */
                spectra.view<2>(f)(i, j) =
                    spectra.start(1) + j == 0 && (spectra.start(0) + i) % 4 == 2 ? 24 : 0;
    product.apply(spectra, spectrum);
    plan.backward(spectrum, u);
    for (redist::index i = 0; i < u.count(0); i++)
        for (redist::index j = 0; j < u.count(1); j++) {
            const double c = std::cos(2 * step * static_cast<double>(u.start(0) + i));
            expect(std::abs(v(i, j) + 4 * c) < 1e-12, "the Laplacian");
            expect(std::abs(w(i, j) + 4 * c) < 1e-12, "a function of modes");
            expect(std::abs(u(i, j) - c * c) < 1e-12, "a function of points");
        }
    /* a kernel of two points moves the field and doubles it */
    for (redist::index i = 0; i < w.count(0); i++)
        for (redist::index j = 0; j < w.count(1); j++) {
            w(i, j) = w.start(0) + i == 1 && w.start(1) + j < 2 ? 1 : 0;
            u(i, j) = std::cos(2 * step * static_cast<double>(u.start(0) + i));
        }
    plan.make_convolution(w).apply(u, v);
    for (redist::index i = 0; i < u.count(0); i++)
        for (redist::index j = 0; j < u.count(1); j++)
            expect(std::abs(v(i, j) -
                            2 * std::cos(2 * step * static_cast<double>(u.start(0) + i - 1))) <
                       1e-12,
                   "a convolution");
    auto failing = plan.make_modes([](const fftnd::row<std::complex<double>> &) { throw 1; });
    const int code = code_of([&] { failing.apply(v, w); });
    expect(v.count(0) == 0 || v.count(1) == 0 || code != REDIST_OK, "a function that throws");
    expect(code_of([&] { plan.make_operator(FFTND_DERIVATIVE); }) == REDIST_ERR_NULL, "no orders");
}

void test_errors() {
    planes<double> p;
    expect(code_of([&] { redist::exchange(MPI_COMM_WORLD, p.a, 7, p.b, 0); }) == REDIST_ERR_AXIS,
           "axis");
    redist::view<double, 3> strided(p.a.data(), p.a.sizes(), {40, 8, 2});
    expect(code_of([&] { redist::exchange(MPI_COMM_WORLD, strided, 1, p.b, 0); }) ==
               REDIST_ERR_NULL,
           "strided view");
    expect(code_of([&] {
               fftnd::plan<float, std::complex<float>> plan(MPI_COMM_WORLD, {4, -1, 4});
           }) == REDIST_ERR_SIZE,
           "extent");
    redist::options options;
    options.method = "nothing";
    expect(code_of([&] { redist::plan<double>(MPI_COMM_WORLD, p.a, 1, p.b, 0, options); }) ==
               REDIST_ERR_METHOD,
           "method");
    redist::span<const double> all(p.memory_b);
    expect(all.size() == p.memory_b.size() && all.begin() == p.memory_b.data(), "span of a vector");
}

} // namespace

int main(int argc, char **argv) {
    start(&argc, &argv);
    test_exchange<double>("elements double");
    test_exchange<float>("elements float");
    test_exchange<char>("elements char");
    test_exchange<particle>("elements of a structure");
    test_sizes();
    test_plan();
    test_boxes();
    test_ghosts<double>("ghosts of double", true);
    test_ghosts<int>("ghosts of int", true);
    test_ghosts<std::complex<float>>("ghosts of complex float", true);
    test_ghosts<std::array<double, 3>>("ghosts of three doubles", true);
    test_ghosts<particle>("ghosts of a structure", false);
    test_refused_ghosts();
    test_ghosts_of_transforms();
    test_overlap();
    test_operation();
    test_transform<double, std::complex<double>>("r2c", 1e-14);
    test_transform<double, std::complex<double>>("real, with ghosts", 1e-12, 2);
    test_transform<std::complex<double>, std::complex<double>>("c2c", 1e-14);
    test_transform<float, std::complex<float>>("r2c, float", 1e-5);
    test_transform<std::complex<float>, std::complex<float>>("c2c, float", 1e-5);
    test_cosines();
    test_filled();
    test_wire();
    test_operators();
    test_errors();
    redist::array<double> left_over(MPI_COMM_WORLD, 10);
    return finish();
}
