/* SPDX-License-Identifier: BSD-3-Clause */
/* redist_file.hpp, and fftnd::file_field: raw files, writes in the background, checkpoints, selections, errors. */
#include "file_checks.hpp"

namespace {

using namespace checks;

bool has_checkpoints; /* whether this build has xxHash */

template <class T> void test_raw(const char *what) {
    const std::string path = folder + "/raw";
    blocks<T> a(random_sizes(), 0, random_between(0, 2)), b(a.sizes, 1, random_between(0, 2));
    blocks<double> second(random_sizes(), 0, 1), second_again(second.sizes, 0, 0);
    a.set();
    second.set();
    redist::file_options options;
    options.offset = 40;
    redist::write(MPI_COMM_WORLD, path, {a.field(), second.field()}, options);
    redist::read(MPI_COMM_WORLD, path, {b.field(), second_again.field()}, options);
    expect(b.holds() && second_again.holds(), what);
    b.memory.assign(b.memory.size(), T{});
    redist::read(MPI_COMM_WORLD, path, {b.field()}, options);
    expect(b.holds(), what);
}

/* The file is written while the array changes, also without a call of wait. */
void test_background() {
    const std::string path = folder + "/background";
    blocks<std::array<short, 3>> a({7, 5}, 0, 1), b(a.sizes, 1, 0);
    for (bool waits : {true, false}) {
        a.set();
        {
            redist::pending_write pending = redist::write_start(MPI_COMM_WORLD, path, {a.field()});
            a.memory.assign(a.memory.size(), {});
            redist::pending_write moved = std::move(pending);
            if (waits)
                moved.wait();
            if (waits)
                expect(code_of([&] { moved.wait(); }) == REDIST_ERR_NULL, "waits twice");
        }
        redist::read(MPI_COMM_WORLD, path, {b.field()});
        expect(b.holds(), "a write in the background");
        b.memory.assign(b.memory.size(), {});
    }
}

/* a[2, ::2] by one rank for all, from a file that all ranks have written. */
void test_selection() {
    const std::string path = folder + "/plane";
    blocks<double> a({4, 7}, 1, 1);
    a.set();
    redist::field plane = a.field();
    plane.select(0, 2, 1).select(1, 0, 0, 2);
    const redist::field copy = plane;
    plane = a.field(); /* copies keep what they refer to */
    redist::write(MPI_COMM_WORLD, path, {copy});
    double values[4] = {};
    redist::box whole;
    whole.count[0] = 4;
    redist::read(MPI_COMM_WORLD, path, {redist::field({4}, whole, values)});
    for (int i = 0; i < 4; i++)
        expect(std::abs(values[i] - (2 * 7 + 2 * i)) <= 0, "a plane");
    bool refused = false;
    try {
        plane.select(2, 0);
    } catch (const std::invalid_argument &) {
        refused = true;
    }
    expect(refused, "an axis that the field does not have");
}

struct state {
    double time;
    long step;
};

void test_checkpoint() {
    const std::string path = folder + "/checkpoint";
    blocks<double> u(random_sizes(), 0, 1), u_again(u.sizes, 1, 0);
    blocks<std::complex<float>> w({5, 4}, 1, 0), w_again(w.sizes, 0, 2);
    const state now = {1.5, 300};
    state again = {};
    u.set();
    w.set();
    redist::checkpoint_options options;
    options.keep = 1;
    for (int i = 0; i < 2; i++) {
        redist::pending_checkpoint pending;
        if (i == 0)
            redist::checkpoint_write(MPI_COMM_WORLD, path, {u.field("u"), w.field("flow/w")}, now,
                                     options);
        else
            pending = redist::checkpoint_write_start(
                MPI_COMM_WORLD, path, {u.field("u"), w.field("flow/w")}, now, options);
    }
    for (const std::string &name : {path, path + ".1"}) {
        redist::checkpoint_read(MPI_COMM_WORLD, name, {w_again.field("flow/w"), u_again.field("u")},
                                again);
        expect(again.step == 300 && std::abs(again.time - 1.5) <= 0, "parameters");
        expect(u_again.holds() && w_again.holds(), "a checkpoint");
        u_again.memory.assign(u_again.memory.size(), 0);
        redist::checkpoint_read(MPI_COMM_WORLD, name, {u_again.field("u")}, nullptr);
        expect(u_again.holds(), "a field of a checkpoint");
    }

    const redist::checkpoint_info info(MPI_COMM_WORLD, path);
    const auto fields = info.fields();
    expect(info->nfields == 2 && info.parameters<state>().step == 300, "contents");
    expect(fields[0].name == std::string("u") && fields[0].type == std::string("double") &&
               fields[0].ndims == 2 && fields[0].sizes[0] == u.sizes[0] &&
               fields[0].sizes[1] == u.sizes[1],
           "the first field");
    expect(fields[1].name == std::string("flow/w") &&
               fields[1].type == std::string("float complex") && fields[1].element_bytes == 8,
           "the second field");
    bool refused = false;
    try {
        info.parameters<int>();
    } catch (const std::invalid_argument &) {
        refused = true;
    }
    expect(refused, "parameters of another size");
}

/* A batch of transforms, from one side's array to one of another plan with other parts. */
void test_transform() {
    const std::string path = folder + "/transform";
    fftnd::options options, turned;
    const int order[3] = {2, 0, 1};
    options.effort = turned.effort = FFTND_ESTIMATE;
    options.batch = turned.batch = 2;
    turned.order = order;
    turned.memory_order[0] = order;
    using plan_type = fftnd::plan<std::complex<double>, std::complex<double>>;
    plan_type plan(MPI_COMM_WORLD, {6, 5, 4}, options),
        other(MPI_COMM_WORLD, {6, 5, 4}, FFTND_C2C, turned);
    auto u = plan.physical(), v = other.physical();
    auto place = [](const fftnd::field<std::complex<double>> &field, auto visit) {
        for (redist::index b = 0; b < 2; b++)
            for (redist::index i = 0; i < 120; i++) {
                auto *element = field.at({i / 20, i / 4 % 5, i % 4}, b);
                if (element != nullptr)
                    visit(*element, std::complex<double>(static_cast<double>(i), 1.0 + double(b)));
            }
    };
    place(u, [](auto &element, auto value) { element = value; });
    redist::write(MPI_COMM_WORLD, path, {fftnd::file_field(u)});
    redist::read(MPI_COMM_WORLD, path,
                 {fftnd::file_field(other.layout(FFTND_PHYSICAL), v.data(), "v")});
    bool right = true;
    place(v, [&](auto &element, auto value) { right = right && element == value; });
    expect(right, "a side of a transform");
}

/* Failures are exceptions on all ranks, with arrays and files as they were. */
void test_errors() {
    blocks<double> a({4, 5}, 0, 0);
    const std::string path = folder + "/error";
    expect(code_of([&] { redist::read(MPI_COMM_WORLD, folder + "/none", {a.field()}); }) ==
               REDIST_ERR_FILE,
           "no file");
    expect(code_of([&] {
               redist::write_start(MPI_COMM_WORLD, folder + "/none/file", {a.field()}).wait();
           }) == REDIST_ERR_FILE,
           "no folder");
    redist::field outside = a.field();
    if (rank == nranks - 1)
        outside.start[0] = 5;
    expect(code_of([&] { redist::write(MPI_COMM_WORLD, path, {outside}); }) == REDIST_ERR_SIZE,
           "a part that is not within the array, on one rank");
}

void test_checkpoint_errors() {
    blocks<double> a({4, 5}, 0, 0);
    std::vector<float> wrong(40);
    const std::string path = folder + "/checkpoint_error";
    expect(code_of([&] { redist::checkpoint_write(MPI_COMM_WORLD, path, {a.field()}, nullptr); }) ==
               REDIST_ERR_NULL,
           "a field without a name");
    redist::checkpoint_write(MPI_COMM_WORLD, path, {a.field("a")}, nullptr);
    state none = {};
    expect(code_of([&] { redist::checkpoint_read(MPI_COMM_WORLD, path, {a.field("a")}, none); }) ==
               REDIST_ERR_SIZE,
           "parameters that the file does not have");
    expect(code_of([&] {
               redist::checkpoint_read(MPI_COMM_WORLD, path,
                                       {redist::field(a.sizes, a.box, wrong.data(), "a")}, nullptr);
           }) == REDIST_ERR_DATATYPE,
           "another type of elements");
}

void find_checkpoints() {
    const int code = code_of([] { redist::checkpoint_info(MPI_COMM_WORLD, folder + "/none"); });
    has_checkpoints = code != REDIST_ERR_METHOD;
    if (rank == 0 && !has_checkpoints)
        std::printf("checkpoints are left out: no xxHash in this build\n");
    expect(!has_checkpoints || code == REDIST_ERR_FILE, "no checkpoint");
}

} // namespace

int main(int argc, char **argv) {
    start(&argc, &argv);
    make_folder();
    for (int i = 0; i < 8; i++) {
        test_raw<double>("a file of double");
        test_raw<std::complex<float>>("a file of complex float");
        test_raw<std::array<short, 3>>("a file of three integers");
    }
    test_background();
    test_selection();
    test_transform();
    test_errors();
    find_checkpoints();
    if (has_checkpoints) {
        test_checkpoint();
        test_checkpoint_errors();
    }
    remove_folder({"raw", "background", "plane", "checkpoint", "checkpoint.1", "transform",
                   "checkpoint_error"});
    std::array<short, 3> element = {};
    redist::field left_over(&element); /* has a datatype when MPI has ended */
    return finish();
}
