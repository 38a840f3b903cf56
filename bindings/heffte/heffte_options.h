/* SPDX-License-Identifier: BSD-3-Clause */
/** Options of plans of heffte.h. */
#ifndef HEFFTE_OPTIONS_H
#define HEFFTE_OPTIONS_H

#include "heffte_backends.h"

#include <ostream>
#include <string>

namespace heffte {

/** The factor of a transform: 1, 1 / the number of points, or the root of that. */
enum class scale { none, full, symmetric };

/** Methods of heFFTe's reshapes. */
enum class reshape_algorithm { alltoall = 0, alltoallv = 1, p2p = 2, p2p_plined = 3 };

/**
 * Options of a plan. The first four are hints for heFFTe; fftnd chooses grids and methods.
 */
struct plan_options {
    plan_options(bool reorder, reshape_algorithm method, bool pencils)
        : use_reorder(reorder), algorithm(method), use_pencils(pencils) {
    }
    template <class Tag>
    explicit plan_options(Tag) : plan_options(true, reshape_algorithm::alltoallv, true) {
        static_assert(sizeof(detail::traits<Tag>) != 0, "a backend");
    }

    bool use_reorder;
    reshape_algorithm algorithm;
    bool use_pencils;
    bool use_gpu_aware = true;

    /* Of fftnd alone, as in fftnd_options */
    fftnd_effort effort =
        FFTND_ESTIMATE;      /**< also by FFTND_HEFFTE_EFFORT: estimate, measure, patient */
    std::string wisdom_file; /**< empty = that of REDIST_WISDOM */
    int threads = 1;
    /** on devices: calls only enqueue their work in the plan's stream. They agree on no arrays then: input and output
     * are one array on all ranks or on none, and a wrong array is an error on its rank, for which others wait */
    bool asynchronous = false;

    /** Transforms on the first `n` ranks of the communicator. */
    void use_num_subranks(int n) {
        subranks_ = n;
        subcomm_ = MPI_COMM_NULL;
    }
    /** Transforms on the ranks of a communicator, which others pass as MPI_COMM_NULL. */
    void use_subcomm(MPI_Comm comm) {
        subranks_ = uses_subcomm;
        subcomm_ = comm;
    }
    /** The number of the ranks that transform; -1 = all. */
    int get_subranks() const {
        int n = subranks_;
        if (n == uses_subcomm) {
            n = 0;
            if (subcomm_ != MPI_COMM_NULL)
                MPI_Comm_size(subcomm_, &n);
        }
        return n;
    }
    bool has_subcomm() const {
        return subranks_ == uses_subcomm;
    }
    MPI_Comm get_subcomm() const {
        return subcomm_;
    }

  private:
    enum { uses_subcomm = -2 };
    int subranks_ = -1;
    MPI_Comm subcomm_ = MPI_COMM_NULL;
};

template <class Tag> plan_options default_options() {
    return plan_options(Tag());
}

inline std::ostream &operator<<(std::ostream &out, reshape_algorithm algorithm) {
    static const char *const names[] = {"alltoall", "alltoallv", "p2p", "p2p_plined"};
    return out << names[static_cast<int>(algorithm)];
}

inline std::ostream &operator<<(std::ostream &out, const plan_options &options) {
    static const char *const efforts[] = {"estimate", "measure", "patient"};
    return out << "options = (" << (options.use_reorder ? "reorder" : "strided") << ", "
               << options.algorithm << ", " << (options.use_pencils ? "pencils" : "slabs")
               << ", subranks " << options.get_subranks() << ", effort " << efforts[options.effort]
               << ")";
}

} // namespace heffte

#endif
