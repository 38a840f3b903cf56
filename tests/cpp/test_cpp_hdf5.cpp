/* SPDX-License-Identifier: BSD-3-Clause */
/* redist_hdf5.hpp: datasets with steps and without, on other parts again; attributes, contents, errors. */
#include "file_checks.hpp"

#include <redist_hdf5.hpp>

namespace {

using namespace checks;

template <class T> void test_fields(redist_hdf5_access access, const char *what) {
    const std::string path = folder + "/fields.h5";
    blocks<T> a(random_sizes(), 0, random_between(0, 2)), b(a.sizes, 1, random_between(0, 2));
    redist::hdf5_file_options file_options;
    file_options.access = access;
    redist::hdf5_options options;
    options.step = REDIST_HDF5_NEXT_STEP;
    a.set();
    {
        redist::hdf5 file(MPI_COMM_WORLD, path, REDIST_HDF5_CREATE, file_options);
        file.write({a.field("plain"), a.field("flow/a")});
        file.write({a.field("series")}, options);
        a.memory.assign(a.memory.size(), T{});
        redist::hdf5 moved = std::move(file);
        moved.write({a.field("series")}, options);
        moved.close();
        expect(code_of([&] { moved.close(); }) == REDIST_ERR_STATE, "closes twice");
    }
    redist::hdf5 file(MPI_COMM_WORLD, path, REDIST_HDF5_READ, file_options);
    file.read({b.field("flow/a")});
    expect(b.holds(), what);
    b.memory.assign(b.memory.size(), T{});
    options.step = 0;
    file.read({b.field("series")}, options);
    expect(b.holds(), what);

    const auto datasets = file.datasets();
    expect(datasets.size() == 3 && datasets[0].name == std::string("flow/a") &&
               datasets[1].steps == -1 && datasets[2].steps == 2 && datasets[2].ndims == 2 &&
               datasets[2].sizes[0] == a.sizes[0] && datasets[2].sizes[1] == a.sizes[1],
           "contents");
}

void test_attributes() {
    blocks<double> a({4, 5}, 0, 0);
    const std::vector<double> numbers = {0.5, 1, 2.5};
    const std::vector<std::int64_t> integers = {INT64_MAX};
    const std::string texts[] = {"", "a flow", std::string(255, 'x'), std::string(1000, 'y')};
    redist::hdf5 file(MPI_COMM_WORLD, folder + "/attributes.h5", REDIST_HDF5_CREATE);
    file.write({a.field("a")});
    file.set_numbers("numbers", numbers, "a");
    file.set_integers("integers", integers);
    expect(file.get_numbers("numbers", "a") == numbers, "numbers of a dataset");
    expect(file.get_integers("integers") == integers, "integers of a file");
    for (const std::string &text : texts) {
        file.set_text("text", text);
        expect(file.get_text("text") == text, "a text");
    }
    file.xdmf(folder + "/attributes.xdmf");
}

void test_errors() {
    blocks<double> a({4, 5}, 0, 0);
    const std::string path = folder + "/none.h5";
    expect(code_of([&] { redist::hdf5(MPI_COMM_WORLD, path); }) == REDIST_ERR_FILE, "no file");
    redist::hdf5 file(MPI_COMM_WORLD, folder + "/attributes.h5");
    expect(code_of([&] { file.read({a.field("none")}); }) == REDIST_ERR_FILE, "no dataset");
    expect(code_of([&] { file.get_text("none"); }) == REDIST_ERR_FILE, "no attribute");
    expect(code_of([&] { file.write({a.field("a")}); }) == REDIST_ERR_STATE, "open for reading");
}

} // namespace

int main(int argc, char **argv) {
    start(&argc, &argv);
    make_folder();
    for (redist_hdf5_access access : {REDIST_HDF5_AUTO, REDIST_HDF5_ROOT}) {
        test_fields<double>(access, "double");
        test_fields<std::complex<float>>(access, "complex float");
        test_fields<std::array<short, 3>>(access, "three integers");
    }
    test_attributes();
    test_errors();
    remove_folder({"fields.h5", "attributes.h5", "attributes.xdmf"});
    return finish();
}
