/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * redist_hdf5.h for C++17: HDF5 files of the fields of redist_file.hpp. Failures and handles are those of redist.hpp.
 */
#ifndef REDIST_HDF5_HPP
#define REDIST_HDF5_HPP

#include <redist_file.hpp>
#include <redist_hdf5.h>

namespace redist {

/** Structures with their defaults. */
struct hdf5_file_options : redist_hdf5_file_options {
    hdf5_file_options() {
        check(redist_hdf5_file_options_init(this, sizeof(redist_hdf5_file_options)));
    }
};
struct hdf5_options : redist_hdf5_options {
    hdf5_options() {
        check(redist_hdf5_options_init(this, sizeof(redist_hdf5_options)));
    }
};
struct hdf5_dataset : redist_hdf5_dataset {
    hdf5_dataset() {
        check(redist_hdf5_dataset_init(this, sizeof(redist_hdf5_dataset)));
    }
};

/**
 * An open file (redist_hdf5_open). Constructor, destructor and functions are collective on its communicator. `object`
 * is the path of a dataset or group, empty = the file.
 */
class hdf5 {
  public:
    hdf5(MPI_Comm comm, const std::string &path, redist_hdf5_mode mode = REDIST_HDF5_READ,
         const redist_hdf5_file_options &options = hdf5_file_options()) {
        check(redist_hdf5_open(comm, path.c_str(), mode, &options, handle_.out()));
    }
    /** Closes the file; throws a failure, which the destructor does not. */
    void close() {
        check(redist_hdf5_close(handle_.out()));
    }
    redist_hdf5 *get() const noexcept {
        return handle_.get();
    }

    /** Writes fields to the datasets of their names (redist_hdf5_write). */
    void write(const std::vector<field> &fields,
               const redist_hdf5_options &options = hdf5_options()) {
        const detail::field_list list(fields);
        check(redist_hdf5_write(get(), list.size(), list.data(), &options));
    }
    /** Reads fields from the datasets of their names (redist_hdf5_read). */
    void read(const std::vector<field> &fields,
              const redist_hdf5_options &options = hdf5_options()) {
        const detail::field_list list(fields);
        check(redist_hdf5_read(get(), list.size(), list.data(), &options));
    }
    /** The datasets in the order of their names (redist_hdf5_info). */
    std::vector<hdf5_dataset> datasets() const {
        int count = 0;
        check(redist_hdf5_count(get(), &count));
        std::vector<hdf5_dataset> result(static_cast<std::size_t>(count));
        for (int i = 0; i < count; i++)
            check(redist_hdf5_info(get(), i, &result[static_cast<std::size_t>(i)]));
        return result;
    }
    /** Writes a description for ParaView (redist_hdf5_xdmf). */
    void xdmf(const std::string &path) const {
        check(redist_hdf5_xdmf(get(), path.c_str()));
    }

    /** Set an attribute, in the place of one of the same name. */
    void set_numbers(const std::string &key, const std::vector<double> &values,
                     const std::string &object = {}) {
        check(redist_hdf5_set_numbers(get(), place(object), key.c_str(),
                                      static_cast<int>(values.size()), values.data()));
    }
    void set_integers(const std::string &key, const std::vector<std::int64_t> &values,
                      const std::string &object = {}) {
        check(redist_hdf5_set_integers(get(), place(object), key.c_str(),
                                       static_cast<int>(values.size()), values.data()));
    }
    void set_text(const std::string &key, const std::string &text, const std::string &object = {}) {
        check(redist_hdf5_set_text(get(), place(object), key.c_str(), text.c_str()));
    }

    /** Get an attribute: all of its values, or its text. */
    std::vector<double> get_numbers(const std::string &key, const std::string &object = {}) const {
        return values_of<double>(redist_hdf5_get_numbers, key, object);
    }
    std::vector<std::int64_t> get_integers(const std::string &key,
                                           const std::string &object = {}) const {
        return values_of<std::int64_t>(redist_hdf5_get_integers, key, object);
    }
    std::string get_text(const std::string &key, const std::string &object = {}) const {
        std::string text;
        do { /* a text that fills its room may be cut */
            text.assign(2 * text.size() + 256, '\0');
            check(redist_hdf5_get_text(get(), place(object), key.c_str(),
                                       static_cast<int>(text.size()), &text[0]));
        } while (std::strlen(text.c_str()) + 1 == text.size());
        text.resize(std::strlen(text.c_str()));
        return text;
    }

  private:
    static const char *place(const std::string &object) noexcept {
        return object.empty() ? nullptr : object.c_str();
    }
    template <class T, class Get>
    std::vector<T> values_of(Get function, const std::string &key,
                             const std::string &object) const {
        std::vector<T> values(1);
        int n = 0;
        check(function(get(), place(object), key.c_str(), 1, values.data(), &n));
        values.resize(static_cast<std::size_t>(n));
        if (n > 1)
            check(function(get(), place(object), key.c_str(), n, values.data(), nullptr));
        return values;
    }

    detail::owner<redist_hdf5 *, redist_hdf5_close> handle_;
};

} // namespace redist

#endif
