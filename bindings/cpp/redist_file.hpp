/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * redist_file.h and redist_checkpoint.h for C++17: fields that own their datatypes and names, files, checkpoints, and
 * writes in the background that complete when they are destroyed. Failures and handles are those of redist.hpp.
 */
#ifndef REDIST_FILE_HPP
#define REDIST_FILE_HPP

#include <redist.hpp>
#include <redist_checkpoint.h>
#include <redist_file.h>

#include <cstring>
#include <memory>

namespace redist {

/**
 * A distributed array as files have it: redist_field, whose members may be changed, such as the selection. Copies share
 * name and datatype. The elements belong to the caller. Collective functions read elements of it when it is written,
 * and change them when it is read.
 */
struct field : redist_field {
    /** A field of elements T without extents, to be filled in; the name is for checkpoints. */
    template <class T> explicit field(T *elements, const std::string &name_in_file = {}) {
        check(redist_field_init(this, sizeof(redist_field)));
        const auto held = std::make_shared<names_and_types<T>>(name_in_file);
        name = name_in_file.empty() ? nullptr : held->name.c_str();
        datatype = held->type.get();
        array = elements;
        held_ = held;
    }
    /** This rank's box in its local array, such as grid::box, or with_ghosts of it: ghosts are left out. */
    template <class T>
    field(const std::vector<index> &global_sizes, const redist_box &box, T *elements,
          const std::string &name_in_file = {})
        : field(elements, name_in_file) {
        check(redist_field_set_box(this, static_cast<int>(global_sizes.size()), global_sizes.data(),
                                   &box));
    }

    /** Selects a part along an axis: `length` elements of the global array from `first` on, 0 = to the end, of which
     * every step-th is in the file. A plane has the length 1. */
    field &select(int axis, index first, index length = 0, index step = 1) {
        if (axis < 0 || axis >= ndims)
            throw std::invalid_argument("redist::field::select: the field has no such axis");
        selected_start[axis] = first;
        selected_count[axis] = length;
        selected_step[axis] = step;
        return *this;
    }

  private:
    template <class T> struct names_and_types {
        explicit names_and_types(const std::string &given) : name(given) {
        }
        std::string name;
        detail::datatype<T> type;
    };
    std::shared_ptr<const void> held_;
};

/** Structures with their defaults. */
struct file_options : redist_file_options {
    file_options() {
        check(redist_file_options_init(this, sizeof(redist_file_options)));
    }
};
struct checkpoint_options : redist_checkpoint_options {
    checkpoint_options() {
        check(redist_checkpoint_options_init(this, sizeof(redist_checkpoint_options)));
    }
};

namespace detail {

/** The structures of fields, one after the other. */
class field_list {
  public:
    explicit field_list(const std::vector<field> &fields) : list_(fields.begin(), fields.end()) {
    }
    int size() const noexcept {
        return static_cast<int>(list_.size());
    }
    const redist_field *data() const noexcept {
        return list_.data();
    }

  private:
    std::vector<redist_field> list_;
};

/** The bytes of a checkpoint's parameters: a structure or a number; nullptr = none. */
template <class P> constexpr std::size_t parameter_bytes() {
    using given = std::remove_cv_t<P>;
    static_assert(std::is_trivially_copyable<given>::value && !std::is_pointer<given>::value,
                  "parameters are written byte by byte");
    static_assert(!std::is_base_of<redist_checkpoint_options, given>::value,
                  "options are the argument behind the parameters; nullptr = no parameters");
    return std::is_same<given, std::nullptr_t>::value ? 0 : sizeof(given);
}

} // namespace detail

/** A write in the background. The destructor completes it, too, without its result; it is collective, like wait. */
template <class Request, int (*Wait)(Request **)> class pending {
  public:
    pending() noexcept = default;
    /** Completes the write; throws its failure. */
    void wait() {
        check(Wait(request_.out()));
    }
    Request **out() noexcept {
        return request_.out();
    }

  private:
    detail::owner<Request *, Wait> request_;
};
using pending_write = pending<redist_file_request, redist_file_wait>;
using pending_checkpoint = pending<redist_checkpoint_request, redist_checkpoint_wait>;

/** Writes fields to a raw file, one behind the other (redist_write). Collective. */
inline void write(MPI_Comm comm, const std::string &path, const std::vector<field> &fields,
                  const redist_file_options &options = file_options()) {
    const detail::field_list list(fields);
    check(redist_write(comm, path.c_str(), list.size(), list.data(), &options));
}

/** Reads fields from a raw file, on any number of ranks (redist_read). Collective. */
inline void read(MPI_Comm comm, const std::string &path, const std::vector<field> &fields,
                 const redist_file_options &options = file_options()) {
    const detail::field_list list(fields);
    check(redist_read(comm, path.c_str(), list.size(), list.data(), &options));
}

/** Starts a write; the arrays may be changed on return (redist_write_start). Collective. */
inline pending_write write_start(MPI_Comm comm, const std::string &path,
                                 const std::vector<field> &fields,
                                 const redist_file_options &options = file_options()) {
    const detail::field_list list(fields);
    pending_write result;
    check(redist_write_start(comm, path.c_str(), list.size(), list.data(), &options, result.out()));
    return result;
}

/**
 * Writes a checkpoint (redist_checkpoint_write). Collective.
 *   fields      the arrays, each with a name of its own
 *   parameters  the program's own data: a structure, the same bytes on all ranks, so that padding between its members
 *               has to be set too; nullptr = none
 */
template <class P>
void checkpoint_write(MPI_Comm comm, const std::string &path, const std::vector<field> &fields,
                      const P &parameters,
                      const redist_checkpoint_options &options = checkpoint_options()) {
    const detail::field_list list(fields);
    check(redist_checkpoint_write(comm, path.c_str(), list.size(), list.data(), &parameters,
                                  detail::parameter_bytes<P>(), &options));
}

/** Starts to write a checkpoint, which has its name after `wait` (redist_checkpoint_write_start). Collective. */
template <class P>
pending_checkpoint
checkpoint_write_start(MPI_Comm comm, const std::string &path, const std::vector<field> &fields,
                       const P &parameters,
                       const redist_checkpoint_options &options = checkpoint_options()) {
    const detail::field_list list(fields);
    pending_checkpoint result;
    check(redist_checkpoint_write_start(comm, path.c_str(), list.size(), list.data(), &parameters,
                                        detail::parameter_bytes<P>(), &options, result.out()));
    return result;
}

/** Reads fields of a checkpoint by their names, and its parameters, unless that is nullptr (redist_checkpoint_read).
 * Collective. */
template <class P>
void checkpoint_read(MPI_Comm comm, const std::string &path, const std::vector<field> &fields,
                     P &&parameters,
                     const redist_checkpoint_options &options = checkpoint_options()) {
    using given = std::remove_reference_t<P>;
    constexpr std::size_t bytes = detail::parameter_bytes<given>();
    static_assert(bytes == 0 ||
                      (std::is_lvalue_reference<P>::value && !std::is_const<given>::value),
                  "parameters are a variable");
    const detail::field_list list(fields);
    void *place = nullptr;
    if constexpr (bytes > 0)
        place = &parameters;
    check(redist_checkpoint_read(comm, path.c_str(), list.size(), list.data(), place, bytes,
                                 &options));
}

/** Contents of a checkpoint, except for the data of its fields; the structure of C with `->`. The constructor is
 * collective. */
class checkpoint_info {
  public:
    checkpoint_info(MPI_Comm comm, const std::string &path) {
        check(redist_checkpoint_get_info(comm, path.c_str(), handle_.out()));
    }
    const redist_checkpoint_info *get() const noexcept {
        return handle_.get();
    }
    const redist_checkpoint_info *operator->() const noexcept {
        return get();
    }
    /** The fields in the order of the file; the texts belong to this object. */
    std::vector<redist_checkpoint_field> fields() const {
        std::vector<redist_checkpoint_field> result;
        for (int i = 0; i < get()->nfields; i++)
            result.push_back(*get()->fields[i]);
        return result;
    }
    /** A copy of the parameters. */
    template <class P> P parameters() const {
        if (detail::parameter_bytes<P>() != get()->parameter_bytes)
            throw std::invalid_argument(
                "redist::checkpoint_info::parameters: the file has another number of bytes");
        P result;
        std::memcpy(&result, get()->parameters, sizeof(result));
        return result;
    }

  private:
    detail::owner<redist_checkpoint_info *, redist_checkpoint_info_free> handle_;
};

} // namespace redist

#endif
